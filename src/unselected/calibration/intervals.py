"""Numbers with intervals: exact ones of fractions, those of resampled cases, and Wald's."""

from collections.abc import Callable
from numbers import Integral
from typing import Any
from warnings import catch_warnings, filterwarnings, simplefilter

import numpy as np
from numpy.typing import NDArray
from scipy.stats import DegenerateDataWarning, binomtest, bootstrap, norm

from unselected._typing import Floats
from unselected.numerics.resampling import Estimate

Statistic = Callable[..., Any]
RandomState = int | np.random.Generator | None

# BCa intervals cost the square of the number of cases; for more than these it gains nothing.
_MOST_CASES_FOR_BCA = 1000
# Elements that are resampled at a time.
_BATCH = 1 << 22


def tails(level: float) -> tuple[float, float]:
    """Return the two quantiles that enclose ``level``, or raise where that is no level."""
    if not 0.0 < level < 1.0:
        raise ValueError(f"level={level} must be between 0 and 1, for example 0.95.")
    return (1.0 - level) / 2.0, (1.0 + level) / 2.0


def check_resamples(n_resamples: Any) -> None:
    """Raise unless this is a number of resamples."""
    if not isinstance(n_resamples, Integral) or int(n_resamples) < 1:
        raise ValueError(f"n_resamples={n_resamples!r} must be a whole number, 1 or more.")


def exact_interval(successes: int, n: int, level: float) -> tuple[float, float]:
    """Return the exact (Clopper-Pearson) interval of a fraction."""
    interval = binomtest(successes, n).proportion_ci(level, method="exact")
    return float(interval.low), float(interval.high)


def resampling_interval(
    statistic: Statistic,
    samples: tuple[Floats, ...],
    *,
    level: float,
    n_resamples: int,
    random_state: RandomState,
) -> Estimate:
    """Return a statistic of arrays, one entry for each case, with an interval of resampled cases.

    See `bootstrap_interval`, which is this for classes and probabilities.
    """
    tails(level)
    check_resamples(n_resamples)
    value = float(statistic(*samples))
    if len(samples[0]) == 1:
        return Estimate(value, np.nan, np.nan, level)
    rng = np.random.default_rng(random_state)
    low, high = _bootstrap_bounds(statistic, samples, level, n_resamples, rng)
    return Estimate(value, low, high, level)


def resampling(
    level: float, n_resamples: int, random_state: RandomState
) -> Callable[..., Estimate]:
    """Return a function that gives the mean of one number for each case, with its interval.

    The function takes the numbers, and a statistic where that is not the mean. All its calls draw
    from one generator.
    """
    rng = np.random.default_rng(random_state)

    def interval(losses: Floats, statistic: Statistic = np.mean) -> Estimate:
        return resampling_interval(
            statistic, (losses,), level=level, n_resamples=n_resamples, random_state=rng
        )

    return interval


def _bootstrap_bounds(
    statistic: Statistic,
    samples: tuple[Floats, ...],
    level: float,
    n_resamples: int,
    rng: np.random.Generator,
) -> tuple[float, float]:
    n = len(samples[0])
    with catch_warnings(), np.errstate(divide="ignore", invalid="ignore"):
        simplefilter("ignore", DegenerateDataWarning)
        filterwarnings("ignore", "Degrees of freedom", RuntimeWarning)  # of a single resample
        result = bootstrap(
            samples,
            statistic,
            paired=True,
            confidence_level=level,
            n_resamples=n_resamples,
            batch=max(1, _BATCH // n),
            method="BCa" if n <= _MOST_CASES_FOR_BCA else "percentile",
            random_state=rng,
        )
    low, high = result.confidence_interval
    if np.isnan(low) or np.isnan(high):
        low, high = np.quantile(result.bootstrap_distribution, tails(level))
    return float(low), float(high)


def wald_interval(value: float, variance: float, level: float) -> Estimate:
    """Return a value with the interval of a normal estimate."""
    half = float(norm.ppf(tails(level)[1]) * np.sqrt(variance))
    return Estimate(float(value), float(value - half), float(value + half), level)


def fraction_interval(successes: NDArray[np.bool_], level: float) -> Estimate:
    """Return the fraction of successes with its exact (Clopper-Pearson) interval."""
    tails(level)
    low, high = exact_interval(int(successes.sum()), successes.size, level)
    return Estimate(float(successes.mean()), low, high, level)
