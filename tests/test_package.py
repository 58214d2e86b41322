import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import unselected
from unselected.cli import demo, main
from unselected.datasets import make_clinical_study
from unselected.estimators import content_folds
from unselected.experiments import promises

ROOT = Path(__file__).parent.parent


def test_public_names_are_frozen():
    assert sorted(unselected.__all__) == [
        "Selection",
        "SelectiveBernoulliNB",
        "SelectiveClassifier",
        "SelectiveFactorClassifier",
        "SelectiveFactorRegressor",
        "SelectiveGaussianNB",
        "SelectiveMixtureClassifier",
        "SelectiveNaiveRegressor",
        "SelectiveRegressor",
        "__version__",
        "open_columns",
    ]
    assert dir(unselected) == unselected.__all__
    for name in unselected.__all__:
        assert getattr(unselected, name) is not None
    with pytest.raises(AttributeError, match="has no attribute 'SelectKBest'"):
        _ = unselected.SelectKBest


HEAVY = ("scipy.stats", "matplotlib", "pandas", "polars", "sklearn", "numpy")


def loaded_by(code):
    """Return the large libraries that a line has loaded in a process of its own."""
    code = f"import sys; {code}; print(*[name for name in {HEAVY} if name in sys.modules])"
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    return answer.stdout.split()


def test_import_is_light():
    assert loaded_by("import unselected") == []


def test_the_light_import_test_would_notice():
    assert "sklearn" in loaded_by("import unselected; unselected.SelectiveBernoulliNB")


def test_nothing_below_the_estimators_loads_scipy_stats():
    assert loaded_by("import unselected.models.bernoulli") == ["numpy"]


# What users write, and the errors that a checker of types must find in it.
USERS = """
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unselected import Selection, SelectiveClassifier

model = SelectiveClassifier(k=5).fit(np.eye(9), np.arange(9) % 2)
probability: NDArray[np.float64] = model.predict_proba(np.eye(9))
error: float = model.expected_error(np.eye(9))
selection: Selection[Any] = model.selection_
"""
WRONG = """
SelectiveClassifier(kk=5)
names: list[str] = model.predict_proba(np.eye(9))
"""


@pytest.mark.slow
def test_types_hold_for_users(tmp_path):
    """`py.typed` is there, and the types say more than Any, seen from outside of the checkout."""
    pytest.importorskip("mypy")
    # The settings of the project, but for its paths: so what `make lint` has kept is good here.
    settings = re.sub(
        r"^(files|exclude|mypy_path) = .*\n", "", (ROOT / "pyproject.toml").read_text(), flags=re.M
    )
    (tmp_path / "pyproject.toml").write_text(settings)
    cache = tmp_path / "cache"
    if (ROOT / ".mypy_cache").is_dir():
        shutil.copytree(ROOT / ".mypy_cache", cache)
    command = [sys.executable, "-m", "mypy", f"--cache-dir={cache}"]
    (tmp_path / "right.py").write_text(USERS)
    (tmp_path / "wrong.py").write_text(USERS + WRONG)
    answer = subprocess.run(
        [*command, "right.py", "wrong.py"], cwd=tmp_path, capture_output=True, text=True
    )
    found = re.findall(r"^(\w+\.py):\d+: error: .*\[([\w-]+)\]$", answer.stdout, re.MULTILINE)
    assert found == [("wrong.py", "call-arg"), ("wrong.py", "assignment")], answer.stdout


def test_documents_speak_of_this_version():
    version = unselected.__version__
    assert f"## [{version}]" in (ROOT / "CHANGELOG.md").read_text()
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text()


def test_links_between_documents_lead_somewhere():
    for page in [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]:
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_the_page_of_the_paper_shows_what_its_demo_prints(capsys):
    assert main(["demo", "--paper"]) == 0
    table = [line for line in capsys.readouterr().out.splitlines() if line[:1].isdigit()]
    assert len(table) == 8
    shown = [line.strip() for line in (ROOT / "docs" / "paper.md").read_text().splitlines()]
    assert [line for line in table if line not in shown] == []


@pytest.mark.slow
def test_pages_show_what_the_demo_prints(monkeypatch):
    monkeypatch.setattr(content_folds, "_MOST_DIVISIONS", 10)  # as for users, not as for tests
    study = make_clinical_study(random_state=0)
    train = study.train
    model = demo.model_for(seed=0).fit(train.X, train.y, covariates=train.covariates)
    text = demo.demo_text("unselected-demo", promises(study, model, k=20))
    table = [line for line in text.splitlines() if "%" in line]
    assert len(table) == 2
    files = [line.strip() for line in text.partition(":\n  report")[2].splitlines()[1:5]]
    for page, lines in (("README.md", table), ("docs/shell.md", [*table, *files])):
        shown = [line.strip() for line in (ROOT / page).read_text().splitlines()]
        assert [line for line in lines if line not in shown] == []
