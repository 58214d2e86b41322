"""The probability of counts in several classes, integrated over theta, where there are many cases.

Gauss's rule in theta is exact with enough nodes, but a vector of counts has a probability only at a
few neighbouring ones. The log probability of counts is concave in theta, so that these lie around
its one peak.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import betaln

from unselected._typing import Floats, Ints
from unselected.numerics.beta_binomial import log_rising, theta_functions
from unselected.numerics.quadrature import gauss_legendre, theta_nodes

# How far from the middle of the nodes that are summed the peak may be.
_FAR = 4


@dataclass(frozen=True)
class Accuracy:
    """How many nodes of theta, and which counts at each of them, are summed.

    Attributes
    ----------
    per_root : float
        Nodes for each square root of the number of cases, see `theta_nodes`.
    each_side : int
        Nodes on each side of the peak of a vector of counts.
    per_root_of_sums : float
        The same as ``per_root`` for the probability of being selected. It is a sum over many
        vectors of counts, and a smoother function of theta than the probability of each.
    negligible : float
        In these sums counts with a probability below exp(-negligible) are left out.
    least_complement : float
        The probability of being omitted is 1 less that of being selected where it is at least this.
        Smaller ones would lose their digits.
    """

    per_root: float
    each_side: int
    per_root_of_sums: float
    negligible: float
    least_complement: float


# All digits: nodes are 0.7 standard deviations of theta apart, or less.
EXACT = Accuracy(4.5, 22, 3.3, 36.0, 0.5)
# Enough to find where a likelihood has its mass: seven digits of the probability of being selected.
ROUGH = Accuracy(2.0, 10, 2.0, 14.0, 0.01)


def log_counts_and_theta(
    ones: Ints,
    sizes: tuple[int, ...],
    u: float,
    refinement: int = 1,
    accuracy: Accuracy = EXACT,
    n_draws: int = 1,
) -> tuple[Floats, Floats]:
    """Return log P(I_1, ..., I_G | alpha = 1 / u) of vectors (G, v), and means given the counts.

    The means are those of `theta_functions`, shape (draws, v).

    >>> logs, means = log_counts_and_theta(np.array([[2], [3]]), (4, 5), 0.0)
    >>> round(float(means[0, 0]), 9) == round(6 / 11, 9)
    True
    """
    n_theta = n_nodes(sizes, u, accuracy.per_root, n_draws)
    nodes, weights = gauss_legendre(n_theta * refinement)
    places, logs = _around_peak(ones, sizes, u, nodes, accuracy.each_side * refinement, refinement)
    logs += np.log(weights)[places]
    top = logs.max(axis=1, keepdims=True, initial=-np.inf)
    terms = np.exp(logs - top)
    total = terms.sum(axis=1)
    n = np.array(sizes)[:, np.newaxis]
    log_orders = np.sum(-betaln(n - ones + 1.0, ones + 1.0) - np.log(n + 1.0), axis=0)
    falling = sum(float(log_rising(np.array(1.0), np.array(n_g), u)) for n_g in sizes)
    log_counts = top[:, 0] + np.log(total) + log_orders - falling
    means = [np.sum(terms * each[places], axis=1) for each in theta_functions(nodes, n_draws)]
    return log_counts, np.stack(means) / total


def n_nodes(
    sizes: tuple[int, ...], u: float, per_root: float = EXACT.per_root, n_draws: int = 1
) -> int:
    """Return a number of nodes of theta that is enough.

    The n_g cases of a class tell no more of theta than n_g / (1 + n_g u) independent ones. The
    number is rounded up, so that many u share a rule, which takes its time to compute.

    >>> n_nodes((1000, 1000), 1 / 300), n_nodes((1000, 1000), 1 / 310)
    (116, 116)
    """
    equivalent = sum(n / (1.0 + n * u) for n in sizes)
    least = theta_nodes(min(sum(sizes), int(equivalent) + 64) + n_draws - 1, per_root)
    step = 1 << max(0, least.bit_length() - 5)
    return math.ceil(least / step) * step


def _around_peak(
    ones: Ints,
    sizes: tuple[int, ...],
    u: float,
    nodes: Floats,
    each_side: int,
    refinement: int,
) -> tuple[Ints, Floats]:
    """Return nodes around the peak of each vector, and log P(counts | theta) there, (v, nodes)."""
    v, width = ones.shape[1], 2 * each_side + 1
    if 2 * nodes.size <= 3 * width:
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
