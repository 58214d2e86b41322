"""The two-sided p-value of Fisher's exact test: that of all tables at most as probable.

Given the total m, the ones in the second class have a hypergeometric distribution. The p-value is
the sum of the probabilities that are at most that of the observed count. Which are equal is decided
in integers.
"""

from fractions import Fraction
from functools import lru_cache
from math import comb

import numpy as np
from scipy.special import gammaln

from unselected._typing import Floats, Ints

# Logarithms of probabilities that are closer than this are compared in integers.
_CLOSE = 1e-8


def log10_reciprocals(ones: Ints, known: Ints) -> Floats:
    """Return -log10 p of features with these counts (2, p) among so many known values (2, p).

    >>> log10_reciprocals(np.array([[1, 0], [4, 0]]), np.full((2, 2), 5)).round(6).tolist()
    [0.685397, 0.0]
    """
    (n0, n1), (i0, i1) = known.astype(np.int64), ones.astype(np.int64)
    found = np.empty(n0.size)
    if found.size == 0:
        return found
    base = int(max(n0.max(), n1.max())) + 1
    codes = (n0 * base + n1) * (2 * base) + i0 + i1
    distinct, row_of = np.unique(codes, return_inverse=True)
    order = np.argsort(row_of, kind="stable")
    ends = np.cumsum(np.bincount(row_of, minlength=distinct.size))
    for code, columns in zip(distinct.tolist(), np.split(order, ends[:-1]), strict=True):
        sizes, m = divmod(code, 2 * base)
        first, second = divmod(sizes, base)
        row = _log10_row(first, second, m)
        found[columns] = row[i1[columns] - max(0, m - first)]
    return found


def reciprocal(ones: tuple[int, ...], known: tuple[int, ...]) -> Fraction:
    """Return 1 / p of one feature, as a fraction.

    >>> reciprocal((1, 4), (5, 5)), reciprocal((0, 0), (5, 5))
    (Fraction(63, 13), Fraction(1, 1))
    """
    (n0, n1), m = known, sum(ones)
    weights = _weights(n0, n1, m)
    own = weights[ones[1] - max(0, m - n0)]
    return Fraction(sum(weights), sum(weight for weight in weights if weight <= own))


@lru_cache(maxsize=512)
def _weights(n0: int, n1: int, m: int) -> list[int]:
    """Return integers in the ratio of the probabilities of all counts of the second class.

    Of the two symmetric formulas it is the one with the smaller numbers.
    """
    counts = range(max(0, m - n0), min(m, n1) + 1)
    n = n0 + n1
    if min(m, n - m) <= min(n0, n1):
        return [comb(n1, i) * comb(n0, m - i) for i in counts]
    return [comb(m, i) * comb(n - m, n1 - i) for i in counts]


@lru_cache(maxsize=1 << 13)
def _log10_row(n0: int, n1: int, m: int) -> Floats:
    """Return -log10 p of all counts of the second class, given the total."""
    i = np.arange(max(0, m - n0), min(m, n1) + 1)
    logs = _log_comb(n1, i) + _log_comb(n0, m - i)
    order = np.argsort(logs, kind="stable")
    last = _last_equal(logs, order, (n0, n1, m))
    cumulated = np.logaddexp.accumulate(logs[order])[last]
    row = np.empty(i.size)
    row[order] = (cumulated[-1] - cumulated) / np.log(10.0)
    return row


def _last_equal(logs: Floats, order: Ints, margins: tuple[int, int, int]) -> Ints:
    """Return, for each place of the order, the last one of an equal probability.

    The order of close probabilities is corrected in place.
    """
    is_new = np.diff(logs[order], prepend=-np.inf) > _CLOSE
    starts = np.flatnonzero(is_new)
    stops = np.append(starts[1:], order.size)
    last = np.repeat(stops - 1, stops - starts)
    mirror = _mirror(*margins)
    lowest = max(0, margins[2] - margins[0])
    for start, stop in zip(starts.tolist(), stops.tolist(), strict=True):
        close = order[start:stop].tolist()
        if len(close) == 1 or (len(close) == 2 and sum(close) + 2 * lowest == mirror):
            continue
        weights = _weights(*margins)
        close.sort(key=lambda place: weights[place])
        order[start:stop] = close
        ends = [j for j in range(len(close)) if _ends_equal(close, j, weights)]
        last[start:stop] = start + np.repeat(ends, np.diff(ends, prepend=-1))
    return last


def _ends_equal(places: list[int], j: int, weights: list[int]) -> bool:
    """Say whether the next probability is another one, or there is none."""
    return j + 1 == len(places) or weights[places[j]] != weights[places[j + 1]]


def _mirror(n0: int, n1: int, m: int) -> int | None:
    """Return the sum of two counts that are equally probable by symmetry, if there is one."""
    if n0 == n1:
        return m
    return n1 if 2 * m == n0 + n1 else None


def _log_comb(n: int, i: Ints) -> Floats:
    return np.asarray(gammaln(n + 1.0) - gammaln(i + 1.0) - gammaln(n - i + 1.0))
