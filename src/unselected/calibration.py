"""Numbers that judge predictive probabilities: how sharp they are, and how far to be believed.

All are functions of ``y``, the classes seen (0 and 1, or booleans), and ``probability``, the
predicted probabilities of class 1. Results are plain floats, or records of plain floats.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from numbers import Integral, Real
from typing import Any
from warnings import catch_warnings, simplefilter

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq, isotonic_regression
from scipy.special import expit, logit
from scipy.stats import DegenerateDataWarning, binomtest, bootstrap, norm
from sklearn.metrics import brier_score_loss, log_loss

from unselected.quadrature import Floats

Statistic = Callable[..., Any]
RandomState = int | np.random.Generator | None

# Probabilities are moved this far from 0 and 1 before their logit is taken.
_LOGIT_MARGIN = 1e-12
# A probability of 0 for what happened counts as this, as in scikit-learn's log_loss.
_LEAST_PROBABILITY = float(np.finfo(np.float64).eps)
# BCa intervals cost the square of the number of cases; for more than these it gains nothing.
_MOST_CASES_FOR_BCA = 1000
# Elements that are resampled at a time.
_BATCH = 1 << 22
# Newton's method stops at a step this small in standard errors, squared.
_SMALL_STEP, _MOST_STEPS = 1e-16, 100
# A fall of the log likelihood by this part of it may be rounding only.
_ROUNDING = 1e-10


@dataclass(frozen=True)
class Estimate:
    """A number with an interval that covers the truth in a share ``level`` of repetitions."""

    value: float
    low: float
    high: float
    level: float


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
class CalibrationLine:
    """Slope and intercept of the log odds seen against the log odds predicted."""

    slope: Estimate
    intercept: Estimate


@dataclass(frozen=True)
class SpiegelhalterTest:
    """Spiegelhalter's statistic, and its two-sided p-value."""

    z: float
    p_value: float


@dataclass(frozen=True)
class SquaredErrorParts:
    """Parts of the average squared error: miscalibration - discrimination + uncertainty."""

    miscalibration: float
    discrimination: float
    uncertainty: float


@dataclass(frozen=True, eq=False)
class ReliabilityCurve:
    """Recalibrated probabilities, and where they would lie if the predictions were right.

    Attributes
    ----------
    probability : array of shape (n_distinct,)
        The distinct predictions, in increasing order.
    fraction : array of shape (n_distinct,)
        What became of them: the isotonic regression of the classes on the predictions.
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

    def to_dict(self) -> dict[str, Any]:
        """Return the curve in types that JSON has."""
        return {
            name: value.tolist() if isinstance(value, np.ndarray) else value
            for name, value in vars(self).items()
        }


@dataclass(frozen=True)
class CalibrationSummary:
    """All the numbers of one set of predictions; see the functions of the same names.

    The actual error has an exact interval, the two scores have bootstrap intervals, the slope and
    the intercepts have Wald intervals.
    """

    n: int
    prevalence: float
    actual_error: Estimate
    expected_error: float
    average_minus_log_probability: Estimate
    average_squared_error: Estimate
    squared_error_parts: SquaredErrorParts
    slope: Estimate
    intercept: Estimate
    in_the_large: Estimate
    spiegelhalter: SpiegelhalterTest

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers in types that JSON has; NaN and infinity become None."""
        return {name: _plain(value) for name, value in asdict(self).items()}


# Scores


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
    y, probability = _checked(y, probability)
    return float(np.mean(_is_wrong(y, probability)))


def expected_error(probability: ArrayLike) -> float:
    """Return the error rate that the probabilities themselves announce.

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
    p = _checked_probability(probability)
    return float(np.mean(p * (p < 0.5) + (1.0 - p) * (p >= 0.5)))


def average_minus_log_probability(y: ArrayLike, probability: ArrayLike) -> float:
    """Return the mean of -log P(the class seen), scikit-learn's `log_loss`.

    A probability of 0 for what happened counts as 2.2e-16, which costs 36.04.

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
    y, probability = _checked(y, probability)
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
    y, probability = _checked(y, probability)
    return float(brier_score_loss(y, probability, pos_label=1))


