"""Fits of real-valued features that were selected by another score than correlation or F."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from unselected._typing import Floats
from unselected.estimators.fitting import Selected
from unselected.estimators.naive_bayes_fitting import GaussianFitting
from unselected.fitted.gaussian import FittedGaussian
from unselected.models.gaussian import GaussianModel
from unselected.omission.laws import with_law
from unselected.selection.real_score import RealScore
from unselected.selection.streaming import StreamingSelection, value_scores
from unselected.selection.values_without import value_scores_without
from unselected.statistics.leaving_out import LeftOut
from unselected.statistics.variance_prior import VariancePrior

# Where the error is too large at the posterior, how much smaller it is to be next time.
_MARGIN = 0.8


@dataclass(frozen=True, eq=False)
class ScoredGaussianFitting(GaussianFitting):
    """A fit whose omission probability is that of another score.

    Attributes
    ----------
    score : RealScore
    tolerance : float
        Largest standard error of the log probability of the event, where it is simulated.
    """

    score: RealScore
    tolerance: float

    def scores(self, stream: StreamingSelection) -> Any:
        """Return the scores of the columns, from all cases."""
        t = self.table
        scores = value_scores(t.X, t.y, t.classes.size, t.label, stream, self.score)
        competing = np.setdiff1d(scores.subset.columns, scores.constant, assume_unique=True)
        values = scores.values(competing)
        if self.rule.k is not None and values.size == scores.n_varying.sum() > self.rule.k:
            _check_not_all_equal(values)
        return scores

    def scores_without(
        self, sets: list[LeftOut], new_stream: Callable[[], StreamingSelection]
    ) -> list[Any]:
        """Return the scores without each of several sets of cases."""
        t = self.table
        args = (t.X, t.y, t.classes.size, t.label, sets, new_stream, self.score)
        return list(value_scores_without(*args))

    def fitted(self, selected: Selected) -> FittedGaussian:
        """Return the model conditioned on the kept columns and on an event that is precise."""
        fitted: FittedGaussian = super().fitted(selected)
        model, event = _with_prior(fitted.model, selected.scores.prior), fitted.event
        tolerance = self.tolerance
        while True:
            known: Any = with_law(event, tolerance)  # type: ignore[arg-type]
            fitted = replace(fitted, model=model, event=known)
            error = fitted.event_error
            if error <= self.tolerance:
                return fitted
            tolerance *= _MARGIN * self.tolerance / error


def _check_not_all_equal(scores: Floats) -> None:
    """Raise where a score does not tell columns apart."""
    if np.all(scores == scores[0]):
        raise ValueError(
            f"score_func gives all {scores.size} columns that vary the score {scores[0]:.6g}: "
            "there are no best ones. Use another score_func, or keep all columns (k=None)."
        )


def _with_prior(model: GaussianModel, prior: VariancePrior | None) -> GaussianModel:
    """Return the model with the prior of variances that the event has."""
    if prior is None:
        return model
    return replace(model, shrinkage=prior.df, variance=prior.scale)
