"""Leave-one-out scores of an estimator, and of numbers of features to keep."""

from dataclasses import dataclass, fields, replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from unselected._typing import Floats
from unselected.estimators.class_fitting import ClassFitting
from unselected.estimators.inputs import FEWEST_RESPONSES
from unselected.estimators.naive_bayes_fitting import RegressionFitting
from unselected.fitted.listing import MOST_ROWS, listing
from unselected.selection.rules import SelectionRule
from unselected.statistics.leaving_out import LeftOut

# The largest number of features that k="loo" tries.
_LARGEST_K = 1000


@dataclass(frozen=True)
class LeaveOneOutScore:
    """Leave-one-out scores of a classifier.

    Attributes
    ----------
    k : int or None
        Number of selected features; None where features are not selected by k.
    log_loss : float
        Mean of minus the log probability of the true class.
    squared_error : float
        Brier score: half the mean squared distance of probabilities and class indicators, which is
        (p - y)^2 for two classes.
    error : float
        Fraction of cases whose most probable class was wrong.
    expected_error : float
        The error that the probabilities imply.
    """

    k: int | None
    log_loss: float
    squared_error: float
    error: float
    expected_error: float


@dataclass(frozen=True)
class LeaveOneOutFit:
    """Leave-one-out scores of a regressor.

    Attributes
    ----------
    k : int or None
        Number of selected features; None where features are not selected by k.
    log_loss : float
        Mean of minus the log predictive density.
    squared_error : float
        Mean squared difference of predictive means and responses.
    expected_squared_error : float
        The squared error that the predictive distributions imply: their mean variance.
    """

    k: int | None
    log_loss: float
    squared_error: float
    expected_squared_error: float


S = TypeVar("S", LeaveOneOutScore, LeaveOneOutFit)


class KPath(list[S]):
    """Leave-one-out scores of several numbers of features.

    A list of `LeaveOneOutScore` or `LeaveOneOutFit` that is printed as a table.

    Examples
    --------
    >>> KPath([LeaveOneOutFit(5, 1.5, 0.8, 0.7), LeaveOneOutFit(10, 1.25, 0.5, 0.75)])
    k   log_loss  squared_error  expected_squared_error
    5      1.500          0.800                   0.700
    10     1.250          0.500                   0.750  lowest log loss
    """

    def __repr__(self) -> str:
        if not self:
            return "[]"
        names: list[str] = [field.name for field in fields(self[0])]
        lowest = min(range(len(self)), key=lambda place: self[place].log_loss)
        rows: list[list[object]] = [
            [getattr(score, name) for name in names] for score in self[:MOST_ROWS]
        ]
        for place, row in enumerate(rows):
            row.append("lowest log loss" if place == lowest else "")
        return listing([*names, ""], rows, len(self) - len(rows))

    def at_most(self, n_free: int) -> "KPath[S]":
        """Return the path with each k reduced to the number of columns that can be selected.

        All larger k select the same columns and have the same scores, so one of them is left.
        """
        called = {min(score.k, n_free): score for score in reversed(self) if score.k is not None}
        return KPath([replace(score, k=k) for k, score in reversed(called.items())])


def k_grid(n_free: int) -> list[int]:
    """Return the numbers of features that ``k="loo"`` tries.

    >>> k_grid(60)
    [1, 2, 5, 10, 20, 50]
    """
    steps = [mantissa * 10**power for power in range(4) for mantissa in (1, 2, 5)]
    return [k for k in steps if k <= min(n_free, _LARGEST_K)]


def log_proba_without_each(fitting: ClassFitting, rules: list[SelectionRule]) -> list[Floats]:
    """Return for each rule the leave-one-out log probabilities, of shape (n, G)."""
    sets = LeftOut.each_of(fitting.table.y.size)
    return [np.concatenate(parts) for parts in fitting.log_proba_without(sets, rules)]


def class_scores(
    log_probas: list[Floats], y: NDArray[np.intp], rules: list[SelectionRule]
) -> KPath[LeaveOneOutScore]:
    """Return the score of each rule."""
    each = zip(log_probas, rules, strict=True)
    return KPath(_class_score(log_p, y, rule.k) for log_p, rule in each)


def _class_score(log_p: Floats, y: NDArray[np.intp], k: int | None) -> LeaveOneOutScore:
    p = np.exp(log_p)
    seen = np.eye(p.shape[1])[y]
    return LeaveOneOutScore(
        k=k,
        log_loss=float(-np.mean(log_p[np.arange(y.size), y])),
        squared_error=float(0.5 * np.mean(np.sum((p - seen) ** 2, axis=1))),
        error=float(np.mean(np.argmax(p, axis=1) != y)),
        expected_error=float(np.mean(1.0 - np.max(p, axis=1))),
    )


@dataclass(frozen=True, eq=False)
class LeftOutResponses:
    """Leave-one-out means, standard deviations and log densities of the responses."""

    mean: Floats
    std: Floats
    log_density: Floats


def responses_without_each(
    fitting: RegressionFitting, rules: list[SelectionRule]
) -> list[LeftOutResponses]:
    """Return the leave-one-out predictions of each rule."""
    y = fitting.table.y
    _check_responses_left(y)
    results = []
    for fits in fitting.fits_without(LeftOut.each_of(y.size), rules):
        each = np.empty((3, y.size))
        for fit in fits:
            mean, std = fit.predictor.mean_and_std(fit.rows)
            log_density = fit.predictor.log_density(fit.rows, y[fit.left.asked])
            each[:, fit.left.asked] = mean, std, log_density
        results.append(LeftOutResponses(*each))
    return results


def _check_responses_left(y: Floats) -> None:
    """Raise where leaving out a case leaves too few responses, or equal ones."""
    values, first, counts = np.unique(y, return_index=True, return_counts=True)
    if y.size < FEWEST_RESPONSES + 1:
        raise ValueError(
            f"leave-one-out needs at least {FEWEST_RESPONSES + 1} cases, and there are {y.size}: "
            "add cases."
        )
    if values.size == 2 and 1 in counts:
        alone = int(first[np.argmin(counts)])
        raise ValueError(
            f"without case {alone + 1} all responses are {values[np.argmax(counts)]:g}: "
            "leave-one-out needs at least two cases with another response."
        )


def response_scores(
    predicted: list[LeftOutResponses], y: Floats, rules: list[SelectionRule]
) -> KPath[LeaveOneOutFit]:
    """Return the score of each rule."""
    return KPath(
        LeaveOneOutFit(
            k=rule.k,
            log_loss=float(-np.mean(one.log_density)),
            squared_error=float(np.mean((one.mean - y) ** 2)),
            expected_squared_error=float(np.mean(one.std**2)),
        )
        for one, rule in zip(predicted, rules, strict=True)
    )
