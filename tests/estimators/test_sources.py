"""Every kind of table gives what the plain array gives."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from unselected import (
    SelectiveBernoulliNB,
    SelectiveGaussianNB,
    SelectiveMixtureClassifier,
    SelectiveNaiveRegressor,
)
from unselected.columns import blocks as columns_module
from unselected.columns.sources import ColumnSource
from unselected.experiments import compare


def memory_map(X, tmp_path):
    np.save(tmp_path / "X.npy", X)
    return np.load(tmp_path / "X.npy", mmap_mode="r")


SOURCES = {
    "C order": lambda X, _: np.ascontiguousarray(X),
    "Fortran order": lambda X, _: np.asfortranarray(X),
    "every second row and column": lambda X, _: np.repeat(np.repeat(X, 2, 0), 2, 1)[::2, ::2],
    "memory map": memory_map,
    "Fortran memory map": lambda X, path: memory_map(np.asfortranarray(X), path),
    "csr_array": lambda X, _: sparse.csr_array(X),
    "csc_array": lambda X, _: sparse.csc_array(X),
    "csr_matrix": lambda X, _: sparse.csr_matrix(X),
    "csc_matrix": lambda X, _: sparse.csc_matrix(X),
    "with zeros stored": lambda X, _: stored_zeros(X),
    "in two parts": lambda X, _: in_two_parts(X),
    "pandas": lambda X, _: pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])]),
    "polars": lambda X, _: pl.DataFrame(X, schema=[f"x{j}" for j in range(X.shape[1])]),
}
SPARSE = ["csr_array", "csc_array", "csr_matrix", "csc_matrix", "with zeros stored", "in two parts"]


def stored_zeros(X):
    """A CSR matrix with every value stored."""
    n, p = X.shape
    places = np.tile(np.arange(p), n)
    return sparse.csr_array((X.ravel(), places, np.arange(n + 1) * p), shape=X.shape)


def in_two_parts(X):
    """A CSR matrix that stores x as x - 1 and 1, in this order and unsorted."""
    whole = sparse.csr_array(X)
    rows = np.repeat(np.arange(X.shape[0]), np.diff(whole.indptr))
    one = np.ones_like(whole.data)
    data = np.concatenate([whole.data - one, one])
    places = (np.concatenate([rows, rows]), np.concatenate([whole.indices, whole.indices]))
    order = np.argsort(places[0], kind="stable")
    indptr = np.concatenate([[0], np.cumsum(np.bincount(places[0], minlength=X.shape[0]))])
    return sparse.csr_array((data[order], places[1][order], indptr), shape=X.shape)


def bits(seed, p=400):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(50) % 2)
    X = (rng.random((50, p)) < rng.random(p) * (1 + 0.5 * y[:, None]) * 0.4).astype(np.uint8)
    X[:, 7], X[:, 8] = 0, 1
    return X, y


def some_zeros(seed, p=300):
    """Real values, about half of them 0; a column without zeros, a constant one, an empty one."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(60) % 3)
    X = rng.normal(size=(60, p)) + 0.5 * rng.normal(size=(3, p))[y]
    X[rng.random(X.shape) < 0.5] = 0.0
    X[:, 3] = 1e6 + rng.normal(size=60)
    X[:, 4], X[:, 5] = 2.5, 0.0
    return X, y


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("dtype", [np.uint8, bool, np.int64, np.float32, np.float64])
def test_bits_are_counted_alike_to_the_last_bit(source, dtype, seed, tmp_path):
    if source == "in two parts" and dtype is bool:
        pytest.skip("booleans have no parts")
    X, y = bits(seed)
    plain = SelectiveBernoulliNB(k=15).fit(X, y)
    table = SOURCES[source](X.astype(dtype), tmp_path)
    model = SelectiveBernoulliNB(k=15).fit(table, y)
    np.testing.assert_array_equal(model.selection_.indices, plain.selection_.indices)
    assert model.selection_.event == plain.selection_.event
    np.testing.assert_array_equal(model.predict_log_proba(table), plain.predict_log_proba(X))


