"""The rate of a binary feature in one class, given its counts: a mixture of beta distributions."""

from typing import NamedTuple

import numpy as np
from scipy.special import betainc, betaln, digamma, expit, log_expit, loggamma, zeta

from unselected._typing import Complexes, Floats
from unselected.fitted.effect_laws import REACH
from unselected.numerics.quadrature import sinh_rule

# Points of the rule for the rate of one class.
_POINTS = 32
# Beyond this logit the distribution function is a power of the odds.
_FAR_LOGIT = 30.0


class ClassRates(NamedTuple):
    """Components of a mixture of beta distributions of the rate in a class, shape (parts,)."""

    a: Floats
    b: Floats

    @property
    def mean(self) -> Floats:
        """The mean of each part."""
        return self.a / (self.a + self.b)

    @property
    def variance(self) -> Floats:
        """The variance of each part."""
        return self.a * self.b / ((self.a + self.b) ** 2 * (self.a + self.b + 1.0))

    @property
    def mean_logit(self) -> Floats:
        """The mean of the logit of the rate."""
        return np.asarray(digamma(self.a) - digamma(self.b))

    @property
    def variance_of_logit(self) -> Floats:
        """The variance of the logit of the rate."""
        return np.asarray(zeta(2.0, self.a) + zeta(2.0, self.b))

    def cdf(self, rate: Floats) -> Floats:
        """Return P(phi <= rate) for arrays of shape (..., parts, points)."""
        a, b = self.a[:, np.newaxis], self.b[:, np.newaxis]
        return np.asarray(betainc(a, b, np.clip(rate, 0.0, 1.0)))

    def cdf_of_logit(self, x: Floats) -> Floats:
        """Return P(logit phi <= x) likewise, also where phi is next to 0 or 1."""
        a, b = self.a[:, np.newaxis], self.b[:, np.newaxis]
        result = self.cdf(expit(x))
        log_beta = betaln(a, b)
        low = np.exp(np.minimum(a * x - np.log(a) - log_beta, 0.0))
        high = -np.expm1(np.minimum(-b * x - np.log(b) - log_beta, 0.0))
        return np.where(x < -_FAR_LOGIT, low, np.where(x > _FAR_LOGIT, high, result))

    def below_logit(self, other: "ClassRates", shift: Floats) -> Floats:
        """Return P(logit of the other <= logit of this + shift), shape (shifts, parts)."""
        a, b = self.a[:, np.newaxis], self.b[:, np.newaxis]
        width = np.sqrt(1.0 / (a + 1.0) + 1.0 / (b + 1.0))
        x, log_steps = sinh_rule(np.log(a / b), width, a, b, _POINTS, REACH)
        log_density = a * log_expit(x) + b * log_expit(-x) + log_steps
        weights = np.exp(log_density - log_density.max(axis=1, keepdims=True))
        weights /= weights.sum(axis=1, keepdims=True)
        below = other.cdf_of_logit(x + shift[:, np.newaxis, np.newaxis])
        return np.asarray(np.sum(weights * below, axis=2))

    def below(self, other: "ClassRates", shift: Floats) -> Floats:
        """Return P(the other <= this + shift), shape (shifts, parts).

        The rule covers the interval where this rate and the shifted one are both between 0 and 1,
        in the logit of that interval, in which the integrand is smooth at the ends.
        """
        a, b = self.a[:, np.newaxis], self.b[:, np.newaxis]
        e = np.clip(shift, -1.0 + 1e-12, 1.0 - 1e-12)[:, np.newaxis, np.newaxis]
        low, above = np.maximum(0.0, -e), np.maximum(0.0, e)
        length = 1.0 - low - above
        mean, deviation = a / (a + b), np.sqrt(self.variance)[:, np.newaxis]
        near = np.minimum(0.25, deviation / length)
        middle = np.clip((mean - low) / length, near, 1.0 - near)
        width = np.minimum(1.0, deviation / (length * middle * (1.0 - middle)))
        tails = np.where(low > 0.0, 1.0, a), np.where(above > 0.0, 1.0, b)
        x, log_steps = sinh_rule(np.log(middle / (1.0 - middle)), width, *tails, _POINTS, REACH)
        log_inside, log_rest = (np.log(length) + log_expit(side) for side in (x, -x))
        with np.errstate(divide="ignore"):
            log_phi = np.logaddexp(np.log(low), log_inside)
            log_complement = np.logaddexp(np.log(above), log_rest)
        log_density = (a - 1.0) * log_phi + (b - 1.0) * log_complement - betaln(a, b)
        log_density += log_inside + log_expit(-x) + log_steps
        below = other.cdf(np.maximum(e, 0.0) + np.exp(log_inside))
        total = np.sum(np.exp(log_density) * below, axis=2)
        return np.asarray(total + betainc(self.b, self.a, above[:, :, 0]))

    def transform(self, step: Floats, n_steps: int) -> Complexes:
        """Return E[exp(i t (phi - mean))] at t = step, 2 step, ..., shape (parts, n_steps).

        Parameters
        ----------
        step : array of shape (parts,)
        n_steps : int
        """
        a, b = self.a[:, np.newaxis], self.b[:, np.newaxis]
        width = np.sqrt(1.0 / (a + 1.0) + 1.0 / (b + 1.0))
        x, log_steps = sinh_rule(np.log(a / b), width, a, b, _POINTS + n_steps, REACH)
        log_density = a * log_expit(x) + b * log_expit(-x) + log_steps
        terms = np.exp(log_density - log_density.max(axis=1, keepdims=True)).astype(np.complex128)
        terms /= terms.sum(axis=1, keepdims=True)
        turn = np.exp(1j * step[:, np.newaxis] * (expit(x) - self.mean[:, np.newaxis]))
        result = np.empty((step.size, n_steps), dtype=np.complex128)
        for place in range(n_steps):
            terms *= turn
            result[:, place] = terms.sum(axis=1)
        return result

    def transform_of_logit(self, step: Floats, n_steps: int) -> Complexes:
        """Return E[exp(i t (logit phi - its mean))] likewise, in closed form."""
        a, b = self.a[:, np.newaxis], self.b[:, np.newaxis]
        t = np.multiply.outer(step, np.arange(1.0, n_steps + 1.0))
        log_value = loggamma(a + 1j * t) - loggamma(a) + loggamma(b - 1j * t) - loggamma(b)
        return np.asarray(np.exp(log_value - 1j * t * self.mean_logit[:, np.newaxis]))
