"""Posteriors of two groups of features on the coarse rules, given many data sets at once.

Fits without some of the cases have few different numbers of cases in each class. Data sets with
the same numbers share the distribution of all vectors of counts, the values of alpha and pi, and so
the terms of all vectors at these nodes. The log likelihoods of all data sets are then one product
of two matrices: these terms, and how often each data set has each vector. The omission
probabilities are shared by data sets with the same cut.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unselected._typing import Floats, Ints
from unselected.models.bernoulli import BernoulliModel
from unselected.models.bernoulli_posterior import BernoulliPosterior
from unselected.models.fractions import Fractions
from unselected.models.records import NULL
from unselected.models.related import related_shares
from unselected.models.shared_table import SharedTable
from unselected.models.two_groups import COARSE_REACH, log_each, log_mixed
from unselected.numerics.beta_binomial import log_binomial, log_further_draws, log_null_draws
from unselected.numerics.quadrature import log_sum
from unselected.selection.events import Event, OmittedKinds
from unselected.statistics.counts import ClassCounts

# Cuts whose omission probabilities are remembered: fits without some cases have few different ones.
MOST_CUTS = 32

DataSet = tuple[ClassCounts, Event]


class _Inner(NamedTuple):
    """What is known of a data set at some values of alpha.

    Attributes
    ----------
    log_terms : array of shape (alphas, fractions)
        The log likelihoods, with the prior of the fraction.
    lacking : array of shape (1 + alphas,)
        P(at most at the cut) - 1, averaged over omitted features; the first is that of features
        that are unrelated to the classes.
    """

    log_terms: Floats
    lacking: Floats


class CoarseSets:
    """Data sets without missing values, with equal class sizes, under one model.

    Parameters
    ----------
    model : BernoulliModel
        It satisfies `takes` with the event of each data set.
    shared : SharedTable
        For the class sizes.
    sets : list of (ClassCounts, Event)
    """

    def __init__(self, model: BernoulliModel, shared: SharedTable, sets: list[DataSet]) -> None:
        self.model, self.shared, self.sizes = model, shared, sets[0][0].sizes
        ones = np.concatenate([counts.ones for counts, _ in sets], axis=1).astype(np.int64)
        self.places, vectors = np.unique(shared.places(ones), return_inverse=True)
        ends = np.cumsum([counts.n_columns for counts, _ in sets])
        self.own, self.vector_of = [], []
        self._times = np.zeros((self.places.size, len(sets)))
        for place, each in enumerate(np.split(vectors, ends[:-1])):
            times = np.bincount(each, minlength=self.places.size)
            own = np.flatnonzero(times)
            self.own.append(own)
            self.vector_of.append(np.searchsorted(own, each))
            self._times[:, place] = times
        self.ones = shared.ones_at(self.places)
        self._log_orders = log_binomial(self.sizes[:, np.newaxis], self.ones).sum(axis=0)
        t, self._log_prior = model.fraction.few_nodes()
        self.pi = model.fraction.fractions(t)
        events = [event for _, event in sets]
        sizes = shared.law.sizes
        self._cuts = [
            event.score.cut_among(event.cut, sizes, self.sizes)
            for event in events
            if event.cut is not None
        ]
        n_totals = int(self.sizes.sum()) + 1
        kinds = _by_total([event.kinds for event in events if event.kinds], n_totals)
        self._totals = _span(kinds.sum(axis=(0, 2)) > 0.0)
        self._kinds = kinds[:, self._totals]
        self.log_psi = model.log_psi(self.sizes)
        self.inner: dict[int, _Inner] = {}

    @staticmethod
    def takes(model: BernoulliModel, event: Event) -> bool:
        """Say whether data sets with such an event are conditioned on here."""
        two_groups = model.least_fraction is not None and model.coarse
        given = model.rates == "given" and event.kinds is not None
        return two_groups and given and event.cut is not None

    def posteriors(self) -> "list[CoarsePosterior]":
        """Return the posteriors, which are computed as far as the data sets share the work."""
        found: dict[int, CoarsePosterior] = {}
        rules = self.model.concentration.few_nodes(self._log_totals, len(self.own))
        for which, log_u, by_alpha in rules:
            inner = np.stack([self.inner[place].log_terms for place in which.tolist()])
            log_terms = inner + (by_alpha - log_sum(inner, axis=2))[:, :, np.newaxis]
            log_terms = log_terms.reshape(which.size, -1)
            matters = log_terms > np.max(log_terms, axis=1, keepdims=True) - COARSE_REACH
            log_terms[~matters] = -np.inf
            live = np.flatnonzero(matters.any(axis=0))
            nodes, own = _Nodes(self, log_u, self._used(which), live), log_terms[:, live]
            log_weights = own - log_sum(own, axis=1)[:, np.newaxis]
            for place, *logs in zip(which.tolist(), own, log_weights, strict=True):
                found[place] = CoarsePosterior(self, nodes, place, *logs)
        return [found[place] for place in range(len(self.own))]

    def _used(self, which: Ints) -> Ints:
        """Return the vectors that some of the data sets have."""
        return np.flatnonzero(self._times[:, which].any(axis=1))

    def log_counts(self, u: tuple[float, ...], used: Ints) -> Floats:
        """Return log P(vector | total, alpha = 1 / u), shape (alphas, vectors)."""
        log_total = self.shared.log_totals_together(u)[:, self.ones[:, used].sum(axis=0)]
        logs: Floats = np.log(self.shared.together(u).P[self.places[used]]).T
        return logs - log_total

    def _log_totals(self, log_u: Floats, which: Ints) -> Floats:
        """Return the log likelihoods of some data sets, averaged over pi, shape (sets, alphas)."""
        u, used = with_null(log_u), self._used(which)
        log_counts, times = self.log_counts(u, used), self._times[np.ix_(used, which)]
        log_kept = log_each(self.pi, log_counts[1:] - log_counts[0]) @ times
        log_kept += (log_counts[0] - self._log_orders[used]) @ times
        log_terms = log_kept.transpose(2, 1, 0) + self._log_prior
        for own, log_event, lacking in self._events(u, which):
            log_terms[own] += log_event
            for place, row in zip(own.tolist(), lacking, strict=True):
                self.inner[int(which[place])] = _Inner(log_terms[place], row)
        return log_sum(log_terms, axis=2)

    def _events(self, u: tuple[float, ...], which: Ints) -> Iterator[tuple[Ints, Floats, Floats]]:
        """Yield places of data sets with equal cuts, log P(event), and what `_Inner` says of it.

        The second has the shape (sets, alphas, fractions).
        """
        places: dict[object, list[int]] = {}
        for place, number in enumerate(which.tolist()):
            places.setdefault(self._cuts[number], []).append(place)
        pi = Fractions(self.pi.log_related[:, np.newaxis], self.pi.log_rest[:, np.newaxis])
        for own in map(np.array, places.values()):
            self.shared.forget_cuts(MOST_CUTS)
            number = self.shared.number_of(*self._cuts[which[own[0]]])
            told = self.shared.omission_together(u, number, self._totals)
            kinds = self._kinds[:, :, which[own]]
            log_event = np.zeros((len(u) - 1, self._log_prior.size, own.size))
            each = (told.log_below, told.log_at_cut, told.log_at_most)
            for n, logs in zip(kinds, each, strict=True):
                some = n.any(axis=1)  # logs of kinds without such features are not needed
                if some.any():
                    mixed = log_mixed(pi, logs[1:, np.newaxis, some], logs[0, some])
                    log_event += _summed(mixed, n[some])
            n_features = kinds.sum(axis=0)
            share = n_features / np.maximum(n_features.sum(axis=0), 1.0)
            lacking = np.expm1(told.log_at_most) @ share
            yield own, log_event.transpose(2, 0, 1), lacking.T


class _Nodes:
    """What the posteriors on the same nodes of alpha share, for some of the vectors of counts.

    Nodes of alpha and of the fraction are one axis here, with the fractions running fastest. Only
    nodes that matter to some data set are kept.

    Attributes
    ----------
    log_u : array of shape (alphas,)
    used : array of shape (vectors,)
        Which of the vectors of `CoarseSets`.
    live : array of shape (nodes,)
        Which of the nodes.
    """

    def __init__(self, sets: CoarseSets, log_u: Floats, used: Ints, live: Ints) -> None:
        self._sets, self.log_u, self.used, self.live = sets, log_u, used, live
        self.alpha_of, fraction_of = np.divmod(live, sets.pi.log_related.size)
        self.pi = Fractions(sets.pi.log_related[fraction_of], sets.pi.log_rest[fraction_of])

    @cached_property
    def _terms(self) -> tuple[Floats, Floats]:
        """P(related) of each vector at each node, and the predictive probabilities.

        The shapes are (vectors, nodes) and (vectors, values, G, nodes).
        """
        sets, u = self._sets, with_null(self.log_u)
        log_counts, ones = sets.log_counts(u, self.used), sets.ones[:, self.used]
        log_ratio = (log_counts[1:] - log_counts[0])[self.alpha_of]
        shares = related_shares(self.pi.log_odds[:, np.newaxis] + log_ratio)
        means = sets.shared.together(u).theta_means(sets.places[self.used])[:, 1:]
        sizes, alphas = sets.sizes[:, np.newaxis], np.array(u[1:])[:, np.newaxis]
        means = means[:, np.newaxis]
        logs = log_further_draws(means, ones[:, np.newaxis], sizes[:, np.newaxis], alphas)
        null = log_null_draws(ones.sum(axis=0), int(sets.sizes.sum()), sets.model.ploidy)
        values = shares[0] * np.exp(logs)[:, :, self.alpha_of]
        values += (shares[1] * np.exp(null)[:, np.newaxis])[:, np.newaxis]
        return np.ascontiguousarray(shares[0].T), values.transpose(3, 0, 1, 2).copy()

    @property
    def related(self) -> Floats:
        """P(related) of each vector at each node, (vectors, nodes)."""
        return self._terms[0]

    @property
    def values(self) -> Floats:
        """Probabilities of the values of each vector, (vectors, values, G, nodes)."""
        return self._terms[1]

    @cached_property
    def log_ratios(self) -> list[Floats]:
        """The logs of ``values``, (vectors, G nodes): of the first, and the others less these."""
        log_zero, *others = (
            np.log(self.values)
            .transpose(1, 0, 2, 3)
            .reshape(self.values.shape[1], len(self.used), -1)
        )
        return [log_zero, *(each - log_zero for each in others)]


@dataclass(frozen=True, eq=False)
class CoarsePosterior:
    """The posterior given one of the data sets, of which only what is asked for is computed.

    Attributes
    ----------
    sets : CoarseSets
    nodes : _Nodes
    place : int
        Of the data set.
    log_terms, log_weights : arrays of shape (nodes,)
        The log terms of the nodes, and less their sum; -inf where they do not matter.
    """

    sets: CoarseSets
    nodes: _Nodes
    place: int
    log_terms: Floats
    log_weights: Floats

    @cached_property
    def _vectors(self) -> Ints:
        """The data set's own vectors among those of the nodes."""
        return np.searchsorted(self.nodes.used, self.sets.own[self.place])

    def log_joint(self, rows: NDArray[Any]) -> Floats:
        """Return the log joint probabilities, as `BernoulliPosterior.log_joint` does."""
        if np.isnan(rows).any() or not len(rows):
            return self.made().log_joint(rows)
        vector_of = self.sets.vector_of[self.place]
        k, n_vectors = vector_of.size, self._vectors.size
        # Features with the same counts are counted: there are few distinct vectors.
        which = np.zeros((k, n_vectors))
        which[np.arange(k), vector_of] = 1.0
        log_zero, *others = self.nodes.log_ratios
        logs = which.sum(axis=0) @ log_zero[self._vectors]
        for value, log_ratio in enumerate(others, start=1):
            n_equal = np.asarray(rows == value, dtype=np.float64) @ which
            logs = logs + n_equal @ log_ratio[self._vectors]
        joint = logs.reshape(len(rows), self.sets.sizes.size, -1) + self.log_weights
        return log_sum(joint, axis=2) + self.sets.log_psi

    @property
    def mean_values(self) -> Floats:
        """The predictive probabilities of the values, as in `BernoulliPosterior`."""
        by_vector = self.nodes.values[self._vectors] @ np.exp(self.log_weights)
        return by_vector.transpose(1, 2, 0)[..., self.sets.vector_of[self.place]]

    def made(self) -> BernoulliPosterior:
        """Return the posterior, as `BernoulliModel.condition` does."""
        sets, nodes, vectors = self.sets, self.nodes, self._vectors
        live = np.flatnonzero(self.log_terms > -np.inf)
        log_weights, log_evidence = sets.model.normalized(sets.sizes, self.log_terms[live])
        alpha_of, vector_of = nodes.alpha_of[live], sets.vector_of[self.place]
        pi = Fractions(nodes.pi.log_related[live], nodes.pi.log_rest[live])
        lacking = sets.inner[self.place].lacking
        of_groups = np.exp(pi.log_related) * lacking[1:][alpha_of]
        log_values = np.log(nodes.values[vectors][..., live])
        related = nodes.related[vectors][:, live] @ np.exp(log_weights)
        return BernoulliPosterior(
            log_alpha=-nodes.log_u[alpha_of],
            log_weights=log_weights,
            log_at_most=np.log1p(of_groups + np.exp(pi.log_rest) * lacking[0]),
            log_evidence=log_evidence,
            log_psi=sets.log_psi,
            log_values=np.ascontiguousarray(log_values.transpose(1, 2, 3, 0)),
            vector_of=vector_of,
            fractions=pi,
            related=np.minimum(related, 1.0)[vector_of],
        )


