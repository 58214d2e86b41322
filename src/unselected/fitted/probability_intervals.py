"""Posterior intervals of predicted probabilities."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from unselected._typing import Floats
from unselected.dependence.power import PowerPosterior
from unselected.fitted.effects import check_level
from unselected.fitted.explanations import GuardedPredictor
from unselected.numerics.quadrature import log_sum

# Powers whose log weight is this far below the largest are left out.
UNLIKELY = 9.0
# Distributions over more values than this are replaced by this number of their quantiles.
_FEW = 100
# Probabilities that are equal when multiplied by this and rounded are the same.
_SAME = 1e12
# Elements of a table over rows, classes and nodes that are processed at a time.
_BLOCK = 1 << 20


def proba_interval(
    predictor: GuardedPredictor, rows: NDArray[Any], log_psi: Floats, level: float
) -> tuple[Floats, Floats]:
    """Return lower and upper ends of the probabilities of classes, each of shape (n, G).

    The probability given a node is P(class | x, node). The nodes have their posterior weights given
    the features of the case too: weight * P(x | node). Under these weights the mean of
    P(class | x, node) is the prediction P(class | x). The ends are quantiles of its distribution.

    Each node is combined with each power of the likelihood. Likelihoods other than the model's own
    are taken at the mean of the posterior, with their powers.
    """
    tails = check_level(level)
    powers = [likely(one) for one in predictor.average.powers]
    n_nodes, G = predictor.fitted.by_node(rows[:0])[1].size, predictor.fitted.classes.size
    size = max([n_nodes, *(min(n_nodes, _FEW) * power.eta.size for power in powers)])
    block_size = max(1, _BLOCK // (size * G))
    ends = np.empty((2, len(rows), G))
    for start in range(0, len(rows), block_size):
        block = slice(start, start + block_size)
        own = log_psi if log_psi.ndim == 1 else log_psi[block]
        probability, weights = _of_rows(predictor, rows[block], own, powers)
        ends[:, block] = _weighted_quantiles(probability, weights, tails)
    return ends[0], ends[1]


def _of_rows(
    predictor: GuardedPredictor, rows: NDArray[Any], log_psi: Floats, powers: "list[Powers]"
) -> tuple[Floats, Floats]:
    """Return probabilities and weights over nodes and powers, both (rows, G, values)."""
    logs, log_weights = predictor.fitted.by_node(rows)
    by_node = logs + log_psi[..., np.newaxis] + log_weights
    weights = np.broadcast_to(_weights_of_nodes(by_node)[:, np.newaxis], by_node.shape)
    parts = [_by_power(logs, log_psi, weights, powers[0])]
    if len(powers) > 1:
        parts += [
            _by_power(evidence[..., np.newaxis], log_psi, np.ones((*evidence.shape, 1)), power)
            for evidence, power in zip(predictor.log_evidence(rows)[1:], powers[1:], strict=True)
        ]
    shares = predictor.average.weights
    parts = [(each, w * share) for (each, w), share in zip(parts, shares, strict=True)]
    probabilities, all_weights = zip(*parts, strict=True)
    return np.concatenate(probabilities, axis=2), np.concatenate(all_weights, axis=2)


class Powers(NamedTuple):
    """Values of eta and epsilon, with their weights."""

    eta: Floats
    epsilon: Floats
    weights: Floats


def likely(power: PowerPosterior) -> Powers:
    """Return the values that are not very unlikely, to which quantiles are not sensitive."""
    some = power.log_weights > np.max(power.log_weights) - UNLIKELY
    weights = np.exp(power.log_weights[some])
    return Powers(power.eta[some], power.epsilon[some], weights / weights.sum())


def _weights_of_nodes(by_node: Floats) -> Floats:
    """Return the weights of the nodes given the row, (rows, nodes), from log P(class, x, node)."""
    log_node = log_sum(by_node, axis=1)
    return np.asarray(np.exp(log_node - log_sum(log_node, axis=1)[:, np.newaxis]))


def _by_power(
    log_evidence: Floats, log_psi: Floats, weights: Floats, power: Powers
) -> tuple[Floats, Floats]:
    """Return P(class | x) for each node and each power, one after another, and their weights.

    Where there are several powers, quantiles replace the distribution over many nodes.
    """
    prior = log_psi[..., np.newaxis]
    parts = []
    for eta in np.unique(power.eta):
        logs = log_evidence * eta + prior
        logs -= log_sum(logs, axis=1)[:, np.newaxis]
        probability, shares = (
            part[..., np.newaxis] for part in _thinned(np.exp(logs), weights, power.eta.size)
        )
        some = power.eta == eta
        epsilon, share_of = power.epsilon[some], power.weights[some]
        outlier = np.exp(prior)[..., np.newaxis]
        mixed = (1.0 - epsilon) * probability + epsilon * outlier
        parts.append((_flat(mixed), _flat(shares * share_of)))
    probability, weights = (np.concatenate(part, axis=2) for part in zip(*parts, strict=True))
    return probability, weights


def _flat(values: Floats) -> Floats:
    """Return the last two axes as one."""
    return values.reshape(*values.shape[:2], -1)


def _thinned(probability: Floats, weights: Floats, n_powers: int) -> tuple[Floats, Floats]:
    """Replace distributions over many nodes by some of their quantiles, denser in the tails."""
    if probability.shape[2] <= _FEW or n_powers == 1:
        return probability, weights
    levels = expit(np.linspace(-9.0, 9.0, _FEW))
    points = np.moveaxis(_weighted_quantiles(probability, weights, levels), 0, 2)
    shares = levels * (1.0 - levels)
    return points, np.broadcast_to(shares / shares.sum(), points.shape)


def _weighted_quantiles(probability: Floats, weights: Floats, levels: Floats) -> Floats:
    """Return quantiles (levels, rows, G) of probabilities with weights, both (rows, G, nodes)."""
    # Nodes that say nothing have equal probabilities, but for rounding, which must not order them.
    order = np.lexsort((weights, np.rint(probability * _SAME)), axis=2)
    probability = np.take_along_axis(probability, order, axis=2)
    weights = np.take_along_axis(weights, order, axis=2)
    # A node represents the interval half-way to its neighbours.
    below = np.cumsum(weights, axis=2) - 0.5 * weights
    ends = np.empty((levels.size, *order.shape[:2]))
    for place in np.ndindex(order.shape[:2]):
        ends[:, *place] = np.interp(levels, below[place], probability[place])
    return ends
