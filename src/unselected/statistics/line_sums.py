"""Sums of real-valued columns with a real response: of a block, compiled or not, and sparse."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from unselected._typing import ColumnNamer, Floats
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
from unselected.statistics.moments import LineMoments


@np.errstate(over="ignore", invalid="ignore")
def line_block_of(X: NDArray[Any], label: ColumnNamer, *, y: Floats, n_values: int) -> LineMoments:
    """Return the moments of a block, from compiled sums where the table is large enough."""
    kernels = kernels_for(n_values)
    if kernels is None:
        return line_block(X, y, label)
    rows, (n, width), y_mean = rows_of_numbers(X), X.shape, y.mean()
    center, Y = rows[0].astype(np.float64), y - y_mean
    total, squares, sxy = np.zeros((3, width))
    kernels.sum_products(*in_memory(rows), Y, center, total, squares, sxy)
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
    others = not_told(squares, within)
    if others.size:
        exact = line_block(X[:, others], y, picked(label, others))
        moments = moments.with_columns(others, exact)
    return moments


@np.errstate(over="ignore", invalid="ignore")
def line_block(X: NDArray[Any], y: Floats, label: ColumnNamer) -> LineMoments:
    """Return the moments of a block with a real response."""
    if X.shape[1] == 1:
        return line_block(in_company(X), y, label).take(FIRST)
    center, D = centred(X)
    check_differences(D, X, label)
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
        D[missing] = 0.0
        # A complete column is summed as it is in a block where nothing is missing.
        y_shift = np.where(n == n_all, 0.0, (Y * known).sum(axis=0) / n)
        Y = np.where(known, Y - y_shift, 0.0)
        syy = np.where(n == n_all, syy_all, np.square(Y).sum(axis=0))
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
    check_size(moments, X, label)
    return moments


def sparse_line_moments(X: SparseColumns, y: Floats, label: ColumnNamer) -> LineMoments:
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
    for columns in to_be_made_dense(X, moments.between + moments.within):
        values, names = X[:, columns], picked(label, columns)
        block = line_block_of(values, names, y=y, n_values=values.size)
        moments = moments.with_columns(columns, block)
    return moments
