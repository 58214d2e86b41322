"""Differences from a reference value, the terms of all sums over real-valued columns, checked.

Every sum is over differences from one of the column's own values. The mean is subtracted before
squares are summed, so that nothing cancels. The compiled sums of large tables subtract it
afterwards; where that costs digits, the column is summed again as above. Rows are added one after
the other, so that equal columns get equal sums, whatever their position.
"""

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from unselected._typing import ColumnNamer, Floats, Ints
from unselected.columns.blocks import copied_blocks, has_solid_rows
from unselected.columns.sources import SparseColumns
from unselected.statistics.moments import Moments
from unselected.statistics.unscored import SCORED

# Sums of squares beyond these lose some or all of their digits.
_SMALLEST, _LARGEST = 1e-280, 1e280
# Where subtracting the mean afterwards leaves less than this of the squares, three digits are lost.
_FEW_DIGITS = 1e-3


def rows_of_numbers(X: NDArray[Any]) -> NDArray[Any]:
    """Return rows in the memory layout of the compiled sums, copied only where necessary."""
    numbers = X.view(np.uint8) if X.dtype == np.bool_ else X
    return numbers if has_solid_rows(numbers) else np.ascontiguousarray(numbers)


def in_memory(rows: NDArray[Any]) -> tuple[NDArray[Any], Ints]:
    """Return the memory that holds the rows, and where in it each of them begins."""
    step, rest = divmod(rows.strides[0], rows.itemsize)
    if step < 0 or rest or len(rows) == 1:
        rows = np.ascontiguousarray(rows)
        step = rows.shape[1]
    length = (len(rows) - 1) * step + rows.shape[1]
    flat = as_strided(rows, shape=(length,), strides=(rows.itemsize,), writeable=False)
    return flat, step * np.arange(len(rows))


def not_told(squares: Floats, within: Floats) -> Ints:
    """Return the columns whose compiled sums are inaccurate or undefined.

    They have missing values, or squares that cancel or are too large or too small.
    """
    told = (within > _FEW_DIGITS * squares) & (within > _SMALLEST) & (squares < _LARGEST)
    return np.flatnonzero(~told)


def to_be_made_dense(X: SparseColumns, squares: Floats) -> list[NDArray[np.intp]]:
    """Return the columns, a few at a time, that need more than sums over stored values."""
    small = (squares < _SMALLEST) & (squares != 0.0)
    others = np.flatnonzero(~X.has_zeros | ~(squares < _LARGEST) | small)
    width = copied_blocks(X)[0].stop
    return [others[start : start + width] for start in range(0, others.size, width)]


def centred(X: NDArray[Any]) -> tuple[Floats, Floats]:
    """Return a value of each column, and the differences of all values from it."""
    center = X[0].astype(np.float64)
    unknown = np.flatnonzero(np.isnan(center))
    if unknown.size:
        values = X[:, unknown].astype(np.float64)
        first = np.argmax(~np.isnan(values), axis=0)
        center[unknown] = values[first, np.arange(unknown.size)]
    return center, np.subtract(X, center, dtype=np.float64, order="C")


def check_size(moments: Moments, X: NDArray[Any], label: ColumnNamer) -> None:
    """Raise where values are so far apart, or so close, that their squares lose digits."""
    squares = np.where(moments.reasons() == SCORED, moments.between + moments.within, 1.0)
    wrong = ~(squares < _LARGEST)
    small = np.flatnonzero(squares < _SMALLEST)
    if small.size:
        values = X[:, small].astype(np.float64)
        spread = np.nanmax(values, axis=0) - np.nanmin(values, axis=0)
        # Where covariates determine the column, its own values may be far apart.
        wrong[small] = (spread > 0.0) & (spread**2 < 2.0 * _SMALLEST)
    if wrong.any():
        size = "large" if squares[np.argmax(wrong)] > 1.0 else "small"
        raise ValueError(
            f"{label(int(np.argmax(wrong)))} has values so {size} that their squares cannot be "
            "represented: measure it in another unit."
        )
