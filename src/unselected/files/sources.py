"""The base of column sources in files. The file is opened again for every block.

Nothing stays open between two blocks, so there is nothing to close, and a changed file is noticed.
"""

import os
from abc import abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unselected._typing import Ints
from unselected.columns.sources import ColumnSource
from unselected.files.table_request import TableError


class FileColumns(ColumnSource):
    """The columns of a table in a file.

    Parameters
    ----------
    path : str
        The file, or the folder.
    shape : tuple of int
        Rows and columns.
    dtype : dtype
        Booleans, integers or floats.
    names : array of str of shape (p,), default=None
    width : int, default=None
        The number of columns to read at a time.
    watched : str, default=None
        The file that changes whenever the table does; by default ``path``.

    Raises
    ------
    TableError
        Where the shape or the type is not that of a table of numbers.
    """

    def __init__(
        self,
        path: str,
        shape: tuple[int, ...],
        dtype: Any,
        *,
        names: NDArray[Any] | None = None,
        width: int | None = None,
        watched: str | None = None,
    ) -> None:
        check_table(path, shape, np.dtype(dtype))
        self.path = self.origin = path
        self.names, self.width = names, width
        self._shape = (int(shape[0]), int(shape[1]))
        self._dtype: np.dtype[Any] = np.dtype(dtype)
        self._watched = watched or path
        self._stamp = stamp(self._watched)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self._shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the values."""
        return self._dtype

    @abstractmethod
    def _load(self, columns: slice | Ints) -> NDArray[Any]:
        """Open the file, return some columns as an array, and close it."""

    def _read(self, columns: slice | Ints) -> NDArray[Any]:
        self._check_unchanged(columns)
        block = self._load(columns)
        self._check_unchanged(columns)
        return block

    def _check_unchanged(self, columns: slice | Ints) -> None:  # noqa: ARG002 - for other layouts
        """Raise where the storage of these columns has changed since it was opened."""
        if stamp(self._watched) != self._stamp:
            raise OSError("the file has changed since it was opened; open it again")


def stamp(path: str) -> tuple[int, int, int]:
    """Return inode, size and time of a file, which differ where the file has changed."""
    state = os.stat(path)
    return state.st_ino, state.st_size, state.st_mtime_ns


def places(columns: slice | Ints, p: int) -> Ints:
    """Return the numbers of a selection of p columns, without listing all p.

    >>> places(slice(7, None), 10).tolist(), places(np.array([3, 1]), 10).tolist()
    ([7, 8, 9], [3, 1])
    """
    return np.arange(*columns.indices(p)) if isinstance(columns, slice) else columns


def check_table(path: str, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
    """Raise where a shape or a type is not that of a table of numbers."""
    if len(shape) != 2 or 0 in shape:
        raise TableError(f"{path}: its shape is {tuple(shape)}: it needs rows and columns.")
    if dtype.kind not in "biuf":
        raise TableError(
            f"{path}: its values are of type {dtype}: booleans, integers or floats are needed."
        )


def distinct_names(names: Iterable[Any], n_columns: int, path: str) -> NDArray[Any]:
    """Return the names of all columns; raise where two are equal.

    >>> distinct_names([b"age", "dose"], 2, "cases.npz").tolist()
    ['age', 'dose']
    """
    found = np.empty(n_columns, dtype=object)
    texts = [name.decode() if isinstance(name, bytes) else str(name) for name in names]
    if len(texts) != n_columns:
        raise TableError(f"{path}: it has {len(texts)} names for {n_columns} columns.")
    found[:] = texts
    if len(set(texts)) < len(texts):
        name, times = Counter(texts).most_common(1)[0]
        raise TableError(
            f"{path}: {times} columns are named {name!r}: rename all but one, or open the file "
            "with names=False."
        )
    return found


def library(module: str, path: str, what: str, extra: str) -> Any:
    """Import the library for a kind of file, or raise an error that says how to install it."""
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0].replace("_", "-")
        raise ImportError(
            f'{path}: {what} need {package}. pip install "unselected[{extra}]"'
        ) from error


@contextmanager
def telling_damage(path: str, what: str) -> Iterator[None]:
    """Turn any error of a library on a damaged file into one that names the file."""
    try:
        yield
    except (TableError, ImportError, FileNotFoundError, PermissionError):
        raise
    except Exception as error:  # a damaged file can fail in any way
        raise TableError(f"{path}: it is damaged or {what} ({error}): write it again.") from error
