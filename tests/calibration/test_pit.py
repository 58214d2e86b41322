"""PIT values: against scipy, against intervals themselves, and forecasters who are not honest."""

import json
import math
from collections import Counter
from dataclasses import fields

import numpy as np
import pytest
from scipy.stats import binom, kstwo, norm

from unselected.calibration import coverage_curve, interval_coverage, pit_test


def normal_pit(rng, n=150, *, spread=1.0, shift=0.0):
    """PIT values of N(mean + shift, spread^2) where N(mean, 1) is right."""
    noise = rng.normal(size=n)
    return norm.cdf((noise - shift) / spread)


OPPOSITE = {
    "too narrow": ["too wide"],
    "too wide": ["too narrow"],
    "too high": ["too low"],
    "too low": ["too high"],
}


# The tests of uniformity


def test_kolmogorov_smirnov_by_its_definition(seed):
    pit = normal_pit(np.random.default_rng(seed), 40, spread=0.8)
    steps, ranked = np.arange(41) / 40, np.sort(pit)
    distance = max(np.max(steps[1:] - ranked), np.max(ranked - steps[:-1]))
    test = pit_test(pit)
    assert test.n == 40
    assert test.statistic == pytest.approx(distance, abs=1e-15)
    assert test.p_value == pytest.approx(kstwo.sf(distance, 40), rel=1e-9)


def test_moments_by_hand():
    test = pit_test([0.25, 0.5, 0.875])
    assert (test.mean.value, test.mean.expected) == (pytest.approx(13 / 24), 0.5)
    assert test.mean.z == pytest.approx((13 / 24 - 1 / 2) * 6)  # sqrt(12 * 3) = 6
    assert test.mean.p_value == pytest.approx(math.erfc(test.mean.z / math.sqrt(2)))
    assert test.variance.value == pytest.approx(np.var([0.25, 0.5, 0.875], ddof=1))
    assert test.variance.expected == 1 / 12
    # n = 3: the variance of s^2 is the fourth moment / 3.
    assert test.variance.z == pytest.approx((test.variance.value - 1 / 12) / math.sqrt(1 / 240))


@pytest.mark.slow
@pytest.mark.parametrize("n", [2, 7])
def test_z_has_variance_1(n, seed):
    """Over many sets of uniform values, within five standard errors; the twin takes n for n - 1."""
    n_sets = 1000
    draws = np.random.default_rng(seed).random((n_sets, n))
    tests = [pit_test(pit) for pit in draws]
    for moment in ("mean", "variance"):
        z = np.array([getattr(test, moment).z for test in tests])
        assert abs(z.mean()) < 5 / math.sqrt(n_sets)
        assert np.mean(z**2) == pytest.approx(1.0, abs=5 * np.std(z**2) / math.sqrt(n_sets))
    biased = np.var(draws, axis=1)
    assert abs(biased.mean() - 1 / 12) > 5 * biased.std() / math.sqrt(n_sets)


def share_flagged(rng, n_replicates=100, **forecaster):
    """How often the Kolmogorov-Smirnov test finds something, and how often which words are said."""
    tests = [pit_test(normal_pit(rng, **forecaster)) for _ in range(n_replicates)]
    words = Counter(word for test in tests for word in (test.bias, test.spread))
    shares = {word: count / n_replicates for word, count in words.items()}
    return np.mean([test.p_value < 0.05 for test in tests]), shares


@pytest.mark.slow
def test_an_honest_forecaster_is_flagged_at_the_nominal_rate(seed):
    flagged, words = share_flagged(np.random.default_rng(seed), 600)
    assert 0.02 < flagged < 0.09
    assert 0.04 < sum(share for word, share in words.items() if word != "no fault found") < 0.17


@pytest.mark.parametrize(
    ("forecaster", "words"),
    [
        ({"spread": 0.5}, "too narrow"),
        ({"spread": 2.0}, "too wide"),
        ({"shift": 0.6}, "too high"),
        ({"shift": -0.6}, "too low"),
    ],
)
def test_each_fault_has_its_name(forecaster, words, seed):
    flagged, found = share_flagged(np.random.default_rng(seed), **forecaster)
    assert flagged > 0.9
    assert found[words] > 0.9
    assert sum(share for word, share in found.items() if word in OPPOSITE[words]) == 0.0


