"""The probability of counts in several classes, integrated over theta, where there are many cases.

Gauss's rule in theta is exact with enough nodes, but a vector of counts has a probability only at a
few neighbouring ones. The log probability of counts is concave in theta, so that these lie around
its one peak.
"""

import numpy as np
from scipy.special import betaln

from unselected._typing import Floats, Ints
from unselected.numerics.beta_binomial import log_rising
from unselected.numerics.quadrature import gauss_legendre, theta_nodes

# Nodes on each side of the peak that are summed, and how far from the middle the peak may be.
# Neighbours are 0.7 standard deviations apart, or less.
_EACH_SIDE, _FAR = 28, 6


def log_counts_and_theta(
    ones: Ints, sizes: tuple[int, ...], u: float, refinement: int = 1
) -> tuple[Floats, Floats]:
    """Return log P(I_1, ..., I_G | alpha = 1 / u) and E[theta | counts] of vectors (G, v).

    >>> logs, theta = log_counts_and_theta(np.array([[2], [3]]), (4, 5), 0.0)
    >>> round(float(theta[0]), 9) == round(6 / 11, 9)
    True
    """
    nodes, weights = gauss_legendre(n_nodes(sizes, u) * refinement)
    places, logs = _around_peak(ones, sizes, u, nodes, refinement)
    logs += np.log(weights)[places]
    top = logs.max(axis=1, keepdims=True, initial=-np.inf)
    terms = np.exp(logs - top)
    total = terms.sum(axis=1)
    n = np.array(sizes)[:, np.newaxis]
    log_orders = np.sum(-betaln(n - ones + 1.0, ones + 1.0) - np.log(n + 1.0), axis=0)
    falling = sum(float(log_rising(np.array(1.0), np.array(n_g), u)) for n_g in sizes)
    log_counts = top[:, 0] + np.log(total) + log_orders - falling
    return log_counts, np.sum(terms * nodes[places], axis=1) / total


def n_nodes(sizes: tuple[int, ...], u: float) -> int:
    """Return a number of nodes of theta that is enough.

    The n_g cases of a class tell no more of theta than n_g / (1 + n_g u) independent ones.
    """
    equivalent = sum(n / (1.0 + n * u) for n in sizes)
    return min(theta_nodes(sum(sizes)), theta_nodes(int(equivalent) + 64))


def _around_peak(
    ones: Ints, sizes: tuple[int, ...], u: float, nodes: Floats, refinement: int
) -> tuple[Ints, Floats]:
    """Return nodes around the peak of each vector, and log P(counts | theta) there, (v, nodes)."""
    each_side, v = _EACH_SIDE * refinement, ones.shape[1]
    width = 2 * each_side + 1
    if nodes.size <= width + 2 * _FAR:
        places = np.broadcast_to(np.arange(nodes.size), (v, nodes.size))
        return places, _log_given_theta(ones, sizes, u, nodes[np.newaxis])
    middle = np.searchsorted(nodes, _guess(ones, sizes, u))
    places, logs = np.empty((v, width), dtype=np.int64), np.empty((v, width))
    unsure = np.arange(v)
    while unsure.size:
        first = np.clip(middle[unsure] - each_side, 0, nodes.size - width)
        places[unsure] = first[:, np.newaxis] + np.arange(width)
        logs[unsure] = _log_given_theta(ones[:, unsure], sizes, u, nodes[places[unsure]])
        peak = first + np.argmax(logs[unsure], axis=1)
        far = np.abs(peak - first - each_side) > _FAR * refinement
        at_end = (peak < each_side) | (peak >= nodes.size - each_side)
        moved = far & ~(at_end & (np.clip(peak - each_side, 0, nodes.size - width) == first))
        middle[unsure] = peak
        unsure = unsure[moved]
    return places, logs


def _guess(ones: Ints, sizes: tuple[int, ...], u: float) -> Floats:
    """Return about where the peak is: the mean of the rates, weighted by what each tells."""
    n = np.array(sizes, dtype=np.float64)[:, np.newaxis]
    weight = 1.0 / (1.0 + n * u)
    return np.asarray((1.0 + np.sum(weight * ones, axis=0)) / (2.0 + np.sum(weight * n)))


def _log_given_theta(ones: Ints, sizes: tuple[int, ...], u: float, theta: Floats) -> Floats:
    """Return log P(counts | theta), but for factors without theta, shape (v, nodes).

    ``theta`` has shape (v, nodes), or (1, nodes).
    """
    zeros = np.array(sizes)[:, np.newaxis] - ones
    rates, counts = np.stack([theta, 1.0 - theta]), np.stack([ones, zeros], axis=1)
    return np.asarray(log_rising(rates, counts[..., np.newaxis], u).sum(axis=(0, 1)))
