"""The mixture by brute force: all labels, all columns, plain rules for the integrals.

Nothing is shared with the package but the event's definition.
"""

from collections import Counter
from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np
from scipy.special import betaln, gammaln, roots_legendre

# Prior mass beyond the last alpha is put there: with so large an alpha, all are infinite.
LOG_ALPHA = np.arange(-7.0, 32.0, 0.05)
_X, _W = roots_legendre(40)
THETA, THETA_WEIGHTS = 0.5 * (_X + 1.0), 0.5 * _W


def log_prior(a, b):
    """Log of the prior's mass at the nodes of log(alpha)."""
    logs = a * np.log(b) - gammaln(a) - a * LOG_ALPHA - b * np.exp(-LOG_ALPHA) + np.log(0.05)
    logs[-1] += -np.log(1.0 - np.exp(-0.05 * a))  # a geometric series
    return logs


def log_column(m, N, log_alpha=LOG_ALPHA):
    """log P(values in their order) of a column with m[z] ones among N[z] cases of label z."""
    if log_alpha is LOG_ALPHA:
        return log_column_there(tuple(m), tuple(N))
    return log_column_at(m, N, log_alpha)


@cache
def log_column_there(m, N):
    return log_column_at(m, N, LOG_ALPHA)


def log_column_at(m, N, log_alpha):
    alpha = np.exp(log_alpha)[:, np.newaxis]
    logs = np.log(THETA_WEIGHTS) + np.zeros((log_alpha.size, 1))
    for ones, cases in zip(m, N, strict=True):
        logs = logs + rising(alpha * THETA, ones) + rising(alpha * (1.0 - THETA), cases - ones)
        logs = logs - rising(alpha, cases)
    top = logs.max(axis=1)
    return np.log(np.exp(logs - top[:, np.newaxis]).sum(axis=1)) + top


def rising(x, m):
    """log of x (x + 1) ... (x + m - 1)."""
    return sum((np.log(x + r) for r in range(m)), start=np.zeros_like(x))


def cor_squared(column, y):
    n, m, n1, both = len(y), sum(column), sum(y), sum(c * r for c, r in zip(column, y, strict=True))
    if m in (0, n):
        return Fraction(0)
    return Fraction((n * both - m * n1) ** 2, m * (n - m) * n1 * (n - n1))


def log_omission(z, y, cut, strictly=False, log_alpha=LOG_ALPHA):
    """log P(omitted | alpha, labels), by all 2^n columns."""
    n = len(y)
    omitted = Counter()
    for column in product((0, 1), repeat=n):
        value = cor_squared(column, y)
        if value < cut or (value == cut and not strictly):
            m, N = counted(column, z)
            omitted[tuple(m)] += 1
    total = sum(times * np.exp(log_column(m, N, log_alpha)) for m, times in omitted.items())
    with np.errstate(divide="ignore"):
        return np.log(total)


def counted(column, z):
    column, z = np.asarray(column), np.asarray(z)
    return (
        [int(column[z == label].sum()) for label in (0, 1)],
        [int(np.sum(z == label)) for label in (0, 1)],
    )


class Enumerated:
    """The exact posterior: weights of all labels and of the nodes of alpha."""

    def __init__(self, bits, y, event, *, priors=((0.5, 5.0), (0.5, 5.0))):
        self.bits, self.y, self.priors = np.asarray(bits), list(map(int, y)), priors
        self.event = event
        self.labels = list(product((0, 1), repeat=len(y)))
        self.logs = np.array([self._log_event_and_features(z) for z in self.labels])
        self.log_joint = (
            self.logs + np.array([self._log_rest(z, self.y) for z in self.labels])[:, np.newaxis]
        )

    def _log_event_and_features(self, z):
        logs = log_prior(*self.priors[0])
        for column in self.bits.T:
            logs = logs + log_column(*counted(column, z))
        if self.event.n_omitted:
            at_most = log_omission(z, self.y, self.event.cut)
            below = log_omission(z, self.y, self.event.cut, strictly=True)
            logs = logs + self.event.log_prob(below, at_most)
        return logs

    def _log_rest(self, z, y):
        """log P(labels) + log P(y | labels)."""
        n, n1 = len(z), sum(z)
        by_alpha0 = log_prior(*self.priors[1]) + log_column(*counted(y, z))
        return betaln(n1 + 1, n - n1 + 1) + np.log(np.exp(by_alpha0).sum())

    @property
    def weights(self):
        """Posterior weights, shape (labels, alphas)."""
        weights = np.exp(self.log_joint - self.log_joint.max())
        return weights / weights.sum()

    @property
    def by_labels(self):
        """log P(labels, data, event), shape (labels,)."""
        top = self.log_joint.max()
        return np.log(np.exp(self.log_joint - top).sum(axis=1)) + top

    def predicted(self, row):
        """P(y* = 1, x*), P(y* = 0, x*) for a new case: with it the data are more probable so."""
        joint = np.zeros(2)
        weights = self.weights
        for z, weight in zip(self.labels, weights, strict=True):
            for label in (0, 1):
                larger = (*z, label)
                ratio = np.zeros(LOG_ALPHA.size)
                for column, value in zip(self.bits.T, row, strict=True):
                    ratio += log_column(*counted([*column, value], larger))
                    ratio -= log_column(*counted(column, z))
                for response in (0, 1):
                    log_rest = self._log_rest(larger, [*self.y, response])
                    log_rest -= self._log_rest(z, self.y)
                    joint[response] += weight @ np.exp(ratio + log_rest)
        return joint
