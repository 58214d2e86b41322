"""Tables that are not plain arrays, read a few columns at a time.

A source has a shape, a type and columns: ``source[:, columns]`` is a dense array of some of them,
for a slice or an array of columns. No dense copy of the whole table is ever made.
"""

from abc import ABC, abstractmethod
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unselected._typing import Floats, Ints


class SourceError(OSError):
    """Columns of a source cannot be read; the message says which, of what, and why."""


class ColumnSource(ABC):
    """A table whose columns are read when they are needed.

    Attributes
    ----------
    origin : str
        Its name in errors: the name of a file.
    names : array of str of shape (p,), or None
        Names of the columns.
    width : int or None
        Best number of columns to read at a time; None where it does not matter.
    """

    origin: str = "the table"
    names: NDArray[Any] | None = None
    width: int | None = None

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""

    @property
    @abstractmethod
    def dtype(self) -> np.dtype[Any]:
        """The type of the values: booleans, integers or floats."""

    @abstractmethod
    def _read(self, columns: slice | Ints) -> NDArray[Any]:
        """Return some columns as an array of shape (rows, columns)."""

    def __getitem__(self, key: tuple[slice, slice | Ints]) -> NDArray[Any]:
        rows, columns = key
        if rows != slice(None):
            raise IndexError("a source is read by columns: take all of its rows.")
        try:
            block = self._read(columns)
        except Exception as error:
            raise SourceError(
                f"{self.origin}: {_which(columns)} cannot be read: {error}"
            ) from error
        expected = (self.shape[0], _how_many(columns, self.shape[1]))
        if block.shape != expected:
            raise SourceError(
                f"{self.origin}: {_which(columns)} have the shape {block.shape} where {expected} "
                "was expected: the table has changed while it was read."
            )
        return block


def _which(columns: slice | Ints) -> str:
    if isinstance(columns, slice):
        return f"columns {columns.start or 0} to {columns.stop}"
    return f"{len(columns)} columns"


def _how_many(columns: slice | Ints, p: int) -> int:
    return len(range(p)[columns]) if isinstance(columns, slice) else len(columns)


class ArrayColumns(ColumnSource):
    """An array in memory whose columns have names, such as a table read from a file.

    Estimators work on the array itself, and errors refer to columns by name.

    Attributes
    ----------
    X : array of shape (n, p)
        Booleans, integers or floats.

    >>> table = ArrayColumns(np.eye(2), np.array(["age", "dose"], dtype=object))
    >>> table.shape, table[:, 1:].tolist()
    ((2, 2), [[0.0], [1.0]])
    """

    X: NDArray[Any]

    def __init__(self, X: NDArray[Any], names: NDArray[Any] | None) -> None:
        self.X, self.names = X, names

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        n, p = self.X.shape
        return n, p

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the values."""
        return self.X.dtype

    def _read(self, columns: slice | Ints) -> NDArray[Any]:
        return self.X[:, columns]


class SparseColumns(ColumnSource):
    """A scipy sparse matrix or array, CSR or CSC, as a source of columns.

    >>> from scipy import sparse
    >>> source = SparseColumns(sparse.csr_array(np.array([[0, 2, 0], [1, 0, 0]])))
    >>> source.shape, source[:, 1:].tolist(), source.is_zero_one
    ((2, 3), [[2, 0], [0, 0]], False)
    """

    def __init__(self, matrix: Any) -> None:
        if not matrix.has_canonical_format:  # duplicates are summed in a copy, not in the user's
            matrix = matrix.copy()
            matrix.sum_duplicates()
        self.matrix = matrix

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        n, p = self.matrix.shape
        return n, p

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the values."""
        return self.values.dtype

    @property
    def values(self) -> NDArray[Any]:
        """The values that are stored; all others are 0."""
        return np.asarray(self.matrix.data)

    def _read(self, columns: slice | Ints) -> NDArray[Any]:
        # A matrix stored by rows can give a few columns directly, but not all of them in blocks.
        matrix = self._by_column if isinstance(columns, slice) else self.matrix
        return np.asarray(matrix[:, columns].toarray())

    @cached_property
    def _by_column(self) -> Any:
        return self.matrix.tocsc()

    @cached_property
    def is_zero_one(self) -> bool:
        """Whether every value is 0 or 1."""
        values = self.values
        if self.dtype.kind == "b" or bool(np.all(values == 1)):
            return True
        return bool(np.all((values == 0) | (values == 1)))

    @cached_property
    def has_zeros(self) -> NDArray[np.bool_]:
        """Which columns have a value that is not stored, so that 0 is one of their values."""
        stored = self._with_values(np.ones(self.values.size))
        return _products(np.ones(self.shape[0]), stored) < self.shape[0]

    def sums(self, weights: Floats, power: int) -> Floats:
        """Return the sums of powers of each column's values, each times the weight of its case."""
        return _products(weights, self._with_values(self.values.astype(np.float64) ** power))

    def split_missing(self) -> "tuple[SparseColumns, SparseColumns] | None":
        """Return the values with 0 for the missing ones, and 1 where one is missing.

        None where no value is missing.

        >>> from scipy import sparse
        >>> parts = SparseColumns(sparse.csr_array(np.array([[np.nan, 2.0]]))).split_missing()
        >>> [part[:, :].tolist() for part in parts]
        [[[0.0, 2.0]], [[1.0, 0.0]]]
        """
        missing = np.isnan(self.values) if self.dtype.kind == "f" else np.array([], dtype=np.bool_)
        if not missing.any():
            return None
        parts = np.where(missing, 0, self.values), missing.astype(self.dtype)
        known, places = (SparseColumns(self._with_values(values)) for values in parts)
        return known, places

    def count_ones(self, y: NDArray[np.intp], n_classes: int = 2) -> Ints:
        """Return the ones of each column in each class, shape (G, p), of values 0 and 1.

        For two classes one product gives both: a one of class 1 has a weight larger than the number
        of cases. Sums of integers are exact as long as they fit into the digits of the floats.
        """
        n = self.shape[0]
        if n_classes != 2:
            in_class = (y == np.arange(n_classes)[:, np.newaxis]).astype(np.float64)
            numbers = self._with_values(self.values.astype(np.float64))
            return _products(in_class, numbers).astype(np.int64)
        single = (n + 1) ** 2 < 1 << np.finfo(np.float32).nmant
        matrix = self.matrix
        if not (self.dtype == np.float64 or (single and self.dtype == np.float32)):
            matrix = self._with_values(self.values.astype(np.float32 if single else np.float64))
        weights = np.where(y == 1, n + 1, 1).astype(matrix.dtype)
        sums = _products(weights, matrix).astype(np.int32 if single else np.int64)
        return np.stack(np.divmod(sums, n + 1)[::-1])

    def _with_values(self, values: NDArray[Any]) -> Any:
        """Return a matrix with other values in the same places."""
        places = (self.matrix.indices, self.matrix.indptr)
        return type(self.matrix)((values, *places), shape=self.shape)


def _products(weights: NDArray[Any], matrix: Any) -> Floats:
    return np.asarray(weights @ matrix)
