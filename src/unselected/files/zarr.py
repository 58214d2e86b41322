"""Columns of a Zarr array, of version 2 or 3."""

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unselected.files.opened import FileColumns, library, telling_damage
from unselected.files.tables import TableError
from unselected.tables import Ints


class ZarrColumns(FileColumns):
    """A Zarr array; a chunk that is not there holds the array's fill value, as Zarr has it."""

    def _load(self, columns: slice | Ints) -> NDArray[Any]:
        array = _opened(self.path)
        return np.asarray(
            array[:, columns] if isinstance(columns, slice) else array.oindex[:, columns]
        )


def open_zarr(path: str) -> ZarrColumns:
    """Open a Zarr array in a folder; of a group, the path of one of its arrays is needed."""
    described = [
        file for file in (Path(path, "zarr.json"), Path(path, ".zarray")) if file.is_file()
    ]
    with telling_damage(path, "no Zarr array"):
        for file in described:
            _check_harmless(path, json.loads(file.read_text()))
        array = _opened(path)
    if not hasattr(array, "shape"):
        arrays = sorted(array.array_keys())
        raise TableError(
            f"{path}: it is a group with the arrays {', '.join(arrays) or '(none)'}: give the path "
            "of one of them, as in 'cases.zarr/X'."
        )
    chunks = array.shards or array.chunks
    width = int(chunks[1]) if len(chunks) == 2 else None
    return ZarrColumns(path, array.shape, array.dtype, width=width, watched=str(described[0]))


def _opened(path: str) -> Any:
    return library("zarr", path, "Zarr arrays", "zarr").open(path, mode="r")


def _check_harmless(path: str, about: dict[str, Any]) -> None:
    """Raise where values are stored in a way that could run code when they are read."""
    codecs = [about.get(key) for key in ("filters", "compressor", "codecs")]
    if "pickle" in str(codecs).lower():
        raise TableError(
            f"{path}: its values are stored as pickles, which are not read because they could run "
            "code: store them as numbers."
        )
