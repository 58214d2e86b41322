"""The posterior of alpha given binary features, and what it says of new cases."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unselected._typing import Floats, Ints
from unselected.models.two_groups import (
    Fractions,
)
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
        Log of the probability that a feature is at most at the cut; -inf where there is no cut.
    log_evidence : float
        log P(y, kept features, event).
    log_psi : array of shape (2,)
        Log of the predictive class probabilities before any feature is seen, equation (predp-y).
    log_one, log_zero : arrays of shape (2, nodes, pairs)
        Log of the predictive probability that a feature is 1, or 0, in each class.
    pair_of : array of shape (k,)
        The pair of counts of each kept feature.
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
    pair_of: Ints
    fractions: Fractions | None = None
    related: Floats | None = None

    def log_joint(self, bits: NDArray[np.bool_]) -> Floats:
        """Return log P(y*, x* | training data, event) for rows of kept features, one column per y*.

        The numerator of equation (eq-unc-pp), averaged over alpha as in (eq-alpha-int2-mod).
        """
        n_nodes, k = self.log_weights.size, self.pair_of.size
        log_odds, log_none = self._log_tables()
        joint = np.empty((bits.shape[0], 2))
        rows = max(1, _ROW_BLOCK // max(k, 2 * n_nodes))
        for start in range(0, bits.shape[0], rows):
            block = bits[start : start + rows].astype(np.float64)
            by_node = (block @ log_odds.T + log_none).reshape(-1, 2, n_nodes)
            joint[start : start + rows] = log_sum(by_node, axis=2)
        return joint

    def log_joint_by_node(self, bits: NDArray[np.bool_]) -> Floats:
        """Return log P(y*, x*, node | training data, event), shape (rows, 2, nodes)."""
        log_odds, log_none = self._log_tables()
        logs = bits.astype(np.float64) @ log_odds.T + log_none
        return np.asarray(logs.reshape(-1, 2, self.log_weights.size))

    def _log_tables(self) -> tuple[Floats, Floats]:
        """Return what a one adds to the log joint, and that of no ones, by class and node."""
        n_nodes = self.log_weights.size
        log_odds = (self.log_one - self.log_zero).reshape(2 * n_nodes, -1)[:, self.pair_of]
        log_none = self.log_zero.reshape(2 * n_nodes, -1)[:, self.pair_of].sum(axis=1)
        log_none += np.add.outer(self.log_psi, self.log_weights).ravel()
        return log_odds, log_none
