"""Numbers that judge predictions of a real-valued response: means, intervals and densities."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unselected._typing import Floats
from unselected.calibration.inputs import check_lengths, checked_numbers
from unselected.calibration.intervals import RandomState, fraction_interval, resampling, tails
from unselected.calibration.pit import PITTest, checked_pit, pit_test
from unselected.calibration.records import Record
from unselected.numerics.resampling import Estimate


@dataclass(frozen=True)
class RegressionSummary(Record):
    """All the numbers of one set of predictions; see the functions of the same names.

    The coverage has an exact interval, the others have bootstrap intervals.
    """

    n: int
    level: float
    interval_coverage: Estimate
    mean_interval_width: Estimate
    interval_score: Estimate
    average_log_density: Estimate
    root_mean_squared_error: Estimate
    pit_test: PITTest


def interval_coverage(
    y: ArrayLike, lower: ArrayLike, upper: ArrayLike, *, level: float = 0.95
) -> Estimate:
    """Return the fraction of responses in their predictive intervals, with its exact interval.

    A response at a bound is in the interval. The interval of the fraction is the exact
    (Clopper-Pearson) one.

    Parameters
    ----------
    y : array-like of shape (n,)
        Responses.
    lower, upper : array-like of shape (n,)
        Bounds of the predictive intervals, for example two columns of predict_quantiles.
    level : float
        Coverage of the interval of the fraction, at least. It is not the nominal level of the
        predictive intervals.

    Returns
    -------
    coverage : Estimate

    Examples
    --------
    >>> coverage = interval_coverage([1.0, 2.0, 5.0, 0.0], [0, 0, 0, 0], [2, 2, 2, 2])
    >>> coverage.value, round(coverage.low, 6), round(coverage.high, 6)
    (0.75, 0.19412, 0.993691)
    """
    return fraction_interval(is_inside(*_checked_intervals(y, lower, upper)), level)


def mean_interval_width(lower: ArrayLike, upper: ArrayLike) -> float:
    """Return the mean width of predictive intervals.

    Of two methods with the right coverage, the one with the narrower intervals is better.

    Parameters
    ----------
    lower, upper : array-like of shape (n,)
        Bounds of the intervals.

    Returns
    -------
    width : float

    Examples
    --------
    >>> mean_interval_width([0, 1], [2, 5])
    3.0
    """
    low, high = _checked_bounds(lower, upper)
    return float(np.mean(high - low))


def interval_score(
    y: ArrayLike, lower: ArrayLike, upper: ArrayLike, *, level: float = 0.9
) -> float:
    """Return the mean interval score, which rewards narrow intervals and punishes misses.

    The mean of upper - lower + 2 / (1 - level) times the distance of y from its interval [1]_. Its
    expectation is smallest if the bounds are the (1 - level) / 2 and (1 + level) / 2 quantiles of
    the response.

    Parameters
    ----------
    y : array-like of shape (n,)
        Responses.
    lower, upper : array-like of shape (n,)
        Bounds of the predictive intervals.
    level : float
        Nominal level of the predictive intervals.

    Returns
    -------
    score : float

    References
    ----------
    .. [1] Gneiting, T. and Raftery, A. E. (2007). Strictly proper scoring rules, prediction, and
       estimation. Journal of the American Statistical Association 102, 359-378.

    Examples
    --------
    >>> interval_score([1.0, 5.0], [0, 0], [2, 2], level=0.5)  # (2 + 2 + 4 * 3) / 2
    8.0
    """
    tails(level)
    return float(np.mean(_interval_scores(*_checked_intervals(y, lower, upper), level)))


def average_log_density(log_density: ArrayLike) -> float:
    """Return the mean log predictive density of the observed responses; larger is better.

    It depends on the unit of the response: with a unit c times as large it is larger by log(c).

    Parameters
    ----------
    log_density : array-like of shape (n,)
        Log predictive densities of the responses, ``predict_log_density(X, y)`` of a regressor.

    Returns
    -------
    score : float

    Examples
    --------
    >>> average_log_density([-1.0, -2.0])
    -1.5
    """
    return float(np.mean(checked_numbers("log_density", log_density)))


def root_mean_squared_error(y: ArrayLike, mean: ArrayLike) -> float:
    """Return the square root of the mean of (y - mean)^2.

    Parameters
    ----------
    y : array-like of shape (n,)
        Responses.
    mean : array-like of shape (n,)
        Predicted means.

    Returns
    -------
    error : float

    Examples
    --------
    >>> root_mean_squared_error([1.0, 2.0], [4.0, 6.0])  # sqrt((9 + 16) / 2)
    3.5355339059327378
    """
    responses, means = _checked_means(y, mean)
    return float(_root_mean((responses - means) ** 2))


def summarize_regression(
    y: ArrayLike,
    mean: ArrayLike,
    lower: ArrayLike,
    upper: ArrayLike,
    log_density: ArrayLike,
    pit: ArrayLike,
    *,
    level: float = 0.9,
    confidence: float = 0.95,
    n_resamples: int = 999,
    random_state: RandomState = None,
) -> RegressionSummary:
    """Return all the numbers of one set of predictions of a real-valued response.

    Parameters
    ----------
    y : array-like of shape (n,)
        Responses.
    mean : array-like of shape (n,)
        Predicted means.
    lower, upper : array-like of shape (n,)
        Bounds of the central predictive intervals of level ``level``.
    log_density : array-like of shape (n,)
        Log predictive densities of the responses.
    pit : array-like of shape (n,)
        Predictive probabilities of a response of at most the observed one.
    level : float
        Nominal level of the predictive intervals: 0.9 for the 5 % and 95 % quantiles.
    confidence : float
        Coverage of the intervals of all the numbers.
    n_resamples : int
        Resamples for the bootstrap intervals.
    random_state : int, Generator or None

    Returns
    -------
    summary : RegressionSummary

    Examples
    --------
    >>> y, mean = np.array([0.0, 1.0, 2.0, 4.0]), np.array([0.5, 1.0, 1.5, 2.0])
    >>> summary = summarize_regression(
    ...     y, mean, mean - 1, mean + 1, -((y - mean) ** 2), [0.3, 0.5, 0.7, 0.99], random_state=0
    ... )
    >>> summary.interval_coverage.value, summary.mean_interval_width.value
    (0.75, 2.0)
    """
    tails(level)
    responses, means, low, high = checked_means_and_intervals(y, mean, lower, upper)
    logs, values = checked_numbers("log_density", log_density), checked_pit(pit)
    check_lengths(y=responses, log_density=logs, pit=values)
    interval = resampling(confidence, n_resamples, random_state)
    return RegressionSummary(
        n=responses.size,
        level=level,
        interval_coverage=fraction_interval(is_inside(responses, low, high), confidence),
        mean_interval_width=interval(high - low),
        interval_score=interval(_interval_scores(responses, low, high, level)),
        average_log_density=interval(logs),
        root_mean_squared_error=interval((responses - means) ** 2, _root_mean),
        pit_test=pit_test(values),
    )


def _checked_bounds(lower: ArrayLike, upper: ArrayLike) -> tuple[Floats, Floats]:
    low, high = checked_numbers("lower", lower), checked_numbers("upper", upper)
    check_lengths(lower=low, upper=high)
    crossed = low > high
    if crossed.any():
        row = int(np.argmax(crossed))
        raise ValueError(
            f"lower is {low[row]:.17g} and upper is {high[row]:.17g} in row {row}: an interval "
            "starts at its lower bound."
        )
    return low, high


def _checked_intervals(
    y: ArrayLike, lower: ArrayLike, upper: ArrayLike
) -> tuple[Floats, Floats, Floats]:
    responses, (low, high) = checked_numbers("y", y), _checked_bounds(lower, upper)
    check_lengths(y=responses, lower=low)
    return responses, low, high


def is_inside(y: Floats, lower: Floats, upper: Floats) -> NDArray[np.bool_]:
    """Say which responses are in their intervals; those at a bound are."""
    return np.asarray((lower <= y) & (y <= upper))


def _interval_scores(y: Floats, lower: Floats, upper: Floats, level: float) -> Floats:
    outside = np.maximum(lower - y, 0.0) + np.maximum(y - upper, 0.0)
    return np.asarray(upper - lower + 2.0 / (1.0 - level) * outside)


def _checked_means(y: ArrayLike, mean: ArrayLike) -> tuple[Floats, Floats]:
    responses, means = checked_numbers("y", y), checked_numbers("mean", mean)
    check_lengths(y=responses, mean=means)
    return responses, means


def checked_means_and_intervals(
    y: ArrayLike, mean: ArrayLike, lower: ArrayLike, upper: ArrayLike
) -> tuple[Floats, Floats, Floats, Floats]:
    """Return responses, means and bounds as arrays, or raise naming the first row that is wrong."""
    responses, means = _checked_means(y, mean)
    return responses, means, *_checked_intervals(responses, lower, upper)[1:]


def _root_mean(squares: Floats, axis: int = -1) -> Floats:
    return np.asarray(np.sqrt(np.mean(squares, axis=axis)))
