"""The omitted part of the counts with some totals, by vectors of a few classes and a transform.

Of classes of 30, 40, ..., 120 cases a few spoil the lattice of Q: without those of 70 and 110 it
has 77 times fewer values. The vectors of counts of these few classes are enumerated. The law of Q
and of the total of all other classes comes from a transform with a frequency for each value, as in
`count_transform`; to each vector of the few belongs one of its cumulated probabilities. So all
vectors enter exactly.
"""

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from math import ceil, factorial, floor, prod, sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.fft import next_fast_len

from unselected._typing import Floats
from unselected.omission.count_pairs import CutBounds, n_near
from unselected.omission.count_transform import CountTransform, OmittedPart
from unselected.omission.count_vectors import Counts, squares_fit, squares_of, vectors_near
from unselected.omission.total_blocks import Lattice, TotalBlock

# Classes whose vectors are enumerated, at most.
_MOST_CLASSES = 4
# Bytes, at most: of a number of the transform, and of a probability that is looked up.
_MOST_BYTES, _BYTES_OF_NUMBER, _BYTES_OF_LOOK_UP = 5e8, 24.0, 4.0
# To look up a cumulated probability takes about as long as so many points of a transform.
_LOOK_UP = 4.0


@dataclass(frozen=True, eq=False)
class CountMixed:
    """The sums for a block of totals.

    Attributes
    ----------
    block : TotalBlock
    few, others : tuple of int
        The sizes of the classes whose vectors are enumerated, and of those that are transformed.
    bounds : CutBounds
    """

    block: TotalBlock
    few: tuple[int, ...]
    others: tuple[int, ...]
    bounds: CutBounds

    @classmethod
    def of(
        cls, block: TotalBlock, sizes: tuple[int, ...], bounds: CutBounds
    ) -> "CountMixed | None":
        """Divide the classes so that least work is left; None where that is still too much."""
        if not squares_fit(sizes):
            return None
        found = [cls(block, *parts, bounds) for parts in _divisions(sizes)]
        possible = [each for each in found if each.is_possible]
        return min(possible, key=lambda each: each.n_points, default=None)

    @property
    def is_exact(self) -> bool:
        """Nothing is smoothed."""
        return True

    @property
    def is_possible(self) -> bool:
        """Whether memory is enough."""
        numbers = self._reach / float(self._lattice.step) * self._n_totals
        needed = _BYTES_OF_NUMBER * numbers + _BYTES_OF_LOOK_UP * self._n_look_ups
        return needed <= _MOST_BYTES

    @property
    def n_points(self) -> float:
        """About the number of points of all transforms for one node of theta."""
        n_frequencies = self._reach / float(self._lattice.step)
        each = (self._n_totals + 3.0) * (len(set(self.others)) + 3.0)
        return n_frequencies * each + _LOOK_UP * self._n_look_ups

    @property
    def _n_totals(self) -> float:
        """About how many totals of the other classes are within reach."""
        n = sum(self.others)
        return min(2.0 * sqrt(n * self._reach), n) + 1.0

    @cached_property
    def _n_look_ups(self) -> float:
        n_orders = prod(factorial(k) for k in Counter(self.few).values())
        n_vectors = n_near(self.few, self._reach, self.block.centre) / n_orders
        return n_vectors * self.block.totals.size

    @cached_property
    def _lattice(self) -> Lattice:
        return Lattice(self.others)

    @property
    def _reach(self) -> float:
        return float(self.block.reach.max())

    @cached_property
    def _transform(self) -> CountTransform:
        """The transform of the other classes, at all their totals within reach."""
        lattice, n = self._lattice, sum(self.others)
        step = float(lattice.step)
        # A little farther, for the centre is moved a little.
        bound = 1.001 * self._reach + 4.0 * step
        half, middle = sqrt(n * bound), n * self.block.centre
        totals = np.arange(max(0, ceil(middle - half)), min(n, floor(middle + half)) + 1)
        n_steps = 2 * ceil(bound / step) + 3
        while next_fast_len(n_steps, real=True) != n_steps:
            n_steps += 2
        widest = 2.0 * sqrt(n_steps * step * max(self.others)) + 3.0
        needed = max(2.0 * half + 3.0, min(widest, max(self.others) + 1.0))
        n_lags = next_fast_len(ceil(needed))
        centre = lattice.centre(Fraction(self.block.centre), n_lags)
        least = [lattice.first(m) - 2 * centre * m + n * centre * centre for m in totals.tolist()]
        ends = np.array([float(end) for end in least])
        tie = np.zeros(totals.size, dtype=np.bool_)
        block = TotalBlock(totals, float(centre), ends, ends, tie, step, n_steps, n_lags)
        return CountTransform(block, self.others, n_steps)

    def omitted(self, pmfs: dict[int, Floats]) -> OmittedPart:
        """Return the omitted part for nodes of theta, from P(I | theta) by size, (nodes, n + 1)."""
        n_nodes = len(next(iter(pmfs.values())))
        at_most = np.zeros((n_nodes, self.block.totals.size))
        none = np.zeros_like(at_most)
        ones, orders = _in_order(self.few, vectors_near(self.few, self.block.centre, self._reach))
        if ones.size:
            places = self._places(ones)
            for node in range(n_nodes):
                own = {n: pmf[node] for n, pmf in pmfs.items()}
                weights = orders.copy()
                for n, row in zip(self.few, ones, strict=True):
                    weights *= own[n][row]
                cumulated = self._transform.cumulated(own).ravel()
                for i, each in enumerate(places):
                    at_most[node, i] = weights @ cumulated[each]
        return OmittedPart(at_most, none, none)

    def _places(self, ones: Counts) -> list[NDArray[np.int32]]:
        """Return, for each total, which cumulated probability belongs to each vector of the few."""
        lattice, block, unit = self._lattice, self._transform.block, self.bounds.unit
        step, length = int(lattice.step * unit), self._transform.n_values + 1
        first = np.array([int(lattice.first(m) * unit) for m in block.totals.tolist()])
        totals, squares = ones.sum(axis=0, dtype=np.int64), np.zeros(ones.shape[1], dtype=np.int64)
        for n, row in zip(self.few, ones, strict=True):
            squares += squares_of(n, row, unit)
        places = []
        for m in self.block.totals.tolist():
            rows = m - totals - int(block.totals[0])
            known = np.clip(rows, 0, block.totals.size - 1)
            steps = (self.bounds.at_most[m] - squares - first[known]) // step
            # Before the values of each total there is a sum over none of them.
            values = np.where(rows == known, np.clip(steps + 1, 0, length - 1), 0)
            places.append((known * length + values).astype(np.int32))
        return places