def with_null(log_u: Floats) -> tuple[float, ...]:
    """Return u = 0, at which features are unrelated to the classes, and then these u."""
    return tuple(np.exp(np.append(NULL, log_u)).tolist())


def _span(some: NDArray[np.bool_]) -> slice:
    """Return the places from the first to the last that is true; where none is, the first place.

    >>> _span(np.array([False, True, False, True, False]))
    slice(1, 4, None)
    """
    places = np.flatnonzero(some)
    return slice(int(places[0]), int(places[-1]) + 1) if places.size else slice(0, 1)


def _by_total(kinds: list[OmittedKinds], n_totals: int) -> Floats:
    """Return the numbers of features below, at and at most at the cut, (3, totals, sets)."""
    numbers = np.zeros((3, n_totals, len(kinds)))
    for place, each in enumerate(kinds):
        rows = (each.n_below, each.n_at_cut, each.n_at_most)
        for own, row in zip(numbers, rows, strict=True):
            own[each.totals, place] = row
    return numbers


def _summed(logs: Floats, n: Floats) -> Floats:
    """Return the sums of n times logs (..., kinds), where n is (kinds, sets); 0 times -inf is 0.

    >>> _summed(np.array([-np.inf, -2.0]), np.array([[0.0, 1.0], [3.0, 0.0]])).tolist()
    [-6.0, -inf]
    """
    impossible = np.isneginf(logs)
    if not impossible.any():
        return np.asarray(logs @ n)
    finite = np.where(impossible, 0.0, logs) @ n
    return np.where(impossible.astype(np.float64) @ n > 0.0, -np.inf, finite)
