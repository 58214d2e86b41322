"""`unselected cv`."""

from dataclasses import asdict
from typing import Annotated, Any

from cyclopts import Parameter

from unselected.calibration import Estimate
from unselected.cli.fitting import (
    ESTIMATORS,
    dependence_for,
    naming_columns,
    path_text,
    read_training,
)
from unselected.cli.options import (
    DependenceOption,
    Input,
    KOption,
    ModelOption,
    PriorOption,
    Source,
    Speech,
    columns_of,
    note,
)
from unselected.experiments import (
    ComparisonRow,
    RegressionComparisonRow,
    compare,
    compare_regression,
    comparison_table,
    regression_table,
)
from unselected.files.table_request import Table

# What is shown of a row, with the words for it.
_CLASSES = {
    "log_loss": "log loss",
    "squared_error": "squared error",
    "actual_error": "error",
    "expected_error": "expected",
}
_NUMBERS = {
    "log_density": "log density",
    "rmse": "rmse",
    "coverage": "in 90 % interval",
    "width": "width of it",
}


def cv(
    data: Input,
    /,
    *,
    source: Source,
    k: KOption,
    model: ModelOption = "auto",
    prior: PriorOption = "common",
    dependence: DependenceOption = "none",
    splits: int | None = None,
    repeats: int | None = None,
    loo: Annotated[bool, Parameter(negative="")] = False,
    method: tuple[str, ...] = (),
    seed: int = 0,
    jobs: int = 1,
    checkpoint: str | None = None,
    speech: Speech = Speech(),  # noqa: B008 - frozen
) -> None:
    """Compare this library's model with what people use instead, by repeated cross-validation.

    Parameters
    ----------
    data
        Table with features and the response; - is stdin.
    k
        How many features each method selects, inside every fold. With loo this library's model
        chooses the number inside every fold, by cases left out of it, and the others select as
        many as it chooses with all cases.
    model
        bernoulli (features 0 or 1, two classes), gaussian (real-valued features, classes) or
        regression (real-valued features, a response of numbers); auto chooses from the data.
    prior
        Of this library's model: common (every feature is related to the response, more or less) or
        sparse (an unknown fraction of them is, the others are not at all).
    dependence
        Of this library's model: none (features are taken to be independent within classes),
        tempered (what their evidence is worth is learned from cases left out) or correlated (also
        how they vary together within classes); not for regression.
    splits
        Number of folds; 5 where not given.
    repeats
        Number of repetitions; 10 where not given.
    loo
        Leave out each case, once, in the place of folds and repetitions.
    method
        Name of a method to run; may be given several times; all by default.
    seed
        Seed of the folds.
    jobs
        Number of processes.
    checkpoint
        File for finished repetitions; the same call continues from there.
    """
    name, table = read_training(data, source, model)
    note(f"{table.X.shape[0]} cases, {table.X.shape[1]} features, seed {seed}")
    ours = ESTIMATORS[name](k=k, prior=prior, **dependence_for(name, dependence))
    folds = _leaving_out_each(splits, repeats, jobs) if loo else _folds(splits, repeats)
    if loo and name == "regression":
        folds["n_splits"] = table.X.shape[0]
    with naming_columns(table):
        number = _number_selected(ours, table) if k == "loo" else k
    settings: dict[str, Any] = {
        "k": number,
        **folds,
        "methods": method or None,
        "seed": seed,
        "n_jobs": jobs,
        "checkpoint": checkpoint,
        "progress": True,
    }
    rows: list[ComparisonRow] | list[RegressionComparisonRow]
    with naming_columns(table):
        if name == "regression":
            numbers = compare_regression(table.X, table.y, regressor=ours, **settings)
            rows = regression_table(numbers, table.y, seed=seed)
        else:
            records = compare(table.X, table.y, classifier=ours, **settings)
            rows = comparison_table(records, table.y, seed=seed)
    content = {
        "kind": name,
        "seed": seed,
        "k": k,
        **({"k_of_others": number} if k == "loo" else {}),
        **({"loo": True} if loo else {}),
        "rows": [asdict(row) for row in rows],
    }
    speech.answer("cv", content, comparison_text(rows))


def _folds(splits: int | None, repeats: int | None) -> dict[str, Any]:
    return {
        "n_splits": 5 if splits is None else splits,
        "n_repeats": 10 if repeats is None else repeats,
    }


def _leaving_out_each(splits: int | None, repeats: int | None, jobs: int) -> dict[str, Any]:
    """Return the folds of which each is a case; raise on options that then say nothing."""
    for option, given in (
        ("--splits", splits is not None),
        ("--repeats", repeats is not None),
        ("--jobs", jobs != 1),
    ):
        if given:
            raise ValueError(
                f"{option} does not go with --loo, which leaves out each case once: leave out one "
                "of them."
            )
    return {"n_splits": "loo", "n_repeats": 1}


def _number_selected(ours: Any, table: Table) -> int:
    """Return how many features our model chooses with all cases, and tell it."""
    fitted = ours.fit(table.X, table.y)
    note(f"{path_text(fitted.k_path_)}; so many are selected by the others")
    return int(fitted.selection_.indices.size)


def comparison_text(rows: list[ComparisonRow] | list[RegressionComparisonRow]) -> str:
    """Return the comparison as a table with intervals."""
    shown, dash = (_CLASSES, "-") if isinstance(rows[0], ComparisonRow) else (_NUMBERS, " to ")
    cells = [
        (
            row.method,
            *(_with_interval(getattr(row, field), dash) for field in shown),
            f"{row.features_needed:.1f}",
        )
        for row in rows
    ]
    return columns_of(cells, ("method", *shown.values(), "features needed"))


def _with_interval(estimate: Estimate, dash: str) -> str:
    return f"{estimate.value:.3f} ({estimate.low:.3f}{dash}{estimate.high:.3f})"
