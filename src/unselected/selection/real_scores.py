"""The scores of real-valued columns with the response, and the event of a cut on them."""

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from unselected._typing import Floats, Ints
from unselected.columns.subset import ColumnSubset
from unselected.selection.correlation import CLOSE
from unselected.selection.events import RealEvent
from unselected.selection.scores import competing, together
from unselected.statistics.moments import Moments, Statistic, distinct_rows
from unselected.statistics.unscored import SCORED, Unscored


@dataclass(frozen=True, eq=False)
class RealScores:
    """|COR| or F of real-valued columns.

    A constant column has the score 0, and the event does not include it: under the model there are
    none. Other columns have the score 0 with probability 0, so that a cut at 0 carries no
    information. A column with too few known values has no score. The event does not include it
    either, because it had no chance to be kept.

    Attributes
    ----------
    moments : Moments
    subset : ColumnSubset
    patterns : array of shape (patterns, d)
        Distinct patterns of known values (see `RealEvent`), that of complete columns first.
    n_varying : array of shape (patterns,)
        Number of varying columns of the table with each pattern.
    pattern_of : array of int
        The pattern of each column.
    unscored : Unscored
    """

    close: ClassVar[float] = CLOSE

    moments: Moments
    subset: ColumnSubset
    patterns: NDArray[Any]
    n_varying: Ints
    pattern_of: Ints
    unscored: Unscored

    @classmethod
    def of(cls, moments: Moments, subset: ColumnSubset | None = None) -> "RealScores":
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
        subset, order = together([part.subset for part in parts])
        each = [part.moments for part in parts]
        moments = type(each[0]).united(each).take(order)
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
        return self.moments.statistic

    @cached_property
    def _terms(self) -> tuple[Floats, Floats]:
        return self.moments.lam_and_nu(self.patterns)

    @property
    def lam(self) -> Floats:
        """Of each pattern, see `RealEvent`."""
        return self._terms[0]

    @property
    def nu(self) -> Floats:
        """Of each pattern, see `RealEvent`."""
        return self._terms[1]

    @cached_property
    def rough(self) -> Floats:
        """The scores."""
        between, within = self.moments.between, self.moments.within
        if self.statistic == "|COR|":
            total = between + within
            total[total == 0.0] = 1.0
            return np.asarray(np.sqrt(between / total))
        q = self.lam.shape[1]
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            scores = (between / q) / (within / self.nu[self.pattern_of])
        finite = np.nan_to_num(scores, nan=0.0, posinf=np.finfo(np.float64).max)
        return np.asarray(finite)

    def at_least(self, bound: float) -> NDArray[np.bool_]:
        """Say whose ``rough`` is at least that."""
        return np.asarray(self.rough >= bound)

    def stay(self, places: Ints) -> Self:
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
        scores, columns = competing(self, always), self.subset.columns
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


@dataclass(frozen=True, eq=False)
class UnadjustedScores(RealScores):
    """Scores of an earlier selection, which did not adjust for covariates as the model does.

    The cut and the event are those of the unadjusted scores. The event takes covariates to say
    nothing of the omitted features beside what the response says of them.

    Attributes
    ----------
    adjusted : RealScores
        Whose moments the model is conditioned on.
    """

    adjusted: RealScores

    @classmethod
    def of_both(cls, scores: RealScores, adjusted: RealScores) -> "UnadjustedScores":
        """Return unadjusted scores with the adjusted ones of the same columns."""
        own: Any = {field.name: getattr(scores, field.name) for field in fields(scores)}
        return cls(**own, adjusted=adjusted)

    def take(self, columns: Ints) -> Any:
        """Return the moments of some columns."""
        return self.adjusted.take(columns)
