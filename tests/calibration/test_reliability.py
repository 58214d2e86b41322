"""The table of the paper, the reliability curve, the parts of the squared error."""

import json
from dataclasses import asdict, fields

import numpy as np
import pytest
from forecasters import few_cases, forecasts
from hypothesis import given
from scipy.stats import beta
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics import brier_score_loss

from unselected.calibration import (
    ReliabilityCurve,
    average_squared_error,
    decile_table,
    reliability_curve,
    split_squared_error,
)

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
