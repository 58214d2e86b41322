"""Leaving out each case from one pass is what n fits give."""

import copy
import pickle
import weakref
from functools import cache

import dask.array
import numpy as np
import pandas
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from unselected import (
    SelectiveBernoulliNB,
    SelectiveGaussianNB,
    SelectiveNaiveRegressor,
    open_columns,
)
from unselected.estimators.class_fitting import ClassFitting
from unselected.estimators.leave_one_out import KPath, LeaveOneOutFit
from unselected.models.bernoulli import BernoulliModel

pytestmark = pytest.mark.usefixtures("few_folds")

N, P = 26, 120


def bits(seed):
    rng = np.random.default_rng(seed)
    X, y, _ = BernoulliModel().simulate(N, P, rng, alpha=4.0, y=np.arange(N) % 2)
    X[:, 50:60] = X[:, [3]]
    return X, y


def numbers(seed, G=2, missing=0.0):
    rng = np.random.default_rng(seed)
    y = np.arange(N) % G
    X = rng.normal(size=(N, P)) + 0.8 * rng.normal(size=(G, P))[y] * (rng.random(P) < 0.2)
    X[rng.random(X.shape) < missing] = np.nan
    return X, y


CLASSIFIERS = {
    "bits": (SelectiveBernoulliNB(k=6), bits),
    "bits, at random": (SelectiveBernoulliNB(k=6, ties="random", random_state=3), bits),
    "bits, threshold": (SelectiveBernoulliNB(threshold=0.3), bits),
    "bits, all": (SelectiveBernoulliNB(), bits),
    "bits, always": (SelectiveBernoulliNB(k=4, always_keep=[0, 55]), bits),
    "bits, uncorrected": (SelectiveBernoulliNB(k=6, correct_selection=False), bits),
    "bits, sparse": (SelectiveBernoulliNB(k=6, prior="sparse"), bits),
    "medians": (SelectiveBernoulliNB(k=6), numbers),
    "tempered bits": (SelectiveBernoulliNB(k=6, dependence="tempered"), bits),
    "numbers": (SelectiveGaussianNB(k=6), numbers),
    "numbers, sparse": (SelectiveGaussianNB(k=2, prior="sparse"), numbers),
    "three classes": (SelectiveGaussianNB(k=6), lambda seed: numbers(seed, 3)),
    "with missing values": (SelectiveGaussianNB(k=6), lambda seed: numbers(seed, 2, 0.05)),
    "shrunken": (SelectiveGaussianNB(k=6, variance_shrinkage=5.0), numbers),
    "tempered numbers": (SelectiveGaussianNB(k=6, dependence="tempered"), numbers),
    "correlated bits": (SelectiveBernoulliNB(k=6, dependence="correlated"), bits),
    "correlated numbers": (
        SelectiveGaussianNB(k=6, dependence="correlated"),
        lambda seed: numbers(seed, 2, 0.05),
    ),
}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.* outside of their training range")  # of so few cases
@pytest.mark.parametrize("case", CLASSIFIERS)
def test_probabilities_are_those_of_fits_without_each_case(case, seed):
    model, data = CLASSIFIERS[case]
    n = 9
    X, y = (part[:n] for part in data(seed))
    ours = clone(model).fit(X, y).loo_predict_proba()
    for i in range(0, n, 7):
        kept = np.arange(n) != i
        alone = clone(model).fit(X[kept], y[kept]).predict_proba(X[i : i + 1])[0]
        np.testing.assert_allclose(ours[i], alone, rtol=0, atol=1e-10)


@pytest.mark.parametrize("case", ["bits", "medians", "numbers", "tempered numbers"])
def test_folds_are_those_of_cross_validation(case, seed):
    model, data = CLASSIFIERS[case]
    X, y = data(seed)
    cv = StratifiedKFold(5, shuffle=True, random_state=seed)
    ours = clone(model).fit(X, y).cv_predict_proba(cv)
    expected = cross_val_predict(clone(model), X, y, cv=cv, method="predict_proba")
    np.testing.assert_allclose(ours, expected, rtol=0, atol=1e-10)


