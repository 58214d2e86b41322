"""The omission probability of a binary feature where there are many cases.

For two classes it is summed as in `binary`, but without logarithms, and only over counts that have
a probability. A node of theta and its mirror image together have the counts selected on both sides.

Given totals, a table of all vectors of counts is summed as in `count_tables`.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np

from unselected._typing import Floats, Ints
from unselected.columns.blocks import in_one_thread, in_threads
from unselected.numerics.beta_binomial import pmf_tables, scaled_pmf_tables, windows
from unselected.numerics.beta_binomial_integral import EXACT, Accuracy, n_nodes
from unselected.numerics.quadrature import gauss_legendre, log_sum
from unselected.omission.binary import OmittedCounts
from unselected.omission.count_tables import CountTable, Omission, joint_table

# Elements of a table that are processed at a time, to stay in the processor's cache.
_BLOCK = 1 << 17
# Nodes of theta in a block, for each node per square root of the number of cases: their means must
# not be so far apart that products overflow.
_ROWS = 7.0
# Where the probability of being omitted is small, fewer counts may be left out.
_MORE = 9.0
# With fewer cases than this, threads cost more than they save.
_FEWEST_FOR_THREADS = 8000


class ManyCases:
    """The omission probabilities of features with n0 and n1 known values, as a function of u.

    Parameters
    ----------
    sizes : tuple of int
        n0 and n1.
    cut : Fraction
    refinement : int
        How many times finer than necessary the rule for theta is.
    needs_below : bool
        Whether the probability of being strictly below the cut is needed.

    Attributes
    ----------
    ties : array of shape (2, pairs)
        The pairs of counts that are exactly at the cut, where they are needed.
    """

    def __init__(
        self,
        sizes: tuple[int, ...],
        cut: Fraction,
        refinement: int,
        *,
        needs_below: bool,
    ) -> None:
        # The smaller class has the intervals of counts that are omitted, given the other's count.
        self._sizes = min(sizes), max(sizes)
        self._omitted = OmittedCounts.at_most(cut, *self._sizes)
        self.ties = np.empty((2, 0), dtype=np.int64)
        if needs_below:
            ties = _between(OmittedCounts.below(cut, *self._sizes), self._omitted)
            self.ties = ties if sizes[0] <= sizes[1] else ties[::-1]
        self._refinement = refinement

    def at(self, u: float, log_ties: Floats, accuracy: Accuracy = EXACT) -> Omission:
        """Return the omission probabilities at alpha = 1 / u, given log P of each of the ties."""
        if sum(self._sizes) >= _FEWEST_FOR_THREADS:
            return self._at(u, log_ties, accuracy)
        with in_one_thread():
            return self._at(u, log_ties, accuracy)

    def _at(self, u: float, log_ties: Floats, accuracy: Accuracy) -> Omission:
        per_root, negligible = accuracy.per_root_of_sums, accuracy.negligible
        above = self._integrated(u, self._selected, per_root, negligible)
        log_at_cut = float(log_sum(log_ties)) if log_ties.size else -np.inf
        at_cut = float(np.exp(log_at_cut))
        below = 1.0 - above - at_cut
        if below < accuracy.least_complement:
            inside = self._integrated(u, self._inside, accuracy.per_root, negligible + _MORE)
            below = max(inside - at_cut, 0.0)
        told = Omission.of_sums(np.array([[below], [at_cut], [above]]), np.zeros(1))
        return replace(told.of_one(), log_at_cut=np.array(log_at_cut))

    def _integrated(
        self,
        u: float,
        given_theta: Callable[["_Block"], Floats],
        per_root: float,
        negligible: float,
    ) -> float:
        """Return the integral over theta of a function of the tables."""
        theta, weights = self._half_rule(u, per_root)
        rows = max(1, min(int(_ROWS * per_root), _BLOCK // sum(self._sizes)))
        starts = np.append(np.arange(0, theta.size, rows), theta.size - 1)
        found = {n: windows(n, theta[starts], u, negligible) for n in set(self._sizes)}
        blocks = [slice(int(i), int(i) + rows) for i in starts[:-1]]

        def work(nodes: slice) -> float:
            within = {n: found[n][nodes.start // rows] for n in found}
            tables = {n: scaled_pmf_tables(n, theta[nodes], u, within[n]) for n in found}
            few, many = self._sizes
            block = _Block(tables[few], tables[many], within[few].start, within[many])
            return float((given_theta(block) / block.scale) @ weights[nodes])

        return sum(in_threads(work, blocks))

    def _half_rule(self, u: float, per_root: float) -> tuple[Floats, Floats]:
        """Return nodes of theta up to 1/2, which stand for their mirror images too."""
        theta, weights = gauss_legendre(n_nodes(self._sizes, u, per_root) * self._refinement)
        some = (theta.size + 1) // 2
        return theta[:some], np.where(theta[:some] == 0.5, 1.0, 2.0) * weights[:some]

    def _selected(self, block: "_Block") -> Floats:
        """Return P(above the cut | theta), a sum of small terms that keep their digits."""
        start = block.places(self._omitted.start)
        first = int(np.searchsorted(start, 1))  # nothing is selected before
        lower = block.product(slice(first, None), block.below, start[first:])
        if self._sizes[0] == self._sizes[1]:  # the classes can be swapped
            return 2.0 * lower
        stop = block.places(self._omitted.stop)
        last = int(np.searchsorted(stop, block.pmf_few.shape[1]))  # nothing is selected from here
        return lower + block.product(slice(0, last), block.from_here, stop[:last])

    def _inside(self, block: "_Block") -> Floats:
        """Return P(at most at the cut | theta)."""
        low, high = (
            np.take(block.below, block.places(ends), axis=1)
            for ends in (self._omitted.start, self._omitted.stop)
        )
        return np.asarray(np.einsum("ij,ij->i", block.pmf_many, high - low))


@dataclass(frozen=True)
class _Block:
    """Tables P(I | theta) of neighbouring nodes, each row with a factor of its own.

    Attributes
    ----------
    pmf_few, pmf_many : arrays of shape (nodes, counts)
        Of the smaller and the larger class, for counts in a window.
    first : int
        The first count of the smaller class.
    within : slice
        The counts of the larger class.
    """

    pmf_few: Floats
    pmf_many: Floats
    first: int
    within: slice

    @cached_property
    def below(self) -> Floats:
        """P(I < i) of the smaller class for each i of the window and the next."""
        below = np.zeros((len(self.pmf_few), self.pmf_few.shape[1] + 1))
        np.cumsum(self.pmf_few, axis=1, out=below[:, 1:])
        return below

    @cached_property
    def from_here(self) -> Floats:
        """P(I >= i) of the same, where the small ones are sums of small terms."""
        above = self.below[:, -1:] - self.below
        half = above.shape[1] // 2
        np.cumsum(self.pmf_few[:, half:][:, ::-1], axis=1, out=above[:, half:-1][:, ::-1])
        return above

    @property
    def scale(self) -> Floats:
        """The factors of both tables together."""
        return np.asarray(self.below[:, -1] * self.pmf_many.sum(axis=1))

    def places(self, ends: Ints) -> Ints:
        """Return where counts of the smaller class, one for each of the larger, are in a table."""
        width = self.pmf_few.shape[1]
        return np.minimum(np.maximum(ends[self.within] - self.first, 0), width)

    def product(self, counts: slice, cumulated: Floats, places: Ints) -> Floats:
        """Return the sum over counts of the larger class, each times a cumulated probability."""
        taken = np.take(cumulated, places, axis=1)
        return np.asarray(np.einsum("ij,ij->i", self.pmf_many[:, counts], taken))


class ManyCasesTable:
    """The omission probabilities from a table of all vectors of counts, of many cases."""

    def __init__(self, table: CountTable, refinement: int) -> None:
        self._table, self._refinement = table, refinement

    def at(self, u: float, accuracy: Accuracy = EXACT) -> Omission:
        """Return the omission probabilities at alpha = 1 / u."""
        sizes, per_root = self._table.sizes, accuracy.per_root
        theta, weights = gauss_legendre(n_nodes(sizes, u, per_root) * self._refinement)
        rows = int(_ROWS * per_root)
        blocks = [theta[start : start + rows] for start in range(0, theta.size, rows)]
        pmfs = {
            n: np.concatenate([pmf_tables(n, block, u, slice(0, n + 1)) for block in blocks])
            for n in set(sizes)
        }
        return self._table.omission(joint_table([pmfs[n] for n in sizes], weights))


def _between(below: OmittedCounts, at_most: OmittedCounts) -> Ints:
    """Return the pairs of counts (2, pairs) that are at most at the cut but not below it."""
    pairs = [
        (I0, I1)
        for I1, (first, last, start, stop) in enumerate(
            zip(at_most.start, at_most.stop, below.start, below.stop, strict=True)
        )
        for I0 in (*range(first, min(start, last)), *range(max(stop, first), last))
    ]
    return np.array(sorted(set(pairs)), dtype=np.int64).reshape(-1, 2).T
