"""Sums of 0 and 1 by class over a block of columns, in bytes and words."""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unselected._typing import ColumnNamer, Floats, Ints
from unselected.columns.blocks import find_missing, has_solid_rows, picked
from unselected.statistics.binarizing import AS_IS, Binarize, find_cuts_and_steps
from unselected.statistics.counts import count_type
from unselected.statistics.genotypes import check_genotypes

Bits = NDArray[np.uint8]


# Eight bytes of 1.
_ONE_EACH = np.uint64(0x0101010101010101)


# The lower byte of each of four pairs, and a one in each.
_LOW_BYTES, _EACH_PAIR = np.uint64(0x00FF00FF00FF00FF), np.uint64(0x0001000100010001)


# Elements of the copy of columns that are not bits.
_COPY = 1 << 22


@dataclass(frozen=True, eq=False)
class CountRequest:
    """What is to be counted.

    Attributes
    ----------
    y : array of shape (n,)
        The classes of the cases, 0 to ``n_classes`` - 1.
    n_classes : int
    binarize : {"auto", "median"}, float or None
    missing_allowed : bool
        Whether NaN is a missing value rather than an error.
    ploidy : int
        1 for bits; 2 for genotypes, of which alleles are counted, and ``binarize`` is not used.
    """

    y: NDArray[np.intp]
    n_classes: int
    binarize: Binarize
    missing_allowed: bool
    ploidy: int = 1

    @property
    def sizes(self) -> Ints:
        """The numbers of cases of the classes; of genotypes those of alleles."""
        return self.ploidy * self.n_cases

    @property
    def n_cases(self) -> Ints:
        """The numbers of cases of the classes."""
        return np.bincount(self.y, minlength=self.n_classes)

    def of_rows(self, rows: slice) -> "CountRequest":
        """Return the same for some of the cases."""
        return replace(self, y=self.y[rows])


class BlockCounts(NamedTuple):
    """The counts of a block of columns.

    Attributes
    ----------
    ones : array of shape (G, width)
    cuts : array of shape (width,), or None
        None where all columns are bits.
    n_three_steps : int
        Number of columns of three steps.
    known : array of shape (G, width), or None
        The numbers of known values; None where all values are known.
    """

    ones: NDArray[Any]
    cuts: Floats | None = None
    n_three_steps: int = 0
    known: NDArray[Any] | None = None


def count_block(
    X: NDArray[Any], request: CountRequest, label: ColumnNamer, kernels: Any
) -> BlockCounts:
    """Return the class counts of a block, and where it was cut."""
    if request.ploidy > 1:
        return _count_genotypes(X, request, label, kernels)
    bits = X.view(np.uint8) if X.dtype == np.bool_ else X
    if bits.dtype == np.uint8 and request.binarize in ("auto", None):
        if _has_solid_columns(bits):
            counted = _count_solid_columns(bits, request, kernels)
            if counted is not None:
                return BlockCounts(counted)
        return _count_bytes(with_solid_rows(bits), request, label, kernels)
    missing = find_missing(X, label, missing_allowed=request.missing_allowed)
    cuts, n_three_steps = find_cuts_and_steps(X, request.binarize, label, missing)
    bits = with_solid_rows((X > cuts).view(np.uint8))
    ones = _sum_by_class(bits, request, kernels)[0]
    if missing is None:
        return BlockCounts(ones, cuts, n_three_steps)
    holes = _sum_by_class(with_solid_rows(missing.view(np.uint8)), request, kernels)[0]
    known = (request.sizes[:, np.newaxis] - holes).astype(ones.dtype)
    return BlockCounts(ones, cuts, n_three_steps, known)


def _count_genotypes(
    X: NDArray[Any], request: CountRequest, label: ColumnNamer, kernels: Any
) -> BlockCounts:
    """Return the counts of alleles: of cases with a copy, and again of those with two."""
    missing = find_missing(X, label, missing_allowed=request.missing_allowed)
    check_genotypes(X, label, missing)
    ones = np.zeros((request.n_classes, X.shape[1]), dtype=count_type(int(request.sizes.sum())))
    for fewer in range(request.ploidy):
        bits = with_solid_rows((X > fewer).view(np.uint8))
        ones += _sum_by_class(bits, request, kernels)[0]
    if missing is None:
        return BlockCounts(ones)
    holes = _sum_by_class(with_solid_rows(missing.view(np.uint8)), request, kernels)[0]
    known = request.sizes[:, np.newaxis] - request.ploidy * holes.astype(np.int64)
    return BlockCounts(ones, known=known.astype(ones.dtype))


def _has_solid_columns(X: NDArray[Any]) -> bool:
    return X.strides[0] == X.itemsize and X.shape[1] > 1


def _count_solid_columns(bits: Bits, request: CountRequest, kernels: Any) -> NDArray[Any] | None:
    """Return the sums of 0 and 1 by class (G, width), eight cases at a time; None for other values.

    Eight bytes of 0 and 1 form a word; words are added up first, and then their bytes.
    """
    (n, width), y = bits.shape, request.y
    n_words = n // 8
    words = bits[: 8 * n_words].T.view(np.uint64)
    ones = np.zeros((request.n_classes, width), dtype=count_type(n))
    seen = np.zeros(width, dtype=np.uint64)
    count_words = _count_words if kernels is None else kernels.count_words
    count_words(words, _mask(y[: 8 * n_words] == 1), ones[:2], seen)
    for g in range(2, request.n_classes):  # so far, they are among the ones of the first class
        others_and_own = np.zeros((2, width), dtype=ones.dtype)
        count_words(words, _mask(y[: 8 * n_words] == g), others_and_own, seen)
        ones[g] = others_and_own[1]
        ones[0] -= ones[g]
    rest = bits[8 * n_words :]
    if np.any(seen & ~_ONE_EACH) or rest.max(initial=0) > 1:
        return None
    for row, g in zip(rest, y[8 * n_words :].tolist(), strict=True):
        ones[g] += row
    return ones


