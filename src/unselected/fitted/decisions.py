"""Decisions from probabilities: the least expected cost, or none where it is too large."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray


def decide(
    proba: ArrayLike, costs: ArrayLike, *, indeterminate: float | None = None
) -> NDArray[np.intp]:
    """Return the decision with the least expected cost for each case.

    This needs calibrated probabilities: with probabilities that are too extreme, the actual costs
    are larger than the expected ones.

    Parameters
    ----------
    proba : array-like of shape (n_samples, n_classes)
        The result of `predict_proba`.
    costs : array-like of shape (n_classes, n_decisions)
        ``costs[i, j]`` is the cost of decision j where class i is the truth. Decisions are usually
        the classes themselves, but need not be.
    indeterminate : float, default=None
        Cost of leaving a case open, for example that of another test. Where every decision is
        expected to cost more, the case is left open. With None every case is decided.

    Returns
    -------
    decisions : ndarray of int of shape (n_samples,)
        Columns of ``costs``; -1 where the case is left open.

    Examples
    --------
    Missing an illness (the second class) costs 9, a false alarm 1, another test 0.4.

    >>> costs = [[0, 1], [9, 0]]
    >>> decide([[0.99, 0.01], [0.8, 0.2], [0.5, 0.5]], costs, indeterminate=0.4).tolist()
    [0, -1, -1]
    >>> decide([[0.99, 0.01], [0.8, 0.2], [0.5, 0.5]], costs).tolist()
    [0, 1, 1]
    """
    p, table = _numbers("proba", proba), _numbers("costs", costs)
    if np.any(p < 0.0) or np.any(np.abs(p.sum(axis=1) - 1.0) > 1e-6):
        raise ValueError(
            "proba has a row that is no distribution: give what predict_proba returns."
        )
    if len(table) != p.shape[1]:
        raise ValueError(
            f"costs has {len(table)} rows, but proba has {p.shape[1]} classes: give a row of costs "
            "for each class that may be the truth."
        )
    if indeterminate is not None and not np.isfinite(indeterminate):
        raise ValueError(f"indeterminate={indeterminate} must be a finite cost.")
    expected = p @ table
    best: NDArray[np.intp] = np.argmin(expected, axis=1)
    if indeterminate is None:
        return best
    return np.where(np.min(expected, axis=1) > indeterminate, -1, best)


def _numbers(name: str, values: Any) -> NDArray[np.float64]:
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 2 or array.shape[1] == 0:
        raise ValueError(f"{name} has the shape {array.shape}: give a table, a row for each case.")
    if not np.all(np.isfinite(array)):
        raise ValueError(f"{name} has a value that is not a finite number.")
    return array
