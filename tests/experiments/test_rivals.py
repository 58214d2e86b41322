"""The methods that ours are compared with: what they need, and what they make of noise."""

import warnings

import numpy as np
import pytest
from scipy.special import softmax
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import NearestCentroid

from unselected import SelectiveClassifier, SelectiveGaussianNB
from unselected.experiments import compare, comparison_table, default_methods, folds
from unselected.experiments.needing import columns_needed
from unselected.experiments.shrunken_centroids import ShrunkenCentroids
from unselected.experiments.usual_classifiers import usual_methods

RIVALS = ["lasso", "elastic net", "nearest shrunken centroids", "random forest"]
FOLDS = StratifiedKFold(3, shuffle=True, random_state=0)


def table_with(n_classes, n=60, p=40):
    """Classes that differ in the first two columns."""
    rng = np.random.default_rng(0)
    y = np.arange(n) % n_classes
    X = rng.normal(size=(n, p))
    X[:, 0] += 4.0 * (y == 0)
    X[:, 1] += 4.0 * (y == n_classes - 1)
    return X, y


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", RIVALS)
def test_columns_needed_are_those_whose_values_matter(name, n_classes):
    X, y = table_with(n_classes)
    ours = SelectiveGaussianNB(k=3)
    made = usual_methods(3, ours=ours, first=(), inner_splits=3, seed=0)[name]
    with warnings.catch_warnings():  # few steps, few columns
        warnings.simplefilter("ignore")
        made.fit(X, y)
    needed = columns_needed(made)
    assert {0, 1} <= needed
    others = [j for j in range(40) if j not in needed]
    changed = X.copy()
    changed[:, others] = 99.0
    np.testing.assert_allclose(made.predict_proba(changed), made.predict_proba(X), atol=1e-6)
    changed[:, 0] = 99.0
    assert not np.allclose(made.predict_proba(changed), made.predict_proba(X))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_probabilities_of_centroids_are_those_of_the_paper(n_classes):
    X, y = table_with(n_classes)
    model = ShrunkenCentroids(FOLDS).fit(X, y)
    threshold = model.threshold_ or None
    known = NearestCentroid(shrink_threshold=threshold, priors="empirical").fit(X, y)
    distances = ((X[:, np.newaxis] - known.centroids_) / known.within_class_std_dev_) ** 2
    expected = softmax(np.log(np.bincount(y) / y.size) - 0.5 * distances.sum(axis=2), axis=1)
    np.testing.assert_allclose(model.predict_proba(X), expected)


def test_losses_of_thresholds_are_those_of_refits(monkeypatch):
    """One fit of each fold stands for one with each threshold."""
    X, y = table_with(3)
    X[:, 7] = 1.0  # a feature that does not vary
    thresholds, (train, test) = np.array([0.0, 0.5, 2.0, 9.0]), next(FOLDS.split(X, y))
    fits, fit = [], NearestCentroid.fit
    monkeypatch.setattr(NearestCentroid, "fit", lambda *args: fits.append(1) or fit(*args))
    model = ShrunkenCentroids(FOLDS)
    model.classes_ = np.unique(y)
    with pytest.warns(UserWarning, match="zero standard deviation"):
        found = model._losses(X, y, thresholds, train, test)
    assert len(fits) == 1
    for loss, threshold in zip(found, thresholds, strict=True):
        known = NearestCentroid(shrink_threshold=threshold or None, priors="empirical")
        with pytest.warns(UserWarning, match="zero standard deviation"):
            known.fit(X[train], y[train])
        own = known.predict_proba(X[test])[np.arange(test.size), y[test]]
        if threshold:  # scikit-learn's own probabilities are those of squared distances
            own = softmax(0.5 * known.decision_function(X[test]), axis=1)
            own = own[np.arange(test.size), y[test]]
            np.testing.assert_allclose(loss, -np.sum(np.log(np.maximum(own, 1e-15))))


def test_noise_is_shrunken_away():
    X, y = np.random.default_rng(1).normal(size=(60, 200)), np.arange(60) % 2
    model = ShrunkenCentroids(FOLDS).fit(X, y)
    assert np.count_nonzero(np.any(model.coef_ != 0, axis=0)) < 40


def test_rivals_select_inside_the_folds():
    """On noise no method may seem to know anything; a twin that selects first does."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 400)), np.arange(40) % 2
    chosen = ["lasso", "nearest shrunken centroids", "random forest"]
    first = SelectiveGaussianNB(k=10).fit(X, y).get_support()
    honest, cheating = (
        comparison_table(compare(part, y, k=10, n_repeats=1, methods=chosen), y)
        for part in (X, X[:, first])
    )
    assert all(row.auc.value < 0.7 for row in honest)
    assert all(row.auc.value > 0.7 for row in cheating)


def test_the_front_door_runs_without_its_uncorrected_twin():
    assert "uncorrected" not in default_methods(SelectiveClassifier())
    assert "uncorrected" in default_methods(SelectiveGaussianNB())


def test_differences_are_paired_by_case():
    """Methods that err in the same cases differ less than their intervals say."""
    X, y = table_with(2)
    flip = np.random.default_rng(0).random(y.size) < 0.2
    y = np.where(flip, 1 - y, y)
    names = ["corrected", "uncorrected", "class frequencies"]
    records = compare(X, y, k=2, n_splits=3, n_repeats=1, methods=names)
    rows = {row.method: row for row in comparison_table(records, y)}
    ours, other = rows["corrected"], rows["uncorrected"]
    found = other.differences["log_loss"]
    assert ours.differences == {}
    assert found.value == pytest.approx(other.log_loss.value - ours.log_loss.value)
    assert found.high - found.low < 0.5 * (other.log_loss.high - other.log_loss.low)
    assert set(found.__dict__) == {"value", "low", "high", "level"}
    area = rows["class frequencies"].differences["auc"]
    assert area.high < 0.0
    alone = comparison_table(records[1:], y)
    assert all(row.differences == {} for row in alone)


def test_columns_of_a_model_without_coefficients_are_those_selected():
    X, y = table_with(2)
    assert columns_needed(LogisticRegression().fit(X, y)) == set(range(40))
    assert columns_needed(SelectiveGaussianNB(k=2).fit(X, y)) == {0, 1}


def test_folds_of_one_repetition_are_divided_among_jobs(monkeypatch):
    """Threads stand for the processes here, which take seconds to start."""
    X, y = table_with(2)
    asked = {"k": 3, "n_splits": 3, "n_repeats": 1, "methods": ["corrected", "class frequencies"]}
    expected = compare(X, y, **asked)
    jobs, original = [], folds.Parallel

    def watched(n_jobs, **how):
        jobs.append(n_jobs)
        return original(n_jobs=n_jobs, backend="threading", **how)

    monkeypatch.setattr(folds, "Parallel", watched)
    told = []
    token = folds.on_fold.set(told.append)
    try:
        assert compare(X, y, **asked, n_jobs=2) == expected
    finally:
        folds.on_fold.reset(token)
    assert jobs == [2]
    assert told == [6] * 6  # each of two methods in each of three folds
