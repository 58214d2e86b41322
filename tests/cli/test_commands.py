"""The installed script, end to end: streams, exit codes, files."""

import contextlib
import csv
import io
import json
import os
import signal
import subprocess
import sys
import time
import warnings
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import sparse

from unselected import (
    SelectiveBernoulliNB,
    SelectiveClassifier,
    SelectiveGaussianNB,
    SelectiveNaiveRegressor,
    SelectiveRegressor,
)
from unselected.cli import main
from unselected.cli.options import patience
from unselected.cli.wording import as_option
from unselected.files.models import load_model
from unselected.files.tables import read_table

pytestmark = pytest.mark.usefixtures("few_folds", "no_pictures")

SCRIPT = Path(sys.executable).with_name("unselected")


def run(*arguments, cwd, stdin=None):
    """Run the installed script: what `call` does in this process, which is much faster."""
    return subprocess.run(
        [SCRIPT, *map(str, arguments)],
        cwd=cwd,
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
    )


def call(*arguments, cwd):
    """What `run` does, without a new process."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.chdir(cwd), redirect_stdout(out), redirect_stderr(err):
        code = main([str(argument) for argument in arguments])
    return subprocess.CompletedProcess(arguments, code, out.getvalue(), err.getvalue())


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a training table, new cases, and a fitted model."""
    path = tmp_path_factory.mktemp("cli")
    make = ("simulate", "--features", 120, "--concentration", 10)
    for name, seed in (("train.csv", 1), ("new.csv", 2)):
        answer = call(*make, "--cases", 50, "--seed", seed, "-o", name, cwd=path)
        assert answer.returncode == 0, answer.stderr
    asked = ("--target", "class", "--k", 8, "--model", "bernoulli", "-o", "model.json")
    answer = call("fit", "train.csv", *asked, cwd=path)
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
    asked = ("--target", "class", "--k", 3, "--model", "bernoulli", "-o", "-")
    answer = run("fit", "-", *asked, cwd=tmp_path, stdin=train)
    assert answer.returncode == 0
    assert json.loads(answer.stdout)["format"] == "unselected model"
    assert "classes 0 and 1; probabilities are those of 1" in answer.stderr
    assert "seed 0" in answer.stderr
    assert list(tmp_path.iterdir()) == []


