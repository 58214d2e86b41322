"""Predictions of cases left out, judged case by case, and what features add to covariates."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student_t

from unselected._typing import Floats
from unselected.estimators.added_value import (
    BOTH_TOGETHER,
    CLASS_MEASURES,
    COVARIATES_ALONE,
    FEATURES_ALONE,
    RESPONSE_MEASURES,
    AddedValue,
    Measure,
    PerCase,
)
from unselected.estimators.fitting import LeftOutFit
from unselected.estimators.inputs import TrainingTable
from unselected.estimators.parameters import check_pseudocounts
from unselected.models.class_regression import ClassRegression
from unselected.models.response_covariates import ResponseCovariates
from unselected.statistics.leaving_out import LeftOut

# The ends of the central intervals whose coverage is judged.
TAILS = (0.05, 0.95)
# A probability of 0 for the observed class counts as this.
_LEAST_PROBABILITY = 1e-15


def class_losses(p: Floats, y: NDArray[np.intp]) -> dict[str, NDArray[Any]]:
    """Return the numbers of every case from probabilities (..., n, G) and classes (n,).

    Of equally probable classes the last counts as predicted.
    """
    n_classes = p.shape[-1]
    of_seen = p[..., np.arange(y.size), y]
    guess = n_classes - 1 - np.argmax(p[..., ::-1], axis=-1)
    return {
        "log_loss": -np.log(np.clip(of_seen, _LEAST_PROBABILITY, None)),
        "squared_error": 0.5 * np.sum((p - np.eye(n_classes)[y]) ** 2, axis=-1),
        "actual_error": guess != y,
        "expected_error": 1.0 - p.max(axis=-1),
    }


def response_losses(predicted: Floats, y: Floats) -> dict[str, NDArray[Any]]:
    """Return the numbers of every case from predictions (4, ..., n) of the responses (n,).

    Predictions are means, lower and upper ends of the intervals, and log densities at y.
    """
    mean, lower, upper, log_density = predicted
    return {
        "log_density": log_density,
        "squared_error": (mean - y) ** 2,
        "coverage": (lower <= y) & (y <= upper),
        "width": upper - lower,
    }


class CovariatesAloneLaw:
    """The response given covariates alone: linear, with a flat prior, Student t.

    Parameters
    ----------
    covariates : ResponseCovariates
    coded : array of shape (n, c)
        Of new cases.
    """

    def __init__(self, covariates: ResponseCovariates, coded: Floats) -> None:
        self.mean, squares, df = covariates.law(coded)
        self._law = student_t(df, loc=self.mean, scale=np.sqrt(squares))

    @property
    def std(self) -> Floats:
        """Standard deviations."""
        return np.asarray(self._law.std())

    def ends(self) -> tuple[Floats, Floats]:
        """Return the ends of the central intervals."""
        low, high = (np.asarray(self._law.ppf(tail), dtype=np.float64) for tail in TAILS)
        return low, high

    def log_density(self, y: Floats) -> Floats:
        """Return the log densities of responses."""
        return np.asarray(self._law.logpdf(y))

    def cdf(self, y: Floats) -> Floats:
        """Return the probabilities of a response of at most y."""
        return np.asarray(self._law.cdf(y))


@dataclass(frozen=True, eq=False)
class _ClassesLeftOut:
    """Classes of cases left out."""

    table: TrainingTable
    pseudocounts: Floats

    measures: ClassVar[tuple[Measure, ...]] = CLASS_MEASURES

    def by_fits(self, fits: Iterable[LeftOutFit]) -> PerCase:
        """Judge predictions of fits, each without the cases that it is asked for."""
        p = np.empty((self.table.y.size, self.table.classes.size))
        for fit in fits:
            p[fit.left.asked] = fit.predictor.predict_proba(fit.rows, label=self.table.label)
        return class_losses(p, self.table.y)

    def by_covariates(self, sets: list[LeftOut]) -> PerCase:
        """Judge predictions by covariates alone."""
        known, y = self.table.covariates, self.table.y
        assert known is not None
        p = np.empty((y.size, self.pseudocounts.size))
        for left in sets:
            alone = ClassRegression.fit(
                known.coded[left.kept], y[left.kept], self.pseudocounts.size, self.pseudocounts
            )
            p[left.asked] = np.exp(alone.log_proba(known.coded[left.asked]))
        return class_losses(p, y)


@dataclass(frozen=True, eq=False)
class _ResponsesLeftOut:
    """Real responses of cases left out."""

    table: TrainingTable

    measures: ClassVar[tuple[Measure, ...]] = RESPONSE_MEASURES

    def by_fits(self, fits: Iterable[LeftOutFit]) -> PerCase:
        """Judge predictions of fits, each without the cases that it is asked for."""
        y, label = self.table.y, self.table.label
        told = np.empty((4, y.size))
        for fit in fits:
            predictor, rows, asked = fit.predictor, fit.rows, fit.left.asked
            ends = predictor.quantiles(rows, TAILS, label=label).T
            log_density = predictor.log_density(rows, y[asked], label=label)
            told[:, asked] = predictor.mean_and_std(rows, label=label)[0], *ends, log_density
        return response_losses(told, y)

    def by_covariates(self, sets: list[LeftOut]) -> PerCase:
        """Judge predictions by covariates alone."""
        known, y = self.table.covariates, self.table.y
        assert known is not None
        told = np.empty((4, y.size))
        for left in sets:
            coded = known.coded[left.kept]
            learned = ResponseCovariates.learn(known.basis, coded, y[left.kept])
            law = CovariatesAloneLaw(learned, known.coded[left.asked])
            told[:, left.asked] = law.mean, *law.ends(), law.log_density(y[left.asked])
        return response_losses(told, y)


class _AddedValueMethod:
    """`added_value`, for estimators that can be fitted without some cases."""

    # Returns the fit with its training set.
    _fitting_to_leave_out: Callable[[], Any]
    # Returns the set left out in each fold.
    _sets_of: Callable[[Any], list[LeftOut]]
    # Yields whole fits without each set.
    _fits_without: Callable[[Any, list[LeftOut]], Iterator[LeftOutFit]]
    # Returns the fit to the same cases without their covariates.
    _without_covariates: Callable[[Any], Any]
    # Returns what judges predictions.
    _judge: Callable[[TrainingTable], Any]

    def added_value(self, cv: Any = 5, *, level: float = 0.95) -> AddedValue:
        """Return what the features add to the covariates, by cross-validation.

        Cases left out are predicted by covariates alone, by features alone, and by both, with
        everything learned without them. With covariates alone classes are predicted by the
        logistic regression that the model has for them, and a real response by linear regression.
        This takes about twice as many fits as there are folds.

        Parameters
        ----------
        cv : int, splitter or iterable, default=5
            As in scikit-learn. Every case must be in exactly one test fold. A number gives folds in
            the order of the cases, which keep groups together where `fit` had any.
        level : float, default=0.95
            Of the intervals. They come from resampled cases, or groups of cases where `fit` had
            any.

        Returns
        -------
        added : AddedValue
            Printed as a table, and the sentences that follow from it.
        """
        fitting = self._fitting_to_leave_out()
        table, sets = fitting.table, self._sets_of(cv)
        if table.covariates is None:
            raise ValueError(
                "the model was fitted without covariates, to which features could add, or with "
                "constant ones: pass some to fit, or name columns of X by covariates=."
            )
        judge = self._judge(table)
        alone = self._without_covariates(fitting)
        per_case = {
            COVARIATES_ALONE: judge.by_covariates(sets),
            FEATURES_ALONE: judge.by_fits(self._fits_without(alone, sets)),
            BOTH_TOGETHER: judge.by_fits(self._fits_without(fitting, sets)),
        }
        names, groups = tuple(table.covariates.coding.names), getattr(fitting, "groups", None)
        return AddedValue.of(per_case, judge.measures, names, groups=groups, level=level)


class ClassAddedValue(_AddedValueMethod):
    """`added_value` of classifiers."""

    class_pseudocounts: Any

    def _judge(self, table: TrainingTable) -> _ClassesLeftOut:
        n_classes = table.classes.size
        return _ClassesLeftOut(table, check_pseudocounts(self.class_pseudocounts, n_classes))


class ResponseAddedValue(_AddedValueMethod):
    """`added_value` of regressors."""

    def _judge(self, table: TrainingTable) -> _ResponsesLeftOut:
        return _ResponsesLeftOut(table)


def sets_of_splits(splits: Any, n: int) -> list[LeftOut]:
    """Return the test folds of splits, which must have every case once."""
    rows = np.arange(n)
    sets = [LeftOut.rows(np.setdiff1d(rows, rows[train]), n, rows[test]) for train, test in splits]
    asked = np.sort(np.concatenate([left.asked for left in sets]))
    if not np.array_equal(asked, rows):
        raise ValueError("cv must have every case in exactly one test fold.")
    return sets
