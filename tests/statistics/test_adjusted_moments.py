"""Scores given covariates are those of least squares, column by column, however they are summed."""

import dask.array
import numpy as np
import pytest
from adjusted_oracle import partial_score, rest_of
from scipy import sparse
from sklearn.feature_selection import f_classif, f_regression

from unselected.columns import blocks
from unselected.columns.dask import DaskColumns
from unselected.columns.sources import ArrayColumns, SparseColumns
from unselected.numerics import kernels
from unselected.selection.real_scores import RealScores
from unselected.selection.streaming import StreamingSelection, adjusted_scores
from unselected.statistics.adjusted_moments import AdjustedMoments
from unselected.statistics.adjusted_sums import adjusted_moments_without
from unselected.statistics.design import CovariateBasis, Design
from unselected.statistics.leaving_out import LeftOut
from unselected.statistics.normal_scores import NormalScores, normal_score_adjusted_moments_without
from unselected.statistics.summing import over_adjusted_moments
from unselected.statistics.unscored import SAME_RESPONSE, SCORED, TOO_FEW

N, P = 40, 70
KINDS = ["two", "three", "line"]
LABEL = "column {}".format


def some_table(rng, kind, missing=0.0):
    """Columns that depend on covariates and response, which depend on each other."""
    coded = np.column_stack([rng.normal(50.0, 9.0, N), rng.permutation(N) % 2, rng.normal(size=N)])
    if kind == "line":
        y = coded[:, 2] + rng.normal(size=N)
        codes = y[:, None]
    else:
        y = (coded[:, 1].astype(int) + rng.permutation(N)) % (2 + (kind == "three"))
        codes = np.eye(y.max() + 1)[y][:, 1:]
    X = rng.normal(size=(N, P)) + coded @ (rng.normal(size=(3, P)) * [[0.1], [1.0], [1.0]])
    X += codes @ rng.normal(size=(codes.shape[1], P))
    X[rng.random(X.shape) < missing] = np.nan
    return X, y, codes, coded


def design_of(coded, y):
    Z = CovariateBasis.learn(coded).apply(coded)
    return Design.by_class(Z, y, y.max() + 1) if y.dtype.kind == "i" else Design.along(Z, y)


def moments_of(X, design):
    return AdjustedMoments.united(
        list(over_adjusted_moments(X, design, LABEL, lambda moments, _: moments))
    )


def expected_scores(X, coded, codes):
    return np.array([partial_score(x, coded, codes) for x in X.T])


@pytest.mark.parametrize("missing", [0.0, 0.15])
@pytest.mark.parametrize("kind", KINDS)
def test_scores_are_those_of_least_squares(kind, missing, seed, monkeypatch):
    monkeypatch.setattr(blocks, "_COPY_BYTES", 1)  # several blocks
    X, y, codes, coded = some_table(np.random.default_rng(seed), kind, missing)
    moments = moments_of(X, design_of(coded, y))
    scores = RealScores.of(moments)
    assert scores.statistic == ("F" if kind == "three" else "|COR|")
    np.testing.assert_allclose(scores.rough, expected_scores(X, coded, codes), rtol=1e-10)
    for x, within, total in zip(X.T, moments.within, moments.within + moments.between, strict=True):
        known = ~np.isnan(x)
        A = np.column_stack([np.ones(N), coded])[known]
        assert total == pytest.approx(np.sum(rest_of(A, x[known]) ** 2), rel=1e-10)
        both = np.hstack([A, codes[known]])
        assert within == pytest.approx(np.sum(rest_of(both, x[known]) ** 2), rel=1e-10)


@pytest.mark.parametrize("kind", KINDS)
def test_fitted_values_and_least_squares_are_those_of_the_whole_regression(kind, seed):
    X, y, codes, coded = some_table(np.random.default_rng(seed), kind, 0.1)
    design = design_of(coded, y)
    moments = moments_of(X, design)
    A = np.column_stack([np.ones(N), coded, codes])
    fitted, contrasts = moments.fitted_values(design), moments.contrasts()
    code = design.C + design.Z @ design.expected
    for j, x in enumerate(X.T):
        known = ~np.isnan(x)
        expected = A @ np.linalg.lstsq(A[known], x[known], rcond=None)[0]
        np.testing.assert_allclose(fitted[:, j], expected, atol=1e-9)
    for i in (0, 7):
        ours = contrasts.at(design.Z[i]).least_squares(code[i])
        np.testing.assert_allclose(ours, fitted[i], atol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_with_an_intercept_only_scores_are_those_of_scikit_learn(kind, seed):
    X, y, _, _ = some_table(np.random.default_rng(seed), kind)
    scores = RealScores.of(moments_of(X, design_of(np.ones((N, 1)), y))).rough
    F = (f_regression if kind == "line" else f_classif)(X, y)[0]
    expected = F if kind == "three" else np.sqrt(F / (F + N - 2))
    np.testing.assert_allclose(scores, expected, rtol=1e-10, atol=1e-11)


def sparse_columns(X):
    return SparseColumns(sparse.csr_array(X))


def dask_columns(X):
    return DaskColumns(dask.array.from_array(X, chunks=(15, 20)))


def array_columns(X):
    return ArrayColumns(X, None)


@pytest.mark.parametrize("opened", [sparse_columns, dask_columns, array_columns, np.asfortranarray])
@pytest.mark.parametrize("kind", KINDS)
def test_tables_of_every_kind_have_the_same_scores(kind, opened, seed):
    rng = np.random.default_rng(seed)
    X, y, codes, coded = some_table(rng, kind)
    X[rng.random(X.shape) < 0.3] = 0.0
    X[:, 0] += 10.0  # a column without a zero
    if opened is not np.asfortranarray:
        X[3:6, ::3] = np.nan
    moments = moments_of(opened(X), design_of(coded, y))
    ours = RealScores.of(moments).rough
    np.testing.assert_allclose(ours, expected_scores(X, coded, codes), rtol=1e-10)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int16, bool])
