"""The posterior of alpha given binary features, and what it says of new cases."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unselected._typing import Floats, Ints
from unselected.models.two_groups import Fractions
from unselected.numerics.quadrature import log_sum

# Elements of a float copy of the rows: that many are predicted at a time.
_ROW_BLOCK = 1 << 20


@dataclass(frozen=True)
class BernoulliPosterior:
    """The posterior of alpha as weighted nodes, and each node's predictive law of the features.

    Attributes
    ----------
    log_alpha, log_weights : arrays of shape (nodes,)
        The weights sum to 1.
    log_at_most : array of shape (nodes,)
        Log of the probability that a feature is at most at the cut; 0 where there is no cut.
    log_evidence : float
        log P(y, kept features, event).
    log_psi : array of shape (G,)
        Log of the predictive class probabilities before any feature is seen, equation (predp-y).
    log_one, log_zero : arrays of shape (G, nodes, vectors)
        Log of the predictive probability that a feature is 1, or 0, in each class.
    vector_of : array of shape (k,)
        The vector of counts of each kept feature.
    fractions : Fractions or None
        Of the nodes, where there are two groups of features.
    related : array of shape (k,) or None
        The posterior probability that a kept feature is related, where there are two groups.
    """

    log_alpha: Floats
    log_weights: Floats
    log_at_most: Floats
    log_evidence: float
    log_psi: Floats
    log_one: Floats
    log_zero: Floats
    vector_of: Ints
    fractions: Fractions | None = None
    related: Floats | None = None

    def log_joint(self, bits: NDArray[Any]) -> Floats:
        """Return log P(y*, x* | training data, event) for rows of kept features, one column per y*.

        The numerator of equation (eq-unc-pp), averaged over alpha as in (eq-alpha-int2-mod).
        Features whose value is NaN are left out.
        """
        k, G = self.vector_of.size, self.log_psi.size
        joint = np.empty((bits.shape[0], G))
        tables = self._log_tables()
        rows = max(1, _ROW_BLOCK // max(k, G * self.log_weights.size))
        for start in range(0, bits.shape[0], rows):
            block = slice(start, start + rows)
            joint[block] = log_sum(self._by_node(bits[block], *tables), axis=2)
        return joint

    def log_joint_by_node(self, bits: NDArray[Any]) -> Floats:
        """Return log P(y*, x*, node | training data, event), shape (rows, G, nodes)."""
        return self._by_node(bits, *self._log_tables())

    def _by_node(
        self, bits: NDArray[Any], log_one: Floats, log_zero: Floats, log_prior: Floats
    ) -> Floats:
        missing = np.isnan(bits) if bits.dtype.kind == "f" else None
        if missing is None or not missing.any():
            logs = bits.astype(np.float64) @ (log_one - log_zero).T + log_zero.sum(axis=1)
        else:
            ones, zeros = np.where(missing, 0.0, bits), np.where(missing, 0.0, 1.0 - bits)
            logs = ones @ log_one.T + zeros @ log_zero.T
        return np.asarray((logs + log_prior).reshape(-1, self.log_psi.size, self.log_weights.size))

    def _log_tables(self) -> tuple[Floats, Floats, Floats]:
        """Return what a one and a zero of each feature add to the log joint, and the rest of it.

        The rows are classes and nodes.
        """
        n_rows = self.log_psi.size * self.log_weights.size
        log_one, log_zero = (
            logs.reshape(n_rows, -1)[:, self.vector_of] for logs in (self.log_one, self.log_zero)
        )
        return log_one, log_zero, np.add.outer(self.log_psi, self.log_weights).ravel()
