"""Counts in several classes and with missing values, against the definition."""

import dask.array as da
import hypothesis.strategies as st
import numpy as np
import pytest
from counting_oracle import assert_counts_are, brute_counts
from hypothesis import given, settings
from hypothesis.extra.numpy import arrays
from scipy import sparse

from unselected.columns import blocks
from unselected.columns.dask import DaskColumns
from unselected.columns.sources import SparseColumns
from unselected.numerics import kernels
from unselected.statistics.counting import count_classes, over_counts
from unselected.statistics.counts import ClassCounts

BINARIZE = ["auto", "median", 0.5, -1, None]
# Every way to cut, with two numbers of classes or one.
CUT_CLASSES = [("auto", 2), ("auto", 5), ("median", 3), (0.5, 2), (-1, 5), (None, 2), (None, 3)]
N, P = 40, 60
CHUNKS = {
    "one chunk": (N, P),
    "by columns": (N, 17),
    "by rows": (9, P),
    "by rows and columns": (9, 17),
    "one row": (1, P),
}


def check(X, y, n_classes, binarize, source=None):
    """Count a table, or a source of the same table, and compare with the definition."""
    table = X if source is None else source
    counted = count_classes(table, y, binarize, n_classes=n_classes, missing_allowed=True)
    expected = brute_counts(X, y, n_classes, binarize)
    assert_counts_are(counted, expected, np.bincount(y, minlength=n_classes))
    return counted[0]


def numbers(rng, n, p, binarize="auto", missing=True):
    """Return bits, small counts and real values, some missing, and columns without any value."""
    X = (rng.random((n, p)) < rng.random(p)).astype(float)
    if binarize is not None:
        X[:, ::3] += rng.poisson(1.0, size=X[:, ::3].shape)
        X[:, ::4] = rng.normal(size=X[:, ::4].shape)
        X[:, 1] = 7.0
    if missing:
        X[rng.random(X.shape) < 0.2] = np.nan
        X[:, [2, p - 1]] = np.nan
        X[:, 5] = np.arange(n) % 2  # complete
        X[: n // 2, 8] = np.nan
    return X


def classes(rng, n, n_classes):
    """Return classes of unequal sizes."""
    return rng.permutation(np.minimum(np.arange(n) % (n_classes + 1), n_classes - 1))


@pytest.fixture(params=["plain", "compiled"])
def _engine(request, monkeypatch):
    monkeypatch.setattr(blocks, "_ROW_BYTES", 1 << 6)
    monkeypatch.setattr(blocks, "_COPY_BYTES", 0)
    if request.param == "compiled":
        pytest.importorskip("numba")
        monkeypatch.setattr(kernels, "WORTH_COMPILING", 0)


@pytest.mark.usefixtures("_engine")
@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int8, np.int64, np.float32, np.float64])
@pytest.mark.parametrize(("n", "n_classes"), [(7, 2), (1300, 5)])
def test_bits_of_any_type_and_memory_order(n_classes, n, dtype, memory, seed):
    rng = np.random.default_rng(seed)
    bits = rng.random((n, 150)) < rng.random(150)
    bits[:, 0], bits[:, 1] = True, False  # 1300 ones of five classes do not fit into bytes
    y, X = classes(rng, n, n_classes), memory(bits.astype(dtype))
    before = X.copy()
    for binarize in ("auto", None, 0.5):
        counts = check(X, y, n_classes, binarize)
        assert counts.known is None
        assert counts.ones.dtype == np.min_scalar_type(n)
    np.testing.assert_array_equal(X, before)


@pytest.mark.usefixtures("_engine")
@pytest.mark.parametrize("dtype", [np.uint8, np.int32, np.float64])
@pytest.mark.parametrize(
    ("binarize", "n_classes"), [("auto", 2), ("auto", 4), ("median", 4), (90, 2)]
)
def test_numbers_are_cut_and_counted(binarize, n_classes, dtype, memory, seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 200, size=(41, 150)).astype(dtype)
    X[:, ::3] = X[:, ::3] > 100
    check(memory(X), classes(rng, 41, n_classes), n_classes, binarize)


