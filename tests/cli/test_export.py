"""`unselected export`: a calculator, or a score card, of a model file."""

import csv
import io
import json

import numpy as np
import pytest

from unselected.cli import main
from unselected.files.writing import write_csv


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Model files of bits and of real numbers."""
    path = tmp_path_factory.mktemp("exported")
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(45, 12)), np.repeat(["ill", "well"], (20, 25))
    tables = {"bernoulli": (X > 0.0).astype(int), "gaussian": X}
    for model, table in tables.items():
        rows = [[*row, label] for row, label in zip(table.tolist(), y, strict=True)]
        write_csv(path / f"{model}.csv", [*(f"g{j}" for j in range(12)), "y"], rows)
        fit = ["fit", path / f"{model}.csv", "--target", "y", "--k", 4, "--model", model]
        assert main([*map(str, fit), "-o", str(path / f"{model}.json")]) == 0
    return path


def call(capsys, *arguments):
    capsys.readouterr()
    code = main([str(argument) for argument in arguments])
    return code, *capsys.readouterr()


def test_a_page_is_written(folder, capsys):
    page = folder / "page.html"
    labels = folder / "labels.csv"
    name = json.loads((folder / "gaussian.json").read_text())["names"][0]
    labels.write_text(f"feature,label,unit\n{name},Potassium,mmol/l\n")
    given = ("--title", "Risk", "--labels", labels, "-o", page, "--json")
    code, out, _ = call(capsys, "export", folder / "gaussian.json", *given)
    assert code == 0
    answer = json.loads(out)
    text = page.read_text(encoding="utf-8")
    assert answer["bytes"] == len(text.encode()) < 120_000
    assert all(word in text for word in ('"Risk"', '"Potassium"', '"mmol/l"', '"well"'))
    code, _, err = call(capsys, "export", folder / "gaussian.json", "-o", page)
    assert code == 2
    assert "--force" in err


def test_a_page_with_many_fields_says_how_to_get_fewer(folder, tmp_path, capsys, monkeypatch):
    _, _, err = call(capsys, "export", folder / "gaussian.json", "-o", tmp_path / "few.html")
    assert "asks for" not in err
    monkeypatch.setattr("unselected.cli.exporting._MANY_FIELDS", 3)
    code, _, err = call(capsys, "export", folder / "gaussian.json", "-o", tmp_path / "many.html")
    assert code == 0
    assert "the page asks for 4 features. `unselected fit --k 20` keeps at most 20" in err


def test_a_score_card_is_written(folder, capsys):
    code, out, err = call(capsys, "export", folder / "bernoulli.json", "--to", "csv", "-o", "-")
    assert code == 0
    start, *features = csv.DictReader(io.StringIO(out))
    assert start["feature"] == "(start)"
    assert len(features) == 4
    assert (
        float(features[0]["points_for_well_if_1"]) * float(features[0]["points_for_well_if_0"])
        < 0.0
    )
    assert "differ from the model's by at most" in err


def test_a_model_without_a_score_card_says_why(folder, capsys):
    code, _, err = call(capsys, "export", folder / "gaussian.json", "--to", "csv", "-o", "-")
    assert code == 1
    assert "kind 'gaussian' has no score card" in err


def test_other_formats_are_refused(folder, capsys):
    code, _, err = call(capsys, "export", folder / "gaussian.json", "--to", "onnx")
    assert code == 2
    assert "onnx" in err