@pytest.mark.filterwarnings("ignore:.* three consecutive whole numbers as values")
@pytest.mark.parametrize("source", SOURCES)
def test_counts_are_cut_at_the_same_medians(source, seed, tmp_path):
    rng = np.random.default_rng(seed)
    X, y = rng.poisson(rng.exponential(2.0, size=200), size=(40, 200)), np.arange(40) % 2
    plain = SelectiveBernoulliNB(k=10).fit(X, y)
    model = SelectiveBernoulliNB(k=10).fit(SOURCES[source](X, tmp_path), y)
    np.testing.assert_array_equal(model.binarize_thresholds_, plain.binarize_thresholds_)
    np.testing.assert_array_equal(model.selection_.indices, plain.selection_.indices)
    np.testing.assert_array_equal(
        model.predict_proba(SOURCES[source](X, tmp_path)), plain.predict_proba(X)
    )


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("response", ["classes", "numbers"])
def test_real_values_are_summed_alike(source, response, seed, tmp_path):
    X, y = some_zeros(seed)
    if response == "numbers":
        y = y + X[:, 10] + np.random.default_rng(seed).normal(size=60)
    estimator = SelectiveGaussianNB if response == "classes" else SelectiveNaiveRegressor
    plain = estimator(k=12).fit(X, y)
    table = SOURCES[source](X, tmp_path)
    model = estimator(k=12).fit(table, y)
    np.testing.assert_array_equal(model.selection_.indices, plain.selection_.indices)
    assert model.selection_.event.n_omitted == plain.selection_.event.n_omitted
    np.testing.assert_allclose(model.scores_, plain.scores_, rtol=1e-9)
    method = "predict_proba" if response == "classes" else "predict"
    np.testing.assert_allclose(
        getattr(model, method)(table), getattr(plain, method)(X), rtol=1e-7, atol=1e-9
    )


@pytest.mark.parametrize("source", SPARSE)
@pytest.mark.parametrize("estimator", [SelectiveGaussianNB, SelectiveNaiveRegressor])
def test_missing_and_infinite_values_among_stored_ones(source, estimator, seed, tmp_path):
    X, y = some_zeros(seed)
    X[10, 20] = np.nan
    plain = estimator(k=12).fit(X, y)
    model = estimator(k=12).fit(SOURCES[source](X, tmp_path), y)
    np.testing.assert_array_equal(model.selection_.indices, plain.selection_.indices)
    np.testing.assert_allclose(model.scores_, plain.scores_, rtol=1e-9)
    with pytest.raises(ValueError, match="column 20 has NaN"):
        SelectiveMixtureClassifier(k=3).fit(SOURCES[source](X, tmp_path), y > 0)
    X[11, 21] = np.inf
    with pytest.raises(ValueError, match="column 21 has infinity in row 11"):
        estimator(k=12).fit(SOURCES[source](X, tmp_path), y)
    with pytest.raises(ValueError, match="column 21 has infinity in row 11"):
        model.predict(SOURCES[source](X, tmp_path))


def test_a_sparse_table_is_not_changed_and_stays_sparse(seed):
    X, y = bits(seed)
    table = in_two_parts(X.astype(float))
    before = table.copy()
    model = SelectiveBernoulliNB(k=5).fit(table, y)
    kept = model.transform(sparse.csr_array(X))
    assert sparse.issparse(kept)
    np.testing.assert_array_equal(kept.toarray(), X[:, model.selection_.indices])
    for name in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(table, name), getattr(before, name))
    panel = model.panel()
    np.testing.assert_array_equal(panel.predict_proba(kept), model.predict_proba(X))


def test_other_sparse_formats_are_converted_and_compare_wants_arrays(seed):
    X, y = bits(seed)
    plain = SelectiveBernoulliNB(k=5).fit(X, y).predict_proba(X)
    table = sparse.coo_array(X)
    model = SelectiveBernoulliNB(k=5).fit(table, y)
    np.testing.assert_array_equal(model.predict_proba(table), plain)
    with pytest.raises(TypeError, match=r"pass X\.toarray\(\)"):
        compare(table, y, k=5)


