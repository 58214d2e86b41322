"""Independence given the response is judged from strong columns, however few are kept."""

import numpy as np
import pytest

from unselected import SelectiveClassifier, SelectiveRegressor
from unselected.estimators import examined_columns

pytestmark = pytest.mark.usefixtures("few_folds")

N, P = 60, 400
ESTIMATORS = (SelectiveClassifier, SelectiveRegressor)


def draw(kind, estimator, seed):
    """Columns of which the first five are related to the response."""
    rng = np.random.default_rng(seed)
    y = np.arange(N) % 2 if estimator is SelectiveClassifier else rng.normal(size=N)
    X = rng.normal(size=(N, P))
    if kind == "dependent":
        X[:, 5:] += 0.7 * rng.normal(size=(N, 4)) @ rng.normal(size=(4, P - 5))
    X[:, :5] += y[:, np.newaxis]
    return X, y


@pytest.fixture
def judged(monkeypatch):
    """Return a function that fits, and tells the probabilities that were judged.

    The first is by the pairs of strong columns, the second by the effects of the kept ones.
    """

    def probabilities(estimator, X, y, *, covariates=None, **options):
        found = []
        with monkeypatch.context() as patch:
            for name in ("independence_probability", "naive_probability"):
                patch.setattr(examined_columns, name, recording(name, found))
            estimator(marginals="raw", **options).fit(X, y, covariates=covariates)
        assert len(found) == 2
        return found

    def recording(name, found):
        original = getattr(examined_columns, name)

        def recorded(*arguments):
            found.append(original(*arguments))
            return found[-1]

        return recorded

    return probabilities


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_it_does_not_depend_on_how_many_are_kept(estimator, judged, seed):
    """The five kept features are independent in both tables; of one the others are not."""
    for kind, low, high in (("independent", 0.7, 1.0), ("dependent", 0.0, 1e-3)):
        found = []
        for other in range(3):
            X, y = draw(kind, estimator, [seed, other])
            found.append([judged(estimator, X, y, k=k)[0] for k in (5, 100)])
        assert low <= np.median(found) <= high
        assert all(few == many for few, many in found)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_of_five_columns_alone_little_is_known(estimator, judged, seed, monkeypatch):
    """The wrong twin: only what is kept is examined."""
    monkeypatch.setattr(examined_columns, "_EXAMINED", 5)
    X, y = draw("dependent", estimator, seed)
    assert judged(estimator, X, y, k=5)[0] > 0.01


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_order_does_not_matter(estimator, judged, seed):
    X, y = draw("independent", estimator, seed)
    rng = np.random.default_rng(seed + 1)
    rows, columns = rng.permutation(N), rng.permutation(P)
    found = judged(estimator, X, y, k=5)
    again = judged(estimator, X[rows][:, columns], y[rows], k=5)
    assert again == pytest.approx(found, rel=1e-9)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_what_covariates_explain_is_no_dependence(estimator, judged, seed):
    found = []
    for other in range(3):
        X, y = draw("independent", estimator, [seed, other])
        rng = np.random.default_rng([seed, other, 2])
        age = rng.normal(size=(N, 1))
        X = X + age * rng.normal(size=P)
        found.append([judged(estimator, X, y, k=5, covariates=z)[0] for z in (age, None)])
    known, unknown = np.median(found, axis=0)
    assert known > 0.7
    assert unknown < 1e-3  # the twin


def test_missing_values(judged, seed):
    found = []
    for other in range(3):
        X, y = draw("independent", SelectiveClassifier, [seed, other])
        X[np.random.default_rng([seed, other, 3]).random(X.shape) < 0.1] = np.nan
        found.append(judged(SelectiveClassifier, X, y, k=5)[0])
    assert np.median(found) > 0.7


def test_columns_that_all_tie(judged):
    _, y = draw("independent", SelectiveClassifier, 0)
    copies = np.repeat((np.arange(N) % 5 < 2 * y + 1).astype(float)[:, np.newaxis], 300, axis=1)
    assert judged(SelectiveClassifier, copies, y, k=5)[0] < 1e-3


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_a_response_that_follows_a_sum_is_told_from_features_that_follow_it(
    estimator, judged, seed
):
    """In both tables columns look independent, and three are strong."""
    found = []
    for other in range(5):
        rng = np.random.default_rng([seed, other])
        X = rng.normal(size=(2 * N, P))
        total = X[:, :3].sum(axis=1) + 0.5 * rng.normal(size=2 * N)
        z = rng.normal(size=2 * N)
        follow = X + np.outer(z, np.arange(P) < 3)
        if estimator is SelectiveClassifier:
            total, z = total > 0.0, z > 0.0
        found.append([judged(estimator, X, total, k=5), judged(estimator, follow, z, k=5)])
    assert np.all(np.median(found, axis=0)[:, 0] > 0.7)
    of_sum, followed = np.median(found, axis=0)[:, 1]
    assert of_sum < 0.2 < 0.6 < followed
