"""How probable it is that features are independent within classes, from their own correlations.

Cases left out say how well a model predicts, but each of them says little. Where features are
independent within classes, so that naive Bayes is right, a few dozen unlucky cases may speak
against it. The pairs of kept features are many more: their mean squared correlation within classes
has a known distribution under independence (`within_class`), and on real tables it lies far outside
of it. So it gives a posterior probability of independence, by which the guards against dependence
relax.
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
# The largest log odds of independence: dependence need not show in pairs.
_LARGEST_LOG_ODDS = 5.0


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
