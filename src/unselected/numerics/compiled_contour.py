"""The contour integral of `chi_squared_ratio`, compiled by numba for chains, which need many.

Import this through `kernels`. The equivalent in plain numpy is
`chi_squared_ratio._log_by_contour`, which documents the formula.
"""

import numpy as np
from numba import njit

_compile = njit(nogil=True, cache=True)

# Bisections that find the saddle point, not counting those needed to get away from the ends.
_HALVINGS = 12
# The sum ends at terms this much smaller than it, because the terms decrease from there on.
_NEGLIGIBLE = 1e-18


@_compile
def _slope(s, weights, powers):
    total = -1.0 / s
    for i in range(weights.size):
        total += powers[i] * weights[i] / (1.0 - 2.0 * s * weights[i])
    return total


@_compile
def _saddle(weights, powers, low, high):
    done = 0
    for _ in range(60):
        middle = 0.5 * (low + high)
        before = high - low
        if _slope(middle, weights, powers) < 0.0:
            low = middle
        else:
            high = middle
        # The ends are singularities: the distance from them is what matters.
        if 0.5 * before < min(abs(low), abs(high)):
            done += 1
            if done == _HALVINGS:
                break
    return 0.5 * (low + high)


@_compile
def _tail(weights, powers, c, step):
    """Return the integral along the line through c, up to its sign."""
    second, third, nearest, farthest = c**-2.0, -2.0 * c**-3.0, abs(c), 0.0
    for i in range(weights.size):
        near = weights[i] / (1.0 - 2.0 * c * weights[i])
        second += 2.0 * powers[i] * near**2
        third += 8.0 * powers[i] * near**3
        distance = abs(0.5 / weights[i] - c)
        nearest, farthest = min(nearest, distance), max(farthest, distance)
    d = min(nearest, second**-0.5)
    b = min(max(d**2 * third / (3.0 * second), 0.5 * d), d)
    length = np.log(2.0 * farthest / d) + 80.0 / np.sum(powers)
    total = 0.0
    for j in range(int(np.ceil(length / step)) + 1):
        grown = np.exp(j * step)
        cosh, sinh = 0.5 * (grown + 1.0 / grown), 0.5 * (grown - 1.0 / grown)
        x, y = c + b * (cosh - 1.0), d * sinh
        log_size, angle = -0.5 * np.log(x * x + y * y), -np.arctan2(y, x)
        for i in range(weights.size):
            right, up = 1.0 - 2.0 * x * weights[i], -2.0 * y * weights[i]
            log_size -= 0.25 * powers[i] * np.log(right * right + up * up)
            angle -= 0.5 * powers[i] * np.arctan2(up, right)
        size = np.exp(log_size)
        value = size * (np.cos(angle) * d * cosh + np.sin(angle) * b * sinh)
        total += 0.5 * value if j == 0 else value
        if size * d * cosh < _NEGLIGIBLE * abs(total):
            break
    return abs(total) * step / np.pi


@_compile
def log_by_contour(weights, powers, step):
    """Return the log probabilities of rows, as `chi_squared_ratio._log_by_contour` does."""
    logs = np.empty(len(weights))
    for row in range(len(weights)):
        w, p = weights[row], powers[row]
        if np.sum(p * w) < 0.0:
            c = _saddle(w, p, 0.0, 0.5 / np.max(w))
            logs[row] = np.log1p(-min(_tail(w, p, c, step), 1.0))
        else:
            c = _saddle(w, p, 0.5 / np.min(w), 0.0)
            logs[row] = np.log(_tail(w, p, c, step))
    return logs
