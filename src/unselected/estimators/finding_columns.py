"""Columns that users name, by their names or their numbers."""

from collections.abc import Iterable
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unselected.estimators.parameters import is_a, shown


def find_columns(
    wanted: Any, names: NDArray[Any] | None, n_columns: int, parameter: str
) -> NDArray[np.intp]:
    """Return the positions of columns given by name or by number, in increasing order.

    >>> find_columns(["age", 0], np.array(["sex", "dose", "age"], dtype=object), 3, "always_keep")
    array([0, 2])
    """
    if wanted is None:
        return np.array([], dtype=np.intp)
    single = isinstance(wanted, str | bytes) or not isinstance(wanted, Iterable)
    items = [wanted] if single else list(wanted)
    found = [_find_column(item, names, n_columns, parameter) for item in items]
    return np.unique(found).astype(np.intp)


def _find_column(item: Any, names: NDArray[Any] | None, n_columns: int, parameter: str) -> int:
    if is_a(Integral, item):
        if not 0 <= item < n_columns:
            raise ValueError(
                f"{parameter} has column {item}, but the columns are 0 to {n_columns - 1}."
            )
        return int(item)
    if not isinstance(item, str):
        raise TypeError(
            f"{parameter} has {shown(item)}: give names of columns, or their numbers counted from "
            "0."
        )
    if names is None:
        raise ValueError(
            f"{parameter} has the name {shown(item)}, but X has no column names: pass a DataFrame, "
            "or numbers of columns counted from 0."
        )
    found = np.flatnonzero(names == item)
    if found.size == 0:
        raise ValueError(f"{parameter} has the name {shown(item)}, which no column of X has.")
    return int(found[0])
