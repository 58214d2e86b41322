"""A column source without some of its columns, such as those that are covariates."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from unselected._typing import Ints
from unselected.columns.sources import ArrayColumns, ColumnSource, SparseColumns


def without_columns(source: ColumnSource, left_out: Ints) -> ColumnSource:
    """Return a source without some columns, whose numbers are in increasing order.

    Arrays and sparse matrices, which have fast ways of their own, stay what they are.

    >>> table = ArrayColumns(np.eye(3), np.array(["age", "dose", "sex"], dtype=object))
    >>> rest = without_columns(table, np.array([0, 2]))
    >>> rest.names.tolist(), rest[:, :].tolist()
    (['dose'], [[0.0], [1.0], [0.0]])
    """
    columns = np.delete(np.arange(source.shape[1]), left_out)
    names = None if source.names is None else source.names[columns]
    rest: ColumnSource
    if isinstance(source, ArrayColumns):
        rest = ArrayColumns(source.X[:, columns], names)
    elif isinstance(source, SparseColumns):
        rest = SparseColumns(source.matrix[:, columns])
    else:
        rest = _OtherColumns(source, columns)
    rest.names, rest.origin, rest.width = names, source.origin, source.width
    return rest


class _OtherColumns(ColumnSource):
    """The columns of a source that are not left out, read when they are needed."""

    def __init__(self, source: ColumnSource, columns: Ints) -> None:
        self._source, self._columns = source, columns

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self._source.shape[0], self._columns.size

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the values."""
        return self._source.dtype

    def _read(self, columns: slice | Ints) -> NDArray[Any]:
        chosen = self._columns[columns]
        if not isinstance(columns, slice) or chosen.size == 0:
            return self._source[:, chosen]
        # A file gives columns side by side faster than single ones, and few are left out.
        first, last = int(chosen[0]), int(chosen[-1])
        return self._source[:, first : last + 1][:, chosen - first]
