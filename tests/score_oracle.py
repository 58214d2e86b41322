"""Scores of binary features from their definitions, in fractions, to judge the library by.

Each function takes the numbers of ones and of known values, one for each class, and returns a
number that increases with the score, and is the same for features that tie.
"""

from fractions import Fraction
from functools import cache
from math import comb, inf, log

import numpy as np


def cells(ones, sizes):
    """The observed table, a row for each class: zeros and ones."""
    return [(n - i, i) for i, n in zip(ones, sizes, strict=True)]


def margins(table):
    """The sums of rows, of columns, and of all."""
    return [sum(row) for row in table], [sum(column) for column in zip(*table, strict=True)]


def chi2(ones, sizes):
    """The sum of (observed - expected)^2 / expected."""
    table = cells(ones, sizes)
    rows, columns = margins(table)
    total = Fraction(0)
    for row, of_row in zip(table, rows, strict=True):
        for observed, of_column in zip(row, columns, strict=True):
            expected = Fraction(of_row * of_column, sum(rows))
            if expected:
                total += (observed - expected) ** 2 / expected
    return total


def power(i):
    return i**i  # 0^0 is 1


def mutual_info(ones, sizes):
    """log(r) / n with r a fraction, so that ties are found by rounding."""
    table = cells(ones, sizes)
    rows, columns = margins(table)
    n = sum(rows)
    ratio = Fraction(power(n))
    for row in table:
        for observed in row:
            ratio *= power(observed)
    for margin in (*rows, *columns):
        ratio /= power(margin)
    return round(log(ratio) / n, 11)


def fisher(ones, sizes):
    """1 / p: tables with the same margins that are at most as probable."""
    (i0, i1), (n0, n1) = ones, sizes
    m = i0 + i1
    ways = {j: comb(n1, j) * comb(n0, m - j) for j in range(m + 1) if j <= n1 and m - j <= n0}
    return Fraction(sum(ways.values()), sum(w for w in ways.values() if w <= ways[i1]))


def odds_ratio(ones, sizes):
    (b, a), (d, c) = cells(ones, sizes)
    if a * d == b * c:
        return Fraction(1)
    low, high = sorted((a * d, b * c))
    return inf if low == 0 else Fraction(high, low)


def rate_difference(ones, sizes):
    rates = [Fraction(i, n) for i, n in zip(ones, sizes, strict=True)]
    return max(abs(a - b) for a in rates for b in rates)


def risen(ones, sizes):
    """A score of which the order of the classes matters, and that may be negative."""
    return Fraction(ones[-1], sizes[-1]) - Fraction(ones[0], sizes[0])


def risen_by_arrays(ones, sizes):
    """The same, as a user writes it."""
    assert ones.dtype == sizes.dtype == np.int64
    return ones[-1] / sizes[-1] - ones[0] / sizes[0]


# By the parameter of the estimator; the last is a callable.
ORACLES = {
    "chi2": cache(chi2),
    "mutual_info": cache(mutual_info),
    "fisher": cache(fisher),
    "odds_ratio": cache(odds_ratio),
    "rate_difference": cache(rate_difference),
    risen_by_arrays: cache(risen),
}
FOR_SEVERAL = ("chi2", "mutual_info", "rate_difference", risen_by_arrays)


def name_of(score):
    return score if isinstance(score, str) else score.__name__
