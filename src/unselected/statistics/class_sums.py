"""Sums of real-valued columns by class: of a block, compiled or not, and of stored values."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from unselected._typing import ColumnNamer, Ints
from unselected.columns.blocks import picked
from unselected.columns.sources import SparseColumns
from unselected.numerics.kernels import kernels_for
from unselected.statistics.differences import (
    FIRST,
    centred,
    check_differences,
    check_size,
    in_company,
    in_memory,
    not_told,
    rows_of_numbers,
    to_be_made_dense,
)
from unselected.statistics.moments import ClassMoments


@np.errstate(over="ignore", invalid="ignore")
def class_block_of(
    X: NDArray[Any], label: ColumnNamer, *, order: Ints, sizes: Ints, n_values: int
) -> ClassMoments:
    """Return the moments of a block, from compiled sums where the table is large enough."""
    kernels = kernels_for(n_values)
    if kernels is None:
        return class_block(X, order, sizes, label)
    rows, n = rows_of_numbers(X), sizes[:, np.newaxis]
    center = rows[order[0]].astype(np.float64)
    total, squares = np.zeros((2, sizes.size, center.size))
    flat, starts = in_memory(rows)
    kernels.sum_rows(flat, starts[order], sizes, center, total, squares)
    offset = total / n
    within = np.sum(squares - n * offset**2, axis=0)
    moments = ClassMoments(sizes, n, center, offset, within)
    others = not_told(np.sum(squares, axis=0), within)
    if others.size:
        exact = class_block(X[:, others], order, sizes, picked(label, others))
        moments = moments.with_columns(others, exact)
    return moments


@np.errstate(over="ignore", invalid="ignore")
def class_block(X: NDArray[Any], order: Ints, sizes: Ints, label: ColumnNamer) -> ClassMoments:
    """Return the moments of a block; ``order`` sorts its rows by class."""
    if X.shape[1] == 1:
        return class_block(in_company(X), order, sizes, label).take(FIRST)
    center, D = centred(np.take(X, order, axis=0))
    check_differences(D, X, label)
    ends = np.cumsum(sizes)
    groups = [slice(end - size, end) for end, size in zip(ends, sizes, strict=True)]
    n = sizes[:, np.newaxis]
    missing = np.isnan(D) if np.isnan(D.sum()) else None
    if missing is not None:
        n = np.stack(
            [size - missing[rows].sum(axis=0) for rows, size in zip(groups, sizes, strict=True)]
        )
        D[missing] = 0.0
    offset = np.stack([D[rows].sum(axis=0) for rows in groups]) / n
    for rows, mean in zip(groups, offset, strict=True):
        D[rows] -= mean
    if missing is not None:
        D[missing] = 0.0
    moments = ClassMoments(sizes, n, center, offset, np.square(D, out=D).sum(axis=0))
    check_size(moments, X, label)
    return moments


def sparse_class_moments(
    X: SparseColumns, y: NDArray[np.intp], n_classes: int, label: ColumnNamer
) -> ClassMoments:
    """Return the moments by class from the stored values alone.

    Differences in a column that has a zero are taken from zero. Columns without one, and columns
    with missing values, are made dense.
    """
    sizes = np.bincount(y, minlength=n_classes)
    in_class = [(y == g).astype(np.float64) for g in range(n_classes)]
    with np.errstate(over="ignore", invalid="ignore"):
        sums = np.stack([X.sums(weights, 1) for weights in in_class])
        offset = sums / sizes[:, np.newaxis]
        squares = X.sums(np.ones(y.size), 2) - np.sum(sums * offset, axis=0)
    n, p = sizes[:, np.newaxis].copy(), X.shape[1]
    moments = ClassMoments(sizes, n, np.zeros(p), offset, np.maximum(squares, 0.0))
    order = np.argsort(y, kind="stable")
    for columns in to_be_made_dense(X, moments.between + moments.within):
        values, names = X[:, columns], picked(label, columns)
        block = class_block_of(values, names, order=order, sizes=sizes, n_values=values.size)
        moments = moments.with_columns(columns, block)
    return moments
