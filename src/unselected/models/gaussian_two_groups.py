"""The models of real-valued features with two groups of features: related and unrelated.

The posterior is over nodes of tau and of the fraction pi of related features. Given a node, a new
value of a feature comes from the distribution of a related feature with probability

    r_j = pi f_j(tau) / (pi f_j(tau) + (1 - pi) f_j(0))

and otherwise from that of an unrelated one. With t_j and t_0j the two densities of the new value,
the mixed density of a feature is therefore

    t_0j (1 - pi + pi f_j t_j / (f_0j t_0j)) / (1 - pi + pi f_j / f_0j),

Here the ratios depend on tau only; sums and products are computed for each node of tau and pi.

With heavier tails the tau^2 of a related feature is that of the node times one of some scales
(`GaussianPrior.scales`). f_j(tau), t_j and the omission probability are then averages over these.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from unselected._typing import Floats
from unselected.models.fractions import FARTHEST, Fractions
from unselected.models.gaussian_groups import (
    NewRow,
    averaged,
    integrated,
    log_mean,
    scaled,
    two_groups,
)
from unselected.models.gaussian_likelihood import RealLikelihood
from unselected.models.gaussian_posterior import (
    FAR_DOWN,
    LARGEST_DIFFERENCE,
    GaussianPosterior,
    is_doubtful,
)
from unselected.models.gaussian_prior import GaussianPrior
from unselected.models.related import related_probability, related_weights
from unselected.models.two_groups import Nodes, log_mixed, log_products
from unselected.numerics.quadrature import gauss_rule, log_sum
from unselected.omission.real import log_real_omission
from unselected.selection.events import RealEvent
from unselected.statistics.moments import Contrasts

# Elements of a table over rows and nodes that are processed at a time.
_BLOCK = 1 << 17
# For Gauss rules of tau: log(c) is this part of the mean of log(lam tau^2).
_CENTERED = 0.5
# `TwoGroupPosterior.ends` has so many fractions of the first and of the last tau, and the ends of
# the fraction at so many values of tau.
_N_ENDS = 6


class Covering(NamedTuple):
    """Nodes of every tau with every fraction, wherever the prior allows them.

    With r_j = f_j t_j / (f_0j t_0j) the density of a row, over that of unrelated features, is the
    sum over the nodes of prior(tau) prior(pi) prod_j (1 - pi + pi r_j) times the probability of the
    event, in which each omitted feature has the probability pi P(tau) + (1 - pi) P(0).

    Attributes
    ----------
    log_u, log_prior : arrays of shape (taus,)
        log(tau^2), and log priors over the evidence of the training cases.
    log_related, log_of_fraction : arrays of shape (fractions,)
        log(pi), and log priors.
    log_omitted : array of shape (taus + 1, patterns)
        Log omission probabilities by pattern of known values; the last are those of tau = 0.
    n_omitted : array of shape (patterns,)
    """

    log_u: Floats
    log_prior: Floats
    log_related: Floats
    log_of_fraction: Floats
    log_omitted: Floats
    n_omitted: Floats


@dataclass(frozen=True, eq=False)
class TwoGroupPosterior(GaussianPosterior):
    """The posterior of tau and of the fraction pi of related features as weighted nodes.

    Nodes with the same tau are adjacent. ``log_variance`` is -inf everywhere.

    Attributes
    ----------
    log_at_most : array of shape (nodes,)
        Log of the probability that a feature, related or not, is at most at the cut.
    log_related, log_rest : arrays of shape (nodes,)
        log(pi) and log(1 - pi).
    related_kept : array of shape (k,)
        The posterior probability that a kept feature is related. A constant feature has that of any
        feature.
    """

    log_related: Floats
    log_rest: Floats
    related_kept: Floats

    _of_nodes: ClassVar[tuple[str, ...]] = (
        *GaussianPosterior._of_nodes,
        "log_related",
        "log_rest",
    )

    @property
    def fractions(self) -> Fractions:
        """The fraction of each node."""
        return Fractions(self.log_related, self.log_rest)

    @property
    def related(self) -> Floats:
        """The posterior probability that each kept feature is related."""
        return self.related_kept

    @cached_property
    def starts(self) -> NDArray[np.intp]:
        """The first node of each tau."""
        return np.flatnonzero(np.diff(self.log_alpha, prepend=np.nan) != 0.0)

    @cached_property
    def alpha_of(self) -> NDArray[np.intp]:
        """The index of the tau of each node."""
        sizes = np.diff(self.starts, append=self.log_alpha.size)
        return np.repeat(np.arange(self.starts.size), sizes)

    @cached_property
    def of_alphas(self) -> GaussianPosterior:
        """A node for each tau and scale, and one for tau = 0; the weights have no meaning."""
        with np.errstate(divide="ignore"):
            log_alpha = -np.log(scaled(-self.log_alpha[self.starts], self.model))
        zeros = np.zeros(log_alpha.size)
        fields = (zeros, zeros, self.log_evidence, zeros - np.inf)
        return GaussianPosterior(log_alpha, *fields, self.contrasts, self.event, self.model)

    @cached_property
    def log_ratio(self) -> Floats:
        """The log of f_j / f_j(0) of the varying features, shape (taus, scales, features)."""
        logs = self._likelihood.log_by_feature(np.exp(-self.of_alphas.log_alpha))
        shape = (self.starts.size, self.model.scales.size, logs.shape[1])
        return np.asarray(logs[:-1] - logs[-1]).reshape(shape)

    @property
    def related_weights(self) -> Floats:
        """P(related, tau, scale) of each kept feature, (k, taus * scales).

        A constant feature counts as any feature.
        """
        shape = (*self.log_ratio.shape[:2], self.contrasts.varying.size)
        log_ratio = np.zeros(shape)
        log_ratio[..., self.contrasts.varying] = self.log_ratio
        averages = log_mean(log_ratio, axis=1)
        weights = np.exp(self.log_weights)
        of_taus = related_weights(self.fractions, averages, self.alpha_of, weights)
        shares = np.exp(log_ratio - averages[:, np.newaxis]) / shape[1]
        return np.asarray(
            (of_taus[:, np.newaxis] * shares).reshape(shape[0] * shape[1], shape[2]).T
        )

    def of_related_features(self) -> tuple[Floats, Floats, Floats]:
        """Return the same for nodes of tau; the weights of a feature sum to P(related)."""
        log_alpha = self.of_alphas.log_alpha[:-1]
        return log_alpha, np.full(log_alpha.size, -np.inf), self.related_weights

    def of_features(self) -> tuple[GaussianPosterior, Floats]:
        """Return nodes of tau, the last at 0, and their weights for each feature, (k, nodes)."""
        weights = self.related_weights
        rest = np.maximum(1.0 - weights.sum(axis=1, keepdims=True), 0.0)
        return self.of_alphas, np.hstack([weights, rest])

    @property
    def _likelihood(self) -> RealLikelihood:
        return RealLikelihood(self.model, self.contrasts, self.event)

    @cached_property
    def _log_kept(self) -> Floats:
        """Sum over features of log(1 - pi + pi f_j / f_0j), shape (nodes,)."""
        return self._products(iter(log_mean(self.log_ratio, axis=1).T), ())

    def at(self, z: Floats) -> Self:
        """Return the posterior for new cases with the covariates z (m,)."""
        there = super().at(z)
        # What the training cases say does not depend on z, and takes longer than all else.
        vars(there).update({name: getattr(self, name) for name in ("log_ratio", "_log_kept")})
        return there

    def around(self, code: Floats, x: Floats) -> "TwoGroupPosterior":
        """Return the same posterior on nodes placed for a row: where its features are likely too.

        A row far from all training cases can make values of tau likely that these exclude.
        """
        new = NewRow(self.of_alphas, code, x)
        nodes = integrated(self.model, self.contrasts, self.event, new)
        posterior = _posterior(self.model, self.contrasts, self.event, nodes)
        # The terms include the density of the row; the evidence of the training cases is known.
        log_terms = nodes.log_terms - posterior.log_densities(code, x[np.newaxis])[0]
        log_training = self.log_evidence - self._likelihood.log_constant
        return replace(posterior, log_weights=log_terms - log_training)

    def covering(self, most_taus: int, n_fractions: int) -> "Covering":
        """Return nodes wherever the prior allows tau and the fraction, for any row."""
        likelihood, fraction = self._likelihood, self.model.fraction
        log_u, log_prior = self.model.concentration.cover(
            lambda x: np.zeros(x.size), likelihood.n, np.unique(-self.log_alpha), most_taus
        )
        t, log_of_t = np.zeros(1), np.zeros(1)
        if fraction.least < 1.0:
            t = np.linspace(-FARTHEST, FARTHEST, n_fractions)
            log_of_t = fraction.log_density(t) + np.log(t[1] - t[0])
        event, u = likelihood.event, scaled(log_u, self.model)
        log_omitted = averaged(log_real_omission(u, event), log_u.size)
        log_null = float(likelihood.log_by_feature(np.zeros(1)).sum())
        log_training = self.log_evidence - likelihood.log_constant
        return Covering(
            log_u,
            log_prior + (log_null - log_training),
            fraction.fractions(t).log_related,
            log_of_t,
            log_omitted,
            np.asarray(event.n_features, dtype=np.float64),
        )

    def on_few_nodes(self, n: int) -> "TwoGroupPosterior":
        """Return nearly the same posterior: Gauss rules of tau and, given it, of the fraction.

        There are 2 n - 1 values of tau with n of the fraction each. The posterior of tau needs
        more: given tau, that of the fraction often ends at 1, and where that begins it changes
        quickly. With u = tau^2, products over features are smooth functions of lam u / (c + lam u),
        where c is 1, or larger where the data say that tau is large.
        """
        if self.model.coarse:
            return self
        log_weights = np.logaddexp.reduceat(self.log_weights, self.starts)
        log_u = -self.log_alpha[self.starts]
        log_lam = np.log(np.max(self.contrasts.lam, initial=1.0))
        center = log_lam + float(np.exp(log_weights) @ log_u) / float(np.exp(log_weights).sum())
        shift = log_lam - _CENTERED * max(0.0, center)
        share, few = gauss_rule(expit(log_u + shift), log_weights, 2 * n - 1)
        of_taus = logit(share) - shift, few
        groups = two_groups(self.model, self._likelihood, None)
        nodes = groups.few_nodes(*of_taus, n)
        none = np.full(nodes.alpha_of.size, -np.inf)
        return replace(
            self,
            log_alpha=-nodes.log_u[nodes.alpha_of],
            log_weights=nodes.log_terms,
            log_at_most=np.full(none.size, np.nan),
            log_variance=none,
            log_related=nodes.fractions.log_related,
            log_rest=nodes.fractions.log_rest,
        )

    @property
    def ends(self) -> NDArray[np.intp]:
        """Nodes at which a sum must have fallen off: some at the ends of tau and of the fraction.

        Those of the first and of the last tau with some fractions, and of some others with the
        first and the last fraction.
        """
        lasts = np.append(self.starts[1:], self.log_alpha.size) - 1
        outer = np.linspace(self.starts[[0, -1]], lasts[[0, -1]], _N_ENDS).astype(np.intp)
        some = self.starts.size * np.arange(_N_ENDS) // _N_ENDS
        if self.model.least_fraction == 1.0:
            some = some[:0]
        return np.unique(np.concatenate([outer.ravel(), self.starts[some], lasts[some]]))

    def log_densities(self, code: Floats, X: Floats) -> Floats:
        """Return the log density of such rows given the nodes, shape (rows, nodes)."""
        law = self.of_alphas.law(code)
        result = np.empty((len(X), self.log_weights.size))
        rows = max(1, _BLOCK // self.log_weights.size)
        for start in range(0, len(X), rows):
            block = slice(start, start + rows)
            result[block] = self.mixed(law.by_feature(X[block]), result[block].shape[:1])
        return result

    def _log_predictive_far(self, code: Floats, X: Floats) -> Floats:
        logs = np.empty(len(X))
        for row, x in enumerate(X):
            posterior = self.around(code, x)
            by_node = posterior.log_densities(code, x[np.newaxis]) + posterior.log_weights
            logs[row] = log_sum(by_node)
        return logs

    def mixed(self, log_densities: Iterator[Floats], shape: tuple[int, ...]) -> Floats:
        """Return the log of the product of the features' mixed densities, shape (..., nodes).

        Parameters
        ----------
        log_densities : iterator of arrays of shape (..., taus * scales + 1)
            For each varying feature, at the nodes of `of_alphas`.
        shape : tuple
            The leading dimensions (...).
        """
        log_null = np.zeros((*shape, 1))

        def log_ratios() -> Iterator[Floats]:
            by_feature = np.moveaxis(self.log_ratio, 2, 0)
            for logs, log_ratio in zip(log_densities, by_feature, strict=True):
                log_null[...] += logs[..., -1:]
                gained = logs[..., :-1] - logs[..., -1:]
                yield log_mean(gained.reshape(*shape, *log_ratio.shape) + log_ratio, axis=-1)

        products = self._products(log_ratios(), shape)
        return np.asarray(products - self._log_kept + log_null)

    def _products(self, log_ratios: Iterator[Floats], shape: tuple[int, ...]) -> Floats:
        return log_products(
            log_ratios, self.alpha_of, self.fractions, (*shape, self.log_weights.size)
        )

    def is_doubtful(self, by_node: Floats) -> NDArray[np.bool_]:
        """Say where a sum over the nodes is inaccurate, in tau or, for any tau, in pi."""
        top = np.max(by_node, axis=-1, keepdims=True)
        terms = np.exp(by_node - top)
        by_alpha = np.add.reduceat(terms, self.starts, axis=-1)
        with np.errstate(divide="ignore"):
            doubtful = is_doubtful(np.log(by_alpha))
        if self.model.least_fraction == 1.0:
            return doubtful
        lasts = np.append(self.starts[1:], self.log_alpha.size) - 1
        ends = np.maximum(terms[..., self.starts], terms[..., lasts])
        doubtful |= np.max(ends, axis=-1) > np.exp(-FAR_DOWN)
        even = (np.arange(self.log_alpha.size) - self.starts[self.alpha_of]) % 2 == 0
        half = 2.0 * np.add.reduceat(terms * even, self.starts, axis=-1)
        difference = np.sum(np.abs(half - by_alpha), axis=-1) / by_alpha.sum(axis=-1)
        return np.asarray(doubtful | (difference > LARGEST_DIFFERENCE))


def condition_two_groups(
    model: GaussianPrior, contrasts: Contrasts, event: RealEvent
) -> TwoGroupPosterior:
    """Return the posterior given the contrasts of the kept features and the event."""
    return _posterior(model, contrasts, event, integrated(model, contrasts, event, None))


def _posterior(
    model: GaussianPrior, contrasts: Contrasts, event: RealEvent, nodes: Nodes
) -> TwoGroupPosterior:
    """Return the posterior with these nodes and with weights that sum to 1."""
    likelihood = RealLikelihood(model, contrasts, event)
    log_total = log_sum(nodes.log_terms)
    log_weights = nodes.log_terms - log_total
    u, first = scaled(nodes.log_u, model), event.patterns(slice(1))
    log_omitted = averaged(log_real_omission(u, first), nodes.log_u.size)[:, 0]
    weights, pi, alpha_of = np.exp(log_weights), nodes.fractions, nodes.alpha_of
    related = np.full(contrasts.n.size, weights @ np.exp(pi.log_related))
    logs = averaged(likelihood.log_by_feature(u), nodes.log_u.size)
    related[contrasts.varying] = related_probability(pi, logs[:-1] - logs[-1], alpha_of, weights)
    return TwoGroupPosterior(
        log_alpha=-nodes.log_u[alpha_of],
        log_weights=log_weights,
        log_at_most=log_mixed(pi, log_omitted[alpha_of], log_omitted[-1:]),
        log_evidence=float(log_total) + likelihood.log_constant,
        log_variance=np.full(alpha_of.size, -np.inf),
        contrasts=contrasts,
        event=event,
        model=model,
        log_related=pi.log_related,
        log_rest=pi.log_rest,
        related_kept=related,
    )
