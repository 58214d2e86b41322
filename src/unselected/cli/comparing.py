"""`unselected cv`."""

from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any

from unselected.calibration import Estimate
from unselected.cli.commands import CvOptions
from unselected.cli.estimating import NamedTraining, estimator, repeats_of
from unselected.cli.fitting import path_text, read_training
from unselected.cli.options import Choice, K, Source, columns_of, note
from unselected.cli.progress import OUR_METHODS, n_fits_of_ours, n_jobs_of, showing_fits
from unselected.estimators.added_value import AddedValue
from unselected.estimators.choose import FOR_NUMBERS
from unselected.experiments import (
    ComparisonRow,
    RegressionComparisonRow,
    best_in_words,
    class_added_value,
    compare,
    compare_regression,
    comparison_table,
    promise_in_words,
    regression_table,
    response_added_value,
)
from unselected.experiments.added_value import can_tell_added_value
from unselected.experiments.folds import OURS
from unselected.files.writing import check_writable

Row = ComparisonRow | RegressionComparisonRow

# The fields of a row that are shown, and their headings.
_CLASSES = {
    "log_loss": "log loss",
    "auc": "AUC",
    "actual_error": "error",
    "expected_error": "expected",
}
_NUMBERS = {
    "log_density": "log density",
    "rmse": "rmse",
    "coverage": "in 90 % interval",
    "width": "width of it",
}


def cv(data: str, /, *, source: Source, k: tuple[K, ...], options: CvOptions) -> None:
    """Do what `unselected.cli.commands.cv` says."""
    _check_options(k, options)
    choice = Choice(
        model=options.model,
        k="loo" if "loo" in k else k[0],  # which says whether one of the paper's models is needed
        prior=options.prior,
        dependence=options.dependence,
        family=options.family,
        rates=options.rates,
        score=options.score,
        groups=options.groups,
        seed=options.seed,
    )
    name, table = read_training(data, source, choice)
    note(f"{table.in_words()}, seed {options.seed}")
    models = [estimator(name, table, replace(choice, k=each)) for each in k]
    compared = [_compared(name, table, model, options, len(k)) for model in models]
    content: dict[str, Any] = {"kind": name, "seed": options.seed}
    loo = {"loo": True} if options.loo else {}
    if len(k) == 1:
        (number, rows, added), only = compared[0], k[0]
        others = {} if number in (only, None) else {"k_of_others": number}
        content |= {"k": only, **others, **loo, "rows": [asdict(row) for row in rows]}
        text, told = comparison_text(rows), verdict_text(rows)
        if told:
            content |= {"verdict": told}
            text += f"\n\n{told}"
        if added is not None:
            content |= {"added_value": added.to_dict()}
            text += f"\n\n{added}"
        options.speech.answer("cv", content, text)
        return
    lines = [(each, row) for each, (_, rows, _) in zip(k, compared, strict=True) for row in rows]
    content |= {"k": list(k), **loo, "rows": [{"k": each, **asdict(row)} for each, row in lines]}
    options.speech.answer("cv", content, numbers_text(lines))


def _check_options(k: tuple[K, ...], options: CvOptions) -> None:
    """Raise on options that do not go together, and on a checkpoint that cannot be written."""
    for option, given in (
        ("--splits", options.splits is not None),
        ("--repeats", options.repeats is not None),
        ("--jobs", options.jobs not in (None, 1)),
        ("--groups", options.groups is not None),
    ):
        if options.loo and given:
            raise ValueError(
                f"{option} has no effect with --loo, which leaves out each case once: omit one of "
                "the two options."
            )
    if options.checkpoint is None:
        return
    if len(k) > 1:
        raise ValueError("--checkpoint needs a single --k: give one, or omit --checkpoint.")
    check_writable(options.checkpoint, overwrite=True)


