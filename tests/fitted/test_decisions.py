"""Decisions by expected cost."""

import numpy as np
import pytest

from unselected import SelectiveGaussianNB
from unselected.fitted.decisions import decide


def test_two_classes_are_a_threshold(seed):
    """Alarm where p exceeds (cost of a false alarm) / (both costs)."""
    p = np.random.default_rng(seed).random(500)
    alarm = decide(np.column_stack([1.0 - p, p]), [[0.0, 1.0], [4.0, 0.0]])
    np.testing.assert_array_equal(alarm, (p > 0.2).astype(int))


def test_equal_costs_are_the_most_probable_class_or_none(seed):
    proba = np.random.default_rng(seed).dirichlet(np.ones(4), size=300)
    costs = 1.0 - np.eye(4)
    np.testing.assert_array_equal(decide(proba, costs), proba.argmax(axis=1))
    left = decide(proba, costs, indeterminate=0.3)
    expected = np.where(proba.max(axis=1) < 0.7, -1, proba.argmax(axis=1))
    np.testing.assert_array_equal(left, expected)
    assert 0 < np.sum(left == -1) < 300


def test_corrected_probabilities_cost_what_they_say(seed):
    """Noise alone: a decision for "act" is taken for granted by the uncorrected method."""
    rng = np.random.default_rng(seed)
    X, y, new = rng.normal(size=(40, 1000)), np.arange(40) % 2, rng.normal(size=(200, 1000))
    costs, truth = np.array([[0.0, 1.0], [1.0, 0.0]]), rng.integers(0, 2, size=200)
    surprise = {}
    for corrected in (True, False):
        proba = SelectiveGaussianNB(k=20, correct_selection=corrected).fit(X, y).predict_proba(new)
        decided = decide(proba, costs)
        expected = (proba @ costs)[np.arange(200), decided].mean()
        surprise[corrected] = costs[truth, decided].mean() - expected
    assert abs(surprise[True]) < 0.17
    assert surprise[False] > 0.2


@pytest.mark.parametrize(
    ("proba", "costs", "more", "message"),
    [
        ([0.5, 0.5], [[0, 1], [1, 0]], {}, r"proba has the shape \(2,\)"),
        ([[0.5, 0.6]], [[0, 1], [1, 0]], {}, "no distribution"),
        ([[0.5, 0.5]], [[0, 1]], {}, "costs has 1 rows, but proba has 2 classes"),
        ([[0.5, 0.5]], [[0, np.inf], [1, 0]], {}, "costs has a value that is not a finite"),
        ([[0.5, 0.5]], [[0, 1], [1, 0]], {"indeterminate": np.nan}, "indeterminate=nan must be"),
    ],
)
def test_what_makes_no_sense(proba, costs, more, message):
    with pytest.raises(ValueError, match=message):
        decide(proba, costs, **more)
