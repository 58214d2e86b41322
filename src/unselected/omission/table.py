"""The omission probability of a real-valued feature as a smooth function of tau, tabulated.

With v = (1 + lam tau^2)^(-1/2), from 1 at tau = 0 to 0 at tau = infinity, and q contrasts,
log P(omitted) - q log v is an analytic function of v on [0, 1]. It is stored as the coefficients of
its Chebyshev polynomials, which is all that predictions need of a score, and all that a model file
holds of it.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.polynomial.chebyshev import chebval

from unselected._typing import Floats

# Numbers of nodes that are tried, and how small, relatively, the last coefficients have to be.
_N_NODES = (32, 64, 128, 256)
_SMALL = 1e-13
_N_LAST = 3
# The smallest probability that is told apart from 0.
_LEAST = 1e-300

# Nodes of the standard error.
_N_ERRORS = 10


class Curve(Protocol):
    """The omission probability as a function of v."""

    def logs(self, v: Floats) -> Floats:
        """Return logs of P(at most at the cut) and P(below the cut), shape (v, 2)."""

    def errors(self, v: Floats) -> Floats:
        """Return the standard errors of the first, shape (v,); 0 where it is not simulated."""


@dataclass(frozen=True, eq=False)
class OmissionTable:
    """An `OmissionLaw` for all values of tau.

    Attributes
    ----------
    lam : float
        The unit of tau^2: the largest lam of the contrasts.
    q : int
        Number of contrasts.
    coefficients : array of shape (nodes, 2)
        Of Chebyshev polynomials in 2 v - 1, for P(at most at the cut) and P(below the cut).
    errors : array of shape (m,)
        Standard errors of log P(at most) at m `chebyshev_nodes`.
    """

    lam: float
    q: int
    coefficients: Floats
    errors: Floats

    @classmethod
    def of(cls, curve: Curve, lam: float, q: int) -> "OmissionTable":
        """Return the table of a function, on as many nodes as it needs."""
        for n in _N_NODES:
            v = chebyshev_nodes(n)
            smooth = np.maximum(curve.logs(v), np.log(_LEAST)) - q * np.log(v)[:, np.newaxis]
            coefficients = _coefficients(smooth)
            largest = np.maximum(1.0, np.max(np.abs(coefficients)))
            if np.max(np.abs(coefficients[-_N_LAST:])) <= _SMALL * n * largest:
                break
        return cls(lam, q, coefficients, curve.errors(chebyshev_nodes(_N_ERRORS)))

    def log_omitted(self, u: Floats) -> Floats:
        """Return logs of P(at most at the cut) and P(below the cut), shape (nodes, 2)."""
        v = self._v(u)
        smooth = chebval(2.0 * v - 1.0, self.coefficients).T
        return np.asarray(np.minimum(smooth + self.q * np.log(v)[:, np.newaxis], 0.0))

    def error(self, u: Floats) -> Floats:
        """Return the standard errors of the first, shape (nodes,)."""
        nodes = chebyshev_nodes(self.errors.size)
        return np.interp(self._v(u), nodes[::-1], self.errors[::-1])

    def entries(self) -> dict[str, Floats]:
        """Return the arrays that a model file holds."""
        at_most, below = self.coefficients.T
        return {"at_most": at_most, "below": below, "errors": self.errors}

    def _v(self, u: Floats) -> Floats:
        return np.asarray((1.0 + self.lam * u) ** -0.5)


def chebyshev_nodes(n: int) -> Floats:
    """Return nodes between 0 and 1, the largest first.

    >>> chebyshev_nodes(2).round(3).tolist()
    [0.854, 0.146]
    """
    return np.asarray(0.5 + 0.5 * np.cos(np.pi * (np.arange(n) + 0.5) / n))


def _coefficients(values: Floats) -> Floats:
    """Return the coefficients of the polynomials through values at `chebyshev_nodes`."""
    n = len(values)
    basis = np.cos(np.pi * np.outer(np.arange(n), np.arange(n) + 0.5) / n)
    coefficients = 2.0 / n * basis @ values
    coefficients[0] *= 0.5
    return np.asarray(coefficients)
