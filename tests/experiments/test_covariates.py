"""Comparisons with covariates: who is told of them, and how; what features add to them."""

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from unselected import SelectiveBernoulliNB, SelectiveGaussianNB, SelectiveNaiveRegressor
from unselected.experiments import (
    class_added_value,
    compare,
    compare_regression,
    default_methods,
    regression_method_names,
    response_added_value,
)
from unselected.experiments.added_value import can_tell_added_value
from unselected.experiments.needing import columns_needed
from unselected.experiments.usual_classifiers import usual_methods
from unselected.experiments.usual_regressors import usual_regressors

N = 42
RNG = np.random.default_rng(5)
AGE = RNG.integers(30, 80, N).astype(float)
# One case has a level of its own, which is then in one test fold only.
SITE = np.where(np.arange(N) == 7, "rare", np.where(np.arange(N) % 3 == 0, "a", "b"))
NUMBERS = 0.08 * (AGE - 55.0) + RNG.normal(size=N)
CLASSES = np.where(NUMBERS > 0, "yes", "no")
X = RNG.normal(size=(N, 8)) + 0.03 * AGE[:, np.newaxis]
X[:, 2] += NUMBERS
Z = {"age": AGE, "site": SITE}
# Without levels that a training set may lack.
COMMON = {"age": AGE, "even": AGE % 2 == 0}
CODED = np.column_stack([AGE, SITE == "b", SITE == "rare"])
OURS = SelectiveGaussianNB(k=2)
OUR_REGRESSOR = SelectiveNaiveRegressor(k=2)
ONCE = {"n_splits": 3, "n_repeats": 1}
ALONE = ["corrected", "features alone", "covariates alone"]


def splits_of(folds, y):
    seed = int(np.random.SeedSequence(0).spawn(1)[0].generate_state(2)[0])
    return list(folds(3, shuffle=True, random_state=seed).split(X, y))


@pytest.fixture(scope="module")
def compared():
    return compare(X, CLASSES, k=2, classifier=OURS, covariates=Z, **ONCE)


def values_of(records, method):
    return np.array(next(record.probability for record in records if record.method == method))


def test_all_methods_run_and_two_are_new(compared):
    names = [record.method for record in compared]
    assert names == default_methods(OURS, covariates=True)
    assert set(names) - set(default_methods(OURS)) == {"features alone", "covariates alone"}
    needed = {record.method: record.features_needed for record in compared}
    assert needed["corrected"] == needed["SelectKBest + LogisticRegression"] == 2
    assert needed["covariates alone"] == 0


def test_ours_are_adjusted_and_features_alone_are_not(compared):
    codes = (CLASSES == "yes").astype(int)
    for train, test in splits_of(StratifiedKFold, codes):
        both = SelectiveGaussianNB(k=2).fit(X[train], codes[train], CODED[train])
        expected = both.predict_proba(X[test], covariates=CODED[test])
        np.testing.assert_allclose(values_of(compared, "corrected")[test], expected, rtol=1e-9)
        alone = SelectiveGaussianNB(k=2).fit(X[train], codes[train]).predict_proba(X[test])
        np.testing.assert_allclose(values_of(compared, "features alone")[test], alone, rtol=1e-9)


def test_the_usual_methods_have_the_covariates_beside_the_selected_features(compared):
    codes = (CLASSES == "yes").astype(int)
    name = "SelectKBest + LogisticRegression"
    for train, test in splits_of(StratifiedKFold, codes):
        best = SelectKBest(f_classif, k=2).fit(X[train], codes[train])
        rows = [np.hstack([best.transform(X[cases]), CODED[cases]]) for cases in (train, test)]
        model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
        expected = model.fit(rows[0], codes[train]).predict_proba(rows[1])
        np.testing.assert_allclose(values_of(compared, name)[test], expected, rtol=1e-9)


def test_the_usual_methods_for_bits_see_covariates_as_they_can():
    made = usual_methods(
        2, ours=SelectiveBernoulliNB(), first=(), inner_splits=2, seed=0, n_covariates=3
    )
    bits = (X > np.median(X, axis=0)).astype(float)
    codes = (CLASSES == "yes").astype(int)
    for name in ("SelectKBest + BernoulliNB", "SelectKBest + LogisticRegression"):
        model = made[name].fit(np.hstack([bits, CODED]), codes)
        seen = model[0].transform(np.hstack([bits, CODED]))[:, 2:]
        assert len(columns_needed(model)) == 2
        if "Bernoulli" in name:
            np.testing.assert_array_equal(seen[:, 0], np.median(AGE) < AGE)
        else:
            np.testing.assert_allclose(seen[:, 0], (AGE - AGE.mean()) / AGE.std())


def test_columns_of_x_by_name_are_the_same_covariates(compared):
    frame = pd.DataFrame(X, columns=[f"g{j}" for j in range(8)]).assign(**Z)
    named = SelectiveGaussianNB(k=2, covariates=["age", "site"], always_keep=["g5"])
    asked = {"methods": ["corrected"], **ONCE}
    found = compare(frame, CLASSES, k=2, classifier=named, **asked)
    beside = SelectiveGaussianNB(k=2, always_keep=[5])
    expected = compare(X, CLASSES, k=2, classifier=beside, covariates=Z, **asked)
    np.testing.assert_allclose(
        values_of(found, "corrected"), values_of(expected, "corrected"), rtol=1e-9
    )
    assert not np.allclose(values_of(found, "corrected"), values_of(compared, "corrected"))


