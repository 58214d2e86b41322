"""Calibration of predictive distributions of a number, from PIT values alone.

The PIT value of a case (probability integral transform) is the predictive probability of a response
of at most the observed one, ``predict_cdf(X, y)`` of a regressor. If the predictive distributions
are right, PIT values are uniform on 0 to 1.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import binom, kstest, norm

from unselected._typing import Floats
from unselected.calibration.inputs import checked_numbers, is_probability
from unselected.calibration.intervals import tails
from unselected.calibration.records import Record

# Level of the two-sided tests.
_SIZE = 0.05
# Moments of the uniform distribution about its mean: the square of the second, and the fourth.
_UNIFORM_MEAN, _UNIFORM_VARIANCE, _UNIFORM_FOURTH = 1 / 2, 1 / 12, 1 / 80


@dataclass(frozen=True)
class MomentTest:
    """A moment of the PIT values, what it should be, z of the difference, and its p-value."""

    value: float
    expected: float
    z: float
    p_value: float


@dataclass(frozen=True)
class PITTest(Record):
    """Tests of the hypothesis that PIT values are uniform, all two-sided.

    Attributes
    ----------
    n : int
        How many values there are.
    statistic, p_value : float
        The Kolmogorov-Smirnov test: the largest distance of the empirical distribution from the
        diagonal, and the exact probability of one as large.
    mean : MomentTest
        Expected to be 1/2. A larger mean says that predictions are too low.
    variance : MomentTest
        Expected to be 1/12. Above it too many responses are in the tails of the predictive
        distributions, which are too narrow; below it too few, and they are too wide. NaN for
        a single value.
    """

    n: int
    statistic: float
    p_value: float
    mean: MomentTest
    variance: MomentTest

    @property
    def bias(self) -> str:
        """Where the predictions lie: "too low", "too high" or "no fault found", at 5 %."""
        return _words(self.mean, "too high", "too low")

    @property
    def spread(self) -> str:
        """Their widths: "too narrow" (overconfident), "too wide" or "no fault found", at 5 %."""
        return _words(self.variance, "too wide", "too narrow")


def _words(test: MomentTest, below: str, above: str) -> str:
    if not test.p_value < _SIZE:
        return "no fault found"
    return above if test.z > 0 else below


@dataclass(frozen=True, eq=False)
class CoverageCurve(Record):
    """How often central predictive intervals hold the response, by their nominal level.

    Attributes
    ----------
    levels, coverage : arrays of shape (n_levels,)
        Nominal and observed.
    band_low, band_high : arrays of shape (n_levels,)
        Pointwise consistency band, by the binomial law: where the coverage is expected if the
        predictive distributions are right.
    confidence : float
        At any one level, the band holds right coverage with at least this probability.
    """

    levels: Floats
    coverage: Floats
    band_low: Floats
    band_high: Floats
    confidence: float


def pit_test(pit: ArrayLike) -> PITTest:
    """Return tests of the hypothesis that PIT values are uniform, as they are if calibrated.

    Besides the Kolmogorov-Smirnov test there is z of the mean, (mean - 1/2) / sqrt(1 / (12 n)), and
    z of the variance s^2 (divisor n - 1), (s^2 - 1/12) / sd(s^2), both about standard normal.

    Parameters
    ----------
    pit : array-like of shape (n,)
        Predictive probabilities of a response of at most the observed one.

    Returns
    -------
    test : PITTest

    Notes
    -----
    The tests take the values to be independent. Cases predicted from one training set are not, so
    p-values can be too small, the more so the more cases there are.

    Examples
    --------
    >>> test = pit_test([0.05, 0.1, 0.9, 0.95])
    >>> round(test.statistic, 6), test.mean.value, round(test.variance.value, 6)
    (0.4, 0.5, 0.241667)
    >>> test.bias, test.spread
    ('no fault found', 'too narrow')
    """
    values = checked_pit(pit)
    n = values.size
    distance = kstest(values, "uniform")
    return PITTest(
        n=n,
        statistic=float(distance.statistic),
        p_value=float(distance.pvalue),
        mean=_moment_test(float(values.mean()), _UNIFORM_MEAN, _UNIFORM_VARIANCE / n),
        variance=_variance_test(values),
    )


def coverage_curve(
    pit: ArrayLike, levels: ArrayLike | None = None, *, confidence: float = 0.95
) -> CoverageCurve:
    """Return how often central predictive intervals hold the response, for each nominal level.

    The central interval of level c reaches from the (1 - c) / 2 to the (1 + c) / 2 quantile; it
    holds the response if and only if abs(2 pit - 1) <= c.

    Parameters
    ----------
    pit : array-like of shape (n,)
        Predictive probabilities of a response of at most the observed one.
    levels : array-like of shape (n_levels,), default=None
        Nominal levels, above 0 and below 1; by default 0.01, 0.02, ... 0.99.
    confidence : float
        Probability of the consistency band at a level, at least.

    Returns
    -------
    curve : CoverageCurve

    Examples
    --------
    >>> coverage_curve([0.04, 0.3, 0.5, 0.97], [0.5, 0.9]).coverage.tolist()
    [0.5, 0.5]
    """
    ends = tails(confidence)
    values = checked_pit(pit)
    nominal = checked_numbers(
        "levels",
        np.arange(1, 100) / 100 if levels is None else levels,
        lambda values: (values > 0.0) & (values < 1.0),
        "a level is above 0 and below 1",
    )
    held = np.searchsorted(np.sort(np.abs(2.0 * values - 1.0)), nominal, side="right")
    low, high = (np.asarray(binom.ppf(end, values.size, nominal)) / values.size for end in ends)
    return CoverageCurve(nominal, held / values.size, low, high, confidence)


def checked_pit(pit: ArrayLike, name: str = "pit") -> Floats:
    """Return PIT values as floats, or raise naming the first row that is wrong."""
    advice = "a PIT value is a probability, from 0 to 1"
    return checked_numbers(name, pit, is_probability, advice)


def _moment_test(value: float, expected: float, variance: float) -> MomentTest:
    z = float((value - expected) / np.sqrt(variance))
    return MomentTest(value, expected, z, float(2.0 * norm.sf(abs(z))))


def _variance_test(values: Floats) -> MomentTest:
    n = values.size
    if n == 1:
        return MomentTest(np.nan, _UNIFORM_VARIANCE, np.nan, np.nan)
    # Exact for independent uniform values.
    variance = (_UNIFORM_FOURTH - _UNIFORM_VARIANCE**2 * (n - 3) / (n - 1)) / n
    return _moment_test(float(values.var(ddof=1)), _UNIFORM_VARIANCE, variance)
