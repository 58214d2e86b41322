"""Explanations: what each feature adds to the log odds of a case.

Given a node of the posterior (alpha or tau, and the fraction of related features) the features are
independent within a class, and their logs add up. The model's probability averages over the nodes,
so that its log odds are not a sum. At the mean of the posterior, where a feature has the law

    P(x_j | class) = sum over nodes of weight * P(x_j | class, node),

they are a sum, and its difference from the model's own log odds is reported.

An average over models has no such point. There the log odds are a function of the evidence of all
likelihoods, each of which is a sum over features. Along the straight path from no evidence to that
of the case, the gradient of the function says what each feature adds (the Aumann-Shapley value).
The integral over the path adds up to the log odds.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from unselected._typing import Floats
from unselected.dependence.averaging import LikelihoodAverage
from unselected.dependence.power import PowerPosterior
from unselected.numerics.quadrature import gauss_legendre, log_sum

# Steps of the path along which contributions are integrated, and their weights.
PATH = gauss_legendre(16)


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
        missing. With ``dependence="tempered"`` it is multiplied by the mean power of the
        likelihood. With "correlated" it is averaged over the likelihoods. In those with
        correlations, the log of the squared distance is split in proportion to the terms of the
        distance.
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

        With more than two classes there is a column for each class, with its label as suffix.
        """
        n = len(self.contributions)
        shape = (n, *self.contributions.shape[2:])
        columns = {"prior": np.broadcast_to(self.prior, shape)}
        columns |= {str(name): self.contributions[:, j] for j, name in enumerate(self.features)}
        columns |= {"total": self.total, "log_odds": self.log_odds, "difference": self.difference}
        if self.classes.size == 2:
            return columns
        return {
            f"{name}_{label}": column[:, g]
            for name, column in columns.items()
            for g, label in enumerate(self.classes)
        }


class GuardedPredictor(Protocol):
    """What explanations and intervals need of a predictor of classes."""

    @property
    def fitted(self) -> Any:
        """The fitted model."""

    @property
    def average(self) -> LikelihoodAverage:
        """The likelihoods with their weights and powers."""

    def log_by_feature(self, rows: NDArray[Any]) -> Floats:
        """Return what each feature adds to `log_evidence`, (likelihoods, rows, k, classes)."""

    def log_evidence(self, rows: NDArray[Any]) -> Floats:
        """Return log P(row | class) by each likelihood, shape (likelihoods, rows, classes)."""


def explain(
    predictor: GuardedPredictor, rows: NDArray[Any], log_psi: Floats, features: NDArray[Any]
) -> Explanation:
    """Return what each kept feature adds to the log odds of rows, as the model sees them.

    Parameters
    ----------
    predictor : ClassPredictor
    rows : array of shape (n, k)
    log_psi : array of shape (G,) or (n, G)
        Logs of the class probabilities before any feature is seen.
    features : array of shape (k,)
    """
    fitted, average = predictor.fitted, predictor.average
    log_proba = average.log_proba(predictor.log_evidence(rows), log_psi)
    shares = average.weights * [one.mean_power for one in average.powers]
    logs = np.tensordot(shares, predictor.log_by_feature(rows), 1)
    parts = (_odds(values) for values in (log_psi, logs, log_proba))
    return Explanation(features, fitted.classes, *parts)


def path_contributions(
    terms: list[tuple[LikelihoodAverage, float, Floats]], log_psi: Floats
) -> Iterator[Floats]:
    """Yield, for each model of an average, what a unit of evidence adds to log P(class).

    Parameters
    ----------
    terms : list of (average, log weight, evidence)
        Of each model: its likelihoods, its log weight, and log P(x | class) of rows by likelihood,
        (likelihoods, rows, G).
    log_psi : array of shape (G,) or (rows, G)

    Yields
    ------
    factors : array of shape (likelihoods, rows, G, G)
        Of log P(class g) for log P(x | class h) at [..., g, h].
    """
    steps, weights = PATH
    totals = [
        log_sum(np.array([a.log_proba(t * e, log_psi) + w for a, w, e in terms]), axis=0)
        for t in steps
    ]
    for average, log_weight, evidence in terms:
        factors = np.zeros((*evidence.shape, evidence.shape[-1]))
        for likelihood, (power, own) in enumerate(zip(average.powers, evidence, strict=True)):
            share = np.exp(log_weight + average.log_weights[likelihood])
            for t, step, total in zip(steps, weights, totals, strict=True):
                slope = _slope(power, t * own, log_psi)
                factors[likelihood] += step * share * slope / np.exp(total)[:, :, np.newaxis]
        yield factors


def _slope(power: PowerPosterior, evidence: Floats, log_psi: Floats) -> Floats:
    """Return the derivative of P(class g) with respect to log P(x | class h), (rows, G, G)."""
    eta, place = np.unique(power.eta, return_inverse=True)
    weights = np.exp(power.log_weights) * (1.0 - power.epsilon) * power.eta
    result = np.zeros((*evidence.shape, evidence.shape[-1]))
    for value, weight in zip(eta, np.bincount(place, weights), strict=True):
        logs = log_psi + value * evidence
        p = np.exp(logs - log_sum(logs, axis=1)[:, np.newaxis])
        result -= weight * p[:, :, np.newaxis] * p[:, np.newaxis, :]
        result[:, range(p.shape[1]), range(p.shape[1])] += weight * p
    return result


def _odds(logs: Floats) -> Floats:
    """Return log odds from logs with the class last: second against first, or each from the mean.

    >>> _odds(np.log([[1.0, 4.0], [1.0, 1.0]])).round(3).tolist()
    [1.386, 0.0]
    """
    if logs.shape[-1] == 2:
        return np.asarray(logs[..., 1] - logs[..., 0])
    return np.asarray(logs - logs.mean(axis=-1, keepdims=True))