@pytest.mark.parametrize("case", ["bits", "three classes", "tempered numbers"])
def test_intervals_of_folds_are_those_of_fits_without_them(case, seed):
    model, data = CLASSIFIERS[case]
    X, y = data(seed)
    cv = StratifiedKFold(3, shuffle=True, random_state=seed)
    fitted = clone(model).fit(X, y)
    ours = fitted.cv_predict_proba_interval(cv, level=0.7)
    np.testing.assert_array_equal(ours[0], fitted.cv_predict_proba(cv))
    seen = fitted.predict_proba_interval(X, level=0.7)
    for train, test in cv.split(X, y):
        alone = clone(model).fit(X[train], y[train])
        expected = alone.predict_proba_interval(X[test], level=0.7)
        np.testing.assert_allclose([part[test] for part in ours[1:]], expected, atol=1e-9)
    assert np.max(np.abs(np.subtract(ours[1:], seen))) > 0.01


@pytest.mark.parametrize("case", ["bits", "numbers", "tempered numbers"])
def test_cases_in_neither_part_of_a_split_are_left_out_too(case, seed):
    """As where neighbours of the test cases must not be trained on."""
    model, data = CLASSIFIERS[case]
    X, y = data(seed)
    rows = np.arange(N)
    splits = [(rows[(rows % 3 != f) & (rows > 3 + f)], rows % 3 == f) for f in range(3)]
    ours = clone(model).fit(X, y).cv_predict_proba(splits)
    for train, test in splits:
        alone = clone(model).fit(X[train], y[train]).predict_proba(X[test])
        np.testing.assert_allclose(ours[test], alone, rtol=0, atol=1e-10)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.* outside of their training range")  # of so few cases
@pytest.mark.parametrize(
    ("rule", "missing"),
    [({"k": 6}, 0.0), ({"threshold": 0.3}, 0.0), ({"k": 3, "always_keep": [1, 2]}, 0.05)],
)
def test_responses_are_predicted_as_by_fits_without_each_case(rule, missing, seed):
    X, n = numbers(seed, missing=missing)[0][:12], 12
    y = np.nan_to_num(X[:, 0]) + np.random.default_rng(seed + 1).normal(size=n)
    model = SelectiveNaiveRegressor(**rule).fit(X, y)
    mean, std = model.loo_predict(return_std=True)
    log_density = model.loo_predict_log_density()
    for i in range(0, n, 7):
        kept = np.arange(n) != i
        alone = SelectiveNaiveRegressor(**rule).fit(X[kept], y[kept])
        expected = alone.predict(X[i : i + 1], return_std=True)
        np.testing.assert_allclose((mean[i], std[i]), np.ravel(expected), rtol=1e-9)
        expected = alone.predict_log_density(X[i : i + 1], y[i : i + 1])
        assert log_density[i] == pytest.approx(expected[0], abs=1e-9)
    score = model.loo_score_
    assert score.log_loss == pytest.approx(-log_density.mean())
    assert score.squared_error == pytest.approx(np.mean((mean - y) ** 2))
    assert score.expected_squared_error == pytest.approx(np.mean(std**2))


@pytest.mark.parametrize("case", ["bits", "bits, threshold", "medians", "numbers"])
def test_frequencies_are_those_of_the_selections_without_each_case(case, seed):
    model, data = CLASSIFIERS[case]
    X, y = data(seed)
    fitted = clone(model).fit(X, y)
    times = np.zeros(P)
    for i in range(N):
        kept = np.arange(N) != i
        times[clone(model).fit(X[kept], y[kept]).selection_.indices] += 1
    expected = times[fitted.selection_.indices] / N
    np.testing.assert_array_equal(fitted.selection_frequency(), expected)
    assert expected.min() < 1.0


