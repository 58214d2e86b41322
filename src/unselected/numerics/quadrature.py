"""Quadrature rules: nodes with log weights, and one adaptive rule for a log density.

Two integrals occur in the paper. The integrand over theta is a polynomial, so a Gauss-Legendre
rule is exact. The integrand over alpha is a smooth function with unknown location and width, so a
trapezoid rule is placed where the function has its mass.
"""

import math
from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.special import roots_legendre

from unselected._typing import Floats

# A node whose log density is this far below the largest adds less than 1e-17 of the total.
NEGLIGIBLE = 40.0

# The rule of `trapezoid`: step at the peak in widths, growth of the steps, allowed change.
STEP, STRETCH, TOLERANCE = 0.36, 0.3, 5e-6
# Nodes of theta for each square root of the number of cases.
PER_ROOT = 4.5
# Step of its scan, and nodes at which it gives up.
SCAN, _MOST_NODES = 0.5, 20_000
# How much higher than scanned a peak may be, in differences to the next scanned points.
MOST_RISE = 4.0


def log_sum(log_terms: Floats, axis: int | None = None) -> Floats:
    """Return log(sum(exp(log_terms))) along ``axis``; -inf where every term is -inf.

    >>> float(np.exp(log_sum(np.log([1.0, 2.0, 3.0])))).__round__(12)
    6.0
    """
    top = np.max(log_terms, axis=axis, keepdims=True)
    top = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        total = np.log(np.sum(np.exp(log_terms - top), axis=axis, keepdims=True)) + top
    return np.asarray(np.squeeze(total, axis=axis))


@lru_cache(maxsize=128)
def gauss_legendre(n_nodes: int) -> tuple[Floats, Floats]:
    """Return nodes and weights on (0, 1), exact for polynomials of degree 2 n_nodes - 1.

    >>> nodes, weights = gauss_legendre(2)
    >>> float(weights @ nodes**3).__round__(12)
    0.25
    """
    nodes, weights = roots_legendre(n_nodes)
    # The rule is symmetric about 1/2. Tables rely on it, so make it exact to the last bit.
    nodes = 0.25 * (nodes - nodes[::-1]) + 0.5
    return _frozen(nodes), _frozen(0.25 * (weights + weights[::-1]))


@lru_cache(maxsize=8)
def simpson(n_nodes: int) -> tuple[Floats, Floats]:
    """Return Simpson's rule on [0, 1] with an odd number of equidistant nodes.

    >>> nodes, weights = simpson(3)
    >>> (weights * 6).round(12).tolist()
    [1.0, 4.0, 1.0]
    """
    weights = np.ones(n_nodes)
    weights[1:-1:2] = 4.0
    weights[2:-1:2] = 2.0
    return _frozen(np.linspace(0.0, 1.0, n_nodes)), _frozen(weights / weights.sum())


def theta_nodes(n: int, per_root: float = PER_ROOT) -> int:
    """Return the number of Gauss-Legendre nodes that integrate the law of n cases' counts exactly.

    The integrand is a polynomial in theta of degree n, or n + 1 with the predictive factor, for
    which ceil((n + 2) / 2) nodes are exact. As a function of arccos(1 - 2 theta) it is a bump
    of width n^(-1/2), whose Fourier coefficients fall like exp(-j^2 / (2 n)); N nodes miss those
    from j = 2 N on, a relative 2 exp(-2 N^2 / n). With N = 4.5 sqrt(n) that is 5e-18, below
    rounding, and for n above about 120 it is the smaller number. Another factor than 4.5 may be
    asked for: integrands that are smoother, or need fewer digits, need fewer nodes.

    >>> theta_nodes(10), theta_nodes(200), theta_nodes(20000)
    (6, 74, 647)
    """
    return min(math.ceil((n + 2) / 2), math.ceil(per_root * math.sqrt(n)) + 10)


def gauss_rule(places: Floats, log_weights: Floats, n_nodes: int) -> tuple[Floats, Floats]:
    """Return the Gauss rule of a measure on points: few nodes in place of many.

    It is exact for polynomials of degree 2 n_nodes - 1. The nodes are the eigenvalues of the
    recurrence of its orthogonal polynomials (Golub and Welsch), which the Lanczos process gives.

    Parameters
    ----------
    places, log_weights : arrays of shape (points,)
    n_nodes : int
        A measure on fewer points is returned as it is.

    Returns
    -------
    nodes, log_weights : arrays of shape (n_nodes,)
        The nodes are between the points.

    Examples
    --------
    >>> places = np.linspace(-9.0, 9.0, 201)
    >>> nodes, log_weights = gauss_rule(places, -0.5 * places**2, 3)
    >>> nodes.round(6).tolist(), np.exp(log_weights - log_sum(log_weights)).round(6).tolist()
    ([-1.732051, 0.0, 1.732051], [0.166667, 0.666667, 0.166667])
    """
    if places.size <= n_nodes:
        return places, log_weights
    log_total = log_sum(log_weights)
    basis = np.zeros((n_nodes, places.size))
    recurrence = np.zeros((n_nodes, n_nodes))
    basis[0] = np.exp(0.5 * (log_weights - log_total))
    for i in range(n_nodes):
        image = places * basis[i]
        recurrence[i, i] = basis[i] @ image
        for _ in range(2):  # once more, for what rounding left
            image = image - basis[: i + 1].T @ (basis[: i + 1] @ image)
        if i + 1 < n_nodes:
            recurrence[i, i + 1] = recurrence[i + 1, i] = norm = np.sqrt(image @ image)
            basis[i + 1] = image / norm
    nodes, vectors = np.linalg.eigh(recurrence)
    nodes = np.clip(nodes, np.min(places), np.max(places))
    with np.errstate(divide="ignore"):
        return nodes, np.asarray(2.0 * np.log(np.abs(vectors[0])) + log_total)


