"""The compiled scan of a table of 0 and 1 finds what plain numpy finds."""

import numpy as np
import pytest

from unselected import SelectiveClassifier
from unselected.columns import blocks
from unselected.numerics import kernels
from unselected.selection import pair_scan
from unselected.selection.leaving_out import family_scores_without
from unselected.selection.pair_scan import PairScan
from unselected.selection.streaming import StreamingSelection
from unselected.statistics.leaving_out import LeftOut

pytest.importorskip("numba")

NOTHING = np.array([], dtype=np.intp)


@pytest.fixture(autouse=True)
def _small_parts(monkeypatch):
    monkeypatch.setattr(pair_scan, "_TOGETHER", 64)
    monkeypatch.setattr(blocks, "_n_threads", lambda: 2)


def folds(y, n_divisions, rng, out=NOTHING):
    """Return all cases but some, and these without each of five folds, in some divisions."""
    sets, rest = [LeftOut.rows(out, y.size)], np.setdiff1d(np.arange(y.size), out)
    for _ in range(n_divisions):
        fold_of = rng.permutation(rest.size) % 5
        sets += [LeftOut.rows(np.union1d(out, rest[fold_of == f]), y.size) for f in range(5)]
    return sets


def scores(X, y, sets, k, monkeypatch, *, compiled):
    monkeypatch.setattr(kernels, "WORTH_COMPILING", 0 if compiled else 10**12)
    (found,) = family_scores_without(
        X, y, 2, str, sets, lambda: StreamingSelection(k), ("raw",), lambda c: c.astype(np.uint64)
    )
    return [each.binary for each in found]


def assert_same(ours, expected):
    for one, other in zip(ours, expected, strict=True):
        np.testing.assert_array_equal(one.subset.columns, other.subset.columns)
        np.testing.assert_array_equal(one.counts.ones, other.counts.ones)
        assert one.counts.ones.dtype == other.counts.ones.dtype
        np.testing.assert_array_equal(one.counts.sizes, other.counts.sizes)
        np.testing.assert_array_equal(one.counted.cuts, other.counted.cuts)
        np.testing.assert_array_equal(one.rough, other.rough)
        for name in ("sizes", "totals", "n_columns"):
            pair = getattr(one.tally, name), getattr(other.tally, name)
            np.testing.assert_array_equal(*pair)
        assert one.size == other.size
        assert not one.unscored.columns.size


@pytest.mark.parametrize("dtype", [np.uint8, bool, np.int8])
@pytest.mark.parametrize("k", [1, 7, 150])
@pytest.mark.parametrize("n", [20, 41, 300])  # counts are bytes or words
def test_the_scan_finds_what_plain_numpy_finds(n, k, dtype, seed, monkeypatch):
    rng = np.random.default_rng(seed)
    X = (rng.random((n, 1500)) < rng.random(1500)).astype(dtype)
    y = rng.permutation(np.arange(n) % 3 == 0).astype(np.intp)
    sets = folds(y, 3, rng, out=np.array([0, 5]) if k == 7 else NOTHING)
    ours, expected = (
        scores(X, y, sets, k, monkeypatch, compiled=compiled) for compiled in (True, False)
    )
    assert_same(ours, expected)


def test_counts_without_a_fold_are_direct_counts(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, size=(30, 700), dtype=np.uint8)
    y = np.arange(30) % 2
    sets = folds(y, 2, rng)
    for left, found in zip(sets, scores(X, y, sets, 10, monkeypatch, compiled=True), strict=True):
        rest, own = X[left.kept], y[left.kept]
        direct = np.stack([rest[own == g].sum(axis=0, dtype=np.int64) for g in range(2)])
        np.testing.assert_array_equal(found.counts.ones, direct[:, found.subset.columns])
        totals = np.bincount(direct.sum(axis=0), minlength=31)
        np.testing.assert_array_equal(found.tally.n_columns, totals[found.tally.totals])
        assert found.tally.n_columns.sum() == 700


@pytest.mark.parametrize("k", [3, 400])
def test_all_ties_at_the_cut_are_found(k, seed, monkeypatch):
    """Columns are copies of few, and most are constant: many scores are equal, or 0."""
    rng = np.random.default_rng(seed)
    few = rng.integers(0, 2, size=(24, 9), dtype=np.uint8)
    few[:, 4:] = 0
    X, y = few.take(rng.integers(0, 9, size=1100), axis=1), np.arange(24) % 2
    sets = folds(y, 1, rng)
    assert PairScan.of(X, y, sets, k, kernels.kernels_for_scan(10**9)) is not None
    ours, expected = (
        scores(X, y, sets, k, monkeypatch, compiled=compiled) for compiled in (True, False)
    )
    assert_same(ours, expected)
    assert max(one.subset.columns.size for one in ours) > k


def test_constant_columns_among_the_best_are_found_where_sets_have_other_sizes(seed, monkeypatch):
    """The smaller sets have fewer pairs of counts: what stands behind these says nothing."""
    rng = np.random.default_rng(seed)
    X, y = np.zeros((24, 1100), dtype=np.uint8), np.arange(24) % 2
    X[:, rng.choice(1100, size=20, replace=False)] = rng.integers(0, 2, size=(24, 20))
    sets = folds(y, 1, rng)
    ours, expected = (
        scores(X, y, sets, 40, monkeypatch, compiled=compiled) for compiled in (True, False)
    )
    assert_same(ours, expected)


