"""Columns and responses given the factors of the cases: densities, and draws of the parameters.

A feature is x_i = mu + lambda' z_i + e_i, e ~ N(0, s^2), lambda ~ N(0, u s^2 I), u = tau^2, mu
flat, p(s^2) ~ 1 / s^2: the model of `gaussian` with the factors as the codes of the response. A
real response is one more such column, with a u of its own. With two classes, a case is in the
second where w_i = mu_0 + beta' z_i + N(0, 1) is positive (a probit), mu_0 ~ N(0, 1),
beta ~ N(0, u I). With beta = 0, P(second class) = Phi(mu_0) is uniform, as in naive Bayes.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import log_ndtr, ndtri_exp

from unselected._typing import Floats

# Smallest share of noise in a column's sum of squares: rounding leaves no less.
_LEAST_NOISE = 1e-13


class Lines(NamedTuple):
    """Parameters of k columns: intercept (k,), loadings (k, q), noise variance (k,)."""

    intercept: Floats
    loadings: Floats
    variance: Floats


class ColumnsGivenFactors:
    """Real-valued columns (n, k), with the factors Z (n, q) known."""

    def __init__(self, columns: Floats, Z: Floats) -> None:
        self.n, self.k = columns.shape
        self.mean, self.z_mean = columns.mean(axis=0), Z.mean(axis=0)
        centred, Zc = columns - self.mean, Z - self.z_mean
        self.lam, self.axes = np.linalg.eigh(Zc.T @ Zc)
        self.along = (Zc @ self.axes).T @ centred
        self.total = np.einsum("nk,nk->k", centred, centred)

    def _squares(self, u: Floats) -> Floats:
        """Return the effective sums of squares (nodes, k): see `moments.Contrasts.squares`."""
        u = u[:, np.newaxis]
        explained = (u / (1.0 + u * self.lam)) @ self.along**2
        return np.asarray(np.maximum(self.total - explained, _LEAST_NOISE * self.total))

    def log_likelihood(self, u: Floats) -> Floats:
        """Return the log densities given tau^2 = u (nodes,), up to a constant of the columns."""
        fit = -0.5 * (self.n - 1.0) * np.sum(np.log(self._squares(u)), axis=1)
        explained = np.sum(np.log1p(np.multiply.outer(u, self.lam)), axis=1)
        return np.asarray(fit - 0.5 * self.k * explained)

    def draw(self, u: float, rng: np.random.Generator) -> Lines:
        """Draw s^2, then lambda, then mu, each given the columns and the previous ones."""
        variance = self._squares(np.array([u]))[0] / rng.chisquare(self.n - 1.0, size=self.k)
        spread = u / (1.0 + u * self.lam)
        noise = np.sqrt(spread)[:, np.newaxis] * rng.normal(size=self.along.shape)
        turned = spread[:, np.newaxis] * self.along + np.sqrt(variance) * noise
        loadings = turned.T @ self.axes.T
        error = np.sqrt(variance / self.n) * rng.normal(size=self.k)
        return Lines(self.mean - loadings @ self.z_mean + error, loadings, variance)


class ProbitGivenFactors:
    """The latent normals w (n,) of a response in two classes, with the factors known."""

    def __init__(self, w: Floats, Z: Floats) -> None:
        design = np.column_stack([np.ones(w.size), Z])
        self.gram, self.along = design.T @ design, design.T @ w
        self.total, self.n = float(w @ w), w.size

    def _regression(self, u: Floats) -> tuple[Floats, Floats, Floats]:
        """Return prior deviations, the Cholesky factor L of the precision, and L' times the mean.

        Each is for nodes of u. In units of the prior deviations the precision is
        I + design' design.
        """
        deviations = np.ones((u.size, self.along.size))
        deviations[:, 1:] = np.sqrt(u)[:, np.newaxis]
        scaled = deviations[:, :, np.newaxis] * self.gram * deviations[:, np.newaxis, :]
        lower = np.linalg.cholesky(np.eye(self.along.size) + scaled)
        half = np.linalg.solve(lower, (deviations * self.along)[:, :, np.newaxis])
        return deviations, lower, np.asarray(half[:, :, 0], dtype=np.float64)

    def squares(self, u: float) -> float:
        """Return w' (I + 1 1' + u Z Z')^-1 w."""
        half = self._regression(np.array([u]))[2][0]
        return float(max(self.total - half @ half, _LEAST_NOISE * self.total))

    def log_likelihood(self, u: Floats) -> Floats:
        """Return log N(w; 0, I + 1 1' + u Z Z') for u (nodes,), up to a constant of w."""
        _, lower, half = self._regression(u)
        log_root = np.sum(np.log(np.diagonal(lower, axis1=1, axis2=2)), axis=1)
        return np.asarray(0.5 * np.sum(half**2, axis=1) - log_root)

    def draw(self, u: float, rng: np.random.Generator) -> Lines:
        """Draw mu_0 and beta given w."""
        deviations, lower, half = (part[0] for part in self._regression(np.array([u])))
        drawn = deviations * np.linalg.solve(lower.T, half + rng.normal(size=half.size))
        return Lines(drawn[:1], drawn[np.newaxis, 1:], np.ones(1))


# A column (or several) with the factors known.
GivenFactors = ColumnsGivenFactors | ProbitGivenFactors


@dataclass(frozen=True, eq=False)
class RealResponse:
    """A real-valued response: known, so that there is nothing to draw."""

    y: Floats

    def start(self, rng: np.random.Generator) -> Floats:  # noqa: ARG002
        """Return the response itself."""
        return self.y

    def given(self, column: Floats, Z: Floats) -> GivenFactors:
        """Return the response as a real-valued column."""
        return ColumnsGivenFactors(column[:, np.newaxis], Z)

    def renew(self, *_: object) -> Floats:
        """Return the response itself."""
        return self.y


@dataclass(frozen=True, eq=False)
class ProbitResponse:
    """Two classes, the second where a latent normal is positive.

    Attributes
    ----------
    y : array of shape (n,)
        0 or 1.
    """

    y: Floats

    @property
    def _sign(self) -> Floats:
        return np.where(self.y > 0.5, 1.0, -1.0)

    def start(self, rng: np.random.Generator) -> Floats:
        """Return normals whose signs match the classes."""
        return np.asarray(self._sign * np.abs(rng.normal(size=self.y.size)))

    def given(self, column: Floats, Z: Floats) -> GivenFactors:
        """Return the regression of the latent normals on the factors."""
        return ProbitGivenFactors(column, Z)

    def renew(self, Z: Floats, u: float, lines: Lines, rng: np.random.Generator) -> Floats:
        """Draw the latent normals given mu_0 and beta, then their scale with these integrated out.

        The signs do not depend on the scale c, so that c^2 is chi-squared with n degrees of freedom
        over w' (I + 1 1' + u Z Z')^-1 w (parameter expansion, Liu and Wu 1999). So w and
        (mu_0, beta) move together; drawn in turn they would mix slowly.
        """
        mean = self._sign * (lines.intercept[0] + Z @ lines.loadings[0])
        # The log of the upper tail of a normal around ``mean`` keeps its digits however far out.
        w = self._sign * (mean - ndtri_exp(np.log(1.0 - rng.random(mean.size)) + log_ndtr(mean)))
        c2 = rng.chisquare(w.size) / ProbitGivenFactors(w, Z).squares(u)
        return np.asarray(np.sqrt(c2) * w)


# A response as a column of numbers, which may be latent and then have to be drawn.
Response = RealResponse | ProbitResponse
