"""Dask arrays: the work goes to where the chunks are, and only sums come back.

dask is imported only once there is a dask array. Nothing here needs a cluster: the configured
scheduler of dask runs the work.
"""

import sys
from collections.abc import Callable
from functools import cached_property
from importlib import import_module
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from unselected._typing import Ints
from unselected.columns.sources import ColumnSource, SourceError

_T = TypeVar("_T")
# Largest number of bytes sent along with every chunk; a separate task takes another round trip.
_SENT_WITH_EACH = 1 << 16
# A function of a chunk, its rows and its columns.
Work = Callable[[NDArray[Any], slice, slice], _T]


def is_dask_array(X: Any) -> bool:
    """Say whether something is a dask array; it is not if dask was never imported.

    >>> is_dask_array([[0, 1]])
    False
    """
    module = sys.modules.get("dask.array")
    return module is not None and isinstance(X, module.Array)


class DaskColumns(ColumnSource):
    """A two-dimensional dask array as a source of columns.

    Columns that are read with ``[:, columns]`` are computed and sent to the caller.

    >>> import dask.array
    >>> source = DaskColumns(dask.array.ones((4, 6), chunks=(2, 3)))
    >>> source.over_chunks(lambda chunk, rows, columns: chunk.size, sum)
    [(slice(0, 3, None), 12), (slice(3, 6, None), 12)]
    """

    origin = "the dask array"

    def __init__(self, array: Any) -> None:
        if array.ndim != 2:
            raise ValueError(f"X is a dask array of {array.ndim} dimensions: two are needed.")
        if array.dtype.kind not in "biuf":
            raise TypeError(
                f"X is a dask array of {array.dtype}, which are not numbers: encode its columns, "
                "or convert it with X.astype(float)."
            )
        if np.isnan(array.shape).any():
            raise ValueError(
                "X is a dask array whose numbers of rows or columns are not known: call "
                "X.compute_chunk_sizes() first."
            )
        if 0 in array.shape:
            raise ValueError(f"X is a dask array of shape {array.shape}: it has no values.")
        self.array = _without_empty_chunks(array)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        n, p = self.array.shape
        return int(n), int(p)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the values."""
        dtype: np.dtype[Any] = self.array.dtype
        return dtype

    def _read(self, columns: slice | Ints) -> NDArray[Any]:
        return np.asarray(self.array[:, columns].compute())

    @property
    def has_whole_columns(self) -> bool:
        """Whether no chunk ends before the last row."""
        return len(self.row_chunks) == 1

    @cached_property
    def row_chunks(self) -> list[slice]:
        """The rows of the chunks."""
        return _slices(self.array.chunks[0])

    @cached_property
    def column_chunks(self) -> list[slice]:
        """The columns of the chunks."""
        return _slices(self.array.chunks[1])

    def with_whole_columns(self) -> "DaskColumns":
        """Return the same array in chunks of whole columns, unchanged where it has them.

        Otherwise the workers exchange all of X once. dask's setting ``array.chunk-size`` then
        limits the number of columns of a chunk.
        """
        if self.has_whole_columns:
            return self
        return DaskColumns(self.array.rechunk({0: -1, 1: "auto"}))

    def take_chunks(self, which: list[int]) -> tuple[Ints, "DaskColumns"]:
        """Return the numbers of the columns of some column chunks, and these columns."""
        numbers = [np.arange(*self.column_chunks[j].indices(self.shape[1])) for j in which]
        return np.concatenate(numbers), DaskColumns(self.array.blocks[:, which])

    def over_chunks(
        self, work: Work[_T], merge: Callable[[list[_T]], _T]
    ) -> list[tuple[slice, _T]]:
        """Process every chunk where it is; return the result for each chunk of columns.

        Parameters
        ----------
        work : callable
            ``work(chunk, rows, columns)``, where the slices locate the chunk in X.
        merge : callable
            Merges the results of the same columns, in the order of their rows. It runs on a worker
            too, so that the amount of data sent does not depend on the number of rows.
        """
        dask = import_module("dask")
        work_there, merge_there = (_to_be_sent(dask, call) for call in (work, merge))
        apply, unite = dask.delayed(_apply, pure=False), dask.delayed(_unite, pure=False)
        results = []
        for columns, pieces in zip(self.column_chunks, self.array.to_delayed().T, strict=True):
            placed = zip(self.row_chunks, pieces, strict=True)
            parts = [apply(work_there, piece, rows, columns) for rows, piece in placed]
            results.append(parts[0] if len(parts) == 1 else unite(merge_there, parts))
        return list(zip(self.column_chunks, dask.compute(*results, traverse=False), strict=True))


def _to_be_sent(dask: Any, call: Any) -> Any:
    """Return a call as it is, to be sent with each chunk, or as a task, sent once, if it is large.

    It is large where it contains the responses of many cases.
    """
    small = len(import_module("cloudpickle").dumps(call)) <= _SENT_WITH_EACH
    return call if small else dask.delayed(call, traverse=False)


def _without_empty_chunks(array: Any) -> Any:
    """Return an array without the chunks of size zero that a filter leaves."""
    chunks = tuple(tuple(size for size in sizes if size) for sizes in array.chunks)
    return array if chunks == array.chunks else array.rechunk(chunks)


def _slices(sizes: tuple[int, ...]) -> list[slice]:
    """Return the slices of consecutive pieces of these sizes.

    >>> _slices((3, 2))
    [slice(0, 3, None), slice(3, 5, None)]
    """
    ends = np.concatenate([[0], np.cumsum(sizes)]).tolist()
    return [slice(start, stop) for start, stop in pairwise(ends)]


def _apply(work: Work[_T], chunk: Any, rows: slice, columns: slice) -> _T:
    values = np.asarray(chunk)
    expected = (rows.stop - rows.start, columns.stop - columns.start)
    if values.shape != expected:
        raise SourceError(
            f"the dask array: the chunk of rows {rows.start} to {rows.stop} and columns "
            f"{columns.start} to {columns.stop} is {type(chunk).__name__} of shape "
            f"{values.shape}, where a dense array of shape {expected} was expected."
        )
    return work(values, rows, columns)


def _unite(merge: Callable[[list[_T]], _T], parts: list[_T]) -> _T:
    return merge(parts)


def only(parts: list[_T]) -> _T:
    """Return the only part: whole columns need no merging."""
    (part,) = parts
    return part
