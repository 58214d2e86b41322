"""One pass over binary columns: who is a one, and how many there are in each class."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from unselected.columns import (
    Among,
    Columns,
    Label,
    blocks_in_place,
    check_finite,
    copied_blocks,
    first_fault,
    has_solid_rows,
    in_one_thread,
    in_threads,
    picked,
    shifted,
)
from unselected.dask_columns import DaskColumns
from unselected.kernels import kernels_for
from unselected.quadrature import Floats
from unselected.sources import SparseColumns
from unselected.tables import Ints

Binarize = Literal["auto", "median"] | float | None
Bits = NDArray[np.uint8]
_T = TypeVar("_T")

# Cut of a column that is 0/1 already.
AS_IS = 0.5

# Eight bytes of 1.
_ONE_EACH = np.uint64(0x0101010101010101)
# The lower byte of each of four pairs, and a one in each.
_LOW_BYTES, _EACH_PAIR = np.uint64(0x00FF00FF00FF00FF), np.uint64(0x0001000100010001)
# Elements of a copy that is made of columns that are not bits.
_COPY = 1 << 22


@dataclass(frozen=True)
class ClassCounts:
    """For each column, the numbers of ones I0 and I1 among the n0 and n1 cases of the classes."""

    I0: NDArray[Any]
    I1: NDArray[Any]
    n0: int
    n1: int

    def take(self, columns: Ints) -> "ClassCounts":
        """Return the counts of some columns."""
        return ClassCounts(self.I0[columns], self.I1[columns], self.n0, self.n1)


@dataclass(frozen=True)
class Counted:
    """The counts of some columns, and where these were cut: a value above is a one."""

    counts: ClassCounts
    cuts: Floats

    def take(self, columns: Ints) -> "Counted":
        """Return those of some columns."""
        return Counted(self.counts.take(columns), self.cuts[columns])


# What is done with the counts of some columns, which are these of the table.
Then = Callable[[Counted, Among], _T]


def count_classes(
    X: Columns,
    y: NDArray[np.intp],
    binarize: Binarize,
    label: Label = "column {}".format,
    n_values: int | None = None,
) -> tuple[ClassCounts, Floats]:
    """Turn columns into bits and count the ones by class, in one pass.

    Parameters
    ----------
    X, y, binarize, label, n_values
        As in `over_counts`.

    Returns
    -------
    counts : ClassCounts
    thresholds : array of shape (p,)
        A value is a one where it is above.

    Examples
    --------
    >>> X = np.array([[0, 5.5], [1, 6.5], [1, 7.5]])
    >>> counts, thresholds = count_classes(X, np.array([0, 1, 1]), "auto")
    >>> counts.I0.tolist(), counts.I1.tolist(), thresholds.tolist()
    ([0, 0], [2, 1], [0.5, 6.5])
    """
    n, p = X.shape
    n1 = int(np.count_nonzero(y))
    ones, thresholds = np.empty((2, p), dtype=_count_type(n)), np.empty(p)
    for counted, among in over_counts(X, y, binarize, label, _pair, n_values):
        ones[0, among.columns], ones[1, among.columns] = counted.counts.I0, counted.counts.I1
        thresholds[among.columns] = counted.cuts
    return ClassCounts(ones[0], ones[1], n - n1, n1), thresholds


def _pair(counted: Counted, among: Among) -> tuple[Counted, Among]:
    return counted, among


def over_counts(
    X: Columns,
    y: NDArray[np.intp],
    binarize: Binarize,
    label: Label,
    then: Then[_T],
    n_values: int | None = None,
) -> Iterator[_T]:
    """Count the ones by class, a block of columns at a time, and yield what is made of them.

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
    then : callable
        ``then(counted, among)`` runs where the counting did, in a thread or on a worker, and makes
        what is needed of the counts of some columns.
    n_values : int, default=None
        The size of the table that X is a part of; it says whether compiled sums pay.
    """
    if isinstance(X, DaskColumns):
        yield from _count_on_workers(X, y, binarize, label, then)
        return
    (n, p), n1 = X.shape, int(np.count_nonzero(y))
    block: Callable[[slice], tuple[NDArray[Any], Floats | None]]
    if isinstance(X, SparseColumns) and binarize in ("auto", None) and X.is_zero_one:
        stored = X.count_ones(y)
        blocks = blocks_in_place(stored)
        block = partial(_stored_block, stored)
    else:
        kernels, blocks = kernels_for(n_values or n * p), _blocks(X)

        def block(columns: slice) -> tuple[NDArray[Any], Floats | None]:
            return _count_block(X[:, columns], y, binarize, shifted(label, columns.start), kernels)

    def work(columns: slice) -> _T:
        ones, cuts = block(columns)
        cuts = np.broadcast_to(AS_IS if cuts is None else cuts, (ones.shape[1],))
        among = Among(np.arange(columns.start, columns.stop), p)
        return then(Counted(ClassCounts(ones[0], ones[1], n - n1, n1), cuts), among)

    yield from in_threads(work, blocks)


def _stored_block(stored: NDArray[Any], columns: slice) -> tuple[NDArray[Any], None]:
    return stored[:, columns], None


def _blocks(X: Columns) -> list[slice]:
    if isinstance(X, np.ndarray) and X.dtype in (np.bool_, np.uint8) and has_solid_rows(X):
        return blocks_in_place(X)
    return copied_blocks(X, X.dtype.itemsize)


@dataclass(frozen=True)
class _Piece:
    """What some of the rows add to the counts of some columns."""

    ones: NDArray[Any]
    cuts: Floats
    columns: slice


def _count_on_workers(
    X: DaskColumns, y: NDArray[np.intp], binarize: Binarize, label: Label, then: Then[_T]
) -> Iterator[_T]:
    """Count a dask array; its row chunks are added up, except where a median is to be found.

    Those columns are counted again with their rows in one piece.
    """
    if binarize == "median":
        X = X.with_whole_columns()
    p = X.shape[1]
    how: dict[str, Any] = {"y": y, "binarize": binarize, "n_values": X.shape[0] * p}
    work: Any = partial(_count_piece, **how)
    merge: Any = partial(_add_pieces, y=y, then=then, p=p)
    if X.has_whole_columns:
        work = partial(_count_columns, **how, label=label, merge=merge)
    parts = X.over_chunks(work, merge)
    yield from (part for _, part in parts if part is not None)
    undecided = [j for j, (_, part) in enumerate(parts) if part is None]
    if undecided:
        others, rest = X.take_chunks(undecided)
        renumbered = partial(_renumbered, then=then, among_all=Among(others, p))
        whole = rest.with_whole_columns()
        yield from _count_on_workers(whole, y, binarize, picked(label, others), renumbered)


def _renumbered(counted: Counted, among: Among, *, then: Then[_T], among_all: Among) -> _T:
    return then(counted, among_all.take(among.columns))


def _count_chunk(
    chunk: NDArray[Any],
    rows: slice,
    columns: slice,
    *,
    y: NDArray[np.intp],
    binarize: Binarize,
    n_values: int,
    label: Label = "column {}".format,
) -> _Piece:
    """Return the class counts (2, width) of a chunk, and the cuts."""
    with in_one_thread():
        here = shifted(label, columns.start)
        counts, cuts = count_classes(chunk, y[rows], binarize, here, n_values)
    return _Piece(np.stack([counts.I0, counts.I1], dtype=_count_type(y.size)), cuts, columns)


def _count_columns(
    chunk: NDArray[Any],
    rows: slice,
    columns: slice,
    *,
    merge: Callable[[list[_Piece | None]], _T | None],
    **how: Any,
) -> _T | None:
    """Return what is made of the counts of a chunk of whole columns."""
    return merge([_count_chunk(chunk, rows, columns, **how)])


def _count_piece(
    chunk: NDArray[Any],
    rows: slice,
    columns: slice,
    *,
    y: NDArray[np.intp],
    binarize: Binarize,
    n_values: int,
) -> _Piece | None:
    """Return what some of the rows add to the counts, or None where whole columns are needed.

    That is for a median, and for an error that names the row.
    """
    known = None if binarize == "auto" else binarize
    try:
        return _count_chunk(chunk, rows, columns, y=y, binarize=known, n_values=n_values)
    except ValueError:
        return None


def _add_pieces(
    pieces: list[_Piece | None], *, y: NDArray[np.intp], then: Then[_T], p: int
) -> _T | None:
    counted = [piece for piece in pieces if piece is not None]
    if len(counted) < len(pieces):
        return None
    first, n1 = counted[0], int(np.count_nonzero(y))
    ones = np.sum([piece.ones for piece in counted], axis=0, dtype=first.ones.dtype)
    whole = Counted(ClassCounts(ones[0], ones[1], y.size - n1, n1), first.cuts)
    return then(whole, Among(np.arange(first.columns.start, first.columns.stop), p))


def binarize_columns(
    X: NDArray[Any], thresholds: Floats, binarize: Binarize, label: Label
) -> NDArray[np.bool_]:
    """Turn columns of new rows into bits with the cuts of the training rows."""
    check_finite(X, label)
    if binarize is None:
        _check_zero_one(X, label)
    return np.asarray(X > thresholds)


def _count_type(n: int) -> np.dtype[Any]:
    """Return the smallest type that counts to n."""
    return np.dtype(np.min_scalar_type(n))


def _count_block(
    X: NDArray[Any], y: NDArray[np.intp], binarize: Binarize, label: Label, kernels: Any
) -> tuple[NDArray[Any], Floats | None]:
    """Return the class counts (2, width) of a block, and its cuts unless they are all as is."""
    bits = X.view(np.uint8) if X.dtype == np.bool_ else X
    if bits.dtype == np.uint8 and binarize in ("auto", None):
        if _has_solid_columns(bits):
            counted = _count_solid_columns(bits, y, kernels)
            if counted is not None:
                return counted, None
        return _count_bytes(_with_solid_rows(bits), y, binarize, label, kernels)
    check_finite(X, label)
    cuts = find_cuts(X, binarize, label)
    bits = _with_solid_rows((X > cuts).view(np.uint8))
    return _sum_by_class(bits, y, kernels)[0], cuts


def _has_solid_columns(X: NDArray[Any]) -> bool:
    return X.strides[0] == X.itemsize and X.shape[1] > 1


def _count_solid_columns(bits: Bits, y: NDArray[np.intp], kernels: Any) -> NDArray[Any] | None:
    """Return the sums of 0 and 1 by class (2, width), eight cases at a time; None for other values.

    Eight bytes of 0 and 1 are a word; words are added up before their bytes are.
    """
    n, width = bits.shape
    n_words = n // 8
    words = bits[: 8 * n_words].T.view(np.uint64)
    in_class_one = np.ascontiguousarray(y[: 8 * n_words] * 255, dtype=np.uint8).view(np.uint64)
    ones = np.zeros((2, width), dtype=_count_type(n))
    seen = np.zeros(width, dtype=np.uint64)
    (_count_words if kernels is None else kernels.count_words)(words, in_class_one, ones, seen)
    rest = bits[8 * n_words :]
    if np.any(seen & ~_ONE_EACH) or rest.max(initial=0) > 1:
        return None
    for row, g in zip(rest, y[8 * n_words :].tolist(), strict=True):
        ones[g] += row
    return ones


def _count_words(
    words: NDArray[np.uint64],
    in_class_one: NDArray[np.uint64],
    ones: NDArray[Any],
    seen: NDArray[np.uint64],
) -> None:
    """Add the bytes of the columns (width, m) to ``ones`` (2, width), and OR the words.

    Bytes are added where they stand, at most 255 of them.
    """
    np.bitwise_or.reduce(words, axis=1, out=seen)
    for start in range(0, words.shape[1], 255):
        some, mask = words[:, start : start + 255], in_class_one[start : start + 255]
        of_one = _sum_of_bytes(np.add.reduce(some & mask, axis=1))
        ones[0] += (_sum_of_bytes(np.add.reduce(some, axis=1)) - of_one).astype(ones.dtype)
        ones[1] += of_one.astype(ones.dtype)


def _sum_of_bytes(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return the sums of the eight bytes of each word.

    >>> _sum_of_bytes(np.array([0x0102, 0xFF << 56], dtype=np.uint64)).tolist()
    [3, 255]
    """
    pairs = (words & _LOW_BYTES) + ((words >> np.uint64(8)) & _LOW_BYTES)
    return np.asarray(pairs * _EACH_PAIR >> np.uint64(48))


