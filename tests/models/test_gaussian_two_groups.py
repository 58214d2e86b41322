"""The posterior with two groups of features, on nodes that are placed for a new row."""

from dataclasses import replace

import numpy as np
import pytest

from unselected import SelectiveGaussianNB
from unselected.numerics.quadrature import log_sum


@pytest.mark.parametrize("z", [0.0, 1.0, 8.0])
def test_nodes_around_a_row_have_the_weight_of_the_posterior_at_any_covariates(z):
    # Only the density of the row depends on its covariates. A constant of the training cases that
    # did would be counted for some classes of a row and not for others.
    rng = np.random.default_rng(0)
    Z, y = rng.normal(size=(30, 1)), np.repeat([0, 1], 15)
    X = rng.normal(size=(30, 60)) + Z
    model = SelectiveGaussianNB(k=6, prior="sparse").fit(X, y, covariates=Z)
    fitted = model._predictor.fitted
    at_z = fitted.covariates.basis.apply(np.array([[z]]))[0]
    posterior = fitted.posterior.at(at_z)
    for code in np.eye(2):
        nodes = posterior.around(code, np.full(6, z))
        assert log_sum(nodes.log_weights) == pytest.approx(0.0, abs=1e-6)


def test_nodes_that_cover_the_prior_hold_any_row():
    # Rows far out make values of tau likely that the training cases exclude.
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 15)
    X = rng.normal(size=(30, 60))
    posterior = SelectiveGaussianNB(k=6, prior="sparse").fit(X, y)._predictor.fitted.posterior
    covering = posterior.covering(200, 161)
    code, rows = np.array([1.0, 0.0]), np.multiply.outer([1.0, 5.0, 20.0], rng.normal(size=6))
    right = posterior._log_predictive_far(code, rows)
    np.testing.assert_allclose(on_covering(posterior, covering, code, rows), right, atol=1e-9)
    wrong = covering._replace(log_omitted=0.99 * covering.log_omitted)
    assert np.max(np.abs(on_covering(posterior, wrong, code, rows) - right)) > 1e-3


def on_covering(posterior, covering, code, rows):
    """Return the log densities of rows as the attributes of `Covering` define them."""
    pi, log_alpha = np.exp(covering.log_related), np.append(-covering.log_u, np.inf)
    nodes = {"log_alpha": log_alpha, "log_variance": np.full(log_alpha.size, -np.inf)}
    law = replace(posterior.of_alphas, **nodes).law(code)
    logs = posterior._likelihood.log_by_feature(np.append(np.exp(covering.log_u), 0.0))
    omitted = np.exp(covering.log_omitted)
    mixed = np.multiply.outer(omitted[:-1], pi) + np.multiply.outer(
        np.broadcast_to(omitted[-1], omitted[:-1].shape), 1.0 - pi
    )
    log_event = np.einsum("upf,p->uf", np.log(mixed), covering.n_omitted)
    result = []
    for x in rows:
        log_ratio = law.of_row(x).T + logs
        ratio = np.exp(log_ratio[:-1] - log_ratio[-1])
        each = np.log1p(np.multiply.outer(ratio - 1.0, pi)).sum(axis=1)
        terms = covering.log_prior[:, np.newaxis] + covering.log_of_fraction + log_event + each
        result.append(log_sum(terms) + law.of_row(x)[:, -1].sum())
    return np.array(result)