def test_columns_are_matched_by_name_and_cases_by_id(folder, tmp_path):
    table = list(csv.reader((folder / "new.csv").read_text().splitlines()))
    kept = load_model(folder / "model.json").fitted.names.tolist()
    wanted = [table[0].index(name) for name in reversed(kept)]
    lines = [["patient", *(table[0][j] for j in wanted)]]
    lines += [[f"p{i}", *(row[j] for j in wanted)] for i, row in enumerate(table[1:])]
    (tmp_path / "few.csv").write_text("\n".join(",".join(line) for line in lines) + "\n")
    arguments = ("predict", folder / "model.json", "few.csv", "--id", "patient", "-o", "out.csv")
    assert call(*arguments, cwd=tmp_path).returncode == 0
    rows = list(csv.DictReader((tmp_path / "out.csv").read_text().splitlines()))
    whole = list(
        csv.DictReader(io.StringIO(call("predict", "model.json", "new.csv", cwd=folder).stdout))
    )
    assert [row["probability of 1"] for row in rows] == [row["probability of 1"] for row in whole]
    assert rows[3]["patient"] == "p3"
    again = call(*arguments, cwd=tmp_path)
    assert again.returncode == 2
    assert "out.csv exists already" in again.stderr
    assert "--force" in again.stderr
    assert call(*arguments, "--force", cwd=tmp_path).returncode == 0


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["fit", "train.csv", "--target", "clas", "--k", "3"], 1, "did you mean 'class'"),
        (["fit", "none.csv", "--target", "class"], 1, "unselected: none.csv: No such file or"),
        (["fit", "train.csv", "--target", "class", "--k", "999"], 1, "--k 999 is out of range"),
        (["fit", "train.csv", "--target", "class", "--k", "1", "--always-keep", "zz"], 1, "zz"),
        (["predict", "train.csv", "new.csv"], 1, "train.csv"),
        (["predict", "model.json", "model.json"], 1, "model.json"),
        (["cv", "train.csv", "--target", "class", "--k", "3", "--method", "magic"], 1, "magic"),
        (["fit", "train.csv"], 2, "unselected: --target is missing. Try 'unselected fit --help'."),
        (["fit", "train.csv", "--traget", "class"], 2, "--target is missing. Did you mean"),
        (["fit", "train.csv", "--target"], 2, "unselected: --target needs a value."),
        (["predict"], 2, "unselected: MODEL is missing. Try"),
        (["doctor", "x"], 2, "unselected: there is no place for 'x'. Try 'unselected doctor --h"),
        (
            ["fit", "--target", "class", "--covariates", "age", "train.csv"],
            2,
            "TRAIN is missing. Give it before --covariates, which takes all names that follow.",
        ),
        (["fit", "train.csv", "--target", "class", "--k", "many"], 2, "many"),
        (["fit", "train.csv", "--target", "class", "--k", "2.5"], 2, "--k: 2.5 is neither a whole"),
        (["cv", "train.csv", "--target", "class", "--k", "2.5"], 2, "2.5 is neither a whole"),
        (["fit", "train.csv", "--target", "class", "--seed", "1.5"], 2, "1.5 is not a whole"),
        (["simulate", "--cases", "8.5"], 2, "8.5 is not a whole"),
        (["cv", "train.csv"], 2, "--target is missing. Try 'unselected cv --help'."),
        (
            ["cv", "train.csv", "--target", "class", "--model", "gaussian"],
            1,
            "--k auto is for the model classifier, not for gaussian: use --k loo.",
        ),
        (["cv", "train.csv", "--target", "class", "--splits", "1"], 2, "--splits: 1 is out of r"),
        (["cv", "train.csv", "--target", "class", "--repeats", "0"], 2, "it must be at least 1."),
        (["cv", "train.csv", "--target", "class", "--jobs", "0"], 2, "or -1 for all processors"),
        (["report", "train.csv", "--target", "class", "--splits", "0"], 2, "at least 2."),
        (["report", "train.csv", "--target", "class", "--repeats", "0"], 2, "at least 1."),
        (["audit", "train.csv", "--target", "class", "--k", "0"], 2, "--k: 0 is out of range"),
        (["audit", "train.csv", "--target", "class", "--splits", "1"], 2, "at least 2."),
        (["fit", "train.csv", "--target", "class", "--seed", "-1"], 2, "from 0 to 4294967295"),
        (["demo", "--seed", "-1"], 2, "--seed: -1 is out of range"),
        (["reproduce", "simulation", "--replicates", "-3"], 2, "-3 is out of range"),
        (["reproduce", "simulation", "--replicates", "0"], 2, "must be at least 1."),
        (["simulate", "--cases", "0"], 2, "--cases: 0 is out of range"),
        (["simulate", "--features", "0"], 2, "must be at least 1."),
        (["simulate", "--concentration", "0"], 1, "concentration=0.0 is out of range"),
        (["reproduce", "colon", "--k", "1.5"], 2, "Try 'unselected reproduce colon --help'"),
        (["fit", "train.csv", "--target", "class", "--ties", "last"], 2, "last"),
        (["bogus"], 2, "bogus"),
        (["predict", "model.json", "new.csv", "--nonsense"], 2, "nonsense"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_errors_have_one_line_and_a_code(folder, arguments, code, message):
    if arguments[0] == "fit":
        arguments = [*arguments, "-o", "never.json"]
    answer = (run if arguments == ["bogus"] else call)(*arguments, cwd=folder)
    assert answer.returncode == code, answer.stderr
    assert message in answer.stderr
    assert "Traceback" not in answer.stderr
    assert answer.stdout == ""


def test_debug_shows_the_traceback(folder):
    answer = call("predict", "train.csv", "new.csv", "--debug", cwd=folder)
    assert answer.returncode == 1
    assert "Traceback" in answer.stderr


def test_an_interruption_leaves_nothing_behind(tmp_path):
    started, folder = tmp_path / "started.jsonl", tmp_path / "folder"
    folder.mkdir()
    arguments = ["reproduce", "simulation", "--replicates", "50", "--checkpoint", str(started)]
    process = subprocess.Popen(
        [SCRIPT, *arguments], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    while process.poll() is None and not started.exists():
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert out == b""
    assert b"interrupted" in err
    assert b"Traceback" not in err
    assert list(folder.iterdir()) == []


JSON = [
    ["fit", "train.csv", "--target", "class", "--k", "3", "-o", "other.json", "--force"],
    ["predict", "model.json", "new.csv"],
    ["inspect", "model.json"],
    ["cv", "train.csv", "--target", "class", "--k", "3", "--repeats", "1", "--method", "corrected"],
    ["simulate", "-o", "more.csv", "--features", "5", "--cases", "6", "--force"],
]


@pytest.mark.parametrize("arguments", JSON, ids=lambda value: value[0])
def test_json_answers_carry_a_schema_number(folder, arguments):
    answer = call(*arguments, "--json", cwd=folder)
    assert answer.returncode == 0, answer.stderr
    content = json.loads(answer.stdout)
    assert content["schema"] == 1
    assert content["command"] == arguments[0]


def test_inspect_shows_the_kept_features(folder):
    answer = call("inspect", "model.json", cwd=folder)
    names = load_model(folder / "model.json").fitted.names.tolist()
    assert all(name in answer.stdout for name in names)
    assert "top k, 8 of 120 features kept" in answer.stdout
    assert "sha256" in answer.stdout


def heavy_after(*commands, cwd):
    """The large libraries that some commands have loaded in a process of their own, as text."""
    code = (
        f"import sys; from unselected.cli import main; [main(each) for each in {commands!r}];"
        "print([m for m in ('sklearn', 'pandas', 'matplotlib', 'scipy.stats') if m in sys.modules],"
        " file=sys.stderr)"
    )
    answer = subprocess.run(
        [sys.executable, "-c", code], cwd=cwd, capture_output=True, text=True, check=True
    )
    return answer.stderr.splitlines()[-1]


def test_predict_loads_no_scikit_learn(folder):
    assert heavy_after(["predict", "model.json", "new.csv"], cwd=folder) == "[]"


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
    answer = call("cv", "train.csv", "--target", "class", *arguments, cwd=folder)
    table, verdict = answer.stdout.split("\n\n")
    lines = table.splitlines()
    assert [line.split("  ")[0] for line in lines] == ["method", "corrected", "class frequencies"]
    for heading in ("log loss", "less ours", "AUC", "error", "expected", "features needed"):
        assert f"  {heading}" in lines[0]
    told = json.loads(
        call("cv", "train.csv", "--target", "class", *arguments, "--json", cwd=folder).stdout
    )
    assert told["verdict"] == verdict.strip()
    assert len(verdict.splitlines()) == 1
    ours, other = told["rows"]
    assert verdict.startswith(
        f"Ours: wrong in {100 * ours['actual_error']['value']:.0f} % of cases"
    )
    found = other["differences"]["log_loss"]
    numbers = f"{found['value']:.3f} ({found['low']:.3f} to {found['high']:.3f})"
    assert numbers in lines[2]
    assert ours["differences"] == {}
    alone = call("cv", "train.csv", "--target", "class", *arguments[:-2], cwd=folder)
    assert "\n\n" not in alone.stdout


@pytest.mark.parametrize("table", ["real-train.csv", "bits-train.csv"])
def test_cv_compares_numbers_of_features_on_the_same_folds(copies, table):
    once = ("--splits", 2, "--repeats", 1)
    asked = ("cv", table, "--target", "response", *once, "--json")
    told = json.loads(call(*asked, "--k", 2, 5, "auto", cwd=copies).stdout)
    assert told["k"] == [2, 5, "auto"]
    assert [row["k"] for row in told["rows"]] == [2, 5, "auto"]
    assert {row["method"] for row in told["rows"]} == {"corrected"}
    alone = json.loads(call(*asked, "--k", 5, "--method", "corrected", cwd=copies).stdout)
    assert (alone["k"], alone["kind"]) == (5, "classifier")
    assert {"k": 5, **alone["rows"][0]} == told["rows"][1]
    first = ("cv", "--model", "gaussian", "--target", "response", "--k", 5, 2, 5, table)
    answer = call(*first, *once, *OURS, cwd=copies)
    lines = [line.split() for line in answer.stdout.splitlines()]
    assert [line[:2] for line in lines] == [
        ["k", "method"],
        *([k, method] for k in "52" for method in ("corrected", "uncorrected")),
    ]


def test_cv_compares_numbers_of_features_of_regression(real):
    asked = ("cv", "numbers-train.csv", "--target", "response", "--k", 2, 4, "loo")
    lines = call(*asked, "--splits", 2, "--repeats", 1, cwd=real).stdout.splitlines()
    assert [line.split()[0] for line in lines] == ["k", "2", "4", "loo"]
    assert "log density" in lines[0]


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (("--k", 5, "auto", "--model", "gaussian"), 1, "--k auto is for the model classifier"),
        (("--k", "auto", "loo"), 1, "--k auto is for the model classifier, not for gaussian"),
        (("--k", 5, 500), 1, "--k 500 is out of range"),
        (("--k", 5, "--k", "many"), 2, "many is neither a whole number nor auto or loo"),
        (("--k", 5, 10, "--checkpoint", "c.jsonl"), 1, "--checkpoint needs a single --k"),
    ],
)
def test_numbers_of_features_that_cannot_be_compared_are_told(copies, options, code, message):
    answer = call("cv", "real-train.csv", "--target", "response", *options, cwd=copies)
    assert answer.returncode == code
    assert message in answer.stderr
    assert not answer.stdout


@pytest.mark.parametrize("other", [("--threshold", 0.5), ("--preselected-from", 100)])
def test_an_automatic_k_is_no_threshold(copies, other):
    asked = ("fit", "real-train.csv", "--target", "response", "-o", "never.json")
    answer = call(*asked, "--k", "auto", *other, cwd=copies)
    assert answer.returncode == 1
    assert f"--k auto and {other[0]} {other[1]} are two ways to select features" in answer.stderr
    assert not (copies / "never.json").exists()


def test_the_demo_of_the_paper_shows_both_methods(folder):
    answer = call("demo", "--paper", "--seed", 3, cwd=folder)
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
    assert call("--version", cwd=".").stdout.startswith("unselected ")
    for command in ("fit", "predict", "cv", "report", "inspect", "simulate", "reproduce", "demo"):
        answer = call(command, "--help", cwd=".")
        assert answer.returncode == 0
        assert "Usage" in answer.stdout


# --- the three models ----------------------------------------------------------------------------


def write_table(path, header, rows):
    lines = [",".join("" if cell != cell else str(cell) for cell in row) for row in [header, *rows]]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture(scope="module")
