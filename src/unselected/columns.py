"""One pass over the columns of a table: who is a one, and how many there are in each class.

This is the only step that sees all p features. Columns are walked in blocks, and nothing the size
of the table is ever copied.
"""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from unselected.dask_columns import DaskColumns, only
from unselected.quadrature import Floats
from unselected.sources import ColumnSource, SparseColumns

Binarize = Literal["auto", "median"] | float | None
Bits = NDArray[np.uint8]
Label = Callable[[int], str]
Columns = NDArray[Any] | ColumnSource
# Class counts (2, width) of some columns, and their cuts or one that all share.
_Counted = tuple[NDArray[Any], Floats]
_T = TypeVar("_T")

# Cut of a column that is 0/1 already.
AS_IS = 0.5

# Eight bytes of 1.
_ONE_EACH = np.uint64(0x0101010101010101)

# Bytes of a block: a row of it, with its sums, stays in the second-level cache ...
_ROW_BYTES = 1 << 18
# ... and where a block has to be copied to be looked at, the copy stays in the third.
_COPY_BYTES = 1 << 22
# Reading memory does not get faster with more threads than this.
_MOST_THREADS = 4


@dataclass(frozen=True)
class ClassCounts:
    """For each column, the numbers of ones I0 and I1 among the n0 and n1 cases of the classes."""

    I0: NDArray[Any]
    I1: NDArray[Any]
    n0: int
    n1: int

    def take(self, columns: NDArray[np.intp]) -> "ClassCounts":
        """Return the counts of some columns."""
        return ClassCounts(self.I0[columns], self.I1[columns], self.n0, self.n1)


def count_classes(
    X: Columns, y: NDArray[np.intp], binarize: Binarize, label: Label = "column {}".format
) -> tuple[ClassCounts, Floats]:
    """Turn columns into bits and count the ones by class, in one pass.

    Parameters
    ----------
    X : array or source of shape (n, p)
        Booleans, integers or floats, in any memory order; it is not copied. A dask array is
        counted where its chunks are. Chunks that do not have all rows are added up; only where
        a median is needed, the workers exchange these columns once to have them whole.
    y : array of shape (n,)
        0 and 1.
    binarize : {"auto", "median"}, float or None
        How a column becomes bits, see `SelectiveBernoulliNB`.
    label : callable
        Names a column in an error.

    Returns
    -------
    counts : ClassCounts
    thresholds : array of shape (p,)
        A value is a one where it is above; read-only where it is the same for all columns.

    Examples
    --------
    >>> X = np.array([[0, 5.5], [1, 6.5], [1, 7.5]])
    >>> counts, thresholds = count_classes(X, np.array([0, 1, 1]), "auto")
    >>> counts.I0.tolist(), counts.I1.tolist(), thresholds.tolist()
    ([0, 0], [2, 1], [0.5, 6.5])
    """
    if isinstance(X, DaskColumns):
        return _count_on_workers(X, y, binarize, label)
    n, p = X.shape
    n1 = int(np.count_nonzero(y))
    ones = np.empty((2, p), dtype=_count_type(n))
    common = binarize if isinstance(binarize, int | float) else AS_IS
    thresholds = np.broadcast_to(np.float64(common), (p,))
    if isinstance(X, SparseColumns) and binarize in ("auto", None) and X.is_zero_one:
        ones[:] = X.count_ones(y)
        return ClassCounts(ones[0], ones[1], n - n1, n1), thresholds
    blocks = _blocks(X)
    counts_of_blocks = in_threads(
        lambda columns: _count_block(X[:, columns], y, binarize, shifted(label, columns.start)),
        blocks,
    )
    for columns, (counted, cuts) in zip(blocks, counts_of_blocks, strict=True):
        ones[:, columns] = counted
        if cuts is not None:
            thresholds = thresholds if thresholds.flags.writeable else thresholds.copy()
            thresholds[columns] = cuts
    return ClassCounts(ones[0], ones[1], n - n1, n1), thresholds