@pytest.mark.parametrize("kind", KINDS)
def test_compiled_sums_have_the_same_scores(kind, dtype, order, seed, monkeypatch):
    pytest.importorskip("numba")
    monkeypatch.setattr(kernels, "WORTH_COMPILING", 0)
    monkeypatch.setattr(blocks, "_ROW_BYTES", 1 << 7)
    X, y, codes, coded = some_table(np.random.default_rng(seed), kind)
    if dtype is np.float64:
        X[4, ::7] = np.nan
        X[:, 3] += 1e6
        X[0, 5] += 1e4
    X = (X * 10 if dtype is np.int16 else X > X.mean(axis=0) if dtype is bool else X).astype(dtype)
    ours = RealScores.of(moments_of(np.asarray(X, order=order), design_of(coded, y))).rough
    expected = expected_scores(X.astype(float), coded, codes)
    np.testing.assert_allclose(ours, expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("rows", [5, 6, 7, 8])
def test_compiled_sums_of_any_number_of_rows(rows, seed):
    """Rows are taken four at a time: what is left over counts once."""
    compiled = pytest.importorskip("unselected.numerics.compiled")
    rng = np.random.default_rng(seed)
    X, factors = rng.normal(size=(rows, 5000)), rng.normal(size=(rows, 6))
    center, products, squares = X[0].copy(), np.zeros((6, 5000)), np.zeros(5000)
    starts = 5000 * np.arange(rows)
    compiled.sum_products(X.ravel(), starts, factors, center, products, squares)
    np.testing.assert_allclose(products, factors.T @ (X - center), atol=1e-12)
    np.testing.assert_allclose(squares, np.sum((X - center) ** 2, axis=0), rtol=1e-12)


@pytest.mark.parametrize("missing", [0.0, 0.1])
@pytest.mark.parametrize("kind", KINDS)
def test_without_some_cases_moments_are_those_of_the_others(kind, missing, seed):
    rng = np.random.default_rng(seed)
    X, y, codes, coded = some_table(rng, kind, missing)
    X[:, 2] = 1e4 * (np.arange(N) == 7) + 1e-3 * X[:, 2]  # little is left without a case
    sets = [*LeftOut.each_of(N)[5:9], LeftOut.rows(np.arange(11), N)]
    design = design_of(coded, y)
    for left, moments in zip(sets, adjusted_moments_without(X, design, LABEL, sets), strict=True):
        rest = left.kept
        ours = RealScores.of(moments).rough
        expected = expected_scores(X[rest], coded[rest], codes[rest])
        np.testing.assert_allclose(ours, expected, rtol=1e-10, atol=1e-12)
        anew = moments_of(X[rest], design_of(coded[rest], y[rest]))
        np.testing.assert_allclose(moments.within, anew.within, rtol=1e-9)
        lam, nu = (getattr(moments.geometry, name) for name in ("lam", "nu"))
        np.testing.assert_allclose(lam, anew.geometry.lam, rtol=1e-9)
        np.testing.assert_array_equal(nu, anew.geometry.nu)


@pytest.mark.parametrize("missing", [0.0, 0.1])
@pytest.mark.parametrize("kind", KINDS)
def test_normal_scores_are_adjusted_like_values(kind, missing, seed):
    rng = np.random.default_rng(seed)
    X, y, codes, coded = some_table(rng, kind, missing)
    X[:, 4] = np.round(X[:, 4])
    sets = [LeftOut.rows(np.arange(0), N), LeftOut.rows(np.arange(9), N)]
    each = normal_score_adjusted_moments_without(X, design_of(coded, y), LABEL, sets)
    for left, moments in zip(sets, each, strict=True):
        rest = left.kept
        values = NormalScores.learn(X[rest]).apply(X[rest])
        expected = expected_scores(values, coded[rest], codes[rest])
        np.testing.assert_allclose(RealScores.of(moments).rough, expected, rtol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_covariates_ignored_in_the_score_would_be_noticed(kind, seed):
    """The wrong twin: plain scores of columns that depend on the covariates."""
    X, y, codes, coded = some_table(np.random.default_rng(seed), kind)
    plain = RealScores.of(moments_of(X, design_of(np.ones((N, 1)), y))).rough
    assert np.max(np.abs(plain / expected_scores(X, coded, codes) - 1.0)) > 0.1


@pytest.mark.parametrize("opened", [np.asarray, sparse_columns, dask_columns])
@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_columns_that_covariates_determine_have_the_score_zero(
    kind, compiled, opened, seed, monkeypatch
):
    """Rounding is no variation: such columns are constant given the covariates."""
    if compiled:
        pytest.importorskip("numba")
        monkeypatch.setattr(kernels, "WORTH_COMPILING", 0)
    X, y, _, coded = some_table(np.random.default_rng(seed), kind)
    X[:, 3], X[:, 4], X[:, 5] = coded[:, 0], coded[:, 1], 4.0
    X[:, 6] = 1e5 + coded @ [0.1, 2.0, -3.0]
    scores = RealScores.of(moments_of(opened(X), design_of(coded, y)))
    assert scores.rough[3:7].tolist() == [0.0, 0.0, 0.0, 0.0]
    assert scores.n_varying.tolist() == [P - 4]
    sets = [LeftOut.rows(np.arange(4), N)]
    (without,) = adjusted_moments_without(X, design_of(coded, y), LABEL, sets)
    assert RealScores.of(without).rough[3:7].tolist() == [0.0, 0.0, 0.0, 0.0]


def test_where_covariates_determine_the_class_all_scores_are_zero(seed):
    X, y, _, coded = some_table(np.random.default_rng(seed), "two")
    design = design_of(np.column_stack([coded, y]), y)
    scores = RealScores.of(moments_of(X, design))
    np.testing.assert_array_equal(scores.rough, 0.0)


def test_far_from_zero_nothing_is_lost(seed):
    rng = np.random.default_rng(seed)
    X, y, codes, coded = some_table(rng, "three")
    far = X + 1e8
    ours = RealScores.of(moments_of(far, design_of(coded, y))).rough
    np.testing.assert_allclose(ours, expected_scores(far - 1e8, coded, codes), rtol=1e-9)


def test_equal_columns_have_equal_scores_wherever_they_stand(seed, monkeypatch):
    monkeypatch.setattr(blocks, "_COPY_BYTES", 1)
    X, y, _, coded = some_table(np.random.default_rng(seed), "three")
    X = np.hstack([X, X, X[:, :1]])
    X[5, 71] = np.nan
    X[:, [3, 100, 140]] = X[:, [3]]
    scores = RealScores.of(moments_of(X, design_of(coded, y))).rough
    assert scores[3] == scores[100] == scores[140]


def test_a_column_of_which_too_little_is_known_says_why(seed):
    X, y, _, coded = some_table(np.random.default_rng(seed), "two")
    X[5:, 7] = np.nan
    X[y == 1, 8] = np.nan
    whys = moments_of(X, design_of(coded, y)).reasons()
    expected = {7: TOO_FEW, 8: SAME_RESPONSE}
    assert whys.tolist() == [expected.get(j, SCORED) for j in range(P)]


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_streaming_keeps_the_best(missing, seed, monkeypatch):
    monkeypatch.setattr(blocks, "_COPY_BYTES", 1)
    X, y, codes, coded = some_table(np.random.default_rng(seed), "two", missing)
    best = adjusted_scores(X, design_of(coded, y), LABEL, StreamingSelection(k=5))
    expected = np.argsort(expected_scores(X, coded, codes))[-5:]
    assert set(expected) <= set(best.subset.columns.tolist())
    assert best.n_varying.sum() == P


@pytest.mark.parametrize("kind", KINDS)
def test_a_single_column_with_missing_values_is_not_taken_for_a_complete_one(kind, seed):
    X, y, codes, coded = some_table(np.random.default_rng(seed), kind)
    X[:5, 9] = np.nan
    design = design_of(coded, y)
    one, whole = moments_of(X[:, [9]], design), moments_of(X, design)
    for moments in (one, whole.take(np.array([9]))):
        patterns, which = moments.patterns()
        assert (len(patterns), which.tolist()) == (2, [1])
        assert moments.geometry.n.tolist() == [N - 5]
    together = AdjustedMoments.united([one, moments_of(X[:, :9], design)])
    assert together.geometry.n.tolist() == [N - 5, *[N] * 9]
    expected = expected_scores(X[:, [9, *range(9)]], coded, codes)
    np.testing.assert_allclose(RealScores.of(together).rough, expected, rtol=1e-10)
