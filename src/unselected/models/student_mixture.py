"""Predictive distributions that are mixtures of Student t distributions."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln, stdtr

from unselected._typing import Floats
from unselected.models.predictive import checked_levels
from unselected.numerics.increasing import solve
from unselected.numerics.quadrature import log_sum

# Elements of a table over components, rows and levels that are processed at a time.
_BLOCK = 1 << 20


def log_student(away: Floats, squares: Floats, df: float | Floats) -> Floats:
    """Return the log density of a t distribution at a distance from its location.

    ``squares`` is the square of its scale. All arrays are broadcast.

    >>> from scipy.stats import t
    >>> bool(np.isclose(log_student(np.array(1.5), np.array(4.0), 5.0), t(5, scale=2).logpdf(1.5)))
    True
    """
    half = 0.5 * np.asarray(df)
    constant = gammaln(half + 0.5) - gammaln(half) - 0.5 * np.log(2.0 * np.pi * half)
    logs = np.log1p(away**2 / (2.0 * half * squares))
    return np.asarray(constant - 0.5 * np.log(squares) - (half + 0.5) * logs)


@dataclass(frozen=True, eq=False)
class StudentMixture:
    """A mixture of t distributions for each of some rows.

    Attributes
    ----------
    weights, df : arrays of shape (components,)
        Degrees of freedom are above 2.
    location, squares : arrays of shape (components, rows)
        ``squares`` are the squared scales.
    """

    weights: Floats
    df: Floats
    location: Floats
    squares: Floats

    def moved(self, by: Floats, factor: Floats) -> "StudentMixture":
        """Return the distributions moved (rows,), with variances multiplied by factors (rows,)."""
        location = by + np.sqrt(factor) * self.location
        return replace(self, location=location, squares=self.squares * factor)

    def mean_and_std(self) -> tuple[Floats, Floats]:
        """Return means and standard deviations, each of shape (rows,)."""
        mean = self.weights @ self.location
        variance = self.squares * (self.df / (self.df - 2.0))[:, np.newaxis]
        return mean, np.sqrt(self.weights @ (variance + (self.location - mean) ** 2))

    def log_density(self, y: Floats) -> Floats:
        """Return the log density at y, shape (rows,)."""
        logs = log_student(y - self.location, self.squares, self.df[:, np.newaxis])
        with np.errstate(divide="ignore"):
            return log_sum(logs + np.log(self.weights)[:, np.newaxis], axis=0)

    def cdf(self, y: Floats) -> Floats:
        """Return the distribution function at y, of shape (rows,) or (rows, m)."""
        levels = y.reshape(len(y), -1)
        scale, df = np.sqrt(self.squares), self.df[:, np.newaxis, np.newaxis]
        result, size = np.empty(levels.shape), levels.shape[1] * self.weights.size
        rows = max(1, _BLOCK // max(1, size))
        for start in range(0, len(y), rows):
            some = slice(start, start + rows)
            z = (levels[some] - self.location[:, some, np.newaxis]) / scale[:, some, np.newaxis]
            result[some] = np.einsum("c,crm->rm", self.weights, stdtr(df, z))
        return result.reshape(y.shape)

    def quantiles(self, levels: ArrayLike) -> Floats:
        """Return quantiles, shape (rows, levels).

        >>> mixture = StudentMixture(np.ones(1), np.array([5.0]), np.ones((1, 2)), np.ones((1, 2)))
        >>> mixture.quantiles([0.5, 0.95]).round(3).tolist()
        [[1.0, 3.015], [1.0, 3.015]]
        """
        wanted = checked_levels(levels)
        mean, std = self.mean_and_std()
        shape = (mean.size, wanted.size)
        targets = np.broadcast_to(wanted, shape)
        start = np.broadcast_to(mean[:, np.newaxis], shape)
        step = np.broadcast_to(std[:, np.newaxis], shape)
        return solve(self.cdf, targets, start, step)
