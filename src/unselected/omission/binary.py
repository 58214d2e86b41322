"""The omission probability of a binary feature.

It is the sum of P(I0, I1) over the counts whose |COR| does not pass the cut (section 3.4 of the
paper). For each I1 the omitted I0 form one interval, so that cumulative sums of P(I0 | theta) are
enough, and no table over all (I0, I1) is built.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from unselected._typing import Floats, Ints
from unselected.numerics.beta_binomial import CountLaw
from unselected.selection.correlation import compare


@dataclass(frozen=True)
class OmittedCounts:
    """The counts (I0, I1) of features that are omitted: start[I1] <= I0 < stop[I1]."""

    start: Ints
    stop: Ints

    @cached_property
    def selected(self) -> tuple[int, Ints]:
        """The first I1 with selected counts on the positive side, and start from there on."""
        # start increases with I1. On the positive side exactly the I0 below it are selected.
        first = int(np.searchsorted(self.start, 1))
        return first, self.start[first:]

    @classmethod
    def at_most(cls, cut: Fraction, n0: int, n1: int) -> "OmittedCounts":
        """Return the counts with |COR| <= gamma: L-, L0 and L+ of the paper.

        >>> from unselected.selection.correlation import threshold_cut
        >>> omitted = OmittedCounts.at_most(threshold_cut(0.9), 2, 2)
        >>> omitted.start.tolist(), omitted.stop.tolist()  # all but (2, 0) and (0, 2)
        ([0, 0, 1], [2, 3, 3])
        """
        return cls._below_passing(cut, n0, n1, least_sign=1)

    @classmethod
    def below(cls, cut: Fraction, n0: int, n1: int) -> "OmittedCounts":
        """Return the counts with |COR| < gamma; none where gamma = 0."""
        return cls._below_passing(cut, n0, n1, least_sign=0)

    @classmethod
    def _below_passing(cls, cut: Fraction, n0: int, n1: int, least_sign: int) -> "OmittedCounts":
        # COR decreases in I0: bisection finds the number of I0, from 0 on, that pass on the
        # positive side.
        I1 = np.arange(n1 + 1)
        low, high = np.zeros_like(I1), np.full_like(I1, n0 + 1)
        while np.any(low < high):
            I0 = np.minimum((low + high) // 2, n0)
            passes = (n0 * I1 >= n1 * I0) & (compare(I0, I1, n0, n1, cut) >= least_sign)
            low, high = np.where(passes, I0 + 1, low), np.where(passes, high, np.minimum(I0, high))
        # Swapping zeros and ones maps (I0, I1) to (n0 - I0, n1 - I1) and Cor to -Cor.
        return cls(start=low, stop=np.maximum(n0 + 1 - low[::-1], low))

    def omitted_probability(self, pmf0: Floats, pmf1: Floats, weights: Floats) -> float:
        """Return what some nodes of theta add to P(omitted), as a sum of positive terms."""
        cumulative = _cumulate(pmf0)
        interval = cumulative[:, self.stop] - cumulative[:, self.start]
        return float(weights @ np.einsum("ij,ij->i", pmf1, interval))


def selected_probabilities(
    sets: list[OmittedCounts], pmf0: Floats, pmf1: Floats, weights: Floats
) -> Floats:
    """Return what some nodes of theta add to P(not in the set), equation (eq-sum-H) of the paper.

    Parameters
    ----------
    sets : list of OmittedCounts
    pmf0, pmf1 : arrays of shapes (..., nodes, n0 + 1) and (..., nodes, n1 + 1)
        P(I0 | theta) and P(I1 | theta). The nodes come with their mirror images, so that the
        positive side of Cor is summed and doubled.
    weights : array of shape (nodes,)

    Returns
    -------
    probabilities : array of shape (..., sets)
    """
    cumulative = _cumulate(pmf0[..., : max((omitted.start[-1] for omitted in sets), default=0)])
    selected = np.empty((*pmf0.shape[:-2], len(sets)))
    for j, omitted in enumerate(sets):
        first, start = omitted.selected
        each = np.einsum("...ij,...ij->...i", pmf1[..., first:], cumulative[..., start])
        selected[..., j] = (each[..., np.newaxis, :] @ weights[:, np.newaxis])[..., 0, 0]
    return 2.0 * selected


def _cumulate(pmf: Floats) -> Floats:
    """Return P(I < i) for i = 0..n + 1 from rows of P(I = i)."""
    cumulative = np.zeros((*pmf.shape[:-1], pmf.shape[-1] + 1))
    np.cumsum(pmf, axis=-1, out=cumulative[..., 1:])
    return cumulative


def log_omission(law: CountLaw, u: float, omitted: OmittedCounts, selected: float) -> float:
    """Return log P(omitted | alpha = 1/u), given P(selected).

    Where most features are selected, 1 - P(selected) would lose digits, and P(omitted) is summed
    directly.

    >>> from unselected.numerics.quadrature import gauss_legendre
    >>> from unselected.selection.correlation import threshold_cut
    >>> law = CountLaw((2, 2), *gauss_legendre(3))
    >>> omitted = OmittedCounts.at_most(threshold_cut(0.9), 2, 2)
    >>> selected = sum(
    ...     selected_probabilities([omitted], np.exp(log_p0), np.exp(log_p1), law.weights[nodes])[0]
    ...     for nodes, log_p0, log_p1 in law.blocks(0.0)
    ... )
    >>> round(float(np.exp(log_omission(law, 0.0, omitted, selected))), 12)
    0.933333333333
    """
    if selected < 0.5:
        return float(np.log1p(-selected))
    total = sum(
        omitted.omitted_probability(np.exp(log_p0), np.exp(log_p1), law.weights[nodes])
        for nodes, log_p0, log_p1 in law.blocks(u)
    )
    return float(np.log(total)) if total > 0 else -np.inf


def omission_probability(law: CountLaw, cut: Fraction, u: Floats) -> Floats:
    """Return P(COR^2 <= cut | alpha = 1/u) of one binary feature, at each u."""
    omitted = OmittedCounts.at_most(cut, law.n0, law.n1)
    return np.exp([log_omission(law, x, omitted, _selected(law, x, omitted)) for x in u])


def _selected(law: CountLaw, u: float, omitted: OmittedCounts) -> float:
    parts = (
        selected_probabilities([omitted], pmf0, pmf1, law.weights[nodes])[0]
        for nodes, (_, pmf0), (_, pmf1) in law.pmf_blocks(u)
    )
    return float(sum(parts))
