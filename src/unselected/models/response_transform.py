"""A monotone transform of a skewed response, on whose scale regressions predict it better.

Concentrations, counts, times and amounts have many small values and a few large ones, which vary
the more the larger they are. With sign +1 for a long right tail, -1 for a long left one,

    u = (sign y - low) / unit + shift,     z = sign (u^power - 1) / power,     log(u) for power 0

is the Box-Cox transform of the distance from the end of the short tail. Outside of the training
responses it continues as a straight line, so every response has a density, and predictions beyond
the largest training response do not grow exponentially. z is shifted and scaled to the mean and
standard deviation of the training responses. If z is normal, then the log likelihood of the
responses is that of a normal distribution plus the sum of log dz/dy: the power is the one with the
largest sum, and so is the shift. Cases left out decide whether the transform is used at all.
"""

from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from numpy.typing import ArrayLike

from unselected._typing import Floats
from unselected.models.student_mixture import StudentMixture, log_student

POWERS = (0.0, 0.25, 0.5, 0.75)
# In standard deviations of the response; the logarithm of 0 is infinite.
SHIFTS = (0.03, 0.1, 0.3)
# A transform that gains less than this in log likelihood is not worth trying: of normal samples of
# 60, the best one of all gains more than this in about 0.7 %.
_LEAST_GAIN = 4.5
# Nor is one learned where a larger part of the responses have the same value: a slope that is large
# there raises a density without limit, whatever the other responses are.
_MOST_ALIKE = 0.1
# Standardized values at which functions of a t distribution are summed: sinh of equal steps.
STEP = 0.25
_POINTS = np.sinh(STEP * np.arange(-32, 33))
_WIDTHS = STEP * np.sqrt(1.0 + _POINTS**2)
# Elements of a table over components, rows and points that are processed at a time.
_BLOCK = 1 << 21


@dataclass(frozen=True)
class ResponseTransform:
    """The transform, with what it took from the training responses.

    Attributes
    ----------
    power, shift : float
    sign : int
        1 for a long right tail, -1 for a long left one.
    low, high : float
        The range of ``sign`` times the training responses.
    unit : float
        Their standard deviation.
    center, scale : float
        z = center + sign * scale * (Box-Cox transform).

    >>> y = np.exp(np.random.default_rng(0).normal(size=200))
    >>> transform = ResponseTransform.learn(y)
    >>> transform.power, transform.sign
    (0.25, 1)
    >>> bool(np.allclose(transform.invert(transform.apply(y)), y))
    True
    """

    power: float
    shift: float
    sign: int
    low: float
    high: float
    unit: float
    center: float
    scale: float

    @classmethod
    def learn(cls, y: Floats) -> "ResponseTransform | None":
        """Return the transform that makes responses (n,) most nearly normal; None if none does."""
        _, counts = np.unique(y, return_counts=True)
        if not y.std() > 0.0 or counts.max() > max(2.0, _MOST_ALIKE * y.size):
            return None
        each = [cls._of(y, *how) for how in product(POWERS, SHIFTS, (1, -1))]
        gains = [float(transform.log_slope(y).sum()) for transform in each]
        best = int(np.argmax(gains))
        return each[best] if gains[best] >= _LEAST_GAIN else None

    @classmethod
    def _of(cls, y: Floats, power: float, shift: float, sign: int) -> "ResponseTransform":
        low, high = float((sign * y).min()), float((sign * y).max())
        plain = cls(power, shift, sign, low, high, float(y.std()), 0.0, 1.0)
        z = plain.apply(y)
        scale = float(y.std() / z.std())
        return replace(plain, center=float(y.mean() - scale * z.mean()), scale=scale)

    def apply(self, y: Floats) -> Floats:
        """Return z."""
        inside, u = self._distance(y)
        beyond = u ** (self.power - 1.0) * (self.sign * y - inside) / self.unit
        return np.asarray(self.center + self.sign * self.scale * (self._box_cox(u) + beyond))

    def log_slope(self, y: Floats) -> Floats:
        """Return log dz/dy."""
        _, u = self._distance(y)
        return np.asarray(np.log(self.scale / self.unit) + (self.power - 1.0) * np.log(u))

    def invert(self, z: Floats) -> Floats:
        """Return the response y with this z."""
        wanted = self.sign * (z - self.center) / self.scale
        inside = np.clip(wanted, *self._ends)
        power = self.power
        u = np.exp(inside) if power == 0.0 else (1.0 + power * inside) ** (1.0 / power)
        beyond = (wanted - inside) * u ** (1.0 - power)
        return np.asarray(self.sign * (self.low + self.unit * (u - self.shift + beyond)))

    @property
    def in_words(self) -> str:
        """What is done to the response, in a sentence."""
        how = "logarithms" if self.power == 0.0 else f"powers of {self.power:g}"
        end = "smallest" if self.sign == 1 else "largest"
        return f"The response is skewed: regressions are of {how} of its distance from the {end}."

    def _distance(self, y: Floats) -> tuple[Floats, Floats]:
        """Return ``sign`` times y within the training range, and u there."""
        inside = np.clip(self.sign * y, self.low, self.high)
        return inside, (inside - self.low) / self.unit + self.shift

    def _box_cox(self, u: Floats) -> Floats:
        return np.asarray(np.log(u) if self.power == 0.0 else (u**self.power - 1.0) / self.power)

    @property
    def _ends(self) -> Floats:
        """The Box-Cox transforms of the ends of the training range."""
        return self._box_cox(
            np.array([self.shift, (self.high - self.low) / self.unit + self.shift])
        )


@dataclass(frozen=True, eq=False)
class TransformedMixture:
    """Distributions of the response y, where z has a mixture of t distributions; see there."""

    mixture: StudentMixture
    transform: ResponseTransform

    def mean_and_std(self) -> tuple[Floats, Floats]:
        """Return means and standard deviations of y, each of shape (rows,).

        They are sums over points of each component, accurate to about a thousandth of its width
        where a component reaches over an end of the training responses, and to more digits
        elsewhere.
        """
        mixture = self.mixture
        n_components, n = mixture.location.shape
        both = np.zeros((2, n))
        density = np.exp(log_student(_POINTS, np.ones(1), mixture.df[:, np.newaxis])) * _WIDTHS
        weights = mixture.weights[:, np.newaxis] * density / density.sum(axis=1, keepdims=True)
        size = max(1, _BLOCK // max(1, n_components * _POINTS.size))
        for start in range(0, n, size):
            rows = slice(start, start + size)
            away = np.sqrt(mixture.squares[:, rows, np.newaxis]) * _POINTS
            y = self.transform.invert(mixture.location[:, rows, np.newaxis] + away)
            mean = np.einsum("cp,crp->r", weights, y)
            variance = np.einsum("cp,crp->r", weights, (y - mean[:, np.newaxis]) ** 2)
            both[:, rows] = mean, np.sqrt(variance)
        return both[0], both[1]

    def log_density(self, y: Floats) -> Floats:
        """Return the log density at y, shape (rows,)."""
        logs = self.mixture.log_density(self.transform.apply(y))
        return np.asarray(logs + self.transform.log_slope(y))

    def cdf(self, y: Floats) -> Floats:
        """Return the distribution function at y, of shape (rows,) or (rows, m)."""
        return self.mixture.cdf(self.transform.apply(y))

    def quantiles(self, levels: ArrayLike) -> Floats:
        """Return quantiles, shape (rows, levels)."""
        return self.transform.invert(self.mixture.quantiles(levels))
