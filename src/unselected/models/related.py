"""Which features are related to the response, given nodes of alpha and of the fraction of them."""

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from unselected._typing import Floats
from unselected.models.fractions import Fractions

# Elements of a table over nodes and features that are processed at a time.
_BLOCK = 1 << 15
# Log odds below the negative of this are as good as impossible.
_FARTHEST = 600.0
# Nodes whose weight is below this part of the largest add nothing to a probability.
_NEGLIGIBLE = 1e-15


def related_shares(log_odds: Floats) -> tuple[Floats, Floats]:
    """Return the probabilities that features are related and that they are not, from log odds.

    >>> [share.tolist() for share in related_shares(np.array([0.0, np.inf]))]
    [[0.5, 1.0], [0.5, 0.0]]
    """
    against = np.exp(np.minimum(-log_odds, _FARTHEST))
    related = 1.0 / (1.0 + against)
    return related, against * related


def related_probability(
    pi: Fractions, log_ratio: Floats, alpha_of: NDArray[np.intp], weights: Floats
) -> Floats:
    """Return the posterior probability that each feature is related, shape (features,).

    Given a node it is pi f_j / (pi f_j + (1 - pi) g_j). ``log_ratio`` has the shape (alphas,
    features).
    """
    total = np.zeros(log_ratio.shape[1])
    against = np.exp(np.clip(-log_ratio, -0.5 * _FARTHEST, 0.5 * _FARTHEST))
    live = weights > _NEGLIGIBLE * np.max(weights, initial=0.0)
    pi, alpha_of, weights = Fractions(*(part[live] for part in pi)), alpha_of[live], weights[live]
    odds_against = np.exp(np.clip(-pi.log_odds, -0.5 * _FARTHEST, 0.5 * _FARTHEST))
    rows = max(1, _BLOCK // max(1, total.size))
    for start in range(0, weights.size, rows):
        block = slice(start, start + rows)
        # 1 + (1 - pi) g_j / (pi f_j), without an exponential function for each node and feature.
        shares = against[alpha_of[block]]
        shares *= odds_against[block, np.newaxis]
        shares += 1.0
        total += weights[block] @ np.divide(1.0, shares, out=shares)
    return np.minimum(total, 1.0)


def related_weights(
    pi: Fractions | None, log_ratio: Floats, alpha_of: NDArray[np.intp], weights: Floats
) -> Floats:
    """Return P(related, alpha) of each feature, shape (alphas, features).

    This is `related_probability` for each alpha. Without fractions all features are related.
    """
    result = np.zeros(log_ratio.shape)
    if pi is None:
        np.add.at(result, alpha_of, weights[:, np.newaxis])
        return result
    columns = max(1, _BLOCK // weights.size)
    for start in range(0, log_ratio.shape[1], columns):
        block = slice(start, start + columns)
        log_odds = pi.log_odds[:, np.newaxis] + log_ratio[alpha_of, block]
        np.add.at(result[:, block], alpha_of, expit(log_odds) * weights[:, np.newaxis])
    return result
