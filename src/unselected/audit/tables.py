"""Rows and columns of what scikit-learn takes as a table: arrays, sparse tables, data frames."""

from typing import Any

import numpy as np

from unselected._typing import Bools, Ints
from unselected.audit.column_scores import NumericColumns, is_sparse


def as_table(X: Any, n_cases: int, name: str = "X") -> Any:
    """Return a table whose rows and columns can be taken; raise where it is not one."""
    table = X if hasattr(X, "columns") else np.asarray(X)
    if is_sparse(X):
        table = X.tocsr()
    if len(table.shape) != 2:
        raise ValueError(f"{name} has shape {table.shape}: a table of rows and columns is needed.")
    if table.shape[0] != n_cases:
        raise ValueError(
            f"{name} has {table.shape[0]} rows, but y has {n_cases} responses: both must have the "
            "same cases, in the same order."
        )
    return table


def take_rows(X: Any, cases: Ints) -> Any:
    """Return some rows of a table."""
    return X.iloc[cases] if hasattr(X, "iloc") else X[cases]


def take_columns(X: Any, columns: Ints) -> Any:
    """Return some columns of a table."""
    return X.iloc[:, columns] if hasattr(X, "iloc") else X[:, columns]


def names_of(X: Any) -> list[str] | None:
    """Return the names of the columns, None where there are none."""
    return [str(name) for name in X.columns] if hasattr(X, "columns") else None


def columns_kept(X: Any, X_before: Any) -> Bools:
    """Return which columns of the table before the selection are in the one after it.

    They are found by name where both tables have names, else by content.
    """
    after, before = names_of(X), names_of(X_before)
    named = after is not None and before is not None
    keys: Any = after if named else _contents(X, "X")
    earlier: Any = before if named else _contents(X_before, "X_before")
    places = {key: j for j, key in enumerate(earlier)}
    is_kept = np.zeros(X_before.shape[1], dtype=np.bool_)
    for j, key in enumerate(keys):
        if key not in places:
            raise ValueError(
                f"column {repr(key) if named else j} of X is not in X_before: give the table from "
                "which the columns of X were selected, with the same values, or name the columns "
                "of both."
            )
        is_kept[places[key]] = True
    if is_kept.all():
        raise ValueError("X has all columns of X_before: nothing was selected, omit X_before.")
    return is_kept


def _contents(X: Any, name: str) -> list[bytes]:
    """Return the content of each column, as bytes."""
    table = NumericColumns.of(X)
    if table.numbers.size < X.shape[1]:
        raise ValueError(
            f"{name} has columns that do not hold numbers, and cannot be compared with the other "
            "table by content: give data frames, whose columns have names."
        )
    return [table.dense([j]).tobytes() for j in range(table.numbers.size)]
