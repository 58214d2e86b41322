"""Scores of probabilities of two classes, with intervals, and Spiegelhalter's test."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import norm
from sklearn.metrics import brier_score_loss, log_loss

from unselected._typing import Floats
from unselected.calibration.inputs import checked_cases, checked_probability
from unselected.calibration.intervals import (
    RandomState,
    Statistic,
    fraction_interval,
    resampling_interval,
)
from unselected.numerics.resampling import Estimate

# A probability of 0 for the observed class counts as this, as in scikit-learn's log_loss.
LEAST_PROBABILITY = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class SpiegelhalterTest:
    """Spiegelhalter's statistic, and its two-sided p-value."""

    z: float
    p_value: float


def actual_error(y: ArrayLike, probability: ArrayLike) -> float:
    """Return the fraction of cases put into the wrong class; from 0.5 on that is class 1.

    Parameters
    ----------
    y : array-like of shape (n,)
        Classes, 0 and 1.
    probability : array-like of shape (n,)
        Predicted probabilities of class 1.

    Returns
    -------
    error : float

    Examples
    --------
    >>> actual_error([0, 1, 1, 0], [0.2, 0.9, 0.4, 0.5])
    0.5
    """
    y, probability = checked_cases(y, probability)
    return float(np.mean(_is_wrong(y, probability)))


def expected_error(probability: ArrayLike) -> float:
    """Return the error rate that the probabilities imply.

    Section 4 of the paper: the mean over cases of p I(p < 0.5) + (1 - p) I(p >= 0.5).

    Parameters
    ----------
    probability : array-like of shape (n,)
        Predicted probabilities of class 1.

    Returns
    -------
    error : float

    Examples
    --------
    >>> expected_error([0.25, 0.75, 0.5])
    0.3333333333333333
    """
    p = checked_probability(probability)
    return float(np.mean(p * (p < 0.5) + (1.0 - p) * (p >= 0.5)))


def average_minus_log_probability(y: ArrayLike, probability: ArrayLike) -> float:
    """Return the mean of -log P(the observed class), scikit-learn's `log_loss`.

    A probability of 0 for the observed class counts as 2.2e-16, which costs 36.04.

    Parameters
    ----------
    y : array-like of shape (n,)
        Classes, 0 and 1.
    probability : array-like of shape (n,)
        Predicted probabilities of class 1.

    Returns
    -------
    score : float

    Examples
    --------
    >>> round(average_minus_log_probability([0, 1], [0.5, 0.25]), 6)  # 1.5 log(2)
    1.039721
    """
    y, probability = checked_cases(y, probability)
    return float(log_loss(y, probability, labels=[0, 1]))


def average_squared_error(y: ArrayLike, probability: ArrayLike) -> float:
    """Return the mean of (y - p)^2, scikit-learn's `brier_score_loss`.

    Parameters
    ----------
    y : array-like of shape (n,)
        Classes, 0 and 1.
    probability : array-like of shape (n,)
        Predicted probabilities of class 1.

    Returns
    -------
    score : float

    Examples
    --------
    >>> average_squared_error([0, 1], [0.5, 0.25])
    0.40625
    """
    y, probability = checked_cases(y, probability)
    return float(brier_score_loss(y, probability, pos_label=1))


def error_interval(y: ArrayLike, probability: ArrayLike, *, level: float = 0.95) -> Estimate:
    """Return the actual error with its exact (Clopper-Pearson) interval.

    Parameters
    ----------
    y : array-like of shape (n,)
        Classes, 0 and 1.
    probability : array-like of shape (n,)
        Predicted probabilities of class 1.
    level : float
        Coverage, at least.

    Returns
    -------
    error : Estimate

    Examples
    --------
    >>> error = error_interval([0, 0, 1, 1], [0.1, 0.2, 0.8, 0.9])
    >>> error.value, error.low, round(error.high, 6)  # 0.025 = (1 - high)^4
    (0.0, 0.0, 0.602365)
    """
    return fraction_interval(_is_wrong(*checked_cases(y, probability)), level)


def bootstrap_interval(
    statistic: Statistic,
    y: ArrayLike,
    probability: ArrayLike,
    *,
    level: float = 0.95,
    n_resamples: int = 999,
    random_state: RandomState = None,
) -> Estimate:
    """Return a statistic of (y, probability) with an interval from resampled cases.

    The interval is the BCa interval of `scipy.stats.bootstrap` for up to 1000 cases, and the
    percentile interval for more, or where all resamples agree. With a single case its bounds are
    NaN.

    Parameters
    ----------
    statistic : callable
        Function of (y, probability) that returns a float. If it has a parameter ``axis``, it is
        called with many resamples at once, which is faster, and has to reduce that axis.
    y : array-like of shape (n,)
        Classes, 0 and 1.
    probability : array-like of shape (n,)
        Predicted probabilities of class 1.
    level : float
        Coverage, about.
    n_resamples : int
    random_state : int, Generator or None

    Returns
    -------
    estimate : Estimate

    Examples
    --------
    >>> y, probability = [0, 0, 1, 0, 1, 1], [0.1, 0.3, 0.4, 0.6, 0.7, 0.9]
    >>> score = bootstrap_interval(average_squared_error, y, probability, random_state=0)
    >>> round(score.value, 6), bool(0.03 < score.low < 0.1 < 0.22 < score.high < 0.3)
    (0.153333, True)
    """
    return resampling_interval(
        statistic,
        checked_cases(y, probability),
        level=level,
        n_resamples=n_resamples,
        random_state=random_state,
    )


def spiegelhalter(y: ArrayLike, probability: ArrayLike) -> SpiegelhalterTest:
    """Return Spiegelhalter's test of the hypothesis that the probabilities are right.

    z = sum (y - p)(1 - 2p) / sqrt(sum (1 - 2p)^2 p (1 - p)) is about standard normal if they are.
    Positive z says that the squared error is larger than the probabilities imply.

    Parameters
    ----------
    y : array-like of shape (n,)
        Classes, 0 and 1.
    probability : array-like of shape (n,)
        Predicted probabilities of class 1.

    Returns
    -------
    test : SpiegelhalterTest
        Where all probabilities are 0, 1/2 or 1, they imply a squared error without variance:
        z is infinite and the p-value 0 where another one is observed, and both are NaN where
        it is observed.

    Examples
    --------
    >>> spiegelhalter([0, 0, 0, 1], [0.2, 0.2, 0.2, 0.2]).z.__round__(6)  # 0.2 / sqrt(0.64)
    0.25
    """
    y, p = checked_cases(y, probability)
    excess = float(np.sum((y - p) * (1.0 - 2.0 * p)))
    sd = float(np.sqrt(np.sum((1.0 - 2.0 * p) ** 2 * bernoulli_variance(p))))
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.float64(excess) / sd
    return SpiegelhalterTest(float(z), float(2.0 * norm.sf(abs(z))))


def _is_wrong(y: Floats, probability: Floats) -> NDArray[np.bool_]:
    return np.asarray((probability >= 0.5) != (y == 1.0))


def minus_logs(seen: Floats) -> Floats:
    """Return -log of the probabilities of the observed classes, each at least 2.2e-16."""
    return np.asarray(-np.log(np.maximum(seen, LEAST_PROBABILITY)))


def bernoulli_variance(p: Floats) -> Floats:
    """Return the variance of a class that is 1 with probability p."""
    return np.asarray(p * (1.0 - p))
