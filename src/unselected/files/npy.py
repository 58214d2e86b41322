"""Columns of an array in an `.npy` file."""

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from unselected._typing import Ints
from unselected.files.sources import FileColumns, telling_damage

# Bytes of a row to read at a time, ...
_PIECE_BYTES = 1 << 16
# ... unless a block of such pieces, as bytes or else as float64, takes more than this.
_BLOCK_BYTES = 1 << 26


class NpyColumns(FileColumns):
    """An array as `numpy.save` writes it, in either memory order.

    For an array in C order, the part of each row that belongs to a block is read separately. This
    is faster than a new memory map, and a truncated file is an error. Single columns, and blocks of
    an array in Fortran order, are copied from a memory map. No map is kept, so that resident memory
    does not grow.
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
        return np.array(self._mapped()[:, columns])

    def _mapped(self) -> NDArray[Any]:
        """Map the values, by what the header said when the file was opened.

        Reading the header again would parse it in several threads, which Python before 3.11.8
        cannot always do.
        """
        order: Literal["C", "F"] = "C" if self._row_bytes is not None else "F"
        return np.memmap(
            self.path,
            dtype=self.dtype,
            mode="r",
            offset=self._offset,
            shape=self.shape,
            order=order,
        )

    def _pieces(self, columns: range, row_bytes: int) -> NDArray[Any]:
        """Read the part of every row from the first of the columns to the last."""
        whole = range(columns.start, columns.stop) if columns.step == 1 else range(self.shape[1])
        block = np.empty((self.shape[0], len(whole)), dtype=self.dtype)
        start = self._offset + whole.start * self.dtype.itemsize
        with open(self.path, "rb", buffering=0) as file:
            for row, piece in enumerate(block.view(np.uint8)):
                file.seek(start + row * row_bytes)
                if file.readinto(piece) != piece.size:
                    raise OSError(f"the file ends in row {row}")
        return block if columns.step == 1 else block[:, list(columns)]


def open_npy(path: str) -> NpyColumns:
    """Open an `.npy` file."""
    with telling_damage(path, "no array of numbers as numpy.save writes it"):
        array = np.load(path, mmap_mode="r", allow_pickle=False)
        return NpyColumns(path, array, array.offset)
