"""The omitted part of the counts with some totals, by sums over pairs of vectors of counts.

The classes are divided into two parts, as in `several_classes`. Here the totals are those of a
block, so that only vectors near its centre can be omitted (see `total_blocks`), and these are far
fewer than all. For each total of the second part, its vectors are in a list sorted by Q; to each
vector of the first part belongs the beginning of that list, up to where both together are at the
cut. All vectors enter exactly, whatever the sizes of the classes.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from math import ceil, floor, inf, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unselected._typing import Floats, Ints
from unselected.numerics.kernels import kernels_for_pairs
from unselected.omission.count_transform import OmittedPart
from unselected.omission.count_vectors import (
    Counts,
    SortedVectors,
    last_squares,
    unit_of,
    vectors_near,
)
from unselected.omission.total_blocks import TotalBlock

# Vectors of a part, at most: some 200 MB for each block that is summed at the same time, and for
# one that is summed alone.
_MOST_VECTORS, MOST_VECTORS_ALONE = 5 << 18, 5 << 19
# A vector of a part takes about as long as so many pairs.
_VECTOR_WORK = 6.0
# Nodes of theta whose probabilities are held at the same time.
_NODES_TOGETHER = 6
# How finely R is rounded to count vectors roughly.
_PARTS_OF_REACH = 64
# Counts are integers of 16 bits.
_LARGEST_CLASS = (1 << 15) - 1


@dataclass(frozen=True, eq=False)
class CutBounds:
    """The largest Q below the cut and at most at it, for each total; Q = 1 is ``unit`` units."""

    unit: int
    below: Ints
    at_most: Ints

    @classmethod
    def of(cls, sizes: tuple[int, ...], cut: Fraction) -> "CutBounds":
        """Return the bounds of all totals, 0 to n."""
        unit = unit_of(sizes)
        return cls(unit, *last_squares(sizes, cut, unit))


@dataclass(frozen=True, eq=False)
class CountPairs:
    """The sums for a block of totals.

    Attributes
    ----------
    block : TotalBlock
    sizes : tuple of int
    bounds : CutBounds
    n_pairs : float
        About how many pairs all blocks have together. Many are summed by compiled loops.
    """

    block: TotalBlock
    sizes: tuple[int, ...]
    bounds: CutBounds
    n_pairs: float

    @property
    def is_exact(self) -> bool:
        """Nothing is smoothed."""
        return True

    def omitted(self, pmfs: dict[int, Floats]) -> OmittedPart:
        """Return the omitted part for nodes of theta, from P(I | theta) by size, (nodes, n + 1)."""
        n_nodes = len(next(iter(pmfs.values())))
        parts = [vectors_near(part, self.block.centre, self._reach) for part in self._divided]
        if min(ones.size for ones in parts) == 0:
            none = np.zeros((n_nodes, self.block.totals.size))
            return OmittedPart(none, none, none)
        first, second = map(self._sorted, self._divided, parts)
        compiled = kernels_for_pairs(self.n_pairs)
        summed = self._sums if compiled is None else partial(self._compiled_sums, compiled)
        sums = []
        for start in range(0, n_nodes, _NODES_TOGETHER):
            some = slice(start, start + _NODES_TOGETHER)
            by_count = {n: np.ascontiguousarray(pmf[some].T) for n, pmf in pmfs.items()}
            sums.append(summed(_Weighed.of(first, by_count), _Weighed.of(second, by_count)))
        at_most, at_cut = np.concatenate(sums, axis=2).transpose(0, 2, 1)
        return OmittedPart(at_most, at_cut, np.zeros_like(at_most))

    @property
    def _reach(self) -> float:
        return float(self.block.reach.max())

    @cached_property
    def _divided(self) -> list[tuple[int, ...]]:
        return divided(self.sizes, self._reach, self.block.centre)

    def _sorted(self, sizes: tuple[int, ...], ones: Counts) -> SortedVectors:
        return SortedVectors.of(sizes, ones, np.ones(ones.shape[1]), self.bounds.unit)

    @cached_property
    def _is_tie(self) -> NDArray[np.bool_]:
        totals = self.block.totals
        return np.asarray(self.bounds.below[totals] < self.bounds.at_most[totals])

    def _sums(self, first: "_Weighed", second: "_Weighed") -> Floats:
        """Return P(at most at the cut and m) and P(at the cut and m), shape (2, m, nodes)."""
        totals, lowest = self.block.totals, int(self.block.totals[0])
        sums = np.zeros((2, totals.size, first.probabilities.shape[1]))
        for i in range(second.vectors.n_totals):
            squares, cumulated = second.list_of(i)
            total = second.vectors.lowest + i
            within = first.with_totals(lowest - total, int(totals[-1]) - total)
            if squares.size == 0 or within.some.start == within.some.stop:
                continue
            m = first.vectors.totals[within.some] + total
            places = within.totals + total - lowest
            room = -first.vectors.squares[within.some]
            ends = np.searchsorted(squares, self.bounds.at_most[m] + room, "right")
            sums[0, places] += first.summed(within, cumulated[ends])
            if np.any(self._is_tie[places]):
                before = np.searchsorted(squares, self.bounds.below[m] + room, "right")
                sums[1, places] += first.summed(within, cumulated[ends] - cumulated[before])
        return sums

    def _compiled_sums(self, compiled: Any, first: "_Weighed", second: "_Weighed") -> Floats:
        """Return what `_sums` returns."""
        totals = self.block.totals
        offset = int(totals[0]) - first.vectors.lowest - second.vectors.lowest
        parts = [
            (each.vectors.starts, each.vectors.squares, each.probabilities)
            for each in (first, second)
        ]
        # In place: they are not needed otherwise, and may take most of the memory.
        compiled.cumulate(second.vectors.starts, second.probabilities)
        at_most = compiled.sum_pairs(*parts, offset, self.bounds.at_most[totals])
        at_cut = np.zeros_like(at_most)
        if np.any(self._is_tie):
            at_cut = at_most - compiled.sum_pairs(*parts, offset, self.bounds.below[totals])
        return np.stack([at_most, at_cut])


@dataclass(frozen=True)
class _Within:
    """Vectors with some neighbouring totals: where they are, those totals, and their beginnings."""

    some: slice
    totals: Ints
    starts: Ints


@dataclass(frozen=True, eq=False)
class _Weighed:
    """Vectors of a part, and P(vector | theta), shape (v, nodes)."""

    vectors: SortedVectors
    probabilities: Floats

    @classmethod
    def of(cls, vectors: SortedVectors, by_count: dict[int, Floats]) -> "_Weighed":
        """Take P(I | theta) by size, (n + 1, nodes)."""
        product = np.take(by_count[vectors.sizes[0]], vectors.ones[0], axis=0)
        for n, ones in zip(vectors.sizes[1:], vectors.ones[1:], strict=True):
            product *= np.take(by_count[n], ones, axis=0)
        return cls(vectors, product)

    def list_of(self, i: int) -> tuple[Ints, Floats]:
        """Return Q of the vectors with the i-th total, and their probabilities, cumulated from 0.

        The latter has one row more.
        """
        some = slice(*self.vectors.starts[i : i + 2])
        own = self.probabilities[some]
        cumulated = np.zeros((len(own) + 1, own.shape[1]))
        np.cumsum(own, axis=0, out=cumulated[1:])
        return self.vectors.squares[some], cumulated

    def with_totals(self, least: int, most: int) -> _Within:
        """Return the vectors whose total is between the two; totals without any are left out."""
        starts, lowest = self.vectors.starts, self.vectors.lowest
        low = min(max(least - lowest, 0), starts.size - 1)
        high = max(low, min(most - lowest + 1, starts.size - 1))
        some = slice(int(starts[low]), int(starts[high]))
        present = low + np.flatnonzero(np.diff(starts[low : high + 1]))
        return _Within(some, present + lowest, starts[present] - some.start)

    def summed(self, within: _Within, factors: Floats) -> Floats:
        """Return the sums of probability times factor over the vectors with each total."""
        terms = self.probabilities[within.some] * factors
        return np.asarray(np.add.reduceat(terms, within.starts, axis=0))


def divided(sizes: tuple[int, ...], reach: float, share: float) -> list[tuple[int, ...]]:
    """Return the sizes of the two parts that have fewest vectors; the first has fewer."""
    ordered = tuple(sorted(sizes))
    orders = {ordered, ordered[::2] + ordered[1::2]}
    splits = [(each[:g], each[g:]) for each in sorted(orders) for g in range(1, len(sizes))]
    numbers = [[n_near(part, reach, share) for part in split] for split in splits]
    best = min(range(len(splits)), key=lambda i: sum(numbers[i]))
    first, second = splits[best]
    return [first, second] if numbers[best][0] <= numbers[best][1] else [second, first]


def n_near(sizes: tuple[int, ...], reach: float, share: float) -> float:
    """Return about how many vectors of counts there are up to a reach around a share of ones.

    >>> sizes, reach = (70, 80, 90), 3.0
    >>> bool(abs(n_near(sizes, reach, 0.5) / vectors_near(sizes, 0.5, reach).shape[1] - 1.0) < 0.1)
    True
    """
    # How many vectors have each R, which is rounded to parts of the reach.
    numbers, parts = np.ones(1), _PARTS_OF_REACH / max(reach, 1e-9)
    for n in sizes:
        half, middle = sqrt(n * (reach + 1e-9)) + 1.0, n * share
        counts = np.arange(max(0, floor(middle - half)), min(n, ceil(middle + half)) + 1)
        places = np.rint((counts - middle) ** 2 / n * parts)
        own = np.bincount(places[places <= _PARTS_OF_REACH].astype(np.intp), minlength=1)
        numbers = np.convolve(numbers, own)[: _PARTS_OF_REACH + 1]
    return float(numbers.sum())


def pair_work(
    block: TotalBlock, sizes: tuple[int, ...], most_vectors: int = _MOST_VECTORS
) -> float:
    """Return about how many pairs of a block are summed; infinite where that is not possible."""
    if max(sizes) > _LARGEST_CLASS:
        return inf
    reach = float(block.reach.max())
    parts = divided(sizes, reach, block.centre)
    first, second = (n_near(part, reach, block.centre) for part in parts)
    if second > most_vectors:
        return inf
    return first * block.totals.size + _VECTOR_WORK * (first + second)