@pytest.mark.parametrize("kind", ["uneven", "copies", "constant"])
@pytest.mark.parametrize("n", [24, 300])
@pytest.mark.parametrize("among_best", [False, True])
def test_likely_columns_change_nothing(among_best, n, kind, seed, monkeypatch):
    """They bound the scores of the best, whichever they are."""
    rng, k = np.random.default_rng(seed), 12
    X, y = (rng.random((n, 900)) < rng.random(900)).astype(np.uint8), np.arange(n) % 2
    if kind == "copies":
        X = np.ascontiguousarray(X[:, rng.integers(0, 20, size=900)])
    elif kind == "constant":
        X[:, rng.permutation(900)[:895]] = 1
    sets, compiled = folds(y, 2, rng), kernels.kernels_for_scan(10**9)
    expected = scores(X, y, sets, k, monkeypatch, compiled=False)
    best = np.argsort(-np.abs(np.corrcoef(X.T + 1e-9 * rng.random((900, n)), y)[-1, :-1]))
    likely = best[:40] if among_best else best[-40:]
    for some in (likely, likely[: k - 1], likely[:k]):
        scan = PairScan.of(X, y, sets, k, compiled, some)
        assert (scan.likely is None) == (some.size < k)
        assert_same(scan.scores(), expected)


def test_likely_columns_that_are_no_bits_are_noticed():
    X, y = np.eye(8, 300, dtype=np.uint8), np.arange(8) % 2
    X[3, 1] = 7
    sets = [LeftOut.rows(np.array([row]), 8) for row in range(3)]
    scan = PairScan.of(X, y, sets, 2, kernels.kernels_for_scan(10**9), np.arange(4))
    assert scan.scores() is None


@pytest.mark.parametrize("sizes", [(5, 7), (6, 6)])
@pytest.mark.parametrize("left", [(2, 1), (0, 3), (3, 0)])
def test_no_score_without_cases_exceeds_the_bound_by_all_counts(sizes, left):
    rest = (sizes[0] - left[0], sizes[1] - left[1])
    best = pair_scan._best_without(sizes, rest).reshape(sizes[0] + 1, sizes[1] + 1)
    for ones in np.ndindex(best.shape):
        possible = [
            range(max(0, one - out), min(one, own) + 1)
            for one, out, own in zip(ones, left, rest, strict=True)
        ]
        pairs = np.array(np.meshgrid(*possible)).reshape(2, -1)
        assert best[ones] == pair_scan.cor_squared(*pairs, *rest).max()


def test_fewer_columns_than_are_kept_are_all_found(monkeypatch):
    X, y = np.eye(8, 100, dtype=np.uint8), np.arange(8) % 2
    sets = [LeftOut.rows(np.array([row]), 8) for row in range(3)]
    ours = scores(X, y, sets, 101, monkeypatch, compiled=True)
    assert all(one.subset.columns.size == 100 for one in ours)


@pytest.mark.parametrize("value", [2, 255])
@pytest.mark.parametrize("column", [0, 1299])
def test_other_bytes_are_noticed(value, column, seed):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, 2, size=(20, 1300), dtype=np.uint8), np.arange(20) % 2
    scan = PairScan.of(X, y, folds(y, 1, rng), 5, kernels.kernels_for_scan(10**9))
    assert scan is not None
    assert scan.scores() is not None
    X[7, column] = value
    assert scan.scores() is None


def test_tables_that_are_read_in_another_way():
    X, y, sets = np.eye(8, 20, dtype=np.uint8), np.arange(8) % 2, [LeftOut.rows(NOTHING, 8)]
    compiled = kernels.kernels_for_scan(10**9)
    assert PairScan.of(X, y, sets, 3, compiled) is not None
    assert PairScan.of(X, y, sets, 3, None) is None
    assert PairScan.of(X, y, sets, None, compiled) is None
    assert PairScan.of(X, np.arange(8) % 3, sets, 3, compiled) is None
    assert PairScan.of(X.astype(float), y, sets, 3, compiled) is None
    assert PairScan.of(np.asfortranarray(X), y, sets, 3, compiled) is None
    many = np.zeros((600, 4), dtype=np.uint8)
    everyone = [LeftOut.rows(NOTHING, 600)]
    assert PairScan.of(many, np.arange(600) % 2, everyone, 3, compiled) is None


def test_the_front_door_predicts_the_same(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, 2, size=(40, 900), dtype=np.uint8), np.arange(40) % 2
    X[:, :9] |= (y[:, np.newaxis] & (rng.random((40, 9)) < 0.5)).astype(np.uint8)
    models = []
    for worth in (0, 10**12):
        monkeypatch.setattr(kernels, "WORTH_COMPILING", worth)
        models.append(SelectiveClassifier(k=30).fit(X, y))
    ours, expected = (model.predict_proba(X) for model in models)
    np.testing.assert_array_equal(ours, expected)
