"""What features add to covariates, out of fold."""

import json

import numpy as np
import pytest
from scipy.stats import t as student_t
from sklearn.model_selection import KFold, StratifiedKFold

from unselected import (
    SelectiveBernoulliNB,
    SelectiveClassifier,
    SelectiveGaussianNB,
    SelectiveNaiveRegressor,
    SelectiveRegressor,
)
from unselected.estimators.added_value import (
    BOTH_TOGETHER,
    CLASS_MEASURES,
    COVARIATES_ALONE,
    FEATURES_ALONE,
    RESPONSE_MEASURES,
    AddedValue,
)
from unselected.models.class_regression import ClassRegression

FRONT_DOOR = {"k": 1, "dependence": "none", "prior": "common", "marginals": "raw"}
MODELS = [SelectiveGaussianNB(k=2), SelectiveBernoulliNB(k=2), SelectiveClassifier(**FRONT_DOOR)]
REGRESSORS = [SelectiveNaiveRegressor(k=2), SelectiveRegressor(**FRONT_DOOR)]


def simulated(seed=0, n=48, p=6, strength=1.5):
    """Age says something of the class, and so does the first feature beside it."""
    rng = np.random.default_rng(seed)
    age, sex = rng.integers(30, 80, n).astype(float), np.where(rng.random(n) < 0.5, "m", "f")
    numbers = 0.05 * (age - 55.0) + rng.normal(size=n)
    X = rng.normal(size=(n, p)) + 0.02 * age[:, np.newaxis]
    X[:, 0] += strength * numbers
    return X, np.where(numbers > 0, "yes", "no"), numbers, {"age": age, "sex": sex}


def measure(added, name):
    return next(told for told in added.measures if told.name == name)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_classes_are_judged_by_fits_to_the_other_cases(model):
    X, y, _, Z = simulated()
    if isinstance(model, SelectiveBernoulliNB):
        X = X > 1.0  # with covariates, bits are cut as in all cases
    folds = StratifiedKFold(3, shuffle=True, random_state=1)
    added = model.fit(X, y, covariates=Z).added_value(folds)
    coded = np.column_stack([Z["age"], Z["sex"] == "m"])
    codes = (y == "yes").astype(int)
    losses = {name: np.empty(y.size) for name in (COVARIATES_ALONE, FEATURES_ALONE, BOTH_TOGETHER)}
    other = type(model)(**model.get_params())
    for train, test in folds.split(X, y):
        alone = ClassRegression.fit(coded[train], codes[train], 2, np.ones(2))
        each = {
            COVARIATES_ALONE: np.exp(alone.log_proba(coded[test])),
            FEATURES_ALONE: other.fit(X[train], y[train]).predict_proba(X[test]),
            BOTH_TOGETHER: other.fit(X[train], y[train], covariates=coded[train]).predict_proba(
                X[test], covariates=coded[test]
            ),
        }
        for name, p in each.items():
            losses[name][test] = -np.log(p[np.arange(test.size), codes[test]])
    told = measure(added, "log loss")
    # The front door adjusts features in part as in all cases.
    close = {"rel": 1e-6}
    assert told.covariates_alone.value == pytest.approx(losses[COVARIATES_ALONE].mean())
    assert told.features_alone.value == pytest.approx(losses[FEATURES_ALONE].mean(), **close)
    assert told.both.value == pytest.approx(losses[BOTH_TOGETHER].mean(), **close)
    assert told.features_add.value == told.both.value - told.covariates_alone.value
    assert told.covariates_add.value == told.both.value - told.features_alone.value
    assert added.covariates == ("age", "sex")


@pytest.mark.slow
@pytest.mark.parametrize("model", REGRESSORS, ids=lambda model: type(model).__name__)
def test_responses_are_judged_by_fits_to_the_other_cases(model):
    X, _, y, Z = simulated()
    added = model.fit(X, y, covariates=Z).added_value(3)
    design = np.column_stack([np.ones(y.size), Z["age"], Z["sex"] == "m"])
    other = type(model)(**model.get_params())
    mean, logs, covered = np.empty((2, y.size)), np.empty((2, y.size)), np.empty((2, y.size), bool)
    for train, test in KFold(3).split(X):
        slopes, *_ = np.linalg.lstsq(design[train], y[train])
        residuals = y[train] - design[train] @ slopes
        df = train.size - 3
        leverage = np.sum(
            (design[test] @ np.linalg.inv(design[train].T @ design[train])) * design[test], axis=1
        )
        scale = np.sqrt(residuals @ residuals / df * (1.0 + leverage))
        law = student_t(df, design[test] @ slopes, scale)
        mean[0, test], logs[0, test] = law.mean(), law.logpdf(y[test])
        covered[0, test] = np.abs(law.cdf(y[test]) - 0.5) < 0.45
        given = design[test, 1:]
        other.fit(X[train], y[train], covariates=design[train, 1:])
        mean[1, test] = other.predict(X[test], covariates=given)
        logs[1, test] = other.predict_log_density(X[test], y[test], covariates=given)
        cdf = other.predict_cdf(X[test], y[test], covariates=given)
        covered[1, test] = np.abs(cdf - 0.5) < 0.45
    density, rmse, coverage = added.measures
    for place, name in enumerate(("covariates_alone", "both")):
        # The front door adjusts features in part as in all cases.
        close = {"rel": 1e-6}
        assert getattr(density, name).value == pytest.approx(logs[place].mean(), **close)
        errors = np.sqrt(np.mean((mean[place] - y) ** 2))
        assert getattr(rmse, name).value == pytest.approx(errors, **close)
        assert getattr(coverage, name).value == covered[place].mean()
    assert rmse.features_add.value == rmse.both.value - rmse.covariates_alone.value