def real(tmp_path_factory):
    """Tables with real-valued features, some missing: three classes, and numbers; and models."""
    path = tmp_path_factory.mktemp("real")
    rng = np.random.default_rng(5)
    names = [f"x{j}" for j in range(15)]
    for table in ("train", "new"):
        codes = np.arange(21) % 3
        X = (rng.normal(size=(21, 15)) + rng.normal(size=(21, 1))).round(6)
        X[:, :3] += codes[:, np.newaxis]
        X[rng.random(X.shape) < 0.03] = np.nan
        labels = np.array(["low", "mid", "top"])[codes]
        y = (codes + rng.normal(size=21)).round(2)
        for name, response in (("classes", labels), ("numbers", y)):
            rows = np.column_stack([response.astype(object), X.astype(object)]).tolist()
            write_table(path / f"{name}-{table}.csv", ["response", *names], rows)
    for name, model in (("classes", "gaussian"), ("numbers", "regression")):
        asked = ("--target", "response", "--k", 4, "--model", model, "-o", f"{name}.json")
        answer = call("fit", f"{name}-train.csv", *asked, cwd=path)
        assert answer.returncode == 0, answer.stderr
    return path


def test_the_model_is_chosen_from_the_data_and_said(folder, real):
    asked = ("--target", "response", "--k", 4, "-o", "-")
    answer = call("fit", "classes-train.csv", *asked, cwd=real)
    assert "model: classifier (an average over models of classes); --model" in answer.stderr
    assert "classes low, mid, top\n" in answer.stderr
    assert json.loads(answer.stdout)["kind"] == "classifier"
    answer = call("fit", "classes-train.csv", *asked, "--ties", "random", cwd=real)
    assert "model: gaussian (3 classes); --model overrides this\n" in answer.stderr
    assert json.loads(answer.stdout)["kind"] == "gaussian"
    answer = call("fit", "numbers-train.csv", *asked, cwd=real)
    reason = "an average over regressions: the response has numbers that are not whole"
    assert f"model: regressor ({reason}); --model" in answer.stderr
    assert json.loads(answer.stdout)["kind"] == "regressor"
    answer = call("fit", "numbers-train.csv", *asked, "--ties", "random", cwd=real)
    assert "model: regression (the response has numbers that are not whole)" in answer.stderr
    assert json.loads(answer.stdout)["kind"] == "regression"
    bits = ("fit", "train.csv", "--target", "class", "--k", 4, "-o", "-")
    answer = call(*bits, "--rates", "given", cwd=folder)
    assert "model: bernoulli (two classes, and all features are 0 or 1)" in answer.stderr
    answer = call(*bits, "--model", "gaussian", cwd=folder)
    assert answer.stderr.startswith("model: gaussian\n")
    assert json.loads(answer.stdout)["kind"] == "gaussian"


def test_probabilities_of_several_classes_equal_the_python_api(real):
    train = read_table(real / "classes-train.csv", target="response")
    new = read_table(real / "classes-new.csv", target="response")
    model = SelectiveGaussianNB(k=4).fit(train.X, train.y)
    answer = call("predict", "classes.json", "classes-new.csv", cwd=real)
    rows = list(csv.DictReader(io.StringIO(answer.stdout)))
    header = [f"probability of {label}" for label in ("low", "mid", "top")]
    assert list(rows[0]) == ["case", *header, "predicted"]
    ours = [[float(row[name]) for name in header] for row in rows]
    np.testing.assert_array_equal(ours, model.predict_proba(new.X))
    assert [row["predicted"] for row in rows] == model.predict(new.X).tolist()
    assert f"expected error {model.expected_error(new.X):.3f}" in answer.stderr
    told = json.loads(call("predict", "classes.json", "classes-new.csv", "--json", cwd=real).stdout)
    assert [list(case["probabilities"].values()) for case in told["cases"]] == ours
    assert told["classes"] == ["low", "mid", "top"]
    assert told["cases"][3]["case"] == 4


@pytest.fixture(scope="module")
def holes(tmp_path_factory):
    """Tables of 0, 1 and missing values with three classes, and a model given totals."""
    path = tmp_path_factory.mktemp("holes")
    rng = np.random.default_rng(6)
    names = [f"x{j}" for j in range(30)]
    for table in ("train", "new"):
        codes = np.arange(18) % 3
        rates = np.where(np.arange(30) < 4, 0.15 + 0.35 * codes[:, np.newaxis], 0.2)
        X = np.where(rng.random((18, 30)) < rates, "1", "0").astype(object)
        X[rng.random(X.shape) < (0.01 if table == "train" else 0.1)] = ""
        rows = np.column_stack([np.array(["low", "mid", "top"])[codes], X]).tolist()
        write_table(path / f"{table}.csv", ["response", *names], rows)
    asked = ("--target", "response", "--k", 4, "--rates", "given", "-o", "model.json")
    answer = call("fit", "train.csv", *asked, cwd=path)
    assert answer.returncode == 0, answer.stderr
    assert "model: bernoulli (3 classes, and all features are 0 or 1)" in answer.stderr
    return path


def test_bits_of_several_classes_with_missing_values_equal_the_python_api(holes):
    train = read_table(holes / "train.csv", target="response")
    new = read_table(holes / "new.csv", target="response")
    model = SelectiveBernoulliNB(k=4, rates="given").fit(train.X, train.y)
    kept = model.selection_.indices
    assert np.isnan(new.X[:, kept]).any()
    odds = {"low": 0.2, "mid": 0.3, "top": 0.5}
    given = [f"{label}={share}" for label, share in odds.items()]
    answer = call(
        *("predict", "model.json", "new.csv", "--interval", 0.9, "--prevalence", *given), cwd=holes
    )
    header, *rows = csv.reader(io.StringIO(answer.stdout))
    assert header[4:6] == ["lower end of low", "upper end of low"]
    found = np.array([row[1:-1] for row in rows], dtype=float)
    np.testing.assert_array_equal(found[:, :3], model.predict_proba(new.X, prevalence=odds))
    lower, upper = model.predict_proba_interval(new.X, level=0.9, prevalence=odds)
    np.testing.assert_array_equal(found[:, 3::2], lower)
    np.testing.assert_array_equal(found[:, 4::2], upper)


def test_inspect_shows_rates_and_counts_by_class(holes):
    text = call("inspect", "model.json", cwd=holes).stdout
    assert "\nrates: given\n" in text
    train = read_table(holes / "train.csv", target="response")
    x0 = train.X[:, 0]
    shares = [
        f"{np.nansum(x0[train.y == label]):.0f}/{np.sum(~np.isnan(x0[train.y == label]))}"
        for label in ("low", "mid", "top")
    ]
    lines = [line.split() for line in text.splitlines()]
    assert [line[2:5] for line in lines if line[:1] == ["x0"]] == [shares]
    for word in ("ones in low", "ones in mid", "ones in top"):
        assert word in text
    told = json.loads(call("inspect", "model.json", "--json", cwd=holes).stdout)
    assert told["rates"] == "given"


