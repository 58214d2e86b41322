"""Normal scores, against ranks from scipy."""

import numpy as np
import pytest
from scipy.special import ndtri
from scipy.stats import rankdata

from unselected.statistics.leaving_out import LeftOut
from unselected.statistics.normal_scores import (
    MOST_KNOTS,
    NormalScores,
    normal_score_moments_without,
)


def scored(x):
    """Return the normal scores of a column from scipy's ranks; NaN stays."""
    known = ~np.isnan(x)
    z = np.full(x.size, np.nan)
    z[known] = ndtri((rankdata(x[known]) - 0.5) / known.sum())
    return z


def values(kind, seed, n=40, p=12):
    rng = np.random.default_rng(seed)
    X = np.exp(rng.normal(size=(n, p)))
    if kind != "distinct":
        X = np.round(X)
    if kind == "missing":
        X[rng.random((n, p)) < 0.2] = np.nan
    return X


@pytest.mark.parametrize("kind", ["distinct", "tied", "missing"])
@pytest.mark.parametrize("seed", range(3))
def test_moments_without_cases_are_those_of_the_scores_of_the_others(kind, seed):
    X, rng = values(kind, seed), np.random.default_rng(seed)
    y = rng.permutation(np.arange(40) % 3)
    sets = [LeftOut.rows(rng.choice(40, size, replace=False), 40) for size in (0, 1, 4, 9)]
    for left, moments in zip(sets, normal_score_moments_without(X, y, 3, str, sets), strict=True):
        Z = np.stack([scored(column) for column in X[left.kept].T], axis=1)
        rest = y[left.kept]
        means = np.stack([np.nanmean(Z[rest == g], axis=0) for g in range(3)])
        np.testing.assert_allclose(moments.center + moments.offset, means, atol=1e-12)
        squares = np.nansum((Z - means[rest]) ** 2, axis=0)
        np.testing.assert_allclose(moments.within, squares, atol=1e-12)
        known = np.stack([np.sum(~np.isnan(Z[rest == g]), axis=0) for g in range(3)])
        np.testing.assert_array_equal(np.broadcast_to(moments.n, known.shape), known)


def test_the_scores_of_all_cases_are_not_those_without_some():
    """The wrong twin: ranks among all cases."""
    X, y = values("distinct", 0), np.arange(40) % 2
    left = LeftOut.rows(np.arange(0, 40, 4), 40)
    (moments,) = normal_score_moments_without(X, y, 2, str, [left])
    Z = np.stack([scored(column) for column in X.T], axis=1)[left.kept]
    means = np.stack([Z[y[left.kept] == g].mean(axis=0) for g in range(2)])
    assert np.abs(moments.offset - means).max() > 0.01


@pytest.mark.parametrize("kind", ["distinct", "tied", "missing"])
def test_training_values_get_their_scores(kind):
    X = values(kind, 1)
    expected = np.stack([scored(column) for column in X.T], axis=1)
    np.testing.assert_allclose(NormalScores.learn(X).apply(X), expected, atol=1e-12)


def test_the_transform_is_monotone_and_its_tails_are_short():
    X = values("tied", 2)
    scores = NormalScores.learn(X)
    grid = np.linspace(-1e6, 1e6, 4001)[:, np.newaxis] + np.zeros(X.shape[1])
    Z = scores.apply(grid)
    assert np.all(np.diff(Z, axis=0) >= 0.0)
    inside = scores.apply(X)
    assert np.all(Z.max(axis=0) <= inside.max(axis=0) + 1.0)
    assert np.all(Z.min(axis=0) >= inside.min(axis=0) - 1.0)


def test_many_values_are_thinned_to_some_knots_and_hardly_change():
    X = np.random.default_rng(0).normal(size=(2000, 2))
    scores = NormalScores.learn(X)
    assert max(map(len, scores.values)) <= MOST_KNOTS
    expected = np.stack([scored(column) for column in X.T], axis=1)
    assert np.quantile(np.abs(scores.apply(X) - expected), 0.99) < 0.02


def test_constant_and_empty_columns_have_the_score_0():
    X = np.array([[3.0, np.nan], [3.0, np.nan]])
    Z = NormalScores.learn(X).apply(np.array([[3.0, 1.0], [5.0, np.nan]]))
    np.testing.assert_array_equal(Z, [[0.0, 0.0], [0.0, np.nan]])


def test_infinity_is_refused():
    X = values("distinct", 0)
    X[3, 4] = np.inf
    moments = normal_score_moments_without(
        X, np.arange(40) % 2, 2, "column {}".format, [LeftOut.rows(np.array([0]), 40)]
    )
    with pytest.raises(ValueError, match=r"column 4 has infinity in row 3"):
        next(moments)


@pytest.mark.parametrize("kind", ["distinct", "tied", "missing"])
def test_the_inverse_gives_back_values_and_scores(kind):
    X = values(kind, 5, n=60)
    normal = NormalScores.learn(X)
    np.testing.assert_allclose(normal.invert(normal.apply(X)), X, rtol=1e-12)
    ends = [(own[0], own[-1]) for own in normal.scores]
    z = np.array([np.linspace(low - 1.0, high + 1.0, 41) for low, high in ends]).T
    np.testing.assert_allclose(normal.apply(normal.invert(z)), z, atol=1e-10)
    assert np.all(np.diff(normal.invert(z), axis=0) > 0.0)


def test_scores_that_no_value_has_go_back_to_the_end_of_the_transform():
    normal = NormalScores.learn(np.array([[1.0, 7.0], [2.0, 7.0], [4.0, 7.0]]))
    last = normal.scores[0][-1] + 1.0
    z = np.array([[last, 0.0], [last + 5.0, 3.0], [np.nan, np.nan]])
    back = normal.invert(z)
    assert back[0, 0] == back[1, 0] > 4.0
    assert back[:2, 1].tolist() == [7.0, 7.0]  # a constant column has one value
    assert np.isnan(back[2]).all()
