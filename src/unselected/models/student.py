"""Independent Student t distributions of the features of a new case, given a node."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from unselected._typing import Floats

# Elements of a table over nodes, rows and features that are processed at a time.
_BLOCK = 1 << 17


# Values are clipped to this, in standard deviations: further out they carry no more information.
_LARGEST = 1e100


@dataclass(frozen=True)
class StudentLaw:
    """Independent Student t distributions of m features, for each of some nodes.

    The density of x is proportional to (squares + (x - loc)^2)^(-(df + 1) / 2). Constant features
    are left out: they carry no information.

    Attributes
    ----------
    loc, squares : arrays of shape (m, nodes)
    df : array of shape (m,)
    varying : array of shape (k,)
        Which of the k features vary.
    """

    loc: Floats
    squares: Floats
    df: Floats
    varying: NDArray[np.bool_]

    def log_density(self, X: Floats) -> Floats:
        """Return the log density of rows, shape (rows, nodes); NaN is left out of the product."""
        values, known, loc, squares, half, constant = self._in_units(X)
        if known is None:
            total = np.broadcast_to(constant.sum(axis=0), (len(X), loc.shape[1])).copy()
        else:
            total = known.T.astype(np.float64) @ constant
        rows = max(1, _BLOCK // (8 * loc.shape[1]))
        for start in range(0, len(X), rows):
            block = slice(start, start + rows)
            seen = None if known is None else known[:, block]
            total[block] -= _weighted_logs(values[:, block], loc, squares, half, seen)
        return total

    def by_feature(self, X: Floats) -> Iterator[Floats]:
        """Yield the log densities of each feature, shape (rows, nodes); 0 where it is missing."""
        values, known, loc, squares, half, constant = self._in_units(X)
        for j, x in enumerate(values):
            gap = np.subtract.outer(x, loc[j])
            logs = constant[j] - half[j] * np.log(squares[j] + gap**2)
            if known is not None:
                logs[~known[j]] = 0.0
            yield logs

    def of_row(self, x: Floats) -> Floats:
        """Return the log densities of the features of one row, shape (features, nodes)."""
        values, known, loc, squares, half, constant = self._in_units(x[np.newaxis])
        logs = constant - half * np.log(squares + (values - loc) ** 2)
        return logs if known is None else np.where(known, logs, 0.0)

    def _in_units(
        self, X: Floats
    ) -> tuple[Floats, NDArray[np.bool_] | None, Floats, Floats, Floats, Floats]:
        """Return values, which are known (None for all), loc, squares, (df + 1) / 2 and constants.

        Values are centred and scaled by feature, so that all numbers are about 1.
        """
        unit = np.sqrt(self.squares[:, :1])
        loc, squares = (self.loc - self.loc[:, :1]) / unit, self.squares / unit**2
        with np.errstate(over="ignore"):
            values = (X.T[self.varying] - self.loc[:, :1]) / unit
        known = ~np.isnan(values) if np.isnan(values.sum()) else None
        values = np.clip(values, -_LARGEST, _LARGEST)
        half = 0.5 * (self.df + 1.0)[:, np.newaxis]
        constant = gammaln(half) - gammaln(0.5 * self.df)[:, np.newaxis] - np.log(unit)
        constant = constant - 0.5 * np.log(np.pi) + (half - 0.5) * np.log(squares)
        if known is not None:
            values = np.where(known, values, 0.0)
        return values, known, loc, squares, half, constant


def _weighted_logs(
    values: Floats, loc: Floats, squares: Floats, half: Floats, known: NDArray[np.bool_] | None
) -> Floats:
    """Return sum_j half_j log(squares_j + (values_j - loc_j)^2), shape (rows, nodes)."""
    total = np.zeros((values.shape[1], loc.shape[1]))
    alike = bool(np.all(half == half[:1]))
    step = max(1, _BLOCK // total.size)
    if alike:
        step = min(step, _factors_together(values, loc, squares))
    for start in range(0, len(values), step):
        some = slice(start, start + step)
        terms = np.subtract(values[some, :, np.newaxis], loc[some, np.newaxis, :])
        np.multiply(terms, terms, out=terms)
        terms += squares[some, np.newaxis, :]
        if known is not None:
            np.copyto(terms, 1.0, where=~known[some, :, np.newaxis])
        if alike:  # one logarithm for many factors
            total += half[0] * np.log(np.multiply.reduce(terms, axis=0))
        else:
            total += np.tensordot(half[some, 0], np.log(terms, out=terms), 1)
    return total


def _factors_together(values: Floats, loc: Floats, squares: Floats) -> int:
    """Return the number of factors whose product neither overflows nor underflows."""
    if squares.size == 0:
        return 1
    largest = np.max(np.abs(values), initial=0.0) + np.max(np.abs(loc))
    ends = np.log([np.min(squares), np.max(squares) + largest**2])
    return max(1, int(600.0 / max(1.0, float(np.max(np.abs(ends))))))