def losses_of(covariates, features, both, measures):
    """Return the same losses in every measure, with a little noise."""
    noise = np.random.default_rng(0).normal(0.0, 0.01, 50)
    levels = {COVARIATES_ALONE: covariates, FEATURES_ALONE: features, BOTH_TOGETHER: both}
    return {
        name: {measure.key: level + (j + 1) * noise for measure in measures}
        for j, (name, level) in enumerate(levels.items())
    }


@pytest.mark.parametrize("sign", [-1.0, 1.0])
@pytest.mark.parametrize(
    ("levels", "features", "covariates"),
    [
        ((3.0, 4.0, 2.0), "The features add to age and sex: ", "The covariates add to the feat"),
        (
            (2.0, 4.0, 2.0),
            "The features add nothing to age and sex that can be told from chance: ",
            "The covariates add to the features: ",
        ),
        (
            (2.0, 2.0, 3.0),
            "The features make predictions worse than age and sex alone: ",
            "The covariates make predictions worse than the features alone: ",
        ),
    ],
)
def test_the_sentence_follows_from_the_interval(levels, features, covariates, sign):
    measures = CLASS_MEASURES if sign < 0 else RESPONSE_MEASURES
    # Of densities the larger are better.
    numbers = [-sign * level for level in levels] if sign > 0 else levels
    per_case = losses_of(*numbers, measures)
    if sign > 0:
        for told in per_case.values():
            told["squared_error"] = np.abs(told["squared_error"])
    added = AddedValue.of(per_case, measures, ("age", "sex"))
    told = added.in_words()
    assert told[0].startswith(features)
    assert told[1].startswith(covariates)
    first = added.measures[0]
    assert f"{first.covariates_alone.value:.3f} -> {first.both.value:.3f}, difference" in told[0]


def test_the_record_is_a_table_and_json():
    added = AddedValue.of(losses_of(3.0, 4.0, 2.0, CLASS_MEASURES), CLASS_MEASURES, ("age",))
    lines = repr(added).splitlines()
    assert [line.split("  ")[0] for line in lines[2:6]] == [m.name for m in CLASS_MEASURES]
    assert "features add" in lines[0]
    assert "(95 % interval)" in lines[1]
    assert " ".join(lines[6:]) == " ".join(added.in_words())
    assert max(map(len, lines)) <= 100
    told = json.loads(json.dumps(added.to_dict(), allow_nan=False))
    assert told["measures"][0]["features_add"]["level"] == 0.95
    assert told["in_words"] == added.in_words()


def test_groups_stay_together_and_are_resampled_together():
    X, y, _, Z = simulated()
    groups = np.arange(48) // 4
    model = SelectiveClassifier(**FRONT_DOOR).fit(X, y, groups=groups, covariates=Z)
    for left in model._sets_of(3):
        assert not set(groups[left.asked]) & set(groups[left.kept])
    per_case = losses_of(3.0, 4.0, 2.0, CLASS_MEASURES)
    for told in per_case.values():
        for key in told:
            told[key] = np.repeat(told[key][:10], 5)
    widths = [
        AddedValue.of(per_case, CLASS_MEASURES, ("age",), groups=labels).measures[0].both
        for labels in (None, np.arange(50) // 5)
    ]
    assert widths[1].high - widths[1].low > 1.5 * (widths[0].high - widths[0].low)


@pytest.mark.slow
def test_noise_adds_nothing_but_seems_to_where_cases_judge_themselves():
    """The wrong twin judges uncorrected predictions of the training cases."""
    n_added = n_seeming = 0
    for seed in range(12):
        X, y, _, Z = simulated(seed, p=200, strength=0.0)
        model = SelectiveGaussianNB(k=10, correct_selection=False).fit(X, y, covariates=Z)
        told = measure(model.added_value(4), "log loss")
        n_added += told.features_add.high < 0.0
        own = model.predict_proba(X, covariates=Z)[np.arange(y.size), (y == "yes").astype(int)]
        n_seeming += -np.log(own).mean() < told.covariates_alone.low
    assert n_added <= 1
    assert n_seeming >= 10


def test_what_has_no_added_value_is_said():
    X, y, numbers, Z = simulated(n=14, p=1)
    with pytest.raises(ValueError, match="fitted without covariates, to which features could add"):
        SelectiveGaussianNB(k=1).fit(X, y).added_value()
    with pytest.raises(ValueError, match="not available with k='loo'"):
        SelectiveGaussianNB(k="loo").fit(X, y, covariates=Z).added_value()
    with pytest.raises(ValueError, match="k='loo' chooses k"):
        SelectiveNaiveRegressor(k="loo").fit(X, numbers, covariates=Z).added_value()


@pytest.mark.slow
def test_leaving_out_single_cases_with_a_chosen_k_leaves_out_their_covariates_too():
    X, y, _, Z = simulated(n=12, p=1)
    model = SelectiveGaussianNB(k="loo").fit(X, y, covariates=Z)
    found = model.loo_predict_proba()[3]
    others = np.arange(12) != 3
    coded = np.column_stack([Z["age"], Z["sex"] == "m"])
    again = SelectiveGaussianNB(k="loo").fit(X[others], y[others], covariates=coded[others])
    np.testing.assert_allclose(
        found, again.predict_proba(X[[3]], covariates=coded[[3]])[0], rtol=1e-9
    )