def test_selection_that_is_not_redone_would_be_caught(seed):
    """A wrong twin: columns chosen with all cases make cases left out look easy."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(40, 2000)), np.arange(40) % 2
    honest = SelectiveGaussianNB(k=10, correct_selection=False).fit(X, y)
    kept = X[:, honest.selection_.indices]
    twin = SelectiveGaussianNB(correct_selection=False).fit(kept, y)
    assert twin.loo_score_.error < 0.3
    assert honest.loo_score_.error > 0.3


def test_scores_are_those_of_the_probabilities(seed):
    X, y = bits(seed)
    model = SelectiveBernoulliNB(k=6).fit(X, y)
    p = model.loo_predict_proba()
    score = model.loo_score_
    assert score.k == 6
    assert score.log_loss == pytest.approx(log_loss(y, p))
    assert score.squared_error == pytest.approx(np.mean((p[:, 1] - y) ** 2))
    assert score.error == np.mean(p.argmax(axis=1) != y)
    assert score.expected_error == pytest.approx(np.mean(p.min(axis=1)))


@pytest.mark.slow
@pytest.mark.parametrize("case", ["bits", "numbers", "tempered bits"])
def test_a_path_of_k_is_as_each_k_alone(case, seed):
    model, data = CLASSIFIERS[case]
    X, y = data(seed)
    X, y = X[:12], y[:12]
    path = clone(model).fit(X, y).k_path([9, 5])
    assert [score.k for score in path] == [9, 5]
    for score in path:
        alone = clone(model).set_params(k=score.k).fit(X, y).loo_score_
        assert score.log_loss == pytest.approx(alone.log_loss, abs=1e-9)
        assert score.error == alone.error


@pytest.mark.parametrize(
    "model", [SelectiveBernoulliNB(k="loo"), SelectiveGaussianNB(k="loo")], ids=["bits", "numbers"]
)
def test_k_is_chosen_by_cases_left_out(model, seed):
    X, y = (bits if isinstance(model, SelectiveBernoulliNB) else numbers)(seed)
    X, y = X[:10, :6], y[:10]
    model = clone(model).fit(X, y)
    best = min(model.k_path_, key=lambda score: score.log_loss)
    assert [score.k for score in model.k_path_] == [1, 2, 5]
    assert model.selection_.indices.size == best.k
    fixed = clone(model).set_params(k=best.k).fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X), fixed.predict_proba(X))
    assert model.loo_score_.log_loss == pytest.approx(best.log_loss)
    kept = np.arange(10) != 4
    alone = clone(model).fit(X[kept], y[kept]).predict_proba(X[[4]])[0]
    np.testing.assert_allclose(model.loo_predict_proba()[4], alone, atol=1e-10)


def test_k_is_chosen_where_columns_are_kept_by_name():
    X, y = bits(0)
    X, y = X[:6, :4], y[:6]
    named = pandas.DataFrame(X, columns=[f"x{j}" for j in range(4)])
    by_name = SelectiveBernoulliNB(k="loo", always_keep=["x3"]).fit(named, y)
    by_number = SelectiveBernoulliNB(k="loo", always_keep=[3]).fit(X, y)
    expected = by_number.loo_predict_proba()
    np.testing.assert_array_equal(by_name.loo_predict_proba(), expected)


def test_k_of_a_regressor_is_chosen_by_cases_left_out(seed):
    X, _ = numbers(seed)
    y = X[:, 0] + np.random.default_rng(seed).normal(size=N)
    model = SelectiveNaiveRegressor(k="loo").fit(X[:, :12], y)
    best = min(model.k_path_, key=lambda score: score.log_loss)
    assert model.selection_.indices.size == best.k
    with pytest.raises(ValueError, match="cross_val_predict"):
        model.loo_predict()


@pytest.mark.parametrize("estimator", [SelectiveGaussianNB, SelectiveNaiveRegressor])
def test_the_number_of_selected_features_is_told(estimator):
    X, y = numbers(0)
    X, y = X[:12, :20], y[:12]
    found = estimator(k="loo").fit(X, y)
    best = min(found.k_path_, key=lambda score: score.log_loss)
    assert found.k_ == best.k == found.selection_.indices.size
    assert type(found.k_) is int
    always = estimator(k=3, always_keep=[0, 7]).fit(X, y)
    assert (always.k_, always.selection_.indices.size) == (3, 5)
    above = estimator(threshold=0.3).fit(X, y)
    assert above.k_ == above.selection_.indices.size > 0
    assert estimator().fit(X, y).k_ == 20
    assert not hasattr(estimator(k=3), "k_")


@pytest.mark.filterwarnings("ignore:class .* has one case only")
def test_what_cannot_be_left_out_is_said():
    X, y = bits(0)
    y = (np.arange(N) == 3).astype(int)
    model = SelectiveBernoulliNB(k=3).fit(X, y)
    with pytest.raises(ValueError, match=r"class 1 has too few cases \(1\)"):
        model.loo_predict_proba()
    with pytest.raises(ValueError, match=r"class 1 has too few cases \(1\)"):
        SelectiveBernoulliNB(k=3, dependence="tempered").fit(X, y)
    with pytest.raises(NotFittedError):
        SelectiveBernoulliNB(k=3).loo_predict_proba()
    with pytest.raises(NotFittedError):
        _ = SelectiveBernoulliNB(k=3).loo_score_
    loaded = pickle.loads(pickle.dumps(model))
    with pytest.raises(NotFittedError, match="without its training set"):
        loaded.loo_predict_proba()
    with pytest.raises(ValueError, match="selects by k"):
        SelectiveBernoulliNB(threshold=0.3).fit(X, y).k_path([1])
    with pytest.raises(ValueError, match="ks=1000"):
        model.k_path([1000])
    with pytest.raises(ValueError, match="ks is empty"):
        model.k_path([])
    with pytest.raises(ValueError, match="one test fold"):
        SelectiveBernoulliNB(k=3).fit(X, np.arange(N) % 2).cv_predict_proba(
            [(np.arange(5, N), np.arange(5))]
        )


def test_responses_that_cannot_be_left_out_are_said():
    X, _ = numbers(0)
    y = (np.arange(N) == 3).astype(float)
    with pytest.raises(ValueError, match="without case 4 all responses are 0"):
        _ = SelectiveNaiveRegressor(k=3).fit(X, y).loo_score_
    with pytest.raises(ValueError, match="leave-one-out needs at least 4 cases, and there are 3"):
        SelectiveNaiveRegressor(k=3).fit(X[:3], [1.0, 2.0, 4.0]).loo_predict()


def test_a_single_k_is_a_path():
    X, y = bits(0)
    model = SelectiveBernoulliNB(k=3).fit(X, y)
    assert model.k_path(3) == [model.loo_score_]


def test_a_selection_made_before_cannot_be_made_again():
    X, y = bits(0)
    model = SelectiveBernoulliNB(preselected_from=5000).fit(X[:, :5], y)
    with pytest.warns(UserWarning, match="better than those of new cases"):
        model.loo_predict_proba()


@cache
def left_out_of_arrays():
    models = SelectiveBernoulliNB(k=6), SelectiveGaussianNB(k=6, dependence="tempered")
    X, y = few_bits()
    return [(model, clone(model).fit(X, y).loo_predict_proba()) for model in models]


def few_bits():
    X, y = bits(1)
    return X[:10], y[:10]


@pytest.mark.parametrize("source", ["sparse", "file", "dask", "frame"])
def test_cases_are_left_out_of_any_source(source, tmp_path):
    X, y = few_bits()
    tables = {
        "sparse": lambda: sparse.csr_array(X),
        "file": lambda: open_columns(tmp_path / "X.npy"),
        "dask": lambda: dask.array.from_array(X, chunks=(4, 40)),
        "frame": lambda: pandas.DataFrame(X, columns=[f"x{j}" for j in range(P)]),
    }
    np.save(tmp_path / "X.npy", X)
    for estimator, plain in left_out_of_arrays():
        model = clone(estimator).fit(tables[source](), y)
        np.testing.assert_allclose(model.loo_predict_proba(), plain, rtol=0, atol=1e-12)


def test_a_notebook_does_not_leave_out_cases(monkeypatch):
    X, y = bits(0)
    model = SelectiveBernoulliNB(k=3).fit(X, y)
    monkeypatch.setattr(
        SelectiveBernoulliNB, "_loo_scores", lambda *_: pytest.fail("cases were left out")
    )
    assert "SelectiveBernoulliNB" in model._repr_html_()


def test_a_path_of_k_is_a_list_that_prints_as_a_table():
    X, y, *_ = numbers(0)
    model = SelectiveGaussianNB(k=5).fit(X, y)
    path = model.k_path([1, 2, 5])
    assert isinstance(path, list)
    assert path == list(path) == model.k_path([1, 2, 5])
    assert min(path, key=lambda score: score.log_loss) in path
    assert pickle.loads(pickle.dumps(path)) == path
    header, *rows = repr(path).splitlines()
    assert header.split() == ["k", "log_loss", "squared_error", "error", "expected_error"]
    assert [row.split()[:2] for row in rows] == [[str(s.k), f"{s.log_loss:.3f}"] for s in path]
    best = np.argmin([score.log_loss for score in path])
    assert [row.endswith("lowest log loss") for row in rows] == [i == best for i in range(3)]
    many = repr(KPath(path * 8)).splitlines()
    assert many[-1] == "... and 4 more"
    assert len(many) == 1 + 20 + 1
    assert repr(KPath()) == "[]"


def test_a_path_has_no_k_above_what_can_be_selected():
    scores = [LeaveOneOutFit(k, loss, 0.0, 0.0) for k, loss in ((1, 3.0), (5, 1.0), (10, 2.0))]
    path = KPath(scores)
    assert path.at_most(10) == scores
    assert [(s.k, s.log_loss) for s in path.at_most(7)] == [(1, 3.0), (5, 1.0), (7, 2.0)]
    assert [(s.k, s.log_loss) for s in path.at_most(3)] == [(1, 3.0), (3, 1.0)]


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy], ids=["copy", "deepcopy"])
def test_a_copy_keeps_the_training_set(copied):
    model = SelectiveBernoulliNB(k=6).fit(*bits(0))
    again = copied(model)
    np.testing.assert_array_equal(again.loo_predict_proba(), model.loo_predict_proba())
    again.fit(*bits(1))
    assert again.selection_ != model.selection_
    np.testing.assert_array_equal(model.selection_.indices, copied(model).selection_.indices)


@pytest.mark.parametrize("kind", ["real", "binary"])
def test_the_choice_of_k_holds_few_fits_at_a_time(kind, monkeypatch):
    """With 77 cases and 1000 features all correlations together would take 9 GB."""
    rng = np.random.default_rng(0)
    y = np.arange(8) % 2
    X = rng.normal(size=(8, 10)) + 0.5 * y[:, np.newaxis]
    estimator = SelectiveGaussianNB if kind == "real" else SelectiveBernoulliNB
    made, alive = [], []
    plain = ClassFitting._predictor_of

    def counted(*arguments):
        predictor = plain(*arguments)
        made.append(weakref.ref(predictor))
        alive.append(sum(each() is not None for each in made))
        return predictor

    monkeypatch.setattr(ClassFitting, "_predictor_of", counted)
    model = estimator(k="loo", dependence="correlated")
    model.fit(X if kind == "real" else (X > 0.0).astype(np.int8), y)
    assert [score.k for score in model.k_path_] == [1, 2, 5, 10]
    assert len(made) > 60
    assert max(alive) <= 4
