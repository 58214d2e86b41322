import json
import math
from dataclasses import FrozenInstanceError, asdict, fields
from fractions import Fraction

import hypothesis.strategies as st
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from scipy.optimize import minimize
from scipy.special import expit, logit
from scipy.stats import beta, binom, norm
from scipy.stats import bootstrap as scipy_bootstrap
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics import accuracy_score, brier_score_loss, log_loss

from unselected.calibration import (
    Estimate,
    ReliabilityCurve,
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


def forecasts(rng, n=200, spread=1.5, *, stretch=1.0, shift=0.0):
    """Classes, and what a forecaster says who stretches and shifts the true log odds."""
    log_odds = rng.normal(0.0, spread, n)
    return (rng.random(n) < expit(log_odds)).astype(int), expit(stretch * log_odds + shift)


def overlapping(rng, n):
    """As above, where the classes are not separated."""
    y, p = forecasts(rng, n)
    y[np.argsort(p)[[0, 1, -2, -1]]] = [1, 0, 1, 0]
    return y, p


@st.composite
def few_cases(draw, least=1):
    n = draw(st.integers(least, 12))
    tenths = st.sampled_from([0.0, 0.05, 0.25, 0.3, 0.5, 0.6, 0.7, 0.95, 1.0])
    y = draw(st.lists(st.integers(0, 1), min_size=n, max_size=n))
    return y, draw(st.lists(st.one_of(tenths, st.floats(0, 1)), min_size=n, max_size=n))


# Scores


def test_scores_by_hand():
    y, p = [1, 0, 1, 0], [0.5, 0.5, 0.125, 0.25]
    assert actual_error(y, p) == 0.5  # from 0.5 on it is class 1
    assert expected_error(p) == (0.5 + 0.5 + 0.125 + 0.25) / 4
    by_hand = -math.log(0.5 * 0.5 * 0.125 * 0.75) / 4
    assert average_minus_log_probability(y, p) == pytest.approx(by_hand, rel=1e-14)
    assert average_squared_error(y, p) == (0.25 + 0.25 + 0.875**2 + 0.0625) / 4


def test_one_half_is_class_1():
    assert actual_error([1, 1, 0], [0.5, 0.5, 0.5]) == 1 / 3
    assert error_interval([1, 1, 0], [0.5, 0.5, 0.5]).value == 1 / 3
    assert actual_error([0, 0], [np.nextafter(0.5, 0.0), 0.5]) == 0.5


def test_expected_error_at_the_edges():
    assert expected_error([0.0, 1.0]) == 0.0
    assert expected_error([0.5]) == 0.5
    assert expected_error([np.nextafter(0.5, 0.0)]) < 0.5


def test_scores_are_those_of_scikit_learn(seed):
    y, p = forecasts(np.random.default_rng(seed), stretch=3.0)
    assert actual_error(y, p) == pytest.approx(1.0 - accuracy_score(y, p >= 0.5), abs=1e-15)
    assert average_minus_log_probability(y, p) == log_loss(y, p)
    assert average_squared_error(y, p) == brier_score_loss(y, p)


@given(few_cases())
def test_the_scores_of_a_summary_are_the_scores(cases):
    """The summary resamples with formulas of its own."""
    summary = summarize(*cases, n_resamples=9, random_state=0)
    for name, score in [
        ("average_minus_log_probability", average_minus_log_probability),
        ("average_squared_error", average_squared_error),
    ]:
        assert getattr(summary, name).value == pytest.approx(score(*cases), rel=1e-12, abs=1e-15)


def test_a_certain_forecast_that_was_wrong_costs_much_but_not_everything():
    cost = -math.log(np.finfo(float).eps)
    assert average_minus_log_probability([1], [0.0]) == pytest.approx(cost)
    assert summarize([1, 1], [0.0, 1.0]).average_minus_log_probability.value == pytest.approx(
        cost / 2
    )


@pytest.mark.parametrize("of", [list, tuple, np.array, pd.Series, lambda v: np.array(v, object)])
def test_any_sequence_will_do(of):
    y, p = [0, 1, 1], [0.25, 0.5, 0.125]
    for function in OF_BOTH[:8]:
        assert repr(function(of(y), of(p))) == repr(function(y, p))
        assert repr(function(np.array(y, bool), np.array(p))) == repr(function(y, p))
    assert expected_error(of(p)) == expected_error(p)
    assert actual_error([True, False], [Fraction(1, 4), 1]) == 1.0


# Intervals of scores


def covers(interval, truth):
    return interval.low <= truth <= interval.high


def test_exact_interval_has_its_tails_by_the_binomial_law(seed):
    rng = np.random.default_rng(seed)
    y, p = forecasts(rng, 37)
    error = error_interval(y, p, level=0.9)
    wrong = round(error.value * 37)
    assert error.value == actual_error(y, p)
    assert binom.sf(wrong - 1, 37, error.low) == pytest.approx(0.05, abs=1e-9)
    assert binom.cdf(wrong, 37, error.high) == pytest.approx(0.05, abs=1e-9)
    assert error.low == pytest.approx(beta.ppf(0.05, wrong, 37 - wrong + 1))


def test_exact_interval_of_all_or_nothing():
    right = error_interval([0, 1, 1], [0.0, 1.0, 0.75])
    assert (right.value, right.low) == (0.0, 0.0)
    assert right.high == pytest.approx(1 - 0.025 ** (1 / 3))
    wrong = error_interval([1, 0, 0], [0.0, 1.0, 0.75])
    assert (wrong.value, wrong.high) == (1.0, 1.0)
    assert wrong.low == pytest.approx(0.025 ** (1 / 3))


def test_bootstrap_is_that_of_scipy(seed):
    """On squared errors of single cases; for 50 of them BCa and percentiles differ."""
    y, p = forecasts(np.random.default_rng(seed), 50, stretch=2.0)
    found = bootstrap_interval(average_squared_error, y, p, level=0.8, random_state=seed)
    bca, percentile = (
        scipy_bootstrap(
            ((y - p) ** 2,),
            np.mean,
            confidence_level=0.8,
            method=method,
            n_resamples=999,
            random_state=np.random.default_rng(seed),
        ).confidence_interval
        for method in ("BCa", "percentile")
    )
    assert (found.value, found.level) == (average_squared_error(y, p), 0.8)
    assert (found.low, found.high) == pytest.approx(bca, rel=1e-9)
    assert (found.low, found.high) != pytest.approx(percentile, rel=1e-6)


def test_bootstrap_resamples_cases_not_classes_and_probabilities_apart():
    """Where p tells y, every resample has the same error; shuffled pairs would not."""
    y = np.arange(40) % 2
    assert bootstrap_interval(average_squared_error, y, 0.25 + 0.5 * y, random_state=0) == Estimate(
        0.0625, 0.0625, 0.0625, 0.95
    )


def test_bootstrap_of_one_call_or_many_and_of_many_cases(seed):
    """A statistic with an axis is called once; more than 1000 cases have percentile intervals."""
    y, p = forecasts(np.random.default_rng(seed), 1500)
    losses = (y - p) ** 2
    calls = []

    def mean(y, p, axis=-1):
        calls.append(np.shape(p))
        return np.mean((y - p) ** 2, axis=axis)

    many = bootstrap_interval(mean, y, p, random_state=seed, n_resamples=400)
    assert calls[1:] == [(400, 1500)]
    one_by_one = bootstrap_interval(
        lambda y, p: float(np.mean((y - p) ** 2)), y, p, random_state=seed, n_resamples=400
    )
    assert asdict(many) == pytest.approx(asdict(one_by_one), rel=1e-12)
    half = norm.ppf(0.975) * losses.std() / math.sqrt(1500)
    for bound, expected in ((many.low, -half), (many.high, half)):
        assert bound - losses.mean() == pytest.approx(expected, rel=0.25)


def test_the_seed_decides_and_a_generator_moves_on():
    y, p = forecasts(np.random.default_rng(0), 30)
    first, again, other = (
        bootstrap_interval(average_squared_error, y, p, n_resamples=99, random_state=s)
        for s in (1, 1, 2)
    )
    assert first == again != other
    rng = np.random.default_rng(1)
    once, twice = (
        bootstrap_interval(average_squared_error, y, p, n_resamples=99, random_state=rng)
        for _ in range(2)
    )
    assert once == first != twice


def test_a_single_case_has_no_bootstrap_interval():
    single = bootstrap_interval(average_squared_error, [1], [0.5])
    assert single.value == 0.25
    assert math.isnan(single.low)
    assert math.isnan(single.high)


@settings(max_examples=60, deadline=None)
@given(few_cases(least=2))
def test_bootstrap_bounds_are_found_however_few_the_cases(cases):
    losses = (np.array(cases[0]) - cases[1]) ** 2
    found = bootstrap_interval(average_squared_error, *cases, n_resamples=49, random_state=0)
    assert losses.min() - 1e-12 <= found.low <= found.high <= losses.max() + 1e-12


def share_covered(rng, *, level, n_replicates=300):
    """How often the intervals of the two scores and of the error hold their expectations."""
    log_odds = rng.normal(0.0, 1.5, 200_000)
    p, q = expit(log_odds), expit(1.5 * log_odds)
    truths = [
        np.mean(-p * np.log(q) - (1 - p) * np.log1p(-q)),
        np.mean(p * (1 - q) ** 2 + (1 - p) * q**2),
        np.mean(np.minimum(p, 1 - p)),
    ]
    covered = np.zeros(3)
    for _ in range(n_replicates):
        y, q = forecasts(rng, 100, stretch=1.5)
        summary = summarize(y, q, level=level, n_resamples=299, random_state=rng)
        intervals = (
            summary.average_minus_log_probability,
            summary.average_squared_error,
            summary.actual_error,
        )
        covered += [covers(i, truth) for i, truth in zip(intervals, truths, strict=True)]
    return covered / n_replicates


def test_intervals_of_scores_cover(seed):
    """The twin claims 95 % for intervals of 80 %."""
    rng = np.random.default_rng(seed)
    assert np.all(share_covered(rng, level=0.95) > 0.89)
    twin = share_covered(rng, level=0.8)
    assert np.all(twin < 0.89)
    assert np.all(twin > 0.7)


# The table of the paper


def test_category_is_the_first_decimal():
    decimals = np.array([d / 10 for d in range(10)])
    assert [row.count for row in decile_table(np.ones(10), decimals)] == [1] * 10
    below = np.nextafter(decimals[1:], 0.0)
    assert [row.count for row in decile_table(np.ones(9), below)] == [1] * 9 + [0]
    assert [row.count for row in decile_table([0, 1, 0], [0.0, 1.0, 0.9999])] == [1] + [0] * 8 + [2]
    printed = [int(f"{p:.17f}"[2]) for p in np.random.default_rng(0).random(1000)]
    table = decile_table(np.zeros(1000), np.random.default_rng(0).random(1000))
    assert [row.count for row in table] == np.bincount(printed, minlength=10).tolist()


def test_table_on_the_papers_categories():
    """One feature of 10000, corrected: two values of p, 1346 and 654 cases."""
    y = np.repeat([1, 0, 1, 0], [620, 726, 380, 274])
    p = np.repeat([0.446, 0.611], [1346, 654])
    rows = decile_table(y, p)
    assert [row.low for row in rows] == [d / 10 for d in range(10)]
    assert [row.high for row in rows] == [d / 10 for d in range(1, 11)]
    assert [row.count for row in rows] == [0, 0, 0, 0, 1346, 0, 654, 0, 0, 0]
    for d, predicted, actual in ((4, 0.446, 0.461), (6, 0.611, 0.581)):
        assert rows[d].mean_prediction == pytest.approx(predicted)
        assert round(rows[d].actual_fraction, 3) == actual
        n, ones = rows[d].count, round(rows[d].actual_fraction * rows[d].count)
        assert rows[d].fraction_low == pytest.approx(beta.ppf(0.025, ones, n - ones + 1))
        assert rows[d].fraction_high == pytest.approx(beta.ppf(0.975, ones + 1, n - ones))
    nothing = [rows[0].mean_prediction, rows[0].actual_fraction, rows[0].fraction_low]
    assert nothing == [None] * 3
    json.dumps([asdict(row) for row in rows], allow_nan=False)


def test_table_adds_up(seed):
    y, p = forecasts(np.random.default_rng(seed), 500)
    rows = [row for row in decile_table(y, p) if row.count]
    counts = np.array([row.count for row in rows])
    assert counts.sum() == 500
    assert counts @ [row.mean_prediction for row in rows] == pytest.approx(p.sum())
    assert counts @ [row.actual_fraction for row in rows] == pytest.approx(y.sum())
    assert all(row.low <= row.mean_prediction <= row.high for row in rows)
    narrow = decile_table(y, p, level=0.5)
    assert all(
        one.fraction_low < other.fraction_low < other.fraction_high < one.fraction_high
        for one, other in zip(decile_table(y, p), narrow, strict=True)
        if other.count and 0 < other.actual_fraction < 1
    )


# Slope, intercept, calibration in the large


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


# Spiegelhalter's z


def test_spiegelhalter_by_hand():
    test = spiegelhalter([0, 1, 1], [0.25, 0.75, 0.125])
    excess = -0.25 * 0.5 + 0.25 * -0.5 + 0.875 * 0.75
    variance = 2 * 0.25 * 0.1875 + 0.5625 * 0.109375
    assert test.z == pytest.approx(excess / math.sqrt(variance), rel=1e-14)
    assert test.p_value == pytest.approx(math.erfc(abs(test.z) / math.sqrt(2)), rel=1e-12)


def test_spiegelhalter_is_the_squared_error_standardized_under_the_probabilities(seed):
    """By enumeration of all classes of six cases, each with its probability."""
    rng = np.random.default_rng(seed)
    p, y = rng.random(6), rng.integers(0, 2, 6)
    outcomes = (np.arange(64)[:, np.newaxis] >> np.arange(6)) & 1
    weights = np.prod(np.where(outcomes, p, 1 - p), axis=1)
    scores = np.mean((outcomes - p) ** 2, axis=1)
    mean = weights @ scores
    z = (np.mean((y - p) ** 2) - mean) / math.sqrt(weights @ (scores - mean) ** 2)
    assert spiegelhalter(y, p).z == pytest.approx(z, rel=1e-9, abs=1e-9)


def test_spiegelhalter_of_probabilities_that_announce_no_variance():
    wrong = spiegelhalter([1, 1], [0.0, 0.5])
    assert (wrong.z, wrong.p_value) == (math.inf, 0.0)
    right = spiegelhalter([0, 1, 1], [0.0, 0.5, 1.0])
    assert math.isnan(right.z)
    assert math.isnan(right.p_value)


# The reliability curve


def test_curve_is_scikit_learns_isotonic_regression(seed):
    rng = np.random.default_rng(seed)
    y, p = forecasts(rng, 120)
    p = np.round(p, 2)  # some probabilities occur more than once
    curve = reliability_curve(y, p, n_resamples=9)
    np.testing.assert_array_equal(curve.probability, np.unique(p))
    expected = IsotonicRegression().fit(p, y).predict(curve.probability)
    np.testing.assert_allclose(curve.fraction, expected, atol=1e-12)
    assert curve.level == 0.9


def test_curve_by_hand():
    curve = reliability_curve([1, 0, 0, 1, 0, 1, 1], [0.1, 0.2, 0.2, 0.4, 0.6, 0.8, 0.9])
    np.testing.assert_allclose(curve.fraction, [1 / 3, 1 / 3, 1 / 2, 1 / 2, 1, 1], atol=1e-15)


def exact_quantiles(law, tails):
    """Bounds between which the quantiles of a law on few values may lie."""
    values = sorted(law)
    mass = np.cumsum([law[v] for v in values])
    return [
        (values[np.searchsorted(mass, t - 0.02)], values[np.searchsorted(mass, t + 0.02)])
        for t in tails
    ]


def test_band_has_the_quantiles_of_all_classes_that_could_have_been(seed):
    """By enumeration of the classes of seven cases; the classes seen do not matter."""
    p = np.array([0.05, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9])
    curve = reliability_curve(np.arange(7) % 2, p, level=0.8, n_resamples=4000, random_state=seed)
    laws = [{} for _ in p]
    for outcome in range(128):
        y = (outcome >> np.arange(7)) & 1
        weight = float(np.prod(np.where(y, p, 1 - p)))
        for law, value in zip(laws, IsotonicRegression().fit(p, y).predict(p), strict=True):
            key = round(float(value), 9)
            law[key] = law.get(key, 0.0) + weight
    for j, law in enumerate(laws):
        (low, low_most), (high, high_most) = exact_quantiles(law, (0.1, 0.9))
        assert low - 1e-8 <= curve.band_low[j] <= low_most + 1e-8
        assert high - 1e-8 <= curve.band_high[j] <= high_most + 1e-8
    other = reliability_curve(np.ones(7), p, level=0.8, n_resamples=4000, random_state=seed)
    np.testing.assert_array_equal(curve.band_low, other.band_low)


def test_band_widens_with_the_level_and_is_seeded(seed):
    y, p = forecasts(np.random.default_rng(seed), 60)
    wide, narrow, again = (
        reliability_curve(y, p, level=level, n_resamples=199, random_state=seed)
        for level in (0.95, 0.5, 0.5)
    )
    assert np.all(wide.band_low <= narrow.band_low)
    assert np.all(narrow.band_high <= wide.band_high)
    assert np.mean(wide.band_high - wide.band_low) > np.mean(narrow.band_high - narrow.band_low)
    np.testing.assert_array_equal(narrow.band_low, again.band_low)
    for curve in (wide.fraction, wide.band_low, wide.band_high):
        assert np.all(np.diff(curve) >= -1e-12)


def test_curve_in_json():
    curve = reliability_curve([0, 1, 1], [0.25, 0.5, 0.5], n_resamples=19, random_state=0)
    read = json.loads(json.dumps(curve.to_dict(), allow_nan=False))
    assert list(read) == [field.name for field in fields(ReliabilityCurve)]
    assert (read["probability"], read["fraction"], read["level"]) == ([0.25, 0.5], [0.0, 1.0], 0.9)


# Parts of the squared error


@given(few_cases())
def test_parts_add_up_to_the_squared_error(cases):
    parts = split_squared_error(*cases)
    total = parts.miscalibration - parts.discrimination + parts.uncertainty
    assert total == pytest.approx(average_squared_error(*cases), abs=1e-14)
    assert min(asdict(parts).values()) >= 0.0
    mean = np.mean(cases[0])
    assert parts.uncertainty == pytest.approx(mean * (1 - mean), abs=1e-14)


def test_parts_against_scikit_learns_isotonic_regression(seed):
    y, p = forecasts(np.random.default_rng(seed), 90, stretch=2.0)
    recalibrated = IsotonicRegression().fit(p, y).predict(p)
    parts = split_squared_error(y, p)
    assert parts.miscalibration == pytest.approx(
        brier_score_loss(y, p) - brier_score_loss(y, recalibrated), abs=1e-12
    )
    again = split_squared_error(y, recalibrated)
    assert again.miscalibration == pytest.approx(0.0, abs=1e-14)
    assert again.discrimination == pytest.approx(parts.discrimination, abs=1e-14)
    constant = split_squared_error(y, np.full(90, y.mean()))
    assert (constant.miscalibration, constant.discrimination) == pytest.approx((0, 0), abs=1e-14)


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
        (["ill", "well"], [0.5] * 2, r"y has the value .*'ill'.* in row 0, which is not a number"),
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
