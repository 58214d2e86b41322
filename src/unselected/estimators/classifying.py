"""The base of the classifiers with an exact posterior: predictions, also out of sample."""

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import check_cv

from unselected._typing import Floats, Ints
from unselected.dependence.averaging import LikelihoodAverage
from unselected.dependence.diagnosis import DependenceReport, Untried
from unselected.dependence.power import Dependence
from unselected.estimators.class_fitting import ClassFitting
from unselected.estimators.exact import ExactEstimator
from unselected.estimators.fitting import LeftOutFit
from unselected.estimators.leave_one_out import (
    LeaveOneOutScore,
    class_scores,
    log_proba_without_each,
)
from unselected.estimators.out_of_fold import ClassAddedValue, sets_of_splits
from unselected.estimators.parameters import check_choice
from unselected.estimators.predicting import ExplainedPredictions
from unselected.selection.rules import SelectionRule
from unselected.statistics.leaving_out import LeftOut


class ExactClassifier(ExplainedPredictions, ClassAddedValue, ExactEstimator):
    """Predictions, leave-one-out and cross-validated predictions, and the dependence report."""

    dependence: Dependence
    likelihood_average_: LikelihoodAverage

    def loo_predict_log_proba(self) -> Floats:
        """Return leave-one-out log probabilities, see `loo_predict_proba`.

        Returns
        -------
        log_proba : ndarray of shape (n_samples, n_classes)
        """
        fitting = self._fitting_to_leave_out()
        if self.k == "loo":
            return self._refitted_without_each(fitting)
        return log_proba_without_each(fitting, [fitting.rule])[0]

    def loo_predict_proba(self) -> Floats:
        """Return leave-one-out probabilities: those of each training case from a fit without it.

        Everything is repeated without the case: cuts at medians, selection, event, posterior, and
        the guard against dependence. The result is that of n fits, but takes one more pass over the
        training set. With ``k="loo"`` there are n fits.

        Returns
        -------
        proba : ndarray of shape (n_samples, n_classes)
            In the order of the training cases and of ``classes_``.
        """
        return np.exp(self.loo_predict_log_proba())

    def cv_predict_proba(self, cv: Any = 10) -> Floats:
        """Return cross-validated probabilities: those of each case from a fit without its fold.

        Parameters
        ----------
        cv : int, splitter or iterable, default=10
            As in scikit-learn. Every case must be in exactly one test fold. A number gives
            stratified folds in the order of the cases. Cases in neither part of a split are left
            out. A case that is several times in the training part counts once.

        Returns
        -------
        proba : ndarray of shape (n_samples, n_classes)
        """
        fitting, sets = self._fitting_to_leave_out(), self._sets_of(cv)
        return self._in_order(sets, np.exp(np.concatenate(fitting.log_proba_without(sets)[0])))

    def cv_predict_proba_interval(
        self, cv: Any = 10, *, level: float = 0.9
    ) -> tuple[Floats, Floats, Floats]:
        """Return cross-validated probabilities and their intervals.

        Parameters
        ----------
        cv : int, splitter or iterable, default=10
            See `cv_predict_proba`.
        level : float, default=0.9
            See `predict_proba_interval`.

        Returns
        -------
        proba, lower, upper : ndarrays of shape (n_samples, n_classes)
        """
        fitting, sets = self._fitting_to_leave_out(), self._sets_of(cv)
        parts = zip(*fitting.intervals_without(sets, level), strict=True)
        proba, lower, upper = (self._in_order(sets, np.concatenate(part)) for part in parts)
        return proba, lower, upper

    def _sets_of(self, cv: Any) -> list[LeftOut]:
        """Return the set left out in each fold."""
        if self.k == "loo":
            raise ValueError(
                "cross-validation of the fitted estimator is not available with k='loo': use "
                "sklearn.model_selection.cross_val_predict, which chooses k in every fold."
            )
        y = self._checked_fitting().table.y
        splits = check_cv(cv, y, classifier=True).split(np.zeros((y.size, 1)), y)
        return sets_of_splits(splits, y.size)

    def _fits_without(self, fitting: ClassFitting, sets: list[LeftOut]) -> Iterator[LeftOutFit]:
        return next(fitting.whole_fits_without(sets, None))

    def _in_order(self, sets: list[LeftOut], values: Floats) -> Floats:
        """Return values that are ordered by fold in the order of the cases."""
        ordered = np.empty_like(values)
        ordered[_asked(sets)] = values
        return ordered

    def dependence_report(self) -> DependenceReport:
        """Return whether the kept features depend on each other within classes, and the effect.

        The correlations are those of the training cases. The slope, how much the log odds should
        be scaled, is estimated by ten-fold cross-validation, selection included. This takes one
        more pass over the training set, unless ``dependence`` is "tempered" or "correlated": then
        it is known from `fit`. With ``preselected_from`` the folds cannot repeat the selection, and
        the slope may be too high.

        Returns
        -------
        report : DependenceReport
            ``correlation``, ``slope``, and ``advice``. The last sentence of the advice says what to
            do.

        Examples
        --------
        One measurement, ten times over.

        >>> from unselected import SelectiveGaussianNB
        >>> rng = np.random.default_rng(0)
        >>> y = np.arange(100) % 2
        >>> X = rng.normal(size=(100, 1)) + y[:, np.newaxis] + 0.3 * rng.normal(size=(100, 10))
        >>> report = SelectiveGaussianNB(k=5).fit(X, y).dependence_report()
        >>> round(report.correlation.effective_features, 1), report.slope.high < 1
        (1.2, True)
        >>> report.advice[-1]
        'Use dependence="correlated".'
        """
        fitting, predictor = self._checked_fitting(), self._predictor
        table, held_out = fitting.table, predictor.average.left_out
        values = table.with_covariates(table.X[:, self.selection_.indices])
        rows = predictor.fitted.rows(values, self._label_kept)
        if not held_out.size:
            held_out = fitting.held_out()
        return DependenceReport.of(
            predictor.fitted.residuals(rows, table.y),
            table.y,
            held_out,
            dependence=self.dependence,
            untried=self._untried,
        )

    @property
    def _untried(self) -> Untried:
        """What may help where the model finds little signal, and is not in use."""
        return (("prior", "sparse"),) if self.prior == "common" else ()

    def _loo_scores(
        self, fitting: ClassFitting, rules: list[SelectionRule]
    ) -> list[LeaveOneOutScore]:
        return class_scores(log_proba_without_each(fitting, rules), fitting.table.y, rules)

    def _refitted_without_each(self, fitting: ClassFitting) -> Floats:
        """Return log probabilities from a separate fit for each case, which chooses its own k."""
        table = fitting.table
        X, y = table.dense, table.y
        sets = LeftOut.each_of(y.size)
        table.check_classes_left(sets)
        # X has neither names nor covariates.
        model = clone(self).set_params(always_keep=fitting.rule.always, covariates=None)
        parts = []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # `fit` has given them
            for left in sets:
                fitted = clone(model).fit(X[left.kept], y[left.kept], table.coded_at(left.kept))
                coded = table.coded_at(left.out)
                parts.append(fitted.predict_log_proba(X[left.out], covariates=coded))
        return np.concatenate(parts)

    def _checked_dependence(self) -> Dependence:
        check_choice("dependence", self.dependence, ("none", "tempered", "correlated"))
        return self.dependence

    def _fit(self, fitting: Any) -> Any:
        scores = super()._fit(fitting)
        self.likelihood_average_ = self._predictor.average
        return scores


def _asked(sets: list[LeftOut]) -> Ints:
    return np.concatenate([left.asked for left in sets])
