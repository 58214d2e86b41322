"""Products over features of 1 - pi + pi ratio against plain sums of logs."""

import numpy as np
import pytest

from unselected.models.mixed_products import TOGETHER, MixedProducts


@pytest.mark.parametrize("n_features", [1, TOGETHER - 1, TOGETHER, 5 * TOGETHER + 3])
@pytest.mark.parametrize("size", [0.5, 60.0])
def test_products_are_sums_of_logs(n_features, size, seed):
    rng = np.random.default_rng(seed)
    alpha_of = np.array([0, 1, 1, 1, 2, 2])  # as many nodes as there happen to be
    fraction = np.append(rng.random(5), 1.0)
    log_ratios = size * rng.uniform(-1.0, 1.0, size=(n_features, 7, 3))
    products = MixedProducts(fraction, 1.0 - fraction, alpha_of, 7, room=600.0)
    expected = np.zeros((7, 6))
    for log_ratio in log_ratios:
        products.multiply(log_ratio, float(np.max(np.abs(log_ratio))))
        expected += np.log(1.0 - fraction + fraction * np.exp(log_ratio[:, alpha_of]))
    np.testing.assert_allclose(products.logs(), expected, rtol=1e-13, atol=1e-13)


def test_without_features_the_product_is_one():
    products = MixedProducts(np.array([0.3]), np.array([0.7]), np.array([0]), 2, room=600.0)
    np.testing.assert_array_equal(products.logs(), np.zeros((2, 1)))