# Intervals


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
    _tails(level)
    wrong = _is_wrong(*_checked(y, probability))
    low, high = _exact_interval(int(wrong.sum()), wrong.size, level)
    return Estimate(float(wrong.mean()), low, high, level)


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
    _tails(level)
    _check_resamples(n_resamples)
    y, probability = _checked(y, probability)
    value = float(statistic(y, probability))
    if y.size == 1:
        return Estimate(value, np.nan, np.nan, level)
    rng = np.random.default_rng(random_state)
    low, high = _bootstrap_bounds(statistic, y, probability, level, n_resamples, rng)
    return Estimate(value, low, high, level)


# Calibration


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
    _tails(level)
    y, probability = _checked(y, probability)
    # Compared with the bounds themselves: ten times a probability could be rounded up.
    category = np.searchsorted(np.arange(1, 10) / 10, probability, side="right")
    return [_decile_row(d, y[category == d], probability[category == d], level) for d in range(10)]


def calibration_slope_intercept(
    y: ArrayLike, probability: ArrayLike, *, level: float = 0.95
) -> CalibrationLine:
    """Return slope b and intercept a of logit P(y = 1) = a + b logit(p), with Wald intervals.

    Fitted by maximum likelihood. Right probabilities have slope 1 and intercept 0; overconfident
    ones have a slope below 1. Probabilities are moved into [1e-12, 1 - 1e-12] first.

    Parameters
    ----------
    y : array-like of shape (n,)
        Classes, 0 and 1.
    probability : array-like of shape (n,)
        Predicted probabilities of class 1.
    level : float
        Coverage of the intervals, about.

    Returns
    -------
    line : CalibrationLine
        All NaN where the likelihood has no maximum: only one class was seen, all probabilities
        are equal, or a cut on them separates the classes (cases at the cut may be of both).

    Examples
    --------
    Of four cases with logit -2 one is in class 1, with logit +2 three: the line has to pass through
    logit(1/4) and logit(3/4), and its slope is log(3) / 2.

    >>> p = 1 / (1 + np.exp([2.0] * 4 + [-2.0] * 4))
    >>> line = calibration_slope_intercept([1, 0, 0, 0, 0, 1, 1, 1], p)
    >>> round(line.slope.value, 6), abs(round(line.intercept.value, 6))
    (0.549306, 0.0)
    """
    _tails(level)
    y, probability = _checked(y, probability)
    (intercept, slope), covariance = _fit_line(_log_odds(probability), y)
    return CalibrationLine(
        slope=_wald(slope, covariance[1, 1], level),
        intercept=_wald(intercept, covariance[0, 0], level),
    )


def calibration_in_the_large(
    y: ArrayLike, probability: ArrayLike, *, level: float = 0.95
) -> Estimate:
    """Return the intercept a of logit P(y = 1) = a + logit(p), with its Wald interval.

    Fitted by maximum likelihood. It is 0 where the probabilities are right on average, and
    positive where they are too low. Probabilities are moved into [1e-12, 1 - 1e-12] first.

    Parameters
    ----------
    y : array-like of shape (n,)
        Classes, 0 and 1.
    probability : array-like of shape (n,)
        Predicted probabilities of class 1.
    level : float
        Coverage of the interval, about.

    Returns
    -------
    intercept : Estimate
        NaN where only one class was seen.

    Examples
    --------
    >>> a = calibration_in_the_large([1, 1, 1, 0], [0.5, 0.5, 0.5, 0.5])
    >>> round(a.value, 6)  # log(3)
    1.098612
    """
    _tails(level)
    y, probability = _checked(y, probability)
    if np.all(y == y[0]):
        return _wald(np.nan, np.nan, level)
    x = _log_odds(probability)
    # At these ends all fitted probabilities lie on one side of the prevalence.
    low, high = (float(logit(y.mean()) - end) for end in (x.max() + 1.0, x.min() - 1.0))
    intercept = brentq(lambda a: float(np.sum(expit(a + x) - y)), low, high, xtol=1e-12)
    return _wald(intercept, 1.0 / np.sum(_variance(expit(intercept + x))), level)


