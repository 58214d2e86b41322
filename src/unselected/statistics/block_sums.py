"""The steps of all sums over a block of real-valued columns, by class or along a response."""

from abc import ABC, abstractmethod
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from unselected._typing import Bools, ColumnNamer, Floats
from unselected.columns.blocks import check_finite, picked
from unselected.columns.sources import SparseColumns
from unselected.numerics.kernels import kernels_for
from unselected.statistics.differences import (
    centred,
    check_size,
    not_told,
    rows_of_numbers,
    to_be_made_dense,
)
from unselected.statistics.moments import Moments

M = TypeVar("M", bound=Moments)


class BlockSums(ABC, Generic[M]):
    """How the moments of a block are summed, given the responses of its rows."""

    @abstractmethod
    def _compiled(self, kernels: Any, rows: NDArray[Any]) -> tuple[M, Floats]:
        """Return moments from compiled sums, and the sums of squares around ``center``."""

    def _in_order(self, X: NDArray[Any]) -> NDArray[Any]:
        """Return the rows in the order in which they are summed."""
        return X

    @abstractmethod
    def _summed(self, center: Floats, D: Floats, missing: Bools | None) -> M:
        """Return moments from differences D, which may be overwritten; NaN where missing."""

    @abstractmethod
    def _of_stored(self, X: SparseColumns) -> M:
        """Return moments from the stored values alone, with differences taken from zero."""

    @np.errstate(over="ignore", invalid="ignore")
    def block(self, X: NDArray[Any], label: ColumnNamer, n_values: int) -> M:
        """Return the moments of a block, from compiled sums where the table is large enough."""
        kernels = kernels_for(n_values)
        if kernels is None:
            return self.exact(X, label)
        moments, squares = self._compiled(kernels, rows_of_numbers(X))
        others = not_told(squares, moments.within)
        if not others.size:
            return moments
        return moments.with_columns(others, self.exact(X[:, others], picked(label, others)))

    @np.errstate(over="ignore", invalid="ignore")
    def exact(self, X: NDArray[Any], label: ColumnNamer) -> M:
        """Return the moments of a block, the mean subtracted before squares are summed."""
        if X.shape[1] == 1:
            # In company, because numpy adds the rows of a single column in another order.
            return self.exact(np.repeat(X, 2, axis=1), label).take(np.array([0]))
        center, D = centred(self._in_order(X))
        if not np.isfinite(D.sum()):
            check_finite(X, label, missing_allowed=True)
        missing = np.isnan(D) if np.isnan(D.sum()) else None
        moments = self._summed(center, D, missing)
        check_size(moments, X, label)
        return moments

    def of_sparse(self, X: SparseColumns, label: ColumnNamer) -> M:
        """Return the moments of a sparse table.

        Differences in a column that has a zero are taken from zero. Columns without one, and
        columns with missing values, are made dense.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            moments = self._of_stored(X)
        for columns in to_be_made_dense(X, moments.between + moments.within):
            values = X[:, columns]
            dense = self.block(values, picked(label, columns), values.size)
            moments = moments.with_columns(columns, dense)
        return moments
