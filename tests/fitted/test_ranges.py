"""New rows that are not where the training cases were."""

import warnings

import numpy as np
import pytest

from unselected import SelectiveBernoulliNB, SelectiveGaussianNB, SelectiveNaiveRegressor
from unselected.fitted.ranges import TrainingRanges

ESTIMATORS = [SelectiveBernoulliNB, SelectiveGaussianNB, SelectiveNaiveRegressor]


def intensities(seed, n=60, p=80):
    """Values as of an array of genes: positive, and far from 1."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    return 2.0 ** (9.0 + rng.normal(size=(n, p)) + np.outer(y, rng.random(p))), y


def remarks(model, X):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.predict(X)
    return [str(one.message) for one in caught]


@pytest.mark.parametrize("make", ESTIMATORS)
def test_rows_in_other_units_are_told_and_new_cases_are_not(make, seed):
    (X, y), (new, _) = intensities(seed), intensities(seed + 1000)
    model = make(k=8).fit(X, y)
    assert remarks(model, new) == []
    assert remarks(model, new[:1]) == []
    for other in (np.log2(new), 1000.0 * new, np.log2(new[:1])):
        (said,) = remarks(model, other)
        assert f"8 of 8 features are outside of their training range in {len(other)} of" in said
        assert "Are the rows in the units of the training cases?" in said


def test_one_column_times_a_thousand_is_named(seed):
    (X, y), (new, _) = intensities(seed), intensities(seed + 1000)
    model = SelectiveGaussianNB(k=8).fit(X, y)
    column = model.selection_.indices[3]
    new[:, column] *= 1000.0
    (said,) = remarks(model, new)
    assert f"column {column} is " in said
    values = X[:, column]
    assert f"where training had {values.min():.6g} to {values.max():.6g}." in said


def test_one_outlier_does_not_count_the_values_that_are_outside_by_chance(seed):
    (X, y), (new, _) = intensities(seed), intensities(seed + 1000)
    model = SelectiveGaussianNB(k=8).fit(X, y)
    column = model.selection_.indices[3]
    new[7, column] *= 1000.0
    (said,) = remarks(model, new)
    assert said.startswith("values far outside of their training range: 1 of 480 values. ")
    assert f"column {column} is {new[7, column]:.6g} in row 7 " in said
    assert said.endswith("Are they outliers, or in other units?")


def test_missing_values_and_no_rows_say_nothing():
    ranges = TrainingRanges(np.zeros(2), np.ones(2))
    assert ranges.remark(np.full((5, 2), np.nan), str) is None
    X, y = intensities(0)
    model = SelectiveGaussianNB(k=3).fit(X, y)
    assert remarks(model.panel().predictor, np.empty((0, 3))) == []


@pytest.mark.parametrize("order", ["C", "F"])
def test_ranges_are_those_of_the_known_values(order, monkeypatch, seed):
    monkeypatch.setattr("unselected.fitted.ranges._BLOCK", 30)
    X = np.asarray(np.random.default_rng(seed).normal(size=(12, 9)), order=order)
    X[[1, 4], [2, 5]] = np.nan
    indices = np.array([0, 2, 5, 8])
    ranges = TrainingRanges.of(X, indices)
    np.testing.assert_array_equal(ranges.low, np.nanmin(X[:, indices], axis=0))
    np.testing.assert_array_equal(ranges.high, np.nanmax(X[:, indices], axis=0))
