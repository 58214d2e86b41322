"""Averages over nodes of two groups, for many rows at once, against sums over single nodes."""

import numpy as np
import pytest
from models.test_regression import fitted, two_groups

from unselected.numerics.quadrature import log_sum


def posterior_and_rows(k, seed, *, tau=0.5, missing=0.0):
    posterior, *_, X_new, _ = fitted(k, seed, n=40, p=700, tau=tau)
    few = two_groups(posterior)._on_few_nodes[-1]
    rng = np.random.default_rng(seed)
    X = np.where(rng.random(X_new.shape) < missing, np.nan, X_new)
    return few, X, 7.0 + rng.uniform(-6.0, 6.0, size=(len(X), 5))


def plain(posterior, X, y):
    return log_sum(posterior._log_features(X, y) + posterior.features.log_weights, axis=2)


# With 600 features the products need more than one power of ten; seven are no multiple of eight.
@pytest.mark.parametrize(("k", "missing"), [(1, 0.0), (7, 0.3), (20, 0.0), (600, 0.1)])
def test_averages_are_sums_over_nodes(k, missing, seed):
    few, X, y = posterior_and_rows(k, seed, missing=missing)
    ours = few._quick_log_average(X, y)
    np.testing.assert_allclose(ours, plain(few, X, y), rtol=1e-13, atol=1e-11)


def test_rows_far_out_are_left_to_others(seed):
    few, X, y = posterior_and_rows(6, seed)
    assert np.all(np.isnan(few._quick_log_average(1e4 * X, y)))
    assert np.all(np.isnan(few._quick_log_average(X, 1e6 * y)))
    rows = np.vstack([1e4 * X[:1], X])
    logs = few._log_average(rows, y[[0, *range(len(X))]])
    np.testing.assert_allclose(
        logs, plain(few, rows, y[[0, *range(len(X))]]), rtol=1e-13, atol=1e-11
    )
    np.testing.assert_array_equal(logs[1:], few._quick_log_average(X, y))


def test_features_with_other_numbers_of_known_values_are_left_to_others(seed):
    posterior, *_, X_new, y_new = fitted(6, seed, n=40, missing=0.1)
    grouped = two_groups(posterior)
    assert np.all(np.isnan(grouped._quick_log_average(X_new, y_new[:, None])))
