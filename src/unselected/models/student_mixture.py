"""Predictive distributions that are mixtures of Student t distributions."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln, stdtr

from unselected._typing import Floats
from unselected.models.predictive import checked_levels
from unselected.numerics import increasing
from unselected.numerics.quadrature import log_sum

# Elements of a table over components, rows and levels that are processed at a time.
_BLOCK = 1 << 18


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
        rows = np.repeat(np.arange(mean.size), wanted.size)
        targets = np.tile(wanted, mean.size)

        def law(which: NDArray[np.intp], y: Floats) -> tuple[Floats, Floats]:
            return self._cdf_and_density(rows[which], y)

        return increasing.quantiles(law, targets, mean[rows], std[rows]).reshape(mean.size, -1)

    def _cdf_and_density(self, rows: NDArray[np.intp], y: Floats) -> tuple[Floats, Floats]:
        """Return the distribution function and the density of some rows at y (rows,)."""
        df, constant = self.df[:, np.newaxis], self._log_constants[:, np.newaxis]
        both = np.empty((2, y.size))
        size = max(1, _BLOCK // max(1, self.weights.size))
        for start in range(0, y.size, size):
            some = slice(start, start + size)
            scale = np.sqrt(self.squares[:, rows[some]])
            z = (y[some] - self.location[:, rows[some]]) / scale
            density = np.exp(constant - 0.5 * (df + 1.0) * np.log1p(z**2 / df)) / scale
            both[:, some] = self.weights @ stdtr(df, z), self.weights @ density
        return both[0], both[1]

    @cached_property
    def _log_constants(self) -> Floats:
        """Log densities of the standardized components at 0, shape (components,)."""
        half = 0.5 * self.df
        return np.asarray(gammaln(half + 0.5) - gammaln(half) - 0.5 * np.log(2.0 * np.pi * half))