def _with_solid_rows(X: NDArray[Any]) -> NDArray[Any]:
    """Return an array whose rows can be added up fast, copied only where they cannot."""
    return X if has_solid_rows(X) else np.ascontiguousarray(X)


def _count_bytes(
    X: Bits, y: NDArray[np.intp], binarize: Binarize, label: Label, kernels: Any
) -> tuple[NDArray[Any], Floats | None]:
    """Count bytes as if they were bits, and only then mend the columns where they were not."""
    counted, seen = _sum_by_class(X, y, kernels)
    if seen.max(initial=0) <= 1:
        return counted, None
    cuts = np.full(seen.size, AS_IS)
    others = np.flatnonzero(seen > 1)
    few = max(1, _COPY // len(X))
    for start in range(0, others.size, few):
        other = others[start : start + few]
        values = X[:, other]
        cuts[other] = find_cuts(values, binarize, picked(label, other))
        bits = (values > cuts[other]).view(np.uint8)
        counted[:, other] = _sum_by_class(bits, y, None)[0]
    return counted, cuts


def _sum_by_class(bits: Bits, y: NDArray[np.intp], kernels: Any) -> tuple[NDArray[Any], Bits]:
    """Return the sums over the rows of each class (2, width), and the OR of all rows (width,).

    The sums run in bytes, which hold 255 rows, and are widened before they overflow.
    """
    n, width = bits.shape
    seen = np.zeros(width, dtype=np.uint8)
    total = np.zeros((2, width), dtype=_count_type(n))
    if kernels is not None:
        order, sizes = np.argsort(y, kind="stable"), np.bincount(y, minlength=2)
        kernels.count_rows(bits, order, sizes, total, seen)
        return total, seen
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


def find_cuts(X: NDArray[Any], binarize: Binarize, label: Label) -> Floats:
    """Return where each column is cut; a value above is a one."""
    if isinstance(binarize, int | float):
        return np.full(X.shape[1], float(binarize))
    if binarize is None:
        _check_zero_one(X, label)
        return np.full(X.shape[1], AS_IS)
    if binarize == "median":
        return _median_cuts(X)
    cuts = np.full(X.shape[1], AS_IS)
    other = np.flatnonzero(~are_bits(X))
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


def are_bits(X: NDArray[Any]) -> NDArray[np.bool_]:
    """Say which columns are 0 and 1."""
    return np.asarray(np.all(_is_zero_one(X), axis=0))


def _is_zero_one(X: NDArray[Any]) -> NDArray[np.bool_]:
    return np.asarray((X == 0) | (X == 1))


def _check_zero_one(X: NDArray[Any], label: Label) -> None:
    wrong = ~_is_zero_one(X)
    if wrong.any():
        row, column = first_fault(wrong)
        raise ValueError(
            f"{label(column)} has the value {X[row, column]!s} in row {row}, but binarize=None "
            "takes only 0 and 1: recode the column, or let binarize='auto' cut it at its median."
        )
