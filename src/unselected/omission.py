"""The omission probability: how likely a feature is to look too weak to be kept.

For a binary feature it is a sum of P(I0, I1) over the counts whose |COR| does not pass the cut
(section 3.4 of the paper). For each I1 the omitted I0 form one interval, so that cumulative sums
of P(I0 | theta) do, and no table over all (I0, I1) is built.

For a real-valued feature it is P(sum_i a_i chi^2_1 <= kappa chi^2_nu), a_i = 1 + tau^2 lam_i: a
scaled F distribution where all a_i are equal, and one integral along a line in the complex plane
else. The features of a factor model have further chi^2_1 on the right (`factor_omission`).
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from scipy.special import betainc, betaincc

from unselected.events import RealEvent
from unselected.quadrature import Floats
from unselected.tables import CountLaw, Ints, compare


@dataclass(frozen=True)
class OmittedCounts:
    """The counts (I0, I1) of features that are omitted: start[I1] <= I0 < stop[I1]."""

    start: Ints
    stop: Ints

    @classmethod
    def at_most(cls, cut: Fraction, n0: int, n1: int) -> "OmittedCounts":
        """Return the counts with |COR| <= gamma: L-, L0 and L+ of the paper.

        >>> from unselected.tables import threshold_cut
        >>> omitted = OmittedCounts.at_most(threshold_cut(0.9), 2, 2)
        >>> omitted.start.tolist(), omitted.stop.tolist()  # all but (2, 0) and (0, 2)
        ([0, 0, 1], [2, 3, 3])
        """
        return cls._below_passing(cut, n0, n1, least_sign=1)

    @classmethod
    def below(cls, cut: Fraction, n0: int, n1: int) -> "OmittedCounts":
        """Return the counts with |COR| < gamma; none where gamma = 0."""
        return cls._below_passing(cut, n0, n1, least_sign=0)

    @classmethod
    def _below_passing(cls, cut: Fraction, n0: int, n1: int, least_sign: int) -> "OmittedCounts":
        # Cor falls as I0 grows: bisection finds how many I0, from 0 on, pass on the positive side.
        I1 = np.arange(n1 + 1)
        low, high = np.zeros_like(I1), np.full_like(I1, n0 + 1)
        while np.any(low < high):
            I0 = np.minimum((low + high) // 2, n0)
            passes = (n0 * I1 >= n1 * I0) & (compare(I0, I1, n0, n1, cut) >= least_sign)
            low, high = np.where(passes, I0 + 1, low), np.where(passes, high, np.minimum(I0, high))
        # Swapping zeros and ones maps (I0, I1) to (n0 - I0, n1 - I1) and Cor to -Cor.
        return cls(start=low, stop=np.maximum(n0 + 1 - low[::-1], low))

    def omitted_probability(self, pmf0: Floats, pmf1: Floats, weights: Floats) -> float:
        """Return what some nodes of theta add to P(omitted), as a sum of positive terms."""
        cumulative = _cumulate(pmf0)
        interval = cumulative[:, self.stop] - cumulative[:, self.start]
        return float(weights @ np.einsum("ij,ij->i", pmf1, interval))


def selected_probabilities(
    sets: list[OmittedCounts], pmf0: Floats, pmf1: Floats, weights: Floats
) -> Floats:
    """Return what some nodes of theta add to P(not in the set), equation (eq-sum-H) of the paper.

    Parameters
    ----------
    sets : list of OmittedCounts
    pmf0, pmf1 : arrays of shapes (nodes, n0 + 1) and (nodes, n1 + 1)
        P(I0 | theta) and P(I1 | theta). The nodes come with their mirror images, so that the
        positive side of Cor is summed and doubled.
    weights : array of shape (nodes,)

    Returns
    -------
    probabilities : array of shape (sets,)
    """
    # start grows with I1, and on the positive side just the I0 below it are selected.
    cumulative = _cumulate(pmf0[:, : max((omitted.start[-1] for omitted in sets), default=0)])
    selected = np.empty(len(sets))
    for j, omitted in enumerate(sets):
        first = int(np.searchsorted(omitted.start, 1))
        up_to_start = cumulative[:, omitted.start[first:]]
        selected[j] = weights @ np.einsum("ij,ij->i", pmf1[:, first:], up_to_start)
    return 2.0 * selected


def _cumulate(pmf: Floats) -> Floats:
    """Return P(I < i) for i = 0..n + 1 from rows of P(I = i)."""
    cumulative = np.zeros((pmf.shape[0], pmf.shape[1] + 1))
    np.cumsum(pmf, axis=1, out=cumulative[:, 1:])
    return cumulative


def log_omission(law: CountLaw, u: float, omitted: OmittedCounts, selected: float) -> float:
    """Return log P(omitted | alpha = 1/u), given P(selected).

    Where most features are selected, 1 - P(selected) would lose digits, and P(omitted) is summed
    itself.

    >>> from unselected.quadrature import gauss_legendre
    >>> from unselected.tables import threshold_cut
    >>> law = CountLaw(2, 2, *gauss_legendre(3))
    >>> omitted = OmittedCounts.at_most(threshold_cut(0.9), 2, 2)
    >>> selected = sum(
    ...     selected_probabilities([omitted], np.exp(log_p0), np.exp(log_p1), law.weights[nodes])[0]
    ...     for nodes, log_p0, log_p1 in law.blocks(0.0)
    ... )
    >>> round(float(np.exp(log_omission(law, 0.0, omitted, selected))), 12)
    0.933333333333
    """
    if selected < 0.5:
        return float(np.log1p(-selected))
    total = sum(
        omitted.omitted_probability(np.exp(log_p0), np.exp(log_p1), law.weights[nodes])
        for nodes, log_p0, log_p1 in law.blocks(u)
    )
    return float(np.log(total)) if total > 0 else -np.inf


# Largest relative difference between a_i that are taken to be equal: it changes P by less.
_EQUAL = 1e-13
# A feature passes no larger cut than this, and one as small is passed by all, to 1e-30.
_LEAST_KAPPA, _LARGEST_KAPPA = 1e-60, 1e60
# Rows that are worked on at a time.
_ROWS = 1 << 13
# Step of the rule along the contour: half of it changes nothing above 1e-11.
_CONTOUR_STEP = 0.1
# Where an interval is cut to find the saddle point in it, from one cut to the next: it need not
# be met exactly, for any line near it does.
_HALVES = 0.5 ** np.arange(1, 46)
_SHARES = (np.unique(np.append(_HALVES, 1.0 - _HALVES)), *[np.arange(1, 16) / 16.0] * 2)


def log_real_omission(u: Floats, event: RealEvent) -> Floats:
    """Return log P(a feature is at most at the cut | tau^2 = u), shape (nodes, patterns).

    >>> event = RealEvent(0.5, "|COR|", np.array([[4.0]]), np.array([7.0]), np.array([10]))
    >>> round(float(np.exp(log_real_omission(np.array([0.0]), event)[0, 0])), 6)  # a t test
    0.829529
    """
    rows = max(1, _ROWS // event.nu.size)
    blocks = [u[start : start + rows] for start in range(0, u.size, rows)]
    return np.concatenate([_log_at(block, event) for block in blocks])


def _log_at(u: Floats, event: RealEvent) -> Floats:
    shape, q = (u.size, event.nu.size), event.lam.shape[1]
    a = 1.0 + u[:, np.newaxis, np.newaxis] * event.lam
    nu, kappa = (np.broadcast_to(values, shape).ravel() for values in (event.nu, event.kappa))
    return log_ratio_probability(a.reshape(-1, q), nu, kappa).reshape(shape)


def log_ratio_probability(
    a: Floats,
    nu: Floats,
    kappa: Floats,
    also: Floats | None = None,
    *,
    compiled: Any = None,
) -> Floats:
    """Return log P(sum_i a_i chi^2_1 <= kappa (chi^2_nu + sum_i also_i chi^2_1)) for rows of a > 0.

    Whichever of P and 1 - P is the smaller is computed, to a relative 1e-9 or better. ``compiled``
    is what `kernels.kernels_for_chains` returns.

    >>> a, nu, kappa = np.array([[1.0, 1.0], [1.0, 3.0]]), np.full(2, 6.0), np.full(2, 0.5)
    >>> np.exp(log_ratio_probability(a, nu, kappa)).round(9).tolist()  # 1 - 1.5^-3, and less
    [0.703703704, 0.512144028]
    >>> also = np.ones((2, 2))  # two more degrees of freedom
    >>> np.exp(log_ratio_probability(a, nu - 2.0, kappa, also)).round(9).tolist()
    [0.703703704, 0.512144028]
    """
    also = np.empty((len(a), 0)) if also is None else also
    logs = np.where(kappa > 0.0, 0.0, -np.inf)
    cuts = (kappa > 0.0) & (kappa < _LARGEST_KAPPA)
    alike = np.ptp(a, axis=1) <= _EQUAL * a[:, 0]
    alike &= np.all(np.abs(also - 1.0) <= _EQUAL, axis=1)
    if np.any(some := cuts & alike):
        df = nu[some] + also.shape[1]
        logs[some] = _log_scaled_f(a[some, 0], a.shape[1], df, kappa[some])
    if np.any(some := cuts & ~alike):
        scaled = a[some] / np.clip(kappa[some], _LEAST_KAPPA, None)[:, np.newaxis]
        logs[some] = _log_by_contour(scaled, nu[some], also[some], compiled)
    return logs


def _log_scaled_f(a: Floats, q: int, nu: Floats, kappa: Floats) -> Floats:
    """Return the log probability where the a_i are equal: that of a beta variable."""
    x = kappa / (kappa + a)
    selected = betaincc(q / 2.0, nu / 2.0, x)
    with np.errstate(divide="ignore"):
        return np.where(selected < 0.5, np.log1p(-selected), np.log(betainc(q / 2.0, nu / 2.0, x)))


def _log_by_contour(a: Floats, nu: Floats, also: Floats, compiled: Any = None) -> Floats:
    """Return the log probability by inverting the moment generating function M of the difference.

    P(sum a_i chi^2_1 > chi^2_nu + sum also_i chi^2_1) is the integral of M(s) / (2 pi i s) along a
    line that crosses the real axis between 0 and 1 / (2 max a), and P(<=) minus that along one that
    crosses it between 0 and the first singularity below, at -1 / 2 or -1 / (2 max also). The line
    goes through the saddle point c of the integrand and bends to the right, where chi^2_nu makes
    it die out: as the path of steepest descent does at c, or more, so that the integrand hardly
    oscillates; nodes are equidistant in t, s = c + b (cosh(t) - 1) + i d sinh(t).
    """
    # M(s) is the product of (1 - 2 s weight)^(-power / 2); the second weight is that of chi^2_nu.
    weights = np.concatenate([a, np.full((len(a), 1), -1.0), -also], axis=1)
    powers = np.ones(weights.shape)
    powers[:, a.shape[1]] = nu
    if compiled is not None:
        return np.asarray(compiled.log_by_contour(weights, powers, _CONTOUR_STEP))
    upper = np.sum(powers * weights, axis=1) < 0.0  # negative on average: 1 - P is the smaller
    right, left = 0.5 / a.max(axis=1), 0.5 / weights.min(axis=1)
    c = _saddle(weights, powers, np.where(upper, 0.0, left), np.where(upper, right, 0.0))
    near = weights / (1.0 - 2.0 * c[:, None] * weights)
    second = 2.0 * np.sum(powers * near**2, axis=1) + c**-2.0
    third = 8.0 * np.sum(powers * near**3, axis=1) - 2.0 * c**-3.0
    nearest = np.minimum(np.abs(c), np.minimum(right - c, c - left))
    d = np.minimum(nearest, second**-0.5)
    b = np.clip(d**2 * third / (3.0 * second), 0.5 * d, d)
    farthest = np.max(np.abs(0.5 / weights - c[:, None]), axis=1)
    length = np.max(np.log(2.0 * farthest / d) + 80.0 / powers.sum(axis=1))
    t = np.arange(int(np.ceil(length / _CONTOUR_STEP)) + 1) * _CONTOUR_STEP
    cosh, sinh = np.cosh(t), np.sinh(t)
    s = c[:, None] + b[:, None] * (cosh - 1.0) + 1j * d[:, None] * sinh
    log_m = np.zeros(s.shape, dtype=np.complex128)
    for weight, power in zip(weights.T, powers.T, strict=True):
        log_m -= 0.5 * power[:, None] * np.log1p(-2.0 * s * weight[:, None])
    values = (np.exp(log_m) / s * (d[:, None] * cosh - 1j * b[:, None] * sinh)).real
    values[:, 0] *= 0.5
    tail = np.abs(values.sum(axis=1)) * (_CONTOUR_STEP / np.pi)
    with np.errstate(divide="ignore"):
        return np.asarray(np.where(upper, np.log1p(-np.minimum(tail, 1.0)), np.log(tail)))


def _saddle(weights: Floats, powers: Floats, low: Floats, high: Floats) -> Floats:
    """Return where |M(s) / s| is smallest between two of its singularities.

    Its logarithm is convex there. The interval is cut into parts, which are short towards its
    ends, and of these one is cut again, into equal parts.
    """
    rows = np.arange(len(low))
    for share in _SHARES:
        s = low[:, None] + (high - low)[:, None] * share
        slope = -1.0 / s
        for weight, power in zip(weights.T, powers.T, strict=True):
            slope += (power * weight)[:, None] / (1.0 - 2.0 * s * weight[:, None])
        ends = np.concatenate([low[:, None], s, high[:, None]], axis=1)
        part = np.sum(slope < 0.0, axis=1)
        low, high = ends[rows, part], ends[rows, part + 1]
    return np.asarray(0.5 * (low + high))
