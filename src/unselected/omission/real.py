"""The omission probability of a real-valued feature."""

import numpy as np

from unselected._typing import Floats
from unselected.numerics.chi_squared_ratio import log_ratio_probability
from unselected.selection.events import RealEvent

# Rows that are processed at a time.
_ROWS = 1 << 13


def log_real_omission(u: Floats, event: RealEvent) -> Floats:
    """Return log P(a feature is at most at the cut | tau^2 = u), shape (nodes, patterns).

    Where another score has a law, it gives these and those of being below the cut, (nodes, 2).

    >>> event = RealEvent(0.5, "|COR|", np.array([[4.0]]), np.array([7.0]), np.array([10]))
    >>> round(float(np.exp(log_real_omission(np.array([0.0]), event)[0, 0])), 6)  # a t test
    0.829529
    """
    if event.law is not None:
        return event.law.log_omitted(u)
    rows = max(1, _ROWS // event.nu.size)
    blocks = [u[start : start + rows] for start in range(0, u.size, rows)]
    return np.concatenate([_log_at(block, event) for block in blocks])


def _log_at(u: Floats, event: RealEvent) -> Floats:
    shape, q = (u.size, event.nu.size), event.lam.shape[1]
    a = 1.0 + u[:, np.newaxis, np.newaxis] * event.lam
    nu, kappa = (np.broadcast_to(values, shape).ravel() for values in (event.nu, event.kappa))
    return log_ratio_probability(a.reshape(-1, q), nu, kappa).reshape(shape)
