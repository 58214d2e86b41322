"""The best columns of a table of 0 and 1 in two classes, without each of some sets of cases.

A score is a function of the pair of counts (I0, I1) of a column, and there are few pairs. So the
columns of each pair are tallied, in one compiled loop over the table for all sets of cases. The
tally gives the k-th best score and the histogram of totals; only columns that may be among the
best are looked at one by one. `leaving_out` has the same in numpy, for any table.
"""

from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unselected._typing import Bools, Floats, Ints
from unselected.columns.blocks import Columns, has_solid_rows, in_threads, shares
from unselected.columns.subset import ColumnSubset
from unselected.selection.correlation import CLOSE, cor_squared
from unselected.selection.count_scores import CountScores
from unselected.statistics.binarizing import AS_IS
from unselected.statistics.counts import ClassCounts, Counted, count_type
from unselected.statistics.leaving_out import LeftOut, disjoint
from unselected.statistics.tally import Tally
from unselected.statistics.unscored import Unscored

# Columns of a part of the table: with some hundred rows it stays in the second-level cache.
_TOGETHER = 4096
# The largest number of pairs of counts.
_MOST_PAIRS = 1 << 16


class _Pairs(NamedTuple):
    """All pairs of counts of two classes from the best score on, and the rank and total of each."""

    order: Ints
    rank: NDArray[np.uint16]
    score: Floats
    totals: Ints


@lru_cache(maxsize=64)
def _pairs(n0: int, n1: int) -> _Pairs:
    I0, I1 = np.divmod(np.arange((n0 + 1) * (n1 + 1)), n1 + 1)
    score = cor_squared(I0, I1, n0, n1)
    order = np.argsort(-score, kind="stable")
    rank = np.empty(order.size, dtype=np.uint16)
    rank[order] = np.arange(order.size)
    return _Pairs(order, rank, score[order], I0 + I1)


class _Found(NamedTuple):
    """What a scan of some columns found.

    Attributes
    ----------
    histogram : array of shape (sets, pairs)
    may_be_best : array of the same shape
        Which pairs may be among the best.
    sets, columns, pairs : arrays of int
        Of columns that may be among the best.
    """

    histogram: NDArray[np.uint32]
    may_be_best: Bools
    sets: NDArray[np.uint16]
    columns: Ints
    pairs: NDArray[np.uint16]


