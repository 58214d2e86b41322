"""A fit without scikit-learn: a training set, a selection rule and a model.

All estimators fit along the same path: score the columns, select, condition, and return a
predictor. Models with an exact posterior can also be fitted again without some of the cases.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Any, NamedTuple, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from unselected._typing import Ints
from unselected.columns.blocks import Columns
from unselected.columns.dask import DaskColumns
from unselected.dependence.averaging import LikelihoodAverage
from unselected.dependence.held_out import HeldOut
from unselected.estimators.inputs import TrainingTable
from unselected.fitted.predictor import ClassPredictor, Predictor, ResponsePredictor
from unselected.fitted.ranges import TrainingRanges
from unselected.selection.record import Selection
from unselected.selection.rules import SelectionRule
from unselected.selection.streaming import StreamingSelection
from unselected.statistics.binarizing import FindBinary, as_indicators
from unselected.statistics.leaving_out import LeftOut

_T = TypeVar("_T")
# Reads the kept columns of some cases.
Values = Callable[[], NDArray[Any]]


@dataclass(frozen=True, eq=False)
class LeftOutFit:
    """A fit without some cases.

    Attributes
    ----------
    left : LeftOut
    predictor : ClassPredictor or ResponsePredictor
    rows : array of shape (asked, n_kept)
        The kept columns of the cases asked for, with coded covariates behind them.
    """

    left: LeftOut
    predictor: Any
    rows: NDArray[Any]

    def guarded(self, cases: list[HeldOut]) -> Self:
        """Return the fit with a guard that is learned from cases left out of it."""
        average = LikelihoodAverage.learn(cases)
        return replace(self, predictor=replace(self.predictor, average=average))


@dataclass(frozen=True, eq=False)
class KeptValues:
    """The columns that at least one of several selections kept, read once."""

    columns: NDArray[np.intp]
    values: NDArray[Any]

    @classmethod
    def of(cls, X: Columns, selections: list[Selection[Any]]) -> "KeptValues":
        """Read the columns."""
        columns = np.unique(np.concatenate([selection.indices for selection in selections]))
        # Their rows are taken very often: they are contiguous.
        return cls(columns, np.ascontiguousarray(X[:, columns]))

    def with_indicators(self, find_binary: FindBinary) -> "KeptValues":
        """Return the same, with 0 and 1 in the columns that are modelled as binary."""
        return replace(self, values=as_indicators(self.values, find_binary))

    def take(self, rows: Ints, selection: Selection[Any]) -> NDArray[Any]:
        """Return some rows of the columns that one selection kept."""
        return np.asarray(self.of_all(selection)[rows])

    def of_all(self, selection: Selection[Any]) -> NDArray[Any]:
        """Return all rows of the columns that one selection kept."""
        return self.values.take(np.searchsorted(self.columns, selection.indices), axis=1)


class Selected(NamedTuple):
    """Scores of columns, the columns that were selected by them, and the cases that gave them.

    Attributes
    ----------
    scores : Scores
    selection : Selection
    rows : array of int, or slice
        The cases of the table.
    """

    scores: Any
    selection: Selection[Any]
    rows: Ints | slice = slice(None)


@dataclass(frozen=True, eq=False)
class Fitting(ABC):
    """Everything that a fit to a training set needs.

    Attributes
    ----------
    table : TrainingTable
    rule : SelectionRule
    corrected : bool
        Whether the model is conditioned on the selection.
    """

    table: TrainingTable
    rule: SelectionRule
    corrected: bool

    @abstractmethod
    def scores(self, stream: StreamingSelection) -> Any:
        """Return the scores of the columns, from all cases."""

    @abstractmethod
    def fitted(self, selected: Selected) -> Any:
        """Return the model conditioned on the selected columns of these cases."""

    def predictor(self, scores: Any, selection: Selection[Any]) -> Predictor:
        """Return the predictor of a fit to all cases."""
        return self._unguarded(self.fitted(Selected(scores, selection)))

    def _unguarded(self, fitted: Any) -> Predictor:
        """Return a predictor without a guard against dependence."""
        return ClassPredictor(fitted) if self.table.classes.size else ResponsePredictor(fitted)

    def ranges(self, selection: Selection[Any]) -> TrainingRanges | None:
        """Return the ranges of the kept columns; a dask array would be computed again for them."""
        if isinstance(self.table.X, DaskColumns):
            return None
        return TrainingRanges.of(self.table.X, selection.indices)

    def event(self, selection: Selection[Any]) -> Any:
        """Return the event to condition on."""
        return selection.event if self.corrected else selection.event.emptied()

    def names(self, selection: Selection[Any]) -> NDArray[Any] | None:
        """Return the names of the kept columns, or None."""
        return None if self.table.names is None else self.table.names[selection.indices]


@dataclass(frozen=True, eq=False)
class ExactFitting(Fitting):
    """A fit of a model with an exact posterior, which can be repeated without some cases.

    Attributes
    ----------
    sparse : bool
        Whether there are two groups of features, of which one is related to the response.
    """

    sparse: bool

    @abstractmethod
    def scores_without(
        self, sets: list[LeftOut], new_stream: Callable[[], StreamingSelection]
    ) -> list[Any]:
        """Return the scores without each of several sets of cases."""

    def with_rule(self, rule: SelectionRule) -> Self:
        """Return the same fit with another selection rule."""
        return replace(self, rule=rule)

    def fits_without(
        self, sets: list[LeftOut], rules: list[SelectionRule] | None = None
    ) -> Iterator[Iterator[LeftOutFit]]:
        """Fit again without each of several sets of cases, by each of several rules, in one pass.

        The rules differ only in k. Yields for each rule the fits without each set, each of which is
        made when it is asked for: all at once would take much memory.
        """
        rules = [self.rule] if rules is None else rules
        cases = self._selected_without(sets, rules)
        values = KeptValues.of(self.table.X, [one.selection for one in cases])
        made = self._left_out(sets * len(rules), cases, values)
        for _ in rules:
            yield islice(made, len(sets))

    def _left_out(
        self, lefts: list[LeftOut], cases: list[Selected], values: KeptValues
    ) -> Iterator[LeftOutFit]:
        for left, one, model in zip(lefts, cases, self._together(cases), strict=True):
            own = partial(self._rows_of, values, left.kept, one.selection)
            predictor = self._predictor_of(model, own, self.table.y[one.rows])
            yield LeftOutFit(left, predictor, self._rows_of(values, left.asked, one.selection))

    def _rows_of(self, values: KeptValues, cases: Ints, selection: Selection[Any]) -> NDArray[Any]:
        """Return the kept columns of some cases, and their covariates behind them."""
        return self.table.with_covariates(values.take(cases, selection), cases)

    def selections_without(self, sets: list[LeftOut]) -> list[Selection[Any]]:
        """Select again without each of several sets of cases."""
        return [one.selection for one in self._selected_without(sets, [self.rule])]

    def _selected_without(self, sets: list[LeftOut], rules: list[SelectionRule]) -> list[Selected]:
        """Return what is selected without each set, rule after rule."""
        widest = max(rules, key=lambda rule: rule.k or 0)
        each_scores = self.scores_without(sets, widest.streaming)
        return [
            Selected(scores, rule.select(scores), left.kept)
            for rule in rules
            for left, scores in zip(sets, each_scores, strict=True)
        ]

    def _together(self, cases: list[Selected]) -> Iterable[Any]:
        """Return the fits, with their posteriors computed together where that is faster."""
        return map(self.fitted, cases)

    def _predictor_of(self, fitted: Any, values: Values, y: Any) -> Predictor:  # noqa: ARG002
        """Return the predictor of a fit without cases; ``values`` returns its kept columns."""
        return self._unguarded(fitted)

    def _with_groups(self, prior: _T, selection: Selection[Any]) -> _T:
        """Return the prior, with two groups of features where the fit is sparse."""
        if not self.sparse:
            return prior
        least: Any = {"least_fraction": 1.0 / max(1, selection.n_features)}
        return replace(prior, **least)  # type: ignore[type-var]
