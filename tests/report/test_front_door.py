"""Pages on the front door for classes."""

from dataclasses import replace
from html import escape

import numpy as np
import pytest
from pages import cells_of, section, stands_alone, without_pictures

from unselected import SelectiveClassifier
from unselected.calibration import Estimate
from unselected.experiments import compare
from unselected.report import examine, verdict

pytestmark = pytest.mark.usefixtures("few_folds")


def mixed_table(n_classes, seed=5):
    rng = np.random.default_rng(seed)
    codes = np.arange(45) % n_classes
    X = np.exp(rng.normal(size=(45, 60)) + 1.5 * (np.arange(60) < 4) * codes[:, np.newaxis])
    X[:, 40:] = rng.random((45, 20)) < np.where(
        np.arange(20) < 3, 0.2 + 0.5 * (codes[:, None] > 0), 0.5
    )
    X[4, 2] = np.nan
    return X, np.array(["<well>", "ill", "in between"])[codes]


@pytest.fixture(scope="module", params=[2, 3], ids=["two classes", "three classes"])
def front_door(request):
    X, y = mixed_table(request.param)
    groups = np.arange(45) // 3
    model = SelectiveClassifier(k=8, marginals="normal")
    folds = {"n_splits": 2, "n_repeats": 1, "methods": ["class frequencies"]}
    return X, y, examine(X, y, classifier=model, groups=groups, **folds)


@pytest.fixture(scope="module")
def page_of_front_door(front_door):
    return without_pictures(front_door[2], title="front door")


def test_a_page_on_the_front_door_has_class_names_and_values(front_door, page_of_front_door):
    _, _, findings = front_door
    page = page_of_front_door
    stands_alone(page)
    assert "class 1" not in page
    several = findings.corrected.classes_.size > 2
    words = "the most probable class" if several else "ill"
    drawn = findings.first_screen().figures
    assert drawn[0][1].ax_.get_xlabel() == f"Predicted probability of {words}"
    assert drawn[2][1].ax_.get_xlabel().startswith("Standardized mean difference")
    assert ("ill less <well>" in drawn[2][1].ax_.get_xlabel()) != several
    assert "typical value in ill (n known)" in page
    assert "&lt;well&gt;" in page
    assert "<well>" not in page
    effects = findings.corrected.feature_effects()
    place = int(np.argmax(np.where(np.isnan(effects.seen["center_in_ill"]), -1.0, effects.score)))
    assert f"{effects.seen['center_in_ill'][place]:#.4g} (" in page
    assert "groups kept together" in page


def test_without_its_uncorrected_twin_a_page_does_not_speak_of_it(front_door, page_of_front_door):
    assert "uncorrected" not in page_of_front_door
    assert "without the correction" not in " ".join(verdict(front_door[2]))


def test_a_page_on_the_front_door_says_what_was_learned(front_door, page_of_front_door):
    _, _, findings = front_door
    learned = section(page_of_front_door, "What was learned from cases left out")
    model = findings.corrected
    for sentence in model.in_words():
        assert sentence in learned
    for k, weight in model.k_weights_.items():
        assert f"<td>{k}</td><td>{100 * weight:.0f} %</td>" in learned


def test_cases_of_the_front_door_come_with_those_in_doubt_first(front_door, page_of_front_door):
    _, y, findings = front_door
    rows = cells_of(page_of_front_door, "Cases")
    assert sorted(int(row[0]) for row in rows) == list(range(1, 46))
    of_own = [float(row[2]) for row in rows]
    assert of_own == sorted(of_own)
    first, p = int(rows[0][0]) - 1, findings.probability["corrected"]
    assert rows[0][1] == escape(y[first])
    assert of_own[0] == pytest.approx(p[first, findings.y[first]], abs=0.0006)
    assert rows[0][3] == escape(str(findings.corrected.classes_[p[first].argmax()]))


def test_groups_stay_together_in_the_page(front_door):
    X, y, findings = front_door
    groups = np.arange(45) // 3
    records = compare(
        X,
        y,
        k=8,
        classifier=findings.corrected,
        groups=groups,
        n_splits=2,
        n_repeats=1,
        methods=["corrected"],
    )
    np.testing.assert_allclose(records[0].probability, findings.probability["corrected"])
    alone = compare(
        X, y, k=8, classifier=findings.corrected, n_splits=2, n_repeats=1, methods=["corrected"]
    )
    assert not np.allclose(alone[0].probability, findings.probability["corrected"])


def test_options_that_are_in_use_are_not_recommended(front_door):
    findings = front_door[2]
    row = replace(
        findings.rows["corrected"],
        actual_error=Estimate(0.5, 0.4, 0.6, 0.95),
        expected_error=Estimate(0.01, 0.0, 0.1, 0.95),
    )
    told = " ".join(verdict(replace(findings, rows={**findings.rows, "corrected": row})))
    assert "does not come from the selection" in told
    assert "groups" not in told
    assert "dependence=" not in told
