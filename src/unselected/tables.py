"""The law of the counts (I0, I1) of a binary feature, and |COR| compared in exact integers.

I0 and I1 are the numbers of ones of a feature among the n0 cases of class 0 and the n1 cases of
class 1. Given theta and alpha they are independent beta-binomials. Everything here is written in
u = 1 / alpha, which makes the limit of unrelated features, alpha = infinity, the plain point u = 0.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import isqrt, ldexp

import numpy as np
from numpy.typing import NDArray

from unselected.quadrature import Floats

Ints = NDArray[np.int64]

# Elements of a table or an array that are worked on at a time, to stay in the processor's cache.
_BLOCK = 1 << 16

# Doubles further apart than this, relatively, are known to be in the right order.
CLOSE = 1e-12


def log_pmf_table(n_c: int, theta: Floats, u: float) -> Floats:
    """Return log P(I = i | theta, alpha = 1/u) for i = 0..n_c, one row per theta.

    The beta-binomial law of the paper's section 3.4, built from the ratios of neighbours

        P(i + 1) / P(i) = (n_c - i) (theta + i u) / ((i + 1) (1 - theta + (n_c - 1 - i) u))

    added up outwards from the mean, so that rounding errors are small where the probability is
    not, and normalised by its sum. No gamma function is needed and no size of alpha is special.

    >>> np.exp(log_pmf_table(2, np.array([0.5]), 0.0)).round(12).tolist()
    [[0.25, 0.5, 0.25]]
    """
    return _Steps.of(n_c, theta).tables(u)[0]


@dataclass(frozen=True)
class _Steps:
    """What the ratios of neighbours are made of, for some theta and any u."""

    theta: Floats
    one_less_theta: Floats
    up: Floats
    down: Floats
    orders: Floats
    above_mean: NDArray[np.bool_]

    @classmethod
    def of(cls, n_c: int, theta: Floats) -> "_Steps":
        i = np.arange(n_c, dtype=np.float64)
        theta = theta[:, np.newaxis]
        above_mean = i >= np.rint(n_c * theta)
        return cls(theta, 1.0 - theta, i, n_c - 1.0 - i, (n_c - i) / (i + 1.0), above_mean)

    def tables(self, u: float) -> tuple[Floats, Floats]:
        """Return log P(I = i) and P(I = i), one row per theta."""
        with np.errstate(divide="ignore"):  # theta may be 0 or 1
            ratio = self.theta + self.up * u
            ratio /= self.one_less_theta + self.down * u
            ratio *= self.orders
            log_ratio = np.log(ratio, out=ratio)
        table = np.zeros((self.theta.size, self.up.size + 1))
        np.cumsum(np.where(self.above_mean, log_ratio, 0.0), axis=1, out=table[:, 1:])
        downwards = np.where(self.above_mean, 0.0, log_ratio)[:, ::-1]
        table[:, :-1] -= np.cumsum(downwards, axis=1)[:, ::-1]
        pmf = np.exp(table)
        total = np.sum(pmf, axis=1, keepdims=True)
        table -= np.log(total)
        pmf /= total
        return table, pmf


@dataclass(frozen=True)
class CountLaw:
    """The law of (I0, I1) for n0 and n1 cases, as an average over nodes of theta.

    ``theta`` must be symmetric about 1/2: swapping zeros and ones of a feature maps the node
    theta to 1 - theta and the count I to n - I, so that half of the tables serve for all.
    """

    n0: int
    n1: int
    theta: Floats
    weights: Floats

    def blocks(self, u: float) -> Iterator[tuple[Ints, Floats, Floats]]:
        """Yield (nodes, log P(I0 | theta), log P(I1 | theta)) for blocks of nodes."""
        for nodes, (log_p0, _), (log_p1, _) in self.pmf_blocks(u):
            yield nodes, log_p0, log_p1

    def pmf_blocks(
        self, u: float
    ) -> Iterator[tuple[Ints, tuple[Floats, Floats], tuple[Floats, Floats]]]:
        """Yield nodes, and for each class log P(I | theta) and P(I | theta), in blocks of nodes."""
        for nodes, n_twins, steps in self._steps:
            of_class = [_with_twins(steps_of.tables(u), n_twins) for steps_of in steps]
            yield nodes, of_class[0], of_class[-1]

    @cached_property
    def _steps(self) -> list[tuple[Ints, int, list[_Steps]]]:
        """Blocks of nodes, how many of their mirror images come with them, and their steps."""
        n_nodes = self.theta.size
        n_half = (n_nodes + 1) // 2
        sizes = [self.n0] if self.n0 == self.n1 else [self.n0, self.n1]
        rows = max(1, _BLOCK // (self.n0 + self.n1 + 2))
        blocks = []
        for start in range(0, n_half, rows):
            nodes = np.arange(start, min(start + rows, n_half))
            twins = n_nodes - 1 - nodes
            twins = twins[twins >= n_half]
            steps = [_Steps.of(n_c, self.theta[nodes]) for n_c in sizes]
            blocks.append((np.concatenate([nodes, twins]), twins.size, steps))
        return blocks


def _with_twins(tables: tuple[Floats, Floats], n_twins: int) -> tuple[Floats, Floats]:
    """Return tables together with those of the mirror images of the first nodes."""
    log, pmf = (np.concatenate([table, table[:n_twins, ::-1]]) for table in tables)
    return log, pmf


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

    Doubles decide all but the closest cases, integers decide those.

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
    distinct, value_of = np.unique(codes, return_inverse=True)
    pairs = (divmod(int(code), n1 + 1) for code in distinct)
    return [exact_cor_squared(*pair, n0, n1) for pair in pairs], value_of
