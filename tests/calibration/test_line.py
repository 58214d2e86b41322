"""Slope, intercept, calibration in the large."""

import math
from dataclasses import asdict

import numpy as np
import pytest
from forecasters import few_cases, forecasts, overlapping
from hypothesis import given, settings
from scipy.optimize import minimize
from scipy.special import expit, logit
from scipy.stats import norm

from unselected.calibration import (
    Estimate,
    calibration_in_the_large,
    calibration_slope_intercept,
)


def minus_log_likelihood(coefficients, x, y):
    log_odds = coefficients[0] + coefficients[1] * x
    return np.sum(np.logaddexp(0.0, log_odds)) - y @ log_odds


def curvature(coefficients, x, y, step=1e-3):
    """Second differences of the above, four to a pair."""
    steps = step * np.eye(2)
    return np.array(
        [
            [
                sum(
                    s * t * minus_log_likelihood(coefficients + s * a + t * b, x, y)
                    for s in (-1, 1)
                    for t in (-1, 1)
                )
                / (4 * step**2)
                for a in steps
            ]
            for b in steps
        ]
    )


@pytest.mark.parametrize(("n", "level"), [(12, 0.95), (80, 0.9), (3000, 0.5)])
def test_line_maximizes_the_likelihood(n, level, seed):
    y, p = overlapping(np.random.default_rng(seed), n)
    x = logit(p)
    line = calibration_slope_intercept(y, p, level=level)
    options = {"xatol": 1e-9, "fatol": 1e-12, "initial_simplex": [[0, 1], [0.5, 1], [0, 1.5]]}
    best = minimize(minus_log_likelihood, [0, 1], (x, y), "Nelder-Mead", options=options)
    found = np.array([line.intercept.value, line.slope.value])
    np.testing.assert_allclose(found, best.x, atol=1e-4)
    assert minus_log_likelihood(found, x, y) <= best.fun + 1e-9 * n
    sd = np.sqrt(np.diag(np.linalg.inv(curvature(found, x, y))))
    halves = norm.ppf((1 + level) / 2) * sd
    for estimate, half in zip((line.intercept, line.slope), halves, strict=True):
        assert estimate.high - estimate.value == pytest.approx(half, rel=1e-3)
        assert estimate.value - estimate.low == pytest.approx(half, rel=1e-3)
        assert estimate.level == level


def test_line_through_two_points_by_hand():
    """Two values of p: the fit passes through the fractions, with the variances of two logits."""
    x0, x1, n0, n1, f0, f1 = -1.0, 3.0, 40, 60, 0.25, 0.7
    y = np.repeat([1, 0, 1, 0], [10, 30, 42, 18])
    line = calibration_slope_intercept(y, expit(np.repeat([x0, x1], [n0, n1])))
    slope = (logit(f1) - logit(f0)) / (x1 - x0)
    v0, v1 = 1 / (n0 * f0 * (1 - f0)), 1 / (n1 * f1 * (1 - f1))
    half = norm.ppf(0.975) * math.sqrt(v0 + v1) / (x1 - x0)
    assert asdict(line.slope) == pytest.approx(
        asdict(Estimate(slope, slope - half, slope + half, 0.95))
    )
    intercept = logit(f0) - slope * x0
    half = norm.ppf(0.975) * math.sqrt(x1**2 * v0 + x0**2 * v1) / (x1 - x0)
    assert asdict(line.intercept) == pytest.approx(
        asdict(Estimate(intercept, intercept - half, intercept + half, 0.95))
    )


def test_the_line_undoes_what_was_done_to_the_log_odds(seed):
    y, p = overlapping(np.random.default_rng(seed), 100)
    line = calibration_slope_intercept(y, p)
    moved = calibration_slope_intercept(y, expit(2.0 * logit(p) + 0.5))
    assert moved.slope.value == pytest.approx(line.slope.value / 2, rel=1e-6)
    assert moved.intercept.value == pytest.approx(
        line.intercept.value - 0.25 * line.slope.value, abs=1e-6
    )
    straight = expit(line.intercept.value + line.slope.value * logit(p))
    again = calibration_slope_intercept(y, straight)
    assert again.slope.value == pytest.approx(1.0, abs=1e-7)
    assert again.intercept.value == pytest.approx(0.0, abs=1e-7)
    assert calibration_in_the_large(y, straight).value == pytest.approx(0.0, abs=1e-7)


def test_in_the_large_makes_the_means_equal(seed):
    y, p = forecasts(np.random.default_rng(seed), 150, shift=1.0)
    large = calibration_in_the_large(y, p, level=0.8)
    fitted = expit(large.value + logit(p))
    assert fitted.mean() == pytest.approx(y.mean(), abs=1e-10)
    half = norm.ppf(0.9) / math.sqrt(np.sum(fitted * (1 - fitted)))
    assert (large.low, large.high) == pytest.approx((large.value - half, large.value + half))
    assert large.level == 0.8


