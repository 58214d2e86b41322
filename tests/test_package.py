import re
import subprocess
import sys
from pathlib import Path

import pytest

import unselected

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


def test_documents_speak_of_this_version():
    version = unselected.__version__
    assert f"## [{version}]" in (ROOT / "CHANGELOG.md").read_text()
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text()


def test_links_between_documents_lead_somewhere():
    for page in [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]:
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_the_readme_shows_what_the_demo_prints():
    script = Path(sys.executable).with_name("unselected")
    answer = subprocess.run([script, "demo"], capture_output=True, text=True, check=True)
    table = [line for line in answer.stdout.splitlines() if line[:1].isdigit()]
    assert len(table) == 8
    shown = [line.strip() for line in (ROOT / "README.md").read_text().splitlines()]
    assert [line for line in table if line not in shown] == []
