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
        How many columns the table has.
    """

    columns: Ints
    size: int

    @classmethod
    def everyone(cls, size: int) -> "ColumnSubset":
        """Return all columns."""
        return cls(np.arange(size), size)

    def take(self, places: Ints) -> "ColumnSubset":
        """Return those at some places of these."""
        return ColumnSubset(self.columns[places], self.size)

    def places(self, columns: Ints) -> Ints:
        """Return where columns, which must be among these, stand.

        >>> ColumnSubset(np.array([3, 5, 8]), 10).places(np.array([8, 3])).tolist()
        [2, 0]
        """
        return np.searchsorted(self.columns, columns)
