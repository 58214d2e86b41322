"""Naive Bayes of bits with one table for each stratum of a covariate, given the selection.

The rates of feature j in stratum s and class g are phi_gjs ~ Beta(alpha theta_js,
alpha (1 - theta_js)), and theta_js ~ Uniform(0, 1). The score is the partial correlation given the
strata. Given the totals of a feature in the strata, it depends only on the number of ones in
class 1, all strata together. So the omission probability given totals is exact: a convolution.
Where totals are not given, they are averaged over. A prototype, for a comparison.
"""

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammainc, gammaln, logsumexp
from scipy.stats import qmc

from unselected.numerics.quadrature import gauss_legendre

Array = NDArray[Any]

# Nodes of u = 1 / alpha; the last stands for 0, where features are unrelated to the class.
U = np.append(np.exp(np.linspace(np.log(1e-5), np.log(4.0), 40)), 1e-7)
# Nodes of the log-uniform fraction of related features from 1 / p, of 0 to 1.
FRACTIONS = (np.arange(12) + 0.5) / 12
# Vectors of totals that are averaged over.
N_TOTALS = 2048
# Scores that differ by less than this tie.
TIE = 1e-9


class Table(NamedTuple):
    """One stratum at one u: P(I0, I1), E[theta | I0, I1], P(I1 | total) and P(total)."""

    joint: Array
    theta: Array
    given: Array
    total: Array


