"""New values of columns that are modelled as bits."""

import numpy as np

from unselected._typing import ColumnNamer, Floats
from unselected._warnings import warn
from unselected.columns.blocks import first_fault
from unselected.statistics.binarizing import AS_IS


def as_bits(values: Floats, thresholds: Floats, label: ColumnNamer) -> Floats:
    """Return new values of binary columns as bits.

    Where the training cases had 0 and 1 alone, other values are missing. A count that is 0 or 1 in
    all training cases may be 2 in a later one, and what that says is not known.
    """
    cut = thresholds != AS_IS
    if cut.any():
        own = values[:, cut]
        values[:, cut] = np.where(np.isnan(own), np.nan, own > thresholds[cut])
    others = ~((values == 0) | (values == 1) | np.isnan(values))
    if not others.any():
        return values
    row, column = first_fault(others)
    warn(
        f"{label(column)} has the value {values[row, column]:.6g} in row {row}, but it was 0 or 1 "
        "in all training cases. What else such columns have is taken as missing: "
        f"{np.count_nonzero(others)} of {others.size} values. If they are coded in another way, "
        "recode them as they were there."
    )
    return np.where(others, np.nan, values)
