"""Pictures of predictions of a number: PIT values, coverage, predicted and actual."""

import re

import numpy as np
import pytest
from drawing import an_axes, labels
from matplotlib import pyplot as plt
from scipy.stats import binomtest, ecdf, ksone, kstest, norm

from unselected import plots
from unselected.calibration import coverage_curve


def pits(rng, n=90):
    """PIT values of honest predictions, and of overconfident ones of the same cases."""
    noise = rng.normal(size=n)
    return {"corrected": norm.cdf(noise), "uncorrected": norm.cdf(noise / 0.4)}


def heights(line, points):
    """The staircase at points, read from what is drawn."""
    x, y = line.get_data()
    assert line.get_drawstyle() == "steps-post"
    return y[np.searchsorted(x, points, side="right") - 1]


# The distribution of PIT values.


def test_pit_staircase_is_the_empirical_distribution(seed):
    values = pits(np.random.default_rng(seed))
    display = plots.PITDisplay.from_predictions(values, ax=an_axes())
    points = np.linspace(0.001, 0.999, 333)
    for name, pit in values.items():
        expected = ecdf(pit).cdf.evaluate(points)
        np.testing.assert_allclose(heights(display.lines_[name], points), expected)
        x, y = display.lines_[name].get_data()
        assert (x[0], y[0], x[-1], y[-1]) == (0.0, 0.0, 1.0, 1.0)
    assert labels(display.ax_) == [
        "corrected",
        "uncorrected",
        "right predictions",
        "95 % band for the whole curve",
    ]


def farthest(line):
    """The largest distance of what is drawn from the diagonal, on both sides of each step."""
    x, y = line.get_data()
    return max(np.max(np.abs(y - x)), np.max(np.abs(y[:-1] - x[1:])))


def test_pit_band_is_left_just_where_the_test_says_so(seed):
    """Kolmogorov's and Smirnov's p-value and the picture agree; the twin is a one-sided band."""
    rng = np.random.default_rng(seed)
    left = []
    for _ in range(60):
        pit = norm.cdf(rng.normal(size=25) / rng.choice([1.0, 0.7]))
        display = plots.PITDisplay.from_predictions({"a": pit}, confidence=0.8, ax=an_axes())
        outside = farthest(display.lines_["a"]) > display.half_width
        assert outside == (kstest(pit, "uniform").pvalue < 0.2)
        left.append(outside)
    assert 0 < sum(left) < 60
    assert display.half_width > ksone.ppf(0.8, 25) + 0.02


@pytest.mark.slow
def test_pit_band_holds_the_whole_curve_at_the_nominal_rate(seed):
    """The twin is the band of the binomial law, point by point: too narrow for a whole curve."""
    rng = np.random.default_rng(seed)
    n, n_replicates = 30, 1000
    half_width = plots.PITDisplay.from_predictions({"a": rng.random(n)}, ax=an_axes()).half_width
    distances = np.array([kstest(rng.random(n), "uniform").statistic for _ in range(n_replicates)])
    assert 0.92 < np.mean(distances <= half_width) < 0.98
    assert np.mean(distances <= norm.ppf(0.975) * 0.5 / np.sqrt(n)) < 0.92


def test_pit_band_as_drawn():
    display = plots.PITDisplay.from_predictions({"a": np.linspace(0.01, 0.99, 50)}, ax=an_axes())
    (band,) = display.ax_.collections
    h = display.half_width
    assert h == pytest.approx(0.18841, abs=1e-5)  # from tables of the statistic
    corners = {(round(x, 9), round(y, 9)) for x, y in band.get_paths()[0].vertices}
    expected = [(0, 0), (0, h), (h, 0), (h, 2 * h), (1 - h, 1), (1 - h, 1 - 2 * h), (1, 1 - h)]
    assert {(round(x, 9), round(y, 9)) for x, y in expected} <= corners
    assert (display.ax_.get_xlim(), display.ax_.get_aspect()) == (display.ax_.get_ylim(), 1.0)


def test_a_few_values_have_a_band_as_wide_as_the_axes():
    display = plots.PITDisplay.from_predictions({"a": [0.3]}, confidence=0.99, ax=an_axes())
    assert display.half_width == pytest.approx(0.995)
    vertices = display.ax_.collections[0].get_paths()[0].vertices
    assert vertices.min() >= 0.0
    assert vertices.max() <= 1.0


# The coverage of central intervals.


def test_coverage(seed):
    values = pits(np.random.default_rng(seed))
    display = plots.CoverageDisplay.from_predictions(values, confidence=0.9, ax=an_axes())
    assert display.n_samples == 90
    for name, pit in values.items():
        level, coverage = display.lines_[name].get_data()
        np.testing.assert_array_equal(level, np.arange(1, 100) / 100)
        brute = [np.mean((pit >= (1 - c) / 2) & (pit <= (1 + c) / 2)) for c in level]
        np.testing.assert_allclose(coverage, brute, atol=1e-12)
    assert display.coverage["uncorrected"][49] < display.coverage["corrected"][49]
    curve = coverage_curve(values["corrected"], confidence=0.9)
    np.testing.assert_array_equal(display.band_low, curve.band_low)
    np.testing.assert_array_equal(display.band_high, curve.band_high)
    assert labels(display.ax_)[-1] == "90 % band at each level"
    assert display.ax_.get_ylabel() == "Fraction of the 90 cases inside it"


