"""What users type: outputs that cannot be written, several names, many features, warnings."""

import contextlib
import io
import json
import os
import warnings
from contextlib import redirect_stderr, redirect_stdout

import pytest

from unselected.cli import exporting, fitting, inspecting, main, paper, predicting, reporting
from unselected.files.models import load_model
from unselected.files.writing import check_writable, write_text


def call(*arguments, cwd):
    """Return exit code, stdout and stderr of a command."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.chdir(cwd), redirect_stdout(out), redirect_stderr(err):
        code = main([str(argument) for argument in arguments])
    return code, out.getvalue(), err.getvalue()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a training table and a model that keeps 25 of its 30 features."""
    path = tmp_path_factory.mktemp("usage")
    simulate = ("simulate", "--cases", 40, "--features", 30, "-o", "train.csv")
    assert call(*simulate, cwd=path)[0] == 0
    fit = ("fit", "train.csv", "--target", "class", "--k", 25)
    code, _, err = call(*fit, cwd=path)
    assert code == 0, err
    return path


@pytest.fixture
def no_work(monkeypatch):
    """Any work is a failure."""

    def work(*_, **__):
        pytest.fail("work was done for an output that cannot be written")

    for module, name in (
        (fitting, "read_table"),
        (fitting, "open_for"),
        (predicting, "load_model"),
        (inspecting, "load_model"),
        (exporting, "load_model"),
        (reporting, "read_training"),
        (paper, "make_paper_simulation"),
    ):
        monkeypatch.setattr(module, name, work)


WRITING = [
    ["fit", "train.csv", "--target", "class", "--k", "3"],
    ["report", "train.csv", "--target", "class", "--k", "3"],
    ["predict", "model.json", "train.csv"],
    ["inspect", "model.json"],
    ["export", "model.json"],
    ["simulate"],
]


@pytest.mark.usefixtures("no_work")
@pytest.mark.parametrize("arguments", WRITING, ids=lambda value: value[0])
def test_an_output_is_looked_at_before_any_work(folder, arguments):
    for output, code, message in (
        ("model.json", 2, "unselected: model.json exists already: choose another name, or allow"),
        (
            "none/here/out",
            1,
            "unselected: none/here/out cannot be written: there is no folder none",
        ),
        ("train.csv/out", 1, "there is no folder train.csv"),
        (".", 1, "unselected: . is a folder: give the name of a file in it."),
    ):
        found, out, err = call(*arguments, "-o", output, cwd=folder)
        assert (found, out) == (code, "")
        assert err.startswith(message) or message in err
        assert ".unselected-" not in err
        assert ("--force" in err) == (code == 2)


def test_a_checkpoint_is_looked_at_before_any_work(folder, monkeypatch):
    monkeypatch.setattr(fitting, "read_table", lambda *_, **__: pytest.fail("the table was read"))
    asked = ("cv", "train.csv", "--target", "class", "--k", 3, "--checkpoint", "none/c.jsonl")
    code, _, err = call(*asked, cwd=folder)
    assert code == 1
    assert err == (
        "unselected: none/c.jsonl cannot be written: there is no folder none. Make it, or choose "
        "another.\n"
    )


def test_what_may_not_be_written_is_said(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(PermissionError, match=r"out\.txt cannot be written: you are not allowed"):
        check_writable(tmp_path / "out.txt")


def test_a_full_disk_is_told_with_the_name_that_was_given(tmp_path, monkeypatch):
    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(
        OSError, match=r"^.*/out\.txt cannot be written: No space left on device\.$"
    ):
        write_text(tmp_path / "out.txt", "text")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "asked", [("--always-keep", "x1", "x2"), ("--always-keep", "x1", "--always-keep", "x2")]
)
def test_several_columns_are_always_kept(folder, tmp_path, asked):
    fit = ("fit", folder / "train.csv", "--target", "class", "--k", 2, *asked, "--seed", 3)
    assert call(*fit, cwd=tmp_path)[0] == 0
    names = load_model(tmp_path / "model.json").fitted.names.tolist()
    assert names[:2] == ["x1", "x2"]
    assert len(names) == 4


def test_the_strongest_features_are_shown_and_all_where_wanted(folder):
    model = load_model(folder / "model.json")
    scores = dict(zip(model.fitted.names.tolist(), model.selection["scores"], strict=True))
    for asked, n_shown in (((), 20), (("--all",), 25)):
        _, text, _ = call("inspect", "model.json", *asked, cwd=folder)
        lines = text.splitlines()
        start = next(i for i, line in enumerate(lines) if line.startswith("feature "))
        rows = [line.split() for line in lines[start + 1 :]]
        assert [float(row[1]) for row in rows[:n_shown]] == pytest.approx(
            sorted(scores.values(), reverse=True)[:n_shown], abs=1e-4
        )
        rest = lines[start + 1 + n_shown :]
        expected = ["... and 5 more features with lower scores: --all shows them"]
        assert rest == ([] if asked else expected)
    told = json.loads(call("inspect", "model.json", "--json", cwd=folder)[1])
    assert {feature["name"]: feature["score"] for feature in told["features"]} == scores


def test_effects_are_those_of_the_strongest_features(folder):
    """Of real values, whose effects take no time."""
    fit = ("fit", "train.csv", "--target", "class", "--k", 25, "--model", "gaussian")
    assert call(*fit, "-o", "gaussian.json", cwd=folder)[0] == 0
    for asked, n_lines in (((), 22), (("--all",), 26)):
        _, text, _ = call("inspect", "gaussian.json", "--effects", *asked, cwd=folder)
        tables = text.partition("effects, with 90 % intervals\n\n")[2].split("\n\n")
        assert [len(table.splitlines()) for table in tables] == [n_lines] * len(tables)


def test_a_warning_is_one_line_and_told_once(folder, monkeypatch):
    def warned(*_, **__):
        for _ in range(3):
            with warnings.catch_warnings():  # which forgets what has been told
                warnings.simplefilter("always")
                warnings.warn("labels 'a' and\n  'A' differ by case only", stacklevel=1)
        raise ValueError("enough")

    monkeypatch.setattr(fitting, "read_table", warned)
    _, _, err = call("fit", "train.csv", "--target", "class", "-o", "other.json", cwd=folder)
    assert err.splitlines() == [
        "warning: labels 'a' and 'A' differ by case only",
        "unselected: enough",
    ]
