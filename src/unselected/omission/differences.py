"""Differences between exact and smoothed sums, known at a few values of alpha.

The smoothed probability P of being selected errs by a small difference D. D / sqrt(P (1 - P)) is a
smooth function of v = log(1 + u n / G), with u = 1 / alpha and n / G the mean size of a class: the
variance of the counts of a class grows in proportion to exp(v). It is computed on a grid of v where
it is needed, once, and interpolated by polynomials.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import expm1, floor, log1p

import numpy as np

from unselected._typing import Floats

# The distance of the values of v, and how many of them are interpolated.
_STEP, _ORDER = 0.25, 6
# P (1 - P) is taken to be at least this: the difference is smaller than matters where it is less.
_LEAST_VARIANCE = 1e-8


@dataclass(frozen=True, eq=False)
class Difference:
    """What is to be added to P(omitted), and about its standard error, (m,)."""

    value: Floats
    error: Floats


class Differences:
    """The differences as a function of u.

    Parameters
    ----------
    mean_size : float
        n / G.
    compute : callable
        Returns P(selected), smoothed, and the difference of P(omitted), at a value of u.
    """

    def __init__(
        self, mean_size: float, compute: Callable[[float], tuple[Floats, Difference]]
    ) -> None:
        self._mean_size, self._compute = mean_size, compute
        self._known: dict[int, Difference] = {}

    def at(self, u: float, selected: Floats) -> Difference:
        """Return the difference at a value of u, from P(selected) there, (m,)."""
        place = log1p(self._mean_size * u) / _STEP
        fine, rough = (self._interpolated(place, order) for order in (_ORDER, _ORDER - 2))
        scale = _scale(selected)
        error = np.hypot(fine.error, fine.value - rough.value)
        return Difference(scale * fine.value, scale * error)

    def _interpolated(self, place: float, order: int) -> Difference:
        """Return the difference divided by its scale, from its nearest values on the grid."""
        first = max(0, floor(place) - order // 2 + 1)
        places = np.arange(first, first + order)
        apart = np.where(np.eye(order) > 0.0, 1.0, np.subtract.outer(places, places))
        ratios = np.where(np.eye(order) > 0.0, 1.0, (place - places) / apart)
        weights = np.prod(ratios, axis=1)
        known = [self._at(int(each)) for each in places]
        value = sum(w * each.value for w, each in zip(weights, known, strict=True))
        squares = sum(w**2 * each.error**2 for w, each in zip(weights, known, strict=True))
        return Difference(np.asarray(value), np.sqrt(squares))

    def _at(self, place: int) -> Difference:
        """Return the difference divided by its scale at a place of the grid."""
        if place not in self._known:
            selected, found = self._compute(expm1(_STEP * place) / self._mean_size)
            scale = _scale(selected)
            self._known[place] = Difference(found.value / scale, found.error / scale)
        return self._known[place]


def _scale(selected: Floats) -> Floats:
    return np.asarray(np.sqrt(np.maximum(selected * (1.0 - selected), _LEAST_VARIANCE)))
