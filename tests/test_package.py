import re
import subprocess
import sys
from pathlib import Path

import pytest

import unselected
from unselected.cli import demo
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


@pytest.mark.parametrize(
    "heavy", ["scipy.stats", "matplotlib", "pandas", "polars", "sklearn", "numpy"]
)
def test_import_is_light(heavy):
    code = f"import sys, unselected; print({heavy!r} in sys.modules)"
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert answer.stdout.strip() == "False"


def test_the_light_import_test_would_notice():
    code = (
        "import sys, unselected; unselected.SelectiveBernoulliNB; print('sklearn' in sys.modules)"
    )
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert answer.stdout.strip() == "True"


def test_nothing_below_the_estimators_loads_scipy_stats():
    code = "import sys, unselected.models.bernoulli; print('scipy.stats' in sys.modules)"
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert answer.stdout.strip() == "False"


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
    # Kept, because only the first time takes seconds.
    cache = ROOT / ".mypy_cache" / "outside"
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", f"--cache-dir={cache}"]
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


def test_the_page_of_the_paper_shows_what_its_demo_prints():
    script = Path(sys.executable).with_name("unselected")
    answer = subprocess.run([script, "demo", "--paper"], capture_output=True, text=True, check=True)
    table = [line for line in answer.stdout.splitlines() if line[:1].isdigit()]
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
