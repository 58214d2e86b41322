import re

import numpy as np
import pytest

from unselected import SelectiveBernoulliNB
from unselected.datasets import make_paper_simulation
from unselected.report import examine, report, verdict


@pytest.fixture(scope="module")
def findings():
    data = make_paper_simulation(60, 1, 400, concentration=20.0, random_state=2)
    names = [f"<gene {j}>" for j in range(400)]
    return examine(
        data.X_train,
        np.where(data.y_train == 1, "tumour", "normal"),
        classifier=SelectiveBernoulliNB(k=10),
        names=names,
        n_splits=3,
        n_repeats=2,
        seed=5,
        provenance={"input": "genes & co.csv", "sha256": "ab12"},
    )


@pytest.fixture(scope="module")
def page(findings):
    return report(findings, title="genes & tumours")


def test_the_verdict_says_what_the_numbers_say(findings):
    text = " ".join(verdict(findings))
    row = findings.rows["uncorrected"]
    assert "10 of 400 features were kept" in text
    assert f"{100 * row.expected_error.value:.0f} %" in text
    assert ("would be overconfident" in text) == any(
        findings.rows[m].expected_error.value < findings.rows[m].actual_error.low
        for m in ("corrected", "uncorrected")
    )


def test_the_page_stands_alone(page):
    assert len(page.encode()) < 1_000_000
    assert "<script" not in page
    without_namespaces = re.sub(r'xmlns(:\w+)?="[^"]*"', "", page)
    assert not re.search(r'(src|href)="(?!#)', without_namespaces)
    assert not re.search(r"url\((?!#)", page)
    assert "@import" not in page


def test_the_page_has_all_its_parts(findings, page):
    for name in ("Verdict", "Selected features", "Calibration", "Pictures", "Settings", "Method"):
        assert f"<h2>{name}</h2>" in page
    assert page.count("<svg") == 5
    kept = findings.corrected.selection_.indices
    for j in kept:
        assert f"&lt;gene {j}&gt;" in page
    assert "<gene" not in page
    assert "genes &amp; co.csv" in page
    assert "ab12" in page
    assert "Technical Report No. 0705" in page
    assert "<title>genes &amp; tumours</title>" in page


def test_the_same_findings_give_the_same_page(findings, page):
    assert report(findings, title="genes & tumours") == page


def test_a_selection_made_earlier_is_said_to_spoil_cross_validation():
    data = make_paper_simulation(40, 1, 6, concentration=3.0, random_state=0)
    model = SelectiveBernoulliNB(preselected_from=500)
    findings = examine(data.X_train, data.y_train, classifier=model, n_splits=3, n_repeats=1)
    assert "could not repeat the selection" in " ".join(verdict(findings))
