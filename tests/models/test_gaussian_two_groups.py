"""The posterior with two groups of features, on nodes that are placed for a new row."""

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
