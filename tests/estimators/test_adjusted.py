"""Covariates through the estimators: what must not matter, limits, leaving out, errors."""

from functools import cache

import dask.array
import numpy as np
import pandas as pd
import pytest
from adjusted_cases import ESTIMATORS, cases, predictions, some
from covariates import draw_batches, judge_batches
from scipy import sparse, stats
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

from unselected import (
    SelectiveBernoulliNB,
    SelectiveClassifier,
    SelectiveFactorClassifier,
    SelectiveGaussianNB,
    SelectiveMixtureClassifier,
    SelectiveNaiveRegressor,
    SelectiveRegressor,
)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:.* outside of their training range"),
    pytest.mark.usefixtures("few_folds"),
]

NEW = slice(0, 7)
# Without the averages, which have selections of several sizes.
ONE_SELECTION = [
    "gaussian",
    "gaussian, three classes",
    "gaussian, correlated",
    "gaussian, shrunk",
    "bernoulli",
    "naive regressor",
]


def said(name, X, y, covariates, *, new=None):
    """What a fresh estimator says of the first cases, or of new ones."""
    model = clone(ESTIMATORS[name][0]).fit(X, y, covariates=covariates)
    rows, known = (X[NEW], some(covariates, NEW)) if new is None else new
    return predictions(model, rows, covariates=known)


@cache
def reference(name, seed, missing=0.0):
    """What is said of the first of the cases that tests have in common."""
    return said(name, *cases(ESTIMATORS[name][1], seed, missing=missing))


@cache
def without_covariates(name, seed, missing=0.0):
    """What is said of them by an estimator that knows no covariates."""
    model, kind = ESTIMATORS[name]
    X, y, _ = cases(kind, seed, missing=missing)
    return predictions(clone(model).fit(X, y), X[NEW])


# --- what must not matter ------------------------------------------------------------------------


@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.parametrize("bits", [False, True], ids=["real", "bits"])
def test_a_constant_covariate_changes_nothing(name, bits, seed):
    model, kind = ESTIMATORS[name]
    missing = 0.1 * (list(ESTIMATORS).index(name) % 2)
    X, y, _ = cases(kind, seed, missing=missing)
    X = np.where(np.isnan(X), np.nan, X > 0.0) if bits else X
    plain = predictions(clone(model).fit(X, y), X[NEW])
    constants = {"c": np.full(len(X), 3.5), "d": np.full(len(X), "one"), "e": np.full(len(X), True)}
    np.testing.assert_array_equal(said(name, X, y, constants), plain)


def test_constant_covariates_are_still_asked_for(seed):
    X, y, _ = cases("two", seed)
    constants = {"c": np.full(len(X), 3.5), "d": np.full(len(X), "one")}
    model = SelectiveBernoulliNB(k=5).fit(X, y, covariates=constants)
    assert model.panel().predictor.coding.in_words() == [
        "c: constant, which changes nothing",
        "d: one (reference)",
    ]
    other = {**constants, "c": np.full(len(X), 4.5)}  # of which training says nothing
    np.testing.assert_array_equal(
        model.predict_proba(X, covariates=other),
        SelectiveBernoulliNB(k=5).fit(X, y).predict_proba(X),
    )
    with pytest.raises(ValueError, match="pass covariates= with 'c', 'd'"):
        model.predict(X)
    with pytest.raises(ValueError, match="covariate 'c' is missing in 1 of 36 cases"):
        model.predict(X, covariates={**constants, "c": np.r_[np.nan, np.full(len(X) - 1, 3.5)]})
    with pytest.raises(ValueError, match=r"without covariates.* or with constant ones"):
        model.added_value(cv=3)


