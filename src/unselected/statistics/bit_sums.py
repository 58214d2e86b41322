"""Sums of 0 and 1 by class over a block of columns, in bytes and words."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unselected._typing import ColumnNamer, Floats
from unselected.columns.blocks import check_finite, has_solid_rows, picked
from unselected.statistics.binarizing import AS_IS, Binarize, find_cuts_and_steps

Bits = NDArray[np.uint8]


# Eight bytes of 1.
_ONE_EACH = np.uint64(0x0101010101010101)


# The lower byte of each of four pairs, and a one in each.
_LOW_BYTES, _EACH_PAIR = np.uint64(0x00FF00FF00FF00FF), np.uint64(0x0001000100010001)


# Elements of the copy of columns that are not bits.
_COPY = 1 << 22


class BlockCounts(NamedTuple):
    """Class counts (2, width), the cuts unless all columns are bits, and columns of three steps."""

    ones: NDArray[Any]
    cuts: Floats | None
    n_three_steps: int


def count_type(n: int) -> np.dtype[Any]:
    """Return the smallest type that counts to n."""
    return np.dtype(np.min_scalar_type(n))


def count_block(
    X: NDArray[Any], y: NDArray[np.intp], binarize: Binarize, label: ColumnNamer, kernels: Any
) -> BlockCounts:
    """Return the class counts of a block, and where it was cut."""
    bits = X.view(np.uint8) if X.dtype == np.bool_ else X
    if bits.dtype == np.uint8 and binarize in ("auto", None):
        if _has_solid_columns(bits):
            counted = _count_solid_columns(bits, y, kernels)
            if counted is not None:
                return BlockCounts(counted, None, 0)
        return _count_bytes(_with_solid_rows(bits), y, binarize, label, kernels)
    check_finite(X, label)
    cuts, n_three_steps = find_cuts_and_steps(X, binarize, label)
    bits = _with_solid_rows((X > cuts).view(np.uint8))
    return BlockCounts(_sum_by_class(bits, y, kernels)[0], cuts, n_three_steps)


def _has_solid_columns(X: NDArray[Any]) -> bool:
    return X.strides[0] == X.itemsize and X.shape[1] > 1


def _count_solid_columns(bits: Bits, y: NDArray[np.intp], kernels: Any) -> NDArray[Any] | None:
    """Return the sums of 0 and 1 by class (2, width), eight cases at a time; None for other values.

    Eight bytes of 0 and 1 form a word; words are added up first, and then their bytes.
    """
    n, width = bits.shape
    n_words = n // 8
    words = bits[: 8 * n_words].T.view(np.uint64)
    in_class_one = np.ascontiguousarray(y[: 8 * n_words] * 255, dtype=np.uint8).view(np.uint64)
    ones = np.zeros((2, width), dtype=count_type(n))
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

    Bytes are added in place, at most 255 of them.
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
    """Return an array whose rows can be added up fast, copied only where necessary."""
    return X if has_solid_rows(X) else np.ascontiguousarray(X)


def _count_bytes(
    X: Bits, y: NDArray[np.intp], binarize: Binarize, label: ColumnNamer, kernels: Any
) -> BlockCounts:
    """Count bytes as if they were bits, and then correct the columns where they were not."""
    counted, seen = _sum_by_class(X, y, kernels)
    if seen.max(initial=0) <= 1:
        return BlockCounts(counted, None, 0)
    cuts, n_three_steps = np.full(seen.size, AS_IS), 0
    others = np.flatnonzero(seen > 1)
    few = max(1, _COPY // len(X))
    for start in range(0, others.size, few):
        other = others[start : start + few]
        values = X[:, other]
        cuts[other], n_here = find_cuts_and_steps(values, binarize, picked(label, other))
        n_three_steps += n_here
        bits = (values > cuts[other]).view(np.uint8)
        counted[:, other] = _sum_by_class(bits, y, None)[0]
    return BlockCounts(counted, cuts, n_three_steps)


def _sum_by_class(bits: Bits, y: NDArray[np.intp], kernels: Any) -> tuple[NDArray[Any], Bits]:
    """Return the sums over the rows of each class (2, width), and the OR of all rows (width,).

    The sums run in bytes, which hold 255 rows, and are widened before they overflow.
    """
    n, width = bits.shape
    seen = np.zeros(width, dtype=np.uint8)
    total = np.zeros((2, width), dtype=count_type(n))
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
