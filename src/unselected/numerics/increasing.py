"""Where increasing functions reach given values."""

from collections.abc import Callable

import numpy as np

from unselected._typing import Floats

# The answers are right to this precision, in steps or in the value of the function.
_PRECISION = 1e-8
_MOST_STEPS = 200

Increasing = Callable[[Floats], Floats]


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
