"""The base of the estimators with an exact posterior: effects, k path, leave-one-out."""

import warnings
from abc import abstractmethod
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from sklearn.base import clone

from unselected._typing import Floats
from unselected.estimators.leave_one_out import KPath, k_grid
from unselected.estimators.parameters import (
    check_choice,
    check_positive_pair,
    check_whole,
    check_zero_or_between,
)
from unselected.estimators.selecting import CHOSEN_LATER, SelectiveEstimator
from unselected.fitted.effects import FeatureEffects
from unselected.models.gaussian import GaussianModel
from unselected.models.gaussian_prior import SHRINKAGE_BOUNDS
from unselected.selection.rules import SelectionRule
from unselected.statistics.leaving_out import LeftOut

Prior = Literal["common", "sparse"]


class ExactEstimator(SelectiveEstimator):
    """The base of the estimators with an exact posterior: effects, k path, leave-one-out."""

    prior: Prior

    k_path_: list[Any]
    concentration_: Floats
    concentration_weights_: Floats
    omission_probability_: Floats
    related_fraction_: Floats
    related_probability_: Floats
    log_marginal_likelihood_: float

    _finds_k = "loo"

    def feature_effects(self, *, level: float = 0.9) -> FeatureEffects:
        """Return the effects of the kept features: naive estimates and posterior means.

        A feature is kept because it looks strong, so its naive estimate is too large. The posterior
        is conditioned on the selection and corrects for that. The features are in the order of
        ``selection_.indices``.

        Parameters
        ----------
        level : float, default=0.9
            Posterior probability of the intervals.

        Returns
        -------
        effects : FeatureEffects
            ``pandas.DataFrame(effects.to_dict())`` gives a table.
        """
        return self._feature_effects(level)

    def selection_frequency(self) -> Floats:
        """Return how often each kept feature is kept in leave-one-out selections.

        A feature that depends on single cases is kept in few of them. This takes one more pass over
        the training set.

        Returns
        -------
        frequency : ndarray of shape (n_kept,)
            From 0 to 1, in the order of ``selection_.indices``.
        """
        fitting = self._checked_fitting()
        selections = fitting.selections_without(LeftOut.each_of(fitting.table.y.size))
        times = np.zeros(self.n_features_in_, dtype=np.int64)
        for selection in selections:
            times[selection.indices] += 1
        return np.asarray(times[self.selection_.indices] / len(selections))

    def _without_covariates(self, fitting: Any) -> Any:
        """Return the fit to the same cases without their covariates."""
        table = fitting.table
        model = clone(self).set_params(covariates=None, always_keep=fitting.rule.always)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # `fit` has given them
            y = table.classes[table.y] if table.classes.size else table.y
            return model.fit(table.X, y)._fitting

    def _check_rule(self) -> None:
        super()._check_rule()
        check_choice("prior", self.prior, ("common", "sparse"))

    def _fit(self, fitting: Any) -> Any:
        fitting, path = self._with_best_k(fitting)
        scores = super()._fit(fitting)
        self._fitting = fitting
        if path:
            self.k_path_ = KPath(path).at_most(self._n_free)
            self._fitting = fitting.with_rule(replace(fitting.rule, k=self.k_))
        return scores

    @property
    def _n_free(self) -> int:
        """The number of columns that could be selected."""
        n_always = self.selection_.indices.size - self.k_
        return int(self.n_features_in_ - n_always - self.selection_.unscored.size)

    def _with_best_k(self, fitting: Any) -> tuple[Any, list[Any]]:
        """Return the fit with the best k by leave-one-out log loss, and the scores of all k."""
        if fitting.rule.k != CHOSEN_LATER:
            return fitting, []
        n_free = fitting.table.X.shape[1] - fitting.rule.always.size
        path = self._scores_of(fitting, k_grid(n_free))
        best = min(path, key=lambda score: score.log_loss)
        return fitting.with_rule(replace(fitting.rule, k=best.k)), path

    def _scores_of(self, fitting: Any, ks: list[int]) -> list[Any]:
        return self._loo_scores(fitting, [replace(fitting.rule, k=k) for k in ks])

    @abstractmethod
    def _loo_scores(self, fitting: Any, rules: list[SelectionRule]) -> list[Any]:
        """Return the leave-one-out scores of each rule."""

    def k_path(self, ks: Any) -> list[Any]:
        """Return the leave-one-out scores of several numbers of features.

        This takes one pass over the training set.

        Parameters
        ----------
        ks : int or sequence of int

        Returns
        -------
        scores : list of LeaveOneOutScore or LeaveOneOutFit
            In the order of ``ks``. The score of the best k is too optimistic. With ``k="loo"`` the
            choice of k is part of `fit`, and can be cross-validated.
        """
        fitting = self._checked_fitting()
        if self.k is None:
            raise ValueError("k_path needs an estimator that selects by k: fit with k first.")
        free = "the number of columns that can be selected"
        chosen = [check_whole("ks", k, 1, self._n_free, free) for k in np.ravel(ks).tolist()]
        if not chosen:
            raise ValueError("ks is empty: give at least one number of features.")
        return self._scores_of(fitting, chosen)

    @property
    def loo_score_(self) -> Any:
        """Leave-one-out scores, computed on access."""
        fitting = self._fitting_to_leave_out()
        return self._loo_scores(fitting, [fitting.rule])[0]

    def __dir__(self) -> list[str]:
        # scikit-learn reads every listed attribute to show an estimator in a notebook. This one
        # takes many fits, so it is not listed.
        names = [name for name in object.__dir__(self) if name != "loo_score_"]
        return [name for name in names if hasattr(self, name)]

    def _learned(self, fitted: Any) -> dict[str, Any]:
        posterior = fitted.nodes
        with np.errstate(over="ignore"):
            concentration = np.exp(posterior.log_alpha)
        learned = {
            "concentration_": concentration,
            "concentration_weights_": np.exp(posterior.log_weights),
            "omission_probability_": np.exp(posterior.log_at_most),
            "log_marginal_likelihood_": posterior.log_evidence,
        }
        if posterior.fractions is not None:
            learned["related_fraction_"] = np.exp(posterior.fractions.log_related)
            learned["related_probability_"] = posterior.related
        return learned


def checked_gaussian_model(estimator: Any) -> GaussianModel:
    """Check the parameters of the models for real-valued features, and return the model."""
    a, b = check_positive_pair(
        "concentration_prior", estimator.concentration_prior, "shape and rate"
    )
    shrinkage = check_zero_or_between(
        "variance_shrinkage", estimator.variance_shrinkage, *SHRINKAGE_BOUNDS
    )
    if estimator.prior == "sparse" and shrinkage > 0.0:
        raise ValueError(
            f"variance_shrinkage={shrinkage!r} supports prior='common' only: use "
            "variance_shrinkage=0 with prior='sparse'."
        )
    return GaussianModel(a, b, shrinkage)
