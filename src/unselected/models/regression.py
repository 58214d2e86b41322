"""A real-valued response, predicted from real-valued features: naive Bayes turned round.

y is normal with unknown mean and variance (flat, 1 / variance), the features given y are those of
`gaussian`. The predictive density of a new y* is then, up to a factor that does not depend on it,

    t(y* | y) * sum over nodes of weight * product over features of t(x*_j | y*, node),

a function of one variable, which is normalized on a grid of its own for each row. The grid is
equidistant in z, y* = mean + sd sinh(z): sums over it converge geometrically, and so do the sinc
series that give the distribution function in between.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln, sici

from unselected._typing import Floats
from unselected.models.gaussian import GaussianPosterior
from unselected.numerics.quadrature import find_peaks, log_sum

Bools = NDArray[np.bool_]

# Elements of a table over rows, places of y and nodes that are worked on at a time.
_BLOCK = 1 << 17
# What is this far below the largest log density is left out; squares of y still converge.
_NEGLIGIBLE = 60.0
# Step of the scan for peaks in z, points of a grid, and points at which it is given up.
_SCAN, _POINTS, _MOST_POINTS = 0.5, 33, 1 << 17
# Every which node is used to find the place of the grid.
_EVERY_NODE = 4
# Change of the integral and of the first two moments when half the points are left out. The error
# of all points is about the square of that.
_TOLERANCE = 1e-6
# Values further out than this, in units of a feature's spread, are moved there.
_LARGEST = 1e8
# Responses further out than this, in units of their spread, have the density of a power law.
_FARTHEST = 1e30
# How far the log of a product may go from 0.
_ROOM = 600.0


@dataclass(frozen=True, eq=False)
class Predictive:
    """Predictive distributions of some rows, each on a grid equidistant in z.

    Attributes
    ----------
    center, scale : float
        y = center + scale sinh(z).
    low, step : arrays of shape (rows,)
        Where the grid of a row begins, and its step.
    density : array of shape (rows, points)
        Of z; the integral of each row is 1.
    log_total : array of shape (rows,)
        Log of the integral of what was normalized.
    """

    center: float
    scale: float
    low: Floats
    step: Floats
    density: Floats
    log_total: Floats

    def take(self, rows: NDArray[np.bool_]) -> "Predictive":
        """Return the distributions of some rows."""
        parts = (self.low[rows], self.step[rows], self.density[rows], self.log_total[rows])
        return Predictive(self.center, self.scale, *parts)

    @property
    def z(self) -> Floats:
        """The grids, shape (rows, points)."""
        return np.asarray(self.low[:, None] + self.step[:, None] * np.arange(self.density.shape[1]))

    @property
    def likeliest(self) -> Floats:
        """The point of each grid with the largest density, shape (rows, 1)."""
        best = np.take_along_axis(self.z, self.density.argmax(axis=1)[:, None], axis=1)
        return np.asarray(self.center + self.scale * np.sinh(best))

    def mean_and_std(self) -> tuple[Floats, Floats]:
        """Return mean and standard deviation of y for each row."""
        weights, y = self.density * self.step[:, None], np.sinh(self.z)
        mean = np.sum(weights * y, axis=1)
        variance = np.sum(weights * (y - mean[:, None]) ** 2, axis=1)
        return self.center + self.scale * mean, self.scale * np.sqrt(variance)

    def cdf(self, y: Floats) -> Floats:
        """Return P(y* <= y) for y of shape (rows, m)."""
        return self._cdf(np.arcsinh((y - self.center) / self.scale))

    def _cdf(self, z: Floats) -> Floats:
        steps = (z[:, :, None] - self.z[:, None, :]) / self.step[:, None, None]
        below = 0.5 + sici(np.pi * steps)[0] / np.pi
        total = np.einsum("rp,rmp->rm", self.density, below) * self.step[:, None]
        return np.asarray(np.clip(total, 0.0, 1.0))

    def _cdf_at_points(self) -> Floats:
        """Return the distribution function at the grid points: a convolution, by Fourier series."""
        points = self.density.shape[1]
        steps = np.arange(1 - points, points)
        below = 0.5 + sici(np.pi * steps)[0] / np.pi
        size = 4 * points
        product = np.fft.rfft(self.density, size) * np.fft.rfft(below, size)
        total = np.fft.irfft(product, size)[:, points - 1 : 2 * points - 1]
        return np.asarray(total * self.step[:, None])

    def quantiles(self, levels: Floats) -> Floats:
        """Return the quantiles of y at these levels, shape (rows, m), by bisection in z.

        The distribution function is known at the grid points at once, so that the bisection starts
        between two of them.
        """
        z = self.z
        at_points = self._cdf_at_points()
        places = np.stack([np.sum(at_points < level, axis=1) for level in levels], axis=1)
        places = np.clip(places, 1, z.shape[1] - 1)
        low, high = (np.take_along_axis(z, places - back, axis=1) for back in (1, 0))
        for _ in range(45):
            middle = 0.5 * (low + high)
            below = self._cdf(middle) < levels
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        return np.asarray(self.center + self.scale * np.sinh(0.5 * (low + high)))


@dataclass(frozen=True, eq=False)
class RegressionPosterior:
    """What the training cases say of a new case: the posterior of tau, and the law of y.

    Attributes
    ----------
    features : GaussianPosterior
    n : int
        Training cases.
    y_mean, unit : float
        Mean and standard deviation (divisor n) of the training responses.
    """

    features: GaussianPosterior
    n: int
    y_mean: float
    unit: float

    # Whether the posterior for rows far out does for whatever response they may have.
    _covers_all: ClassVar[bool] = True

    def log_density(self, X: Floats, y: Floats) -> Floats:
        """Return the log predictive density of y (rows,) given the kept features X (rows, k)."""
        result = np.empty(len(X))
        z = (y - self.y_mean) / self.unit
        near = self.y_mean + self.unit * np.clip(z, -_FARTHEST, _FARTHEST)
        for rows, part, posterior in self._predictive(X):
            y_rows = near[rows, np.newaxis]
            result[rows] = posterior._log_joint(X[rows], y_rows)[:, 0] - part.log_total
            far = rows[self._is_doubtful(X[rows], y_rows)]
            if far.size and (posterior is self or not self._covers_all):
                log_total = part.log_total[np.isin(rows, far)]
                result[far] = self._log_joint_far(X[far], near[far, np.newaxis])[:, 0] - log_total
        # Further out still the density is a power of y: n of it from the law of y.
        power = self.n + self._added_power(X)
        return np.asarray(result - power * np.log(np.maximum(np.abs(z) / _FARTHEST, 1.0)))

    def _log_joint_far(self, X: Floats, y: Floats) -> Floats:
        return self._wide._log_joint(X, y)

    def mean_and_std(self, X: Floats) -> tuple[Floats, Floats]:
        """Return means and standard deviations of the predictive distributions of rows."""
        mean, std = np.empty(len(X)), np.empty(len(X))
        for rows, part in self.predictive(X):
            mean[rows], std[rows] = part.mean_and_std()
        # With two degrees of freedom and no feature there is no variance.
        return mean, np.where((self.n <= 3) & (self._added_power(X) == 0.0), np.inf, std)

    def _added_power(self, X: Floats) -> Floats:
        """Return what the features of rows add to the power with which far y fall off.

        Each adds one, but for tau below 1 / |y|, of which the prior has |y|^(-2 a).
        """
        n_known = np.sum(~np.isnan(X[:, self.features.contrasts.varying]), axis=1)
        return np.asarray(np.minimum(n_known, 2.0 * self.features.model.a))

    def quantiles(self, X: Floats, levels: ArrayLike) -> Floats:
        """Return quantiles of the predictive distributions of rows, shape (rows, levels)."""
        wanted = np.atleast_1d(np.asarray(levels, dtype=np.float64))
        if wanted.ndim != 1 or not wanted.size or not np.all((wanted > 0.0) & (wanted < 1.0)):
            raise ValueError(f"quantiles={levels!r} must be numbers above 0 and below 1.")
        result = np.empty((len(X), wanted.size))
        for rows, part in self.predictive(X):
            result[rows] = part.quantiles(wanted)
        return result

    def cdf(self, X: Floats, y: Floats) -> Floats:
        """Return the predictive probabilities of responses of at most y (rows,)."""
        result = np.empty(len(X))
        for rows, part in self.predictive(X):
            result[rows] = part.cdf(y[rows, np.newaxis])[:, 0]
        return result

    def predictive(self, X: Floats) -> Iterator[tuple[NDArray[np.intp], Predictive]]:
        """Yield the predictive distributions of some rows at a time, with their numbers."""
        for rows, part, _ in self._predictive(X):
            yield rows, part

    def _predictive(
        self, X: Floats
    ) -> Iterator[tuple[NDArray[np.intp], Predictive, "RegressionPosterior"]]:
        """Yield the same with the posterior that was used: the wide one for rows far out."""
        together = max(1, _BLOCK // (_POINTS * self.features.log_weights.size))
        for start in range(0, len(X), together):
            block = np.arange(start, min(start + together, len(X)))
            far = np.zeros(block.size, dtype=bool)
            for rows, part in self._normalized(X[block]):
                doubtful = self._is_doubtful(X[block[rows]], part.likeliest)
                far[rows] = doubtful
                if not doubtful.all():
                    yield block[rows[~doubtful]], part.take(~doubtful), self
            if far.any():
                for rows, part, posterior in self._predictive_far(X[block[far]]):
                    yield block[far][rows], part, posterior

    def _predictive_far(
        self, X: Floats
    ) -> Iterator[tuple[NDArray[np.intp], Predictive, "RegressionPosterior"]]:
        for rows, part in self._wide._normalized(X):
            yield rows, part, self._wide

    def _is_doubtful(self, X: Floats, y: Floats) -> Bools:
        """Say for which rows, with y of (rows, 1), the nodes of tau do not reach far enough."""
        by_node = self._log_features(X, y)[:, 0, :] + self.features.log_weights
        return self.features.is_doubtful(by_node)

    @cached_property
    def _wide(self) -> "RegressionPosterior":
        return replace(self, features=self.features.wide)

    @cached_property
    def _coarse(self) -> "RegressionPosterior":
        """Every fourth node: enough to see where the mass is, for nodes change it smoothly."""
        if self.features.log_weights.size < _EVERY_NODE:
            return self
        return replace(self, features=self.features.some_nodes(slice(None, None, _EVERY_NODE)))

    def _normalized(self, X: Floats) -> Iterator[tuple[NDArray[np.intp], Predictive]]:
        """Yield the distributions of rows that do with the same number of points."""
        low, high = self._coarse._where(X)
        rows, points = np.arange(len(X)), _POINTS
        while rows.size:
            if points > _MOST_POINTS:
                raise ArithmeticError(
                    f"the predictive distribution of row {rows[0]} could not be normalized with "
                    f"{points} points: its features contradict each other beyond all measure"
                )
            step = (high[rows] - low[rows]) / (points - 1)
            z = low[rows, None] + step[:, None] * np.arange(points)
            log_values = self._log_of_z(X[rows], z)
            done = _converged(z, log_values)
            if done.any():
                log_total = log_sum(log_values[done], axis=1) + np.log(step[done])
                density = np.exp(log_values[done] - log_total[:, None])
                settled = (low[rows[done]], step[done], density, log_total)
                yield rows[done], Predictive(self.y_mean, self.unit, *settled)
            rows, points = rows[~done], 2 * points - 1

    def _log_of_z(self, X: Floats, z: Floats) -> Floats:
        y = self.y_mean + self.unit * np.sinh(z)
        return np.asarray(self._log_joint(X, y) + np.log(self.unit * np.cosh(z)))

    def _where(self, X: Floats) -> tuple[Floats, Floats]:
        """Return for each row an interval of z that holds all of its mass, and little else."""
        reach = 6.0 + 40.0 / (self.n - 1.0)
        while True:
            scan = np.arange(-np.ceil(reach), np.ceil(reach) + _SCAN, _SCAN)
            values = self._log_of_z(X, np.broadcast_to(scan, (len(X), scan.size)))
            best = values.max(axis=1, keepdims=True)
            if np.all(values[:, [0, -1]] < best - _NEGLIGIBLE):
                break
            reach *= 1.5
        peak = np.zeros(values.shape, dtype=bool)
        peak[:, 1:-1] = (values[:, 1:-1] >= values[:, :-2]) & (values[:, 1:-1] > values[:, 2:])
        low = scan[np.argmax(peak, axis=1)]
        high = low.copy()
        for row in np.flatnonzero(np.sum(peak, axis=1) > 1):
            low[row], high[row] = self._between_peaks(X[row], scan[0], scan[-1])
        alone = low == high
        low, high = self._widened(X, low - _SCAN, high + _SCAN)
        while alone.any():
            share = np.linspace(0.0, 1.0, _POINTS)
            z = low[alone, None] + (high - low)[alone, None] * share
            values = self._log_of_z(X[alone], z)
            live = values > values.max(axis=1, keepdims=True) - _NEGLIGIBLE
            first = np.maximum(np.argmax(live, axis=1) - 1, 0)
            last = _POINTS - 1 - np.maximum(np.argmax(live[:, ::-1], axis=1) - 1, 0)
            rows = np.arange(len(z))
            low[alone], high[alone] = z[rows, first], z[rows, last]
            alone[np.flatnonzero(alone)[last - first >= _POINTS // 2]] = False
        return low, high

    def _between_peaks(self, x: Floats, low: float, high: float) -> tuple[float, float]:
        """Return the places of the first and the last peak that matter, for one row."""
        peaks, _ = find_peaks(lambda z: self._log_of_z(x[None], z[None])[0], low, high)
        return peaks[0].place, peaks[-1].place

    def _widened(self, X: Floats, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        """Move both ends out until nothing is left outside."""
        while True:
            ends = self._log_of_z(X, np.stack([low, 0.5 * (low + high), high], axis=1))
            best = ends.max(axis=1)
            left, right = ends[:, 0] > best - _NEGLIGIBLE, ends[:, 2] > best - _NEGLIGIBLE
            if not (left.any() or right.any()):
                return low, high
            width = high - low
            low, high = low - left * width, high + right * width

    def _log_joint(self, X: Floats, y: Floats) -> Floats:
        """Return log of density of y times density of the features given y, y of (rows, m)."""
        result = np.empty(y.shape)
        rows = max(1, _BLOCK // (y.shape[1] * self.features.log_weights.size))
        for start in range(0, len(y), rows):
            block = slice(start, start + rows)
            by_node = self._log_features(X[block], y[block]) + self.features.log_weights
            result[block] = self._log_prior(y[block]) + log_sum(by_node, axis=2)
        return result

    def _log_prior(self, y: Floats) -> Floats:
        """Return the log density of y before any feature is seen: Student t."""
        df = self.n - 1.0
        squares = self.n * self.unit**2 * (1.0 + 1.0 / self.n)
        constant = gammaln(0.5 * (df + 1.0)) - gammaln(0.5 * df) - 0.5 * np.log(np.pi * squares)
        return np.asarray(constant - 0.5 * (df + 1.0) * np.log1p((y - self.y_mean) ** 2 / squares))

    def _log_features(self, X: Floats, y: Floats) -> Floats:
        """Return the log density of the features given y and the node, shape (rows, m, nodes)."""
        laws = self._laws
        gaps, known = self._gaps(X)
        f = y[:, :, np.newaxis] / self.unit
        total: Floats = (known.astype(np.float64) @ laws.constant)[:, np.newaxis, :]
        if laws.alike:
            half, n_known = 0.5 * laws.df[0], known.sum(axis=1)[:, np.newaxis, np.newaxis]
            f = f - laws.y_mean[0]
            spread = laws.spread(0, f)
            total = total + half * n_known * np.log(spread)
            return np.asarray(total - (half + 0.5) * _log_product(laws, gaps, known, f, spread))
        for j in range(laws.df.size):
            total = total + laws.log_density(j, gaps[:, j], f) * known[:, j, None, None]
        return np.asarray(np.broadcast_to(total, (*y.shape, self.features.log_weights.size)))

    def log_by_feature(self, X: Floats, y: Floats) -> Iterator[Floats]:
        """Yield the same of each feature by itself; 0 where it is missing."""
        laws = self._laws
        gaps, known = self._gaps(X)
        f = y[:, :, np.newaxis] / self.unit
        for j in range(laws.df.size):
            logs = laws.constant[j] + laws.log_density(j, gaps[:, j], f)
            yield logs * known[:, j, np.newaxis, np.newaxis]

    def _gaps(self, X: Floats) -> tuple[Floats, Bools]:
        """Return how far values are from their features' means, in units, and which are known."""
        X = X[:, self.features.contrasts.varying]
        with np.errstate(over="ignore"):
            gaps = np.clip((X - self._laws.mean) / self._laws.unit, -_LARGEST, _LARGEST)
        known = ~np.isnan(X)
        gaps[~known] = 0.0
        return gaps, known

    @cached_property
    def _laws(self) -> "_Laws":
        return _Laws.of(self.features)


