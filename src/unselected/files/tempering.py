"""What evidence is worth, in a model file: the nodes of the posterior, and no training case.

A row for each value of eta, with the log weights of the values of epsilon; a node that weighs
nothing is null. The nodes come back in their order, so that sums of them are the same to the last
bit. The evidence of single cases, which they were learned from, is not told: a model file holds
nothing of single cases.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from unselected.files.entries import Fault, check_list, check_real, check_record, check_whole
from unselected.quadrature import Floats
from unselected.tempering import HeldOut, Tempering, TemperingPrior

# Values of eta and of epsilon, and pairs of them: more than any number of cases asks for.
_MOST_VALUES, _MOST_NODES = 10**5, 10**6
# Weights that do not sum to 1 within this were not written by us.
_ROUNDING = 1e-9


def tempering_entries(tempering: Tempering | None) -> dict[str, Any]:
    """Return the entry for what evidence is worth; none where that was not learned."""
    if tempering is None:
        return {}
    epsilon, column = np.unique(tempering.epsilon, return_inverse=True)
    row = _rows(tempering.eta, column)
    table = np.full((row[-1] + 1, epsilon.size), np.nan)
    table[row, column] = tempering.log_weights
    eta = tempering.eta[np.searchsorted(row, np.arange(len(table)))]
    weights = [[None if np.isnan(log) else log for log in logs] for logs in table.tolist()]
    return {"tempering": {"eta": eta, "epsilon": epsilon, "log_weights": weights}}


def _rows(eta: Floats, column: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the row of each node: a new one begins where eta changes, or epsilon falls."""
    new = (np.diff(eta) != 0.0) | (np.diff(column) <= 0)
    return np.append(0, np.cumsum(new)).astype(np.intp)


def parse_tempering(entry: object, n_classes: int) -> Tempering | None:
    """Return what evidence is worth; None where a file does not tell."""
    if entry is None:
        return None
    fields = check_record(entry, "tempering", ("eta", "epsilon", "log_weights"))
    eta, epsilon = (_parse_values(fields[name], f"tempering {name}") for name in ("eta", "epsilon"))
    if np.any(np.diff(epsilon) <= 0.0):
        raise Fault("tempering epsilon has values that do not increase.")
    check_whole(eta.size * epsilon.size, "the number of tempering nodes", 1, _MOST_NODES)
    rows = check_list(fields["log_weights"], "tempering log_weights", eta.size)
    logs = np.array([_parse_logs(row, epsilon.size) for row in rows])
    row, column = np.nonzero(~np.isnan(logs))
    weights = logs[row, column]
    if not abs(np.exp(weights).sum() - 1.0) <= _ROUNDING:
        raise Fault(f"tempering log_weights make a sum of {np.exp(weights).sum():.6g}, not 1.")
    nobody = np.zeros((0, n_classes))
    cases = HeldOut(nobody, nobody, nobody[:, 0], nobody[:, 0])
    return Tempering(eta[row], epsilon[column], weights, cases, TemperingPrior())


def _parse_values(entry: object, what: str) -> Floats:
    values = check_list(entry, what)
    check_whole(len(values), f"the length of {what}", 1, _MOST_VALUES)
    return np.array([check_real(value, what, 0.0, 1.0) for value in values])


def _parse_logs(entry: object, length: int) -> list[float]:
    """Return the log weights of a row, NaN where there is no node."""
    what = "tempering log_weights"
    return [
        np.nan if log is None else check_real(log, what, -1e9, _ROUNDING)
        for log in check_list(entry, what, length)
    ]
