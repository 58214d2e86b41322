"""R^2 of a binary feature with the classes, from its counts, compared in exact integers.

R^2 is the part of the variance of the feature that the classes explain; with two classes it is
COR^2. With m ones among n known values, I_g among the n_g of class g,

    R^2 = sum over g of (n I_g - n_g m)^2 / n_g / (n m (n - m)).

With several classes the score is F = (R^2 / q) / ((1 - R^2) / nu), q = G - 1 and nu = n - G. Among
features with different numbers of known values it is compared as the R^2 that a complete feature
with the same F has.
"""

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from unselected._typing import Floats, Ints
from unselected.selection.correlation import CLOSE

# Elements of an array that are processed at a time, to stay in the processor's cache.
_BLOCK = 1 << 16


def explained(ones: Ints, sizes: Ints) -> Floats:
    """Return R^2 of features with these counts (G, p); 0 for constant features.

    ``sizes`` are the numbers of known values, (G, 1) or (G, p).

    >>> explained(np.array([[1, 0], [4, 0]]), np.array([[5], [5]])).round(12).tolist()
    [0.36, 0.0]
    """
    squares = np.empty(ones.shape[1])
    for start in range(0, squares.size, _BLOCK):
        block = slice(start, start + _BLOCK)
        each = ones[:, block].astype(np.int64)
        n_g = sizes[:, block] if sizes.shape[1] > 1 else sizes
        n_g = n_g.astype(np.int64)
        n, m = n_g.sum(axis=0), each.sum(axis=0)
        between = (n * each - n_g * m).astype(np.float64) ** 2 / np.maximum(n_g, 1)
        spread = np.maximum(m * (n - m), 1)  # a constant feature has 0 / 0
        squares[block] = between.sum(axis=0) / (n.astype(np.float64) * spread)
    return squares


def exact_explained(ones: tuple[int, ...], sizes: tuple[int, ...]) -> Fraction:
    """Return R^2 of one feature as a fraction.

    >>> exact_explained((1, 4), (5, 5))
    Fraction(9, 25)
    """
    n, m = sum(sizes), sum(ones)
    if m in (0, n):
        return Fraction(0)
    between = Fraction(0)
    for i, size in zip(ones, sizes, strict=True):
        between += Fraction((n * i - size * m) ** 2, size)
    return between / (n * m * (n - m))


def compare_explained(ones: Ints, sizes: Ints, cut: Fraction) -> NDArray[np.int8]:
    """Return the sign of R^2 - cut for counts (G, p) among ``sizes`` (G,), exactly.

    Doubles decide all but the closest cases; integers decide those.

    >>> ones = np.array([[1, 0], [4, 4]])
    >>> compare_explained(ones, np.array([5, 5]), Fraction(9, 25)).tolist()
    [0, 1]
    """
    difference = explained(ones, sizes[:, np.newaxis]) - float(cut)
    sign = np.sign(difference).astype(np.int8)
    close = np.flatnonzero(np.abs(difference) <= CLOSE * float(cut))
    if close.size:
        distinct, value_of = np.unique(ones[:, close].T, axis=0, return_inverse=True)
        of_classes = tuple(sizes.tolist())
        values = [exact_explained(tuple(row), of_classes) for row in distinct.tolist()]
        signs = [(value > cut) - (value < cut) for value in values]
        sign[close] = np.array(signs, dtype=np.int8)[value_of.ravel()]
    return sign


def with_other_freedom(r: Fraction, nu: int, other: int) -> Fraction:
    """Return the R^2 with ``other`` degrees of freedom that has the same F as ``r`` with nu.

    >>> with_other_freedom(Fraction(1, 2), 10, 20)
    Fraction(1, 3)
    """
    if nu == other:
        return r
    return nu * r / (nu * r + other * (1 - r))


def freedom(sizes: Ints) -> Ints:
    """Return the degrees of freedom within classes, nu, for numbers of known values (G, ...)."""
    return np.asarray(sizes.sum(axis=0) - len(sizes))
