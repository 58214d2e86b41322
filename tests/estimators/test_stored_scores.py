"""The scores of all columns, not only of the kept ones, where they are asked for."""

import numpy as np
import pytest

from unselected import SelectiveBernoulliNB, SelectiveGaussianNB, SelectiveNaiveRegressor


@pytest.mark.parametrize(
    "estimator", [SelectiveBernoulliNB, SelectiveGaussianNB, SelectiveNaiveRegressor]
)
@pytest.mark.parametrize("rule", [{"k": 5}, {"threshold": 0.3}, {}, {"preselected_from": 5000}])
def test_scores_of_all_features_are_stored_when_asked_for(estimator, rule, seed):
    rng = np.random.default_rng(seed)
    X = (rng.random((21, 150)) < rng.random(150)).astype(np.uint8)
    X[:, 100:110], X[:, 5] = X[:, [10]], 1
    y = rng.permutation(np.arange(21) % 2)
    if estimator is SelectiveNaiveRegressor:
        y = X[:, 0] + 0.1 * np.arange(len(X))
    plain, stored = estimator(**rule).fit(X, y), estimator(**rule, store_scores=True).fit(X, y)
    assert not hasattr(plain, "feature_scores_")
    assert stored.feature_scores_.shape == (X.shape[1],)
    kept = stored.selection_.indices
    np.testing.assert_array_equal(stored.feature_scores_[kept], plain.scores_)
    np.testing.assert_array_equal(stored.predict(X[:9]), plain.predict(X[:9]))
    with np.errstate(invalid="ignore"):
        expected = np.abs(np.nan_to_num(np.corrcoef(X.T, y)[-1, :-1]))
    np.testing.assert_allclose(stored.feature_scores_, expected, atol=1e-12)
    if estimator is SelectiveBernoulliNB:
        expected = np.stack([X[y == g].sum(axis=0) for g in (0, 1)])
        np.testing.assert_array_equal(stored.feature_counts_, expected)
