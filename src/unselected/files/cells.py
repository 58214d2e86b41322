"""Cells of a table as numbers, as labels and as text.

Errors on missing values and on values that are not numbers name the row and the column.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unselected.files.table_request import Request, TableError

Bytes = NDArray[np.uint8]

# Marks of a missing value, in a feature and in the response ...
MISSING = frozenset(
    ["", "NA", "N/A", "n/a", "#N/A", "#NA", "<NA>", "NaN", "nan", "NAN", "NULL", ".", "?"]
)
# ... and among numbers only, because these may be names of classes.
MISSING_NUMBER = MISSING | {"None", "none", "null", "Null", "na"}
BOOLEANS = {"TRUE": 1.0, "True": 1.0, "true": 1.0, "FALSE": 0.0, "False": 0.0, "false": 0.0}
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_DECIMAL_COMMA = re.compile(r"[+-]?[0-9]*,[0-9]+([eE][+-]?[0-9]+)?")
_WHOLE_NUMBER = re.compile(r"0|-?[1-9][0-9]{0,17}")


class Block(NamedTuple):
    """Consecutive rows: the number of the first, the columns of text, and the other cells.

    The other cells are an array where all of them are single digits, else text.
    """

    number: int
    texts: list[Sequence[str]]
    cells: Bytes | list[Sequence[str]]


class Decimals:
    """The decimal marks in the cells of a file: points or commas, not both.

    Commas are decimal marks only where semicolons separate the cells, as in files of R's
    `write.csv2` and of spreadsheets in many countries. Elsewhere they may separate thousands.
    """

    def __init__(self, request: Request, delimiter: str) -> None:
        self._request = request
        self.may_be_commas = delimiter == ";"
        self._comma: str | None = None
        self._point: str | None = None

    def normal(self, cells: list[str]) -> list[str]:
        """Return the cells, with decimal commas replaced by points."""
        if not self.may_be_commas:
            return cells
        self._comma = self._comma or _first_decimal(cells, ",")
        self._point = self._point or _first_decimal(cells, ".")
        if self._comma and self._point:
            raise self._request.error(
                f"{self._comma!r} has a decimal comma and {self._point!r} a decimal point, so that "
                "it is not clear which of them separates thousands: write all numbers with points, "
                "and without anything between thousands"
            )
        return [_with_point(text) for text in cells] if self._comma else cells


def _first_decimal(cells: list[str], mark: str) -> str | None:
    """Return the first number with this decimal mark, or None."""
    return next((text for text in cells if mark in text and is_decimal(text.strip())), None)


def is_decimal(text: str) -> bool:
    """Return whether a text is a number, with a decimal point or a decimal comma."""
    return bool(_NUMBER.fullmatch(text) or _DECIMAL_COMMA.fullmatch(text))


def _with_point(text: str) -> str:
    is_number = "," in text and _DECIMAL_COMMA.fullmatch(text.strip())
    return text.replace(",", ".") if is_number else text


def numbers(
    block: Block, columns: Sequence[str], request: Request, decimals: Decimals | None = None
) -> NDArray[Any]:
    """Return the cells of a block as numbers; NaN where they are missing."""
    if isinstance(block.cells, np.ndarray):
        return block.cells
    cells = list(chain.from_iterable(block.cells))
    if decimals is not None:
        cells = decimals.normal(cells)
    values = _plain_numbers(cells)
    if values is None:
        values = np.array([_number(text.strip()) for text in cells])
        if np.isinf(values).any():
            place = int(np.argmax(np.isinf(values)))
            row, column = divmod(place, len(columns))
            wrong = np.isinf(values).reshape(-1, len(columns)).any(axis=0)
            wrong[column] = False
            others = [] if request.features_in_rows else np.array(columns)[wrong].tolist()
            raise _no_number(request, columns[column], block.number + row, cells[place], others)
    return values.reshape(len(block.cells), len(columns))


def _no_number(
    request: Request, column: str, row: int, text: str, others: Sequence[str]
) -> TableError:
    if _DECIMAL_COMMA.fullmatch(text.strip()):
        return request.error(
            f"column {column!r} has {text!r} in row {row}: a comma is a decimal mark only where "
            "semicolons separate the cells. Write numbers with decimal points, and without commas "
            "between thousands, or save the file with semicolons"
        )
    return request.no_number(column, row, text, others)


def _plain_numbers(cells: list[str]) -> NDArray[Any] | None:
    """Return cells as finite numbers, fast; None where some are not."""
    joined = "".join(cells)
    if "_" in joined or not joined.isascii():  # float() accepts 1_000, and digits of any script
        return None
    try:
        values = np.fromiter(map(float, cells), dtype=np.float64, count=len(cells))
    except ValueError:
        return None
    return values if np.isfinite(values).all() else None


def _number(text: str) -> float:
    """Return a text as a number; infinity where it is not one."""
    if text in MISSING_NUMBER:
        return np.nan
    if text in BOOLEANS:
        return BOOLEANS[text]
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
    """Return an array of Python strings; numpy's strings lose trailing null characters."""
    listed = list(texts)
    array = np.empty(len(listed), dtype=object)
    array[:] = listed
    return array


def labels(
    texts: Sequence[str],
    request: Request,
    where: Callable[[int], str],
    decimals: Decimals | None = None,
) -> NDArray[Any]:
    """Return labels as whole numbers or floats where all are written so, else as text."""
    for place, text in enumerate(texts):
        if text.strip() in MISSING:
            raise request.no_label(where(place), text.strip())
    distinct = set(texts)
    if decimals is not None and all(is_decimal(text.strip()) for text in distinct):
        texts = decimals.normal(list(texts))
        distinct = set(texts)
    if all(map(_WHOLE_NUMBER.fullmatch, distinct)):
        return np.array([int(text) for text in texts], dtype=np.int64)
    if all(map(_is_as_written, distinct)):
        return np.array([float(text) for text in texts], dtype=np.float64)
    return strings(texts)


def _is_as_written(text: str) -> bool:
    """Return whether a text is a finite number, written as Python would write it.

    >>> _is_as_written("1.5"), _is_as_written("2"), _is_as_written("02"), _is_as_written("1.50")
    (True, True, False, False)
    """
    number = float(text) if _NUMBER.fullmatch(text) else np.inf
    return bool(np.isfinite(number)) and text in (repr(number), repr(number).removesuffix(".0"))


def known_labels(values: list[Any], request: Request) -> NDArray[Any]:
    """Return labels that are already typed; raise where one is missing."""
    for place, value in enumerate(values):
        if value is None or value != value:
            raise request.no_label(f"row {place + 1}")
    return strings(values) if isinstance(values[0], str) else np.array(values)


def as_text(value: object) -> str:
    """Return a value as a text file would hold it."""
    if value is None:
        return ""
    return str(int(value)) if isinstance(value, bool) else str(value)
