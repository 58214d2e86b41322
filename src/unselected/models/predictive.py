"""Predictive distributions of a real response on grids, one for each row."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import sici

from unselected._typing import Floats

# Where the density is this part of its maximum, nearly all of the mass is nearer.
FALLEN = 1e-4


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
        Log of the integral before normalization.
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

    @property
    def typical(self) -> NDArray[np.intp]:
        """Two points of each grid, shape (rows, 2).

        The density is largest at the first, and has fallen by far at the second, which is on the
        side further from the center.
        """
        live = self.density > FALLEN * self.density.max(axis=1, keepdims=True)
        last = self.density.shape[1] - 1 - np.argmax(live[:, ::-1], axis=1)
        ends = np.stack([np.argmax(live, axis=1), last], axis=1)
        side = np.argmax(np.abs(np.take_along_axis(self.z, ends, axis=1)), axis=1)
        further = np.take_along_axis(ends, side[:, np.newaxis], axis=1)
        return np.hstack([self.density.argmax(axis=1)[:, np.newaxis], further])

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

        The distribution function at all grid points comes from one transform, so that the bisection
        starts between two of them.
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


def checked_levels(levels: ArrayLike) -> Floats:
    """Return the levels of quantiles as an array, or raise where one is not between 0 and 1."""
    wanted = np.atleast_1d(np.asarray(levels, dtype=np.float64))
    if wanted.ndim != 1 or not wanted.size or not np.all((wanted > 0.0) & (wanted < 1.0)):
        raise ValueError(f"quantiles={wanted.tolist()} must be numbers above 0 and below 1.")
    return wanted
