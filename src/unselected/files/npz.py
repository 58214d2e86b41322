"""Columns of a sparse matrix in an `.npz` file."""

from typing import Any

import numpy as np
from scipy import sparse

from unselected.columns.sources import SparseColumns
from unselected.files.sources import check_table, distinct_names, telling_damage

# The optional array with column names beside the matrix.
_NAMES = "feature_names"


def open_npz(path: str, *, names: bool) -> SparseColumns:
    """Read a matrix of `scipy.sparse.save_npz`, whose nonzero values must fit into memory."""
    damage = telling_damage(path, "no matrix of scipy.sparse.save_npz")
    with damage, open(path, "rb") as file:
        matrix: Any = sparse.load_npz(file)
        file.seek(0)
        with np.load(file, allow_pickle=False) as stored:
            found = stored[_NAMES].ravel().tolist() if names and _NAMES in stored.files else None
    return sparse_source(path, matrix, found)


def sparse_source(path: str, matrix: Any, names: list[Any] | None) -> SparseColumns:
    """Return a matrix as a column source, after checks of its shape, type and indices."""
    check_table(path, matrix.shape, matrix.dtype)
    if matrix.format not in ("csr", "csc"):
        matrix = matrix.tocsr()
    with telling_damage(path, "no sparse matrix"):
        matrix.check_format(full_check=True)
    source = SparseColumns(matrix)
    source.origin = path
    source.names = None if names is None else distinct_names(names, matrix.shape[1], path)
    return source
