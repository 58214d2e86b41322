"""A table of numbers, read as bits."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from unselected._typing import ColumnNamer, Floats, Ints
from unselected.columns.blocks import Columns, find_missing, picked
from unselected.columns.sources import ColumnSource
from unselected.statistics.binarizing import Binarize, binarize_columns, find_cuts


class BitColumns(ColumnSource):
    """Columns that are cut, at their medians or elsewhere, when they are read; NaN is missing.

    >>> bits = BitColumns(np.array([[0, 5.0], [1, 7.0], [1, 9.0]]), "auto", str)
    >>> bits[:, :].tolist()
    [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]]
    """

    def __init__(self, X: Columns, binarize: Binarize, label: ColumnNamer) -> None:
        self.X, self.binarize, self.label = X, binarize, label
        self.width = getattr(X, "width", None)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        n, p = self.X.shape
        return n, p

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the values."""
        return np.dtype(np.float64)

    def cuts(self, columns: Ints) -> Floats:
        """Return where some columns are cut."""
        values, label = self.X[:, columns], picked(self.label, columns)
        missing = find_missing(values, label, missing_allowed=True)
        return find_cuts(values, self.binarize, label, missing)

    def _read(self, columns: slice | Ints) -> NDArray[Any]:
        which = np.arange(self.shape[1])[columns]
        label = picked(self.label, which)
        bits = binarize_columns(
            self.X[:, columns], self.cuts(which), self.binarize, label, missing_allowed=True
        )
        return bits.astype(np.float64)