def spiegelhalter(y: ArrayLike, probability: ArrayLike) -> SpiegelhalterTest:
    """Return Spiegelhalter's test of the hypothesis that the probabilities are right.

    z = sum (y - p)(1 - 2p) / sqrt(sum (1 - 2p)^2 p (1 - p)) is about standard normal if they are.
    Positive z says that the squared error is larger than the probabilities announce.

    Parameters
    ----------
    y : array-like of shape (n,)
        Classes, 0 and 1.
    probability : array-like of shape (n,)
        Predicted probabilities of class 1.

    Returns
    -------
    test : SpiegelhalterTest
        Where all probabilities are 0, 1/2 or 1, they announce a squared error without variance:
        z is infinite and the p-value 0 where another one is seen, and both are NaN where it is
        seen.

    Examples
    --------
    >>> spiegelhalter([0, 0, 0, 1], [0.2, 0.2, 0.2, 0.2]).z.__round__(6)  # 0.2 / sqrt(0.64)
    0.25
    """
    y, p = _checked(y, probability)
    excess = float(np.sum((y - p) * (1.0 - 2.0 * p)))
    sd = float(np.sqrt(np.sum((1.0 - 2.0 * p) ** 2 * _variance(p))))
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.float64(excess) / sd
    return SpiegelhalterTest(float(z), float(2.0 * norm.sf(abs(z))))


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
    violators: it needs no bins [1]_. The band is made of quantiles, at each probability by itself,
    of the curves of classes drawn anew with these very probabilities: it is where the curve has to
    be expected if the probabilities are right. It is not a confidence band around the curve.

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
    tails = _tails(level)
    _check_resamples(n_resamples)
    values, counts, ones = _distinct(*_checked(y, probability))
    rng = np.random.default_rng(random_state)
    drawn = rng.binomial(counts, values, size=(n_resamples, values.size))
    curves = np.stack([_isotonic(row, counts) for row in drawn])
    # With this definition the curve seen is one more of the resamples if the probabilities are
    # right, so that it leaves the band with a probability of 1 - level at most.
    low, high = np.quantile(curves, tails, axis=0, method="weibull")
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
    y, probability = _checked(y, probability)
    values, counts, ones = _distinct(y, probability)
    recalibrated = _isotonic(ones, counts)[np.searchsorted(values, probability)]
    best, uncertainty = np.mean((recalibrated - y) ** 2), np.mean((y.mean() - y) ** 2)
    return SquaredErrorParts(
        miscalibration=max(0.0, float(np.mean((probability - y) ** 2) - best)),
        discrimination=max(0.0, float(uncertainty - best)),
        uncertainty=float(uncertainty),
    )


def summarize(
    y: ArrayLike,
    probability: ArrayLike,
    *,
    level: float = 0.95,
    n_resamples: int = 999,
    random_state: RandomState = None,
) -> CalibrationSummary:
    """Return all the numbers of this module that are no table or curve.

    Parameters
    ----------
    y : array-like of shape (n,)
        Classes, 0 and 1.
    probability : array-like of shape (n,)
        Predicted probabilities of class 1.
    level : float
        Coverage of all intervals.
    n_resamples : int
        Resamples for the intervals of the two scores.
    random_state : int, Generator or None

    Returns
    -------
    summary : CalibrationSummary

    Examples
    --------
    >>> summary = summarize([0, 1, 0, 1], [0.25, 0.25, 0.75, 0.75], random_state=0)
    >>> summary.actual_error.value, summary.expected_error, summary.prevalence
    (0.5, 0.25, 0.5)
    """
    y, probability = _checked(y, probability)
    rng = np.random.default_rng(random_state)
    log_score, squared_error = (
        bootstrap_interval(
            mean, y, probability, level=level, n_resamples=n_resamples, random_state=rng
        )
        for mean in (_mean_minus_log_probability, _mean_squared_error)
    )
    line = calibration_slope_intercept(y, probability, level=level)
    return CalibrationSummary(
        n=y.size,
        prevalence=float(y.mean()),
        actual_error=error_interval(y, probability, level=level),
        expected_error=expected_error(probability),
        average_minus_log_probability=log_score,
        average_squared_error=squared_error,
        squared_error_parts=split_squared_error(y, probability),
        slope=line.slope,
        intercept=line.intercept,
        in_the_large=calibration_in_the_large(y, probability, level=level),
        spiegelhalter=spiegelhalter(y, probability),
    )