@pytest.mark.usefixtures("_engine")
@pytest.mark.parametrize(("n", "dtype"), [(8, np.float32), (301, np.float64)])
@pytest.mark.parametrize(("binarize", "n_classes"), CUT_CLASSES)
def test_missing_values_are_left_out(binarize, n_classes, n, dtype, memory, seed):
    rng = np.random.default_rng(seed)
    X = memory(numbers(rng, n, 150, binarize).astype(dtype))
    before = X.copy()
    counts = check(X, classes(rng, n, n_classes), n_classes, binarize)
    assert not counts.ones[:, 2].any()
    assert not counts.known[:, 2].any()
    assert counts.known.dtype == counts.ones.dtype
    np.testing.assert_array_equal(X, before)


VALUES = st.sampled_from([0.0, 1.0, 2.0, -1.5, 7.25, np.nan])


@settings(max_examples=200)
@given(data=st.data(), n_classes=st.integers(2, 5), binarize=st.sampled_from(BINARIZE))
def test_any_small_table(data, n_classes, binarize):
    n = data.draw(st.integers(1, 10))
    elements = st.sampled_from([0.0, 1.0, np.nan]) if binarize is None else VALUES
    X = data.draw(arrays(np.float64, (n, 3), elements=elements))
    y = data.draw(arrays(np.intp, n, elements=st.integers(0, n_classes - 1)))
    check(X, y, n_classes, binarize)
    check(X, y, n_classes, binarize, SparseColumns(sparse.csr_array(X)))


def test_one_value_in_the_middle_is_the_median_however_large():
    """The mean of it and itself would be infinite."""
    X = np.array([[1e308, 1e308], [np.nan, 0.0], [0.0, 1e308], [1e308, np.nan]])
    check(X, np.array([0, 1, 1, 0]), 2, "median")


def test_a_column_mostly_at_its_largest_value_is_cut_below_it():
    """Also where that is negative, so that what stands for missing values must not be larger."""
    X = np.array([[-3.0], [np.nan], [-2.0], [-2.0], [-2.0]])
    counts = check(X, np.array([0, 1, 1, 2, 2]), 3, "auto")
    assert counts.ones.tolist() == [[0], [1], [2]]


def test_a_class_without_cases_has_no_ones(seed):
    rng = np.random.default_rng(seed)
    X, y = numbers(rng, 30, P), np.array([0, 2, 3]).repeat(10)
    counts = check(X, y, 5, "auto")
    assert counts.sizes.tolist() == [10, 0, 10, 10, 0]
    assert not counts.known[[1, 4]].any()


TABLES = {
    "C": np.ascontiguousarray,
    "F": np.asfortranarray,
    "CSR": lambda X: SparseColumns(sparse.csr_array(X)),
    "CSC": lambda X: SparseColumns(sparse.csc_array(X)),
}


def as_it_is(counted, subset):
    return counted, subset


@pytest.mark.parametrize("table", TABLES)
def test_blocks_have_known_numbers_only_where_a_value_is_missing(table, monkeypatch, seed):
    monkeypatch.setattr(blocks, "_COPY_BYTES", 0)  # 64 columns a block ...
    monkeypatch.setattr(blocks, "_ROW_BYTES", 64 * 8)  # ... also of stored counts
    rng = np.random.default_rng(seed)
    X, y = numbers(rng, N, 200, None, missing=False), np.arange(N) % 3
    X[3, 70], X[:, 190] = np.nan, np.nan
    allowed = {"n_classes": 3, "missing_allowed": True}
    parts = list(over_counts(TABLES[table](X), y, None, str, as_it_is, **allowed))
    assert [subset.columns[0] for _, subset in parts] == [0, 64, 128, 192]
    counts = [counted.counts for counted, _ in parts]
    assert [part.known is not None for part in counts] == [False, True, True, False]
    together = ClassCounts.united(counts)
    ones, known, _ = brute_counts(X, y, 3, None)
    np.testing.assert_array_equal(together.ones, ones)
    np.testing.assert_array_equal(together.known, known)


@pytest.mark.parametrize("table", TABLES)
def test_columns_of_three_steps_may_have_missing_values(table):
    X = np.full((9, 6), np.nan)
    X[:3] = [[0, 0, 1, 0.5, 0, -1], [1, 2, 2, 1.5, 1, 0], [2, 0, 3, 2.5, 1, 1]]
    ((counted, _),) = over_counts(
        TABLES[table](X), np.arange(9) % 2, "auto", str, as_it_is, missing_allowed=True
    )
    assert counted.n_three_steps == 3  # the first, the third and the last


