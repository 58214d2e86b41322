"""A real response given covariates: linear in them, with features conditioned on both.

y = z' g + noise, g flat, p(variance) ~ 1 / variance, so that a new response is Student t before any
feature is seen. Given y and z the features are those of `gaussian`, coded by y in units of its
deviation around z' g. For new cases with the covariates z all is as without covariates, with the
means, the expected code and the leverage at z.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from unselected._typing import Floats, Ints
from unselected.models.predictive import checked_levels
from unselected.models.regression_posterior import RegressionPosterior
from unselected.statistics.design import CovariateBasis


@dataclass(frozen=True, eq=False)
class AdjustedRegression:
    """Predictive distributions given rows of features and, behind them, coded covariates.

    Attributes
    ----------
    posterior : RegressionPosterior
        For cases with the means of the covariates.
    basis : CovariateBasis
    coefficients : array of shape (m,)
        The mean response at z is z' coefficients.
    inverse : array of shape (m, m)
        (Z'Z)^-1.
    """

    posterior: RegressionPosterior
    basis: CovariateBasis
    coefficients: Floats
    inverse: Floats

    def _each(self, X: Floats) -> Iterator[tuple[Ints, RegressionPosterior, Floats]]:
        """Yield the numbers of rows with the same covariates, their posterior, and their values."""
        k = X.shape[1] - self.basis.n_coded
        for rows, z in self.basis.distinct(X[:, k:]):
            y_mean, leverage = float(z @ self.coefficients), float(z @ self.inverse @ z)
            yield rows, self.posterior.at(z, y_mean, leverage), X[rows, :k]

    def mean_and_std(self, X: Floats) -> tuple[Floats, Floats]:
        """Return means and standard deviations of the predictive distributions of rows."""
        both = np.empty((2, len(X)))
        for rows, posterior, values in self._each(X):
            both[:, rows] = posterior.mean_and_std(values)
        return both[0], both[1]

    def quantiles(self, X: Floats, levels: ArrayLike) -> Floats:
        """Return their quantiles, shape (rows, levels)."""
        result = np.empty((len(X), checked_levels(levels).size))
        for rows, posterior, values in self._each(X):
            result[rows] = posterior.quantiles(values, levels)
        return result

    def log_density(self, X: Floats, y: Floats) -> Floats:
        """Return the log predictive densities of responses."""
        result = np.empty(len(X))
        for rows, posterior, values in self._each(X):
            result[rows] = posterior.log_density(values, y[rows])
        return result

    def cdf(self, X: Floats, y: Floats) -> Floats:
        """Return the predictive distribution functions at y."""
        result = np.empty(len(X))
        for rows, posterior, values in self._each(X):
            result[rows] = posterior.cdf(values, y[rows])
        return result
