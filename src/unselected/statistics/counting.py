"""One pass over binary columns: turning values into bits, and counting the ones by class."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from unselected._typing import ColumnNamer, Floats, Ints
from unselected.columns.blocks import (
    Columns,
    blocks_in_place,
    copied_blocks,
    has_solid_rows,
    in_one_thread,
    in_threads,
    picked,
    shifted,
)
from unselected.columns.dask import DaskColumns
from unselected.columns.sources import SparseColumns
from unselected.columns.subset import ColumnSubset
from unselected.numerics.kernels import kernels_for
from unselected.statistics.binarizing import AS_IS, Binarize
from unselected.statistics.bit_sums import BlockCounts, CountRequest, count_block
from unselected.statistics.counts import ClassCounts, Counted, count_type

_T = TypeVar("_T")


# A function of the counts of some columns, and of which columns of the table they are.
Then = Callable[[Counted, ColumnSubset], _T]


def count_classes(
    X: Columns,
    y: NDArray[np.intp],
    binarize: Binarize,
    label: ColumnNamer = "column {}".format,
    n_values: int | None = None,
    *,
    n_classes: int = 2,
    missing_allowed: bool = False,
    ploidy: int = 1,
) -> tuple[ClassCounts, Floats]:
    """Turn columns into bits and count the ones by class, in one pass.

    Parameters
    ----------
    X, y, binarize, label, n_values, n_classes, missing_allowed, ploidy
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
    request = CountRequest(y, n_classes, binarize, missing_allowed, ploidy)
    counted = _count(X, request, label, n_values)
    return counted.counts, counted.cuts


def _count(X: Columns, request: CountRequest, label: ColumnNamer, n_values: int | None) -> Counted:
    p, sizes = X.shape[1], request.sizes
    ones = np.empty((sizes.size, p), dtype=count_type(int(sizes.sum())))
    cuts, n_three_steps, known = np.empty(p), 0, None
    for part, subset in _over_request(X, request, label, _pair, n_values):
        ones[:, subset.columns] = part.counts.ones
        if part.counts.known is not None:
            if known is None:
                known = np.repeat(sizes[:, np.newaxis].astype(ones.dtype), p, axis=1)
            known[:, subset.columns] = part.counts.known
        cuts[subset.columns] = part.cuts
        n_three_steps += part.n_three_steps
    return Counted(ClassCounts(ones, sizes, known), cuts, n_three_steps)


def _pair(counted: Counted, subset: ColumnSubset) -> tuple[Counted, ColumnSubset]:
    return counted, subset


def over_counts(
    X: Columns,
    y: NDArray[np.intp],
    binarize: Binarize,
    label: ColumnNamer,
    then: Then[_T],
    n_values: int | None = None,
    *,
    n_classes: int = 2,
    missing_allowed: bool = False,
    ploidy: int = 1,
) -> Iterator[_T]:
    """Count the ones by class, a block of columns at a time, and yield the results of ``then``.

    Parameters
    ----------
    X : array or source of shape (n, p)
        Booleans, integers or floats, in any memory order; it is not copied. A dask array is
        counted where its chunks are. The counts of chunks that do not have all rows are added up.
        Only where a median is needed, the workers exchange these columns once.
    y : array of shape (n,)
        0 to ``n_classes`` - 1.
    binarize : {"auto", "median"}, float or None
        How a column becomes bits, see `SelectiveBernoulliNB`.
    label : callable
        Names a column in an error.
    then : callable
        ``then(counted, subset)`` reduces the counts of some columns to what is needed. It runs
        where the counting did, in a thread or on a worker.
    n_values : int, default=None
        The size of the table that X is a part of; it decides whether compiled sums pay.
    n_classes : int, default=2
    missing_allowed : bool, default=False
        Whether NaN is a missing value, which is neither 0 nor 1, rather than an error. Medians are
        those of the known values. A column without any has no ones. The counts of columns that are
        read together have ``known`` only where one of their values is missing.
    ploidy : int, default=1
        2 for genotypes, whose values are 0, 1 and 2: alleles are counted, two for each case.
        ``binarize`` is then not used.
    """
    request = CountRequest(y, n_classes, binarize, missing_allowed, ploidy)
    return _over_request(X, request, label, then, n_values)


def _over_request(
    X: Columns, request: CountRequest, label: ColumnNamer, then: Then[_T], n_values: int | None
) -> Iterator[_T]:
    if isinstance(X, DaskColumns):
        yield from _count_on_workers(X, request, label, then)
        return
    (n, p), sizes = X.shape, request.sizes
    stored = _stored_counts(X, request) if isinstance(X, SparseColumns) else None
    block: Callable[[slice], BlockCounts]
    if stored is not None:
        blocks = blocks_in_place(stored.ones)
        block = partial(_stored_block, stored, sizes)
    else:
        kernels, blocks = kernels_for(n_values or n * p), _blocks(X)

        def block(columns: slice) -> BlockCounts:
            return count_block(X[:, columns], request, shifted(label, columns.start), kernels)

    def work(columns: slice) -> _T:
        ones, cuts, n_three_steps, known = block(columns)
        cuts = np.broadcast_to(AS_IS if cuts is None else cuts, (ones.shape[1],))
        subset = ColumnSubset(np.arange(columns.start, columns.stop), p)
        return then(Counted(ClassCounts(ones, sizes, known), cuts, n_three_steps), subset)

    yield from in_threads(work, blocks)


