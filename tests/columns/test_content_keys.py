"""Keys of rows and columns depend on their content alone."""

import numpy as np
import pytest

from unselected.columns.content_keys import column_keys, row_keys


def table(seed, n=30, k=40):
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((n, k)) < 0.5, rng.integers(0, 2, (n, k)), rng.normal(size=(n, k)))
    X[rng.random((n, k)) < 0.05] = np.nan
    return X


@pytest.mark.parametrize("seed", range(3))
def test_keys_follow_rows_and_columns_however_they_are_ordered(seed):
    X, rng = table(seed), np.random.default_rng(seed)
    rows, columns = rng.permutation(len(X)), rng.permutation(X.shape[1])
    keys = row_keys(X)
    moved = row_keys(X[np.ix_(rows, columns)])
    np.testing.assert_array_equal(moved, keys[rows])
    of_columns = column_keys(X, keys)
    np.testing.assert_array_equal(column_keys(X[np.ix_(rows, columns)], moved), of_columns[columns])


def test_other_content_has_other_keys():
    X = np.random.default_rng(0).integers(0, 2, (40, 60))
    assert np.unique(row_keys(X)).size == np.unique(X, axis=0).shape[0]
    keys = column_keys(X, row_keys(X))
    assert np.unique(keys).size == np.unique(X, axis=1).shape[1]


def test_columns_with_equal_totals_are_told_apart_and_equal_ones_are_not():
    X = np.array([[1, 0, 1], [0, 1, 0], [0, 0, 0], [1, 1, 1]])
    X = np.hstack([X, np.arange(4)[:, np.newaxis]])
    first, second, third, _ = column_keys(X, row_keys(X)).tolist()
    assert first == third != second


def test_a_number_has_one_key_whatever_its_type():
    X = np.random.default_rng(0).integers(0, 2, (10, 5))
    np.testing.assert_array_equal(row_keys(X.astype(bool)), row_keys(X.astype(np.float32)))
    np.testing.assert_array_equal(row_keys(-0.0 * X), row_keys(0.0 * X))


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, bool])
@pytest.mark.parametrize("shape", [(10, 5), (1, 7), (6, 0)])
def test_bytes_of_0_and_1_have_the_keys_of_these_numbers(dtype, shape, seed):
    X = np.random.default_rng(seed).integers(0, 2, shape).astype(dtype)
    keys = row_keys(X)
    np.testing.assert_array_equal(keys, row_keys(X.astype(np.float64)))
    np.testing.assert_array_equal(column_keys(X, keys), column_keys(X.astype(np.int64), keys))


def test_other_bytes_have_the_keys_of_their_numbers():
    X = np.array([[0, 1, -1], [1, 2, 0]], dtype=np.int8)
    np.testing.assert_array_equal(row_keys(X), row_keys(X.astype(np.float64)))
