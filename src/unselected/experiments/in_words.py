"""What a comparison of methods comes to, in a sentence."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from unselected.experiments.compare import ComparisonRow
from unselected.experiments.compare_regression import PROMISED_COVERAGE, RegressionComparisonRow
from unselected.experiments.folds import OURS

Row = ComparisonRow | RegressionComparisonRow


def promise_in_words(row: Row) -> str:
    """Return what a method promised, and what came of it.

    >>> from unselected.calibration import Estimate
    >>> numbers = [Estimate(value, 0.0, 1.0, 0.95) for value in (0.2, 0.1, 0.125, 0.1, 0.9)]
    >>> promise_in_words(ComparisonRow("corrected", *numbers, features_needed=5.0))
    'wrong in 12 % of cases, where 10 % were expected'
    """
    if isinstance(row, RegressionComparisonRow):
        covered, level = _percent(row.coverage.value), _percent(PROMISED_COVERAGE)
        return f"{level} intervals covered {covered} of the responses"
    actual, expected = _percent(row.actual_error.value), _percent(row.expected_error.value)
    return f"wrong in {actual} of cases, where {expected} were expected"


def best_in_words(
    rows: Sequence[Row] | Mapping[str, Row], *, called: Callable[[str], str] = repr
) -> str:
    """Return whether a method was better than ours by more than chance.

    Parameters
    ----------
    rows : sequence of rows, or mapping to rows
        From `comparison_table` or `regression_table`.
    called : callable
        What a method is called, given its name.
    """
    told = {row.method: row for row in (rows.values() if isinstance(rows, Mapping) else rows)}
    ours = told.pop(OURS, None)
    if ours is None or not told:
        return ""
    field, words, sign = "log_loss", "log loss", 1.0
    if isinstance(ours, RegressionComparisonRow):
        field, words, sign = "log_density", "log density", -1.0
    better = "lower" if sign > 0 else "higher"

    def ahead(row: Any) -> float:
        return sign * float(row.differences[field].value)

    best = min(told.values(), key=ahead)
    own, difference = getattr(ours, field).value, best.differences[field]
    value, name = getattr(best, field).value, called(best.method)
    if ahead(best) >= 0.0:
        return (
            f"No other method had a {better} {words} than ours, {_loss(own)}; the next was "
            f"{name} with {_loss(value)}."
        )
    ends = f"difference {difference.value:.3f}, {difference.low:.3f} to {difference.high:.3f}"
    if difference.low <= 0.0 <= difference.high:
        return (
            f"No method had a {better} {words} than ours, {_loss(own)}, by more than chance; "
            f"{name} had {_loss(value)} ({ends})."
        )
    capital = name[0].upper() + name[1:]
    return (
        f"{capital} had a {better} {words} than ours by more than chance, {_loss(value)} against "
        f"{_loss(own)} ({ends})."
    )


def _loss(value: float) -> str:
    """Return a log loss or log density; one that is not quite 0 is not told as 0.

    >>> _loss(0.0381), _loss(0.0002), _loss(0.0), _loss(-0.8262)
    ('0.038', '0.0002', '0.000', '-0.826')
    """
    return f"{value:.1g}" if 0.0 < abs(value) < 0.0005 else f"{value:.3f}"


def _percent(value: float) -> str:
    return f"{100.0 * value:.0f} %"
