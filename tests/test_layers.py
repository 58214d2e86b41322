"""Imports run downwards only: a module may use those listed before it, and no others."""

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "unselected"

ORDER = [
    "unselected.quadrature",
    "unselected.tables",
    "unselected.columns",
    "unselected.selection",
    "unselected.omission",
    "unselected.models",
    "unselected.models.bernoulli",
    "unselected.kept",
    "unselected.estimators",
    "unselected.estimators.inputs",
    "unselected.estimators.base",
    "unselected.estimators.panel",
    "unselected.estimators.bernoulli",
    "unselected.datasets",
]
MODULES = {
    ".".join(["unselected", *path.relative_to(SOURCE).with_suffix("").parts]).removesuffix(
        ".__init__"
    ): path
    for path in SOURCE.rglob("*.py")
}


def imports_of(path):
    """All imports of a file, with whether they hide inside a function."""
    tree = ast.parse(path.read_text())
    top = set(map(id, tree.body))
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, id(node) in top) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield node.module, id(node) in top


def test_every_module_has_its_place():
    assert set(MODULES) - {"unselected"} == set(ORDER)


@pytest.mark.parametrize("module", ORDER)
def test_imports_run_downwards(module):
    for imported, at_top in imports_of(MODULES[module]):
        assert at_top, f"{module} hides the import of {imported} inside a function"
        if imported.startswith("unselected"):
            assert ORDER.index(imported) < ORDER.index(module), f"{module} imports {imported}"


@pytest.mark.parametrize("module", ORDER[: ORDER.index("unselected.estimators")])
def test_nothing_below_the_estimators_knows_scikit_learn(module):
    assert not any(imported.startswith("sklearn") for imported, _ in imports_of(MODULES[module]))


def test_only_public_scikit_learn_is_used():
    used = {name for path in MODULES.values() for name, _ in imports_of(path)}
    assert not {name for name in used if name.startswith("sklearn") and "._" in name}


def test_the_test_would_notice():
    """Twins: an upward import, a hidden one, a private one."""
    assert ORDER.index("unselected.models.bernoulli") > ORDER.index("unselected.tables")
    path = MODULES["unselected.models.bernoulli"]
    assert ("unselected.tables", True) in set(imports_of(path))
    assert dict(imports_of(MODULES["unselected"]))["unselected.selection"] is False
