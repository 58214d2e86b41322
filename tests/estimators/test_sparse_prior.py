"""`prior="sparse"` of the estimators, in model files, and in the commands."""

import json

import numpy as np
import pytest
from sklearn.base import clone

from unselected import SelectiveBernoulliNB, SelectiveGaussianNB, SelectiveNaiveRegressor
from unselected.cli import main
from unselected.files.models import ModelError, load_model, save_model

ESTIMATORS = {
    "binary": SelectiveBernoulliNB,
    "real": SelectiveGaussianNB,
    "line": SelectiveNaiveRegressor,
}


def data(kind, seed, n=36, p=150, missing=0.0):
    """Five related features among many."""
    rng = np.random.default_rng(seed)
    y = rng.normal(size=n) if kind == "line" else rng.permutation(np.arange(n) % 2)
    X = rng.normal(size=(n, p))
    X[:, :5] += 1.5 * np.asarray(y)[:, None]
    if kind == "binary":
        return (X > 0.5).astype(float), y
    X[rng.random(X.shape) < missing] = np.nan
    return X, y


def predicted(model, X):
    if isinstance(model, SelectiveNaiveRegressor):
        return model.predict(X, return_std=True)
    return model.predict_log_proba(X)


def saved_to(path, model):
    selection = model.selection_
    save_model(
        model.panel().predictor,
        path,
        selection={
            "rule": selection.rule,
            "ties": selection.ties,
            "threshold": selection.threshold,
            "statistic": selection.statistic,
            "n_features": selection.n_features,
            "n_omitted": selection.n_omitted,
            "scores": model.scores_.tolist(),
        },
        provenance={"unselected": "0"},
    )
    return load_model(path)


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_no_feature_that_tells_anything(kind):
    """No feature is kept, or constant ones alone: what is left is the response by itself."""
    X, y = data(kind, 0)
    few, common = (ESTIMATORS[kind](threshold=0.999, prior=p) for p in ("sparse", "common"))
    for model in (few, common):
        with pytest.warns(UserWarning, match="No feature has"):
            model.fit(X, y)
    np.testing.assert_allclose(predicted(few, X[:4]), predicted(common, X[:4]), rtol=1e-9)
    assert few.related_probability_.size == 0
    assert len(few.feature_effects()) == 0
    same = ESTIMATORS[kind](k=3, prior="sparse").fit(np.ones((len(y), 5)), y)
    assert np.all((same.related_probability_ > 0.0) & (same.related_probability_ < 1.0))
    assert len(same.feature_effects()) == 3


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_what_a_fit_leaves(kind, seed):
    X, y = data(kind, seed)
    model = ESTIMATORS[kind](k=8, prior="sparse").fit(X, y)
    shape = model.concentration_.shape
    assert model.concentration_weights_.shape == model.related_fraction_.shape == shape
    assert model.omission_probability_.shape == shape
    assert model.concentration_weights_.sum() == pytest.approx(1.0, abs=1e-12)
    assert np.all((model.related_fraction_ >= 1 / 150) & (model.related_fraction_ <= 1.0))
    assert model.related_probability_.shape == (8,)
    assert np.all((model.related_probability_ > 0.0) & (model.related_probability_ <= 1.0))
    if kind != "binary":  # of binary features the counts matter too
        assert np.all(np.diff(model.related_probability_[np.argsort(model.scores_)]) > 0.0)
    naive = clone(model).set_params(correct_selection=False).fit(X, y)
    assert np.all(naive.related_probability_ > model.related_probability_)
    models = [one._predictor.fitted.model for one in (naive, model)]
    priors = [getattr(one, "features", one) for one in models]
    assert [prior.least_fraction for prior in priors] == [1 / 150, 1 / 150]
    model.set_params(prior="common").fit(X, y)
    assert not hasattr(model, "related_fraction_")
    assert not hasattr(model, "related_probability_")


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_preselected_columns_count_all_that_selection_looked_at(kind, seed):
    X, y = data(kind, seed)
    whole = ESTIMATORS[kind](k=6, ties="random", random_state=0, prior="sparse").fit(X, y)
    part = ESTIMATORS[kind](preselected_from=150, prior="sparse")
    part.fit(X[:, whole.selection_.indices], y)
    assert part._predictor.fitted.model == whole._predictor.fitted.model
    np.testing.assert_allclose(part.related_probability_, whole.related_probability_, atol=1e-9)


@pytest.mark.parametrize("kind", ESTIMATORS)
@pytest.mark.parametrize("missing", [0.0, 0.05])
def test_a_saved_model_predicts_the_same(kind, missing, tmp_path, seed):
    X, y = data(kind, seed, missing=missing)
    model = ESTIMATORS[kind](k=6, prior="sparse").fit(X, y)
    saved = saved_to(tmp_path / "model.json", model)
    assert saved.fitted.model == model._predictor.fitted.model
    rows = X[:5]
    panel = predicted(model, rows)
    kept = rows[:, model.selection_.indices]
    ours = (
        saved.predictor.mean_and_std(kept)
        if kind == "line"
        else saved.predictor.predict_log_proba(kept)
    )
    np.testing.assert_array_equal(ours, panel)
    assert np.all(np.isfinite(panel))
    np.testing.assert_array_equal(saved.fitted.related.probability, model.related_probability_)