def test_bits_given_covariates_are_numbers(seed):
    """As the model of real-valued features has them."""
    X, y, covariates = cases("two", seed, missing=0.1)
    bits = np.where(np.isnan(X), np.nan, X > 0.0)
    for known in ({"age": covariates["age"]}, covariates):
        ours, numbers = (
            model(k=5).fit(bits, y, covariates=known).predict_log_proba(bits, covariates=known)
            for model in (SelectiveBernoulliNB, SelectiveGaussianNB)
        )
        np.testing.assert_allclose(ours, numbers, rtol=0, atol=1e-12)


@pytest.mark.parametrize("binarize", ["auto", "median", 0.3])
def test_values_are_cut_before_they_are_bits(binarize, seed):
    X, y, covariates = cases("two", seed)
    cut = 0.3 if binarize == 0.3 else np.median(X, axis=0)
    ours = SelectiveBernoulliNB(k=5, binarize=binarize).fit(X, y, covariates=covariates)
    numbers = SelectiveGaussianNB(k=5).fit(X > cut, y, covariates=covariates)
    np.testing.assert_allclose(
        ours.predict_log_proba(X, covariates=covariates),
        numbers.predict_log_proba(X > cut, covariates=covariates),
        rtol=0,
        atol=1e-12,
    )


RECODED = {
    "order": lambda known: dict(reversed(known.items())),
    "units": lambda known: {**known, "age": 1e5 - 365.25 * known["age"]},
    "reference": lambda known: (
        {**known, "batch": np.where(known["batch"] == "a", "z", "a")}
        | {"other": np.where(known["batch"] == "b", "x", "y")}
    ),
    "columns": lambda known: (
        {"age": known["age"], "m": (known["sex"] == "m") * 1.0}
        | {f"batch {level}": known["batch"] == level for level in "abc"}
    ),
    "one more": lambda known: {**known, "twice": 2.0 * known["age"] + (known["sex"] == "m")},
}


@pytest.mark.slow
@pytest.mark.parametrize("name", ESTIMATORS)
def test_how_covariates_are_coded_does_not_matter(name, seed):
    """Every way for some, and two of the ways, in turn, for each."""
    X, y, covariates = cases(ESTIMATORS[name][1], seed, missing=0.1)
    plain, place = reference(name, seed, 0.1), list(ESTIMATORS).index(name)
    all_of_them = name in ("gaussian", "bernoulli", "naive regressor")
    for number, (how, recode) in enumerate(RECODED.items()):
        if not all_of_them and (number + place) % 5 > 1:
            continue
        ours = said(name, X, y, recode(covariates))
        np.testing.assert_allclose(ours, plain, rtol=0, atol=1e-9, err_msg=how)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_covariates_make_a_difference(name, seed):
    difference = reference(name, seed) - without_covariates(name, seed)
    assert np.max(np.abs(difference)) > 0.1


