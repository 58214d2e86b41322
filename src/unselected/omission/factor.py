"""The omission probability of features that depend on each other through latent factors.

Given the factors Z (n, q) of the training cases, an omitted feature is N(mu, s^2 (I + tau^2 Z Z')).
It is omitted when |COR(x, y)| <= gamma, that is when x' (r r' - gamma^2 C) x <= 0, where C is the
centring matrix and r the centred response scaled to length 1. Only the directions of r and of the
centred factors matter. There the quadratic form has q + 1 eigenvalues, one of them positive; the
n - 2 - q others are -gamma^2. So P is

    P(a chi^2_1 <= gamma^2 chi^2_{n - 2 - q} + sum of q terms b_i chi^2_1),

a one-dimensional integral (`chi_squared_ratio.log_ratio_probability`). It depends on the factors
only through Zc' Zc and Zc' r, and on tau only through tau^2 Z Z'.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from unselected._typing import Floats
from unselected.numerics.chi_squared_ratio import log_ratio_probability

# Sets of factors that are processed at a time.
_ROWS = 1 << 12


@dataclass(frozen=True, eq=False)
class FactorOmission:
    """The event of omission for one response: none of some features has |COR| above a cut.

    Attributes
    ----------
    response : array of shape (n,)
        The training responses; for classes, the codes 0 and 1.
    gamma : float or None
        The cut on |COR|; None where there is none.
    n_omitted : int
        Number of omitted features known to be at or below the cut.
    compiled : module or None
        See `kernels.kernels_for_chains`.
    """

    response: Floats
    gamma: float | None
    n_omitted: int
    compiled: Any = None

    @cached_property
    def direction(self) -> Floats:
        """The centred response scaled to length 1: r above."""
        centred = self.response - self.response.mean()
        return np.asarray(centred / np.linalg.norm(centred))

    def log_at_most(self, u: Floats, Z: Floats) -> Floats:
        """Return log P(|COR| <= gamma | tau^2 = u, Z) for u (rows,) and Z (rows or 1, n, q).

        >>> codes = np.repeat([0.0, 1.0], [4, 6])
        >>> event = FactorOmission(codes, 0.5, 1)
        >>> Z = codes[np.newaxis, :, np.newaxis]  # as if the class were known to all features
        >>> np.exp(event.log_at_most(np.array([0.0, 1.0]), Z)).round(6).tolist()
        [0.858887, 0.59834]
        """
        if self.gamma is None or self.gamma >= 1.0:
            return np.zeros(u.shape)
        if self.gamma == 0.0:
            return np.full(u.shape, -np.inf)
        Zc = Z - Z.mean(axis=1, keepdims=True)
        along = np.einsum("rnq,n->rq", Zc, self.direction)
        blocks = [slice(start, start + _ROWS) for start in range(0, u.size, _ROWS)]
        gram = np.matmul(Zc.transpose(0, 2, 1), Zc)
        if len(Z) == 1:
            return np.concatenate([self._log_of(u[some], gram, along) for some in blocks])
        return np.concatenate([self._log_of(u[some], gram[some], along[some]) for some in blocks])

    def log_event(self, u: Floats, Z: Floats) -> Floats:
        """Return the log probability that all omitted features are at most at the cut.

        ``u`` and ``Z`` are as in `log_at_most`. Where no feature is known to be omitted it is 0.
        """
        if self.n_omitted == 0:
            return np.zeros(u.shape)
        return self.n_omitted * self.log_at_most(u, Z)

    def _log_of(self, u: Floats, gram: Floats, along: Floats) -> Floats:
        """Return the log probability given Zc' Zc (rows, q, q) and Zc' r (rows, q)."""
        a, others = self._eigenvalues(u, gram, along)
        nu = np.full(u.size, self.response.size - 2.0 - along.shape[1])
        cut = np.full(u.size, float(self.gamma or 0.0) ** 2)
        others = others / cut[:, np.newaxis]
        return log_ratio_probability(a[:, np.newaxis], nu, cut, others, compiled=self.compiled)

    def _eigenvalues(self, u: Floats, gram: Floats, along: Floats) -> tuple[Floats, Floats]:
        """Return the positive eigenvalue (rows,), and minus the negative ones (rows, q).

        In coordinates along r and along the factors orthogonal to it, the feature's covariance is
        I + u B B' with B = (along, root)', root root' = Zc' Zc - along along'; and the form is
        diagonal.
        """
        square = float(self.gamma or 0.0) ** 2
        if along.shape[1] == 1:
            return _two_eigenvalues(u, gram[:, 0, 0], along[:, 0], square)
        rest = gram - along[:, :, np.newaxis] * along[:, np.newaxis, :]
        values, vectors = np.linalg.eigh(rest)
        root = vectors * np.sqrt(np.maximum(values, 0.0))[:, np.newaxis, :]
        B = np.concatenate([along[:, np.newaxis, :], root.transpose(0, 2, 1)], axis=1)
        covariance = np.eye(B.shape[1]) + u[:, None, None] * (B @ B.transpose(0, 2, 1))
        lower = np.linalg.cholesky(covariance)
        form = np.diag(np.append(1.0 - square, np.full(B.shape[2], -square)))
        eigenvalues = np.linalg.eigvalsh(lower.transpose(0, 2, 1) @ form @ lower)
        return eigenvalues[:, -1], -eigenvalues[:, :-1]


def _two_eigenvalues(
    u: Floats, gram: Floats, along: Floats, square: float
) -> tuple[Floats, Floats]:
    """Return the same for one factor, from trace and determinant."""
    explained = u * along**2
    rest = np.maximum(u * gram - explained, 0.0)
    half = 0.5 * ((1.0 - square) * (1.0 + explained) - square * (1.0 + rest))
    product = (1.0 - square) * square * (1.0 + explained + rest)
    larger = np.abs(half) + np.sqrt(half**2 + product)
    smaller = product / larger  # a difference would lose digits
    positive = half > 0.0
    negative = np.where(positive, smaller, larger)[:, np.newaxis]
    return np.where(positive, larger, smaller), negative
