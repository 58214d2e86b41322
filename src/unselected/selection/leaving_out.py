"""The scores of columns without some of the cases."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from unselected._typing import ColumnNamer, Floats
from unselected.columns.blocks import Columns, in_threads, shifted, wide_blocks
from unselected.columns.subset import ColumnSubset
from unselected.selection.count_scores import CountScores
from unselected.selection.real_scores import RealScores
from unselected.selection.streaming import Accumulator, StreamingSelection
from unselected.statistics.binarizing import Binarize
from unselected.statistics.counts import ClassCounts, Counted
from unselected.statistics.leaving_out import (
    LeftOut,
    SomeMoments,
    class_moments_without,
    counts_without,
    line_moments_without,
)
from unselected.statistics.moments import LineMoments

S = TypeVar("S", CountScores, RealScores)


def count_scores_without(
    X: Columns,
    y: NDArray[np.intp],
    binarize: Binarize,
    label: ColumnNamer,
    sets: list[LeftOut],
    new_stream: Callable[[], StreamingSelection],
    *,
    n_classes: int = 2,
    missing_allowed: bool = False,
    by_total: bool = False,
) -> list[CountScores]:
    """Return the scores of binary columns that can be selected without each of some sets of cases.

    Parameters
    ----------
    X, y, binarize, label, n_classes, missing_allowed
        As in `counting.over_counts`; the table is read in blocks, which are made dense.
    sets : list of LeftOut
    new_stream : callable
        Returns a new selection by the same rule; each set has its own.
    by_total : bool, default=False
        Whether the totals of all columns are kept.
    """

    def block(values: NDArray[Any], names: ColumnNamer) -> Iterator[tuple[ClassCounts, Floats]]:
        return counts_without(
            values, y, binarize, names, sets, n_classes=n_classes, missing_allowed=missing_allowed
        )

    def score(
        counted: tuple[ClassCounts, Floats],
        left: LeftOut,  # noqa: ARG001
        subset: ColumnSubset,
    ) -> CountScores:
        return CountScores.of_part(Counted(*counted), subset, by_total=by_total)

    blocks = wide_blocks(X, X.dtype.itemsize)
    return _scores_without(X, blocks, label, sets, new_stream, block, score, CountScores.united)


def class_scores_without(
    X: Columns,
    y: NDArray[np.intp],
    n_classes: int,
    label: ColumnNamer,
    sets: list[LeftOut],
    new_stream: Callable[[], StreamingSelection],
) -> list[RealScores]:
    """Return the scores of real-valued columns by class, without each of some sets of cases."""
    n_best = new_stream().n_best

    def block(values: NDArray[Any], names: ColumnNamer) -> Iterator[SomeMoments]:
        return class_moments_without(values, y, n_classes, names, sets, n_best)

    def score(some: SomeMoments, left: LeftOut, subset: ColumnSubset) -> RealScores:  # noqa: ARG001
        if some.places is None:
            return RealScores.of(some.moments, subset)
        scores = RealScores.of(some.moments, subset.take(some.places))
        return replace(scores, n_varying=scores.n_varying + some.n_others)

    blocks = wide_blocks(X)
    return _scores_without(X, blocks, label, sets, new_stream, block, score, RealScores.united)


def line_scores_without(
    X: Columns,
    y: Floats,
    label: ColumnNamer,
    sets: list[LeftOut],
    new_stream: Callable[[], StreamingSelection],
) -> list[RealScores]:
    """Return the scores of columns with a real response, without each of some sets of cases."""

    def block(values: NDArray[Any], names: ColumnNamer) -> Iterator[LineMoments]:
        return line_moments_without(values, y, names, sets)

    def score(moments: LineMoments, left: LeftOut, subset: ColumnSubset) -> RealScores:  # noqa: ARG001
        return RealScores.of(moments, subset)

    blocks = wide_blocks(X)
    return _scores_without(X, blocks, label, sets, new_stream, block, score, RealScores.united)


def _scores_without(
    X: Columns,
    blocks: list[slice],
    label: ColumnNamer,
    sets: list[LeftOut],
    new_stream: Callable[[], StreamingSelection],
    block: Callable[[NDArray[Any], ColumnNamer], Iterator[Any]],
    score: Callable[[Any, LeftOut, ColumnSubset], S],
    unite: Callable[[list[S]], S],
) -> list[S]:
    streams = [new_stream() for _ in sets]
    accumulators = [Accumulator(stream, unite) for stream in streams]
    p = X.shape[1]

    def work(columns: slice) -> list[S]:
        subset = ColumnSubset(np.arange(columns.start, columns.stop), p)
        summed = block(X[:, columns], shifted(label, columns.start))
        each = zip(streams, sets, summed, strict=True)
        return [stream.filter(score(part, left, subset)) for stream, left, part in each]

    for parts in in_threads(work, blocks):
        for accumulator, part in zip(accumulators, parts, strict=True):
            accumulator.add(part)
    return [accumulator.result() for accumulator in accumulators]
