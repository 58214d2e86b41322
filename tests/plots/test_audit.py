"""Pictures of audits: the points are the record's, and titles say what rings."""

from dataclasses import replace

import numpy as np
import pytest
from drawing import an_axes, labels
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB

from unselected.audit import check_selection
from unselected.plots import SelectionAuditDisplay

QUICK = {"n_permutations": 5, "try_remedy": False}


@pytest.fixture(scope="module")
def audit():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 400)), np.repeat([0, 1], 30)
    return check_selection(GaussianNB(), SelectKBest(k=40).fit_transform(X, y), y, **QUICK)


def test_points_are_those_of_the_record(audit):
    display = SelectionAuditDisplay.from_audit(audit, axes=an_axes(1, 2))
    errors, scores = display.axes_
    drawn = {line.get_label(): line.get_data() for line in errors.lines}
    np.testing.assert_array_equal(drawn["permuted responses"][0], audit.permuted.promised)
    np.testing.assert_array_equal(drawn["permuted responses"][1], audit.permuted.actual)
    assert set(labels(errors)) == {
        "permuted responses",
        "most frequent class",
        "real responses (95 % intervals)",
    }
    assert errors.get_title() == "Overconfident"
    assert scores.get_title() == "Weak columns are missing"
    counts = scores.patches[0].get_data().values
    np.testing.assert_array_equal(counts, audit.weak_columns.histogram)
    assert counts.sum() == 40
    noise = next(line for line in scores.lines if line.get_label() == "as many of noise")
    assert noise.get_ydata().sum() == pytest.approx(40, abs=1)


def test_nothing_rings(audit):
    quiet = replace(audit, alpha=1e-300)
    display = SelectionAuditDisplay(quiet).plot()
    assert [ax.get_title() for ax in display.axes_] == [
        "Not overconfident",
        "No edge in the scores",
    ]
    with pytest.raises(ValueError, match="2 panels"):
        SelectionAuditDisplay.from_audit(quiet, axes=[an_axes()])


def test_numbers_without_a_promise_and_tables_without_numbers():
    rng = np.random.default_rng(0)
    X, y = np.ones((30, 2)), rng.normal(size=30)
    audit = check_selection(LinearRegression(), X, y, **QUICK)
    errors, scores = SelectionAuditDisplay.from_audit(audit).axes_
    assert errors.get_title() == "No promise to compare with"
    assert errors.get_xlabel() == "Actual rmse / standard deviation of the response"
    assert scores.get_title() == "No columns of numbers"