def test_in_the_large_of_one_probability_is_a_difference_of_logits():
    y = np.repeat([1, 0], [30, 10])
    large = calibration_in_the_large(y, np.full(40, 0.2))
    half = norm.ppf(0.975) / math.sqrt(40 * 0.75 * 0.25)
    value = logit(0.75) - logit(0.2)
    assert asdict(large) == pytest.approx(asdict(Estimate(value, value - half, value + half, 0.95)))


@pytest.mark.parametrize(
    ("y", "p"),
    [
        ([1, 1, 1], [0.2, 0.5, 0.7]),  # one class
        ([0], [0.5]),
        ([0, 1, 0, 1], [0.3, 0.3, 0.3, 0.3]),  # one probability
        ([0, 0, 1, 1], [0.1, 0.2, 0.6, 0.9]),  # separated
        ([1, 1, 0, 0], [0.1, 0.2, 0.6, 0.9]),  # separated the other way round
        ([0, 0, 1, 1], [0.1, 0.5, 0.5, 0.9]),  # separated but for cases at the cut
        ([0, 1, 0, 1], [0.0, 1.0, 0.0, 1.0]),
    ],
)
def test_no_line_where_the_likelihood_has_no_maximum(y, p):
    line = calibration_slope_intercept(y, p)
    for estimate in (line.slope, line.intercept):
        assert np.isnan([estimate.value, estimate.low, estimate.high]).all()
        assert estimate.level == 0.95
    if len(set(y)) == 1:
        assert math.isnan(calibration_in_the_large(y, p).value)
    else:
        assert math.isfinite(calibration_in_the_large(y, p).value)


def test_classes_that_hardly_overlap_have_a_steep_line():
    x, y = np.array([-2.0, -1.0, 1e-3, 0.0, 1.0, 2.0]), np.array([0, 0, 0, 1, 1, 1])
    line = calibration_slope_intercept(y, expit(x))
    found = np.array([line.intercept.value, line.slope.value])
    nearby = [
        minus_log_likelihood(found + sign * step, x, y)
        for step in 1e-3 * np.eye(2)
        for sign in (-1, 1)
    ]
    assert line.slope.value > 5
    assert minus_log_likelihood(found, x, y) < min(nearby)


@pytest.mark.parametrize(
    ("x", "counts", "ones"),
    [
        ([-5, 20], [108, 6540], [1, 6533]),
        ([-10, -5], [8736, 93], [8649, 1]),
        ([0, 1, 2, 5], [9123, 2, 7, 401], [9123, 0, 6, 361]),
        ([-27, -10, -1, 20], [25, 3, 107, 9504], [25, 0, 107, 10]),
    ],
)
def test_lines_that_plain_newton_steps_miss(x, counts, ones):
    """At the maximum the fitted number of ones is right, and so is the sum of their log odds."""
    x, counts, ones = np.array(x), np.array(counts), np.array(ones)
    y = np.concatenate([np.arange(n) < k for n, k in zip(counts, ones, strict=True)])
    line = calibration_slope_intercept(y, expit(np.repeat(x, counts)))
    fitted = counts * expit(line.intercept.value + line.slope.value * x)
    assert fitted.sum() == pytest.approx(ones.sum(), rel=1e-8)
    assert fitted @ x == pytest.approx(ones @ x, rel=1e-8)


def test_certain_probabilities_are_moved_off_the_edge():
    y, p = [0, 1, 1, 0, 1, 0], [0.0, 0.0, 1.0, 1.0, 0.75, 0.25]
    moved, further = (np.clip(p, margin, 1 - margin) for margin in (1e-12, 2e-12))
    assert calibration_slope_intercept(y, p) == calibration_slope_intercept(y, moved)
    assert calibration_slope_intercept(y, p) != calibration_slope_intercept(y, further)
    assert calibration_in_the_large(y, p) == calibration_in_the_large(y, moved)
    assert abs(calibration_in_the_large(y, p).value) < 1e-3
    assert 0 < calibration_slope_intercept(y, p).slope.value < 0.1


@settings(deadline=None)
@given(few_cases())
def test_lines_of_anything_are_numbers_or_nan_without_a_warning(cases):
    y, p = cases
    line = calibration_slope_intercept(y, p)
    large = calibration_in_the_large(y, p)
    for e in (line.slope, line.intercept, large):
        assert e.low <= e.value <= e.high or math.isnan(e.value)
    assert math.isnan(line.slope.value) == math.isnan(line.intercept.value)


def test_line_of_very_many_cases():
    y, p = forecasts(np.random.default_rng(0), 200_000, stretch=2.0)
    line = calibration_slope_intercept(y, p)
    assert 0.49 < line.slope.low < line.slope.value < line.slope.high < 0.51
    assert line.slope.high - line.slope.low < 0.02
