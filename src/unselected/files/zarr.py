"""Columns of a Zarr array, of version 2 or 3."""

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unselected._typing import Ints
from unselected.files.sources import FileColumns, library, places, stamp, telling_damage
from unselected.files.table_request import TableError

# State of a chunk without a file, which holds the fill value.
_NO_CHUNK = 0


class ZarrColumns(FileColumns):
    """A Zarr array, each chunk of which is a file.

    In Zarr a chunk without a file holds the fill value. A chunk that is deleted later would
    therefore be read without an error. To notice this, the state of every chunk is stored when the
    array is opened, in 8 bytes each.
    """

    def __init__(self, path: str, array: Any, watched: str) -> None:
        chunks = array.shards or array.chunks
        width = int(chunks[1]) if len(chunks) == 2 else None
        super().__init__(path, array.shape, array.dtype, width=width, watched=watched)
        self._chunk_shape = (int(chunks[0]), int(chunks[1]))
        self._key = array.metadata.encode_chunk_key
        self._chunk_stamps = self._stamps(range(-(-self.shape[1] // self._chunk_shape[1])))

    def _load(self, columns: slice | Ints) -> NDArray[Any]:
        array = _opened(self.path)
        return np.asarray(
            array[:, columns] if isinstance(columns, slice) else array.oindex[:, columns]
        )

    def _check_unchanged(self, columns: slice | Ints) -> None:
        super()._check_unchanged(columns)
        touched = np.unique(places(columns, self.shape[1]) // self._chunk_shape[1])
        before, now = self._chunk_stamps[:, touched], self._stamps(touched.tolist())
        if not np.array_equal(before, now):
            row, place = np.argwhere(before != now)[0].tolist()
            what = "gone" if now[row, place] == _NO_CHUNK else "not what it was"
            key = self._key((row, int(touched[place])))
            raise OSError(f"since the array was opened, the chunk {key} is {what}; open it again")

    def _stamps(self, across: Iterable[int]) -> NDArray[np.int64]:
        """Return the states of chunks, of shape (chunks down, chunks across)."""
        down = range(-(-self.shape[0] // self._chunk_shape[0]))
        return np.array([[self._chunk_stamp(row, column) for column in across] for row in down])

    def _chunk_stamp(self, row: int, column: int) -> int:
        try:
            return hash(stamp(os.path.join(self.path, self._key((row, column)))))
        except FileNotFoundError:
            return _NO_CHUNK


def open_zarr(path: str) -> ZarrColumns:
    """Open a Zarr array in a folder; for a group, give the path of one of its arrays."""
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
    return ZarrColumns(path, array, watched=str(described[0]))


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
