"""Local polynomial interpolation between points at any distances."""

import numpy as np

from unselected._typing import Floats


def interpolate(x: Floats, known: Floats, values: Floats, n_nearest: int) -> Floats:
    """Return values at x from the polynomials through the nearest known ones.

    Parameters
    ----------
    x : array of shape (m,)
        None of them is among the known points.
    known : array of shape (n,)
        Increasing.
    values : array of shape (n, q)
    n_nearest : int
        Points that a polynomial goes through: as many on both sides of x, but for the ends. At
        most n.

    Returns
    -------
    values : array of shape (m, q)

    Examples
    --------
    >>> known = np.array([0.0, 1.0, 3.0, 4.0])
    >>> interpolate(np.array([2.0]), known, known[:, np.newaxis] ** 3, 4).round(12).tolist()
    [[8.0]]
    """
    before = np.searchsorted(known, x) - n_nearest // 2
    first = np.clip(before, 0, known.size - n_nearest)
    near = first[:, np.newaxis] + np.arange(n_nearest)
    points = known[near]
    # The barycentric formula; distances are in units of the largest, or products would underflow.
    span = (points[:, -1] - points[:, 0])[:, np.newaxis]
    apart = (points[:, :, np.newaxis] - points[:, np.newaxis]) / span[:, np.newaxis]
    apart[:, np.arange(n_nearest), np.arange(n_nearest)] = 1.0
    weights = 1.0 / (np.prod(apart, axis=2) * (x[:, np.newaxis] - points))
    weights /= weights.sum(axis=1, keepdims=True)
    return np.asarray(np.einsum("mn,mnq->mq", weights, values[near]))
