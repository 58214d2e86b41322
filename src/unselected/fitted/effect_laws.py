"""The posterior of how much a kept feature differs between classes, or changes with the response.

It is a mixture over the nodes of the posterior, alpha or tau, and over theta for binary features.
Where there are two groups of features, a feature that is not related has the effect 0: a point mass
of 1 - r_j. Means are in closed form. The distribution function is a sum over the mixture of one
integral each, and its inverse is found by bracketing.

This module holds what all effects share, and the search for quantiles. `rate_effects` has the
distributions for binary features, `standardized_effects` those for real-valued ones.
"""

from collections.abc import Callable
from typing import Protocol

import numpy as np
from scipy.special import ndtri

from unselected._typing import Floats

# Smallest weight of a mixture component that is used.
LEAST_WEIGHT = 1e-10
# How far down the rules for the integrals reach, in logs.
REACH = 18.0
# First step from a guess of a quantile, in standard deviations of an effect. Quantiles are right
# to this precision in steps, or in probability.
_FIRST_STEP, _PRECISION = 0.2, 1e-8
_MOST_STEPS = 200

Cdf = Callable[[Floats], Floats]


class EffectLaw(Protocol):
    """The posterior of an effect, for each of k features: that of related ones, and a mass at 0.

    ``null`` is the probability that the effect is 0, ``mean`` and ``deviation`` are of all.
    """

    @property
    def mean(self) -> Floats: ...  # noqa: D102

    @property
    def deviation(self) -> Floats: ...  # noqa: D102

    @property
    def null(self) -> Floats: ...  # noqa: D102

    def cdf(self, x: Floats) -> Floats:
        """Return P(related, effect <= x) for x of shape (k, m)."""


def quantiles(law: EffectLaw, levels: Floats) -> Floats:
    """Return the quantiles of an effect at these levels, shape (k, m).

    0 where the mass at 0 takes the distribution function past the level.
    """
    k, m = law.mean.size, levels.size
    null = law.null[:, np.newaxis]
    below = law.cdf(np.zeros((k, 1)))
    wanted = np.broadcast_to(levels, (k, m))
    left, right = wanted < below, wanted > below + null
    if not np.any(left | right):
        return np.zeros((k, m))
    targets = np.where(right, wanted - null, wanted)
    # Where 0 is the answer, something that is found soon.
    targets = np.where(left | right, targets, 0.5 * (1.0 - null))
    start, step = _guess(law, targets)
    return np.where(left | right, solve(law.cdf, targets, start, step), 0.0)


def _guess(law: EffectLaw, targets: Floats) -> tuple[Floats, Floats]:
    """Return about where the targets are reached, and a step, from mean and deviation."""
    some = np.maximum(1.0 - law.null, 1e-12)
    mean = law.mean / some
    squares = (law.deviation**2 + law.mean**2) / some
    deviation = np.sqrt(np.maximum(squares - mean**2, 1e-24))[:, np.newaxis]
    z = ndtri(np.clip(targets / some[:, np.newaxis], 1e-6, 1.0 - 1e-6))
    return mean[:, np.newaxis] + deviation * z, _FIRST_STEP * np.broadcast_to(deviation, z.shape)


def solve(cdf: Cdf, targets: Floats, start: Floats, step: Floats) -> Floats:
    """Return where increasing functions reach their targets, element by element.

    Brackets are widened from ``start`` by ``step`` and more; then Chandrupatla's method: inverse
    quadratic interpolation where it is safe, else bisection.

    >>> from scipy.special import ndtr
    >>> x = solve(ndtr, np.array([0.05, 0.5]), np.zeros(2), np.ones(2))
    >>> (x + 0.0).round(6).tolist()
    [-1.644854, 0.0]
    """
    (a, fa), (b, fb) = (_end(cdf, targets, start, step, sign) for sign in (-1.0, 1.0))
    t = np.clip(fa / np.minimum(fa - fb, -1e-300), 0.05, 0.95)
    for _ in range(_MOST_STEPS):
        x = a + t * (b - a)
        fx = cdf(x) - targets
        same = np.sign(fx) == np.sign(fa)
        c, fc = np.where(same, a, b), np.where(same, fa, fb)
        b, fb = np.where(same, b, a), np.where(same, fb, fa)
        a, fa = x, fx
        best = np.where(np.abs(fa) < np.abs(fb), a, b)
        small = _PRECISION * step / np.maximum(np.abs(b - a), 1e-300)
        found = (small > 0.5) | (np.minimum(np.abs(fa), np.abs(fb)) < _PRECISION)
        if np.all(found):
            break
        t = np.clip(_fraction(a, b, c, fa, fb, fc), np.minimum(small, 0.5), 1.0 - small)
        t = np.where(found, 0.5, t)
    return np.asarray(best)


def _fraction(a: Floats, b: Floats, c: Floats, fa: Floats, fb: Floats, fc: Floats) -> Floats:
    """Return how far from a to b to look next."""
    with np.errstate(divide="ignore", invalid="ignore"):
        xi, phi = (a - b) / (c - b), (fa - fb) / (fc - fb)
        smooth = (phi**2 < xi) & ((1.0 - phi) ** 2 < 1.0 - xi)
        far = fa / (fb - fa) * fc / (fb - fc)
        near = (c - a) / (b - a) * fa / (fc - fa) * fb / (fc - fb)
        t = np.where(smooth, far + near, 0.5)
    return np.where(np.isfinite(t), t, 0.5)


def _end(
    cdf: Cdf, targets: Floats, start: Floats, step: Floats, sign: float
) -> tuple[Floats, Floats]:
    """Return points on one side of the targets, and how far the functions are from them."""
    end, width = start + sign * step, step
    surplus = cdf(end) - targets
    while np.any(short := sign * surplus < 0.0):
        width = np.where(short, 2.0 * width, width)
        if not np.all(np.isfinite(width)):
            raise ArithmeticError("the distribution of an effect does not reach its quantiles")
        end = np.where(short, end + sign * width, end)
        surplus = cdf(end) - targets
    return end, surplus
