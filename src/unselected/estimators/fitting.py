"""A fit without scikit-learn: a training set, what is to be selected of it, and the model.

It can be done for all cases, and anew without some of them.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from unselected.contest import Contest, class_scores, count_scores, line_scores
from unselected.counting import Binarize
from unselected.estimators.inputs import TrainingTable
from unselected.kept import KeptBernoulli, KeptGaussian, KeptRegression
from unselected.leaving_out import (
    LeftOut,
    class_scores_without,
    count_scores_without,
    line_scores_without,
)
from unselected.models.bernoulli import BernoulliModel
from unselected.models.gaussian import GaussianModel
from unselected.quadrature import Floats
from unselected.scores import Scores
from unselected.selection import (
    E,
    Selection,
    Ties,
    keep_above,
    keep_all,
    keep_preselected,
    keep_top,
)
from unselected.tables import Ints

K = TypeVar("K", KeptBernoulli, KeptGaussian, KeptRegression)
M = TypeVar("M", BernoulliModel, GaussianModel)


@dataclass(frozen=True, eq=False)
class SelectionRule:
    """What the parameters of an estimator ask for, found to be possible.

    Attributes
    ----------
    k : int or None
    gamma : float or None
        The threshold.
    always : array of int
        Columns that are kept whatever their scores.
    n_before : int or None
        How many columns there were before somebody kept these.
    ties : {"first", "random"}
    seeds : array of int
        Of the draws among ties: a selection that is made again draws the same.
    """

    k: int | None
    gamma: float | None
    always: NDArray[np.intp]
    n_before: int | None
    ties: Ties
    seeds: Ints

    def contest(self) -> Contest:
        """Return who may be forgotten while the table is read."""
        if self.n_before is not None:
            return Contest()
        return Contest(self.k, self.gamma, self.always)

    def select(self, scores: Scores[E]) -> Selection[E]:
        """Return what the rule keeps."""
        if self.n_before is not None:
            return keep_preselected(scores, self.n_before, self.gamma, self.always)
        if self.gamma is not None:
            return keep_above(scores, self.gamma, self.always)
        if self.k is None:
            return keep_all(scores)
        rng = np.random.default_rng(self.seeds)
        return keep_top(scores, self.k, self.ties, self.always, rng)


@dataclass(frozen=True, eq=False)
class Fitting(ABC, Generic[K]):
    """All that it takes to fit to a training set, or to some of its cases.

    Attributes
    ----------
    table : TrainingTable
    rule : SelectionRule
    corrected : bool
        Whether the model is conditioned on the selection.
    sparse : bool
        Whether there are two groups of features, of which one is related to the response.
    """

    table: TrainingTable
    rule: SelectionRule
    corrected: bool
    sparse: bool

    @abstractmethod
    def scores(self, contest: Contest) -> Any:
        """Return the scores of the columns that stay in the contest, of all cases."""

    @abstractmethod
    def scores_without(self, sets: list[LeftOut], contest: Callable[[], Contest]) -> list[Any]:
        """Return the same without each of some sets of cases."""

    @abstractmethod
    def kept(self, scores: Any, selection: Selection[Any], rows: Ints | slice) -> K:
        """Return what is left of the columns that were kept, with the cases in these rows."""

    def with_k(self, k: int) -> "Fitting[K]":
        """Return the same with another number of features."""
        return replace(self, rule=replace(self.rule, k=k))

    def without(self, sets: list[LeftOut]) -> Iterator[tuple[Selection[Any], K]]:
        """Yield selection and fit without each of some sets of cases."""
        for left, scores in zip(sets, self.scores_without(sets, self.rule.contest), strict=True):
            selection = self.rule.select(scores)
            yield selection, self.kept(scores, selection, left.kept)

    def _with_groups(self, model: M, selection: Selection[Any]) -> M:
        """Return the model with two groups of features, where the prior is to have them."""
        if not self.sparse:
            return model
        return replace(model, least_fraction=1.0 / max(1, selection.n_features))

    def _event(self, selection: Selection[Any]) -> Any:
        return selection.event if self.corrected else selection.event.emptied()

    def _names(self, selection: Selection[Any]) -> NDArray[Any] | None:
        return None if self.table.names is None else self.table.names[selection.indices]


@dataclass(frozen=True, eq=False)
class BernoulliFitting(Fitting[KeptBernoulli]):
    """A fit of the model of binary features."""

    model: BernoulliModel
    binarize: Binarize

    def scores(self, contest: Contest) -> Any:
        """Return the scores of the columns that stay in the contest, of all cases."""
        t = self.table
        return count_scores(t.X, t.y, self.binarize, t.label, contest)

    def scores_without(self, sets: list[LeftOut], contest: Callable[[], Contest]) -> list[Any]:
        """Return the same without each of some sets of cases."""
        t = self.table
        return count_scores_without(t.X, t.y, self.binarize, t.label, sets, contest)

    def kept(
        self,
        scores: Any,
        selection: Selection[Any],
        rows: Ints | slice,  # noqa: ARG002
    ) -> KeptBernoulli:
        """Return what is left of the columns that were kept."""
        counted = scores.take(selection.indices)
        return KeptBernoulli(
            model=self._with_groups(self.model, selection),
            counts=counted.counts,
            event=self._event(selection),
            thresholds=counted.cuts,
            binarize=self.binarize,
            classes=self.table.classes,
            names=self._names(selection),
        )


@dataclass(frozen=True, eq=False)
class GaussianFitting(Fitting[KeptGaussian]):
    """A fit of the model of real-valued features and classes."""

    model: GaussianModel
    pseudocounts: Floats

    def scores(self, contest: Contest) -> Any:
        """Return the scores of the columns that stay in the contest, of all cases."""
        t = self.table
        return class_scores(t.X, t.y, t.classes.size, t.label, contest)

    def scores_without(self, sets: list[LeftOut], contest: Callable[[], Contest]) -> list[Any]:
        """Return the same without each of some sets of cases."""
        t = self.table
        return class_scores_without(t.X, t.y, t.classes.size, t.label, sets, contest)

    def kept(
        self,
        scores: Any,
        selection: Selection[Any],
        rows: Ints | slice,  # noqa: ARG002
    ) -> KeptGaussian:
        """Return what is left of the columns that were kept."""
        return KeptGaussian(
            model=self._with_groups(self.model, selection),
            moments=scores.take(selection.indices),
            event=self._event(selection),
            pseudocounts=self.pseudocounts,
            classes=self.table.classes,
            names=self._names(selection),
        )


@dataclass(frozen=True, eq=False)
class RegressionFitting(Fitting[KeptRegression]):
    """A fit of the model of real-valued features and a real response."""

    model: GaussianModel

    def scores(self, contest: Contest) -> Any:
        """Return the scores of the columns that stay in the contest, of all cases."""
        t = self.table
        return line_scores(t.X, t.y, t.label, contest)

    def scores_without(self, sets: list[LeftOut], contest: Callable[[], Contest]) -> list[Any]:
        """Return the same without each of some sets of cases."""
        t = self.table
        return line_scores_without(t.X, t.y, t.label, sets, contest)

    def kept(self, scores: Any, selection: Selection[Any], rows: Ints | slice) -> KeptRegression:
        """Return what is left of the columns that were kept, with the cases in these rows."""
        return KeptRegression(
            model=self._with_groups(self.model, selection),
            moments=scores.take(selection.indices),
            event=self._event(selection),
            y_mean=float(self.table.y[rows].mean()),
            names=self._names(selection),
        )
