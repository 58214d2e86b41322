"""All that judges two classes together: who is flagged, the summary, bad input."""

import json
from dataclasses import FrozenInstanceError, asdict, fields
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from forecasters import covers, forecasts
from scipy.special import expit, logit

from unselected.calibration import (
    actual_error,
    average_minus_log_probability,
    average_squared_error,
    bootstrap_interval,
    calibration_in_the_large,
    calibration_slope_intercept,
    decile_table,
    error_interval,
    expected_error,
    reliability_curve,
    spiegelhalter,
    split_squared_error,
    summarize,
)

OF_BOTH = [
    actual_error,
    average_minus_log_probability,
    average_squared_error,
    error_interval,
    decile_table,
    calibration_slope_intercept,
    calibration_in_the_large,
    spiegelhalter,
    reliability_curve,
    split_squared_error,
    summarize,
    lambda y, p: bootstrap_interval(average_squared_error, y, p),
]


@pytest.mark.parametrize("of", [list, tuple, np.array, pd.Series, lambda v: np.array(v, object)])
def test_any_sequence_will_do(of):
    y, p = [0, 1, 1], [0.25, 0.5, 0.125]
    for function in OF_BOTH[:8]:
        assert repr(function(of(y), of(p))) == repr(function(y, p))
        assert repr(function(np.array(y, bool), np.array(p))) == repr(function(y, p))
    assert expected_error(of(p)) == expected_error(p)
    assert actual_error([True, False], [Fraction(1, 4), 1]) == 1.0


# An honest forecaster passes, an overconfident one and a shifted one do not


def share_flagged(rng, *, n_replicates=400, **forecaster):
    """How often each number says, at 5 %, that the probabilities are not right."""
    flagged = {"slope": 0, "intercept": 0, "in the large": 0, "spiegelhalter": 0}
    for _ in range(n_replicates):
        y, p = forecasts(rng, 250, **forecaster)
        line = calibration_slope_intercept(y, p)
        flagged["slope"] += not covers(line.slope, 1.0)
        flagged["intercept"] += not covers(line.intercept, 0.0)
        flagged["in the large"] += not covers(calibration_in_the_large(y, p), 0.0)
        flagged["spiegelhalter"] += spiegelhalter(y, p).p_value < 0.05
    return {name: count / n_replicates for name, count in flagged.items()}


def test_numbers_flag_whom_they_should_at_the_nominal_rate(seed):
    rng = np.random.default_rng(seed)
    honest = share_flagged(rng)
    assert all(0.01 < share < 0.10 for share in honest.values()), honest
    overconfident = share_flagged(rng, n_replicates=100, stretch=2.0)
    assert overconfident["slope"] > 0.95
    assert overconfident["spiegelhalter"] > 0.95
    shifted = share_flagged(rng, n_replicates=100, shift=0.8)
    assert shifted["intercept"] > 0.9
    assert shifted["in the large"] > 0.9
    # Each number has its own question: a shift is no matter of the slope.
    assert shifted["slope"] < 0.15


def share_outside(rng, *, n_replicates=80, **forecaster):
    """Mean share of the points of the curve that are outside of the band of 90 %."""
    shares = []
    for _ in range(n_replicates):
        y, p = forecasts(rng, 200, **forecaster)
        curve = reliability_curve(y, p, n_resamples=199, random_state=rng)
        outside = (curve.fraction < curve.band_low) | (curve.fraction > curve.band_high)
        shares.append(np.mean(outside))
    return np.mean(shares)


def test_band_holds_an_honest_curve_at_the_nominal_rate_and_no_other(seed):
    rng = np.random.default_rng(seed)
    assert 0.03 < share_outside(rng) < 0.15
    assert share_outside(rng, stretch=2.0) > 0.35
    assert share_outside(rng, shift=0.8) > 0.35


def test_miscalibration_and_expected_error_tell_the_overconfident(seed):
    rng = np.random.default_rng(seed)
    y, p = forecasts(rng, 4000)
    overconfident = expit(3.0 * logit(p))
    assert expected_error(p) == pytest.approx(actual_error(y, p), abs=0.04)
    assert expected_error(overconfident) < actual_error(y, overconfident) - 0.1
    honest, other = split_squared_error(y, p), split_squared_error(y, overconfident)
    assert other.miscalibration > 5 * honest.miscalibration
    assert other.discrimination == pytest.approx(honest.discrimination, abs=1e-4)


