"""The guard against dependence in a model file: the nodes of the posterior, no training case.

There is a row for each value of eta, with the log weights of the values of epsilon; a node without
weight is null. The nodes are read in their order, so that sums over them are the same to the last
bit. The evidence of single cases, from which they were learned, is not written: a model file holds
no data of single cases. Where several likelihoods are averaged, the file holds the nodes of each,
and the correlations of the kept features within classes, in rows up to the diagonal, or a factor of
them where there are more features than cases.

The keys "tempering" (one power posterior) and "weighing" (an average over likelihoods) are those of
version 1 of the format.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from unselected._typing import Floats
from unselected.dependence.averaging import LikelihoodAverage
from unselected.dependence.correlated import WithinClasses
from unselected.dependence.held_out import HeldOut
from unselected.dependence.power import PowerPosterior, PowerPrior
from unselected.fitted.json_checks import (
    Fault,
    check_list,
    check_real,
    check_reals,
    check_record,
    check_whole,
)

# Upper limits for values of eta and of epsilon, and for pairs of them, above any real ones.
_MOST_VALUES, _MOST_NODES = 10**5, 10**6
# Bounds of the relative variance of a class.
_SPREADS = (1e-12, 1e12)
# Weights that do not sum to 1 within this were not written by us.
_ROUNDING = 1e-9


def guard_entries(average: LikelihoodAverage, within: WithinClasses | None) -> dict[str, Any]:
    """Return the entries of the guard; none where the power of the likelihood is fixed at 1."""
    if not average.is_learned:
        return {}
    if len(average.powers) == 1:
        return {"tempering": _power_entry(average.powers[0])}
    if within is None:
        raise Fault("weighing cannot be written without the correlations within classes.")
    matrix: dict[str, Any] = {"factor": within.factor}
    if within.correlation is not None:
        matrix = {"correlation": [row[:j].tolist() for j, row in enumerate(within.correlation)]}
    variances = {} if within.variances is None else {"variances": within.variances}
    return {
        "weighing": {
            **matrix,
            "spread": within.spread,
            **variances,
            "log_weights": average.log_weights,
            "temperings": [_power_entry(one) for one in average.powers],
        }
    }


def _power_entry(power: PowerPosterior) -> dict[str, Any]:
    epsilon, column = np.unique(power.epsilon, return_inverse=True)
    row = _rows(power.eta, column)
    table = np.full((row[-1] + 1, epsilon.size), np.nan)
    table[row, column] = power.log_weights
    eta = power.eta[np.searchsorted(row, np.arange(len(table)))]
    weights = [[None if np.isnan(log) else log for log in logs] for logs in table.tolist()]
    return {"eta": eta, "epsilon": epsilon, "log_weights": weights}


def _rows(eta: Floats, column: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the row of each node: a new one begins where eta changes, or epsilon decreases."""
    new = (np.diff(eta) != 0.0) | (np.diff(column) <= 0)
    return np.append(0, np.cumsum(new)).astype(np.intp)


def parse_guard(
    entries: dict[str, Any], n_classes: int, k: int
) -> tuple[LikelihoodAverage, WithinClasses | None]:
    """Return the average over likelihoods, and the correlations within classes if there are any."""
    if "weighing" in entries:
        if "tempering" in entries:
            raise Fault("it has both tempering and weighing, where only one makes sense.")
        return _parse_weighing(entries["weighing"], n_classes, k)
    if "tempering" in entries:
        one = _parse_power(entries["tempering"], n_classes)
        return LikelihoodAverage((one,), np.zeros(1)), None
    return LikelihoodAverage.as_it_is(), None


def _parse_weighing(
    entry: object, n_classes: int, k: int
) -> tuple[LikelihoodAverage, WithinClasses]:
    names = ("spread", "log_weights", "temperings")
    fields = check_record(entry, "weighing", names, ("correlation", "factor", "variances"))
    if ("correlation" in fields) == ("factor" in fields):
        raise Fault("weighing needs either a correlation or a factor.")
    spread, correlation, factor, variances = fields["spread"], None, None, None
    if spread is not None:
        spread = check_reals(spread, "weighing spread", n_classes, *_SPREADS)
    if "correlation" in fields:
        correlation = _parse_correlation(fields["correlation"], k)
    else:
        factor = _parse_factor(fields["factor"], k)
    if "variances" in fields:
        rows = check_list(fields["variances"], "weighing variances", n_classes)
        variances = np.array([check_reals(row, "weighing variances", k, *_SPREADS) for row in rows])
    within = WithinClasses(correlation, spread, factor, variances)
    n = 1 + len(within.shapes)
    temperings = check_list(fields["temperings"], "weighing temperings", n)
    logs = check_reals(fields["log_weights"], "weighing log_weights", n, -1e9, _ROUNDING)
    _check_sum(logs, "weighing")
    return LikelihoodAverage(
        tuple(_parse_power(one, n_classes) for one in temperings), logs
    ), within


def _parse_correlation(entry: object, k: int) -> Floats:
    """Return the matrix from its rows up to the diagonal."""
    what = "weighing correlation"
    matrix = np.eye(k)
    for j, row in enumerate(check_list(entry, what, k)):
        matrix[j, :j] = matrix[:j, j] = check_reals(row, what, j, -1.0 - 1e-9, 1.0 + 1e-9)
    if k and np.linalg.eigvalsh(matrix)[0] < -1e-6 * k:
        raise Fault(f"{what} is no matrix of correlations: it has a negative eigenvalue.")
    return matrix


def _parse_factor(entry: object, k: int) -> Floats:
    """Return a factor of the correlations: its columns have length 1, or are 0."""
    what = "weighing factor"
    rows = [check_reals(row, what, k, -1.0 - 1e-9, 1.0 + 1e-9) for row in check_list(entry, what)]
    factor = np.array(rows).reshape(-1, k)
    length = np.sum(factor**2, axis=0)
    if not np.all((np.abs(length - 1.0) < 1e-6) | (length == 0.0)):
        raise Fault(f"{what} is none of correlations: a column has the length {length.max():.6g}.")
    return factor


def _check_sum(logs: Floats, what: str) -> None:
    if not abs(np.exp(logs).sum() - 1.0) <= _ROUNDING:
        raise Fault(f"{what} log_weights make a sum of {np.exp(logs).sum():.6g}, not 1.")


def _parse_power(entry: object, n_classes: int) -> PowerPosterior:
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
    cases = HeldOut.none(n_classes)
    return PowerPosterior(eta[row], epsilon[column], weights, cases, PowerPrior())


def _parse_values(entry: object, what: str) -> Floats:
    n = check_whole(len(check_list(entry, what)), f"the length of {what}", 1, _MOST_VALUES)
    return check_reals(entry, what, n, 0.0, 1.0)


def _parse_logs(entry: object, length: int) -> list[float]:
    """Return the log weights of a row, NaN where there is no node."""
    what = "tempering log_weights"
    return [
        np.nan if log is None else check_real(log, what, -1e9, _ROUNDING)
        for log in check_list(entry, what, length)
    ]
