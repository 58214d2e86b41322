"""`unselected cv`."""

from dataclasses import asdict
from typing import Any, Literal

from unselected.calibration import Estimate
from unselected.cli.commands import CvOptions
from unselected.cli.estimating import NamedTraining, estimator
from unselected.cli.fitting import path_text, read_training
from unselected.cli.options import Choice, Source, columns_of, note, on_terminal
from unselected.experiments import (
    ComparisonRow,
    RegressionComparisonRow,
    compare,
    compare_regression,
    comparison_table,
    regression_table,
)
from unselected.files.writing import check_writable

# The fields of a row that are shown, and their headings.
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
    data: str, /, *, source: Source, k: int | Literal["auto", "loo"], options: CvOptions
) -> None:
    """Do what `unselected.cli.commands.cv` says."""
    seed, checkpoint = options.seed, options.checkpoint
    if checkpoint is not None:
        check_writable(checkpoint, overwrite=True)
    choice = Choice(
        model=options.model,
        k=k,
        prior=options.prior,
        dependence=options.dependence,
        rates=options.rates,
        groups=options.groups,
        seed=seed,
    )
    name, table = read_training(data, source, choice)
    note(f"{table.X.shape[0]} cases, {table.X.shape[1]} features, seed {seed}")
    ours = estimator(name, table, choice)
    folds = _folds(options)
    if options.loo and name == "regression":
        folds["n_splits"] = table.X.shape[0]
    number = k if isinstance(k, int) else _number_selected(ours, table)
    settings: dict[str, Any] = {
        "k": number,
        **folds,
        "methods": options.method or None,
        "seed": seed,
        "n_jobs": options.jobs,
        "checkpoint": checkpoint,
        "progress": on_terminal(),
    }
    rows: list[ComparisonRow] | list[RegressionComparisonRow]
    if name == "regression":
        numbers = compare_regression(table.X, table.y, regressor=ours, **settings)
        rows = regression_table(numbers, table.y, seed=seed)
    else:
        records = compare(table.X, table.y, classifier=ours, groups=table.groups, **settings)
        rows = comparison_table(records, table.y, seed=seed)
    content = {
        "kind": name,
        "seed": seed,
        "k": k,
        **({} if number == k else {"k_of_others": number}),
        **({"loo": True} if options.loo else {}),
        "rows": [asdict(row) for row in rows],
    }
    options.speech.answer("cv", content, comparison_text(rows))


def _folds(options: CvOptions) -> dict[str, Any]:
    """Return the settings of the folds; raise on options that have no effect with --loo."""
    splits, repeats = options.splits, options.repeats
    if not options.loo:
        return {
            "n_splits": 5 if splits is None else splits,
            "n_repeats": 10 if repeats is None else repeats,
        }
    for option, given in (
        ("--splits", splits is not None),
        ("--repeats", repeats is not None),
        ("--jobs", options.jobs != 1),
    ):
        if given:
            raise ValueError(
                f"{option} has no effect with --loo, which leaves out each case once: omit one of "
                "the two options."
            )
    return {"n_splits": "loo", "n_repeats": 1}


def _number_selected(ours: Any, table: NamedTraining) -> int:
    """Return the number of features that our model chooses with all cases, and print it."""
    grouped = {} if table.groups is None else {"groups": table.groups}
    fitted = ours.fit(table.X, table.y, **grouped)
    number = int(fitted.selection_.indices.size)
    why = path_text(fitted.k_path_) if ours.k == "loo" else f"k = {number} with all cases"
    note(f"{why}; the other methods select as many")
    return number


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
