"""Reading the columns of a table in blocks, in threads, and checking their values.

The pass over the columns is the only step that sees all p features. Nothing the size of the table
is ever copied.
"""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from unselected._typing import ColumnNamer
from unselected.columns.dask import DaskColumns
from unselected.columns.sources import ColumnSource, SparseColumns

Columns = NDArray[Any] | ColumnSource
_T = TypeVar("_T")

# Bytes of a row of a block: with its sums it stays in the second-level cache ...
_ROW_BYTES = 1 << 17
# ... and bytes of a block that has to be copied: the copy stays in the third-level cache.
_COPY_BYTES = 1 << 22
# Bytes of a block where each block has a large overhead.
_WIDE_BYTES = 1 << 24
# Values of a table for which threads do not pay.
_SMALL_TABLE = 1 << 17
# Blocks for each thread, so that none waits long for another.
_SHARES = 2
# Reading memory does not get faster with more threads than this.
_MOST_THREADS = 4
_alone: ContextVar[bool] = ContextVar("_alone", default=False)


def blocks_in_place(X: NDArray[Any]) -> list[slice]:
    """Return blocks of columns for an array that is read row by row, in place."""
    return _blocks_of(max(1, _ROW_BYTES // X.itemsize), X.shape[1])


def copied_blocks(X: Columns, itemsize: int = 8) -> list[slice]:
    """Return blocks of columns of which a copy, with items of that size, stays in the cache."""
    return _whole_chunks(X, max(64, _COPY_BYTES // (X.shape[0] * itemsize)))


def wide_blocks(X: Columns, itemsize: int = 8) -> list[slice]:
    """Return blocks of columns for work that is repeated many times on each block.

    There is one for each thread at least, unless the table is small.
    """
    n, p = X.shape
    width = max(64, _WIDE_BYTES // (n * itemsize))
    if n * p > _SMALL_TABLE:
        width = min(width, -(-p // _n_threads()))
    return _whole_chunks(X, width)


def shares(p: int, multiple: int, per_thread: int = _SHARES) -> list[slice]:
    """Return blocks of p columns, so many for each thread; widths are a multiple of that.

    >>> shares(10, 10)
    [slice(0, 10, None)]
    """
    width = -(-p // (per_thread * _n_threads()))
    return _blocks_of(-(-width // multiple) * multiple, p)


def _whole_chunks(X: Columns, width: int) -> list[slice]:
    natural = X.width if isinstance(X, ColumnSource) else None
    if natural is not None:  # whole chunks only, and at least one
        width = max(1, width // natural) * natural
    return _blocks_of(width, X.shape[1])


def _blocks_of(width: int, p: int) -> list[slice]:
    return [slice(start, min(start + width, p)) for start in range(0, p, width)]


def in_threads(work: Callable[[slice], _T], blocks: list[slice]) -> Iterator[_T]:
    """Yield the result for each block in order; numpy lets threads run at the same time."""
    if len(blocks) == 1 or _alone.get():
        yield from map(work, blocks)
        return
    with ThreadPoolExecutor(_n_threads()) as pool:
        yield from pool.map(work, blocks)


def _n_threads() -> int:
    return min(_MOST_THREADS, os.cpu_count() or 1)


@contextmanager
def in_one_thread() -> Iterator[None]:
    """Use no threads: a worker of a cluster runs other tasks in its other threads."""
    token = _alone.set(True)
    try:
        yield
    finally:
        _alone.reset(token)


def has_solid_rows(X: NDArray[Any]) -> bool:
    """Say whether the values of a row are contiguous in memory."""
    return X.strides[1] == X.itemsize


def shifted(label: ColumnNamer, start: int) -> ColumnNamer:
    """Return the names of the columns of a block that starts there."""
    return lambda column: label(start + column)


def picked(label: ColumnNamer, columns: NDArray[np.intp]) -> ColumnNamer:
    """Return the names of some of the columns."""
    return lambda column: label(int(columns[column]))


def check_finite(X: Columns, label: ColumnNamer, *, missing_allowed: bool = False) -> None:
    """Raise where a value is infinite, or NaN unless allowed, naming its column and row."""
    if isinstance(X, DaskColumns):
        return  # values are checked when they are computed: checking here would compute them all
    if isinstance(X, ColumnSource):
        _check_finite_source(X, label, missing_allowed)
        return
    if _has_finite_sum(X):
        return
    wrong = np.isinf(X) if missing_allowed else ~np.isfinite(X)
    if wrong.any():
        row, column = first_fault(wrong)
        what = "NaN (a missing value)" if np.isnan(X[row, column]) else "infinity"
        raise ValueError(
            f"{label(column)} has {what} in row {row}: fill it in (for example with "
            "sklearn.impute.SimpleImputer), or drop the row or the column."
        )


def find_missing(
    X: NDArray[Any], label: ColumnNamer, *, missing_allowed: bool
) -> NDArray[np.bool_] | None:
    """Return where values are missing, None where none is; raise as `check_finite` does.

    >>> find_missing(np.array([[0.0, np.nan]]), str, missing_allowed=True).tolist()
    [[False, True]]
    """
    if _has_finite_sum(X):
        return None
    check_finite(X, label, missing_allowed=missing_allowed)
    missing = np.isnan(X)
    return missing if missing.any() else None


def _has_finite_sum(X: NDArray[Any]) -> bool:
    """Say whether the sum of all values is finite, so that each of them is."""
    with np.errstate(over="ignore", invalid="ignore"):
        return X.dtype.kind != "f" or bool(np.isfinite(X.sum(dtype=np.float64)))


def _check_finite_source(X: ColumnSource, label: ColumnNamer, missing_allowed: bool) -> None:
    stored_are_fine = isinstance(X, SparseColumns) and np.all(np.isfinite(X.values))
    if X.dtype.kind == "f" and not stored_are_fine:
        for columns in copied_blocks(X):
            block = X[:, columns]
            check_finite(block, shifted(label, columns.start), missing_allowed=missing_allowed)


def first_fault(wrong: NDArray[np.bool_]) -> tuple[int, int]:
    """Return (row, column) of the first fault in the first column that has one."""
    column = int(np.argmax(wrong.any(axis=0)))
    return int(np.argmax(wrong[:, column])), column
