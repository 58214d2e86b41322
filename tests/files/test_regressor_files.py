"""Model files of `SelectiveRegressor`: predictions survive, and broken entries are refused."""

import base64
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
    """A response that follows some columns, skewed ones, factors, and values that are missing."""
    rng = np.random.default_rng(seed)
    y = rng.normal(size=n)
    X = rng.normal(size=(n, p)) + 0.5 * rng.normal(size=(n, 3)) @ rng.normal(size=(3, p))
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
def of_skewed(tmp_path_factory):
    """A model of a skewed response, and its file."""
    X, y = table_of(1)
    model = SelectiveRegressor(k=8, marginals="normal").fit(X, np.exp(2.0 * y))
    path = tmp_path_factory.mktemp("file") / "model.json"
    write(model, path)
    return model, path


def test_a_saved_transform_of_the_response_predicts_the_same(of_skewed):
    model, path = of_skewed
    read, (new, z) = load_model(path), table_of(2)
    responses = np.exp(2.0 * z)
    assert read.fitted.details()["response_power"] == model.response_power_ < 1.0
    rows = new[:, model.selection_.indices]
    ours = (
        *model.predict(new, return_std=True),
        model.predict_quantiles(new, LEVELS),
        model.predict_log_density(new, responses),
        model.predict_cdf(new, responses),
    )
    for got, wanted in zip(of_predictor(read.predictor, rows, responses), ours, strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-11, atol=1e-11)
    low, middle, high = read.fitted.levels  # in units of the response, and so skewed
    assert 0.0 < low < middle < high
    assert high - middle > 2.0 * (middle - low)


@pytest.mark.parametrize(
    ("message", "changes"),
    [
        ("transform sign", {"sign": 0}),
        ("transform power", {"power": 1.5}),
        ("transform shift", {"shift": 0.0}),
        ("transform unit", {"unit": -1.0}),
        ("transform high", {"high": -1e9}),
        ("transform has the unknown entry", {"more": 1}),
    ],
)
def test_a_broken_transform_is_refused(message, changes, of_skewed, tmp_path):
    broken = json.loads(of_skewed[1].read_text())
    broken["transform"].update(changes)
    path = tmp_path / "model.json"
    path.write_text(json.dumps(broken))
    with pytest.raises(ModelError, match=message):
        load_model(path)


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


def test_features_are_described_in_the_units_of_their_columns(tmp_path):
    """With normal scores: values at the mean response, and one deviation below and above."""
    rng = np.random.default_rng(0)
    y = 50.0 + 12.0 * rng.normal(size=200)
    X = 1000.0 * np.exp(0.1 * (y - 50.0)[:, np.newaxis] * [1.0, -1.0, 0.0])
    X *= np.exp(0.1 * rng.normal(size=X.shape))
    model = SelectiveRegressor(k=2, marginals="normal", dependence="none").fit(X, y)
    fitted = write(model, tmp_path / "model.json").fitted
    np.testing.assert_allclose(fitted.levels, y.mean() + y.std() * np.array([-1.0, 0.0, 1.0]))
    expected = 1000.0 * np.exp(0.1 * (fitted.levels - 50.0))
    features = fitted.describe(model.scores_)
    for feature, values in zip(features, (expected, 1e6 / expected), strict=True):
        np.testing.assert_allclose(feature["centers"], values, rtol=0.25)
        cells = fitted.cells({"name": "x", "score": 0.9, **feature})
        assert len(cells) == 5
        assert cells[f"at response {fitted.levels[2]:.4g}"] == f"{feature['centers'][2]:.4g}"
    raw = SelectiveRegressor(k=2, marginals="raw", dependence="none").fit(X, y)
    assert "centers" not in raw.panel().predictor.fitted.describe(raw.scores_)[0]


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


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """A model of many features, and its file; no values are missing, so that scores are shared."""
    X, y = table_of(1, p=150)
    path = tmp_path_factory.mktemp("file") / "model.json"
    model = SelectiveRegressor(k=120, marginals="normal").fit(X, y)
    return write(model, path), json.loads(path.read_text())


def as_lists(document):
    """The same as it would be written without packing, or by hand."""
    for member in document["members"]:
        for name in ("axes", "components", "factor"):
            if isinstance(member.get(name), dict):
                numbers = np.frombuffer(base64.b64decode(member[name]["float64"]), dtype="<f8")
                rows = len(member["feature_center"] if name == "axes" else member["columns"])
                member[name] = numbers.reshape(rows, -1).tolist()
    normal = document["normal"]
    normal["scores"] = [normal["scores"][place] for place in normal.pop("scores_of")]
    return document


def test_large_tables_are_packed_and_lists_are_read_as_well(large, tmp_path):
    read, document = large
    path = tmp_path / "lists.json"
    listed = as_lists(deepcopy(document))
    path.write_text(json.dumps(listed))
    assert any(isinstance(member.get("axes"), dict) for member in document["members"])
    assert len(json.dumps(document)) < 0.65 * len(json.dumps(listed))
    rows, y = table_of(2, p=120)
    for packed, plain in zip(
        of_predictor(read.predictor, rows, y),
        of_predictor(load_model(path).predictor, rows, y),
        strict=True,
    ):
        np.testing.assert_array_equal(packed, plain)


def packed_bytes(change):
    """Change the bytes of the packed axes of a member."""

    def apply(document):
        member = next(one for one in document["members"] if isinstance(one.get("axes"), dict))
        content = change(base64.b64decode(member["axes"]["float64"]))
        member["axes"]["float64"] = base64.b64encode(content).decode()

    return apply


def packed_entry(entry):
    def apply(document):
        next(one for one in document["members"] if isinstance(one.get("axes"), dict))["axes"] = (
            entry
        )

    return apply


BROKEN_PACKING = {
    "members axes has 1 numbers, which make no such table": packed_bytes(lambda old: old[:8]),
    "members axes float64 has 7 bytes": packed_bytes(lambda old: old[:7]),
    "members axes has a number that is not from": packed_bytes(
        lambda old: np.full(len(old) // 8, np.nan).tobytes()
    ),
    "members axes has a number that is not from -1.1 to 1.1": packed_bytes(
        lambda old: np.full(len(old) // 8, 2.0).tobytes()
    ),
    "members axes float64 is no base64": packed_entry({"float64": "no!"}),
    "members axes float64 is no text": packed_entry({"float64": 3}),
    "members axes has no entry 'float64'": packed_entry({}),
    "normal scores_of has 99": lambda document: document["normal"]["scores_of"].__setitem__(0, 99),
    "normal scores_of has 119 values": lambda document: document["normal"]["scores_of"].pop(),
}


@pytest.mark.parametrize("message", BROKEN_PACKING)
def test_broken_packing_is_refused(message, large, tmp_path):
    broken = deepcopy(large[1])
    BROKEN_PACKING[message](broken)
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