def _count_on_workers(
    X: DaskColumns, y: NDArray[np.intp], binarize: Binarize, label: Label
) -> tuple[ClassCounts, Floats]:
    """Count a dask array; its row chunks are added up, except where a median is to be found.

    Those columns are counted again with their rows in one piece.
    """
    if binarize == "median":
        X = X.with_whole_columns()
    work: Callable[..., _Counted | None] = partial(_count_piece, y=y, binarize=binarize)
    merge: Callable[[list[_Counted | None]], _Counted | None] = _add_pieces
    if X.has_whole_columns:
        work, merge = partial(_count_chunk, y=y, binarize=binarize, label=label), only
    parts = X.over_chunks(work, merge)
    (n, p), n1 = X.shape, int(np.count_nonzero(y))
    ones, thresholds = np.empty((2, p), dtype=_count_type(n)), np.empty(p)
    for columns, part in parts:
        if part is not None:
            ones[:, columns], thresholds[columns] = part
    undecided = [j for j, (_, part) in enumerate(parts) if part is None]
    if undecided:
        others, rest = X.take_chunks(undecided)
        there = picked(label, others)
        counts, cuts = _count_on_workers(rest.with_whole_columns(), y, binarize, there)
        ones[0, others], ones[1, others], thresholds[others] = counts.I0, counts.I1, cuts
    return ClassCounts(ones[0], ones[1], n - n1, n1), thresholds


def _count_chunk(
    chunk: NDArray[Any],
    rows: slice,
    columns: slice,
    *,
    y: NDArray[np.intp],
    binarize: Binarize,
    label: Label = "column {}".format,
) -> _Counted:
    """Return the class counts (2, width) of a chunk, and the cuts, or one that all share."""
    counts, cuts = count_classes(chunk, y[rows], binarize, shifted(label, columns.start))
    ones = np.stack([counts.I0, counts.I1], dtype=_count_type(y.size))
    return ones, cuts if cuts.flags.writeable else cuts[:1]


def _count_piece(
    chunk: NDArray[Any], rows: slice, columns: slice, *, y: NDArray[np.intp], binarize: Binarize
) -> _Counted | None:
    """Return what some of the rows add to the counts, or None where whole columns are needed.

    That is for a median, and for an error that names the row.
    """
    known = None if binarize == "auto" else binarize
    try:
        return _count_chunk(chunk, rows, columns, y=y, binarize=known)
    except ValueError:
        return None


def _add_pieces(pieces: list[_Counted | None]) -> _Counted | None:
    counted = [piece for piece in pieces if piece is not None]
    if len(counted) < len(pieces):
        return None
    ones, cuts = counted[0]
    return np.sum([ones for ones, _ in counted], axis=0, dtype=ones.dtype), cuts


def binarize_columns(
    X: NDArray[Any], thresholds: Floats, binarize: Binarize, label: Label
) -> NDArray[np.bool_]:
    """Turn columns of new rows into bits with the cuts of the training rows."""
    check_finite(X, label)
    if binarize is None:
        _check_zero_one(X, label)
    return np.asarray(X > thresholds)


def _blocks(X: Columns) -> list[slice]:
    if isinstance(X, np.ndarray) and X.dtype in (np.bool_, np.uint8) and _has_solid_rows(X):
        return _blocks_of(_ROW_BYTES, X.shape[1])
    return copied_blocks(X, X.dtype.itemsize)


