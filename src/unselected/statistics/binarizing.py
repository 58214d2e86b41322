"""How a column becomes bits: where it is cut, and which values are bits already."""

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from unselected._typing import ColumnNamer, Floats
from unselected.columns.blocks import check_finite, first_fault

Binarize = Literal["auto", "median"] | float | None


# Cut of a column that is 0/1 already.
AS_IS = 0.5
# Three consecutive integers that start beyond this are measurements rather than codes.
_LARGE = 100


def binarize_columns(
    X: NDArray[Any], thresholds: Floats, binarize: Binarize, label: ColumnNamer
) -> NDArray[np.bool_]:
    """Turn columns of new rows into bits with the cuts of the training rows."""
    check_finite(X, label)
    if binarize is None:
        _check_zero_one(X, label)
    return np.asarray(X > thresholds)


def find_cuts(X: NDArray[Any], binarize: Binarize, label: ColumnNamer) -> Floats:
    """Return where each column is cut; a value above is a one."""
    return find_cuts_and_steps(X, binarize, label)[0]


def find_cuts_and_steps(
    X: NDArray[Any], binarize: Binarize, label: ColumnNamer
) -> tuple[Floats, int]:
    """Return where each column is cut, and the number of columns of three steps "auto" cut."""
    if isinstance(binarize, int | float):
        return np.full(X.shape[1], float(binarize)), 0
    if binarize is None:
        _check_zero_one(X, label)
        return np.full(X.shape[1], AS_IS), 0
    if binarize == "median":
        return _median_cuts(X), 0
    cuts = np.full(X.shape[1], AS_IS)
    other = np.flatnonzero(~are_bits(X))
    if not other.size:
        return cuts, 0
    values = X[:, other]
    cuts[other] = _median_cuts(values)
    return cuts, count_three_steps(values)


def count_three_steps(X: NDArray[Any]) -> int:
    """Return the number of columns that have three values, which are consecutive integers.

    Genotypes are such columns: 0, 1 or 2 copies of an allele.

    >>> count_three_steps(np.array([[0, 0, 1, 0.5], [1, 2, 2, 1.5], [2, 0, 1, 2.5]]))
    1
    """
    low, high = X.min(axis=0), X.max(axis=0)
    small = (low > -_LARGE) & (low < _LARGE)
    some = np.flatnonzero(small & (high == low + 2) & (low == np.round(low)))
    middle = X[:, some] == low[some] + 1
    ends = (X[:, some] == low[some]) | (X[:, some] == high[some])
    return int(np.count_nonzero(np.all(ends | middle, axis=0) & middle.any(axis=0)))


def _median_cuts(X: NDArray[Any]) -> Floats:
    """Return the median of each column, or the next smaller value where nothing is above it.

    Otherwise a column that is mostly at its largest value would become constant.
    """
    cuts: Floats = np.median(X, axis=0).astype(np.float64)
    largest = X.max(axis=0)
    for j in np.flatnonzero((cuts >= largest) & (X.min(axis=0) < largest)):
        cuts[j] = X[X[:, j] < largest[j], j].max()
    return cuts


def are_bits(X: NDArray[Any]) -> NDArray[np.bool_]:
    """Say which columns are 0 and 1."""
    return np.asarray(np.all(_is_zero_one(X), axis=0))


def _is_zero_one(X: NDArray[Any]) -> NDArray[np.bool_]:
    return np.asarray((X == 0) | (X == 1))


def _check_zero_one(X: NDArray[Any], label: ColumnNamer) -> None:
    wrong = ~_is_zero_one(X)
    if wrong.any():
        row, column = first_fault(wrong)
        raise ValueError(
            f"{label(column)} has the value {X[row, column]!s} in row {row}, but binarize=None "
            "takes only 0 and 1: recode the column, or let binarize='auto' cut it at its median."
        )