def _mask(rows: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """Return words whose bytes have all bits set where true."""
    return (rows * np.uint8(255)).view(np.uint64)


def _count_words(
    words: NDArray[np.uint64],
    in_class: NDArray[np.uint64],
    ones: NDArray[Any],
    seen: NDArray[np.uint64],
) -> None:
    """Add the bytes of the columns (width, m) to ``ones`` (2, width), and OR the words.

    The first row of ``ones`` is of the cases that are not in the class, the second of those that
    are. Bytes are added in place, at most 255 of them.
    """
    np.bitwise_or.reduce(words, axis=1, out=seen)
    for start in range(0, words.shape[1], 255):
        some, mask = words[:, start : start + 255], in_class[start : start + 255]
        inside = _sum_of_bytes(np.add.reduce(some & mask, axis=1))
        ones[0] += (_sum_of_bytes(np.add.reduce(some, axis=1)) - inside).astype(ones.dtype)
        ones[1] += inside.astype(ones.dtype)


def _sum_of_bytes(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return the sums of the eight bytes of each word.

    >>> _sum_of_bytes(np.array([0x0102, 0xFF << 56], dtype=np.uint64)).tolist()
    [3, 255]
    """
    pairs = (words & _LOW_BYTES) + ((words >> np.uint64(8)) & _LOW_BYTES)
    return np.asarray(pairs * _EACH_PAIR >> np.uint64(48))


def with_solid_rows(X: NDArray[Any]) -> NDArray[Any]:
    """Return an array whose rows can be added up fast, copied only where necessary."""
    return X if has_solid_rows(X) else np.ascontiguousarray(X)


def _count_bytes(X: Bits, request: CountRequest, label: ColumnNamer, kernels: Any) -> BlockCounts:
    """Count bytes as if they were bits, and then correct the columns where they were not."""
    counted, seen = _sum_by_class(X, request, kernels)
    if seen.max(initial=0) <= 1:
        return BlockCounts(counted)
    cuts, n_three_steps = np.full(seen.size, AS_IS), 0
    others = np.flatnonzero(seen > 1)
    few = max(1, _COPY // len(X))
    for start in range(0, others.size, few):
        other = others[start : start + few]
        values = X[:, other]
        names = picked(label, other)
        cuts[other], n_here = find_cuts_and_steps(values, request.binarize, names)
        n_three_steps += n_here
        bits = (values > cuts[other]).view(np.uint8)
        counted[:, other] = _sum_by_class(bits, request, None)[0]
    return BlockCounts(counted, cuts, n_three_steps)


def sums_by_group(bits: Bits, group_of: Ints, n_groups: int, kernels: Any) -> NDArray[Any]:
    """Return the sums over the rows of each group, (groups, width); rows of group -1 are left out.

    >>> bits = np.array([[1, 0], [1, 1], [0, 1]], dtype=np.uint8)
    >>> sums_by_group(bits, np.array([1, -1, 1]), 2, None).tolist()
    [[0, 0], [1, 1]]
    """
    rows = np.argsort(group_of, kind="stable")[np.count_nonzero(group_of < 0) :]
    sizes = np.bincount(group_of[rows], minlength=n_groups)
    sums = np.zeros((n_groups, bits.shape[1]), dtype=count_type(len(bits)))
    if kernels is not None:
        kernels.count_rows(bits, rows, sizes, sums, np.zeros(bits.shape[1], dtype=np.uint8))
        return sums
    for row in rows.tolist():
        sums[group_of[row]] += bits[row]
    return sums


def _sum_by_class(bits: Bits, request: CountRequest, kernels: Any) -> tuple[NDArray[Any], Bits]:
    """Return the sums over the rows of each class (G, width), and the OR of all rows (width,).

    The sums run in bytes, which hold 255 rows, and are widened before they overflow.
    """
    (n, width), y = bits.shape, request.y
    seen = np.zeros(width, dtype=np.uint8)
    total = np.zeros((request.n_classes, width), dtype=count_type(n))
    if kernels is not None:
        kernels.count_rows(bits, np.argsort(y, kind="stable"), request.n_cases, total, seen)
        return total, seen
    for start in range(0, n, 255):
        rows = slice(start, start + 255)
        total += _sum_few_rows(bits[rows], y[rows].tolist(), len(total), seen)
    return total, seen


def _sum_few_rows(bits: Bits, classes: list[int], n_classes: int, seen: Bits) -> Bits:
    sums = np.zeros((n_classes, bits.shape[1]), dtype=np.uint8)
    of_class = tuple(sums)
    for row, g in zip(bits, classes, strict=True):
        np.add(of_class[g], row, out=of_class[g])
        np.bitwise_or(seen, row, out=seen)
    return sums
