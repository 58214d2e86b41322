"""Equations with a correlation matrix that is shrunk towards independence.

The matrix is (1 - w) R + w I, and R = U'U may be known by a factor U with few rows. With more
features than rows the equations are solved in as many unknowns as there are rows:

    ((1 - w) U'U + w I)^-1 = (I - U' (U U' + w / (1 - w) I)^-1 U) / w.

LAPACK is called directly: for few features scipy's checks would take longer than the work.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf, dpotrs, dtrtrs

from unselected._typing import Floats


class Solver(Protocol):
    """Solves equations with a matrix over features, for right-hand sides (features, any)."""

    def solve(self, flat: Floats) -> Floats:
        """Return M^-1 f for each column f."""

    def squares(self, flat: Floats) -> Floats:
        """Return f' M^-1 f for each column f."""


class _Identity:
    def solve(self, flat: Floats) -> Floats:
        return flat

    def squares(self, flat: Floats) -> Floats:
        return np.asarray(np.einsum("ij,ij->j", flat, flat))


class _Cholesky:
    def __init__(self, matrix: Floats) -> None:
        self._factor, failed = dpotrf(matrix.T, lower=True)  # symmetric, and so it is not copied
        if failed:
            raise np.linalg.LinAlgError(
                "the correlations within classes are not positive definite."
            )

    def solve(self, flat: Floats) -> Floats:
        if not self._factor.size:  # LAPACK complains about no equations
            return np.zeros_like(flat)
        return np.asarray(dpotrs(self._factor, flat, lower=True)[0])

    def squares(self, flat: Floats) -> Floats:
        if not self._factor.size:
            return np.zeros(flat.shape[1])
        half = dtrtrs(self._factor, flat, lower=True)[0]
        return np.asarray(np.einsum("ij,ij->j", half, half))


class _ByFactor:
    def __init__(self, u: Floats, among: Floats, w: float) -> None:
        self._u, self._w = u, w
        moved = among.copy()
        moved.flat[:: len(u) + 1] += w / (1.0 - w)
        self._among = _Cholesky(moved)
        self._constant = ~u.any(axis=0)  # within classes: correlated with nothing

    def solve(self, flat: Floats) -> Floats:
        solved = (flat - self._u.T @ self._among.solve(self._u @ flat)) / self._w
        solved[self._constant] = flat[self._constant]
        return np.asarray(solved)

    def squares(self, flat: Floats) -> Floats:
        varying = flat
        rest = np.zeros(flat.shape[1])
        if self._constant.any():
            varying, constant = flat[~self._constant], flat[self._constant]
            rest = np.einsum("ij,ij->j", constant, constant)
        whole = np.einsum("ij,ij->j", varying, varying)
        return np.asarray((whole - self._among.squares(self._u @ flat)) / self._w + rest)


@dataclass(frozen=True, eq=False)
class Shrunk:
    """Correlations of some features, as a matrix or as a factor of one.

    Attributes
    ----------
    correlation : array of shape (used, used) or None
    factor : array of shape (rows, used) or None
        In place of ``correlation``.
    """

    correlation: Floats | None
    factor: Floats | None

    @classmethod
    def of(
        cls, correlation: Floats | None, factor: Floats | None, used: NDArray[np.intp]
    ) -> "Shrunk":
        """Return those of some of the features."""
        if correlation is not None:
            every = used.size == len(correlation)
            return cls(correlation if every else correlation[np.ix_(used, used)], None)
        assert factor is not None
        return cls(None, factor[:, used])

    @cached_property
    def _among(self) -> Floats:
        """The products U U' of the rows of the factor."""
        assert self.factor is not None
        return np.asarray(self.factor @ self.factor.T)

    def at(self, w: float) -> Solver:
        """Return the solver of equations with the matrix (1 - w) R + w I.

        >>> half = Shrunk(np.array([[1.0, 0.5], [0.5, 1.0]]), None).at(0.0)
        >>> half.squares(np.array([[1.0], [1.0]])).round(12).tolist()
        [1.333333333333]
        """
        if w == 1.0:
            return _Identity()
        if self.factor is not None:
            return _ByFactor(self.factor, self._among, w)
        assert self.correlation is not None
        matrix = (1.0 - w) * self.correlation
        matrix.flat[:: len(matrix) + 1] += w
        return _Cholesky(matrix)
