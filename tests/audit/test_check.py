"""The audit as a whole: it rings where it should, and tells why and what to do."""

import json

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.feature_selection import SelectKBest, f_regression
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import BayesianRidge, LinearRegression
from sklearn.model_selection import LeaveOneGroupOut, ShuffleSplit, StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from unselected.audit import SelectionAudit, check_selection, judging
from unselected.audit.judging import mean_exceeds
from unselected.audit.record import ErrorsWithPermuted
from unselected.audit.trials import Cases, Clock
from unselected.audit.usual import usual_pipeline
from unselected.audit.wording import SHELL

QUICK = {"n_permutations": 6, "try_remedy": False}


def noise(seed=0, n=60, p=400):
    return np.random.default_rng(seed).normal(size=(n, p)), np.repeat(["sick", "well"], n // 2)


@pytest.fixture(scope="module")
def selected():
    """An audit of a table that was selected before, with the table that it was selected from."""
    X, y = noise()
    kept = SelectKBest(k=40).fit_transform(X, y)
    return check_selection(GaussianNB(), kept, y, X_before=X, **QUICK)


# Selections outside of the folds.


def test_a_table_that_was_selected_rings(seed):
    X, y = noise(seed)
    kept = SelectKBest(k=40).fit_transform(X, y)
    audit = check_selection(GaussianNB(), kept, y, **QUICK)
    assert audit.selected_outside
    assert audit.rings
    assert audit.real.actual.value < 0.35
    assert audit.verdict()[0].startswith(
        "Selection was made before the cross-validation: weak columns are missing from X."
    )
    assert "make_pipeline(SelectKBest(k=40), ...)" in audit.advice()[0]
    assert "preselected_from" in audit.advice()[1]
    # The twin: the same number of columns that nobody selected.
    twin = check_selection(GaussianNB(), X[:, :40], y, **QUICK)
    assert not twin.selected_outside
    assert twin.verdict()[0].startswith("No sign of a selection")


def test_a_selector_fitted_before_rings_and_one_inside_does_not(seed):
    X, y = noise(seed)
    best = SelectKBest(k=8)
    frozen = make_pipeline(FrozenEstimator(best.fit(X, y)), GaussianNB())
    audit = check_selection(frozen, X, y, **QUICK)
    assert audit.features.overlap == audit.features.overlap_permuted == 1.0
    assert audit.features.agreement.n_strongest == 8
    assert audit.selected_outside
    assert "looks at the same columns in every fold" in audit.verdict()[0]
    assert "not fitted before: make_pipeline(SelectKBest(k=8), ...)" in audit.advice()[0]
    honest = check_selection(make_pipeline(SelectKBest(k=8), GaussianNB()), X, y, **QUICK)
    assert honest.features.overlap < 0.9
    assert honest.features.agreement is None
    assert not honest.selected_outside
    # Fixed columns that were chosen for another reason.
    other = make_pipeline(FrozenEstimator(SelectKBest(k=8).fit(X, np.roll(y, 15))), GaussianNB())
    assert not check_selection(other, X, y, **QUICK).selected_outside


def test_the_table_before_tells_how_much_was_chance(selected):
    earlier = selected.earlier
    assert earlier.agreement.n_agree == earlier.agreement.n_looked_at == 20
    assert earlier.error_inside.value > 0.3
    assert earlier.error_permuted < 0.2
    assert "all, among the 40 of the 400 columns of X_before" in selected.verdict()[0]
    assert f"{earlier.error_inside.value:.2f}" in selected.advice()[0]
    assert "selected before the folds" in selected.summary()


def test_few_columns_are_said_to_be_too_few():
    X, y = noise(p=4)
    audit = check_selection(DummyClassifier(), X, y, **QUICK)
    assert "too few to tell" in audit.verdict()[0]


def test_columns_are_found_by_name():
    X, y = noise(p=60)
    before = pd.DataFrame(X, columns=[f"g{j}" for j in range(60)])
    kept = before[["g7", "g3"]] * 100.0
    audit = check_selection(DummyClassifier(), kept, y, X_before=before, **QUICK)
    assert audit.earlier.agreement.n_kept == 2
    with pytest.raises(ValueError, match="column 'g99' of X is not in X_before"):
        check_selection(
            DummyClassifier(), kept.rename(columns={"g3": "g99"}), y, X_before=before, **QUICK
        )
    with pytest.raises(ValueError, match="column 0 of X is not in X_before"):
        check_selection(DummyClassifier(), kept.to_numpy(), y, X_before=before, **QUICK)
    with pytest.raises(ValueError, match="nothing was selected"):
        check_selection(DummyClassifier(), before, y, X_before=before, **QUICK)


def test_a_selector_of_ones_own_repeats_the_selection():
    X, y = noise(p=60)
    kept = X[:, :30]
    asked = []

    class FirstHalf(SelectKBest):
        def fit(self, X, y):
            asked.append(X.shape)
            return super().fit(X, y)

    selector = FirstHalf(k=30)
    audit = check_selection(DummyClassifier(), kept, y, X_before=X, selector=selector, **QUICK)
    assert asked.count((60, 60)) == QUICK["n_permutations"]
    assert asked.count((48, 60)) == 5
    assert not audit.selected_outside


# Promises.


def test_overconfidence_rings_and_its_reason_is_told(seed):
    X, y = noise(seed, p=1000)
    audit = check_selection(make_pipeline(SelectKBest(k=1), GaussianNB()), X, y, **QUICK)
    assert audit.overconfident
    assert audit.permuted.mean_actual > 0.4
    assert audit.permuted.mean_promised < 0.4
    assert audit.permuted.promised_by_other > 0.4
    assert "Selection is the main reason" in audit.summary()
    assert audit.advice() == ["Do not act on the promised error: use the one of cases left out."]
    honest = check_selection(DummyClassifier(), X, y, **QUICK)
    assert not honest.overconfident
    assert honest.permuted.mean_promised == pytest.approx(0.5)


def test_a_model_that_is_too_close_is_not_blamed_on_selection():
    X, y = noise(p=100)
    pipeline = make_pipeline(SelectKBest(k=80), GaussianNB())
    audit = check_selection(pipeline, X, y, **QUICK)
    assert audit.overconfident
    assert "Selection is not the reason" in audit.summary()


def test_only_what_is_better_is_recommended(monkeypatch):
    """The same audit with a front door that is a better model, and one that is as bad."""
    X, y = noise(p=60)

    class Better(DummyClassifier):
        def __init__(self, k=5, **settings):
            self.k = k
            super().__init__(**settings)

    class Same(GaussianNB):
        def __init__(self, k=5, **settings):
            self.k = k
            super().__init__(**settings)

    estimator = make_pipeline(SelectKBest(k=40), GaussianNB())
    settings = {**QUICK, "try_remedy": True}
    monkeypatch.setattr(judging, "SelectiveClassifier", Better)
    audit = check_selection(estimator, X, y, **settings)
    assert audit.remedy.is_better
    assert audit.remedy.k == 40
    assert audit.advice()[0].startswith("Use SelectiveClassifier(k=40): its log loss")
    assert audit.advice(SHELL)[0].startswith("Use unselected fit --k 40: its log loss")
    monkeypatch.setattr(judging, "SelectiveClassifier", Same)
    audit = check_selection(estimator, X, y, **settings)
    assert not audit.remedy.is_better
    assert "not clearly better" in audit.advice()[0]


def test_the_tolerance_is_a_bound_on_the_mean():
    rng = np.random.default_rng(0)
    below = [mean_exceeds(rng.normal(0.05, 0.05, size=19), 0.05) <= 0.05 for _ in range(2000)]
    above = [mean_exceeds(rng.normal(0.15, 0.05, size=19), 0.05) <= 0.05 for _ in range(200)]
    assert 0.035 < np.mean(below) < 0.065
    assert np.mean(above) > 0.99
    assert mean_exceeds(np.full(5, 0.2), 0.05) == 0.0
    assert mean_exceeds(np.full(5, 0.0), 0.05) == 1.0
    assert ErrorsWithPermuted((0.5,), (0.3,), 0.1).due_to_selection is None


@pytest.mark.slow
@pytest.mark.evidence
def test_false_alarms_are_as_rare_as_stated(seed):
    """Of both kinds, with a pipeline that keeps its promise; the twin promises too much."""
    alarms, twin = [], []
    for r in range(10):
        X, y = noise([seed, r], n=40, p=15)
        X[:, :5] += 0.7 * (y == "well")[:, None]
        audit = check_selection(
            make_pipeline(SelectKBest(k=5), DummyClassifier(strategy="prior")), X, y, **QUICK
        )
        alarms.append(audit.rings)
        twin.append(check_selection(GaussianNB(), X, y, **QUICK).rings)
    assert np.mean(alarms) <= 0.1
    assert np.mean(twin) == 1.0


# Responses and estimators of all kinds.


def test_several_classes(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(60, 300)), np.repeat([3, 1, 2], 20)
    X[:, :4] += y[:, None]
    audit = check_selection(make_pipeline(SelectKBest(k=4), GaussianNB()), X, y, **QUICK)
    assert audit.n_classes == 3
    assert audit.chance_error == pytest.approx(2 / 3)
    assert audit.real.actual.value < 0.4 < audit.permuted.mean_actual
    assert not audit.selected_outside


def test_numbers(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(60, 400)), 100.0 * rng.normal(size=60)
    best = SelectKBest(f_regression, k=30)
    audit = check_selection(LinearRegression(), best.fit_transform(X, y), y, X_before=X, **QUICK)
    assert audit.selected_outside
    assert audit.real.promised is None
    assert not audit.overconfident
    assert "no standard deviations" in audit.summary()
    assert audit.earlier.error_inside.value > 1.0
    audit = check_selection(make_pipeline(best, BayesianRidge()), X, y, **QUICK)
    assert audit.overconfident
    assert audit.permuted.mean_promised < 0.9 < audit.permuted.mean_actual
    assert not check_selection(DummyRegressor(), X, y, **QUICK).rings


def test_functions():
    X, y = noise(p=20)

    def as_classes(X_train, y_train, X_test):
        return GaussianNB().fit(X_train, y_train).predict(X_test)

    def as_probabilities(X_train, y_train, X_test):
        return GaussianNB().fit(X_train, y_train).predict_proba(X_test)

    audits = [check_selection(f, X, y, **QUICK) for f in (as_classes, as_probabilities)]
    expected = check_selection(GaussianNB(), X, y, **QUICK)
    assert [audit.permuted.actual for audit in audits] == [expected.permuted.actual] * 2
    assert audits[0].permuted.promised is None
    assert audits[1].permuted.promised == expected.permuted.promised
    assert audits[0].estimator == "as_classes"
    with pytest.raises(ValueError, match=r"shape \(12, 3\) for 12 cases: \(12,\) or \(12, 2\)"):
        check_selection(lambda *_: np.ones((12, 3)), X, y, **QUICK)
    z = np.linspace(0, 1, 60)
    audit = check_selection(
        lambda _, y, new: (np.full(len(new), y.mean()), np.full(len(new), 0.01)), X, z, **QUICK
    )
    assert audit.overconfident


def test_estimators_without_probabilities():
    X, y = noise(p=20)
    audit = check_selection(SVC(), X, y, **QUICK)
    assert audit.permuted.promised is None
    assert "no probabilities" in audit.summary()


def test_groups_stay_together_and_exchange_their_responses():
    groups = np.repeat(np.arange(12), 5)
    y = np.repeat(np.arange(12) % 2, 5)
    cases = Cases(np.zeros((60, 1)), y, np.array([0, 1]), groups, 3)
    for train, test in cases.folds(y, 0):
        assert not set(groups[train]) & set(groups[test])
    permuted = cases.permuted(np.random.default_rng(0))
    assert not np.array_equal(permuted, y)
    assert all(np.unique(permuted[groups == g]).size == 1 for g in range(12))
    mixed = np.tile([0, 0, 0, 1, 1], 12)
    cases = Cases(np.zeros((60, 1)), mixed, np.array([0, 1]), groups, 3)
    permuted = cases.permuted(np.random.default_rng(0))
    assert all(permuted[groups == g].sum() == 2 for g in range(12))
    X, _ = noise(p=20)
    X[:] = X[groups]  # five copies of each case
    alone = check_selection(GaussianNB(), X, y, **QUICK)
    together = check_selection(GaussianNB(), X, y, groups=groups, cv=3, **QUICK)
    assert alone.real.actual.value < 0.2 < together.real.actual.value


# How it is called, and what it returns.


def test_the_same_seed_gives_the_same_and_jobs_do_not_matter():
    X, y = noise(p=20)
    with parallel_config(backend="threading"):
        first, again, parallel = (
            check_selection(GaussianNB(), X, y, n_jobs=jobs, **QUICK) for jobs in (None, None, 2)
        )
    assert first == again == parallel
    assert check_selection(GaussianNB(), X, y, random_state=1, **QUICK) != first


def test_folds_of_all_kinds():
    X, y = noise(p=20)
    splits = list(StratifiedKFold(3).split(X, y))
    by_splits = check_selection(GaussianNB(), X, y, cv=iter(splits), **QUICK)
    by_splitter = check_selection(GaussianNB(), X, y, cv=StratifiedKFold(3), **QUICK)
    assert by_splits.real.actual == by_splitter.real.actual
    assert check_selection(GaussianNB(), X, y, cv=np.int64(3), **QUICK).n_cases == 60
    groups = np.tile(np.arange(3), 20)
    audit = check_selection(GaussianNB(), X, y, cv=LeaveOneGroupOut(), groups=groups, **QUICK)
    assert len(audit.permuted.actual) == QUICK["n_permutations"]


def test_progress_is_told(capsys):
    X, y = noise(p=20)
    calls = []
    check_selection(
        DummyClassifier(), X, y, progress=lambda done, of: calls.append((done, of)), **QUICK
    )
    assert calls == [(done, 7) for done in range(1, 8)]
    check_selection(DummyClassifier(), X, y, progress=True, **QUICK)
    assert "audit: 1 of 7 cross-validations, about" in capsys.readouterr().err
    told = []
    clock = Clock(told.append)
    for done in range(1, 201):
        clock(done, 200)
    assert len(told) == 21


def test_the_record_is_readable_and_plain(selected):
    assert isinstance(selected, SelectionAudit)
    assert repr(selected) == selected.summary()
    assert max(map(len, repr(selected).splitlines())) <= 100
    content = json.loads(json.dumps(selected.to_dict(), allow_nan=False))
    assert content["selected_outside"] is True
    assert content["verdict"] == selected.verdict()
    assert "unselected cv --k 40" in selected.to_dict(SHELL)["advice"][0]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"cv": 40}, "class 'sick' has 30 cases, fewer than cv=40 folds: use cv=30"),
        ({"cv": ShuffleSplit(3)}, "does not leave out every case exactly once"),
        ({"n_permutations": 2}, "n_permutations=2"),
        ({"alpha": 0.0}, "alpha=0.0 is not between 0 and 1"),
        ({"y": ["a"] * 60}, "y has one class, 'a'"),
        ({"y": [["a"]] * 60}, "y has 2 dimensions"),
        ({"X": np.zeros((59, 3))}, "X has 59 rows, but y has 60 responses"),
        ({"X": np.zeros(60)}, r"X has shape \(60,\)"),
        ({"groups": [1, 2]}, r"groups has shape \(2,\), but there are 60 cases"),
        ({"estimator": "logistic"}, "'logistic' cannot be audited"),
        (
            {"estimator": make_pipeline(SelectKBest(k=3), SVC(C=-1.0))},
            "cannot be fitted to 48 cases of the cross-validation",
        ),
    ],
)
def test_errors_say_what_to_do(changed, message):
    X, y = noise(p=20)
    arguments = {"estimator": GaussianNB(), "X": X, "y": y, **QUICK, **changed}
    with pytest.raises((ValueError, TypeError), match=message):
        check_selection(**arguments)


def test_usual_pipelines():
    X, y = noise(p=20)
    X[0, 0] = np.nan
    pipeline = usual_pipeline("bayes", of_numbers=False, k=5)
    assert check_selection(pipeline, X, y, **QUICK).features.n_features == 5.0
    with pytest.raises(ValueError, match="ridge is not a model of classes: use logistic or bayes"):
        usual_pipeline("ridge", of_numbers=False)
