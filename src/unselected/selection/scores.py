"""The score of each column with the response, and the event of a cut on it.

A rule in `rules` asks three things of scores: which columns are above a cut, which are at the k-th
place, and what is known of the others. For counts the comparisons are exact, in integers; for real
values they are in doubles, where ties mean equal columns.

Columns that can no longer be selected need not be among the scores: `streaming` drops them while
the table is read.
"""

from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from unselected._typing import Floats, Ints
from unselected.columns.subset import ColumnSubset
from unselected.selection.correlation import (
    CLOSE,
    absolute_cor,
    compare,
    cor_squared,
    exact_cor_squared,
    exact_values,
    threshold_cut,
)
from unselected.selection.events import Event, RealEvent, Statistic
from unselected.statistics.counts import ClassCounts, Counted
from unselected.statistics.moments import ClassMoments, LineMoments, class_axes, distinct_rows
from unselected.statistics.unscored import SCORED, Unscored

E_co = TypeVar("E_co", bound=Event | RealEvent, covariant=True)


class Scores(Protocol[E_co]):
    """What a rule of selection needs of the columns. Columns are identified by number."""

    @property
    def size(self) -> int:
        """The number of columns of the table."""

    @property
    def subset(self) -> ColumnSubset:
        """The columns that these are the scores of; no other can be selected."""

    @property
    def unscored(self) -> Unscored:
        """Columns without a score; the event does not include them."""

    @property
    def statistic(self) -> Statistic:
        """The name of the score."""

    @property
    def rough(self) -> Floats:
        """Numbers in the order of the scores, but for what is closer than `CLOSE`."""

    def at_least(self, bound: float) -> NDArray[np.bool_]:
        """Say whose ``rough`` is at least that."""

    def stay(self, places: Ints) -> Self:
        """Return the scores at some positions only; the event still includes the others."""

    def above(self, gamma: float) -> Ints:
        """Return the columns that have a score above gamma."""

    def values(self, columns: Ints) -> Floats:
        """Return the scores of some columns, NaN for unscored; equal ones are equal doubles."""

    def split_at_rank(self, k: int, always: Ints) -> tuple[Ints, Ints]:
        """Return the columns above the k-th largest score, and those that equal it.

        Columns in ``always`` do not compete.
        """

    def nothing_omitted(self) -> E_co:
        """Return the event of a selection that omitted nothing."""

    def event_above(self, gamma: float, indices: Ints) -> E_co:
        """Return the event that all but these columns are at most at gamma."""

    def event_by_rank(self, kept_at_cut: Ints, indices: Ints, at_random: bool) -> E_co:
        """Return the event that all but these columns lost to those kept at the cut."""

    def event_before(self, gamma: float | None, at_cut: Ints, n_omitted: int) -> E_co:
        """Return the event that a number of columns, never observed, were omitted before.

        They were at most at gamma, or without gamma lost a draw against the columns at the cut.
        """


