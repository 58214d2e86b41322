"""The likelihood of binary features and of the event, as a function of alpha."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln, xlogy

from unselected._typing import Floats, Ints
from unselected.models.two_groups import (
    Fractions,
    LogLikelihood,
    log_each,
    log_mixed,
)
from unselected.numerics.beta_binomial import CountLaw
from unselected.omission.binary import OmittedCounts, log_omission, selected_probabilities
from unselected.selection.correlation import compare
from unselected.selection.events import Event
from unselected.statistics.counts import ClassCounts

# Returns the nodes and weights of theta for so many cases.
ThetaRule = Callable[[int], tuple[Floats, Floats]]
# Where 1 / alpha is 0: the features are unrelated to the classes.
NULL = -np.inf


# Up to this many cases no probability of a pair of counts is below 1e-160. From this many pairs on
# the distribution of all counts is tabulated: (n0 + 1) (n1 + 1) entries.
FEW_CASES, _FEWEST_PAIRS_BY_TABLE = 512, 200


@dataclass(frozen=True)
class _Record:
    """At one alpha: the likelihood, E[theta] for each pair of counts, and P(omitted)."""

    log_total: float
    log_pairs: Floats
    mean_theta: Floats
    log_below: float
    log_at_most: float


class SharedLaw:
    """The distribution of all pairs of counts (I0, I1), shared by data sets with equal class sizes.

    It is tabulated once for each alpha. The omission probability is summed once for each cut.
    """

    def __init__(self, theta_rule: ThetaRule, n0: int, n1: int) -> None:
        self.law = CountLaw(n0, n1, *theta_rule(n0 + n1))
        self._tables: dict[float, tuple[Floats, Floats]] = {}
        self._cuts: dict[Fraction, int] = {}
        self._beyond: dict[tuple[int, int], NDArray[np.bool_]] = {}
        self._omitted: dict[tuple[float, int, int], float] = {}

    def number_of(self, cut: Fraction) -> int:
        """Return an index for a cut, because fractions are slow to look up."""
        return self._cuts.setdefault(cut, len(self._cuts))

    def tables(self, u: float) -> tuple[Floats, Floats]:
        """Return P(I0, I1) and E[theta | I0, I1], shape (n0 + 1, n1 + 1)."""
        if u not in self._tables:
            sums = np.zeros((2, self.law.n0 + 1, self.law.n1 + 1))
            for nodes, (_, pmf0), (_, pmf1) in self.law.pmf_blocks(u):
                weighted = pmf0.T * self.law.weights[nodes]
                sums[0] += weighted @ pmf1
                sums[1] += (weighted * self.law.theta[nodes]) @ pmf1
            self._tables[u] = sums[0], sums[1] / sums[0]
        return self._tables[u]

    def log_omitted(self, u: float, number: int, least_sign: int) -> float:
        """Return log P(|COR| <= gamma), or with ``least_sign`` 0 that of |COR| < gamma.

        gamma is the square root of the cut with that index.
        """
        key = u, number, least_sign
        if key not in self._omitted:
            table, beyond = self.tables(u)[0], self._beyond_cut(number, least_sign)
            selected = float(table[beyond].sum())
            with np.errstate(divide="ignore"):  # nothing is below a cut of 0
                rest = np.log1p(-selected) if selected < 0.5 else np.log(table[~beyond].sum())
            self._omitted[key] = float(rest)
        return self._omitted[key]

    def _beyond_cut(self, number: int, least_sign: int) -> NDArray[np.bool_]:
        """Say which pairs are selected."""
        if (number, least_sign) not in self._beyond:
            n0, n1 = self.law.n0, self.law.n1
            cut = list(self._cuts)[number]
            I0, I1 = np.divmod(np.arange((n0 + 1) * (n1 + 1)), n1 + 1)
            beyond = compare(I0, I1, n0, n1, cut) >= least_sign
            self._beyond[number, least_sign] = beyond.reshape(n0 + 1, n1 + 1)
        return self._beyond[number, least_sign]


class Likelihood:
    """P(kept features, event | alpha, y) as a function of log u, cached."""

    def __init__(
        self,
        theta_rule: ThetaRule,
        counts: ClassCounts,
        event: Event,
        shared: SharedLaw | None = None,
    ) -> None:
        n0, n1 = counts.n0, counts.n1
        I0, I1 = counts.I0.astype(np.int64), counts.I1.astype(np.int64)
        codes, self.pair_of, self.n_equal = np.unique(
            I0 * (n1 + 1) + I1, return_inverse=True, return_counts=True
        )
        self.I0, self.I1 = np.divmod(codes, n1 + 1)
        self.n_features = I0.size + event.n_omitted
        self.shared = shared
        self.law = CountLaw(n0, n1, *theta_rule(n0 + n1)) if shared is None else shared.law
        self.event = event
        self.log_orders = float(np.sum(_log_binomial(n0, I0) + _log_binomial(n1, I1)))
        per_pair = _log_best(n0, self.I0) + _log_best(n1, self.I1)
        self.log_bound = float(self.n_equal @ per_pair)
        self.few_cases = n0 + n1 <= FEW_CASES
        self.by_table = self.few_cases and self.I0.size > _FEWEST_PAIRS_BY_TABLE
        self._records: dict[float, _Record] = {}

    @cached_property
    def number(self) -> int:
        """The index that a shared law has for the cut; -1 where there is none."""
        if self.shared is None or self.event.cut is None:
            return -1
        return self.shared.number_of(self.event.cut)

    @cached_property
    def omitted(self) -> list[OmittedCounts]:
        """The counts that are at most at the cut, and, where needed, those below it."""
        cut, sizes = self.event.cut, (self.law.n0, self.law.n1)
        if cut is None:
            return []
        at_most = OmittedCounts.at_most(cut, *sizes)
        return [at_most, OmittedCounts.below(cut, *sizes)] if self.event.needs_below else [at_most]

    def at(self, log_u: float) -> _Record:
        """Return the terms at one value of alpha."""
        key = float(log_u)
        if key not in self._records:
            self._records[key] = self._compute(float(np.exp(key)))
        return self._records[key]

    def _compute(self, u: float) -> _Record:
        if self.shared is not None:
            return self._looked_up(self.shared, u)
        log_pairs = np.full((2, self.I0.size), -np.inf)
        selected = np.zeros(len(self.omitted))
        for nodes, (log_p0, pmf0), (log_p1, pmf1) in self.law.pmf_blocks(u):
            theta, weights = self.law.theta[nodes], self.law.weights[nodes]
            if self.by_table:
                sums = self._log_table(pmf0, pmf1, weights, theta)
            elif self.few_cases:
                sums = self._log_products(pmf0, pmf1, weights, theta)
            else:
                sums = self._log_pairs(log_p0, log_p1, weights, theta)
            log_pairs = np.logaddexp(log_pairs, sums)
            selected += selected_probabilities(self.omitted, pmf0, pmf1, weights)
        log_omitted = [
            log_omission(self.law, u, omitted, total)
            for omitted, total in zip(self.omitted, selected, strict=True)
        ]
        return self._record(log_pairs[0], np.exp(log_pairs[1] - log_pairs[0]), log_omitted)

    def _looked_up(self, shared: SharedLaw, u: float) -> _Record:
        table, theta = (each[self.I0, self.I1] for each in shared.tables(u))
        log_omitted = []
        if self.event.cut is not None:
            signs = (1, 0) if self.event.needs_below else (1,)
            log_omitted = [shared.log_omitted(u, self.number, sign) for sign in signs]
        return self._record(np.log(table), theta, log_omitted)

    def _record(self, log_pairs: Floats, theta: Floats, log_omitted: list[float]) -> _Record:
        log_at_most, log_below = [*log_omitted, -np.inf, -np.inf][:2]
        log_event = float(self.event.log_prob(np.array(log_below), np.array(log_at_most)))
        return _Record(
            log_total=float(self.n_equal @ log_pairs) - self.log_orders + log_event,
            log_pairs=log_pairs,
            mean_theta=theta,
            log_below=log_below,
            log_at_most=log_at_most,
        )

    def mixture(self, log_u: float) -> LogLikelihood:
        """Return the log likelihood of two groups at one log u, as a function of the fraction."""
        record, null = self.at(log_u), self.at(NULL)
        log_ratio = record.log_pairs - null.log_pairs
        log_null = float(self.n_equal @ null.log_pairs) - self.log_orders

        def log_likelihood(pi: Fractions) -> Floats:
            log_below, log_at_most = (
                log_mixed(pi, np.array(getattr(record, name)), np.array(getattr(null, name)))
                for name in ("log_below", "log_at_most")
            )
            log_event = self.event.log_prob(log_below, log_at_most)
            return np.asarray(log_each(pi, log_ratio) @ self.n_equal + log_event + log_null)

        return log_likelihood

    def _log_pairs(self, log_p0: Floats, log_p1: Floats, weights: Floats, theta: Floats) -> Floats:
        """Return log P and log E[theta; P] of each pair of counts, summed in logs over nodes."""
        # One row per count: taking rows is faster than taking columns.
        terms = np.take(np.ascontiguousarray(log_p0.T), self.I0, axis=0)
        terms += np.take(np.ascontiguousarray(log_p1.T), self.I1, axis=0)
        top = np.max(terms, axis=1, keepdims=True)
        top = np.where(np.isfinite(top), top, 0.0)  # theta = 0 and 1 allow constant features only
        sums = np.stack([weights, weights * theta]) @ np.exp(terms - top).T
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(sums) + top[:, 0])

    def _log_products(self, pmf0: Floats, pmf1: Floats, weights: Floats, theta: Floats) -> Floats:
        """Return the same from products of probabilities: faster for few cases."""
        products = np.take(pmf0, self.I0, axis=1) * np.take(pmf1, self.I1, axis=1)
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(np.stack([weights, weights * theta]) @ products))

    def _log_table(self, pmf0: Floats, pmf1: Floats, weights: Floats, theta: Floats) -> Floats:
        """Return the same from one table of all counts: faster for many pairs and few cases."""
        weighted = pmf0.T * weights
        tables = [weighted @ pmf1, (weighted * theta) @ pmf1]
        with np.errstate(divide="ignore"):
            return np.log([table[self.I0, self.I1] for table in tables])

    def log_predictive(self, log_u: Floats) -> tuple[Floats, Floats]:
        """Return log P(x* = 1), log P(x* = 0), each of shape (classes, nodes, pairs).

        phi-hat of equation (eq-jfact) with theta averaged: (alpha theta + I) / (alpha + N).
        """
        u = np.exp(log_u)[:, np.newaxis]
        theta = np.array([self.at(x).mean_theta for x in log_u])
        n_c = np.array([self.law.n0, self.law.n1])[:, np.newaxis, np.newaxis]
        ones = np.stack([self.I0, self.I1])[:, np.newaxis, :]
        log_total = np.log1p(n_c * u)
        log_one = np.log(theta + ones * u) - log_total
        return log_one, np.log((1.0 - theta) + (n_c - ones) * u) - log_total

    @property
    def log_null_predictive(self) -> tuple[Floats, Floats]:
        """The same for unrelated features, each of shape (pairs,): (I0 + I1 + 1) / (n + 2)."""
        ones, n = self.I0 + self.I1, self.law.n0 + self.law.n1
        return np.log((ones + 1.0) / (n + 2.0)), np.log((n - ones + 1.0) / (n + 2.0))


def _log_best(n: int, i: Ints) -> Floats:
    """Return the log probability of i ones in n cases, in order, at the rate i / n."""
    return np.asarray(xlogy(i, i / n) + xlogy(n - i, (n - i) / n))


def _log_binomial(n: int, i: Ints) -> Floats:
    return np.asarray(-betaln(n - i + 1.0, i + 1.0) - np.log(n + 1.0))
