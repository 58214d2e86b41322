"""The omission probability of a binary feature where there are many cases.

For two classes it is summed as in `binary`, but without logarithms, and only over counts that have
a probability. A node of theta and its mirror image together have the counts selected on both sides.

Given totals, a table of all vectors of counts is summed as in `count_tables`.
"""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np

from unselected._typing import Floats, Ints
from unselected.columns.blocks import in_one_thread, in_threads
from unselected.numerics.beta_binomial import pmf_tables, scaled_pmf_tables, windows
from unselected.numerics.beta_binomial_integral import n_nodes
from unselected.numerics.quadrature import gauss_legendre, log_sum
from unselected.omission.binary import OmittedCounts
from unselected.omission.count_tables import CountTable, Omission, joint_table

# Elements of a table that are processed at a time, to stay in the processor's cache.
_BLOCK = 1 << 17
# Nodes of theta in a block: their means must not be so far apart that products overflow.
_MOST_ROWS = 32
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
        self._sizes = sizes
        self._omitted = OmittedCounts.at_most(cut, *sizes)
        # Selected are the I0 below the first given I1, and the I1 below the second given I0.
        self._starts = self._omitted.start, OmittedCounts.at_most(cut, *sizes[::-1]).start
        self.ties = np.empty((2, 0), dtype=np.int64)
        if needs_below:
            self.ties = _between(OmittedCounts.below(cut, *sizes), self._omitted)
        self._refinement = refinement
        self._rows = min(max(1, _BLOCK // sum(sizes)), _MOST_ROWS)

    def at(self, u: float, log_ties: Floats) -> Omission:
        """Return the omission probabilities at alpha = 1 / u, given log P of each of the ties."""
        if sum(self._sizes) >= _FEWEST_FOR_THREADS:
            return self._at(u, log_ties)
        with in_one_thread():
            return self._at(u, log_ties)

    def _at(self, u: float, log_ties: Floats) -> Omission:
        above = float(self._integrated(u, self._selected))
        log_at_cut = float(log_sum(log_ties)) if log_ties.size else -np.inf
        at_cut = float(np.exp(log_at_cut))
        below = 1.0 - above - at_cut
        if above + at_cut > 0.5:  # a small complement would lose its digits
            below = max(float(self._integrated(u, self._inside)) - at_cut, 0.0)
        told = Omission.of_sums(np.array([[below], [at_cut], [above]]), np.zeros(1))
        return replace(told.of_one(), log_at_cut=np.array(log_at_cut))

    def _integrated(self, u: float, given_theta: Callable[..., Floats]) -> Floats:
        """Return the integral over theta of a function of the tables."""
        theta, weights = self._half_rule(u)
        starts = np.append(np.arange(0, theta.size, self._rows), theta.size - 1)
        found = {n: windows(n, theta[starts], u) for n in set(self._sizes)}
        blocks = [slice(int(i), int(i) + self._rows) for i in starts[:-1]]

        def work(nodes: slice) -> Floats:
            counts = {n: found[n][nodes.start // self._rows] for n in found}
            tables = {n: scaled_pmf_tables(n, theta[nodes], u, counts[n]) for n in found}
            cumulated = {n: _cumulated(table) for n, table in tables.items()}
            both, within = ([each[n] for n in self._sizes] for each in (tables, counts))
            below = [cumulated[n] for n in self._sizes]
            scale = below[0][:, -1] * below[1][:, -1]
            return np.asarray((given_theta(both, below, within) / scale) @ weights[nodes])

        return np.asarray(np.sum(list(in_threads(work, blocks)), axis=0))

    def _half_rule(self, u: float) -> tuple[Floats, Floats]:
        """Return nodes of theta up to 1/2, which stand for their mirror images too."""
        theta, weights = gauss_legendre(n_nodes(self._sizes, u) * self._refinement)
        some = (theta.size + 1) // 2
        return theta[:some], np.where(theta[:some] == 0.5, 1.0, 2.0) * weights[:some]

    def _selected(self, pmfs: list[Floats], below: list[Floats], within: list[slice]) -> Floats:
        """Return P(above the cut | theta), a sum of small terms that keep their digits."""
        total = np.zeros(len(pmfs[0]))
        for own, other in ((0, 1), (1, 0)):
            places = self._starts[own][within[other]] - within[own].start
            first = int(np.searchsorted(places, 1))  # nothing is selected before
            up_to_start = np.take(
                below[own], np.minimum(places[first:], pmfs[own].shape[1]), axis=1
            )
            total += np.einsum("ij,ij->i", pmfs[other][:, first:], up_to_start)
        return total

    def _inside(self, pmfs: list[Floats], below: list[Floats], within: list[slice]) -> Floats:
        """Return P(at most at the cut | theta)."""
        first, width = within[0].start, pmfs[0].shape[1]
        low, high = (
            np.take(below[0], np.clip(ends[within[1]] - first, 0, width), axis=1)
            for ends in (self._omitted.start, self._omitted.stop)
        )
        return np.asarray(np.einsum("ij,ij->i", pmfs[1], high - low))


def _cumulated(pmf: Floats) -> Floats:
    """Return P(I < i) for each i of a window and the next, from rows of P(I = i)."""
    below = np.zeros((len(pmf), pmf.shape[1] + 1))
    np.cumsum(pmf, axis=1, out=below[:, 1:])
    return below


class ManyCasesTable:
    """The omission probabilities from a table of all vectors of counts, of many cases."""

    def __init__(self, table: CountTable, refinement: int) -> None:
        self._table, self._refinement = table, refinement

    def at(self, u: float) -> Omission:
        """Return the omission probabilities at alpha = 1 / u."""
        sizes = self._table.sizes
        theta, weights = gauss_legendre(n_nodes(sizes, u) * self._refinement)
        blocks = [theta[start : start + _MOST_ROWS] for start in range(0, theta.size, _MOST_ROWS)]
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
