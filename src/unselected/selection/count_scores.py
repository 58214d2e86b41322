"""The scores of binary columns with the classes, and the event of a cut on them."""

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from unselected._typing import Floats, Ints
from unselected.columns.subset import ColumnSubset
from unselected.selection.correlation import (
    CLOSE,
    cor_squared,
    exact_values,
    root,
    threshold_cut,
)
from unselected.selection.events import Event, OmittedKinds
from unselected.selection.explained import (
    exact_explained,
    explained,
    freedom,
    with_other_freedom,
)
from unselected.selection.scores import competing, together
from unselected.statistics.counts import ClassCounts, Counted
from unselected.statistics.moments import Statistic
from unselected.statistics.tally import ANY_TOTAL, Tally
from unselected.statistics.unscored import SCORED, Unscored


@dataclass(frozen=True, eq=False)
class CountScores:
    """|COR| of binary columns with two classes, or F with several, compared in exact integers.

    Scores are compared as R^2 (see `explained`). A column without known values in a class has no
    score.

    Attributes
    ----------
    counted : Counted
    subset : ColumnSubset
    tally : Tally
        The kinds of all columns of the table, those included that can no longer be selected.
    unscored : Unscored
    """

    counted: Counted
    subset: ColumnSubset
    tally: Tally
    unscored: Unscored

    @classmethod
    def of(cls, counts: ClassCounts, *, by_total: bool = False) -> "CountScores":
        """Return the scores of all columns of a table, without the cuts that made them bits."""
        cuts = np.broadcast_to(np.nan, counts.n_columns)
        everyone = ColumnSubset.everyone(counts.n_columns)
        return cls.of_part(Counted(counts, cuts), everyone, by_total=by_total)

    @classmethod
    def of_part(
        cls, counted: Counted, subset: ColumnSubset, *, by_total: bool = False
    ) -> "CountScores":
        """Return the scores of some columns of a table; ``by_total`` tells their totals apart."""
        unscored = Unscored.none()
        if counted.counts.known is not None:
            reasons = counted.counts.reasons()
            lost = reasons != SCORED
            unscored = Unscored(subset.columns[lost], reasons[lost])
            if lost.any():
                scored = np.flatnonzero(~lost)
                counted, subset = counted.take(scored), subset.take(scored)
        tally = Tally.of(counted.counts, by_total=by_total)
        return cls(counted, subset, tally, unscored)

    @classmethod
    def united(cls, parts: "list[CountScores]") -> "CountScores":
        """Return the scores of parts of a table together."""
        subset, order = together([part.subset for part in parts])
        counts = ClassCounts.united([part.counts for part in parts]).take(order)
        cuts = np.concatenate([part.counted.cuts for part in parts])[order]
        n_three_steps = sum(part.counted.n_three_steps for part in parts)
        tally = Tally.united([part.tally for part in parts])
        unscored = Unscored.united([part.unscored for part in parts])
        return cls(Counted(counts, cuts, n_three_steps), subset, tally, unscored)

    @property
    def counts(self) -> ClassCounts:
        """The counts of these columns."""
        return self.counted.counts

    @property
    def size(self) -> int:
        """The number of columns of the table."""
        return self.subset.size

    @property
    def statistic(self) -> Statistic:
        """What the scores are."""
        return "|COR|" if self.counts.sizes.size == 2 else "F"

    @cached_property
    def rough(self) -> Floats:
        """R^2; of columns with missing values that of a complete column with the same score."""
        c = self.counts
        if c.known is None:
            if self.statistic == "|COR|":
                return cor_squared(c.I0, c.I1, c.n0, c.n1)
            return explained(c.ones, c.sizes[:, np.newaxis])
        squares = explained(c.ones, c.known)
        if self.statistic == "|COR|":
            return squares
        part = freedom(c.known) * squares
        return np.asarray(part / (part + freedom(c.sizes) * (1.0 - squares)))

    def at_least(self, bound: float) -> NDArray[np.bool_]:
        """Say whose ``rough`` is at least that; looked up where there are few pairs of counts."""
        c = self.counts
        n_pairs = (c.n0 + 1) * (c.n1 + 1)
        if c.sizes.size > 2 or c.known is not None or c.n_columns < n_pairs:
            return np.asarray(self.rough >= bound)
        codes = c.I0.astype(np.min_scalar_type(n_pairs)) * (c.n1 + 1) + c.I1
        return np.asarray(np.take(_cor_squared_of_pairs(c.n0, c.n1) >= bound, codes))

    def stay(self, places: Ints) -> "CountScores":
        """Return the scores at some places alone."""
        return replace(self, counted=self.counted.take(places), subset=self.subset.take(places))

    def take(self, columns: Ints) -> Counted:
        """Return the counts and cuts of some columns."""
        return self.counted.take(self.subset.places(columns))

    def above(self, gamma: float) -> Ints:
        """Return the columns that have a score above gamma."""
        return self.subset.columns[self._compare(self._cut_at(gamma)) > 0]

    def values(self, columns: Ints) -> Floats:
        """Return the scores of some columns, correctly rounded; NaN for those that have none."""
        values = np.full(columns.size, np.nan)
        scored = ~np.isin(columns, self.unscored.columns)
        squares, value_of = self._exact(self.subset.places(columns[scored]))
        values[scored] = np.array([self._score(square) for square in squares])[value_of]
        return values

    def split_at_rank(self, k: int, always: Ints) -> tuple[Ints, Ints]:
        """Return the columns above the k-th largest score, and those that equal it exactly."""
        squares = competing(self, always)
        kth = np.partition(squares, squares.size - k)[squares.size - k]
        contenders = np.flatnonzero(squares >= kth * (1 - CLOSE))
        surely = squares[contenders] > kth * (1 + CLOSE)
        above, close = contenders[surely], contenders[~surely]
        # Doubles cannot separate close values: rank the few distinct ones among them exactly.
        values, value_of = self._exact(close)
        for value in sorted(set(values), reverse=True):
            equal = close[np.array([other == value for other in values])[value_of]]
            if above.size + equal.size >= k:
                break
            above = np.concatenate([above, equal])
        return self.subset.columns[above], self.subset.columns[equal]

    def nothing_omitted(self) -> Event:
        """Return the empty event."""
        return Event(statistic=self.statistic)

    def event_above(self, gamma: float, indices: Ints) -> Event:
        """Return the event that all but these columns are at most at gamma."""
        cut, omitted = self._cut_at(gamma), self._omitted(indices)
        if omitted is None:
            return Event(cut, n_at_most=self._n_omitted(indices), statistic=self.statistic)
        none = np.zeros_like(omitted.n_columns)
        kinds = OmittedKinds(omitted.sizes, omitted.totals, none, none, omitted.n_columns)
        return Event(cut, kinds=kinds, statistic=self.statistic)

    def event_by_rank(self, kept_at_cut: Ints, indices: Ints, at_random: bool) -> Event:
        """Return the event of the rule for ties.

        Where ties go to the lower column, an omitted feature before the last kept one at the cut is
        strictly below the cut, and a later one at most at it.
        """
        (cut,), _ = self._exact(self.subset.places(kept_at_cut[:1]))
        omitted, event = self._omitted(indices), Event(cut, statistic=self.statistic)
        if omitted is not None:
            return replace(event, kinds=self._kinds_at(cut, omitted, indices))
        n_omitted = self._n_omitted(indices)
        if at_random:
            return replace(event, n_lottery=n_omitted, n_kept_ties=kept_at_cut.size)
        last = int(kept_at_cut[-1])
        n_below = last + 1 - int(np.searchsorted(indices, last, side="right"))
        n_below -= int(np.searchsorted(self.unscored.columns, last))
        return replace(event, n_below=n_below, n_at_most=n_omitted - n_below)

    def event_before(self, gamma: float | None, at_cut: Ints, n_omitted: int) -> Event:
        """Return the event for columns that were never observed, which are taken to be complete.

        Their positions and their totals are unknown.
        """
        if gamma is not None:
            return Event(self._cut_at(gamma), n_at_most=n_omitted, statistic=self.statistic)
        (cut,), _ = self._exact(self.subset.places(at_cut[:1]))
        return Event(cut, n_lottery=n_omitted, n_kept_ties=at_cut.size, statistic=self.statistic)

    def _n_omitted(self, indices: Ints) -> int:
        return self.size - self.unscored.columns.size - indices.size

    def _omitted(self, indices: Ints) -> Tally | None:
        """Return the kinds of all but these columns; None where all are of one kind."""
        if not self.tally.tells_apart(self.counts.sizes):
            return None
        return self.tally.without(self._tally_of(self.subset.places(indices)))

    def _tally_of(self, places: Ints) -> Tally:
        by_total = bool(np.any(self.tally.totals != ANY_TOTAL))
        return Tally.of(self.counts.take(places), by_total=by_total)

    def _kinds_at(self, cut: Fraction, omitted: Tally, indices: Ints) -> OmittedKinds:
        """Return the omitted features of each kind that are at the cut, and the others."""
        tied = self.subset.columns[self._compare(cut) == 0]
        tied = np.setdiff1d(tied, indices, assume_unique=True)
        n_at_cut = omitted.matched(self._tally_of(self.subset.places(tied)))
        none, n_below = np.zeros_like(n_at_cut), omitted.n_columns - n_at_cut
        return OmittedKinds(omitted.sizes, omitted.totals, n_below, n_at_cut, none)

    def _cut_at(self, gamma: float) -> Fraction:
        """Return the bound on R^2 that separates scores of at most gamma from those above."""
        if self.statistic == "|COR|":
            return threshold_cut(gamma)
        F = Fraction(gamma) + Fraction(float(np.spacing(gamma))) / 2
        q, nu = self.counts.sizes.size - 1, int(freedom(self.counts.sizes))
        return q * F / (q * F + nu)

    def _score(self, square: Fraction) -> float:
        """Return the score of a column with this R^2, correctly rounded."""
        if self.statistic == "|COR|":
            return root(square)
        if square == 1:
            return float(np.finfo(np.float64).max)
        q, nu = self.counts.sizes.size - 1, int(freedom(self.counts.sizes))
        return float(nu * square / (q * (1 - square)))

    def _exact(self, places: Ints) -> tuple[list[Fraction], Ints]:
        """Return R^2 of distinct columns at some places, and which of them each is."""
        c = self.counts.take(places)
        if c.known is None and self.statistic == "|COR|":
            return exact_values(c.I0, c.I1, c.n0, c.n1)
        known = (
            np.broadcast_to(c.sizes[:, np.newaxis], c.ones.shape) if c.known is None else c.known
        )
        rows = np.vstack([c.ones, known]).T.astype(np.int64)
        distinct, value_of = np.unique(rows, axis=0, return_inverse=True)
        return [self._exact_of(row) for row in distinct.tolist()], value_of.ravel()

    def _exact_of(self, row: list[int]) -> Fraction:
        """Return R^2 from counts and numbers of known values."""
        G = self.counts.sizes.size
        square = exact_explained(tuple(row[:G]), tuple(row[G:]))
        if self.statistic == "|COR|":
            return square
        nu, complete = sum(row[G:]) - G, int(freedom(self.counts.sizes))
        if nu == complete:
            return square
        return with_other_freedom(square, nu, complete)

    def _compare(self, cut: Fraction) -> NDArray[np.int8]:
        """Return the sign of each score less that at the cut, exactly."""
        difference = self.rough - float(cut)
        sign = np.sign(difference).astype(np.int8)
        close = np.flatnonzero(np.abs(difference) <= CLOSE * float(cut))
        if close.size:
            values, value_of = self._exact(close)
            signs = [(value > cut) - (value < cut) for value in values]
            sign[close] = np.array(signs, dtype=np.int8)[value_of]
        return sign


@lru_cache(maxsize=16)
def _cor_squared_of_pairs(n0: int, n1: int) -> Floats:
    """Return COR^2 of all pairs of counts, I1 running fastest; blocks of a table share them."""
    return cor_squared(*np.divmod(np.arange((n0 + 1) * (n1 + 1)), n1 + 1), n0, n1)