def copied_blocks(X: Columns, itemsize: int = 8) -> list[slice]:
    """Return blocks of columns of which a copy, with items of that size, stays in the cache."""
    n, p = X.shape
    width = max(64, _COPY_BYTES // (n * itemsize))
    natural = X.width if isinstance(X, ColumnSource) else None
    if natural is not None:  # whole chunks only, and at least one
        width = max(1, width // natural) * natural
    return _blocks_of(width, p)


def _blocks_of(width: int, p: int) -> list[slice]:
    return [slice(start, min(start + width, p)) for start in range(0, p, width)]


def in_threads(work: Callable[[slice], _T], blocks: list[slice]) -> Iterator[_T]:
    """Yield the result for each block in order; numpy lets threads run at the same time."""
    if len(blocks) == 1:
        yield work(blocks[0])
        return
    with ThreadPoolExecutor(min(_MOST_THREADS, os.cpu_count() or 1)) as pool:
        yield from pool.map(work, blocks)


def _has_solid_columns(X: NDArray[Any]) -> bool:
    return X.strides[0] == X.itemsize and X.shape[1] > 1


def _count_solid_columns(bits: Bits, y: NDArray[np.intp]) -> NDArray[Any] | None:
    """Return the sums of 0 and 1 by class (2, width), eight cases at a time; None for other values.

    Eight bytes of 0 and 1 are a word that has as many bits as there are ones among them.
    """
    n_words, width = bits.shape[0] // 8, bits.shape[1]
    words = np.ascontiguousarray(bits[: 8 * n_words].T.view(np.uint64).T)
    rest = bits[8 * n_words :]
    if np.any(np.bitwise_or.reduce(words, axis=0) & ~_ONE_EACH) or rest.max(initial=0) > 1:
        return None
    in_class_one = np.ascontiguousarray(y[: 8 * n_words], dtype=np.uint8).view(np.uint64)
    ones = np.zeros((2, width), dtype=np.int64)
    ones[0] = np.bitwise_count(words).sum(axis=0, dtype=np.uint32)
    words &= in_class_one[:, np.newaxis]
    ones[1] = np.bitwise_count(words).sum(axis=0, dtype=np.uint32)
    ones[0] -= ones[1]
    for row, g in zip(rest, y[8 * n_words :].tolist(), strict=True):
        ones[g] += row
    return ones


def _has_solid_rows(X: NDArray[Any]) -> bool:
    return X.strides[1] == X.itemsize


def _with_solid_rows(X: NDArray[Any]) -> NDArray[Any]:
    """Return an array whose rows can be added up fast, copied only where they cannot."""
    return X if _has_solid_rows(X) else np.ascontiguousarray(X)


def shifted(label: Label, start: int) -> Label:
    """Return the names of the columns of a block that starts there."""
    return lambda column: label(start + column)


def picked(label: Label, columns: NDArray[np.intp]) -> Label:
    """Return the names of some of the columns."""
    return lambda column: label(int(columns[column]))


def _count_type(n: int) -> np.dtype[Any]:
    """Return the smallest type that counts to n."""
    return np.dtype(np.min_scalar_type(n))


def _count_block(
    X: NDArray[Any], y: NDArray[np.intp], binarize: Binarize, label: Label
) -> tuple[NDArray[Any], Floats | None]:
    """Return the class counts (2, width) of a block, and its cuts if not the common one."""
    bits = X.view(np.uint8) if X.dtype == np.bool_ else X
    if bits.dtype == np.uint8 and binarize in ("auto", None) and _has_solid_columns(bits):
        counted = _count_solid_columns(bits, y)
        if counted is not None:
            return counted, None
    if X.dtype == np.bool_ and binarize in ("auto", None):
        return _sum_by_class(_with_solid_rows(bits), y)[0], None
    if X.dtype == np.uint8 and binarize in ("auto", None):
        return _count_bytes(_with_solid_rows(X), y, binarize, label)
    check_finite(X, label)
    cuts = _find_cuts(X, binarize, label)
    bits = _with_solid_rows((X > cuts).view(np.uint8))
    return _sum_by_class(bits, y)[0], cuts


def _count_bytes(
    X: Bits, y: NDArray[np.intp], binarize: Binarize, label: Label
) -> tuple[NDArray[Any], Floats | None]:
    """Count bytes as if they were bits, and only then mend the columns where they were not."""
    counted, seen = _sum_by_class(X, y)
    if seen.max(initial=0) <= 1:
        return counted, None
    cuts = np.full(seen.size, AS_IS)
    others = np.flatnonzero(seen > 1)
    few = max(1, _COPY_BYTES // len(X))
    for start in range(0, others.size, few):
        other = others[start : start + few]
        cuts[other], counted[:, other] = _mend(X, other, y, binarize, label)
    return counted, cuts


def _mend(
    X: Bits, other: NDArray[np.intp], y: NDArray[np.intp], binarize: Binarize, label: Label
) -> tuple[Floats, NDArray[Any]]:
    """Return the cuts and the class counts of some columns that are not 0 and 1."""
    values = X[:, other]
    cuts = _find_cuts(values, binarize, lambda j: label(int(other[j])))
    return cuts, _sum_by_class((values > cuts).view(np.uint8), y)[0]


def _sum_by_class(bits: Bits, y: NDArray[np.intp]) -> tuple[NDArray[Any], Bits]:
    """Return the sums over the rows of each class (2, width), and the OR of all rows (width,).

    The sums run in bytes, which hold 255 rows, and are widened before they overflow.
    """
    n, width = bits.shape
    seen = np.zeros(width, dtype=np.uint8)
    total = np.zeros((2, width), dtype=_count_type(n))
    for start in range(0, n, 255):
        rows = slice(start, start + 255)
        total += _sum_few_rows(bits[rows], y[rows].tolist(), seen)
    return total, seen


def _sum_few_rows(bits: Bits, classes: list[int], seen: Bits) -> Bits:
    sums = np.zeros((2, bits.shape[1]), dtype=np.uint8)
    of_class = (sums[0], sums[1])
    for row, g in zip(bits, classes, strict=True):
        np.add(of_class[g], row, out=of_class[g])
        np.bitwise_or(seen, row, out=seen)
    return sums


def _find_cuts(X: NDArray[Any], binarize: Binarize, label: Label) -> Floats:
    if isinstance(binarize, int | float):
        return np.full(X.shape[1], float(binarize))
    if binarize is None:
        _check_zero_one(X, label)
        return np.full(X.shape[1], AS_IS)
    if binarize == "median":
        return _median_cuts(X)
    cuts = np.full(X.shape[1], AS_IS)
    other = np.flatnonzero(~np.all(_is_zero_one(X), axis=0))
    if other.size:
        cuts[other] = _median_cuts(X[:, other])
    return cuts


def _median_cuts(X: NDArray[Any]) -> Floats:
    """Return the median of each column, or where nothing is above it the next smaller value.

    Otherwise a column that is mostly at its largest value would lose what it says.
    """
    cuts: Floats = np.median(X, axis=0).astype(np.float64)
    largest = X.max(axis=0)
    for j in np.flatnonzero((cuts >= largest) & (X.min(axis=0) < largest)):
        cuts[j] = X[X[:, j] < largest[j], j].max()
    return cuts


def _is_zero_one(X: NDArray[Any]) -> NDArray[np.bool_]:
    return np.asarray((X == 0) | (X == 1))


def _check_zero_one(X: NDArray[Any], label: Label) -> None:
    wrong = ~_is_zero_one(X)
    if wrong.any():
        row, column = _first(wrong)
        raise ValueError(
            f"{label(column)} has the value {X[row, column]!s} in row {row}, but binarize=None "
            "takes only 0 and 1: recode the column, or let binarize='auto' cut it at its median."
        )


def check_finite(X: Columns, label: Label, *, missing_allowed: bool = False) -> None:
    """Raise where a value is infinite, or NaN unless allowed, naming its column and row."""
    if isinstance(X, DaskColumns):
        return  # values are looked at when they are computed: here that would be all of them
    if isinstance(X, ColumnSource):
        _check_finite_source(X, label, missing_allowed)
        return
    with np.errstate(over="ignore", invalid="ignore"):
        if X.dtype.kind != "f" or np.isfinite(X.sum(dtype=np.float64)):
            return
    wrong = np.isinf(X) if missing_allowed else ~np.isfinite(X)
    if wrong.any():
        row, column = _first(wrong)
        what = "NaN (a missing value)" if np.isnan(X[row, column]) else "infinity"
        raise ValueError(
            f"{label(column)} has {what} in row {row}: fill it in (for example with "
            "sklearn.impute.SimpleImputer), or drop the row or the column."
        )


def _check_finite_source(X: ColumnSource, label: Label, missing_allowed: bool) -> None:
    stored_are_fine = isinstance(X, SparseColumns) and np.all(np.isfinite(X.values))
    if X.dtype.kind == "f" and not stored_are_fine:
        for columns in copied_blocks(X):
            block = X[:, columns]
            check_finite(block, shifted(label, columns.start), missing_allowed=missing_allowed)


def _first(wrong: NDArray[np.bool_]) -> tuple[int, int]:
    """Return (row, column) of the first fault in the first column that has one."""
    column = int(np.argmax(wrong.any(axis=0)))
    return int(np.argmax(wrong[:, column])), column
