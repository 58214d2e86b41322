"""`unselected audit`: tables in, a verdict out."""

import contextlib
import io
import json
from contextlib import redirect_stderr, redirect_stdout

import numpy as np
import pytest

from unselected.audit import check_selection
from unselected.audit.usual import usual_pipeline
from unselected.audit.wording import SHELL
from unselected.cli import auditing, main

pytestmark = pytest.mark.usefixtures("few_folds")

QUICK = ("--permutations", "6")


def call(*arguments, cwd):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.chdir(cwd), redirect_stdout(out), redirect_stderr(err):
        code = main(["audit", *map(str, arguments)])
    return code, out.getvalue(), err.getvalue()


def write(path, names, X, **others):
    rows = [[*others, *names], *zip(*others.values(), *X.T.tolist(), strict=True)]
    path.write_text("".join(",".join(map(str, row)) + "\n" for row in rows))


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """A folder with noise, and with the 40 columns of it that look best."""
    folder = tmp_path_factory.mktemp("tables")
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 300)).round(4), np.repeat(["sick", "well"], 30)
    r = np.corrcoef(X.T, y == "well")[-1, :-1]
    kept = np.sort(np.argsort(-np.abs(r))[:40])
    names = np.array([f"g{j}" for j in range(300)])
    patient = np.arange(60) // 2
    write(folder / "before.csv", names, X, group=y)
    write(folder / "kept.csv", names[kept], X[:, kept] * 10, group=y)
    write(folder / "patients.csv", names[kept], X[:, kept], group=y, patient=patient)
    write(folder / "other.csv", names[kept], X[:, kept], group=y[::-1])
    write(folder / "numbers.csv", names[:20], X[:, :20], size=rng.normal(size=60).round(4))
    return folder


def test_the_verdict_is_that_of_python(tables):
    code, out, err = call("kept.csv", "--target", "group", *QUICK, cwd=tables)
    assert code == 0
    assert "model: logistic; 60 cases, 40 features, seed 0" in err
    data = np.genfromtxt(tables / "kept.csv", delimiter=",", skip_header=1)[:, 1:]
    y = np.repeat(["sick", "well"], 30)
    model = usual_pipeline("logistic", of_numbers=False)
    expected = check_selection(model, data, y, n_permutations=6)
    assert out == f"{expected.summary(SHELL)}\n"
    assert "! Selection was made before the cross-validation" in out
    assert "unselected cv --k 40" in out


def test_the_table_before_is_matched_by_name(tables):
    options = ("--target", "group", "--before", "before.csv", "--model", "bayes", "--json")
    code, out, _ = call("kept.csv", *options, *QUICK, cwd=tables)
    content = json.loads(out)
    assert code == 0
    assert (content["command"], content["model"]) == ("audit", "bayes")
    assert content["earlier"]["agreement"]["n_strongest"] == 40
    assert content["earlier"]["error_inside"]["value"] > 0.3
    assert "columns of the table before that are most related" in content["verdict"][0]


def test_honest_tables_numbers_and_groups(tables):
    options = ("--target", "size", "--k", "5", "--json", *QUICK)
    code, out, _ = call("numbers.csv", *options, cwd=tables)
    content = json.loads(out)
    assert (code, content["model"], content["selected_outside"]) == (0, "ridge", False)
    assert content["features"]["n_features"] == 5.0
    options = ("--target", "group", "--groups", "patient", "--json", *QUICK)
    code, out, _ = call("patients.csv", *options, cwd=tables)
    assert (code, json.loads(out)["n_columns"]) == (0, 40)


def test_a_picture_is_written_once(tables):
    options = ("--target", "group", "--picture", "audit.svg", *QUICK)
    code, out, _ = call("kept.csv", *options, cwd=tables)
    assert (code, out.splitlines()[-1]) == (0, "written to audit.svg")
    assert (tables / "audit.svg").read_text().startswith("<svg")
    code, _, err = call("kept.csv", *options, cwd=tables)
    assert (code, "--force" in err) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("kept.csv", "--model", "ridge"), "ridge is not a model of classes"),
        (("kept.csv", "--model", "regressor"), "use --model classifier"),
        (("before.csv", "--before", "kept.csv"), "kept.csv has no column g0"),
        (("other.csv", "--before", "before.csv"), "different responses"),
        (("kept.csv", "--covariates", "g1"), "--covariates is not available for audit"),
        (("-", "--groups", "patient"), "--groups needs a table in a file"),
    ],
)
def test_errors_say_what_to_do(tables, arguments, message):
    code, out, err = call(arguments[0], "--target", "group", *arguments[1:], cwd=tables)
    assert (code, out) == (1, "")
    assert message in err


def test_trials_are_counted_on_a_terminal(tables, monkeypatch):
    monkeypatch.setattr(auditing, "on_terminal", lambda: True)
    with auditing._showing_trials(after=0.0) as step:
        step(1, 3)
        step(2, 5)
    code, _, _ = call("kept.csv", "--target", "group", *QUICK, cwd=tables)
    assert code == 0
