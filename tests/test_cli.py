"""The installed script, end to end: streams, exit codes, files."""

import csv
import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from unselected import SelectiveBernoulliNB
from unselected.cli.options import patience
from unselected.files.models import load_model
from unselected.files.tables import read_table

SCRIPT = Path(sys.executable).with_name("unselected")


def run(*arguments, cwd, stdin=None):
    return subprocess.run(
        [SCRIPT, *map(str, arguments)],
        cwd=cwd,
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a training table, new cases, and a fitted model."""
    path = tmp_path_factory.mktemp("cli")
    make = ("simulate", "--features", 120, "--concentration", 10)
    for name, seed in (("train.csv", 1), ("new.csv", 2)):
        answer = run(*make, "--cases", 50, "--seed", seed, "-o", name, cwd=path)
        assert answer.returncode == 0, answer.stderr
    answer = run("fit", "train.csv", "--target", "class", "--k", 8, "-o", "model.json", cwd=path)
    assert answer.returncode == 0, answer.stderr
    return path


def test_fit_and_predict_equal_the_python_api(folder):
    train = read_table(folder / "train.csv", target="class")
    new = read_table(folder / "new.csv", target="class")
    model = SelectiveBernoulliNB(k=8).fit(train.X, train.y)
    answer = run("predict", "model.json", "new.csv", cwd=folder)
    assert answer.returncode == 0
    rows = list(csv.DictReader(io.StringIO(answer.stdout)))
    ours = [float(row["probability of 1"]) for row in rows]
    np.testing.assert_allclose(ours, model.predict_proba(new.X)[:, 1], rtol=0, atol=1e-12)
    assert [row["predicted"] for row in rows] == [str(label) for label in model.predict(new.X)]
    assert [row["case"] for row in rows] == [str(i + 1) for i in range(50)]
    assert f"expected error {model.expected_error(new.X):.3f}" in answer.stderr


def test_data_on_stdout_and_notes_on_stderr(folder, tmp_path):
    train = (folder / "train.csv").read_text()
    answer = run("fit", "-", "--target", "class", "--k", 3, "-o", "-", cwd=tmp_path, stdin=train)
    assert answer.returncode == 0
    assert json.loads(answer.stdout)["format"] == "unselected model"
    assert "classes 0 and 1; probabilities are those of 1" in answer.stderr
    assert "seed 0" in answer.stderr
    assert list(tmp_path.iterdir()) == []


def test_columns_are_matched_by_name_and_cases_by_id(folder, tmp_path):
    table = list(csv.reader((folder / "new.csv").read_text().splitlines()))
    kept = load_model(folder / "model.json").kept.names.tolist()
    wanted = [table[0].index(name) for name in reversed(kept)]
    lines = [["patient", *(table[0][j] for j in wanted)]]
    lines += [[f"p{i}", *(row[j] for j in wanted)] for i, row in enumerate(table[1:])]
    (tmp_path / "few.csv").write_text("\n".join(",".join(line) for line in lines) + "\n")
    arguments = ("predict", folder / "model.json", "few.csv", "--id", "patient", "-o", "out.csv")
    assert run(*arguments, cwd=tmp_path).returncode == 0
    rows = list(csv.DictReader((tmp_path / "out.csv").read_text().splitlines()))
    whole = list(
        csv.DictReader(io.StringIO(run("predict", "model.json", "new.csv", cwd=folder).stdout))
    )
    assert [row["probability of 1"] for row in rows] == [row["probability of 1"] for row in whole]
    assert rows[3]["patient"] == "p3"
    again = run(*arguments, cwd=tmp_path)
    assert again.returncode == 2
    assert "out.csv exists already" in again.stderr
    assert "--force" in again.stderr
    assert run(*arguments, "--force", cwd=tmp_path).returncode == 0


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["fit", "train.csv", "--target", "clas", "--k", "3"], 1, "did you mean 'class'"),
        (["fit", "none.csv", "--target", "class"], 1, "none.csv"),
        (["fit", "train.csv", "--target", "class", "--k", "999"], 1, "k=999 is out of range"),
        (["fit", "train.csv", "--target", "class", "--k", "1", "--always-keep", "zz"], 1, "zz"),
        (["predict", "train.csv", "new.csv"], 1, "train.csv"),
        (["predict", "model.json", "model.json"], 1, "model.json"),
        (["cv", "train.csv", "--target", "class", "--k", "3", "--method", "magic"], 1, "magic"),
        (["fit", "train.csv"], 2, "target"),
        (["fit", "train.csv", "--target", "class", "--k", "many"], 2, "many"),
        (["fit", "train.csv", "--target", "class", "--ties", "last"], 2, "last"),
        (["bogus"], 2, "bogus"),
        (["predict", "model.json", "new.csv", "--nonsense"], 2, "nonsense"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_errors_have_one_line_and_a_code(folder, arguments, code, message):
    answer = run(*arguments, cwd=folder)
    assert answer.returncode == code, answer.stderr
    assert message in answer.stderr
    assert "Traceback" not in answer.stderr
    assert answer.stdout == ""


def test_debug_shows_the_traceback(folder):
    answer = run("predict", "train.csv", "new.csv", "--debug", cwd=folder)
    assert answer.returncode == 1
    assert "Traceback" in answer.stderr


def test_an_interruption_leaves_nothing_behind(tmp_path):
    arguments = ["reproduce", "simulation", "--replicates", "50", "--jobs", "1"]
    process = subprocess.Popen(
        [SCRIPT, *arguments], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    time.sleep(6)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert out == b""
    assert b"interrupted" in err
    assert b"Traceback" not in err
    assert list(tmp_path.iterdir()) == []


JSON = [
    ["fit", "train.csv", "--target", "class", "--k", "3", "-o", "other.json", "--force"],
    ["predict", "model.json", "new.csv"],
    ["inspect", "model.json"],
    ["cv", "train.csv", "--target", "class", "--k", "3", "--repeats", "1", "--method", "corrected"],
    ["simulate", "-o", "more.csv", "--features", "5", "--cases", "6", "--force"],
]


@pytest.mark.parametrize("arguments", JSON, ids=lambda value: value[0])
def test_json_answers_carry_a_schema_number(folder, arguments):
    answer = run(*arguments, "--json", cwd=folder)
    assert answer.returncode == 0, answer.stderr
    content = json.loads(answer.stdout)
    assert content["schema"] == 1
    assert content["command"] == arguments[0]


def test_inspect_shows_the_kept_features(folder):
    answer = run("inspect", "model.json", cwd=folder)
    names = load_model(folder / "model.json").kept.names.tolist()
    assert all(name in answer.stdout for name in names)
    assert "top k, 8 of 120 features kept" in answer.stdout
    assert "sha256" in answer.stdout


def test_predict_loads_no_scikit_learn(folder):
    code = (
        "import sys; from unselected.cli import main; main(['predict', 'model.json', 'new.csv']);"
        "print([m for m in ('sklearn', 'pandas', 'matplotlib', 'scipy.stats') if m in sys.modules],"
        " file=sys.stderr)"
    )
    answer = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=True
    )
    assert answer.stderr.strip().endswith("[]")


def test_a_reader_that_goes_away_is_no_error(folder):
    read, write = os.pipe()
    process = subprocess.Popen(
        [SCRIPT, "predict", "model.json", "new.csv"],
        cwd=folder,
        stdout=write,
        stderr=subprocess.PIPE,
    )
    os.close(read)
    os.close(write)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 0
    assert b"Traceback" not in err


def test_cv_prints_a_row_for_each_method(folder):
    arguments = ("--k", 3, "--repeats", 1, "--method", "corrected", "--method", "class frequencies")
    answer = run("cv", "train.csv", "--target", "class", *arguments, cwd=folder)
    lines = answer.stdout.splitlines()
    assert [line.split("  ")[0] for line in lines] == ["method", "corrected", "class frequencies"]
    assert "1/1" in answer.stderr


def test_the_demo_shows_both_methods(folder):
    answer = run("demo", "--seed", 3, cwd=folder)
    assert answer.returncode == 0
    rows = [line.split() for line in answer.stdout.splitlines() if "corrected" in line][:-1]
    gaps = [abs(float(row[2]) - float(row[3])) for row in rows]
    assert len(gaps) == 8
    assert all(corrected < naive for naive, corrected in zip(gaps[::2], gaps[1::2], strict=True))


def test_patience_speaks_only_of_what_takes_long(capsys):
    with patience("quick", after=0.5):
        pass
    assert capsys.readouterr().err == ""
    with patience("slow", after=0.05):
        time.sleep(0.3)
    out, err = capsys.readouterr()
    assert "slow: 0 s" in err
    assert err.endswith("\n")
    assert out == ""


def test_help_and_version():
    assert "predict" in run("--help", cwd=".").stdout
    assert run("--version", cwd=".").stdout.startswith("unselected ")
    for command in ("fit", "predict", "cv", "report", "inspect", "simulate", "reproduce", "demo"):
        answer = run(command, "--help", cwd=".")
        assert answer.returncode == 0
        assert "Usage" in answer.stdout
