"""Slice sampling: moves of a Markov chain that are never rejected and have nothing to be tuned.

Neal, R. M. (2003). Slice sampling. Annals of Statistics 31, 705-767. Murray, I., Adams, R. P. and
MacKay, D. J. C. (2010). Elliptical slice sampling. AISTATS 13, 541-548.
"""

from collections.abc import Callable

import numpy as np

from unselected.quadrature import Floats

# Steps that an interval makes to each side at most.
_MOST_STEPS = 50


def slice_step(
    log_density: Callable[[float], float],
    x: float,
    rng: np.random.Generator,
    *,
    width: float,
    log_here: float | None = None,
) -> float:
    """Return the next place of a chain on the line that leaves a density invariant.

    Parameters
    ----------
    log_density : callable
        Up to a constant.
    x : float
        Where the chain is.
    width : float
        About how wide the density is; it may be wrong.
    log_here : float, default=None
        ``log_density(x)``, where it is known.

    Examples
    --------
    >>> rng, x, places = np.random.default_rng(0), 0.0, []
    >>> for _ in range(4000):
    ...     x = slice_step(lambda x: -0.5 * x**2, x, rng, width=2.0)
    ...     places.append(x)
    >>> bool(abs(np.var(places) - 1.0) < 0.1)
    True
    """
    here = log_density(x) if log_here is None else log_here
    level = here - rng.exponential()
    low = x - width * rng.random()
    high = low + width
    to_the_left = int(rng.integers(_MOST_STEPS))
    for _ in range(to_the_left):
        if log_density(low) <= level:
            break
        low -= width
    for _ in range(_MOST_STEPS - 1 - to_the_left):
        if log_density(high) <= level:
            break
        high += width
    while True:
        place = low + (high - low) * rng.random()
        if log_density(place) > level:
            return place
        low, high = (place, high) if place < x else (low, place)
        if high - low <= 1e-12 * (1.0 + abs(x)):  # rounding: the chain stays
            return x


def elliptical_step(
    log_likelihood: Callable[[Floats], float],
    x: Floats,
    center: Floats,
    draw: Floats,
    rng: np.random.Generator,
    *,
    log_here: float,
) -> tuple[Floats, float]:
    """Return the next place, and its log likelihood, of a chain whose prior is normal.

    Parameters
    ----------
    log_likelihood : callable
        Up to a constant.
    x : array
        Where the chain is.
    center : array of the same shape
        The mean of the normal prior.
    draw : array of the same shape
        A draw from the prior less its mean: one more, made for this step.
    log_here : float
        ``log_likelihood(x)``.
    """
    level = log_here - rng.exponential()
    angle = 2.0 * np.pi * rng.random()
    low, high = angle - 2.0 * np.pi, angle
    offset = x - center
    while True:
        place = center + np.cos(angle) * offset + np.sin(angle) * draw
        log_there = log_likelihood(place)
        if log_there > level:
            return place, log_there
        low, high = (angle, high) if angle < 0.0 else (low, angle)
        if high - low <= 1e-12:  # rounding: the chain stays
            return x, log_here
        angle = low + (high - low) * rng.random()