def _in_order(sizes: tuple[int, ...], ones: Counts) -> tuple[Counts, Floats]:
    """Return the vectors with counts of equal classes in order, and their numbers of orders.

    >>> ones, orders = _in_order((4, 4, 5), np.array([[0, 1, 1], [1, 0, 1], [2, 2, 2]], np.int16))
    >>> ones.T.tolist(), orders.tolist()
    ([[0, 1, 2], [1, 1, 2]], [2.0, 1.0])
    """
    for g in range(1, len(sizes)):
        if sizes[g] == sizes[g - 1]:
            ones = ones[:, ones[g - 1] <= ones[g]]
    orders, same, equal = np.ones(ones.shape[1]), np.ones(ones.shape[1]), 1
    for g in range(1, len(sizes)):
        is_equal = sizes[g] == sizes[g - 1]
        equal = equal + 1 if is_equal else 1
        same = np.where(is_equal & (ones[g] == ones[g - 1]), same + 1.0, 1.0)
        orders *= equal / same
    return ones, orders


def _divisions(sizes: tuple[int, ...]) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Return the sizes of a few classes and of the others, in all ways.

    >>> _divisions((4, 6, 6))
    [((4,), (6, 6)), ((6,), (4, 6)), ((4, 6), (6,)), ((6, 6), (4,))]
    """
    found = []
    for k in range(1, min(_MOST_CLASSES, len(sizes) - 1) + 1):
        for few in sorted(set(combinations(sorted(sizes), k))):
            others = Counter(sizes) - Counter(few)
            found.append((few, tuple(sorted(others.elements()))))
    return found
