"""How related each column looks to the response, and the event that a cut on that makes.

A rule in `selection` asks three things of scores: who is above a cut, who is at the k-th place, and
what is known of the others. For counts the answers are exact integers; for real values they are
doubles, in which ties mean equal columns.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from unselected.columns import ClassCounts
from unselected.events import Event, RealEvent, Statistic
from unselected.moments import ClassMoments, LineMoments, class_axes
from unselected.quadrature import Floats
from unselected.tables import (
    CLOSE,
    Ints,
    absolute_cor,
    compare,
    cor_squared,
    exact_cor_squared,
    exact_values,
    threshold_cut,
)

E_co = TypeVar("E_co", bound=Event | RealEvent, covariant=True)


class Scores(Protocol[E_co]):
    """What a rule of selection needs to know of the columns."""

    @property
    def size(self) -> int:
        """The number of columns."""

    @property
    def statistic(self) -> Statistic:
        """What the scores are."""

    def above(self, gamma: float) -> NDArray[np.bool_]:
        """Say which columns have a score above gamma."""

    def values(self, columns: Ints) -> Floats:
        """Return the scores of some columns; equal ones are equal doubles."""

    def split_at_rank(self, k: int, always: Ints) -> tuple[Ints, Ints]:
        """Return the columns above the k-th largest score, and those that equal it.

        Columns in ``always`` do not compete.
        """

    def nothing_omitted(self) -> E_co:
        """Return the event of a selection that left nothing out."""

    def event_above(self, gamma: float, indices: Ints) -> E_co:
        """Return the event that all but these columns are at most at gamma."""

    def event_by_rank(self, kept_at_cut: Ints, indices: Ints, at_random: bool) -> E_co:
        """Return the event that all but these columns lost to those kept at the cut."""

    def event_before(self, gamma: float | None, at_cut: Ints, n_omitted: int) -> E_co:
        """Return the event that so many columns, which were never seen, were omitted before.

        They were at most at gamma, or else lost a draw against the columns at the cut.
        """


@dataclass(frozen=True)
class CountScores:
    """|COR| of binary columns with a binary response, compared in exact integers."""

    counts: ClassCounts

    @property
    def size(self) -> int:
        """The number of columns."""
        return int(self.counts.I0.size)

    @property
    def statistic(self) -> Statistic:
        """What the scores are."""
        return "|COR|"

    def above(self, gamma: float) -> NDArray[np.bool_]:
        """Say which columns have |COR| > gamma."""
        c = self.counts
        return np.asarray(compare(c.I0, c.I1, c.n0, c.n1, threshold_cut(gamma)) > 0)

    def values(self, columns: Ints) -> Floats:
        """Return |COR| of some columns, correctly rounded."""
        c = self.counts.take(columns)
        return absolute_cor(c.I0, c.I1, c.n0, c.n1)

    def split_at_rank(self, k: int, always: Ints) -> tuple[Ints, Ints]:
        """Return the columns above the k-th largest |COR|, and those that equal it exactly."""
        c = self.counts
        squares = cor_squared(c.I0, c.I1, c.n0, c.n1)
        squares[always] = -1.0
        kth = np.partition(squares, squares.size - k)[squares.size - k]
        contenders = np.flatnonzero(squares >= kth * (1 - CLOSE))
        surely = squares[contenders] > kth * (1 + CLOSE)
        above, close = contenders[surely], contenders[~surely]
        # Doubles cannot tell the close ones apart: rank the few distinct values among them exactly.
        values, value_of = exact_values(c.I0[close], c.I1[close], c.n0, c.n1)
        for value in sorted(set(values), reverse=True):
            equal = close[np.array([other == value for other in values])[value_of]]
            if above.size + equal.size >= k:
                break
            above = np.concatenate([above, equal])
        return above, equal

    def nothing_omitted(self) -> Event:
        """Return the empty event."""
        return Event()

    def event_above(self, gamma: float, indices: Ints) -> Event:
        """Return the event that all but these columns are at most at gamma."""
        return Event(threshold_cut(gamma), n_at_most=self.size - indices.size)

    def event_by_rank(self, kept_at_cut: Ints, indices: Ints, at_random: bool) -> Event:
        """Return the event of the rule for ties.

        Where they go to the lower column, an omitted feature that stands before the last kept
        one at the cut is strictly below it, a later one at most there.
        """
        cut, n_omitted = self._exact(int(kept_at_cut[0])), self.size - indices.size
        if at_random:
            return Event(cut, n_lottery=n_omitted, n_kept_ties=kept_at_cut.size)
        last = int(kept_at_cut[-1])
        n_below = last + 1 - int(np.searchsorted(indices, last, side="right"))
        return Event(cut, n_below=n_below, n_at_most=n_omitted - n_below)

    def event_before(self, gamma: float | None, at_cut: Ints, n_omitted: int) -> Event:
        """Return the event for columns that were never seen: where they stood is not known."""
        if gamma is not None:
            return Event(threshold_cut(gamma), n_at_most=n_omitted)
        return Event(self._exact(int(at_cut[0])), n_lottery=n_omitted, n_kept_ties=at_cut.size)

    def _exact(self, column: int) -> Fraction:
        c = self.counts
        return exact_cor_squared(int(c.I0[column]), int(c.I1[column]), c.n0, c.n1)


@dataclass(frozen=True)
class RealScores:
    """|COR| or F of real-valued columns.

    ``lam`` and ``nu`` are those of the patterns of known values, see `RealEvent`; ``pattern_of``
    says which of them a column has, ``varies`` whether it varies at all. A constant column has the
    score 0, and the event does not speak of it: under the model there are none. Nor are there
    other columns with the score 0, so that a cut at 0 says nothing.
    """

    scores: Floats
    varies: NDArray[np.bool_]
    statistic: Statistic
    lam: Floats
    nu: Floats
    pattern_of: Ints

    @classmethod
    def of_classes(cls, moments: ClassMoments) -> "RealScores":
        """Return |COR| for two classes, and F for more."""
        counts, pattern_of = moments.patterns()
        lam, _ = class_axes(counts)
        statistic: Statistic = "|COR|" if counts.shape[1] == 2 else "F"
        nu = (counts.sum(axis=1) - counts.shape[1]).astype(np.float64)
        return cls._scored(moments, statistic, lam, nu, pattern_of)

    @classmethod
    def of_line(cls, moments: LineMoments) -> "RealScores":
        """Return |COR| with a real response."""
        patterns, pattern_of = moments.patterns()
        lam = patterns[:, 1:] / moments.unit**2
        return cls._scored(moments, "|COR|", lam, patterns[:, 0] - 2.0, pattern_of)

    @classmethod
    def _scored(
        cls,
        moments: ClassMoments | LineMoments,
        statistic: Statistic,
        lam: Floats,
        nu: Floats,
        pattern_of: Ints,
    ) -> "RealScores":
        between, within = moments.between, moments.within
        total = between + within
        varies = total > 0.0
        total[~varies] = 1.0
        if statistic == "|COR|":
            scores = np.sqrt(between / total)
        else:
            with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                scores = (between / lam.shape[1]) / (within / nu[pattern_of])
            scores = np.nan_to_num(scores, nan=0.0, posinf=np.finfo(np.float64).max)
        return cls(scores, varies, statistic, lam, nu, pattern_of)

    @property
    def size(self) -> int:
        """The number of columns."""
        return self.scores.size

    def above(self, gamma: float) -> NDArray[np.bool_]:
        """Say which columns have a score above gamma."""
        return np.asarray(self.scores > gamma)

    def values(self, columns: Ints) -> Floats:
        """Return the scores of some columns."""
        return np.asarray(self.scores[columns])

    def split_at_rank(self, k: int, always: Ints) -> tuple[Ints, Ints]:
        """Return the columns above the k-th largest score, and those that equal it."""
        scores = self.scores
        if always.size:
            scores = scores.copy()
            scores[always] = -1.0
        kth = np.partition(scores, scores.size - k)[scores.size - k]
        return np.flatnonzero(scores > kth), np.flatnonzero(scores == kth)

    def nothing_omitted(self) -> RealEvent:
        """Return the event that speaks of no feature, without a cut."""
        return self._event(None, np.zeros(self.nu.size, dtype=np.int64))

    def event_above(self, gamma: float, indices: Ints) -> RealEvent:
        """Return the event that all but these columns are at most at gamma."""
        omitted = self.varies.copy()
        omitted[indices] = False
        return self._event(gamma, np.bincount(self.pattern_of[omitted], minlength=self.nu.size))

    def event_by_rank(self, kept_at_cut: Ints, indices: Ints, at_random: bool) -> RealEvent:  # noqa: ARG002
        """Return the event that all but these columns are at most at the cut; ties do not occur."""
        return self.event_above(float(self.scores[kept_at_cut[0]]), indices)

    def event_before(self, gamma: float | None, at_cut: Ints, n_omitted: int) -> RealEvent:
        """Return the event for columns that were never seen, taken to have no missing values."""
        n_features = np.zeros(self.nu.size, dtype=np.int64)
        n_features[0] = n_omitted
        cut = float(self.scores[at_cut[0]]) if gamma is None else gamma
        return self._event(cut, n_features)

    def _event(self, cut: float | None, n_features: Ints) -> RealEvent:
        if cut == 0.0:  # of which the probability is 0: the event would be impossible
            n_features = np.zeros_like(n_features)
        told = n_features > 0
        told[0] = True
        return RealEvent(cut, self.statistic, self.lam[told], self.nu[told], n_features[told])