# Input


def _checked(y: ArrayLike, probability: ArrayLike) -> tuple[Floats, Floats]:
    """Return both as arrays of floats, or raise naming the first row that is wrong."""
    classes, p = _numbers("y", y), _checked_probability(probability)
    if classes.size != p.size:
        raise ValueError(
            f"y has {classes.size} cases and probability has {p.size}: give one probability for "
            "each case."
        )
    wrong = (classes != 0.0) & (classes != 1.0)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise ValueError(
            f"y has the value {classes[row]:.17g} in row {row}: give 0 and 1, or booleans, for "
            "example y == positive_class."
        )
    return classes, p


def _checked_probability(probability: ArrayLike) -> Floats:
    p = _numbers("probability", probability)
    if p.size == 0:
        raise ValueError("probability has no cases: give at least one.")
    wrong = ~((p >= 0.0) & (p <= 1.0))
    if wrong.any():
        row = int(np.argmax(wrong))
        raise ValueError(
            f"probability has the value {p[row]:.17g} in row {row}: give probabilities of class 1, "
            "from 0 to 1."
        )
    return p


def _numbers(name: str, values: ArrayLike) -> Floats:
    array = np.asarray(values)
    if array.ndim != 1:
        raise ValueError(
            f"{name} has the shape {array.shape}: give one value for each case, for example column "
            "1 of predict_proba."
        )
    if array.dtype.kind not in "biuf":
        for row, value in enumerate(array):
            if not isinstance(value, Real | np.bool_):
                raise ValueError(
                    f"{name} has the value {value!r} in row {row}, which is not a number."
                )
    return array.astype(np.float64)


def _tails(level: float) -> tuple[float, float]:
    """Return the two quantiles that enclose ``level``."""
    if not 0.0 < level < 1.0:
        raise ValueError(f"level={level!r} must be between 0 and 1, for example 0.95.")
    return (1.0 - level) / 2.0, (1.0 + level) / 2.0


def _check_resamples(n_resamples: Any) -> None:
    if not isinstance(n_resamples, Integral) or int(n_resamples) < 1:
        raise ValueError(f"n_resamples={n_resamples!r} must be a whole number, 1 or more.")


# Output


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    return value if np.isfinite(value) else None


# Arithmetic


def _is_wrong(y: Floats, probability: Floats) -> NDArray[np.bool_]:
    return np.asarray((probability >= 0.5) != (y == 1.0))


# The two scores for many resamples at once, for which scikit-learn has no function.


def _mean_minus_log_probability(y: Floats, probability: Floats, axis: int = -1) -> Floats:
    seen = np.where(y == 1.0, probability, 1.0 - probability)
    return np.asarray(-np.mean(np.log(np.maximum(seen, _LEAST_PROBABILITY)), axis=axis))


def _mean_squared_error(y: Floats, probability: Floats, axis: int = -1) -> Floats:
    return np.asarray(np.mean((y - probability) ** 2, axis=axis))


def _exact_interval(successes: int, n: int, level: float) -> tuple[float, float]:
    interval = binomtest(successes, n).proportion_ci(level, method="exact")
    return float(interval.low), float(interval.high)