def sinh_rule(
    place: Floats, width: Floats, left: Floats, right: Floats, n_points: int, reach: float
) -> tuple[Floats, Floats]:
    """Return points and log steps for an integrand with tails exp(left x) and exp(-right x).

    The steps are equal in t, where x = place + width sinh(t). In t the integrand decays
    double-exponentially, so that the sum converges geometrically. The arguments have a last axis of
    1, for the points. What is below exp(-reach) of the peak is left out.
    """
    far = np.sqrt(2.0 * reach)
    first, last = (np.arcsinh(far + reach / (tail * width)) for tail in (left, right))
    step = (first + last) / (n_points - 1)
    t = step * np.arange(n_points) - first
    return place + width * np.sinh(t), np.log(step * width * np.cosh(t))


def trapezoid(
    log_density: Callable[[Floats], Floats],
    low: float,
    high: float,
    refinement: int = 1,
    tolerance: float = TOLERANCE,
    rough: Callable[[Floats], Floats] | None = None,
) -> tuple[Floats, Floats]:
    """Place a trapezoid rule over the mass of exp(log_density), which must vanish at both ends.

    The rule converges geometrically for a function that is analytic near the real line. A scan
    finds the peaks of the log density. They may be narrow but must not lie hidden between two
    scanned points: the log density has to vary on the scale of 1. Zooming in finds each peak's
    place m, height and width s. Nodes are equidistant in t, where x = m + s sinh(c t) / c: about
    half a width apart at the peak, and increasingly far apart in the tails. Peaks with no mass
    between them get a rule each; peaks that overlap share one with equal steps. Nodes are doubled
    until leaving out every second one changes neither the integral nor the first two moments by
    more than a relative ``tolerance``. The error of the full rule is then about the square of
    that, or less.

    Parameters
    ----------
    log_density : callable
        Maps an array of points to the log of the function there.
    low, high : float
        The function has no mass outside.
    refinement : int
        Divide the step by this, to check that it is small enough.
    tolerance : float
        See above; 5e-6 by default.
    rough : callable, optional
        The same log density with few digits, at a lower cost. It is enough to find the peaks.

    Returns
    -------
    nodes, log_terms : arrays
        The integral is sum(exp(log_terms)).

    Examples
    --------
    >>> nodes, log_terms = trapezoid(lambda x: -0.5 * (x / 0.01)**2, -9.0, 9.0)
    >>> bool(abs(np.exp(log_terms).sum() / (0.01 * np.sqrt(2 * np.pi)) - 1) < 1e-9)
    True
    """
    parts = _parts(log_density if rough is None else rough, low, high)
    rules = [_rule(log_density, part, refinement, tolerance) for part in parts]
    x, log_terms = (np.concatenate(arrays) for arrays in zip(*rules, strict=True))
    live = log_terms > np.max(log_terms) - NEGLIGIBLE
    return x[live], log_terms[live]


class _Part(NamedTuple):
    """An interval with one peak, or with several that overlap (stretch 0: equal steps)."""

    low: float
    high: float
    peak: float
    width: float
    stretch: float


class Peak(NamedTuple):
    """A local maximum of a log density: where, how wide (about a standard deviation), how high."""

    place: float
    width: float
    height: float


def _rule(
    log_density: Callable[[Floats], Floats], part: _Part, refinement: int, tolerance: float
) -> tuple[Floats, Floats]:
    """Return the nodes and log terms of the rule for one part."""
    c = part.stretch

    def place(t: Floats) -> Floats:
        return np.asarray(part.peak + part.width * (np.sinh(c * t) / c if c else t))

    def log_integrand(t: Floats) -> Floats:
        return np.asarray(log_density(place(t)) + np.log(part.width * np.cosh(c * t)))

    ends = (np.array([part.low, part.high]) - part.peak) / part.width
    first, last = np.arcsinh(c * ends) / c if c else ends
    t = np.linspace(first, last, int(np.ceil((last - first) / (2 * STEP))) + 1)
    t, g = _trim(t, log_integrand(t), margin=1)
    t, g = _halve(log_integrand, t, g)
    while not converged(t, g, tolerance):
        if t.size > _MOST_NODES:
            raise ArithmeticError(
                f"the integral over the concentration did not converge with {t.size} nodes: the "
                "posterior has an unexpected shape for these data and this prior"
            )
        t, g = _halve(log_integrand, t, g)
    if refinement > 1:
        t = np.linspace(t[0], t[-1], refinement * (t.size - 1) + 1)
        g = log_integrand(t)
    return place(t), g + np.log(t[1] - t[0])


