"""The omission probability of a binary feature given labels: a polynomial in its two rates.

Given the labels of the cases, a feature's ones fall at random on the cases of each label. With m1
ones among the N1 cases of label 1 and m2 among the N2 of label 2, the number of ones in class 1 is
a sum of two hypergeometric variables. So P(omitted | m1, m2) does not depend on the concentration
alpha. These probabilities are the coefficients of P(omitted | phi_1, phi_2) in the Bernstein basis.
Averaged over the distribution of (m1, m2) they give P(omitted | alpha, labels).
"""

from functools import lru_cache
from typing import Any

import numpy as np
from scipy.special import gammaln

from unselected._typing import Floats, Ints
from unselected.omission.binary import OmittedCounts
from unselected.selection.events import Event

# Largest number of doubles that are cached.
_MOST_KEPT = 1 << 25


@lru_cache(maxsize=1024)
def log_choose(n: int) -> Floats:
    """Return the logs of the binomial coefficients of n and 0..n.

    >>> np.exp(log_choose(3)).round(12).tolist()
    [1.0, 3.0, 3.0, 1.0]
    """
    i = np.arange(n + 1.0)
    logs = np.asarray(gammaln(n + 1.0) - gammaln(i + 1.0) - gammaln(n - i + 1.0))
    logs.flags.writeable = False
    return logs


def hypergeometric(n_white: int, n_black: int) -> Floats:
    """Return P(i white | m drawn), shape (n_white + n_black + 1, n_white + 1).

    >>> hypergeometric(1, 2).round(6).tolist()
    [[1.0, 0.0], [0.666667, 0.333333], [0.333333, 0.666667], [0.0, 1.0]]
    """
    n = n_white + n_black
    m, i = np.arange(n + 1)[:, np.newaxis], np.arange(n_white + 1)
    black = m - i
    possible = (black >= 0) & (black <= n_black)
    logs = log_choose(n_white)[i] + log_choose(n_black)[np.where(possible, black, 0)]
    return np.asarray(np.where(possible, np.exp(logs - log_choose(n)[m]), 0.0))


class OmittedIntervals:
    """For each number M = I0 + I1 of ones, the I1 of omitted features: low[M] <= I1 < high[M]."""

    def __init__(self, omitted: OmittedCounts, n0: int, n1: int) -> None:
        self.n0, self.n1 = n0, n1
        I0, I1 = np.arange(n0 + 1)[:, np.newaxis], np.arange(n1 + 1)
        inside = (I0 >= omitted.start) & (I0 < omitted.stop)
        # Where the correlation is at most 0, I1 is below or inside the interval, else inside or
        # above it.
        under = ~inside & (n0 * I1 <= n1 * I0)
        M = (I0 + I1).ravel()
        first = np.maximum(np.arange(n0 + n1 + 1) - n0, 0)
        self.low: Ints = first + np.bincount(M, weights=under.ravel()).astype(np.int64)
        self.high: Ints = self.low + np.bincount(M, weights=inside.ravel()).astype(np.int64)

    def given_ones(self, a: int, b: int, kernels: Any = None) -> Floats:
        """Return P(selected | m1, m2) and P(omitted | m1, m2), shape (2, N1 + 1, N2 + 1).

        Both are sums of positive terms. Label 1 has ``a`` cases of class 0 and ``b`` of class 1.
        """
        c, d = self.n1 - b, self.n0 - a
        if b > c:  # the same with the labels swapped, in fewer steps
            return self.given_ones(d, c, kernels).transpose(0, 2, 1)
        deal1, deal2 = hypergeometric(b, a), hypergeometric(c, d)
        N1, N2 = a + b, c + d
        below, from_there = _cumulated(deal2, b, self.n1 + 1)
        sums = np.zeros((2, N1 + 1, N2 + 1))
        half = N1 // 2 + 1
        add = _add_dealt if kernels is None else kernels.add_dealt
        add(sums[:, :half], deal1, below, from_there, self.low + b, self.high + b)
        # Swapping zeros and ones of a feature does not change its |COR|.
        sums[:, half:] = sums[:, : N1 + 1 - half][:, ::-1, ::-1]
        return sums


