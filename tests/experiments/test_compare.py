"""The comparison on a user's data: folds, scores, the usual methods, for classes and numbers."""

import json
import re
from dataclasses import asdict, replace
from importlib import import_module

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm
from sklearn.feature_selection import SelectKBest, f_classif, f_regression
from sklearn.impute import SimpleImputer
from sklearn.linear_model import BayesianRidge, Lasso, LinearRegression, Ridge
from sklearn.metrics import brier_score_loss, log_loss, root_mean_squared_error
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneOut,
    StratifiedKFold,
    cross_val_predict,
    cross_val_score,
)
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from unselected import (
    SelectiveBernoulliNB,
    SelectiveGaussianNB,
    SelectiveNaiveRegressor,
    SelectiveRegressor,
)
from unselected.datasets import make_paper_simulation
from unselected.experiments import (
    ComparisonRecord,
    RegressionComparisonRecord,
    compare,
    compare_regression,
    comparison_table,
    default_methods,
    method_names,
    regression_method_names,
    regression_table,
)
from unselected.experiments.usual_regressors import MEAN_ONLY, usual_regressors
from unselected.files.checkpoints import CheckpointError, Checkpoints

OURS = ["corrected", "uncorrected"]


def fold_and_inner_seed(seed, repeat=0):
    spawned = np.random.SeedSequence(seed).spawn(repeat + 1)[repeat]
    return [int(state) for state in spawned.generate_state(2)]


def of_method(records, method):
    return [record for record in records if record.method == method]


# Two classes, bits


@pytest.fixture(scope="module")
def compared():
    data = make_paper_simulation(60, 1, 200, concentration=10.0, random_state=1)
    X, y = data.X_train.astype(float), np.where(data.y_train == 1, "b", "a")
    return X, y, compare(X, y, k=5, n_splits=3, n_repeats=2, seed=2)


def test_compare_runs_every_method(compared):
    _, _, records = compared
    assert [record.method for record in records] == default_methods() * 2
    assert {"corrected", "uncorrected", "class frequencies"} < set(default_methods())
    rest = set(method_names()) - set(default_methods())
    assert all(name.startswith("SelectKBest + BernoulliNB, ") for name in rest)
    needed = {record.method: record.features_needed for record in records}
    assert needed["corrected"] == needed["SelectKBest + LogisticRegression"] == 5
    assert needed["class frequencies"] == 0
    assert needed["SelectKBest + BernoulliNB, sigmoid ensemble"] > 5
    assert 0 < needed["lasso"] < needed["random forest"] <= 200
    for record in records:
        np.testing.assert_allclose(np.sum(record.probability, axis=1), np.ones(60))


def test_a_method_named_twice_changes_no_number(compared):
    X, y, _ = compared
    for of_y, run in ((y, compare), (X.sum(axis=1), compare_regression)):
        once = run(X, of_y, k=5, n_splits=3, n_repeats=1, seed=2, methods=["uncorrected"])
        twice = run(X, of_y, k=5, n_splits=3, n_repeats=1, seed=2, methods=["uncorrected"] * 2)
        assert twice == once * 2


def test_comparison_table_averages_and_resamples(compared):
    _, y, records = compared
    rows = {row.method: row for row in comparison_table(records, y)}
    codes = (y == "b").astype(int)
    mine = [np.array(record.probability)[:, 1] for record in of_method(records, "uncorrected")]
    row = rows["uncorrected"]
    assert row.log_loss.value == pytest.approx(np.mean([log_loss(codes, p) for p in mine]))
    assert row.squared_error.value == pytest.approx(
        np.mean([brier_score_loss(codes, p) for p in mine])
    )
    for estimate in (row.log_loss, row.squared_error, row.actual_error, row.expected_error):
        assert estimate.low <= estimate.value <= estimate.high
    assert row.log_loss.low < row.log_loss.high
    nothing = rows["class frequencies"]
    assert nothing.expected_error.value == pytest.approx(0.5, abs=0.02)


