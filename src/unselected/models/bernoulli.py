"""The paper's naive Bayes model of binary features and a binary response, given an event.

Everything but alpha is integrated out exactly, so that the posterior is a set of weighted nodes
of alpha; of alpha and of the fraction of related features where there are two groups.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln, log_expit, xlogy

from unselected._typing import Floats, Ints
from unselected.models.concentration import ConcentrationPrior, LogFunction
from unselected.models.two_groups import (
    ALPHA_TOLERANCE,
    FractionPrior,
    Fractions,
    LogLikelihood,
    TwoGroups,
    log_each,
    log_mixed,
    related_probability,
)
from unselected.numerics.beta_binomial import CountLaw
from unselected.numerics.quadrature import TOLERANCE, gauss_legendre, log_sum, simpson, theta_nodes
from unselected.omission.binary import OmittedCounts, log_omission, selected_probabilities
from unselected.selection.correlation import compare
from unselected.selection.events import Event
from unselected.statistics.counts import ClassCounts

# Where 1 / alpha is 0: the features are unrelated to the classes.
_NULL = -np.inf

# With so few cases no probability of a pair of counts is below 1e-160, and for so many pairs
# the law of all counts is tabulated: (n0 + 1) (n1 + 1) entries.
FEW_CASES, _FEWEST_PAIRS_BY_TABLE = 512, 200

# Elements of a float copy of the rows that are predicted at a time.
_ROW_BLOCK = 1 << 20


@dataclass(frozen=True)
class BernoulliPosterior:
    """The posterior of alpha as weighted nodes, and what each node says of a kept feature.

    Attributes
    ----------
    log_alpha, log_weights : arrays of shape (nodes,)
        The weights sum to 1.
    log_at_most : array of shape (nodes,)
        Log of the probability that a feature is at most at the cut; -inf where there is no cut.
    log_evidence : float
        log P(y, kept features, event).
    log_psi : array of shape (2,)
        Log of the predictive class probabilities before any feature is seen, equation (predp-y).
    log_one, log_zero : arrays of shape (2, nodes, pairs)
        Log of the predictive probability that a feature is 1, or 0, in each class.
    pair_of : array of shape (k,)
        The pair of counts of each kept feature.
    fractions : Fractions or None
        Of the nodes, where there are two groups of features.
    related : array of shape (k,) or None
        The posterior probability that a kept feature is related, where there are two groups.
    """

    log_alpha: Floats
    log_weights: Floats
    log_at_most: Floats
    log_evidence: float
    log_psi: Floats
    log_one: Floats
    log_zero: Floats
    pair_of: Ints
    fractions: Fractions | None = None
    related: Floats | None = None

    def log_joint(self, bits: NDArray[np.bool_]) -> Floats:
        """Return log P(y*, x* | training data, event) for rows of kept features, one column per y*.

        The numerator of equation (eq-unc-pp), averaged over alpha as in (eq-alpha-int2-mod).
        """
        n_nodes, k = self.log_weights.size, self.pair_of.size
        log_odds, log_none = self._log_tables()
        joint = np.empty((bits.shape[0], 2))
        rows = max(1, _ROW_BLOCK // max(k, 2 * n_nodes))
        for start in range(0, bits.shape[0], rows):
            block = bits[start : start + rows].astype(np.float64)
            by_node = (block @ log_odds.T + log_none).reshape(-1, 2, n_nodes)
            joint[start : start + rows] = log_sum(by_node, axis=2)
        return joint

    def log_joint_by_node(self, bits: NDArray[np.bool_]) -> Floats:
        """Return log P(y*, x*, node | training data, event), shape (rows, 2, nodes)."""
        log_odds, log_none = self._log_tables()
        logs = bits.astype(np.float64) @ log_odds.T + log_none
        return np.asarray(logs.reshape(-1, 2, self.log_weights.size))

    def _log_tables(self) -> tuple[Floats, Floats]:
        """Return what a one adds to the log joint, and that of no ones, by class and node."""
        n_nodes = self.log_weights.size
        log_odds = (self.log_one - self.log_zero).reshape(2 * n_nodes, -1)[:, self.pair_of]
        log_none = self.log_zero.reshape(2 * n_nodes, -1)[:, self.pair_of].sum(axis=1)
        log_none += np.add.outer(self.log_psi, self.log_weights).ravel()
        return log_odds, log_none


@dataclass(frozen=True)
class BernoulliModel:
    """Equations (sample-y-b) to (prior-phi-b) of the paper.

    psi ~ Beta(f1, f0), alpha ~ Inverse-Gamma(a, b), theta_j ~ Uniform(0, 1), and
    phi_0j, phi_1j ~ Beta(alpha theta_j, alpha (1 - theta_j)).

    ``quadrature`` is "exact" (theta exactly, alpha adaptively) or "paper" (Simpson's rule with
    21 nodes of theta, 30 prior quantiles of alpha). ``refinement`` makes "exact" finer than it need
    be, to check it.

    With ``least_fraction`` there are two groups of features: a fraction pi is as above, for the
    others phi_0j = phi_1j = theta_j; pi is log-uniform from ``least_fraction`` to 1. Without it all
    features are related. Two groups need the quadrature "exact".
    """

    f0: float = 1.0
    f1: float = 1.0
    a: float = 0.5
    b: float = 5.0
    quadrature: Literal["exact", "paper"] = "exact"
    refinement: int = 1
    least_fraction: float | None = None

    def simulate(
        self,
        n_samples: int,
        n_features: int,
        rng: np.random.Generator,
        *,
        alpha: float | None = None,
        y: NDArray[Any] | None = None,
        fraction: float | None = None,
    ) -> tuple[NDArray[np.uint8], NDArray[np.int64], dict[str, Any]]:
        """Draw parameters from the prior, or use those given, and data from the model.

        Returns X of shape (n_samples, n_features), y of shape (n_samples,), and the parameters;
        with two groups also the fraction, and which features are related.
        """
        if alpha is None:
            alpha = float(1.0 / rng.gamma(self.a, 1.0 / self.b))
        psi = rng.beta(self.f1, self.f0)
        if y is None:
            y = rng.random(n_samples) < psi
        y = np.asarray(y, dtype=np.int64)
        theta = rng.random(n_features)
        phi = rng.beta(alpha * theta, alpha * (1.0 - theta), size=(2, n_features))
        parameters = {"alpha": alpha, "psi": psi, "theta": theta, "phi": phi}
        if self.least_fraction is not None:
            groups = FractionPrior(self.least_fraction).simulate(n_features, rng, fraction)
            phi = np.where(groups["related"], phi, theta)
            parameters |= {"phi": phi, **groups}
        X = np.empty((n_samples, n_features), dtype=np.uint8)
        for row, g in zip(X, y, strict=True):
            row[:] = rng.random(n_features) < phi[g]
        return X, y, parameters

    def condition(self, counts: ClassCounts, event: Event) -> BernoulliPosterior:
        """Return the posterior given the counts of the kept features, the classes and the event."""
        likelihood = Likelihood(self, counts, event)
        if self.least_fraction is not None:
            return self._two_groups(likelihood, FractionPrior(self.least_fraction))
        return self.posterior(likelihood, *self._nodes(likelihood))

    def posterior(
        self, likelihood: "Likelihood", log_u: Floats, log_terms: Floats
    ) -> BernoulliPosterior:
        """Return the posterior on nodes of log u with these log terms, all features related."""
        log_weights, log_evidence = self._normalized(likelihood, log_terms)
        records = [likelihood.at(x) for x in log_u]
        log_one, log_zero = likelihood.log_predictive(log_u)
        return BernoulliPosterior(
            log_alpha=-log_u,
            log_weights=log_weights,
            log_at_most=np.array([record.log_at_most for record in records]),
            log_evidence=log_evidence,
            log_psi=self._log_psi(likelihood),
            log_one=log_one,
            log_zero=log_zero,
            pair_of=likelihood.pair_of,
        )

    def _two_groups(self, likelihood: "Likelihood", prior: FractionPrior) -> BernoulliPosterior:
        """Return the posterior of alpha and of the fraction of related features."""
        groups = TwoGroups(prior, likelihood.mixture, self.refinement)
        nodes = groups.nodes(*self._integrated(likelihood, groups.log_total, ALPHA_TOLERANCE))
        pi, alpha_of = nodes.fractions, nodes.alpha_of
        log_weights, log_evidence = self._normalized(likelihood, nodes.log_terms)
        null = likelihood.at(_NULL)
        log_at_most = np.array([likelihood.at(x).log_at_most for x in nodes.log_u])
        log_ratio = np.array([likelihood.at(x).log_pairs - null.log_pairs for x in nodes.log_u])
        log_odds = pi.log_odds[:, np.newaxis] + log_ratio[alpha_of]
        each = Fractions(log_expit(log_odds), log_expit(-log_odds))
        log_one, log_zero = (
            np.stack([log_mixed(each, of_class[alpha_of], nothing) for of_class in of_alpha])
            for of_alpha, nothing in zip(
                likelihood.log_predictive(nodes.log_u), likelihood.log_null_predictive, strict=True
            )
        )
        related = related_probability(pi, log_ratio, alpha_of, np.exp(log_weights))
        return BernoulliPosterior(
            log_alpha=-nodes.log_u[alpha_of],
            log_weights=log_weights,
            log_at_most=log_mixed(pi, log_at_most[alpha_of], np.array(null.log_at_most)),
            log_evidence=log_evidence,
            log_psi=self._log_psi(likelihood),
            log_one=log_one,
            log_zero=log_zero,
            pair_of=likelihood.pair_of,
            fractions=pi,
            related=related[likelihood.pair_of],
        )

    def _normalized(self, likelihood: "Likelihood", log_terms: Floats) -> tuple[Floats, float]:
        """Return log weights that sum to 1, and the log evidence with that of the classes."""
        top = np.max(log_terms)  # taken out first: these logs can be so large that digits are lost
        log_total = log_sum(log_terms - top)
        f = self._counts_of_classes(likelihood)
        log_evidence = float(top + log_total + betaln(*f) - betaln(self.f0, self.f1))
        return (log_terms - top) - log_total, log_evidence

    def _counts_of_classes(self, likelihood: "Likelihood") -> Floats:
        return np.array([self.f0 + likelihood.law.n0, self.f1 + likelihood.law.n1])

    def _log_psi(self, likelihood: "Likelihood") -> Floats:
        f = self._counts_of_classes(likelihood)
        return np.asarray(np.log(f / f.sum()))

    def theta_rule(self, n: int) -> tuple[Floats, Floats]:
        """Return the nodes and weights of theta for n cases."""
        if self.quadrature == "paper":
            return simpson(21)
        return gauss_legendre(theta_nodes(n) * self.refinement)

    def _nodes(self, likelihood: "Likelihood") -> tuple[Floats, Floats]:
        """Return nodes of log u = -log(alpha), and log (weight * likelihood * event)."""

        def log_likelihood(log_u: Floats) -> Floats:
            return np.array([likelihood.at(x).log_total for x in log_u])

        if self.quadrature == "paper":
            log_u = ConcentrationPrior(self.a, self.b).quantile_nodes(30)
            return log_u, log_likelihood(log_u) - np.log(log_u.size)
        return self._integrated(likelihood, log_likelihood)

    def _integrated(
        self,
        likelihood: "Likelihood",
        log_likelihood: LogFunction,
        tolerance: float = TOLERANCE,
    ) -> tuple[Floats, Floats]:
        return ConcentrationPrior(self.a, self.b).integrate(
            log_likelihood,
            likelihood.law.n0 + likelihood.law.n1,
            likelihood.n_features,
            log_bound=lambda log_u: np.full(log_u.shape, likelihood.log_bound),
            refinement=self.refinement,
            tolerance=tolerance,
        )


@dataclass(frozen=True)
class _Record:
    """What one value of alpha says: of the data, of theta for each pair of counts, of omission."""

    log_total: float
    log_pairs: Floats
    mean_theta: Floats
    log_below: float
    log_at_most: float


class SharedLaw:
    """The law of all pairs of counts (I0, I1), for many data sets with as many cases.

    It is tabulated once for each alpha, and the probability of omission summed once for each cut.
    """

    def __init__(self, model: BernoulliModel, n0: int, n1: int) -> None:
        self.law = CountLaw(n0, n1, *model.theta_rule(n0 + n1))
        self._tables: dict[float, tuple[Floats, Floats]] = {}
        self._cuts: dict[Fraction, int] = {}
        self._beyond: dict[tuple[int, int], NDArray[np.bool_]] = {}
        self._omitted: dict[tuple[float, int, int], float] = {}

    def number_of(self, cut: Fraction) -> int:
        """Return a number for a cut: fractions are slow to look up."""
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

        gamma is the root of the cut with that number.
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
    """P(kept features, event | alpha, y) as a function of log u, remembered where computed."""

    def __init__(
        self,
        model: BernoulliModel,
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
        self.law = CountLaw(n0, n1, *model.theta_rule(n0 + n1)) if shared is None else shared.law
        self.event = event
        self.log_orders = float(np.sum(_log_binomial(n0, I0) + _log_binomial(n1, I1)))
        per_pair = _log_best(n0, self.I0) + _log_best(n1, self.I1)
        self.log_bound = float(self.n_equal @ per_pair)
        self.few_cases = n0 + n1 <= FEW_CASES
        self.by_table = self.few_cases and self.I0.size > _FEWEST_PAIRS_BY_TABLE
        self._records: dict[float, _Record] = {}

    @cached_property
    def number(self) -> int:
        """The number that a shared law has for the cut; -1 where there is none."""
        if self.shared is None or self.event.cut is None:
            return -1
        return self.shared.number_of(self.event.cut)

    @cached_property
    def omitted(self) -> list[OmittedCounts]:
        """The counts that are at most at the cut, and where needed those below it."""
        cut, sizes = self.event.cut, (self.law.n0, self.law.n1)
        if cut is None:
            return []
        at_most = OmittedCounts.at_most(cut, *sizes)
        return [at_most, OmittedCounts.below(cut, *sizes)] if self.event.needs_below else [at_most]

    def at(self, log_u: float) -> _Record:
        """Return what a value of alpha says."""
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
        """Return the log likelihood of two groups at a log u, as a function of the fraction."""
        record, null = self.at(log_u), self.at(_NULL)
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
        """Return log P and log E[theta; P] of each pair of counts, by logs of all nodes."""
        # One row per count: taking rows is faster than taking columns.
        terms = np.take(np.ascontiguousarray(log_p0.T), self.I0, axis=0)
        terms += np.take(np.ascontiguousarray(log_p1.T), self.I1, axis=0)
        top = np.max(terms, axis=1, keepdims=True)
        top = np.where(np.isfinite(top), top, 0.0)  # theta = 0 and 1 allow constant features only
        sums = np.stack([weights, weights * theta]) @ np.exp(terms - top).T
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(sums) + top[:, 0])

    def _log_products(self, pmf0: Floats, pmf1: Floats, weights: Floats, theta: Floats) -> Floats:
        """Return the same by products of probabilities: faster for few cases."""
        products = np.take(pmf0, self.I0, axis=1) * np.take(pmf1, self.I1, axis=1)
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(np.stack([weights, weights * theta]) @ products))

    def _log_table(self, pmf0: Floats, pmf1: Floats, weights: Floats, theta: Floats) -> Floats:
        """Return the same by one table of all counts: faster for many pairs and few cases."""
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
        """The same of unrelated features, each of shape (pairs,): (I0 + I1 + 1) / (n + 2)."""
        ones, n = self.I0 + self.I1, self.law.n0 + self.law.n1
        return np.log((ones + 1.0) / (n + 2.0)), np.log((n - ones + 1.0) / (n + 2.0))


def _log_best(n: int, i: Ints) -> Floats:
    """Return the log probability of i ones in n cases, in order, at the rate i / n."""
    return np.asarray(xlogy(i, i / n) + xlogy(n - i, (n - i) / n))


def _log_binomial(n: int, i: Ints) -> Floats:
    return np.asarray(-betaln(n - i + 1.0, i + 1.0) - np.log(n + 1.0))