def _compared(
    name: str, table: NamedTraining, ours: Any, options: CvOptions, n_numbers: int
) -> tuple[int | None, list[Row], AddedValue | None]:
    """Return how many features the other methods select, if any do, the rows, and added value."""
    folds = _folds(options, name)
    n_splits = table.X.shape[0] if options.loo else folds["n_splits"]
    methods = options.method or (("corrected",) if n_numbers > 1 else ())
    number = ours.k if isinstance(ours.k, int) else None
    if number is None and not (methods and set(methods) <= set(OUR_METHODS)):
        number = _number_selected(ours, table)
    n_values = table.X.shape[0] * table.X.shape[1]
    jobs = n_jobs_of(options.jobs, name, n_values, 0 if options.loo else folds["n_repeats"])
    settings: dict[str, Any] = {
        "k": 1 if number is None else number,
        **folds,
        "methods": methods or None,
        "seed": options.seed,
        "n_jobs": jobs,
        "checkpoint": options.checkpoint,
    }
    resampling: dict[str, Any] = {"groups": table.groups, "seed": options.seed}
    n_ours = n_fits_of_ours(name, methods, covariates=table.covariates is not None)
    n_fits = n_ours * n_splits * folds["n_repeats"]
    with showing_fits(name, n_fits, jobs=jobs) as own_bar:
        settings |= table.fit_arguments | {"progress": own_bar}
        if name in FOR_NUMBERS:
            settings["n_splits"] = n_splits
            numbers = compare_regression(table.X, table.y, regressor=ours, **settings)
            rows: list[Row] = list(regression_table(numbers, table.y, **resampling))
            return number, rows, _added_value(response_added_value, numbers, table, options)
        records = compare(table.X, table.y, classifier=ours, **settings)
    rows = list(comparison_table(records, table.y, **resampling))
    return number, rows, _added_value(class_added_value, records, table, options)


def _added_value(
    judge: Callable[..., AddedValue], records: list[Any], table: NamedTraining, options: CvOptions
) -> AddedValue | None:
    """Return what features add to covariates, if there are any and all three methods were run."""
    if table.covariates is None or not can_tell_added_value(records):
        return None
    names = table.covariates.names
    return judge(records, table.y, names, groups=table.groups, seed=options.seed)


def _folds(options: CvOptions, name: str) -> dict[str, Any]:
    """Return the settings of the folds."""
    if options.loo:
        return {"n_splits": "loo", "n_repeats": 1}
    return {
        "n_splits": 5 if options.splits is None else options.splits,
        "n_repeats": repeats_of(name, options.repeats, usual=10),
    }


def _number_selected(ours: Any, table: NamedTraining) -> int:
    """Return the number of features that our model chooses with all cases, and print it."""
    fitted = ours.fit(table.X, table.y, **table.fit_arguments)
    number = int(fitted.selection_.indices.size)
    why = path_text(fitted.k_path_) if ours.k == "loo" else f"k = {number} with all cases"
    note(f"{why}; the other methods select as many")
    return number


def comparison_text(rows: list[Row]) -> str:
    """Return the comparison as a table with intervals, and differences from ours where it is run.

    A difference is in the first number, paired by case.
    """
    shown = _CLASSES if isinstance(rows[0], ComparisonRow) else _NUMBERS
    first = next(iter(shown))
    cells = [(row.method, *_cells(row)) for row in rows]
    header: tuple[str, ...] = ("method", *shown.values(), "features needed")
    if any(row.differences for row in rows):
        found = [_difference(row, first) for row in rows]
        cells = [(*cell[:2], one, *cell[2:]) for cell, one in zip(cells, found, strict=True)]
        header = (*header[:2], "less ours", *header[2:])
    return columns_of(cells, header)


def verdict_text(rows: list[Row]) -> str:
    """Return what the comparison comes to, in a line; nothing where ours was not run."""
    ours = [row for row in rows if row.method == OURS]
    best = best_in_words(rows)
    return f"Ours: {promise_in_words(ours[0])}. {best}" if ours and best else ""


def _difference(row: Row, field: str) -> str:
    if field not in row.differences:
        return ""
    return _with_interval(row.differences[field], " to ")


def numbers_text(lines: list[tuple[K, Row]]) -> str:
    """Return a line for each number of features, and for each method where there are several."""
    shown = _CLASSES if isinstance(lines[0][1], ComparisonRow) else _NUMBERS
    several = len({row.method for _, row in lines}) > 1
    cells = [(k, *([row.method] if several else []), *_cells(row)) for k, row in lines]
    header = ("k", *(["method"] if several else []), *shown.values(), "features needed")
    return columns_of(cells, header)


def _cells(row: Row) -> list[str]:
    shown, dash = (_CLASSES, "-") if isinstance(row, ComparisonRow) else (_NUMBERS, " to ")
    numbers = [_with_interval(getattr(row, field), dash) for field in shown]
    return [*numbers, f"{row.features_needed:.1f}"]


def _with_interval(estimate: Estimate, dash: str) -> str:
    return f"{estimate.value:.3f} ({estimate.low:.3f}{dash}{estimate.high:.3f})"
