"""The commands of the first hour: demo, doctor, cite, completion, and the versions."""

import json
import re
import shutil
import subprocess
import sys
from functools import partial
from importlib.metadata import version
from pathlib import Path

import pytest

from unselected import __version__
from unselected.cli import demo, doctor, environment, main
from unselected.cli.environment import Library, libraries
from unselected.datasets import make_clinical_study
from unselected.experiments import self_check
from unselected.files.models import load_model

ROOT = Path(__file__).parents[2]


@pytest.fixture
def small(monkeypatch, few_folds):  # noqa: ARG001
    """A study so small that the demo takes a second."""
    study = partial(make_clinical_study, 60, 200, 40, n_related=5, effect=1.0)
    monkeypatch.setattr(demo, "make_clinical_study", study)
    monkeypatch.setattr(demo, "_K", 5)
    monkeypatch.setattr(demo, "_SPLITS", 2)


# The demo


@pytest.mark.usefixtures("small")
def test_the_demo_does_the_main_job(tmp_path, capsys, monkeypatch):
    folder = tmp_path / "here" / "demo"
    assert main(["demo", "--folder", str(folder)]) == 0
    out = capsys.readouterr().out
    rows = re.findall(r"^(Select.*?)  +([\d.]+)%  +([\d.]+)%$", out, re.MULTILINE)
    assert [row[0] for row in rows] == ["SelectiveClassifier", "SelectKBest + LogisticRegression"]
    names = {path.name for path in folder.iterdir()}
    assert names == {"report.html", "calculator.html", "model.json", "train.csv", "new.csv"}
    assert all(name in out for name in names)
    assert str(folder) in out
    for page in ("report.html", "calculator.html"):
        assert "</html>" in (folder / page).read_text()
    header = (folder / "train.csv").read_text().partition("\n")[0].split(",")
    assert header[:5] == ["diagnosis", "age", "sex", "batch", "gene1"]

    # What it advises works in its folder.
    monkeypatch.chdir(folder)
    assert main(["predict", "model.json", "new.csv"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 21
    assert load_model("model.json").predictor.coding.names == ["age", "sex", "batch"]


@pytest.mark.usefixtures("small")
def test_the_demo_asks_before_it_overwrites(tmp_path, capsys, monkeypatch):
    (tmp_path / "new.csv").write_text("mine")
    (tmp_path / "file").write_text("mine")
    monkeypatch.setattr(demo, "make_clinical_study", lambda **_: pytest.fail("work was done"))
    for folder, code, message in (
        (tmp_path, 2, "new.csv exists already: choose another name, or allow it"),
        (tmp_path / "file", 1, "file is a file: give the name of a folder."),
    ):
        assert main(["demo", "--folder", str(folder)]) == code
        assert message in capsys.readouterr().err
    assert (tmp_path / "new.csv").read_text() == "mine"


def test_the_demo_of_the_paper_writes_no_files(tmp_path, capsys):
    assert main(["demo", "--paper", "--folder", str(tmp_path / "x")]) == 1
    assert "is not for --paper, which writes no files" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


# The doctor


def test_the_doctor_checks_and_tells_what_is_installed(capsys):
    assert main(["doctor", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["problems"] == []
    assert len(told["checks"]) >= 4
    assert told["libraries"]["numpy"] == version("numpy")
    assert told["extras"]["cli"]["cyclopts"] == version("cyclopts")
    assert told["cores"] >= 1
    assert any("openblas" in pool["library"] for pool in told["threads"])
    assert main(["doctor"]) == 0
    out = capsys.readouterr().out
    assert out.endswith("All is well.\n")
    assert "omission probability, binary" in out


def test_the_doctor_finds_what_is_wrong(monkeypatch, capsys):
    """Twins: a wrong result, a library that is too old, and one that cannot be loaded."""
    old = {"": [Library("numpy", "99", "2.0")], "zarr": [Library("zarr", "3.1", None)]}
    monkeypatch.setattr(doctor, "libraries", lambda: old)
    wrong = self_check.Check("corrected posterior", float("nan"), 0.4, 1e-9)
    monkeypatch.setattr(self_check, "self_check", lambda: [wrong])
    assert main(["doctor"]) == 1
    out, err = capsys.readouterr()
    assert 'zarr  no   zarr is missing: pip install "unselected[zarr]"' in out
    assert re.search(r"corrected posterior +nan +WRONG", out)
    assert "the check of corrected posterior fails; numpy 2.0 (needs 99). Install again" in err
    monkeypatch.setitem(sys.modules, "unselected.experiments.self_check", None)
    assert main(["doctor"]) == 1
    assert "a library cannot be loaded" in capsys.readouterr().err


def test_all_extras_but_all_are_known():
    declared = (ROOT / "pyproject.toml").read_text().partition("optional-dependencies]\n")[2]
    extras = set(re.findall(r"^(\w+) = ", declared.partition("\n\n")[0], re.MULTILINE))
    known = set(libraries()) - {""}
    assert known <= extras - {"all"}
    assert {"cli", "plots", "fast"} <= known


def test_versions_are_compared_as_numbers():
    assert Library("a", "1.9", "1.10").is_usable
    assert not Library("a", "1.10", "1.9").is_usable
    assert Library("a", "", "1").is_usable


def test_the_version_has_those_of_libraries(capsys, monkeypatch):
    assert main(["--version"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"unselected {__version__}"
    assert f"numpy {version('numpy')}" in lines
    assert f"cyclopts {version('cyclopts')} (cli)" in lines

    def absent(_):
        raise environment.PackageNotFoundError

    monkeypatch.setattr(environment, "requires", absent)  # run from the source
    assert main(["--version"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 2


# Citation


def test_the_entries_agree_with_the_citation_file(capsys):
    assert main(["cite"]) == 0
    text = " ".join(capsys.readouterr().out.replace("{", "").replace("}", "").split())
    cff = (ROOT / "CITATION.cff").read_text()
    title = re.search(r"  title: >-\n((?:    .*\n)+)", cff)[1]
    assert " ".join(title.split()) in text
    for field in ("family-names", "given-names", "number: Technical Report No.", "year"):
        for value in re.findall(rf"{field}:? (.+)", cff):
            assert value in text
    assert f"version = {__version__}" in text


def test_one_entry_can_be_had(capsys):
    assert main(["cite", "software", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["bibtex"]
    assert list(told) == ["software"]
    assert main(["cite", "book"]) == 2
    assert 'Choose from: "both", "paper", "software"' in capsys.readouterr().err


# Completion


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_bash_completes_commands_options_choices_and_files(capsys, tmp_path):
    assert main(["completion", "bash"]) == 0
    (tmp_path / "script").write_text(capsys.readouterr().out)
    (tmp_path / "train.csv").touch()
    asked = ["unselected do", "unselected fit --cov", "unselected fit x --prior s"]
    asked += ["unselected fit tr", "unselected predict m.json tr"]
    lines = ["source ./script"]
    for line in asked:
        last = len(line.split()) - 1
        lines += [
            f"COMP_WORDS=({line}); COMP_CWORD={last}",
            "_unselected unselected ${COMP_WORDS[-1]} ${COMP_WORDS[-2]}; echo ${COMPREPLY[@]}",
        ]
    answer = subprocess.run(
        ["bash", "-c", "\n".join(lines)], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    wanted = ["doctor", "--covariates", "sparse", "train.csv", "train.csv"]
    assert answer.stdout.splitlines() == wanted


@pytest.mark.parametrize(("shell", "sign"), [("zsh", "#compdef unselected"), ("fish", "complete")])
def test_other_shells_have_a_script(shell, sign, capsys):
    assert main(["completion", shell]) == 0
    out = capsys.readouterr().out
    assert sign in out
    assert "doctor" in out


def test_a_shell_that_is_not_known_is_told(capsys):
    assert main(["completion", "tcsh"]) == 2
    assert 'Choose from: "bash", "zsh", "fish"' in capsys.readouterr().err