def test_leaving_out_single_cases_leaves_out_their_covariates():
    few = slice(8, 24)
    rows, y, known = X[few], CLASSES[few], {name: values[few] for name, values in Z.items()}
    asked = {"n_splits": "loo", "n_repeats": 1, "methods": ALONE}
    records = compare(rows, y, k=2, classifier=OURS, covariates=known, **asked)
    fitted = SelectiveGaussianNB(k=2).fit(rows, y, known)
    np.testing.assert_allclose(
        values_of(records, "corrected"), fitted.loo_predict_proba(), rtol=1e-9
    )
    assert can_tell_added_value(records)


def test_other_covariates_are_another_comparison(tmp_path):
    asked = {"methods": ["corrected"], "checkpoint": str(tmp_path / "done"), **ONCE}
    compare(X, CLASSES, k=2, classifier=OURS, covariates=Z, **asked)
    for others in (None, {"age": AGE}, Z | {"age": AGE[::-1]}):
        with pytest.raises(ValueError, match="settings"):
            compare(X, CLASSES, k=2, classifier=OURS, covariates=others, **asked)


def test_added_value_is_that_of_the_estimator_in_the_same_folds():
    codes, asked = (CLASSES == "yes").astype(int), {"methods": ALONE, **ONCE}
    records = compare(X, CLASSES, k=2, classifier=OURS, covariates=COMMON, **asked)
    told = class_added_value(records, CLASSES, ("age", "even"))
    fitted = SelectiveGaussianNB(k=2).fit(X, CLASSES, COMMON)
    own = fitted.added_value(splits_of(StratifiedKFold, codes))
    assert told.in_words() == own.in_words()
    for one, other in zip(told.measures, own.measures, strict=True):
        assert one.features_add.low == pytest.approx(other.features_add.low, abs=1e-6)


# --- a real response -----------------------------------------------------------------------------


def test_responses_are_compared_with_covariates():
    records = compare_regression(
        X, NUMBERS, k=2, regressor=OUR_REGRESSOR, covariates=COMMON, **ONCE
    )
    assert [record.method for record in records] == regression_method_names(covariates=True)
    told = response_added_value(records, NUMBERS, ("age", "even"))
    splits = splits_of(KFold, NUMBERS)
    own = SelectiveNaiveRegressor(k=2).fit(X, NUMBERS, COMMON).added_value(splits)
    for one, other in zip(told.measures, own.measures, strict=True):
        assert one.both.value == pytest.approx(other.both.value, rel=1e-6)
        assert one.features_alone.value == pytest.approx(other.features_alone.value, rel=1e-6)
        assert one.covariates_alone.value == pytest.approx(other.covariates_alone.value, rel=1e-6)


def test_least_squares_on_residuals_is_least_squares_on_both():
    made = usual_regressors(2, first=(), inner_splits=2, seed=0, n_covariates=3)
    rows = np.hstack([X, CODED])
    model = made["SelectKBest + LinearRegression"].fit(rows[:-2], NUMBERS[:-2])
    chosen = sorted(columns_needed(model))
    assert len(chosen) == 2
    design = np.column_stack([np.ones(N), X[:, chosen], CODED])
    slopes, squares, *_ = np.linalg.lstsq(design[:-2], NUMBERS[:-2])
    mean, std = model.predict(rows[-2:], return_std=True)
    np.testing.assert_allclose(mean, design[-2:] @ slopes)
    np.testing.assert_allclose(std, np.sqrt(squares[0] / (N - 2 - 6)))
    np.testing.assert_allclose(model.predict(rows[-2:]), mean)


@pytest.mark.parametrize("name", ["LassoCV", "RidgeCV", "SelectKBest + BayesianRidge"])
def test_no_penalty_is_on_the_covariates(name):
    """A response that is a covariate a thousandfold is predicted; with a penalty it is not."""
    made = usual_regressors(2, first=(), inner_splits=2, seed=0, n_covariates=3)
    rows, y = np.hstack([X, CODED]), 1000.0 * AGE + NUMBERS
    with np.errstate(all="ignore"):
        model = made[name].fit(rows, y)
    assert np.sqrt(np.mean((model.predict(rows) - y) ** 2)) < 2.0


def test_missing_features_are_filled_in_before_residuals_are_taken():
    holes = X.copy()
    holes[3, 2] = np.nan
    records = compare_regression(holes, NUMBERS, k=2, regressor=OUR_REGRESSOR, covariates=Z, **ONCE)
    assert np.isfinite([record.mean for record in records]).all()


def test_least_squares_needs_cases_for_the_covariates_too():
    asked = {"k": 6, "regressor": SelectiveNaiveRegressor(k=6), "n_splits": 3, "n_repeats": 1}
    few = slice(0, 14)  # training sets of 9 cases: 6 features, 2 coded covariates, an intercept
    given = {"covariates": {"age": AGE[few], "site": SITE[:1].repeat(14)}}
    with pytest.raises(ValueError, match="leaves no residuals"):
        compare_regression(
            X[few],
            NUMBERS[few],
            methods=["SelectKBest + LinearRegression"],
            covariates={"age": AGE[few], "sex": AGE[few] % 2},
            **asked,
        )
    names = {r.method for r in compare_regression(X[few], NUMBERS[few], **given, **asked)}
    assert "SelectKBest + LinearRegression" in names
