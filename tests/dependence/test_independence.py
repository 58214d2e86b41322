"""The probability of independence within classes, from the correlations of the kept features."""

import numpy as np
import pytest

from unselected.dependence.independence import independence_probability, naive_probability
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


def lines_in(X, y):
    """Residuals of length 1, and slopes in residual deviations."""
    z = (y - y.mean()) / y.std()
    slopes = z @ X / len(z)
    rest = X - X.mean(axis=0) - np.outer(z, slopes)
    lengths = np.sqrt((rest**2).sum(axis=0))
    return rest / lengths, np.sqrt(len(z)) * slopes / lengths


def naive(X, y, shrunk=1.0):
    units, slopes = lines_in(X, y)
    return naive_probability(units, (shrunk * slopes)[:, np.newaxis])


@pytest.mark.parametrize("k", [2, 8])
def test_independent_given_the_response_or_beforehand(k):
    found = []
    for s in SEEDS:
        rng = np.random.default_rng([s, k])
        X, y = rng.normal(size=(100, k)), rng.normal(size=100)
        total = X.sum(axis=1) + rng.normal(size=100)
        found.append([naive(X + y[:, np.newaxis], y), naive(X, total)])
    given, beforehand = np.median(found, axis=0)
    assert given > 0.8
    assert beforehand < 0.05


def test_without_effects_there_is_nothing_to_tell(seed):
    rng = np.random.default_rng(seed)
    units, _ = lines_in(rng.normal(size=(50, 4)), rng.normal(size=50))
    assert naive_probability(units, np.zeros((4, 1))) == pytest.approx(2 / 3)
    assert naive_probability(units[:, :1], np.ones((1, 1))) == pytest.approx(2 / 3)
    assert naive_probability(units[:, :0], np.ones((0, 1))) == pytest.approx(2 / 3)


def test_selected_noise_must_not_count_with_its_naive_effects():
    """Two features have an effect, and a sum is the response; eight are selected noise.

    The twin takes the naive effects of the noise, which would show if they were real.
    """
    shrunk, seen = [], []
    for s in SEEDS:
        rng = np.random.default_rng(s)
        X = rng.normal(size=(80, 500))
        y = X[:, 0] + X[:, 1] + rng.normal(size=80)
        strength = np.abs(lines_in(X, y)[1])
        strength[:2] = np.inf
        kept = np.argsort(-strength)[:30]
        right = np.where(np.isin(kept, (0, 1)), 1.0, 0.0)
        shrunk.append(naive(X[:, kept], y, right))
        seen.append(naive(X[:, kept], y))
    assert np.median(shrunk) < 0.3
    assert np.median(seen) > 0.7
