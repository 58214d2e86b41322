"""Cells of a table as numbers, as labels and as text.

Whatever is missing, or is no number, is told with its row and column.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unselected.files.table_request import Request

Bytes = NDArray[np.uint8]

_MISSING = frozenset(["", "NA", "NaN", "nan"])
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_WHOLE_NUMBER = re.compile(r"0|-?[1-9][0-9]{0,17}")


class Block(NamedTuple):
    """Rows that follow each other: the number of the first, columns of text, and other cells.

    The others are an array where all of them are single digits, else text.
    """

    number: int
    texts: list[Sequence[str]]
    cells: Bytes | list[Sequence[str]]


def numbers(block: Block, columns: Sequence[str], request: Request) -> NDArray[Any]:
    """Return cells as numbers, one row per row; NaN where they are missing."""
    if isinstance(block.cells, np.ndarray):
        return block.cells
    cells = list(chain.from_iterable(block.cells))
    values = _plain_numbers(cells)
    if values is None:
        values = np.array([_number(text.strip()) for text in cells])
        if np.isinf(values).any():
            place = int(np.argmax(np.isinf(values)))
            row, column = divmod(place, len(columns))
            raise request.no_number(columns[column], block.number + row, cells[place])
    return values.reshape(len(block.cells), len(columns))


def _plain_numbers(cells: list[str]) -> NDArray[Any] | None:
    """Return cells as finite numbers, fast; None where something else is among them."""
    joined = "".join(cells)
    if "_" in joined or not joined.isascii():  # float() takes 1_000, and digits of any script
        return None
    try:
        values = np.fromiter(map(float, cells), dtype=np.float64, count=len(cells))
    except ValueError:
        return None
    return values if np.isfinite(values).all() else None


def _number(text: str) -> float:
    """Return the number that a text is; infinity where it is none."""
    if text in _MISSING:
        return np.nan
    return float(text) if _NUMBER.fullmatch(text) else np.inf


def narrowed(X: NDArray[Any]) -> NDArray[Any]:
    """Return uint8 where all values are 0 and 1, else float64."""
    zero_one = X.max(initial=0) <= 1 if X.dtype == np.uint8 else np.all((X == 0) | (X == 1))
    return X.astype(np.uint8 if zero_one else np.float64, copy=False)


def side_by_side(features: list[NDArray[Any]], n_samples: int) -> NDArray[Any]:
    """Return features, each an array of shape (n_samples,), as the columns of one array."""
    if not features:
        return np.empty((n_samples, 0), dtype=np.uint8)
    return narrowed(np.ascontiguousarray(np.vstack(features).T))


def strings(texts: Iterable[str]) -> NDArray[Any]:
    """Return an array of Python's own strings: numpy's lose zeros at the end."""
    listed = list(texts)
    array = np.empty(len(listed), dtype=object)
    array[:] = listed
    return array


def labels(texts: Sequence[str], request: Request, where: Callable[[int], str]) -> NDArray[Any]:
    """Return labels as whole numbers or numbers where all are written so, else as text."""
    for place, text in enumerate(texts):
        if text.strip() in _MISSING:
            raise request.no_label(where(place))
    distinct = set(texts)
    if all(map(_WHOLE_NUMBER.fullmatch, distinct)):
        return np.array([int(text) for text in texts], dtype=np.int64)
    if all(map(_is_as_written, distinct)):
        return np.array([float(text) for text in texts], dtype=np.float64)
    return strings(texts)


def _is_as_written(text: str) -> bool:
    """Say whether a text is a finite number just as Python would write it.

    >>> _is_as_written("1.5"), _is_as_written("2"), _is_as_written("02"), _is_as_written("1.50")
    (True, True, False, False)
    """
    number = float(text) if _NUMBER.fullmatch(text) else np.inf
    return bool(np.isfinite(number)) and text in (repr(number), repr(number).removesuffix(".0"))


def known_labels(values: list[Any], request: Request) -> NDArray[Any]:
    """Return labels that have their types already."""
    for place, value in enumerate(values):
        if value is None or value != value:
            raise request.no_label(f"row {place + 1}")
    return strings(values) if isinstance(values[0], str) else np.array(values)


def as_text(value: object) -> str:
    """Return a value as a text file would hold it."""
    if value is None:
        return ""
    return str(int(value)) if isinstance(value, bool) else str(value)
