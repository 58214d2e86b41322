"""Densities of features of two groups given a real response, averaged over the nodes.

With nodes of tau and, for each, of the fraction pi of related features, the density of the features
of a new case is the sum over nodes of

    weight * product over features of null_j (1 - pi + pi R_j r_j) / (1 - pi + pi R_j),

R_j = f_j / f_0j for the training cases and r_j = t_j / null_j for the new one; see
`gaussian_two_groups`. With f the response, r_j is a power of a quotient of two quadratic functions
of f, times a factor that all features share. Here many responses and features are computed at once,
and logarithms are taken of sums over nodes only. Digits are lost, or numbers too large, where
features are far out; such rows are left to others.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from unselected._typing import Bools, Floats
from unselected.models.mixed_products import TOGETHER, expanded
from unselected.models.regression_laws import FeatureLines

# Largest absolute value of the log of a product.
_ROOM = 600.0
# Elements of a table over nodes of tau and responses that are processed at a time.
_BLOCK = 1 << 12
# Squares of values may be so much larger than what is left of them.
_MOST_LOST = 1e4


@dataclass(frozen=True, eq=False)
class MixedLines:
    """Such averages for features with the same number of known values.

    Attributes
    ----------
    laws : FeatureLines
        At each tau, and at last at tau = 0.
    log_ratio : array of shape (taus, k)
        log R_j.
    fraction, rest, log_weight : arrays of shape (taus, fractions)
        pi and 1 - pi; logs of the weights over the products of the denominators. Where a tau has
        fewer fractions than others, weights are 0.
    """

    laws: FeatureLines
    log_ratio: Floats
    fraction: Floats
    rest: Floats
    log_weight: Floats

    def log_average(self, gaps: Floats, known: Bools, f: Floats) -> Floats | None:
        """Return the log of the average, shape (rows, m), or None where it would be inaccurate.

        ``gaps`` and ``known`` are of (rows, k), and ``f``, of (rows, m), the response in its unit
        minus ``y_mean``.
        """
        if not self._is_accurate(gaps, f):
            return None
        (n, m), n_taus = f.shape, len(self.log_weight)
        each, row = f.ravel(), np.repeat(np.arange(n), m)
        result = np.empty(each.size)
        size = max(1, _BLOCK // n_taus)
        for start in range(0, each.size, size):
            some = slice(start, start + size)
            part = self._averaged(gaps[row[some]].T, known[row[some]].T, each[some])
            if part is None:
                return None
            result[some] = part
        return result.reshape(n, m)

    def _is_accurate(self, gaps: Floats, f: Floats) -> bool:
        laws = self.laws
        reach = np.max(np.abs(laws.slope), axis=1) * np.max(np.abs(f), initial=0.0)
        largest = (np.max(np.abs(gaps), axis=0, initial=0.0) + reach) ** 2
        return bool(np.all(largest < _MOST_LOST * np.min(laws.squares, axis=1)))

    @cached_property
    def _coefficients(self) -> Floats:
        """Of 1, f^2, -2 gap f and gap^2 in the quadratic functions, (k, taus + 1, 4).

        Factors that do not depend on f are contained.
        """
        laws = self.laws
        one = np.broadcast_to(laws.one[:, np.newaxis], laws.squares.shape)
        ones = np.ones(laws.squares.shape)
        slopes = laws.squares * laws.share + laws.slope**2
        parts = np.stack([laws.squares * one, slopes, laws.slope, ones], axis=2)
        return parts

    @cached_property
    def _log_factors(self) -> Floats:
        """Logs of what factors have that does not depend on the response, (k, taus, 1)."""
        constant = self.laws.constant
        return np.asarray((constant[:, :-1] - constant[:, -1:] + self.log_ratio.T)[..., np.newaxis])

    def _averaged(self, gaps: Floats, known: Bools, f: Floats) -> Floats | None:
        """Return the log of the average for some pairs of a row and a response.

        ``gaps`` and ``known`` are of (k, pairs), ``f`` of (pairs,).
        """
        laws = self.laws
        half, square = 0.5 * laws.df[0], f**2
        widening = half * np.log1p(np.multiply.outer(laws.share[0, :-1] / laws.one[0], square))
        log_null = np.zeros(f.size)
        product = _Product(self.fraction, self.rest, f.size)
        for start in range(0, laws.df.size, TOGETHER):
            some = slice(start, start + TOGETHER)
            powers = np.empty((len(gaps[some]), 4, f.size))
            powers[:, 0], powers[:, 1] = 1.0, square
            np.multiply(gaps[some], -2.0 * f, out=powers[:, 2])
            np.multiply(gaps[some], gaps[some], out=powers[:, 3])
            logs = np.matmul(self._coefficients[some], powers)
            np.log(logs, out=logs)
            logs *= -(half + 0.5)
            there = known[some]
            null = logs[:, -1:]
            ratios = logs[:, :-1]
            ratios -= null
            ratios += widening
            ratios += self._log_factors[some]
            null += laws.constant[some, -1:, np.newaxis] + half * np.log(laws.one[0])
            if not there.all():
                lacking, pairs = np.nonzero(~there)
                ratios[lacking, :, pairs] = self.log_ratio.T[start + lacking]
                null[lacking, 0, pairs] = 0.0
            log_null += null[:, 0].sum(axis=0)
            if not product.multiply(ratios):
                return None
        return log_null + product.log_sum(self.log_weight)


class _Product:
    """Products of 1 - pi + pi ratio, for nodes of tau and pi and for each of some pairs."""

    def __init__(self, fraction: Floats, rest: Floats, size: int) -> None:
        self._fraction, self._rest = fraction, rest
        self._product = np.ones((len(fraction), size, fraction.shape[1]))
        self._log_total: Floats | None = None
        self._used = 0.0

    def multiply(self, log_ratios: Floats) -> bool:
        """Multiply by factors (features, taus, pairs), and say whether that is possible."""
        need = len(log_ratios) * float(max(np.max(log_ratios), -np.min(log_ratios), 0.0))
        if not need < _ROOM:
            return False
        if self._used + need > _ROOM:
            self._settle()
        self._used += need
        polynomial = expanded(np.exp(log_ratios))
        degree = len(polynomial)
        powers = np.arange(degree + 1)[:, np.newaxis]
        weights = self._fraction[:, np.newaxis] ** powers
        weights *= self._rest[:, np.newaxis] ** (degree - powers)
        coefficients = polynomial.transpose(1, 2, 0)
        factor = np.matmul(coefficients, weights[:, 1:])
        factor += weights[:, :1]
        self._product *= factor
        return True

    def log_sum(self, log_weight: Floats) -> Floats:
        """Return the log of the weighted sum over all nodes, shape (pairs,)."""
        if self._log_total is None:
            sums = np.matmul(self._product, np.exp(log_weight)[:, :, np.newaxis])
            return np.asarray(np.log(sums[:, :, 0].sum(axis=0)))
        self._settle()
        logs = self._log_total + log_weight[:, np.newaxis]
        top = logs.max(axis=(0, 2))
        logs -= top[:, np.newaxis]
        return np.asarray(np.log(np.exp(logs, out=logs).sum(axis=(0, 2))) + top)

    def _settle(self) -> None:
        logs = np.log(self._product)
        self._log_total = logs if self._log_total is None else self._log_total + logs
        self._product, self._used = np.ones(logs.shape), 0.0