def _bootstrap_bounds(
    statistic: Statistic,
    y: Floats,
    probability: Floats,
    level: float,
    n_resamples: int,
    rng: np.random.Generator,
) -> tuple[float, float]:
    with catch_warnings(), np.errstate(divide="ignore", invalid="ignore"):
        simplefilter("ignore", DegenerateDataWarning)
        result = bootstrap(
            (y, probability),
            statistic,
            paired=True,
            confidence_level=level,
            n_resamples=n_resamples,
            batch=max(1, _BATCH // y.size),
            method="BCa" if y.size <= _MOST_CASES_FOR_BCA else "percentile",
            random_state=rng,
        )
    low, high = result.confidence_interval
    if np.isnan(low) or np.isnan(high):
        low, high = np.quantile(result.bootstrap_distribution, _tails(level))
    return float(low), float(high)


def _decile_row(decile: int, y: Floats, probability: Floats, level: float) -> DecileRow:
    low, high = decile / 10, (decile + 1) / 10
    if y.size == 0:
        return DecileRow(low, high, 0, None, None, None, None)
    fraction_low, fraction_high = _exact_interval(int(y.sum()), y.size, level)
    return DecileRow(
        low=low,
        high=high,
        count=y.size,
        mean_prediction=float(probability.mean()),
        actual_fraction=float(y.mean()),
        fraction_low=fraction_low,
        fraction_high=fraction_high,
    )


def _log_odds(probability: Floats) -> Floats:
    return np.asarray(logit(np.clip(probability, _LOGIT_MARGIN, 1.0 - _LOGIT_MARGIN)))


def _variance(p: Floats) -> Floats:
    return np.asarray(p * (1.0 - p))


def _wald(value: float, variance: float, level: float) -> Estimate:
    half = float(norm.ppf(_tails(level)[1]) * np.sqrt(variance))
    return Estimate(float(value), float(value - half), float(value + half), level)


def _fit_line(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Return (intercept, slope) of the logistic regression of y on x, and their covariance."""
    if not _overlap(x[y == 0.0], x[y == 1.0]):
        return np.full(2, np.nan), np.full((2, 2), np.nan)
    # Newton's method works on standardised log odds; this matrix takes its result back.
    centre, scale = x.mean(), x.std()
    back = np.array([[1.0, -centre / scale], [0.0, 1.0 / scale]])
    design = np.column_stack([np.ones(x.size), (x - centre) / scale])
    beta = _maximize_likelihood(design, y)
    return back @ beta, back @ np.linalg.inv(_information(design, beta)) @ back.T


def _overlap(x0: Floats, x1: Floats) -> bool:
    """Whether no cut on x separates the classes, so that the likelihood has a maximum."""
    if x0.size == 0 or x1.size == 0:
        return False
    return bool(x0.max() > x1.min() and x1.max() > x0.min())


def _maximize_likelihood(design: Floats, y: Floats) -> Floats:
    """Return the maximum that Newton's method finds; NaN where it takes too many steps."""
    beta = np.array([logit(y.mean()), 0.0])
    for _ in range(_MOST_STEPS):
        gradient = design.T @ (y - expit(design @ beta))
        step = np.linalg.solve(_information(design, beta), gradient)
        if gradient @ step < _SMALL_STEP:
            return beta
        beta = beta + _damping(design, y, beta, step, float(gradient @ step)) * step
    return np.full(2, np.nan)


def _information(design: Floats, beta: Floats) -> Floats:
    log_odds = design @ beta
    # Not p (1 - p), which is 0 for p next to 1.
    return np.asarray((design.T * (expit(log_odds) * expit(-log_odds))) @ design)


def _damping(design: Floats, y: Floats, beta: Floats, step: Floats, rise: float) -> float:
    """Return the part of a step, halved as often as needed, that gains a tenth of its promise."""
    now = _log_likelihood(design @ beta, y)
    part = 1.0
    while _log_likelihood(design @ (beta + part * step), y) < (
        now + 0.1 * part * rise - _ROUNDING * abs(now)
    ):
        part /= 2.0
    return part


def _log_likelihood(log_odds: Floats, y: Floats) -> float:
    return float(np.sum(y * log_odds - np.logaddexp(0.0, log_odds)))


def _distinct(y: Floats, probability: Floats) -> tuple[Floats, NDArray[np.intp], Floats]:
    """Return the distinct probabilities, how many cases have each, and how many are ones."""
    values, place, counts = np.unique(probability, return_inverse=True, return_counts=True)
    return values, counts, np.bincount(place, weights=y).astype(np.float64)


def _isotonic(ones: NDArray[Any], counts: NDArray[np.intp]) -> Floats:
    """Return the isotonic regression of the fractions of ones, weighted by the counts."""
    return np.asarray(isotonic_regression(ones / counts, weights=counts).x, dtype=np.float64)