def test_coverage_outside_the_band_is_found_by_an_exact_test(seed):
    """At each level, by the binomial test of scipy with equal tails."""
    pit = norm.cdf(np.random.default_rng(seed).normal(size=40) / 0.7)
    display = plots.CoverageDisplay.from_predictions({"a": pit}, ax=an_axes())
    seen = display.coverage["a"]
    outside = (seen < display.band_low) | (seen > display.band_high)
    for level, coverage, found in zip(display.levels, seen, outside, strict=True):
        tails = [
            binomtest(round(40 * coverage), 40, level, alternative=side).pvalue
            for side in ("less", "greater")
        ]
        assert found == (min(tails) < 0.025)
    vertices = display.ax_.collections[0].get_paths()[0].vertices
    drawn = {(round(x, 9), round(y, 9)) for x, y in vertices}
    for edge in (display.band_low, display.band_high):
        corners = zip(display.levels, edge, strict=True)
        assert {(round(x, 9), round(y, 9)) for x, y in corners} <= drawn


# Predicted and actual.


@pytest.mark.parametrize("n", [40, 300, 1500])
def test_predicted_and_actual(n, seed):
    rng = np.random.default_rng(seed)
    mean, noise, width = rng.normal(size=(3, n))
    y, lower, upper = mean + noise, mean - 0.5 - width**2, mean + 0.2
    display = plots.PredictedActualDisplay.from_predictions(
        y, mean, lower, upper, level=0.8, ax=an_axes()
    )
    missed = np.array([not low <= one <= high for one, low, high in zip(y, lower, upper)])  # noqa: B905
    np.testing.assert_array_equal(display.missed, missed)
    for points, which in ((display.hits_, ~missed), (display.misses_, missed)):
        np.testing.assert_array_equal(points.get_offsets(), np.column_stack([mean, y])[which])
        assert bool(points.get_rasterized()) == (n == 1500)
    bars = display.ax_.collections[0].get_segments()
    expected = np.stack([np.column_stack([mean, lower]), np.column_stack([mean, upper])], axis=1)
    np.testing.assert_array_equal(np.array(bars), expected)
    assert labels(display.ax_) == [
        "80 % predictive interval",
        f"response inside, {n - missed.sum()} of {n} cases",
        f"outside, {missed.sum()} ({100 * missed.mean():.3g} %)",
        "response equal to predicted mean",
    ]
    (left, right), (bottom, top) = display.ax_.get_xlim(), display.ax_.get_ylim()
    assert left < mean.min() < mean.max() < right
    assert bottom < min(y.min(), lower.min()) < max(y.max(), upper.max()) < top


def test_misses_differ_from_hits_without_colour():
    display = plots.PredictedActualDisplay.from_predictions(
        [0.0, 9.0], [0.0, 0.0], [-1.0, -1.0], [1.0, 1.0], ax=an_axes()
    )
    shapes = [points.get_paths()[0].vertices.shape for points in (display.hits_, display.misses_)]
    assert shapes[0] != shapes[1]
    assert labels(display.ax_)[0] == "predictive interval"
    low, high = display.ax_.get_xlim()
    assert low < 0.0 < high  # means that are all the same have room, too


# Bad input.


@pytest.mark.parametrize("display", [plots.PITDisplay, plots.CoverageDisplay])
@pytest.mark.parametrize(
    ("predictions", "message"),
    [
        ({}, "predictions is empty"),
        ({"a": [0.5, 1.5]}, "predictions['a'] has the value 1.5 in row 1: a PIT value is"),
        ({"a": [0.5], "b": [np.nan]}, "predictions['b'] has the value nan in row 0"),
        ({"a": []}, "predictions['a'] has no cases"),
        ({"a": [0.5], "b": [0.5, 0.1]}, "predictions has 1 cases for 'a' and 2 for 'b'"),
    ],
)
def test_wrong_pit_values(display, predictions, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        display.from_predictions(predictions)
    with pytest.raises(ValueError, match="level=2 must be between 0 and 1"):
        display.from_predictions({"a": [0.5]}, confidence=2)
    assert plt.get_fignums() == []


def test_wrong_levels():
    draw = plots.CoverageDisplay.from_predictions
    with pytest.raises(ValueError, match=r"levels=\[0\.9, 0\.5\] must be increasing"):
        draw({"a": [0.5]}, levels=[0.9, 0.5])
    with pytest.raises(ValueError, match="levels has the value 1 in row 0"):
        draw({"a": [0.5]}, levels=[1.0])


def test_wrong_responses():
    draw = plots.PredictedActualDisplay.from_predictions
    with pytest.raises(ValueError, match="y has 1 cases and mean has 2"):
        draw([1.0], [1.0, 2.0], [0.0], [2.0])
    with pytest.raises(ValueError, match="lower is 3 and upper is 2 in row 0"):
        draw([1.0], [1.0], [3.0], [2.0])
    with pytest.raises(ValueError, match="mean has the value nan in row 0"):
        draw([1.0], [np.nan], [0.0], [2.0])
    with pytest.raises(ValueError, match="level=90 must be between 0 and 1"):
        draw([1.0], [1.0], [0.0], [2.0], level=90)
    assert plt.get_fignums() == []
