"""The prior of variances that the variances of all columns suggest, as in limma.

s_j^2 ~ df scale / chi^2_df. The estimate of s_j^2 from nu degrees of freedom is then scale times an
F variable, and the moments of its logarithm give df and scale (Smyth, 2004).
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import digamma, polygamma

from unselected.statistics.moments import ClassMoments

# Bounds of the degrees of freedom: beyond them the variances differ too much, or not at all.
_LEAST_DF, _LARGEST_DF = 0.1, 1e6
_MOST_STEPS = 100


@dataclass(frozen=True)
class VariancePrior:
    """Variances are ``df`` times ``scale``, divided by a chi-squared variable with ``df``."""

    df: float
    scale: float


@dataclass(frozen=True)
class LogVariances:
    """Number, mean and sum of squared deviations of the log variances within classes."""

    n: int = 0
    mean: float = 0.0
    squares: float = 0.0

    @classmethod
    def of(cls, moments: ClassMoments) -> "LogVariances":
        """Return those of the complete columns whose variance is not 0."""
        nu = moments.sizes.sum() - moments.sizes.size
        complete = np.broadcast_to(moments.n.sum(axis=0) == moments.sizes.sum(), moments.size)
        within = moments.within[complete & (moments.within > 0.0)]
        if not within.size:
            return cls()
        logs = np.log(within / nu)
        mean = float(np.mean(logs))
        return cls(within.size, mean, float(np.sum((logs - mean) ** 2)))

    def __add__(self, other: "LogVariances") -> "LogVariances":
        n = self.n + other.n
        if not n:
            return self
        apart = other.mean - self.mean
        squares = self.squares + other.squares + apart**2 * self.n * other.n / n
        return LogVariances(n, self.mean + apart * other.n / n, squares)

    def prior(self, nu: float) -> VariancePrior:
        """Return the prior of variances that were estimated from nu degrees of freedom.

        >>> rng = np.random.default_rng(0)
        >>> logs = np.log(3.0 * rng.f(20, 8, size=100_000))
        >>> seen = LogVariances(logs.size, logs.mean(), float(np.sum((logs - logs.mean()) ** 2)))
        >>> prior = seen.prior(20)
        >>> round(prior.df, 1), round(prior.scale, 2)
        (8.0, 3.0)
        """
        if self.n < 2:
            raise ValueError(
                f"{self.n} columns vary within classes, and the prior of variances that this "
                "score_func needs is estimated from at least two: use score_func='correlation'."
            )
        center = self.mean - float(digamma(0.5 * nu)) + np.log(0.5 * nu)
        excess = self.squares / (self.n - 1) - float(polygamma(1, 0.5 * nu))
        df = _LARGEST_DF
        if excess > 0.0:
            df = float(np.clip(2.0 * _trigamma_inverse(excess), _LEAST_DF, _LARGEST_DF))
        return VariancePrior(df, float(np.exp(center + digamma(0.5 * df) - np.log(0.5 * df))))


def _trigamma_inverse(value: float) -> float:
    """Return where the trigamma function has this value.

    >>> round(_trigamma_inverse(float(polygamma(1, 2.5))), 9)
    2.5
    """
    x = 0.5 + 1.0 / value
    for _ in range(_MOST_STEPS):
        here = float(polygamma(1, x))
        step = here * (1.0 - here / value) / float(polygamma(2, x))
        x += step
        if abs(step) <= 1e-12 * x:
            break
    return x
