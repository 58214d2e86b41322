"""The paper's naive Bayes model of binary features and a class, given an event.

Everything but alpha is integrated out exactly, so that the posterior is a set of weighted nodes of
alpha. With two groups of features the nodes are of alpha and of the fraction of related features.
"""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln, gammaln

from unselected._typing import Floats, Ints
from unselected.models.bernoulli_likelihood import Likelihood
from unselected.models.bernoulli_posterior import BernoulliPosterior
from unselected.models.concentration import ConcentrationPrior, LogFunction
from unselected.models.count_omission import Rates
from unselected.models.count_terms import ThetaRule
from unselected.models.fractions import FractionPrior, check_groups
from unselected.models.record_interpolation import RecordInterpolation
from unselected.models.related import related_shares
from unselected.models.two_groups import ALPHA_TOLERANCE, Mixtures, TwoGroups
from unselected.numerics.quadrature import TOLERANCE, log_sum
from unselected.selection.events import Event
from unselected.statistics.counts import ClassCounts


@dataclass(frozen=True)
class BernoulliModel:
    """Equations (sample-y-b) to (prior-phi-b) of the paper, for two or more classes.

    psi ~ Dirichlet(pseudocounts), which is Beta(f1, f0) for two classes,
    alpha ~ Inverse-Gamma(a, b), theta_j ~ Uniform(0, 1), and in each class g
    phi_gj ~ Beta(alpha theta_j, alpha (1 - theta_j)).

    With ``ploidy`` 2 the features are genotypes: the value of a case of class g is the number of
    copies of an allele among its two, Binomial(2, phi_gj), which is Hardy-Weinberg equilibrium in
    each class. Counts are then counts of alleles, twice as many as cases; pseudocounts are still
    counts of cases. ``log_evidence`` of a posterior is that of the alleles in order: that of the
    genotypes is larger by log(2) for each heterozygous one.

    With ``rates`` "given" the model takes the total of each feature as given, the number of ones
    in all classes together, and says only how it is divided between the classes. What the totals
    say of alpha is left out: under uniform rates it would be informative, and wrong where most
    features are rare.

    ``quadrature`` is "exact" (theta exactly, alpha adaptively) or "paper" (Simpson's rule with
    21 nodes of theta, 30 prior quantiles of alpha). ``refinement`` makes "exact" finer than
    necessary, to check it.

    With ``least_fraction`` there are two groups of features. A fraction pi of them is as above; for
    the others phi_0j = phi_1j = theta_j. pi is log-uniform from ``least_fraction`` to 1, or 1 with
    probability ``all_related``. Without it all features are related. Two groups need the quadrature
    "exact".

    ``coarse`` places few nodes of alpha and pi: enough for an average over models, but not for nine
    digits.
    """

    pseudocounts: tuple[float, ...] = (1.0, 1.0)
    a: float = 0.5
    b: float = 5.0
    quadrature: Literal["exact", "paper"] = "exact"
    refinement: int = 1
    least_fraction: float | None = None
    rates: Rates = "uniform"
    all_related: float = 0.0
    coarse: bool = False
    ploidy: int = 1

    def __post_init__(self) -> None:
        check_groups(self.least_fraction, self.all_related)

    @property
    def concentration(self) -> ConcentrationPrior:
        """The prior of alpha."""
        return ConcentrationPrior(self.a, self.b, self.coarse)

    @property
    def fraction(self) -> FractionPrior:
        """The prior of the fraction of related features; it is 1 where there are no two groups."""
        return FractionPrior.of(self.least_fraction, self.all_related, self.coarse)

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
        n_classes = len(self.pseudocounts)
        psi = self._simulate_psi(rng)
        if y is None:
            y = (
                rng.random(n_samples) < psi
                if n_classes == 2
                else rng.choice(n_classes, n_samples, p=psi)
            )
        y = np.asarray(y, dtype=np.int64)
        theta = rng.random(n_features)
        phi = rng.beta(alpha * theta, alpha * (1.0 - theta), size=(n_classes, n_features))
        parameters = {"alpha": alpha, "psi": psi, "theta": theta, "phi": phi}
        if self.least_fraction is not None:
            groups = self.fraction.simulate(n_features, rng, fraction)
            phi = np.where(groups["related"], phi, theta)
            parameters |= {"phi": phi, **groups}
        X = np.empty((n_samples, n_features), dtype=np.uint8)
        for row, g in zip(X, y, strict=True):
            row[:] = sum(rng.random(n_features) < phi[g] for _ in range(self.ploidy))
        return X, y, parameters

    def _simulate_psi(self, rng: np.random.Generator) -> Any:
        """Draw the probability of the second of two classes, or those of several."""
        if len(self.pseudocounts) == 2:
            return rng.beta(self.pseudocounts[1], self.pseudocounts[0])
        return rng.dirichlet(self.pseudocounts)

    def condition(self, statistics: ClassCounts, event: Event) -> BernoulliPosterior:
        """Return the posterior given the counts of the kept features, the classes and the event."""
        return self.given(Likelihood(self.theta_rule, statistics, event, self.rates))

    def given(self, likelihood: "Likelihood") -> BernoulliPosterior:
        """Return the posterior given a likelihood, which may share its tables with others."""
        if self.least_fraction is not None:
            return self._two_groups(likelihood)
        return self.posterior(likelihood, *self._nodes(likelihood))

    def posterior(
        self, likelihood: "Likelihood", log_u: Floats, log_terms: Floats
    ) -> BernoulliPosterior:
        """Return the posterior on nodes of log u with these log terms, all features related."""
        log_weights, log_evidence = self.normalized(likelihood.class_sizes, log_terms)
        records = [likelihood.at(x) for x in log_u]
        return BernoulliPosterior(
            log_alpha=-log_u,
            log_weights=log_weights,
            log_at_most=np.array([record.log_omitted for record in records]),
            log_evidence=log_evidence,
            log_psi=self.log_psi(likelihood.class_sizes),
            log_values=likelihood.log_predictive(log_u),
            vector_of=likelihood.vector_of,
            event_error=likelihood.event_error(float(log_u[np.argmax(log_terms)])),
        )

    def _two_groups(self, likelihood: "Likelihood") -> BernoulliPosterior:
        """Return the posterior of alpha and of the fraction of related features."""
        groups = TwoGroups(
            self.fraction,
            lambda x: Mixtures(likelihood.mixtures(x).__getitem__),
            self.refinement,
            likelihood.table,
        )
        nodes = groups.nodes(*self._integrated(likelihood, groups.log_total, ALPHA_TOLERANCE))
        pi, alpha_of = nodes.fractions, nodes.alpha_of
        log_weights, log_evidence = self.normalized(likelihood.class_sizes, nodes.log_terms)
        records, null = likelihood.records(nodes.log_u), likelihood.null
        log_ratio = records.log_counts - null.log_counts
        related, rest = related_shares(pi.log_odds[:, np.newaxis] + log_ratio[alpha_of])
        by_value = zip(
            np.exp(likelihood.log_predictive(nodes.log_u)),
            np.exp(likelihood.log_null_predictive),
            strict=True,
        )
        values = [
            [related * of_class[alpha_of] + rest * nothing for of_class in of_alpha]
            for of_alpha, nothing in by_value
        ]
        return BernoulliPosterior(
            log_alpha=-nodes.log_u[alpha_of],
            log_weights=log_weights,
            log_at_most=likelihood.log_omitted_of_groups(nodes),
            log_evidence=log_evidence,
            log_psi=self.log_psi(likelihood.class_sizes),
            log_values=np.log(values),
            vector_of=likelihood.vector_of,
            fractions=pi,
            related=np.minimum(np.exp(log_weights) @ related, 1.0)[likelihood.vector_of],
            event_error=likelihood.event_error(
                float(nodes.log_u[alpha_of][np.argmax(log_weights)])
            ),
        )

    def normalized(self, sizes: Ints, log_terms: Floats) -> tuple[Floats, float]:
        """Return log weights that sum to 1, and the log evidence with that of the classes."""
        top = np.max(log_terms)  # subtracted first: logs this large would lose digits
        log_total = log_sum(log_terms - top)
        f, n = np.array(self.pseudocounts), sizes // self.ploidy
        log_evidence = float(top + log_total + log_probability_of_classes(f, n))
        return (log_terms - top) - log_total, log_evidence

    def log_psi(self, sizes: Ints) -> Floats:
        """Return the log class probabilities before any feature is seen, equation (predp-y).

        ``sizes`` are those of `ClassCounts`: of genotypes the numbers of alleles.
        """
        f = np.array(self.pseudocounts) + sizes // self.ploidy
        return np.asarray(np.log(f / f.sum()))

    @property
    def theta_rule(self) -> ThetaRule:
        """The nodes and weights of theta for any number of cases."""
        return ThetaRule(self.quadrature, self.refinement, self.ploidy, self.coarse)

    def _nodes(self, likelihood: "Likelihood") -> tuple[Floats, Floats]:
        """Return nodes of log u = -log(alpha), and log (weight * likelihood * event)."""
        log_likelihood: LogFunction = likelihood.log_totals
        if self.quadrature == "paper":
            log_u = ConcentrationPrior(self.a, self.b).quantile_nodes(30)
            return log_u, log_likelihood(log_u) - np.log(log_u.size)

        if likelihood.is_slow and self.refinement == 1 and not self.coarse:
            log_likelihood = RecordInterpolation(likelihood, self.concentration).log_total
        return self._integrated(likelihood, log_likelihood, rough=likelihood.log_totals_roughly)

    def _integrated(
        self,
        likelihood: "Likelihood",
        log_likelihood: LogFunction,
        tolerance: float = TOLERANCE,
        rough: LogFunction | None = None,
    ) -> tuple[Floats, Floats]:
        return self.concentration.integrate(
            log_likelihood,
            likelihood.n_cases,
            likelihood.n_features,
            log_bound=lambda log_u: np.full(log_u.shape, likelihood.log_bound),
            refinement=self.refinement,
            tolerance=tolerance,
            rough=rough,
        )


def log_probability_of_classes(f: Floats, n: Ints) -> float:
    """Return the log probability of the classes of the cases, in order, with pseudocounts f.

    >>> round(float(np.exp(log_probability_of_classes(np.ones(2), np.array([1, 1])))), 12)
    0.166666666667
    """
    if f.size == 2:
        return float(betaln(f[0] + n[0], f[1] + n[1]) - betaln(f[0], f[1]))
    logs = np.sum(gammaln(f + n) - gammaln(f))
    return float(logs + gammaln(f.sum()) - gammaln((f + n).sum()))
