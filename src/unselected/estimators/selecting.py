"""What every selective estimator does: check how features are to be selected, select, remember."""

import warnings
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted

from unselected._typing import Floats
from unselected.columns.blocks import Columns, check_finite
from unselected.columns.sources import ColumnSource
from unselected.estimators.fitting import Fitting
from unselected.estimators.inputs import (
    TrainingTable,
    check_choice,
    check_flag,
    check_positive_pair,
    check_rows,
    check_score,
    check_whole,
    check_zero_or_between,
    column_label,
    find_columns,
)
from unselected.estimators.leave_one_out import k_grid, rules_of
from unselected.fitted.effects import FeatureEffects, feature_effects
from unselected.models.gaussian import SHRINKAGE_BOUNDS, GaussianModel
from unselected.selection.events import Statistic
from unselected.selection.record import E, Selection, Ties
from unselected.selection.rules import SelectionRule
from unselected.selection.scores import Scores
from unselected.selection.streaming import StreamingSelection
from unselected.statistics.leaving_out import LeftOut

# A number of features that is found by leaving out each case.
_CHOSEN_LATER = -1
# What a fit leaves besides public attributes.
_PRIVATE = ("_kept", "_fitting")
Prior = Literal["common", "sparse"]

# How errors call the scores.
_WORDS = {"|COR|": "an absolute correlation", "F": "an F statistic"}


class Selecting(SelectorMixin, BaseEstimator):
    """Selection inside `fit`, with the parameters that all estimators share."""

    k: int | Literal["loo"] | None
    threshold: float | None
    correct_selection: bool
    preselected_from: int | None
    always_keep: Any
    ties: Ties
    store_scores: bool
    random_state: Any

    selection_: Selection[Any]
    threshold_: float | None
    scores_: Floats
    feature_scores_: Floats
    n_features_in_: int
    feature_names_in_: NDArray[Any]

    # Whether NaN stands for a missing value.
    _takes_missing = False
    # Whether k="loo" finds the number of features.
    _finds_k = False

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self._takes_missing
        return tags

    def transform(self, X: Any) -> Any:
        """Return the kept columns.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        X_kept : array of shape (n_samples, n_kept)
            As they were given.
        """
        check_is_fitted(self)
        rows = self._checked_rows(X)
        if isinstance(rows, ColumnSource) and not issparse(X):
            return rows[:, self.selection_.indices]
        return super().transform(X)

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        mask = np.zeros(self.n_features_in_, dtype=bool)
        mask[self.selection_.indices] = True
        return mask

    def _checked_rows(self, X: Any) -> Columns:
        """Return new rows as columns of numbers; an error names the column.

        Of a source that is read from somewhere only the kept columns are looked at, later.
        """
        rows = check_rows(self, X)
        if not isinstance(X, ColumnSource):
            names = getattr(self, "feature_names_in_", None)
            check_finite(
                rows,
                lambda column: column_label(column, names),
                missing_allowed=self._takes_missing,
            )
        return rows

    def _kept_of(self, X: Columns) -> NDArray[Any]:
        indices = self.selection_.indices
        if isinstance(X, np.ndarray) and indices.size == X.shape[1]:
            return X
        return X[:, indices]

    @property
    def _features_kept(self) -> NDArray[Any]:
        """Names of the kept features, or their numbers where they have none."""
        names, indices = getattr(self, "feature_names_in_", None), self.selection_.indices
        return indices if names is None else names[indices]

    def _label_kept(self, column: int) -> str:
        names = getattr(self, "feature_names_in_", None)
        return column_label(self.selection_.indices[column], names)

    def _check_rule(self) -> None:
        """Check the parameters of the selection that do not depend on the data."""
        check_flag("correct_selection", self.correct_selection)
        check_flag("store_scores", self.store_scores)
        check_choice("ties", self.ties, ("first", "random"))
        if self.k is not None and self.threshold is not None:
            raise ValueError(
                f"k={self.k!r} and threshold={self.threshold} are both given: give one of them."
            )
        if self.k is not None and self.preselected_from is not None:
            raise ValueError(
                f"k={self.k!r} does not go with preselected_from={self.preselected_from}: every "
                "column of X is kept then."
            )

    def _checked_rule(self, table: TrainingTable, statistic: Statistic) -> SelectionRule:
        """Check the parameters of the selection against the table; return what they ask for."""
        p = table.X.shape[1]
        always = find_columns(self.always_keep, table.names, p, "always_keep")
        gamma = k = n_before = None
        if self.threshold is not None:
            gamma = check_score("threshold", self.threshold, statistic)
        if self.preselected_from is not None:
            n_before = check_whole(
                "preselected_from", self.preselected_from, p, None, "the columns of X included"
            )
            if gamma is None and always.size == p:
                raise ValueError(
                    f"preselected_from={n_before} says nothing where every column is in "
                    "always_keep: give the threshold, or columns that were up for selection."
                )
        elif self.k is not None:
            if always.size == p:
                raise ValueError(f"k={self.k!r} selects among no columns: always_keep has all {p}.")
            free = "the number of columns" + (" that are not always kept" if always.size else "")
            k = _CHOSEN_LATER
            or_found = ", or 'loo'" if self._finds_k else ""
            if self.k != "loo" or not self._finds_k:
                k = check_whole("k", self.k, 1, p - always.size, free + or_found)
        return SelectionRule(k, gamma, always, n_before, self.ties, self._seeds())

    def _selected(
        self,
        scores_of: Callable[[StreamingSelection], Any],
        rule: SelectionRule,
        table: TrainingTable,
    ) -> tuple[Any, Selection[Any]]:
        """Return the scores, and what the rule keeps by them."""
        scores = scores_of(StreamingSelection() if self.store_scores else rule.streaming())
        self._check_kept_before(scores, rule, table)
        selection = rule.select(scores)
        if rule.gamma is not None:
            _warn_if_empty(selection)
        return scores, selection

    def _check_kept_before(
        self, scores: Scores[E], rule: SelectionRule, table: TrainingTable
    ) -> None:
        """Raise where a column cannot have been kept by the threshold given."""
        if rule.gamma is None or rule.n_before is None:
            return
        kept = np.union1d(scores.above(rule.gamma), rule.always)
        others = np.setdiff1d(scores.subset.columns, kept, assume_unique=True)
        if others.size:
            value = scores.values(others[:1])[0]
            raise ValueError(
                f"{table.label(int(others[0]))} has {_WORDS[scores.statistic]} of {value:.6g}, "
                f"which is not above threshold={rule.gamma:.6g}: it cannot have been kept by that "
                "threshold."
            )

    def _seeds(self) -> NDArray[np.int64]:
        """Return seeds for draws, from ``random_state`` only where ties are drawn."""
        if self.ties == "first":
            return np.zeros(1, dtype=np.int64)
        return np.asarray(check_random_state(self.random_state).randint(2**31, size=4))

    def _remember_selection(
        self, table: TrainingTable, selection: Selection[E], scores: Scores[E]
    ) -> None:
        """Replace all that an earlier fit left by what was selected."""
        for name in [name for name in vars(self) if name.endswith("_") or name in _PRIVATE]:
            delattr(self, name)
        self.n_features_in_ = table.X.shape[1]
        if table.names is not None:
            self.feature_names_in_ = table.names
        self.selection_ = selection
        self.threshold_ = selection.threshold
        self.scores_ = scores.values(selection.indices)
        if self.store_scores:
            self.feature_scores_ = scores.values(scores.subset.columns)


