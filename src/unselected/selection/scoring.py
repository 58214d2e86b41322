"""How the columns of a table are scored by real values: the score, and the prior of variances."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unselected._typing import ColumnNamer
from unselected.columns.blocks import Columns
from unselected.columns.subset import ColumnSubset
from unselected.selection.real_score import RealScore
from unselected.selection.score_names import SCORE_NAMES
from unselected.selection.scored_columns import ScoredColumns
from unselected.statistics.moments import ClassMoments
from unselected.statistics.scored_sums import ScoredMoments, ScoredSums
from unselected.statistics.summing import over_class_moments
from unselected.statistics.variance_prior import LogVariances, VariancePrior

Variances = Callable[[], LogVariances]


@dataclass(frozen=True, eq=False)
class Scoring:
    """A score that is ready for use.

    Attributes
    ----------
    score : RealScore
    prior : VariancePrior or None
        None where the score does not depend on the scale of a column.
    sums : ScoredSums
    """

    score: RealScore
    prior: VariancePrior | None
    sums: ScoredSums

    @classmethod
    def of(
        cls, score: RealScore, y: NDArray[np.intp], n_classes: int, variances: Variances
    ) -> "Scoring":
        """Return the scoring of cases with these classes.

        ``variances`` is called where the score depends on the scale of a column.
        """
        score, prior = score.checked_with(np.bincount(y, minlength=n_classes)), None
        if not score.scale_free:
            prior = variances().prior(y.size - n_classes)
            score = score.given(prior)
        least = SCORE_NAMES[score.statistic(n_classes)].least
        return cls(score, prior, ScoredSums(y, n_classes, score.of, least))

    def scored(self, moments: ScoredMoments, subset: ColumnSubset) -> ScoredColumns:
        """Return the scores of some columns of a table."""
        return ScoredColumns.of_moments(moments, subset, self.score, self.prior)


def log_variances(
    X: Columns, y: NDArray[np.intp], n_classes: int, label: ColumnNamer
) -> LogVariances:
    """Return the log variances of all columns, in one pass."""
    return sum(over_class_moments(X, y, n_classes, label, _of_part), LogVariances())


def _of_part(moments: ClassMoments, subset: ColumnSubset) -> LogVariances:  # noqa: ARG001
    return LogVariances.of(moments)
