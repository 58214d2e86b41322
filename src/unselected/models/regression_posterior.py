"""A real-valued response, predicted from real-valued features by naive Bayes.

y is normal with unknown mean and variance (flat, 1 / variance). Given y the features are those of
`gaussian`. The predictive density of a new y* is then, up to a factor that does not depend on it,

    t(y* | y) * sum over nodes of weight * product over features of t(x*_j | y*, node),

a function of one variable. It is normalized for each row on a grid of its own. The grid is
equidistant in z, where y* = mean + sd sinh(z). Sums over it converge geometrically, and so do the
sinc series that give the distribution function between grid points.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln

from unselected._typing import Bools, Floats
from unselected.models.gaussian_posterior import GaussianPosterior
from unselected.models.predictive import FALLEN, Predictive, checked_levels
from unselected.models.quick_grids import FINE, GridRule, converged, quick_grids
from unselected.models.regression_laws import FeatureLines, log_product
from unselected.numerics.quadrature import find_peaks, log_sum

# Elements of a table over rows, points of y and nodes that are processed at a time.
_BLOCK = 1 << 17


# Log densities this far below the largest are left out; second moments of y still converge.
_NEGLIGIBLE = 60.0


# Step of the scan for peaks in z, points of a grid, and the largest number of points.
_SCAN, _POINTS, _MOST_POINTS = 0.5, 33, 1 << 17


# Rows that are located at a time.
_ROWS = 128


# Few nodes are tried with this many cases or more. By rounding, log densities may differ from those
# on all nodes by this part of themselves.
_FEWEST_CASES, _ROUNDING = 20, 1e-15


# The grid is located with every node of this stride.
_EVERY_NODE = 4


# Change of the integral and of the first two moments when half the points are left out. The error
# of all points is about the square of that.
_TOLERANCE = 1e-6
# Beyond this, in standard deviations, the density of the response is that of a power law.
_FARTHEST = 1e30


@dataclass(frozen=True, eq=False)
class RegressionPosterior:
    """The posterior of tau and the predictive distribution of y, given the training cases.

    Attributes
    ----------
    features : GaussianPosterior
    n : int
        Number of training cases.
    y_mean, unit : float
        Mean and standard deviation (divisor n) of the training responses. Given covariates, the
        mean at those of the new cases, and the deviation around such means.
    rank : int
        Directions of the covariates, the intercept included.
    leverage : float or None
        Uncertainty of ``y_mean`` in units of the variance of a response; None for 1 / n.
    """

    features: GaussianPosterior
    n: int
    y_mean: float
    unit: float
    rank: int = 1
    leverage: float | None = None

    # Whether the posterior for rows far out covers all responses that they may have.
    _covers_all: ClassVar[bool] = True
    # Numbers of nodes that are tried before all, the number that locates the mass, and by how much
    # log densities may differ from those on all nodes.
    _n_few: ClassVar[tuple[int, ...]] = (8, 16)
    _n_rough: ClassVar[int] = 1
    _agreement: ClassVar[float] = 1e-12
    _grid_rule: ClassVar[GridRule] = FINE

    @property
    def _df(self) -> float:
        """Degrees of freedom of the law of y before any feature is seen."""
        return float(self.n - self.rank)

    def at(self, z: Floats, y_mean: float, leverage: float) -> "RegressionPosterior":
        """Return the posterior for new cases with the covariates z (m,)."""
        return replace(self, features=self.features.at(z), y_mean=y_mean, leverage=leverage)

    def log_density(self, X: Floats, y: Floats) -> Floats:
        """Return the log predictive density of y (rows,) given the kept features X (rows, k)."""
        result = np.empty(len(X))
        z = (y - self.y_mean) / self.unit
        near = self.y_mean + self.unit * np.clip(z, -_FARTHEST, _FARTHEST)
        for rows, part, posterior in self._for_moments(X):
            y_rows = near[rows, np.newaxis]
            log_joint, doubtful = self._log_joint_at(posterior, X[rows], y_rows)
            result[rows] = log_joint - part.log_total
            far = rows[doubtful]
            if far.size and (posterior is self or not self._covers_all):
                log_total = part.log_total[np.isin(rows, far)]
                result[far] = self._log_joint_far(X[far], near[far, np.newaxis])[:, 0] - log_total
        # Further out the density is a power of y, to which the law of y contributes df + 1.
        power = self._df + 1.0 + self._added_power(X)
        return np.asarray(result - power * np.log(np.maximum(np.abs(z) / _FARTHEST, 1.0)))

    def _log_joint_at(
        self, posterior: "RegressionPosterior", X: Floats, y: Floats
    ) -> tuple[Floats, Bools]:
        """Return the log joint density at y (rows, 1), and for which rows it is doubtful."""
        return posterior._log_joint(X, y)[:, 0], self._is_doubtful(X, y)

    def _log_joint_far(self, X: Floats, y: Floats) -> Floats:
        return self._wide._log_joint(X, y)

    def mean_and_std(self, X: Floats) -> tuple[Floats, Floats]:
        """Return means and standard deviations of the predictive distributions of rows."""
        mean, std = np.empty(len(X)), np.empty(len(X))
        for rows, part, _ in self._for_moments(X):
            mean[rows], std[rows] = part.mean_and_std()
        # With two degrees of freedom and no feature there is no variance.
        return mean, np.where((self._df <= 2) & (self._added_power(X) == 0.0), np.inf, std)

    def _added_power(self, X: Floats) -> Floats:
        """Return what the features of rows add to the exponent of the density's tail in y.

        Each adds one, except for tau below 1 / |y|, which has prior probability ~ |y|^(-2 a).
        """
        n_known = np.sum(~np.isnan(X[:, self.features.contrasts.varying]), axis=1)
        return np.asarray(np.minimum(n_known, 2.0 * self.features.model.a))

    def quantiles(self, X: Floats, levels: ArrayLike) -> Floats:
        """Return quantiles of the predictive distributions of rows, shape (rows, levels)."""
        wanted = checked_levels(levels)
        result = np.empty((len(X), wanted.size))
        for rows, part in self.predictive(X):
            result[rows] = part.quantiles(wanted)
        return result

    def cdf(self, X: Floats, y: Floats) -> Floats:
        """Return the predictive distribution function at y (rows,)."""
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
        """Yield the same with the posterior used, which is the wide one for rows far out."""
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

    def _for_moments(
        self, X: Floats
    ) -> Iterator[tuple[NDArray[np.intp], Predictive, "RegressionPosterior"]]:
        """Yield the same on grids that are good enough for sums, and cheaper where that is easy."""
        return self._quickly(X, self._on_few_nodes, self._grid_rule)

    def _quickly(
        self, X: Floats, on_few_nodes: list["RegressionPosterior"], rule: GridRule
    ) -> Iterator[tuple[NDArray[np.intp], Predictive, "RegressionPosterior"]]:
        """Yield the same with few nodes and points where that is enough."""
        others = np.arange(len(X))
        for few in on_few_nodes if self.n >= _FEWEST_CASES else []:
            done = np.zeros(len(X), dtype=bool)
            for start in range(0, others.size, _ROWS):
                block = others[start : start + _ROWS]
                for rows, part in few._summed(X[block], rule):
                    good = self._agrees_with(part, X[block[rows]])
                    done[block[rows[good]]] = True
                    if good.any():
                        yield block[rows[good]], part.take(good), self._judging
            others = others[~done[others]]
        for rows, part, posterior in self._predictive(X[others]):
            yield others[rows], part, posterior

    @cached_property
    def _on_few_nodes(self) -> list["RegressionPosterior"]:
        """The same on fewer nodes: enough for most rows."""
        features = [self.features.on_few_nodes(n) for n in self._n_few]
        size = self.features.log_weights.size
        return [replace(self, features=few) for few in features if 2 * few.log_weights.size < size]

    def _summed(self, X: Floats, rule: GridRule) -> Iterator[tuple[NDArray[np.intp], Predictive]]:
        """Yield the distributions of rows with one peak, on grids for sums."""
        rough = self._rough
        for rows, low, step, log_values in quick_grids(
            lambda rows, z: rough._log_of_z(X[rows], z),
            lambda rows, z: self._log_of_z(X[rows], z),
            len(X),
            self._farthest,
            rule,
        ):
            log_total = log_sum(log_values, axis=1) + np.log(step)
            density = np.exp(log_values - log_total[:, np.newaxis])
            yield rows, Predictive(self.y_mean, self.unit, low, step, density, log_total)

    def _agrees_with(self, part: Predictive, X: Floats) -> Bools:
        """Say for which rows more nodes say the same: at the likeliest response and far out."""
        places = part.typical
        z = np.take_along_axis(part.z, places, axis=1)
        y = self.y_mean + self.unit * np.sinh(z)
        found = np.log(np.take_along_axis(part.density, places, axis=1) / np.cosh(z) / self.unit)
        found += part.log_total[:, np.newaxis] - self._log_prior(y)
        agrees = np.empty(len(X), dtype=bool)
        rows = max(1, _BLOCK // (y.shape[1] * self._judging.features.log_weights.size))
        for start in range(0, len(X), rows):
            block = slice(start, start + rows)
            total, doubtful = self._judged(X[block], y[block])
            allowed = self._agreement / np.array([1.0, FALLEN]) + _ROUNDING * np.abs(total)
            close = np.all(np.abs(found[block] - total) <= allowed, axis=1)
            agrees[block] = close & ~doubtful
        return agrees

    @property
    def _judging(self) -> "RegressionPosterior":
        """The posterior that those on few nodes are compared with."""
        return self

    def _judged(self, X: Floats, y: Floats) -> tuple[Floats, Bools]:
        """Return log densities of the features at y (rows, m), and which rows are doubtful."""
        by_node = self._log_features(X, y) + self.features.log_weights
        return log_sum(by_node, axis=2), self.features.is_doubtful(by_node[:, 0])

    def _is_doubtful(self, X: Floats, y: Floats) -> Bools:
        """Say for which rows, with y of (rows, 1), the nodes of tau do not reach far enough."""
        by_node = self._log_features(X, y)[:, 0, :] + self.features.log_weights
        return self.features.is_doubtful(by_node)

    @cached_property
    def _wide(self) -> "RegressionPosterior":
        return replace(self, features=self.features.wide)

    @cached_property
    def _coarse(self) -> "RegressionPosterior":
        """Every fourth node: enough to locate the mass, which varies smoothly over nodes."""
        if self.features.log_weights.size < _EVERY_NODE:
            return self
        return replace(self, features=self.features.some_nodes(slice(None, None, _EVERY_NODE)))

    @cached_property
    def _rough(self) -> "RegressionPosterior":
        """Hardly any nodes: enough to locate the mass of most rows."""
        return replace(self, features=self.features.on_few_nodes(self._n_rough))

    def _normalized(self, X: Floats) -> Iterator[tuple[NDArray[np.intp], Predictive]]:
        """Yield the distributions of rows, grouped by the number of points that they need."""
        low, high = self._coarse._where(X)
        rows, points = np.arange(len(X)), _POINTS
        while rows.size:
            if points > _MOST_POINTS:
                raise ArithmeticError(
                    f"the predictive distribution of row {rows[0]} could not be normalized with "
                    f"{points} points: its features contradict each other too strongly"
                )
            step = (high[rows] - low[rows]) / (points - 1)
            z = low[rows, None] + step[:, None] * np.arange(points)
            log_values = self._log_of_z(X[rows], z)
            done = converged(z, log_values, _TOLERANCE)
            if done.any():
                log_total = log_sum(log_values[done], axis=1) + np.log(step[done])
                density = np.exp(log_values[done] - log_total[:, None])
                settled = (low[rows[done]], step[done], density, log_total)
                yield rows[done], Predictive(self.y_mean, self.unit, *settled)
            rows, points = rows[~done], 2 * points - 1

    def _log_of_z(self, X: Floats, z: Floats) -> Floats:
        y = self.y_mean + self.unit * np.sinh(z)
        return np.asarray(self._log_joint(X, y) + np.log(self.unit * np.cosh(z)))

    @property
    def _farthest(self) -> float:
        """Where a scan of z ends first: the response itself has hardly any mass further out."""
        return 6.0 + 40.0 / self._df

    def _where(self, X: Floats) -> tuple[Floats, Floats]:
        """Return for each row an interval of z that holds all of its mass, and little else."""
        reach = self._farthest
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
        """Move both ends out until no mass is outside."""
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
            result[block] = self._log_prior(y[block]) + self._log_average(X[block], y[block])
        return result

    def _log_average(self, X: Floats, y: Floats) -> Floats:
        """Return the log density of the features given y, averaged over the nodes, (rows, m)."""
        return log_sum(self._log_features(X, y) + self.features.log_weights, axis=2)

    def _log_prior(self, y: Floats) -> Floats:
        """Return the log density of y before any feature is seen: Student t."""
        df = self._df
        leverage = 1.0 / self.n if self.leverage is None else self.leverage
        squares = self.n * self.unit**2 * (1.0 + leverage)
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
            total = total + half * n_known * np.log(laws.spread(0, f))
            return np.asarray(total - (half + 0.5) * log_product(laws, gaps, known, f[:, :, 0]))
        for logs, there in zip(laws.log_densities(gaps, f), known.T, strict=True):
            total = total + logs * there[:, np.newaxis, np.newaxis]
        return np.asarray(np.broadcast_to(total, (*y.shape, self.features.log_weights.size)))

    def log_by_feature(self, X: Floats, y: Floats) -> Iterator[Floats]:
        """Yield the same of each feature by itself; 0 where it is missing."""
        laws = self._laws
        gaps, known = self._gaps(X)
        f = y[:, :, np.newaxis] / self.unit
        for logs, constant, there in zip(
            laws.log_densities(gaps, f), laws.constant, known.T, strict=True
        ):
            logs += constant
            if not there.all():
                logs[~there] = 0.0
            yield logs

    def _gaps(self, X: Floats) -> tuple[Floats, Bools]:
        return self._laws.gaps(X[:, self.features.contrasts.varying])

    @cached_property
    def _laws(self) -> "FeatureLines":
        return FeatureLines.of(self.features)
