"""A fit without scikit-learn: a training set, what is to be selected of it, and the model.

It can be done for all cases, and anew without some of them.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Generic, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from unselected._typing import Floats, Ints
from unselected.columns.blocks import Columns
from unselected.dependence.averaging import Weighing
from unselected.dependence.power import Dependence, HeldOut, Tempering
from unselected.estimators.inputs import TrainingTable
from unselected.fitted.explanations import proba_interval
from unselected.fitted.naive_bayes import KeptBernoulli, KeptGaussian, KeptRegression, Worth
from unselected.models.bernoulli import BernoulliModel
from unselected.models.gaussian import GaussianModel
from unselected.numerics.quadrature import log_sum
from unselected.selection.leaving_out import (
    class_scores_without,
    count_scores_without,
    line_scores_without,
)
from unselected.selection.record import Selection
from unselected.selection.rules import SelectionRule
from unselected.selection.streaming import (
    StreamingSelection,
    class_scores,
    count_scores,
    line_scores,
)
from unselected.statistics.binarizing import Binarize
from unselected.statistics.leaving_out import LeftOut

# Evidence is weighed by cases in so many folds.
N_FOLDS = 10

_T = TypeVar("_T")
K = TypeVar("K", KeptBernoulli, KeptGaussian, KeptRegression)
C = TypeVar("C", KeptBernoulli, KeptGaussian)
M = TypeVar("M", BernoulliModel, GaussianModel)


@dataclass(frozen=True, eq=False)
class LeftOutFit(Generic[K]):
    """A fit without some cases.

    Attributes
    ----------
    left : LeftOut
    selection : Selection
    kept : KeptBernoulli, KeptGaussian or KeptRegression
    rows : array of shape (asked, n_kept)
        The kept columns of the cases asked for.
    """

    left: LeftOut
    selection: Selection[Any]
    kept: K
    rows: NDArray[Any]


@dataclass(frozen=True, eq=False)
class _KeptValues:
    """The columns that any of some selections kept, read once."""

    columns: NDArray[np.intp]
    values: NDArray[Any]

    @classmethod
    def of(cls, X: Columns, selections: list[Selection[Any]]) -> "_KeptValues":
        columns = np.unique(np.concatenate([selection.indices for selection in selections]))
        return cls(columns, X[:, columns])

    def take(self, rows: Ints, selection: Selection[Any]) -> NDArray[Any]:
        """Return some rows of the columns that one of them kept."""
        return self.values[np.ix_(rows, np.searchsorted(self.columns, selection.indices))]


def _in_parts(items: list[_T], size: int) -> list[list[_T]]:
    return [items[start : start + size] for start in range(0, len(items), size)]


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
    def scores(self, stream: StreamingSelection) -> Any:
        """Return the scores of the columns that stay in the stream, of all cases."""

    @abstractmethod
    def scores_without(
        self, sets: list[LeftOut], stream: Callable[[], StreamingSelection]
    ) -> list[Any]:
        """Return the same without each of some sets of cases."""

    @abstractmethod
    def kept(self, scores: Any, selection: Selection[Any], rows: Ints | slice) -> K:
        """Return what is left of the columns that were kept, with the cases in these rows."""

    def with_rule(self, rule: SelectionRule) -> Self:
        """Return the same with another rule of selection."""
        return replace(self, rule=rule)

    def fits_without(
        self, sets: list[LeftOut], rules: list[SelectionRule] | None = None
    ) -> list[list[LeftOutFit[K]]]:
        """Fit anew without each of some sets of cases, by each of some rules, in one pass.

        The rules differ in k alone. For each rule, there is a fit for each set.
        """
        cases = self._selected_without(sets, [self.rule] if rules is None else rules)
        values = _KeptValues.of(self.table.X, [selection for _, selection, _ in cases])
        kept = self._together(
            [
                self._with_rows(self.kept(scores, selection, left.kept), left, selection, values)
                for left, selection, scores in cases
            ]
        )
        fits = [
            LeftOutFit(left, selection, one, values.take(left.asked, selection))
            for (left, selection, _), one in zip(cases, kept, strict=True)
        ]
        return _in_parts(fits, len(sets))

    def selections_without(self, sets: list[LeftOut]) -> list[Selection[Any]]:
        """Select anew without each of some sets of cases."""
        return [selection for _, selection, _ in self._selected_without(sets, [self.rule])]

    def _selected_without(
        self, sets: list[LeftOut], rules: list[SelectionRule]
    ) -> list[tuple[LeftOut, Selection[Any], Any]]:
        """Return each set with what is selected without it and the scores, rule after rule."""
        widest = max(rules, key=lambda rule: rule.k or 0)
        each_scores = self.scores_without(sets, widest.streaming)
        return [
            (left, rule.select(scores), scores)
            for rule in rules
            for left, scores in zip(sets, each_scores, strict=True)
        ]

    def _together(self, kept: list[K]) -> list[K]:
        """Return fits whose posteriors are computed together, where that is faster."""
        return kept

    def _with_rows(
        self,
        kept: K,
        left: LeftOut,  # noqa: ARG002
        selection: Selection[Any],  # noqa: ARG002
        values: "_KeptValues",  # noqa: ARG002
    ) -> K:
        """Return a fit with what is learned from the values of its cases, where there is any."""
        return kept

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
class ClassFitting(Fitting[C], Generic[C]):
    """A fit of a model of classes.

    Attributes
    ----------
    dependence : {"none", "tempered", "correlated"}
        Whether it is learned, from folds, what the evidence of the features is worth, and which
        likelihood to believe.
    """

    dependence: Dependence

    def weighed(self, kept: C, selection: Selection[Any]) -> C:
        """Return a fit to all cases with the worth of its evidence, where that is learned."""
        if self.dependence == "none":
            return kept
        if self.dependence == "correlated":
            rows = self.table.X[:, selection.indices]
            kept = kept.with_within(rows, self.table.y, self.table.label)
        return replace(kept, tempering=self._learned(self._held_out()))

    def held_out(self) -> HeldOut:
        """Return what each case looks like to a fit without its fold, selection included."""
        return self._held_out()[0]

    def _held_out(self) -> list[HeldOut]:
        """Return the same by each likelihood, the model's own first."""
        sets = self._folds(LeftOut.rows(np.array([], dtype=np.intp), self.table.y.size))
        self.check_classes_left(sets)
        return self._seen_by(self.fits_without(sets)[0])

    def _learned(self, held_out: list[HeldOut]) -> Worth:
        if self.dependence == "correlated":
            return Weighing.learn(held_out)
        return Tempering.learn(held_out[0])

    def _with_rows(
        self, kept: C, left: LeftOut, selection: Selection[Any], values: "_KeptValues"
    ) -> C:
        if self.dependence != "correlated":
            return kept
        rows, y = values.take(left.kept, selection), self.table.y[left.kept]
        return kept.with_within(rows, y, self.table.label)

    def log_proba_without(
        self, sets: list[LeftOut], rules: list[SelectionRule] | None = None
    ) -> list[list[Floats]]:
        """Return the log probabilities of the classes of cases asked for, without sets of cases.

        For each rule and set, an array of shape (asked, G). Everything is learned without the set,
        what the evidence is worth included.
        """
        return [
            [self._log_proba(fit) for fit in fits] for fits in self._whole_fits_without(sets, rules)
        ]

    def intervals_without(
        self, sets: list[LeftOut], level: float
    ) -> list[tuple[Floats, Floats, Floats]]:
        """Return probabilities of the cases asked for, with lower and upper ends, for each set."""
        return [self._interval(fit, level) for fit in self._whole_fits_without(sets, None)[0]]

    def _interval(self, fit: LeftOutFit[C], level: float) -> tuple[Floats, Floats, Floats]:
        label, log_psi = self.table.label, fit.kept.log_psi
        lower, upper = proba_interval(fit.kept, fit.rows, label, log_psi, level)
        return np.exp(self._log_proba(fit)), lower, upper

    def _log_proba(self, fit: LeftOutFit[C]) -> Floats:
        log_joint = fit.kept.log_joint(fit.rows, self.table.label)
        return np.asarray(log_joint - log_sum(log_joint, axis=1)[:, np.newaxis])

    def _whole_fits_without(
        self, sets: list[LeftOut], rules: list[SelectionRule] | None
    ) -> list[list[LeftOutFit[C]]]:
        """Fit as `fits_without`, and learn without each set what the evidence is worth."""
        tempers = self.dependence != "none"
        inner: list[list[LeftOut]] = [self._folds(left) if tempers else [] for left in sets]
        together = [*sets, *(left for folds in inner for left in folds)]
        self.check_classes_left(together)
        results = []
        for fits in self.fits_without(together, rules):
            outer, rest = fits[: len(sets)], iter(fits[len(sets) :])
            if tempers:
                seen = [self._seen_by([next(rest) for _ in folds]) for folds in inner]
                learned = [self._learned(cases) for cases in seen]
                outer = [_weighed(*both) for both in zip(outer, learned, strict=True)]
            results.append(outer)
        return results

    def check_classes_left(self, sets: list[LeftOut]) -> None:
        """Raise where a class has no case that is not left out."""
        y, classes = self.table.y, self.table.classes
        sizes = np.bincount(y, minlength=classes.size)
        for left in sets:
            gone = np.flatnonzero(np.bincount(y[left.out], minlength=classes.size) == sizes)
            if gone.size:
                raise ValueError(
                    f"class {classes[gone].tolist()[0]!r} has {sizes[gone[0]]} of the cases, and "
                    "leaving cases out leaves none of it: it takes more cases of that class, or no "
                    "class of so few."
                )

    def _folds(self, left: LeftOut) -> list[LeftOut]:
        """Return sets that leave out a fold of the cases that are left, too."""
        fold_of = dealt(self.table.y[left.kept], N_FOLDS)
        folds = [left.kept[fold_of == f] for f in np.unique(fold_of)]
        n = self.table.y.size
        return [LeftOut.rows(np.union1d(left.out, fold), n, asked=fold) for fold in folds]

    def _seen_by(self, fits: list[LeftOutFit[C]]) -> list[HeldOut]:
        """Return what the cases of each fold look like to the fit without it, by likelihood."""
        parts = [
            fit.kept.log_evidence(fit.kept.as_modelled(fit.rows, self.table.label)) for fit in fits
        ]
        prior = np.concatenate([np.tile(fit.kept.log_psi, (len(fit.rows), 1)) for fit in fits])
        rows = np.concatenate([fit.left.asked for fit in fits])
        order = np.argsort(rows)
        y = self.table.y[rows[order]]
        evidence = np.concatenate(parts, axis=1)[:, order]
        return [HeldOut.of_classes(one, prior[order], y) for one in evidence]


