"""Vectors of counts of several classes: all of them, or those near to a centre, and their Q.

Q = sum of I_g^2 / n_g over the classes. In units of 1 / lcm of the class sizes it is an integer.
Where 64 bits do not hold that, the unit is the smallest possible one and each square is rounded
downwards. Vectors whose Q is above a bound by less than G of these units, 1e-13 of Q or less, then
count as at most there: they have no probability worth mentioning.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, comb, lcm, prod
from typing import Self

import numpy as np
from numpy.typing import NDArray

from unselected._typing import Floats, Ints

# Counts of vectors, of which there may be millions: classes have fewer than 2^15 cases.
Counts = NDArray[np.int16]
_LARGEST_SQUARE = 1 << 62


@dataclass(frozen=True)
class SortedVectors:
    """Vectors of counts of some classes, sorted by total and then by Q.

    ``ones`` has shape (G, v), and ``orders`` how many vectors each stands for. ``starts`` has where
    each total begins, from the lowest one on, and the number of vectors at last.
    """

    sizes: tuple[int, ...]
    ones: Counts
    orders: Floats
    totals: NDArray[np.int32]
    squares: Ints
    lowest: int
    starts: Ints

    @classmethod
    def of(cls, sizes: tuple[int, ...], ones: Counts, orders: Floats, unit: int) -> Self:
        """Return the vectors sorted, with Q in units of 1 / unit."""
        totals = ones.sum(axis=0, dtype=np.int32)
        squares = np.zeros(totals.size, dtype=np.int64)
        for n, row in zip(sizes, ones, strict=True):
            squares += squares_of(n, row, unit)
        order = np.lexsort((squares, totals))
        # One after the other, so that what is not sorted yet is not kept longer than necessary.
        ones = ones[:, order]
        orders, totals, squares = orders[order], totals[order], squares[order]
        lowest, highest = int(totals[0]), int(totals[-1])
        starts = np.searchsorted(totals, np.arange(lowest, highest + 2))
        return cls(sizes, ones, orders, totals, squares, lowest, starts)

    @property
    def n_totals(self) -> int:
        """The number of totals."""
        return self.starts.size - 1


def squares_fit(sizes: tuple[int, ...]) -> bool:
    """Say whether integers of 64 bits hold Q of all vectors.

    >>> squares_fit((97, 101, 103)), squares_fit((97, 101, 103, 107, 109, 113, 127, 131, 137, 139))
    (True, False)
    """
    return lcm(*sizes) * sum(sizes) <= _LARGEST_SQUARE


def unit_of(sizes: tuple[int, ...]) -> int:
    """Return how many units Q = 1 is.

    >>> unit_of((4, 6)), unit_of((97, 101, 103, 107, 109, 113, 127, 131, 137, 139)) > 10**15
    (12, True)
    """
    return lcm(*sizes) if squares_fit(sizes) else _LARGEST_SQUARE // sum(sizes)


def squares_of(n: int, ones: Counts, unit: int) -> Ints:
    """Return I^2 / n in these units, rounded downwards."""
    squares = ones.astype(np.int64) ** 2
    return np.asarray(unit // n * squares + unit % n * squares // n)


def last_squares(sizes: tuple[int, ...], cut: Fraction, unit: int) -> tuple[Ints, Ints]:
    """Return the largest Q below the cut on R^2, and at most at it, in these units, by total."""
    n, below, at_most = sum(sizes), [], []
    rounded = len(sizes) if unit % lcm(*sizes) else 0
    for m in range(n + 1):
        bound = unit * (cut * m + (1 - cut) * Fraction(m * m, n))
        at_most.append(bound.numerator // bound.denominator)
        # Constant features have R^2 = 0 whatever the bound says.
        constant = m in (0, n) and cut > 0
        below.append(at_most[-1] if constant else ceil(bound) - 1 - rounded)
    return np.array(below), np.array(at_most)


def vectors(sizes: tuple[int, ...], most: int | None = None) -> tuple[Counts, Floats]:
    """Return vectors of counts (G, v), with equal classes in order, and their numbers of orders.

    ``most`` is the largest total.

    >>> ones, orders = vectors((1, 1, 2))
    >>> ones.T.tolist()[:4], orders.tolist()
    ([[0, 0, 0], [0, 0, 1], [0, 0, 2], [0, 1, 0]], [1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 1.0, 1.0, 1.0])
    >>> vectors((1, 1, 2), 1)[0].T.tolist()
    [[0, 0, 0], [0, 0, 1], [0, 1, 0]]
    """
    most = sum(sizes) if most is None else most
    ones, orders = np.empty((0, 1), dtype=np.int16), np.ones(1)
    for n, k in Counter(sizes).items():
        own, own_orders = _multisets(n, k, most)
        ones = np.vstack([np.repeat(ones, own_orders.size, axis=1), np.tile(own, orders.size)])
        orders = np.outer(orders, own_orders).ravel()
        few = ones.sum(axis=0, dtype=np.int32) <= most
        if not few.all():
            ones, orders = ones[:, few], orders[few]
    return ones, orders


def _multisets(n: int, k: int, most: int) -> tuple[Counts, Floats]:
    """Return the increasing sequences of k counts from 0 to n, and their numbers of orders."""
    n = min(n, most)
    ones, orders = np.arange(n + 1, dtype=np.int16)[np.newaxis], np.ones(n + 1)
    n_last = np.ones(n + 1)  # how often the last count occurs
    for length in range(2, k + 1):
        n_next = n + 1 - ones[-1]
        first = np.cumsum(n_next, dtype=np.int32) - n_next
        before = np.repeat(np.arange(n_next.size, dtype=np.int32), n_next)
        step = (np.arange(before.size, dtype=np.int32) - first[before]).astype(np.int16)
        n_last = np.where(step == 0, n_last[before] + 1.0, 1.0)
        ones = np.vstack([ones[:, before], ones[-1, before] + step])
        orders = orders[before] * length / n_last
        few = ones.sum(axis=0, dtype=np.int32) <= most
        if not few.all():
            ones, orders, n_last = ones[:, few], orders[few], n_last[few]
    return ones, orders


def vectors_near(sizes: Sequence[int], share: float, reach: float) -> Counts:
    """Return the vectors (G, v) with sum of (I_g - n_g share)^2 / n_g up to a reach.

    >>> vectors_near((4, 4), 0.5, 0.25).T.tolist()
    [[1, 2], [2, 1], [2, 2], [2, 3], [3, 2]]
    """
    ones, left = np.empty((0, 1), dtype=np.int16), np.array([reach * (1.0 + 1e-9) + 1e-9])
    for n in sizes:
        half = np.sqrt(n * np.maximum(left, 0.0))
        low = np.maximum(np.ceil(n * share - half), 0.0).astype(np.int64)
        high = np.minimum(np.floor(n * share + half), n).astype(np.int64)
        before, step = _expanded(np.maximum(high - low + 1, 0))
        count = low[before] + step
        left = left[before] - (count - n * share) ** 2 / n
        ones = np.vstack([ones[:, before], count.astype(np.int16)])
    return ones


def _expanded(numbers: Ints) -> tuple[Ints, Ints]:
    """Return each index as often as its number says, and how often it occurred before.

    >>> [each.tolist() for each in _expanded(np.array([2, 0, 3]))]
    [[0, 0, 2, 2, 2], [0, 1, 0, 1, 2]]
    """
    index = np.repeat(np.arange(numbers.size), numbers)
    return index, np.arange(index.size) - (np.cumsum(numbers) - numbers)[index]


def n_vectors(sizes: tuple[int, ...], most: int | None) -> float:
    """Return the number of vectors of counts, but for the order of equal classes."""
    number = prod(float(comb(n + k, k)) for n, k in Counter(sizes).items())
    return number if most is None else min(number, float(comb(most + len(sizes), len(sizes))))
