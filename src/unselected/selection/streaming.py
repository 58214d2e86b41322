"""Streaming top-k selection: the scores of a table are filtered while it is read.

A column that is below the k-th best so far, or not above a threshold, is dropped at once. So memory
depends on the columns that can still be selected, not on the number p of columns. Of the dropped
columns only their number is known.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from unselected._typing import ColumnNamer, Floats, Ints
from unselected.columns.blocks import Columns
from unselected.columns.subset import ColumnSubset
from unselected.selection.count_score import EXPLAINED, CountScore
from unselected.selection.count_scores import CountScores
from unselected.selection.families import FamilyScores
from unselected.selection.real_score import RealScore
from unselected.selection.real_scores import RealScores
from unselected.selection.scored_columns import ScoredColumns
from unselected.selection.scoring import Scoring, log_variances
from unselected.statistics.binarizing import Binarize
from unselected.statistics.counting import over_counts
from unselected.statistics.counts import Counted
from unselected.statistics.design import Design
from unselected.statistics.moments import Moments
from unselected.statistics.scored_sums import ScoredMoments
from unselected.statistics.summing import (
    over_adjusted_moments,
    over_class_moments,
    over_line_moments,
    over_scored_moments,
)

S = TypeVar("S", CountScores, RealScores, FamilyScores, ScoredColumns)

# Number of columns that gives the first bound.
_FEW = 4096
# Columns are filtered again where more than this, plus twice the number to keep, have come in.
_WAITING = 10_000


@dataclass
class StreamingSelection:
    """The rule by which columns are dropped.

    Attributes
    ----------
    k : int or None
        Largest number of competing columns that will be kept.
    gamma : float or None
        Nothing at or below this will be kept.
    always : array of int
        Columns that are kept and do not compete.
    bound : float
        A lower bound of the k-th best score, from the columns so far.
    """

    k: int | None = None
    gamma: float | None = None
    always: Ints = field(default_factory=lambda: np.array([], dtype=np.intp))
    bound: float = -np.inf

    def filter(self, scores: S) -> S:
        """Return the scores of the columns that stay, ties at the k-th place included."""
        if self.gamma is None and self.k is None:
            return scores
        if self.gamma is not None:
            above = scores.subset.places(scores.above(self.gamma))
            return scores.stay(np.union1d(above, np.flatnonzero(self._exempt(scores.subset))))
        if self.bound == -np.inf:  # the k-th best of a few columns is not above that of all
            few = scores.stay(np.arange(min(max(_FEW, 8 * self._k), scores.subset.columns.size)))
            scores = self._at_least(scores, self._kth(few))
        else:
            scores = self._at_least(scores, self.bound)
        return self._at_least(scores, self._kth(scores))

    @property
    def n_best(self) -> int | None:
        """The number of best columns that are enough; None where others are needed too."""
        return None if self.gamma is not None or self.always.size else self.k

    def learn(self, scores: S) -> None:
        """Raise the bound to the k-th best of these."""
        if self.k is not None:
            self.bound = max(self.bound, self._kth(scores))

    @property
    def _k(self) -> int:
        assert self.k is not None
        return self.k

    def _at_least(self, scores: S, bound: float) -> S:
        """Return the scores of at least this value, and those of columns that do not compete."""
        if bound == -np.inf:
            return scores
        staying = scores.at_least(bound - scores.close * abs(bound))
        if self.always.size:
            staying |= self._exempt(scores.subset)
        return scores.stay(np.flatnonzero(staying))

    def _kth(self, scores: S) -> float:
        """Return the k-th best of those that compete."""
        rough = scores.rough
        if self.always.size:
            rough = rough[~self._exempt(scores.subset)]
        return _kth(rough, self._k)

    def _exempt(self, subset: ColumnSubset) -> NDArray[np.bool_]:
        """Say which columns do not compete."""
        return np.isin(subset.columns, self.always, assume_unique=True)


def _kth(values: Floats, k: int) -> float:
    """Return the k-th largest value; -inf where there are fewer."""
    if values.size < k:
        return -np.inf
    return float(np.partition(values, values.size - k)[values.size - k])


def count_scores(
    X: Columns,
    y: NDArray[np.intp],
    binarize: Binarize,
    label: ColumnNamer,
    stream: StreamingSelection,
    *,
    n_classes: int = 2,
    missing_allowed: bool = False,
    ploidy: int = 1,
    by_total: bool = False,
    score: CountScore = EXPLAINED,
) -> CountScores:
    """Return the scores of the binary columns that can be selected, in one pass over a table.

    The parameters are those of `counting.over_counts`. ``by_total`` keeps all columns' totals.

    >>> X = np.array([[0, 1, 0], [0, 0, 1], [1, 1, 0], [1, 0, 0]])
    >>> best = count_scores(X, np.array([0, 0, 1, 1]), None, str, StreamingSelection(k=1))
    >>> best.subset.columns.tolist(), best.size
    ([0], 3)
    """
    then = partial(_filter_counts, stream=stream, by_total=by_total, score=score)
    how: dict[str, Any] = {"n_classes": n_classes, "missing_allowed": missing_allowed}
    parts = over_counts(X, y, binarize, label, then, **how, ploidy=ploidy)
    return _gather(parts, stream, CountScores.united)


def class_scores(
    X: Columns, y: NDArray[np.intp], n_classes: int, label: ColumnNamer, stream: StreamingSelection
) -> RealScores:
    """Return the scores of the real-valued columns that can be selected, by class."""
    then = partial(_filter_moments, stream=stream)
    parts = over_class_moments(X, y, n_classes, label, then)
    return _gather(parts, stream, RealScores.united)


def value_scores(
    X: Columns,
    y: NDArray[np.intp],
    n_classes: int,
    label: ColumnNamer,
    stream: StreamingSelection,
    score: RealScore,
) -> ScoredColumns:
    """Return scores of real values, by class, of the columns that can be selected."""
    variances = partial(log_variances, X, y, n_classes, label)
    scoring = Scoring.of(score, y, n_classes, variances)
    then = partial(_filter_scored, stream=stream, scoring=scoring)
    return _gather(over_scored_moments(X, scoring.sums, label, then), stream, ScoredColumns.united)


def line_scores(
    X: Columns, y: Floats, label: ColumnNamer, stream: StreamingSelection
) -> RealScores:
    """Return the scores of the real-valued columns that can be selected, with a real response."""
    then = partial(_filter_moments, stream=stream)
    return _gather(over_line_moments(X, y, label, then), stream, RealScores.united)


def adjusted_scores(
    X: Columns, design: Design, label: ColumnNamer, stream: StreamingSelection
) -> RealScores:
    """Return the scores of the real-valued columns that can be selected, given covariates."""
    then = partial(_filter_moments, stream=stream)
    return _gather(over_adjusted_moments(X, design, label, then), stream, RealScores.united)


def _filter_counts(
    counted: Counted,
    subset: ColumnSubset,
    *,
    stream: StreamingSelection,
    by_total: bool,
    score: CountScore,
) -> CountScores:
    return stream.filter(CountScores.of_part(counted, subset, by_total=by_total, score=score))


def _filter_moments(
    moments: Moments, subset: ColumnSubset, *, stream: StreamingSelection
) -> RealScores:
    return stream.filter(RealScores.of(moments, subset))


def _filter_scored(
    moments: ScoredMoments,
    subset: ColumnSubset,
    *,
    stream: StreamingSelection,
    scoring: Scoring,
) -> ScoredColumns:
    return stream.filter(scoring.scored(moments, subset))


def _gather(parts: Iterator[S], stream: StreamingSelection, unite: Callable[[list[S]], S]) -> S:
    gathering = Accumulator(stream, unite)
    for part in parts:
        gathering.add(part)
    return gathering.result()


class Accumulator(Generic[S]):
    """Parts of a table as they come in, filtered again whenever they have too many columns."""

    def __init__(self, stream: StreamingSelection, unite: Callable[[list[S]], S]) -> None:
        self._stream = stream
        self._unite: Callable[[list[S]], S] = unite
        self._parts: list[S] = []
        self._waiting = 0
        self._most = np.inf if stream.k is None else 2 * stream.k + _WAITING

    def add(self, part: S) -> None:
        """Take in a part, filtered already by the same stream."""
        stream = self._stream
        self._parts.append(part)
        self._waiting += part.subset.columns.size
        knows_nothing = stream.k is not None and stream.bound == -np.inf
        if self._waiting > self._most or knows_nothing:
            whole = stream.filter(self._unite(self._parts))
            stream.learn(whole)
            self._parts, self._waiting = [whole], whole.subset.columns.size
            self._most = max(self._most, 2 * self._waiting)

    def result(self) -> S:
        """Return the parts together."""
        whole: S = self._unite(self._parts)
        return self._stream.filter(whole)
