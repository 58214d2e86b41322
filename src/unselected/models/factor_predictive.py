"""Predictions of new cases from the draws of a factor model.

Given a draw of all parameters, a new case's features and response are jointly normal. Predictions
average joint densities over the draws, so that a draw that explains the features better has more
weight.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import log_ndtr, ndtr

from unselected._typing import Floats
from unselected.models.class_draws import ClassDraws
from unselected.models.predictive import checked_levels
from unselected.numerics.quadrature import log_sum

Kind = Literal["real", "classes"]


# The parameters that predictions need.
PREDICTING = (
    "means",
    "loadings",
    "variances",
    "intercept",
    "coefficients",
    "noise_variance",
)


# Standardized values are clipped to this.
_LARGEST = 1e8


# Bisections that find a quantile.
_HALVINGS = 60


class _Given(NamedTuple):
    """For some rows and each draw: log p(x | draw), and mean and variance of beta' z + mu_0.

    ``log_density`` and ``mean`` are (rows, draws), ``variance`` is (draws,).
    """

    log_density: Floats
    mean: Floats
    variance: Floats


@dataclass(frozen=True, eq=False)
class FactorPredictive(ClassDraws):
    """Predictions of new cases from draws from the posterior.

    Attributes
    ----------
    parameters : mapping of str to arrays of shape (draws, ...)
        Those in ``PREDICTING``, in the units of the features, and of a real response.
    center, unit : arrays of shape (k,)
        Means and standard deviations of the training features. The unit of a constant feature is
        0, and the feature is ignored.
    kind : {"real", "classes"}
    """

    parameters: Mapping[str, Floats]
    center: Floats
    unit: Floats
    kind: Kind

    @property
    def numbers(self) -> list[Floats]:
        """The arrays that predictions are computed from."""
        return list(self._tables)

    @cached_property
    def log_psi(self) -> Floats:
        """Logs of the class probabilities before any feature is seen."""
        beta = self.parameters["coefficients"]
        score = self.parameters["intercept"] / np.sqrt(1.0 + np.sum(beta**2, axis=1))
        return np.asarray(np.log([np.mean(ndtr(-score)), np.mean(ndtr(score))]))

    def log_joint_by_draw(self, rows: Floats) -> Floats:
        """Return log P(class, row | draw), shape (rows, 2, draws)."""
        given = self._of_rows(rows)
        score = given.mean / np.sqrt(1.0 + given.variance)
        return np.stack([given.log_density + log_ndtr(side) for side in (-score, score)], axis=1)

    def mean_and_std(self, X: Floats) -> tuple[Floats, Floats]:
        """Return means and standard deviations of the predictive distributions of rows."""
        mean, std = np.empty(len(X)), np.empty(len(X))
        for rows, weights, means, deviations in self._mixtures(X):
            mean[rows] = np.sum(weights * means, axis=1)
            gaps = (means - mean[rows][:, np.newaxis]) ** 2
            std[rows] = np.sqrt(np.sum(weights * (deviations**2 + gaps), axis=1))
        return mean, std

    def log_density(self, X: Floats, y: Floats) -> Floats:
        """Return the log predictive density of y (rows,) given the kept features X (rows, k)."""
        result = np.empty(len(X))
        for rows, given in self._over_rows(X):
            variance = given.variance + self.parameters["noise_variance"]
            gap = (y[rows, np.newaxis] - given.mean) ** 2 / variance
            logs = given.log_density - 0.5 * (gap + np.log(2.0 * np.pi * variance))
            result[rows] = log_sum(logs, axis=1) - log_sum(given.log_density, axis=1)
        return result

    def cdf(self, X: Floats, y: Floats) -> Floats:
        """Return the predictive distribution function at y (rows,)."""
        result = np.empty(len(X))
        for rows, weights, means, deviations in self._mixtures(X):
            below = ndtr((y[rows, np.newaxis] - means) / deviations)
            result[rows] = np.sum(weights * below, axis=1)
        return np.clip(result, 0.0, 1.0)

    def quantiles(self, X: Floats, levels: ArrayLike) -> Floats:
        """Return quantiles of the predictive distributions of rows, shape (rows, levels)."""
        wanted = checked_levels(levels)
        result = np.empty((len(X), wanted.size))
        for rows, weights, means, deviations in self._mixtures(X):
            for j, level in enumerate(wanted):
                result[rows, j] = _quantile(float(level), weights, means, deviations)
        return result

    def _mixtures(self, X: Floats) -> Iterator[tuple[slice, Floats, Floats, Floats]]:
        """Yield rows, weights (rows, draws), means (rows, draws) and deviations (draws,)."""
        for rows, given in self._over_rows(X):
            logs = given.log_density
            weights = np.exp(logs - log_sum(logs, axis=1)[:, np.newaxis])
            variance = given.variance + self.parameters["noise_variance"]
            yield rows, weights, given.mean, np.sqrt(variance)

    @property
    def n_draws(self) -> int:
        """The number of draws."""
        return len(self.parameters["intercept"])

    def _over_rows(self, X: Floats) -> Iterator[tuple[slice, _Given]]:
        """Yield the terms of each draw for some rows at a time."""
        for rows in self.blocks(X):
            yield rows, self._of_rows(X[rows])

    def _of_rows(self, X: Floats) -> _Given:
        """Return the terms of each draw for some rows, from sums of squares and products by draw.

        With K = I + sum_j lambda_j lambda_j' / s_j^2 and h = sum_j lambda_j (x_j - mu_j) / s_j^2,
        z given x is N(K^-1 h, K^-1), and -2 log p(x) = sum_j (x_j - mu_j)^2 / s_j^2 - h' K^-1 h +
        log det K + sum_j log s_j^2 + k log(2 pi).
        """
        t = self._tables
        with np.errstate(over="ignore"):
            values = np.clip((X[:, self.unit > 0.0] - t.center) / t.unit, -_LARGEST, _LARGEST)
        squares = values**2 @ t.precision.T - 2.0 * values @ t.pulled.T + t.squares
        h = np.einsum("rk,dkq->rdq", values, t.weighted, optimize=True) - t.at_mean
        half = np.einsum("rdq,dpq->rdp", h, t.inverse_lower)
        log_density = -0.5 * (squares - np.sum(half**2, axis=2) + t.log_scale)
        return _Given(log_density, t.intercept + np.sum(half * t.gain, axis=2), t.variance)

    @cached_property
    def _tables(self) -> "_Tables":
        """Sums over features for each draw, in standardized units."""
        some = self.unit > 0.0
        center, unit = self.center[some], self.unit[some]
        mu = (self.parameters["means"][:, some] - center) / unit
        loadings = self.parameters["loadings"][:, some] / unit[:, np.newaxis]
        precision = unit**2 / self.parameters["variances"][:, some]
        weighted = loadings * precision[:, :, np.newaxis]
        K = np.eye(loadings.shape[2]) + np.einsum("dkp,dkq->dpq", loadings, weighted)
        lower = np.linalg.cholesky(K)
        log_det = 2.0 * np.sum(np.log(np.diagonal(lower, axis1=1, axis2=2)), axis=1)
        inverse_lower = np.linalg.inv(lower)
        gain = np.einsum("dpq,dq->dp", inverse_lower, self.parameters["coefficients"])
        return _Tables(
            center=center,
            unit=unit,
            precision=precision,
            pulled=mu * precision,
            squares=np.sum(mu**2 * precision, axis=1),
            weighted=weighted,
            at_mean=np.einsum("dk,dkq->dq", mu, weighted),
            inverse_lower=inverse_lower,
            gain=gain,
            log_scale=log_det - np.sum(np.log(precision / (2.0 * np.pi * unit**2)), axis=1),
            intercept=self.parameters["intercept"],
            variance=np.sum(gain**2, axis=1),
        )


class _Tables(NamedTuple):
    """Sums of `_of_rows`; all but the first two have an entry for each draw."""

    center: Floats
    unit: Floats
    precision: Floats
    pulled: Floats
    squares: Floats
    weighted: Floats
    at_mean: Floats
    inverse_lower: Floats
    gain: Floats
    log_scale: Floats
    intercept: Floats
    variance: Floats


def _quantile(level: float, weights: Floats, means: Floats, deviations: Floats) -> Floats:
    """Return the quantile of mixtures of normals, one for each row, by bisection."""
    reach = 40.0 * deviations
    low, high = np.min(means - reach, axis=1), np.max(means + reach, axis=1)
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        below = np.sum(weights * ndtr((middle[:, np.newaxis] - means) / deviations), axis=1)
        low, high = np.where(below < level, middle, low), np.where(below < level, high, middle)
    return np.asarray(0.5 * (low + high))
