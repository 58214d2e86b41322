"""Nodes of the posterior of tau, and of a common variance, as forms."""

from dataclasses import replace

import numpy as np

from unselected._typing import Floats, Ints
from unselected.calculator.packing import Form
from unselected.models.gaussian_posterior import GaussianPosterior
from unselected.numerics.quadrature import log_sum

# Of nodes of tau alone every second is left out while densities of rows far out change by no more.
_MOST_CHANGE = 1e-10
# Rows far out that this is tried on, in deviations from the means.
_FAR_OUT = (1.0, 3.0, 10.0)
# A rule is found from at least so many nodes, and lays them where they are but for this.
_FEWEST_OF_A_RULE, _SAME_NODES = 8, 1e-8


def nodes_form(posterior: GaussianPosterior) -> Form:
    """Return the nodes, of which those with the same tau are adjacent."""
    starts, lengths = _by_tau(posterior)
    return {
        "lengths": lengths.tolist(),
        "logAlpha": posterior.log_alpha[starts],
        "shrinkage": posterior.shrinkage,
        "logVariance": posterior.log_variance if posterior.shrinkage else None,
        "logWeights": posterior.log_weights,
    }


def wide_form(posterior: GaussianPosterior) -> Form:
    """Return the nodes that reach far.

    With a common variance these are many. Of its nodes at each tau only the rule that lays them is
    there, and of their weights the sum: the rest follows from the contrasts.
    """
    wide = _thinned(posterior)
    rules = _variance_rules(wide) if wide.model.learns_variance else None
    if rules is None:
        return nodes_form(wide)
    starts, lengths = _by_tau(wide)
    return {
        "lengths": lengths.tolist(),
        "logAlpha": wide.log_alpha[starts],
        "shrinkage": wide.shrinkage,
        "rules": rules,
        "logWeights": np.logaddexp.reduceat(wide.log_weights, starts),
    }


def _by_tau(posterior: GaussianPosterior) -> tuple[Ints, Ints]:
    """Return the first node of each tau, and how many nodes it has."""
    starts = np.flatnonzero(np.diff(posterior.log_alpha, prepend=np.nan))
    return starts, np.diff(np.append(starts, posterior.log_alpha.size))


def _variance_rules(posterior: GaussianPosterior) -> Floats | None:
    """Return center, width, first and step, (taus, 4), of the nodes of the log common variance.

    Node i is at center + width sinh(first + i step). None where nodes are laid otherwise.
    """
    starts, _ = _by_tau(posterior)
    rules = []
    for x in np.split(posterior.log_variance, starts[1:]):
        rule = _sinh_rule(x)
        if rule is None:
            return None
        rules.append(rule)
    return np.array(rules)


def _sinh_rule(x: Floats) -> tuple[float, float, float, float] | None:
    if x.size < _FEWEST_OF_A_RULE:
        return None
    # Differences d of such nodes have d[i - 1] + d[i + 1] = 2 cosh(step) d[i].
    d = np.diff(x)
    cosh = 0.5 * ((d[:-2] + d[2:]) @ d[1:-1]) / (d[1:-1] @ d[1:-1])
    if not cosh > 1.0:
        return None
    step = np.arccosh(cosh)
    t = step * (np.arange(x.size) - 0.5 * (x.size - 1))
    basis = np.column_stack([np.ones(x.size), np.sinh(t), np.cosh(t)])
    center, odd, even = np.linalg.lstsq(basis, x)[0]
    if np.max(np.abs(basis @ [center, odd, even] - x)) > _SAME_NODES or odd <= abs(even):
        return None
    first = t[0] + np.arctanh(even / odd)
    return float(center), float(np.sqrt(odd**2 - even**2)), float(first), float(step)


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