def test_a_single_value_has_no_variance():
    test = pit_test([0.5])
    assert math.isnan(test.variance.value)
    assert test.spread == "no fault found"
    read = json.loads(json.dumps(test.to_dict(), allow_nan=False))
    assert list(read) == [field.name for field in fields(test)]
    assert read["variance"] == {"value": None, "expected": 1 / 12, "z": None, "p_value": None}
    assert read["mean"]["value"] == 0.5


def test_the_edges_are_pit_values():
    assert pit_test([0.0, 1.0]).statistic == 0.5
    assert coverage_curve([0.0, 1.0, 0.5]).coverage[-1] == pytest.approx(1 / 3)


# The coverage of central intervals


def test_coverage_is_that_of_the_intervals_themselves(seed):
    rng = np.random.default_rng(seed)
    mean, sd, y = rng.normal(size=(3, 80))
    law = norm(mean, 0.3 + sd**2)
    curve = coverage_curve(law.cdf(y))
    assert curve.levels.tolist() == pytest.approx(np.linspace(0.01, 0.99, 99).tolist())
    for level, coverage in zip(curve.levels, curve.coverage, strict=True):
        expected = interval_coverage(y, *law.interval(level)).value
        assert coverage == pytest.approx(expected, abs=1e-12)


def test_one_sided_pit_values_are_not_enough():
    """The wrong twin counts pit <= level."""
    pit = np.linspace(0.005, 0.995, 100)
    curve = coverage_curve(pit)
    assert np.max(np.abs(curve.coverage - curve.levels)) <= 0.0101
    half = coverage_curve(pit / 2)
    assert half.coverage[49] == pytest.approx(0.5)  # pit / 2 from 1/4 to 1/2, not up to 1/2
    assert np.mean(pit / 2 <= 0.5) == 1.0
    bent = coverage_curve(0.5 + 0.4 * (pit - 0.5))
    assert bent.coverage[39] == 1.0


@pytest.mark.parametrize("n", [5, 60])
def test_band_holds_right_coverage_and_hardly_more(n):
    """By the binomial law itself: a step less at either end would be too little there."""
    curve = coverage_curve(np.full(n, 0.5), confidence=0.9)
    for level, low, high in zip(curve.levels, curve.band_low, curve.band_high, strict=True):
        first, last = round(low * n), round(high * n)
        law = binom(n, level)
        below, above = law.cdf(first - 1), law.sf(last)
        assert max(below, above) <= 0.05 + 1e-12
        assert law.cdf(first) > 0.05 - 1e-12
        assert law.sf(last - 1) > 0.05 - 1e-12


def share_inside(rng, n_replicates=300, **forecaster):
    shares = []
    for _ in range(n_replicates):
        curve = coverage_curve(normal_pit(rng, **forecaster))
        shares.append((curve.band_low <= curve.coverage) & (curve.coverage <= curve.band_high))
    return np.mean(shares, axis=0)


def test_band_holds_an_honest_curve_and_no_other(seed):
    rng = np.random.default_rng(seed)
    assert share_inside(rng).min() > 0.9
    assert share_inside(rng, 50, spread=0.6)[20:].max() < 0.5


def test_curve_in_json():
    curve = coverage_curve([0.5, 0.75], [0.25, 0.5], confidence=0.9)
    read = json.loads(json.dumps(curve.to_dict(), allow_nan=False))
    assert list(read) == [field.name for field in fields(curve)]
    assert (read["levels"], read["coverage"]) == ([0.25, 0.5], [0.5, 1.0])


# Bad input


@pytest.mark.parametrize("function", [pit_test, coverage_curve])
@pytest.mark.parametrize(
    ("pit", "message"),
    [
        ([], "pit has no cases"),
        ([0.5, 1.5], "pit has the value 1.5 in row 1: a PIT value is a probability"),
        ([-1e-9], "pit has the value -1"),
        ([0.5, float("nan")], "pit has the value nan in row 1"),
        ([[0.5]], r"pit has the shape \(1, 1\): give one value for each case\."),
        (["low"], r"pit has the value .*'low'.* in row 0, which is not a number"),
    ],
)
def test_bad_values_are_named(function, pit, message):
    with pytest.raises(ValueError, match=message):
        function(pit)


def test_bad_levels_are_named():
    with pytest.raises(ValueError, match="levels has the value 1 in row 1: a level is above 0"):
        coverage_curve([0.5], [0.5, 1.0])
    with pytest.raises(ValueError, match="levels has no cases"):
        coverage_curve([0.5], [])
    with pytest.raises(ValueError, match=r"level=1\.5 must be between 0 and 1"):
        coverage_curve([0.5], confidence=1.5)
