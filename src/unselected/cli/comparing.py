"""`unselected cv`."""

from dataclasses import asdict
from typing import Any

from unselected.calibration import Estimate
from unselected.cli.fitting import ESTIMATORS, naming_columns, read_training
from unselected.cli.options import Input, ModelOption, PriorOption, Source, Speech, columns_of, note
from unselected.experiments import (
    ComparisonRow,
    RegressionComparisonRow,
    compare,
    compare_regression,
    comparison_table,
    regression_table,
)

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
    k: int,
    model: ModelOption = "auto",
    prior: PriorOption = "common",
    splits: int = 5,
    repeats: int = 10,
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
        How many features each method selects, inside every fold.
    model
        bernoulli (features 0 or 1, two classes), gaussian (real-valued features, classes) or
        regression (real-valued features, a response of numbers); auto chooses from the data.
    prior
        Of this library's model: common (every feature is related to the response, more or less) or
        sparse (an unknown fraction of them is, the others are not at all).
    splits
        Number of folds.
    repeats
        Number of repetitions.
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
    settings: dict[str, Any] = {
        "k": k,
        "n_splits": splits,
        "n_repeats": repeats,
        "methods": method or None,
        "seed": seed,
        "n_jobs": jobs,
        "checkpoint": checkpoint,
        "progress": True,
    }
    ours = ESTIMATORS[name](k=k, prior=prior)
    rows: list[ComparisonRow] | list[RegressionComparisonRow]
    with naming_columns(table):
        if name == "regression":
            numbers = compare_regression(table.X, table.y, regressor=ours, **settings)
            rows = regression_table(numbers, table.y, seed=seed)
        else:
            records = compare(table.X, table.y, classifier=ours, **settings)
            rows = comparison_table(records, table.y, seed=seed)
    content = {"kind": name, "seed": seed, "k": k, "rows": [asdict(row) for row in rows]}
    speech.answer("cv", content, comparison_text(rows))


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