# Swapping the classes


def test_swapping_the_classes_mirrors_everything(seed):
    y, p = forecasts(np.random.default_rng(seed), 80, stretch=1.5, shift=0.3)
    swapped = 1 - y, 1 - p
    one, other = (summarize(*cases, random_state=0).to_dict() for cases in ((y, p), swapped))
    for name in ("intercept", "in_the_large"):
        first, second = one.pop(name), other.pop(name)
        assert (first["value"], first["low"], first["high"]) == pytest.approx(
            (-second["value"], -second["high"], -second["low"]), abs=1e-7
        )
    assert one.pop("prevalence") == pytest.approx(1 - other.pop("prevalence"))
    for name in one:
        assert one[name] == pytest.approx(other[name], abs=1e-7)
    curve, mirrored = reliability_curve(y, p), reliability_curve(*swapped)
    np.testing.assert_allclose(curve.fraction, 1 - mirrored.fraction[::-1], atol=1e-12)
    for row, mirror in zip(decile_table(y, p), decile_table(*swapped)[::-1], strict=True):
        assert row.count == mirror.count
        if row.count:
            assert row.mean_prediction == pytest.approx(1 - mirror.mean_prediction)
            assert row.actual_fraction == pytest.approx(1 - mirror.actual_fraction)
            assert row.fraction_low == pytest.approx(1 - mirror.fraction_high)


def test_the_order_of_the_cases_does_not_matter(seed):
    rng = np.random.default_rng(seed)
    y, p = forecasts(rng, 50)
    order = rng.permutation(50)
    for function in (spiegelhalter, split_squared_error, calibration_slope_intercept):
        one, other = asdict(function(y, p)), asdict(function(y[order], p[order]))
        for name in one:
            assert one[name] == pytest.approx(other[name], abs=1e-8)


# The summary


def test_summary_holds_what_the_functions_return(seed):
    y, p = forecasts(np.random.default_rng(seed), 70)
    summary = summarize(y, p, level=0.9, n_resamples=99, random_state=seed)
    line = calibration_slope_intercept(y, p, level=0.9)
    assert (summary.n, summary.prevalence) == (70, y.mean())
    assert summary.actual_error == error_interval(y, p, level=0.9)
    assert summary.expected_error == expected_error(p)
    assert (summary.slope, summary.intercept) == (line.slope, line.intercept)
    assert summary.in_the_large == calibration_in_the_large(y, p, level=0.9)
    assert summary.spiegelhalter == spiegelhalter(y, p)
    assert summary.squared_error_parts == split_squared_error(y, p)
    interval = bootstrap_interval(
        average_minus_log_probability, y, p, level=0.9, n_resamples=99, random_state=seed
    )
    assert asdict(summary.average_minus_log_probability) == pytest.approx(asdict(interval))
    assert summary == summarize(y, p, level=0.9, n_resamples=99, random_state=seed)
    with pytest.raises(FrozenInstanceError):
        summary.n = 3


@pytest.mark.parametrize(
    ("y", "p"), [([0, 1, 1, 0], [0.2, 0.6, 0.3, 0.4]), ([1], [0.5]), ([1, 1], [0.0, 0.5])]
)
def test_summary_in_json(y, p):
    summary = summarize(y, p, random_state=0)
    read = json.loads(json.dumps(summary.to_dict(), allow_nan=False))
    assert list(read) == [field.name for field in fields(summary)]
    assert read["actual_error"]["value"] == summary.actual_error.value
    if len(set(y)) == 1:
        assert read["slope"] == {"value": None, "low": None, "high": None, "level": 0.95}
        assert read["spiegelhalter"]["z"] is None


# Bad input


