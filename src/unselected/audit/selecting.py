"""Selections that the audit makes itself: inside of the folds, before them, by other responses."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from unselected._typing import Ints
from unselected.audit.column_scores import NumericColumns, Response, column_scores
from unselected.audit.procedures import Predicted, Procedure, predicted_by
from unselected.audit.tables import take_columns
from unselected.audit.trials import Cases


def response_of(y: NDArray[Any], classes: NDArray[Any] | None) -> Response:
    """Return responses as the columns of a design."""
    return Response.numbers(y) if classes is None else Response.classes(y)


@dataclass(frozen=True)
class Selector:
    """A selection of columns by their scores with the responses.

    Attributes
    ----------
    k : int
        The number of strongest columns to keep.
    estimator : scikit-learn selector or None
        Selects in their place.
    classes : array or None
        None for numbers.
    """

    k: int
    estimator: Any
    classes: NDArray[Any] | None

    def __call__(self, X: Any, y: NDArray[Any]) -> Ints:
        """Return the numbers of the columns to keep."""
        if self.estimator is not None:
            fitted = clone(self.estimator).fit(X, y)
            return np.asarray(fitted.get_support(indices=True), dtype=np.int64)
        table = NumericColumns.of(X)
        scores = column_scores(table, response_of(y, self.classes))
        strongest = np.argsort(-np.nan_to_num(scores, nan=-1.0), kind="stable")[: self.k]
        return np.sort(table.numbers[strongest])


@dataclass(frozen=True)
class SelectingInside:
    """A procedure after a selection that sees the training cases only."""

    selector: Selector
    procedure: Procedure

    def __call__(
        self, X: Any, y: NDArray[Any], X_new: Any, groups: NDArray[Any] | None
    ) -> Predicted:
        """Select by ``X`` and ``y``, fit to what is kept, and predict."""
        columns = self.selector(X, y)
        kept, kept_new = take_columns(X, columns), take_columns(X_new, columns)
        return self.procedure(kept, y, kept_new, groups)._replace(features=columns)


@dataclass(frozen=True, eq=False)
class SelectingBefore(Cases):
    """Cases whose columns are selected by all responses, before they are divided into folds."""

    selector: Selector

    def table_for(self, y: NDArray[Any]) -> Any:
        """Return the columns that all cases select."""
        return take_columns(self.X, self.selector(self.X, y))

    @classmethod
    def of(cls, cases: Cases, X: Any, selector: Selector) -> "SelectingBefore":
        """Return the cases with another table, from which columns are selected."""
        return cls(X, cases.y, cases.classes, cases.groups, cases.cv, selector)


@dataclass(frozen=True)
class SelectingByOther:
    """A pipeline whose selection sees the training responses in another order than its model.

    The model then gets as many columns as before, made in the same way, that were not selected for
    its responses: what is left of its overconfidence is not due to the selection.
    """

    pipeline: Pipeline
    n_first: int
    classes: NDArray[Any] | None
    seed: int = 0

    def __call__(
        self,
        X: Any,
        y: NDArray[Any],
        X_new: Any,
        groups: NDArray[Any] | None,  # noqa: ARG002
    ) -> Predicted:
        """Fit the steps up to the selection to other responses than the steps after it."""
        pipeline = clone(self.pipeline)
        first, last = pipeline[: self.n_first], pipeline[self.n_first :]
        other = np.random.default_rng(self.seed).permutation(y)
        kept = first.fit(X, other).transform(X)
        return predicted_by(last.fit(kept, y), first.transform(X_new), self.classes)


def by_other_responses(estimator: Any, classes: NDArray[Any] | None) -> SelectingByOther | None:
    """Return the pipeline with a selection by other responses; None where it has no selector."""
    if not isinstance(estimator, Pipeline):
        return None
    steps = [step for _, step in estimator.steps[:-1]]
    selectors = [j for j, step in enumerate(steps) if hasattr(step, "get_support")]
    return SelectingByOther(estimator, selectors[-1] + 1, classes) if selectors else None
