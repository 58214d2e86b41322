"""`unselected inspect --effects`, and what `predict` says besides probabilities."""

import csv
import io
import json

import numpy as np
import pytest

from unselected.cli import main
from unselected.files import write_csv
from unselected.files.models import load_model


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
        assert f"{effect.high.max():.3f}" in text


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


def test_a_bad_level_is_named(folder, capsys):
    code, _, error = call(capsys, "inspect", folder / "two.json", "--effects", "--level", 90)
    assert code == 1
    assert "level=90" in error
