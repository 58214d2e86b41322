"""The likelihood of real-valued features and of the event, as a function of tau."""

import numpy as np
from scipy.special import betaln, gammaln

from unselected._typing import Floats
from unselected.models.gaussian_prior import GaussianPrior
from unselected.numerics.quadrature import NEGLIGIBLE, log_sum, trapezoid
from unselected.omission.real import log_real_omission
from unselected.selection.events import RealEvent
from unselected.statistics.moments import Contrasts

# Elements of a table over nodes and features that are processed at a time.
_BLOCK = 1 << 17


class RealLikelihood:
    """P(kept features, event | tau, y) as a function of log u = log tau^2."""

    def __init__(self, model: GaussianPrior, contrasts: Contrasts, event: RealEvent) -> None:
        c = contrasts.take(contrasts.varying)
        self.contrasts, self.event = c, event.patterns(event.n_features > 0)
        self.d, self.refinement = model.shrinkage, model.refinement
        self.n = float(np.max(contrasts.n, initial=event.nu[0]))
        self.some = c.n.size > 0
        self.half, self.half_n = 0.5 * (c.df + self.d), 0.5 * c.df
        self.learns_variance = model.learns_variance and self.some
        self.growth = float(np.sum(self.half_n if model.variance is None else self.half))
        # Sums of squares are measured in units of a typical one, so that their logs are small.
        total = c.within + np.sum(c.beta**2, axis=1)
        self.unit = float(np.exp(np.mean(np.log(total)))) if self.some else 1.0
        # The part of the sums of squares that a known prior of variances stands for.
        self.drawn = 0.0 if model.variance is None else self.d * model.variance / self.unit
        constants = gammaln(self.half) + c.log_volume - self.half_n * np.log(np.pi * self.unit)
        if self.d > 0.0:
            units = self.d if model.variance is None else self.drawn
            constants += 0.5 * self.d * np.log(units) - gammaln(0.5 * self.d)
        self.log_constant = float(np.sum(constants))

    def log_total(self, log_u: Floats) -> Floats:
        """Return the log likelihood at each of some log u."""
        total = np.zeros(log_u.shape)
        if self.event.n_omitted:
            total += self.event.log_prob(log_real_omission(np.exp(log_u), self.event))
        rows = max(1, _BLOCK // max(1, self.half.size))
        for start in range(0, log_u.size, rows):
            block = slice(start, start + rows)
            total[block] += self._log_features(np.exp(log_u[block]))
        return total

    def _squares(self, u: Floats) -> Floats:
        return self.contrasts.squares(u) / self.unit + self.drawn

    def _log_features(self, u: Floats) -> Floats:
        squares = self._squares(u)
        if self.learns_variance:
            fit = np.array([log_sum(self._over_variance(row)[1]) for row in squares])
        else:
            fit = -np.log(squares) @ self.half
        lam = self.contrasts.lam
        times = self.half.size if len(lam) == 1 else 1
        explained = np.sum(np.log1p(np.multiply.outer(u, lam)), axis=(1, 2))
        return np.asarray(fit - 0.5 * times * explained)

    def log_by_feature(self, u: Floats) -> Floats:
        """Return the log likelihood of each feature given the variance, shape (nodes, features)."""
        explained = np.sum(np.log1p(np.multiply.outer(u, self.contrasts.lam)), axis=2)
        return np.asarray(-np.log(self._squares(u)) * self.half - 0.5 * explained)

    def _over_variance(self, squares: Floats) -> tuple[Floats, Floats]:
        """Return nodes of the log common variance, and the logs of the terms of the integral."""
        k = self.half.size

        def log_density(log_variance: Floats) -> Floats:
            log_total = np.logaddexp(np.log(squares), np.log(self.d) + log_variance[:, np.newaxis])
            return np.asarray(0.5 * self.d * k * log_variance - log_total @ self.half)

        # Where d times the variance is far from all sums, the log density decreases linearly. From
        # here on it has at least half of its final rate.
        least = min(self.d, 2.0 * float(np.min(self.half_n)))
        far = np.log(4.0 * np.max(self.half) / least) + 4.0 * NEGLIGIBLE / (k * least)
        low, high = np.log(np.array([squares.min(), squares.max()]) / self.d)
        return trapezoid(log_density, low - far, high + far, self.refinement)

    def with_variance(self, log_u: Floats, log_terms: Floats) -> tuple[Floats, Floats, Floats]:
        """Return nodes of log u and of the log common variance together, with their log terms."""
        parts = []
        for x, term, squares in zip(log_u, log_terms, self._squares(np.exp(log_u)), strict=True):
            log_variance, inner = self._over_variance(squares)
            inner += term - log_sum(inner)
            parts.append((np.full(inner.size, x), log_variance + np.log(self.unit), inner))
        x, log_variance, joint = (np.concatenate(part) for part in zip(*parts, strict=True))
        return x, log_variance, joint

    def log_bound(self, log_u: Floats) -> Floats:
        """Return an upper bound of the log likelihood.

        A contrast counts least with the largest lam. In the integral over the common variance the
        first feature contributes a beta function, and the others at most their maxima.
        """
        least = self._least_squares(log_u)
        bound = -np.log(least) @ (self.half if self.drawn else self.half_n)
        if self.learns_variance:
            others = 0.5 * self.d * np.log(2.0 * self.half_n)
            others = others + self.half * np.log(self.half / self.half_n)
            first = betaln(0.5 * self.d, self.half_n[0]) - 0.5 * self.d * np.log(self.d)
            bound = bound + first - np.sum(others[1:])
        return np.asarray(bound)

    def log_bound_of_new(self, log_u: Floats) -> Floats:
        """Return an upper bound of the log density of a new case's features, without shrinkage."""
        constants = gammaln(self.half + 0.5) - gammaln(self.half)
        least = np.log(np.pi * self.unit * self._least_squares(log_u))
        return np.asarray(np.sum(constants - 0.5 * least, axis=1))

    def _least_squares(self, log_u: Floats) -> Floats:
        """Return a lower bound of the sums of squares, shape (nodes, features)."""
        c = self.contrasts
        most = 1.0 + np.exp(log_u)[:, np.newaxis] * np.max(c.lam, initial=0.0)
        return np.asarray((c.within + np.sum(c.beta**2, axis=1) / most) / self.unit + self.drawn)
