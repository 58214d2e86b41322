"""The models of real-valued features with two groups of features: related and unrelated.

The posterior is over nodes of tau and of the fraction pi of related features. Given a node, a new
value of a feature comes from the distribution of a related feature with probability

    r_j = pi f_j(tau) / (pi f_j(tau) + (1 - pi) f_j(0))

and otherwise from that of an unrelated one. With t_j and t_0j the two densities of the new value,
the mixed density of a feature is therefore

    t_0j (1 - pi + pi f_j t_j / (f_0j t_0j)) / (1 - pi + pi f_j / f_0j),

Here the ratios depend on tau only; sums and products are computed for each node of tau and pi.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from unselected._typing import Floats
from unselected.models.gaussian_likelihood import RealLikelihood
from unselected.models.gaussian_posterior import (
    FAR_DOWN,
    LARGEST_DIFFERENCE,
    GaussianPosterior,
    is_doubtful,
)
from unselected.models.gaussian_prior import GaussianPrior
from unselected.models.two_groups import (
    ALPHA_TOLERANCE,
    Fractions,
    LogLikelihood,
    Nodes,
    TwoGroups,
    log_mixed,
    log_product,
    log_products,
    related_probability,
    related_weights,
)
from unselected.numerics.quadrature import log_sum
from unselected.omission.real import log_real_omission
from unselected.selection.events import RealEvent
from unselected.statistics.moments import Contrasts

# Elements of a table over rows and nodes that are processed at a time.
_BLOCK = 1 << 17


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
        """A node for each tau, followed by one for tau = 0; the weights have no meaning."""
        log_alpha = np.append(self.log_alpha[self.starts], np.inf)
        zeros = np.zeros(log_alpha.size)
        fields = (zeros, zeros, self.log_evidence, zeros - np.inf)
        return GaussianPosterior(log_alpha, *fields, self.contrasts, self.event, self.model)

    @cached_property
    def log_ratio(self) -> Floats:
        """The log of f_j(tau) / f_j(0) of the varying features, shape (taus, features)."""
        return _log_ratio(self._likelihood, -self.log_alpha[self.starts])

    @property
    def related_weights(self) -> Floats:
        """P(related, tau) of each kept feature, (k, taus); a constant one counts as any feature."""
        log_ratio = np.zeros((self.starts.size, self.contrasts.varying.size))
        log_ratio[:, self.contrasts.varying] = self.log_ratio
        weights = np.exp(self.log_weights)
        return related_weights(self.fractions, log_ratio, self.alpha_of, weights).T

    def of_related_features(self) -> tuple[Floats, Floats, Floats]:
        """Return the same for nodes of tau; the weights of a feature sum to P(related)."""
        starts = self.starts
        return self.log_alpha[starts], self.log_variance[starts], self.related_weights

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
        return self._products(iter(self.log_ratio.T), ())

    def around(self, code: Floats, x: Floats) -> "TwoGroupPosterior":
        """Return the same posterior on nodes placed for a row: where its features are likely too.

        A row far from all training cases can make values of tau likely that these exclude.
        """
        new = _NewRow(self.of_alphas, code, x)
        nodes = _integrated(self.model, self.contrasts, self.event, new)
        posterior = _posterior(self.model, self.contrasts, self.event, nodes)
        # The terms include the density of the row; the evidence of the training cases is known.
        log_terms = nodes.log_terms - posterior.log_densities(code, x[np.newaxis])[0]
        log_training = self.log_evidence - self._likelihood.log_constant
        return replace(posterior, log_weights=log_terms - log_training)

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
        log_densities : iterator of arrays of shape (..., taus + 1)
            For each varying feature, at the nodes of `of_alphas`.
        shape : tuple
            The leading dimensions (...).
        """
        log_null = np.zeros((*shape, 1))

        def log_ratios() -> Iterator[Floats]:
            for logs, log_ratio in zip(log_densities, self.log_ratio.T, strict=True):
                log_null[...] += logs[..., -1:]
                yield logs[..., :-1] - logs[..., -1:] + log_ratio

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
    return _posterior(model, contrasts, event, _integrated(model, contrasts, event, None))


@dataclass(frozen=True)
class _NewRow:
    """A new case's features, treated as further data.

    ``posterior`` is of the training cases; its nodes do not matter.
    """

    posterior: GaussianPosterior
    code: Floats
    x: Floats

    def log_densities(self, log_u: float) -> Floats:
        """Return the log densities of the features at log u and at tau = 0, (features, 2)."""
        nodes = np.array([-log_u, np.inf])
        law = replace(self.posterior, log_alpha=nodes, log_variance=np.full(2, -np.inf)).law(
            self.code
        )
        return law.of_row(self.x)