@dataclass(frozen=True, eq=False)
class CountScores:
    """|COR| of binary columns with a binary response, compared in exact integers."""

    counted: Counted
    subset: ColumnSubset
    unscored: Unscored = field(default_factory=Unscored.none)
    statistic: Statistic = "|COR|"

    @classmethod
    def of(cls, counts: ClassCounts) -> "CountScores":
        """Return the scores of all columns of a table, without the cuts that made them bits."""
        cuts = np.broadcast_to(np.nan, counts.I0.shape)
        return cls(Counted(counts, cuts), ColumnSubset.everyone(counts.I0.size))

    @classmethod
    def united(cls, parts: "list[CountScores]") -> "CountScores":
        """Return the scores of parts of a table together."""
        subset, order = _together([part.subset for part in parts])
        together = ClassCounts.united([part.counts for part in parts]).take(order)
        cuts = np.concatenate([part.counted.cuts for part in parts])[order]
        n_three_steps = sum(part.counted.n_three_steps for part in parts)
        return cls(Counted(together, cuts, n_three_steps), subset)

    @property
    def counts(self) -> ClassCounts:
        """The counts of these columns."""
        return self.counted.counts

    @property
    def size(self) -> int:
        """The number of columns of the table."""
        return self.subset.size

    @cached_property
    def rough(self) -> Floats:
        """Squares of the correlations."""
        c = self.counts
        return cor_squared(c.I0, c.I1, c.n0, c.n1)

    def at_least(self, bound: float) -> NDArray[np.bool_]:
        """Say whose ``rough`` is at least that; looked up where there are few pairs of counts."""
        c = self.counts
        n_pairs = (c.n0 + 1) * (c.n1 + 1)
        if c.I0.size < 4 * n_pairs:
            return np.asarray(self.rough >= bound)
        each = np.divmod(np.arange(n_pairs), c.n1 + 1)
        codes = c.I0.astype(np.min_scalar_type(n_pairs)) * (c.n1 + 1) + c.I1
        return np.asarray(np.take(cor_squared(*each, c.n0, c.n1) >= bound, codes))

    def stay(self, places: Ints) -> "CountScores":
        """Return the scores at some places alone."""
        return CountScores(self.counted.take(places), self.subset.take(places))

    def take(self, columns: Ints) -> Counted:
        """Return the counts and cuts of some columns."""
        return self.counted.take(self.subset.places(columns))

    def above(self, gamma: float) -> Ints:
        """Return the columns that have |COR| > gamma."""
        c = self.counts
        return self.subset.columns[compare(c.I0, c.I1, c.n0, c.n1, threshold_cut(gamma)) > 0]

    def values(self, columns: Ints) -> Floats:
        """Return |COR| of some columns, correctly rounded."""
        c = self.take(columns).counts
        return absolute_cor(c.I0, c.I1, c.n0, c.n1)

    def split_at_rank(self, k: int, always: Ints) -> tuple[Ints, Ints]:
        """Return the columns above the k-th largest |COR|, and those that equal it exactly."""
        squares = _competing(self, always)
        kth = np.partition(squares, squares.size - k)[squares.size - k]
        contenders = np.flatnonzero(squares >= kth * (1 - CLOSE))
        surely = squares[contenders] > kth * (1 + CLOSE)
        above, close = contenders[surely], contenders[~surely]
        # Doubles cannot separate close values: rank the few distinct ones among them exactly.
        c = self.counts.take(close)
        values, value_of = exact_values(c.I0, c.I1, c.n0, c.n1)
        for value in sorted(set(values), reverse=True):
            equal = close[np.array([other == value for other in values])[value_of]]
            if above.size + equal.size >= k:
                break
            above = np.concatenate([above, equal])
        return self.subset.columns[above], self.subset.columns[equal]

    def nothing_omitted(self) -> Event:
        """Return the empty event."""
        return Event()

    def event_above(self, gamma: float, indices: Ints) -> Event:
        """Return the event that all but these columns are at most at gamma."""
        return Event(threshold_cut(gamma), n_at_most=self.size - indices.size)

    def event_by_rank(self, kept_at_cut: Ints, indices: Ints, at_random: bool) -> Event:
        """Return the event of the rule for ties.

        Where ties go to the lower column, an omitted feature before the last kept one at the cut is
        strictly below the cut, and a later one at most at it.
        """
        cut, n_omitted = self._exact(int(kept_at_cut[0])), self.size - indices.size
        if at_random:
            return Event(cut, n_lottery=n_omitted, n_kept_ties=kept_at_cut.size)
        last = int(kept_at_cut[-1])
        n_below = last + 1 - int(np.searchsorted(indices, last, side="right"))
        return Event(cut, n_below=n_below, n_at_most=n_omitted - n_below)

    def event_before(self, gamma: float | None, at_cut: Ints, n_omitted: int) -> Event:
        """Return the event for columns that were never observed: their positions are unknown."""
        if gamma is not None:
            return Event(threshold_cut(gamma), n_at_most=n_omitted)
        return Event(self._exact(int(at_cut[0])), n_lottery=n_omitted, n_kept_ties=at_cut.size)

    def _exact(self, column: int) -> Fraction:
        c = self.take(np.array([column])).counts
        return exact_cor_squared(int(c.I0[0]), int(c.I1[0]), c.n0, c.n1)


