"""What covariates say of a real response and of the features, for regressions of what is left.

y = z' g + noise, x_j = z' c_j + ..., g and c_j flat. With z projected out, a regression of y on x
becomes one of residuals on residuals. Residuals of new cases are larger, by the leverage of z:
divided by a factor for that, they are like those of the training cases. A new response is then z' g
plus the predicted residual times that factor.
"""

from dataclasses import dataclass

import numpy as np

from unselected._typing import Floats, Ints
from unselected.statistics.design import CovariateBasis
from unselected.statistics.projecting import covariate_slopes


@dataclass(frozen=True, eq=False)
class ResponseCovariates:
    """Covariates and response of the training cases.

    Attributes
    ----------
    basis : CovariateBasis
    coefficients : array of shape (m,)
        g: the mean response at z is z' g.
    inverse : array of shape (m, m)
        (Z'Z)^-1.
    n, rank : int
        Training cases, and directions of their covariates.
    squares : float
        Mean square of the residuals (divisor n - rank).
    """

    basis: CovariateBasis
    coefficients: Floats
    inverse: Floats
    n: int
    rank: int
    squares: float

    @classmethod
    def learn(cls, basis: CovariateBasis, coded: Floats, y: Floats) -> "ResponseCovariates":
        """Learn from coded covariates (n, c) and responses (n,)."""
        Z = basis.apply(coded)
        coefficients = covariate_slopes(Z, y[:, np.newaxis])[:, 0]
        rank = int(np.linalg.matrix_rank(Z, tol=1e-5 * np.sqrt(len(Z))))
        squares = float(np.sum((y - Z @ coefficients) ** 2)) / max(len(Z) - rank, 1)
        inverse = np.linalg.pinv(Z.T @ Z, rcond=1e-10, hermitian=True)
        return cls(
            basis, coefficients, np.asarray(inverse, dtype=np.float64), len(Z), rank, squares
        )

    @property
    def n_free(self) -> int:
        """The number of cases without covariates that leave as many degrees of freedom."""
        return self.n - self.rank + 1

    def mean(self, coded: Floats) -> Floats:
        """Return the mean response of cases, before their features are seen."""
        return np.asarray(self.basis.apply(coded) @ self.coefficients)

    def factor(self, coded: Floats) -> Floats:
        """Return the factor of the variance of cases, by the leverage of their covariates."""
        Z = self.basis.apply(coded)
        leverage = np.einsum("ni,ij,nj->n", Z, self.inverse, Z)
        return np.asarray((1.0 + leverage) / (1.0 + 1.0 / self.n))

    def law(self, coded: Floats) -> tuple[Floats, Floats, float]:
        """Return locations, squared scales and degrees of freedom of new responses."""
        squares = (self.squares or 1.0) * (1.0 + 1.0 / self.n) * self.factor(coded)
        return self.mean(coded), squares, max(self.n - self.rank, 2.5)


@dataclass(frozen=True, eq=False)
class FeatureSlopes:
    """Coefficients of the covariates in columns.

    Attributes
    ----------
    basis : CovariateBasis
    slopes : array of shape (m, k)
    """

    basis: CovariateBasis
    slopes: Floats

    @classmethod
    def learn(cls, basis: CovariateBasis, coded: Floats, X: Floats) -> "FeatureSlopes":
        """Learn from coded covariates (n, c) and columns (n, k); NaN is missing."""
        return cls(basis, covariate_slopes(basis.apply(coded), X))

    def residuals(self, coded: Floats, X: Floats) -> Floats:
        """Return columns without what covariates say of them."""
        return np.asarray(X - self.basis.apply(coded) @ self.slopes)

    def take(self, columns: Ints) -> "FeatureSlopes":
        """Return the coefficients of some columns."""
        return FeatureSlopes(self.basis, self.slopes[:, columns])
