"""The responses of cases left out, by which regressions are weighed."""

from typing import Any, NamedTuple

import numpy as np

from unselected._typing import Floats
from unselected.dependence.response_weights import HeldOutResponses, ResponseWeights
from unselected.estimators.inputs import TrainingTable
from unselected.estimators.response_candidates import law_of_response
from unselected.estimators.response_cases import given_covariates
from unselected.estimators.response_views import ResponseKind, Responses
from unselected.statistics.leaving_out import LeftOut


class ResponsesLeftOut(NamedTuple):
    """Cases left out in folds.

    Attributes
    ----------
    table : TrainingTable
    responses : Responses
    folds : list of LeftOut
    weight : float
        What a case counts: less where cases were left out several times.
    """

    table: TrainingTable
    responses: Responses
    folds: list[LeftOut]
    weight: float

    def cases(self, kind: ResponseKind) -> HeldOutResponses:
        """Return the responses left out, with what is known of them without features."""
        y = self.responses.judged(kind)
        known = [self._laws_without_features(y, left) for left in self.folds]
        center, squares, df = (np.concatenate(each) for each in zip(*known, strict=True))
        asked = np.concatenate([y[left.asked] for left in self.folds])
        return HeldOutResponses(asked, df, center, squares, self.weight)

    def log_density(self, kind: ResponseKind, learned: ResponseWeights) -> float:
        """Return the log density of the responses left out, as they are, in an average."""
        slopes = self.responses.log_slope(kind)
        gained = sum(float(slopes[left.asked].sum()) for left in self.folds)
        return learned.log_density + self.weight * gained

    def _laws_without_features(self, y: Floats, left: LeftOut) -> tuple[Floats, Floats, Floats]:
        """Return what is known of the cases asked for from the others, without their features."""
        seen, covariates = y[left.kept], self.table.covariates
        given = given_covariates(self.table, seen, left.kept)
        if given is None or covariates is None:
            laws: Any = law_of_response(seen)
        else:
            laws = given.law(covariates.coded[left.asked])
        center, squares, df = (np.broadcast_to(each, left.asked.shape) for each in laws)
        return center, squares, df
