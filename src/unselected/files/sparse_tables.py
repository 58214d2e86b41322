"""Tables from scipy's sparse matrices in `.npz` files, with names, target and ids beside them.

Nothing is unpickled. A table that does not fit into memory is refused before it is allocated.
"""

import os
import sys
import zipfile
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from unselected.files.cells import as_text, known_labels, narrowed, strings
from unselected.files.covariate_cells import typed_covariates
from unselected.files.sources import telling_damage
from unselected.files.table_request import Request, Table


def read_sparse(file: IO[bytes], request: Request) -> Table:
    """Read a table from an `.npz` file, and make it dense."""
    matrix, arrays = _load(file, request)
    if request.features_in_rows:
        matrix = matrix.T
    n_samples, n_features = matrix.shape
    if n_samples == 0 or n_features == 0:
        raise request.error(f"its shape is {matrix.shape}: it needs rows and columns")
    notes: list[str] = []
    names = _side_array("feature_names", "names", n_features, arrays, notes, request)
    target = _side_array(request.target or "y", "the target", n_samples, arrays, notes, request)
    ids = _side_array(request.id_column, "the ids", n_samples, arrays, notes, request)
    beside = {
        name: _side_array(name, "the covariates", n_samples, arrays, notes, request) or []
        for name in request.covariates
    }
    if names is None:
        names = list(range(n_features))
        notes.append("the features have no names: they are called by their numbers, from 0 on")
    names = [as_text(name) for name in names]
    request.check_distinct(names, "feature")
    if request.columns is not None:
        matrix, names = _pick(matrix, names, request), list(request.columns)
    return Table(
        X=_densified(matrix, request),
        names=strings(names),
        y=None if target is None else known_labels(target, request),
        ids=None if ids is None else strings(map(as_text, ids)),
        path=request.path,
        notes=tuple(notes),
        covariates=typed_covariates(beside, request),
    )


def _load(file: IO[bytes], request: Request) -> tuple[Any, dict[str, Any]]:
    """Return the matrix and the other requested arrays; None for arrays of Python objects."""
    wanted = {"feature_names", request.target or "y", request.id_column or "", *request.covariates}
    with telling_damage(request.path, "no matrix of scipy.sparse.save_npz"):
        sizes = [entry.file_size for entry in zipfile.ZipFile(file).infolist()]
        _check_memory(sum(sizes), request)
        file.seek(0)
        matrix: Any = sparse.load_npz(file)
        if matrix.format not in ("csr", "csc", "coo") or matrix.ndim != 2:
            raise request.error(
                f"it holds a {matrix.ndim}-d {matrix.format} matrix: save it as csr"
            )
        if matrix.format != "coo":  # its indices are checked already
            matrix.check_format(full_check=True)
        _check_memory(8 * sum(matrix.shape), request)
        file.seek(0)
        with np.load(file, allow_pickle=False) as stored:
            arrays = {name: _stored(stored, name) for name in wanted.intersection(stored.files)}
    return matrix, arrays


def _stored(stored: Any, name: str) -> NDArray[Any] | None:
    try:
        return np.asarray(stored[name])
    except ValueError as error:
        if "allow_pickle" in str(error):  # unpickling would run code of the file
            return None
        raise


def _side_array(
    name: str | None,
    purpose: str,
    length: int,
    arrays: dict[str, Any],
    notes: list[str],
    request: Request,
) -> list[Any] | None:
    """Return an array stored beside the matrix, or None."""
    apart = (request.target, request.id_column, *request.covariates)
    asked = name is not None and name in apart
    if name not in arrays:
        if asked:
            raise request.error(f"there is no array {name!r} for {purpose}: add it to the file")
        return None
    values = arrays[name]
    if values is None:
        fault = f"the array {name!r} holds Python objects, which are not read because they could "
        fault += "run code; save it as text or numbers, for example with .astype(str)"
        if asked:
            raise request.error(fault)
        notes.append(fault)
        return None
    if values.dtype.kind == "S":
        values = np.char.decode(values, "utf-8", "replace")
    if values.shape != (length,) or values.dtype.kind not in "buifU":
        raise request.error(
            f"the array {name!r} for {purpose} has the shape {values.shape} and the type "
            f"{values.dtype}: it needs {length} texts or numbers"
        )
    return list(values.tolist())


def _pick(matrix: Any, names: list[str], request: Request) -> Any:
    columns = list(request.columns or ())
    request.check_features(columns, names)
    place_of = {name: place for place, name in enumerate(names)}
    return sparse.csc_array(matrix)[:, [place_of[name] for name in columns]]


def _densified(matrix: Any, request: Request) -> NDArray[Any]:
    """Return a dense array; bits are not converted to doubles on the way."""
    matrix = sparse.csc_array(matrix)
    matrix.sum_duplicates()
    if matrix.dtype.kind not in "buif" or np.isinf(matrix.data).any():
        raise request.error(f"it has infinite values or those of type {matrix.dtype}: mend it")
    dtype = narrowed(matrix.data).dtype
    _check_memory(int(matrix.shape[0]) * int(matrix.shape[1]) * dtype.itemsize, request)
    return np.asarray(matrix.astype(dtype).toarray(order="C"))


def _check_memory(n_bytes: int, request: Request) -> None:
    if n_bytes > _memory():
        raise request.error(
            f"the table takes {n_bytes / 1e9:.1f} GB of memory, and this machine has "
            f"{_memory() / 1e9:.1f} GB: leave columns out, or use a larger machine"
        )


def _memory() -> int:
    """Return the bytes of memory of this machine; the largest integer where it is unknown."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return sys.maxsize
