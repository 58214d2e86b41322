"""Fits of classifiers, with the guard against dependence learned from folds."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unselected._typing import Floats, Ints
from unselected.dependence.averaging import LikelihoodAverage
from unselected.dependence.held_out import HeldOut
from unselected.dependence.power import Dependence
from unselected.estimators.fitting import ExactFitting, LeftOutFit, Selected, Values
from unselected.fitted.base import GuardedClasses
from unselected.fitted.predictor import ClassPredictor
from unselected.selection.record import Selection
from unselected.selection.rules import SelectionRule
from unselected.statistics.leaving_out import LeftOut

# The number of folds that the guard is learned from.
N_FOLDS = 10


@dataclass(frozen=True, eq=False)
class ClassFitting(ExactFitting):
    """A fit of a classifier.

    Attributes
    ----------
    dependence : {"none", "tempered", "correlated"}
        Whether the power of the likelihood is learned from folds ("tempered"), and also the weights
        of likelihoods other than the model's own ("correlated").
    """

    dependence: Dependence

    def predictor(self, scores: Any, selection: Selection[Any]) -> ClassPredictor:
        """Return the predictor of a fit to all cases, with its guard."""
        fitted = self.fitted(Selected(scores, selection))
        if self.dependence == "none":
            return ClassPredictor(fitted)
        within = None
        if self.dependence == "correlated":
            values = self.table.with_covariates(self.table.X[:, selection.indices])
            within = fitted.within_classes(fitted.rows(values, self.table.label), self.table.y)
        average = LikelihoodAverage.learn(self._held_out())
        return ClassPredictor(fitted, average=average, within=within)

    def held_out(self) -> HeldOut:
        """Return the evidence on each case from a fit without its fold, selection included."""
        return self._held_out()[0]

    def _held_out(self) -> list[HeldOut]:
        """Return the same for each likelihood, the model's own first."""
        sets = self._folds(LeftOut.rows(np.array([], dtype=np.intp), self.table.y.size))
        self.table.check_classes_left(sets)
        return self._seen_by(next(self.fits_without(sets)))

    def _predictor_of(self, fitted: GuardedClasses, values: Values, y: Any) -> ClassPredictor:
        if self.dependence != "correlated":
            return ClassPredictor(fitted)
        rows = fitted.rows(values(), self.table.label)
        within = fitted.within_classes(rows, y)
        within = within.by_cases(fitted.residuals(rows, y), y, self.table.classes.size)
        return ClassPredictor(fitted, within=within)

    def log_proba_without(
        self, sets: list[LeftOut], rules: list[SelectionRule] | None = None
    ) -> list[list[Floats]]:
        """Return log class probabilities of the cases asked for, from fits without sets of cases.

        There is an array of shape (asked, G) for each rule and set. Everything is learned without
        the set, the guard included.
        """
        return [
            [self._log_proba(fit) for fit in fits] for fits in self.whole_fits_without(sets, rules)
        ]

    def intervals_without(
        self, sets: list[LeftOut], level: float
    ) -> list[tuple[Floats, Floats, Floats]]:
        """Return, for each set, probabilities of the cases asked for, lower and upper ends."""
        return [self._interval(fit, level) for fit in next(self.whole_fits_without(sets, None))]

    def _interval(self, fit: LeftOutFit, level: float) -> tuple[Floats, Floats, Floats]:
        label = self.table.label
        lower, upper = fit.predictor.predict_proba_interval(fit.rows, level=level, label=label)
        return np.exp(self._log_proba(fit)), lower, upper

    def _log_proba(self, fit: LeftOutFit) -> Floats:
        log_proba: Floats = fit.predictor.predict_log_proba(fit.rows, label=self.table.label)
        return log_proba

    def whole_fits_without(
        self, sets: list[LeftOut], rules: list[SelectionRule] | None
    ) -> Iterator[Iterator[LeftOutFit]]:
        """Fit as `fits_without` does, and learn the guard without each set."""
        if self.dependence == "none":
            self.table.check_classes_left(sets)
            yield from self.fits_without(sets, rules)
            return
        inner = [self._folds(left) for left in sets]
        # Each set is followed by its folds, so that the fits of one set are there at a time.
        together = [
            each for left, folds in zip(sets, inner, strict=True) for each in (left, *folds)
        ]
        self.table.check_classes_left(together)
        for fits in self.fits_without(together, rules):
            yield (next(fits).guarded(self._seen_by(islice(fits, len(folds)))) for folds in inner)

    def _folds(self, left: LeftOut) -> list[LeftOut]:
        """Return sets that also leave out a fold of the remaining cases."""
        fold_of = dealt(self.table.y[left.kept], N_FOLDS)
        folds = [left.kept[fold_of == f] for f in np.unique(fold_of)]
        n = self.table.y.size
        return [LeftOut.rows(np.union1d(left.out, fold), n, asked=fold) for fold in folds]

    def _seen_by(self, fits: Iterable[LeftOutFit]) -> list[HeldOut]:
        """Return the evidence on the cases of each fold from the fit without it, by likelihood."""
        parts, priors, asked = [], [], []
        for fit in fits:
            predictor = fit.predictor
            rows = predictor.fitted.rows(fit.rows, self.table.label)
            parts.append(predictor.log_evidence(rows))
            priors.append(np.broadcast_to(predictor.log_prior(rows), parts[-1].shape[1:]))
            asked.append(fit.left.asked)
        cases = np.concatenate(asked)
        order = np.argsort(cases)
        y, prior = self.table.y[cases[order]], np.concatenate(priors)[order]
        evidence = np.concatenate(parts, axis=1)[:, order]
        return [HeldOut.of_classes(one, prior, y) for one in evidence]


def dealt(y: NDArray[np.intp], n_folds: int) -> Ints:
    """Return a fold for each case: stratified by class, in a fixed random order.

    >>> folds = dealt(np.array([0, 0, 0, 1, 1, 1]), 3)
    >>> sorted(folds[:3].tolist()), sorted(folds[3:].tolist())
    ([0, 1, 2], [0, 1, 2])
    """
    shuffled = np.random.default_rng(0).permutation(y.size)
    order = shuffled[np.argsort(y[shuffled], kind="stable")]
    fold_of = np.empty(y.size, dtype=np.int64)
    fold_of[order] = np.arange(y.size) % n_folds
    return fold_of
