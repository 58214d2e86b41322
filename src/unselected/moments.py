"""One pass over real-valued columns: means and sums of squares, and the contrasts in them.

A feature is modelled as x = mu + phi(y)' w + noise, where phi codes the response: one entry for
each class, or y itself. What the cases say of it is its mean, the size of each contrast in it that
the response can explain, and the sum of squares that is left.

Every sum is taken of differences from one of the column's own values, and squares are summed after
their mean is taken off, so that nothing cancels. Rows are added one after the other, so that equal
columns get equal sums, wherever they stand.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unselected.columns import (
    Columns,
    Label,
    check_finite,
    copied_blocks,
    in_threads,
    picked,
    shifted,
)
from unselected.dask_columns import DaskColumns, only
from unselected.quadrature import Floats
from unselected.sources import SparseColumns
from unselected.tables import Ints

# Sums of squares beyond these lose digits, or all of them.
_SMALLEST, _LARGEST = 1e-280, 1e280
_FIRST = np.array([0])
# The fields of `LineMoments` that have an entry for each column.
_LINE_ARRAYS = ("n", "center", "offset", "y_mean", "syy", "sxy", "within")


@dataclass(frozen=True)
class Contrasts:
    """What the cases say of k features, in q orthogonal contrasts of the response's code.

    Given tau, beta_i ~ N(0, s^2 (1 + tau^2 lam_i)) and within / s^2 ~ chi^2 with n - 1 - q degrees
    of freedom, all independent.

    Attributes
    ----------
    n : array of shape (k,)
        Known values.
    mean : array of shape (k,)
    lam, beta : arrays of shape (k, q)
        ``lam`` has one row only where it is the same for all features.
    within : array of shape (k,)
    axes : array of shape (k, d, q), or (1, d, q)
        A case with the code phi has the coordinates (phi - code_mean) axes.
    code_mean : array of shape (k, d), or (1, d)
    """

    n: Floats
    mean: Floats
    lam: Floats
    beta: Floats
    within: Floats
    axes: Floats
    code_mean: Floats

    @property
    def varying(self) -> NDArray[np.bool_]:
        """Which features are not constant; a constant one says nothing."""
        return np.asarray(self.within + np.sum(self.beta**2, axis=1) > 0.0)

    def take(self, which: NDArray[np.bool_]) -> "Contrasts":
        """Return the contrasts of some features."""
        shared = (self.lam, self.axes, self.code_mean)
        lam, axes, code_mean = (array if len(array) == 1 else array[which] for array in shared)
        own = (self.beta[which], self.within[which])
        return Contrasts(self.n[which], self.mean[which], lam, *own, axes, code_mean)

    def squares(self, u: Floats) -> Floats:
        """Return what stands for the sums of squares given tau^2 = u, shape (nodes, k).

        within + sum_i beta_i^2 / (1 + u lam_i): the more tau explains, the less a contrast counts.
        """
        squares = np.broadcast_to(self.within, (u.size, self.within.size)).copy()
        for lam, beta in zip(self.lam.T, self.beta.T, strict=True):
            squares += beta**2 / (1.0 + np.multiply.outer(u, lam))
        return squares

    def coordinates(self, code: Floats) -> Floats:
        """Return the coordinates of a code (d,) among the contrasts, shape (k or 1, q)."""
        return np.asarray(np.einsum("kd,kdq->kq", code - self.code_mean, self.axes))


@dataclass(frozen=True)
class ClassMoments:
    """Means by class of p columns, and the sums of squares within classes.

    Attributes
    ----------
    sizes : array of shape (G,)
        Cases of each class.
    n : array of shape (G, p), or (G, 1) where no value is missing
        Known values of each class.
    center : array of shape (p,)
        A value near which the column's values lie.
    offset : array of shape (G, p)
        Class means less ``center``.
    within : array of shape (p,)
    """

    sizes: Ints
    n: Ints
    center: Floats
    offset: Floats
    within: Floats

    @property
    def size(self) -> int:
        """The number of columns."""
        return self.center.size

    @property
    def complete(self) -> bool:
        """Whether no value is missing, so that ``n`` is the same for all columns."""
        return self.n.shape[1] == 1 and bool(np.all(self.n[:, 0] == self.sizes))

    @property
    def between(self) -> Floats:
        """The sums of squares between classes."""
        off = self.offset - self._grand_offset
        return np.asarray(np.sum(self.n * off**2, axis=0))

    @property
    def _grand_offset(self) -> Floats:
        return np.asarray(np.sum(self.n * self.offset, axis=0) / self.n.sum(axis=0))

    def take(self, columns: Ints) -> "ClassMoments":
        """Return the moments of some columns."""
        return ClassMoments(
            self.sizes,
            self.n if self.complete else self.n[:, columns],
            self.center[columns],
            self.offset[:, columns],
            self.within[columns],
        )

    def patterns(self) -> tuple[Ints, Ints]:
        """Return the distinct class counts (m, G), those of complete columns first, and whose.

        The second array says which of them each column has.
        """
        if self.complete:
            return self.sizes[np.newaxis, :], np.zeros(self.size, dtype=np.intp)
        return distinct_rows(np.vstack([self.sizes, self.n.T]))

    def contrasts(self) -> Contrasts:
        """Return the contrasts between classes: the code of a class is a unit vector."""
        counts, pattern_of = self.patterns()
        if self.complete:
            pattern_of = pattern_of[:1]
        lam, directions = class_axes(counts)
        n = counts.sum(axis=1, keepdims=True)
        roots = np.sqrt(counts)[:, :, np.newaxis]
        axes = roots * directions / np.sqrt(lam)[:, np.newaxis, :]
        towards = (roots * directions)[pattern_of]
        return Contrasts(
            n=np.broadcast_to(n[pattern_of, 0].astype(np.float64), (self.size,)),
            mean=self.center + self._grand_offset,
            lam=lam[pattern_of],
            beta=np.einsum(
                "gk,kgq->kq", self.offset, np.broadcast_to(towards, (self.size, *towards.shape[1:]))
            ),
            within=self.within,
            axes=axes[pattern_of],
            code_mean=(counts / n)[pattern_of],
        )


def class_axes(counts: Ints) -> tuple[Floats, Floats]:
    """Return lam (m, G - 1) and orthonormal directions (m, G, G - 1) for class counts (m, G).

    They diagonalize P diag(n_g) P, P the projection orthogonal to sqrt(n_g): with all counts equal
    lam is that count, with two classes it is 2 n0 n1 / n.

    >>> class_axes(np.array([[3, 6]]))[0].round(12).tolist()
    [[4.0]]
    """
    G = counts.shape[1]
    unit = np.sqrt(counts / counts.sum(axis=1, keepdims=True))
    projection = np.eye(G) - unit[:, :, np.newaxis] * unit[:, np.newaxis, :]
    matrix = projection * counts[:, np.newaxis, :] @ projection
    lam, directions = np.linalg.eigh(0.5 * (matrix + matrix.transpose(0, 2, 1)))
    return lam[:, 1:], directions[:, :, 1:]  # the first eigenvalue is 0, of sqrt(n_g) itself


@dataclass(frozen=True)
class LineMoments:
    """Means and sums of squares and products of p columns with a real response y.

    Attributes
    ----------
    unit : float
        Standard deviation of the response, of all cases (divisor n): the unit of a slope.
    n : array of shape (p,)
        Known values; the response below is that of the cases with known values.
    center, offset : arrays of shape (p,)
        The mean of a column is ``center + offset``.
    y_mean, syy : arrays of shape (p,)
        Mean of the response and its sum of squares.
    sxy : array of shape (p,)
    within : array of shape (p,)
        The sum of squares left by the line.
    complete : tuple of int and float
        ``n`` and ``syy`` of a column without missing values.
    """

    unit: float
    n: Ints
    center: Floats
    offset: Floats
    y_mean: Floats
    syy: Floats
    sxy: Floats
    within: Floats
    complete: tuple[int, float]

    @property
    def size(self) -> int:
        """The number of columns."""
        return self.center.size

    @property
    def between(self) -> Floats:
        """The sums of squares that the lines explain."""
        return np.asarray(self.sxy**2 / self.syy)

    def take(self, columns: Ints) -> "LineMoments":
        """Return the moments of some columns."""
        arrays = {name: getattr(self, name)[columns] for name in _LINE_ARRAYS}
        return replace(self, **arrays)

    def patterns(self) -> tuple[Floats, Ints]:
        """Return the distinct (n, syy), that of complete columns first, and whose they are."""
        if np.all(self.n == self.complete[0]):
            return np.array([self.complete], dtype=np.float64), np.zeros(self.size, dtype=np.intp)
        return distinct_rows(np.vstack([self.complete, np.column_stack([self.n, self.syy])]))

    def contrasts(self) -> Contrasts:
        """Return the one contrast, along y; the code of a case is y in units of its deviation."""
        return Contrasts(
            n=self.n.astype(np.float64),
            mean=self.center + self.offset,
            lam=(self.syy / self.unit**2)[:, np.newaxis],
            beta=(self.sxy / np.sqrt(self.syy))[:, np.newaxis],
            within=self.within,
            axes=np.ones((1, 1, 1)),
            code_mean=(self.y_mean / self.unit)[:, np.newaxis],
        )


def distinct_rows(rows: NDArray[Any]) -> tuple[NDArray[Any], Ints]:
    """Return the distinct rows, the first given first, and which of them each later row is.

    >>> rows, which = distinct_rows(np.array([[5, 5], [3, 4], [5, 5], [3, 4]]))
    >>> rows.tolist(), which.tolist()
    ([[5, 5], [3, 4]], [1, 0, 1])
    """
    values, where = np.unique(rows, axis=0, return_inverse=True)
    where = where.ravel()
    order = np.argsort(np.arange(len(values)) != where[0], kind="stable")
    place = np.empty_like(order)
    place[order] = np.arange(order.size)
    return values[order], place[where[1:]]


def class_moments(
    X: Columns, y: NDArray[np.intp], n_classes: int, label: Label = "column {}".format
) -> ClassMoments:
    """Return the moments of all columns by class, in one pass; NaN is a missing value.

    Parameters
    ----------
    X : array or source of shape (n, p)
        Booleans, integers or floats, in any memory order; it is not copied. The moments of a
        dask array are taken where its chunks are; where they do not have all rows, its workers
        exchange all of X once.
    y : array of shape (n,)
        0 to G - 1.
    label : callable
        Names a column in an error.

    Examples
    --------
    >>> moments = class_moments(np.array([[1.0], [3.0], [7.0]]), np.array([0, 0, 1]), 2)
    >>> (moments.center + moments.offset).tolist(), moments.within.tolist()
    ([[2.0], [7.0]], [2.0])
    """
    if isinstance(X, SparseColumns):
        return _sparse_class_moments(X, y, n_classes, label)
    if isinstance(X, DaskColumns):
        return _class_moments_on_workers(X, y, n_classes, label)
    order = np.argsort(y, kind="stable")
    sizes = np.bincount(y, minlength=n_classes)
    blocks = copied_blocks(X)
    results = in_threads(
        lambda columns: _class_block(X[:, columns], order, sizes, shifted(label, columns.start)),
        blocks,
    )
    return _united(zip(blocks, results, strict=True), sizes, X.shape[1])


def _class_moments_on_workers(
    X: DaskColumns, y: NDArray[np.intp], n_classes: int, label: Label
) -> ClassMoments:
    """Return the moments of a dask array by class, from chunks of whole columns."""
    work = partial(_class_chunk, y=y, n_classes=n_classes, label=label)
    parts = X.with_whole_columns().over_chunks(work, only)
    return _united(parts, np.bincount(y, minlength=n_classes), X.shape[1])


def _class_chunk(
    chunk: NDArray[Any],
    rows: slice,
    columns: slice,
    *,
    y: NDArray[np.intp],
    n_classes: int,
    label: Label,
) -> ClassMoments:
    return class_moments(chunk, y[rows], n_classes, shifted(label, columns.start))


def _united(blocks: Iterable[tuple[slice, ClassMoments]], sizes: Ints, p: int) -> ClassMoments:
    """Return the moments of all columns from those of blocks."""
    G = sizes.size
    whole = ClassMoments(
        sizes, sizes[:, np.newaxis].copy(), np.empty(p), np.empty((G, p)), np.empty(p)
    )
    for columns, block in blocks:
        whole = _with_columns(whole, columns, block)
    return whole


def _with_columns(
    whole: ClassMoments, columns: slice | NDArray[np.intp], block: ClassMoments
) -> ClassMoments:
    """Write the moments of some columns into those of all; ``n`` grows once values are missing."""
    if not block.complete:
        if whole.n.shape[1] < whole.size:
            whole = replace(whole, n=np.repeat(whole.n, whole.size, axis=1))
        whole.n[:, columns] = block.n
    whole.center[columns], whole.offset[:, columns] = block.center, block.offset
    whole.within[columns] = block.within
    return whole


def _sparse_class_moments(
    X: SparseColumns, y: NDArray[np.intp], n_classes: int, label: Label
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
        moments = _with_columns(moments, columns, block)
    return moments


def _to_be_made_dense(X: SparseColumns, squares: Floats) -> list[NDArray[np.intp]]:
    """Return the columns, a few at a time, whose sums over stored values do not tell all."""
    small = (squares < _SMALLEST) & (squares != 0.0)
    others = np.flatnonzero(~X.has_zeros | ~(squares < _LARGEST) | small)
    width = copied_blocks(X)[0].stop
    return [others[start : start + width] for start in range(0, others.size, width)]


@np.errstate(over="ignore", invalid="ignore")
def _class_block(X: NDArray[Any], order: Ints, sizes: Ints, label: Label) -> ClassMoments:
    """Return the moments of a block; ``order`` sorts its rows by class."""
    if X.shape[1] == 1:
        return _class_block(_in_company(X), order, sizes, label).take(_FIRST)
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


def line_moments(X: Columns, y: Floats, label: Label = "column {}".format) -> LineMoments:
    """Return the moments of all columns with a real response, in one pass; NaN is missing.

    Examples
    --------
    >>> moments = line_moments(np.array([[1.0], [3.0], [8.0]]), np.array([0.0, 1.0, 2.0]))
    >>> moments.sxy.tolist(), moments.within.round(12).tolist()
    ([7.0], [1.5])
    """
    if isinstance(X, SparseColumns):
        return _sparse_line_moments(X, y, label)
    if isinstance(X, DaskColumns):
        return _line_moments_on_workers(X, y, label)
    blocks = copied_blocks(X)
    results = in_threads(
        lambda columns: _line_block(X[:, columns], y, shifted(label, columns.start)), blocks
    )
    return _in_a_row(list(results))


def _in_a_row(parts: list[LineMoments]) -> LineMoments:
    arrays: dict[str, Any] = {
        name: np.concatenate([getattr(part, name) for part in parts]) for name in _LINE_ARRAYS
    }
    return replace(parts[0], **arrays)


def _line_moments_on_workers(X: DaskColumns, y: Floats, label: Label) -> LineMoments:
    """Return the moments of a dask array with a real response, from chunks of whole columns."""
    work = partial(_line_chunk, y=y, label=label)
    return _in_a_row([part for _, part in X.with_whole_columns().over_chunks(work, only)])


def _line_chunk(
    chunk: NDArray[Any],
    rows: slice,
    columns: slice,
    *,
    y: Floats,
    label: Label,
) -> LineMoments:
    return line_moments(chunk, y[rows], shifted(label, columns.start))


def _sparse_line_moments(X: SparseColumns, y: Floats, label: Label) -> LineMoments:
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
        for name in _LINE_ARRAYS:
            getattr(moments, name)[columns] = getattr(block, name)
    return moments


@np.errstate(over="ignore", invalid="ignore")
def _line_block(X: NDArray[Any], y: Floats, label: Label) -> LineMoments:
    if X.shape[1] == 1:
        return _line_block(_in_company(X), y, label).take(_FIRST)
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


def _check_differences(D: Floats, X: NDArray[Any], label: Label) -> None:
    """Raise where the differences are infinite because a value is."""
    if not np.isfinite(D.sum()):
        check_finite(X, label, missing_allowed=True)


def _check_known(n: Ints, label: Label) -> None:
    """Raise where a class has no known value, or all classes have one only."""
    empty = np.any(n == 0, axis=0)
    if empty.any():
        raise ValueError(
            f"{label(int(np.argmax(empty)))} is missing in every case of a class, so that it says "
            "nothing of that class: drop the column, or fill in its values."
        )
    _check_enough(n.sum(axis=0) - len(n) + 2, label)


def _check_enough(n: Ints, label: Label) -> None:
    few = n < 3
    if few.any():
        raise ValueError(
            f"{label(int(np.argmax(few)))} has too few known values to tell its spread: drop the "
            "column, or fill in its values."
        )


def _check_spread(syy: Floats, syy_all: float, label: Label) -> None:
    same = syy <= 1e-12 * syy_all
    if same.any():
        raise ValueError(
            f"{label(int(np.argmax(same)))} is known only for cases with the same response: drop "
            "the column, or fill in its values."
        )


def _check_size(squares: Floats, X: NDArray[Any], label: Label) -> None:
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
