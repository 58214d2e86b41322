"""The likelihood of real-valued features of two groups, as a function of tau and the fraction.

See `gaussian_two_groups`.
"""

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from unselected._typing import Floats
from unselected.models.fractions import Fractions, LogLikelihood
from unselected.models.gaussian_likelihood import RealLikelihood
from unselected.models.gaussian_posterior import GaussianPosterior
from unselected.models.gaussian_prior import GaussianPrior
from unselected.models.two_groups import (
    ALPHA_TOLERANCE,
    Mixtures,
    Nodes,
    TwoGroups,
    log_mixed,
    log_product,
    log_product_together,
)
from unselected.numerics.quadrature import log_sum
from unselected.omission.real import log_real_omission
from unselected.selection.events import RealEvent
from unselected.statistics.moments import Contrasts


@dataclass(frozen=True)
class NewRow:
    """A new case's features, treated as further data.

    ``posterior`` is of the training cases; its nodes do not matter.
    """

    posterior: GaussianPosterior
    code: Floats
    x: Floats

    def log_densities(self, u: Floats) -> Floats:
        """Return the log densities of the features at each u = tau^2, shape (u, features)."""
        with np.errstate(divide="ignore"):
            nodes = -np.log(u)
        none = np.full(u.size, -np.inf)
        law = replace(self.posterior, log_alpha=nodes, log_variance=none).law(self.code)
        return law.of_row(self.x).T


def integrated(
    model: GaussianPrior, contrasts: Contrasts, event: RealEvent, new: NewRow | None
) -> Nodes:
    """Return nodes over the mass of prior times likelihood, times that of a new row."""
    likelihood = RealLikelihood(model, contrasts, event)
    groups = two_groups(model, likelihood, new)
    largest = float(model.scales[-1])

    def log_bound(log_u: Floats) -> Floats:
        log_u = log_u + np.log(largest)
        bound = likelihood.log_bound(log_u)
        return bound if new is None else bound + likelihood.log_bound_of_new(log_u)

    more = 0 if new is None else likelihood.half.size
    log_u, log_terms = model.concentration.integrate(
        groups.log_total,
        likelihood.n,
        largest * (contrasts.n.size + event.n_omitted + more),
        log_bound=log_bound,
        growth=likelihood.growth + 0.5 * more,
        refinement=model.refinement,
        tolerance=ALPHA_TOLERANCE,
        rough=groups.log_total_roughly,
        ahead=True,
    )
    return groups.nodes(log_u, log_terms)


def two_groups(model: GaussianPrior, likelihood: RealLikelihood, new: NewRow | None) -> TwoGroups:
    """Return the likelihood, times that of a new row, as a function of tau and the fraction."""
    return TwoGroups(
        model.fraction,
        lambda x: _mixtures(model, likelihood, x, new),
        model.refinement,
        partial(_table, model, likelihood) if new is None else None,
    )


def scaled(log_u: Floats, model: GaussianPrior) -> Floats:
    """Return tau^2 for each of some log u and each scale, and at last 0."""
    return np.append(np.multiply.outer(np.exp(log_u), model.scales), 0.0)


def log_mean(logs: Floats, axis: int) -> Floats:
    """Return the logs of averages over an axis."""
    if logs.shape[axis] == 1:
        return np.squeeze(logs, axis=axis)
    return np.asarray(log_sum(logs, axis=axis) - np.log(logs.shape[axis]))


def _log_of_groups(
    model: GaussianPrior, likelihood: RealLikelihood, log_u: Floats, new: NewRow | None
) -> tuple[Floats, Floats]:
    """Return log likelihoods of each feature, and log omission probabilities by pattern.

    Both have a row for each log u, averaged over the scales, and a last one for tau = 0.
    """
    event, u = likelihood.event, scaled(log_u, model)
    logs = likelihood.log_by_feature(u)
    if new is not None:
        logs = logs + new.log_densities(u)
    log_omitted = log_real_omission(u, event) if event.n_omitted else np.zeros((u.size, 0))
    return averaged(logs, log_u.size), averaged(log_omitted, log_u.size)


def averaged(logs: Floats, n: int) -> Floats:
    """Return the logs of averages over the scales, of n values of tau; the last row stays."""
    by_scale = logs[:-1].reshape(n, (len(logs) - 1) // max(n, 1), logs.shape[1])
    return np.vstack([log_mean(by_scale, axis=1), logs[-1:]])


def _table(
    model: GaussianPrior, likelihood: RealLikelihood, log_u: Floats, pi: Fractions
) -> Floats:
    """Return the log likelihood at some log u and fractions, shape (log u, fractions)."""
    logs, log_omitted = _log_of_groups(model, likelihood, log_u, None)
    every = np.arange(log_u.size)
    same = Fractions(*(np.tile(part, (log_u.size, 1)) for part in pi))
    total = log_product_together(logs[:-1] - logs[-1])(every, same) + logs[-1].sum()
    if likelihood.event.n_omitted:
        each = Fractions(pi.log_related[:, np.newaxis], pi.log_rest[:, np.newaxis])
        mixed = log_mixed(each, log_omitted[:-1, np.newaxis], log_omitted[-1])
        total += likelihood.event.log_prob(mixed)
    return np.asarray(total)


def _mixtures(
    model: GaussianPrior, likelihood: RealLikelihood, log_u: Floats, new: NewRow | None
) -> Mixtures:
    """Return the log likelihoods at some log u as functions of the fraction."""
    logs, log_omitted = _log_of_groups(model, likelihood, log_u, new)
    log_kept, log_null = log_product_together(logs[:-1] - logs[-1]), float(logs[-1].sum())
    event = likelihood.event

    def log_likelihoods(which: NDArray[np.intp], pi: Fractions) -> Floats:
        total = log_kept(which, pi) + log_null
        if not event.n_omitted:
            return total
        each = Fractions(pi.log_related[..., np.newaxis], pi.log_rest[..., np.newaxis])
        mixed = log_mixed(each, log_omitted[which, np.newaxis], log_omitted[-1])
        return np.asarray(total + event.log_prob(mixed))

    def one(i: int) -> LogLikelihood:
        return _mixture(event, logs[i], logs[-1], np.stack([log_omitted[i], log_omitted[-1]]))

    return Mixtures(one, log_likelihoods)


def _mixture(event: RealEvent, related: Floats, null: Floats, log_omitted: Floats) -> LogLikelihood:
    """Return the log likelihood as a function of the fraction, given those of each feature."""
    log_kept, log_null = log_product(related - null), float(null.sum())

    def log_likelihood(pi: Fractions) -> Floats:
        total = log_kept(pi) + log_null
        if not event.n_omitted:
            return total
        each = Fractions(pi.log_related[:, np.newaxis], pi.log_rest[:, np.newaxis])
        return np.asarray(total + event.log_prob(log_mixed(each, *log_omitted)))

    return log_likelihood
