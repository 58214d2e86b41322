"""The posterior of tau (and of the common variance) as weighted nodes."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from unselected._typing import Floats
from unselected.models.fractions import Fractions
from unselected.models.gaussian_likelihood import RealLikelihood
from unselected.models.gaussian_prior import GaussianPrior
from unselected.models.student import StudentLaw
from unselected.numerics.quadrature import NEGLIGIBLE, gauss_rule, log_sum
from unselected.omission.real import log_real_omission
from unselected.selection.events import RealEvent
from unselected.statistics.moments import Contrasts

# For a sum over nodes to be accurate, the end nodes have to be this far below the largest, and
# leaving out every second node may change the sum by this much. The error is about its square.
FAR_DOWN, LARGEST_DIFFERENCE = 25.0, 1e-4


# Nodes of a wide posterior, without and with a common variance, and nodes processed at a time.
_MOST_NODES, _MOST_NODES_OF_TWO = 20_000, 300


_NODES_TOGETHER = 256


@dataclass(frozen=True, eq=False)
class GaussianPosterior:
    """The posterior of tau (and of the common variance) as weighted nodes.

    Attributes
    ----------
    log_alpha, log_weights : arrays of shape (nodes,)
        alpha = 1 / tau^2. The weights sum to 1.
    log_at_most : array of shape (nodes,)
        Log of the probability that a feature without missing values is at most at the cut; 0 where
        there is no cut.
    log_evidence : float
        log P(kept features, event | y), up to a constant of the improper priors.
    log_variance : array of shape (nodes,)
        Log of the common variance; -inf where variances are not shrunk.
    contrasts : Contrasts
        Of the kept features.
    event : RealEvent
    model : GaussianPrior
    at_means : GaussianPosterior or None
        The posterior for cases with the means of the covariates, whose nodes these are; None where
        it is this one.
    """

    log_alpha: Floats
    log_weights: Floats
    log_at_most: Floats
    log_evidence: float
    log_variance: Floats
    contrasts: Contrasts
    event: RealEvent
    model: GaussianPrior
    at_means: "GaussianPosterior | None" = field(default=None, kw_only=True)

    _of_nodes: ClassVar[tuple[str, ...]] = (
        "log_alpha",
        "log_weights",
        "log_at_most",
        "log_variance",
    )

    @property
    def fractions(self) -> Fractions | None:
        """The fraction of related features of each node; None where all features are related."""
        return None

    @property
    def related(self) -> Floats | None:
        """The posterior probability that each kept feature is related; None where all are."""
        return None

    @property
    def shrinkage(self) -> float:
        """The degrees of freedom d that shrink the variances."""
        return self.model.shrinkage

    @cached_property
    def wide(self) -> "GaussianPosterior":
        """The same posterior on many more nodes, over all values of tau that the prior allows.

        A row far from all training cases can make values of tau likely that these exclude. The
        nodes are the same for all covariates.
        """
        if self.at_means is None:
            return _cover(self)
        return replace(self.at_means.wide, contrasts=self.contrasts)

    def at(self, z: Floats) -> Self:
        """Return the posterior for new cases with the covariates z (m,)."""
        return replace(self, contrasts=self.contrasts.at(z), at_means=self.at_means or self)

    def on_few_nodes(self, n: int) -> "GaussianPosterior":
        """Return nearly the same posterior on the n nodes of a Gauss rule.

        The laws of features are smooth functions of the share lam u / (1 + lam u), u = tau^2, of
        their relation that the data show. Posteriors of a common variance stay as they are.
        """
        if self.shrinkage > 0.0:
            return self
        log_u, log_weights = self._few_log_u(-self.log_alpha, self.log_weights, n)
        return replace(
            self,
            log_alpha=-log_u,
            log_weights=log_weights,
            log_at_most=np.full(log_u.size, np.nan),
            log_variance=np.full(log_u.size, -np.inf),
        )

    def _few_log_u(self, log_u: Floats, log_weights: Floats, n: int) -> tuple[Floats, Floats]:
        """Return n nodes of log u with their log weights."""
        log_lam = np.log(np.max(self.contrasts.lam, initial=1.0))
        share, few = gauss_rule(expit(log_lam + log_u), log_weights, n)
        return logit(share) - log_lam, few

    def log_predictive(self, code: Floats, X: Floats) -> Floats:
        """Return the log density of rows whose response has this code, averaged over the nodes."""
        by_node = self.log_densities(code, X) + self.log_weights
        result = log_sum(by_node, axis=1)
        doubtful = self.is_doubtful(by_node)
        if doubtful.any():
            result[doubtful] = self._log_predictive_far(code, X[doubtful])
        return result

    def _log_predictive_far(self, code: Floats, X: Floats) -> Floats:
        """Return the same for rows whose integrand the nodes do not cover."""
        parts = [part.log_densities(code, X) + part.log_weights for part in self.wide.in_parts()]
        return log_sum(np.concatenate(parts, axis=1), axis=1)

    def log_densities(self, code: Floats, X: Floats) -> Floats:
        """Return the log density of such rows given the nodes, shape (rows, nodes)."""
        return self.law(code).log_density(X)

    def is_doubtful(self, by_node: Floats) -> NDArray[np.bool_]:
        """Say where a sum over the nodes is inaccurate, given the logs of its terms."""
        return is_doubtful(by_node)

    def in_parts(self) -> Iterator["GaussianPosterior"]:
        """Yield the posterior a few nodes at a time; the weights are those of the whole."""
        for start in range(0, self.log_weights.size, _NODES_TOGETHER):
            yield self.some_nodes(slice(start, start + _NODES_TOGETHER))

    def some_nodes(self, which: slice | NDArray[np.intp]) -> Self:
        """Return some of the nodes with their weights."""
        nodes: dict[str, Any] = {name: getattr(self, name)[which] for name in self._of_nodes}
        return replace(self, **nodes)

    def of_features(self) -> tuple["GaussianPosterior", Floats]:
        """Return nodes, and the posterior weight that each feature gives them, (k, nodes)."""
        weights = np.exp(self.log_weights)
        return self, np.broadcast_to(weights, (self.contrasts.n.size, weights.size))

    def of_related_features(self) -> tuple[Floats, Floats, Floats]:
        """Return nodes of log alpha and of the log common variance, and weights (k, nodes).

        The weights of a feature are P(related, node); here all features are related.
        """
        return self.log_alpha, self.log_variance, self.of_features()[1]

    def law(self, code: Floats) -> "StudentLaw":
        """Return the law of the features of a new case whose response has this code.

        Student t with n - 1 + d degrees of freedom, given the node.
        """
        varying = self.contrasts.varying
        c, u = self.contrasts.take(varying), np.exp(-self.log_alpha)
        loc = np.broadcast_to(c.mean, (u.size, c.mean.size)).copy()
        spread = np.broadcast_to(1.0 + c.leverage, loc.shape).copy()
        for f, lam, beta in zip(c.coordinates(code).T, c.lam.T, c.beta.T, strict=True):
            share = u[:, np.newaxis] / (1.0 + np.multiply.outer(u, lam))
            loc += share * (f * np.sqrt(lam)) * beta
            spread += share * f**2
        drawn = self.shrinkage * np.exp(self.log_variance)[:, np.newaxis]
        squares = (c.squares(u) + drawn) * spread
        return StudentLaw(loc.T, squares.T, c.df + self.shrinkage, varying)


def is_doubtful(by_node: Floats) -> NDArray[np.bool_]:
    """Say where a sum over nodes is inaccurate: its mass is at an end, or between nodes.

    Parameters
    ----------
    by_node : array of shape (..., nodes)
        Logs of the terms.
    """
    top = np.max(by_node, axis=-1)
    at_an_end = np.maximum(by_node[..., 0], by_node[..., -1]) > top - FAR_DOWN
    terms = np.exp(by_node - top[..., np.newaxis])
    half = 2.0 * terms[..., ::2].sum(axis=-1) / terms.sum(axis=-1)
    return np.asarray(at_an_end | (np.abs(half - 1.0) > LARGEST_DIFFERENCE))


def condition_common(
    prior: GaussianPrior, contrasts: Contrasts, event: RealEvent
) -> GaussianPosterior:
    """Return the posterior given the contrasts of the kept features and the event.

    All features are related to the response.
    """
    likelihood = RealLikelihood(prior, contrasts, event)
    log_u, log_terms = prior.concentration.integrate(
        likelihood.log_total,
        likelihood.n,
        contrasts.n.size + event.n_omitted,
        log_bound=likelihood.log_bound,
        growth=likelihood.growth,
        refinement=prior.refinement,
    )
    return _posterior(prior, likelihood, (contrasts, event), log_u, log_terms, NEGLIGIBLE)


def _cover(posterior: GaussianPosterior) -> GaussianPosterior:
    """Return a posterior with nodes wherever the prior allows tau."""
    prior, data = posterior.model, (posterior.contrasts, posterior.event)
    likelihood = RealLikelihood(prior, *data)
    log_u, log_terms = prior.concentration.cover(
        likelihood.log_total,
        likelihood.n,
        np.unique(-posterior.log_alpha),
        _MOST_NODES_OF_TWO if prior.learns_variance else _MOST_NODES,
    )
    return _posterior(prior, likelihood, data, log_u, log_terms, np.inf)


def _posterior(
    prior: GaussianPrior,
    likelihood: RealLikelihood,
    data: tuple[Contrasts, RealEvent],
    log_u: Floats,
    log_terms: Floats,
    reach: float,
) -> GaussianPosterior:
    """Return the posterior on the nodes whose logs are within ``reach`` of the largest."""
    contrasts, event = data
    known = -np.inf if prior.variance is None else np.log(prior.variance)
    log_variance = np.full(log_u.size, known)
    if likelihood.learns_variance:
        log_u, log_variance, log_terms = likelihood.with_variance(log_u, log_terms)
        live = log_terms >= np.max(log_terms) - reach
        log_u, log_variance, log_terms = log_u[live], log_variance[live], log_terms[live]
    log_total = log_sum(log_terms)
    return GaussianPosterior(
        log_alpha=-log_u,
        log_weights=log_terms - log_total,
        log_at_most=log_real_omission(np.exp(log_u), event.patterns(slice(1)))[:, 0],
        log_evidence=float(log_total) + likelihood.log_constant,
        log_variance=log_variance,
        contrasts=contrasts,
        event=event,
        model=prior,
    )
