"""One pass over real-valued columns: means and sums of squares, by class or along a response.

`block_sums`, `class_sums` and `line_sums` hold the sums over one block. This module
runs them over all blocks, in threads or on workers.
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
from unselected.statistics.adjusted_moments import AdjustedMoments
from unselected.statistics.adjusted_sums import AdjustedSums
from unselected.statistics.block_sums import BlockSums, M
from unselected.statistics.class_sums import ClassSums
from unselected.statistics.design import Design
from unselected.statistics.line_sums import LineSums
from unselected.statistics.moments import ClassMoments, LineMoments
from unselected.statistics.scored_sums import ScoredMoments, ScoredSums

_T = TypeVar("_T")
# A function of the moments of some columns, and of which columns of the table they are.
Then = Callable[[M, ColumnSubset], _T]


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


def _as_it_is(moments: M, subset: ColumnSubset) -> M:  # noqa: ARG001
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
    return _over_blocks(X, ClassSums(y, n_classes), label, then, X.shape[0] * X.shape[1])


def over_scored_moments(
    X: Columns, sums: ScoredSums, label: ColumnNamer, then: Then[ScoredMoments, _T]
) -> Iterator[_T]:
    """Compute the moments and scores of complete columns, as `over_class_moments` does."""
    # The sums of a `ScoredSums` are `ScoredMoments`, which their type does not say.
    return _over_blocks(X, sums, label, then, X.shape[0] * X.shape[1])  # type: ignore[arg-type]


def over_line_moments(
    X: Columns, y: Floats, label: ColumnNamer, then: Then[LineMoments, _T]
) -> Iterator[_T]:
    """Compute the moments with a real response, as `over_class_moments` does by class."""
    return _over_blocks(X, LineSums(y), label, then, X.shape[0] * X.shape[1])


def over_adjusted_moments(
    X: Columns, design: Design, label: ColumnNamer, then: Then[AdjustedMoments, _T]
) -> Iterator[_T]:
    """Compute the moments given covariates, as `over_class_moments` does by class."""
    sums = AdjustedSums(design, design.n_contrasts)
    return _over_blocks(X, sums, label, then, X.shape[0] * X.shape[1])


def _over_blocks(
    X: Columns, sums: BlockSums[M], label: ColumnNamer, then: Then[M, _T], n_values: int
) -> Iterator[_T]:
    """Yield results of ``then``; ``n_values``, of the whole table, says whether to compile."""
    p = X.shape[1]
    if isinstance(X, SparseColumns):
        yield then(sums.of_sparse(X, label), ColumnSubset.everyone(p))
        return
    if isinstance(X, DaskColumns):
        work = partial(_chunk, sums=sums, label=label, then=then, n_values=n_values, p=p)
        yield from (part for _, part in X.with_whole_columns().over_chunks(work, only))
        return

    def work_here(columns: slice) -> _T:
        moments = sums.block(X[:, columns], shifted(label, columns.start), n_values)
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
    sums: BlockSums[M],
    label: ColumnNamer,
    then: Then[M, _T],
    n_values: int,
    p: int,
) -> _T:
    """Return the result of ``then`` for a chunk of whole columns, on a worker."""
    with in_one_thread():
        here = shifted(label, columns.start)
        parts = list(_over_blocks(chunk, sums, here, _as_it_is, n_values))
    moments = type(parts[0]).united(parts)
    return then(moments, ColumnSubset(np.arange(columns.start, columns.stop), p))
