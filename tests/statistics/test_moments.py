import numpy as np
import pytest
from sklearn.feature_selection import f_classif, r_regression

from unselected.columns import blocks
from unselected.selection.real_scores import RealScores
from unselected.statistics.moments import class_axes
from unselected.statistics.summing import class_moments, line_moments
from unselected.statistics.unscored import SAME_RESPONSE, SCORED, TOO_FEW


def some_table(rng, n=23, p=40, G=3):
    y = rng.permutation(np.arange(n) % G)
    return rng.normal(size=(n, p)) + rng.normal(size=(G, p))[y], y


def plain_moments(X, y, G):
    n = np.array([[np.sum(~np.isnan(x[y == g])) for x in X.T] for g in range(G)])
    means = np.array([[np.nanmean(x[y == g]) for x in X.T] for g in range(G)])
    within = np.nansum((X - means[y]) ** 2, axis=0)
    return n, means, within


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_class_moments_are_the_plain_ones(missing, order, dtype, seed, monkeypatch):
    monkeypatch.setattr(blocks, "_COPY_BYTES", 1)  # blocks of 64 blocks
    rng = np.random.default_rng(seed)
    X, y = some_table(rng, p=150)
    X[rng.random(X.shape) < missing] = np.nan
    X[:3] = rng.normal(size=(3, 150))
    y[:3] = [0, 1, 2]  # no feature is missing in a whole class
    X = np.asarray(X, dtype=dtype, order=order)
    moments = class_moments(X, y, 3)
    n, means, within = plain_moments(X.astype(np.float64), y, 3)
    np.testing.assert_array_equal(np.broadcast_to(moments.n, n.shape), n)
    np.testing.assert_allclose(moments.center + moments.offset, means, atol=1e-13)
    np.testing.assert_allclose(moments.within, within, rtol=1e-12)
    assert moments.n.shape[1] == (1 if missing == 0.0 else 150)


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_line_moments_are_those_of_the_fitted_lines(missing, seed, monkeypatch):
    monkeypatch.setattr(blocks, "_COPY_BYTES", 1)
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(25, 100)), rng.normal(3.0, 2.0, size=25)
    X[rng.random(X.shape) < missing] = np.nan
    moments = line_moments(X, y)
    for j, x in enumerate(X.T):
        known = ~np.isnan(x)
        slope, height = np.polyfit(y[known], x[known], 1)
        rest = x[known] - slope * y[known] - height
        assert moments.sxy[j] / moments.syy[j] == pytest.approx(slope, abs=1e-12)
        assert moments.within[j] == pytest.approx(rest @ rest, rel=1e-11)
        assert moments.center[j] + moments.offset[j] == pytest.approx(x[known].mean(), abs=1e-13)
        assert moments.y_mean[j] == pytest.approx(y[known].mean(), abs=1e-13)
    assert moments.unit == pytest.approx(y.std(), rel=1e-14)


def test_contrasts_hold_all_of_the_sums_of_squares(seed):
    X, y = some_table(np.random.default_rng(seed))
    moments = class_moments(X, y, 3)
    contrasts = moments.contrasts()
    np.testing.assert_allclose(np.sum(contrasts.beta**2, axis=1), moments.between, rtol=1e-12)
    np.testing.assert_allclose(
        moments.between + moments.within, np.sum((X - X.mean(axis=0)) ** 2, axis=0), rtol=1e-12
    )
    squares = contrasts.squares(np.array([0.0, 1e9]))
    np.testing.assert_allclose(squares[0], moments.between + moments.within, rtol=1e-12)
    np.testing.assert_allclose(squares[1], moments.within, rtol=1e-6)


@pytest.mark.parametrize("sizes", [(7, 12), (5, 5, 5), (42, 11, 9), (1, 2, 3, 50)])
def test_axes_diagonalize_the_spread_of_the_class_means(sizes):
    """lam are the eigenvalues of the centred one-hot codes' cross product, computed plainly."""
    codes = np.repeat(np.eye(len(sizes)), sizes, axis=0)
    centred = codes - codes.mean(axis=0)
    expected = np.linalg.eigvalsh(centred.T @ centred)[1:]
    np.testing.assert_allclose(class_axes(np.array([sizes]))[0][0], expected, rtol=1e-12)


def test_scores_are_those_of_scikit_learn(seed):
    X, y = some_table(np.random.default_rng(seed))
    F = RealScores.of(class_moments(X, y, 3))
    assert F.statistic == "F"
    np.testing.assert_allclose(F.rough, f_classif(X, y)[0], rtol=1e-10)
    two = RealScores.of(class_moments(X, y % 2, 2))
    assert two.statistic == "|COR|"
    np.testing.assert_allclose(two.rough, np.abs(r_regression(X, y % 2)), rtol=1e-10)
    line = RealScores.of(line_moments(X, X[:, 0] + y))
    np.testing.assert_allclose(line.rough, np.abs(r_regression(X, X[:, 0] + y)), rtol=1e-10)


def test_far_from_zero_nothing_is_lost(seed):
    """Mean 1e8, sd 1: the values themselves are rounded to 1e-8, and no more is lost."""
    rng = np.random.default_rng(seed)
    X, y = some_table(rng, n=60)
    shifted = X + 1e8
    exact = shifted - 1e8  # what is left of the values after rounding
    for moments in (lambda X: class_moments(X, y, 3), lambda X: line_moments(X, X[:, 0] - X[0, 0])):
        far, near = moments(shifted), moments(exact)
        np.testing.assert_allclose(far.within, near.within, rtol=1e-10)
        np.testing.assert_allclose(far.between, near.between, rtol=1e-9, atol=1e-10)
    one_pass = np.mean(shifted**2, axis=0) - np.mean(shifted, axis=0) ** 2
    assert np.max(np.abs(one_pass - exact.var(axis=0))) > 0.1  # the twin: a formula that cancels


