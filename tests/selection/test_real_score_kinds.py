"""Scores of real values against scipy, and what functions may return."""

import numpy as np
import pytest
from value_oracle import ORACLES, PRIOR, by_column, columns, volcano

from unselected.selection.real_score_kinds import REAL_SCORES, CustomRealScore, Volcano

EACH = pytest.mark.parametrize("name", REAL_SCORES)


def score_called(name):
    return REAL_SCORES[name].given(PRIOR)


@EACH
@pytest.mark.parametrize("digits", [12, 1, 0])
def test_scores_are_those_of_scipy(name, digits, seed):
    """With few digits there are ties within columns."""
    X, y = columns((7, 12), 0.5, 40, np.random.default_rng(seed))
    X = X.round(digits)
    np.testing.assert_allclose(score_called(name).of(X, y, str), ORACLES[name](X, y), rtol=1e-9)


def test_the_bounds_of_a_volcano(seed):
    X, y = columns((7, 12), 1.0, 200, np.random.default_rng(seed))
    score = Volcano(0.7, 0.02)
    scores = score.of(X, y, str)
    np.testing.assert_allclose(scores, by_column(volcano(0.7, 0.02))(X, y), rtol=1e-9)
    change, t = score.bounds(1.3, 17.0)
    a, b = X[y == 0], X[y == 1]
    within = ((a - a.mean(0)) ** 2).sum(0) + ((b - b.mean(0)) ** 2).sum(0)
    D = np.abs(b.mean(0) - a.mean(0))
    passed = (change < D) & (t < D / np.sqrt(within / 17 * (1 / 7 + 1 / 12)))
    np.testing.assert_array_equal(scores > 1.3, passed)


@EACH
def test_two_classes_only(name):
    with pytest.raises(ValueError, match=f"score_func='{name}' compares two classes, and y has 3"):
        REAL_SCORES[name].statistic(3)


def test_equal_ranks_are_equal_scores():
    X = np.array([[1.0, 10.0, 5.0], [2.0, 20.0, 5.5], [3.0, 30.0, 7.0], [4.0, 40.0, 6.0]])
    y = np.array([0, 1, 0, 1])
    for name in ("wilcoxon", "auc"):
        scores = REAL_SCORES[name].of(X, y, str)
        assert scores[0] == scores[1] != scores[2]
        assert REAL_SCORES[name].excess_at(float(scores[0]), 2, 2) == 2.0


def test_perfect_separation_has_a_finite_score():
    X = np.array([[0.0], [0.0], [1.0], [1.0]])
    assert np.isfinite(REAL_SCORES["welch"].of(X, np.array([0, 0, 1, 1]), str)).all()


def test_a_class_of_one_has_no_variance():
    with pytest.raises(ValueError, match="a class has a single case"):
        REAL_SCORES["welch"].checked_with(np.array([1, 9]))


def custom(function):
    return CustomRealScore(function, np.array(["a", "b"]))


def test_a_function_is_told_the_labels():
    def score(X, y):
        return X[y == "b"].mean(axis=0) - X[y == "a"].mean(axis=0)

    X = np.array([[1.0, 2.0], [4.0, 1.0]])
    assert custom(score).of(X, np.array([0, 1]), str).tolist() == [3.0, -1.0]
    assert not custom(score).checked_with(np.array([4, 5])).scale_free


@pytest.mark.parametrize(
    ("function", "told"),
    [
        (lambda X, *_: np.full(X.shape[1], np.nan), "score_func returned NaN for column 0"),
        (lambda *_: 1.0, r"score_func returned an array of shape \(\) for 3 columns"),
        (lambda X, *_: X, r"score_func returned an array of shape \(4, 3\) for 3 columns"),
        (lambda *_: "no", "score_func returned str, where an array of numbers is expected"),
    ],
)
def test_what_functions_may_return(function, told):
    X = np.arange(12.0).reshape(4, 3)
    with pytest.raises(ValueError, match=told):
        custom(function).of(X, np.array([0, 0, 1, 1]), "column {}".format)


def test_a_score_must_not_depend_on_the_location():
    with pytest.raises(ValueError, match="changes when a constant is added to a column"):
        custom(lambda X, *_: np.abs(X).mean(axis=0)).checked_with(np.array([5, 5]))


def test_a_pair_and_infinity_are_understood():
    def score(*_):
        return np.array([np.inf, -np.inf, 1.0]), "p-values"

    scores = custom(score).of(np.zeros((4, 3)), np.array([0, 0, 1, 1]), str)
    assert np.isfinite(scores).all()
    assert np.argsort(scores).tolist() == [1, 2, 0]
