"""Counts of ones by class, and where the columns were cut."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unselected._typing import Floats, Ints
from unselected.statistics.moments import distinct_rows
from unselected.statistics.unscored import SCORED, TOO_FEW


def count_type(n: int) -> np.dtype[Any]:
    """Return the smallest type that counts to n."""
    return np.dtype(np.min_scalar_type(n))


@dataclass(frozen=True)
class ClassCounts:
    """For each column, the numbers of ones and of known values in each class.

    Attributes
    ----------
    ones : array of shape (G, columns)
    sizes : array of shape (G,)
        The numbers of cases.
    known : array of shape (G, columns) or None
        The numbers of known values; None where all values are known.
    """

    ones: NDArray[Any]
    sizes: Ints
    known: NDArray[Any] | None = None

    @classmethod
    def of_two(cls, I0: NDArray[Any], I1: NDArray[Any], n0: int, n1: int) -> "ClassCounts":
        """Return the counts I0 and I1 of two classes with n0 and n1 cases."""
        return cls(np.stack([I0, I1]), np.array([n0, n1]))

    @classmethod
    def united(cls, parts: "list[ClassCounts]") -> "ClassCounts":
        """Return the counts of the columns of all parts, one part after the other.

        All values of a part without ``known`` are known.

        >>> sizes = np.array([3, 2])
        >>> whole = ClassCounts(np.array([[1], [2]]), sizes)
        >>> holes = ClassCounts(np.array([[0], [1]]), sizes, known=np.array([[2], [1]]))
        >>> ClassCounts.united([whole, holes]).known.tolist()
        [[3, 2], [2, 1]]
        """
        ones = np.concatenate([part.ones for part in parts], axis=1)
        if all(part.known is None for part in parts):
            return cls(ones, parts[0].sizes)
        known = np.concatenate([part.known_values for part in parts], axis=1)
        return cls(ones, parts[0].sizes, known)

    @classmethod
    def added(cls, parts: "list[ClassCounts]") -> "ClassCounts":
        """Return the counts of the cases of all parts together, of the same columns.

        >>> part = ClassCounts(np.array([[1], [2]]), np.array([3, 2]))
        >>> whole = ClassCounts.added([part, part])
        >>> whole.ones.tolist(), whole.sizes.tolist()
        ([[2], [4]], [6, 4])
        """
        sizes = np.sum([part.sizes for part in parts], axis=0)
        dtype = count_type(int(sizes.sum()))
        ones = np.sum([part.ones for part in parts], axis=0, dtype=dtype)
        if all(part.known is None for part in parts):
            return cls(ones, sizes)
        known = np.sum([part.known_values for part in parts], axis=0, dtype=dtype)
        return cls(ones, sizes, known)

    @property
    def n_columns(self) -> int:
        """The number of columns."""
        return int(self.ones.shape[1])

    @property
    def I0(self) -> NDArray[Any]:
        """The ones of the first class."""
        return np.asarray(self.ones[0])

    @property
    def I1(self) -> NDArray[Any]:
        """The ones of the second class."""
        return np.asarray(self.ones[1])

    @property
    def n0(self) -> int:
        """The number of cases of the first class."""
        return int(self.sizes[0])

    @property
    def n1(self) -> int:
        """The number of cases of the second class."""
        return int(self.sizes[1])

    @property
    def known_values(self) -> NDArray[Any]:
        """The numbers of known values (G, columns), also of complete columns."""
        if self.known is not None:
            return self.known
        sizes = self.sizes.astype(count_type(int(self.sizes.sum())))
        return np.broadcast_to(sizes[:, np.newaxis], self.ones.shape)

    @property
    def totals(self) -> Ints:
        """The ones of all classes together."""
        return np.asarray(self.ones.sum(axis=0, dtype=np.int64))

    def reasons(self) -> Ints:
        """Return why columns have no score, see `Unscored`; `SCORED` for those that have one."""
        if self.known is None:
            return np.full(self.n_columns, SCORED)
        empty, few = self.known == 0, self.known.sum(axis=0) <= self.sizes.size
        few &= (self.known < self.sizes[:, np.newaxis]).any(axis=0) & (self.sizes.size > 2)
        return np.where(empty.any(axis=0), empty.argmax(axis=0), np.where(few, TOO_FEW, SCORED))

    def take(self, columns: Ints) -> "ClassCounts":
        """Return the counts of some columns."""
        known = None if self.known is None else self.known[:, columns]
        return ClassCounts(self.ones[:, columns], self.sizes, known)

    def patterns(self) -> tuple[Ints, Ints]:
        """Return the distinct numbers of known values, and which of them each column has.

        The first row, ``sizes``, is that of complete columns.

        >>> counts = ClassCounts(np.array([[1, 0], [2, 2]]), np.array([3, 2]))
        >>> [array.tolist() for array in counts.patterns()]
        [[[3, 2]], [0, 0]]
        """
        if self.known is None:
            return self.sizes[np.newaxis], np.zeros(self.n_columns, dtype=np.intp)
        return distinct_rows(np.vstack([self.sizes, self.known.T.astype(np.int64)]))


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
