"""Imports run downwards only: a module may use those listed before it, and no others."""

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "unselected"

ORDER = [
    "unselected.quadrature",
    "unselected.sampling",
    "unselected.slices",
    "unselected.tables",
    "unselected.sources",
    "unselected.dask_columns",
    "unselected.compiled",
    "unselected.compiled_contour",
    "unselected.kernels",
    "unselected.columns",
    "unselected.counting",
    "unselected.moments",
    "unselected.summing",
    "unselected.events",
    "unselected.scores",
    "unselected.contest",
    "unselected.leaving_out",
    "unselected.selection",
    "unselected.omission",
    "unselected.factor_omission",
    "unselected.models",
    "unselected.models.concentration",
    "unselected.models.two_groups",
    "unselected.models.bernoulli",
    "unselected.models.many",
    "unselected.models.mixture_omission",
    "unselected.models.mixture_tables",
    "unselected.models.mixture_moves",
    "unselected.models.mixture",
    "unselected.models.gaussian",
    "unselected.models.regression",
    "unselected.models.two_real_groups",
    "unselected.models.factor_columns",
    "unselected.models.factor_sampler",
    "unselected.models.factor",
    "unselected.tempering",
    "unselected.weighing",
    "unselected.correlated",
    "unselected.kept",
    "unselected.within_class",
    "unselected.slope",
    "unselected.dependence",
    "unselected.effect_laws",
    "unselected.rate_effects",
    "unselected.standardized_effects",
    "unselected.effects",
    "unselected.explaining",
    "unselected.prevalence",
    "unselected.deciding",
    "unselected.estimators",
    "unselected.estimators.inputs",
    "unselected.estimators.fitting",
    "unselected.estimators.leave_one_out",
    "unselected.estimators.base",
    "unselected.estimators.explaining",
    "unselected.estimators.selecting",
    "unselected.estimators.latent",
    "unselected.estimators.factor",
    "unselected.estimators.panel",
    "unselected.estimators.classifying",
    "unselected.estimators.bernoulli",
    "unselected.estimators.gaussian",
    "unselected.estimators.regression",
    "unselected.estimators.mixture",
    "unselected.estimators.choose",
    "unselected.calibration.records",
    "unselected.calibration.inputs",
    "unselected.calibration.intervals",
    "unselected.calibration.two_classes",
    "unselected.calibration.line",
    "unselected.calibration.reliability",
    "unselected.calibration.summary",
    "unselected.calibration.several_classes",
    "unselected.calibration.pit",
    "unselected.calibration.real_response",
    "unselected.calibration",
    "unselected.datasets",
    "unselected.files",
    "unselected.files.checkpoints",
    "unselected.files.entries",
    "unselected.files.tempering",
    "unselected.files.kinds",
    "unselected.files.features",
    "unselected.files.models",
    "unselected.files.requests",
    "unselected.files.cells",
    "unselected.files.feature_rows",
    "unselected.files.text_tables",
    "unselected.files.parquet_tables",
    "unselected.files.sparse_tables",
    "unselected.files.tables",
    "unselected.files.opened",
    "unselected.files.npy",
    "unselected.files.npz",
    "unselected.files.parquet",
    "unselected.files.h5ad",
    "unselected.files.bed",
    "unselected.files.zarr",
    "unselected.files.opening",
    "unselected.experiments.replicates",
    "unselected.experiments.simulation",
    "unselected.experiments.published",
    "unselected.experiments.colon",
    "unselected.experiments.folds",
    "unselected.experiments.compare",
    "unselected.experiments.compare_regression",
    "unselected.experiments",
    "unselected.plots.style",
    "unselected.plots.records",
    "unselected.plots.by_k",
    "unselected.plots.predictions",
    "unselected.plots.correlations",
    "unselected.plots.groups",
    "unselected.plots.concentration",
    "unselected.plots.effects",
    "unselected.plots.omission",
    "unselected.plots.reliability",
    "unselected.plots.pit",
    "unselected.plots.responses",
    "unselected.plots.svg",
    "unselected.plots",
    "unselected.report.page",
    "unselected.report.both",
    "unselected.report.cases",
    "unselected.report.dependence",
    "unselected.report.classes",
    "unselected.report.responses",
    "unselected.report",
    "unselected.cli",
    "unselected.cli.options",
    "unselected.cli.opened",
    "unselected.cli.progress",
    "unselected.cli.fitting",
    "unselected.cli.predicting",
    "unselected.cli.comparing",
    "unselected.cli.paper",
    "unselected.cli.reporting",
]
MODULES = {
    ".".join(["unselected", *path.relative_to(SOURCE).with_suffix("").parts]).removesuffix(
        ".__init__"
    ): path
    for path in SOURCE.rglob("*.py")
}


def imports_of(path):
    """All imports of a file, with whether they are run at once or hide inside a function."""
    tree = ast.parse(path.read_text())
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    hidden = {id(node) for function in functions for node in ast.walk(function)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, id(node) not in hidden) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield node.module, id(node) not in hidden


def test_every_module_has_its_place():
    assert set(MODULES) - {"unselected"} == set(ORDER)


@pytest.mark.parametrize("module", ORDER)
def test_imports_run_downwards(module):
    for imported, at_top in imports_of(MODULES[module]):
        assert at_top, f"{module} hides the import of {imported}"
        if imported.startswith("unselected."):
            assert ORDER.index(imported) < ORDER.index(module), f"{module} imports {imported}"


@pytest.mark.parametrize("module", ORDER[: ORDER.index("unselected.estimators")])
def test_nothing_below_the_estimators_knows_scikit_learn(module):
    assert not any(imported.startswith("sklearn") for imported, _ in imports_of(MODULES[module]))


def test_only_public_scikit_learn_is_used():
    used = {name for path in MODULES.values() for name, _ in imports_of(path)}
    assert not {name for name in used if name.startswith("sklearn") and "._" in name}


def test_the_test_would_notice(tmp_path):
    """Twins: an import at the top, one that is tried, one that hides."""
    path = tmp_path / "twin.py"
    path.write_text("import a\ntry:\n    import b\nexcept ImportError:\n    pass\n")
    assert dict(imports_of(path)) == {"a": True, "b": True}
    path.write_text("def f():\n    from sklearn._private import c\n")
    assert dict(imports_of(path)) == {"sklearn._private": False}
