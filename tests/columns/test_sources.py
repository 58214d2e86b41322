"""Sparse tables: ones by class, and missing values apart from known ones."""

import numpy as np
import pytest
from scipy import sparse

from unselected.columns.sources import SparseColumns

MAKE = [sparse.csr_array, sparse.csc_array, sparse.csr_matrix, sparse.csc_matrix]


@pytest.mark.parametrize("make", MAKE)
@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int64, np.float32, np.float64])
@pytest.mark.parametrize("n_classes", [2, 3, 4])
def test_ones_are_counted_by_class(n_classes, dtype, make, seed):
    rng = np.random.default_rng(seed)
    X = (rng.random((5000, 12)) < rng.random(12)).astype(dtype)
    y = rng.integers(0, n_classes, size=5000)
    ones = SparseColumns(make(X)).count_ones(y, n_classes)
    expected = [X[y == g].sum(axis=0, dtype=int) for g in range(n_classes)]
    np.testing.assert_array_equal(ones, expected)
    assert ones.dtype.kind == "i"


@pytest.mark.parametrize("make", MAKE)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_missing_values_are_set_apart(dtype, make, seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, size=(30, 8)).astype(dtype)
    X[rng.random(X.shape) < 0.2] = np.nan
    matrix = make(X)
    known, missing = SparseColumns(matrix).split_missing()
    np.testing.assert_array_equal(known[:, :], np.nan_to_num(X))
    np.testing.assert_array_equal(missing[:, :], np.isnan(X))
    assert known.dtype == dtype
    assert missing.is_zero_one
    np.testing.assert_array_equal(matrix.toarray(), X)  # the user's matrix is as it was


@pytest.mark.parametrize("dtype", [bool, np.int8, np.float64])
def test_a_table_without_missing_values_is_not_split(dtype):
    assert SparseColumns(sparse.csr_array(np.eye(3, dtype=dtype))).split_missing() is None