@pytest.mark.parametrize("name", ["gaussian", "gaussian, three classes", "naive regressor"])
def test_the_order_of_rows_and_columns_does_not_matter(name, seed):
    X, y, covariates = cases(ESTIMATORS[name][1], seed, missing=0.05)
    rng = np.random.default_rng(seed)
    rows, columns = rng.permutation(len(X)), rng.permutation(X.shape[1])
    new = X[NEW][:, columns], some(covariates, NEW)
    ours = said(name, X[rows][:, columns], y[rows], some(covariates, rows), new=new)
    np.testing.assert_allclose(ours, reference(name, seed, 0.05), rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", ["classifier", "regressor"])
def test_the_order_of_columns_does_not_matter_to_an_average(name, seed):
    X, y, covariates = cases(ESTIMATORS[name][1], seed)
    columns = np.random.default_rng(seed).permutation(X.shape[1])
    new = X[NEW][:, columns], some(covariates, NEW)
    ours = said(name, X[:, columns], y, covariates, new=new)
    np.testing.assert_allclose(ours, reference(name, seed), rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", ["gaussian, three classes", "gaussian, correlated", "bernoulli"])
def test_names_of_classes_do_not_matter(name, seed):
    X, y, covariates = cases(ESTIMATORS[name][1], seed)
    turned = y.max() - y
    ours = said(name, X, np.array(["x", "y", "z"])[turned], covariates)
    np.testing.assert_allclose(ours[:, ::-1], reference(name, seed), rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    "opened", [sparse.csr_array, dask.array.from_array, np.asfortranarray, pd.DataFrame]
)
@pytest.mark.parametrize("name", ["gaussian", "naive regressor"])
def test_tables_of_every_kind_give_the_same(name, opened, seed):
    X, y, covariates = cases(ESTIMATORS[name][1], seed)
    model = clone(ESTIMATORS[name][0]).fit(opened(X), y, covariates=covariates)
    ours = predictions(model, opened(X[NEW]), covariates=some(covariates, NEW))
    np.testing.assert_allclose(ours, reference(name, seed), rtol=0, atol=1e-9)


# --- limits --------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:k=6 keeps all 6 columns")
@pytest.mark.parametrize("name", ONE_SELECTION)
def test_with_all_features_corrected_equals_uncorrected(name, seed):
    model, kind = ESTIMATORS[name]
    X, y, covariates = cases(kind, seed, p=6)
    ours, twin = (
        predictions(
            clone(model)
            .set_params(k=6, correct_selection=corrected)
            .fit(X, y, covariates=covariates),
            X,
            covariates=covariates,
        )
        for corrected in (True, False)
    )
    np.testing.assert_allclose(ours, twin, rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_the_correction_makes_a_difference_where_features_are_omitted(name, seed):
    model, kind = ESTIMATORS[name]
    X, y, covariates = cases(kind, seed)
    twin = clone(model).set_params(correct_selection=False).fit(X, y, covariates=covariates)
    theirs = predictions(twin, X[NEW], covariates=some(covariates, NEW))
    assert np.max(np.abs(reference(name, seed) - theirs)) > 1e-3


def test_a_batch_that_is_a_class_leaves_what_the_batch_says(seed):
    """Features cannot be told from it: a case of that batch has its class, whatever its values."""
    X, y, _ = cases("two", seed)
    batch = {"batch": np.where(y == 1, "new", "old")}
    model = SelectiveGaussianNB(k=5)
    with pytest.warns(UserWarning, match="covariate 'batch' nearly determines the class"):
        model.fit(X, y, covariates=batch)
    proba = model.predict_proba(X, covariates=batch)
    assert np.all(proba[np.arange(len(X)), y] > 0.9)
    np.testing.assert_array_equal(model.scores_, 0.0)


@pytest.mark.slow
def test_a_batch_that_is_related_to_the_class(seed):
    """Features follow the batch only: adjusted, none is favoured and probabilities are honest.

    The wrong twin ignores the batch.
    """
    rng = np.random.default_rng([seed, 60])
    drawn = [draw_batches(rng, 260, 2000) for _ in range(25)]
    ours, twin = (
        np.array(
            [judge_batches(SelectiveGaussianNB(k=10), one, 60, adjusted=adjusted) for one in drawn]
        )
        for adjusted in (True, False)
    )
    expected, actual, *_ = ours.mean(axis=0)
    spread = np.std(ours[:, 0] - ours[:, 1]) / np.sqrt(len(drawn))
    assert abs(expected - actual) < 0.02 + 3 * spread
    assert stats.binomtest(int(ours[:, 3].sum()), 250, 0.5).pvalue > 1e-4
    expected, actual, *_ = twin.mean(axis=0)
    assert actual - expected > 0.1
    assert stats.binomtest(int(twin[:, 3].sum()), 250, 0.5).pvalue < 1e-4


# --- leaving out ---------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in ONE_SELECTION if "correlated" not in name])
def test_leave_one_out_is_a_fit_to_the_others(name, seed):
    model, kind = ESTIMATORS[name]
    X, y, covariates = cases(kind, seed, n=18, p=16, missing=0.1)
    if name == "bernoulli":
        X = np.where(np.isnan(X), np.nan, X > 0.0)  # cuts are those of all cases
    whole = clone(model).fit(X, y, covariates=covariates)
    if kind == "line":
        ours = np.column_stack(whole.loo_predict(return_std=True))
    else:
        ours = whole.loo_predict_log_proba()
    for case in (0, 7, 11):
        rest, one = np.delete(np.arange(len(X)), case), np.array([case])
        anew = clone(model).fit(X[rest], y[rest], covariates=some(covariates, rest))
        known = some(covariates, one)
        if kind == "line":
            expected = np.column_stack(anew.predict(X[one], return_std=True, covariates=known))
        else:
            expected = anew.predict_log_proba(X[one], covariates=known)
        np.testing.assert_allclose(ours[case], expected[0], rtol=0, atol=1e-8)


# --- columns of X, pipelines ---------------------------------------------------------------------


@pytest.mark.parametrize("name", ["gaussian", "naive regressor", "classifier", "regressor"])
def test_columns_of_a_frame_are_the_same_covariates(name, seed):
    model, kind = ESTIMATORS[name]
    X, y, covariates = cases(kind, seed)
    frame = pd.DataFrame(X).add_prefix("g").assign(**covariates)
    named = clone(model).set_params(covariates=list(covariates)).fit(frame, y)
    ours = predictions(named, frame[NEW])
    np.testing.assert_allclose(ours, reference(name, seed), rtol=0, atol=1e-12)
    beside = clone(model).fit(
        frame[[f"g{j}" for j in range(40)]], y, covariates=frame[[*covariates]]
    )
    assert named.selection_.indices.tolist() == beside.selection_.indices.tolist()


def test_pipelines_and_cross_validation_pass_columns_of_x(seed):
    X, y, covariates = cases("two", seed)
    frame = pd.DataFrame(X).add_prefix("g").assign(**covariates)
    model = make_pipeline(SelectiveGaussianNB(k=5, covariates=list(covariates)))
    assert np.all(np.isfinite(cross_val_score(model, frame, y, cv=3, scoring="neg_log_loss")))


# --- errors --------------------------------------------------------------------------------------


EVERY = [
    SelectiveBernoulliNB(k=2),
    SelectiveGaussianNB(k=2),
    SelectiveNaiveRegressor(k=2),
    SelectiveClassifier(k=2),
    SelectiveRegressor(k=2),
]


@pytest.fixture(params=EVERY, ids=lambda model: type(model).__name__)
def model(request):
    return clone(request.param)


def kind_of(model):
    return "line" if "Regressor" in type(model).__name__ else "two"


def test_too_many_covariates_are_an_error(model):
    X, y, _ = cases(kind_of(model), 0)
    many = np.random.default_rng(0).normal(size=(36, 34))
    with pytest.raises(
        ValueError,
        match="36 cases are too few for covariates with 34 coded columns: at least 37 are needed",
    ):
        model.fit(X, y, covariates=many)


def test_the_largest_number_of_covariates_leaves_one_degree_of_freedom(seed):
    X, y, _ = cases("two", seed)
    many = np.random.default_rng(seed).normal(size=(36, 33))
    ours = SelectiveGaussianNB(k=2).fit(X, y, covariates=many).predict_proba(X, covariates=many)
    np.testing.assert_allclose(ours.sum(axis=1), 1.0)
    with pytest.raises(ValueError, match="36 cases are too few for covariates with 33"):
        SelectiveGaussianNB(k=2).fit(X, np.arange(36) % 3, covariates=many)


def test_a_missing_covariate_is_named(model):
    X, y, covariates = cases(kind_of(model), 0)
    covariates["age"][[4, 9]] = np.nan
    with pytest.raises(ValueError, match="covariate 'age' is missing in 2 of 36 cases, the first"):
        model.fit(X, y, covariates=covariates)


def test_what_new_cases_lack_is_named(model):
    X, y, covariates = cases(kind_of(model), 0)
    model.fit(X, y, covariates=covariates)
    new = some(covariates, NEW)
    with pytest.raises(ValueError, match="the model was fitted with covariates: pass covariates="):
        model.predict(X[NEW])
    with pytest.raises(ValueError, match="covariate 'age' is missing in 1 of 7 cases"):
        model.predict(X[NEW], covariates={**new, "age": np.where(np.arange(7) == 2, np.nan, 5.0)})
    with pytest.raises(ValueError, match="'d'"):
        model.predict(X[NEW], covariates={**new, "batch": np.full(7, "d")})
    with pytest.raises(ValueError, match="sex"):
        model.predict(X[NEW], covariates={"age": new["age"], "batch": new["batch"]})
    with pytest.raises(ValueError, match="covariates has 7 cases, but X has 3"):
        model.predict(X[:3], covariates=new)


def test_covariates_of_a_model_without_any_are_an_error(model):
    X, y, covariates = cases(kind_of(model), 0)
    model.fit(X, y)
    with pytest.raises(ValueError, match="covariates are given, but the model was fitted without"):
        model.predict(X, covariates=covariates)


def test_both_places_at_once_are_an_error(model):
    X, y, covariates = cases(kind_of(model), 0)
    frame = pd.DataFrame(X).add_prefix("g").assign(**covariates)
    model.set_params(covariates=["age"])
    with pytest.raises(ValueError, match="named in the constructor, as columns of X, and also"):
        model.fit(frame, y, covariates=covariates)
    frame = frame.drop(columns=["sex", "batch"])
    model.fit(frame, y)
    with pytest.raises(ValueError, match="named in the constructor, as columns of X, and also"):
        model.predict(frame, covariates=covariates)


@pytest.mark.parametrize("name", ["naive regressor", "regressor"])
def test_covariates_that_determine_a_response_are_an_error(name):
    X, y, covariates = cases("line", 0)
    with pytest.raises(ValueError, match="the covariates determine y"):
        said(name, X, y, {**covariates, "y": 3.0 * y - 1.0})


@pytest.mark.parametrize(
    "model",
    [SelectiveGaussianNB(), SelectiveNaiveRegressor(), SelectiveClassifier(dependence="none")],
    ids=lambda model: type(model).__name__,
)
def test_an_earlier_selection_was_adjusted_or_not(model):
    """Without adjustment the event is that of scores without covariates; the kept are adjusted."""
    X, y, covariates = cases(kind_of(model), 0)
    X = X[:, :6]
    asked = clone(model).set_params(preselected_from=500)
    plain, adjusted, mixed = (
        clone(asked).set_params(preselected_adjusted=before).fit(X, y, covariates=given)
        for before, given in ((True, None), (True, covariates), (False, covariates))
    )
    np.testing.assert_allclose(mixed.scores_, plain.scores_, rtol=1e-9)
    assert mixed.threshold_ == pytest.approx(plain.threshold_)
    assert adjusted.threshold_ != pytest.approx(plain.threshold_, rel=1e-3)
    events = [_real_event(one) for one in (plain, mixed, adjusted)]
    np.testing.assert_allclose(events[1].nu, events[0].nu)
    assert events[2].nu[0] < events[0].nu[0]
    new = {"covariates": covariates}
    first = mixed.panel().predictor.fitted
    assert first.n_covariates == adjusted.panel().predictor.fitted.n_covariates > 0
    mixed.predict(X, **new)


def _real_event(model):
    event = model.panel().predictor.fitted.event
    return getattr(event, "real", event)


@pytest.mark.parametrize(
    "model", [SelectiveMixtureClassifier(k=3), SelectiveFactorClassifier(k=3)], ids=repr
)
def test_models_with_latent_variables_refuse_covariates(model):
    X, y, covariates = cases("two", 0)
    with pytest.raises(ValueError, match="takes no covariates, because its features depend"):
        model.fit(X, y, covariates=covariates)