@dataclass(frozen=True)
class _Laws:
    """The features' laws given y and the node, each in its own unit.

    With f the response in its unit, less ``y_mean``, a feature's density is proportional to
    (squares spread)^(df / 2) (squares spread + (gap - slope f)^2)^(-(df + 1) / 2).
    """

    mean: Floats  # (k,)
    unit: Floats  # (k,)
    df: Floats  # (k,)
    y_mean: Floats  # (k,), in the unit of the response
    one: Floats  # (k,), 1 + 1 / n
    share: Floats  # (k, nodes)
    squares: Floats  # (k, nodes)
    slope: Floats  # (k, nodes)
    constant: Floats  # (k, nodes)
    alike: bool

    @classmethod
    def of(cls, posterior: GaussianPosterior) -> "_Laws":
        c, u = posterior.contrasts.take(posterior.contrasts.varying), np.exp(-posterior.log_alpha)
        drawn = posterior.shrinkage * np.exp(posterior.log_variance)
        squares = (c.squares(u) + drawn[:, np.newaxis]).T
        unit = np.sqrt(squares[:, 0])
        squares = squares / unit[:, np.newaxis] ** 2
        share = u / (1.0 + c.lam * u)
        df = c.n - 1.0 + posterior.shrinkage
        constant = gammaln(0.5 * (df + 1.0)) - gammaln(0.5 * df) - np.log(np.sqrt(np.pi) * unit)
        return cls(
            mean=c.mean,
            unit=unit,
            df=df,
            y_mean=c.code_mean[:, 0],
            one=1.0 + 1.0 / c.n,
            share=share,
            squares=squares,
            slope=share * np.sqrt(c.lam) * c.beta / unit[:, np.newaxis],
            constant=constant[:, np.newaxis] + 0.5 * df[:, np.newaxis] * np.log(squares),
            alike=df.size > 0 and bool(np.all(c.n == c.n[0]) and np.all(c.lam == c.lam[0])),
        )

    def spread(self, j: int, f: Floats) -> Floats:
        """Return how much wider the law of a feature is for f away from 0."""
        return np.asarray(self.one[j] + self.share[j] * f**2)

    def log_density(self, j: int, gap: Floats, f: Floats) -> Floats:
        """Return the log density of one feature less its constant, shape (rows, m, nodes)."""
        f = f - self.y_mean[j]
        spread = self.spread(j, f)
        logs = 0.5 * self.df[j] * np.log(spread)
        logs -= 0.5 * (self.df[j] + 1.0) * np.log(self.factor(j, gap, f, spread))
        return np.asarray(logs)

    def factor(self, j: int, gap: Floats, f: Floats, spread: Floats) -> Floats:
        """Return squares spread + (gap - slope f)^2 of one feature, shape (rows, m, nodes)."""
        factor: Floats = self.slope[j] * f
        np.subtract(gap[:, np.newaxis, np.newaxis], factor, out=factor)
        np.multiply(factor, factor, out=factor)
        factor += self.squares[j] * spread
        return factor


