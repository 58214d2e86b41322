"""Correlations within classes, the slope over cases left out, and the words for both."""

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import expit, log_softmax
from scipy.stats import binom

from unselected.dependence.calibration_slope import CalibrationSlope, calibration_slope
from unselected.dependence.diagnosis import DependenceReport
from unselected.dependence.held_out import HeldOut
from unselected.dependence.within_class import (
    WithinClassCorrelation,
    _PowerSums,
    within_class_correlation,
)

KINDS = ["real", "binary", "missing"]
EVEN = np.log([0.5, 0.5])


def of_kind(kind, X, rng):
    """Cut latent values, or lose a fifth of them."""
    if kind == "binary":
        return (X > 0.5).astype(float)
    return np.where(rng.random(X.shape) < 0.2, np.nan, X) if kind == "missing" else X


def independent(kind, rng, n=40, k=12):
    """Features that differ between classes, and in spread, and have nothing else in common."""
    y = (np.arange(n) >= n // 3).astype(int)
    shift = rng.normal(scale=2.0, size=k)
    X = rng.normal(size=(n, k)) * (1 + y[:, np.newaxis]) + y[:, np.newaxis] * shift
    return of_kind(kind, X, rng), y


@pytest.mark.parametrize("n", [2, 3, 4, 6])
def test_moments_of_permutations_by_enumeration(n, seed):
    rng = np.random.default_rng([n, seed])
    a, b = rng.normal(size=n) ** 3, rng.exponential(size=n)
    centred = a - a.mean()
    sums = np.array([centred @ b[list(order)] for order in permutations(range(n))])
    found = _PowerSums.of(np.stack([a, b], axis=1))
    assert found.squared_product[0, 1] == pytest.approx(np.mean(sums**2), rel=1e-9)
    assert found.fourth_product[0, 1] == pytest.approx(np.mean(sums**4), rel=1e-9)


def test_pairs_are_those_of_a_loop(seed):
    """Mean squared correlation and its expectation, pair by pair, with values missing."""
    rng = np.random.default_rng([1, seed])
    X, y = independent("missing", rng, n=30, k=5)
    squared, expected = [], []
    for j in range(5):
        for l in range(j):
            both = ~np.isnan(X[:, j]) & ~np.isnan(X[:, l])
            a, b = X[both, j], X[both, l]
            groups = [y[both] == g for g in (0, 1)]
            for g in groups:
                a[g] -= a[g].mean()
                b[g] -= b[g].mean()
            scale = np.sum(a**2) * np.sum(b**2)
            squared.append(np.sum(a * b) ** 2 / scale)
            parts = [np.sum(a[g] ** 2) * np.sum(b[g] ** 2) / (g.sum() - 1) for g in groups]
            expected.append(sum(parts) / scale)
    found = within_class_correlation(X, y)
    assert found.n_pairs == 10
    assert found.mean_squared == pytest.approx(np.mean(squared), rel=1e-9)
    assert found.expected == pytest.approx(np.mean(expected), rel=1e-9)


def flagged(draw, n_sets, level=0.05, use_classes=True):
    count = 0
    for r in range(n_sets):
        X, y = draw(np.random.default_rng(r))
        found = within_class_correlation(X, y if use_classes else np.zeros_like(y))
        count += found.p_value < level
    return count


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_independent_features_are_flagged_as_often_as_the_level_says(kind, seed):
    """The twin that forgets the classes takes what selection looks for as dependence."""

    def draw(rng):
        return independent(kind, np.random.default_rng([seed, rng.integers(1 << 32)]))

    low, high = binom.ppf([1e-4, 1 - 1e-4], 200, 0.05)
    assert low <= flagged(draw, 200) <= high + 4  # the gamma law is an approximation
    assert flagged(draw, 200, use_classes=False) > high + 4


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_selection_does_not_make_dependence(kind, seed):
    """The kept features of many independent ones look as independent as any."""

    def draw(rng):
        rng = np.random.default_rng([seed, rng.integers(1 << 32)])
        X, y = independent(kind, rng, k=100)
        gap = np.nanmean(X[y == 1], axis=0) - np.nanmean(X[y == 0], axis=0)
        return X[:, np.argsort(-np.abs(gap))[:8]], y

    assert flagged(draw, 200) <= binom.ppf(1 - 1e-4, 200, 0.05) + 4


def near_duplicates(kind, rng):
    """Two parents with four copies each: a tenth of the values flipped, or noise to match."""
    y = np.arange(60) % 2
    parents = np.repeat(rng.normal(size=(60, 2)) + 0.5 * y[:, np.newaxis], 4, axis=1)
    if kind == "binary":
        return ((parents > 0) ^ (rng.random((60, 8)) < 0.1)).astype(float), y
    return of_kind(kind, parents + rng.normal(scale=0.33, size=(60, 8)), rng), y


def latent_factor(kind, rng):
    """One factor on all, with either sign."""
    y = np.arange(80) % 2
    factor = rng.normal(size=(80, 1)) * rng.choice([-1.0, 1.0], 20)
    return of_kind(kind, factor + rng.normal(size=(80, 20)) + 0.5 * y[:, np.newaxis], rng), y


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("draw", [near_duplicates, latent_factor])
def test_dependence_is_flagged(kind, draw, seed):
    X, y = draw(kind, np.random.default_rng([2, seed]))
    found = within_class_correlation(X, y)
    assert found.p_value < 1e-4
    assert found.effective_features < 0.8 * X.shape[1]


def test_copies_count_as_one():
    rng = np.random.default_rng(3)
    y, x = np.arange(50) % 2, rng.normal(size=50)
    x = x + y
    same = within_class_correlation(np.stack([x, 2 * x + 1, -x], axis=1), y)
    assert same.mean_squared == pytest.approx(1.0)
    assert same.effective_features == pytest.approx(1.0)
    assert same.inflation == pytest.approx(3.0)


def test_numbers_of_independent_features_are_right_on_average(seed):
    """Without the correction for noise, 30 features at 20 cases would count as 11."""
    rng = np.random.default_rng([4, seed])
    found = [within_class_correlation(*independent("real", rng, 20, 30)) for _ in range(40)]
    assert np.mean([one.effective_features for one in found]) > 26
    assert np.mean([one.inflation for one in found]) == pytest.approx(1.0, abs=0.4)
    naive = [30 / (1 + 29 * one.mean_squared) for one in found]
    assert np.mean(naive) < 16


def test_correlation_that_cancels_does_not_inflate(seed):
    """Equal shifts, negatively correlated: together the evidence is stronger."""
    rng = np.random.default_rng([5, seed])
    y, f = np.arange(400) % 2, rng.normal(size=(400, 1))
    noise = rng.normal(size=(400, 2))
    apart = within_class_correlation(f * [1.0, -1.0] + noise + y[:, np.newaxis], y)
    alike = within_class_correlation(f * [1.0, 1.0] + noise + y[:, np.newaxis], y)
    assert apart.inflation == pytest.approx(0.5, abs=0.15)
    assert alike.inflation == pytest.approx(1.5, abs=0.15)
    assert max(apart.p_value, alike.p_value) < 1e-6


def test_three_classes_and_constant_features():
    rng = np.random.default_rng(6)
    X, y = rng.normal(size=(60, 4)), np.arange(60) % 3
    X[:, 2] = 7.0
    found = within_class_correlation(X, y)
    assert (found.n_features, found.n_pairs) == (4, 3)
    assert within_class_correlation(X[:, 2:3], y).n_pairs == 0
    with pytest.raises(ValueError, match="do not match"):
        within_class_correlation(X, y[:5])


def slope_cases(rng, n=80, slope=0.4, n_classes=2):
    log_psi = np.log(rng.dirichlet(np.full(n_classes, 8.0)))
    evidence = rng.normal(scale=3.0, size=(n, n_classes))
    proba = np.exp(log_softmax(log_psi + slope * evidence, axis=1))
    y = np.array([rng.choice(n_classes, p=row) for row in proba])
    return HeldOut.of_classes(evidence, log_psi, y)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_slope_is_the_maximum_and_ends_are_where_it_has_fallen(n_classes, seed):
    cases = slope_cases(np.random.default_rng([7, seed]), n_classes=n_classes)

    def loss(b):
        return -float(cases.log_without_outliers(np.array([b])).sum())

    found = calibration_slope(cases)
    assert found.slope == pytest.approx(minimize_scalar(loss).x, abs=1e-6)
    for end in (found.low, found.high):
        assert loss(end) - loss(found.slope) == pytest.approx(1.920729, abs=1e-5)
    assert found.low < found.slope < found.high


@pytest.mark.slow
def test_intervals_hold_the_slope_as_often_as_they_say(seed):
    rng = np.random.default_rng([8, seed])
    found = [calibration_slope(slope_cases(rng), level=0.8) for _ in range(200)]
    held = sum(one.low < 0.4 < one.high for one in found)
    low, high = binom.ppf([1e-4, 1 - 1e-4], 200, 0.8)
    assert low - 4 <= held <= high + 4
    # The wrong twin: that the slope is 1.
    assert sum(one.low < 1.0 < one.high for one in found) < low - 4


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_evidence_that_separates_has_an_open_interval(sign):
    y = np.arange(8) % 2
    odds = sign * (2 * y - 1) * np.linspace(0.5, 3.0, 8)
    cases = HeldOut.of_classes(np.stack([0 * odds, odds], axis=1), EVEN, y)
    found = calibration_slope(cases)
    assert found.slope == sign * np.inf
    end = found.low if sign > 0 else found.high
    assert np.log(expit(end * (2 * y - 1) * odds)).sum() == pytest.approx(-1.920729, abs=1e-5)
    assert (found.high if sign > 0 else found.low) == sign * np.inf


@pytest.mark.parametrize("evidence", [0.0, 1e-15, 0.004])
def test_no_evidence_has_no_slope(evidence):
    """Rounding is none, nor is what would hardly change a probability."""
    logs = evidence * np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 0.0]])
    found = calibration_slope(HeldOut.of_classes(logs, EVEN, [0, 1, 0, 1]))
    assert np.isnan(found.slope)
    enough = calibration_slope(HeldOut.of_classes(logs + np.eye(4, 2), EVEN, [0, 1, 0, 1]))
    assert np.isfinite(enough.low)
    with pytest.raises(ValueError, match=r"level=1\.5"):
        calibration_slope(HeldOut.of_classes(np.zeros((4, 2)), EVEN, [0, 1, 0, 1]), level=1.5)


