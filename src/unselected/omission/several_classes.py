"""The omission probability of a binary feature in three or more classes, whatever its total.

Given the counts of all classes but the largest, R^2 is at most at the cut where a quadratic
function of the last count is at most 0: the omitted counts of that class form one interval. So
cumulative sums of P(I | theta) are enough, as with two classes, and no table over all counts is
built.
"""

from fractions import Fraction

import numpy as np

from unselected._typing import Floats, Ints
from unselected.numerics.beta_binomial import pmf_tables
from unselected.numerics.beta_binomial_integral import log_counts_and_theta, n_nodes
from unselected.numerics.quadrature import gauss_legendre, log_sum
from unselected.omission.count_tables import Omission
from unselected.selection.explained import compare_explained

# Vectors of counts of all classes but the largest, at most.
MOST_VECTORS = 1 << 20
# Elements of an array that are processed at a time, and neighbouring nodes of theta, whose products
# must not overflow.
_BLOCK, _MOST_ROWS = 1 << 20, 32


class SeveralClasses:
    """The omission probabilities of features with these numbers of known values.

    Parameters
    ----------
    sizes : tuple of int
    cut : Fraction
        A bound on R^2.
    refinement : int
        How many times finer than necessary the rule for theta is.
    """

    def __init__(self, sizes: tuple[int, ...], cut: Fraction, refinement: int) -> None:
        self._sizes, self._refinement = tuple(sorted(sizes)), refinement
        shape = tuple(n + 1 for n in self._sizes[:-1])
        others = np.stack(np.unravel_index(np.arange(np.prod(shape, dtype=np.int64)), shape))
        self._start, self._stop, self._at_cut = _intervals(others, self._sizes, cut)

    def at(self, u: float) -> Omission:
        """Return the omission probabilities at alpha = 1 / u."""
        theta, weights = gauss_legendre(n_nodes(self._sizes, u) * self._refinement)
        # The score does not change where zeros and ones are swapped: half of the nodes are enough.
        some = (theta.size + 1) // 2
        weights = np.where(theta[:some] == 0.5, 1.0, 2.0) * weights[:some]
        rows = min(max(1, _BLOCK // self._start.size), _MOST_ROWS)
        at_most = 0.0
        for first in range(0, some, rows):
            nodes = slice(first, first + rows)
            at_most += float(weights[nodes] @ self._given_theta(theta[:some][nodes], u))
        log_at_cut = -np.inf
        if self._at_cut.size:
            log_at_cut = float(
                log_sum(log_counts_and_theta(self._at_cut, self._sizes, u, self._refinement)[0])
            )
        at_most = min(at_most, 1.0)
        below = max(at_most - np.exp(log_at_cut), 0.0)
        with np.errstate(divide="ignore"):
            logs = (np.log(below), log_at_cut, np.log(at_most), 0.0)
        return Omission(*(np.array(log) for log in logs))

    def _given_theta(self, theta: Floats, u: float) -> Floats:
        """Return P(at most at the cut | theta) for some neighbouring nodes."""
        *others, last = (pmf_tables(n, theta, u, slice(0, n + 1)) for n in self._sizes)
        below = np.zeros((theta.size, last.shape[1] + 1))
        np.cumsum(last, axis=1, out=below[:, 1:])
        inside = np.take(below, self._stop, axis=1)
        inside -= np.take(below, self._start, axis=1)
        joint = others[0]
        for pmf in others[1:]:
            joint = (joint[:, :, np.newaxis] * pmf[:, np.newaxis, :]).reshape(theta.size, -1)
        return np.asarray(np.einsum("ij,ij->i", joint, inside))


def n_other_vectors(sizes: tuple[int, ...]) -> float:
    """Return the number of vectors of counts of all classes but the largest."""
    return float(np.prod([n + 1.0 for n in sorted(sizes)[:-1]]))


def _intervals(others: Ints, sizes: tuple[int, ...], cut: Fraction) -> tuple[Ints, Ints, Ints]:
    """Return, for counts of all classes but the last, which last counts are at most at the cut.

    They are start <= I < stop. The third result has the vectors (G, v) that are exactly at the cut.
    """
    n, n_last, c = sum(sizes), sizes[-1], float(cut)
    total = others.sum(axis=0).astype(np.float64)
    squares = np.sum(others.astype(np.float64) ** 2 / np.array(sizes[:-1])[:, np.newaxis], axis=0)
    # sum of I_g^2 / n_g - (1 - c) m^2 / n - c m <= 0, as a function of the last count.
    a = 1.0 / n_last - (1.0 - c) / n
    half_b = -((1.0 - c) * total / n + 0.5 * c)
    d = squares - (1.0 - c) * total**2 / n - c * total
    root = np.sqrt(np.maximum(half_b**2 - a * d, 0.0))
    low = np.clip(np.ceil((-half_b - root) / a), 0, n_last).astype(np.int64)
    high = np.clip(np.floor((-half_b + root) / a), 0, n_last).astype(np.int64)
    # Doubles may be off by one at the ends: the counts around them are compared exactly.
    start, stop = np.full(low.shape, n_last + 1), np.zeros(low.shape, dtype=np.int64)
    at_cut = []
    for place in (low - 1, low, low + 1, high - 1, high, high + 1):
        inside = (place >= 0) & (place <= n_last)
        vectors = np.vstack([others[:, inside], place[inside]])
        sign = compare_explained(vectors, np.array(sizes), cut)
        some, omitted = np.flatnonzero(inside), sign <= 0
        kept = some[omitted]
        start[kept] = np.minimum(start[kept], place[kept])
        stop[kept] = np.maximum(stop[kept], place[kept] + 1)
        at_cut.append(vectors[:, sign == 0])
    stop = np.maximum(stop, np.minimum(start, n_last + 1))
    start = np.minimum(start, stop)
    ties = np.unique(np.concatenate(at_cut, axis=1), axis=1)
    return start, stop, ties
