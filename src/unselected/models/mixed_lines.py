"""Densities of features of two groups given a real response, averaged over the nodes.

With nodes of tau and, for each, of the fraction pi of related features, the density of the features
of a new case is the sum over nodes of

    weight * product over features of null_j (1 - pi + pi R_j r_j) / (1 - pi + pi R_j),

R_j = f_j / f_0j for the training cases and r_j = t_j / null_j for the new one; see
`gaussian_two_groups`. With f the response, r_j is a power of a quadratic function of f, times a
factor that all features share; null_j does not depend on f. Four factors are multiplied as one
polynomial in pi and 1 - pi, so that there is one product of matrices for all pi, and logarithms of
products are taken at the end only. Where features are far out, so that digits would be lost or
numbers be too large, factors are computed and multiplied one by one.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from unselected._typing import Bools, Floats
from unselected.models.regression_laws import FeatureLines

# Factors that are multiplied as one polynomial, and such polynomials at most at a time.
_TOGETHER, _MOST_GROUPS = 4, 16
# Largest absolute value of the log of a product.
_ROOM = 600.0
# Elements of a table over nodes of tau and responses that are processed at a time.
_BLOCK = 1 << 13
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

    def log_average(self, gaps: Floats, known: Bools, f: Floats) -> Floats:
        """Return the log of the average, shape (rows, m).

        ``gaps`` and ``known`` are of (rows, k), and ``f``, of (rows, m), the response in its unit
        minus ``y_mean``.
        """
        result = np.empty(f.shape)
        most = max(1, _BLOCK // len(self.log_weight))
        if f.shape[1] > most:
            for start in range(0, f.shape[1], most):
                some = slice(start, start + most)
                result[:, some] = self.log_average(gaps, known, f[:, some])
            return result
        near, size = self._is_near(gaps, f), max(1, most // f.shape[1])
        for direct, rows in enumerate((np.flatnonzero(near), np.flatnonzero(~near))):
            for start in range(0, rows.size, size):
                block = rows[start : start + size]
                parts = _Rows.of(self.laws, gaps[block], known[block])
                result[block] = self._averaged(parts, f[block], bool(direct))
        return result

    def _is_near(self, gaps: Floats, f: Floats) -> Bools:
        """Say which rows lose few digits where quadratic functions have coefficients."""
        laws = self.laws
        reach = np.max(np.abs(laws.slope), axis=1) * np.max(np.abs(f), axis=1, initial=0.0)[:, None]
        lost = (np.abs(gaps) + reach) ** 2 < _MOST_LOST * np.min(laws.squares, axis=1)
        return np.asarray(np.all(lost, axis=1))

    @property
    def _power(self) -> float:
        """The power of the quadratic functions, without its sign."""
        return 0.5 * float(self.laws.df[0]) + 0.5

    @cached_property
    def _coefficients(self) -> Floats:
        """Of 1, f^2, -2 gap f and gap^2 in the quadratic functions, (k, taus, 4).

        Factors of the ratios that do not depend on a row are contained.
        """
        laws = self.laws
        squares, slope = laws.squares[:, :-1], laws.slope[:, :-1]
        parts = np.empty((*squares.shape, 4))
        parts[..., 0] = squares * laws.one[:, np.newaxis]
        parts[..., 1] = squares * laws.share[:, :-1] + slope**2
        parts[..., 2], parts[..., 3] = slope, 1.0
        return np.asarray(parts * self._factors[..., np.newaxis])

    @cached_property
    def _factors(self) -> Floats:
        """What quadratic functions are multiplied by for the ratios of the training cases."""
        constant = self.laws.constant
        log_factor = constant[:, :-1] - constant[:, -1:] + self.log_ratio.T
        return np.asarray(np.exp(log_factor / -self._power))

    def _far(self, some: slice, rows: "_Rows", f: Floats) -> Floats:
        """Return the quotients of quadratic functions of some features, one by one."""
        laws, each = self.laws, f.ravel()
        spread = laws.one[0] + np.multiply.outer(laws.share[0, :-1], each**2)
        left = np.repeat(rows.gaps[some], f.shape[1], axis=1)[:, np.newaxis]
        left = left - np.multiply.outer(laws.slope[some, :-1], each)
        result = laws.squares[some, :-1, np.newaxis] * spread + left**2
        result *= np.repeat(rows.inverse[some], f.shape[1], axis=1)[:, np.newaxis]
        return np.asarray(result * self._factors[some, :, np.newaxis])

    def _averaged(self, rows: "_Rows", f: Floats, far: bool) -> Floats:
        """Return the log of the average for some rows at responses (rows, m)."""
        laws, k = self.laws, self.laws.df.size
        widening = np.log1p(np.multiply.outer(laws.share[0, :-1] / laws.one[0], f.ravel() ** 2))
        widening *= self._power - 0.5
        product = _Product(self.fraction, self.rest, f.size, k)
        for start in range(0, k, product.n_factors):
            some = slice(start, min(start + product.n_factors, k))
            logs = product.waiting[: some.stop - start]
            if far:
                logs[...] = self._far(some, rows, f)
            else:
                np.matmul(self._coefficients[some], rows.powers(some, f), out=logs)
            np.log(logs, out=logs)
            logs *= -self._power
            logs += widening
            if not rows.known[some].all():
                lacking, row = np.nonzero(~rows.known[some])
                of_rows = logs.reshape(len(logs), -1, *f.shape)
                of_rows[lacking, :, row] = self.log_ratio.T[start + lacking, :, np.newaxis]
            product.multiply(len(logs))
        return rows.log_null[:, np.newaxis] + product.log_sum(self.log_weight).reshape(f.shape)


@dataclass(frozen=True, eq=False)
class _Rows:
    """What the features of some rows contribute whatever the response is.

    Attributes
    ----------
    known, gaps : arrays of shape (k, rows)
    inverse, middle, squared : arrays of shape (k, rows)
        1, -2 gap and gap^2, over the quadratic functions at tau = 0.
    log_null : array of shape (rows,)
        Sums over the features of the log density of an unrelated feature.
    """

    known: Bools
    gaps: Floats
    inverse: Floats
    middle: Floats
    squared: Floats
    log_null: Floats

    @classmethod
    def of(cls, laws: FeatureLines, gaps: Floats, known: Bools) -> "_Rows":
        half, squares = 0.5 * laws.df[0], gaps**2
        null = laws.squares[:, -1] * laws.one + squares
        logs = laws.constant[:, -1] + half * np.log(laws.one[0]) - (half + 0.5) * np.log(null)
        inverse = np.ascontiguousarray((1.0 / null).T)
        middle, squared = -2.0 * gaps.T * inverse, squares.T * inverse
        return cls(known.T, gaps.T, inverse, middle, squared, np.sum(logs * known, axis=1))

    def powers(self, some: slice, f: Floats) -> Floats:
        """Return what coefficients of some features are multiplied by, (features, 4, pairs)."""
        result = np.empty((some.stop - some.start, 4, *f.shape))
        result[:, 0] = self.inverse[some, :, np.newaxis]
        np.multiply(result[:, 0], f**2, out=result[:, 1])
        np.multiply(self.middle[some, :, np.newaxis], f, out=result[:, 2])
        result[:, 3] = self.squared[some, :, np.newaxis]
        return result.reshape(len(result), 4, -1)


class _Product:
    """Products of 1 - pi + pi ratio, for nodes of tau and pi and for each of some pairs.

    ``waiting`` takes the logs of the next ratios, (factors, taus, pairs). Of few pairs, many
    factors are multiplied at a time.
    """

    def __init__(self, fraction: Floats, rest: Floats, size: int, k: int) -> None:
        powers = np.arange(_TOGETHER + 1)
        self._weights = fraction[..., np.newaxis] ** powers
        self._weights *= rest[..., np.newaxis] ** (_TOGETHER - powers)
        n_taus = len(fraction)
        groups = min(_MOST_GROUPS, -(-k // _TOGETHER), max(1, _BLOCK // max(1, n_taus * size)))
        self.n_factors = _TOGETHER * groups
        self.waiting = np.empty((self.n_factors, n_taus, size))
        self._polynomial = np.ones((_TOGETHER + 1, groups, n_taus, size))
        self._factor = np.empty((groups, *fraction.shape, size))
        self._product = np.ones(self._factor.shape[1:])
        self._log_total: Floats | None = None
        self._used = 0.0
        # Largest ratios that are taken out of the products.
        self._log_scale = np.zeros((n_taus, size))
        # No factor is below 1 - pi, so that ratios may underflow.
        with np.errstate(divide="ignore"):
            self._deepest = -float(np.log(np.min(rest, initial=1.0)))
        self._rarest = -float(np.log(np.min(fraction[fraction > 0.0], initial=1.0)))
        self._fraction, self._rest = fraction[..., np.newaxis], rest[..., np.newaxis]

    def multiply(self, n_factors: int) -> None:
        """Multiply by the first of the factors that wait."""
        self.waiting[n_factors:] = 0.0
        needs = self._needs()
        if not np.all(needs < _ROOM):
            for log_ratio in self.waiting[:n_factors]:
                self._multiply_far(log_ratio)
            return
        np.exp(self.waiting, out=self.waiting)
        self._expand()
        np.matmul(self._weights, np.moveaxis(self._polynomial, 0, 2), out=self._factor)
        for need, factor in zip(needs.tolist(), self._factor, strict=True):
            if self._used + need > _ROOM:
                self._settle()
            self._used += need
            self._product *= factor

    def _multiply_far(self, log_ratio: Floats) -> None:
        """Multiply by a factor whose ratio (taus, pairs) may be too large for a product."""
        top = np.maximum(log_ratio, 0.0)
        self._log_scale += top
        left = log_ratio - top
        # Where the ratio is large the factor is at least pi, and otherwise at least 1 - pi.
        need = min(_ROOM, max(self._rarest, min(-float(np.min(left)), self._deepest)))
        if self._used + need > _ROOM:
            self._settle()
        self._used += need
        factor = self._fraction * np.exp(left)[:, np.newaxis]
        factor += self._rest * np.exp(-top)[:, np.newaxis]
        self._product *= factor

    def _needs(self) -> Floats:
        """Return the largest absolute values of the logs of the polynomials."""
        logs = self.waiting.reshape(self.n_factors, -1)
        sizes = self._sizes(np.max(logs, axis=1), np.min(logs, axis=1))
        return np.asarray(sizes.reshape(_TOGETHER, -1).sum(axis=0))

    def _sizes(self, most: Floats, least: Floats) -> Floats:
        """Return the largest absolute value of the log of a factor, given those of its ratio."""
        return np.maximum(most, np.minimum(np.maximum(-least, 0.0), self._deepest))

    def _expand(self) -> None:
        """Compute the coefficients of products of four factors 1 + ratio x, but the first."""
        result = self._polynomial
        ratios = self.waiting.reshape(_TOGETHER, *result.shape[1:])
        (a, b), (c, d) = ratios[:2] + ratios[2:], ratios[:2] * ratios[2:]
        np.add(a, b, out=result[1])
        np.multiply(a, b, out=result[2])
        result[2] += c
        result[2] += d
        np.multiply(a, d, out=result[3])
        np.multiply(c, d, out=result[4])
        b *= c
        result[3] += b

    def log_sum(self, log_weight: Floats) -> Floats:
        """Return the log of the weighted sum over all nodes, shape (pairs,)."""
        if self._log_total is None and not self._log_scale.any():
            top = np.max(log_weight)
            weights = np.exp(log_weight - top).ravel()
            return np.asarray(np.log(weights @ self._product.reshape(weights.size, -1)) + top)
        self._settle()
        assert self._log_total is not None
        logs = self._log_total + self._log_scale[:, np.newaxis] + log_weight[..., np.newaxis]
        top = logs.max(axis=(0, 1))
        logs -= top
        return np.asarray(np.log(np.exp(logs, out=logs).sum(axis=(0, 1))) + top)

    def _settle(self) -> None:
        with np.errstate(divide="ignore"):
            logs = np.log(self._product)
        self._log_total = logs if self._log_total is None else self._log_total + logs
        self._product[:], self._used = 1.0, 0.0
