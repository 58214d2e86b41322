"""Some of the columns of a table."""

from dataclasses import dataclass

import numpy as np

from unselected._typing import Ints


@dataclass(frozen=True, eq=False)
class ColumnSubset:
    """Some of the columns of a table.

    Attributes
    ----------
    columns : array of int
        Their numbers, in increasing order.
    size : int
        Number of columns of the table.
    """

    columns: Ints
    size: int

    @classmethod
    def everyone(cls, size: int) -> "ColumnSubset":
        """Return all columns."""
        return cls(np.arange(size), size)

    def take(self, places: Ints) -> "ColumnSubset":
        """Return the columns at some positions of this subset."""
        return ColumnSubset(self.columns[places], self.size)

    def places(self, columns: Ints) -> Ints:
        """Return the positions of columns, which must be in this subset.

        >>> ColumnSubset(np.array([3, 5, 8]), 10).places(np.array([8, 3])).tolist()
        [2, 0]
        """
        return np.searchsorted(self.columns, columns)
