"""The rule `quadrature.trapezoid` for many log densities at once.

The steps are the same, and so are the nodes but for rounding: a scan, a zoom into the peak, nodes
equidistant in t, doubled until every second one is enough. Here each step is taken for all
functions together. Functions with more than one peak, or one at an end, are left to `trapezoid`.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unselected._typing import Bools, Floats, Ints
from unselected.numerics.quadrature import MOST_RISE, NEGLIGIBLE, SCAN, STEP, STRETCH

# Zooms, and doublings of the nodes, after which a function is left to `trapezoid`.
_MOST_ZOOMS, _MOST_DOUBLINGS = 12, 8
# Points within 2 of the peak, in logs, that tell its width.
_ENOUGH = 4

LogDensities = Callable[[NDArray[np.intp], Floats], Floats]
Rule = tuple[Floats, Floats]


def trapezoids(
    log_densities: LogDensities, n: int, low: float, high: float, tolerance: float
) -> list[Rule | None]:
    """Return nodes and log terms of the rule of each function, None where it is not simple.

    Parameters
    ----------
    log_densities : callable
        Takes numbers of functions, and points of shape (functions, points); returns logs there.
    n : int
        How many functions there are.
    low, high, tolerance : float
        See `trapezoid`.

    Examples
    --------
    >>> def bumps(which, x):
    ...     return -0.5 * ((x - 0.1 * which[:, np.newaxis]) / 0.2) ** 2
    >>> rules = trapezoids(bumps, 3, -4.0, 4.0, 1e-4)
    >>> [round(float(np.exp(terms).sum() / (0.2 * np.sqrt(2 * np.pi))), 6) for _, terms in rules]
    [1.0, 1.0, 1.0]
    """
    rules: list[Rule | None] = [None] * n
    peaks = _peaks(log_densities, n, low, high)
    if peaks.which.size:
        for i, rule in zip(*_rules(log_densities, peaks, tolerance), strict=True):
            rules[i] = rule
    return rules


class _Peaks(NamedTuple):
    """The peaks of some functions, and the interval of each outside of which it has no mass."""

    which: NDArray[np.intp]
    place: Floats
    width: Floats
    low: Floats
    high: Floats


def _peaks(log_densities: LogDensities, n: int, low: float, high: float) -> _Peaks:
    x = np.linspace(low, high, int(np.ceil((high - low) / SCAN)) + 1)
    g = log_densities(np.arange(n), np.broadcast_to(x, (n, x.size)))
    with np.errstate(invalid="ignore"):
        top = np.argmax(g, axis=1)
        tops = np.zeros(g.shape, dtype=bool)
        tops[:, 1:-1] = (g[:, 1:-1] >= g[:, :-2]) & (g[:, 1:-1] > g[:, 2:])
        beside = np.maximum(np.hstack([g[:, :1], g, g[:, -1:]]), np.finfo(np.float64).min)
        steps = g - np.minimum(beside[:, :-2], beside[:, 2:])
        hopeful = tops & (g + MOST_RISE * steps > g.max(axis=1, keepdims=True) - NEGLIGIBLE)
    simple = (hopeful.sum(axis=1) == 1) & (top > 0) & (top < x.size - 1)
    simple &= np.isfinite(g.max(axis=1)) & hopeful[np.arange(n), top]
    which = np.flatnonzero(simple)
    place, width, height, found = _zoomed(log_densities, which, x, g[which], top[which])
    which, place, width, height = which[found], place[found], width[found], height[found]
    empty = g[which] <= height[:, np.newaxis] - NEGLIGIBLE
    before, after = x < place[:, np.newaxis], x > place[:, np.newaxis]
    start = np.max(np.where(empty & before, x, low), axis=1)
    stop = np.min(np.where(empty & after, x, high), axis=1)
    return _Peaks(which, place, width, start, stop)


def _zoomed(
    log_densities: LogDensities, which: NDArray[np.intp], x: Floats, g: Floats, top: Ints
) -> tuple[Floats, Floats, Floats, Bools]:
    """Halve the steps around scanned maxima until the widths of the peaks show."""
    place, width, height = (np.zeros(which.size) for _ in range(3))
    found = np.zeros(which.size, dtype=bool)
    rows = np.arange(which.size)
    start, step = x[top - 1], np.full(which.size, x[1] - x[0])
    size = np.full(which.size, 3)
    near = g[rows[:, np.newaxis], top[:, np.newaxis] + np.arange(-1, 2)]
    for _ in range(_MOST_ZOOMS):
        index = np.arange(near.shape[1])
        best = np.argmax(near, axis=1)
        most = near.max(axis=1)
        inside = near > most[:, np.newaxis] - 2.0
        count = inside.sum(axis=1)
        done = (count >= _ENOUGH) | (step < 1e-9)
        at = rows[done]
        place[at], width[at] = (start + best * step)[done], (count * step / _ENOUGH)[done]
        height[at], found[at] = most[done], True
        if done.all():
            break
        rows, start, step, size = rows[~done], start[~done], step[~done], size[~done]
        near, inside = near[~done], inside[~done]
        first = np.maximum(np.argmax(inside, axis=1) - 1, 0)
        last = near.shape[1] - 1 - np.argmax(inside[:, ::-1], axis=1)
        last = np.minimum(last + 1, size - 1)
        start, size = start + first * step, last - first + 1
        kept = np.minimum(first[:, np.newaxis] + index[: size.max()], near.shape[1] - 1)
        near = np.take_along_axis(near, kept, axis=1)
        middles = start[:, np.newaxis] + step[:, np.newaxis] * _middles(near)
        near, size = _halved(near, size, log_densities(which[rows], middles))
        step = 0.5 * step
    return place, width, height, found


def _middles(values: Floats) -> Floats:
    """Return the places between values, in steps."""
    return np.arange(values.shape[1] - 1) + 0.5


def _halved(values: Floats, size: Ints, between: Floats) -> tuple[Floats, Ints]:
    """Return the values on grids with half the step, -inf beyond their ends, and their sizes."""
    finer = np.full((len(values), 2 * values.shape[1] - 1), -np.inf)
    finer[:, ::2], finer[:, 1::2] = values, between
    size = 2 * size - 1
    finer[np.arange(finer.shape[1]) >= size[:, np.newaxis]] = -np.inf
    return finer, size


def _rules(
    log_densities: LogDensities, peaks: _Peaks, tolerance: float
) -> tuple[list[int], list[Rule]]:
    """Return the functions whose rules converged, and these."""
    which, place, width = peaks.which, peaks.place, peaks.width

    def points(rows: NDArray[np.intp], t: Floats) -> Floats:
        moved = width[rows, np.newaxis] * (np.sinh(STRETCH * t) / STRETCH)
        return np.asarray(place[rows, np.newaxis] + moved)

    def log_integrand(rows: NDArray[np.intp], t: Floats) -> Floats:
        logs = log_densities(which[rows], points(rows, t))
        return np.asarray(logs + np.log(width[rows, np.newaxis] * np.cosh(STRETCH * t)))

    first = np.arcsinh(STRETCH * (peaks.low - place) / width) / STRETCH
    last = np.arcsinh(STRETCH * (peaks.high - place) / width) / STRETCH
    size = np.ceil((last - first) / (2 * STEP)).astype(np.intp) + 1
    step = (last - first) / (size - 1)
    rows, index = np.arange(which.size), np.arange(size.max())
    t = np.minimum(first[:, np.newaxis] + step[:, np.newaxis] * index, last[:, np.newaxis])
    g = log_integrand(rows, t)
    g[index >= size[:, np.newaxis]] = -np.inf
    live = g > g.max(axis=1, keepdims=True) - NEGLIGIBLE
    start = np.maximum(np.argmax(live, axis=1) - 1, 0)
    stop = np.minimum(g.shape[1] - np.argmax(live[:, ::-1], axis=1), size - 1)
    size = stop - start + 1
    kept = np.minimum(start[:, np.newaxis] + index[: size.max()], g.shape[1] - 1)
    g = np.take_along_axis(g, kept, axis=1)
    g[np.arange(g.shape[1]) >= size[:, np.newaxis]] = -np.inf
    first = first + start * step
    numbers: list[int] = []
    found: list[Rule] = []
    for _ in range(_MOST_DOUBLINGS):
        middles = first[:, np.newaxis] + step[:, np.newaxis] * _middles(g)
        g, size = _halved(g, size, log_integrand(rows, middles))
        step = 0.5 * step
        index = np.arange(g.shape[1])
        done = _converged(g, tolerance)
        t = first[:, np.newaxis] + step[:, np.newaxis] * index
        x, terms = points(rows, t), g + np.log(step)[:, np.newaxis]
        live = terms > terms.max(axis=1, keepdims=True) - NEGLIGIBLE
        for i in np.flatnonzero(done):
            numbers.append(int(which[rows[i]]))
            found.append((x[i, live[i]], terms[i, live[i]]))
        if done.all():
            break
        rows, first, step = rows[~done], first[~done], step[~done]
        size, g = size[~done], g[~done]
    return numbers, found


def _converged(g: Floats, tolerance: float) -> Bools:
    """Say for which rows every second node gives the same integral, mean and variance."""
    f = np.exp(g - g.max(axis=1, keepdims=True))
    f /= f.sum(axis=1, keepdims=True)
    index = np.arange(g.shape[1], dtype=np.float64)
    centred = index - (f @ index)[:, np.newaxis]
    centred /= np.sqrt(np.sum(f * centred**2, axis=1, keepdims=True))
    close = np.ones(len(g), dtype=bool)
    for power in range(3):
        terms = f * centred**power
        half = 2.0 * terms[:, ::2].sum(axis=1)
        close &= np.abs(half - terms.sum(axis=1)) < tolerance
    return close
