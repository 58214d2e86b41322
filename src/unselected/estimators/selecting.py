"""The base of all estimators: check the selection rule, select, condition, set attributes."""

from abc import abstractmethod
from copy import deepcopy
from dataclasses import replace
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted

from unselected._typing import Floats
from unselected._warnings import warn
from unselected.columns.blocks import Columns, check_finite
from unselected.columns.sources import ColumnSource
from unselected.estimators.cautions import check_selection
from unselected.estimators.covariates import features_of, resolve_covariates, with_coded
from unselected.estimators.finding_columns import find_columns
from unselected.estimators.fitting import Fitting
from unselected.estimators.inputs import TrainingTable, check_rows
from unselected.estimators.panel import panel_of
from unselected.estimators.parameters import (
    check_choice,
    check_flag,
    check_score,
    check_whole,
    shown,
)
from unselected.estimators.predicting import RowsToPredict
from unselected.fitted.effects import FeatureEffects, feature_effects
from unselected.fitted.predictor import column_label
from unselected.selection.record import E, Selection, Ties
from unselected.selection.rules import SelectionRule
from unselected.selection.score_names import SCORE_NAMES
from unselected.selection.scores import Scores
from unselected.selection.streaming import StreamingSelection
from unselected.statistics.moments import Statistic

# Stands for the number of features that k="loo" will choose.
CHOSEN_LATER = -1
# What a fit sets besides public attributes.
_PRIVATE = ("_predictor", "_fitting")