def _add_dealt(
    sums: Floats, deal1: Floats, below: Floats, from_there: Floats, low: Ints, high: Ints
) -> None:
    """Add the contribution of each number i of ones of label 1 in class 1 to the first m1.

    ``low`` and ``high`` are positions in the rows of ``below`` and ``from_there``. The compiled
    equivalent is in `compiled`.
    """
    half, n_rows = sums.shape[1], sums.shape[2]
    N1, b = deal1.shape[0] - 1, deal1.shape[1] - 1
    M = np.arange(half)[:, np.newaxis] + np.arange(n_rows)
    rows = np.arange(n_rows) * below.shape[1]
    starts, stops = low[M] + rows, high[M] + rows
    for i in range(min(b + 1, half)):
        m1 = slice(i, min(i + N1 - b + 1, half))  # others cannot have i of their ones there
        first, last = starts[m1] - i, stops[m1] - i
        weight = deal1[m1, i, np.newaxis]
        under = below.take(first)
        sums[0, m1] += weight * (under + from_there.take(last))
        sums[1, m1] += weight * (below.take(last) - under)


def _cumulated(pmf: Floats, n_before: int, last: int) -> tuple[Floats, Floats]:
    """Return P(i < t) and P(i >= t) for t = -n_before..last, from rows of P(i), i = 0..c."""
    c = pmf.shape[1] - 1
    below = np.zeros((pmf.shape[0], n_before + last + 1))
    from_there = np.zeros_like(below)
    np.cumsum(pmf, axis=1, out=below[:, n_before + 1 : n_before + c + 2])
    below[:, n_before + c + 2 :] = 1.0
    from_there[:, n_before : n_before + c + 1] = np.cumsum(pmf[:, ::-1], axis=1)[:, ::-1]
    from_there[:, :n_before] = 1.0
    return below, from_there


class LabelledOmission:
    """Log probabilities that a feature is at most at the cut, or below it, given labels."""

    def __init__(self, event: Event, n0: int, n1: int, kernels: Any = None) -> None:
        if event.cut is None:
            raise ValueError("the event has no cut, so no feature is omitted")
        sets = [OmittedCounts.at_most(event.cut, n0, n1)]
        if event.needs_below:
            sets.append(OmittedCounts.below(event.cut, n0, n1))
        self.event, self._kernels = event, kernels
        self._intervals = [OmittedIntervals(omitted, n0, n1) for omitted in sets]
        self._given_ones: dict[tuple[int, int], Floats] = {}
        self._most_kept = max(1, _MOST_KEPT // ((n0 + 2) * (n1 + 2) * len(sets)))

    def logs(self, a: int, b: int, law: Floats) -> tuple[Floats, Floats]:
        """Return log P(event) and log P(at most at the cut), for rows of P(m1, m2)."""
        parts = law @ self._coefficients(a, b).T
        with np.errstate(divide="ignore"):
            # From the smaller of the two sums.
            log_omitted = [
                np.where(selected < 0.5, np.log1p(-np.minimum(selected, 0.5)), np.log(omitted))
                for selected, omitted in parts.T.reshape(-1, 2, len(law))
            ]
        log_at_most = log_omitted[0]
        log_below = log_omitted[1] if self.event.needs_below else np.full(len(law), -np.inf)
        return self.event.log_prob(log_below, log_at_most), log_at_most

    def _coefficients(self, a: int, b: int) -> Floats:
        """Return `OmittedIntervals.given_ones` for both sets, a row each."""
        if (a, b) not in self._given_ones:
            if len(self._given_ones) >= self._most_kept:
                self._given_ones.clear()
            parts = [
                intervals.given_ones(a, b, self._kernels).reshape(2, -1)
                for intervals in self._intervals
            ]
            self._given_ones[a, b] = np.concatenate(parts)
        return self._given_ones[a, b]
