"""What leaving out each case says of an estimator, and of the number of features to keep."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unselected._typing import Floats
from unselected.estimators.fitting import ClassFitting, RegressionFitting
from unselected.estimators.inputs import FEWEST_RESPONSES
from unselected.selection.rules import SelectionRule
from unselected.statistics.leaving_out import LeftOut

# Numbers of features that k="loo" tries: 1, 2, 5, 10, and so on up to this.
_LARGEST_K = 1000


@dataclass(frozen=True)
class LeaveOneOutScore:
    """How well the classes of cases left out were predicted.

    Attributes
    ----------
    k : int or None
        Features that were selected; None where the rule is another.
    log_loss : float
        Mean of minus the log probability of the true class.
    squared_error : float
        Mean squared difference of probabilities and indicators of the classes, halved: (p - y)^2
        for two classes.
    error : float
        Fraction of cases whose most probable class was wrong.
    expected_error : float
        The same as the probabilities announced it.
    """

    k: int | None
    log_loss: float
    squared_error: float
    error: float
    expected_error: float


@dataclass(frozen=True)
class LeaveOneOutFit:
    """How well the responses of cases left out were predicted.

    Attributes
    ----------
    k : int or None
        Features that were selected; None where the rule is another.
    log_loss : float
        Mean of minus the log predictive density.
    squared_error : float
        Mean squared difference of predictive means and responses.
    expected_squared_error : float
        The same as the predictive distributions announced it: their mean variance.
    """

    k: int | None
    log_loss: float
    squared_error: float
    expected_squared_error: float


def k_grid(n_free: int) -> list[int]:
    """Return the numbers of features that are tried.

    >>> k_grid(60)
    [1, 2, 5, 10, 20, 50]
    """
    steps = [mantissa * 10**power for power in range(4) for mantissa in (1, 2, 5)]
    return [k for k in steps if k <= min(n_free, _LARGEST_K)]


def rules_of(rule: SelectionRule, ks: list[int]) -> list[SelectionRule]:
    """Return the rule with each of some numbers of features."""
    return [replace(rule, k=k) for k in ks]


def log_proba_without_each(fitting: ClassFitting[Any], rules: list[SelectionRule]) -> list[Floats]:
    """Return for each rule the log probabilities (n, G) of each case, left out."""
    sets = LeftOut.each_of(fitting.table.y.size)
    return [np.concatenate(parts) for parts in fitting.log_proba_without(sets, rules)]


def class_scores(
    log_probas: list[Floats], y: NDArray[np.intp], rules: list[SelectionRule]
) -> list[LeaveOneOutScore]:
    """Return the score of each rule."""
    return [_class_score(log_p, y, rule.k) for log_p, rule in zip(log_probas, rules, strict=True)]


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
    """Predictions of each case, left out: mean and standard deviation, and log density seen."""

    mean: Floats
    std: Floats
    log_density: Floats


def responses_without_each(
    fitting: RegressionFitting, rules: list[SelectionRule]
) -> list[LeftOutResponses]:
    """Return for each rule the predictions of each case, left out."""
    y = fitting.table.y
    _check_responses_left(y)
    results = []
    for fits in fitting.fits_without(LeftOut.each_of(y.size), rules):
        each = np.empty((3, y.size))
        for fit in fits:
            posterior, rows = fit.kept.posterior, np.asarray(fit.rows, dtype=np.float64)
            mean, std = posterior.mean_and_std(rows)
            log_density = posterior.log_density(rows, y[fit.left.asked])
            each[:, fit.left.asked] = mean, std, log_density
        results.append(LeftOutResponses(*each))
    return results


def _check_responses_left(y: Floats) -> None:
    """Raise where the cases that are left have too few responses, or the same one."""
    values, first, counts = np.unique(y, return_index=True, return_counts=True)
    if y.size < FEWEST_RESPONSES + 1:
        raise ValueError(
            f"leaving out a case of {y.size} leaves {y.size - 1}, and it takes {FEWEST_RESPONSES} "
            "to fit: it takes more cases."
        )
    if values.size == 2 and 1 in counts:
        alone = int(first[np.argmin(counts)])
        raise ValueError(
            f"without case {alone + 1} all responses are {values[np.argmax(counts)]:g}, from which "
            "nothing can be learned: it takes more cases with another response."
        )


def response_scores(
    predicted: list[LeftOutResponses], y: Floats, rules: list[SelectionRule]
) -> list[LeaveOneOutFit]:
    """Return the score of each rule."""
    return [
        LeaveOneOutFit(
            k=rule.k,
            log_loss=float(-np.mean(one.log_density)),
            squared_error=float(np.mean((one.mean - y) ** 2)),
            expected_squared_error=float(np.mean(one.std**2)),
        )
        for one, rule in zip(predicted, rules, strict=True)
    ]