class Recorded(ColumnSource):
    """A source that remembers what was read, and may fail or shrink on the way."""

    origin = "cases.bin"
    width = 10

    def __init__(self, X, *, names=None, fails_at=None, shrinks_at=None):
        self.X, self.names, self.blocks = X, names, []
        self.fails_at, self.shrinks_at = fails_at, shrinks_at

    @property
    def shape(self):
        return self.X.shape

    @property
    def dtype(self):
        return self.X.dtype

    def _read(self, columns):
        self.blocks.append(columns)
        if isinstance(columns, slice) and columns.start == self.fails_at:
            raise OSError("the disk is gone")
        block = self.X[:, columns]
        shrinks = isinstance(columns, slice) and columns.start == self.shrinks_at
        return block[:-1] if shrinks else block


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(columns_module, "_COPY_BYTES", 1)


ESTIMATORS = [SelectiveBernoulliNB, SelectiveGaussianNB, SelectiveNaiveRegressor]


def case_for(estimator, seed):
    if estimator is SelectiveBernoulliNB:
        return bits(seed)
    X, y = some_zeros(seed)
    return X, (y + X[:, 10] if estimator is SelectiveNaiveRegressor else y)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_a_source_is_read_once_in_blocks_and_then_only_where_needed(estimator, seed):
    X, y = case_for(estimator, seed)
    source = Recorded(X)
    plain, model = estimator(k=9).fit(X, y), estimator(k=9).fit(source, y)
    *blocks, kept = source.blocks
    np.testing.assert_array_equal(kept, model.selection_.indices)  # for their ranges
    read = sorted((block.start, block.stop) for block in blocks)
    assert [start for start, _ in read] == list(range(0, X.shape[1], 60))  # whole chunks of 10
    np.testing.assert_array_equal(model.selection_.indices, plain.selection_.indices)
    source.blocks.clear()
    np.testing.assert_array_equal(model.predict(source), plain.predict(X))
    assert len(source.blocks) == 1
    np.testing.assert_array_equal(source.blocks[0], model.selection_.indices)
    np.testing.assert_array_equal(model.transform(source), X[:, model.selection_.indices])


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ({"fails_at": 120}, "cases.bin: columns 120 to 180 cannot be read: the disk is gone"),
        ({"shrinks_at": 60}, "cases.bin: columns 60 to 120 have the shape .* has changed"),
    ],
)
def test_a_source_that_fails_leaves_no_half_fitted_estimator(estimator, fault, message, seed):
    X, y = case_for(estimator, seed)
    fresh, fitted = estimator(k=9), estimator(k=9).fit(X, y)
    before = fitted.predict(X)
    for model in (fresh, fitted):
        with pytest.raises(OSError, match=message):
            model.fit(Recorded(X, **fault), y)
    assert not [name for name in vars(fresh) if name.endswith("_")]
    np.testing.assert_array_equal(fitted.predict(X), before)


def test_names_and_sizes_of_sources_are_checked(seed):
    X, y = bits(seed)
    names = np.array([f"x{j}" for j in range(400)], dtype=object)
    model = SelectiveBernoulliNB(k=4, always_keep=["x7"]).fit(Recorded(X, names=names), y)
    assert "x7" in model.get_feature_names_out()
    with pytest.raises(ValueError, match="has 399 columns, but SelectiveBernoulliNB was fitted"):
        model.predict(Recorded(X[:, :-1]))
    with pytest.raises(ValueError, match="has the column 'x399' where the training table has 'x0'"):
        model.predict(Recorded(X, names=names[::-1]))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        SelectiveBernoulliNB(k=4).fit(Recorded(X), y[:-1])
    with pytest.raises(ValueError, match="a fit needs at least 3"):
        SelectiveNaiveRegressor().fit(Recorded(X[:2]), [1.0, 2.0])
    with pytest.raises(IndexError, match="read by columns"):
        _ = Recorded(X)[:5, :]
