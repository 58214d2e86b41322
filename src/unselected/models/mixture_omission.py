"""The omission probability of a binary feature given labels: a polynomial in its two rates.

Given the labels of the cases, a feature's ones are dealt out at random within each label. With m1
ones among the N1 cases of label 1 and m2 among the N2 of label 2, the number of those ones
that fall on cases of class 1 is a sum of two hypergeometric variables. So P(omitted | m1, m2) is
the same whatever the concentration alpha: the coefficients of P(omitted | phi_1, phi_2) in the
Bernstein basis. Averaged over the law of (m1, m2) they give P(omitted | alpha, labels).
"""

from fractions import Fraction

import numpy as np
from scipy.special import gammaln

from unselected.events import Event
from unselected.omission import OmittedCounts
from unselected.quadrature import Floats
from unselected.tables import Ints


def log_choose(n: int) -> Floats:
    """Return the logs of the binomial coefficients of n and 0..n.

    >>> np.exp(log_choose(3)).round(12).tolist()
    [1.0, 3.0, 3.0, 1.0]
    """
    i = np.arange(n + 1.0)
    return np.asarray(gammaln(n + 1.0) - gammaln(i + 1.0) - gammaln(n - i + 1.0))


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
        # At a correlation of 0 or below I1 is below the interval, or inside, else inside or above.
        under = ~inside & (n0 * I1 <= n1 * I0)
        M = (I0 + I1).ravel()
        first = np.maximum(np.arange(n0 + n1 + 1) - n0, 0)
        self.low: Ints = first + np.bincount(M, weights=under.ravel()).astype(np.int64)
        self.high: Ints = self.low + np.bincount(M, weights=inside.ravel()).astype(np.int64)

    def given_ones(self, a: int, b: int) -> Floats:
        """Return P(selected | m1, m2) and P(omitted | m1, m2), shape (2, N1 + 1, N2 + 1).

        Both as sums of what is positive. Label 1 has ``a`` cases of class 0 and ``b`` of class 1.
        """
        c, d = self.n1 - b, self.n0 - a
        deal1, deal2 = hypergeometric(b, a), hypergeometric(c, d)
        below, from_there = _cumulated(deal2)
        N1, N2 = a + b, c + d
        M = np.arange(N1 + 1)[:, np.newaxis] + np.arange(N2 + 1)
        low, high = self.low[M], self.high[M]
        rows = np.arange(N2 + 1) * (c + 2)
        sums = np.zeros((2, N1 + 1, N2 + 1))
        for i in range(b + 1):
            m1 = slice(i, i + a + 1)  # others cannot have i of their ones in class 1
            first = rows + np.clip(low[m1] - i, 0, c + 1)
            last = rows + np.clip(high[m1] - i, 0, c + 1)
            weight = deal1[m1, i, np.newaxis]
            under = below.take(first)
            sums[0, m1] += weight * (under + from_there.take(last))
            sums[1, m1] += weight * (below.take(last) - under)
        return sums


def _cumulated(pmf: Floats) -> tuple[Floats, Floats]:
    """Return P(i < t) and P(i >= t) for t = 0..c + 1, from rows of P(i)."""
    below = np.zeros((pmf.shape[0], pmf.shape[1] + 1))
    from_there = np.zeros_like(below)
    np.cumsum(pmf, axis=1, out=below[:, 1:])
    from_there[:, :-1] = np.cumsum(pmf[:, ::-1], axis=1)[:, ::-1]
    return below, from_there


class LabelledOmission:
    """Log probabilities that a feature is at most at the cut, or below it, given labels."""

    def __init__(self, cut: Fraction, n0: int, n1: int) -> None:
        self.n0, self.n1 = n0, n1
        makers = (OmittedCounts.at_most, OmittedCounts.below)
        self.at_most, self.below = (
            OmittedIntervals(make(cut, n0, n1), n0, n1) for make in makers
        )

    def log_at_most(self, a: int, b: int, law: Floats) -> Floats:
        """Return log P(at most at the cut), for rows of P(m1, m2)."""
        return _log_omitted(self.at_most.given_ones(a, b), law)

    def log_event(self, event: Event, a: int, b: int, law: Floats) -> Floats:
        """Return the log probability of the event, for rows of P(m1, m2)."""
        log_at_most = self.log_at_most(a, b, law)
        if not event.needs_below:
            return event.log_prob(np.full_like(log_at_most, -np.inf), log_at_most)
        log_below = _log_omitted(self.below.given_ones(a, b), law)
        return event.log_prob(log_below, log_at_most)


def _log_omitted(given_ones: Floats, law: Floats) -> Floats:
    """Return log P(omitted), from whichever of the two sums is the smaller."""
    selected, omitted = given_ones.reshape(2, -1) @ law.T
    with np.errstate(divide="ignore"):
        return np.where(selected < 0.5, np.log1p(-np.minimum(selected, 0.5)), np.log(omitted))
