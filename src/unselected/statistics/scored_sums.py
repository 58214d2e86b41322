"""Moments by class together with scores that are no function of them.

A score such as Wilcoxon's sees the values of a column. It is computed where its block is in memory,
and travels with the moments from there on.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from unselected._typing import ColumnNamer, Floats, Ints
from unselected.columns.blocks import copied_blocks, find_missing, shifted
from unselected.columns.sources import SparseColumns
from unselected.statistics.class_sums import ClassSums
from unselected.statistics.moments import ClassMoments

# Scores of complete columns (n, p) given the classes (n,) of their rows, counted from 0.
ColumnScore = Callable[[Floats, Ints, ColumnNamer], Floats]


@dataclass(frozen=True)
class ScoredMoments(ClassMoments):
    """Moments by class, and the scores of the columns."""

    scores: Floats

    _of_columns: ClassVar[tuple[str, ...]] = (*ClassMoments._of_columns, "scores")

    @property
    def unscored(self) -> ClassMoments:
        """The moments alone."""
        return ClassMoments(self.center, self.offset, self.within, self.sizes, self.n)


@dataclass(frozen=True, eq=False)
class ScoredSums(ClassSums):
    """Sums by class, and scores.

    Attributes
    ----------
    score : callable
        Called with the columns that vary. A constant one has the score ``least``.
    least : float
    """

    score: ColumnScore
    least: float

    def block(self, X: NDArray[Any], label: ColumnNamer, n_values: int) -> ScoredMoments:
        """Return the moments and scores of a block."""
        return self._scored(super().block(X, label, n_values), X, label)

    def of_sparse(self, X: SparseColumns, label: ColumnNamer) -> ScoredMoments:
        """Return the moments and scores of a sparse table, made dense a block at a time."""
        n_values = X.shape[0] * X.shape[1]
        parts = [
            self.block(X[:, columns], shifted(label, columns.start), n_values)
            for columns in copied_blocks(X)
        ]
        return ScoredMoments.united(parts)

    def _scored(self, moments: ClassMoments, X: NDArray[Any], label: ColumnNamer) -> ScoredMoments:
        find_missing(X, label, missing_allowed=False)
        varying = np.flatnonzero(moments.between + moments.within > 0.0)
        scores = np.full(moments.size, self.least)
        if varying.size:
            values = np.asarray(X[:, varying], dtype=np.float64)
            scores[varying] = self.score(values, self.y, lambda place: label(int(varying[place])))
        m = moments
        return ScoredMoments(m.center, m.offset, m.within, m.sizes, m.n, scores)
