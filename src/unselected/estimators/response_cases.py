"""Cases as regressions see them: covariates taken out, and responses far out moved inwards."""

from typing import Any, NamedTuple

import numpy as np

from unselected._typing import Floats, Ints
from unselected.estimators.inputs import TrainingTable
from unselected.models.response_covariates import FeatureSlopes, ResponseCovariates
from unselected.selection.leaving_out import Marginals
from unselected.statistics.leaving_out import LeftOut

# Responses further from the median than this, in robust standard deviations, are moved there.
_CLIP = 4.0


class View(NamedTuple):
    """What a regression sees: columns as they are or as normal scores, and which responses.

    Attributes
    ----------
    marginals : {"raw", "normal"}
    clipped : bool
        Whether responses far out are moved inwards for the fit.
    """

    marginals: Marginals
    clipped: bool


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


def check_variation_left(y: Floats, sets: list[LeftOut]) -> None:
    """Raise where the responses are all equal without a set of cases."""
    for left in sets:
        if np.ptp(y[left.kept]) == 0.0:
            value, n = y[left.kept][0], int(np.count_nonzero(y != y[left.kept][0]))
            raise ValueError(
                f"y is {value:.6g} in all but {n} cases: leaving cases out leaves no variation. "
                "Add cases with other responses, or use a classifier."
            )


def clipped_to(y: Floats, seen: Floats) -> Floats:
    """Return responses moved to within some robust deviations of the median of those seen."""
    center = np.median(seen)
    reach = _CLIP * 1.4826 * np.median(np.abs(seen - center))
    return np.clip(y, center - reach, center + reach) if reach > 0.0 else y
