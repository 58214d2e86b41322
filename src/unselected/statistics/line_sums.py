"""Sums of real-valued columns along a real response."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unselected._typing import Bools, Floats
from unselected.columns.sources import SparseColumns
from unselected.statistics.block_sums import BlockSums
from unselected.statistics.differences import in_memory
from unselected.statistics.moments import LineMoments


@dataclass(frozen=True, eq=False)
class LineSums(BlockSums[LineMoments]):
    """The sums of a block with the real responses ``y`` of its rows."""

    y: Floats

    def _compiled(self, kernels: Any, rows: NDArray[Any]) -> tuple[LineMoments, Floats]:
        n, y_mean = len(rows), self.y.mean()
        center, Y = rows[0].astype(np.float64), self.y - y_mean
        total, squares, sxy = np.zeros((3, 1, center.size))
        kernels.sum_rows(*in_memory(rows), np.array([n]), Y, center, total, squares, sxy[0])
        (offset,), (squares,), (sxy,) = total / n, squares, sxy
        syy = float(np.sum(np.square(Y)))
        within = squares - n * offset**2 - sxy**2 / syy
        return LineMoments.of((n, syy), n, y_mean, syy, center, offset, sxy, within), squares

    def _summed(self, center: Floats, D: Floats, missing: Bools | None) -> LineMoments:
        n, y_mean = len(D), self.y.mean()
        Y = (self.y - y_mean)[:, np.newaxis]
        n_known: Any = n
        y_shift: Any = 0.0
        syy: Any = float(np.sum(np.square(Y)))
        complete = (n, syy)
        if missing is not None:
            known = ~missing
            n_known = known.sum(axis=0)
            D[missing] = 0.0
            # A complete column is summed as it is in a block where nothing is missing.
            y_shift = np.where(n_known == n, 0.0, (Y * known).sum(axis=0) / n_known)
            Y = np.where(known, Y - y_shift, 0.0)
            syy = np.where(n_known == n, syy, np.square(Y).sum(axis=0))
        offset = D.sum(axis=0) / n_known
        D -= offset
        if missing is not None:
            D[missing] = 0.0
        sxy = (D * Y).sum(axis=0)
        D -= Y * (sxy / syy)
        within = np.square(D, out=D).sum(axis=0)
        y_known = y_mean + y_shift
        return LineMoments.of(complete, n_known, y_known, syy, center, offset, sxy, within)

    def _of_stored(self, X: SparseColumns) -> LineMoments:
        (n, p), y_mean = X.shape, float(self.y.mean())
        Y = self.y - y_mean
        syy = float(Y @ Y)
        sums, sxy = X.sums(np.ones(n), 1), X.sums(Y, 1)
        within = np.maximum(X.sums(np.ones(n), 2) - sums**2 / n - sxy**2 / syy, 0.0)
        return LineMoments.of((n, syy), n, y_mean, syy, np.zeros(p), sums / n, sxy, within)
