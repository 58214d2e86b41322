"""The likelihood of binary features and of the event, as a function of alpha."""

from collections.abc import Container
from fractions import Fraction
from functools import cached_property

import numpy as np

from unselected._typing import Floats, Ints
from unselected.models.count_omission import (
    Rates,
    check_tables,
    check_work,
    is_slow,
    is_tabulated,
    noise,
    omission_of,
)
from unselected.models.count_terms import (
    CountTerms,
    ManyCasesPairs,
    ManyCasesTerms,
    OverallOmission,
    TabulatedOmission,
    ThetaRule,
)
from unselected.models.distinct_counts import distinct_counts
from unselected.models.fractions import Fractions, LogLikelihood
from unselected.models.records import NULL, OF_OMISSION, Record, Records, key_of
from unselected.models.shared_table import SharedTables, SharedTerms
from unselected.models.two_groups import Nodes, log_each, log_mixed, mixing
from unselected.numerics.beta_binomial import (
    CountLaw,
    PmfTables,
    log_further_draws,
    log_null_draws,
    log_orders_and_best,
)
from unselected.numerics.beta_binomial_integral import EXACT, ROUGH, Accuracy
from unselected.omission.count_tables import CountTable, Omission
from unselected.omission.many_cases import ManyCases, ManyCasesTable
from unselected.selection.count_score import EXPLAINED, CountScore
from unselected.selection.events import Event
from unselected.statistics.counts import ClassCounts

AnyTerms = CountTerms | ManyCasesTerms | ManyCasesPairs | SharedTerms


