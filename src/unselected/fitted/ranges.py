"""The ranges of the kept columns in training, and new rows that lie outside of them.

A new value is outside of the range of n training values by chance, once in (n + 1) / 2 times. Where
most values are outside, or one is far out, the rows are in other units than the training cases:
logarithms of what was fitted, or thousands in place of ones.
"""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from unselected._typing import Bools, ColumnNamer, Floats, Ints
from unselected.columns.blocks import Columns
from unselected.fitted.json_checks import Entries, Fault, check_reals, check_record

# Values of the table that are looked at a time.
_BLOCK = 1 << 22
# A value is far out where it is so many widths of the range away from it.
_FAR = 3.0
# Of fewer values that are outside, nothing can be said.
_FEWEST = 4


@dataclass(frozen=True, eq=False)
class TrainingRanges:
    """The smallest and the largest training value of each kept column, shape (k,)."""

    low: Floats
    high: Floats

    @classmethod
    def of(cls, X: Columns, indices: Ints) -> Self:
        """Look at some columns of a training table, a few at a time; NaN is a missing value."""
        ends = np.empty((2, indices.size))
        width = max(1, _BLOCK // max(1, X.shape[0]))
        for start in range(0, indices.size, width):
            some = slice(start, start + width)
            values: NDArray[Any] = X[:, indices[some]]
            ends[0, some] = np.fmin.reduce(values, axis=0)
            ends[1, some] = np.fmax.reduce(values, axis=0)
        return cls(*ends)

    def remark(
        self, X: NDArray[Any], label: ColumnNamer, ignored: Bools | None = None
    ) -> str | None:
        """Return what is to be said of rows (n, k) that are not where training was, if anything.

        ``ignored`` are columns (k,) in which it does not matter how large a value is.

        >>> ranges = TrainingRanges(np.zeros(2), np.ones(2))
        >>> ranges.remark(np.array([[0.5, 1.2]]), "column {}".format)
        >>> ranges.remark(np.array([[0.5, 300.0]]), "column {}".format)[:57]
        'values far outside of their training range: 1 of 2 values'
        """
        with np.errstate(invalid="ignore", over="ignore"):
            outside = (self.low > X) | (self.high < X)
            if ignored is not None:
                outside &= ~ignored
            if not outside.any():
                return None
            width = np.where(self.high > self.low, self.high - self.low, 1.0)
            gap = np.maximum(self.low - X, X - self.high) / width
            gap = np.where(outside, gap, np.minimum(gap, 0.0))
        n_known = np.count_nonzero(~np.isnan(gap), axis=0)
        n_outside = np.count_nonzero(outside, axis=0)
        mostly = (n_outside >= _FEWEST) & (2 * n_outside > n_known)
        most_of_all = n_outside.sum() >= _FEWEST and 2 * n_outside.sum() > n_known.sum()
        row, column = np.unravel_index(np.nanargmax(gap), gap.shape)
        example = (
            f"{label(int(column))} is {X[row, column]:.6g} in row {row} (counted from 0), where "
            f"training had {self.low[column]:.6g} to {self.high[column]:.6g}."
        )
        if mostly.any() or most_of_all:
            return (
                f"{np.count_nonzero(n_outside)} of {len(n_outside)} features are outside of their "
                f"training range in {np.count_nonzero(outside.any(axis=1))} of {len(X)} rows: "
                f"{example} Are the rows in the units of the training cases?"
            )
        # A few outliers say nothing of the other values, some of which are outside by chance.
        n_far = np.count_nonzero(gap > _FAR)
        if n_far:
            return (
                f"values far outside of their training range: {n_far} of {n_known.sum()} values. "
                f"{example} Are they outliers, or in other units?"
            )
        return None

    def to_json(self) -> Entries:
        """Return the ranges for a model file."""
        return {"low": self.low, "high": self.high}

    @classmethod
    def from_json(cls, entry: object, k: int) -> Self:
        """Return ranges from their entry, checked."""
        fields = check_record(entry, "ranges", ("low", "high"))
        low, high = (check_reals(fields[name], f"ranges {name}", k) for name in ("low", "high"))
        if np.any(low > high):
            raise Fault("ranges has a range that ends before it begins.")
        return cls(low, high)
