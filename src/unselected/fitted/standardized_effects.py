"""The posterior of the effect of a real-valued feature, in units of its deviation s.

Given tau and s, a combination of the feature's class means, or its slope, is normal; in units of s
it is

    location R + sqrt(variance) Z,    R^2 ~ chi^2 with nu degrees of freedom, over nu, Z ~ N(0, 1).
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln, ndtr

from unselected._typing import Floats
from unselected.fitted.effect_laws import LEAST_WEIGHT, REACH
from unselected.models.gaussian_posterior import GaussianPosterior

# Step of the rule for the deviation in units of the narrowest part, and its points at most.
_STEP, _MOST_POINTS = 0.5, 4000
# Elements of a table that are processed at a time.
_BLOCK = 1 << 20


@dataclass(frozen=True, eq=False)
class StandardizedEffect:
    """The posterior of a combination of class means, or of a slope, over s; see `EffectLaw`.

    Attributes
    ----------
    weights : array of shape (k, nodes)
    location, variance : arrays of shape (k, nodes)
    nu : array of shape (k,)
    """

    weights: Floats
    location: Floats
    variance: Floats
    nu: Floats

    @property
    def null(self) -> Floats:
        """The probability that the effect is 0."""
        return np.asarray(np.maximum(0.0, 1.0 - self.weights.sum(axis=1)))

    @property
    def mean(self) -> Floats:
        """The mean, with E[R] = sqrt(2 / nu) Gamma((nu + 1) / 2) / Gamma(nu / 2)."""
        half = 0.5 * self.nu
        mean_of_r = np.exp(gammaln(half + 0.5) - gammaln(half)) / np.sqrt(half)
        return np.asarray(mean_of_r * np.sum(self.weights * self.location, axis=1))

    @property
    def deviation(self) -> Floats:
        """The standard deviation; E[R^2] is 1."""
        squares = np.sum(self.weights * (self.variance + self.location**2), axis=1)
        return np.asarray(np.sqrt(np.maximum(squares - self.mean**2, 0.0)))

    def cdf(self, x: Floats) -> Floats:
        """Return P(related, effect <= x) for x of shape (k, m)."""
        result = np.empty(x.shape)
        points = self._points()
        rows = max(1, _BLOCK // (points * self.weights.shape[1] * x.shape[1]))
        for start in range(0, len(x), rows):
            block = slice(start, start + rows)
            result[block] = self._cdf(x[block], block, points)
        return result

    def _cdf(self, x: Floats, block: slice, points: int) -> Floats:
        r, r_weights = _chi_rule(self.nu[block], points)
        places = self.location[block, :, np.newaxis] * r[:, np.newaxis, :]
        scale = np.sqrt(self.variance[block])[:, :, np.newaxis]
        with np.errstate(divide="ignore", invalid="ignore"):
            z = (x[:, :, np.newaxis, np.newaxis] - places[:, np.newaxis]) / scale[:, np.newaxis]
        below = ndtr(np.nan_to_num(z, nan=0.0))
        weights = self.weights[block]
        return np.asarray(np.einsum("kn,kmnp,kp->km", weights, below, r_weights, optimize=True))

    def _points(self) -> int:
        """Return the number of values of R that resolves the normal components."""
        live = (self.weights > LEAST_WEIGHT) & (self.variance > 0.0)
        spread = np.abs(self.location) / np.sqrt(2.0 * self.nu)[:, np.newaxis]
        ratio = spread[live] / np.sqrt(self.variance[live])
        widest = max(1.0, float(np.max(ratio, initial=0.0)))
        longest = float(np.max(_chi_reach(self.nu), initial=1.0))
        return int(min(np.ceil(longest * widest / _STEP), _MOST_POINTS)) + 1


def _chi_reach(nu: Floats) -> Floats:
    """Return the length of the rule for log R, in units of its deviation 1 / sqrt(2 nu)."""
    return np.asarray(2.0 * np.sqrt(2.0 * REACH) + REACH * np.sqrt(2.0 / nu))


def _chi_rule(nu: Floats, points: int) -> tuple[Floats, Floats]:
    """Return values of R and weights that sum to 1, shapes (k, points): equal steps of log R."""
    high = np.sqrt(2.0 * REACH)
    t = high - _chi_reach(nu)[:, np.newaxis] * np.linspace(0.0, 1.0, points)
    log_r = t / np.sqrt(2.0 * nu)[:, np.newaxis]
    log_density = nu[:, np.newaxis] * (log_r - 0.5 * np.exp(2.0 * log_r))
    weights = np.exp(log_density - log_density.max(axis=1, keepdims=True))
    return np.exp(log_r), weights / weights.sum(axis=1, keepdims=True)


def standardized_effect(posterior: GaussianPosterior, direction: Floats) -> StandardizedEffect:
    """Return the posterior of direction' w / s of each kept feature.

    Parameters
    ----------
    posterior : GaussianPosterior
    direction : array of shape (d,)
        A difference of codes: of two classes, of a class from the mean of all, or 1 for a slope.
    """
    weights, location, variance, mean_square, nu = combination(posterior, direction)
    with np.errstate(divide="ignore"):
        units = np.where(mean_square > 0.0, 1.0 / np.sqrt(mean_square), 0.0)
    return StandardizedEffect(weights, location * units, variance, nu)


class Combination(NamedTuple):
    """A combination of class means at the nodes: given s it is N(location, s^2 variance).

    ``mean_square`` is the Q / nu of the docs, of which Q / s^2 is chi-squared with nu degrees of
    freedom. All but ``nu``, of shape (k,), have the shape (k, nodes).
    """

    weights: Floats
    location: Floats
    variance: Floats
    mean_square: Floats
    nu: Floats


def combination(posterior: GaussianPosterior, direction: Floats) -> Combination:
    """Return the posterior of direction' w given s, in the units of the values."""
    c = posterior.contrasts
    log_alpha, log_variance, weights = posterior.of_related_features()
    u = np.exp(-log_alpha)
    nu = c.df + posterior.shrinkage
    location, variance = np.zeros((2, u.size, c.n.size))
    f = np.einsum("d,kdq->kq", direction, c.axes)
    for f_i, lam, beta in zip(f.T, c.lam.T, c.beta.T, strict=True):
        share = u[:, np.newaxis] / (1.0 + np.multiply.outer(u, lam))
        location += share * (f_i * np.sqrt(lam)) * beta
        variance += share * f_i**2
    squares = c.squares(u) + posterior.shrinkage * np.exp(log_variance)[:, np.newaxis]
    return Combination(weights, location.T, variance.T, (squares / nu).T, nu)