def _stored_counts(X: SparseColumns, request: CountRequest) -> BlockCounts | None:
    """Return the counts from the stored values alone; None where some are no bits."""
    if request.binarize not in ("auto", None) or request.ploidy > 1:
        return None
    y, n_classes = request.y, request.n_classes
    if X.is_zero_one:
        return BlockCounts(X.count_ones(y, n_classes))
    parts = X.split_missing() if request.missing_allowed else None
    if parts is None or not parts[0].is_zero_one:
        return None
    ones, holes = (part.count_ones(y, n_classes) for part in parts)
    return BlockCounts(ones, known=request.sizes[:, np.newaxis] - holes)


def _stored_block(stored: BlockCounts, sizes: Ints, columns: slice) -> BlockCounts:
    known = None if stored.known is None else stored.known[:, columns]
    if known is not None and np.all(known == sizes[:, np.newaxis]):
        known = None
    return BlockCounts(stored.ones[:, columns], known=known)


def _blocks(X: Columns) -> list[slice]:
    if isinstance(X, np.ndarray) and X.dtype in (np.bool_, np.uint8) and has_solid_rows(X):
        return blocks_in_place(X)
    return copied_blocks(X, X.dtype.itemsize)


@dataclass(frozen=True)
class _Piece:
    """The counts of some columns over some of the rows."""

    counted: Counted
    columns: slice


def _count_on_workers(
    X: DaskColumns, request: CountRequest, label: ColumnNamer, then: Then[_T]
) -> Iterator[_T]:
    """Count a dask array; its row chunks are added up, except where a median is needed.

    Those columns are counted again with their rows in one piece.
    """
    if request.binarize == "median":
        X = X.with_whole_columns()
    p = X.shape[1]
    how: dict[str, Any] = {"request": request, "n_values": X.shape[0] * p}
    work: Any = partial(_count_piece, **how)
    merge: Any = partial(_add_pieces, then=then, p=p)
    if X.has_whole_columns:
        work = partial(_count_columns, **how, label=label, merge=merge)
    parts = X.over_chunks(work, merge)
    yield from (part for _, part in parts if part is not None)
    undecided = [j for j, (_, part) in enumerate(parts) if part is None]
    if undecided:
        others, rest = X.take_chunks(undecided)
        renumbered = partial(_renumbered, then=then, outer=ColumnSubset(others, p))
        whole = rest.with_whole_columns()
        yield from _count_on_workers(whole, request, picked(label, others), renumbered)


def _renumbered(
    counted: Counted, subset: ColumnSubset, *, then: Then[_T], outer: ColumnSubset
) -> _T:
    return then(counted, outer.take(subset.columns))


def _count_chunk(
    chunk: NDArray[Any],
    rows: slice,
    columns: slice,
    *,
    request: CountRequest,
    n_values: int,
    label: ColumnNamer = "column {}".format,
) -> _Piece:
    """Return the class counts of a chunk, and the cuts."""
    with in_one_thread():
        here = shifted(label, columns.start)
        return _Piece(_count(chunk, request.of_rows(rows), here, n_values), columns)


def _count_columns(
    chunk: NDArray[Any],
    rows: slice,
    columns: slice,
    *,
    merge: Callable[[list[_Piece | None]], _T | None],
    **how: Any,
) -> _T | None:
    """Return the result of ``then`` for a chunk of whole columns."""
    return merge([_count_chunk(chunk, rows, columns, **how)])


def _count_piece(
    chunk: NDArray[Any],
    rows: slice,
    columns: slice,
    *,
    request: CountRequest,
    n_values: int,
) -> _Piece | None:
    """Return the counts of some of the rows, or None where whole columns are needed.

    Whole columns are needed for a median, and for an error that names the row.
    """
    if request.binarize == "auto":
        request = replace(request, binarize=None)
    try:
        return _count_chunk(chunk, rows, columns, request=request, n_values=n_values)
    except ValueError:
        return None


def _add_pieces(pieces: list[_Piece | None], *, then: Then[_T], p: int) -> _T | None:
    all_rows = [piece for piece in pieces if piece is not None]
    if len(all_rows) < len(pieces):
        return None
    columns = all_rows[0].columns
    # Only whole columns are cut at their median: then the first piece is the only one.
    counts = ClassCounts.added([piece.counted.counts for piece in all_rows])
    whole = replace(all_rows[0].counted, counts=counts)
    return then(whole, ColumnSubset(np.arange(columns.start, columns.stop), p))
