"""|COR| of a binary feature with a binary response, compared in exact integers."""

from fractions import Fraction
from functools import lru_cache
from math import isqrt, ldexp

import numpy as np
from numpy.typing import NDArray

from unselected._typing import Floats, Ints

# Elements of an array that are processed at a time, to stay in the processor's cache.
_BLOCK = 1 << 16

# Features of which few are told apart without sorting an array, which has a fixed cost.
_FEW = 64

# Doubles further apart than this, relatively, are known to be in the right order.
CLOSE = 1e-12


def cor_squared(I0: Ints, I1: Ints, n0: int, n1: int) -> Floats:
    """Return COR^2 (equation 1) of features with counts (I0, I1); 0 for constant features.

    COR^2 = (n0 I1 - n1 I0)^2 / (n0 n1 m (n - m)) with m = I0 + I1.

    >>> cor_squared(np.array([1, 0]), np.array([4, 0]), 5, 5).tolist()
    [0.36, 0.0]
    """
    squares = np.empty(np.shape(I0))
    for start in range(0, squares.size, _BLOCK):
        block = slice(start, start + _BLOCK)
        i0, i1 = np.asarray(I0[block], dtype=np.int64), np.asarray(I1[block], dtype=np.int64)
        m = i0 + i1
        spread = np.maximum(m * (n0 + n1 - m), 1)  # a constant feature has 0 / 0
        squares[block] = (n0 * i1 - n1 * i0).astype(np.float64) ** 2 / (float(n0) * n1 * spread)
    return squares


@lru_cache(maxsize=1 << 12)
def exact_cor_squared(I0: int, I1: int, n0: int, n1: int) -> Fraction:
    """Return COR^2 of one feature as a fraction.

    >>> exact_cor_squared(1, 4, 5, 5)
    Fraction(9, 25)
    """
    m, n = I0 + I1, n0 + n1
    if m in (0, n):
        return Fraction(0)
    return Fraction((n0 * I1 - n1 * I0) ** 2, n0 * n1 * m * (n - m))


def root(value: Fraction) -> float:
    """Return the square root of a fraction, correctly rounded: equal |COR| are equal doubles.

    >>> root(Fraction(9, 25)), root(Fraction(0))
    (0.6, 0.0)
    """
    shift = 130 + value.denominator.bit_length() - value.numerator.bit_length()
    shift += shift % 2
    scaled, rest = divmod(value.numerator << shift, value.denominator)
    digits = isqrt(scaled)
    inexact = rest > 0 or digits * digits < scaled
    return ldexp(float(2 * digits + inexact), -shift // 2 - 1)


def absolute_cor(I0: Ints, I1: Ints, n0: int, n1: int) -> Floats:
    """Return |COR| of features with counts (I0, I1), correctly rounded.

    >>> absolute_cor(np.array([1, 0]), np.array([4, 0]), 5, 5).tolist()
    [0.6, 0.0]
    """
    values, value_of = exact_values(I0, I1, n0, n1)
    return np.array([root(value) for value in values])[value_of]


def threshold_cut(gamma: float) -> Fraction:
    """Return the bound on COR^2 that separates |COR| <= gamma from |COR| > gamma.

    A correlation that equals gamma to the last bit of a double is at gamma, not above it: the
    bound lies half a unit in the last place higher. So 3/5 is at most 0.6, although the double
    nearest to 0.6 is a little smaller, and a threshold found by one fit can be used in another.

    >>> Fraction(9, 25) > Fraction(0.6)**2, Fraction(9, 25) > threshold_cut(0.6)
    (True, False)
    """
    return (Fraction(gamma) + Fraction(float(np.spacing(gamma))) / 2) ** 2


def compare(I0: Ints, I1: Ints, n0: int, n1: int, cut: Fraction) -> NDArray[np.int8]:
    """Return the sign of COR^2 - cut for features with counts (I0, I1), exactly.

    Doubles decide all but the closest cases; integers decide those.

    >>> compare(np.array([1, 0]), np.array([4, 4]), 5, 5, Fraction(9, 25)).tolist()
    [0, 1]
    """
    difference = cor_squared(I0, I1, n0, n1) - float(cut)
    sign = np.sign(difference).astype(np.int8)
    close = np.flatnonzero(np.abs(difference) <= CLOSE * float(cut))
    if close.size:
        values, value_of = exact_values(I0[close], I1[close], n0, n1)
        signs = [(value > cut) - (value < cut) for value in values]
        sign[close] = np.array(signs, dtype=np.int8)[value_of]
    return sign


def exact_values(I0: Ints, I1: Ints, n0: int, n1: int) -> tuple[list[Fraction], Ints]:
    """Return COR^2 of the distinct pairs of counts, and which of them each feature has."""
    codes = np.asarray(I0, dtype=np.int64) * (n1 + 1) + np.asarray(I1, dtype=np.int64)
    distinct, value_of = _distinct(codes)
    pairs = (divmod(code, n1 + 1) for code in distinct)
    return [exact_cor_squared(*pair, n0, n1) for pair in pairs], value_of


def _distinct(codes: NDArray[np.int64]) -> tuple[list[int], Ints]:
    """Return the distinct codes from the least on, and which of them each is.

    >>> _distinct(np.array([7, 3, 7]))
    ([3, 7], array([1, 0, 1]))
    """
    if codes.size > _FEW:
        distinct, value_of = np.unique(codes, return_inverse=True)
        return distinct.tolist(), value_of
    few = codes.tolist()
    order = sorted(set(few))
    place = {code: number for number, code in enumerate(order)}
    return order, np.array([place[code] for code in few], dtype=np.intp)
