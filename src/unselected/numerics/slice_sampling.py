"""Slice sampling: moves of a Markov chain that are never rejected and need no tuning.

Neal, R. M. (2003). Slice sampling. Annals of Statistics 31, 705-767. Murray, I., Adams, R. P. and
MacKay, D. J. C. (2010). Elliptical slice sampling. AISTATS 13, 541-548.
"""

from collections.abc import Callable

import numpy as np

from unselected._typing import Floats

# Points that are evaluated together: a call of the density is expensive, one more point cheap.
_TOGETHER = 5
# An interval this short is rounding error: the chain stays where it is.
_SHORTEST = 1e-12


def slice_step(
    log_density: Callable[[Floats], Floats],
    x: float,
    rng: np.random.Generator,
    *,
    width: float,
) -> float:
    """Return the next state of a univariate chain that leaves a density invariant.

    The interval is stepped out, two steps to each side at a time. Several points are drawn from it
    together, and the first in the slice is taken. Where there is none, the points shrink the
    interval.

    Parameters
    ----------
    log_density : callable
        Of an array of points, up to a constant. It must decrease towards both sides.
    x : float
        Where the chain is.
    width : float
        Approximate width of the density. It affects the speed only.

    Examples
    --------
    >>> rng, x, places = np.random.default_rng(0), 0.0, []
    >>> for _ in range(4000):
    ...     x = slice_step(lambda x: -0.5 * x**2, x, rng, width=2.0)
    ...     places.append(x)
    >>> bool(abs(np.var(places) - 1.0) < 0.1)
    True
    """
    below = rng.exponential()
    low = x - width * rng.random()
    high = low + width
    points = np.array([x, low, low - width, high, high + width])
    logs = log_density(points)
    level = float(logs[0]) - below
    inside = logs > level
    while inside[1] and inside[2]:
        points[1:3] -= 2.0 * width
        inside[1:3] = log_density(points[1:3]) > level
    while inside[3] and inside[4]:
        points[3:5] += 2.0 * width
        inside[3:5] = log_density(points[3:5]) > level
    low = float(points[2] if inside[1] else points[1])
    high = float(points[4] if inside[3] else points[3])
    while high - low > _SHORTEST * (1.0 + abs(x)):
        places = rng.uniform(low, high, size=_TOGETHER)
        found = np.flatnonzero(log_density(places) > level)
        if found.size:
            return float(places[found[0]])
        low, high = _shrunk(low, high, places, x)
    return x


def _shrunk(low: float, high: float, outside: Floats, x: float) -> tuple[float, float]:
    """Return the interval around x that remains when some points are known to be outside."""
    return (
        float(np.max(outside[outside < x], initial=low)),
        float(np.min(outside[outside >= x], initial=high)),
    )


def elliptical_step(
    log_likelihood: Callable[[Floats], Floats],
    x: Floats,
    center: Floats,
    draw: Floats,
    rng: np.random.Generator,
) -> Floats:
    """Return the next state of a chain whose prior is normal.

    Parameters
    ----------
    log_likelihood : callable
        Of an array of states, shape (states, *shape of x), up to a constant.
    x : array
        Where the chain is.
    center : array of the same shape
        The mean of the normal prior.
    draw : array of the same shape
        A fresh draw from the prior, minus the prior mean.
    """
    below = rng.exponential()
    low = -2.0 * np.pi * rng.random()
    high = low + 2.0 * np.pi
    offset, wide = x - center, (-1,) + (1,) * x.ndim
    level = None
    while high - low > _SHORTEST:
        angles = rng.uniform(low, high, size=_TOGETHER)
        turned = angles if level is not None else np.append(angles, 0.0)
        places = center + np.cos(turned).reshape(wide) * offset
        places += np.sin(turned).reshape(wide) * draw
        logs = log_likelihood(places)
        if level is None:
            level, logs = float(logs[-1]) - below, logs[:-1]
        found = np.flatnonzero(logs > level)
        if found.size:
            return np.asarray(places[found[0]])
        low, high = _shrunk(low, high, angles, 0.0)
    return x