QUIET = WithinClassCorrelation(20, 190, 0.017, 0.017, 0.4, 20.0, 1.0)
LOUD = WithinClassCorrelation(20, 190, 0.2, 0.017, 1e-9, 4.0, 5.0)
CANCELLING = WithinClassCorrelation(20, 190, 0.2, 0.017, 1e-9, 4.0, 0.9)


@pytest.mark.parametrize(
    ("correlation", "interval", "words", "last"),
    [
        (QUIET, (0.6, 1.4), "look independent", 'dependence="none" is adequate.'),
        (QUIET, (0.2, 0.8), "too extreme", 'Use dependence="tempered".'),
        (QUIET, (1.2, np.inf), "too cautious", "The model is underconfident"),
        (LOUD, (1.2, np.inf), "too cautious", "The model is underconfident"),
        (LOUD, (0.6, 1.4), "counted about 5.0 times", "Prefer"),
        (LOUD, (0.1, 0.4), "are correlated within classes", 'Use dependence="correlated".'),
        (CANCELLING, (0.6, 1.4), "do not add up", 'dependence="none" is adequate.'),
    ],
)
def test_words_follow_the_numbers(correlation, interval, words, last):
    found = DependenceReport(correlation, CalibrationSlope(0.5, *interval, 0.95, 62)).advice
    assert words in " ".join(found)
    assert found[-1].startswith(last)