def _log_product(laws: _Laws, gaps: Floats, known: Bools, f: Floats, spread: Floats) -> Floats:
    """Return the log of the product of the factors, with one logarithm for many of them."""
    total = np.zeros(spread.shape)
    product = np.ones(spread.shape)
    room = _ROOM
    widest, farthest = float(np.max(spread)), float(np.max(np.abs(f)))
    for j in range(laws.df.size):
        most = np.max(np.abs(gaps[:, j])) + np.max(np.abs(laws.slope[j])) * farthest
        ends = (np.min(laws.squares[j]), np.max(laws.squares[j]) * widest + most**2)
        need = float(np.max(np.abs(np.log(ends))))
        if need > room:
            total += np.log(product)
            product[:], room = 1.0, _ROOM
        factor = laws.factor(j, gaps[:, j], f, spread)
        if not known[:, j].all():
            factor[~known[:, j]] = 1.0
        product *= factor
        room -= need
    return np.asarray(total + np.log(product))


def _converged(z: Floats, log_values: Floats) -> Bools:
    """Say for which rows every second point gives the same integral, mean and variance."""
    weights = np.exp(log_values - log_values.max(axis=1, keepdims=True))
    weights /= weights.sum(axis=1, keepdims=True)
    centred = z - np.sum(weights * z, axis=1, keepdims=True)
    spread = np.sqrt(np.sum(weights * centred**2, axis=1, keepdims=True))
    centred /= np.maximum(spread, 1e-300)
    done = np.ones(len(z), dtype=bool)
    for power in range(3):
        terms = weights * centred**power
        done &= np.abs(2.0 * terms[:, ::2].sum(axis=1) - terms.sum(axis=1)) <= _TOLERANCE
    return done
