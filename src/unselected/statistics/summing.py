"""One pass over real-valued columns: means and sums of squares, by class or along a response.

`class_sums` and `line_sums` hold the sums over one block. This module runs them over all blocks, in
threads or on workers.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from unselected._typing import ColumnNamer, Floats
from unselected.columns.blocks import (
    Columns,
    blocks_in_place,
    copied_blocks,
    has_solid_rows,
    in_one_thread,
    in_threads,
    shifted,
)
from unselected.columns.dask import DaskColumns, only
from unselected.columns.sources import SparseColumns
from unselected.columns.subset import ColumnSubset
from unselected.numerics.kernels import kernels_for
from unselected.statistics.class_sums import class_block_of, sparse_class_moments
from unselected.statistics.line_sums import line_block_of, sparse_line_moments
from unselected.statistics.moments import ClassMoments, LineMoments

_T = TypeVar("_T")
_M = TypeVar("_M", ClassMoments, LineMoments)
# A function of the moments of some columns, and of which columns of the table they are.
Then = Callable[[_M, ColumnSubset], _T]
# Returns the moments of a block; the names of its columns are for errors.
_Block = Callable[[NDArray[Any], ColumnNamer], _M]


def class_moments(
    X: Columns, y: NDArray[np.intp], n_classes: int, label: ColumnNamer = "column {}".format
) -> ClassMoments:
    """Return the moments of all columns by class, in one pass; NaN is a missing value.

    Parameters
    ----------
    X, y, n_classes, label
        As in `over_class_moments`.

    Examples
    --------
    >>> moments = class_moments(np.array([[1.0], [3.0], [7.0]]), np.array([0, 0, 1]), 2)
    >>> (moments.center + moments.offset).tolist(), moments.within.tolist()
    ([[2.0], [7.0]], [2.0])
    """
    return ClassMoments.united(list(over_class_moments(X, y, n_classes, label, _as_it_is)))


def line_moments(X: Columns, y: Floats, label: ColumnNamer = "column {}".format) -> LineMoments:
    """Return the moments of all columns with a real response, in one pass; NaN is missing.

    Examples
    --------
    >>> moments = line_moments(np.array([[1.0], [3.0], [8.0]]), np.array([0.0, 1.0, 2.0]))
    >>> moments.sxy.tolist(), moments.within.round(12).tolist()
    ([7.0], [1.5])
    """
    return LineMoments.united(list(over_line_moments(X, y, label, _as_it_is)))


def _as_it_is(moments: _M, subset: ColumnSubset) -> _M:  # noqa: ARG001
    return moments


def over_class_moments(
    X: Columns,
    y: NDArray[np.intp],
    n_classes: int,
    label: ColumnNamer,
    then: Then[ClassMoments, _T],
) -> Iterator[_T]:
    """Compute the moments by class, a block of columns at a time, and yield results of ``then``.

    Parameters
    ----------
    X : array or source of shape (n, p)
        Booleans, integers or floats, in any memory order; it is not copied. The moments of a dask
        array are computed where its chunks are. Where chunks do not have all rows, the workers
        exchange all of X once.
    y : array of shape (n,)
        0 to ``n_classes`` - 1.
    label : callable
        Names a column in an error.
    then : callable
        ``then(moments, subset)`` runs where the sums were computed, in a thread or on a worker.
    """
    if isinstance(X, SparseColumns):
        yield then(sparse_class_moments(X, y, n_classes, label), ColumnSubset.everyone(X.shape[1]))
        return
    order, sizes = np.argsort(y, kind="stable"), np.bincount(y, minlength=n_classes)
    n_values = X.shape[0] * X.shape[1]
    block: _Block[ClassMoments] = partial(
        class_block_of, order=order, sizes=sizes, n_values=n_values
    )
    yield from _over_blocks(X, block, label, then, ClassMoments.united)


def over_line_moments(
    X: Columns, y: Floats, label: ColumnNamer, then: Then[LineMoments, _T]
) -> Iterator[_T]:
    """Compute the moments with a real response, as `over_class_moments` does by class."""
    if isinstance(X, SparseColumns):
        yield then(sparse_line_moments(X, y, label), ColumnSubset.everyone(X.shape[1]))
        return
    block: _Block[LineMoments] = partial(line_block_of, y=y, n_values=X.shape[0] * X.shape[1])
    yield from _over_blocks(X, block, label, then, LineMoments.united)


def _over_blocks(
    X: Columns,
    block: _Block[_M],
    label: ColumnNamer,
    then: Then[_M, _T],
    unite: Callable[[list[_M]], _M],
) -> Iterator[_T]:
    p = X.shape[1]
    if isinstance(X, DaskColumns):
        work = partial(_chunk, block=block, label=label, then=then, unite=unite, p=p)
        yield from (part for _, part in X.with_whole_columns().over_chunks(work, only))
        return

    def work_here(columns: slice) -> _T:
        moments = block(X[:, columns], shifted(label, columns.start))
        return then(moments, ColumnSubset(np.arange(columns.start, columns.stop), p))

    yield from in_threads(work_here, _blocks(X))


def _blocks(X: Columns) -> list[slice]:
    compiled = kernels_for(X.shape[0] * X.shape[1]) is not None
    if compiled and isinstance(X, np.ndarray) and has_solid_rows(X):
        return blocks_in_place(X)
    return copied_blocks(X)


def _chunk(
    chunk: NDArray[Any],
    rows: slice,  # noqa: ARG001
    columns: slice,
    *,
    block: _Block[_M],
    label: ColumnNamer,
    then: Then[_M, _T],
    unite: Callable[[list[_M]], _M],
    p: int,
) -> _T:
    """Return the result of ``then`` for a chunk of whole columns, on a worker."""
    with in_one_thread():
        here = shifted(label, columns.start)
        parts = list(_over_blocks(chunk, block, here, _as_it_is, unite))
    return then(unite(parts), ColumnSubset(np.arange(columns.start, columns.stop), p))
