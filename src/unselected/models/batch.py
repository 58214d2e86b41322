"""Posteriors of many data sets that are nearly the same, as in leave-one-out.

Data sets with the same numbers of cases in each class share the distribution of the counts, and
with it nearly all of the work. One quadrature rule for alpha covers the posteriors of all of them.
"""

import numpy as np
from numpy.typing import NDArray

from unselected._typing import Floats
from unselected.models.bernoulli import BernoulliModel
from unselected.models.bernoulli_likelihood import FEW_CASES, Likelihood, SharedLaw
from unselected.models.bernoulli_posterior import BernoulliPosterior
from unselected.models.concentration import ConcentrationPrior
from unselected.numerics.quadrature import converged, log_sum
from unselected.selection.events import Event
from unselected.statistics.counts import ClassCounts

# For this many data sets or fewer, a table of all counts does not pay.
_FEW_SETS = 4
# The log terms at both ends of the rule must be this far below the largest.
_FAR_DOWN = 30.0

DataSet = tuple[ClassCounts, Event]


def condition_all(model: BernoulliModel, sets: list[DataSet]) -> list[BernoulliPosterior]:
    """Return the posterior given each of some data sets, as `BernoulliModel.condition` does.

    The results agree to about 1e-10. A posterior that the common rule does not resolve gets its
    own.
    """
    posteriors: dict[int, BernoulliPosterior] = {}
    if model.quadrature == "exact" and model.least_fraction is None:
        sizes = np.array([(counts.n0, counts.n1) for counts, _ in sets]).reshape(-1, 2)
        for size in np.unique(sizes, axis=0):
            alike = np.flatnonzero(np.all(sizes == size, axis=1))
            if alike.size > _FEW_SETS and size.sum() <= FEW_CASES:
                posteriors |= _condition_alike(model, sets, alike)
    return [
        posteriors[i] if i in posteriors else model.condition(*data) for i, data in enumerate(sets)
    ]


def _condition_alike(
    model: BernoulliModel, sets: list[DataSet], alike: NDArray[np.intp]
) -> dict[int, BernoulliPosterior]:
    """Return the posteriors of data sets with equal class sizes, without unresolved ones."""
    chosen = [sets[i] for i in alike]
    first = chosen[0][0]
    shared = SharedLaw(model.theta_rule, first.n0, first.n1)
    likelihoods = [Likelihood(model.theta_rule, counts, event, shared) for counts, event in chosen]
    together = _Together(likelihoods, shared)
    prior = ConcentrationPrior(model.a, model.b)
    top = together.log_totals(prior.quantile_nodes(9)).max(axis=1)
    bounds = np.array([likelihood.log_bound for likelihood in likelihoods]) - top

    def log_mixed(log_u: Floats) -> Floats:
        return log_sum(together.log_totals(log_u) - top[:, np.newaxis], axis=0)

    log_u, log_terms = prior.integrate(
        log_mixed,
        first.n0 + first.n1,
        max(likelihood.n_features for likelihood in likelihoods),
        log_bound=lambda log_u: np.full(log_u.shape, bounds.max() + np.log(bounds.size)),
        refinement=model.refinement,
    )
    log_weights = log_terms - log_mixed(log_u)
    found = {}
    for i, likelihood, log_total in zip(
        alike.tolist(), likelihoods, together.log_totals(log_u), strict=True
    ):
        if _is_resolved(log_total + log_weights):
            found[i] = model.posterior(likelihood, log_u, log_total + log_weights)
    return found


def _is_resolved(log_terms: Floats) -> bool:
    ends = max(log_terms[0], log_terms[-1])
    far_down = bool(ends < np.max(log_terms) - _FAR_DOWN)
    return far_down and converged(np.arange(log_terms.size, dtype=np.float64), log_terms)


class _Together:
    """The log likelihoods of many data sets at once."""

    def __init__(self, likelihoods: list[Likelihood], shared: SharedLaw) -> None:
        self._shared = shared
        self._I0, self._I1, self._times = (
            np.concatenate([getattr(each, name) for each in likelihoods])
            for name in ("I0", "I1", "n_equal")
        )
        self._set_of = np.repeat(
            np.arange(len(likelihoods)), [each.I0.size for each in likelihoods]
        )
        self._log_orders = np.array([each.log_orders for each in likelihoods])
        self._events = [each.event for each in likelihoods]
        numbers = np.array([each.number for each in likelihoods])
        self._numbers, self._cut_of = np.unique(numbers, return_inverse=True)
        self._n_below = np.array([event.n_below for event in self._events])
        self._n_at_most = np.array([event.n_at_most for event in self._events])
        self._by_lot = np.flatnonzero([event.n_lottery > 0 for event in self._events])
        self._known: dict[float, Floats] = {}

    def log_totals(self, log_u: Floats) -> Floats:
        """Return the log likelihoods, the events included, shape (sets, nodes)."""
        return np.stack([self._at(float(x)) for x in log_u], axis=1)

    def _at(self, log_u: float) -> Floats:
        if log_u not in self._known:
            u = float(np.exp(log_u))
            logs = np.log(self._shared.tables(u)[0])[self._I0, self._I1] * self._times
            kept = np.bincount(self._set_of, weights=logs, minlength=len(self._events))
            self._known[log_u] = kept - self._log_orders + self._log_events(u)
        return self._known[log_u]

    def _log_events(self, u: float) -> Floats:
        """Return the log probability of the event of each data set."""
        log_below, log_at_most = (
            np.array([self._log_omitted(u, int(number), sign) for number in self._numbers])
            for sign in (0, 1)
        )
        below, at_most = log_below[self._cut_of], log_at_most[self._cut_of]
        logs = _times(self._n_below, below) + _times(self._n_at_most, at_most)
        for i in self._by_lot:
            logs[i] = self._events[i].log_prob(below[i], at_most[i])
        return logs

    def _log_omitted(self, u: float, number: int, sign: int) -> float:
        return self._shared.log_omitted(u, number, sign) if number >= 0 else 0.0


def _times(times: NDArray[np.int64], log: Floats) -> Floats:
    """Return times * log, and 0 where times is 0."""
    return np.multiply(times, log, where=times > 0, out=np.zeros(log.shape))
