"""Posteriors of many data sets that are nearly the same, as in leave-one-out.

Data sets with the same numbers of cases in each class share the distribution of the counts, and
with it nearly all of the work. One quadrature rule for alpha covers the posteriors of all of them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unselected._typing import Floats
from unselected.models.bernoulli import BernoulliModel
from unselected.models.bernoulli_likelihood import Likelihood
from unselected.models.bernoulli_posterior import BernoulliPosterior, CountPosterior
from unselected.models.coarse_sets import MOST_CUTS, CoarseSets, DataSet
from unselected.models.concentration import ConcentrationPrior
from unselected.models.count_terms import FEW_CASES
from unselected.models.shared_table import SharedTable, SharedTables
from unselected.numerics.quadrature import converged, log_sum
from unselected.omission.count_tables import n_entries
from unselected.selection.events import Event
from unselected.statistics.counts import ClassCounts

# For this many data sets or fewer, a table of all counts does not pay.
_FEW_SETS = 4
# Entries of the largest table that is kept for each alpha.
_MOST_SHARED = 1 << 17
# Kept features of the data sets whose terms are computed together, at most.
_MOST_FEATURES = 1 << 12
# The log terms at both ends of the rule must be this far below the largest.
_FAR_DOWN = 30.0


def condition_all(model: BernoulliModel, sets: list[DataSet]) -> list[BernoulliPosterior]:
    """Return the posterior given each of some data sets, as `BernoulliModel.condition` does.

    The results agree to about 1e-10. A posterior that the common rule does not resolve gets its
    own.
    """
    posteriors: dict[int, BernoulliPosterior] = {}
    if model.quadrature == "exact" and model.least_fraction is None:
        sizes = np.array([counts.sizes for counts, _ in sets])
        for size in np.unique(sizes, axis=0):
            alike = np.flatnonzero(np.all(sizes == size, axis=1))
            chosen = [sets[i] for i in alike]
            if alike.size > _FEW_SETS and size.sum() <= FEW_CASES and _are_small(chosen):
                found = _condition_alike(model, chosen)
                posteriors |= {int(alike[i]): posterior for i, posterior in found.items()}
    return [
        posteriors[i] if i in posteriors else model.condition(*data) for i, data in enumerate(sets)
    ]


class TablesOfSizes:
    """Tables of all counts, kept for data sets that come one after the other.

    The coarse quadrature has the same values of alpha for all data sets, so that nearly all of the
    work is shared by those with the same numbers of cases in each class.
    """

    def __init__(self) -> None:
        self._tables: dict[tuple[int, ...], SharedTables] = {}

    def condition(
        self, model: BernoulliModel, counts: ClassCounts, event: Event
    ) -> BernoulliPosterior:
        """Return the posterior, as `BernoulliModel.condition` does."""
        if not _is_shared(counts, event):
            return model.condition(counts, event)
        sizes = tuple(counts.sizes.tolist())
        tables = self._of(model, sizes)
        tables.of(sizes).forget_cuts(MOST_CUTS)
        return model.given(Likelihood(model.theta_rule, counts, event, model.rates, tables))

    def condition_all(
        self, models: list[BernoulliModel], sets: list[DataSet]
    ) -> list[CountPosterior]:
        """Return the posteriors given data sets, each under its model.

        What data sets have in common is computed at once, and the rest when it is asked for: all
        posteriors would take much memory.
        """
        made: dict[int, CountPosterior] = {}
        alike: dict[tuple[BernoulliModel, tuple[int, ...]], list[int]] = {}
        for place, (model, (counts, event)) in enumerate(zip(models, sets, strict=True)):
            several = counts.n_columns and CoarseSets.takes(model, event)
            if several and _is_shared(counts, event):
                alike.setdefault((model, tuple(counts.sizes.tolist())), []).append(place)
            else:
                made[place] = _Later(partial(self.condition, model, counts, event))
        for (model, sizes), places in alike.items():
            shared = self._of(model, sizes).of(sizes)
            for some in _parts(places, [sets[place][0].n_columns for place in places]):
                found = CoarseSets(model, shared, [sets[place] for place in some]).posteriors()
                made |= dict(zip(some, found, strict=True))
        return [made[place] for place in range(len(sets))]

    def _of(self, model: BernoulliModel, sizes: tuple[int, ...]) -> SharedTables:
        if sizes not in self._tables:
            self._tables[sizes] = _tables_for(model, sum(sizes))
        return self._tables[sizes]


@dataclass(frozen=True, eq=False)
class _Later:
    """A posterior that is computed when it is first needed."""

    condition: Callable[[], BernoulliPosterior]

    @cached_property
    def _posterior(self) -> BernoulliPosterior:
        return self.condition()

    @property
    def mean_values(self) -> Floats:
        """Predictive probabilities of the values of each feature."""
        return self._posterior.mean_values

    def log_joint(self, rows: NDArray[Any]) -> Floats:
        """Return log P(y*, x* | training data, event), one column per y*."""
        return self._posterior.log_joint(rows)

    def made(self) -> BernoulliPosterior:
        """Return the posterior."""
        return self._posterior


def _parts(places: list[int], n_features: list[int]) -> list[list[int]]:
    """Return places in parts with few features, but at least one place in each.

    >>> _parts([0, 1, 2, 3], [0, 3000, 1000, 500])
    [[0, 1, 2], [3]]
    """
    parts: list[list[int]] = []
    total = 0
    for place, n in zip(places, n_features, strict=True):
        total += n
        if not parts or total > _MOST_FEATURES:
            parts.append([])
            total = n
        parts[-1].append(place)
    return parts


def _is_shared(counts: ClassCounts, event: Event) -> bool:
    """Say whether tables of all counts are kept for such a data set."""
    sizes = tuple(counts.sizes.tolist())
    small = sum(sizes) <= FEW_CASES and n_entries(sizes) <= _MOST_SHARED
    return small and _is_complete(counts, event)


def _tables_for(model: BernoulliModel, n: int) -> SharedTables:
    """Return tables, still empty, for data sets of up to n cases."""
    by_total = model.rates == "given"
    return SharedTables(model.theta_rule(n), n, by_total=by_total, ploidy=model.ploidy)


def _is_complete(counts: ClassCounts, event: Event) -> bool:
    """Say whether no kept or omitted feature has missing values."""
    kinds = event.kinds
    return counts.known is None and (kinds is None or bool(np.all(kinds.sizes == counts.sizes)))


def _are_small(sets: list[DataSet]) -> bool:
    """Say whether the tables of all patterns of known values are small enough."""
    rows = [counts.sizes[np.newaxis] for counts, _ in sets[:1]]
    for counts, event in sets:
        if counts.known is not None:
            rows.append(counts.known.T)
        if event.kinds is not None:
            rows.append(event.kinds.sizes)
    patterns = np.unique(np.concatenate(rows), axis=0)
    return sum(n_entries(tuple(sizes)) for sizes in patterns.tolist()) <= _MOST_SHARED


def _condition_alike(model: BernoulliModel, sets: list[DataSet]) -> dict[int, BernoulliPosterior]:
    """Return the posteriors of data sets with equal class sizes, without unresolved ones."""
    sizes = tuple(sets[0][0].sizes.tolist())
    n = sum(sizes)
    tables = _tables_for(model, n)
    likelihoods = [
        Likelihood(model.theta_rule, counts, event, model.rates, tables) for counts, event in sets
    ]
    together: _Together | _Apart = _Apart(likelihoods)
    if all(_is_complete(*data) for data in sets):
        together = _Together(likelihoods, tables.of(sizes))
    prior = ConcentrationPrior(model.a, model.b)
    top = together.log_totals(prior.quantile_nodes(9)).max(axis=1)
    bounds = np.array([likelihood.log_bound for likelihood in likelihoods]) - top

    def log_mixed(log_u: Floats) -> Floats:
        return log_sum(together.log_totals(log_u) - top[:, np.newaxis], axis=0)

    log_u, log_terms = prior.integrate(
        log_mixed,
        sum(sizes),
        max(likelihood.n_features for likelihood in likelihoods),
        log_bound=lambda log_u: np.full(log_u.shape, bounds.max() + np.log(bounds.size)),
        refinement=model.refinement,
    )
    log_weights = log_terms - log_mixed(log_u)
    for x in log_u:  # the tables of one alpha after the other: not all of them are remembered
        for likelihood in likelihoods:
            likelihood.at(x)
    found = {}
    for i, (likelihood, log_total) in enumerate(
        zip(likelihoods, together.log_totals(log_u), strict=True)
    ):
        if _is_resolved(log_total + log_weights):
            found[i] = model.posterior(likelihood, log_u, log_total + log_weights)
    return found


def _is_resolved(log_terms: Floats) -> bool:
    ends = max(log_terms[0], log_terms[-1])
    far_down = bool(ends < np.max(log_terms) - _FAR_DOWN)
    return far_down and converged(np.arange(log_terms.size, dtype=np.float64), log_terms)


class _Apart:
    """The log likelihoods of many data sets, which share only the tables of counts."""

    def __init__(self, likelihoods: list[Likelihood]) -> None:
        self._likelihoods = likelihoods

    def log_totals(self, log_u: Floats) -> Floats:
        """Return the log likelihoods, the events included, shape (sets, nodes)."""
        each = [[likelihood.at(x).log_total for likelihood in self._likelihoods] for x in log_u]
        return np.array(each).T


class _Together:
    """The log likelihoods of many data sets without missing values, at once."""

    def __init__(self, likelihoods: list[Likelihood], shared: SharedTable) -> None:
        self._shared, self._likelihoods = shared, likelihoods
        ones = np.concatenate([each.ones for each in likelihoods], axis=1)
        self._places, self._totals = shared.places(ones), ones.sum(axis=0)
        self._times = np.concatenate([each.n_equal for each in likelihoods])
        self._set_of = np.repeat(
            np.arange(len(likelihoods)), [each.n_equal.size for each in likelihoods]
        )
        self._log_orders = np.array([each.log_orders for each in likelihoods])
        cuts = [each.cut_among(shared.law.sizes) for each in likelihoods]
        self._numbers = np.array([shared.number_of(*cut) for cut in cuts])
        self._n_cuts = int(self._numbers.max()) + 1
        events = [each.event for each in likelihoods]
        self._n_below = np.array([event.n_below for event in events])
        self._n_at_most = np.array([event.n_at_most for event in events])
        # Ties that are drawn, and features of several kinds.
        self._others = np.flatnonzero(
            [event.n_lottery > 0 or event.kinds is not None for event in events]
        ).tolist()
        self._known: dict[float, Floats] = {}

    def log_totals(self, log_u: Floats) -> Floats:
        """Return the log likelihoods, the events included, shape (sets, nodes)."""
        return np.stack([self._at(float(x)) for x in log_u], axis=1)

    def _at(self, log_u: float) -> Floats:
        if log_u not in self._known:
            u = float(np.exp(log_u))
            logs = np.log(self._shared.tables(u)[0])[self._places]
            if self._shared.by_total:
                logs = (
                    logs - self._shared.omission(u, int(self._numbers[0])).log_total[self._totals]
                )
            n_sets = len(self._likelihoods)
            kept = np.bincount(self._set_of, weights=logs * self._times, minlength=n_sets)
            self._known[log_u] = kept - self._log_orders + self._log_events(u)
        return self._known[log_u]

    def _log_events(self, u: float) -> Floats:
        """Return the log probability of the event of each data set."""
        overall = [self._shared.overall(u, number) for number in range(self._n_cuts)]
        log_below, log_at_most = (
            np.array([float(getattr(each, name)) for each in overall])[self._numbers]
            for name in ("log_below", "log_at_most")
        )
        logs = _times(self._n_below, log_below) + _times(self._n_at_most, log_at_most)
        for i in self._others:
            event, number = self._likelihoods[i].event, int(self._numbers[i])
            if event.kinds is None:
                logs[i] = event.log_prob(log_below[i], log_at_most[i])
            else:
                logs[i] = self._likelihoods[i].log_event_of(self._shared.omission(u, number))
        return logs


def _times(times: NDArray[np.int64], log: Floats) -> Floats:
    """Return times * log, and 0 where times is 0."""
    return np.multiply(times, log, where=times > 0, out=np.zeros(log.shape))
