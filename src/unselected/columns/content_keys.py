"""Keys of rows and columns that depend on their content alone, not on their order.

Folds are dealt, and ties are broken, by these keys. So a shuffled table gives the same predictions.
A key is a sum of 64-bit hashes, which wraps around and is the same in any order. A column's first
key is that of its set of values; a row's key sums hashes of its values together with the keys of
their columns; a column's key sums hashes of its values together with the keys of their rows. Rows
or columns that still have the same key have, but for a coincidence, the same content.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Keys = NDArray[np.uint64]

_ODD = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


def mixed(values: Keys) -> Keys:
    """Return a hash of each number: every bit of it depends on all bits.

    >>> mixed(np.array([1, 2], dtype=np.uint64)).tolist()
    [10451216379200822465, 10905525725756348110]
    """
    with np.errstate(over="ignore"):
        x = np.asarray(values + _ODD)
        x = (x ^ (x >> np.uint64(30))) * _FIRST
        x = (x ^ (x >> np.uint64(27))) * _SECOND
    return np.asarray(x ^ (x >> np.uint64(31)))


def row_keys(X: NDArray[Any]) -> Keys:
    """Return a key of each row of a table (n, k), whatever the order of its rows and columns.

    >>> X = np.array([[0, 1, 1], [1, 0, 1], [0, 0, 1]])
    >>> keys = row_keys(X)
    >>> np.array_equal(row_keys(X[::-1, [2, 0, 1]]), keys[::-1])
    True
    """
    of_columns = _sums_of_hashes(X, np.zeros((len(X), 1), dtype=np.uint64), axis=0)
    of_rows = _sums_of_hashes(X, mixed(of_columns), axis=1)
    return _sums_of_hashes(X, column_keys(X, of_rows), axis=1)


def column_keys(X: NDArray[Any], of_rows: Keys) -> Keys:
    """Return a key of each column of a table, given keys of its rows."""
    return _sums_of_hashes(X, mixed(of_rows)[:, np.newaxis], axis=0)


def _sums_of_hashes(X: NDArray[Any], keys: Keys, axis: int) -> Keys:
    """Return sums of the hashes of values together with keys of the rows or columns added up.

    Bytes of 0 and 1 have two hashes with each key, and the sums are products with these.
    """
    if X.dtype.itemsize > 1 or X.max(initial=0) > 1 or X.min(initial=0) < 0:
        return np.asarray(mixed(_bits(X) ^ keys).sum(axis=axis))
    zero, one = (mixed(value ^ keys).ravel() for value in _bits(np.arange(2)))
    ones = X.astype(np.uint64)
    return np.asarray(zero.sum() + ((one - zero) @ ones if axis == 0 else ones @ (one - zero)))


def _bits(X: NDArray[Any]) -> Keys:
    """Return values as 64-bit patterns, one for each number whatever its type."""
    values = np.asarray(X, dtype=np.float64) + 0.0  # -0 becomes 0
    values = np.where(np.isnan(values), np.nan, values)
    return np.ascontiguousarray(values).view(np.uint64)
