"""The scores of binary columns with the classes, and the event of a cut on them."""

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unselected._typing import Floats, Ints
from unselected.columns.subset import ColumnSubset
from unselected.selection.correlation import cor_squared
from unselected.selection.count_score import EXPLAINED, CountScore, ScoreKeys
from unselected.selection.events import Event, OmittedKinds
from unselected.selection.scores import competing, together
from unselected.statistics.counts import ClassCounts, Counted
from unselected.statistics.moments import Statistic
from unselected.statistics.tally import ANY_TOTAL, Tally
from unselected.statistics.unscored import SCORED, Unscored


@dataclass(frozen=True, eq=False)
class CountScores:
    """The scores of binary columns: by default |COR| with two classes, or F with several.

    They are compared by their keys, see `count_score`. A column without known values in a class has
    no score.

    Attributes
    ----------
    counted : Counted
    subset : ColumnSubset
    tally : Tally
        The kinds of all columns of the table, those included that can no longer be selected.
    unscored : Unscored
    score : CountScore
    """

    counted: Counted
    subset: ColumnSubset
    tally: Tally
    unscored: Unscored
    score: CountScore = EXPLAINED

    @classmethod
    def of(
        cls, counts: ClassCounts, *, by_total: bool = False, score: CountScore = EXPLAINED
    ) -> "CountScores":
        """Return the scores of all columns of a table, without the cuts that made them bits."""
        cuts = np.broadcast_to(np.nan, counts.n_columns)
        everyone = ColumnSubset.everyone(counts.n_columns)
        return cls.of_part(Counted(counts, cuts), everyone, by_total=by_total, score=score)

    @classmethod
    def of_part(
        cls,
        counted: Counted,
        subset: ColumnSubset,
        *,
        by_total: bool = False,
        score: CountScore = EXPLAINED,
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
        return cls(counted, subset, tally, unscored, score)

    @classmethod
    def united(cls, parts: "list[CountScores]") -> "CountScores":
        """Return the scores of parts of a table together."""
        subset, order = together([part.subset for part in parts])
        counts = ClassCounts.united([part.counts for part in parts]).take(order)
        cuts = np.concatenate([part.counted.cuts for part in parts])[order]
        n_three_steps = sum(part.counted.n_three_steps for part in parts)
        tally = Tally.united([part.tally for part in parts])
        unscored = Unscored.united([part.unscored for part in parts])
        counted = Counted(counts, cuts, n_three_steps)
        return cls(counted, subset, tally, unscored, parts[0].score)

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
        return self.score.statistic(self.counts.sizes.size)

    @property
    def close(self) -> float:
        """Values of ``rough`` further apart than this, relatively, are in the right order."""
        return self.score.close

    @cached_property
    def rough(self) -> Floats:
        """Numbers in the order of the scores, see `CountScore`; by default R^2."""
        return self.score.rough(self.counts)

    def at_least(self, bound: float) -> NDArray[np.bool_]:
        """Say whose ``rough`` is at least that; looked up where there are few pairs of counts."""
        c = self.counts
        n_pairs = (c.n0 + 1) * (c.n1 + 1)
        by_pairs = c.sizes.size == 2 and c.known is None and self.score == EXPLAINED
        if not by_pairs or c.n_columns < n_pairs:
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
        scored = np.ones(columns.size, dtype=bool)
        if self.unscored.columns.size:
            scored = ~np.isin(columns, self.unscored.columns)
        keys, value_of = self._exact(self.subset.places(columns[scored]))
        sizes = self.counts.sizes
        values[scored] = np.array([self.score.value(key, sizes) for key in keys])[value_of]
        return values

    def split_at_rank(self, k: int, always: Ints) -> tuple[Ints, Ints]:
        """Return the columns above the k-th largest score, and those that equal it exactly."""
        rough = competing(self, always)
        kth = float(np.partition(rough, rough.size - k)[rough.size - k])
        contenders = np.flatnonzero(rough >= kth - self.close * abs(kth))
        surely = rough[contenders] > kth + self.close * abs(kth)
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
        return self._event(None)

    def event_above(self, gamma: float, indices: Ints) -> Event:
        """Return the event that all but these columns are at most at gamma."""
        cut, omitted = self._cut_at(gamma), self._omitted(indices)
        if omitted is None:
            return self._event(cut, n_at_most=self._n_omitted(indices))
        none = np.zeros_like(omitted.n_columns)
        kinds = OmittedKinds(omitted.sizes, omitted.totals, none, none, omitted.n_columns)
        return self._event(cut, kinds=kinds)

    def event_by_rank(self, kept_at_cut: Ints, indices: Ints, at_random: bool) -> Event:
        """Return the event of the rule for ties.

        Where ties go to the lower column, an omitted feature before the last kept one at the cut is
        strictly below the cut, and a later one at most at it.
        """
        (cut,), _ = self._exact(self.subset.places(kept_at_cut[:1]))
        if self._histogram is not None:
            return self._event(cut, kinds=self._kinds_by_total(cut, self._histogram, indices))
        omitted, event = self._omitted(indices), self._event(cut)
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
            return self._event(self._cut_at(gamma), n_at_most=n_omitted)
        (cut,), _ = self._exact(self.subset.places(at_cut[:1]))
        return self._event(cut, n_lottery=n_omitted, n_kept_ties=at_cut.size)

    def _event(self, cut: Fraction | None, **known: Any) -> Event:
        return Event(cut, statistic=self.statistic, score=self.score, **known)

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
        lost = np.setdiff1d(self._places_at(cut), self.subset.places(indices))
        n_at_cut = omitted.matched(self._tally_of(lost))
        none, n_below = np.zeros_like(n_at_cut), omitted.n_columns - n_at_cut
        return OmittedKinds(omitted.sizes, omitted.totals, n_below, n_at_cut, none)

    @cached_property
    def _histogram(self) -> Ints | None:
        """The numbers of columns by total, where nothing else tells the kinds of columns apart."""
        return self.tally.by_total_alone(self.counts.sizes)

    @cached_property
    def _totals(self) -> Ints:
        return self.counts.totals

    def _kinds_by_total(self, cut: Fraction, histogram: Ints, indices: Ints) -> OmittedKinds:
        """Return the same as `_kinds_at` where only totals tell kinds apart, in less time."""
        kept = self.subset.places(indices)
        is_tied = np.zeros(self._totals.size, dtype=np.bool_)
        is_tied[self._places_at(cut)] = True
        is_tied[kept] = False
        taken, at_cut = (
            np.bincount(self._totals[some], minlength=histogram.size) for some in (kept, is_tied)
        )
        n_omitted = histogram - taken
        totals = np.flatnonzero(n_omitted)
        n_at_cut, sizes = at_cut[totals], self.counts.sizes
        each = np.broadcast_to(sizes, (totals.size, sizes.size))
        n_below = n_omitted[totals] - n_at_cut
        return OmittedKinds(each, totals, n_below, n_at_cut, np.zeros_like(n_at_cut))

    def _cut_at(self, gamma: float) -> Fraction:
        """Return the key that separates scores of at most gamma from those above."""
        return self.score.cut_at(gamma, self.counts.sizes)

    def _exact(self, places: Ints) -> ScoreKeys:
        """Return the keys of distinct columns at some places, and which of them each has."""
        return self.score.distinct(self.counts.take(places))

    def _places_at(self, cut: Fraction) -> Ints:
        """Return the places of the columns whose score is that at the cut, exactly."""
        return self.score.places_at(self.rough, cut, self._exact)

    def _compare(self, cut: Fraction) -> NDArray[np.int8]:
        """Return the sign of each score less that at the cut, exactly."""
        return self.score.signs(self.rough, cut, self._exact)


@lru_cache(maxsize=16)
def _cor_squared_of_pairs(n0: int, n1: int) -> Floats:
    """Return COR^2 of all pairs of counts, I1 running fastest; blocks of a table share them."""
    return cor_squared(*np.divmod(np.arange((n0 + 1) * (n1 + 1)), n1 + 1), n0, n1)