class SelectiveEstimator(SelectorMixin, BaseEstimator):
    """Selection inside `fit`, with the parameters of all estimators."""

    k: int | Literal["loo", "auto"] | None
    threshold: float | None
    correct_selection: bool
    preselected_from: int | None
    always_keep: Any
    covariates: Any = None
    preselected_adjusted: bool = True
    ties: Ties
    store_scores: bool
    random_state: Any

    selection_: Selection[Any]
    k_: int
    threshold_: float | None
    scores_: Floats
    feature_scores_: Floats
    n_features_in_: int
    feature_names_in_: NDArray[Any]

    _predictor: Any
    # The fit with its training set, where cases can be left out of it.
    _fitting: Any

    # Whether NaN is a missing value; else it is an error.
    _takes_missing = False
    # The word for a k that is found by `fit`; None where there is none.
    _finds_k: str | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Return the state to be pickled: without the training set, which may be large."""
        state: dict[str, Any] = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_fitting"}

    def __copy__(self) -> Self:
        copied = type(self).__new__(type(self))
        copied.__dict__.update(vars(self))
        return copied

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        # Copies share the training set: it may be large or in a file, and nothing changes it.
        if "_fitting" in vars(self):
            memo[id(self._fitting)] = self._fitting
        copied = type(self).__new__(type(self))
        memo[id(self)] = copied
        copied.__dict__.update(deepcopy(vars(self), memo))
        return copied

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
            The kept columns, unchanged.
        """
        check_is_fitted(self)
        X = features_of(self.covariates, X)
        rows = self._checked_rows(X)
        if isinstance(X, ColumnSource) or (isinstance(rows, ColumnSource) and not issparse(X)):
            return rows[:, self.selection_.indices]
        return super().transform(X)

    def panel(self) -> Any:
        """Return a fitted estimator that needs only the kept columns.

        Returns
        -------
        panel : ClassifierPanel or RegressorPanel
            It predicts as this estimator does, from tables with the kept columns. These are matched
            by name, in any order; without names they must be in the order of
            ``selection_.indices``.
        """
        check_is_fitted(self)
        return panel_of(self._predictor)

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        mask = np.zeros(self.n_features_in_, dtype=bool)
        mask[self.selection_.indices] = True
        return mask

    def _checked_rows(self, X: Any) -> Columns:
        """Return new rows as numbers; an error names the column.

        The values of a column source are not checked here, because only its kept columns are read.
        """
        rows = check_rows(self, X)
        if isinstance(rows, np.ndarray) or not isinstance(X, ColumnSource):
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

    def _to_predict(self, X: Any, covariates: Any) -> RowsToPredict[Any]:
        check_is_fitted(self)
        X, given = resolve_covariates(self.covariates, covariates, X)
        rows = self._kept_of(self._checked_rows(X))
        rows = with_coded(rows, self._predictor.coding, given)
        return RowsToPredict(self._predictor, rows, self._label_kept, self._features_kept)

    @property
    def _features_kept(self) -> NDArray[Any]:
        """Names of the kept features, or their numbers where there are no names."""
        names, indices = getattr(self, "feature_names_in_", None), self.selection_.indices
        return indices if names is None else names[indices]

    def _feature_effects(self, level: float) -> FeatureEffects:
        """Return the effects of the kept features, for models that have any."""
        check_is_fitted(self)
        return feature_effects(
            self._predictor.fitted,
            features=self._features_kept,
            scores=self.scores_,
            threshold=self.threshold_,
            level=level,
        )

    def _checked_fitting(self) -> Any:
        """Return the fit with its training set, or raise where it was loaded without."""
        check_is_fitted(self)
        if "_fitting" not in vars(self):
            raise NotFittedError(
                f"this {type(self).__name__} was loaded without its training set, which is needed "
                "to leave out cases: fit it again."
            )
        return self._fitting

    def _fitting_to_leave_out(self) -> Any:
        """Return the same, and warn where leave-one-out predictions are too optimistic."""
        fitting = self._checked_fitting()
        if fitting.rule.n_before is not None:
            warn(
                f"preselected_from={self.preselected_from}: the earlier selection used all cases "
                "and cannot be repeated without some of them. Scores of cases left out are "
                "therefore better than those of new cases.",
            )
        return fitting

    def _label_kept(self, column: int) -> str:
        names = getattr(self, "feature_names_in_", None)
        return column_label(self.selection_.indices[column], names)

    def _check_rule(self) -> None:
        """Check the parameters of the selection that do not depend on the data."""
        check_flag("correct_selection", self.correct_selection)
        check_flag("store_scores", self.store_scores)
        check_flag("preselected_adjusted", self.preselected_adjusted)
        check_choice("ties", self.ties, ("first", "random"))
        if self._asked_k is not None and self.threshold is not None:
            raise ValueError(
                f"k={shown(self.k)} and threshold={self.threshold} are both given: give only "
                "one of them."
            )
        if self._asked_k is not None and self.preselected_from is not None:
            raise ValueError(
                f"k={shown(self.k)} cannot be used with preselected_from={self.preselected_from}, "
                "which keeps every column of X: use k=None."
            )

    @property
    def _unadjusted_before(self) -> bool:
        """Whether columns were selected before, by scores without covariates."""
        return self.preselected_from is not None and not self.preselected_adjusted

    @property
    def _before(self) -> Any:
        """What a fit with covariates needs to know of an earlier selection."""
        return {"unadjusted_before": self._unadjusted_before}

    @property
    def _asked_k(self) -> Any:
        """The number of features, or the word, that the user asked for."""
        return self.k

    def _checked_rule(self, table: TrainingTable, statistic: Statistic) -> SelectionRule:
        """Check the parameters of the selection against the table, and return the rule."""
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
                    f"preselected_from={n_before} gives no cut where every column is in "
                    "always_keep: give the threshold, or pass columns that were selected."
                )
        elif self._asked_k is not None:
            if always.size == p:
                raise ValueError(
                    f"k={shown(self.k)} has no columns to select from: always_keep has all {p}."
                )
            free = "the number of columns" + (" that are not always kept" if always.size else "")
            k = CHOSEN_LATER
            or_found = f", or {self._finds_k!r}" if self._finds_k else ""
            if self.k != self._finds_k:
                k = check_whole("k", self.k, 1, p - always.size, free + or_found)
        return SelectionRule(k, gamma, always, n_before, self.ties, self._seeds())

    def _selected(self, fitting: Fitting) -> tuple[Any, Selection[Any]]:
        """Return the scores and the selection."""
        rule, table = fitting.rule, fitting.table
        scores = fitting.scores(StreamingSelection() if self.store_scores else rule.streaming())
        corrects = bool(self.correct_selection)
        check_selection(scores, rule, table.classes, table.label, k=self.k, corrected=corrects)
        self._check_kept_before(scores, rule, table)
        selection = rule.select(scores)
        _warn_if_nothing_passed(rule, selection)
        return scores, selection

    def _check_selected(
        self, scores: Any, rule: SelectionRule, selection: Selection[Any], table: TrainingTable
    ) -> None:
        """Raise or warn where a selection that was made elsewhere is doubtful."""
        corrects = bool(self.correct_selection)
        check_selection(scores, rule, table.classes, table.label, k=self.k, corrected=corrects)
        self._check_kept_before(scores, rule, table)
        _warn_if_nothing_passed(rule, selection)

    def _check_kept_before(
        self, scores: Scores[E], rule: SelectionRule, table: TrainingTable
    ) -> None:
        """Raise where a column cannot have been kept by the given threshold."""
        if rule.gamma is None or rule.n_before is None:
            return
        kept = np.union1d(scores.above(rule.gamma), rule.always)
        others = np.setdiff1d(scores.subset.columns, kept, assume_unique=True)
        if others.size:
            value, words = scores.values(others[:1])[0], SCORE_NAMES[scores.statistic].words
            raise ValueError(
                f"{table.label(int(others[0]))} has {words} of {value:.6g}, "
                f"which is not above threshold={rule.gamma:.6g}: drop the column, or correct the "
                "threshold."
            )

    def _seeds(self) -> NDArray[np.int64]:
        """Return the seeds for breaking ties; ``random_state`` is used only for random ties."""
        if self.ties == "first":
            return np.zeros(1, dtype=np.int64)
        return np.asarray(check_random_state(self.random_state).randint(2**31, size=4))

    def _fit(self, fitting: Fitting) -> Any:
        """Select, condition and set the attributes, last, so that an error changes nothing.

        Returns the scores.
        """
        scores, selection = self._selected(fitting)
        self._before_conditioning(fitting, selection)
        predictor = fitting.predictor(scores, selection)
        predictor = replace(
            predictor, ranges=fitting.ranges(selection), coding=fitting.table.coding
        )
        learned = self._learned(predictor.fitted)
        n_always = fitting.rule.always.size
        self._remember_selection(fitting.table, selection, scores, n_always)
        self._predictor = predictor
        for name, value in learned.items():
            setattr(self, name, value)
        if fitting.table.classes.size:
            self.classes_ = fitting.table.classes
        return scores

    def _before_conditioning(self, fitting: Fitting, selection: Selection[Any]) -> None:
        """Raise or warn, before conditioning, where the selection is not suitable."""

    @abstractmethod
    def _learned(self, fitted: Any) -> dict[str, Any]:
        """Return the attributes of a fitted model."""

    def _remember_selection(
        self, table: TrainingTable, selection: Selection[E], scores: Scores[E], n_always: int
    ) -> None:
        """Delete the attributes of an earlier fit, and set those of the selection."""
        for name in [name for name in vars(self) if name.endswith("_") or name in _PRIVATE]:
            delattr(self, name)
        self.n_features_in_ = table.X.shape[1]
        if table.names is not None:
            self.feature_names_in_ = table.names
        self.selection_ = selection
        self.threshold_ = selection.threshold
        self.k_ = selection.indices.size - n_always
        self.scores_ = scores.values(selection.indices)
        if self.store_scores:
            self.feature_scores_ = scores.values(np.arange(scores.size))


def _warn_if_nothing_passed(rule: SelectionRule, selection: Selection[Any]) -> None:
    """Warn where no feature is above a threshold."""
    if rule.gamma is not None and selection.indices.size == 0:
        warn(
            f"No feature has {SCORE_NAMES[selection.statistic].words} above "
            f"threshold={selection.threshold}: all cases get the same predictions. Use a lower "
            "threshold."
        )
