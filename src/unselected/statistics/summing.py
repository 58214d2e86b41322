"""One pass over real-valued columns: means and sums of squares, by class or along a response.

Every sum is taken of differences from one of the column's own values, and squares are summed after
their mean is taken off, so that nothing cancels; the compiled sums of large tables take it off
afterwards, and are taken again as above where that costs digits. Rows are added one after the
other, so that equal columns get equal sums, wherever they stand.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, TypeVar

import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from unselected._typing import ColumnNamer, Floats, Ints
from unselected.columns.blocks import (
    Columns,
    blocks_in_place,
    check_finite,
    copied_blocks,
    has_solid_rows,
    in_one_thread,
    in_threads,
    picked,
    shifted,
)
from unselected.columns.dask import DaskColumns, only
from unselected.columns.sources import SparseColumns
from unselected.columns.subset import ColumnSubset
from unselected.numerics.kernels import kernels_for
from unselected.statistics.moments import ClassMoments, LineMoments

_T = TypeVar("_T")
_M = TypeVar("_M", ClassMoments, LineMoments)
# What is done with the moments of some columns, which are these of the table.
Then = Callable[[_M, ColumnSubset], _T]
# Returns the moments of a block; the names of its columns are for errors.
_Block = Callable[[NDArray[Any], ColumnNamer], _M]

# Sums of squares beyond these lose digits, or all of them.
_SMALLEST, _LARGEST = 1e-280, 1e280
_FIRST = np.array([0])
# Where taking off the mean afterwards leaves less than this of the squares, three digits are lost.
_FEW_DIGITS = 1e-3


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
    """Take the moments by class, a block of columns at a time, and yield what is made of them.

    Parameters
    ----------
    X : array or source of shape (n, p)
        Booleans, integers or floats, in any memory order; it is not copied. The moments of a
        dask array are taken where its chunks are; where they do not have all rows, its workers
        exchange all of X once.
    y : array of shape (n,)
        0 to ``n_classes`` - 1.
    label : callable
        Names a column in an error.
    then : callable
        ``then(moments, subset)`` runs where the sums were taken, in a thread or on a worker.
    """
    if isinstance(X, SparseColumns):
        yield then(_sparse_class_moments(X, y, n_classes, label), ColumnSubset.everyone(X.shape[1]))
        return
    order, sizes = np.argsort(y, kind="stable"), np.bincount(y, minlength=n_classes)
    n_values = X.shape[0] * X.shape[1]
    block: _Block[ClassMoments] = partial(
        _class_block_of, order=order, sizes=sizes, n_values=n_values
    )
    yield from _over_blocks(X, block, label, then, ClassMoments.united)


def over_line_moments(
    X: Columns, y: Floats, label: ColumnNamer, then: Then[LineMoments, _T]
) -> Iterator[_T]:
    """Take the moments with a real response, as `over_class_moments` does by class."""
    if isinstance(X, SparseColumns):
        yield then(_sparse_line_moments(X, y, label), ColumnSubset.everyone(X.shape[1]))
        return
    block: _Block[LineMoments] = partial(_line_block_of, y=y, n_values=X.shape[0] * X.shape[1])
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
    """Make on a worker what is needed of the moments of a chunk of whole columns."""
    with in_one_thread():
        here = shifted(label, columns.start)
        parts = list(_over_blocks(chunk, block, here, _as_it_is, unite))
    return then(unite(parts), ColumnSubset(np.arange(columns.start, columns.stop), p))


@np.errstate(over="ignore", invalid="ignore")
def _class_block_of(
    X: NDArray[Any], label: ColumnNamer, *, order: Ints, sizes: Ints, n_values: int
) -> ClassMoments:
    """Return the moments of a block by the compiled sums where the table is worth it."""
    kernels = kernels_for(n_values)
    if kernels is None:
        return class_block(X, order, sizes, label)
    rows, n = _rows_of_numbers(X), sizes[:, np.newaxis]
    center = rows[order[0]].astype(np.float64)
    total, squares = np.zeros((2, sizes.size, center.size))
    flat, starts = _in_memory(rows)
    kernels.sum_rows(flat, starts[order], sizes, center, total, squares)
    offset = total / n
    within = np.sum(squares - n * offset**2, axis=0)
    moments = ClassMoments(sizes, n, center, offset, within)
    others = _not_told(np.sum(squares, axis=0), within)
    if others.size:
        exact = class_block(X[:, others], order, sizes, picked(label, others))
        moments = moments.with_columns(others, exact)
    return moments


@np.errstate(over="ignore", invalid="ignore")
def _line_block_of(X: NDArray[Any], label: ColumnNamer, *, y: Floats, n_values: int) -> LineMoments:
    """Return the moments of a block by the compiled sums where the table is worth it."""
    kernels = kernels_for(n_values)
    if kernels is None:
        return line_block(X, y, label)
    rows, (n, width), y_mean = _rows_of_numbers(X), X.shape, y.mean()
    center, Y = rows[0].astype(np.float64), y - y_mean
    total, squares, sxy = np.zeros((3, width))
    kernels.sum_products(*_in_memory(rows), Y, center, total, squares, sxy)
    offset, syy = total / n, float(np.sum(np.square(Y)))
    within = squares - n * offset**2 - sxy**2 / syy
    moments = LineMoments(
        unit=float(np.sqrt(syy / n)),
        n=np.full(width, n),
        center=center,
        offset=offset,
        y_mean=np.full(width, y_mean),
        syy=np.full(width, syy),
        sxy=sxy,
        within=within,
        complete=(n, syy),
    )
    others = _not_told(squares, within)
    if others.size:
        exact = line_block(X[:, others], y, picked(label, others))
        moments = moments.with_columns(others, exact)
    return moments


def _rows_of_numbers(X: NDArray[Any]) -> NDArray[Any]:
    """Return rows that lie in memory as the compiled sums take them, copied only where needed."""
    numbers = X.view(np.uint8) if X.dtype == np.bool_ else X
    return numbers if has_solid_rows(numbers) else np.ascontiguousarray(numbers)


def _in_memory(rows: NDArray[Any]) -> tuple[NDArray[Any], Ints]:
    """Return the stretch of memory in which rows lie, and where in it each of them begins."""
    step, rest = divmod(rows.strides[0], rows.itemsize)
    if step < 0 or rest or len(rows) == 1:
        rows = np.ascontiguousarray(rows)
        step = rows.shape[1]
    length = (len(rows) - 1) * step + rows.shape[1]
    flat = as_strided(rows, shape=(length,), strides=(rows.itemsize,), writeable=False)
    return flat, step * np.arange(len(rows))


def _not_told(squares: Floats, within: Floats) -> Ints:
    """Return the columns that the compiled sums do not tell well, or not at all.

    They have missing values, or squares that cancel or are too large or too small.
    """
    told = (within > _FEW_DIGITS * squares) & (within > _SMALLEST) & (squares < _LARGEST)
    return np.flatnonzero(~told)


@np.errstate(over="ignore", invalid="ignore")
def class_block(X: NDArray[Any], order: Ints, sizes: Ints, label: ColumnNamer) -> ClassMoments:
    """Return the moments of a block; ``order`` sorts its rows by class."""
    if X.shape[1] == 1:
        return class_block(_in_company(X), order, sizes, label).take(_FIRST)
    center, D = _centred(np.take(X, order, axis=0))
    _check_differences(D, X, label)
    ends = np.cumsum(sizes)
    groups = [slice(end - size, end) for end, size in zip(ends, sizes, strict=True)]
    n = sizes[:, np.newaxis]
    missing = np.isnan(D) if np.isnan(D.sum()) else None
    if missing is not None:
        n = np.stack(
            [size - missing[rows].sum(axis=0) for rows, size in zip(groups, sizes, strict=True)]
        )
        _check_known(n, label)
        D[missing] = 0.0
    offset = np.stack([D[rows].sum(axis=0) for rows in groups]) / n
    for rows, mean in zip(groups, offset, strict=True):
        D[rows] -= mean
    if missing is not None:
        D[missing] = 0.0
    moments = ClassMoments(sizes, n, center, offset, np.square(D, out=D).sum(axis=0))
    _check_size(moments.between + moments.within, X, label)
    return moments


def _sparse_class_moments(
    X: SparseColumns, y: NDArray[np.intp], n_classes: int, label: ColumnNamer
) -> ClassMoments:
    """Return the moments by class from the stored values alone.

    A column that has a zero is measured from there. The others, and those with missing values, are
    made dense.
    """
    sizes = np.bincount(y, minlength=n_classes)
    in_class = [(y == g).astype(np.float64) for g in range(n_classes)]
    with np.errstate(over="ignore", invalid="ignore"):
        sums = np.stack([X.sums(weights, 1) for weights in in_class])
        offset = sums / sizes[:, np.newaxis]
        squares = X.sums(np.ones(y.size), 2) - np.sum(sums * offset, axis=0)
    n, p = sizes[:, np.newaxis].copy(), X.shape[1]
    moments = ClassMoments(sizes, n, np.zeros(p), offset, np.maximum(squares, 0.0))
    for columns in _to_be_made_dense(X, moments.between + moments.within):
        block = class_moments(X[:, columns], y, n_classes, picked(label, columns))
        moments = moments.with_columns(columns, block)
    return moments


def _to_be_made_dense(X: SparseColumns, squares: Floats) -> list[NDArray[np.intp]]:
    """Return the columns, a few at a time, whose sums over stored values do not tell all."""
    small = (squares < _SMALLEST) & (squares != 0.0)
    others = np.flatnonzero(~X.has_zeros | ~(squares < _LARGEST) | small)
    width = copied_blocks(X)[0].stop
    return [others[start : start + width] for start in range(0, others.size, width)]


def _sparse_line_moments(X: SparseColumns, y: Floats, label: ColumnNamer) -> LineMoments:
    """Return the moments with a real response from the stored values, as for classes."""
    (n, p), y_mean = X.shape, float(y.mean())
    centred = y - y_mean
    syy = float(centred @ centred)
    with np.errstate(over="ignore", invalid="ignore"):
        sums, sxy = X.sums(np.ones(n), 1), X.sums(centred, 1)
        within = X.sums(np.ones(n), 2) - sums**2 / n - sxy**2 / syy
    moments = LineMoments(
        unit=float(np.sqrt(syy / n)),
        n=np.full(p, n),
        center=np.zeros(p),
        offset=sums / n,
        y_mean=np.full(p, y_mean),
        syy=np.full(p, syy),
        sxy=sxy,
        within=np.maximum(within, 0.0),
        complete=(n, syy),
    )
    for columns in _to_be_made_dense(X, moments.between + moments.within):
        block = line_moments(X[:, columns], y, picked(label, columns))
        moments = moments.with_columns(columns, block)
    return moments


@np.errstate(over="ignore", invalid="ignore")
def line_block(X: NDArray[Any], y: Floats, label: ColumnNamer) -> LineMoments:
    """Return the moments of a block with a real response."""
    if X.shape[1] == 1:
        return line_block(_in_company(X), y, label).take(_FIRST)
    center, D = _centred(X)
    _check_differences(D, X, label)
    n_all, width = X.shape
    y_all = y.mean()
    Y = (y - y_all)[:, np.newaxis]
    n: Any = np.full(width, n_all)
    syy_all = float(np.sum(np.square(Y)))
    y_shift, syy = np.zeros(width), np.full(width, syy_all)
    missing = np.isnan(D) if np.isnan(D.sum()) else None
    if missing is not None:
        known = ~missing
        n = known.sum(axis=0)
        _check_enough(n, label)
        D[missing] = 0.0
        # A complete column is summed as it is in a block where nothing is missing.
        y_shift = np.where(n == n_all, 0.0, (Y * known).sum(axis=0) / n)
        Y = np.where(known, Y - y_shift, 0.0)
        syy = np.where(n == n_all, syy_all, np.square(Y).sum(axis=0))
        _check_spread(syy, syy_all, label)
    offset = D.sum(axis=0) / n
    D -= offset
    if missing is not None:
        D[missing] = 0.0
    sxy = (D * Y).sum(axis=0)
    D -= Y * (sxy / syy)
    within = np.square(D, out=D).sum(axis=0)
    moments = LineMoments(
        unit=float(np.sqrt(syy_all / n_all)),
        n=n,
        center=center,
        offset=offset,
        y_mean=y_all + y_shift,
        syy=syy,
        sxy=sxy,
        within=within,
        complete=(n_all, syy_all),
    )
    _check_size(moments.between + moments.within, X, label)
    return moments


def _in_company(X: NDArray[Any]) -> NDArray[Any]:
    """Return a column twice, for numpy adds the rows of a single one in another order."""
    return np.repeat(X, 2, axis=1)


def _centred(X: NDArray[Any]) -> tuple[Floats, Floats]:
    """Return a value of each column, and the differences of all values from it."""
    center = X[0].astype(np.float64)
    unknown = np.flatnonzero(np.isnan(center))
    if unknown.size:
        values = X[:, unknown].astype(np.float64)
        first = np.argmax(~np.isnan(values), axis=0)
        center[unknown] = values[first, np.arange(unknown.size)]
    return center, np.subtract(X, center, dtype=np.float64, order="C")


def _check_differences(D: Floats, X: NDArray[Any], label: ColumnNamer) -> None:
    """Raise where the differences are infinite because a value is."""
    if not np.isfinite(D.sum()):
        check_finite(X, label, missing_allowed=True)


def _check_known(n: Ints, label: ColumnNamer) -> None:
    """Raise where a class has no known value, or all classes have one only."""
    empty = np.any(n == 0, axis=0)
    if empty.any():
        raise ValueError(
            f"{label(int(np.argmax(empty)))} is missing in every case of a class, so that it says "
            "nothing of that class: drop the column, or fill in its values."
        )
    _check_enough(n.sum(axis=0) - len(n) + 2, label)


def _check_enough(n: Ints, label: ColumnNamer) -> None:
    few = n < 3
    if few.any():
        raise ValueError(
            f"{label(int(np.argmax(few)))} has too few known values to tell its spread: drop the "
            "column, or fill in its values."
        )


def _check_spread(syy: Floats, syy_all: float, label: ColumnNamer) -> None:
    same = syy <= 1e-12 * syy_all
    if same.any():
        raise ValueError(
            f"{label(int(np.argmax(same)))} is known only for cases with the same response: drop "
            "the column, or fill in its values."
        )


def _check_size(squares: Floats, X: NDArray[Any], label: ColumnNamer) -> None:
    """Raise where values are so far apart, or so close, that their squares lose digits."""
    wrong = ~(squares < _LARGEST)
    small = np.flatnonzero(squares < _SMALLEST)
    if small.size:
        values = X[:, small].astype(np.float64)
        wrong[small] = np.nanmin(values, axis=0) < np.nanmax(values, axis=0)
    if wrong.any():
        size = "large" if squares[np.argmax(wrong)] > 1.0 else "small"
        raise ValueError(
            f"{label(int(np.argmax(wrong)))} has values so {size} that their squares cannot be "
            "represented: measure it in another unit."
        )
