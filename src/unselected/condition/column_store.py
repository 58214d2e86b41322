"""Simulated columns, each with the density of the mixture that it was drawn from."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unselected._typing import Bools, Floats, Ints
from unselected.condition.features import Columns, Parameters

# Columns whose density is computed at a time.
_CHUNK = 1 << 13

LogDensity = Callable[[Columns, Parameters], ArrayLike]


def log_densities(log_density: LogDensity, columns: Columns, parameters: Parameters) -> Floats:
    """Return the log density of columns, some at a time, checked."""
    n = columns.shape[1]
    parts = [
        _checked(
            log_density(columns[:, start : start + _CHUNK], parameters), min(_CHUNK, n - start)
        )
        for start in range(0, n, _CHUNK)
    ]
    return np.concatenate(parts) if parts else np.zeros(0)


def _checked(log_p: ArrayLike, n: int) -> Floats:
    values = np.asarray(log_p, dtype=np.float64)
    if values.shape != (n,):
        raise ValueError(
            f"log_density returned the shape {values.shape} for {n} features; it must be one "
            "number for each"
        )
    wrong = np.isnan(values) | (values == np.inf)
    if wrong.any():
        raise ValueError(f"log_density returned {values[wrong][0]} for a simulated feature")
    return values


class ColumnStore:
    """Columns x, where each is from, and log of the sum over references r of N_r p(x | theta_r).

    With N_r features simulated at each reference, a sum over them of f(x) p(x | theta) / that sum
    estimates the mean of f under theta (the balance heuristic).
    """

    def __init__(self) -> None:
        self.columns: NDArray[Any] | None = None
        self.reference: Ints = np.zeros(0, dtype=np.int64)
        self.log_total: Floats = np.zeros(0)

    def __len__(self) -> int:
        return self.reference.size

    @property
    def nbytes(self) -> int:
        """Bytes of the columns and of what is kept with them."""
        columns = 0 if self.columns is None else self.columns.nbytes
        return columns + self.reference.nbytes + self.log_total.nbytes

    def append(self, columns: Columns, reference: int, log_total: Floats) -> None:
        """Add columns that were simulated at a reference."""
        known = [] if self.columns is None else [self.columns]
        self.columns = np.concatenate([*known, columns], axis=1)
        places = np.full(log_total.size, reference)
        self.reference = np.concatenate([self.reference, places])
        self.log_total = np.concatenate([self.log_total, log_total])

    def keep(self, some: Bools) -> None:
        """Forget all columns but some."""
        assert self.columns is not None
        self.columns = self.columns[:, some]
        self.reference, self.log_total = self.reference[some], self.log_total[some]

    def log_density(self, log_density: LogDensity, parameters: Parameters) -> Floats:
        """Return the log density of the columns at some parameters."""
        if self.columns is None:
            return np.zeros(0)
        return log_densities(log_density, self.columns, parameters)


def stratified_sum(terms: Floats, reference: Ints, seen: Ints, drawn: Ints) -> tuple[float, Floats]:
    """Return the sum over all columns of terms that some have, and the variance by reference.

    Of the ``drawn`` columns of each reference ``seen`` were looked at. Those among them without a
    term have the term 0.

    >>> terms, reference = np.array([0.5, 1.0, 1.0]), np.array([0, 1, 1])
    >>> total, variances = stratified_sum(terms, reference, np.array([2, 2]), np.array([2, 4]))
    >>> total, variances.tolist()  # the second reference has no spread, and counts twice
    (4.5, [0.25, 0.0])
    """
    sums = np.bincount(reference, terms, seen.size)
    squares = np.bincount(reference, terms**2, seen.size)
    spread = np.maximum(squares - sums**2 / seen, 0.0) / np.maximum(seen - 1, 1)
    total = float(drawn / seen @ sums)
    return total, drawn**2 / seen * spread
