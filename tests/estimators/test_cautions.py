"""What a fit warns of, once, and what it cannot do without."""

import warnings

import dask.array
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.feature_selection import SelectKBest
from sklearn.pipeline import make_pipeline

from unselected import (
    SelectiveBernoulliNB,
    SelectiveClassifier,
    SelectiveGaussianNB,
    SelectiveNaiveRegressor,
)

pytestmark = pytest.mark.usefixtures("few_folds")

LOST = [2, 9, 30]


def some_data(G=2, n=30, p=40, seed=0):
    """Classes or, with G = 0, numbers; three columns are unknown in class 1, or for all."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % G if G else rng.normal(size=n)
    X = rng.normal(size=(n, p)) + np.multiply.outer(y, rng.normal(size=p))
    X[rng.random(X.shape) < 0.05] = np.nan
    X[:, LOST] = np.nan
    if G:
        X[:, LOST] = np.where((y == 1)[:, np.newaxis], np.nan, rng.normal(size=(n, 3)))
    return X, y, np.delete(X, LOST, axis=1), np.delete(np.arange(p), LOST)


def fitted(model, X, y, match):
    """Return a model that is fitted with one warning, and no other."""
    with pytest.warns(UserWarning, match=match) as told:
        model.fit(X, y)
    assert len(told) == 1
    assert told[0].filename == __file__
    return model


AS = {
    "array": np.asarray,
    "by columns": np.asfortranarray,
    "frame": lambda X: pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])]),
    "sparse": sparse.csr_array,
    "dask": lambda X: dask.array.from_array(X, chunks=(10, 7)),
}


def predicted(model, X):
    real = isinstance(model, SelectiveNaiveRegressor)
    return model.predict(X) if real else model.predict_proba(X)


RULES = [{"k": 4}, {"threshold": 0.3}, {}]


@pytest.mark.parametrize(
    ("G", "kind", "rule"),
    [
        *((G, "array", rule) for G in (0, 2, 3) for rule in RULES),
        *((G, kind, {"k": 4}) for G in (0, 3) for kind in AS if kind != "array"),
    ],
    ids=str,
)
def test_columns_without_a_score_are_as_if_they_were_not_there(G, kind, rule):
    X, y, rest, others = some_data(G)
    estimator = SelectiveGaussianNB if G else SelectiveNaiveRegressor
    why = "no known value in class 1" if G else "too few known values to estimate a variance"
    match = rf"^3 columns have {why} \(column 2.*, column 9.*, column 30.*\), and were left out"
    model = fitted(estimator(**rule, store_scores=True), AS[kind](X), y, match)
    expected = estimator(**rule, store_scores=True).fit(AS[kind](rest), y)
    assert model.selection_.indices.tolist() == others[expected.selection_.indices].tolist()
    assert model.selection_.unscored.tolist() == LOST
    assert model.selection_.n_omitted == 40 - model.selection_.indices.size
    assert model.selection_.event.n_omitted == expected.selection_.event.n_omitted
    as_given, as_left = predicted(model, AS[kind](X)), predicted(expected, AS[kind](rest))
    np.testing.assert_array_equal(as_given, as_left)
    np.testing.assert_array_equal(model.feature_scores_[others], expected.feature_scores_)
    assert np.isnan(model.feature_scores_[LOST]).all()


def test_columns_of_several_blocks_are_told_in_one_warning():
    y = np.arange(20) % 2
    X = np.random.default_rng(0).normal(size=(20, 60_000))
    X[y == 0, 5] = X[y == 0, 59_000] = np.nan
    X[2:, 40_000] = np.nan
    model = fitted(
        SelectiveGaussianNB(k=3),
        X,
        y.astype(str),
        r"^2 columns have no known value in class '0' \(column 5, column 59000\); 1 column has too "
        r"few known values to estimate a variance \(column 40000\), and were left out",
    )
    assert model.selection_.event.n_omitted == 60_000 - 3 - 3


def test_a_column_known_for_one_response_only_is_left_out():
    X, y, *_ = some_data(0)
    X[:, LOST] = np.random.default_rng(0).normal(size=(30, 3))
    y[:10] = 1.0
    X[10:, 7] = np.nan
    match = r"^1 column is known only for cases with the same response \(column 7\), and was left"
    assert fitted(SelectiveNaiveRegressor(k=2), X, y, match).selection_.unscored.tolist() == [7]


@pytest.mark.parametrize(
    ("G", "rule"),
    [(0, {"k": 3}), (0, {}), (2, {"k": 3}), (2, {"threshold": 0.2}), (3, {"k": 3})],
    ids=str,
)
def test_a_column_may_have_no_score_only_without_a_case(G, rule):
    """Leaving out a case then leaves out the column; nobody is warned of that again."""
    X, y, rest, _ = some_data(G)
    estimator = SelectiveGaussianNB if G else SelectiveNaiveRegressor
    rest[:, 5] = np.nan
    if G:
        rest[:12, 5] = 100.0 * y[:12]
        rest[(y == 1) & (np.arange(30) != 7 if G == 3 else np.arange(30) != 5), 5] = np.nan
    else:
        rest[[4, 5, 6], 5] = [1.0, 2.0, 3.5]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = estimator(**rule).fit(rest, y)
        left_out = model.loo_predict() if G == 0 else model.loo_predict_proba()
        model.selection_frequency()
    assert model.selection_.unscored.size == 0
    n_warned = 0
    for i in (0, 4, 5, 6, 7, 20, 29):  # the column is lost without one of 4 to 7
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            without = estimator(**rule).fit(np.delete(rest, i, axis=0), np.delete(y, i))
        n_warned += len(told)
        expected = predicted(without, rest[[i]])[0]
        np.testing.assert_allclose(left_out[i], expected, rtol=1e-9, atol=1e-12)
    assert n_warned == (3 if G == 0 else 1)
    X, y, *_ = some_data(G)
    fitted(estimator(**rule), X, y, "3 columns have")


def test_what_must_be_kept_may_have_no_score_without_a_fold():
    _, y, X, _ = some_data(2)
    X[y == 1, 5] = np.nan
    X[1, 5] = 0.0
    model = SelectiveGaussianNB(k=2, always_keep=[5]).fit(X, y)
    folds = [(np.arange(2, 30), np.arange(2)), (np.arange(15), np.arange(2, 30))]
    proba = model.cv_predict_proba(folds)
    without = SelectiveGaussianNB(k=2).fit(np.delete(X, 5, axis=1)[2:], y[2:])
    np.testing.assert_allclose(proba[:2], without.predict_proba(np.delete(X, 5, axis=1)[:2]))


def test_fewer_columns_than_k_may_have_a_score_without_a_case():
    _, y, X, _ = some_data(2)
    X = X[:, :2].copy()
    X[:, 1] = np.where(y == 1, np.nan, X[:, 1])
    X[1, 1] = 0.5
    X[:, 0] = np.where(y == 1, np.nan, X[:, 0])
    X[1, 0] = 0.5
    model = SelectiveGaussianNB(k=1).fit(X, y)
    proba = model.loo_predict_proba()
    np.testing.assert_allclose(proba[1], [16 / 31, 15 / 31])  # nothing but the classes is left


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"always_keep": ["x9"], "k": 2}, r"always_keep has column 9 \('x9'\), which has no known"),
        (
            {"k": 38},
            r"k=38 is out of range: only 37 columns can be selected, because 3 columns have",
        ),
        ({"k": 37, "always_keep": [0]}, "only 36 columns can be selected"),
        ({"preselected_from": 100}, r"preselected_from=100 says .* but 3 columns have no known"),
    ],
    ids=str,
)
def test_what_cannot_do_without_them_is_an_error(options, match):
    X, y, *_ = some_data(2)
    table = pd.DataFrame(X, columns=[f"x{j}" for j in range(40)])
    with pytest.raises(ValueError, match=match):
        SelectiveGaussianNB(**options).fit(table, y)


@pytest.mark.parametrize("rule", [{"k": 1}, {"threshold": 0.2}, {}, {"k": "loo"}], ids=str)
def test_a_table_without_any_score_is_an_error(rule):
    X, y, *_ = some_data(2)
    with pytest.raises(ValueError, match="no column can be selected: 3 columns have no"):
        SelectiveGaussianNB(**rule).fit(X[:, LOST], y)


def test_a_threshold_of_columns_kept_before_still_names_the_weak_one():
    _, y, X, _ = some_data(2)
    with pytest.raises(ValueError, match="drop the column, or correct the threshold"):
        SelectiveGaussianNB(preselected_from=100, threshold=0.5).fit(X, y)


@pytest.mark.parametrize("G", [0, 2])
def test_k_is_found_among_the_columns_that_have_a_score(G):
    X, y, _, _ = some_data(G)
    estimator = SelectiveGaussianNB if G else SelectiveNaiveRegressor
    columns = [*LOST, 0, 1, 3]
    model = fitted(estimator(k="loo"), X[:, columns], y, "3 columns have")
    assert [score.k for score in model.k_path_] == [1, 2, 3]
    assert model.selection_.indices.size == model.loo_score_.k <= 3
    with pytest.raises(ValueError, match=r"ks=4 is out of range: it must be in 1\.\.3"):
        model.k_path([4])


CLASSIFIERS = [SelectiveBernoulliNB(k=2), SelectiveGaussianNB(k=2)]


@pytest.mark.parametrize("model", CLASSIFIERS, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize(
    ("labels", "told"),
    [(["a", "a "], "'a', 'a '"), (["a", "A"], "'A', 'a'"), (["not a", "Nota"], "'Nota', 'not a'")],
)
def test_labels_that_look_alike_are_told(model, labels, told):
    X = np.random.default_rng(0).normal(size=(20, 5))
    y = np.array(labels, dtype=object)[np.arange(20) % 2]
    match = f"^the classes {told}.* differ only by blanks or by upper and lower case"
    fitted(model, X, y, match)
    assert model.classes_.size == 2


@pytest.mark.parametrize("labels", [["a", "b"], ["a", "a1"], [0, 1], [True, False], ["é", "e"]])
def test_labels_that_differ_are_not_told(labels):
    X = np.random.default_rng(0).normal(size=(20, 5))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SelectiveGaussianNB(k=2).fit(X, np.array(labels)[np.arange(20) % 2])


@pytest.mark.parametrize("model", CLASSIFIERS, ids=lambda model: type(model).__name__)
def test_a_class_of_one_case_is_told(model):
    X = np.random.default_rng(0).normal(size=(20, 5))
    y = np.where(np.arange(20) == 7, "b", "a")
    fitted(model, X, y, "^class 'b' has one case only")


def test_several_classes_of_one_case_are_told_together():
    X = np.random.default_rng(0).normal(size=(20, 5))
    y = np.where(np.arange(20) < 4, np.arange(20), 9)
    fitted(SelectiveGaussianNB(k=2), X, y, r"^classes 0, 1, 2, \.\.\. have one case only")


def genotypes(dtype=float, n=30):
    """Two columns of genotypes, one of bits, one of two values, one of halves, one of counts."""
    rng = np.random.default_rng(0)
    steps = rng.permuted(np.tile(np.arange(3), (2, n // 3)), axis=1)
    bits = rng.permuted(np.tile(np.arange(2), (2, n // 2)), axis=1)
    others = [bits[0], 2 * bits[1], rng.permutation(n)]
    return np.column_stack([*steps, *others]).astype(dtype), np.arange(n) % 2


@pytest.mark.parametrize(
    "kind",
    [
        *AS.values(),
        np.int8,
        lambda X: np.asfortranarray(X, dtype=np.uint8),
        lambda X: dask.array.from_array(X, chunks=(30, 2)),
        lambda X: X + 3,
    ],
)
def test_columns_of_three_steps_that_are_cut_at_their_median_are_counted(kind):
    X, y = genotypes()
    match = "^2 columns have three consecutive whole numbers as values.* binarize=0.5"
    model = fitted(SelectiveBernoulliNB(k=1), kind(X), y, match)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.loo_predict_proba() if isinstance(kind(X), np.ndarray) else None


@pytest.mark.parametrize("how", [0.5, 1, "median"])
def test_columns_that_are_cut_where_the_user_says_are_not_told(how):
    X, y = genotypes()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SelectiveBernoulliNB(k=1, binarize=how).fit(X, y)
        SelectiveBernoulliNB(k=1).fit(X[:, 2:], y)
        SelectiveBernoulliNB(k=1).fit(X / 2 + 1e17, y)


def test_columns_of_three_steps_are_counted_over_all_blocks():
    X = np.tile(np.arange(3, dtype=np.float64).repeat(4)[:, np.newaxis], (1, 100_000))
    fitted(
        SelectiveBernoulliNB(k=1), X, np.arange(12) % 2, "^100000 columns have three consecutive"
    )


@pytest.mark.parametrize(
    "estimator", [SelectiveBernoulliNB, SelectiveGaussianNB, SelectiveNaiveRegressor]
)
def test_a_selection_before_the_estimator_that_leaves_nothing_to_select_is_told(estimator):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 200)), np.arange(40) % 2
    pipeline = make_pipeline(SelectKBest(k=10), estimator(k=10))
    with pytest.warns(UserWarning, match="^k=10 keeps all 10 columns.* preselected_from") as told:
        pipeline.fit(X, y)
    assert len(told) == 1
    fitted(estimator(k=9, always_keep=[3]), X[:, :10], y, "^k=9 keeps all 9 columns")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for legitimate in (
            estimator(),
            estimator(k=9),
            estimator(k="loo"),
            estimator(threshold=0.0),
            estimator(preselected_from=200),
            estimator(k=10, correct_selection=False),
        ):
            legitimate.fit(X[:, :10], y)
        estimator(k=1).fit(X[:, :1], y)


def test_fits_inside_of_a_fit_repeat_no_warning():
    """With k="loo" every case is left out by a fit of its own."""
    X, y, *_ = some_data(2)
    model = fitted(SelectiveGaussianNB(k="loo"), X[:12, :12], y[:12], "2 columns have no known")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.loo_predict_proba()


@pytest.mark.parametrize("value", [0.0, 3.5])
@pytest.mark.parametrize("k", ["auto", 2])
def test_a_table_of_constants_is_told(value, k):
    X, y = np.full((20, 5), value), np.arange(20) % 2
    model = fitted(SelectiveClassifier(k=k), X, y, "all columns are constant")
    np.testing.assert_allclose(model.predict_proba(X[:1]), [[0.5, 0.5]])
    X[:, 3] += y + np.arange(20) % 3
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SelectiveClassifier(k=k).fit(X, y)


def test_covariates_that_are_the_class_are_said_and_leave_nothing_to_the_features():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    X = rng.normal(size=(60, 30)) + y[:, np.newaxis]
    batch = np.where(y == 1, "b2", "b1")
    model = SelectiveGaussianNB(k=3)
    with pytest.warns(UserWarning, match="covariate 'batch' nearly determines the class"):
        model.fit(X, y, covariates={"batch": batch})
    probability = model.predict_proba(X, covariates={"batch": batch})[:, 1]
    assert np.ptp(probability[y == 1]) < 1e-9  # the features say nothing
    other = np.where(y == 1, "b1", "b2")
    assert (model.predict(X, covariates={"batch": other}) != y).all()
    nearly = np.where(np.arange(60) < 3, batch[::-1], batch)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(X, y, covariates={"batch": nearly})
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        SelectiveClassifier(k=3, dependence="none").fit(X, y, covariates={"batch": batch})
    assert any("given the covariates no column is related" in str(one.message) for one in told)