@pytest.mark.slow
def test_selection_is_inside_every_fold():
    """On noise no method may seem to know anything; a twin that selects first does."""
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, size=(40, 3000)), np.arange(40) % 2
    chosen = ["corrected", "SelectKBest + BernoulliNB", "SelectKBest + LogisticRegression"]
    honest = comparison_table(compare(X, y, k=10, n_repeats=3, methods=chosen), y)
    assert all(row.actual_error.high > 0.4 for row in honest)
    first = SelectiveBernoulliNB(k=10).fit(X, y).get_support()
    cheating = comparison_table(compare(X[:, first], y, k=10, n_repeats=3, methods=chosen), y)
    assert all(row.actual_error.high < 0.4 for row in cheating)


def test_records_survive_json(compared):
    _, _, records = compared
    again = [type(record)(**json.loads(json.dumps(asdict(record)))) for record in records]
    assert again == records


def test_all_methods_see_the_same_bits():
    """Cut at 2, one column says all; cut at 9, it says nothing."""
    y = np.arange(40) % 2
    X = np.where(y == 1, 3.0, 1.0)[:, np.newaxis] * np.ones((1, 2))
    X[:, 1] = np.arange(40) % 5
    settings = {"k": 1, "n_repeats": 1, "methods": ["corrected", "SelectKBest + BernoulliNB"]}
    for cut, all_right in ((2.0, True), (9.0, False)):
        ours = SelectiveBernoulliNB(k=1, binarize=cut)
        for row in comparison_table(compare(X, y, classifier=ours, **settings), y):
            assert (row.actual_error.value == 0) == all_right


# Scores


def test_two_classes_are_scored_as_ever(seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, size=50)
    y[:2] = 0, 1
    p = rng.choice([0.0, 0.2, 0.5, 0.7, 1.0], size=50)
    record = ComparisonRecord(0, "m", np.column_stack([1 - p, p]).tolist(), 1.0)
    (row,) = comparison_table([record], y)
    assert row.squared_error.value == pytest.approx(np.mean((p - y) ** 2))
    assert row.actual_error.value == pytest.approx(np.mean((p >= 0.5) != y))
    assert row.expected_error.value == pytest.approx(np.mean(np.minimum(p, 1 - p)))
    likelihood = np.clip(np.where(y == 1, p, 1 - p), 1e-15, None)
    assert row.log_loss.value == pytest.approx(-np.mean(np.log(likelihood)))


def test_several_classes_are_scored_by_hand():
    rows = [[0.2, 0.5, 0.3], [0.6, 0.3, 0.1], [0.1, 0.1, 0.8]]
    (row,) = comparison_table([ComparisonRecord(0, "m", rows, 1.0)], ["x", "y", "z"])
    assert row.log_loss.value == pytest.approx(-np.mean(np.log([0.2, 0.3, 0.8])))
    halves = [(0.64 + 0.25 + 0.09) / 2, (0.36 + 0.49 + 0.01) / 2, (0.01 + 0.01 + 0.04) / 2]
    assert row.squared_error.value == pytest.approx(np.mean(halves))
    assert row.actual_error.value == pytest.approx(2 / 3)
    assert row.expected_error.value == pytest.approx((0.5 + 0.4 + 0.2) / 3)


# Real-valued features, several classes


def three_classes(seed, n=54, p=60):
    rng = np.random.default_rng([7, seed])
    codes = np.arange(n) % 3
    X = rng.normal(size=(n, p))
    X[:, :4] += 1.2 * rng.normal(size=(3, 4))[codes]
    return X, np.array(["b", "a", "c"])[codes]


def test_probabilities_are_those_of_the_same_folds(seed):
    """scikit-learn's own cross-validation is the oracle: cases, classes and columns in order."""
    X, y = three_classes(seed)
    usual = "SelectKBest + GaussianNB"
    records = compare(X, y, k=4, n_splits=3, n_repeats=2, seed=seed, methods=["corrected", usual])
    fold_seed, _ = fold_and_inner_seed(seed, repeat=1)
    folds = StratifiedKFold(3, shuffle=True, random_state=fold_seed)
    oracles = {
        "corrected": SelectiveGaussianNB(k=4),
        usual: make_pipeline(SelectKBest(f_classif, k=4), GaussianNB()),
    }
    for method, oracle in oracles.items():
        expected = cross_val_predict(oracle, X, y, cv=folds, method="predict_proba")
        _, second = of_method(records, method)
        np.testing.assert_allclose(second.probability, expected, rtol=1e-9, atol=1e-12)


