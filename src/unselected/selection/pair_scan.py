"""The best columns of a table of 0 and 1 in two classes, without each of some sets of cases.

A score is a function of the pair of counts (I0, I1) of a column, and there are few pairs. One
compiled loop over the table sums the counts without all sets of cases. It tallies the totals, and
holds the columns that may be among the best. Few columns have to be looked at for that, because the
counts of all cases bound the score without any set:

    Without m0 and m1 cases of the classes I0 becomes at least I0 - m0, and I1 at most I1, or as
    many as there are left. COR^2 grows with I1 and falls with I0 where I1 / n1 > I0 / n0, so that
    it is at most that of these two counts; and likewise with the classes exchanged.

`leaving_out` has the same in numpy, for any table.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unselected._typing import Floats, Ints
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
# Such parts that are scanned before the others.
_FIRST = 16
# The largest number of pairs of counts.
_MOST_PAIRS = 1 << 16


class _Pairs(NamedTuple):
    """All pairs of counts of two classes: the rank of each, and the scores from the best on."""

    rank: NDArray[np.uint16]
    score: Floats


@lru_cache(maxsize=64)
def _pairs(n0: int, n1: int) -> _Pairs:
    I0, I1 = np.divmod(np.arange((n0 + 1) * (n1 + 1)), n1 + 1)
    score = cor_squared(I0, I1, n0, n1)
    order = np.argsort(-score, kind="stable")
    rank = np.empty(order.size, dtype=np.uint16)
    rank[order] = np.arange(order.size)
    return _Pairs(rank, score[order])


@lru_cache(maxsize=64)
def _best_without(sizes: tuple[int, int], rest: tuple[int, int]) -> Floats:
    """Return the largest score of each pair of counts when only so many cases are left.

    >>> _best_without((2, 2), (2, 1)).reshape(3, 3)[0].round(3).tolist()  # none of class 0
    [0.0, 1.0, 1.0]
    """
    (N0, N1), (n0, n1) = sizes, rest
    I0, I1 = np.divmod(np.arange((N0 + 1) * (N1 + 1)), N1 + 1)
    least = np.maximum(I0 - (N0 - n0), 0), np.maximum(I1 - (N1 - n1), 0)
    most = np.minimum(I0, n0), np.minimum(I1, n1)
    grown = cor_squared(least[0], most[1], n0, n1)
    return np.maximum(grown, cor_squared(most[0], least[1], n0, n1))


class _Kinds(NamedTuple):
    """The pairs of counts of the distinct sizes of sets; see `scan_pairs`."""

    kinds: Ints
    widths: Ints
    n_pairs: Ints
    rank: NDArray[np.uint16]
    score: Floats
    best: Floats

    @classmethod
    def of(cls, sizes: Ints, rest: Ints) -> "_Kinds":
        """Return those of sets that leave ``rest`` (sets, 2) of so many cases of the classes."""
        distinct, kinds = np.unique(rest, axis=0, return_inverse=True)
        n_pairs = np.prod(distinct + 1, axis=1)
        shape = len(distinct), int(n_pairs.max())
        rank, score = np.zeros(shape, dtype=np.uint16), np.full(shape, -1.0)
        for place, (n0, n1) in enumerate(distinct.tolist()):
            each = _pairs(n0, n1)
            rank[place, : each.rank.size], score[place, : each.rank.size] = each
        whole = tuple(sizes.tolist())
        best = np.stack([_best_without(whole, tuple(own)) for own in distinct.tolist()])
        widths = np.append(sizes[1], distinct[:, 1]) + 1
        return cls(kinds.ravel(), widths, n_pairs, rank, score, best)


def _counts_without(
    bits: NDArray[np.uint8], y: NDArray[np.intp], sets: list[LeftOut]
) -> Ints | None:
    """Return the counts of few columns without each set, (sets, 2, columns); None for other bytes.

    >>> bits, y = np.array([[1, 0], [1, 1], [0, 1]], dtype=np.uint8), np.array([0, 1, 1])
    >>> _counts_without(bits, y, [LeftOut.rows(np.array([1]), 3)]).tolist()
    [[[1, 0], [0, 1]]]
    """
    if bits.max(initial=0) > 1:
        return None
    own = np.zeros((len(sets), 2, y.size))
    for place, left in enumerate(sets):
        own[place, y[left.kept], left.kept] = 1.0
    return (own.reshape(-1, y.size) @ bits).reshape(len(sets), 2, -1).astype(np.int64)


class _Bounds(NamedTuple):
    """How many of the best pairs may be among the best without each set, and their last score."""

    ends: Ints
    scores: Floats


class _Found(NamedTuple):
    """What a scan of some columns found.

    Attributes
    ----------
    bounds : _Bounds
    by_total : array of shape (sets, totals)
        The numbers of columns with each total.
    sets, columns, pairs : arrays of int
        Of columns that may be among the best.
    """

    bounds: _Bounds
    by_total: Ints
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
    whole : array of shape (2,)
        The numbers of cases of the classes that are not left out by all sets.
    sizes : array of shape (sets, 2)
        Those without each set.
    rows, starts : arrays of int
        The cases of each set and class that are left out by this set, but not by all of them; the
        last two are those that none of the first ``n_disjoint`` sets leaves out.
    n_disjoint : int
        Number of first sets that have no such case in common.
    kernels : module
    likely : array of shape (sets, 2, columns) or None
        The counts of some columns without each set. The best of them bound the scores of the best
        of all.
    """

    bits: NDArray[np.uint8]
    k: int
    whole: Ints
    sizes: Ints
    rows: Ints
    starts: Ints
    n_disjoint: int
    kernels: Any
    likely: Ints | None = None

    @classmethod
    def of(
        cls,
        X: Columns,
        y: NDArray[np.intp],
        sets: list[LeftOut],
        k: int | None,
        kernels: Any,
        likely: Ints | None = None,
    ) -> "PairScan | None":
        """Return the scan of a table; None where it has to be read in another way.

        ``likely`` are columns that are likely to be among the best.
        """
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
        bits, whole = X.view(np.uint8), np.bincount(y[some], minlength=2)
        counts = None
        if likely is not None and likely.size >= k:
            counts = _counts_without(bits.take(likely, axis=1), y, sets)
        rows = np.concatenate(groups)
        return cls(bits, k, whole, sizes, rows, starts, n_disjoint, kernels, counts)

    def scores(self) -> list[CountScores] | None:
        """Return the scores of the k best columns, ties included; None where some are no bits."""
        parts: list[_Found] = []
        for found in self._parts():
            if found is None:
                return None
            parts.append(found)
        by_total = np.sum([part.by_total for part in parts], axis=0)
        sets, columns, pairs = (
            np.concatenate([getattr(part, name) for part in parts])
            for name in ("sets", "columns", "pairs")
        )
        order = np.argsort(sets, kind="stable")
        ends = np.cumsum(np.bincount(sets, minlength=len(self.sizes)))
        each = zip(by_total, np.split(order, ends[:-1]), strict=True)
        return [
            self._scores_of(place, row, columns[own], pairs[own])
            for place, (row, own) in enumerate(each)
        ]

    def _parts(self) -> Iterator[_Found | None]:
        """Yield what is found in parts of the table.

        Without likely columns the first part bounds the scores in the others.
        """
        bounds, p, start = self._bounds, self.bits.shape[1], 0
        if self.likely is None:
            start = min(p, _FIRST * _TOGETHER)
            first = self._scan(slice(0, start), bounds)
            yield first
            if first is None or start == p:
                return
            bounds = first.bounds
        others = shares(p - start, _TOGETHER, per_thread=1)
        blocks = [slice(start + block.start, start + block.stop) for block in others]
        yield from in_threads(partial(self._scan, bounds=bounds), blocks)

    @property
    def _bounds(self) -> _Bounds:
        """The bounds that the likely columns give."""
        kinds = self._kinds
        n_pairs, none = kinds.n_pairs[kinds.kinds], np.full(len(self.sizes), -1.0)
        if self.likely is None:
            return _Bounds(n_pairs, none)
        codes = self.likely[:, 0] * (self.sizes[:, 1:] + 1) + self.likely[:, 1]
        ranks = kinds.rank[kinds.kinds[:, np.newaxis], codes]
        kth = np.partition(ranks, self.k - 1, axis=1)[:, self.k - 1]
        scores = kinds.score[kinds.kinds, kth] * (1.0 - CLOSE)
        may_be_best = kinds.score[kinds.kinds] >= scores[:, np.newaxis]
        return _Bounds(np.count_nonzero(may_be_best, axis=1), scores)

    def _scores_of(self, place: int, by_total: Ints, columns: Ints, pairs: Ints) -> CountScores:
        """Return the scores without a set, from its totals and the columns that were found."""
        n0, n1 = self.sizes[place].tolist()
        rank, score = _pairs(n0, n1)
        if pairs.size >= self.k:
            ranks = rank[pairs]
            kth = score[np.partition(ranks, self.k - 1)[self.k - 1]]
            best = score[ranks] >= kth - CLOSE * kth
            columns, pairs = columns[best], pairs[best]
        ones = np.stack(np.divmod(pairs.astype(np.int64), n1 + 1)).astype(
            count_type(len(self.bits))
        )
        counts = ClassCounts(ones, self.sizes[place])
        return CountScores(
            Counted(counts, np.full(columns.size, AS_IS)),
            ColumnSubset(columns, self.bits.shape[1]),
            Tally.of_totals(self.sizes[place], by_total),
            Unscored.none(),
        )

    @cached_property
    def _kinds(self) -> _Kinds:
        """The pairs of counts of the distinct sizes of sets."""
        return _Kinds.of(self.whole, self.sizes)

    @property
    def _n_totals(self) -> int:
        """The number of possible totals, 0 included."""
        return int(self.whole.sum()) + 1

    def _new_tallies(self) -> NDArray[np.uint32]:
        """Return room for tallies, of two sets in a row where their totals are bytes."""
        n_sets = len(self.sizes)
        if self._n_totals**2 > _MOST_PAIRS:
            return np.zeros((n_sets, self._n_totals), dtype=np.uint32)
        return np.zeros((-(-n_sets // 2), self._n_totals**2), dtype=np.uint32)

    def _by_total(self, tallies: NDArray[np.uint32]) -> Ints:
        """Return the numbers of columns by total, (sets, totals)."""
        n = self._n_totals
        if tallies.shape[1] == n:
            return tallies.astype(np.int64)
        each = tallies.reshape(-1, n, n)
        pairs = np.stack([each.sum(axis=2), each.sum(axis=1)], axis=1)
        return pairs.reshape(-1, n)[: len(self.sizes)].astype(np.int64)

    def _scan(self, block: slice, bounds: _Bounds) -> _Found | None:
        """Scan some columns, and find those whose pairs may be among the best."""
        X, n_sets, kinds = self.bits[:, block], len(self.sizes), self._kinds
        small = count_type(len(X))
        found = (bounds.ends.copy(), bounds.ends.copy(), bounds.scores.copy(), self._new_tallies())
        work = (
            np.zeros((n_sets, kinds.score.shape[1]), dtype=np.uint32),
            np.zeros(n_sets, dtype=np.int64),
            np.empty((2, _TOGETHER), dtype=small),
            np.empty((self.n_disjoint + 1, 2, _TOGETHER), dtype=small),
            np.empty((2, _TOGETHER), dtype=small),
            np.empty(_TOGETHER, dtype=np.uint16),
            np.empty(_TOGETHER, dtype=np.int64),
            np.empty(_TOGETHER, dtype=np.uint8),
            np.empty(kinds.best.shape[1], dtype=np.uint8),
        )
        types = (np.uint16, np.int32, np.uint16)
        pool = tuple(np.empty(2 * n_sets * _TOGETHER, dtype=each) for each in types)
        cases, how = (self.rows, self.starts, self.n_disjoint), (self._n_totals, self.k, CLOSE)
        held, begin = [], 0
        while begin < X.shape[1]:
            begin, n_held = self.kernels.scan_pairs(X, begin, cases, kinds, *how, found, work, pool)
            if n_held < 0:
                return None
            held.append([part[:n_held].copy() for part in pool])
        sets, columns, pairs = (np.concatenate(parts) for parts in zip(*held, strict=True))
        columns = columns.astype(np.intp) + block.start
        _, ends, scores, tallies = found
        return _Found(_Bounds(ends, scores), self._by_total(tallies), sets, columns, pairs)
