"""Pooling the evidence of an average over models with that of logistic regressions.

The pooled log evidence is a sum,

    power * ((1 - share) * log evidence of the average  +  share * that of a regression),

where the power corrects what is too extreme, or not extreme enough: each likelihood of the average
is calibrated, so that their average is underconfident where they disagree, and so is the sum of two
kinds of evidence that err differently. A sum of logs is more extreme than an average of
probabilities, and predicted better (docs/evidence/classifier.md).

Power, share and the ridge of the regression are learned from cases left out. A regression needs
more cases than a model of the features, so that the prior probability of having one grows with
their number n: it is n / (n + 800). What is returned are posterior means of the factors: the sum
over ridges is linear again.
"""

from typing import NamedTuple

import numpy as np

from unselected._typing import Floats
from unselected.dependence.held_out import HeldOut
from unselected.numerics.quadrature import log_sum

# The logarithm of the power: nodes, and the standard deviation of its normal prior without a
# regression and with one.
_LOG_POWERS = np.linspace(-1.0, 1.0, 41)
_SPREAD_ALONE, _SPREAD_POOLED = 0.14, 0.3
# Log probabilities of cases left out are multiplied by this: see `estimators.member_weights`. In
# noise with far more columns than cases, where all fits keep nearly the same features by chance,
# their sum may be 10 too large.
_CASE_SHARE = 0.5
# Cases with which it is as probable as not that there is a regression.
_EVEN_CASES = 800.0
# Shares of a regression, whose prior falls linearly to 0 at 1.
_SHARES = np.linspace(0.1, 0.9, 9)
# Regressions with smaller factors than this in all are left out.
_LEAST = 0.05


class Pool(NamedTuple):
    """Factors of evidence: of the average, and of each regression; none of small ones."""

    power: float
    shares: Floats


def learn_pool(average: HeldOut, regressions: Floats) -> Pool:
    """Learn the factors from cases left out.

    Parameters
    ----------
    average : HeldOut
        The evidence of the average.
    regressions : array of shape (V, n, G)
        That of V regressions for the same cases.

    Examples
    --------
    Two kinds of evidence that err independently are worth as much as both together:

    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(2000) % 2
    >>> each = 2.0 * (rng.normal(size=(2, 2000)) + 2.0 * y - 1.0)
    >>> one, other = (np.stack([np.zeros(2000), odds], axis=1) for odds in each)
    >>> pool = learn_pool(HeldOut.of_classes(one, np.log([0.5, 0.5]), y), other[np.newaxis])
    >>> round(pool.power, 1), pool.shares.round(1).tolist()
    (1.0, [1.0])
    """
    powers = np.exp(_LOG_POWERS)
    n_cases = average.weight * average.size
    log_alone = np.log(_EVEN_CASES) - np.log(n_cases + _EVEN_CASES)
    alone = log_alone + _log_posterior(average, _SPREAD_ALONE)
    log_shares = np.log(-np.expm1(log_alone)) + _log_prior_of_shares(len(regressions))
    pooled = np.empty((len(regressions), _SHARES.size, powers.size))
    for v, own in enumerate(regressions):
        for s, share in enumerate(_SHARES):
            evidence = (1.0 - share) * average.log_evidence + share * own
            cases = average.with_evidence(evidence)
            pooled[v, s] = log_shares[s] + _log_posterior(cases, _SPREAD_POOLED)
    total = log_sum(np.append(alone, pooled.ravel()))
    own, shared = np.exp(alone - total), np.exp(pooled - total)
    shares = np.einsum("vsp,s,p->v", shared, _SHARES, powers)
    if shares.sum() < _LEAST:
        return Pool(float(np.exp(own @ _LOG_POWERS / own.sum())), np.zeros(0))
    rest = np.einsum("vsp,s,p->", shared, 1.0 - _SHARES, powers)
    return Pool(float(own @ powers + rest), shares)


def _log_prior_of_shares(n_regressions: int) -> Floats:
    """Return log prior probabilities of the shares of one of so many regressions."""
    falling = 1.0 - _SHARES
    return np.asarray(np.log(falling / falling.sum()) - np.log(max(1, n_regressions)))


def _log_posterior(cases: HeldOut, spread: float) -> Floats:
    """Return log P(observed classes, power) at each power, shape (powers,)."""
    log_prior = -0.5 * (_LOG_POWERS / spread) ** 2
    gained = cases.log_without_outliers(np.exp(_LOG_POWERS)).sum(axis=1)
    return np.asarray(_CASE_SHARE * cases.weight * gained + log_prior - log_sum(log_prior))