def test_every_usual_method_takes_several_classes():
    X, y = three_classes(0)
    names = method_names(SelectiveGaussianNB())
    records = compare(X, y, k=4, n_splits=3, n_repeats=1, methods=names)
    assert [record.method for record in records] == names
    assert "SelectKBest + GaussianNB, sigmoid" in names
    assert "SelectKBest + GaussianNB, isotonic" in names
    for record in records:
        assert np.shape(record.probability) == (54, 3)
    rows = {row.method: row for row in comparison_table(records, y)}
    nothing = rows.pop("class frequencies")
    assert nothing.actual_error.value > 0.5
    assert all(row.actual_error.value < nothing.actual_error.value for row in rows.values())


@pytest.mark.parametrize(
    ("make", "kind"),
    [
        (lambda X, y: ((X > 0).astype(int), y != "c"), "BernoulliNB"),
        (lambda X, y: (X, y != "c"), "GaussianNB"),
        (lambda X, y: ((X > 0).astype(int), y), "BernoulliNB"),
        (lambda X, y: ((X > 0).astype(int), np.arange(len(y)) // 4), "BernoulliNB"),
        (lambda X, y: (np.where(X > 2, np.nan, X > 0), y != "c"), "BernoulliNB"),
        (lambda X, y: (np.where(X > 2, np.nan, X), y != "c"), "GaussianNB"),
    ],
    ids=["bits", "numbers", "three classes", "many classes", "missing", "missing numbers"],
)
def test_the_default_classifier_goes_with_the_data(make, kind):
    X, y = make(*three_classes(0))
    usual = f"SelectKBest + {kind}"
    assert len(compare(X, y, k=3, n_splits=2, n_repeats=1, methods=[usual])) == 1
    with pytest.raises(ValueError, match=re.escape(f"corrected, uncorrected, {usual}, ")):
        compare(X, y, k=3, n_splits=2, n_repeats=1, methods=["magic"])


def with_holes(X, seed, share=0.1):
    return np.where(np.random.default_rng(seed).random(X.shape) < share, np.nan, X)


def test_missing_values_are_filled_in_for_the_usual_methods_only(seed):
    X, y = three_classes(seed)
    X = with_holes(X, seed)
    usual = "SelectKBest + GaussianNB"
    records = compare(X, y, k=4, n_splits=3, n_repeats=1, seed=seed, methods=["corrected", usual])
    folds = StratifiedKFold(3, shuffle=True, random_state=fold_and_inner_seed(seed)[0])
    filled = make_pipeline(
        SimpleImputer(strategy="median"), SelectKBest(f_classif, k=4), GaussianNB()
    )
    for record, oracle in zip(records, (SelectiveGaussianNB(k=4), filled), strict=True):
        expected = cross_val_predict(oracle, X, y, cv=folds, method="predict_proba")
        np.testing.assert_allclose(record.probability, expected, rtol=1e-9, atol=1e-12)
    assert all(record.features_needed == 4 for record in records)
    others = ["SelectKBest + GaussianNB, sigmoid", "SelectKBest + LogisticRegression"]
    for record in compare(X, y, k=4, n_splits=3, n_repeats=1, seed=seed, methods=others):
        assert np.isfinite(record.probability).all()


def test_missing_bits_are_filled_in_for_the_usual_methods_only(seed):
    X, y = three_classes(seed, n=30, p=8)
    X = with_holes(X, seed)
    usual = "SelectKBest + BernoulliNB"
    ours = SelectiveBernoulliNB(k=4, binarize=0.25)
    settings = {"k": 4, "n_splits": 3, "n_repeats": 1, "seed": seed}
    records = compare(X, y, classifier=ours, methods=["corrected", usual], **settings)
    folds = StratifiedKFold(3, shuffle=True, random_state=fold_and_inner_seed(seed)[0])
    filled = make_pipeline(
        SimpleImputer(strategy="median"), SelectKBest(f_classif, k=4), BernoulliNB()
    )
    bits = np.where(np.isnan(X), np.nan, X > 0.25)
    for record, oracle in zip(records, (SelectiveBernoulliNB(k=4), filled), strict=True):
        expected = cross_val_predict(oracle, bits, y, cv=folds, method="predict_proba")
        np.testing.assert_allclose(record.probability, expected, rtol=1e-9, atol=1e-12)


def test_a_column_missing_in_a_class_is_left_out_or_named():
    X, y = three_classes(0)
    X[:, 7] = np.where(y == "a", np.nan, X[:, 7])
    X[np.flatnonzero(y == "a")[0], 7] = 1.0  # known once: one of the training sets lacks it
    assert compare(X, y, k=4, n_splits=3, n_repeats=1, methods=["corrected"])
    model = SelectiveGaussianNB(k=4, always_keep=[7])
    with pytest.raises(ValueError, match=r"'corrected' cannot be fitted to 36 cases.*has column 7"):
        compare(X, y, k=4, n_splits=3, n_repeats=1, classifier=model)


def test_columns_always_kept_may_be_named():
    X, y = three_classes(0)
    table = pd.DataFrame(X, columns=[f"g{j}" for j in range(X.shape[1])])
    named, numbered = (
        compare(data, y, k=2, classifier=classifier, n_repeats=1, methods=["corrected"])
        for data, classifier in (
            (table, SelectiveGaussianNB(k=2, always_keep=["g59"])),
            (X, SelectiveGaussianNB(k=2, always_keep=[59])),
        )
    )
    assert named == numbered
    assert named[0].features_needed == 3
    assert named != compare(X, y, k=2, n_repeats=1, methods=["corrected"])


# What is wrong is named


@pytest.mark.slow
@pytest.mark.parametrize("options", [{"k": 5}, {"k": 4, "dependence": "tempered"}, {"k": "loo"}])
def test_each_case_is_left_out(options, seed):
    """Ours in one pass, or n fits for k="loo"; the usual methods by n fits."""
    rng = np.random.default_rng(seed)
    n = 8 if options["k"] == "loo" else 10
    y = rng.permutation(np.arange(n) % 2)
    X = rng.normal(size=(n, 6))
    X[:, :3] += y[:, np.newaxis]
    ours, usual = SelectiveGaussianNB(**options), "SelectKBest + GaussianNB"
    records = compare(
        X, y, k=5, classifier=ours, n_splits="loo", n_repeats=1, methods=[usual, "corrected"]
    )
    assert [record.method for record in records] == [usual, "corrected"]
    theirs = cross_val_predict(ours, X, y, cv=LeaveOneOut(), method="predict_proba")
    np.testing.assert_allclose(records[1].probability, theirs, rtol=1e-8, atol=1e-10)
    naive = make_pipeline(SelectKBest(f_classif, k=5), GaussianNB())
    theirs = cross_val_predict(naive, X, y, cv=LeaveOneOut(), method="predict_proba")
    np.testing.assert_allclose(records[0].probability, theirs, rtol=1e-8)
    if options["k"] != "loo":
        assert records[1].features_needed == options["k"]


@pytest.mark.filterwarnings("ignore:class .* has one case only")
def test_leaving_out_each_case_is_done_once(compared):
    X, y, _ = compared
    with pytest.raises(ValueError, match="n_repeats=10 repeats nothing with n_splits='loo'"):
        compare(X, y, k=5, n_splits="loo")
    lonely = np.where(np.arange(60) == 7, "c", y)
    with pytest.raises(ValueError, match=r"smallest with 1 cases \(c\).*at least 2 cases"):
        compare(X, lonely, k=5, n_splits="loo", n_repeats=1, classifier=SelectiveGaussianNB(k=5))
    pair = np.where(np.arange(60) < 2, "a", "b")
    with pytest.raises(ValueError, match="needs 2 cases of each class in every training set"):
        compare(X, pair, k=5, n_splits="loo", n_repeats=1)


def test_compare_names_what_is_wrong(compared):
    X, y, _ = compared
    with pytest.raises(ValueError, match="methods has 'magic', which is not one of corrected"):
        compare(X, y, k=5, methods=["magic"])
    for n_splits in (0, 1):
        with pytest.raises(ValueError, match=f"n_splits={n_splits} leaves no cases to fit to"):
            compare(X, y, k=5, n_splits=n_splits, methods=OURS)
    for n_repeats in (-3, 0):
        with pytest.raises(ValueError, match=f"{n_repeats} repeats give no numbers"):
            compare(X, y, k=5, n_splits=2, n_repeats=n_repeats, methods=OURS)
    with pytest.raises(ValueError, match="y holds one class only"):
        compare(X, np.zeros(60), k=5)
    with pytest.raises(ValueError, match=r"the smallest with 2 cases \(True\).*n_splits=5"):
        compare(X, np.arange(60) < 2, k=5)
    with pytest.raises(ValueError, match=r"'SelectKBest \+ BernoulliNB, .*needs 2 cases of each"):
        compare(X, np.arange(60) < 2, k=5, n_splits=2)
    assert len(compare(X, np.arange(60) < 2, k=5, n_splits=2, n_repeats=1, methods=OURS)) == 2
    with pytest.raises(ValueError, match=r"k=201 is out of range: it must be in 1..200"):
        compare(X, y, k=201)
    with pytest.raises(TypeError, match="neither a SelectiveClassifier nor"):
        compare(X, y, k=5, classifier=GaussianNB())
    with pytest.raises(ValueError, match=r"1 of 60 responses are missing, the first in row 3"):
        compare(X, [None if i == 3 else label for i, label in enumerate(y)], k=5)


# Numbers


def responses(seed, n=48, p=80, n_related=8, strength=0.7):
    rng = np.random.default_rng([11, seed])
    y = 20 + 5 * rng.normal(size=n)
    X = rng.normal(size=(n, p))
    X[:, :n_related] += strength * (y[:, np.newaxis] - 20) / 5
    return X, y


@pytest.mark.usefixtures("few_folds")
def test_groups_of_numbers_stay_together():
    X, y = responses(0, n=42, p=20)
    groups = np.array([f"subject {i // 3}" for i in range(42)])
    ours = SelectiveRegressor(k=4, marginals="raw")
    asked = {"k": 4, "regressor": ours, "n_splits": 3, "n_repeats": 1, "methods": ["corrected"]}
    (together,) = compare_regression(X, y, groups=groups, **asked)
    # GroupKFold of the seed that the first repetition has, fitted by hand
    seed, _ = fold_and_inner_seed(0)
    for train, test in GroupKFold(3, shuffle=True, random_state=seed).split(X, y, groups):
        assert not set(groups[train]) & set(groups[test])
        model = SelectiveRegressor(k=4, marginals="raw").fit(X[train], y[train], groups[train])
        np.testing.assert_allclose(np.array(together.mean)[test], model.predict(X[test]))
        logs = model.predict_log_density(X[test], y[test])
        np.testing.assert_allclose(np.array(together.log_density)[test], logs)
    (apart,) = compare_regression(X, y, **asked)
    assert apart.mean != together.mean
    with pytest.raises(ValueError, match="y has 14 groups: with n_splits=15 there must be a group"):
        compare_regression(X, y, groups=groups, **{**asked, "n_splits": 15})


@pytest.fixture
def few_regressors(monkeypatch):
    """Compare with two methods unless others are named."""
    module = import_module("unselected.experiments.compare_regression")
    few = ["corrected", "SelectKBest + LinearRegression", MEAN_ONLY]
    assert set(few) < set(regression_method_names())
    monkeypatch.setattr(module, "regression_method_names", lambda **_: few)
    return few


@pytest.mark.usefixtures("few_regressors")
def test_least_squares_is_left_out_where_a_fold_of_groups_leaves_too_few_cases():
    X, y = responses(0, n=30, p=17)
    groups = np.minimum(np.arange(30), 20)  # the last is of ten cases
    asked = {"k": 12, "n_splits": 5, "n_repeats": 1}
    apart = {record.method for record in compare_regression(X, y, **asked)}
    together = {record.method for record in compare_regression(X, y, groups=groups, **asked)}
    assert apart - together == set()
    asked["k"] = 16
    apart = {record.method for record in compare_regression(X, y, **asked)}
    together = {record.method for record in compare_regression(X, y, groups=groups, **asked)}
    assert apart - together == {"SelectKBest + LinearRegression"}


def test_regression_records_are_those_of_the_same_folds(seed):
    X, y = responses(seed)
    usual = "SelectKBest + BayesianRidge"
    records = compare_regression(
        X, y, k=4, n_splits=3, n_repeats=2, seed=seed, methods=["corrected", usual]
    )
    assert [(r.repeat, r.method) for r in records] == [
        (0, "corrected"), (0, usual), (1, "corrected"), (1, usual)
    ]  # fmt: skip
    folds = KFold(3, shuffle=True, random_state=fold_and_inner_seed(seed, repeat=1)[0])
    ours, bayesian = records[2:]
    pipeline = make_pipeline(SelectKBest(f_regression, k=4), StandardScaler(), BayesianRidge())
    for train, test in folds.split(X):
        model = SelectiveNaiveRegressor(k=4).fit(X[train], y[train])
        quantiles = model.predict_quantiles(X[test], (0.05, 0.95))
        mean, std = model.predict(X[test], return_std=True)
        expected = {
            "mean": mean,
            "std": std,
            "lower": quantiles[:, 0],
            "upper": quantiles[:, 1],
            "log_density": model.predict_log_density(X[test], y[test]),
            "pit": model.predict_cdf(X[test], y[test]),
        }
        agree(ours, test, expected)
        mean, std = pipeline.fit(X[train], y[train]).predict(X[test], return_std=True)
        z = (y[test] - mean) / std
        expected = {
            "mean": mean,
            "std": std,
            "lower": mean - 1.6448536269514722 * std,
            "upper": mean + 1.6448536269514722 * std,
            "log_density": -0.5 * z**2 - np.log(std) - 0.5 * np.log(2 * np.pi),
            "pit": norm.cdf(z),
        }
        agree(bayesian, test, expected)


def agree(record, cases, expected):
    for field, values in expected.items():
        np.testing.assert_allclose(
            np.array(getattr(record, field))[cases], values, rtol=1e-9, atol=1e-12, err_msg=field
        )


def test_every_regression_method_runs_also_with_missing_values():
    X, y = responses(0)
    for table in (X, with_holes(X, 0)):
        records = compare_regression(table, y, k=5, n_splits=3, n_repeats=1)
        assert [record.method for record in records] == regression_method_names()
        needed = {record.method: record.features_needed for record in records}
        assert needed["SelectKBest + LinearRegression"] == needed["corrected"] == 5
        assert needed["RidgeCV"] == 80
        assert 0 < needed["LassoCV"] < 80
        assert needed["mean of the response"] == 0
        rows = {row.method: row for row in regression_table(records, y)}
        nothing = rows.pop("mean of the response")
        assert all(row.rmse.value < nothing.rmse.value for row in rows.values())


def test_deviations_of_the_usual_methods(seed):
    """Each against the same number computed another way."""
    X, y = responses(seed, n=30, p=12)
    made = usual_regressors(3, first=(), inner_splits=5, seed=3)
    fitted = {name: made[name].fit(X, y) for name in made}

    best = SelectKBest(f_regression, k=3).fit_transform(X, y)
    design = np.column_stack([np.ones(30), best])
    squares = np.linalg.lstsq(design, y, rcond=None)[1][0]
    line = fitted["SelectKBest + LinearRegression"]
    assert line.std_ == pytest.approx(np.sqrt(squares / (30 - 4)))
    assert fitted["mean of the response"].std_ == pytest.approx(np.std(y, ddof=1))

    standardized = StandardScaler().fit_transform(X)
    ridge = Ridge(alpha=fitted["RidgeCV"].regressor_[-1].alpha_)
    left_out = cross_val_predict(ridge, standardized, y, cv=LeaveOneOut())
    assert fitted["RidgeCV"].std_ == pytest.approx(np.sqrt(np.mean((left_out - y) ** 2)))

    lasso = Lasso(alpha=fitted["LassoCV"].regressor_[-1].alpha_, tol=1e-8, max_iter=100_000)
    folds = KFold(5, shuffle=True, random_state=3)
    scores = cross_val_score(lasso, standardized, y, cv=folds, scoring="neg_mean_squared_error")
    assert fitted["LassoCV"].std_ == pytest.approx(np.sqrt(-scores.mean()), rel=0.01)


def test_a_perfect_fit_stays_finite():
    X, _ = responses(0)
    y = 3 * X[:, 2] - 1
    methods = ["SelectKBest + LinearRegression", "mean of the response"]
    line, _ = compare_regression(X, y, k=1, n_repeats=1, methods=methods)
    assert min(line.std) > 0
    assert np.isfinite(line.log_density).all()


def a_record(**fields):
    n = len(fields["mean"])
    blank = dict.fromkeys(("std", "lower", "upper", "log_density", "pit"), [0.0] * n)
    return RegressionComparisonRecord(
        repeat=0, method="m", features_needed=2.0, **{**blank, **fields}
    )


def test_regression_table_by_hand():
    y = [1.0, 2.0, 4.0]
    first = a_record(
        mean=[1.0, 3.0, 2.0], lower=[0.0, 2.0, 0.0], upper=[2.0, 4.0, 3.0],
        log_density=[-1.0, -2.0, -6.0],
    )  # fmt: skip
    second = replace(first, repeat=1, mean=[1.0, 2.0, 2.0], upper=[3.0, 4.0, 6.0])
    (row,) = regression_table([first, second], y, n_resamples=50)
    assert row.log_density.value == pytest.approx(-3)
    assert row.rmse.value == pytest.approx(np.sqrt((0 + 1 + 4 + 0 + 0 + 4) / 6))
    assert row.coverage.value == pytest.approx(5 / 6)  # 2 is an end of its interval, and inside
    assert row.width.value == pytest.approx((2 + 2 + 3 + 3 + 2 + 6) / 6)
    assert row.features_needed == 2
    assert 0.0 <= row.rmse.low < row.rmse.value < row.rmse.high <= 2.0
    assert row.rmse.level == 0.95


def test_regression_table_agrees_with_scikit_learn():
    X, y = responses(0)
    (record,) = compare_regression(X, y, k=4, n_repeats=1, methods=["corrected"])
    (row,) = regression_table([record], y)
    assert row.rmse.value == pytest.approx(root_mean_squared_error(y, record.mean))
    for estimate in (row.log_density, row.rmse, row.coverage, row.width):
        assert estimate.low <= estimate.value <= estimate.high


def test_corrected_intervals_hold_what_they_promise(seed):
    """Noise among thousands: 90 % intervals hold; without correction they do not."""
    X, y = responses(seed, n=60, p=2000, n_related=0)
    records = compare_regression(X, y, k=20, n_repeats=2, seed=seed, methods=OURS)
    corrected, uncorrected = regression_table(records, y)
    assert 0.80 < corrected.coverage.value <= 0.98
    assert not 0.80 < uncorrected.coverage.value <= 0.98
    assert corrected.log_density.value > uncorrected.log_density.value


@pytest.mark.slow
def test_regression_selects_inside_every_fold():
    """On noise nothing beats the mean; a twin that selects first seems to."""
    X, y = responses(0, n=50, p=2000, n_related=0)
    chosen = ["uncorrected", "SelectKBest + BayesianRidge", "SelectKBest + LinearRegression"]
    every = [*chosen, "mean of the response"]
    *honest, mean = regression_table(compare_regression(X, y, k=5, n_repeats=2, methods=every), y)
    assert all(row.rmse.value > 0.97 * mean.rmse.value for row in honest)
    first = SelectiveNaiveRegressor(k=5).fit(X, y).get_support()
    cheating = compare_regression(X[:, first], y, k=5, n_repeats=2, methods=chosen)
    assert all(row.rmse.value < 0.97 * mean.rmse.value for row in regression_table(cheating, y))


def test_least_squares_is_left_out_where_it_leaves_no_residuals(few_regressors):
    X, y = responses(0, n=20)
    line = "SelectKBest + LinearRegression"
    records = compare_regression(X, y, k=14, n_splits=5, n_repeats=1)
    assert line in {record.method for record in records}
    records = compare_regression(X, y, k=15, n_splits=5, n_repeats=1)
    assert [r.method for r in records] == [n for n in few_regressors if n != line]
    with pytest.raises(ValueError, match="k=15 and training sets of 16 cases leaves no residuals"):
        compare_regression(X, y, k=15, n_splits=5, methods=[line])


def test_compare_regression_names_what_is_wrong():
    X, y = responses(0)
    with pytest.raises(ValueError, match="methods has 'magic', which is not one of corrected"):
        compare_regression(X, y, k=5, methods=["magic"])
    with pytest.raises(ValueError, match="y is 3 in all cases"):
        compare_regression(X, np.full(48, 3.0), k=5)
    with pytest.raises(ValueError, match="y has 4 cases: with n_splits=5 there must be a case"):
        compare_regression(X[:4], y[:4], k=5)
    with pytest.raises(ValueError, match=r"y has 4 cases: with n_splits=2.*3 cases left"):
        compare_regression(X[:4], y[:4], k=5, n_splits=2)
    with pytest.raises(ValueError, match="y is 0 in all 8 cases of a training set"):
        compare_regression(X[:10], np.eye(10)[4], k=5)
    with pytest.raises(ValueError, match="1 of 48 responses are missing, the first in row 5"):
        compare_regression(X, np.where(np.arange(48) == 5, np.nan, y), k=5)
    with pytest.raises(ValueError, match=r"k=0 is out of range: it must be in 1..80"):
        compare_regression(X, y, k=0)
    with pytest.raises(TypeError, match="is neither a SelectiveRegressor nor"):
        compare_regression(X, y, k=5, regressor=LinearRegression())


# Long runs


@pytest.mark.slow
def test_jobs_and_checkpoints_change_no_number(tmp_path):
    X, y = responses(0)
    path = str(tmp_path / "run.jsonl")
    settings = {"k": 3, "seed": 4, "methods": [*OURS, "RidgeCV"]}
    whole = compare_regression(X, y, n_repeats=3, **settings, n_jobs=2)
    compare_regression(X, y, n_repeats=1, **settings, checkpoint=path)
    before = (tmp_path / "run.jsonl").read_bytes()
    assert compare_regression(X, y, n_repeats=3, **settings, checkpoint=path) == whole
    assert (tmp_path / "run.jsonl").read_bytes().startswith(before)
    with pytest.raises(CheckpointError, match="data"):
        compare_regression(X, y + 1, n_repeats=3, **settings, checkpoint=path)
    other = SelectiveNaiveRegressor(k=3, variance_shrinkage=1.0)
    with pytest.raises(CheckpointError, match="variance_shrinkage"):
        compare_regression(X, y, n_repeats=3, regressor=other, **settings, checkpoint=path)


def test_checkpoints_from_before_are_refused(compared, tmp_path):
    """Such files have one probability for each case, and settings that say nothing of it."""
    X, y, _ = compared
    path = tmp_path / "old.jsonl"
    old = {"experiment": "compare", "k": 5, "n_splits": 3, "methods": OURS, "seed": 0}
    Checkpoints(path, {**old, "classifier": "None", "data": "0"})
    with pytest.raises(CheckpointError, match="experiment"):
        compare(X, y, k=5, n_splits=3, methods=OURS, checkpoint=str(path))
    compare(X, y, k=5, n_splits=3, n_repeats=1, methods=OURS, checkpoint=str(tmp_path / "new"))
    again = compare(
        X, y, k=5, n_splits=3, n_repeats=1, methods=OURS, checkpoint=str(tmp_path / "new")
    )
    assert [record.method for record in again] == OURS
