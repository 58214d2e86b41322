"""What covariates say of the classes, before any feature is seen."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unselected._typing import Floats
from unselected.models.class_regression import ClassRegression
from unselected.statistics.design import CovariateBasis


class ClassCovariates(NamedTuple):
    """The basis of the covariates, and the classes given them.

    Attributes
    ----------
    basis : CovariateBasis
    regression : ClassRegression
    """

    basis: CovariateBasis
    regression: ClassRegression

    @classmethod
    def fit(
        cls, basis: CovariateBasis, coded: Floats, y: NDArray[np.intp], pseudocounts: Floats
    ) -> "ClassCovariates":
        """Learn from the coded covariates (n, c) and the classes of the training cases."""
        return cls(basis, ClassRegression.fit(coded, y, pseudocounts.size, pseudocounts))

    def log_proba(self, coded: Floats) -> Floats:
        """Return the log class probabilities of cases, shape (n, G)."""
        return self.regression.log_proba(coded)
