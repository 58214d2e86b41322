"""How many columns of a table have which numbers of known values, and which totals."""

from dataclasses import dataclass

import numpy as np

from unselected._typing import Ints
from unselected.statistics.counts import ClassCounts

# The total of columns whose totals are not told apart.
ANY_TOTAL = -1


@dataclass(frozen=True, eq=False)
class Tally:
    """Numbers of columns by kind.

    Attributes
    ----------
    sizes : array of shape (kinds, G)
        The numbers of known values in each class.
    totals : array of shape (kinds,)
        The number of ones in all classes together, or `ANY_TOTAL`.
    n_columns : array of shape (kinds,)
    """

    sizes: Ints
    totals: Ints
    n_columns: Ints

    @classmethod
    def of(cls, counts: ClassCounts, *, by_total: bool) -> "Tally":
        """Count the columns of each kind.

        >>> counts = ClassCounts.of_two(np.array([0, 1, 1]), np.array([2, 1, 0]), 2, 2)
        >>> Tally.of(counts, by_total=True).totals.tolist()
        [1, 2]
        >>> Tally.of(counts, by_total=False).n_columns.tolist()
        [3]
        """
        if counts.known is None:
            if not by_total:
                return cls(counts.sizes[np.newaxis], np.array([ANY_TOTAL]), _n(counts))
            return cls.of_totals(counts.sizes, np.bincount(counts.totals, minlength=1))
        totals = counts.totals if by_total else np.full(counts.n_columns, ANY_TOTAL)
        rows = np.column_stack([counts.known.T.astype(np.int64), totals])
        return cls._distinct(rows, np.ones(len(rows), dtype=np.int64))

    @classmethod
    def of_totals(cls, sizes: Ints, histogram: Ints) -> "Tally":
        """Return the tally of columns without missing values from how many have each total."""
        totals = np.flatnonzero(histogram)
        return cls(np.broadcast_to(sizes, (totals.size, sizes.size)), totals, histogram[totals])

    @classmethod
    def united(cls, parts: "list[Tally]") -> "Tally":
        """Return the tally of parts of a table together."""
        rows = np.concatenate([np.column_stack([part.sizes, part.totals]) for part in parts])
        return cls._distinct(rows, np.concatenate([part.n_columns for part in parts]))

    @classmethod
    def _distinct(cls, rows: Ints, n_columns: Ints) -> "Tally":
        if np.all(rows[:, :-1] == rows[:1, :-1]):  # faster than sorting rows
            totals, where = np.unique(rows[:, -1], return_inverse=True)
            distinct = np.column_stack([np.repeat(rows[:1, :-1], totals.size, axis=0), totals])
        else:
            distinct, where = np.unique(rows, axis=0, return_inverse=True)
        total = np.zeros(len(distinct), dtype=np.int64)
        np.add.at(total, where.ravel(), n_columns)
        some = total != 0
        return cls(distinct[some, :-1], distinct[some, -1], total[some])

    def without(self, other: "Tally") -> "Tally":
        """Return the tally without the columns of another, which are among these."""
        if self._tells_totals_alone(other):
            left = self._histogram()
            left[other.totals] -= other.n_columns
            return Tally.of_totals(self.sizes[0], left)
        return Tally.united([self, Tally(other.sizes, other.totals, -other.n_columns)])

    def matched(self, other: "Tally") -> Ints:
        """Return the numbers of columns of another tally, in the order of the kinds of this one."""
        if self._tells_totals_alone(other):
            return np.asarray(other._histogram()[self.totals])
        n_columns = dict(zip(other._keys(), other.n_columns.tolist(), strict=True))
        return np.array([n_columns.get(key, 0) for key in self._keys()], dtype=np.int64)

    def _tells_totals_alone(self, other: "Tally") -> bool:
        """Say whether all kinds of both differ in their totals alone, which is faster."""
        if not (self.totals.size and other.totals.size):
            return False
        sizes, given = self.sizes[0], min(self.totals[0], other.totals[0]) != ANY_TOTAL
        return bool(given and all(np.all(each.sizes == sizes) for each in (self, other)))

    def _histogram(self) -> Ints:
        """Return the numbers of columns of kinds that differ in their totals alone."""
        numbers = np.zeros(int(self.sizes[0].sum()) + 1, dtype=np.int64)
        numbers[self.totals] = self.n_columns
        return numbers

    def _keys(self) -> list[tuple[int, ...]]:
        return [tuple(row) for row in np.column_stack([self.sizes, self.totals]).tolist()]

    def by_total_alone(self, sizes: Ints) -> Ints | None:
        """Return the numbers of columns by total, 0 and on; None where not all are complete.

        >>> counts = ClassCounts.of_two(np.array([0, 1, 1]), np.array([2, 1, 0]), 2, 2)
        >>> Tally.of(counts, by_total=True).by_total_alone(counts.sizes).tolist()
        [0, 1, 2, 0, 0]
        """
        if not self.totals.size or np.any(self.totals == ANY_TOTAL) or np.any(self.sizes != sizes):
            return None
        return self._histogram()

    def tells_apart(self, sizes: Ints) -> bool:
        """Say whether any column differs from a complete one whose total is not looked at."""
        return bool(np.any(self.totals != ANY_TOTAL) or np.any(self.sizes != sizes))


def _n(counts: ClassCounts) -> Ints:
    return np.array([counts.n_columns])
