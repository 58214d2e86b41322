"""Scores of columns: against scipy, with a variance that does not depend on the effect."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from scipy.stats import f_oneway, pearsonr, ttest_ind

from unselected.audit.column_scores import (
    NumericColumns,
    Response,
    column_scores,
    residuals_given,
)


def scores_of(X, response, rng=None):
    return column_scores(NumericColumns.of(X), response, rng)


def transformed(t, degrees):
    return np.sqrt(2 * degrees) * np.arcsinh(np.abs(t) / np.sqrt(2 * degrees))


def test_scores_are_those_of_scipy(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(30, 7)), rng.permutation(np.repeat([0, 1, 2], 10))
    two = y > 0
    t = ttest_ind(X[two], X[~two]).statistic
    np.testing.assert_allclose(scores_of(X, Response.classes(two)), transformed(t, 28))
    F = f_oneway(*(X[y == label] for label in range(3))).statistic
    np.testing.assert_allclose(scores_of(X, Response.classes(y)), transformed(np.sqrt(2 * F), 27))
    z = rng.normal(size=30)
    r = np.array([pearsonr(column, z).statistic for column in X.T])
    expected = transformed(r * np.sqrt(28 / (1 - r**2)), 28)
    np.testing.assert_allclose(scores_of(X, Response.numbers(z)), expected)


def test_the_noise_of_a_score_hardly_depends_on_the_effect(seed):
    """A twin, the t statistic itself, is far noisier where the effect is large."""
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1], 15)
    X = rng.normal(size=(30, 4000)) + 3.0 * y[:, None]
    score = scores_of(X, Response.classes(y))
    t = ttest_ind(X[y == 1], X[y == 0]).statistic
    assert 0.9 < score.std() < 1.15
    assert t.std() > 1.3


def test_tables_of_all_kinds_give_the_same(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.poisson(1.0, size=(20, 5)).astype(float), np.repeat(["a", "b"], 10)
    names = list("abcde")
    expected = scores_of(X, Response.classes(y))
    assert expected.shape == (5,)
    for table in (
        sparse.csr_array(X),
        sparse.csc_matrix(X),
        pd.DataFrame(X, columns=names),
        pl.DataFrame(X, schema=names),
        X.astype(object),
        X.astype(int),
    ):
        np.testing.assert_allclose(scores_of(table, Response.classes(y)), expected)


def test_columns_without_numbers_are_left_out():
    frame = pd.DataFrame({"word": ["x", "y", "x", "y"], "size": [1.0, 2.0, 3.0, np.nan]})
    table = NumericColumns.of(frame)
    assert table.numbers.tolist() == [1]
    np.testing.assert_array_equal(table.dense([0])[:, 0], [1.0, 2.0, 3.0, 2.0])
    assert NumericColumns.of(frame[["word"]]).values.shape == (4, 0)
    assert NumericColumns.of(frame.to_numpy()).numbers.tolist() == [1]


def test_a_constant_column_has_no_score():
    X = np.column_stack([np.full(10, 3.3), np.arange(10.0)])
    assert np.isnan(scores_of(X, Response.classes(np.repeat([0, 1], 5)))).tolist() == [True, False]


def test_residuals_are_orthogonal_to_the_response_and_of_length_one(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(20, 4)), np.repeat([0, 1, 2, 3], 5)
    response = Response.classes(y)
    left = residuals_given(NumericColumns.of(X), response, np.arange(4))
    np.testing.assert_allclose(response.basis.T @ left, 0.0, atol=1e-12)
    np.testing.assert_allclose((left**2).sum(axis=0), 1.0)


@pytest.mark.parametrize("n_ones", [1, 2, 5])
def test_scores_of_bits_are_spread_over_the_gaps(n_ones, seed):
    """A column with one 1 can have one score only; spread, it may also be weak."""
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1], 20)
    X = np.zeros((40, 400))
    for column in X.T:
        column[rng.permutation(40)[:n_ones]] = 1.0
    response = Response.classes(y)
    exact, spread = scores_of(X, response), scores_of(X, response, rng)
    assert np.unique(exact.round(9)).size <= n_ones + 1
    assert np.unique(spread.round(9)).size > 300
    assert spread.min() < 0.1
