"""Counts of ones by class, and where the columns were cut."""

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from unselected._typing import Floats, Ints


@dataclass(frozen=True)
class ClassCounts:
    """For each column, the numbers of ones I0 and I1 among the n0 and n1 cases of the classes."""

    I0: NDArray[Any]
    I1: NDArray[Any]
    n0: int
    n1: int

    def take(self, columns: Ints) -> "ClassCounts":
        """Return the counts of some columns."""
        return ClassCounts(self.I0[columns], self.I1[columns], self.n0, self.n1)


@dataclass(frozen=True)
class Counted:
    """The counts of some columns, and where these were cut: a value above is a one."""

    counts: ClassCounts
    cuts: Floats

    def take(self, columns: Ints) -> "Counted":
        """Return those of some columns."""
        return Counted(self.counts.take(columns), self.cuts[columns])
