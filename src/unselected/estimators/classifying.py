"""What the selective classifiers do once they are fitted."""

from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import check_cv
from sklearn.utils.validation import check_is_fitted

from unselected._typing import ColumnNamer, Floats, Ints
from unselected.dependence.averaging import Weighing
from unselected.dependence.diagnosis import DependenceReport
from unselected.dependence.power import Dependence, Tempering
from unselected.estimators.explaining import ExplainingClassifier
from unselected.estimators.fitting import ClassFitting
from unselected.estimators.inputs import check_choice
from unselected.estimators.leave_one_out import (
    LeaveOneOutScore,
    class_scores,
    log_proba_without_each,
)
from unselected.estimators.panel import ClassifierPanel
from unselected.estimators.selecting import SelectingEstimator
from unselected.fitted.naive_bayes import KeptBernoulli, KeptGaussian
from unselected.selection.record import Selection
from unselected.selection.rules import SelectionRule
from unselected.statistics.leaving_out import LeftOut

C = TypeVar("C", KeptBernoulli, KeptGaussian)


class SelectingClassifier(ExplainingClassifier, SelectingEstimator, Generic[C]):
    """Predictions from what was kept."""

    dependence: Dependence
    tempering_: Tempering
    weighing_: Weighing
    _kept: C

    def loo_predict_log_proba(self) -> Floats:
        """Return the log of what `loo_predict_proba` returns.

        Returns
        -------
        log_proba : ndarray of shape (n_samples, n_classes)
        """
        fitting = self._fitting_to_leave_out()
        if self.k == "loo":
            return self._refitted_without_each(fitting)
        return log_proba_without_each(fitting, [fitting.rule])[0]

    def loo_predict_proba(self) -> Floats:
        """Return the probabilities of each training case, from a fit without it.

        Everything is done anew without the case: cuts at medians, selection, the event and the
        posterior, and with ``dependence="tempered"`` the worth of the evidence. It is what n fits
        would give, from one more pass over the training set; with ``k="loo"`` it is n fits.

        Returns
        -------
        proba : ndarray of shape (n_samples, n_classes)
            In the order of the training cases and of ``classes_``.
        """
        return np.exp(self.loo_predict_log_proba())

    def cv_predict_proba(self, cv: Any = 10) -> Floats:
        """Return the probabilities of each training case, from a fit without its fold.

        Parameters
        ----------
        cv : int, splitter or iterable, default=10
            As in scikit-learn; every case must be in one test fold. A number gives stratified
            folds in the order of the cases. Cases that are in neither part of a split are left
            out too; one that is in its training part more than once counts once.

        Returns
        -------
        proba : ndarray of shape (n_samples, n_classes)
        """
        fitting, sets = self._fitting_to_leave_out(), self._sets_of(cv)
        return self._in_order(sets, np.exp(np.concatenate(fitting.log_proba_without(sets)[0])))

    def cv_predict_proba_interval(
        self, cv: Any = 10, *, level: float = 0.9
    ) -> tuple[Floats, Floats, Floats]:
        """Return the same probabilities, and intervals of them.

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
        """Return what is left out in each fold."""
        if self.k == "loo":
            raise ValueError(
                "folds of the training set do not go with k='loo': use "
                "sklearn.model_selection.cross_val_predict, which chooses k in every fold."
            )
        y = self._checked_fitting().table.y
        rows = np.arange(y.size)
        splits = check_cv(cv, y, classifier=True).split(np.zeros((y.size, 1)), y)
        sets = [
            LeftOut.rows(np.setdiff1d(rows, rows[train]), y.size, rows[test])
            for train, test in splits
        ]
        if not np.array_equal(np.sort(_asked(sets)), rows):
            raise ValueError("cv must have every case in one test fold, and in one only.")
        return sets

    def _in_order(self, sets: list[LeftOut], values: Floats) -> Floats:
        """Return what was found fold by fold in the order of the cases."""
        ordered = np.empty_like(values)
        ordered[_asked(sets)] = values
        return ordered

    def dependence_report(self) -> DependenceReport:
        """Say whether the kept features depend on each other within classes, and what it does.

        The correlations are those of the training cases. What a unit of evidence is worth comes
        from a fit without each of ten folds, selection included, which takes one more pass over
        the training set; with ``dependence="tempered"`` it is known from `fit`. With
        ``preselected_from`` the folds cannot repeat the selection, and it may come out too high.

        Returns
        -------
        report : DependenceReport
            ``correlation``, ``slope``, and ``advice``, sentences of which the last says what to do.

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
        fitting, kept = self._checked_fitting(), self._kept
        table, tempering = fitting.table, kept.tempering
        rows = kept.as_modelled(table.X[:, self.selection_.indices], self._label_kept)
        held_out = fitting.held_out() if tempering is None else tempering.left_out
        return DependenceReport.of(rows, table.y, held_out, dependence=self.dependence)

    def _loo_scores(
        self, fitting: ClassFitting[C], rules: list[SelectionRule]
    ) -> list[LeaveOneOutScore]:
        return class_scores(log_proba_without_each(fitting, rules), fitting.table.y, rules)

    def _refitted_without_each(self, fitting: ClassFitting[C]) -> Floats:
        """Return log probabilities from a fit of its own for each case, in which k is chosen."""
        X, y = fitting.table.dense, fitting.table.y
        sets = LeftOut.each_of(y.size)
        fitting.check_classes_left(sets)
        model = clone(self).set_params(always_keep=fitting.rule.always)  # X has no names
        parts = [
            clone(model).fit(X[left.kept], y[left.kept]).predict_log_proba(X[left.out])
            for left in sets
        ]
        return np.concatenate(parts)

    def _finished(self, fitting: ClassFitting[C], kept: C, selection: Selection[Any]) -> C:
        return fitting.weighed(kept, selection)

    def _checked_dependence(self) -> Dependence:
        check_choice("dependence", self.dependence, ("none", "tempered", "correlated"))
        return self.dependence

    def _remember_worth(self) -> None:
        """Show what was learned of what the evidence is worth."""
        worth = self._kept.tempering
        if isinstance(worth, Weighing):
            self.weighing_ = worth
        elif worth is not None:
            self.tempering_ = worth

    def panel(self) -> ClassifierPanel[C]:
        """Return a fitted classifier that needs only the kept columns.

        Returns
        -------
        panel : ClassifierPanel
            It predicts as this classifier does, from tables with the kept columns: matched by
            name, in any order, where names exist; else in the order of ``selection_.indices``.
        """
        check_is_fitted(self)
        return ClassifierPanel(self._kept)

    def _log_joint(self, X: Any, log_prior: Floats | None = None) -> Floats:
        check_is_fitted(self)
        rows = self._kept_of(self._checked_rows(X))
        return self._kept.log_joint(rows, self._label_kept, log_prior)

    @property
    def _log_psi(self) -> Floats:
        check_is_fitted(self)
        return self._kept.log_psi

    def _kept_and_rows(self, X: Any) -> tuple[C, NDArray[Any], ColumnNamer, NDArray[Any]]:
        check_is_fitted(self)
        rows = self._kept_of(self._checked_rows(X))
        return self._kept, rows, self._label_kept, self._features_kept


def _asked(sets: list[LeftOut]) -> Ints:
    return np.concatenate([left.asked for left in sets])
