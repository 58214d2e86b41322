"""How stable a selection is: strong features come back, noise does not."""

import numpy as np
import pytest

from unselected import (
    SelectiveBernoulliNB,
    SelectiveClassifier,
    SelectiveGaussianNB,
    SelectiveNaiveRegressor,
    SelectiveRegressor,
)
from unselected.experiments import selection_stability

pytestmark = pytest.mark.usefixtures("few_folds")


def table_of(n=60, p=40):
    """Columns 0 to 2 are strong, the rest is noise."""
    rng = np.random.default_rng(0)
    y = np.arange(n) % 2
    X = rng.normal(size=(n, p))
    X[:, :3] += 2.5 * y[:, np.newaxis]
    return X, y


@pytest.mark.parametrize(
    "model",
    [
        SelectiveGaussianNB(k=5),
        SelectiveGaussianNB(k="loo"),
        SelectiveBernoulliNB(k=5, prior="sparse", binarize="median"),
        SelectiveClassifier(k=5, marginals="normal"),
    ],
    ids=["gaussian", "loo", "bernoulli", "front door"],
)
def test_strong_features_are_selected_again(model):
    X, y = table_of()
    fitted = model.fit(X, y)
    found = selection_stability(fitted, X, y, n_resamples=20)
    assert found.frequency.shape == (40,)
    assert np.all(found.frequency[:3] > 0.9)
    assert np.median(found.frequency[3:]) < 0.5
    assert set(found.kept) == set(fitted.selection_.indices)
    assert found.median == np.median(found.frequency[found.kept])


@pytest.mark.parametrize("model", [SelectiveNaiveRegressor(k=4), SelectiveRegressor(k=4)])
def test_a_real_response_has_no_classes_to_draw_within(model):
    X, y = table_of()
    response = y + 0.5 * np.random.default_rng(1).normal(size=60)
    found = selection_stability(model.fit(X, response), X, response, n_resamples=20)
    assert np.all(found.frequency[:3] > 0.9)
    assert found.kept.size == 4


def test_frequencies_are_those_of_fits_to_resampled_cases():
    X, y = table_of()
    model = SelectiveGaussianNB(k=5, always_keep=[39]).fit(X, y)
    found = selection_stability(model, X, y, n_resamples=3, seed=4)
    rng, times = np.random.default_rng(4), np.zeros(40)
    for _ in range(3):
        rows = np.concatenate([rng.choice(np.flatnonzero(y == g), size=30) for g in (0, 1)])
        times[SelectiveGaussianNB(k=5, always_keep=[39]).fit(X[rows], y[rows]).get_support()] += 1
    np.testing.assert_array_equal(found.frequency, times / 3)
    assert found.frequency[39] == 1.0


def test_covariates_are_adjusted_for_in_every_sample():
    """A column that is the batch is strong by itself, and nothing given the batch."""
    X, y = table_of()
    batch = (np.random.default_rng(2).random(60) < 0.15 + 0.7 * y).astype(float)
    X[:, 5] = batch + 0.01 * X[:, 5]
    plain, adjusted = (
        selection_stability(
            SelectiveGaussianNB(k=4).fit(X, y, covariates=given), X, y, covariates=given
        ).frequency[5]
        for given in (None, {"batch": batch})
    )
    assert plain > 0.9
    assert adjusted < 0.5


def test_nothing_is_said_where_nothing_was_selected():
    X, y = table_of()
    before = SelectiveGaussianNB(preselected_from=500).fit(X[:, :5], y)
    assert selection_stability(before, X[:, :5], y) is None
    everything = SelectiveGaussianNB(k=None).fit(X[:, :5], y)
    assert selection_stability(everything, X[:, :5], y) is None