def find_peaks(
    log_density: Callable[[Floats], Floats], low: float, high: float
) -> tuple[list[Peak], Floats]:
    """Return the peaks that matter, and the scanned points without mass.

    >>> peaks, _ = find_peaks(lambda x: -0.5 * ((np.abs(x) - 3.0) / 0.01)**2, -9.0, 9.0)
    >>> [round(peak.place, 2) for peak in peaks]
    [-3.0, 3.0]
    """
    x = np.linspace(low, high, int(np.ceil((high - low) / SCAN)) + 1)
    g = log_density(x)
    inner = np.concatenate([[-np.inf], g, [-np.inf]])
    tops = np.flatnonzero((g >= inner[:-2]) & (g > inner[2:]))
    # Between scanned points a peak is hardly higher than the scanned one: a parabola by an eighth
    # of the larger difference to the points next to it.
    beside = np.maximum(np.concatenate([g[:1], g, g[-1:]]), np.finfo(np.float64).min)
    steps = g[tops] - np.minimum(beside[:-2], beside[2:])[tops]
    hopeful = g[tops] + MOST_RISE * steps > np.max(g) - NEGLIGIBLE
    peaks = [_zoom(log_density, x, g, int(top)) for top in tops[hopeful]]
    best = max(peak.height for peak in peaks)
    mattering = [peak for peak in peaks if peak.height > best - NEGLIGIBLE]
    return mattering, x[g <= best - NEGLIGIBLE]


def _parts(log_density: Callable[[Floats], Floats], low: float, high: float) -> list[_Part]:
    """Find the peaks that matter, and divide the interval where there is no mass between them."""
    peaks, empty = find_peaks(log_density, low, high)
    return [_part(group, empty, low, high) for group in _grouped(peaks, empty)]


def _grouped(peaks: list[Peak], empty: Floats) -> list[list[Peak]]:
    """Group neighbouring peaks that have no empty scanned point between them."""
    groups = [peaks[:1]]
    for before, peak in pairwise(peaks):
        if np.any((empty > before.place) & (empty < peak.place)):
            groups.append([peak])
        else:
            groups[-1].append(peak)
    return groups


def _part(group: list[Peak], empty: Floats, low: float, high: float) -> _Part:
    """Return the interval from the nearest empty point before a group to the next one after it."""
    first, last = group[0].place, group[-1].place
    start = np.max(empty[empty < first], initial=low)
    stop = np.min(empty[empty > last], initial=high)
    tallest = max(group, key=lambda peak: peak.height)
    if len(group) == 1:
        return _Part(float(start), float(stop), tallest.place, tallest.width, STRETCH)
    width = min(peak.width for peak in group)
    return _Part(float(start), float(stop), tallest.place, width, 0.0)


def _zoom(log_density: Callable[[Floats], Floats], x: Floats, g: Floats, top: int) -> Peak:
    """Halve the steps around a scanned maximum until the peak's width shows."""
    near = slice(max(top - 1, 0), top + 2)
    x, g = x[near], g[near]
    while True:
        top = int(np.argmax(g))
        high = np.flatnonzero(g > g[top] - 2.0)  # two standard deviations of a normal curve
        step = x[1] - x[0]
        if high.size >= 4 or step < 1e-9:
            return Peak(float(x[top]), float(high.size * step / 4), float(g[top]))
        near = slice(max(high[0] - 1, 0), high[-1] + 2)
        x, g = _halve(log_density, x[near], g[near])


def _trim(x: Floats, g: Floats, margin: int) -> tuple[Floats, Floats]:
    """Drop the parts without mass at both ends, except for a margin of nodes."""
    live = np.flatnonzero(g > np.max(g) - NEGLIGIBLE)
    inside = slice(max(live[0] - margin, 0), live[-1] + 1 + margin)
    return x[inside], g[inside]


def _halve(log_density: Callable[[Floats], Floats], x: Floats, g: Floats) -> tuple[Floats, Floats]:
    finer = np.linspace(x[0], x[-1], 2 * x.size - 1)
    values = np.empty_like(finer)
    values[::2] = g
    values[1::2] = log_density(finer[1::2])
    return finer, values


def converged(t: Floats, g: Floats, tolerance: float = TOLERANCE) -> bool:
    """Say whether every second node gives the same integral, mean and variance.

    Parameters
    ----------
    t : array
        Equidistant nodes.
    g : array
        Logs of the terms.
    tolerance : float
        Of the integral, and of the moments in units of the standard deviation.
    """
    f = np.exp(g - np.max(g))
    f /= f.sum()
    centred = t - f @ t
    spread = np.sqrt(f @ centred**2)
    moments = np.vstack([f, f * centred / spread, f * (centred / spread) ** 2])
    full, half = moments.sum(axis=1), 2.0 * moments[:, ::2].sum(axis=1)
    return bool(np.all(np.abs(half - full) < tolerance))


def _frozen(values: Floats) -> Floats:
    values = np.array(values, dtype=np.float64)
    values.flags.writeable = False
    return values
