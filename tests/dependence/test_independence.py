"""The probability of independence within classes, from the correlations of the kept features."""

import numpy as np
import pytest

from unselected.dependence.independence import independence_probability
from unselected.dependence.within_class import SquaredCorrelations, squared_correlations

SEEDS = range(20)


def features_of(kind, rng, n, k):
    """Independent features, of which some have something to do with two classes of other sizes."""
    y = (np.arange(n) % 5 < 2).astype(np.intp)
    strength = rng.normal(size=k) * 0.5
    if kind == "real":
        return rng.standard_t(4, size=(n, k)) + np.outer(y, strength), y
    rates = np.clip(rng.uniform(0.02, 0.9, size=k) + 0.1 * np.outer(y, strength), 0.01, 0.99)
    return (rng.random((n, k)) < rates).astype(float), y


def shared(X, rng):
    """Let a fifth of the values of each case come from another case, the same for all columns."""
    other, copied = rng.permutation(len(X)), rng.random(X.shape) < 0.2
    copied &= rng.random(len(X))[:, np.newaxis] < 0.5
    return np.where(copied, X[other], X) + np.outer(rng.normal(size=len(X)), np.ones(X.shape[1]))


def probability(X, y, n_lost=0):
    return independence_probability(squared_correlations(X, y, n_lost))


@pytest.mark.parametrize("kind", ["real", "bits"])
@pytest.mark.parametrize(("n", "k", "least"), [(50, 20, 0.5), (50, 100, 0.85), (200, 100, 0.95)])
def test_independent_features_look_independent(kind, n, k, least):
    found = [probability(*features_of(kind, np.random.default_rng([s, n, k]), n, k)) for s in SEEDS]
    assert np.median(found) > least
    assert np.mean(np.array(found) > 0.5) >= 0.8


@pytest.mark.parametrize("kind", ["real", "bits"])
def test_dependent_ones_do_not(kind):
    found = []
    for s in SEEDS:
        rng = np.random.default_rng([s, 1])
        X, y = features_of(kind, rng, 100, 50)
        found.append(probability(shared(X, rng), y))
    assert max(found) < 1e-3


def test_a_few_features_say_little(seed):
    X, y = features_of("real", np.random.default_rng(seed), 60, 4)
    assert 0.02 < probability(X, y) < 0.95
    assert probability(X[:, :1], y) == 0.5
    assert probability(np.ones((60, 4)), y) == 0.5


def test_differences_between_classes_are_no_dependence(seed):
    rng = np.random.default_rng(seed)
    y = np.arange(100) % 2
    X = rng.normal(size=(100, 60)) + 2.0 * y[:, np.newaxis]
    assert probability(X, y) > 0.5
    assert probability(X, np.zeros_like(y)) < 1e-6


def test_missing_values_are_left_out(seed):
    rng = np.random.default_rng(seed)
    X, y = features_of("real", rng, 150, 60)
    X[rng.random(X.shape) < 0.1] = np.nan
    assert probability(X, y) > 0.5


def test_missing_values_of_one_class_only(seed):
    X, y = features_of("real", np.random.default_rng(seed), 150, 60)
    X[np.flatnonzero(y)[0], 0] = np.nan
    assert probability(X, y) == pytest.approx(probability(X[:, 1:], y), abs=0.1)


def test_order_does_not_matter(seed):
    rng = np.random.default_rng(seed)
    X, y = features_of("bits", rng, 80, 30)
    rows, columns = rng.permutation(80), rng.permutation(30)
    again = probability(X[rows][:, columns], 1 - y[rows])
    assert again == pytest.approx(probability(X, y), rel=1e-9)


def test_degrees_of_freedom_that_a_regression_took(seed):
    """Residuals of many covariates have larger correlations, which is no dependence."""
    rng = np.random.default_rng(seed)
    Z = np.linalg.qr(np.column_stack([np.ones(60), rng.normal(size=(60, 19))]))[0]
    X = rng.normal(size=(60, 200))
    X -= Z @ (Z.T @ X)
    alike = np.zeros(60, dtype=np.intp)
    found = squared_correlations(X, alike, 19)
    assert found.seen == pytest.approx(found.expected, rel=0.03)
    assert probability(X, alike, 19) > 0.5
    assert probability(X, alike) < 1e-6  # the twin: lost degrees of freedom are not known


def test_nothing_known():
    nan = float("nan")
    assert independence_probability(SquaredCorrelations(0, nan, nan, nan)) == 0.5