def test_inspect_shows_binary_and_other_features_in_one_table(tmp_path):
    rng = np.random.default_rng(0)
    y = np.arange(30) % 2
    bits = rng.random((30, 2)) < 0.3 + 0.4 * y[:, np.newaxis]
    reals = rng.normal(size=(30, 3)) + np.outer(y, [1.0, 1.0, 0.0])
    rows = [["ab"[c], *map(int, b), *r.round(3)] for c, b, r in zip(y, bits, reals, strict=True)]
    write_table(tmp_path / "t.csv", ["y", "bit0", "bit1", "real0", "real1", "noise"], rows)
    call("fit", "t.csv", "--target", "y", "--k", 4, "-o", "m.json", cwd=tmp_path)
    lines = call("inspect", "m.json", cwd=tmp_path).stdout.splitlines()
    table = lines[lines.index("") + 1 :]
    assert {"ones in a", "center in b"} <= {name.strip() for name in table[0].split("  ")}
    assert table[0].endswith("related")
    shown = {line.split()[0]: len(line.split()) for line in table[1:]}
    assert shown == {"bit0": 6, "bit1": 6, "real0": 5, "real1": 5}
    assert len({len(line) for line in table}) == 1


def test_a_feature_that_tells_a_class_for_certain_has_no_endless_score(tmp_path):
    rng = np.random.default_rng(0)
    rows = [["abc"[i % 3], int(i % 3 == 2), *rng.integers(0, 2, 6).tolist()] for i in range(30)]
    write_table(tmp_path / "t.csv", ["y", "sure", *"pqrstu"], rows)
    call("fit", "t.csv", "--target", "y", "--k", 2, "-o", "m.json", cwd=tmp_path)
    lines = call("inspect", "m.json", cwd=tmp_path).stdout.splitlines()
    assert [line.split()[1] for line in lines if line.startswith("sure")] == ["infinite"]
    asked = ("--target", "y", "--k", 2, "--splits", 2, *ALONE, "-o", "p.html")
    call("report", tmp_path / "t.csv", *asked, cwd=tmp_path)
    page = (tmp_path / "p.html").read_text()
    assert "<td>sure</td><td>infinite</td>" in page
    assert "<h1>y in t.csv</h1>" in page  # and not where it is


PAPER = ("--model", "regression")
OURS = ("--method", "corrected", "--method", "uncorrected")
# A report without other methods, which takes less time.
ALONE = ("--method", "corrected")
RATES = ("--target", "response", "--k", 3, "--splits", 2, "--repeats", 1, "--json", "--rates")


def test_rates_reach_the_model_that_is_compared(holes):
    methods = [*OURS, "--method", "SelectKBest + BernoulliNB"]
    table = ("train.csv", "--model", "bernoulli")
    told = [
        json.loads(call("cv", *table, *RATES, rates, *methods, cwd=holes).stdout)["rows"]
        for rates in ("uniform", "given")
    ]
    assert told[0][0] != told[1][0]
    for other in (told[0][2], told[1][2]):
        other.pop("differences")  # from ours
    assert told[0][2:] == told[1][2:]


def test_rates_reach_the_model_that_is_reported(holes, tmp_path):
    page = tmp_path / "page.html"
    call("report", "train.csv", *RATES, "given", *ALONE, "-o", page, cwd=holes)
    assert "<td>rates</td><td>&#x27;given&#x27;</td>" in page.read_text()


def test_predicted_numbers_equal_the_python_api(real):
    train = read_table(real / "numbers-train.csv", target="response")
    new = read_table(real / "numbers-new.csv", target="response")
    model = SelectiveNaiveRegressor(k=4).fit(train.X, train.y)
    mean, std = model.predict(new.X, return_std=True)
    for asked, levels in (((), (0.05, 0.5, 0.95)), (("--quantiles", 0.1, 0.9), (0.1, 0.9))):
        answer = call("predict", "numbers.json", "numbers-new.csv", *asked, cwd=real)
        rows = list(csv.reader(io.StringIO(answer.stdout)))
        assert rows[0] == ["case", "mean", "std", *(f"quantile {level}" for level in levels)]
        expected = np.column_stack([mean, std, model.predict_quantiles(new.X, levels)])
        np.testing.assert_array_equal(np.array(rows[1:], dtype=float)[:, 1:], expected)
    told = json.loads(call("predict", "numbers.json", "numbers-new.csv", "--json", cwd=real).stdout)
    case = told["cases"][0]
    assert (case["case"], case["mean"], case["std"]) == (1, mean[0], std[0])
    assert list(case["quantiles"]) == ["0.05", "0.5", "0.95"]


def test_numbers_written_with_zeros_are_numbers(real, tmp_path):
    rows = list(csv.reader((real / "numbers-train.csv").read_text().splitlines()))
    padded = [[f"{float(row[0]):.4f}", *row[1:]] for row in rows[1:]]
    write_table(tmp_path / "padded.csv", rows[0], padded)
    asked = ("--target", "response", "--k", 4, "--model", "regression", "-o", "-")
    answer = call("fit", "padded.csv", *asked, cwd=tmp_path)
    ours, theirs = json.loads(answer.stdout), json.loads((real / "numbers.json").read_text())
    assert ours["moments"] == theirs["moments"]


def test_features_in_rows_and_other_kinds_of_files_give_the_same_model(real, tmp_path):
    train = read_table(real / "numbers-train.csv", target="response")
    columns = {"response": train.y, **dict(zip(train.names, train.X.T, strict=True))}
    known = {name: pa.array(values, from_pandas=True) for name, values in columns.items()}
    pq.write_table(pa.table(known), tmp_path / "t.parquet")
    rows = [[name, *values] for name, values in columns.items()]
    write_table(tmp_path / "turned.csv", ["", *(f"s{i}" for i in range(21))], rows)
    sparse.save_npz(tmp_path / "bare.npz", sparse.csr_array(train.X))
    with np.load(tmp_path / "bare.npz") as stored:
        np.savez(tmp_path / "t.npz", **stored, response=train.y)
    theirs = json.loads((real / "numbers.json").read_text())
    kept = train.names.tolist()
    line = ("--target", "response", "--k", 4, "--model", "regression")
    for name, *asked in (["t.parquet"], ["turned.csv", "--features-in-rows"], ["t.npz"]):
        arguments = ("fit", name, *line, "-o", "-", *asked)
        answer = call(*arguments, cwd=tmp_path)
        ours = json.loads(answer.stdout)
        assert (ours["moments"], ours["event"]) == (theirs["moments"], theirs["event"])
        if name == "t.npz":  # whose features have no names but their numbers
            ours["names"] = [kept[int(number)] for number in ours["names"]]
        assert ours["names"] == theirs["names"]
    expected = call("predict", real / "numbers.json", real / "numbers-train.csv", cwd=tmp_path)
    arguments = ("predict", real / "numbers.json", "turned.csv", "--features-in-rows")
    answer = call(*arguments, cwd=tmp_path)
    ours, theirs = (list(csv.reader(io.StringIO(a.stdout))) for a in (answer, expected))
    assert [row[1:] for row in ours] == [row[1:] for row in theirs]
    assert [row[0] for row in ours[1:]] == [f"s{i}" for i in range(21)]
    call("fit", "t.npz", *line, "-o", "bare.json", cwd=tmp_path)
    answer = call("predict", "bare.json", "bare.npz", cwd=tmp_path)
    ours = list(csv.reader(io.StringIO(answer.stdout)))
    assert [row[1:] for row in ours] == [row[1:] for row in theirs]


