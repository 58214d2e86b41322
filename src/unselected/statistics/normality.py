"""Whether columns look as if their values were normal.

W' of Shapiro and Francia is the squared correlation of the ordered values of a column with the
expected ones of a normal sample. log(1 - W') of normal columns is itself nearly normal, with mean
and standard deviation given by Royston (1993, Statistics and Computing 3, 117-118):

    mean      -1.2725 + 1.0521 (log log n - log n)
    deviation  1.0308 - 0.26758 (log log n + 2 / log n)

Standardized by them, its mean over hundreds of columns is close to 0 if these are normal, and
positive if they are not.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from unselected._typing import Floats, Ints

# The largest mean of standardized values with which columns look normal. A thousand normal columns
# have a mean within 0.1 of 0, measured gene expression about 1.
_LARGEST_MEAN = 0.3
# Numbers of known values for which the approximation was made.
_FEWEST, _MOST = 5, 5000
# 1 - W' of columns that are normal but for rounding.
_LEAST_MISFIT = 1e-12


def look_normal(X: NDArray[Any]) -> bool:
    """Say whether columns (n, k) look normal; those with two values or fewer have no say.

    >>> normal = np.random.default_rng(0).normal(size=(60, 200))
    >>> look_normal(normal), look_normal(np.exp(0.3 * normal))
    (True, False)
    """
    values = misfits(np.asarray(X, dtype=np.float64))
    known = values[~np.isnan(values)]
    return bool(known.size and known.mean() <= _LARGEST_MEAN)


def misfits(X: Floats) -> Floats:
    """Return the standardized log(1 - W') of each column (k,).

    NaN in X is a missing value. The result is NaN for a column with two values or fewer, and for
    less than 5 or more than 5000 known values.
    """
    ordered = np.sort(X, axis=0)  # with missing values last
    n_known = np.sum(~np.isnan(X), axis=0)
    result = np.full(X.shape[1], np.nan)
    for n in np.unique(n_known).tolist():
        if not _FEWEST <= n <= _MOST:
            continue
        columns = np.flatnonzero(n_known == n)
        some = columns[_distinct(ordered[:n, columns]) > 2]
        result[some] = _standardized(ordered[:n, some])
    return result


def _distinct(ordered: Floats) -> Ints:
    """Return the number of distinct values of ordered columns."""
    return np.asarray(1 + np.count_nonzero(np.diff(ordered, axis=0) > 0.0, axis=0))


def _standardized(ordered: Floats) -> Floats:
    """Return the standardized log(1 - W') of ordered columns without missing values."""
    n = len(ordered)
    expected = ndtri((np.arange(1, n + 1) - 0.375) / (n + 0.25))
    values = ordered - ordered.mean(axis=0)
    values = values / np.max(np.abs(values), axis=0)  # squares of large values overflow
    along = (expected @ values) ** 2 / (expected @ expected)
    misfit = 1.0 - along / np.sum(values**2, axis=0)
    log_n = np.log(n)
    mean = -1.2725 + 1.0521 * (np.log(log_n) - log_n)
    deviation = 1.0308 - 0.26758 * (np.log(log_n) + 2.0 / log_n)
    return np.asarray((np.log(np.maximum(misfit, _LEAST_MISFIT)) - mean) / deviation)
