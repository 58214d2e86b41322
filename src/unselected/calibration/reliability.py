"""Calibration of probabilities: the paper's table, the reliability curve, and its summary."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import isotonic_regression

from unselected._typing import Floats
from unselected.calibration.inputs import checked_cases
from unselected.calibration.intervals import (
    RandomState,
    check_resamples,
    fraction_interval,
    tails,
)
from unselected.calibration.records import Record


@dataclass(frozen=True)
class DecileRow:
    """Cases whose probability starts with the decimal of ``low``, up to but without ``high``.

    Attributes
    ----------
    low, high : float
        Bounds of the category; the last one includes 1.
    count : int
        How many cases are in it.
    mean_prediction, actual_fraction : float or None
        Mean probability of class 1, and the fraction that is in class 1. None without cases.
    fraction_low, fraction_high : float or None
        Exact (Clopper-Pearson) interval of that fraction. None without cases.
    """

    low: float
    high: float
    count: int
    mean_prediction: float | None
    actual_fraction: float | None
    fraction_low: float | None
    fraction_high: float | None


@dataclass(frozen=True)
class SquaredErrorParts:
    """Parts of the average squared error: miscalibration - discrimination + uncertainty."""

    miscalibration: float
    discrimination: float
    uncertainty: float


@dataclass(frozen=True, eq=False)
class ReliabilityCurve(Record):
    """Recalibrated probabilities, and where they would lie if the predictions were calibrated.

    Attributes
    ----------
    probability : array of shape (n_distinct,)
        The distinct predictions, in increasing order.
    fraction : array of shape (n_distinct,)
        The recalibrated ones: the isotonic regression of the classes on the predictions.
    band_low, band_high : arrays of shape (n_distinct,)
        Pointwise consistency band.
    level : float
        At any one prediction, the band holds right ``fraction`` with at least this probability.
    """

    probability: Floats
    fraction: Floats
    band_low: Floats
    band_high: Floats
    level: float


def decile_table(y: ArrayLike, probability: ArrayLike, *, level: float = 0.95) -> list[DecileRow]:
    """Return the ten-row table of the paper: cases grouped by the first decimal of p.

    Parameters
    ----------
    y : array-like of shape (n,)
        Classes, 0 and 1.
    probability : array-like of shape (n,)
        Predicted probabilities of class 1. The probability 1 belongs to the last category.
    level : float
        Coverage of the intervals of the fractions.

    Returns
    -------
    rows : list of ten DecileRow

    Examples
    --------
    >>> row = decile_table([0, 1, 1], [0.5, 0.53125, 0.9])[5]
    >>> row.low, row.high, row.count, row.mean_prediction, row.actual_fraction
    (0.5, 0.6, 2, 0.515625, 0.5)
    """
    tails(level)
    y, probability = checked_cases(y, probability)
    # Compared with the bounds themselves: ten times a probability could be rounded up.
    category = np.searchsorted(np.arange(1, 10) / 10, probability, side="right")
    return [_decile_row(d, y[category == d], probability[category == d], level) for d in range(10)]


def reliability_curve(
    y: ArrayLike,
    probability: ArrayLike,
    *,
    level: float = 0.9,
    n_resamples: int = 999,
    random_state: RandomState = None,
) -> ReliabilityCurve:
    """Return the isotonic (CORP) reliability curve with a consistency band.

    The curve is the isotonic regression of the classes on the probabilities, by pooling adjacent
    violators: it needs no bins [1]_. The band has pointwise quantiles of the curves
    of classes that are simulated from these probabilities: it is where the curve is expected if
    the probabilities are right. It is not a confidence band around the curve.

    Parameters
    ----------
    y : array-like of shape (n,)
        Classes, 0 and 1.
    probability : array-like of shape (n,)
        Predicted probabilities of class 1.
    level : float
        Probability of the band at a point.
    n_resamples : int
        How often the classes are drawn; as many curves are kept in memory.
    random_state : int, Generator or None

    Returns
    -------
    curve : ReliabilityCurve

    References
    ----------
    .. [1] Dimitriadis, T., Gneiting, T. and Jordan, A. I. (2021). Stable reliability diagrams for
       probabilistic classifiers. PNAS 118 (8) e2016191118.

    Examples
    --------
    >>> curve = reliability_curve([0, 1, 0, 1], [0.1, 0.3, 0.6, 0.8], random_state=0)
    >>> curve.fraction.tolist()
    [0.0, 0.5, 0.5, 1.0]
    """
    ends = tails(level)
    check_resamples(n_resamples)
    values, counts, ones = _distinct(*checked_cases(y, probability))
    rng = np.random.default_rng(random_state)
    drawn = rng.binomial(counts, values, size=(n_resamples, values.size))
    curves = np.stack([_isotonic(row, counts) for row in drawn])
    # With this definition the observed curve is one more of the resamples if the probabilities are
    # right, so it leaves the band with probability 1 - level at most.
    low, high = np.quantile(curves, ends, axis=0, method="weibull")
    return ReliabilityCurve(values, _isotonic(ones, counts), low, high, level)


def split_squared_error(y: ArrayLike, probability: ArrayLike) -> SquaredErrorParts:
    """Split the average squared error into miscalibration - discrimination + uncertainty.

    With c the isotonic (CORP) curve at each case and m the fraction of class 1, all means over
    cases: uncertainty = mean (m - y)^2, discrimination = uncertainty - mean (c - y)^2 and
    miscalibration = mean (p - y)^2 - mean (c - y)^2. None is negative.

    Parameters
    ----------
    y : array-like of shape (n,)
        Classes, 0 and 1.
    probability : array-like of shape (n,)
        Predicted probabilities of class 1.

    Returns
    -------
    parts : SquaredErrorParts

    Examples
    --------
    >>> split_squared_error([0, 1, 0, 1], [0.25, 0.25, 0.75, 0.75])
    SquaredErrorParts(miscalibration=0.0625, discrimination=0.0, uncertainty=0.25)
    """
    y, probability = checked_cases(y, probability)
    values, counts, ones = _distinct(y, probability)
    recalibrated = _isotonic(ones, counts)[np.searchsorted(values, probability)]
    best, uncertainty = np.mean((recalibrated - y) ** 2), np.mean((y.mean() - y) ** 2)
    return SquaredErrorParts(
        miscalibration=max(0.0, float(np.mean((probability - y) ** 2) - best)),
        discrimination=max(0.0, float(uncertainty - best)),
        uncertainty=float(uncertainty),
    )


def _decile_row(decile: int, y: Floats, probability: Floats, level: float) -> DecileRow:
    low, high = decile / 10, (decile + 1) / 10
    if y.size == 0:
        return DecileRow(low, high, 0, None, None, None, None)
    fraction = fraction_interval(y == 1.0, level)
    prediction = float(probability.mean())
    return DecileRow(low, high, y.size, prediction, fraction.value, fraction.low, fraction.high)


def _distinct(y: Floats, probability: Floats) -> tuple[Floats, NDArray[np.intp], Floats]:
    """Return the distinct probabilities, how many cases have each, and how many are ones."""
    values, place, counts = np.unique(probability, return_inverse=True, return_counts=True)
    return values, counts, np.bincount(place, weights=y).astype(np.float64)


def _isotonic(ones: NDArray[Any], counts: NDArray[np.intp]) -> Floats:
    """Return the isotonic regression of the fractions of ones, weighted by the counts."""
    return np.asarray(isotonic_regression(ones / counts, weights=counts).x, dtype=np.float64)