@cache
def tables(n0: int, n1: int) -> list[Table]:
    """Return the exact tables of class sizes n0 and n1 at each u."""
    theta, weights = (x[:, np.newaxis] for x in gauss_legendre((n0 + n1) // 2 + 2))
    I1 = np.arange(n1 + 1)
    I0 = np.arange(n0 + n1 + 1)[:, np.newaxis] - I1
    possible, I0 = (I0 >= 0) & (I0 <= n0), np.clip(I0, 0, n0)
    found = []
    for u in U:
        pmf0, pmf1 = (_beta_binomial(n, theta, 1.0 / u) for n in (n0, n1))
        joint = pmf0.T @ (weights * pmf1)
        rows = np.where(possible, joint[I0, I1], 0.0)
        total = rows.sum(axis=1)
        mean = pmf0.T @ (weights * theta * pmf1) / joint
        found.append(Table(joint, mean, rows / total[:, np.newaxis], total))
    return found


def _beta_binomial(n: int, theta: Array, alpha: float) -> Array:
    i, a, b = np.arange(n + 1), alpha * theta, alpha * (1.0 - theta)
    orders = gammaln(n + 1) - gammaln(i + 1) - gammaln(n - i + 1)
    ones, zeros = gammaln(a + i) - gammaln(a), gammaln(b + n - i) - gammaln(b)
    return np.asarray(np.exp(orders + ones + zeros - gammaln(alpha + n) + gammaln(alpha)))


def class_sizes(y: Array, strata: Array, n_strata: int) -> Array:
    """Return the numbers of cases, shape (S, 2)."""
    return np.bincount(2 * strata + y, minlength=2 * n_strata).reshape(n_strata, 2)


class Bits(NamedTuple):
    """Counts of ones (S, 2, p) and of cases (S, 2)."""

    ones: Array
    sizes: Array

    @classmethod
    def of(cls, X: Array, y: Array, strata: Array, n_strata: int) -> "Bits":
        """Count the ones in each stratum and class."""
        cell = np.eye(2 * n_strata, dtype=np.int64)[2 * strata + y]
        ones = (cell.T @ X).reshape(n_strata, 2, -1)
        return cls(ones, class_sizes(y, strata, n_strata))

    @property
    def totals(self) -> Array:
        """Ones of both classes, shape (p, S)."""
        return np.asarray(self.ones.sum(axis=1).T)

    def scores(self, ones: Array, totals: Array) -> Array:
        """Return squared partial correlations, but for a factor.

        ``ones`` are those of class 1 in all strata together; ``totals`` has shape (..., S).
        """
        n = np.maximum(self.sizes.sum(axis=1), 1)
        expected = totals @ (self.sizes[:, 1] / n)
        spread = np.sum(totals * (n - totals) / n, axis=-1)
        return np.asarray((ones - expected) ** 2 / np.maximum(spread, 1e-300))

    def selected(self, at_u: list[Table], totals: Array, cut: float) -> Array:
        """Return P(score > cut) and P(score >= cut) given totals (v, S), shape (2, v)."""
        length = int(self.sizes[:, 1].sum()) + 1
        product = np.ones((len(totals), length // 2 + 1), complex)
        for table, t in zip(at_u, totals.T, strict=True):
            product *= np.fft.rfft(table.given, length)[t]
        law = np.clip(np.fft.irfft(product, length), 0.0, 1.0)
        each = self.scores(np.arange(length), totals[:, np.newaxis])
        return np.stack([(law * (each > limit)).sum(axis=1) for limit in (cut + TIE, cut - TIE)])


class Stratified(NamedTuple):
    """The kept features, log weights of the nodes, and P(x = 1), shape (nodes, k, S, 2)."""

    kept: Array
    log_weights: Array
    chances: Array

    @classmethod
    def fit(cls, bits: Bits, k: int, *, sparse: bool, given: bool) -> "Stratified":
        """Select k features; with ``given`` the totals of all features are given."""
        p, totals = bits.ones.shape[2], bits.totals
        scores = bits.scores(bits.ones[:, 1].sum(axis=0), totals)
        kept = np.argsort(-np.round(scores / TIE), kind="stable")[:k]
        cut, omitted = scores[kept[-1]], np.setdiff1d(np.arange(p), kept)
        before = omitted < kept[-1]  # with a score equal to the cut, these would have been kept
        selected, log_kept, chances = [], [], []
        points = qmc.Sobol(len(bits.sizes), rng=0).random(N_TOTALS)
        for i, u in enumerate(U):
            at_u = [tables(*sizes)[i] for sizes in bits.sizes.tolist()]
            if given:
                above, not_below = bits.selected(at_u, totals[omitted], cut)
            else:
                sums = [np.cumsum(table.total)[:-1] for table in at_u]
                drawn = [np.searchsorted(*each) for each in zip(sums, points.T, strict=True)]
                above, not_below = bits.selected(at_u, np.stack(drawn, axis=1), cut).mean(axis=1)
            selected.append(np.where(before, not_below, above))
            log_kept.append(np.zeros(k))
            chances.append(np.empty((k, len(at_u), 2)))
            for s, (table, sizes) in enumerate(zip(at_u, bits.sizes, strict=True)):
                I0, I1 = I = bits.ones[s][:, kept]
                log_kept[-1] += np.log(table.given[I0 + I1, I1] if given else table.joint[I0, I1])
                chances[-1][:, s] = ((u * I + table.theta[I0, I1]) / (u * sizes[:, None] + 1.0)).T
        at_all_u = np.array(selected), np.array(log_kept), np.array(chances)
        return cls(kept, *_averaged(*at_all_u, p, sparse))

    def log_proba(self, X: Array, strata: Array) -> Array:
        """Return log P(kept features | stratum, class) of cases, shape (cases, 2)."""
        logs = np.empty((2, self.log_weights.size, strata.size))
        for s in np.unique(strata):
            rows = X[strata == s][:, self.kept].T.astype(float)
            for g, chances in enumerate(np.moveaxis(self.chances[:, :, s], 2, 0)):
                logs[g][:, strata == s] = np.log(chances) @ rows + np.log1p(-chances) @ (1 - rows)
        return np.asarray(logsumexp(logs + self.log_weights[:, np.newaxis], axis=1).T)


def _averaged(
    selected: Array, log_kept: Array, chances: Array, p: int, sparse: bool
) -> tuple[Array, Array]:
    """Return the nodes of alpha and of the fraction of related features that have any weight.

    The arguments are P(selected) of omitted features, log likelihoods of kept ones and their
    predictive probabilities, each at all u.
    """
    fractions = p ** (FRACTIONS - 1.0) if sparse else np.ones(1)
    log_weights, mixed = [], []
    # The prior of steps in log u, u ~ Gamma(1/2, rate 5): the first has all that is below.
    edges = np.append(np.sqrt(U[1:-1] * U[:-2]), np.inf)
    log_prior = np.log(np.diff(gammainc(0.5, 5.0 * edges), prepend=0.0))
    for i, log_step in enumerate(log_prior):
        for pi in fractions:
            omitted = np.log1p(-pi * selected[i] - (1.0 - pi) * selected[-1]).sum()
            with np.errstate(divide="ignore"):
                parts = np.log([pi, 1.0 - pi])[:, np.newaxis] + log_kept[[i, -1]]
            each = np.logaddexp(*parts)
            log_weights.append(log_step + omitted + each.sum())
            related = np.exp(parts[0] - each)[:, np.newaxis, np.newaxis]
            mixed.append(related * chances[i] + (1.0 - related) * chances[-1])
    log = np.array(log_weights) - logsumexp(log_weights)
    return log[log > -12.0], np.array(mixed)[log > -12.0]
