"""Several classes: against scikit-learn, against the functions of two classes, and by hand."""

import json
import math
from dataclasses import asdict, fields

import numpy as np
import pandas as pd
import pytest
from forecasters import covers, few_cases, forecasts
from hypothesis import given
from scipy.special import softmax
from scipy.stats import binom
from sklearn.metrics import accuracy_score, log_loss

from unselected.calibration import (
    actual_error,
    average_minus_log_probability,
    average_squared_error,
    calibration_in_the_large,
    decile_table,
    expected_error,
    most_probable,
    multiclass_actual_error,
    multiclass_average_minus_log_probability,
    multiclass_average_squared_error,
    multiclass_expected_error,
    reliability_curve,
    spiegelhalter,
    summarize,
    summarize_classes,
)

OF_BOTH = [
    most_probable,
    multiclass_actual_error,
    multiclass_average_minus_log_probability,
    multiclass_average_squared_error,
    summarize_classes,
]
SAME = [
    (multiclass_actual_error, actual_error),
    (multiclass_average_minus_log_probability, average_minus_log_probability),
    (multiclass_average_squared_error, average_squared_error),
]


def class_forecasts(rng, n=200, G=4, *, stretch=1.0):
    """Classes, and what a forecaster says who stretches the logs of the true probabilities."""
    logs = rng.normal(0.0, 1.5, size=(n, G))
    cumulative = np.cumsum(softmax(logs, axis=1), axis=1)
    y = np.sum(cumulative < rng.random((n, 1)), axis=1)
    return np.minimum(y, G - 1), softmax(stretch * logs, axis=1)


def both_columns(p):
    p = np.asarray(p)
    return np.column_stack([1.0 - p, p])


# Scores


def test_scores_by_hand():
    y, p = [2, 0, 1], [[0.25, 0.25, 0.5], [0.125, 0.75, 0.125], [0.0, 0.75, 0.25]]
    assert multiclass_actual_error(y, p) == pytest.approx(1 / 3)
    assert multiclass_expected_error(p) == pytest.approx((0.5 + 0.25 + 0.25) / 3)
    by_hand = -math.log(0.5 * 0.125 * 0.75) / 3
    assert multiclass_average_minus_log_probability(y, p) == pytest.approx(by_hand, rel=1e-14)
    squares = [0.0625 * 2 + 0.25, 0.875**2 + 0.75**2 + 0.125**2, 0.0625 * 2]
    assert multiclass_average_squared_error(y, p) == pytest.approx(sum(squares) / 6)


def test_scores_are_those_of_scikit_learn(seed):
    y, p = class_forecasts(np.random.default_rng(seed), stretch=2.0)
    assert multiclass_actual_error(y, p) == pytest.approx(
        1.0 - accuracy_score(y, np.argmax(p, axis=1))
    )
    assert multiclass_average_minus_log_probability(y, p) == pytest.approx(
        log_loss(y, p, labels=range(4)), rel=1e-12
    )
    one_by_one = np.mean([average_squared_error(y == g, p[:, g]) for g in range(4)])
    assert multiclass_average_squared_error(y, p) == pytest.approx(4 * one_by_one / 2)


@given(few_cases())
def test_two_classes_are_the_functions_of_two_classes(cases):
    y, p = cases
    for several, two in SAME:
        assert several(y, both_columns(p)) == pytest.approx(two(y, p), rel=1e-9, abs=1e-12)
    assert multiclass_expected_error(both_columns(p)) == pytest.approx(expected_error(p), abs=1e-15)


def test_equally_probable_classes_go_to_the_last():
    """As 0.5 is class 1 where there are two."""
    is_right, confidence = most_probable([1, 2, 0], [[0.25, 0.375, 0.375]] * 2 + [[0.5, 0.5, 0]])
    assert is_right.tolist() == [False, True, False]
    assert confidence.tolist() == [0.375, 0.375, 0.5]


def test_a_class_that_nobody_has_and_a_certain_forecast_that_was_wrong():
    p = [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]
    cost = -math.log(np.finfo(float).eps)
    assert multiclass_average_minus_log_probability([0, 0], p) == pytest.approx(cost / 2)
    assert summarize_classes([0, 0], p, random_state=0).prevalence == (1.0, 0.0, 0.0)


# The most probable class: right, or wrong


def test_the_most_probable_class_is_judged_as_two_classes_are(seed):
    y, p = class_forecasts(np.random.default_rng(seed), 500)
    is_right, confidence = most_probable(y, p)
    assert 1.0 - is_right.mean() == pytest.approx(multiclass_actual_error(y, p))
    assert 1.0 - confidence.mean() == pytest.approx(multiclass_expected_error(p))
    rows = decile_table(is_right, confidence)
    counts = [int(np.sum((confidence >= r.low) & (confidence < r.high))) for r in rows]
    assert [row.count for row in rows] == counts
    for row in rows[3:8]:
        inside = (confidence >= row.low) & (confidence < row.high)
        rights = np.argmax(p[inside], axis=1) == y[inside]
        assert row.actual_fraction == pytest.approx(rights.mean())
    curve = reliability_curve(is_right, confidence, n_resamples=19)
    assert curve.probability[0] >= 0.25  # one of four classes has at least that


def share_flagged(rng, *, n_replicates=300, **forecaster):
    """How often the most probable class is found, at 5 %, to be right too seldom or too often."""
    flagged = np.zeros(2)
    for _ in range(n_replicates):
        cases = most_probable(*class_forecasts(rng, **forecaster))
        in_the_large = calibration_in_the_large(*cases)
        flagged += [not covers(in_the_large, 0.0), spiegelhalter(*cases).p_value < 0.05]
    return flagged / n_replicates


