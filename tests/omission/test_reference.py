"""The three cases of validation/predbayescor: numbers of the authors' program, and exact ones.

`exact_*` were converged to 1e-10 where they were made, omission probabilities to 1e-14. The
authors' program integrates on a grid: 3e-8 from exact corrected, 1e-5 uncorrected.
"""

import json
from pathlib import Path

import numpy as np
import pytest

from unselected import SelectiveBernoulliNB
from unselected.models.bernoulli import BernoulliModel
from unselected.numerics.beta_binomial import CountLaw
from unselected.omission.binary import OmittedCounts, log_omission, selected_probabilities
from unselected.selection.correlation import threshold_cut
from unselected.selection.count_scores import CountScores
from unselected.selection.events import Event
from unselected.selection.rules import keep_above
from unselected.statistics.counting import count_classes

FOLDER = Path(__file__).parents[2] / "validation" / "predbayescor"


def bits(rows):
    return np.array([[int(c) for c in row] for row in rows], dtype=np.uint8)


@pytest.fixture(params=["tiny", "balanced", "unbalanced"])
def case(request):
    case = json.loads((FOLDER / f"{request.param}.json").read_text())
    for key in ("X_train", "X_test"):
        case[key] = bits(case[key])
    case["y_train"] = bits([case["y_train"]])[0]
    return case


@pytest.mark.parametrize("kind", ["corrected", "uncorrected"])
def test_probabilities(case, kind):
    model = SelectiveBernoulliNB(threshold=case["threshold"], correct_selection=kind == "corrected")
    model.fit(case["X_train"], case["y_train"])
    assert model.selection_.indices.tolist() == case["selected"]
    probability = model.predict_proba(case["X_test"])[:, 1]
    np.testing.assert_allclose(probability, case[f"exact_{kind}"], rtol=0, atol=1e-9)
    authors = {"corrected": 3e-8, "uncorrected": 2e-5}[kind]
    np.testing.assert_allclose(probability, case[f"prob_class1_{kind}"], rtol=0, atol=authors)


@pytest.mark.parametrize("corrected", [True, False])
def test_a_ten_times_finer_evaluation_agrees(case, corrected):
    counts, _ = count_classes(case["X_train"], case["y_train"], None)
    selection = keep_above(CountScores.of(counts), case["threshold"], np.array([], dtype=int))
    event = selection.event if corrected else Event()
    coarse, fine = (
        BernoulliModel(refinement=refinement).condition(counts.take(selection.indices), event)
        for refinement in (1, 10)
    )
    assert fine.log_alpha.size > 9 * coarse.log_alpha.size
    rows = case["X_test"][:, selection.indices] > 0
    odds = [np.diff(posterior.log_joint(rows)) for posterior in (coarse, fine)]
    np.testing.assert_allclose(1 / (1 + np.exp(odds[0])), 1 / (1 + np.exp(odds[1])), atol=1e-12)


def test_omission_probabilities(case):
    n1 = int(case["y_train"].sum())
    n0 = case["y_train"].size - n1
    law = CountLaw((n0, n1), *BernoulliModel().theta_rule(n0 + n1))
    omitted = OmittedCounts.at_most(threshold_cut(case["threshold"]), n0, n1)
    for alpha, exact in case["omission_probability_exact"]:
        selected = sum(
            selected_probabilities([omitted], np.exp(log_p0), np.exp(log_p1), law.weights[nodes])[0]
            for nodes, log_p0, log_p1 in law.blocks(1 / alpha)
        )
        ours = np.exp(log_omission(law, 1 / alpha, omitted, selected))
        assert ours == pytest.approx(exact, abs=1e-12)
