"""Predictors, which predict from rows of the kept columns without scikit-learn.

Estimators, panels, model files and fits without some of the cases wrap the same objects.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unselected._typing import ColumnNamer, Floats
from unselected._warnings import warn
from unselected.dependence.averaging import LikelihoodAverage
from unselected.dependence.correlated import WithinClasses
from unselected.fitted.base import Fitted, FittedClasses, FittedResponse
from unselected.fitted.covariate_coding import CovariateCoding
from unselected.fitted.explanations import Explanation, explain
from unselected.fitted.json_checks import Entries
from unselected.fitted.json_guard import guard_entries, parse_guard
from unselected.fitted.prevalence import log_prevalence
from unselected.fitted.probability_intervals import proba_interval
from unselected.fitted.ranges import TrainingRanges
from unselected.numerics.quadrature import log_sum


def column_label(column: int, names: NDArray[Any] | None) -> str:
    """Return how errors call a column: by number, and by name where it has one.

    >>> column_label(3, None), column_label(0, np.array(["age"], dtype=object))
    ('column 3', "column 0 ('age')")
    """
    return f"column {column}" if names is None else f"column {column} ({names[column]!r})"


class _KeptColumns:
    """What predictors of classes and of real responses have in common.

    Attributes
    ----------
    fitted : Fitted
    ranges : TrainingRanges or None
    coding : CovariateCoding or None
    """

    fitted: Fitted
    ranges: TrainingRanges | None
    coding: CovariateCoding | None

    @property
    def names(self) -> NDArray[Any] | None:
        """The names of the kept columns, where they have any."""
        return self.fitted.names

    @property
    def n_columns(self) -> int:
        """The number of kept columns."""
        return self.fitted.n_columns

    def rows(self, X: ArrayLike, label: ColumnNamer | None = None) -> NDArray[Any]:
        """Return rows of the kept columns as the model reads them.

        A warning says where values are outside of the training ranges.
        """
        values, k, c = np.asarray(X), self.n_columns, self.fitted.n_covariates
        if values.ndim != 2 or values.shape[1] != k + c:
            more = f" and {c} coded covariates" if c else ""
            raise ValueError(
                f"X has the shape {values.shape}, but the model needs rows of its {k} kept "
                f"columns{more}."
            )
        if values.dtype.kind not in "buif":
            raise ValueError(f"X has the type {values.dtype}, but the model needs numbers.")
        name_of = label or (lambda column: column_label(column, self.names))
        rows = self.fitted.rows(values, name_of)
        if self.ranges is not None and len(values):
            remark = self.ranges.remark(values[:, :k], name_of, self.fitted.is_indicator)
            if remark is not None:
                warn(remark)
        return rows

    def more_entries(self) -> Entries:
        """Return the entries of a model file that do not come from the fitted model."""
        ranges = {} if self.ranges is None else {"ranges": self.ranges.to_json()}
        return ranges if self.coding is None else {**ranges, "coding": self.coding.to_json()}


@dataclass(frozen=True, eq=False)
class ClassPredictor(_KeptColumns):
    """A fitted model of classes with its guard against dependence.

    In all methods X has the shape (n, k): the kept columns in the order of ``names``, and behind
    them the coded covariates, where the model has any.
    ``label`` names a column in errors. ``prevalence`` are class probabilities in place of those of
    the training set: by class label, in the order of ``classes``, or, of two classes, that of the
    second.

    Attributes
    ----------
    fitted : FittedClasses
    average : LikelihoodAverage
        The likelihoods with their weights and powers; without a guard against dependence, the
        model's own with power 1.
    within : WithinClasses or None
        Correlations and variances within classes, where other likelihoods need them.
    ranges : TrainingRanges or None
        Of the kept columns; None where they are not known.
    coding : CovariateCoding or None
        How covariates become the columns behind the kept ones; None where there are none.
    """

    fitted: FittedClasses
    average: LikelihoodAverage = field(default_factory=LikelihoodAverage.as_it_is)
    within: WithinClasses | None = None
    ranges: TrainingRanges | None = None
    coding: CovariateCoding | None = None

    @property
    def classes(self) -> NDArray[Any]:
        """The classes, shape (G,)."""
        return self.fitted.classes

    def log_prior(self, rows: NDArray[Any], prevalence: Any = None) -> Floats:
        """Return the logs of the class probabilities of rows before their features are seen.

        Covariates change the odds in a population with another prevalence as in the training set.
        """
        log_prior = self.fitted.log_prior(rows)
        if prevalence is None:
            return log_prior
        log_odds = log_prevalence(prevalence, self.classes)
        if log_prior.ndim == 1:
            return log_odds
        moved = log_prior + log_odds - self.fitted.log_psi
        return np.asarray(moved - log_sum(moved, axis=1)[:, np.newaxis])

    def log_evidence(self, rows: NDArray[Any]) -> Floats:
        """Return log P(row | class) by each likelihood, shape (likelihoods, rows, classes)."""
        own = self.fitted.log_evidence(rows)[np.newaxis]
        if self.within is None:
            return own
        values, scale = self.fitted.given_covariates(rows)
        return np.concatenate([own, self.within.log_evidence(values, self.fitted.laws, scale)])

    def log_by_feature(self, rows: NDArray[Any]) -> Floats:
        """Return what each feature adds to `log_evidence`, (likelihoods, rows, k, classes)."""
        own = self.fitted.log_by_feature(rows)[np.newaxis]
        if self.within is None:
            return own
        values, scale = self.fitted.given_covariates(rows)
        others = self.within.log_evidence_by_feature(values, self.fitted.laws, scale)
        return np.concatenate([own, others])

    def predict_log_proba(
        self, X: ArrayLike, *, prevalence: Any = None, label: ColumnNamer | None = None
    ) -> Floats:
        """Return the log of the predictive probabilities, shape (n, G); see `ClassPredictor`."""
        rows = self.rows(X, label)
        return self.average.log_proba(self.log_evidence(rows), self.log_prior(rows, prevalence))

    def predict_proba(
        self, X: ArrayLike, *, prevalence: Any = None, label: ColumnNamer | None = None
    ) -> Floats:
        """Return the predictive probabilities, shape (n, G); see `ClassPredictor`."""
        return np.exp(self.predict_log_proba(X, prevalence=prevalence, label=label))

    def predict(self, X: ArrayLike, *, prevalence: Any = None) -> NDArray[Any]:
        """Return the most probable class of each row; see `ClassPredictor`."""
        log_proba = self.predict_log_proba(X, prevalence=prevalence)
        return np.asarray(self.classes[np.argmax(log_proba, axis=1)])

    def predict_proba_interval(
        self,
        X: ArrayLike,
        *,
        level: float = 0.9,
        prevalence: Any = None,
        label: ColumnNamer | None = None,
    ) -> tuple[Floats, Floats]:
        """Return lower and upper ends of the probabilities, each (n, G); see `proba_interval`."""
        rows = self.rows(X, label)
        return proba_interval(self, rows, self.log_prior(rows, prevalence), level)

    def more_entries(self) -> Entries:
        """Return the entries of the guard and of the training ranges for a model file."""
        return {**guard_entries(self.average, self.within), **super().more_entries()}

    def explain(
        self,
        X: ArrayLike,
        features: NDArray[Any] | None = None,
        *,
        prevalence: Any = None,
        label: ColumnNamer | None = None,
    ) -> Explanation:
        """Return what each kept feature adds to the log odds; ``features`` names them."""
        rows = self.rows(X, label)
        return explain(
            self,
            rows,
            self.log_prior(rows, prevalence),
            kept_features(self.fitted) if features is None else features,
        )


@dataclass(frozen=True, eq=False)
class ResponsePredictor(_KeptColumns):
    """A fitted model of a real response; X and ``label`` as in `ClassPredictor`.

    Attributes
    ----------
    fitted : FittedResponse
    ranges : TrainingRanges or None
        Of the kept columns; None where nobody looked.
    coding : CovariateCoding or None
        How covariates become the columns behind the kept ones; None where there are none.
    """

    fitted: FittedResponse
    ranges: TrainingRanges | None = None
    coding: CovariateCoding | None = None

    @property
    def average(self) -> LikelihoodAverage:
        """The likelihoods that predictions average over: the model's own, with power 1."""
        return LikelihoodAverage.as_it_is()

    @property
    def classes(self) -> None:
        """The classes: there are none."""
        return None

    def mean_and_std(
        self, X: ArrayLike, *, label: ColumnNamer | None = None
    ) -> tuple[Floats, Floats]:
        """Return means and standard deviations of the predictive distributions."""
        return self.fitted.posterior.mean_and_std(self.rows(X, label))

    def quantiles(
        self,
        X: ArrayLike,
        levels: ArrayLike = (0.05, 0.5, 0.95),
        *,
        label: ColumnNamer | None = None,
    ) -> Floats:
        """Return quantiles of the predictive distributions, shape (n, levels)."""
        return self.fitted.posterior.quantiles(self.rows(X, label), levels)

    def log_density(self, X: ArrayLike, y: Floats, *, label: ColumnNamer | None = None) -> Floats:
        """Return the log predictive densities of responses (n,)."""
        return self.fitted.posterior.log_density(self.rows(X, label), y)

    def cdf(self, X: ArrayLike, y: Floats, *, label: ColumnNamer | None = None) -> Floats:
        """Return the predictive distribution functions at y (n,)."""
        return self.fitted.posterior.cdf(self.rows(X, label), y)


Predictor = ClassPredictor | ResponsePredictor


def kept_features(fitted: Fitted) -> NDArray[Any]:
    """Return the names of the kept columns, or their numbers among these."""
    return np.arange(fitted.n_columns) if fitted.names is None else fitted.names


def predictor_of(fitted: Fitted, entries: Entries) -> Predictor:
    """Return the predictor of a fitted model, given the entries of its file."""
    ranges = None
    if "ranges" in entries:
        ranges = TrainingRanges.from_json(entries["ranges"], fitted.n_columns)
    coding = None
    if "coding" in entries:
        coding = CovariateCoding.from_json(entries["coding"])
    if isinstance(fitted, FittedResponse):
        return ResponsePredictor(fitted, ranges, coding)
    assert isinstance(fitted, FittedClasses)
    average, within = parse_guard(entries, fitted.classes.size, fitted.n_columns)
    return ClassPredictor(fitted, average, within, ranges, coding)
