"""P(sum_i a_i chi^2_1 <= kappa chi^2_nu): ratios of weighted sums of squares of normals."""

from typing import Any

import numpy as np
from scipy.special import betainc, betaincc

from unselected._typing import Floats

# Largest relative difference between a_i that are treated as equal: P changes by less than this.
_EQUAL = 1e-13


# Bounds of the cut: no feature passes the upper one, every feature passes the lower, to 1e-30.
_LEAST_KAPPA, _LARGEST_KAPPA = 1e-60, 1e60


# Step of the rule along the contour: halving it changes the result by less than 1e-11.
_CONTOUR_STEP = 0.1


# Where the interval is divided, round by round, to find the saddle point. It need not be found
# exactly: any line near it works.
_HALVES = 0.5 ** np.arange(1, 46)


_SHARES = (np.unique(np.append(_HALVES, 1.0 - _HALVES)), *[np.arange(1, 16) / 16.0] * 2)


def log_ratio_probability(
    a: Floats,
    nu: Floats,
    kappa: Floats,
    also: Floats | None = None,
    *,
    compiled: Any = None,
) -> Floats:
    """Return log P(sum_i a_i chi^2_1 <= kappa (chi^2_nu + sum_i also_i chi^2_1)) for rows of a > 0.

    The smaller of P and 1 - P is computed, to a relative error of 1e-9 or better. ``compiled`` is
    the result of `kernels.kernels_for_chains`.

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
    """Return the log probability where all a_i are equal: that of a beta variable."""
    x = kappa / (kappa + a)
    selected = betaincc(q / 2.0, nu / 2.0, x)
    small = selected >= 0.5
    with np.errstate(divide="ignore"):
        logs = np.log1p(-selected)
        logs[small] = np.log(betainc(q / 2.0, nu[small] / 2.0, x[small]))
    return logs


def _log_by_contour(a: Floats, nu: Floats, also: Floats, compiled: Any = None) -> Floats:
    """Return the log probability by inverting the moment generating function M of the difference.

    P(sum a_i chi^2_1 > chi^2_nu + sum also_i chi^2_1) is the integral of M(s) / (2 pi i s) along a
    line that crosses the real axis between 0 and 1 / (2 max a), and P(<=) minus that along one that
    crosses it between 0 and the first singularity below, at -1 / 2 or -1 / (2 max also). The line
    goes through the saddle point c of the integrand and bends to the right, where chi^2_nu makes
    the integrand vanish. It bends at least as much as the path of steepest descent at c, so that
    the integrand hardly oscillates. Nodes are equidistant in t, where
    s = c + b (cosh(t) - 1) + i d sinh(t).
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

    Its logarithm is convex there. The interval is divided into parts that are shorter towards its
    ends. The part with the minimum is divided again, into equal parts.
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
