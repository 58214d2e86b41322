"""Grids over a real response for rows whose predictive distribution has one peak.

Sums over a grid give the integral and moments of a density. Grids are those of
`regression_posterior`: equidistant in z, where y = mean + sd sinh(z). Here they are found with a
rough log density, cheaper than the one that is summed. Rows that need more care are left out.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unselected._typing import Bools, Floats
from unselected.numerics.quadrature import NEGLIGIBLE

LogOfZ = Callable[[NDArray[np.intp], Floats], Floats]

# Step of the scan. A grid is narrowed until so much of it has mass, or so often.
_SCAN, _TIGHT, _MOST_NARROWINGS = 0.5, 0.8, 12


class GridRule(NamedTuple):
    """How fine grids are.

    Attributes
    ----------
    n_narrowing : int
        Points of a grid that is narrowed.
    n_points, most_points : int
        Of a final grid, at first and at most.
    reach : float
        Where the rough log density is this far below its largest value, grids may end.
    closed : float
        Where the log density has to be this far below, or a grid does not hold all of the mass.
    tolerance : float
        Change of the integral and of the first two moments when half the points are left out. The
        error of all points is about the square of that.
    """

    n_narrowing: int = 25
    n_points: int = 41
    most_points: int = 81
    reach: float = 45.0
    closed: float = NEGLIGIBLE
    tolerance: float = 1e-6


FINE = GridRule()


class QuickGrids(NamedTuple):
    """Grids of some rows, and the log density of z there.

    Attributes
    ----------
    rows : array of int
    low, step : arrays of shape (rows,)
    log_values : array of shape (rows, points)
    """

    rows: NDArray[np.intp]
    low: Floats
    step: Floats
    log_values: Floats


def quick_grids(
    rough: LogOfZ, log_of_z: LogOfZ, n_rows: int, farthest: float, rule: GridRule = FINE
) -> Iterator[QuickGrids]:
    """Yield grids that hold all of the mass, for the rows for which that is easy.

    Parameters
    ----------
    rough, log_of_z : callable
        Log densities of some rows at z of shape (rows, points).
    n_rows : int
    farthest : float
        The scan for peaks ends here, on both sides of 0.
    rule : GridRule
    """
    scan = np.arange(-np.ceil(farthest), np.ceil(farthest) + _SCAN, _SCAN)
    z = np.broadcast_to(scan, (n_rows, scan.size))
    values = rough(np.arange(n_rows), z)
    rows = np.flatnonzero(_has_one_peak(values) & _is_closed(values, rule.closed))
    low, high = _narrowed(rough, rows, *_live_part(z[rows], values[rows], rule.reach), rule)
    z = _points(low, high, rule.n_points)
    values = log_of_z(rows, z)
    while rows.size:
        good = _is_closed(values, rule.closed) & converged(z, values, rule.tolerance)
        if good.any():
            step = (high[good] - low[good]) / (z.shape[1] - 1)
            yield QuickGrids(rows[good], low[good], step, values[good])
        if z.shape[1] >= rule.most_points:
            return
        rows, low, high = rows[~good], low[~good], high[~good]
        z = _points(low, high, 2 * z.shape[1] - 1)
        values = _interleaved(values[~good], log_of_z(rows, z[:, 1::2]))


def converged(z: Floats, log_values: Floats, tolerance: float) -> Bools:
    """Say for which rows every second point gives the same integral, mean and variance."""
    weights = np.exp(log_values - log_values.max(axis=1, keepdims=True))
    weights /= weights.sum(axis=1, keepdims=True)
    centred = z - np.sum(weights * z, axis=1, keepdims=True)
    spread = np.sqrt(np.sum(weights * centred**2, axis=1, keepdims=True))
    centred /= np.maximum(spread, 1e-300)
    done = np.ones(len(z), dtype=bool)
    for power in range(3):
        terms = weights * centred**power
        done &= np.abs(2.0 * terms[:, ::2].sum(axis=1) - terms.sum(axis=1)) <= tolerance
    return done


def _has_one_peak(values: Floats) -> Bools:
    inner = values[:, 1:-1]
    peak = (inner >= values[:, :-2]) & (inner > values[:, 2:])
    return np.asarray(np.sum(peak, axis=1) == 1)


def _is_closed(values: Floats, closed: float) -> Bools:
    """Say for which rows there is no mass at an end."""
    ends = np.maximum(values[:, 0], values[:, -1])
    return np.asarray(ends < np.max(values, axis=1) - closed)


def _narrowed(
    rough: LogOfZ, rows: NDArray[np.intp], low: Floats, high: Floats, rule: GridRule
) -> tuple[Floats, Floats]:
    """Narrow the grids of rows to the part that has mass."""
    wide = np.arange(rows.size)
    for _ in range(_MOST_NARROWINGS):
        if not wide.size:
            break
        width = high[wide] - low[wide]
        z = _points(low[wide], high[wide], rule.n_narrowing)
        low[wide], high[wide] = _live_part(z, rough(rows[wide], z), rule.reach)
        wide = wide[high[wide] - low[wide] < _TIGHT * width]
    return low, high


def _points(low: Floats, high: Floats, n: int) -> Floats:
    return np.asarray(low[:, np.newaxis] + (high - low)[:, np.newaxis] * np.linspace(0.0, 1.0, n))


def _interleaved(values: Floats, between: Floats) -> Floats:
    """Return the values of a grid and those at the middles of its steps, in order."""
    result = np.empty((len(values), values.shape[1] + between.shape[1]))
    result[:, ::2], result[:, 1::2] = values, between
    return result


def _live_part(z: Floats, values: Floats, reach: float) -> tuple[Floats, Floats]:
    """Return the points just before and after those with mass, of each row."""
    live = values > values.max(axis=1, keepdims=True) - reach
    first = np.maximum(np.argmax(live, axis=1) - 1, 0)
    last = np.minimum(z.shape[1] - np.argmax(live[:, ::-1], axis=1), z.shape[1] - 1)
    rows = np.arange(len(z))
    return z[rows, first], z[rows, last]