class SelectingEstimator(Selecting):
    """What the estimators with an exact posterior share: a fit is fast, and can be made anew."""

    prior: Prior

    k_path_: list[Any]
    concentration_: Floats
    concentration_weights_: Floats
    omission_probability_: Floats
    related_fraction_: Floats
    related_probability_: Floats
    log_marginal_likelihood_: float

    _kept: Any
    _fitting: Fitting[Any]
    _finds_k = True

    def __getstate__(self) -> dict[str, Any]:
        """Return what is pickled: all but the training set, which may be large."""
        state: dict[str, Any] = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_fitting"}

    def feature_effects(self, *, level: float = 0.9) -> FeatureEffects:
        """Return the kept features with their effects, at face value and as they are likely to be.

        A feature was kept because it looked strong: at face value its effect is too large. Under
        the posterior, which is conditioned on the selection, it is not. The features stand in the
        order of ``selection_.indices``.

        Parameters
        ----------
        level : float, default=0.9
            Posterior probability of the intervals.

        Returns
        -------
        effects : FeatureEffects
            ``pandas.DataFrame(effects.to_dict())`` is a table of it.
        """
        check_is_fitted(self)
        return feature_effects(
            self._kept,
            features=self._features_kept,
            scores=self.scores_,
            threshold=self.threshold_,
            level=level,
        )

    def selection_frequency(self) -> Floats:
        """Return how often each kept feature is kept when each case is left out in turn.

        A feature that hangs on single cases is kept in few of these selections. They are made in
        one more pass over the training set.

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

    def _check_rule(self) -> None:
        super()._check_rule()
        check_choice("prior", self.prior, ("common", "sparse"))

    def _fit(self, fitting: Fitting[Any]) -> Any:
        """Select and condition; return the scores, and remember all else."""
        fitting, path = self._with_best_k(fitting)
        scores, selection = self._selected(fitting.scores, fitting.rule, fitting.table)
        kept = fitting.kept(scores, selection, slice(None))
        kept = self._finished(fitting, kept, selection)
        posterior = kept.posterior
        self._remember(fitting.table, selection, scores, getattr(posterior, "features", posterior))
        self._kept, self._fitting = kept, fitting
        if path:
            self.k_path_ = path
        return scores

    def _with_best_k(self, fitting: Fitting[Any]) -> tuple[Fitting[Any], list[Any]]:
        """Return the fit with the k that leaving out each case favours, and how all others did."""
        if fitting.rule.k != _CHOSEN_LATER:
            return fitting, []
        n_free = fitting.table.X.shape[1] - fitting.rule.always.size
        path = self._loo_scores(fitting, rules_of(fitting.rule, k_grid(n_free)))
        best = min(path, key=lambda score: score.log_loss)
        return fitting.with_rule(replace(fitting.rule, k=best.k)), path

    @abstractmethod
    def _loo_scores(self, fitting: Any, rules: list[SelectionRule]) -> list[Any]:
        """Return how well cases left out are predicted, by each rule."""

    def k_path(self, ks: Any) -> list[Any]:
        """Return how well cases left out are predicted with each of some numbers of features.

        All of them from one pass over the training set.

        Parameters
        ----------
        ks : int or sequence of int

        Returns
        -------
        scores : list of LeaveOneOutScore or LeaveOneOutFit
            In the order of ``ks``. Choosing the best k by them makes its score too good: see
            ``k="loo"`` for a choice that can be cross-validated.
        """
        fitting = self._checked_fitting()
        if self.k is None:
            raise ValueError("k_path needs an estimator that selects by k: fit with k first.")
        n_free = self.n_features_in_ - fitting.rule.always.size
        free = "the number of columns that compete"
        chosen = [check_whole("ks", k, 1, n_free, free) for k in np.ravel(ks).tolist()]
        if not chosen:
            raise ValueError("ks is empty: give at least one number of features.")
        return self._loo_scores(fitting, rules_of(fitting.rule, chosen))

    def __getattr__(self, name: str) -> Any:
        # No property, for scikit-learn looks at all of those to show an estimator in a notebook.
        if name == "loo_score_":
            fitting = self._fitting_to_leave_out()
            return self._loo_scores(fitting, [fitting.rule])[0]
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def _checked_fitting(self) -> Any:
        """Return the fit to the training set, if it is still there."""
        check_is_fitted(self)
        if "_fitting" not in vars(self):
            raise NotFittedError(
                f"this {type(self).__name__} was loaded without its training set, which leaving "
                "out cases needs: fit it again."
            )
        return self._fitting

    def _fitting_to_leave_out(self) -> Any:
        """Return the same for predictions of cases left out, which may look too easy."""
        fitting = self._checked_fitting()
        if fitting.rule.n_before is not None:
            warnings.warn(
                f"preselected_from={self.preselected_from}: a selection that was made before, with "
                "all cases, cannot be made again without some of them, so that cases left out look "
                "easier to predict than new ones are.",
                UserWarning,
                stacklevel=3,
            )
        return fitting

    def _finished(self, fitting: Any, kept: Any, selection: Selection[Any]) -> Any:  # noqa: ARG002
        """Return a fit with what else is to be learned."""
        return kept

    def _remember(
        self, table: TrainingTable, selection: Selection[E], scores: Scores[E], posterior: Any
    ) -> None:
        """Replace all that an earlier fit left by what this one found."""
        self._remember_selection(table, selection, scores)
        with np.errstate(over="ignore"):
            self.concentration_ = np.exp(posterior.log_alpha)
        self.concentration_weights_ = np.exp(posterior.log_weights)
        self.omission_probability_ = np.exp(posterior.log_at_most)
        if posterior.fractions is not None:
            self.related_fraction_ = np.exp(posterior.fractions.log_related)
            self.related_probability_ = posterior.related
        self.log_marginal_likelihood_ = posterior.log_evidence


class GaussianEstimator(SelectingEstimator):
    """The parameters of the model that the estimators for real-valued features share."""

    concentration_prior: tuple[float, float]
    variance_shrinkage: float

    _takes_missing = True

    def _checked_model(self) -> GaussianModel:
        """Check the parameters that do not depend on the data, and return the model they make."""
        self._check_rule()
        a, b = check_positive_pair(
            "concentration_prior", self.concentration_prior, "shape and rate"
        )
        shrinkage = check_zero_or_between(
            "variance_shrinkage", self.variance_shrinkage, *SHRINKAGE_BOUNDS
        )
        if self.prior == "sparse" and shrinkage > 0.0:
            raise ValueError(
                f"variance_shrinkage={shrinkage!r} goes with prior='common' alone: use "
                "variance_shrinkage=0 with prior='sparse'."
            )
        return GaussianModel(a, b, shrinkage)


def _warn_if_empty(selection: Selection[E]) -> Selection[E]:
    if selection.indices.size == 0:
        words = _WORDS[selection.statistic]
        warnings.warn(
            f"No feature has {words} above threshold={selection.threshold}: the predictions will "
            "be the same for all cases.",
            UserWarning,
            stacklevel=5,
        )
    return selection
