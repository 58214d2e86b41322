"""Where increasing functions reach given values."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from unselected._typing import Floats

# The answers are right to this precision, in steps or in the value of the function.
_PRECISION = 1e-8
_MOST_STEPS = 200
# Where the value is right, so large a part of the standard deviation is the longest step.
_LAST_STEP = 1e-6

Increasing = Callable[[Floats], Floats]
# Distribution functions and densities of some of the laws, by their numbers, at a value of each.
Laws = Callable[[NDArray[np.intp], Floats], tuple[Floats, Floats]]


def solve(function: Increasing, targets: Floats, start: Floats, step: Floats) -> Floats:
    """Return where increasing functions reach their targets, element by element.

    Brackets are widened from ``start`` by ``step`` and more; then Chandrupatla's method: inverse
    quadratic interpolation where it is safe, else bisection.

    >>> from scipy.special import ndtr
    >>> x = solve(ndtr, np.array([0.05, 0.5]), np.zeros(2), np.ones(2))
    >>> (x + 0.0).round(6).tolist()
    [-1.644854, 0.0]
    """
    (a, fa), (b, fb) = (_end(function, targets, start, step, sign) for sign in (-1.0, 1.0))
    t = np.clip(fa / np.minimum(fa - fb, -1e-300), 0.05, 0.95)
    for _ in range(_MOST_STEPS):
        x = a + t * (b - a)
        fx = function(x) - targets
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


def quantiles(laws: Laws, levels: Floats, mean: Floats, std: Floats) -> Floats:
    """Return a quantile of each of some continuous distributions.

    Newton's method on the scale of normal quantiles, on which the distribution function of a nearly
    normal law is nearly a straight line. Bisection where it leads out of what is known. Evaluated
    are only the laws whose quantiles are not known yet.

    Parameters
    ----------
    laws : callable
    levels, mean, std : arrays of shape (laws,)

    >>> from scipy.special import ndtr
    >>> def normal(which, y):
    ...     return ndtr(y / 2.0), np.exp(-(y**2) / 8.0) / np.sqrt(8.0 * np.pi)
    >>> quantiles(normal, np.array([0.05, 0.5]), np.ones(2), np.ones(2)).round(9).tolist()
    [-3.289707254, 0.0]
    """
    normal, allowed = ndtri(levels), _PRECISION * np.minimum(levels, 1.0 - levels)
    x = mean + std * normal
    low, high = np.full(x.size, -np.inf), np.full(x.size, np.inf)
    left = np.arange(x.size)
    for step in range(_MOST_STEPS):
        below, density = laws(left, x[left])
        surplus, at = below - levels[left], x[left]
        low[left] = np.where(surplus < 0.0, at, low[left])
        high[left] = np.where(surplus < 0.0, high[left], at)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            there = ndtri(below)
            gap = (normal[left] - there) * np.exp(-0.5 * there**2) / np.sqrt(2.0 * np.pi) / density
        reach = std[left] * 2.0**step
        gap = np.clip(np.where(np.isfinite(gap), gap, -np.sign(surplus) * reach), -reach, reach)
        new, close = at + gap, np.abs(surplus) < allowed[left]
        # Where the function is flat, as between two peaks, a last step might lead far away.
        far = np.abs(gap) > _LAST_STEP * (std[left] + np.abs(at - mean[left]))
        new = np.where(close & far, at, new)
        inside = close | ((low[left] < new) & (new < high[left]))
        bracketed = np.isfinite(low[left]) & np.isfinite(high[left])
        middle = 0.5 * np.where(bracketed, low[left] + high[left], 2.0 * new)
        x[left] = np.where(inside, new, middle)
        narrow = high[left] - low[left] < _PRECISION * std[left]
        left = left[~(close | narrow)]
        if not left.size:
            break
    return x


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
    function: Increasing, targets: Floats, start: Floats, step: Floats, sign: float
) -> tuple[Floats, Floats]:
    """Return points on one side of the targets, and how far the functions are from them."""
    end, width = start + sign * step, step
    surplus = function(end) - targets
    while np.any(short := sign * surplus < 0.0):
        width = np.where(short, 2.0 * width, width)
        if not np.all(np.isfinite(width)):
            raise ArithmeticError("the function does not reach the values that were asked for")
        end = np.where(short, end + sign * width, end)
        surplus = function(end) - targets
    return end, surplus
