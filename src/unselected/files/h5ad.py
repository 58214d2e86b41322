"""Columns of the matrix X of an `.h5ad` file: cells in rows, genes in columns."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from unselected._typing import Ints
from unselected.columns.sources import ColumnSource
from unselected.files.npz import sparse_source
from unselected.files.sources import FileColumns, distinct_names, library, places, telling_damage
from unselected.files.table_request import TableError


class DenseH5ad(FileColumns):
    """A matrix X with every value stored."""

    def _load(self, columns: slice | Ints) -> NDArray[Any]:
        with opened_file(self.path) as file:
            if isinstance(columns, slice):
                return np.asarray(file["X"][:, columns])
            ordered, back = np.unique(columns, return_inverse=True)  # HDF5 needs increasing order
            return np.asarray(file["X"][:, ordered])[:, back]


class ByColumnH5ad(FileColumns):
    """A sparse matrix X stored by columns: a block of columns is contiguous in the file."""

    def __init__(self, path: str, starts: Ints, *args: Any, names: NDArray[Any] | None) -> None:
        super().__init__(path, *args, names=names)
        self._starts = starts

    def _load(self, columns: slice | Ints) -> NDArray[Any]:
        chosen = places(columns, self.shape[1])
        first, last = self._starts[chosen], self._starts[chosen + 1]
        pieces = list(zip(first.tolist(), last.tolist(), strict=True))
        if isinstance(columns, slice) and columns.step in (None, 1):
            pieces = [(int(first[0]), int(last[-1]))]
        with opened_file(self.path) as file:
            data = np.concatenate([file["X/data"][a:b] for a, b in pieces])
            rows = np.concatenate([file["X/indices"][a:b] for a, b in pieces])
        starts = np.concatenate([[0], np.cumsum(last - first)])
        block = sparse.csc_matrix((data, rows, starts), shape=(self.shape[0], chosen.size))
        block.check_format(full_check=True)
        return np.asarray(block.toarray())


def open_h5ad(path: str, *, names: bool) -> ColumnSource:
    """Open an `.h5ad` file; a sparse X that is stored by rows has to be read as a whole."""
    with telling_damage(path, "no .h5ad"), opened_file(path) as file:
        if "X" not in file:
            raise TableError(f"{path}: it has no matrix X: write it with one.")
        X = file["X"]
        found = _var_names(file["var"]) if names else None
        if hasattr(X, "shape"):
            return _open_dense(path, X, found)
        n, p = (int(size) for size in X.attrs.get("shape", X.attrs.get("h5sparse_shape")))
        starts = X["indptr"][:].astype(np.intp)
        kind = X.attrs.get("encoding-type", X.attrs.get("h5sparse_format", ""))
        if kind.startswith("csc"):
            _check_starts(path, starts, p, X["data"].shape, X["indices"].shape)
            known = None if found is None else distinct_names(found, p, path)
            return ByColumnH5ad(path, starts, (n, p), X["data"].dtype, names=known)
        if not kind.startswith("csr"):
            raise TableError(f"{path}: X is stored as {kind!r}: write it dense, as CSR or CSC.")
        parts = (X["data"][:], X["indices"][:], starts)
        return sparse_source(path, sparse.csr_matrix(parts, shape=(n, p)), found)


def _check_starts(path: str, starts: Ints, p: int, *stored: tuple[int, ...]) -> None:
    """Raise unless the column starts are increasing and end with the stored values."""
    last = (int(starts[-1]),) if starts.size else ()
    in_order = starts.size == p + 1 and starts[0] == 0 and bool(np.all(np.diff(starts) >= 0))
    if not in_order or any(shape != last for shape in stored):
        raise TableError(f"{path}: it is damaged: the parts of X do not fit: write it again.")


def _open_dense(path: str, X: Any, names: list[Any] | None) -> DenseH5ad:
    known = None if names is None or X.ndim != 2 else distinct_names(names, X.shape[1], path)
    width = X.chunks[1] if X.chunks and len(X.chunks) == 2 else None
    return DenseH5ad(path, X.shape, X.dtype, names=known, width=width)


def opened_file(path: str) -> Any:
    """Open an `.h5ad` file for reading."""
    return library("h5py", path, ".h5ad files", "bio").File(path, "r")


def _var_names(var: Any) -> list[Any]:
    """Return the index of ``var``, which old files store as a field and new ones by name."""
    if hasattr(var, "dtype"):
        return list(var["index" if "index" in var.dtype.names else "_index"].tolist())
    index = var[var.attrs.get("_index", "_index")]
    values = index["values"] if hasattr(index, "keys") else index
    return list(values[:].tolist())
