"""Scores of probabilities of two classes, their intervals, and Spiegelhalter's test."""

import math
from dataclasses import asdict

import numpy as np
import pytest
from forecasters import covers, few_cases, forecasts
from hypothesis import given, settings
from scipy.special import expit
from scipy.stats import beta, binom, norm
from scipy.stats import bootstrap as scipy_bootstrap
from sklearn.metrics import accuracy_score, brier_score_loss, log_loss

from unselected.calibration import (
    Estimate,
    actual_error,
    average_minus_log_probability,
    average_squared_error,
    bootstrap_interval,
    error_interval,
    expected_error,
    spiegelhalter,
    summarize,
)

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


# Intervals of scores


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


def test_a_single_resample_is_an_interval_without_width():
    y, p = forecasts(np.random.default_rng(0), 30)
    single = bootstrap_interval(average_squared_error, y, p, n_resamples=1, random_state=0)
    assert single.low == single.high != single.value


def test_a_single_case_has_no_bootstrap_interval():
    single = bootstrap_interval(average_squared_error, [1], [0.5])
    assert single.value == 0.25
    assert math.isnan(single.low)
    assert math.isnan(single.high)


@settings(max_examples=40, deadline=None)
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
        summary = summarize(y, q, level=level, n_resamples=199, random_state=rng)
        intervals = (
            summary.average_minus_log_probability,
            summary.average_squared_error,
            summary.actual_error,
        )
        covered += [covers(i, truth) for i, truth in zip(intervals, truths, strict=True)]
    return covered / n_replicates


@pytest.mark.slow
@pytest.mark.evidence
def test_intervals_of_scores_cover(seed):
    """The twin claims 95 % for intervals of 80 %."""
    rng = np.random.default_rng(seed)
    assert np.all(share_covered(rng, level=0.95) > 0.89)
    twin = share_covered(rng, level=0.8)
    assert np.all(twin < 0.89)
    assert np.all(twin > 0.7)


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
