"""Omission probabilities of binary features in two classes, given totals, at several alphas.

Given the total m = I0 + I1 of a feature, R^2 grows with the distance d = |n I1 - n1 m|. So the
pairs with a total are put in the order of d once, and each cut on R^2 divides them into three runs,
whose P(I0, I1) are added up. `count_tables` has the same for any score, and compares all pairs.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import isqrt

import numpy as np
from scipy.sparse import csr_array

from unselected._typing import Floats, Ints
from unselected.omission.count_tables import Omission

# Bounds on d that are further than this from a whole number are rounded as doubles.
_CLOSE = 1e-6


@dataclass(frozen=True, eq=False)
class PairSums:
    """The pairs of counts with each total, in the order of their scores.

    Attributes
    ----------
    sizes : tuple of int
        The numbers of cases n0 and n1.
    distances : array of shape (totals, most pairs)
        d of each pair, from the least on; behind them is a large number.
    places : array of shape (pairs,)
        Where the pairs are in a table (n0 + 1, n1 + 1) that is flattened: by total, and by d.
    n_pairs : array of shape (totals,)
    """

    sizes: tuple[int, int]
    distances: Ints
    places: Ints
    n_pairs: Ints

    @classmethod
    def of(cls, n0: int, n1: int) -> "PairSums":
        """Return the order of the pairs of two classes with so many cases."""
        return _in_order(n0, n1)

    def omission(self, P: Floats, cut: Fraction | None, totals: slice = slice(None)) -> Omission:
        """Return the omission probabilities for a cut on R^2, arrays of shape (alphas, totals).

        ``P`` has the probabilities of all pairs, (pairs, alphas).
        """
        m = np.arange(self.n_pairs.size)[totals]
        n_pairs, (below, at_most) = self.n_pairs[m], self._numbers(cut, m)
        runs = np.column_stack([below, at_most - below, n_pairs - at_most])
        ends = np.append(0, np.cumsum(runs))
        start = int(self.n_pairs[: m.min(initial=self.n_pairs.size)].sum())
        places = self.places[start : start + ends[-1]]
        adding = csr_array((np.ones(places.size), places, ends), (runs.size, len(P)))
        by_run: Floats = np.asarray(adding @ P)
        sums = np.ascontiguousarray(by_run.reshape(*runs.shape, -1).transpose(1, 2, 0))
        return Omission.of_sums(sums, np.log(sums.sum(axis=0)))

    def _numbers(self, cut: Fraction | None, m: Ints) -> tuple[Ints, Ints]:
        """Return for some totals how many pairs are below a cut, and at most at it, exactly.

        R^2 = d^2 / (n0 n1 m (n - m)), and 0 for a constant feature.
        """
        if cut is None:
            return self.n_pairs[m], self.n_pairs[m]
        (n0, n1), n = self.sizes, sum(self.sizes)
        scale = n0 * n1 * np.maximum(m * (n - m), 1)
        bound = np.sqrt(float(cut) * scale)
        least = np.stack([np.ceil(bound), np.ceil(bound)]).astype(np.int64)  # of those not counted
        for place in np.flatnonzero(np.abs(bound - np.rint(bound)) < _CLOSE).tolist():
            square, rest = divmod(cut.numerator * int(scale[place]), cut.denominator)
            root = isqrt(square)
            is_at_cut = rest == 0 and root * root == square
            least[:, place] = root + (not is_at_cut), root + 1
        below, at_most = (self.distances[m] < row[:, np.newaxis] for row in least)
        return np.count_nonzero(below, axis=1), np.count_nonzero(at_most, axis=1)


@lru_cache(maxsize=16)
def _in_order(n0: int, n1: int) -> PairSums:
    m = np.arange(n0 + n1 + 1)[:, np.newaxis]
    I1 = np.maximum(m - n0, 0) + np.arange(min(n0, n1) + 1)
    is_pair = I1 <= np.minimum(m, n1)
    distances = np.where(is_pair, np.abs((n0 + n1) * I1 - n1 * m), np.iinfo(np.int64).max)
    order = np.argsort(distances, axis=1, kind="stable")
    n_pairs = np.count_nonzero(is_pair, axis=1)
    places = np.take_along_axis((m - I1) * (n1 + 1) + I1, order, axis=1)
    real = np.arange(order.shape[1]) < n_pairs[:, np.newaxis]
    return PairSums((n0, n1), np.take_along_axis(distances, order, axis=1), places[real], n_pairs)
