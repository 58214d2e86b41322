"""What a score of binary features is: a function of their counts by class, compared exactly.

A score has two faces. ``rough`` are doubles in the order of the scores, but for what is closer than
``close``. ``distinct`` gives fractions, the keys, which decide the rest: equal keys are ties. A cut
is a key. Correlation and F (`Explained`) are here, the other scores in `count_score_kinds`.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import ulp
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from unselected._typing import Floats, Ints
from unselected.selection.correlation import (
    CLOSE,
    cor_squared,
    exact_values,
    root,
    threshold_cut,
)
from unselected.selection.explained import (
    compare_explained,
    exact_explained,
    explained,
    freedom,
    with_other_freedom,
)
from unselected.selection.score_names import LARGEST
from unselected.statistics.counts import ClassCounts
from unselected.statistics.moments import Statistic

# The keys of distinct columns, and which of them each column has.
ScoreKeys = tuple[list[Fraction], Ints]


class CountScore(ABC):
    """A score of binary features.

    Attributes
    ----------
    close : float
        Doubles further apart than this, relatively, are known to be in the right order.
    """

    close: ClassVar[float] = CLOSE

    @abstractmethod
    def statistic(self, n_classes: int) -> Statistic:
        """Return the name of the score."""

    @abstractmethod
    def rough(self, counts: ClassCounts) -> Floats:
        """Return doubles in the order of the scores, but for what is closer than ``close``."""

    @abstractmethod
    def distinct(self, counts: ClassCounts) -> ScoreKeys:
        """Return the keys of distinct columns, and which of them each column has."""

    def rough_of(self, key: Fraction) -> float:
        """Return what ``rough`` is of a column with this key."""
        return float(key)

    def value(self, key: Fraction, sizes: Ints) -> float:  # noqa: ARG002
        """Return the score of a column with this key, among classes of these sizes."""
        return float(key)

    def cut_at(self, gamma: float, sizes: Ints) -> Fraction:  # noqa: ARG002
        """Return the key that separates scores of at most gamma from those above.

        A score that equals gamma to the last bit of a double is at gamma, not above it: a threshold
        found by one fit can be used in another.
        """
        return just_above(gamma)

    def cut_among(
        self, cut: Fraction, known: tuple[int, ...], sizes: Ints
    ) -> "tuple[Fraction, CountScore]":
        """Return a cut that means the same for features with so many known values.

        It is one on R^2 (`EXPLAINED`) where the score is a function of R^2 and these numbers, for
        which the omission probability needs no table of all counts.
        """
        del known, sizes
        return cut, self

    def compare(self, ones: Ints, known: Ints, cut: Fraction) -> NDArray[np.int8]:
        """Return the sign of the score less a cut of `cut_among`.

        ``ones`` has shape (G, vectors), ``known`` (G,).
        """
        counts = ClassCounts(ones, known)
        return self.signs(
            self.rough(counts), cut, lambda places: self.distinct(counts.take(places))
        )

    def signs(
        self, rough: Floats, cut: Fraction, keys: Callable[[Ints], ScoreKeys]
    ) -> NDArray[np.int8]:
        """Return the sign of each score less that at the cut; ``keys`` is asked for close ones."""
        at_cut = self.rough_of(cut)
        with np.errstate(over="ignore"):  # the largest double stands for infinity
            difference = rough - at_cut
        sign = np.sign(difference).astype(np.int8)
        close = np.flatnonzero(np.abs(difference) <= self.close * abs(at_cut))
        if close.size:
            values, value_of = keys(close)
            signs = [(value > cut) - (value < cut) for value in values]
            sign[close] = np.array(signs, dtype=np.int8)[value_of]
        return sign

    def places_at(
        self, rough: Floats, cut: Fraction, keys: Callable[[Ints], ScoreKeys]
    ) -> NDArray[np.intp]:
        """Return where the score is exactly that at the cut; ``keys`` is asked for close ones."""
        at_cut = self.rough_of(cut)
        with np.errstate(over="ignore"):  # the largest double stands for infinity
            close = np.flatnonzero(np.abs(rough - at_cut) <= self.close * abs(at_cut))
        values, value_of = keys(close)
        return close[np.array([value == cut for value in values], dtype=np.bool_)[value_of]]


@dataclass(frozen=True)
class Explained(CountScore):
    """|COR| with two classes, F with several. The key is R^2, see `explained`.

    That of a column with missing values is the R^2 of a complete column with the same score.
    """

    def statistic(self, n_classes: int) -> Statistic:
        """Return the name of the score."""
        return "|COR|" if n_classes == 2 else "F"

    def rough(self, counts: ClassCounts) -> Floats:
        """Return R^2."""
        c, two = counts, counts.sizes.size == 2
        if c.known is None:
            if two:
                return cor_squared(c.I0, c.I1, c.n0, c.n1)
            return explained(c.ones, c.sizes[:, np.newaxis])
        squares = explained(c.ones, c.known)
        if two:
            return squares
        part = freedom(c.known) * squares
        return np.asarray(part / (part + freedom(c.sizes) * (1.0 - squares)))

    def distinct(self, counts: ClassCounts) -> ScoreKeys:
        """Return R^2 of distinct columns as fractions, and which of them each column has."""
        if counts.known is None and counts.sizes.size == 2:
            return exact_values(counts.I0, counts.I1, counts.n0, counts.n1)
        rows, value_of = distinct_columns(counts)
        nu = int(freedom(counts.sizes))
        return [self._key(*row, nu) for row in rows], value_of

    @staticmethod
    def _key(ones: tuple[int, ...], known: tuple[int, ...], complete: int) -> Fraction:
        square = exact_explained(ones, known)
        if len(ones) == 2:
            return square
        return with_other_freedom(square, sum(known) - len(known), complete)

    def value(self, key: Fraction, sizes: Ints) -> float:
        """Return the score of a column with this R^2, correctly rounded."""
        if sizes.size == 2:
            return root(key)
        if key == 1:
            return LARGEST
        q, nu = sizes.size - 1, int(freedom(sizes))
        return float(nu * key / (q * (1 - key)))

    def cut_at(self, gamma: float, sizes: Ints) -> Fraction:
        """Return the bound on R^2 that separates scores of at most gamma from those above."""
        if sizes.size == 2:
            return threshold_cut(gamma)
        F = just_above(gamma)
        q, nu = sizes.size - 1, int(freedom(sizes))
        return q * F / (q * F + nu)

    def cut_among(
        self, cut: Fraction, known: tuple[int, ...], sizes: Ints
    ) -> tuple[Fraction, CountScore]:
        """Return the bound on R^2 of features with so many known values."""
        if len(known) == 2:
            return cut, self
        return with_other_freedom(cut, int(freedom(sizes)), sum(known) - len(known)), self

    def compare(self, ones: Ints, known: Ints, cut: Fraction) -> NDArray[np.int8]:
        """Return the sign of R^2 less a cut of `cut_among`."""
        return compare_explained(ones, known, cut)


EXPLAINED = Explained()


def just_above(gamma: float) -> Fraction:
    """Return gamma and half a unit in its last place."""
    return Fraction(gamma) + Fraction(ulp(gamma)) / 2


def distinct_columns(
    counts: ClassCounts,
) -> tuple[list[tuple[tuple[int, ...], tuple[int, ...]]], Ints]:
    """Return the distinct pairs of counts and known values, and which of them each column has.

    >>> distinct_columns(ClassCounts.of_two(np.array([1, 1]), np.array([2, 2]), 3, 3))[0]
    [((1, 2), (3, 3))]
    """
    G = counts.sizes.size
    rows = np.vstack([counts.ones, counts.known_values]).T.astype(np.int64)
    distinct, value_of = np.unique(rows, axis=0, return_inverse=True)
    return [(tuple(row[:G]), tuple(row[G:])) for row in distinct.tolist()], value_of.ravel()
