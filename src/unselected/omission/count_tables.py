"""Omission probabilities of binary features from the table of all their counts.

The table has P(I_1, ..., I_G | alpha) of every vector of counts. Sums over it give the
probabilities of being below, at and above the cut, for any number of classes, and given the total
m = I_1 + ... + I_G of the feature: those of the vectors with that total, divided by their sum.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array

from unselected._typing import Floats, Ints
from unselected.numerics.beta_binomial import CountLaw
from unselected.numerics.beta_binomial_integral import EXACT, Accuracy, n_nodes
from unselected.numerics.quadrature import gauss_legendre
from unselected.selection.count_score import EXPLAINED, CountScore

# Entries of the largest table of one pattern, and of those that are compared at a time.
MOST_ENTRIES, _BLOCK = 1 << 22, 1 << 18
# The log of a large number, which stands for the inverse of a probability of 0.
_LARGEST_LOG = 100.0


@dataclass(frozen=True)
class Omission:
    """Log probabilities that a feature is below, at, and at most at the cut, for each total.

    ``log_total`` is log P(m | alpha), and 0 where totals are not given; arrays of shape (totals,).
    ``error`` is about the standard error of P(at most); None where it is exact.
    """

    log_below: Floats
    log_at_cut: Floats
    log_at_most: Floats
    log_total: Floats
    error: Floats | None = None

    @classmethod
    def of_sums(cls, sums: Floats, log_total: Floats) -> "Omission":
        """Return them from sums (3, totals) of the probabilities below, at and above the cut.

        A probability near 1 is computed from its complement, so that small complements keep their
        digits.
        """
        below, at_cut, above = sums / sums.sum(axis=0)
        with np.errstate(divide="ignore"):
            return cls(
                _log_with_complement(below, at_cut + above),
                np.log(at_cut),
                _log_with_complement(below + at_cut, above),
                log_total,
            )

    def of_one(self) -> "Omission":
        """Return the probabilities where totals are not told apart, without their axis."""
        error = None if self.error is None else self.error[0]
        below, at_cut, at_most = self.log_below[0], self.log_at_cut[0], self.log_at_most[0]
        return Omission(below, at_cut, at_most, self.log_total[0], error)

    def of_totals(self, totals: slice) -> "Omission":
        """Return the probabilities of some of the totals, which are the last axis."""
        return Omission(
            self.log_below[..., totals],
            self.log_at_cut[..., totals],
            self.log_at_most[..., totals],
            self.log_total[..., totals],
            None if self.error is None else self.error[..., totals],
        )

    def averaged(self) -> "Omission":
        """Return the probabilities of a feature whose total is unknown: each is as probable."""
        parts = np.exp(self.log_below), np.exp(self.log_at_cut), -np.expm1(self.log_at_most)
        sums = np.array([[np.mean(part)] for part in parts])
        error = None if self.error is None else np.sqrt(np.mean(self.error**2, keepdims=True))
        return replace(Omission.of_sums(sums, np.zeros(1)), error=error).of_one()

    def of_any(self) -> "Omission":
        """Return the same where totals are told apart, and else the probabilities as they are."""
        return self.averaged() if self.log_at_most.ndim else self

    def given(self, totals: Ints) -> Floats:
        """Return log P(below), P(at the cut) and P(at most) of features with these totals."""
        logs = np.stack([self.log_below, self.log_at_cut, self.log_at_most])
        if logs.ndim == 1:  # whatever the total
            return logs[:, np.newaxis]
        return logs if logs.shape[1] == 1 else logs[:, totals]

    def log_errors(self, totals: Ints) -> Floats:
        """Return about the standard errors of log P(at most) of features with these totals."""
        if self.error is None:
            return np.zeros(totals.size)
        errors = np.atleast_1d(self.error * np.exp(np.minimum(-self.log_at_most, _LARGEST_LOG)))
        return np.broadcast_to(errors, totals.shape) if errors.size == 1 else errors[totals]


def _log_with_complement(probability: Floats, complement: Floats) -> Floats:
    """Return the log of a probability, from its complement where that is the smaller one."""
    return np.where(complement < 0.5, np.log1p(-np.minimum(complement, 0.5)), np.log(probability))


class CountTable:
    """Which vectors of counts are below, at and above a cut, and their totals.

    Parameters
    ----------
    sizes : sequence of int
        The numbers of cases (known values) of the classes.
    cut : Fraction or None
        A bound on the key of the score, by default on R^2; without it all vectors are below.
    by_total : bool
        Whether there is a row of sums for each total, 0 to n, or one for all.
    score : CountScore, default=EXPLAINED
    axis_of : array of int, default=None
        The axis of the table that each class has, where they are not in the order of the classes.
    """

    def __init__(
        self,
        sizes: tuple[int, ...],
        cut: Fraction | None,
        *,
        by_total: bool,
        score: CountScore = EXPLAINED,
        axis_of: Ints | None = None,
    ) -> None:
        self.sizes, self.by_total = sizes, by_total
        self.n_totals = sum(sizes) + 1 if by_total else 1
        self._axis_of = np.arange(len(sizes)) if axis_of is None else axis_of
        self._kind_of = self._kinds(cut, score)

    @classmethod
    def by_size(
        cls, sizes: tuple[int, ...], cut: Fraction | None, *, by_total: bool, score: CountScore
    ) -> "CountTable":
        """Return a table whose last axis is that of the largest class, which takes less memory."""
        order = np.argsort(sizes, kind="stable")
        each = tuple(sizes[g] for g in order)
        return cls(each, cut, by_total=by_total, score=score, axis_of=np.argsort(order))

    def _kinds(self, cut: Fraction | None, score: CountScore) -> NDArray[Any]:
        """Return where each vector of counts is summed: 3 m + 0, 1, 2 for below, at and above."""
        shape = tuple(n + 1 for n in self.sizes)
        n_vectors = int(np.prod(shape))
        # A row of sums for each total is counted by numpy, which needs its own kind of integers.
        kinds: NDArray[Any] = np.zeros(n_vectors, dtype=np.intp if self.by_total else np.int8)
        for start in range(0, n_vectors, _BLOCK):
            block = slice(start, min(start + _BLOCK, n_vectors))
            ones = np.stack(np.unravel_index(np.arange(block.start, block.stop), shape))
            if cut is not None:
                known = np.array(self.sizes)[self._axis_of]
                kinds[block] += score.compare(ones[self._axis_of], known, cut) + 1
            if self.by_total:
                kinds[block] += 3 * ones.sum(axis=0)
        return kinds

    def sums(self, table: Floats) -> Floats:
        """Return the sums (3, totals) of a table of all vectors, which is flattened."""
        if not self.by_total:
            return self._overall_sums(table.ravel())
        sums = np.bincount(self._kind_of, table.ravel(), minlength=3 * self.n_totals)
        return np.asarray(sums.reshape(-1, 3).T)

    @cached_property
    def _selected(self) -> list[NDArray[np.intp]]:
        """The places of the vectors at and above the cut."""
        return [np.flatnonzero(self._kind_of == kind) for kind in (1, 2)]

    def _overall_sums(self, table: Floats) -> Floats:
        """Return the sums over all totals: most vectors are below, and few need to be added up."""
        at_cut, above = (float(table[places].sum()) for places in self._selected)
        below = 1.0 - at_cut - above
        if below < 0.5:  # a small complement would lose its digits
            below = float(table[self._kind_of == 0].sum())
        return np.array([[below], [at_cut], [above]])

    def omission_together(self, tables: Floats) -> Omission:
        """Return the omission probabilities by total from tables (vectors, t), shape (t, totals).

        The sums are those of `sums`, in the same order, of all tables at once.
        """
        n = self._kind_of.size
        ones = csc_array((np.ones(n), self._kind_of, np.arange(n + 1)), (3 * self.n_totals, n))
        by_kind: Floats = np.asarray(ones @ tables)
        sums = by_kind.reshape(self.n_totals, 3, -1).transpose(1, 2, 0)
        return Omission.of_sums(sums, np.log(sums.sum(axis=0)))

    def omission(self, table: Floats) -> Omission:
        """Return the omission probabilities from a table of all vectors."""
        sums = self.sums(table)
        log_total = np.log(sums.sum(axis=0)) if self.by_total else np.zeros(1)
        return Omission.of_sums(sums, log_total)


def joint_table(pmfs: list[Floats], weights: Floats) -> Floats:
    """Return what some nodes of theta add to P(I_1, ..., I_G), shape (rows, n_G + 1).

    ``pmfs`` has P(I_g | theta) for each class, shape (nodes, n_g + 1). Rows are the vectors of all
    classes but the last.
    """
    rows = pmfs[0].T * weights
    for pmf in pmfs[1:-1]:
        rows = (rows[:, np.newaxis, :] * pmf.T).reshape(-1, weights.size)
    return np.asarray(rows @ pmfs[-1])


def n_entries(sizes: tuple[int, ...]) -> float:
    """Return the number of vectors of counts."""
    return float(np.prod([n + 1.0 for n in sizes]))


def log_totals(law: CountLaw, u: Floats) -> Floats:
    """Return log P(m | alpha = 1 / u) of each total m = 0..n, one row per u.

    The total is a sum of independent counts given theta: its law is a convolution, and the
    transforms of all nodes of theta are added up before the one back.

    >>> from unselected.numerics.quadrature import gauss_legendre
    >>> law = CountLaw((2, 3), *gauss_legendre(4))
    >>> (6.0 * np.exp(log_totals(law, np.array([0.0])))).round(12).tolist()  # all totals alike
    [[1.0, 1.0, 1.0, 1.0, 1.0, 1.0]]
    """
    size = sum(law.sizes) + 1
    rows = []
    for one_u in u.tolist():
        transform = np.zeros(size // 2 + 1, dtype=np.complex128)
        for nodes, *tables in law.pmf_blocks(one_u):
            product = np.multiply.reduce([np.fft.rfft(pmf, n=size, axis=1) for _, pmf in tables])
            transform += law.weights[nodes] @ product
        rows.append(np.log(np.maximum(np.fft.irfft(transform, n=size), 0.0)))
    return np.array(rows)


class TotalsAlone:
    """The probabilities of totals where nothing is omitted: every vector is below the cut."""

    def __init__(self, sizes: tuple[int, ...], refinement: int) -> None:
        self._sizes, self._refinement = sizes, refinement

    def at(self, u: float, accuracy: Accuracy = EXACT) -> Omission:
        """Return the probabilities at alpha = 1 / u."""
        rule = gauss_legendre(n_nodes(self._sizes, u, accuracy.per_root) * self._refinement)
        (log_total,) = log_totals(CountLaw(self._sizes, *rule), np.array([u]))
        surely = np.zeros(log_total.size)
        return Omission(surely, np.full(surely.size, -np.inf), surely, log_total)
