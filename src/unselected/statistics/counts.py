"""Counts of ones by class, and where the columns were cut."""

from dataclasses import dataclass, replace
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
    """The counts of some columns, and where these were cut: a value above is a one.

    ``n_three_steps`` of all columns read, these and others, have three values that are consecutive
    integers, and were cut at their median by default.
    """

    counts: ClassCounts
    cuts: Floats
    n_three_steps: int = 0

    def take(self, columns: Ints) -> "Counted":
        """Return the counts and cuts of some columns."""
        return replace(self, counts=self.counts.take(columns), cuts=self.cuts[columns])
