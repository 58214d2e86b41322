"""Large tables of numbers in a JSON file, with all their digits in half the characters.

A packed table is ``{"float64": text}``: the bytes of its doubles, rows first and the lowest byte of
each first, in base64. Small tables are nested lists, which people can read; files may have either.
"""

import base64
import binascii
import math

import numpy as np

from unselected._typing import Floats
from unselected.fitted.json_checks import Fault, check_array, check_list, check_record

# Tables with fewer numbers are not packed.
_FEWEST = 256
_KEY = "float64"


def packed(table: Floats) -> object:
    """Return a table as it is written.

    >>> packed(np.eye(2)).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    >>> packed(np.zeros((20, 20)))["float64"][:8]
    'AAAAAAAA'
    """
    if table.size < _FEWEST:
        return table
    content = np.ascontiguousarray(table, dtype="<f8").tobytes()
    return {_KEY: base64.b64encode(content).decode("ascii")}


def unpacked(entry: object, what: str, shape: tuple[int, int], low: float, high: float) -> Floats:
    """Return a table of finite numbers from ``low`` to ``high``.

    One of the numbers of rows and columns may be -1: as many as there are.
    """
    if not isinstance(entry, dict):
        rows, columns = shape
        listed = check_list(entry, what, None if rows < 0 else rows)
        if columns < 0:
            columns = len(check_list(listed[0], what)) if listed else 0
        size = (len(listed), columns)
        return check_array(entry, what, size, low, high).reshape(size)
    numbers = _doubles(check_record(entry, what, (_KEY,))[_KEY], what)
    known = math.prod(length for length in shape if length >= 0)
    rows, columns = (numbers.size // max(known, 1) if length < 0 else length for length in shape)
    if numbers.size != rows * columns:
        raise Fault(f"{what} has {numbers.size} numbers, which make no such table.")
    if not np.all((numbers >= low) & (numbers <= high)):
        raise Fault(f"{what} has a number that is not from {low:g} to {high:g}.")
    return numbers.reshape(rows, columns)


def _doubles(text: object, what: str) -> Floats:
    if not isinstance(text, str):
        raise Fault(f"{what} {_KEY} is no text.")
    try:
        content = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise Fault(f"{what} {_KEY} is no base64.") from None
    if len(content) % 8:
        raise Fault(f"{what} {_KEY} has {len(content)} bytes, which are no doubles.")
    return np.frombuffer(content, dtype="<f8").astype(np.float64)
