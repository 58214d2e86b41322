"""Fitted features as forms: rates of counts, contrasts of real numbers, nodes of posteriors."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import expit

from unselected._typing import Floats
from unselected.calculator.node_forms import nodes_form, wide_form
from unselected.calculator.packing import Form
from unselected.fitted.counts import FittedCounts
from unselected.models.bernoulli_likelihood import Likelihood
from unselected.models.gaussian_posterior import GaussianPosterior
from unselected.numerics.beta_binomial import log_further_draws
from unselected.statistics.design import CovariateBasis
from unselected.statistics.normal_scores import NormalScores

# The log of the unrelated: what a likelihood calls tau = 0.
_NULL = -np.inf
# Tables by node are replaced by smaller ones where they agree to this.
_AGREEMENT = 1e-11
# Nodes that reach as far as the prior does: of tau, and of the fraction for each.
_MOST_TAUS, _N_FRACTIONS = 200, 161
# The log probability of the event may change by this where tables of omission are made smaller.
_OMITTED_CHANGE = 1e-10


# --- counts --------------------------------------------------------------------------------------


def counts_form(fitted: FittedCounts) -> Form:
    """Return the probabilities of the values of bits or genotypes by class, node and vector."""
    posterior = fitted.posterior
    by_alpha = None if posterior.fractions is None else _by_alpha(fitted)
    rates, nodes = by_alpha or (_by_node(posterior.log_values), {})
    return {
        "family": "counts",
        "vectorOf": posterior.vector_of.tolist(),
        "rates": rates,
        "nodes": {"logWeights": posterior.log_weights, **nodes},
    }


def _by_node(log_values: Floats) -> Form:
    """Return tables of all values but one, whose probability is what the others leave.

    Of genotypes that is the value 1, which is never by far the rarest: few digits are lost.
    """
    left_out = 1 if len(log_values) > 2 else 0
    others = np.delete(log_values, left_out, axis=0)
    n_values, n_classes, n_nodes, n_vectors = others.shape
    table = others.transpose(2, 0, 1, 3).reshape(n_nodes, -1)
    return {
        "leftOut": left_out,
        "shape": [n_values, n_classes, n_vectors],
        "logs": _product_form(table, lambda x: _agree(x, table)),
    }


def _by_alpha(fitted: FittedCounts) -> tuple[Form, Form] | None:
    """Return what the values of related features depend on by alpha, and the nodes' fractions.

    This is much smaller than tables by node. A score of the user's own has no likelihood here.
    """
    if fitted.event.statistic == "custom":
        return None
    posterior, model = fitted.posterior, fitted.model
    pi = posterior.fractions
    assert pi is not None
    likelihood = Likelihood(model.theta_rule, fitted.counts, fitted.event, model.rates)
    starts = np.flatnonzero(np.diff(posterior.log_alpha, prepend=np.nan))
    lengths = np.diff(np.append(starts, posterior.log_alpha.size))
    alpha_of = np.repeat(np.arange(starts.size), lengths)
    log_u = -posterior.log_alpha[starts]
    u, null = np.exp(log_u), likelihood.at(_NULL).log_counts
    null_values = np.exp(likelihood.log_null_predictive)
    ones, known = likelihood.ones, likelihood.known
    records = [likelihood.at(x) for x in log_u]
    table = np.array([np.vstack([each.theta_means, each.log_counts - null]) for each in records])

    def agrees(flat: Floats) -> bool:
        """Say whether the probabilities by node are those of the posterior."""
        parts = flat.reshape(table.shape)
        means, log_ratio = parts[:, :-1].swapaxes(0, 1)[:, np.newaxis], parts[:, -1]
        n, n_known = ones[:, np.newaxis], known[:, np.newaxis]
        values = np.exp(log_further_draws(means, n, n_known, u[:, np.newaxis]))
        related = expit(pi.log_odds[:, np.newaxis] + log_ratio[alpha_of])
        rest = (1.0 - related) * null_values[:, np.newaxis, np.newaxis]
        return _agree(np.log(related * values[:, :, alpha_of] + rest), posterior.log_values)

    product = _product_form(table.reshape(u.size, -1), agrees)
    if product is None:
        return None
    rates = {
        "u": u,
        "ones": ones.tolist(),
        "known": known.tolist(),
        "nullValues": null_values,
        "thetaAndLogRatio": product,
    }
    return rates, {"lengths": lengths.tolist(), "logRelated": pi.log_related}


def _agree(logs: Floats, right: Floats) -> bool:
    return np.allclose(logs, right, rtol=0.0, atol=_AGREEMENT)


def _product_form(table: Floats, agrees: Callable[[Floats], bool]) -> Form | None:
    """Return a table as a product of two smaller ones, where that agrees; None if nothing does.

    Rows are those of nodes, of which the columns are smooth functions.
    """
    scale = np.max(np.abs(table), axis=0)
    scale[scale == 0.0] = 1.0
    if np.all(np.isfinite(table)):
        left, sizes, right = np.linalg.svd(table / scale, full_matrices=False)
        for rank in range(5, table.size // sum(table.shape), 3):
            by_row, by_column = left[:, :rank] * sizes[:rank], right[:rank] * scale
            with np.errstate(all="ignore"):  # probabilities of too few columns can be negative
                enough = agrees(by_row @ by_column)
            if enough:
                return {"left": by_row, "right": by_column}
    return {"left": table, "right": None} if agrees(table) else None


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
    return {**form, "nodes": nodes_form(posterior), "wide": wide_form(posterior)}


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
            **_omitted_form(far.log_omitted, far.n_omitted),
        },
    }


def _omitted_form(log_omitted: Floats, n_omitted: Floats) -> Form:
    """Return the logs of omission probabilities by tau and pattern, as a product of two tables.

    Patterns of missing values are many, and their logs nearly those of a few.
    """
    some = n_omitted > 0.0
    logs, numbers = log_omitted[:, some], n_omitted[some]
    left, sizes, right = np.linalg.svd(logs, full_matrices=False)
    by_tau, by_pattern = logs, np.eye(numbers.size)
    for rank in range(1, sizes.size):
        product = left[:, :rank] * sizes[:rank], right[:rank]
        if np.max(np.abs(product[0] @ product[1] - logs) @ numbers) < _OMITTED_CHANGE:
            by_tau, by_pattern = product
            break
    return {"omittedByTau": by_tau, "omittedByPattern": by_pattern, "nOmitted": numbers}


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
