"""Pooling the evidence of an average over models with that of logistic regressions.

The pooled log evidence is a sum,

    power * ((1 - share) * log evidence of the average  +  share * that of a regression)  +  offset,

where the power corrects what is too extreme, or not extreme enough: each likelihood of the average
is calibrated, so that their average is underconfident where they disagree, and so is the sum of two
kinds of evidence that err differently. A sum of logs is more extreme than an average of
probabilities, and predicted better (docs/evidence/classifier.md).

Power, share and the ridge of the regression are learned from cases left out. A regression needs
more cases than a model of the features, so that the prior probability of having one grows with
their number n: it is n / (n + 800). What is returned are posterior means of the factors: the sum
over ridges is linear again. The offset of each class is learned last. It corrects what features
that are counted several times say of typical cases: of a text that has none of the kept words, say.
"""

from typing import NamedTuple

import numpy as np

from unselected._typing import Floats
from unselected.dependence.held_out import HeldOut
from unselected.numerics.quadrature import log_sum

# The logarithm of the power: nodes, 0 among them, and the standard deviation of its normal prior.
_LOG_POWERS = np.append(0.0, np.delete(np.linspace(-1.0, 1.0, 41), 20))
_SPREAD = 0.4
_PRIOR_OF_POWERS = np.exp(-0.5 * (_LOG_POWERS / _SPREAD) ** 2)
_PRIOR_OF_POWERS /= _PRIOR_OF_POWERS.sum()
# Log probabilities of cases left out are multiplied by this: see `estimators.member_weights`.
_CASE_SHARE = 0.5
# Cases with which it is as probable as not that there is a regression.
_EVEN_CASES = 800.0
# The standard deviation of the normal prior of the difference between the offsets of two classes.
_OFFSET = 0.5
_NEWTON_STEPS = 30
# Shares of a regression, whose prior falls linearly to 0 at 1.
_SHARES = np.linspace(0.1, 0.9, 9)
# Regressions with smaller factors than this in all are left out.
_LEAST = 0.05


class Pool(NamedTuple):
    """Factors of evidence: of the average, and of each regression; none of small ones."""

    power: float
    shares: Floats


def learn_pool(average: HeldOut, regressions: Floats, independent: float = 0.0) -> Pool:
    """Learn the factors from cases left out.

    Parameters
    ----------
    average : HeldOut
        The evidence of the average.
    regressions : array of shape (V, n, G)
        That of V regressions for the same cases.
    independent : float
        The probability that features are independent within classes, as their correlations tell
        it. Then the average is right: its power is 1, and there is no regression.

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
    prior = (1.0 - independent) * _PRIOR_OF_POWERS
    prior_alone = prior * _EVEN_CASES / (n_cases + _EVEN_CASES)
    prior_alone[0] += independent
    alone = np.log(prior_alone) + _log_likelihood(average)
    log_prior = np.log(prior * n_cases / (n_cases + _EVEN_CASES))
    log_shares = _log_prior_of_shares(len(regressions))
    pooled = np.empty((len(regressions), _SHARES.size, powers.size))
    for v, own in enumerate(regressions):
        for s, share in enumerate(_SHARES):
            evidence = (1.0 - share) * average.log_evidence + share * own
            cases = average.with_evidence(evidence)
            pooled[v, s] = log_shares[s] + log_prior + _log_likelihood(cases)
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


def _log_likelihood(cases: HeldOut) -> Floats:
    """Return the log probability of the observed classes at each power, shape (powers,)."""
    gained = cases.log_without_outliers(np.exp(_LOG_POWERS)).sum(axis=1)
    return np.asarray(_CASE_SHARE * cases.weight * gained)


def learn_offset(cases: HeldOut, independent: float = 0.0) -> Floats:
    """Return what to add to the log evidence for each class, shape (G,); the sum is 0.

    It is the mode of a concave log posterior, found by Newton's method. Where the features are
    ``independent``, it is 0.

    Examples
    --------
    Half of the cases are of each class, but the evidence is for the first:

    >>> y = np.arange(400) % 2
    >>> cases = HeldOut.of_classes(np.tile([0.6, 0.0], (400, 1)), np.log([0.5, 0.5]), y)
    >>> learn_offset(cases).round(1).tolist()
    [-0.3, 0.3]
    """
    G = cases.log_evidence.shape[1]
    counts = np.bincount(cases.codes, minlength=G)
    offset, precision = np.zeros(G), 2.0 / _OFFSET**2
    for _ in range(_NEWTON_STEPS):
        logits = cases.log_prior + cases.log_evidence + offset
        proba = np.exp(logits - log_sum(logits, axis=1)[:, np.newaxis])
        weight = _CASE_SHARE * cases.weight
        slope = weight * (counts - proba.sum(axis=0)) - precision * offset
        curvature = weight * (np.diag(proba.sum(axis=0)) - proba.T @ proba)
        step = np.linalg.solve(curvature + precision * np.eye(G), slope)
        offset = offset + step
        if np.abs(step).max() < 1e-12:
            break
    return np.asarray((1.0 - independent) * (offset - offset.mean()))
