"""`unselected inspect --effects`, and what `predict` says besides probabilities."""

import csv
import io
import json

import numpy as np
import pytest

from unselected.cli import main
from unselected.files.models import load_model
from unselected.files.writing import write_csv

pytestmark = pytest.mark.usefixtures("few_folds")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Training tables, new cases and fitted models: two classes, three, and numbers."""
    path = tmp_path_factory.mktemp("inspected")
    rng = np.random.default_rng(0)
    X, names = rng.normal(size=(45, 12)), [f"g{j}" for j in range(12)]
    targets = {
        "two": np.repeat(["ill", "well"], (20, 25)),
        "three": np.repeat(["a", "b", "c"], 15),
        "numbers": X[:, 0] + rng.normal(size=45),
        "bits": np.repeat(["ill", "well"], (20, 25)),
    }
    for name, y in targets.items():
        table = (X > 0.0).astype(int) if name == "bits" else X
        rows = [[*row, label] for row, label in zip(table.tolist(), y.tolist(), strict=True)]
        write_csv(path / f"{name}.csv", [*names, "y"], rows)
        fit = ["fit", path / f"{name}.csv", "--target", "y", "--k", 4, "-o", path / f"{name}.json"]
        assert main([str(argument) for argument in fit]) == 0
    return path


def call(capsys, *arguments):
    capsys.readouterr()
    code = main([str(argument) for argument in arguments])
    return code, *capsys.readouterr()


KINDS = ["two", "three", "numbers", "bits"]


@pytest.mark.parametrize("kind", KINDS)
def test_inspect_shows_effects_on_demand(kind, folder, capsys):
    _, plain, _ = call(capsys, "inspect", folder / f"{kind}.json")
    assert "at face value" not in plain
    code, text, _ = call(capsys, "inspect", folder / f"{kind}.json", "--effects", "--level", 0.8)
    assert code == 0
    assert text.startswith(plain.rstrip())
    told = load_model(folder / f"{kind}.json").feature_effects(level=0.8)
    assert "80 % intervals" in text
    for name, effect in told.effects.items():
        assert name in text
        in_units = name.startswith("raw_difference")
        assert f"{effect.high.max():{'.4g' if in_units else '.3f'}}" in text


def test_the_effects_of_the_front_door_are_in_both_units(folder, capsys):
    _, text, _ = call(capsys, "inspect", folder / "two.json", "--effects", "--json")
    for feature in json.loads(text)["effects"]["features"]:
        assert np.sign(feature["raw_difference_mean"]) == np.sign(feature["mean_difference_mean"])
    _, text, _ = call(capsys, "inspect", folder / "three.json", "--effects", "--json")
    first = json.loads(text)["effects"]["features"][0]
    assert {f"raw_difference_{label}_low" for label in "abc"} <= set(first)


@pytest.mark.parametrize("kind", KINDS)
def test_inspect_writes_effects(kind, folder, capsys, tmp_path):
    model = load_model(folder / f"{kind}.json")
    expected = model.feature_effects().to_dict()
    code, text, _ = call(capsys, "inspect", folder / f"{kind}.json", "-o", "-")
    assert code == 0
    rows = list(csv.DictReader(io.StringIO(text)))
    assert list(rows[0]) == list(expected)
    for name, column in expected.items():
        assert [row[name] for row in rows] == [str(value) for value in column.tolist()]
    _, text, _ = call(
        capsys, "inspect", folder / f"{kind}.json", "-o", tmp_path / "e.csv", "--json"
    )
    told = json.loads(text)["effects"]
    assert told["level"] == 0.9
    assert [feature["feature"] for feature in told["features"]] == list(expected["feature"])
    written = io.StringIO((tmp_path / "e.csv").read_text())
    assert list(csv.DictReader(written)) == rows
    code, _, error = call(capsys, "inspect", folder / f"{kind}.json", "-o", tmp_path / "e.csv")
    assert code == 2
    assert "--force" in error


def test_an_infinite_effect_at_face_value_is_none_in_json(capsys, tmp_path):
    rows = [[float(j % 2), "ab"[j % 2]] for j in range(12)]
    write_csv(tmp_path / "t.csv", ["g", "y"], rows)
    call(
        capsys,
        "fit",
        tmp_path / "t.csv",
        "--target",
        "y",
        "--model",
        "gaussian",
        "-o",
        tmp_path / "m",
    )
    code, text, _ = call(capsys, "inspect", tmp_path / "m", "--effects", "--json")
    assert code == 0
    (feature,) = json.loads(text)["effects"]["features"]
    assert feature["mean_difference_naive"] is None
    assert feature["mean_difference_mean"] > 1.0


def test_a_bad_level_is_named(folder, capsys):
    code, _, error = call(capsys, "inspect", folder / "two.json", "--effects", "--level", 90)
    assert code == 1
    assert "level=90" in error


# --- predict -------------------------------------------------------------------------------------


def predicted(capsys, folder, kind, *options):
    arguments = ("predict", folder / f"{kind}.json", folder / f"{kind}.csv", *options)
    code, text, error = call(capsys, *arguments)
    assert code == 0, error
    return list(csv.DictReader(io.StringIO(text))), error


def kept_rows(folder, kind):
    saved = load_model(folder / f"{kind}.json")
    with (folder / f"{kind}.csv").open() as file:
        rows = [[float(row[name]) for name in saved.fitted.names] for row in csv.DictReader(file)]
    return saved, np.array(rows)


@pytest.mark.parametrize("given", [["0.02"], ["well=0.02", "ill=0.98"]])
def test_predict_with_a_prevalence(given, folder, capsys):
    rows, _ = predicted(capsys, folder, "two", "--prevalence", *given)
    saved, X = kept_rows(folder, "two")
    expected = saved.predictor.predict_proba(X, prevalence=0.02)[:, 1]
    assert [float(row["probability of well"]) for row in rows] == expected.tolist()
    plain, _ = predicted(capsys, folder, "two")
    assert plain != rows


@pytest.mark.parametrize("kind", ["two", "three", "bits"])
def test_predict_with_intervals(kind, folder, capsys):
    rows, _ = predicted(capsys, folder, kind, "--interval", "0.8")
    saved, X = kept_rows(folder, kind)
    lower, upper = saved.predictor.predict_proba_interval(X, level=0.8)
    for g, label in enumerate(saved.fitted.classes):
        if len(saved.fitted.classes) == 2 and g == 0:
            continue
        assert [float(row[f"lower end of {label}"]) for row in rows] == lower[:, g].tolist()
        assert [float(row[f"upper end of {label}"]) for row in rows] == upper[:, g].tolist()
    arguments = ("predict", folder / f"{kind}.json", folder / f"{kind}.csv", "--json")
    _, text, _ = call(capsys, *arguments, "--interval", "0.8")
    case = json.loads(text)["cases"][3]
    if kind == "three":
        assert case["intervals"]["b"] == [lower[3, 1], upper[3, 1]]
    else:
        assert case["interval"] == [lower[3, 1], upper[3, 1]]


def test_predict_leaves_cases_open(folder, capsys):
    rows, error = predicted(capsys, folder, "two", "--indeterminate-below", "0.56")
    saved, X = kept_rows(folder, "two")
    probability = saved.predictor.predict_proba(X)
    best = np.array(saved.fitted.classes)[probability.argmax(axis=1)]
    expected = np.where(probability.max(axis=1) >= 0.56, best, "")
    assert [row["predicted"] for row in rows] == expected.tolist()
    left = int(np.sum(expected == ""))
    assert 0 < left < len(rows)
    assert f"{left} cases indeterminate" in error


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        ("numbers", ["--prevalence", "0.1"], "--prevalence is not available for"),
        ("numbers", ["--interval", "0.9"], "which predicts numbers: omit it"),
        ("numbers", ["--indeterminate-below", "0.9"], "--indeterminate-below is not available"),
        ("two", ["--prevalence", "often"], "often is neither a number nor CLASS=PROBABILITY"),
        ("two", ["--prevalence", "well=0.1"], "lacks class 'ill'"),
        ("three", ["--prevalence", "0.1"], "one number, but there are 3 classes"),
        ("two", ["--prevalence", "0.1", "0.9"], "0.1 names no class: give CLASS=PROBABILITY"),
        ("two", ["--prevalence", "ill=0.1", "well=0.9", "ill=0.1"], "has the class ill twice"),
        ("two", ["--interval", "90"], "--interval 90.0 must be between 0 and 1"),
        ("two", ["--indeterminate-below", "70"], "must be from 0 to 1"),
    ],
)
def test_options_that_make_no_sense(kind, options, message, folder, capsys):
    arguments = ("predict", folder / f"{kind}.json", folder / f"{kind}.csv", *options)
    code, _, error = call(capsys, *arguments)
    assert code == 1
    assert message in error