@pytest.mark.parametrize("function", OF_BOTH)
@pytest.mark.parametrize(
    ("y", "p", "message"),
    [
        ([0, 1], [0.5, 0.5, 0.5], "y has 2 cases and probability has 3"),
        ([], [], "no cases"),
        ([0, 1, 2, 3], [0.5] * 4, "y has the value 2 in row 2: give 0 and 1"),
        ([0, 0.5], [0.5] * 2, "y has the value 0.5 in row 1"),
        ([0, float("nan")], [0.5] * 2, "y has the value nan in row 1"),
        (["ill", "well"], [0.5] * 2, r"'ill'.* in row 0, which is not a number|pos_label=1"),
        ([1, None], [0.5] * 2, "y has the value None in row 1"),
        ([0, 1, 1], [0.5, 1.25, -1], "probability has the value 1.25 in row 1"),
        ([0, 1], [-1e-9, 0.5], r"probability has the value -1\S*e-09 in row 0"),
        ([0, 1], [0.5, float("nan")], "probability has the value nan in row 1"),
        ([0, 1], [float("inf"), 0.5], "probability has the value inf in row 0"),
        ([0, 1], ["0.5", "1"], r"probability has the value .*'0.5'.* in row 0"),
        ([0, 1], [[0.5, 0.5], [0.5, 0.5]], r"probability has the shape \(2, 2\).*column 1"),
        ([[0], [1]], [0.5, 0.5], r"y has the shape \(2, 1\)"),
        (1, [0.5], r"y has the shape \(\)"),
    ],
)
def test_bad_cases_are_named(function, y, p, message):
    with pytest.raises(ValueError, match=message):
        function(y, p)


def test_a_missing_class_of_pandas_is_named():
    with pytest.raises(ValueError, match=r"y has the value (nan|<NA>) in row 1"):
        actual_error(pd.array([1, None], dtype="Int64"), [0.5, 0.5])
    with pytest.raises(ValueError, match="probability has the value 2 in row 1"):
        expected_error([0.5, 2])


@pytest.mark.parametrize("level", [0.0, 1.0, 95, -0.5, float("nan")])
@pytest.mark.parametrize(
    "function",
    [
        error_interval,
        decile_table,
        calibration_slope_intercept,
        calibration_in_the_large,
        reliability_curve,
        summarize,
        lambda y, p, level: bootstrap_interval(average_squared_error, y, p, level=level),
    ],
)
def test_bad_levels_are_named(function, level):
    with pytest.raises(ValueError, match=f"level={level} must be between 0 and 1"):
        function([0, 1], [0.5, 0.5], level=level)


@pytest.mark.parametrize("n_resamples", [0, -3, 9.5, "many"])
@pytest.mark.parametrize("function", [reliability_curve, summarize])
def test_bad_numbers_of_resamples_are_named(function, n_resamples):
    with pytest.raises(ValueError, match=f"n_resamples={n_resamples!r} must be a whole number"):
        function([0, 1], [0.5, 0.5], n_resamples=n_resamples)


def test_a_summary_takes_labels_as_the_plots_do(seed):
    rng = np.random.default_rng(seed)
    p = rng.uniform(size=60)
    y = rng.uniform(size=60) < p
    expected = summarize(y, p, n_resamples=99, random_state=seed)
    for *labels, positive in (("well", "sick", "sick"), (2, 1, 1), (1, 0, 0), (False, True, 1)):
        named = np.where(y, labels[1], labels[0])
        told = summarize(named, p, pos_label=positive, n_resamples=99, random_state=seed)
        assert told == expected
    assert summarize(y, p, pos_label=None, n_resamples=99, random_state=seed) == expected
    swapped = summarize(np.where(y, "b", "a"), 1.0 - p, pos_label="a", n_resamples=9)
    assert swapped.prevalence == pytest.approx(1.0 - expected.prevalence)
    with pytest.raises(ValueError, match=r"pos_label=1 is not one of the labels in y, \['a', 'b"):
        summarize(np.where(y, "b", "a"), p)
    with pytest.raises(ValueError, match="3 labels"):
        summarize(["a", "b", "c"], [0.1, 0.2, 0.3], pos_label="a")
    with pytest.raises(ValueError, match="y has the value None in row 1: drop"):
        summarize(["a", None], [0.1, 0.2], pos_label="a")
    with pytest.raises(ValueError, match="pos_label=None is for the most probable"):
        summarize(y.astype(int), p, pos_label=None)
