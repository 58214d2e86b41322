"""A source without some of its columns is the source of the others."""

import numpy as np
import pytest
from scipy import sparse

from unselected.columns.sources import ArrayColumns, ColumnSource, SparseColumns
from unselected.columns.without import without_columns

X = np.arange(24.0).reshape(3, 8)
NAMES = np.array(list("abcdefgh"), dtype=object)


class Stored(ColumnSource):
    """A source that remembers what was read."""

    def __init__(self):
        self.names, self.origin, self.width, self.asked = NAMES, "stored.npy", 5, []

    @property
    def shape(self):
        return X.shape

    @property
    def dtype(self):
        return X.dtype

    def _read(self, columns):
        self.asked.append(columns)
        return X[:, columns]


SOURCES = [Stored(), ArrayColumns(X, NAMES), SparseColumns(sparse.csr_array(X))]


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: type(source).__name__)
@pytest.mark.parametrize("left_out", [[], [0], [7], [1, 2, 5]])
def test_all_other_columns_are_there(source, left_out):
    rest = without_columns(source, np.array(left_out, dtype=np.intp))
    expected = np.delete(X, left_out, axis=1)
    assert (rest.shape, rest.dtype) == (expected.shape, X.dtype)
    assert (rest.origin, rest.width) == (source.origin, source.width)
    for columns in (slice(None), slice(1, 4), slice(2, 2), np.array([3, 0]), np.array([], int)):
        np.testing.assert_array_equal(rest[:, columns], expected[:, columns])
    if source.names is not None:
        assert rest.names.tolist() == np.delete(NAMES, left_out).tolist()


def test_arrays_and_sparse_matrices_keep_their_fast_ways():
    for source in SOURCES[1:]:
        assert type(without_columns(source, np.array([1]))) is type(source)


def test_a_block_is_read_as_a_block():
    source = Stored()
    without_columns(source, np.array([2]))[:, 1:4]
    assert source.asked == [slice(1, 5)]
