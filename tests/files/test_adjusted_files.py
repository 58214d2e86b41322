"""Model files with covariates: predictions survive, and broken entries are refused."""

import json

import numpy as np
import pytest
from adjusted_cases import ESTIMATORS, cases, predictions, some
from sklearn.base import clone
from written_files import selection_of

from unselected.estimators.panel import panel_of
from unselected.files.models import ModelError, load_model, save_model

pytestmark = [
    pytest.mark.filterwarnings("ignore:.* outside of their training range"),
    pytest.mark.usefixtures("few_folds"),
]


def written(model, path):
    save_model(
        model.panel().predictor,
        path,
        selection=selection_of(model),
        provenance={"unselected": "0.0"},
    )
    return path


def fitted(name, missing=0.0, **options):
    model, kind = ESTIMATORS[name]
    X, y, covariates = cases(kind, 1, missing=missing)
    return clone(model).set_params(**options).fit(X, y, covariates=covariates)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "missing", "options"),
    [
        *((name, 0.0, {}) for name in ESTIMATORS),
        ("gaussian, three classes", 0.1, {}),
        ("gaussian", 0.3, {"k": 1}),
        ("bernoulli", 0.1, {}),
        ("naive regressor", 0.3, {"k": 1}),
        ("classifier", 0.1, {"marginals": "normal"}),
        ("regressor", 0.1, {"marginals": "normal"}),
        ("regressor", 0.0, {"dependence": "none", "marginals": "raw"}),
    ],
)
def test_a_saved_model_predicts_the_same(name, missing, options, tmp_path):
    model = fitted(name, missing, **options)
    read = load_model(written(model, tmp_path / "model.json"))
    X, _, covariates = cases(ESTIMATORS[name][1], 2, n=6, missing=missing)
    ours = predictions(model, X, covariates=covariates)
    theirs = predictions(
        panel_of(read.predictor), X[:, model.selection_.indices], covariates=covariates
    )
    np.testing.assert_allclose(theirs, ours, rtol=0, atol=1e-12)
    mine, other = model.feature_effects().to_dict(), read.feature_effects().to_dict()
    for column in set(mine) - {"feature"}:
        np.testing.assert_allclose(other[column], mine[column], rtol=0, atol=1e-12)


@pytest.mark.filterwarnings("ignore:.*(nearly determine|no column is related)")
@pytest.mark.parametrize("name", ["gaussian", "gaussian, three classes", "bernoulli", "classifier"])
def test_a_batch_that_is_a_class_is_saved_too(name, tmp_path):
    """Nothing is left for the features to say, and predictions follow the batch."""
    model, kind = ESTIMATORS[name]
    X, y, _ = cases(kind, 1)
    batch = {"batch": [f"batch of {label}" for label in y]}
    model = clone(model).fit(X, y, covariates=batch)
    panel = panel_of(load_model(written(model, tmp_path / "model.json")).predictor)
    kept = X[:, model.selection_.indices]
    np.testing.assert_array_equal(
        panel.predict_proba(kept, covariates=batch), model.predict_proba(X, covariates=batch)
    )
    np.testing.assert_array_equal(panel.predict(kept, covariates=batch), y)


@pytest.mark.parametrize("name", ["bernoulli", "classifier", "regressor"])
def test_constant_covariates_are_saved_and_asked_for(name, tmp_path):
    model, kind = ESTIMATORS[name]
    X, y, _ = cases(kind, 1)
    known = {"c": np.full(len(X), 3.5), "d": np.full(len(X), "one")}
    model = clone(model).fit(X, y, covariates=known)
    panel = panel_of(load_model(written(model, tmp_path / "model.json")).predictor)
    kept = X[:, model.selection_.indices]
    np.testing.assert_allclose(
        predictions(panel, kept, covariates=known), predictions(model, X, covariates=known), 1e-12
    )
    with pytest.raises(ValueError, match="pass covariates= with 'c', 'd'"):
        panel.predict(kept)


def test_a_single_feature_with_missing_values_keeps_its_own_geometry(tmp_path):
    """Where its values are known is not where all values are."""
    for name in ("gaussian", "naive regressor"):
        model = fitted(name, 0.4, k=1)
        kept = model._predictor.fitted.moments
        if kept.own_geometry is None:
            continue
        read = load_model(written(model, tmp_path / f"{name}.json")).fitted.moments
        assert read.geometry.n.tolist() == kept.geometry.n.tolist()


def test_the_coding_is_in_the_file(tmp_path):
    read = load_model(written(fitted("gaussian"), tmp_path / "model.json"))
    assert read.predictor.coding.names == ["age", "sex", "batch"]
    X, _, covariates = cases("two", 2)
    with pytest.raises(ValueError, match="'d'"):
        panel_of(read.predictor).predict(
            X[:3, :5], covariates={**some(covariates, slice(3)), "batch": ["a", "d", "b"]}
        )