@pytest.mark.parametrize("kind", ESTIMATORS)
@pytest.mark.parametrize(
    ("entry", "value", "message"),
    [
        ("least_fraction", 0.0, "priors least_fraction has 0.0"),
        ("least_fraction", 1.5, "priors least_fraction has 1.5"),
        ("least_fraction", "few", "priors least_fraction"),
        ("shrinkage", 3.0, "both shrinkage and least_fraction"),
    ],
)
def test_files_that_cannot_be(kind, entry, value, message, tmp_path):
    if kind == "binary" and entry == "shrinkage":
        message = "unknown entry 'shrinkage'"
    X, y = data(kind, 0)
    path = tmp_path / "model.json"
    saved_to(path, ESTIMATORS[kind](k=3, prior="sparse").fit(X, y))
    document = json.loads(path.read_text())
    document["priors"][entry] = value
    path.write_text(json.dumps(document))
    with pytest.raises(ModelError, match=message):
        load_model(path)


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_other_priors_are_an_error(kind):
    X, y = data(kind, 0)
    with pytest.raises(ValueError, match="prior='wide' is not one of"):
        ESTIMATORS[kind](prior="wide").fit(X, y)


@pytest.mark.parametrize("kind", ["real", "line"])
def test_shrinkage_does_not_go_with_two_groups(kind):
    X, y = data(kind, 0)
    with pytest.raises(ValueError, match=r"variance_shrinkage=2\.0 supports prior='common' only"):
        ESTIMATORS[kind](prior="sparse", variance_shrinkage=2.0).fit(X, y)


def test_the_papers_grid_does_not_go_with_two_groups():
    X, y = data("binary", 0)
    with pytest.raises(ValueError, match="does not support prior='sparse': use quadrature='exact'"):
        SelectiveBernoulliNB(prior="sparse", quadrature="paper").fit(X, y)


@pytest.mark.parametrize("n_classes", [3, 5])
def test_several_classes_with_missing_values(n_classes, seed):
    X, _ = data("real", seed, n=50, missing=0.08)
    y = np.arange(50) % n_classes
    model = SelectiveGaussianNB(k=6, prior="sparse").fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_constant_columns_say_nothing(kind, seed):
    """A constant column is as likely to be related as any."""
    X, y = data(kind, seed)
    X[:, 7] = 1.0
    model = ESTIMATORS[kind](k=4, always_keep=[7], prior="sparse").fit(X, y)
    place = list(model.selection_.indices).index(7)
    mean = model.related_fraction_ @ model.concentration_weights_
    if kind != "binary":
        assert model.related_probability_[place] == pytest.approx(mean, abs=1e-12)
    assert np.all(np.isfinite(predicted(model, X[:3])))


def test_with_three_cases_a_response_has_no_variance():
    X, y = np.array([[1.0], [2.0], [4.0]]), np.array([0.0, 1.0, 3.0])
    model = SelectiveNaiveRegressor(prior="sparse", preselected_from=10).fit(X, y)
    mean, std = model.predict(X[:1], return_std=True)
    assert np.isfinite(mean[0])
    assert std[0] == np.inf


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_commands(kind, tmp_path, monkeypatch, capsys):
    X, y = data(kind, 0, p=60)
    names = ",".join([*(f"x{j}" for j in range(60)), "response"])
    table = tmp_path / "train.csv"
    np.savetxt(table, np.column_stack([X, y]), delimiter=",", header=names, comments="")
    monkeypatch.chdir(tmp_path)
    model = {"binary": "bernoulli", "real": "gaussian", "line": "regression"}[kind]
    asked = ["--target", "response", "--model", model, "--prior", "sparse"]
    assert main(["fit", "train.csv", *asked, "--k", "4"]) in (0, None)
    capsys.readouterr()
    main(["inspect", "model.json"])
    text = capsys.readouterr().out
    assert "related features: " in text
    assert "90 % interval" in text
    assert text.splitlines()[-5].split()[-1] == "related"
    main(["inspect", "model.json", "--json"])
    told = json.loads(capsys.readouterr().out)
    fitted = ESTIMATORS[kind](k=4, prior="sparse").fit(X, y)
    fraction = told["related_fraction"]
    assert fraction["mean"] == pytest.approx(
        fitted.related_fraction_ @ fitted.concentration_weights_, abs=1e-9
    )
    assert 1 / 60 <= fraction["low"] < fraction["mean"] < fraction["high"] <= 1.0
    found = sorted(feature["related_probability"] for feature in told["features"])
    np.testing.assert_allclose(found, np.sort(fitted.related_probability_), atol=1e-9)


def test_cross_validation_takes_the_prior(tmp_path, monkeypatch, capsys):
    X, y = data("real", 0, p=40)
    names = ",".join([*(f"x{j}" for j in range(40)), "response"])
    np.savetxt(
        tmp_path / "t.csv", np.column_stack([X, y]), delimiter=",", header=names, comments=""
    )
    monkeypatch.chdir(tmp_path)
    losses = []
    for prior in ("common", "sparse"):
        asked = ["--target", "response", "--model", "gaussian", "--k", "3", "--prior", prior]
        main(["cv", "t.csv", *asked, "--repeats", "1", "--method", "corrected", "--json"])
        losses.append(json.loads(capsys.readouterr().out)["rows"][0]["log_loss"])
    assert losses[0] != losses[1]
