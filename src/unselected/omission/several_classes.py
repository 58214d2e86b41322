"""The omission probability of a binary feature in several classes, given its total or not.

The classes are divided into two parts. Given theta their counts are independent, and a feature with
m ones is below the cut where

    Q_1 + Q_2 < c m + (1 - c) m^2 / n,    Q = sum of I_g^2 / n_g over the classes of a part,

with c the cut on R^2. The vectors of the second part are sorted by total and then by Q. For each
vector of the first part and each total of the second, those below the cut are then the first ones
of a list, and one cumulated probability is their sum. So all vectors enter exactly, and only those
of the parts are enumerated, never those of all classes together.

Q is an integer in units of the least common multiple of the class sizes, and is compared as such.
Classes of equal sizes are interchangeable: of vectors that differ by the order of their counts in
such classes one is enumerated, and counted as often as there are orders.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from unselected._typing import Floats, Ints
from unselected.columns.blocks import in_threads
from unselected.numerics.beta_binomial import pmf_tables, windows
from unselected.numerics.beta_binomial_integral import EXACT, Accuracy, n_nodes
from unselected.numerics.quadrature import gauss_legendre
from unselected.omission.count_tables import Omission
from unselected.omission.count_vectors import (
    SortedVectors,
    last_squares,
    n_vectors,
    unit_of,
    vectors,
)

# Sums for one node of theta, at most: minutes for a fit, and some 400 MB.
MOST_SUMS = 1 << 25
# A vector of the second part takes about as long as so many lists that are looked up.
_VECTOR_WORK = 4
# Elements of arrays that are processed at a time, to stay in the processor's cache.
_BLOCK = 1 << 16
# Nodes of theta in a block: their means must not be so far apart that products overflow.
_MOST_ROWS = 16
# With fewer sums than this, threads cost more than they save.
_FEWEST_FOR_THREADS = 1 << 18
# Where the probability of being omitted is small, fewer counts may be left out.
_MORE = 9.0
# Below this part of the total a difference from it would lose too many digits.
_SMALL = 1e-4


class _Part(SortedVectors):
    """The vectors of counts of some classes, from a total of 0 on."""

    @classmethod
    def enumerated(cls, sizes: tuple[int, ...], unit: int, most: int | None) -> "_Part":
        return cls.of(sizes, *vectors(sizes, most), unit)

    def among(self, totals: slice) -> slice:
        """Return where the vectors with these totals are."""
        return slice(int(self.starts[totals.start]), int(self.starts[totals.stop]))

    def live(self, block: "_Block", among: slice) -> Ints:
        """Return those of some vectors that have all counts in the windows."""
        inside = np.ones(among.stop - among.start, dtype=np.bool_)
        for ones, n in zip(self.ones, self.sizes, strict=True):
            window = block.within[n]
            if window != slice(0, n + 1):
                inside &= (ones[among] >= window.start) & (ones[among] < window.stop)
        return np.asarray(among.start + np.flatnonzero(inside))

    def probabilities(self, some: Ints, block: "_Block") -> Floats:
        """Return P(vector | theta) of some vectors, all orders together, shape (vectors, nodes)."""
        product = self.orders[some, np.newaxis]
        for ones, n in zip(self.ones, self.sizes, strict=True):
            product = np.take(block.pmfs[n], ones[some] - block.within[n].start, axis=0) * product
        return product


@dataclass(frozen=True)
class _Block:
    """Some neighbouring nodes of theta, the windows of counts there, and P(count | theta)."""

    weights: Floats
    within: dict[int, slice]
    pmfs: dict[int, Floats]


class SeveralClasses:
    """The omission probabilities of features with these numbers of known values.

    Parameters
    ----------
    sizes : tuple of int
    cut : Fraction
        A bound on R^2.
    refinement : int
        How many times finer than necessary the rule for theta is.
    by_total : bool
        Whether there is a probability for each total, 0 to n, or one for all.
    most : int, default=None
        The largest total that is looked at, at most n / 2; `rare` needs it, and `at` does not
        take it.
    """

    def __init__(
        self,
        sizes: tuple[int, ...],
        cut: Fraction,
        refinement: int,
        *,
        by_total: bool,
        most: int | None = None,
    ) -> None:
        self._sizes, self._refinement, self._by_total = sizes, refinement, by_total
        self._most, unit = most, unit_of(sizes)
        first, second = _divided(sizes, most)
        self._first, self._second = (_Part.enumerated(part, unit, most) for part in (first, second))
        below, at_most = last_squares(sizes, cut, unit)
        # Where the vectors of the second part that are below the cut end, for each vector of the
        # first part and each total of the second.
        self._ends = self._found(below)
        self._at_cut = self._pairs(self._ends, self._found(at_most))
        self._is_large = n_sums(sizes, most) >= _FEWEST_FOR_THREADS
        self._some_totals = list(_grouped(np.diff(self._second.starts)))

    def _found(self, last: Ints) -> NDArray[np.int32]:
        """Return where the vectors end that have at most the last Q."""
        first, second = self._first, self._second
        ends = np.empty((first.totals.size, second.n_totals), dtype=np.int32)
        for m in range(second.n_totals):
            start, stop = second.starts[m], second.starts[m + 1]
            room = last[first.totals + m] - first.squares
            ends[:, m] = start + np.searchsorted(second.squares[start:stop], room, "right")
        return ends

    @staticmethod
    def _pairs(below: NDArray[np.int32], at_most: NDArray[np.int32]) -> Ints:
        """Return the vectors (2, pairs) of both parts that together are exactly at the cut.

        They are sorted by those of the second part.
        """
        first, m = np.nonzero(below != at_most)
        start, n_ties = below[first, m], at_most[first, m] - below[first, m]
        before = np.repeat(np.cumsum(n_ties) - n_ties, n_ties)
        second = np.repeat(start, n_ties) + np.arange(before.size) - before
        return np.stack([np.repeat(first, n_ties), second])[:, np.argsort(second, kind="stable")]

    def at(self, u: float, accuracy: Accuracy = EXACT) -> Omission:
        """Return the omission probabilities at alpha = 1 / u."""
        at_least, at_cut, total = self._sums(u, accuracy, from_cut=True)
        below = total - at_least
        if np.any(below < _SMALL * total):
            below, _, _ = self._sums(u, accuracy, from_cut=False)
        sums = np.stack([below, at_cut, np.maximum(at_least - at_cut, 0.0)])
        told = Omission.of_sums(sums, np.log(total) if self._by_total else np.zeros(1))
        return told if self._by_total else told.of_one()

    def rare(self, u: float, accuracy: Accuracy = EXACT) -> Floats:
        """Return P(below), P(at the cut) and P(above) given each total up to ``most``, (3, m)."""
        assert self._most is not None
        at_least, at_cut, total = self._sums(u, accuracy, from_cut=True)[:, : self._most + 1]
        return np.asarray(np.stack([total - at_least, at_cut, at_least - at_cut]) / total)

    def _sums(self, u: float, accuracy: Accuracy, *, from_cut: bool) -> Floats:
        """Return P(at least at the cut), or P(below), P(at the cut), and P(total), (3, totals)."""
        theta, weights = gauss_legendre(
            n_nodes(self._sizes, u, accuracy.per_root) * self._refinement
        )
        # Below, the nodes up to 1/2 stand for those above; but not where some totals are left out.
        some = (theta.size + 1) // 2 if self._most is None else theta.size
        rows = int(_MOST_ROWS * accuracy.per_root / EXACT.per_root)
        starts = np.append(np.arange(0, some, rows), some - 1)
        negligible = accuracy.negligible + _MORE
        found = {n: windows(n, theta[starts], u, negligible) for n in set(self._sizes)}

        def work(nodes: slice) -> Floats:
            within = {n: found[n][nodes.start // rows] for n in found}
            pmfs = {n: pmf_tables(n, theta[nodes], u, within[n]) for n in found}
            contiguous = {n: np.ascontiguousarray(pmf.T) for n, pmf in pmfs.items()}
            # The node 1/2 is its own mirror image.
            own = 0.5 if self._most is None else 1.0
            halved = np.where(theta[nodes] == 0.5, own, 1.0) * weights[nodes]
            return self._of_block(_Block(halved, within, contiguous), from_cut=from_cut)

        ends = np.append(starts[1:-1], some).tolist()
        blocks = [slice(*each) for each in zip(starts[:-1].tolist(), ends, strict=True)]
        parts = in_threads(work, blocks) if self._is_large else map(work, blocks)
        sums = np.sum(list(parts), axis=0)
        if self._most is not None:
            return np.asarray(sums)
        # Swapping zeros and ones of a feature does not change the score: the nodes above 1/2 add
        # the same to the totals counted from the other end.
        sums = sums + sums[:, ::-1]
        return np.asarray(sums if self._by_total else sums.sum(axis=1, keepdims=True))

    def _of_block(self, block: _Block, *, from_cut: bool) -> Floats:
        """Return what some nodes of theta add to the sums."""
        sums = np.zeros((3, sum(self._sizes) + 1))
        some = self._first.live(block, slice(0, self._first.totals.size))
        weighted = self._first.probabilities(some, block) * block.weights
        for totals in self._some_totals:
            self._add(sums, totals, block, some, weighted, from_cut=from_cut)
        return sums

    def _add(
        self,
        sums: Floats,
        totals: slice,
        block: _Block,
        some: Ints,
        weighted: Floats,
        *,
        from_cut: bool,
    ) -> None:
        """Add what some totals of the second part, and some nodes of theta, add to the sums.

        ``some`` vectors of the first part have the probabilities ``weighted``.
        """
        second = self._second
        live = second.live(block, second.among(totals))
        if not live.size:
            return
        totals = slice(int(second.totals[live[0]]), int(second.totals[live[-1]]) + 1)
        among = second.among(totals)
        probabilities = second.probabilities(live, block)
        # How many live vectors are before each place.
        before = np.searchsorted(live, np.arange(among.start, among.stop + 1))
        starts = before[second.starts[totals.start : totals.stop + 1] - among.start]
        lists, corner = _cumulated(probabilities, starts, from_cut=from_cut)
        in_all, rows = lists[:, -1], max(1, _BLOCK // (len(lists) * block.weights.size))
        lists = lists.reshape(-1, block.weights.size)
        for start in range(0, some.size, rows):
            part, each = some[start : start + rows], weighted[start : start + rows]
            reached = before[self._ends[part, totals] - among.start]
            inside = np.take(lists, np.abs(corner - reached), axis=0) @ each[:, :, np.newaxis]
            m = self._first.totals[part, np.newaxis] + np.arange(totals.start, totals.stop)
            for row, terms in ((0, inside), (2, each @ in_all.T)):
                sums[row] += np.bincount(m.ravel(), terms.ravel(), sums.shape[1])
        self._add_at_cut(sums[1], (some, weighted), (live, probabilities))

    def _add_at_cut(
        self, sums: Floats, first: tuple[Ints, Floats], second: tuple[Ints, Floats]
    ) -> None:
        """Add P(exactly at the cut) of some vectors of both parts and their probabilities."""
        ends = np.searchsorted(self._at_cut[1], [second[0][0], second[0][-1] + 1])
        rows = max(1, _BLOCK // first[1].shape[1])
        for start in range(ends[0], ends[1], rows):
            a, b = self._at_cut[:, start : min(start + rows, ends[1])]
            places = _places(first[0], a), _places(second[0], b)
            both = (places[0] >= 0) & (places[1] >= 0)
            terms = np.einsum("ij,ij->i", first[1][places[0][both]], second[1][places[1][both]])
            m = self._first.totals[a[both]] + self._second.totals[b[both]]
            sums += np.bincount(m, terms, sums.size)


def _places(live: Ints, vectors: Ints) -> Ints:
    """Return where some vectors are among the live ones; -1 for others."""
    places = np.minimum(np.searchsorted(live, vectors), live.size - 1)
    return np.where(live[places] == vectors, places, -1)


def _cumulated(probabilities: Floats, starts: Ints, *, from_cut: bool) -> tuple[Floats, Ints]:
    """Return cumulated probabilities of lists (lists, places, nodes), and where to look them up.

    The lists begin at ``starts``. Each is cumulated from 0 on, from its last vector backwards or
    from its first. The sum over what is beyond ``reached`` vectors, or before it, is at the place
    |corner - reached| of all lists together, with a corner for each list.
    """
    lengths = np.diff(starts)
    list_of = np.repeat(np.arange(lengths.size), lengths)
    rank = np.arange(list_of.size) - starts[list_of]
    if from_cut:
        rank = lengths[list_of] - 1 - rank
    lists = np.zeros((lengths.size, int(lengths.max()) + 1, probabilities.shape[1]))
    lists[list_of, rank + 1] = probabilities
    np.cumsum(lists, axis=1, out=lists)
    heads = np.arange(lengths.size) * lists.shape[1]
    return lists, heads + lengths + starts[:-1] if from_cut else starts[:-1] - heads


def _grouped(lengths: Ints) -> Iterator[slice]:
    """Yield neighbouring totals whose lists together are not too long."""
    start = 0
    for stop in range(1, lengths.size + 1):
        is_last = stop == lengths.size
        if is_last or (stop + 1 - start) * int(lengths[start : stop + 1].max() + 1) > _BLOCK:
            yield slice(start, stop)
            start = stop


def n_sums(sizes: tuple[int, ...], most: int | None = None) -> float:
    """Return about how many sums one node of theta takes: lists, and vectors of the second part.

    With ``most`` it is a bound, of the vectors with totals up to that.

    >>> n_sums((9, 9, 9)) < n_sums((9, 9, 9, 9)) < n_sums((8, 9, 9, 10))
    True
    """
    first, second = _divided(sizes, most)
    return _work(first, second, most)


def _divided(
    sizes: tuple[int, ...], most: int | None = None
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the sizes of the two parts that take least work."""
    ordered = tuple(sorted(sizes))
    splits = [(ordered[:g], ordered[g:]) for g in range(1, len(ordered))]
    return min(
        splits + [split[::-1] for split in splits],
        key=lambda split: _work(split[0], split[1], most),
    )


def _work(first: tuple[int, ...], second: tuple[int, ...], most: int | None) -> float:
    lists = sum(second) if most is None else min(sum(second), most)
    return n_vectors(first, most) * (lists + 1.0) + _VECTOR_WORK * n_vectors(second, most)
