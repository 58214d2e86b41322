"""Prediction of a real response from where the features lie given it, with correlated residuals.

The posterior, conditioned on the selection, says of each kept feature where it lies given the
response y and how much it varies: x = a + b z + residual, z = (y - center) / unit, with residual
variances v. With residual correlations R, shrunk by w towards independence, and the power eta of
the likelihood,

    S = D ((1 - w) R + w I) D,  D = diag(sqrt(v)),
    z | x is normal with precision 1 + eta b' S^-1 b and mean eta b' S^-1 (x - a) / precision.

With w = 1 features are independent given y: the naive model. R = U'U, where U has no more rows than
there are cases, and equations are solved in that many unknowns.
"""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from unselected._typing import Floats

# The weights w of independence that are tried, and the powers of the likelihood. The likelihood as
# it is, with power 1, has most of the prior.
INDEPENDENCE = (0.001, 0.01, 0.1, 0.5, 1.0)
POWERS = np.array([1, 0.7, 0.5, 0.35, 0.25, 0.17, 0.12, 0.08, 0.05, 0.03, 0.02, 0.01, 0.005])
LOG_PRIOR_OF_POWERS = np.log(np.append(0.95, np.full(POWERS.size - 1, 0.05 / (POWERS.size - 1))))
# Squares below this part of the largest are rounding.
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class InverseRegression:
    """What is known of the features given the response.

    Attributes
    ----------
    intercept, slope, variance : arrays of shape (k,)
        a, b and v; slopes are for one standard deviation of the response.
    factor : array of shape (m, k)
        U. Its rows are combinations of cases.
    n : int
        Training cases.
    center, unit : float
        Mean and standard deviation of the training responses.
    independence : tuple of float
        The weights w that are tried.
    """

    kind: ClassVar[str] = "inverse"

    intercept: Floats
    slope: Floats
    variance: Floats
    factor: Floats
    n: int
    center: float
    unit: float
    independence: tuple[float, ...] = INDEPENDENCE

    @property
    def scales(self) -> Floats:
        """Factors of the squared scales: none, because powers widen these distributions."""
        return np.ones(1)

    @property
    def log_prior(self) -> Floats:
        """The log prior probability of each weight w and power, shape (weights, powers)."""
        n = len(self.independence)
        return np.tile(LOG_PRIOR_OF_POWERS - np.log(n), (n, 1))

    @property
    def node_as_it_is(self) -> tuple[int, int]:
        """The weight w, the largest of all, and the power 1 of the naive model."""
        return int(np.argmax(self.independence)), 0

    @property
    def df(self) -> float:
        """Degrees of freedom of the predictive distributions, which have a variance."""
        return max(self.n - 1.0, 2.5)

    def laws(self, X: Floats) -> tuple[Floats, Floats]:
        """Return locations and squared scales, each (weights of independence, powers, rows).

        A missing value is left out where features are independent. Elsewhere it counts as the
        value at the mean response.
        """
        deviation = np.sqrt(self.variance)
        known = ~np.isnan(X)
        gaps = np.where(known, (X - self.intercept) / deviation, 0.0)
        slope = self.slope / deviation
        each = [self._along(gaps, slope, known, w) for w in self.independence]
        product, precision = (np.stack(parts)[:, np.newaxis] for parts in zip(*each, strict=True))
        eta = POWERS[:, np.newaxis]
        total = 1.0 + eta * precision
        squares = self.unit**2 * (1.0 + 1.0 / self.n) / total
        return np.asarray(self.center + self.unit * eta * product / total), np.asarray(squares)

    def _along(self, gaps: Floats, slope: Floats, known: Floats, w: float) -> tuple[Floats, Floats]:
        """Return b' S^-1 (x - a) and b' S^-1 b of each row."""
        solved = self.solved(w)
        if w == 1.0:
            return gaps @ solved, known @ slope**2
        return gaps @ solved, np.full(len(gaps), float(slope @ solved))

    def solved(self, w: float) -> Floats:
        """Return S^-1 b in units of the deviations, shape (k,)."""
        slope = self.slope / np.sqrt(self.variance)
        if w == 1.0:
            return np.asarray(slope)
        inner = np.zeros(len(self.factor))
        if self.factor.size:
            among = self.factor @ self.factor.T
            among[np.diag_indices(len(among))] += w / (1.0 - w)
            inner = cho_solve(cho_factor(among, lower=True), self.factor @ slope)
        return np.asarray((slope - self.factor.T @ inner) / w)

    def without_cases(self) -> "InverseRegression":
        """Return the same, where rows of the factor are combinations of all cases."""
        squares, axes = np.linalg.eigh(self.factor @ self.factor.T)
        some = squares > _ROUNDING * np.max(squares, initial=1e-300)
        return replace(self, factor=np.asarray(axes[:, some].T @ self.factor))


def residual_factor(X: Floats, z: Floats) -> Floats:
    """Return residuals of columns around their lines in z, of length 1 in each; missing ones 0.

    >>> rng = np.random.default_rng(0)
    >>> z = rng.normal(size=200)
    >>> common = rng.normal(size=(200, 1))
    >>> U = residual_factor(3.0 * z[:, np.newaxis] + common + rng.normal(size=(200, 2)), z)
    >>> (U.T @ U).round(1).tolist()
    [[1.0, 0.5], [0.5, 1.0]]
    """
    known = ~np.isnan(X)
    n = np.maximum(known.sum(axis=0), 1)
    gaps = np.where(known, X - np.where(known, X, 0.0).sum(axis=0) / n, 0.0)
    along = np.where(known, z[:, np.newaxis], 0.0)
    along = np.where(known, along - along.sum(axis=0) / n, 0.0)
    squares = np.sum(along**2, axis=0)
    slope = np.sum(along * gaps, axis=0) / np.where(squares > 0.0, squares, 1.0)
    residuals = gaps - along * slope
    norm = np.sqrt(np.sum(residuals**2, axis=0))
    return np.asarray(residuals / np.where(norm > 0.0, norm, 1.0))