@pytest.mark.parametrize(
    ("correlation", "interval", "last"),
    [
        (QUIET, (0.6, 1.4), "--dependence none is adequate."),
        (QUIET, (0.2, 0.8), "Use --dependence tempered."),
        (LOUD, (0.6, 1.4), "Prefer --dependence correlated: "),
        (LOUD, (0.1, 0.4), "Use --dependence correlated."),
        (QUIET, (1.2, np.inf), "otherwise, try --prior sparse."),
    ],
)
def test_whoever_reads_is_told_parameters_as_they_are_given(correlation, interval, last):
    slope = CalibrationSlope(0.5, *interval, 0.95, 62)
    report = DependenceReport(correlation, slope, untried=(("prior", "sparse"),))
    told = replace(report, writer=lambda parameter, value: f"--{parameter} {value}")
    assert last in told.advice[-1]
    assert "=" not in told.advice[-1]
    assert told.content()["advice"] == list(told.advice)
    assert "--" not in report.advice[-1]
    in_use = replace(told, dependence="tempered").advice[-1]
    assert in_use == "--dependence tempered is in use, which allows for that."


def test_of_many_features_some_are_looked_at_and_all_are_spoken_of(seed):
    """A factor that all of 3000 features share: as for 1000 of them, but 3 times as many."""
    rng = np.random.default_rng(seed)
    y = np.arange(30) % 2
    X = y[:, np.newaxis] + rng.normal(size=(30, 1)) + rng.normal(size=(30, 3000))
    found = within_class_correlation(X, y)
    assert (found.n_features, found.n_looked_at, found.n_pairs) == (3000, 1000, 1000 * 999 // 2)
    some = within_class_correlation(X[:, np.linspace(0, 2999, 1000).astype(int)], y)
    assert (some.n_features, some.n_looked_at) == (1000, None)
    assert found.mean_squared == some.mean_squared
    assert found.inflation - 1 == pytest.approx((some.inflation - 1) * 2999 / 999)
    assert found.effective_features == pytest.approx(some.effective_features, rel=0.02)
    report = DependenceReport(found, CalibrationSlope(0.2, 0.1, 0.4, 0.95, 30))
    assert report.advice[0].startswith(
        "The 3000 kept features are correlated within classes (1000 of them were examined; mean "
    )
    assert report.advice[-1] == 'Use dependence="tempered".'  # too many to be correlated
    assert report.content()["correlation"]["n_looked_at"] == 1000
    assert "n_looked_at" not in DependenceReport(some, report.slope).content()["correlation"]


def test_there_are_words_where_there_is_nothing():
    nothing = WithinClassCorrelation(1, 0, *[np.nan] * 5)
    found = DependenceReport(nothing, CalibrationSlope(np.nan, -np.inf, np.inf, 0.95, 4)).advice
    assert found[0] == "There is no pair of features to correlate."
    assert found[1] == "The model has no evidence for any class in any held-out case."
