"""Model files of `SelectiveRegressor`: predictions survive, and broken entries are refused."""

import json
from copy import deepcopy

import numpy as np
import pytest
from written_files import selection_of

from unselected import SelectiveRegressor
from unselected.files.models import ModelError, load_model, save_model

pytestmark = [
    pytest.mark.filterwarnings("ignore:.* outside of their training range"),
    pytest.mark.usefixtures("few_folds"),
]

LEVELS = (0.05, 0.3, 0.5, 0.95)


def table_of(seed, n=40, p=25, missing=0.0):
    """A response that follows some columns, skewed columns, and values that are missing."""
    rng = np.random.default_rng(seed)
    y = rng.normal(size=n)
    X = rng.normal(size=(n, p))
    X[:, :6] += y[:, np.newaxis]
    X[:, 1::3] = np.exp(X[:, 1::3])
    X[rng.random(X.shape) < missing] = np.nan
    return X, y


def write(model, path):
    save_model(
        model.panel().predictor,
        path,
        selection=selection_of(model),
        provenance={"unselected": "0.0"},
    )
    return load_model(path)


def of_predictor(predictor, rows, y):
    mean, std = predictor.mean_and_std(rows)
    quantiles = predictor.quantiles(rows, LEVELS)
    return mean, std, quantiles, predictor.log_density(rows, y), predictor.cdf(rows, y)


@pytest.mark.parametrize(
    ("options", "missing"),
    [
        ({"dependence": "auto", "marginals": "raw"}, 0.0),
        ({"dependence": "auto", "marginals": "normal"}, 0.1),
        ({"dependence": "correlated", "marginals": "normal"}, 0.0),
        ({"dependence": "correlated", "marginals": "raw"}, 0.1),
        ({"dependence": "none", "marginals": "raw"}, 0.1),
        ({"dependence": "none", "marginals": "normal", "prior": "common"}, 0.0),
        ({"preselected_from": 400, "k": "auto"}, 0.0),
        ({"always_keep": [20], "correct_selection": False}, 0.0),
    ],
    ids=str,
)
def test_a_saved_regressor_predicts_the_same(options, missing, tmp_path):
    X, y = table_of(1, missing=missing)
    model = SelectiveRegressor(**{"k": 8, **options}).fit(X, y)
    read = write(model, tmp_path / "model.json")
    new, responses = table_of(2, missing=missing)
    rows = new[:, model.selection_.indices]
    ours = (
        *model.predict(new, return_std=True),
        model.predict_quantiles(new, LEVELS),
        model.predict_log_density(new, responses),
        model.predict_cdf(new, responses),
    )
    for got, wanted in zip(of_predictor(read.predictor, rows, responses), ours, strict=True):
        np.testing.assert_allclose(got, wanted, rtol=0, atol=1e-11)
    assert read.kind == "regressor"
    assert read.classes is None
    assert read.fitted.in_words() == model.in_words()
    assert read.fitted.k_weights == pytest.approx(model.k_weights_, abs=1e-15)
    theirs, mine = read.feature_effects().to_dict(), model.feature_effects().to_dict()
    for name in set(mine) - {"feature"}:
        np.testing.assert_array_equal(theirs[name], mine[name])


@pytest.fixture(scope="module")
def document(tmp_path_factory):
    """A file with regressions of all kinds, of normal scores."""
    path = tmp_path_factory.mktemp("file") / "model.json"
    write(SelectiveRegressor(k=6, marginals="normal").fit(*table_of(1)), path)
    return json.loads(path.read_text())


def test_every_kind_of_regression_is_written(document):
    assert {member["kind"] for member in document["members"]} == {"linear", "quadratic", "inverse"}


def test_names_survive(tmp_path):
    pandas = pytest.importorskip("pandas")
    X, y = table_of(3)
    frame = pandas.DataFrame(X).add_prefix("gene ")
    model = SelectiveRegressor(k=5, dependence="none").fit(frame, y)
    read = write(model, tmp_path / "model.json")
    assert read.fitted.names.tolist() == model.panel().feature_names_in_.tolist()
    assert read.feature_effects().features.tolist() == read.fitted.names.tolist()