def test_inspect_shows_what_each_kind_holds(real):
    text = call("inspect", "classes.json", cwd=real).stdout
    assert "model: gaussian" in text
    assert "classes: low, mid, top\n" in text
    assert text.splitlines()[-5].split("  ")[0] == "feature"
    for word in ("mean in low", "mean in mid", "mean in top", "deviation", " F "):
        assert word in text
    text = call("inspect", "numbers.json", cwd=real).stdout
    assert "model: regression" in text
    for word in ("|COR|", "correlation", "slope", "deviation"):
        assert word in text
    told = json.loads(call("inspect", "numbers.json", "--json", cwd=real).stdout)
    assert told["kind"] == "regression"
    assert told["priors"] == {"concentration_prior": [0.5, 5.0], "variance_shrinkage": 0.0}
    assert len(told["features"]) == 4


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["fit", "numbers-train.csv", "--model", "bernoulli"], 1, "use regressor"),
        (["fit", "classes-train.csv", "--model", "regression"], 1, "'low' in case 1"),
        (["fit", "numbers-train.csv", "--model", "gaussian"], 1, "use regressor"),
        (["fit", "numbers-train.csv", "--model", "mixture"], 1, "mixture needs classes, but"),
        (["fit", "classes-train.csv", "--model", "factor"], 1, "use --model gaussian, or"),
        (["fit", "two-train.csv", "--model", "mixture"], 1, "has NaN (a missing value) in row"),
        (["fit", "classes-train.csv", "--rates", "given"], 1, "--model bernoulli"),
        (["report", "numbers-train.csv", "--rates", "given"], 1, "for the model regressor"),
        (["cv", "classes-train.csv", "--rates", "given"], 1, "for the model gaussian"),
        (["fit", "bits.csv", "--model", "mixture", "--rates", "given"], 1, "omit it"),
        (["fit", "bits.csv", "--rates", "common"], 2, "common"),
        (["fit", "numbers-train.csv", "--model", "magic"], 2, "magic"),
        (["fit", "bits.csv", "--variance-shrinkage", "3"], 1, "--variance-shrinkage is not"),
        (["fit", "numbers-train.csv", "--variance-shrinkage", "-1"], 1, "--variance-shrinkage -1"),
        (["cv", "numbers-train.csv", "--model", "bernoulli"], 1, "use regressor"),
        (["cv", "numbers-train.csv", "--method", "magic"], 1, "magic"),
        (["cv", "classes-train.csv", "--splits", "40"], 1, "--splits 40"),
        (["cv", "classes-train.csv", "--loo", "--splits", "4"], 1, "--splits has no effect with"),
        (["cv", "numbers-train.csv", "--loo", "--repeats", "1"], 1, "--repeats has no effect with"),
        (["cv", "classes-train.csv", "--loo", "--jobs", "2"], 1, "--jobs has no effect with --loo"),
        (["cv", "numbers-train.csv", "--loo", "--groups", "x3"], 1, "--groups has no effect with"),
        (["cv", "numbers-train.csv", "--dependence", "tempered"], 1, "for the model regressor"),
        (["fit", "numbers-train.csv", "--dependence", "tempered"], 1, "for the model regressor"),
        (["fit", "numbers-train.csv", *PAPER, "--dependence", "correlated"], 1, "use --model regr"),
        (["report", "numbers-train.csv", "--dependence", "tempered"], 1, "for the model regressor"),
        (["fit", "classes-train.csv", "--dependence", "strong"], 2, "strong"),
        (["report", "classes-train.csv", "--model", "regression"], 1, "use classifier"),
        (["report", "classes-train.csv", "--model", "regressor"], 1, "use classifier"),
        (["report", "classes-train.csv", "-o", "bits.csv"], 2, "bits.csv exists already"),
        (["predict", "classes.json", "classes-new.csv", "--quantiles", "0.5"], 1, "omit it"),
        (["predict", "numbers.json", "numbers-new.csv", "--quantiles", "2"], 1, "below 1"),
        (["predict", "numbers.json", "numbers-new.csv", "--quantiles"], 1, "quantiles=[]"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_does_not_go_together_is_told(real, arguments, code, message):
    numbers = (real / "numbers-train.csv").read_text().splitlines()
    header, *rows = [line.split(",")[1:] for line in numbers]
    halves = [["ab"[i % 2], *row] for i, row in enumerate(rows)]
    write_table(real / "two-train.csv", ["response", *header], halves)
    bits = [["ab"[i % 2], i // 2 % 2, i // 3 % 2] for i in range(20)]
    write_table(real / "bits.csv", ["response", "x", "z"], bits)
    if arguments[0] != "predict":
        arguments = [*arguments, "--target", "response", "--k", "1"]
    if arguments[0] == "fit":
        arguments = [*arguments, "-o", "never.json"]
    answer = call(*arguments, cwd=real)
    assert answer.returncode == code, answer.stderr
    assert message in answer.stderr
    assert "Traceback" not in answer.stderr
    assert answer.stdout == ""
    assert not (real / "never.json").exists()


@pytest.mark.filterwarnings("default")
def test_a_column_that_is_empty_in_a_class_is_left_out_with_a_warning(real):
    rows = [["ab"[i % 2], i, "" if i % 2 else i, i * i] for i in range(12)]
    write_table(real / "holes.csv", ["response", "x0", "x1", "x2"], rows)
    arguments = ["fit", "holes.csv", "--target", "response", "--k", "1", "-o", "holes.json"]
    answer = call(*arguments, cwd=real)
    assert answer.returncode == 0, answer.stderr
    assert answer.stderr.count("warning: 1 column has no known value in class 'b' (column 1") == 1
    assert json.loads((real / "holes.json").read_text())["selection"]["n_features"] == 3
    assert "of 3 features kept" in call("inspect", "holes.json", cwd=real).stdout


@pytest.fixture(scope="module")
def copies(tmp_path_factory):
    """Tables in which six features are one measurement; and a tempered model of one of them."""
    path = tmp_path_factory.mktemp("copies")
    for table, seed in (("train", 3), ("new", 4)):
        rng = np.random.default_rng(seed)
        codes = np.arange(30) % 2
        X = rng.normal(size=(30, 12))
        X[:, :6] = X[:, :1] + codes[:, np.newaxis] + 0.3 * rng.normal(size=(30, 6))
        labels = np.array(["a", "b"])[codes]
        names = ["response", *(f"x{j}" for j in range(12))]
        for name, values in (("real", X.round(6)), ("bits", (X > 0.5).astype(int))):
            rows = np.column_stack([labels.astype(object), values.astype(object)]).tolist()
            write_table(path / f"{name}-{table}.csv", names, rows)
    asked = ("--target", "response", "--k", 5, "--dependence", "tempered")
    for name, model in (("real", "gaussian"), ("bits", "bernoulli")):
        options = (*asked, "--model", model, "-o", f"{name}.json")
        answer = call("fit", f"{name}-train.csv", *options, cwd=path)
        assert answer.returncode == 0, answer.stderr
        assert (
            "dependence: --dependence tempered is in use, which allows for that.\n" in answer.stderr
        )
        assert "likelihood: The power of the likelihood is" in answer.stderr
    return path


@pytest.mark.parametrize(
    ("name", "make"), [("real", SelectiveGaussianNB), ("bits", SelectiveBernoulliNB)]
)
def test_tempered_probabilities_equal_the_python_api(copies, name, make):
    train = read_table(copies / f"{name}-train.csv", target="response")
    new = read_table(copies / f"{name}-new.csv", target="response")
    model = make(k=5, dependence="tempered").fit(train.X, train.y)
    answer = call("predict", f"{name}.json", f"{name}-new.csv", cwd=copies)
    rows = list(csv.DictReader(io.StringIO(answer.stdout)))
    ours = [float(row["probability of b"]) for row in rows]
    np.testing.assert_allclose(ours, model.predict_proba(new.X)[:, 1], rtol=1e-12)
    plain = make(k=5).fit(train.X, train.y).predict_proba(new.X)[:, 1]
    assert np.abs(plain - ours).max() > 0.01


def test_inspect_tells_the_power_and_the_dependence(copies):
    train = read_table(copies / "real-train.csv", target="response")
    model = SelectiveGaussianNB(k=5, dependence="tempered").fit(train.X, train.y)
    power = model.likelihood_average_.powers[0]
    report = replace(model.dependence_report(), writer=as_option)
    text = call("inspect", "real.json", cwd=copies).stdout
    assert f"likelihood: The power of the likelihood is {power.mean_power:.2f} " in text
    assert f"the outlier fraction is {100 * power.mean_outlier_fraction:.1f} % " in text
    assert [line for line in text.splitlines() if line.startswith("dependence: ")] == [
        f"dependence: {sentence}" for sentence in report.advice
    ]
    told = json.loads(call("inspect", "real.json", "--json", cwd=copies).stdout)
    assert told["tempering"]["mean_eta"] == pytest.approx(power.mean_power, rel=1e-12)
    assert told["tempering"]["mean_epsilon"] == pytest.approx(
        power.mean_outlier_fraction, rel=1e-12
    )
    assert told["provenance"]["dependence"] == report.content()


def test_correlated_likelihoods_through_the_command(copies, tmp_path):
    asked = ("--target", "response", "--k", 5, "--dependence", "correlated")
    answer = call("fit", "real-train.csv", *asked, "-o", tmp_path / "model.json", cwd=copies)
    assert answer.returncode == 0, answer.stderr
    train, new = (read_table(copies / f"real-{t}.csv", target="response") for t in ("train", "new"))
    model = SelectiveGaussianNB(k=5, dependence="correlated").fit(train.X, train.y)
    assert f"likelihood: {model.likelihood_average_.in_words()}" in answer.stderr
    answer = call("predict", tmp_path / "model.json", "real-new.csv", cwd=copies)
    rows = csv.DictReader(io.StringIO(answer.stdout))
    ours = [float(row["probability of b"]) for row in rows]
    np.testing.assert_allclose(ours, model.predict_proba(new.X)[:, 1], rtol=1e-10)
    told = call("inspect", tmp_path / "model.json", cwd=copies).stdout
    assert f"likelihood: {model.likelihood_average_.in_words()}" in told
    told = json.loads(call("inspect", tmp_path / "model.json", "--json", cwd=copies).stdout)
    np.testing.assert_allclose(
        told["weighing"]["weights"], model.likelihood_average_.weights, rtol=1e-10
    )


def test_fit_looks_at_dependence_and_advises(copies, tmp_path):
    asked = (
        "--target",
        "response",
        "--k",
        5,
        "--model",
        "gaussian",
        "--json",
        "-o",
        tmp_path / "model.json",
    )
    answer = call("fit", "real-train.csv", *asked, cwd=copies)
    train = read_table(copies / "real-train.csv", target="response")
    report = SelectiveGaussianNB(k=5).fit(train.X, train.y).dependence_report()
    report = replace(report, writer=as_option)
    for sentence in report.advice:
        assert f"dependence: {sentence}\n" in answer.stderr
    assert json.loads(answer.stdout)["dependence"] == report.content()
    text = call("inspect", tmp_path / "model.json", cwd=copies).stdout
    assert f"dependence: {report.advice[-1]}\n" in text
    assert "--dependence" in report.advice[-1]
    assert "likelihood: " not in text


def test_the_page_advises_in_the_words_of_the_shell(copies, tmp_path):
    asked = ("--target", "response", "--k", 5, "--splits", 2, "--repeats", 1)
    asked += ("--model", "gaussian", *ALONE)
    answer = call("report", "real-train.csv", *asked, "-o", tmp_path / "page.html", cwd=copies)
    assert answer.returncode == 0, answer.stderr
    page = (tmp_path / "page.html").read_text()
    assert "Use --dependence correlated." in page
    assert "dependence=" not in page
    assert "dependence=" not in answer.stdout


@pytest.mark.filterwarnings("ignore:class .* has one case only")
def test_dependence_that_cannot_be_looked_at_is_no_error(tmp_path):
    """Of a class with one case, a fold without it has none."""
    rng = np.random.default_rng(0)
    rows = [["b" if i == 0 else "a", *rng.normal(size=5).round(3).tolist()] for i in range(20)]
    write_table(tmp_path / "t.csv", ["y", "v", "w", "x", "z", "u"], rows)
    arguments = ("fit", "t.csv", "--target", "y", "--k", 2, "--model", "gaussian")
    answer = call(*arguments, cwd=tmp_path)
    assert answer.returncode == 0, answer.stderr
    assert "note: dependence between features was not checked: class 'b' has" in answer.stderr
    assert "dependence" not in json.loads((tmp_path / "model.json").read_text())["provenance"]
    answer = call(*arguments, "--dependence", "tempered", "-o", "other.json", cwd=tmp_path)
    assert answer.returncode == 1
    assert "class 'b' has too few cases (1)" in answer.stderr


def test_a_table_that_stays_in_its_file_is_read_once(copies, tmp_path):
    train = read_table(copies / "real-train.csv", target="response")
    np.save(tmp_path / "t.npy", train.X)
    arguments = ("fit", "t.npy", "--target", f"{copies / 'real-train.csv'}:response", "--k", 5)
    arguments += ("--model", "gaussian")
    answer = call(*arguments, "-o", "plain.json", cwd=tmp_path)
    assert answer.returncode == 0, answer.stderr
    assert "was not checked; use --dependence correlated" in answer.stderr
    answer = call(*arguments, "--dependence", "tempered", "-o", "t.json", cwd=tmp_path)
    assert "dependence: --dependence tempered is in use" in answer.stderr
    ours, theirs = (
        json.loads(path.read_text()) for path in (tmp_path / "t.json", copies / "real.json")
    )
    assert ours["tempering"] == theirs["tempering"]


@pytest.mark.parametrize("name", ["real", "bits"])
def test_the_number_of_features_is_chosen_by_cases_left_out(copies, name, tmp_path):
    arguments = ("fit", f"{name}-train.csv", "--target", "response", "--k", "loo", "--json")
    answer = call(*arguments, "-o", tmp_path / "model.json", cwd=copies)
    assert answer.returncode == 0, answer.stderr
    told = json.loads(answer.stdout)
    best = min(told["k_path"], key=lambda score: score["log_loss"])
    assert [score["k"] for score in told["k_path"]] == [1, 2, 5, 10]
    assert len(told["features"]) == best["k"]
    assert f"k = {best['k']} has the lowest leave-one-out log loss," in answer.stderr


def test_cv_leaves_out_each_case(copies, real):
    train = read_table(copies / "real-train.csv", target="response")
    arguments = ("cv", "real-train.csv", "--target", "response", "--k", 5, "--loo")
    asked = ("--model", "gaussian", "--method", "corrected", "--method", "class frequencies")
    told = json.loads(call(*arguments, *asked, "--json", cwd=copies).stdout)
    model = SelectiveGaussianNB(k=5).fit(train.X, train.y)
    row = told["rows"][0]
    assert row["log_loss"]["value"] == pytest.approx(model.loo_score_.log_loss, rel=1e-9)
    assert row["expected_error"]["value"] == pytest.approx(model.loo_score_.expected_error)
    assert [row["method"] for row in told["rows"]] == ["corrected", "class frequencies"]
    assert told["loo"] is True
    arguments = ("cv", "numbers-train.csv", "--target", "response", "--k", 4, "--loo", *PAPER)
    answer = call(*arguments, "--method", "corrected", "--json", cwd=real)
    train = read_table(real / "numbers-train.csv", target="response")
    model = SelectiveNaiveRegressor(k=4).fit(train.X, train.y)
    found = json.loads(answer.stdout)["rows"][0]["log_density"]["value"]
    assert found == pytest.approx(-model.loo_score_.log_loss, rel=1e-9)


@pytest.mark.slow
def test_cv_with_a_number_of_features_that_is_chosen(copies):
    arguments = ("cv", "bits-train.csv", "--target", "response", "--k", "loo")
    arguments += ("--splits", 2, "--repeats", 1)
    asked = ("--method", "corrected", "--method", "SelectKBest + LogisticRegression", "--json")
    answer = call(*arguments, *asked, cwd=copies)
    assert answer.returncode == 0, answer.stderr
    train = read_table(copies / "bits-train.csv", target="response")
    chosen = SelectiveBernoulliNB(k="loo").fit(train.X, train.y).selection_.indices.size
    told = json.loads(answer.stdout)
    assert (told["k"], told["k_of_others"]) == ("loo", chosen)
    assert told["rows"][1]["features_needed"] == chosen
    assert "the other methods select as many" in answer.stderr


@pytest.mark.slow
def test_tempered_models_are_compared_and_reported(copies, tmp_path):
    arguments = ("real-train.csv", "--target", "response", "--k", 5, "--splits", 2, "--repeats", 1)
    arguments += ("--model", "gaussian")
    tempered = ("--dependence", "tempered")
    plain, answer = (
        call("cv", *arguments, *OURS, *options, cwd=copies) for options in ((), tempered)
    )
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout.splitlines()[1] != plain.stdout.splitlines()[1]
    page = tmp_path / "page.html"
    answer = call("report", *arguments, *tempered, *ALONE, "-o", page, cwd=copies)
    assert answer.returncode == 0, answer.stderr
    assert "The power of the likelihood is" in page.read_text()


def test_warnings_are_one_line_without_a_path(real):
    asked = ("--target", "response", "--threshold", 0.999, *PAPER, "-o", "-")
    with warnings.catch_warnings(action="default"):  # told to users, where tests have errors
        answer = call("fit", "numbers-train.csv", *asked, cwd=real)
    assert answer.returncode == 0
    warning = [line for line in answer.stderr.splitlines() if line.startswith("warning: ")]
    assert len(warning) == 1
    assert "No feature has an absolute correlation above --threshold 0.999" in warning[0]
    assert ".py" not in answer.stderr


def test_shrinkage_reaches_the_model(real):
    asked = ("--target", "response", "--k", 4, "-o", "-", "--variance-shrinkage", 2.5)
    answer = call("fit", "numbers-train.csv", *asked, cwd=real)
    assert json.loads(answer.stdout)["priors"]["shrinkage"] == 2.5


@pytest.mark.parametrize(
    ("name", "words"),
    [("classes", ("log loss", "expected")), ("numbers", ("log density", "in 90 % interval"))],
)
def test_cv_compares_models_of_every_kind(real, name, words):
    arguments = ("cv", f"{name}-train.csv", "--target", "response", "--k", 4, "--repeats", 1)
    arguments += ("--splits", 2)
    answer = call(*arguments, *OURS, cwd=real)
    assert answer.returncode == 0, answer.stderr
    lines = answer.stdout.split("\n\n")[0].splitlines()
    assert [line.split()[0] for line in lines] == ["method", "corrected", "uncorrected"]
    assert all(word in lines[0] for word in words)
    told = json.loads(call(*arguments, *OURS, "--json", cwd=real).stdout)
    assert told["kind"] == {"classes": "classifier", "numbers": "regressor"}[name]
    field = {"classes": "log_loss", "numbers": "log_density"}[name]
    assert f"{told['rows'][0][field]['value']:.3f}" in lines[1]


@pytest.mark.slow
def test_an_interrupted_cv_continues(real, tmp_path):
    arguments = [
        *("cv", real / "numbers-train.csv", "--target", "response", "--k", 4, "--splits", 2),
        *("--repeats", 60, "--method", "corrected", "--checkpoint", "done.jsonl", *PAPER),
    ]
    process = subprocess.Popen(
        [SCRIPT, *map(str, arguments)],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    done = tmp_path / "done.jsonl"
    while process.poll() is None and not (done.exists() and done.read_bytes().count(b"\n") > 2):
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert out == b""
    finished = done.read_text().splitlines()
    assert 3 <= len(finished) < 61
    arguments[arguments.index(60)] = 4
    again = call(*arguments, cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    assert done.read_text().splitlines()[: len(finished)] == finished
    other = call(*arguments, "--seed", 3, cwd=tmp_path)
    assert other.returncode == 1
    assert "other settings" in other.stderr


@pytest.mark.parametrize("name", ["classes", "numbers"])
def test_a_page_for_models_of_every_kind(real, name, tmp_path):
    arguments = ("report", real / f"{name}-train.csv", "--target", "response", "--k", 4)
    asked = ("--splits", 2, "--repeats", 1, "-o", "page.html", "--json")
    answer = call(*arguments, *asked, cwd=tmp_path)
    assert answer.returncode == 0, answer.stderr
    told = json.loads(answer.stdout)
    assert told["kind"] == {"classes": "classifier", "numbers": "regressor"}[name]
    assert "With 4 of 15 features" in told["verdict"][0]
    assert "</html>" in (tmp_path / "page.html").read_text()


def test_real_models_predict_without_scikit_learn(real):
    commands = ["predict", "numbers.json", "numbers-new.csv"], ["inspect", "classes.json"]
    assert heavy_after(*commands, cwd=real) == "[]"


@pytest.fixture(scope="module")
def numbers_front(real):
    """The folder of tables with a model of the front door for numbers."""
    asked = ("--target", "response", "--k", 6, "--json", "-o", "front.json")
    answer = call("fit", "numbers-train.csv", *asked, cwd=real)
    assert answer.returncode == 0, answer.stderr
    assert "Predictions average over regressions on the strongest features: " in answer.stderr
    told = json.loads(answer.stdout)
    assert told["kind"] == "regressor"
    assert sum(told["k_weights"].values()) == pytest.approx(1.0)
    return real


def test_the_front_door_for_numbers_predicts_as_in_python(numbers_front):
    train, new = (
        read_table(numbers_front / f"numbers-{name}.csv", target="response")
        for name in ("train", "new")
    )
    model = SelectiveRegressor(k=6, random_state=0).fit(train.X, train.y)
    asked = ("--quantiles", 0.1, 0.9)
    answer = call("predict", "front.json", "numbers-new.csv", *asked, cwd=numbers_front)
    rows = list(csv.reader(io.StringIO(answer.stdout)))
    assert rows[0] == ["case", "mean", "std", "quantile 0.1", "quantile 0.9"]
    mean, std = model.predict(new.X, return_std=True)
    expected = np.column_stack([mean, std, model.predict_quantiles(new.X, (0.1, 0.9))])
    ours = np.array(rows[1:], dtype=float)[:, 1:]
    np.testing.assert_allclose(ours, expected, rtol=0, atol=1e-12)


def test_the_front_door_for_numbers_is_inspected(numbers_front):
    text = call("inspect", "front.json", "--effects", cwd=numbers_front).stdout
    assert "model: regressor\nresponse: numbers\n" in text
    assert "Weights of the kinds of regression" in text
    assert "standardized_slope" in text
    told = json.loads(call("inspect", "front.json", "--json", cwd=numbers_front).stdout)
    assert told["k_weights"]["6"] > 0.0
    assert heavy_after(["predict", "front.json", "numbers-new.csv"], cwd=numbers_front) == "[]"


def test_options_reach_the_front_door_for_numbers(numbers_front):
    asked = ("fit", "numbers-train.csv", "--target", "response", "-o", "-")
    made = {}
    for guard in ("auto", "correlated", "none"):
        answer = call(*asked, "--k", 6, "--dependence", guard, cwd=numbers_front)
        assert answer.returncode == 0, answer.stderr
        made[guard] = {member["kind"] for member in json.loads(answer.stdout)["members"]}
    assert made["auto"] > {"inverse"}
    assert made["correlated"] == made["none"] == {"inverse"}
    earlier = call(*asked, "--preselected-from", 500, cwd=numbers_front)
    assert json.loads(earlier.stdout)["selection"]["n_features"] == 500
    named = call(*asked, "--model", "regressor", "--k", "auto", cwd=numbers_front)
    assert named.stderr.startswith("model: regressor\n")


def test_groups_of_numbers_stay_together(real, tmp_path):
    with (real / "numbers-train.csv").open() as file:
        header, *rows = csv.reader(file)
    labels = [f"P{i // 3}" for i in range(len(rows))]
    table = [[*row, label] for row, label in zip(rows, labels, strict=True)]
    write_table(tmp_path / "with.csv", [*header, "patient"], table)
    write_table(tmp_path / "without.csv", header, rows)
    asked = ("--target", "response", "--k", 4, "--splits", 2, "--repeats", 1, *OURS)
    plain, grouped = (
        call("cv", table, *asked, *more, cwd=tmp_path)
        for table, more in (("without.csv", ()), ("with.csv", ("--groups", "patient")))
    )
    assert grouped.returncode == 0, grouped.stderr
    assert grouped.stdout != plain.stdout
    page = ("--splits", 2, "-o", "page.html", "--groups", "patient", "--k", 2, *ALONE)
    answer = call("report", "with.csv", "--target", "response", *page, cwd=tmp_path)
    assert answer.returncode == 0, answer.stderr
    assert "1 x 2-fold, groups kept together" in (tmp_path / "page.html").read_text()


def test_cv_compares_numbers_of_features_of_the_front_door(real):
    asked = ("cv", "numbers-train.csv", "--target", "response", "--splits", 2, "--json")
    told = json.loads(call(*asked, "--k", 2, 5, "auto", cwd=real).stdout)
    assert (told["kind"], told["k"]) == ("regressor", [2, 5, "auto"])
    assert [row["k"] for row in told["rows"]] == [2, 5, "auto"]


@pytest.fixture(scope="module")
def front(copies):
    """The folder of the copies, with a model of the front door."""
    asked = ("--target", "response", "--k", 5, "--json", "-o", "front.json")
    answer = call("fit", "real-train.csv", *asked, cwd=copies)
    assert answer.returncode == 0, answer.stderr
    assert "Predictions average over models of the strongest features: 5" in answer.stderr
    told = json.loads(answer.stdout)
    assert told["kind"] == "classifier"
    assert told["k_weights"] == {"5": 1.0}
    return copies


def test_the_front_door_predicts_as_in_python(front):
    train, new = (
        read_table(front / f"real-{name}.csv", target="response") for name in ("train", "new")
    )
    model = SelectiveClassifier(k=5, random_state=0).fit(train.X, train.y)
    answer = call("predict", "front.json", "real-new.csv", cwd=front)
    ours = [float(row["probability of b"]) for row in csv.DictReader(io.StringIO(answer.stdout))]
    np.testing.assert_allclose(ours, model.predict_proba(new.X)[:, 1], rtol=0, atol=1e-12)


def test_the_front_door_is_inspected(front):
    text = call("inspect", "front.json", "--effects", cwd=front).stdout
    assert "model: classifier" in text
    assert "Real-valued features are modelled" in text
    assert "mean_difference" in text
    told = json.loads(call("inspect", "front.json", "--json", cwd=front).stdout)
    assert told["k_weights"] == {"5": 1.0}
    assert told["marginals"] in ("raw", "normal")


def test_groups_are_read_from_the_table_or_from_another(copies, tmp_path):
    with (copies / "real-train.csv").open() as file:
        rows = list(csv.reader(file))
    labels = [f"P{i // 2}" for i in range(len(rows) - 1)]
    table = [[*row, label] for row, label in zip(rows[1:], labels, strict=True)]
    write_table(tmp_path / "with.csv", [*rows[0], "patient"], table)
    write_table(tmp_path / "groups.csv", ["patient"], [[label] for label in labels])
    asked = ("--target", "response", "--k", 5, "--json")
    inside = call("fit", "with.csv", *asked, "--groups", "patient", "-o", "a.json", cwd=tmp_path)
    assert inside.returncode == 0, inside.stderr
    other = ("--groups", "groups.csv:patient", "-o", "b.json")
    outside = call("fit", copies / "real-train.csv", *asked, *other, cwd=tmp_path)
    assert outside.returncode == 0, outside.stderr
    first, second = (json.loads((tmp_path / name).read_text()) for name in ("a.json", "b.json"))
    assert first["members"] == second["members"]
    assert "patient" not in first["names"]
    turned = [list(row) for row in zip([*rows[0], "patient"], *table, strict=True)]
    header = ["feature", *(f"case{i}" for i in range(len(labels)))]
    write_table(tmp_path / "turned.csv", header, turned)
    sideways = ("--features-in-rows", "--groups", "patient", "-o", "t.json")
    answer = call("fit", "turned.csv", *asked, *sideways, cwd=tmp_path)
    assert answer.returncode == 0, answer.stderr
    assert json.loads((tmp_path / "t.json").read_text())["members"] == first["members"]
    compared = ("--target", "response", "--k", 5, "--splits", 2, "--repeats", 1, *OURS)
    plain, grouped = (
        call("cv", table, *compared, *more, cwd=tmp_path)
        for table, more in ((copies / "real-train.csv", ()), ("with.csv", ("--groups", "patient")))
    )
    assert grouped.returncode == 0, grouped.stderr
    assert grouped.stdout != plain.stdout
    page = ("--splits", 2, *ALONE, "-o", "page.html", "--groups", "patient")
    answer = call("report", "with.csv", *asked, *page, cwd=tmp_path)
    assert answer.returncode == 0, answer.stderr
    assert json.loads(answer.stdout)["kind"] == "classifier"
    assert "2-fold, stratified, groups kept together" in (tmp_path / "page.html").read_text()
    answer = call("fit", "with.csv", *asked, "--groups", "ward", "-o", "c.json", cwd=tmp_path)
    assert answer.returncode == 1
    assert "'ward'" in answer.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--model", "classifier", "--ties", "random"), "--ties random is not available for"),
        (("--model", "gaussian", "--k", "auto"), "--k auto is for the model classifier"),
        (("--model", "gaussian", "--groups", "x11"), "omit --model gaussian or --groups"),
        (("--dependence", "correlated", "--groups", "x11"), "omit --dependence correlated or"),
    ],
)
def test_options_of_the_other_models_are_refused(copies, options, message):
    answer = call("fit", "real-train.csv", "--target", "response", "-o", "-", *options, cwd=copies)
    assert answer.returncode == 1
    assert message in answer.stderr
