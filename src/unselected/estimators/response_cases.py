"""Cases as regressions see them: without what their covariates say of features and response."""

from typing import Any, NamedTuple

import numpy as np

from unselected._typing import Floats, Ints
from unselected.estimators.inputs import TrainingTable
from unselected.models.response_covariates import FeatureSlopes, ResponseCovariates
from unselected.statistics.leaving_out import LeftOut


class ResponseCases(NamedTuple):
    """Cases as regressions see them: without what their covariates say, where they have any.

    Attributes
    ----------
    train, asked : arrays of shape (cases, columns)
    y : array of shape (training cases,)
    n : int
        Training cases, less the directions of their covariates.
    center, factor : arrays of shape (asked cases,), or numbers
        What covariates add to a predicted response, and by what they multiply its variance.
    """

    train: Floats
    asked: Floats
    y: Floats
    n: int
    center: Any
    factor: Any

    @classmethod
    def of(
        cls, table: TrainingTable, left: LeftOut, train: Floats, asked: Floats, y: Floats
    ) -> "ResponseCases":
        """Return the cases of a fit without some cases."""
        if table.covariates is None:
            return cls(train, asked, y, y.size, 0.0, 1.0)
        basis, coded = table.covariates.basis, table.covariates.coded
        before, new = coded[left.kept], coded[left.asked]
        slopes = FeatureSlopes.learn(basis, before, train)
        response = ResponseCovariates.learn(basis, before, y)
        return cls(
            slopes.residuals(before, train),
            slopes.residuals(new, asked) / np.sqrt(response.factor(new))[:, np.newaxis],
            y - response.mean(before),
            response.n_free,
            response.mean(new),
            response.factor(new),
        )

    def laws(self, model: Any, places: Ints) -> tuple[Floats, Floats]:
        """Return locations and squared scales of the responses of the cases asked for."""
        location, squares = model.laws(self.asked[:, places])
        return self.center + np.sqrt(self.factor) * location, squares * self.factor


def given_covariates(table: TrainingTable, y: Floats, cases: Ints) -> ResponseCovariates | None:
    """Return what the covariates of some cases say of their responses, (cases,)."""
    known = table.covariates
    if known is None:
        return None
    return ResponseCovariates.learn(known.basis, known.coded[cases], y)


def expected_by_covariates(table: TrainingTable, y: Floats, cases: Ints) -> Floats:
    """Return what covariates say of all responses (n,), learned from some; 0 without covariates."""
    given = given_covariates(table, y[cases], cases)
    if given is None or table.covariates is None:
        return np.zeros(y.size)
    return given.mean(table.covariates.coded)


def check_variation_left(y: Floats, sets: list[LeftOut]) -> None:
    """Raise where the responses are all equal without a set of cases."""
    for left in sets:
        if np.ptp(y[left.kept]) == 0.0:
            value, n = y[left.kept][0], int(np.count_nonzero(y != y[left.kept][0]))
            raise ValueError(
                f"y is {value:.6g} in all but {n} cases: leaving cases out leaves no variation. "
                "Add cases with other responses, or use a classifier."
            )
