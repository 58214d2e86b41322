"""Why a case has its probability: what each feature adds, and how sure the probability is.

Given a node of the posterior (alpha or tau, and the fraction of related features) the features are
independent within a class, and their logs add up. The model's probability averages over the nodes,
so that its log odds are no sum. At the mean of the posterior, where a feature has the law

    P(x_j | class) = sum over nodes of weight * P(x_j | class, node),

they are one, and it is told how far that is from the model's own.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from unselected._typing import ColumnNamer, Floats
from unselected.dependence.averaging import Weighing
from unselected.dependence.power import Tempering
from unselected.fitted.effects import check_level
from unselected.fitted.naive_bayes import KeptBernoulli, KeptGaussian, real_rows
from unselected.numerics.quadrature import log_sum
from unselected.statistics.binarizing import binarize_columns

# What evidence is worth is left out where it is, in logs, so much less likely than the best value.
_UNLIKELY = 9.0
# Laws of more values than this are replaced by so many of their quantiles.
_FEW = 100
# Elements of a table over rows, classes and nodes that are worked on at a time.
_BLOCK = 1 << 20


@dataclass(frozen=True, eq=False)
class Explanation:
    """The log odds of n cases as sums over features.

    With two classes the odds are those of the second against the first, and arrays are as below.
    With G classes they are those of each class against the geometric mean of all, and arrays
    have one more axis for the class, the last.

    Attributes
    ----------
    features : array of shape (k,)
        Names or numbers of the kept features.
    classes : array of shape (G,)
    prior : array of shape ()
        Log odds before any feature is seen.
    contributions : array of shape (n, k)
        What each feature adds: log P(x_j | second class) - log P(x_j | first class); 0 where it is
        missing. With ``dependence="tempered"`` times the mean of what evidence is worth. With
        "correlated", the same averaged over the likelihoods; where these are of correlated
        features, the log of the squared distance is divided as the sum it is of.
    total : array of shape (n,)
        Prior and contributions together: the log odds at the mean of the posterior.
    log_odds : array of shape (n,)
        The model's own, averaged over the posterior: those of `predict_proba`.
    difference : array of shape (n,)
        ``log_odds - total``.
    """

    features: NDArray[Any]
    classes: NDArray[Any]
    prior: Floats
    contributions: Floats
    log_odds: Floats

    @property
    def total(self) -> Floats:
        """Prior and contributions together."""
        return np.asarray(self.prior + self.contributions.sum(axis=1))

    @property
    def difference(self) -> Floats:
        """What averaging over the posterior adds to the sum."""
        return np.asarray(self.log_odds - self.total)

    def to_dict(self) -> dict[str, Floats]:
        """Return the table by columns, as ``pandas.DataFrame`` takes it: a row for each case.

        With more than two classes each column is there for each class, whose label stands behind.
        """
        n = len(self.contributions)
        columns = {"prior": np.broadcast_to(self.prior, (n, *self.prior.shape))}
        columns |= {str(name): self.contributions[:, j] for j, name in enumerate(self.features)}
        columns |= {"total": self.total, "log_odds": self.log_odds, "difference": self.difference}
        if self.classes.size == 2:
            return columns
        return {
            f"{name}_{label}": column[:, g]
            for name, column in columns.items()
            for g, label in enumerate(self.classes)
        }


Kept = KeptBernoulli | KeptGaussian


def explain(
    kept: Kept, X: NDArray[Any], label: ColumnNamer, log_psi: Floats, features: NDArray[Any]
) -> Explanation:
    """Return what each kept feature adds to the log odds of rows of the kept columns.

    Parameters
    ----------
    kept : KeptBernoulli or KeptGaussian
    X : array of shape (n, k)
    label : callable
        Names a column for errors.
    log_psi : array of shape (G,)
        Logs of the class probabilities before any feature is seen.
    features : array of shape (k,)
    """
    log_joint = kept.log_joint(X, label, log_psi)
    if isinstance(kept, KeptBernoulli):
        logs = _log_bits(kept, X, label)
    else:
        logs = _log_densities(kept, X, label)
    if isinstance(kept.tempering, Weighing):
        logs = _weighed(kept, kept.tempering, logs, X, label)
    elif kept.tempering is not None:
        logs = logs * kept.tempering.mean_eta
    parts = (_odds(values) for values in (log_psi, logs, log_joint))
    return Explanation(features, kept.classes, *parts)


def _weighed(
    kept: Kept, weighing: Weighing, own: Floats, X: NDArray[Any], label: ColumnNamer
) -> Floats:
    """Return what features add by each likelihood, times what that is worth, on the average."""
    worth = weighing.weights * [one.mean_eta for one in weighing.temperings]
    logs = own * worth[0]
    if kept.within is not None:
        rows = np.asarray(kept.as_modelled(X, label), dtype=np.float64)
        logs += np.tensordot(worth[1:], kept.within.log_evidence_by_feature(rows, kept.laws), 1)
    return np.asarray(logs)


def _odds(logs: Floats) -> Floats:
    """Return log odds from logs with the class last: second against first, or each from the mean.

    >>> _odds(np.log([[1.0, 4.0], [1.0, 1.0]])).round(3).tolist()
    [1.386, 0.0]
    """
    if logs.shape[-1] == 2:
        return np.asarray(logs[..., 1] - logs[..., 0])
    return np.asarray(logs - logs.mean(axis=-1, keepdims=True))


def _log_bits(kept: KeptBernoulli, X: NDArray[Any], label: ColumnNamer) -> Floats:
    """Return log P(x_j | class) at the mean of the posterior, shape (n, k, 2)."""
    bits = binarize_columns(X, kept.thresholds, kept.binarize, label)
    posterior = kept.posterior
    log_weights = posterior.log_weights[:, np.newaxis]
    log_one, log_zero = (
        log_sum(logs + log_weights, axis=1)[:, posterior.pair_of].T
        for logs in (posterior.log_one, posterior.log_zero)
    )
    return np.where(bits[:, :, np.newaxis], log_one, log_zero)


def _log_densities(kept: KeptGaussian, X: NDArray[Any], label: ColumnNamer) -> Floats:
    """Return the same for real-valued features, shape (n, k, G); 0 for constant ones."""
    rows, posterior, G = real_rows(X, label), kept.posterior, kept.classes.size
    varying = posterior.contrasts.varying
    nodes, weights = posterior.of_features()
    with np.errstate(divide="ignore"):
        log_weights = np.log(weights)
    logs = np.zeros((len(rows), varying.size, G))
    for g, code in enumerate(np.eye(G)):
        law = nodes.law(code)
        for j, by_node in zip(np.flatnonzero(varying), law.by_feature(rows), strict=True):
            mixed = log_sum(by_node + log_weights[j], axis=1)
            logs[:, j, g] = np.where(np.isnan(rows[:, j]), 0.0, mixed)
    return logs


def proba_interval(
    kept: Kept, X: NDArray[Any], label: ColumnNamer, log_psi: Floats, level: float
) -> tuple[Floats, Floats]:
    """Return lower and upper ends of the probabilities of classes, each of shape (n, G).

    The probability given a node is P(class | x, node). The nodes have their posterior weights,
    given also the features of the case: weight * P(x | node). Under these the mean of P(class | x,
    node) is P(class | x), what is predicted. The ends are quantiles of its distribution.

    Where evidence is tempered, each node is taken with each value of what evidence is worth. Other
    likelihoods than the model's own stand at the mean of the posterior, with their values of that.
    """
    tails = check_level(level)
    worths = [_likely(one) for one in _temperings(kept)]
    nodes = kept.posterior.log_weights.size
    size = max([nodes, *(min(nodes, _FEW) * worth.eta.size for worth in worths)])
    rows = max(1, _BLOCK // (size * kept.classes.size))
    ends = np.empty((2, len(X), kept.classes.size))
    for start in range(0, len(X), rows):
        block = slice(start, start + rows)
        probability, weights = _of_rows(kept, X[block], label, log_psi, worths)
        ends[:, block] = _weighted_quantiles(probability, weights, tails)
    return ends[0], ends[1]


def _temperings(kept: Kept) -> tuple[Tempering, ...]:
    if isinstance(kept.tempering, Weighing):
        return kept.tempering.temperings
    return () if kept.tempering is None else (kept.tempering,)


def _of_rows(
    kept: Kept, X: NDArray[Any], label: ColumnNamer, log_psi: Floats, worths: "list[_Worth]"
) -> tuple[Floats, Floats]:
    """Return probabilities and weights, both (rows, G, values), of what is uncertain."""
    by_node = kept.log_joint_by_node(X, label) + (log_psi - kept.log_psi)[:, np.newaxis]
    probability, weights = _by_node(by_node)
    weights = np.broadcast_to(weights[:, np.newaxis], probability.shape)
    if not worths:
        return probability, weights
    logs = by_node - log_psi[:, np.newaxis]
    parts = [_by_worth(logs, log_psi, weights, worths[0])]
    if isinstance(kept.tempering, Weighing):
        parts += [
            _by_worth(evidence[..., np.newaxis], log_psi, np.ones((*evidence.shape, 1)), worth)
            for evidence, worth in zip(
                kept.log_evidence(kept.as_modelled(X, label))[1:], worths[1:], strict=True
            )
        ]
        shares = kept.tempering.weights
        parts = [(each, w * share) for (each, w), share in zip(parts, shares, strict=True)]
    probabilities, all_weights = zip(*parts, strict=True)
    return np.concatenate(probabilities, axis=2), np.concatenate(all_weights, axis=2)


class _Worth(NamedTuple):
    """Values of eta and epsilon, with their weights."""

    eta: Floats
    epsilon: Floats
    weights: Floats


def _likely(tempering: Tempering) -> _Worth:
    """Return the values that are not very unlikely, to which quantiles are not sensitive."""
    some = tempering.log_weights > np.max(tempering.log_weights) - _UNLIKELY
    weights = np.exp(tempering.log_weights[some])
    return _Worth(tempering.eta[some], tempering.epsilon[some], weights / weights.sum())


def _by_node(by_node: Floats) -> tuple[Floats, Floats]:
    """Return P(class | x, node), and the weights of the nodes, from log P(class, x, node)."""
    log_node = log_sum(by_node, axis=1)
    weights = np.exp(log_node - log_sum(log_node, axis=1)[:, np.newaxis])
    return np.exp(by_node - log_node[:, np.newaxis]), weights


def _by_worth(
    log_evidence: Floats, log_psi: Floats, weights: Floats, worth: _Worth
) -> tuple[Floats, Floats]:
    """Return the same for each node and each value of what evidence is worth, one after another.

    Of the many nodes of two groups of features, quantiles of what they say are taken.
    """
    prior = log_psi[:, np.newaxis]
    parts = []
    for eta in np.unique(worth.eta):
        logs = log_evidence * eta + prior
        logs -= log_sum(logs, axis=1)[:, np.newaxis]
        probability, shares = (part[..., np.newaxis] for part in _thinned(np.exp(logs), weights))
        some = worth.eta == eta
        epsilon, share_of = worth.epsilon[some], worth.weights[some]
        stray = np.exp(prior)[..., np.newaxis]
        mixed = (1.0 - epsilon) * probability + epsilon * stray
        parts.append((_flat(mixed), _flat(shares * share_of)))
    probability, weights = (np.concatenate(part, axis=2) for part in zip(*parts, strict=True))
    return probability, weights


def _flat(values: Floats) -> Floats:
    """Return the last two axes as one."""
    return values.reshape(*values.shape[:2], -1)


def _thinned(probability: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Return laws over many nodes as laws over some of their quantiles, denser in the tails."""
    if probability.shape[2] <= _FEW:
        return probability, weights
    levels = expit(np.linspace(-9.0, 9.0, _FEW))
    points = np.moveaxis(_weighted_quantiles(probability, weights, levels), 0, 2)
    shares = levels * (1.0 - levels)
    return points, np.broadcast_to(shares / shares.sum(), points.shape)


def _weighted_quantiles(probability: Floats, weights: Floats, levels: Floats) -> Floats:
    """Return quantiles (levels, rows, G) of probabilities with weights, both (rows, G, nodes)."""
    order = np.argsort(probability, axis=2)
    probability = np.take_along_axis(probability, order, axis=2)
    weights = np.take_along_axis(weights, order, axis=2)
    # A node stands for what is half-way to its neighbours.
    below = np.cumsum(weights, axis=2) - 0.5 * weights
    ends = np.empty((levels.size, *order.shape[:2]))
    for place in np.ndindex(order.shape[:2]):
        ends[:, *place] = np.interp(levels, below[place], probability[place])
    return ends
