"""Where values are missing, and which values are refused."""

import numpy as np
import pytest

from unselected.columns.blocks import find_missing

LABEL = "column {}".format


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_missing_values_are_found_where_they_are_allowed(dtype):
    X = np.array([[0, np.nan], [1, 2]], dtype=dtype)
    np.testing.assert_array_equal(
        find_missing(X, LABEL, missing_allowed=True), [[False, True], [False, False]]
    )
    with pytest.raises(ValueError, match=r"column 1 has NaN .* in row 0"):
        find_missing(X, LABEL, missing_allowed=False)


@pytest.mark.parametrize("missing_allowed", [False, True])
def test_infinity_is_refused_and_huge_values_are_not(missing_allowed):
    X = np.array([[1e308, 1e308], [1e308, -1e308], [-1e308, -1e308]])
    assert find_missing(X, LABEL, missing_allowed=missing_allowed) is None
    X[2, 1] = -np.inf
    with pytest.raises(ValueError, match="column 1 has infinity in row 2"):
        find_missing(X, LABEL, missing_allowed=missing_allowed)


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int64])
def test_whole_numbers_are_never_missing(dtype):
    assert find_missing(np.eye(2, dtype=dtype), LABEL, missing_allowed=True) is None
