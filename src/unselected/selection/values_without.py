"""Scores of real values without some of the cases."""

from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unselected._typing import ColumnNamer
from unselected.columns.blocks import Columns, shifted, wide_blocks
from unselected.columns.subset import ColumnSubset
from unselected.selection.leaving_out import scores_of_sets
from unselected.selection.real_score import RealScore
from unselected.selection.scored_columns import ScoredColumns
from unselected.selection.scoring import Scoring
from unselected.selection.streaming import StreamingSelection
from unselected.statistics.leaving_out import LeftOut, class_moments_without
from unselected.statistics.scored_sums import ScoredMoments
from unselected.statistics.variance_prior import LogVariances


def value_scores_without(
    X: Columns,
    y: NDArray[np.intp],
    n_classes: int,
    label: ColumnNamer,
    sets: list[LeftOut],
    new_stream: Callable[[], StreamingSelection],
    score: RealScore,
) -> list[ScoredColumns]:
    """Return scores of real values by class, without each of some sets of cases."""
    seen = cache(partial(_log_variances_without, X, y, n_classes, label, sets))

    def variances(place: int) -> LogVariances:
        return seen()[place]

    scorings = [
        Scoring.of(score, y[left.kept], n_classes, partial(variances, place))
        for place, left in enumerate(sets)
    ]

    def block(values: NDArray[Any], names: ColumnNamer) -> Iterator[tuple[Scoring, ScoredMoments]]:
        for left, scoring in zip(sets, scorings, strict=True):
            yield scoring, scoring.sums.block(values[left.kept], names, values.size)

    def scored(
        part: tuple[Scoring, ScoredMoments],
        left: LeftOut,  # noqa: ARG001
        subset: ColumnSubset,
    ) -> ScoredColumns:
        return part[0].scored(part[1], subset)

    blocks = wide_blocks(X)
    return scores_of_sets(X, blocks, label, sets, new_stream, block, scored, ScoredColumns.united)


def _log_variances_without(
    X: Columns, y: NDArray[np.intp], n_classes: int, label: ColumnNamer, sets: list[LeftOut]
) -> list[LogVariances]:
    """Return the log variances of all columns without each set of cases, in one pass."""
    seen = [LogVariances() for _ in sets]
    for columns in wide_blocks(X):
        names = shifted(label, columns.start)
        each = class_moments_without(X[:, columns], y, n_classes, names, sets)
        seen = [one + LogVariances.of(some.moments) for one, some in zip(seen, each, strict=True)]
    return seen
