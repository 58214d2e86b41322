"""Fitted features as forms: rates of bits, contrasts of real numbers, nodes of posteriors."""

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.special import expit

from unselected._typing import Floats
from unselected.calculator.packing import Form
from unselected.fitted.bernoulli import FittedBernoulli
from unselected.models.bernoulli_likelihood import Likelihood
from unselected.models.gaussian_posterior import GaussianPosterior
from unselected.numerics.quadrature import log_sum
from unselected.statistics.design import CovariateBasis
from unselected.statistics.normal_scores import NormalScores

# The log of the unrelated: what a likelihood calls tau = 0.
_NULL = -np.inf
# Tables by node are replaced by those by alpha where they agree to this.
_AGREEMENT = 1e-11
# Nodes that reach as far as the prior does: of tau, and of the fraction for each.
_MOST_TAUS, _N_FRACTIONS = 200, 161
# Of nodes of tau alone every second is left out while densities of rows far out change by no more.
_MOST_CHANGE = 1e-10
# Rows far out that this is tried on, in deviations from the means.
_FAR_OUT = (1.0, 3.0, 10.0)


# --- bits ----------------------------------------------------------------------------------------


def bits_form(fitted: FittedBernoulli) -> Form:
    """Return the rates of ones by class, node and vector of counts."""
    posterior = fitted.posterior
    nodes: Form = {"logWeights": posterior.log_weights}
    alphas: Form = {"logOne": posterior.log_one}
    if posterior.fractions is not None:
        by_alpha = _by_alpha(fitted)
        if by_alpha is not None:
            alphas, more = by_alpha
            nodes |= more
    return {
        "family": "bits",
        "vectorOf": posterior.vector_of.tolist(),
        "thresholds": fitted.thresholds,
        "alphas": alphas,
        "nodes": nodes,
    }


def _by_alpha(fitted: FittedBernoulli) -> tuple[Form, Form] | None:
    """Return rates of related features by alpha, and the fractions of the nodes.

    This is much smaller than tables by node. A score of the user's own has no likelihood here.
    """
    if fitted.event.statistic == "custom":
        return None
    posterior, model = fitted.posterior, fitted.model
    assert posterior.fractions is not None
    likelihood = Likelihood(model.theta_rule, fitted.counts, fitted.event, model.rates)
    starts = np.flatnonzero(np.diff(posterior.log_alpha, prepend=np.nan))
    log_u, lengths = (
        -posterior.log_alpha[starts],
        np.diff(np.append(starts, posterior.log_alpha.size)),
    )
    alpha_of = np.repeat(np.arange(starts.size), lengths)
    _, log_one = likelihood.log_predictive(log_u)
    null = likelihood.at(_NULL).log_counts
    log_ratio = np.array([likelihood.at(x).log_counts - null for x in log_u])
    _, log_null_one = likelihood.log_null_predictive
    pi = posterior.fractions
    related = expit(pi.log_odds[:, np.newaxis] + log_ratio[alpha_of])
    mixed = related * np.exp(log_one[:, alpha_of]) + (1.0 - related) * np.exp(log_null_one)
    if not np.allclose(np.log(mixed), posterior.log_one, rtol=0.0, atol=_AGREEMENT):
        return None
    alphas = {
        "u": np.exp(log_u),
        "theta": np.array([likelihood.at(x).theta_means[0] for x in log_u]),
        "ones": likelihood.ones.tolist(),
        "known": likelihood.known.tolist(),
        "logRatio": log_ratio,
        "logNullOne": log_null_one,
    }
    return alphas, {"lengths": lengths.tolist(), "logRelated": pi.log_related}


# --- real numbers --------------------------------------------------------------------------------


def posterior_form(posterior: GaussianPosterior, *, adjusted: bool = False) -> Form:
    """Return the contrasts of the varying features, and the nodes of tau with their weights.

    ``adjusted`` says that the contrasts depend on covariates.
    """
    contrasts: Any = posterior.contrasts
    c = contrasts.take(contrasts.varying)
    names = _CONTRASTS | (_OF_COVARIATES if adjusted else {})
    form = {
        "varying": np.flatnonzero(contrasts.varying).tolist(),
        "contrasts": {
            "df": c.df + posterior.shrinkage,
            **{name: getattr(c, field) for name, field in names.items()},
        },
    }
    if posterior.fractions is not None:
        return {**form, **_two_group_nodes(posterior)}
    return {**form, "nodes": _nodes_form(posterior), "wide": _nodes_form(_thinned(posterior))}


