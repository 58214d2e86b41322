"""Columns of an array in an `.npy` file."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from unselected._typing import Ints
from unselected.files.sources import FileColumns, telling_damage

# Bytes of a row that are best read at a time, ...
_PIECE_BYTES = 1 << 16
# ... unless a block of such pieces, as bytes or else as float64, takes more than this.
_BLOCK_BYTES = 1 << 26


class NpyColumns(FileColumns):
    """An array as `numpy.save` writes it, in either memory order.

    Of rows that lie one after the other, the pieces that make up a block are read one by one, which
    is faster than to map the file anew, and a file that has become too short is an error. Single
    columns, and blocks of an array in Fortran order, are copied from a map of the file. Nothing
    stays mapped, so that pages do not pile up.
    """

    def __init__(self, path: str, array: NDArray[Any], offset: int) -> None:
        super().__init__(path, array.shape, array.dtype)
        self._row_bytes = array.strides[0] if array.flags.c_contiguous else None
        self._offset = offset
        worked_on = 1 if self.dtype.itemsize == 1 else 8
        fitting = _BLOCK_BYTES // (worked_on * self.shape[0])
        self.width = max(1, min(_PIECE_BYTES // self.dtype.itemsize, fitting))

    def _load(self, columns: slice | Ints) -> NDArray[Any]:
        if self._row_bytes is not None and isinstance(columns, slice):
            return self._pieces(range(self.shape[1])[columns], self._row_bytes)
        return np.array(_mapped(self.path)[:, columns])

    def _pieces(self, columns: range, row_bytes: int) -> NDArray[Any]:
        """Read a piece of every row, from the first of the columns to the last."""
        whole = range(columns.start, columns.stop) if columns.step == 1 else range(self.shape[1])
        block = np.empty((self.shape[0], len(whole)), dtype=self.dtype)
        start = self._offset + whole.start * self.dtype.itemsize
        with open(self.path, "rb", buffering=0) as file:
            for row, piece in enumerate(block.view(np.uint8)):
                file.seek(start + row * row_bytes)
                if file.readinto(piece) != piece.size:
                    raise OSError(f"the file ends in row {row}")
        return block if columns.step == 1 else block[:, list(columns)]


def _mapped(path: str) -> Any:
    """Return the array without reading its values; Python objects are refused."""
    return np.load(path, mmap_mode="r", allow_pickle=False)


def open_npy(path: str) -> NpyColumns:
    """Open an `.npy` file."""
    with telling_damage(path, "no array of numbers as numpy.save writes it"):
        array = _mapped(path)
        return NpyColumns(path, array, array.offset)
