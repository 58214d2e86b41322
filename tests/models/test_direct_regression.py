"""Direct regressions against dense linear algebra, and in limits."""

import numpy as np
import pytest

from unselected.models.direct_regression import RIDGES, DirectRegression
from unselected.models.feature_map import MOST_COMPONENTS, FeatureMap


def table(seed, n=20, k=4):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, k)) * rng.uniform(0.1, 10.0, size=k) + 3.0
    return X, 5.0 + 2.0 * (X[:, 0] - 3.0) + rng.normal(size=n), rng


def dense(phi, z, new, ridge, most=4.0):
    """Location and squared scale by inverting the covariance of the training responses."""
    n = z.size
    K = ridge * phi @ phi.T + np.eye(n)
    solved = np.linalg.solve(K, np.column_stack([z, ridge * phi @ new.T]))
    noise = z @ solved[:, 0] / (n - 1.0)
    mean = ridge * new @ phi.T @ solved[:, 0]
    before = noise * ridge * np.sum(new**2, axis=1)
    after = before - noise * np.sum((ridge * new @ phi.T) * solved[:, 1:].T, axis=1)
    precision = 1.0 / after + np.maximum(0.0, 1.0 / most - 1.0 / before)
    return mean / after / precision, noise * (1.0 + 1.0 / n) + 1.0 / precision


@pytest.mark.parametrize("quadratic", [False, True])
@pytest.mark.parametrize(("n", "k"), [(20, 4), (12, 40)])
def test_all_ridges_agree_with_dense_algebra(quadratic, n, k, seed):
    X, y, rng = table(seed, n, k)
    new = X.mean(axis=0) + X.std(axis=0) * rng.normal(size=(5, k))
    model = DirectRegression.fit(X, y, quadratic=quadratic)
    features = FeatureMap.learn(X, quadratic=quadratic)
    z = (y - y.mean()) / y.std()
    location, squares = model.laws(new)
    for j, ridge in enumerate(RIDGES[:7]):  # larger ones lose digits in the dense algebra
        mean, scale = dense(features.apply(X), z, features.apply(new), ridge)
        np.testing.assert_allclose(location[j, 0], y.mean() + y.std() * mean, rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose(squares[j, 0], y.var() * scale, rtol=1e-5)


def test_a_small_ridge_knows_only_the_mean_and_a_large_one_least_squares(seed):
    X, y, _ = table(seed, n=40)
    location, _ = DirectRegression.fit(X, y, quadratic=False).laws(X[:6])
    design = np.column_stack([np.ones(40), X])
    fitted = design @ np.linalg.lstsq(design, y, rcond=None)[0]
    distance = np.abs(location[:, 0] - fitted[:6]).max(axis=1)
    assert distance[6] < 0.05 * distance[0]


def test_rows_off_the_training_cases_are_predicted_within_the_range_of_responses(seed):
    """Two columns that never differed do: least squares, the wrong twin, makes much of it."""
    rng = np.random.default_rng(seed)
    X = np.repeat(rng.normal(size=(30, 1)), 2, axis=1) + 1e-4 * rng.normal(size=(30, 2))
    y = X[:, 0] + 0.5 * rng.normal(size=30)
    off = np.array([[1.0, -1.0], [-2.0, 2.0]])
    location, _ = DirectRegression.fit(X, y, quadratic=False).laws(off)
    plane = (off - X.mean(axis=0)) @ np.linalg.lstsq(X - X.mean(axis=0), y - y.mean(), rcond=None)[
        0
    ]
    bound = 10.0 * y.std()
    assert np.max(np.abs(location - y.mean())) < bound
    assert np.max(np.abs(plane)) > bound


def test_a_missing_value_counts_as_the_mean(seed):
    X, y, _ = table(seed)
    model = DirectRegression.fit(X, y, quadratic=True)
    holes, filled = X[:3].copy(), X[:3].copy()
    holes[:, 1], filled[:, 1] = np.nan, X[:, 1].mean()
    for ours, theirs in zip(model.laws(holes), model.laws(filled), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5)


def test_products_of_few_components_only(seed):
    X, _, _ = table(seed, n=30, k=12)
    r = MOST_COMPONENTS
    assert FeatureMap.learn(X, quadratic=True).apply(X).shape == (30, 12 + r * (r + 1) // 2)
    assert FeatureMap.learn(X, quadratic=False).apply(X).shape == (30, 12)


def test_no_features_and_constant_responses():
    empty = DirectRegression.fit(np.zeros((5, 0)), np.arange(5.0), quadratic=True)
    location, squares = empty.laws(np.zeros((2, 0)))
    np.testing.assert_allclose(location, 2.0)
    np.testing.assert_allclose(squares, np.var(np.arange(5.0)) * 6.0 / 4.0)


@pytest.mark.parametrize("k", [4, 40])
@pytest.mark.parametrize("quadratic", [False, True])
def test_large_ridges_do_not_magnify_rounding(k, quadratic, seed):
    """The order of columns changes how sums are rounded, and no more; also with exact fits."""
    rng = np.random.default_rng(seed)
    X, y, new = rng.normal(size=(30, k)), rng.normal(size=30), rng.normal(size=(7, k))
    order = rng.permutation(k)
    ours = DirectRegression.fit(X, y, quadratic=quadratic).laws(new)
    turned = DirectRegression.fit(X[:, order], y, quadratic=quadratic).laws(new[:, order])
    for one, other in zip(ours, turned, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9)