def _integrated(
    model: GaussianPrior, contrasts: Contrasts, event: RealEvent, new: _NewRow | None
) -> Nodes:
    """Return nodes over the mass of prior times likelihood, times that of a new row."""
    likelihood = RealLikelihood(model, contrasts, event)
    groups = TwoGroups(
        model.fraction,
        lambda x: _mixtures(likelihood, x, new),
        model.refinement,
        partial(_table, likelihood) if new is None else None,
    )

    def log_bound(log_u: Floats) -> Floats:
        bound = likelihood.log_bound(log_u)
        return bound if new is None else bound + likelihood.log_bound_of_new(log_u)

    more = 0 if new is None else likelihood.half.size
    log_u, log_terms = model.concentration.integrate(
        groups.log_total,
        likelihood.n,
        contrasts.n.size + event.n_omitted + more,
        log_bound=log_bound,
        growth=likelihood.growth + 0.5 * more,
        refinement=model.refinement,
        tolerance=ALPHA_TOLERANCE,
    )
    return groups.nodes(log_u, log_terms)


def _table(likelihood: RealLikelihood, log_u: Floats, pi: Fractions) -> Floats:
    """Return the log likelihood at some log u and fractions, shape (log u, fractions)."""
    event, u = likelihood.event, np.append(np.exp(log_u), 0.0)
    logs = likelihood.log_by_feature(u)
    each = Fractions(pi.log_related[:, np.newaxis], pi.log_rest[:, np.newaxis])
    log_ratio = (logs[:-1] - logs[-1])[:, np.newaxis]
    total = np.logaddexp(each.log_related + log_ratio, each.log_rest).sum(axis=2) + logs[-1].sum()
    if event.n_omitted:
        log_omitted = log_real_omission(u, event)
        total += event.log_prob(log_mixed(each, log_omitted[:-1, np.newaxis], log_omitted[-1]))
    return np.asarray(total)


def _mixtures(
    likelihood: RealLikelihood, log_u: Floats, new: _NewRow | None
) -> list[LogLikelihood]:
    """Return, for each log u, the log likelihood as a function of the fraction."""
    event, u = likelihood.event, np.append(np.exp(log_u), 0.0)
    logs = likelihood.log_by_feature(u)
    log_omitted = log_real_omission(u, event) if event.n_omitted else np.zeros((u.size, 0))
    mixtures = []
    for i, x in enumerate(log_u.tolist()):
        related, null = logs[i], logs[-1]
        if new is not None:
            related, null = (logs[[i, -1]] + new.log_densities(x).T)[:]
        mixtures.append(_mixture(event, related, null, log_omitted[[i, -1]]))
    return mixtures


def _mixture(event: RealEvent, related: Floats, null: Floats, log_omitted: Floats) -> LogLikelihood:
    """Return the log likelihood as a function of the fraction, given those of each feature."""
    log_ratio, log_null = related - null, float(null.sum())

    def log_likelihood(pi: Fractions) -> Floats:
        total = log_product(pi, log_ratio) + log_null
        if not event.n_omitted:
            return total
        each = Fractions(pi.log_related[:, np.newaxis], pi.log_rest[:, np.newaxis])
        return np.asarray(total + event.log_prob(log_mixed(each, *log_omitted)))

    return log_likelihood


def _log_ratio(likelihood: RealLikelihood, log_u: Floats) -> Floats:
    """Return log f_j(tau) / f_j(0), shape (taus, features)."""
    logs = likelihood.log_by_feature(np.append(np.exp(log_u), 0.0))
    return np.asarray(logs[:-1] - logs[-1])


def _posterior(
    model: GaussianPrior, contrasts: Contrasts, event: RealEvent, nodes: Nodes
) -> TwoGroupPosterior:
    """Return the posterior with these nodes and with weights that sum to 1."""
    likelihood = RealLikelihood(model, contrasts, event)
    log_total = log_sum(nodes.log_terms)
    log_weights = nodes.log_terms - log_total
    first = event.patterns(slice(1))
    log_omitted = log_real_omission(np.append(np.exp(nodes.log_u), 0.0), first)[:, 0]
    weights, pi, alpha_of = np.exp(log_weights), nodes.fractions, nodes.alpha_of
    related = np.full(contrasts.n.size, weights @ np.exp(pi.log_related))
    log_ratio = _log_ratio(likelihood, nodes.log_u)
    related[contrasts.varying] = related_probability(pi, log_ratio, alpha_of, weights)
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
