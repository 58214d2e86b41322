"""What evidence is worth, in a model file: the nodes of the posterior, and no training case.

A row for each value of eta, with the log weights of the values of epsilon; a node that weighs
nothing is null. The nodes come back in their order, so that sums of them are the same to the last
bit. The evidence of single cases, which they were learned from, is not told: a model file holds
nothing of single cases. Where several likelihoods were weighed, the nodes of each are told, and
the correlations of the kept features within classes, in rows up to the diagonal.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from unselected._typing import Floats
from unselected.dependence.averaging import Weighing
from unselected.dependence.correlated import WithinClasses
from unselected.dependence.power import HeldOut, Tempering, TemperingPrior
from unselected.files.json_checks import (
    Fault,
    check_list,
    check_real,
    check_reals,
    check_record,
    check_whole,
)
from unselected.fitted.naive_bayes import Worth

# Values of eta and of epsilon, and pairs of them: more than any number of cases asks for.
_MOST_VALUES, _MOST_NODES = 10**5, 10**6
# How widely a class may spread against the others.
_SPREADS = (1e-12, 1e12)
# Weights that do not sum to 1 within this were not written by us.
_ROUNDING = 1e-9


def worth_entries(worth: Worth | None, within: WithinClasses | None) -> dict[str, Any]:
    """Return the entries for what evidence is worth; none where that was not learned."""
    if worth is None:
        return {}
    if not isinstance(worth, Weighing):
        return {"tempering": _tempering_entry(worth)}
    if within is None:
        raise Fault("weighing cannot be written without the correlations within classes.")
    return {
        "weighing": {
            "correlation": [row[:j].tolist() for j, row in enumerate(within.correlation)],
            "spread": within.spread,
            "log_weights": worth.log_weights,
            "temperings": [_tempering_entry(one) for one in worth.temperings],
        }
    }


def _tempering_entry(tempering: Tempering) -> dict[str, Any]:
    epsilon, column = np.unique(tempering.epsilon, return_inverse=True)
    row = _rows(tempering.eta, column)
    table = np.full((row[-1] + 1, epsilon.size), np.nan)
    table[row, column] = tempering.log_weights
    eta = tempering.eta[np.searchsorted(row, np.arange(len(table)))]
    weights = [[None if np.isnan(log) else log for log in logs] for logs in table.tolist()]
    return {"eta": eta, "epsilon": epsilon, "log_weights": weights}


def _rows(eta: Floats, column: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the row of each node: a new one begins where eta changes, or epsilon falls."""
    new = (np.diff(eta) != 0.0) | (np.diff(column) <= 0)
    return np.append(0, np.cumsum(new)).astype(np.intp)


def parse_worth(
    entries: dict[str, Any], n_classes: int, k: int
) -> tuple[Worth | None, WithinClasses | None]:
    """Return what evidence is worth, and how features vary; None where a file does not tell."""
    if "weighing" in entries:
        if "tempering" in entries:
            raise Fault("it has both tempering and weighing, where only one makes sense.")
        return _parse_weighing(entries["weighing"], n_classes, k)
    if "tempering" in entries:
        return _parse_tempering(entries["tempering"], n_classes), None
    return None, None


def _parse_weighing(entry: object, n_classes: int, k: int) -> tuple[Weighing, WithinClasses]:
    names = ("correlation", "spread", "log_weights", "temperings")
    fields = check_record(entry, "weighing", names)
    spread = fields["spread"]
    if spread is not None:
        spread = np.array(check_reals(spread, "weighing spread", n_classes, *_SPREADS))
    within = WithinClasses(_parse_correlation(fields["correlation"], k), spread)
    n = 1 + len(within.shapes)
    temperings = check_list(fields["temperings"], "weighing temperings", n)
    logs = np.array(check_reals(fields["log_weights"], "weighing log_weights", n, -1e9, _ROUNDING))
    _check_sum(logs, "weighing")
    return Weighing(tuple(_parse_tempering(one, n_classes) for one in temperings), logs), within


def _parse_correlation(entry: object, k: int) -> Floats:
    """Return the matrix from its rows up to the diagonal."""
    what = "weighing correlation"
    matrix = np.eye(k)
    for j, row in enumerate(check_list(entry, what, k)):
        matrix[j, :j] = matrix[:j, j] = check_reals(row, what, j, -1.0 - 1e-9, 1.0 + 1e-9)
    if k and np.linalg.eigvalsh(matrix)[0] < -1e-6 * k:
        raise Fault(f"{what} is no matrix of correlations: it has a negative eigenvalue.")
    return matrix


def _check_sum(logs: Floats, what: str) -> None:
    if not abs(np.exp(logs).sum() - 1.0) <= _ROUNDING:
        raise Fault(f"{what} log_weights make a sum of {np.exp(logs).sum():.6g}, not 1.")


def _parse_tempering(entry: object, n_classes: int) -> Tempering:
    fields = check_record(entry, "tempering", ("eta", "epsilon", "log_weights"))
    eta, epsilon = (_parse_values(fields[name], f"tempering {name}") for name in ("eta", "epsilon"))
    if np.any(np.diff(epsilon) <= 0.0):
        raise Fault("tempering epsilon has values that do not increase.")
    check_whole(eta.size * epsilon.size, "the number of tempering nodes", 1, _MOST_NODES)
    rows = check_list(fields["log_weights"], "tempering log_weights", eta.size)
    logs = np.array([_parse_logs(row, epsilon.size) for row in rows])
    row, column = np.nonzero(~np.isnan(logs))
    weights = logs[row, column]
    _check_sum(weights, "tempering")
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