def _weighed(fit: LeftOutFit[C], worth: Worth) -> LeftOutFit[C]:
    """Return a fit with what its evidence is worth; its posterior is not computed again."""
    kept = replace(fit.kept, tempering=worth)
    vars(kept)["posterior"] = fit.kept.posterior
    return replace(fit, kept=kept)


def dealt(y: NDArray[np.intp], n_folds: int) -> Ints:
    """Return a fold for each case: the cases of each class are dealt out, in a fixed random order.

    >>> folds = dealt(np.array([0, 0, 0, 1, 1, 1]), 3)
    >>> sorted(folds[:3].tolist()), sorted(folds[3:].tolist())
    ([0, 1, 2], [0, 1, 2])
    """
    shuffled = np.random.default_rng(0).permutation(y.size)
    order = shuffled[np.argsort(y[shuffled], kind="stable")]
    fold_of = np.empty(y.size, dtype=np.int64)
    fold_of[order] = np.arange(y.size) % n_folds
    return fold_of


@dataclass(frozen=True, eq=False)
class BernoulliFitting(ClassFitting[KeptBernoulli]):
    """A fit of the model of binary features."""

    model: BernoulliModel
    binarize: Binarize

    def scores(self, stream: StreamingSelection) -> Any:
        """Return the scores of the columns that stay in the stream, of all cases."""
        t = self.table
        return count_scores(t.X, t.y, self.binarize, t.label, stream)

    def scores_without(
        self, sets: list[LeftOut], stream: Callable[[], StreamingSelection]
    ) -> list[Any]:
        """Return the same without each of some sets of cases."""
        t = self.table
        return count_scores_without(t.X, t.y, self.binarize, t.label, sets, stream)

    def _together(self, kept: list[KeptBernoulli]) -> list[KeptBernoulli]:
        return KeptBernoulli.with_posteriors(kept)

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
class GaussianFitting(ClassFitting[KeptGaussian]):
    """A fit of the model of real-valued features and classes."""

    model: GaussianModel
    pseudocounts: Floats

    def scores(self, stream: StreamingSelection) -> Any:
        """Return the scores of the columns that stay in the stream, of all cases."""
        t = self.table
        return class_scores(t.X, t.y, t.classes.size, t.label, stream)

    def scores_without(
        self, sets: list[LeftOut], stream: Callable[[], StreamingSelection]
    ) -> list[Any]:
        """Return the same without each of some sets of cases."""
        t = self.table
        return class_scores_without(t.X, t.y, t.classes.size, t.label, sets, stream)

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

    def scores(self, stream: StreamingSelection) -> Any:
        """Return the scores of the columns that stay in the stream, of all cases."""
        t = self.table
        return line_scores(t.X, t.y, t.label, stream)

    def scores_without(
        self, sets: list[LeftOut], stream: Callable[[], StreamingSelection]
    ) -> list[Any]:
        """Return the same without each of some sets of cases."""
        t = self.table
        return line_scores_without(t.X, t.y, t.label, sets, stream)

    def kept(self, scores: Any, selection: Selection[Any], rows: Ints | slice) -> KeptRegression:
        """Return what is left of the columns that were kept, with the cases in these rows."""
        return KeptRegression(
            model=self._with_groups(self.model, selection),
            moments=scores.take(selection.indices),
            event=self._event(selection),
            y_mean=float(self.table.y[rows].mean()),
            names=self._names(selection),
        )
