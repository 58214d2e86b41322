"""The posterior of alpha given binary features, and what it says of new cases."""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from unselected._typing import Floats, Ints
from unselected.models.fractions import Fractions
from unselected.numerics.quadrature import log_sum

# Elements of a float copy of the rows: that many are predicted at a time.
_ROW_BLOCK = 1 << 20


class CountPosterior(Protocol):
    """What predicts new cases from a posterior, which itself may not have been computed yet."""

    @property
    def mean_values(self) -> Floats:
        """Predictive probabilities of the values of each feature, shape (values, G, k)."""

    def log_joint(self, rows: NDArray[Any]) -> Floats:
        """Return log P(y*, x* | training data, event), one column per y*."""

    def made(self) -> "BernoulliPosterior":
        """Return the posterior."""


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
    log_values : array of shape (values, G, nodes, vectors)
        Log of the predictive probability that a feature is 0, or 1, in each class; for genotypes
        also that it is 2.
    vector_of : array of shape (k,)
        The vector of counts of each kept feature.
    fractions : Fractions or None
        Of the nodes, where there are two groups of features.
    related : array of shape (k,) or None
        The posterior probability that a kept feature is related, where there are two groups.
    event_error : float
        About the standard error of the log probability of the event; 0 where it is exact.
    """

    log_alpha: Floats
    log_weights: Floats
    log_at_most: Floats
    log_evidence: float
    log_psi: Floats
    log_values: Floats
    vector_of: Ints
    fractions: Fractions | None = None
    related: Floats | None = None
    event_error: float = 0.0

    def made(self) -> "BernoulliPosterior":
        """Return the posterior: this one."""
        return self

    @property
    def log_zero(self) -> Floats:
        """Log of the predictive probability of the value 0, shape (G, nodes, vectors)."""
        return np.asarray(self.log_values[0])

    @property
    def log_one(self) -> Floats:
        """The same of the value 1."""
        return np.asarray(self.log_values[1])

    @property
    def mean_values(self) -> Floats:
        """Predictive probabilities of the values of each feature, shape (values, G, k).

        They are averaged over nodes: those of a feature alone.
        """
        by_vector = np.exp(self.log_weights) @ np.exp(self.log_values)
        return np.asarray(by_vector[..., self.vector_of])

    def log_joint(self, rows: NDArray[Any]) -> Floats:
        """Return log P(y*, x* | training data, event) for rows of kept features, one column per y*.

        The numerator of equation (eq-unc-pp), averaged over alpha as in (eq-alpha-int2-mod).
        Features whose value is NaN are left out.
        """
        k, G = self.vector_of.size, self.log_psi.size
        joint = np.empty((rows.shape[0], G))
        tables = self._log_tables()
        n_together = max(1, _ROW_BLOCK // max(k, G * self.log_weights.size))
        for start in range(0, rows.shape[0], n_together):
            block = slice(start, start + n_together)
            joint[block] = log_sum(self._by_node(rows[block], *tables), axis=2)
        return joint

    def log_joint_by_node(self, rows: NDArray[Any]) -> Floats:
        """Return log P(y*, x*, node | training data, event), shape (rows, G, nodes)."""
        return self._by_node(rows, *self._log_tables())

    def _by_node(self, rows: NDArray[Any], log_values: list[Floats], log_prior: Floats) -> Floats:
        log_zero, *others = log_values
        if rows.dtype.kind == "f" and np.isnan(rows).any():
            logs = sum(_where(rows, value) @ table.T for value, table in enumerate(log_values))
        else:
            logs = sum(
                _where(rows, value) @ (table - log_zero).T
                for value, table in enumerate(others, start=1)
            )
            logs = logs + log_zero.sum(axis=1)
        return np.asarray((logs + log_prior).reshape(-1, self.log_psi.size, self.log_weights.size))

    def _log_tables(self) -> tuple[list[Floats], Floats]:
        """Return what each value of each feature adds to the log joint, and the rest of it.

        The rows are classes and nodes.
        """
        n_rows = self.log_psi.size * self.log_weights.size
        tables = [logs.reshape(n_rows, -1)[:, self.vector_of] for logs in self.log_values]
        return tables, np.add.outer(self.log_psi, self.log_weights).ravel()


def _where(rows: NDArray[Any], value: int) -> Floats:
    """Return 1 where rows have a value, else 0."""
    numbers = rows.view(np.uint8) if rows.dtype == np.bool_ else rows  # which compare faster
    return np.asarray(numbers == value, dtype=np.float64)