def test_equal_columns_have_equal_scores_wherever_they_stand(seed):
    rng = np.random.default_rng(seed)
    X, y = some_table(rng, p=301)
    X[:, [3, 77, 300]] = X[:, [3]]
    for moments in (class_moments(X, y, 3), line_moments(X, rng.normal(size=len(X)))):
        scores = RealScores.of(moments).rough
        assert scores[3] == scores[77] == scores[300]
        assert np.unique(scores).size == 299


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("kind", ["classes", "line"])
def test_equal_columns_have_equal_scores_at_the_ends_of_blocks(order, kind, seed, monkeypatch):
    """A column alone in the last block, in either memory order, and one beside a missing value."""
    monkeypatch.setattr(blocks, "_COPY_BYTES", 1)  # blocks of 64 blocks
    rng = np.random.default_rng(seed)
    X, y = some_table(rng, p=129)
    X[:, [0, 128]] = X[:, [70]]
    X[5, 71] = np.nan
    X = np.asarray(X, order=order)
    if kind == "classes":
        scores = RealScores.of(class_moments(X, y, 3)).rough
    else:
        scores = RealScores.of(line_moments(X, y + rng.normal(size=y.size))).rough
    assert scores[0] == scores[70] == scores[128]


@pytest.mark.parametrize("value", [0.0, 0.1, -1e8, 1e300])
def test_constant_columns_have_the_score_zero(value):
    X, y = some_table(np.random.default_rng(0))
    X[:, 5] = value
    X[::4, 5] = np.nan
    for scores in (
        RealScores.of(class_moments(X, y, 3)),
        RealScores.of(line_moments(X, X[:, 0])),
    ):
        assert scores.rough[5] == 0.0
        assert 5 not in scores.above(0.0)
        assert scores.n_varying.sum() == 39
        assert scores.event_above(0.9, np.array([], dtype=int)).n_omitted == 39


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (np.where(np.arange(23) == 2, np.inf, 1.0), "column 4 has infinity in row 2:"),
        (1e200 * np.arange(23), "column 4 has values so large"),
        (1e-200 * np.arange(23), "column 4 has values so small"),
    ],
)
@pytest.mark.parametrize("kind", ["classes", "line"])
def test_values_that_cannot_be_squared_are_named(values, message, kind):
    X, y = some_table(np.random.default_rng(0))
    X[:, 4] = values
    with pytest.raises(ValueError, match=message):
        class_moments(X, y, 3) if kind == "classes" else line_moments(X, X[:, 0])


def test_a_column_of_which_too_little_is_known_says_why():
    X, y = some_table(np.random.default_rng(0))
    p = X.shape[1]
    X[y == 1, 7] = np.nan
    assert class_moments(X, y, 3).reasons().tolist() == [1 if j == 7 else SCORED for j in range(p)]
    X[y == 2, 7] = np.nan  # the first of the empty classes is told
    assert class_moments(X, y, 3).reasons()[7] == 1
    X[:, 7] = np.nan
    assert class_moments(X, y, 3).reasons()[7] == 0
    whys = line_moments(X, X[:, 0]).reasons()
    assert whys.tolist() == [TOO_FEW if j == 7 else SCORED for j in range(p)]
    X[[0, 1], 7] = [1.0, 2.0]
    assert line_moments(X, X[:, 0]).reasons()[7] == TOO_FEW
    X[2, 7] = 4.0
    assert line_moments(X, X[:, 0]).reasons()[7] == SCORED
    same = X[:, 0].copy()
    same[:3] = 5.0
    assert line_moments(X, same).reasons()[7] == SAME_RESPONSE
    few = np.full((23, 1), np.nan)
    few[[np.argmax(y == g) for g in range(3)]] = 1.0
    assert class_moments(few, y, 3).reasons().tolist() == [TOO_FEW]
    few[:8] = 1.0
    assert class_moments(few, y, 3).reasons().tolist() == [SCORED]


def test_columns_without_a_score_change_nothing_of_the_others():
    X, y = some_table(np.random.default_rng(0))
    response = X[:, 0] + y
    with_gaps = np.insert(X, [3, 11], np.nan, axis=1)
    with_gaps[:2, 3] = 1.0
    for plain, gaps in (
        (class_moments(X, y, 3), class_moments(with_gaps, y, 3)),
        (line_moments(X, response), line_moments(with_gaps, response)),
    ):
        scores, others = RealScores.of(plain), RealScores.of(gaps)
        assert others.unscored.columns.tolist() == [3, 12]
        rest = others.unscored.others(with_gaps.shape[1])
        np.testing.assert_array_equal(others.values(rest), scores.rough)
        assert np.isnan(others.values(np.array([3, 12]))).all()
        np.testing.assert_array_equal(others.n_varying, scores.n_varying)
        event = others.event_above(0.1, rest[:2])
        expected = scores.event_above(0.1, np.array([0, 1]))
        np.testing.assert_array_equal(event.n_features, expected.n_features)
        np.testing.assert_array_equal(event.lam, expected.lam)
