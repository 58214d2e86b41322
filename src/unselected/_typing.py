"""The types that every room speaks of."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Complexes = NDArray[np.complex128]
# How an error names a column: from its number in the table.
ColumnNamer = Callable[[int], str]