@dataclass(frozen=True, eq=False)
class PairScan:
    """The sets of cases, and the pairs of counts without each of them.

    Attributes
    ----------
    bits : array of shape (n, p)
        Bytes.
    k : int
        Number of columns to be kept.
    sizes : array of shape (sets, 2)
        The numbers of cases in the classes.
    rows, starts : arrays of int
        The cases of each set and class that are left out by this set, but not by all of them; the
        last two are those that none of the first ``n_disjoint`` sets leaves out.
    n_disjoint : int
        Number of first sets that have no such case in common.
    kernels : module
    """

    bits: NDArray[np.uint8]
    k: int
    sizes: Ints
    rows: Ints
    starts: Ints
    n_disjoint: int
    kernels: Any

    @classmethod
    def of(
        cls, X: Columns, y: NDArray[np.intp], sets: list[LeftOut], k: int | None, kernels: Any
    ) -> "PairScan | None":
        """Return the scan of a table; None where it has to be read in another way."""
        if kernels is None or k is None or not isinstance(X, np.ndarray):
            return None
        n_pairs = np.prod(np.bincount(y, minlength=2) + 1)
        if X.itemsize != 1 or not has_solid_rows(X) or y.max() > 1 or n_pairs > _MOST_PAIRS:
            return None
        sizes = np.array([np.bincount(y[left.kept], minlength=2) for left in sets])
        always_out = np.bincount(np.concatenate([left.out for left in sets]), minlength=y.size)
        some = always_out < len(sets)
        own = [left.out[some[left.out]] for left in sets]
        relative = [LeftOut.rows(out, y.size) for out in own]
        n_disjoint = len(next(disjoint(relative)))
        in_none = np.setdiff1d(np.flatnonzero(some), np.concatenate(own[:n_disjoint]))
        groups = [rows[y[rows] == g] for rows in (*own, in_none) for g in range(2)]
        starts = np.cumsum([0, *(rows.size for rows in groups)])
        bits = X.view(np.uint8)
        return cls(bits, k, sizes, np.concatenate(groups), starts, n_disjoint, kernels)

    def scores(self) -> list[CountScores] | None:
        """Return the scores of the k best columns, ties included; None where some are no bits."""
        first = self._scan(slice(0, _TOGETHER), np.ones(self._all_pairs[0].shape, dtype=bool))
        if first is None:
            return None
        parts: list[_Found] = []
        scan = partial(self._scan, may_be_best=first.may_be_best)
        for found in in_threads(scan, shares(self.bits.shape[1], _TOGETHER)):
            if found is None:
                return None
            parts.append(found)
        histogram: Ints = np.zeros(self._all_pairs[0].shape, dtype=np.int64)
        for part in parts:
            histogram += part.histogram
        sets, columns, pairs = (
            np.concatenate([getattr(part, name) for part in parts])
            for name in ("sets", "columns", "pairs")
        )
        order = np.argsort(sets, kind="stable")
        ends = np.cumsum(np.bincount(sets, minlength=len(self.sizes)))
        each = zip(histogram, np.split(order, ends[:-1]), strict=True)
        return [
            self._scores_of(place, row, columns[own], pairs[own])
            for place, (row, own) in enumerate(each)
        ]

    def _scores_of(self, place: int, histogram: Ints, columns: Ints, pairs: Ints) -> CountScores:
        """Return the scores without a set, from its histogram and the columns that were found."""
        n0, n1 = self.sizes[place].tolist()
        all_pairs = _pairs(n0, n1)
        histogram = histogram[: all_pairs.order.size]
        up_to = np.cumsum(histogram[all_pairs.order])
        if up_to[-1] >= self.k:
            kth = all_pairs.score[np.searchsorted(up_to, self.k)]
            n_best = np.count_nonzero(all_pairs.score >= kth - CLOSE * kth)
            best = all_pairs.rank[pairs] < n_best
            columns, pairs = columns[best], pairs[best]
        ones = np.stack(np.divmod(pairs.astype(np.int64), n1 + 1)).astype(
            count_type(len(self.bits))
        )
        counts = ClassCounts(ones, self.sizes[place])
        totals = np.bincount(all_pairs.totals, weights=histogram).astype(np.int64)
        return CountScores(
            Counted(counts, np.full(columns.size, AS_IS)),
            ColumnSubset(columns, self.bits.shape[1]),
            Tally.of_totals(self.sizes[place], totals),
            Unscored.none(),
        )

    @cached_property
    def _all_pairs(self) -> tuple[Ints, Floats]:
        """Order and score of all pairs of counts, (sets, pairs)."""
        each = [_pairs(n0, n1) for n0, n1 in self.sizes.tolist()]
        shape = len(each), max(one.order.size for one in each)
        order, score = np.zeros(shape, dtype=np.int64), np.full(shape, -1.0)
        for place, one in enumerate(each):
            size = one.order.size
            order[place, :size], score[place, :size] = one.order, one.score
        return order, score

    def _scan(self, block: slice, may_be_best: Bools) -> _Found | None:
        """Scan some columns, and find those whose pairs may be among the best."""
        X, shape = self.bits[:, block], self._all_pairs[0].shape
        small, mark = count_type(len(X)), self.kernels.MARK
        work = (
            np.where(may_be_best, mark, np.uint32(0)),
            np.empty((2, _TOGETHER), dtype=small),
            np.empty((self.n_disjoint + 1, 2, _TOGETHER), dtype=small),
            np.empty(_TOGETHER, dtype=np.uint16),
            np.empty(_TOGETHER, dtype=np.int64),
            np.empty(_TOGETHER, dtype=np.uint8),
        )
        kinds = (np.uint16, np.int32, np.uint16)
        pool = tuple(np.empty(2 * shape[0] * _TOGETHER, dtype=kind) for kind in kinds)
        groups = (self.rows, self.starts, self.n_disjoint)
        how = (self.sizes[:, 1] + 1, *self._all_pairs, self.k, CLOSE)
        held, begin = [], 0
        while begin < X.shape[1]:
            begin, n_held = self.kernels.scan_pairs(X, begin, *groups, *how, work, pool)
            if n_held < 0:
                return None
            held.append([part[:n_held].copy() for part in pool])
        sets, columns, pairs = (np.concatenate(parts) for parts in zip(*held, strict=True))
        numbers, columns = work[0], columns.astype(np.intp) + block.start
        return _Found(numbers & ~mark, numbers >= mark, sets, columns, pairs)
