"""Columns without a score, because too few of their values are known."""

from dataclasses import dataclass

import numpy as np

from unselected._typing import Ints

# Why a column has no score, where that is not a class without known values. Classes count from 0.
SCORED, TOO_FEW, SAME_RESPONSE = -1, -2, -3


@dataclass(frozen=True, eq=False)
class Unscored:
    """Columns without a score, which are neither candidates for selection nor part of the event.

    Attributes
    ----------
    columns : array of int
        Their numbers, in increasing order.
    reasons : array of int
        For each, the number of the first class in which none of its values is known; `TOO_FEW`
        where there are too few known values for a variance; `SAME_RESPONSE` where values are known
        only for cases with the same response.
    """

    columns: Ints
    reasons: Ints

    @classmethod
    def none(cls) -> "Unscored":
        """Return the record of a table whose columns all have scores."""
        return cls(np.array([], dtype=np.intp), np.array([], dtype=np.intp))

    @classmethod
    def united(cls, parts: "list[Unscored]") -> "Unscored":
        """Return the record of parts of a table together.

        >>> parts = [Unscored(np.array([7]), np.array([1])), Unscored.none()]
        >>> Unscored.united(parts).columns.tolist()
        [7]
        """
        columns = np.concatenate([part.columns for part in parts])
        order = np.argsort(columns)
        return cls(columns[order], np.concatenate([part.reasons for part in parts])[order])

    def others(self, size: int) -> Ints:
        """Return the columns of a table of that size that have scores.

        >>> Unscored(np.array([1]), np.array([0])).others(3).tolist()
        [0, 2]
        """
        return np.delete(np.arange(size), self.columns)