class Likelihood:
    """P(kept features, event | alpha, y) as a function of log u, cached.

    With rates "given" the totals of the features are taken as given: every probability is divided
    by that of the total.
    """

    def __init__(
        self,
        theta_rule: ThetaRule,
        counts: ClassCounts,
        event: Event,
        rates: Rates = "uniform",
        shared: SharedTables | None = None,
    ) -> None:
        self.event, self.rates, self.class_sizes = event, rates, counts.sizes
        self.n_cases = int(counts.sizes.sum())
        self._theta_rule, self._shared = theta_rule, shared
        self.ones, self.known, self.vector_of, self.n_equal = distinct_counts(counts)
        self.n_features = counts.n_columns + event.n_omitted
        orders, best = log_orders_and_best(self.known, self.ones)
        self.log_orders = float(self.n_equal @ orders)
        self.log_bound = float(self.n_equal @ best) if rates == "uniform" else -self.log_orders
        self._share = 1.0
        self._terms = self._by_pattern()
        self._records: dict[float, Record] = {}
        self._places: dict[float, int] = {}
        self._last: tuple[bytes, Records] | None = None
        self._rough_totals: dict[float, float] = {}

    @cached_property
    def _law_parts(self) -> tuple[Floats, Floats, PmfTables]:
        """The nodes and weights of theta, and tables on them.

        Enough nodes for complete features are enough for those with missing values.
        """
        theta, weights = self._theta_rule(self.n_cases)
        return theta, weights, PmfTables(theta, self.n_cases)

    def _by_pattern(self) -> list[tuple[Ints, Ints, AnyTerms]]:
        """Return, for each pattern of known values, its vectors, its kinds, and their terms."""
        kinds = self.event.kinds
        if self._shared is not None and self._is_complete:
            told = np.arange(0 if kinds is None else kinds.totals.size)
            terms = self._terms_of(tuple(self.class_sizes.tolist()), self.ones)
            return [(np.arange(self.n_equal.size), told, terms)]
        rows = [self.class_sizes[np.newaxis], self.known.T]
        if kinds is not None:
            rows.append(kinds.sizes)
        parts: list[tuple[Ints, Ints, AnyTerms]] = []
        patterns = np.unique(np.concatenate(rows), axis=0)
        if self.cut_among(tuple(self.class_sizes.tolist()))[1] == EXPLAINED:
            cuts = [self.cut_among(tuple(sizes))[0] for sizes in patterns.tolist()]
            self._share = check_work(patterns, self.rates, cuts)
        else:
            check_tables(patterns, self.event.statistic)
        for sizes in patterns:
            vectors = np.flatnonzero(np.all(self.known.T == sizes, axis=1))
            told = np.array([], dtype=np.intp)
            if kinds is not None:
                told = np.flatnonzero(np.all(kinds.sizes == sizes, axis=1))
            complete = np.array_equal(sizes, self.class_sizes)
            if vectors.size or told.size or complete:
                terms = self._terms_of(tuple(sizes.tolist()), self.ones[:, vectors])
                parts.append((vectors, told, terms))
        return parts

    @property
    def _is_complete(self) -> bool:
        """Whether no kept or omitted feature has missing values."""
        kinds = self.event.kinds
        of_kinds = kinds is None or bool(np.all(kinds.sizes == self.class_sizes))
        return of_kinds and bool(np.all(self.known == self.class_sizes[:, np.newaxis]))

    def _terms_of(self, sizes: tuple[int, ...], ones: Ints) -> AnyTerms:
        """Return how the terms of some vectors of counts are computed."""
        (cut, score), rule, two = self.cut_among(sizes), self._theta_rule, len(sizes) == 2
        if self._shared is not None:
            return SharedTerms.of(self._shared.of(sizes), ones, cut, score)
        if score != EXPLAINED:
            by_total = self.rates == "given"
            table = CountTable.by_size(sizes, cut, by_total=by_total, score=score)
            return self._tabulated(table, sizes, ones)
        needs_below = self.event.needs_below or self.event.kinds is not None
        many_rule = (rule.refinement, rule.ploidy)
        by_total = self.rates == "given"
        if not (is_tabulated(sizes) if by_total else two):
            share = self._share
            several = omission_of(sizes, cut, rule.refinement, by_total=by_total, share=share)
            return ManyCasesTerms(sizes, ones, several, *many_rule)
        if self.rates == "given":
            table = CountTable.by_size(sizes, cut, by_total=True, score=score)
            return self._tabulated(table, sizes, ones)
        if rule.is_for_many(sum(sizes)):
            if cut is None:
                return ManyCasesTerms(sizes, ones, None, *many_rule)
            many = ManyCases(sizes, cut, rule.refinement, needs_below=needs_below)
            return ManyCasesPairs(sizes, ones, many, *many_rule)
        law = CountLaw(sizes, *self._law_parts)
        omission = None
        if cut is not None:
            omission = OverallOmission(law, cut, needs_below=needs_below)
        return CountTerms(law, ones, omission, rule.ploidy)

    def _tabulated(self, table: CountTable, sizes: tuple[int, ...], ones: Ints) -> AnyTerms:
        """Return the terms of some vectors of counts, with a table of all vectors."""
        refinement, ploidy = self._theta_rule.refinement, self._theta_rule.ploidy
        if self._theta_rule.is_for_many(sum(sizes)):
            omission = ManyCasesTable(table, refinement)
            return ManyCasesTerms(sizes, ones, omission, refinement, ploidy)
        law = CountLaw(sizes, *self._law_parts)
        return CountTerms(law, ones, TabulatedOmission(table), ploidy)

    def cut_among(self, sizes: tuple[int, ...]) -> tuple[Fraction | None, CountScore]:
        """Return the cut of features with so many known values, and the score that it is on."""
        if self.event.cut is None:
            return None, EXPLAINED
        return self.event.score.cut_among(self.event.cut, sizes, self.class_sizes)

    def at(self, log_u: float) -> Record:
        """Return the terms at one value of alpha."""
        key = key_of(log_u)
        if key not in self._records:
            self._records[key] = self._compute(float(np.exp(key)), EXACT)
        return self._records[key]

    def log_totals(self, log_u: Floats) -> Floats:
        """Return the log likelihood at some values of alpha, the event included."""
        self._compute_ahead(log_u, self._records)
        return np.array([self.at(x).log_total for x in log_u])

    def _compute_ahead(self, log_u: Floats, known: Container[float]) -> None:
        """Compute terms that are not known together where that is faster; `_compute` takes them."""
        keys = {key_of(x) for x in log_u.tolist()}
        u = tuple(float(np.exp(key)) for key in keys if key not in known)
        for _, _, terms in self._terms:
            if isinstance(terms, CountTerms):
                terms.compute_ahead(u)

    def records(self, log_u: Floats) -> Records:
        """Return the terms at some values of alpha; the last ones are remembered."""
        asked = log_u.tobytes()
        if self._last is None or self._last[0] != asked:
            self._last = asked, self._records_at(log_u)
        return self._last[1]

    def _records_at(self, log_u: Floats) -> Records:
        """Return the terms at some values of alpha; at once where tables are shared."""
        keys, terms = [key_of(x) for x in log_u.tolist()], self._terms[0][2]
        alike = len(self._terms) == 1 and self.event.kinds is not None
        together = alike and isinstance(terms, SharedTerms) and terms.fits(len(keys) + 1)
        if not together or self._records.keys() >= set(keys):
            self._compute_ahead(log_u, self._records)
            return Records.stacked([self.at(key) for key in keys])
        assert isinstance(terms, SharedTerms)
        if not self._places.keys() >= set(keys):
            distinct = dict.fromkeys([NULL, *keys])
            self._places = {key: place for place, key in enumerate(distinct)}
            self._together = self._compute_together(terms, tuple(np.exp(list(distinct)).tolist()))
        return self._together.take(np.array([self._places[key] for key in keys]))

    @cached_property
    def null(self) -> Records:
        """The terms of features that are unrelated to the classes."""
        return self._records_at(np.array([NULL]))

    def _compute_together(self, terms: SharedTerms, u: tuple[float, ...]) -> Records:
        """Return the terms at some values of alpha from shared tables."""
        assert self.event.kinds is not None
        log_counts, theta_means, told = terms.together(u)
        log_counts = log_counts - told.log_total[:, self.ones.sum(axis=0)]
        logs = (told.log_below, told.log_at_cut, told.log_at_most)
        of_kinds = (each[:, self.event.kinds.totals] for each in logs)
        return Records(log_counts, theta_means, *of_kinds)

    def remember(self, log_u: float, record: Record) -> None:
        """Use these terms at one value of alpha from now on."""
        self._records[key_of(log_u)], self._last = record, None

    @property
    def is_slow(self) -> bool:
        """Whether each value of alpha takes milliseconds: there are many cases, or many vectors."""
        sizes, has_cut = tuple(self.class_sizes.tolist()), self.event.cut is not None
        many = self._theta_rule.is_for_many(self.n_cases)
        return self._shared is None and (many or is_slow(sizes, self.rates, has_cut=has_cut))

    @cached_property
    def noise(self) -> float:
        """About the error of the log likelihood that is said to be exact, but for rounding."""
        sizes = tuple(self.class_sizes.tolist())
        return self.event.n_omitted * noise(sizes, *self.cut_among(sizes), self.rates)

    def log_totals_roughly(self, log_u: Floats) -> Floats:
        """Return `log_totals` with few digits where that is faster."""
        keys, known = [key_of(x) for x in log_u.tolist()], self._rough_totals
        self._compute_ahead(log_u, known)
        for key in keys:
            if key not in known:
                known[key] = self._compute(float(np.exp(key)), ROUGH).log_total
        return np.array([known[key] for key in keys])

    def _compute(self, u: float, accuracy: Accuracy) -> Record:
        if len(self._terms) == 1 and self.event.kinds is None:
            return self._compute_alike(u, accuracy)
        n_vectors = self.n_equal.size
        log_counts = np.empty(n_vectors)
        theta_means = np.empty((self._theta_rule.ploidy, n_vectors))
        kinds = self.event.kinds
        logs, error = self._without_cut(1 if kinds is None else kinds.totals.size), 0.0
        for vectors, told, terms in self._terms:
            found = terms.at(u, accuracy)
            log_counts[vectors], theta_means[:, vectors] = found.log_counts, found.theta_means
            if found.omission is None:
                continue
            if self.rates == "given":
                totals = terms.ones.sum(axis=0)
                log_counts[vectors] -= found.omission.log_total[totals]
            if kinds is not None:
                logs[:, told] = found.omission.given(kinds.totals[told])
                own = found.omission.log_errors(kinds.totals[told])
                error = float(np.hypot(error, np.linalg.norm(own * kinds.n_features[told])))
            elif np.array_equal(terms.sizes, self.class_sizes):
                logs[:, 0], error = self._of_any(found.omission)
        return Record(self, error, log_counts, theta_means, *logs)

    @staticmethod
    def _without_cut(n_kinds: int) -> Floats:
        """Return the log probabilities where there is no cut: every feature is below."""
        return np.repeat([[0.0], [-np.inf], [0.0]], n_kinds, axis=1)

    def _compute_alike(self, u: float, accuracy: Accuracy) -> Record:
        """Return the terms where all features have the same numbers of known values."""
        ((_, _, terms),) = self._terms
        found = terms.at(u, accuracy)
        log_counts, logs, error = found.log_counts, self._without_cut(1), 0.0
        if found.omission is not None:
            if self.rates == "given":
                log_counts = log_counts - found.omission.log_total[self.ones.sum(axis=0)]
            logs[:, 0], error = self._of_any(found.omission)
        return Record(self, error, log_counts, found.theta_means, *logs)

    def _of_any(self, omission: Omission) -> tuple[Floats, float]:
        """Return the log probabilities of a feature whose total is not known, and the error."""
        told, whatever = omission.of_any(), np.zeros(1, dtype=np.intp)
        error = self.event.n_omitted * float(told.log_errors(whatever)[0])
        return told.given(whatever)[:, 0], error

    def event_error(self, log_u: float) -> float:
        """Return about the standard error of the log probability of the event near a log u."""
        known = [(abs(x - log_u), each.event_error) for x, each in self._records.items()]
        return min((pair for pair in known if pair[1] > 0.0), default=(0.0, 0.0))[1]

    def log_total_of(self, record: Record) -> float:
        """Return the log likelihood, the event included."""
        log_event = self._log_event(record.log_below, record.log_at_cut, record.log_at_most)
        return float(self.n_equal @ record.log_counts) - self.log_orders + float(log_event)

    def _log_event(self, log_below: Floats, log_at_cut: Floats, log_at_most: Floats) -> Floats:
        """Return the log probability of the event from those of kinds, along the last axis."""
        if self.event.kinds is not None:
            return self.event.kinds.log_prob(log_below, log_at_cut, log_at_most)
        return self.event.log_prob(log_below[..., 0], log_at_most[..., 0])

    def log_event_of(self, omission: Omission) -> float:
        """Return the log probability of an event with kinds, where all features are complete."""
        assert self.event.kinds is not None
        return float(self._log_event(*omission.given(self.event.kinds.totals)))

    def log_omitted(self, log_at_most: Floats) -> Floats:
        """Return log P(at most at the cut), averaged over omitted features, from those of kinds."""
        kinds = self.event.kinds
        if kinds is None:
            return np.asarray(log_at_most[..., 0])
        n = kinds.n_features
        return np.asarray(np.log1p(np.expm1(log_at_most) @ (n / n.sum())))

    def log_omitted_of_groups(self, nodes: Nodes) -> Floats:
        """Return the same of two groups, at nodes of alpha and of the fraction."""
        pi, kinds = nodes.fractions, self.event.kinds
        own, null = self.records(nodes.log_u).log_at_most, self.null.log_at_most
        if kinds is None:
            return log_mixed(pi, own[nodes.alpha_of, 0], null[:, 0])
        share = kinds.n_features / kinds.n_features.sum()
        # Probabilities are mixed, and averaged over kinds: the order does not matter.
        lacking = np.exp(pi.log_related) * (np.expm1(own) @ share)[nodes.alpha_of]
        return np.asarray(np.log1p(lacking + np.exp(pi.log_rest) * (np.expm1(null) @ share)))

    def table(self, log_u: Floats, pi: Fractions) -> Floats:
        """Return the log likelihood of two groups, shape (log u, fractions)."""
        records, null = self.records(log_u), self.null
        log_kept = log_each(pi, records.log_counts - null.log_counts) @ self.n_equal
        log_null = float(null.log_counts[0] @ self.n_equal) - self.log_orders
        each = Fractions(pi.log_related[:, np.newaxis], pi.log_rest[:, np.newaxis])
        log_event = self._log_mixed_event(each, records, null)
        return np.asarray(log_kept.T + log_null + log_event)

    def _log_mixed_event(self, pi: Fractions, records: Records, null: Records) -> Floats:
        """Return the log probability of the event in two groups, shape (log u, fractions)."""
        names, kinds = OF_OMISSION, self.event.kinds
        if kinds is None:
            pairs = ((getattr(records, name), getattr(null, name)) for name in names)
            return self._log_event(*(log_mixed(pi, own[:, np.newaxis], no) for own, no in pairs))
        total = np.zeros((len(records.log_counts), pi.log_related.size))
        for name, n in zip(names, (kinds.n_below, kinds.n_at_cut, kinds.n_at_most), strict=True):
            some = n > 0  # logs of kinds without such features are not needed
            own, no = getattr(records, name)[:, np.newaxis, some], getattr(null, name)[:, some]
            total += log_mixed(pi, own, no) @ n[some].astype(np.float64)
        return total

    def mixtures(self, log_u: Floats) -> list[LogLikelihood]:
        """Return `mixture` at each of some log u."""
        self._compute_ahead(log_u, self._records)
        return [self.mixture(float(x)) for x in log_u]

    def mixture(self, log_u: float) -> LogLikelihood:
        """Return the log likelihood of two groups at one log u, as a function of the fraction."""
        record, null = self.at(log_u), self.at(NULL)
        log_ratio = record.log_counts - null.log_counts
        log_null = float(self.n_equal @ null.log_counts) - self.log_orders
        mixed = [mixing(getattr(record, name), getattr(null, name)) for name in OF_OMISSION]

        def log_likelihood(pi: Fractions) -> Floats:
            each = Fractions(pi.log_related[:, np.newaxis], pi.log_rest[:, np.newaxis])
            log_event = self._log_event(*(log_of(each) for log_of in mixed))
            return np.asarray(log_each(pi, log_ratio) @ self.n_equal + log_event + log_null)

        return log_likelihood

    def log_predictive(self, log_u: Floats) -> Floats:
        """Return log P(x* = 0), log P(x* = 1), ..., shape (values, classes, nodes, vectors).

        phi-hat of equation (eq-jfact) with theta averaged: (alpha theta + I) / (alpha + N). A
        genotype is two further draws.
        """
        u = np.exp(log_u)[:, np.newaxis]
        means = self.records(log_u).theta_means.swapaxes(0, 1)[:, np.newaxis]
        n_c, ones = self.known[:, np.newaxis, :], self.ones[:, np.newaxis, :]
        return log_further_draws(means, ones, n_c, u)

    @property
    def log_null_predictive(self) -> Floats:
        """The same for unrelated features, shape (values, vectors): (m + 1) / (n + 2)."""
        return log_null_draws(
            self.ones.sum(axis=0), self.known.sum(axis=0), self._theta_rule.ploidy
        )
