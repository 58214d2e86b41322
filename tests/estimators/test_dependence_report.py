"""What a fitted classifier says of dependence between the features that it kept."""

import json
import pickle
from dataclasses import asdict, replace

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from unselected import SelectiveBernoulliNB, SelectiveGaussianNB
from unselected.dependence.calibration_slope import calibration_slope
from unselected.dependence.diagnosis import DependenceReport
from unselected.dependence.held_out import HeldOut
from unselected.dependence.within_class import within_class_correlation
from unselected.estimators.class_fitting import N_FOLDS, dealt


def copies(seed, *, n=60, copies=6, n_classes=2, shift=0.7):
    """Features of which the first ones are one measurement, several times over."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % n_classes)
    X = rng.normal(size=(n, 40))
    X[:, :copies] = X[:, :1] + shift * y[:, np.newaxis] + 0.3 * rng.normal(size=(n, copies))
    return X, y


def independent(seed, n=60):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % 2)
    return rng.normal(size=(n, 40)) + 0.3 * np.outer(y, rng.normal(size=40)), y


def held_out_by_refitting(estimator, X, y):
    """The evidence of each case from a fit without its fold: a fit of its own for each fold."""
    fold_of, n_classes = dealt(y, N_FOLDS), np.unique(y).size
    evidence, prior = np.empty((y.size, n_classes)), np.empty((y.size, n_classes))
    for fold in range(N_FOLDS):
        train, test = fold_of != fold, fold_of == fold
        model = clone(estimator).set_params(dependence="none").fit(X[train], y[train])
        counts = 1.0 + np.bincount(y[train])
        prior[test] = np.log(counts / counts.sum())
        evidence[test] = model.predict_log_proba(X[test]) - prior[test]
    return HeldOut.of_classes(evidence, prior, y)


ESTIMATORS = {
    "bits": (SelectiveBernoulliNB(k=5), 2),
    "numbers": (SelectiveGaussianNB(k=5), 2),
    "three classes": (SelectiveGaussianNB(k=5, prior="sparse"), 3),
    "tempered": (SelectiveGaussianNB(k=5, dependence="tempered"), 2),
}


@pytest.mark.parametrize("case", ESTIMATORS)
def test_it_is_what_refitting_and_the_kept_features_say(case, seed):
    estimator, n_classes = ESTIMATORS[case]
    X, y = copies(seed, n_classes=n_classes)
    fitted = clone(estimator).fit(X, y)
    report = fitted.dependence_report()
    kept = X[:, fitted.selection_.indices]
    if case == "bits":
        kept = kept > fitted.binarize_thresholds_
    correlation = within_class_correlation(kept, y)
    for name, value in asdict(correlation).items():
        assert getattr(report.correlation, name) == (value and pytest.approx(value, rel=1e-9))
    slope = calibration_slope(held_out_by_refitting(estimator, X, y))
    assert asdict(report.slope) == pytest.approx(asdict(slope), rel=1e-6)
    in_sample = fitted.predict_log_proba(X)  # which knows the cases: the wrong twin
    wrong = calibration_slope(HeldOut.of_classes(in_sample, np.zeros(n_classes), y))
    assert asdict(report.slope) != pytest.approx(asdict(wrong), rel=1e-3)


@pytest.mark.parametrize("make", [SelectiveBernoulliNB, SelectiveGaussianNB])
def test_copies_are_found_and_independent_features_are_not(make, seed):
    X, y = copies(seed, n=120, shift=1.5)
    report = make(k=5).fit(X, y).dependence_report()
    assert report.correlation.effective_features < 3.5
    assert report.slope.slope < 0.9
    assert 'dependence="correlated"' in report.advice[-1]
    rng = np.random.default_rng(seed)
    apart = rng.normal(size=X.shape) + 0.5 * y[:, np.newaxis]
    report = make(k=5).fit(apart, y).dependence_report()
    assert report.correlation.effective_features > 3.5


def test_a_tempered_classifier_is_not_told_to_be(seed):
    X, y = copies(seed)
    plain = SelectiveGaussianNB(k=5).fit(X, y)
    fitted = SelectiveGaussianNB(k=5, dependence="tempered").fit(X, y)
    report = fitted.dependence_report()
    assert report.slope == plain.dependence_report().slope
    assert report.advice[:-1] == plain.dependence_report().advice[:-1]
    assert report.advice[-1] == 'dependence="tempered" is in use, which allows for that.'


def test_the_content_is_plain_json(seed):
    X, y = independent(seed)
    content = SelectiveGaussianNB(k=1).fit(X, y).dependence_report().content()
    assert json.loads(json.dumps(content, allow_nan=False)) == content
    assert content["correlation"]["p_value"] is None  # of one feature there is no pair
    assert content["advice"][0] == "There is no pair of features to correlate."
    evidence = np.array([[1.0, 0.0], [0.0, 1.0]])
    report = DependenceReport.of(X, y, HeldOut.of_classes(evidence, np.zeros(2), [0, 1]))
    assert report.slope.slope == np.inf
    assert report.content()["slope"]["slope"] is None


def test_without_the_training_set_it_cannot_be_told(seed):
    X, y = copies(seed)
    loaded = pickle.loads(pickle.dumps(SelectiveGaussianNB(k=5).fit(X, y)))
    with pytest.raises(NotFittedError, match="without its training set"):
        loaded.dependence_report()


@pytest.mark.parametrize(
    ("estimator", "advised", "not_advised"),
    [
        (SelectiveBernoulliNB(k=4), ('rates="given" (for rare words', 'prior="sparse"'), ()),
        (SelectiveBernoulliNB(k=4, rates="given"), ('try prior="sparse".',), ("rates",)),
        (SelectiveBernoulliNB(k=4, prior="sparse"), ("hardly vary).",), ("prior",)),
        (SelectiveBernoulliNB(k=4, prior="sparse", rates="given"), (), ("try",)),
        (SelectiveBernoulliNB(k=4, quadrature="paper"), (), ("try",)),
        (SelectiveGaussianNB(k=4), ('try prior="sparse".',), ("rates",)),
        (SelectiveGaussianNB(k=4, variance_shrinkage=2.0), (), ("try",)),
    ],
    ids=["uniform", "given", "sparse", "both", "paper", "gaussian", "shrunk"],
)
def test_an_underconfident_model_is_told_what_it_has_not_tried(estimator, advised, not_advised):
    """Only what the estimator takes, and has not got already."""
    X, y = independent(0)
    report = estimator.fit(X, y).dependence_report()
    cautious = replace(report, slope=replace(report.slope, slope=2.0, low=1.5, high=3.0))
    last = cautious.advice[-1]
    assert last.startswith("The model is underconfident: it finds little signal in the features.")
    assert all(words in last for words in advised)
    assert not any(words in last for words in not_advised)
