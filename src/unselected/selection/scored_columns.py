"""Scores of real-valued columns other than correlation and F, and the event of a cut on them."""

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np

from unselected._typing import Floats, Ints
from unselected.columns.subset import ColumnSubset
from unselected.selection.real_score import RealScore
from unselected.selection.real_scores import RealScores
from unselected.selection.scored_event import ScoredEvent
from unselected.statistics.moments import Statistic
from unselected.statistics.scored_sums import ScoredMoments
from unselected.statistics.variance_prior import VariancePrior


@dataclass(frozen=True, eq=False)
class ScoredColumns(RealScores):
    """Scores that were computed from the values of complete columns.

    Different columns can have equal scores, such as those of ranks; ties are broken by the rule,
    and the event is that of the rule, as for binary features.

    Attributes
    ----------
    score : RealScore
    prior : VariancePrior or None
        Of the variances, where the score depends on them.
    constant : array of int
        The columns that are constant; the event does not include them.
    """

    score: RealScore
    prior: VariancePrior | None
    constant: Ints

    @classmethod
    def of_moments(
        cls,
        moments: ScoredMoments,
        subset: ColumnSubset,
        score: RealScore,
        prior: VariancePrior | None,
    ) -> "ScoredColumns":
        """Return the scores of some columns of a table."""
        constant = subset.columns[moments.between + moments.within <= 0.0]
        return cls(
            **_parts(RealScores.of(moments, subset)), score=score, prior=prior, constant=constant
        )

    @classmethod
    def united(cls, parts: "list[ScoredColumns]") -> "ScoredColumns":  # type: ignore[override]
        """Return the scores of parts of a table together."""
        first = parts[0]
        constant = np.unique(np.concatenate([part.constant for part in parts]))
        together = RealScores.united([RealScores(**_parts(part)) for part in parts])
        return cls(**_parts(together), score=first.score, prior=first.prior, constant=constant)

    @property
    def statistic(self) -> Statistic:
        """What the scores are."""
        return self.score.statistic(self.moments.sizes.size)  # type: ignore[attr-defined]

    @cached_property
    def rough(self) -> Floats:
        """The scores."""
        return np.asarray(self.moments.scores)  # type: ignore[attr-defined]

    def take(self, columns: Ints) -> Any:
        """Return the moments of some columns."""
        return super().take(columns).unscored

    def nothing_omitted(self) -> ScoredEvent:
        """Return the event that includes no feature, without a cut."""
        return self._event_at(None, 0, 0, self._n_all)

    def event_above(self, gamma: float, indices: Ints) -> ScoredEvent:
        """Return the event that all but these columns are at most at gamma."""
        n_kept = self._n_kept(indices)
        return self._event_at(gamma, self._n_all - n_kept, 0, n_kept)

    def event_by_rank(self, kept_at_cut: Ints, indices: Ints, at_random: bool) -> ScoredEvent:
        """Return the event of the rule for ties, see `CountScores.event_by_rank`."""
        cut, n_kept = float(self.values(kept_at_cut[:1])[0]), self._n_kept(indices)
        n_omitted = self._n_all - n_kept
        if at_random:
            return self._event_at(cut, n_omitted, 0, n_kept, kept_at_cut.size)
        last = int(kept_at_cut[-1])
        left_out = np.setdiff1d(self.constant, indices, assume_unique=True)
        n_below = last + 1 - int(np.searchsorted(indices, last, side="right"))
        n_below -= int(np.searchsorted(left_out, last))
        return self._event_at(cut, n_omitted - n_below, n_below, n_kept)

    def event_before(self, gamma: float | None, at_cut: Ints, n_omitted: int) -> ScoredEvent:
        """Return the event for columns never observed, whose positions are unknown."""
        if gamma is not None:
            return self._event_at(gamma, n_omitted, 0, self._n_all)
        cut = float(self.values(at_cut[:1])[0])
        return self._event_at(cut, n_omitted, 0, self._n_all, at_cut.size)

    @property
    def _n_all(self) -> int:
        """The number of columns that vary."""
        return int(self.n_varying.sum())

    def _n_kept(self, indices: Ints) -> int:
        return int(indices.size - np.isin(indices, self.constant).sum())

    def _event_at(
        self, cut: float | None, n_at_most: int, n_below: int, n_kept: int, n_kept_ties: int = 0
    ) -> ScoredEvent:
        return ScoredEvent(
            cut=cut,
            statistic=self.statistic,
            lam=self.lam[:1],
            nu=self.nu[:1],
            n_features=np.array([n_at_most, n_below], dtype=np.int64),
            n_kept_ties=n_kept_ties,
            n_kept=n_kept,
            sizes=self.moments.sizes,  # type: ignore[attr-defined]
            score=self.score,
            prior=self.prior,
        )


def _parts(scores: RealScores) -> Any:
    """Return the fields that all scores of real-valued columns have."""
    return {each.name: getattr(scores, each.name) for each in fields(RealScores)}