_CONTRASTS = {
    "leverage": "leverage",
    "mean": "mean",
    "lam": "lam",
    "beta": "beta",
    "within": "within",
    "axes": "axes",
    "codeMean": "code_mean",
}
_OF_COVARIATES = {
    "center": "center",
    "coefficients": "coefficients",
    "expected": "expected",
    "inverse": "inverse",
}


def _nodes_form(posterior: GaussianPosterior) -> Form:
    """Return the nodes, of which those with the same tau are adjacent."""
    starts = np.flatnonzero(np.diff(posterior.log_alpha, prepend=np.nan))
    return {
        "lengths": np.diff(np.append(starts, posterior.log_alpha.size)).tolist(),
        "logAlpha": posterior.log_alpha[starts],
        "shrinkage": posterior.shrinkage,
        "logVariance": posterior.log_variance if posterior.shrinkage else None,
        "logWeights": posterior.log_weights,
    }


def _thinned(posterior: GaussianPosterior) -> GaussianPosterior:
    """Return the posterior that reaches far, on as few nodes as rows far out need."""
    c, wide = posterior.contrasts, posterior.wide
    code = np.eye(c.axes.shape[1])[0]
    deviation = np.sqrt((c.within + np.sum(c.beta**2, axis=1)) / np.maximum(c.df, 1.0))
    signs = np.where(np.arange(c.n.size) % 2, 1.0, -1.0)
    rows = c.mean + np.multiply.outer(np.array(_FAR_OUT), deviation * signs)
    right = _log_predictive(wide, code, rows)
    allowed = _MOST_CHANGE * np.maximum(np.abs(right), 1.0)
    while True:
        fewer = _every_second_tau(wide)
        if np.any(np.abs(_log_predictive(fewer, code, rows) - right) > allowed):
            return wide
        wide = fewer


def _log_predictive(posterior: GaussianPosterior, code: Floats, rows: Floats) -> Floats:
    return log_sum(posterior.log_densities(code, rows) + posterior.log_weights, axis=1)


def _every_second_tau(posterior: GaussianPosterior) -> GaussianPosterior:
    """Return the sum of a trapezoid rule with steps that are twice as long."""
    _, place = np.unique(-posterior.log_alpha, return_inverse=True)
    some = place % 2 == 0
    return replace(
        posterior,
        log_alpha=posterior.log_alpha[some],
        log_weights=posterior.log_weights[some] + np.log(2.0),
        log_at_most=posterior.log_at_most[some],
        log_variance=posterior.log_variance[some],
    )


def _two_group_nodes(posterior: Any) -> Form:
    if getattr(posterior.event, "n_kept_ties", 0):
        raise ValueError(
            f"prior='sparse' with a draw among ties of {posterior.event.statistic} has no "
            "calculator. Predict with the model file instead: unselected predict."
        )
    far = posterior.covering(_MOST_TAUS, _N_FRACTIONS)
    return {
        "nodes": {
            "taus": np.exp(-posterior.log_alpha[posterior.starts]),
            "scales": posterior.model.scales.tolist(),
            "lengths": np.bincount(posterior.alpha_of).tolist(),
            "logRelated": posterior.log_related,
            "logWeights": posterior.log_weights,
            "leastFractionIsOne": posterior.model.least_fraction == 1.0,
        },
        "far": {
            "taus": np.exp(far.log_u),
            "logPrior": far.log_prior,
            "logRelated": far.log_related,
            "logOfFraction": far.log_of_fraction,
            "logOmitted": far.log_omitted,
            "nOmitted": far.n_omitted,
        },
    }


# --- columns -------------------------------------------------------------------------------------


def normal_form(normal: NormalScores | None) -> Form | None:
    """Return the transform of columns; scores that columns share are there once."""
    if normal is None:
        return None
    distinct: dict[bytes, int] = {}
    places = [distinct.setdefault(scores.tobytes(), len(distinct)) for scores in normal.scores]
    return {
        "values": list(normal.values),
        "scores": [np.frombuffer(scores) for scores in distinct],
        "scoresOf": places,
        "slopes": normal.slopes,
    }


def basis_form(basis: CovariateBasis) -> Form:
    """Return how coded covariates become uncorrelated axes."""
    return {"center": basis.center, "transform": basis.transform}
