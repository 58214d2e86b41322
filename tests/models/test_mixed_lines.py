"""Averages over nodes of two groups, for many rows at once, against sums over single nodes."""

import numpy as np
import pytest
from models.test_regression import fitted, two_groups

from unselected.models import mixed_lines
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
    ours = few._log_average(X, y)
    np.testing.assert_allclose(ours, plain(few, X, y), rtol=1e-13, atol=1e-11)


# Values, responses or both are far out: squares would lose digits, ratios would overflow.
@pytest.mark.parametrize(("of_values", "of_response"), [(1e4, 1.0), (1.0, 1e6), (1e8, 1e7)])
@pytest.mark.parametrize("k", [6, 100])
def test_rows_far_out(of_values, of_response, k, seed):
    few, X, y = posterior_and_rows(k, seed)
    rows, at = np.vstack([of_values * X[:1], X]), np.vstack([of_response * y[:1], y])
    logs = few._log_average(rows, at)
    np.testing.assert_allclose(logs, plain(few, rows, at), rtol=1e-12, atol=1e-10)
    np.testing.assert_allclose(logs[1:], few._log_average(X, y), rtol=1e-14)


def test_one_feature_far_out(seed):
    few, X, y = posterior_and_rows(20, seed, missing=0.1)
    X[:, 3] = 200.0
    np.testing.assert_allclose(few._log_average(X, y), plain(few, X, y), rtol=1e-12, atol=1e-10)


def test_many_responses_are_processed_in_parts(seed, monkeypatch):
    few, X, y = posterior_and_rows(5, seed)
    expected = few._log_average(X, y)
    monkeypatch.setattr(mixed_lines, "_BLOCK", 2 * few.features.starts.size)
    np.testing.assert_allclose(few._log_average(X, y), expected, rtol=1e-13)


def test_features_with_other_numbers_of_known_values_are_left_to_others(seed):
    posterior, *_, X_new, y_new = fitted(6, seed, n=40, missing=0.1)
    grouped = two_groups(posterior)
    assert grouped._mixed_lines is None
    y = y_new[:, None]
    np.testing.assert_allclose(grouped._log_average(X_new, y), plain(grouped, X_new, y), rtol=1e-13)
