"""Sums of real-valued columns by class."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unselected._typing import Bools, Floats, Ints
from unselected.columns.sources import SparseColumns
from unselected.statistics.block_sums import BlockSums
from unselected.statistics.differences import in_memory
from unselected.statistics.moments import ClassMoments


@dataclass(frozen=True, eq=False)
class ClassSums(BlockSums[ClassMoments]):
    """The sums of a block by class: ``y`` holds the classes of its rows, counted from 0."""

    y: NDArray[np.intp]
    n_classes: int

    @cached_property
    def sizes(self) -> Ints:
        """The number of cases of each class."""
        return np.bincount(self.y, minlength=self.n_classes)

    @cached_property
    def order(self) -> Ints:
        """The order that sorts the rows by class."""
        return np.argsort(self.y, kind="stable")

    def _compiled(self, kernels: Any, rows: NDArray[Any]) -> tuple[ClassMoments, Floats]:
        order, sizes, n = self.order, self.sizes, self.sizes[:, np.newaxis]
        center = rows[order[0]].astype(np.float64)
        total, squares = np.zeros((2, sizes.size, center.size))
        flat, starts = in_memory(rows)
        kernels.sum_rows(flat, starts[order], sizes, None, center, total, squares, None)
        offset = total / n
        within = np.sum(squares - n * offset**2, axis=0)
        return ClassMoments(center, offset, within, sizes, n), np.sum(squares, axis=0)

    def _in_order(self, X: NDArray[Any]) -> NDArray[Any]:
        return np.take(X, self.order, axis=0)

    def _summed(self, center: Floats, D: Floats, missing: Bools | None) -> ClassMoments:
        sizes, ends = self.sizes, np.cumsum(self.sizes)
        groups = [slice(end - size, end) for end, size in zip(ends, sizes, strict=True)]
        n = sizes[:, np.newaxis]
        if missing is not None:
            n = n - np.stack([missing[rows].sum(axis=0) for rows in groups])
            D[missing] = 0.0
        offset = np.stack([D[rows].sum(axis=0) for rows in groups]) / n
        for rows, mean in zip(groups, offset, strict=True):
            D[rows] -= mean
        if missing is not None:
            D[missing] = 0.0
        within = np.square(D, out=D).sum(axis=0)
        return ClassMoments(center, offset, within, sizes, n)

    def _of_stored(self, X: SparseColumns) -> ClassMoments:
        n = self.sizes[:, np.newaxis].copy()
        in_class = [(self.y == g).astype(np.float64) for g in range(self.n_classes)]
        sums = np.stack([X.sums(weights, 1) for weights in in_class])
        offset = sums / n
        squares = X.sums(np.ones(self.y.size), 2) - np.sum(sums * offset, axis=0)
        center, within = np.zeros(X.shape[1]), np.maximum(squares, 0.0)
        return ClassMoments(center, offset, within, self.sizes, n)
