"""The scores of a table with binary and real-valued columns, and the event of a cut on them.

A family is a kind of column with its own statistics, omission probability and likelihood. All
columns compete in one selection by a common score: R^2, the part of a column's variance that the
classes explain. Given the hyperparameters all features are independent, and each family has its
own, so that the event is one for each family.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from unselected._typing import Floats, Ints
from unselected.columns.content_keys import Keys
from unselected.columns.subset import ColumnSubset
from unselected.selection.correlation import CLOSE
from unselected.selection.count_scores import CountScores
from unselected.selection.events import FamilyEvent
from unselected.selection.real_scores import RealScores, UnadjustedScores
from unselected.selection.scores import competing
from unselected.statistics.moments import Statistic
from unselected.statistics.unscored import Unscored

# Returns the keys of columns by which ties are broken, whatever the order of the columns.
KeyReader = Callable[[Ints], Keys]


@dataclass(frozen=True, eq=False)
class FamilyScores:
    """The scores of binary and of real-valued columns of one table.

    Attributes
    ----------
    binary : CountScores or None
        With given totals, so that its event speaks of binary columns only.
    real : RealScores or None
    keys : callable
        Breaks ties; see `KeyReader`.
    """

    close: ClassVar[float] = CLOSE

    binary: CountScores | None
    real: RealScores | None
    keys: KeyReader

    @classmethod
    def united(cls, parts: "list[FamilyScores]") -> "FamilyScores":
        """Return the scores of parts of a table together."""
        binary = [part.binary for part in parts if part.binary is not None]
        real = [part.real for part in parts if part.real is not None]
        return cls(
            CountScores.united(binary) if binary else None,
            RealScores.united(real) if real else None,
            parts[0].keys,
        )

    def with_adjusted(self, adjusted: "FamilyScores") -> "FamilyScores":
        """Return these scores, of an earlier selection, for models that adjust for covariates."""
        assert self.real is not None
        assert adjusted.real is not None
        return replace(self, real=UnadjustedScores.of_both(self.real, adjusted.real))

    @property
    def _families(self) -> list[CountScores | RealScores]:
        return [each for each in (self.binary, self.real) if each is not None]

    @property
    def size(self) -> int:
        """The number of columns of the table."""
        return self._families[0].size

    @property
    def statistic(self) -> Statistic:
        """What the scores are."""
        return self._families[0].statistic

    @cached_property
    def unscored(self) -> Unscored:
        """Columns without a score."""
        return Unscored.united([each.unscored for each in self._families])

    @property
    def _only_binary(self) -> CountScores | None:
        """The scores of all columns where these are binary: then nothing has to be merged."""
        return self.binary if self.real is None else None

    @cached_property
    def _order(self) -> Ints:
        """The order that makes the numbers of the columns of all families increase."""
        columns = [each.subset.columns for each in self._families]
        return np.argsort(np.concatenate(columns), kind="stable")

    @cached_property
    def subset(self) -> ColumnSubset:
        """The columns that these are the scores of."""
        if self._only_binary is not None:
            return self._only_binary.subset
        columns = np.concatenate([each.subset.columns for each in self._families])
        return ColumnSubset(columns[self._order], self.size)

    @cached_property
    def rough(self) -> Floats:
        """R^2, of columns with missing values that of a complete column with the same score."""
        if self._only_binary is not None:
            return self._only_binary.rough
        return np.concatenate([_explained(each) for each in self._families])[self._order]

    def at_least(self, bound: float) -> NDArray[np.bool_]:
        """Say whose ``rough`` is at least that."""
        if self._only_binary is not None:
            return self._only_binary.at_least(bound)
        return np.asarray(self.rough >= bound)

    def stay(self, places: Ints) -> "FamilyScores":
        """Return the scores at some places alone."""
        if self._only_binary is not None:
            return replace(self, binary=self._only_binary.stay(places))
        chosen, start, parts = np.sort(self._order[places]), 0, {}
        for name in ("binary", "real"):
            each = getattr(self, name)
            if each is not None:
                stop = start + each.subset.columns.size
                inside = (chosen >= start) & (chosen < stop)
                parts[name], start = each.stay(chosen[inside] - start), stop
        return replace(self, **parts)

    def above(self, gamma: float) -> Ints:
        """Return the columns that have a score above gamma."""
        return np.sort(np.concatenate([each.above(gamma) for each in self._families]))

    def values(self, columns: Ints) -> Floats:
        """Return the scores of some columns, NaN for unscored."""
        if self._only_binary is not None:
            return self._only_binary.values(columns)
        values = np.full(columns.size, np.nan)
        for each in self._families:
            own = np.isin(columns, each.subset.columns)
            values[own] = each.values(columns[own])
        return values

    def of_binary(self, columns: Ints) -> NDArray[np.bool_]:
        """Say which of some columns are binary."""
        if self.binary is None or self.real is None:
            return np.full(columns.size, self.real is None)
        return np.isin(columns, self.binary.subset.columns)

    def split_at_rank(self, k: int, always: Ints) -> tuple[Ints, Ints]:
        """Return the columns above the k-th largest score, and those that equal it.

        Scores that only rounding tells apart count as equal: the normal scores of columns that
        separate the classes are the same numbers, summed in another order. The second array is in
        the order of `keys`.
        """
        scores, columns = competing(self, always), self.subset.columns
        kth = np.partition(scores, scores.size - k)[scores.size - k]
        equal = columns[np.abs(scores - kth) <= CLOSE * kth]
        if equal.size > 1:
            equal = equal[np.argsort(self.keys(equal), kind="stable")]
        return columns[scores > kth * (1.0 + CLOSE)], equal

    def nothing_omitted(self) -> FamilyEvent:
        """Return the event of a selection that omitted nothing."""
        return self._event(lambda each, _: each.nothing_omitted(), np.array([], dtype=np.intp))

    def event_above(self, gamma: float, indices: Ints) -> FamilyEvent:
        """Return the event that all but these columns are at most at gamma."""
        return self._event(lambda each, own: each.event_above(gamma, own), indices)

    def event_by_rank(self, kept_at_cut: Ints, indices: Ints, at_random: bool) -> FamilyEvent:
        """Return the event that all but these columns lost to those kept at the cut."""

        def event(each: Any, own: Ints) -> Any:
            tied = self._own(each, kept_at_cut)
            if tied.size:
                return each.event_by_rank(np.sort(tied), own, at_random)
            return each.event_above(float(self.values(kept_at_cut[:1])[0]), own)

        return self._event(event, indices)

    def event_before(self, gamma: float | None, at_cut: Ints, n_omitted: int) -> FamilyEvent:
        """Return the event that columns, never observed and of the same family, were omitted."""
        if self.binary is not None and self.real is not None:
            raise ValueError(
                "preselected_from needs columns of one kind: it is not known how many of the "
                "columns that were left out are binary. Keep either the columns of 0 and 1 or the "
                "others."
            )
        return self._event(lambda each, _: each.event_before(gamma, at_cut, n_omitted), at_cut)

    def _event(self, event: Callable[[Any, Ints], Any], indices: Ints) -> FamilyEvent:
        """Return the events of the families, given which of their columns were kept."""
        events: list[Any] = [None, None]
        for family, each in enumerate((self.binary, self.real)):
            if each is not None:
                events[family] = event(each, self._own(each, indices))
        return FamilyEvent(events[0], events[1], self.statistic)

    def _own(self, family: CountScores | RealScores, columns: Ints) -> Ints:
        """Return which of some columns are those of a family."""
        if len(self._families) == 1:
            return columns
        return np.asarray(columns[np.isin(columns, family.subset.columns)])


def united_columns(scores: list[list[FamilyScores]]) -> Ints:
    """Return the columns that at least one of many has a score of."""
    return np.unique(np.concatenate([one.subset.columns for each in scores for one in each]))


def _explained(scores: CountScores | RealScores) -> Floats:
    """Return R^2 of the columns of a family."""
    if isinstance(scores, CountScores):
        return scores.rough
    if scores.statistic == "|COR|":
        return np.asarray(scores.rough**2)
    q, nu = scores.lam.shape[1], float(scores.nu[0])
    with np.errstate(over="ignore", invalid="ignore"):
        part = q * scores.rough
    return np.where(np.isfinite(part), part / (part + nu), 1.0)
