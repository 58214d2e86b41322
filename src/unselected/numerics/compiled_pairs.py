"""Sums over pairs of vectors of counts, compiled by numba.

Import this through `kernels`; `omission.count_pairs` has the equivalent in plain numpy. Vectors lie
in lists, one for each total, sorted by the sum of squares Q. While Q of the first vector grows, the
place in the list of the second that is still within the bound only moves back.
"""

import numpy as np
from numba import njit

_compile = njit(nogil=True, cache=True)


@_compile
def cumulate(starts, values):
    """Cumulate the values (vectors, nodes) of each list, in place."""
    for i in range(starts.size - 1):
        for v in range(starts[i] + 1, starts[i + 1]):
            for node in range(values.shape[1]):
                values[v, node] += values[v - 1, node]


@_compile
def _add_pairs(first, second, bound, sums):
    """Add P(first vector) times P(second vector) of all pairs of two lists within the bound."""
    squares, probabilities = first
    other_squares, cumulated = second
    if squares.size == 0:
        return
    end = np.searchsorted(other_squares, bound - squares[0], "right")
    for v in range(squares.size):
        room = bound - squares[v]
        while end > 0 and other_squares[end - 1] > room:
            end -= 1
        if end == 0:
            return
        for node in range(sums.size):
            sums[node] += probabilities[v, node] * cumulated[end - 1, node]


@_compile
def sum_pairs(first, second, offset, bounds):
    """Return the sums for each total and node of theta, shape (totals, nodes).

    ``first`` and ``second`` are starts of lists, Q and probabilities (vectors, nodes) of two parts;
    those of the second are cumulated. The lists i and offset + row - i together have the total of a
    row, whose Q has a bound.
    """
    starts, squares, probabilities = first
    other_starts, other_squares, cumulated = second
    sums = np.zeros((bounds.size, probabilities.shape[1]))
    for row in range(bounds.size):
        low, high = max(0, offset + row - other_starts.size + 2), offset + row + 1
        for i in range(low, min(high, starts.size - 1)):
            a, b = starts[i], starts[i + 1]
            c, d = other_starts[offset + row - i], other_starts[offset + row - i + 1]
            one = squares[a:b], probabilities[a:b]
            other = other_squares[c:d], cumulated[c:d]
            _add_pairs(one, other, bounds[row], sums[row])
    return sums
