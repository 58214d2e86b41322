import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis.extra.numpy import arrays

from unselected.columns import blocks
from unselected.statistics.binarizing import binarize_columns
from unselected.statistics.counting import count_classes


def plain_counts(bits, y):
    return bits[y == 0].sum(axis=0), bits[y == 1].sum(axis=0)


def assert_counts(X, y, binarize, bits):
    counts, thresholds = count_classes(X, y, binarize)
    I0, I1 = plain_counts(bits.astype(int), y)
    np.testing.assert_array_equal(counts.I0, I0)
    np.testing.assert_array_equal(counts.I1, I1)
    assert (counts.n0, counts.n1) == (np.sum(y == 0), np.sum(y == 1))
    np.testing.assert_array_equal(X > thresholds, bits)
    return thresholds


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int8, np.int64, np.float32, np.float64])
@pytest.mark.parametrize("n", [3, 254, 255, 256, 700])
def test_bits_are_counted_in_any_type_and_memory_order(dtype, n, memory, monkeypatch, seed):
    monkeypatch.setattr(blocks, "_ROW_BYTES", 7)
    monkeypatch.setattr(blocks, "_COPY_BYTES", 0)
    rng = np.random.default_rng(seed)
    bits = rng.random((n, 150)) < rng.random(150)
    bits[:, 0], bits[:, 1] = True, False  # 700 ones do not fit into a byte
    y = rng.permutation(np.arange(n) % 3 == 0).astype(int)
    X = memory(bits.astype(dtype))
    before = X.copy()
    thresholds = assert_counts(X, y, "auto", bits)
    assert np.all(thresholds == 0.5)
    assert_counts(X, y, None, bits)
    assert_counts(X, y, 0.5, bits)
    np.testing.assert_array_equal(X, before)


@pytest.mark.parametrize("dtype", [np.uint8, np.int32, np.float64])
def test_auto_cuts_only_the_columns_that_are_not_bits(dtype, memory, seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 200, size=(41, 30)).astype(dtype)
    X[:, ::3] = X[:, ::3] > 100
    cuts = np.where(np.arange(30) % 3 == 0, 0.5, np.median(X, axis=0))
    thresholds = assert_counts(memory(X), np.arange(41) % 2, "auto", cuts < X)
    np.testing.assert_array_equal(thresholds, cuts)


def test_median_of_bits_loses_nothing():
    """A column that is mostly 1 has the median 1, above which there is nothing."""
    X = np.array([[0, 1, 1, 5], [1, 1, 0, 5], [1, 0, 0, 5]], dtype=float)
    assert_counts(X, np.array([0, 1, 1]), "median", np.array(X == 1))


def test_a_column_mostly_at_its_largest_value_is_cut_below_it():
    X = np.array([[-3.0], [2.0], [2.0], [2.0], [1.0]])
    thresholds = assert_counts(X, np.array([0, 1, 1, 0, 1]), "auto", X == 2)
    assert thresholds.tolist() == [1.0]


@settings(max_examples=50)
@given(
    X=arrays(
        np.float64, st.tuples(st.integers(2, 9), st.integers(1, 5)), elements=st.floats(-9, 9)
    ),
    binarize=st.sampled_from(["auto", "median", 0.0, -2.5, 3]),
)
def test_new_rows_are_cut_where_training_rows_were(X, binarize):
    y = np.arange(len(X)) % 2
    counts, thresholds = count_classes(X, y, binarize)
    bits = binarize_columns(X, thresholds, binarize, str)
    I0, I1 = plain_counts(bits.astype(int), y)
    np.testing.assert_array_equal(counts.I0, I0)
    np.testing.assert_array_equal(counts.I1, I1)


def test_thresholds_come_from_training_rows():
    X = np.array([[1.0], [2.0], [3.0]])
    _, thresholds = count_classes(X, np.array([0, 1, 1]), "auto")
    assert binarize_columns(np.array([[1.9], [2.1]]), thresholds, "auto", str).tolist() == [
        [False],
        [True],
    ]


@pytest.mark.parametrize("dtype", [np.uint8, np.int64, np.float64])
def test_binarize_none_names_the_first_offender(dtype):
    X = np.zeros((4, 5), dtype=dtype)
    X[3, 2], X[1, 4] = 7, 9
    with pytest.raises(
        ValueError, match=r"column 2 has the value 7(\.0)? in row 3, but binarize=None"
    ):
        count_classes(X, np.array([0, 1, 0, 1]), None)
    with pytest.raises(
        ValueError, match=r"column 2 has the value 7(\.0)? in row 3, but binarize=None"
    ):
        binarize_columns(X, np.full(5, 0.5), None, "column {}".format)


@pytest.mark.parametrize(("value", "what"), [(np.nan, "NaN"), (np.inf, "infinity")])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_values_that_are_no_numbers_are_named(value, what, dtype, monkeypatch):
    monkeypatch.setattr(blocks, "_COPY_BYTES", 0)
    X = np.zeros((300, 100), dtype=dtype)
    X[255, 77] = value
    with pytest.raises(ValueError, match=f"column 77 has {what}.* in row 255"):
        count_classes(X, np.arange(300) % 2, "auto")


def test_huge_values_are_not_mistaken_for_infinity():
    X = np.full((5, 2), 1e308)
    X[0] = 0
    counts, _ = count_classes(X, np.array([0, 0, 1, 1, 1]), "auto")
    assert counts.I0.tolist() == [1, 1]


def test_new_rows_keep_their_missing_values():
    X = np.array([[0.0, np.nan, 3.0], [1.0, 0.0, np.nan]])
    cuts = np.array([0.5, 0.5, 2.0])
    bits = binarize_columns(X, cuts, "auto", str, missing_allowed=True)
    assert bits.dtype == np.float64
    np.testing.assert_array_equal(bits, [[0.0, np.nan, 1.0], [1.0, 0.0, np.nan]])
    two = binarize_columns(X[:, :2], cuts[:2], None, str, missing_allowed=True)
    np.testing.assert_array_equal(two, bits[:, :2])


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.float32])
def test_new_rows_without_missing_values_are_booleans(dtype):
    X = np.array([[0, 1], [1, 1]]).astype(dtype)
    bits = binarize_columns(X, np.full(2, 0.5), None, str, missing_allowed=True)
    assert bits.dtype == np.bool_
    np.testing.assert_array_equal(bits, X == 1)


def test_new_rows_are_refused_what_training_rows_are():
    X, cuts = np.array([[0.0, 1.0], [np.nan, 1.0]]), np.full(2, 0.5)
    with pytest.raises(ValueError, match="column 0 has NaN"):
        binarize_columns(X, cuts, "auto", "column {}".format)
    X[0, 1] = np.inf
    with pytest.raises(ValueError, match="column 1 has infinity in row 0"):
        binarize_columns(X, cuts, "auto", "column {}".format, missing_allowed=True)
    X[0, 1] = 4
    with pytest.raises(ValueError, match=r"column 1 has the value 4\.0 in row 0"):
        binarize_columns(X, cuts, None, "column {}".format, missing_allowed=True)