def _together(parts: list[ColumnSubset]) -> tuple[ColumnSubset, Ints]:
    """Return the columns of all parts, and the order that makes their numbers increase."""
    columns = np.concatenate([part.columns for part in parts])
    order = np.argsort(columns, kind="stable")
    return ColumnSubset(columns[order], parts[0].size), order


def _competing(scores: "CountScores | RealScores", always: Ints) -> Floats:
    """Return the scores, with those that do not compete below all others."""
    if not always.size:
        return scores.rough
    rough = scores.rough.copy()
    rough[scores.subset.places(always)] = -1.0
    return rough


@dataclass(frozen=True, eq=False)
class RealScores:
    """|COR| or F of real-valued columns.

    A constant column has the score 0, and the event does not include it: under the model there are
    none. Other columns have the score 0 with probability 0, so that a cut at 0 carries no
    information. A column with too few known values has no score. The event does not include it
    either, because it had no chance to be kept.

    Attributes
    ----------
    moments : ClassMoments or LineMoments
    subset : ColumnSubset
    patterns : array of shape (patterns, d)
        Distinct patterns of known values (see `RealEvent`), that of complete columns first.
    n_varying : array of shape (patterns,)
        Number of varying columns of the table with each pattern.
    pattern_of : array of int
        The pattern of each column.
    unscored : Unscored
    """

    moments: ClassMoments | LineMoments
    subset: ColumnSubset
    patterns: NDArray[Any]
    n_varying: Ints
    pattern_of: Ints
    unscored: Unscored

    @classmethod
    def of(
        cls, moments: ClassMoments | LineMoments, subset: ColumnSubset | None = None
    ) -> "RealScores":
        """Return |COR| for two classes and for a real response, and F for more classes."""
        subset = subset or ColumnSubset.everyone(moments.size)
        reasons = moments.reasons()
        lost = reasons != SCORED
        unscored = Unscored(subset.columns[lost], reasons[lost])
        if unscored.columns.size:
            scored = np.flatnonzero(~lost)
            moments, subset = moments.take(scored), subset.take(scored)
        patterns, pattern_of = moments.patterns()
        varying = moments.between + moments.within > 0.0
        if len(patterns) == 1:
            n_varying = np.array([np.count_nonzero(varying)])
        else:
            n_varying = np.bincount(pattern_of[varying], minlength=len(patterns))
        return cls(moments, subset, patterns, n_varying, pattern_of, unscored)

    @classmethod
    def united(cls, parts: "list[RealScores]") -> "RealScores":
        """Return the scores of parts of a table together."""
        subset, order = _together([part.subset for part in parts])
        each = [part.moments for part in parts]
        moments = type(each[0]).united(each).take(order)  # type: ignore[arg-type]
        rows = np.concatenate([part.patterns for part in parts])
        patterns, which = distinct_rows(np.concatenate([rows[:1], rows]))
        n_varying = np.zeros(len(patterns), dtype=np.int64)
        np.add.at(n_varying, which, np.concatenate([part.n_varying for part in parts]))
        starts = np.cumsum([0, *(len(part.patterns) for part in parts[:-1])])
        pattern_of = np.concatenate(
            [part.pattern_of + start for part, start in zip(parts, starts, strict=True)]
        )
        unscored = Unscored.united([part.unscored for part in parts])
        return cls(moments, subset, patterns, n_varying, which[pattern_of][order], unscored)

    @property
    def size(self) -> int:
        """The number of columns of the table."""
        return self.subset.size

    @property
    def statistic(self) -> Statistic:
        """What the scores are."""
        several = isinstance(self.moments, ClassMoments) and self.moments.sizes.size > 2
        return "F" if several else "|COR|"

    @cached_property
    def lam(self) -> Floats:
        """Of each pattern, see `RealEvent`."""
        if isinstance(self.moments, ClassMoments):
            return class_axes(self.patterns)[0]
        return np.asarray(self.patterns[:, 1:] / self.moments.unit**2)

    @property
    def nu(self) -> Floats:
        """Of each pattern, see `RealEvent`."""
        if isinstance(self.moments, ClassMoments):
            n_classes = self.patterns.shape[1]
            return np.asarray(self.patterns.sum(axis=1) - n_classes, dtype=np.float64)
        return np.asarray(self.patterns[:, 0] - 2.0)

    @cached_property
    def rough(self) -> Floats:
        """The scores."""
        between, within = self.moments.between, self.moments.within
        if self.statistic == "|COR|":
            total = between + within
            total[total == 0.0] = 1.0
            return np.asarray(np.sqrt(between / total))
        q = self.patterns.shape[1] - 1
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            scores = (between / q) / (within / self.nu[self.pattern_of])
        finite = np.nan_to_num(scores, nan=0.0, posinf=np.finfo(np.float64).max)
        return np.asarray(finite)

    def at_least(self, bound: float) -> NDArray[np.bool_]:
        """Say whose ``rough`` is at least that."""
        return np.asarray(self.rough >= bound)

    def stay(self, places: Ints) -> "RealScores":
        """Return the scores at some places alone."""
        return replace(
            self,
            moments=self.moments.take(places),
            subset=self.subset.take(places),
            pattern_of=self.pattern_of[places],
        )

    def take(self, columns: Ints) -> Any:
        """Return the moments of some columns."""
        return self.moments.take(self.subset.places(columns))

    def above(self, gamma: float) -> Ints:
        """Return the columns that have a score above gamma."""
        return self.subset.columns[self.rough > gamma]

    def values(self, columns: Ints) -> Floats:
        """Return the scores of some columns; NaN for those that have none."""
        values = np.full(columns.size, np.nan)
        scored = ~np.isin(columns, self.unscored.columns)
        values[scored] = self.rough[self.subset.places(columns[scored])]
        return values

    def split_at_rank(self, k: int, always: Ints) -> tuple[Ints, Ints]:
        """Return the columns above the k-th largest score, and those that equal it."""
        scores, columns = _competing(self, always), self.subset.columns
        kth = np.partition(scores, scores.size - k)[scores.size - k]
        return columns[scores > kth], columns[scores == kth]

    def nothing_omitted(self) -> RealEvent:
        """Return the event that includes no feature, without a cut."""
        return self._event(None, np.zeros(self.nu.size, dtype=np.int64))

    def event_above(self, gamma: float, indices: Ints) -> RealEvent:
        """Return the event that all but these columns are at most at gamma."""
        kept = self.stay(self.subset.places(indices))
        varying = kept.moments.between + kept.moments.within > 0.0
        n_kept = np.bincount(kept.pattern_of[varying], minlength=self.nu.size)
        return self._event(gamma, self.n_varying - n_kept)

    def event_by_rank(self, kept_at_cut: Ints, indices: Ints, at_random: bool) -> RealEvent:  # noqa: ARG002
        """Return the event that all but these columns are at most at the cut; ties do not occur."""
        return self.event_above(float(self.values(kept_at_cut[:1])[0]), indices)

    def event_before(self, gamma: float | None, at_cut: Ints, n_omitted: int) -> RealEvent:
        """Return the event for columns never observed, which are taken to be complete."""
        n_features = np.zeros(self.nu.size, dtype=np.int64)
        n_features[0] = n_omitted
        cut = float(self.values(at_cut[:1])[0]) if gamma is None else gamma
        return self._event(cut, n_features)

    def _event(self, cut: float | None, n_features: Ints) -> RealEvent:
        if cut == 0.0:  # a score of 0 has probability 0: the event would be impossible
            n_features = np.zeros_like(n_features)
        told = n_features > 0
        told[0] = True
        return RealEvent(cut, self.statistic, self.lam[told], self.nu[told], n_features[told])