@pytest.mark.parametrize("guard", ["auto", "correlated", "none"])
@pytest.mark.filterwarnings("ignore:No feature has an absolute correlation")
def test_a_model_without_features_knows_the_response_alone(guard, tmp_path):
    X, y = table_of(4)
    model = SelectiveRegressor(threshold=0.9999, dependence=guard).fit(X, y)
    mean, std = model.predict(X, return_std=True)
    assert np.ptp(mean) == 0.0
    np.testing.assert_allclose(mean, y.mean())
    np.testing.assert_allclose(std, y.std(), rtol=0.1)
    read = write(model, tmp_path / "model.json")
    np.testing.assert_allclose(read.predictor.mean_and_std(X[:, :0])[1], std, rtol=0, atol=1e-12)


@pytest.mark.parametrize("levels", [[], [0.0], [0.5, 1.0], [[0.5]]], ids=str)
def test_levels_that_are_no_probabilities_are_refused(levels, document, tmp_path):
    path = tmp_path / "model.json"
    path.write_text(json.dumps(document))
    predictor = load_model(path).predictor
    for n in (0, 2):
        with pytest.raises(ValueError, match="must be numbers above 0 and below 1"):
            predictor.quantiles(np.zeros((n, predictor.fitted.n_columns)), levels)


def member_of(document, kind):
    return next(member for member in document["members"] if member["kind"] == kind)


def set_member(kind, /, **changes):
    def change(document):
        member = member_of(document, kind)
        for name, value in changes.items():
            member[name] = value(member[name]) if callable(value) else value

    return change


def set_entry(name, **changes):
    return lambda document: document[name].update(changes)


BROKEN = {
    "members has no entry 'slope'": lambda document: member_of(document, "inverse").pop("slope"),
    "members has the unknown entry 'axes'": set_member("inverse", axes=[]),
    "members kind": set_member("linear", kind="cubic"),
    "members unit": set_member("linear", unit=0.0),
    "members n ": set_member("linear", n=2),
    "members lengths": set_member("linear", lengths=lambda old: [-1.0, *old[1:]]),
    "members axes": set_member("linear", axes=lambda old: old[1:]),
    "members components": set_member("quadratic", components=lambda old: [[], *old[1:]]),
    "members variance": set_member("inverse", variance=lambda old: [0.0, *old[1:]]),
    "the number of members independence": set_member("inverse", independence=[]),
    "members normal is neither true nor false": set_member("inverse", normal=1),
    "columns": set_member("inverse", columns=lambda old: [*old[:-1], 999]),
    "the weights of prior and members make a sum": set_entry("prior", null=0.9),
    "prior df": set_entry("prior", df=0.5),
    "normal is missing": lambda document: document.update(normal=None),
    "main_normal is neither": lambda document: document.update(main_normal="yes"),
    "main has no entry": lambda document: document["main"].pop("event"),
    "members is": lambda document: document.update(members=3),
}


@pytest.mark.parametrize("message", BROKEN)
def test_broken_entries_are_refused(message, document, tmp_path):
    broken = deepcopy(document)
    BROKEN[message](broken)
    path = tmp_path / "model.json"
    path.write_text(json.dumps(broken))
    with pytest.raises(ModelError, match=message):
        load_model(path)


def test_numbers_at_the_ends_of_their_ranges_are_refused_or_harmless(document, tmp_path, seed):
    rng = np.random.default_rng(seed)
    extremes = [0, 1, -1, 1e-300, 0.5, 1e9, 1e149, -1e149]
    rows, y = np.zeros((2, len(document["names"] or document["selection"]["scores"]))), np.zeros(2)
    refused = 0
    for number in range(60):
        broken = deepcopy(document)
        inner = broken["members"] if number % 4 else broken["prior"]
        while True:
            keys = list(inner) if isinstance(inner, dict) else range(len(inner))
            key = keys[rng.integers(len(keys))]
            if not isinstance(inner[key], list | dict) or not inner[key]:
                break
            inner = inner[key]
        inner[key] = extremes[rng.integers(len(extremes))]
        path = tmp_path / f"model {number}.json"
        path.write_text(json.dumps(broken))
        try:
            predictor = load_model(path).predictor
        except ModelError:
            refused += 1
            continue
        predicted = of_predictor(predictor, rows, y)
        assert np.isfinite(predicted[2]).all()
    assert 0 < refused < 60