@pytest.mark.parametrize(
    ("make", "dtype"),
    [
        (sparse.csr_array, np.float32),
        (sparse.csr_array, np.float64),
        (sparse.csc_array, np.float32),
        (sparse.csc_array, np.float64),
        (sparse.csr_matrix, np.float64),
    ],
)
@pytest.mark.parametrize(("binarize", "n_classes"), CUT_CLASSES)
def test_sparse_tables(binarize, n_classes, dtype, make, seed):
    rng = np.random.default_rng(seed)
    y = classes(rng, N, n_classes)
    for missing in (False, True):
        X = numbers(rng, N, P, binarize, missing).astype(dtype)
        check(X, y, n_classes, binarize, SparseColumns(make(X)))


@pytest.mark.parametrize("make", [sparse.csr_array, sparse.csc_array])
@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int64, np.float32])
@pytest.mark.parametrize("n_classes", [2, 5])
def test_sparse_bits_of_any_type(n_classes, dtype, make, seed):
    rng = np.random.default_rng(seed)
    X = (rng.random((600, P)) < rng.random(P)).astype(dtype)
    check(X, classes(rng, 600, n_classes), n_classes, "auto", SparseColumns(make(X)))


@pytest.mark.parametrize("chunks", CHUNKS)
@pytest.mark.parametrize(
    ("binarize", "n_classes"), [("auto", 4), ("median", 2), (0.5, 4), (-1, 2), (None, 4)]
)
def test_dask_arrays(binarize, n_classes, chunks, seed):
    rng = np.random.default_rng(seed)
    y = classes(rng, N, n_classes)
    for X in (
        numbers(rng, N, P, binarize, missing=False),
        numbers(rng, N, P, binarize),
        rng.integers(0, 2, size=(N, P), dtype=np.uint8),
    ):
        source = DaskColumns(da.from_array(X, chunks=CHUNKS[chunks]))
        check(X, y, n_classes, binarize, source)


def test_row_chunks_with_missing_bits_are_added_up_where_they_are(monkeypatch, seed):
    """Only columns that need a median are brought together."""
    rng = np.random.default_rng(seed)
    X, y = numbers(rng, N, P, None), np.arange(N) % 3
    X[:, 40] = rng.normal(size=N)
    X[3, 40] = np.nan
    source = DaskColumns(da.from_array(X, chunks=(9, 17)))
    taken = []
    take = DaskColumns.take_chunks

    def noted(self, which):
        taken.append(which)
        return take(self, which)

    monkeypatch.setattr(DaskColumns, "take_chunks", noted)
    check(X, y, 3, "auto", source)
    assert taken == [[2]]  # columns 34 to 50


SOURCES = {
    "array": lambda X: X,
    "sparse": lambda X: SparseColumns(sparse.csr_array(X)),
    "dask": lambda X: DaskColumns(da.from_array(X, chunks=(9, 17))),
}


@pytest.mark.parametrize("binarize", BINARIZE)
@pytest.mark.parametrize("source", SOURCES)
def test_missing_values_are_an_error_unless_allowed(source, binarize):
    X = np.zeros((N, P))
    X[31, 20] = np.nan
    y = np.arange(N) % 3
    with pytest.raises(ValueError, match=r"column 20 has NaN \(a missing value\) in row 31"):
        count_classes(SOURCES[source](X), y, binarize, n_classes=3)


@pytest.mark.parametrize("binarize", BINARIZE)
@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_infinity_is_always_an_error(value, source, binarize):
    X = np.zeros((N, P))
    X[31, 20], X[2, 3] = value, np.nan
    y = np.arange(N) % 2
    with pytest.raises(ValueError, match="column 20 has infinity in row 31"):
        count_classes(SOURCES[source](X), y, binarize, missing_allowed=True)


@pytest.mark.parametrize("source", SOURCES)
def test_binarize_none_names_a_number_beside_missing_values(source):
    X = np.zeros((N, P))
    X[0, 20], X[31, 20] = np.nan, 3.0
    with pytest.raises(ValueError, match=r"column 20 has the value 3\.0 in row 31, but binarize"):
        count_classes(SOURCES[source](X), np.arange(N) % 2, None, missing_allowed=True)