@pytest.mark.slow
def test_numbers_flag_the_overconfident_and_only_them(seed):
    rng = np.random.default_rng(seed)
    honest = share_flagged(rng)
    assert np.all((honest > 0.005) & (honest < 0.11)), honest
    assert np.all(share_flagged(rng, n_replicates=60, stretch=2.5) > 0.9)


def test_expected_error_tells_the_overconfident(seed):
    y, p = class_forecasts(np.random.default_rng(seed), 4000)
    y_twin, twin = class_forecasts(np.random.default_rng(seed), 4000, stretch=3.0)
    assert multiclass_expected_error(p) == pytest.approx(multiclass_actual_error(y, p), abs=0.04)
    assert multiclass_expected_error(twin) < multiclass_actual_error(y_twin, twin) - 0.04


# The summary


def test_summary_holds_what_the_functions_return(seed):
    y, p = class_forecasts(np.random.default_rng(seed), 80)
    summary = summarize_classes(y, p, level=0.9, n_resamples=99, random_state=seed)
    is_right, confidence = most_probable(y, p)
    assert summary.n == 80
    assert summary.prevalence == pytest.approx([np.mean(y == g) for g in range(4)])
    error = summary.actual_error
    assert error.value == pytest.approx(multiclass_actual_error(y, p))
    wrong = round(80 * error.value)
    assert binom.sf(wrong - 1, 80, error.low) == pytest.approx(0.05, abs=1e-9)
    assert binom.cdf(wrong, 80, error.high) == pytest.approx(0.05, abs=1e-9)
    assert summary.expected_error == pytest.approx(multiclass_expected_error(p))
    for name in ("average_minus_log_probability", "average_squared_error"):
        interval = getattr(summary, name)
        several = {two.__name__: several for several, two in SAME}[name]
        assert interval.value == pytest.approx(several(y, p))
        assert interval.low < interval.value < interval.high
        assert interval.level == 0.9
    assert summary.in_the_large == calibration_in_the_large(is_right, confidence, level=0.9)
    assert summary.spiegelhalter == spiegelhalter(is_right, confidence)
    assert summary == summarize_classes(y, p, level=0.9, n_resamples=99, random_state=seed)


def test_summary_of_two_classes_is_the_summary_of_two_classes(seed):
    y, p = forecasts(np.random.default_rng(seed), 60)
    several = summarize_classes(y, both_columns(p), n_resamples=199, random_state=seed)
    two = summarize(y, p, n_resamples=199, random_state=seed)
    assert several.actual_error == two.actual_error
    for name in ("average_minus_log_probability", "average_squared_error"):
        ours, theirs = asdict(getattr(several, name)), asdict(getattr(two, name))
        assert ours == pytest.approx(theirs, rel=1e-9)


def test_summary_in_json():
    summary = summarize_classes([0, 1], [[0.5, 0.25, 0.25], [0.0, 1.0, 0.0]], random_state=0)
    read = json.loads(json.dumps(summary.to_dict(), allow_nan=False))
    assert list(read) == [field.name for field in fields(summary)]
    assert read["prevalence"] == [0.5, 0.5, 0.0]
    assert read["in_the_large"]["value"] is None  # both are right


# Bad input


@pytest.mark.parametrize("of", [list, np.array, pd.DataFrame, lambda p: np.array(p, np.float32)])
def test_any_matrix_will_do(of):
    p = [[0.25, 0.5, 0.25], [0.125, 0.75, 0.125]]
    for several in OF_BOTH[:4]:
        assert repr(several([0, 1], of(p))) == repr(several([0, 1], p))
    assert multiclass_expected_error(of(p)) == 0.375


@pytest.mark.parametrize("function", OF_BOTH)
@pytest.mark.parametrize(
    ("y", "p", "message"),
    [
        ([0, 1], [[0.5, 0.5]], "y has 2 cases and probability has 1"),
        ([], np.empty((0, 3)), "probability has no cases"),
        ([0, 3], np.full((2, 3), 1 / 3), r"y has the value 3 in row 1: give class numbers, 0 to 2"),
        ([0, 0.5], np.full((2, 3), 1 / 3), r"y has the value 0\.5 in row 1"),
        ([0, np.nan], np.full((2, 3), 1 / 3), "y has the value nan in row 1"),
        (["a", "b"], np.full((2, 3), 1 / 3), r"y has the value .*'a'.* in row 0, which is not a"),
        ([0, 1], [0.5, 0.5], r"probability has the shape \(2,\): give a row for each case"),
        ([0, 0], [[1.0], [1.0]], r"probability has the shape \(2, 1\)"),
        (
            [0, 1],
            [[0.5, 0.5], [-0.25, 1.25]],
            r"column 0 of probability has the value -0\.25 in row 1",
        ),
        ([0, 1], [[0.5, np.nan], [0, 1]], "column 1 of probability has the value nan in row 0"),
        ([0, 1], [[0.5, 0.5], [0.5, 0.25]], r"the sum of probability has the value 0\.75 in row 1"),
    ],
)
def test_bad_cases_are_named(function, y, p, message):
    with pytest.raises(ValueError, match=message):
        function(y, p)


def test_bad_options_are_named():
    with pytest.raises(ValueError, match="level=95 must be between 0 and 1"):
        summarize_classes([0, 1], np.eye(2), level=95)
    with pytest.raises(ValueError, match="n_resamples=0 must be a whole number"):
        summarize_classes([0, 1], np.eye(2), n_resamples=0)
    with pytest.raises(ValueError, match="the sum of probability has the value 2"):
        multiclass_expected_error([[1, 1]])
