"""The distinct vectors of counts of binary features."""

from typing import NamedTuple

import numpy as np
from scipy.special import betaln

from unselected._typing import Floats, Ints
from unselected.statistics.counts import ClassCounts


class DistinctCounts(NamedTuple):
    """Distinct vectors of counts and known values (G, v), which a column has, and how many do."""

    ones: Ints
    known: Ints
    vector_of: Ints
    n_equal: Ints


def distinct_counts(counts: ClassCounts) -> DistinctCounts:
    """Return the distinct vectors of counts, sorted by pattern of known values and then by counts.

    >>> counts = ClassCounts.of_two(np.array([2, 0, 2]), np.array([1, 3, 1]), 4, 4)
    >>> distinct = distinct_counts(counts)
    >>> distinct.ones.tolist(), distinct.vector_of.tolist(), distinct.n_equal.tolist()
    ([[0, 2], [3, 1]], [1, 0, 1], [1, 2])
    """
    (patterns, pattern_of), ones = counts.patterns(), counts.ones.astype(np.int64)
    if len(patterns) == 1 and len(ones) == 2:  # faster than sorting rows
        n1 = counts.n1
        codes, vector_of, n_equal = np.unique(
            ones[0] * (n1 + 1) + ones[1], return_inverse=True, return_counts=True
        )
        known = np.repeat(patterns.T, codes.size, axis=1)
        return DistinctCounts(np.stack(np.divmod(codes, n1 + 1)), known, vector_of, n_equal)
    rows = np.vstack([pattern_of, ones]).T
    distinct, vector_of, n_equal = np.unique(rows, axis=0, return_inverse=True, return_counts=True)
    known = patterns[distinct[:, 0]].T
    return DistinctCounts(distinct[:, 1:].T, known, vector_of.ravel(), n_equal)


def log_binomial(n: Ints, i: Ints) -> Floats:
    """Return the log of the number of orders of i ones among n cases."""
    return np.asarray(-betaln(n - i + 1.0, i + 1.0) - np.log(n + 1.0))
