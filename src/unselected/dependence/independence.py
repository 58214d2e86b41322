"""How probable it is that features are independent within classes, from their own correlations.

Cases left out say how well a model predicts, but each of them says little. Where features are
independent within classes, so that naive Bayes is right, a few dozen unlucky cases may speak
against it. The pairs of strong columns are many more: their mean squared correlation within classes
has a known distribution under independence (`within_class`), and on real tables it lies far outside
of it. So it gives a posterior probability of independence, by which the guards against dependence
relax.

Pairs do not show one kind of dependence. Where a response follows a sum over independent features,
these are not independent given the response: of two that speak for the same class, one is less
needed where the other is there. Their correlation given the response is then the product of their
effects, with the other sign: next to nothing for most pairs, so that the mean over all does not
tell. So naive Bayes and features that are independent beforehand are compared by themselves.
"""

import numpy as np
from scipy.special import expit
from scipy.stats import gamma, norm

from unselected._typing import Floats
from unselected.dependence.within_class import SquaredCorrelations

# Where features depend on each other, the logarithm of their mean squared correlation, beyond that
# of independent ones, is uniform between these. Film reviews, whose words are close to independent,
# have 0.0006 to 0.0009, genes 0.01 to 0.4.
_LEAST, _LARGEST, _NODES = 5e-4, 0.5, 200
# What is observed of a sample varies by this part of it.
_RELATIVE_ERROR = 0.5
# The largest log odds of independence: dependence need not show in squared correlations.
_LARGEST_LOG_ODDS = 5.0
# Log odds of features that are independent given the response against those that are independent
# beforehand: before the features are seen, and at most.
_NAIVE_LOG_ODDS, _MOST_NAIVE = np.log(2.0), 2.0


def independence_probability(found: SquaredCorrelations) -> float:
    """Return the posterior probability of independence within classes; it is 1/2 beforehand.

    Under independence the mean squared correlation has a gamma distribution with its exact mean and
    variance. Under dependence it is normal around a larger mean, averaged over a prior.

    Examples
    --------
    >>> from unselected.dependence.within_class import squared_correlations
    >>> rng = np.random.default_rng(1)
    >>> y, X = np.arange(200) % 2, rng.normal(size=(200, 100))
    >>> both = X, X + 0.5 * rng.normal(size=(200, 1))
    >>> [round(independence_probability(squared_correlations(x, y)), 2) for x in both]
    [0.99, 0.0]
    """
    if not found.n_pairs or not found.variance > 0.0:
        return 0.5
    log_odds = _log_independent(found) - _log_dependent(found)
    return float(expit(min(log_odds, _LARGEST_LOG_ODDS)))


def _log_independent(found: SquaredCorrelations) -> float:
    scale = found.variance / found.expected
    return float(gamma.logpdf(found.seen, found.expected / scale, scale=scale))


def _log_dependent(found: SquaredCorrelations) -> float:
    excess = np.geomspace(_LEAST, _LARGEST, _NODES)
    spread: Floats = np.sqrt(found.variance + (_RELATIVE_ERROR * excess) ** 2)
    logs = norm.logpdf(found.seen - found.expected, excess, spread)
    return float(np.logaddexp.reduce(logs) - np.log(_NODES))


def naive_probability(units: Floats, effects: Floats) -> float:
    """Return how probable it is that features are independent given the response.

    The alternative is that they are independent beforehand, which has the prior probability 1/3.
    Given the response, features i and j then have the covariance -d_ij, in residual deviations,
    where d_ij is the sum over r of products of effects. Correlations have an error of variance
    1 / n. The probability is at most 0.88: the effects are not known for certain.

    Parameters
    ----------
    units : array of shape (n, k)
        What the response leaves of the features, of length 1 in each.
    effects : array of shape (k, r)
        Posterior means, in residual deviations, for codes with variance 1; conditioned on the
        selection, or they are too large.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y, X = rng.normal(size=200), rng.normal(size=(200, 10))
    >>> apart = y[:, np.newaxis] + X  # independent given y
    >>> total = X.sum(axis=1) + rng.normal(size=200)
    >>> def probability(X, y):
    ...     z = (y - y.mean()) / y.std()
    ...     slopes = z @ X / len(z)
    ...     rest = X - X.mean(axis=0) - np.outer(z, slopes)
    ...     lengths = np.sqrt((rest**2).sum(axis=0))
    ...     effects = (slopes / lengths)[:, np.newaxis] * len(z) ** 0.5
    ...     return naive_probability(rest / lengths, effects)
    >>> round(probability(apart, y), 3), round(probability(X, total), 3)
    (0.881, 0.0)
    """
    products = effects @ effects.T
    gained = (2.0 * (units.T @ units) + products) * products
    log_odds = _NAIVE_LOG_ODDS + 0.25 * len(units) * (gained.sum() - np.trace(gained))
    return float(expit(min(log_odds, _MOST_NAIVE)))
