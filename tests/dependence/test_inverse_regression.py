"""Inverse regressions against dense matrices over the features."""

import numpy as np
import pytest

from unselected.dependence.inverse_regression import POWERS, InverseRegression, residual_factor


def model(seed, n=12, k=5, independence=(0.01, 0.3, 1.0)):
    rng = np.random.default_rng(seed)
    z = rng.normal(size=n)
    X = np.outer(z, rng.normal(size=k)) + rng.normal(size=(n, 1)) + rng.normal(size=(n, k))
    factor = residual_factor(X, z)
    lines = X.mean(axis=0), rng.normal(size=k), rng.uniform(0.5, 2.0, size=k)
    return InverseRegression(*lines, factor, n, 10.0, 3.0, independence), X


@pytest.mark.parametrize("k", [3, 5, 30])
def test_agrees_with_the_normal_distribution_of_response_and_features(k, seed):
    """The response given the features, from their joint covariance."""
    one, X = model(seed, k=k)
    location, squares = one.laws(X[:4])
    R = one.factor.T @ one.factor
    deviation = np.sqrt(one.variance)
    for i, w in enumerate(one.independence):
        S = ((1.0 - w) * R + w * np.eye(k)) * np.outer(deviation, deviation)
        for j, eta in enumerate(POWERS):
            total = S / eta + np.outer(one.slope, one.slope)
            gain = np.linalg.solve(total, one.slope)
            z = (X[:4] - one.intercept) @ gain
            left = 1.0 - one.slope @ gain
            np.testing.assert_allclose(location[i, j], 10.0 + 3.0 * z, rtol=1e-6, atol=1e-6)
            expected = 9.0 * (1.0 + 1.0 / one.n) * left
            np.testing.assert_allclose(squares[i, j], expected, rtol=1e-6)


def test_a_missing_feature_is_left_out_of_independent_ones(seed):
    one, X = model(seed, independence=(1.0,))
    holes = X[:3].copy()
    holes[:, 2] = np.nan
    rest = np.array([0, 1, 3, 4])
    without = InverseRegression(
        one.intercept[rest], one.slope[rest], one.variance[rest], one.factor[:, rest], one.n,
        one.center, one.unit, (1.0,),
    )  # fmt: skip
    for ours, theirs in zip(one.laws(holes), without.laws(X[:3][:, rest]), strict=True):
        np.testing.assert_allclose(ours, theirs)


def test_combinations_of_cases_say_the_same(seed):
    one, X = model(seed, n=8, k=20)
    other = one.without_cases()
    assert len(other.factor) <= len(one.factor)
    for ours, theirs in zip(one.laws(X[:3]), other.laws(X[:3]), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-8)