# --- broken entries ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def documents(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    each = {
        "gaussian": fitted("gaussian, three classes", 0.1),
        "bits": fitted("bernoulli"),
        "naive": fitted("naive regressor"),
        "regressor": fitted("regressor"),
        "classifier": fitted("classifier"),
    }
    return {
        name: json.loads(written(model, folder / f"{name}.json").read_text())
        for name, model in each.items()
    }


def refused(document, path, message):
    path.write_text(json.dumps(document))
    with pytest.raises(ModelError, match=message):
        load_model(path)


def change(document, place, value):
    document = json.loads(json.dumps(document))
    inner = document
    *parents, last = place
    for key in parents:
        inner = inner[key]
    if value is ...:
        del inner[last]
    else:
        inner[last] = value
    return document


M = "moments"
REGRESSION = ("covariates", "regression")


@pytest.mark.parametrize(
    ("name", "place", "value", "message"),
    [
        ("gaussian", (M,), 3, "moments is 3, not a set of named entries"),
        ("gaussian", (M, "offset"), ..., "moments has no entry 'offset'"),
        ("gaussian", (M, "more"), 1, "moments has the unknown entry 'more'"),
        ("gaussian", (M, "center"), [0.0], "moments"),
        ("gaussian", (M, "center", 0), "x", "moments center"),
        ("gaussian", (M, "within", 0), -1.0, "moments within"),
        ("gaussian", (M, "within", 0), 1e300, "moments within"),
        ("gaussian", (M, "beta"), [], "the length of moments beta"),
        ("gaussian", (M, "beta", 0, 0), 1e200, "moments beta"),
        ("gaussian", (M, "expected", 0), [0.0], "moments expected"),
        ("gaussian", (M, "complete", "n"), [1], "moments geometry n"),
        ("gaussian", (M, "complete", "rank"), [0], "moments geometry rank"),
        ("gaussian", (M, "complete", "rank"), [99], "moments geometry rank"),
        ("gaussian", (M, "complete", "n"), [5], "no degrees of freedom left"),
        ("gaussian", (M, "complete", "lam", 0), [-1.0], "moments geometry lam"),
        ("gaussian", (M, "complete", "axes"), [], "moments axes"),
        ("gaussian", (M, "complete", "inverse", 0, 0), [None], "moments inverse"),
        ("gaussian", (M, "complete", "inverse", 0, 0), [-1.0], "inverse"),
        ("gaussian", (M, "geometry"), {}, "moments geometry has no entry 'n'"),
        ("gaussian", (M, "geometry", "n"), [30], "moments geometry n"),
        ("gaussian", (M, "geometry", "n", 0), 37, "moments geometry n"),
        ("gaussian", ("sizes",), [12, 12], "has 3 values where 2 are expected"),
        ("gaussian", ("sizes", 0), 0, "sizes"),
        ("gaussian", ("pseudocounts", 0), 0, "pseudocounts"),
        ("gaussian", ("covariates",), None, "covariates is None"),
        ("gaussian", ("covariates", "basis", "center"), [0.0], "covariates"),
        ("gaussian", ("covariates", "basis", "transform", 0), [0.0], "covariates|moments"),
        ("gaussian", (*REGRESSION, "totals", 0), -1.0, "covariates regression totals"),
        ("gaussian", (*REGRESSION, "totals", 0), 0.0, "covariates regression totals"),
        ("gaussian", (*REGRESSION, "mean"), [], "covariates regression mean"),
        ("gaussian", (*REGRESSION, "covariance", 0, 0), "1", "covariates regression covariance"),
        ("gaussian", (*REGRESSION, "covariance", 0, 0), -1.0, "covariates regression covariance"),
        ("gaussian", (*REGRESSION, "covariance", 0, 1), 9.0, "covariates regression covariance"),
        ("gaussian", (*REGRESSION, "log_evidence"), None, "covariates regression log_evidence"),
        ("gaussian", (*REGRESSION, "transform"), 7, "covariates regression transform"),
        ("bits", ("thresholds",), [0.5], "thresholds"),
        ("bits", ("binarize",), "mean", "binarize"),
        ("naive", ("unit",), 0.0, "unit"),
        ("naive", ("unit",), -1.0, "unit"),
        ("naive", ("basis", "center"), 0, "covariates center"),
        ("naive", (M, "expected"), [[0.0]], "moments expected"),
        ("regressor", ("adjusted", "n"), 2, "adjusted n"),
        ("regressor", ("adjusted", "rank"), 0, "adjusted rank"),
        ("regressor", ("adjusted", "squares"), -1.0, "adjusted squares"),
        ("regressor", ("adjusted", "slopes"), [[0.0]], "adjusted slopes"),
        ("regressor", ("adjusted", "coefficients"), [], "adjusted coefficients"),
        ("regressor", ("adjusted", "inverse", 0, 0), -1.0, "adjusted inverse"),
        ("regressor", ("adjusted",), ..., "."),
    ],
)
def test_broken_entries_are_refused(name, place, value, message, documents, tmp_path):
    refused(change(documents[name], place, value), tmp_path / "model.json", message)
