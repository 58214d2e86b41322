"""Entries of an untrusted JSON file, each checked before it is used.

A `Fault` says what is wrong; the name of the file is added where it is known.
"""

import json
import math
from typing import Any, NoReturn

import numpy as np

from unselected._typing import Floats, Ints

# Upper limits for characters of a text and levels of nesting, far above any real ones.
_MOST_TEXT, _MOST_DEPTH = 10**5, 6


Entries = dict[str, Any]


class Fault(Exception):
    """What is wrong with an entry."""


def plain(value: object) -> Any:
    """Return numpy values as JSON types; the ``default`` of `json.dumps`.

    >>> plain(np.arange(3)), plain(np.float32(0.5))
    ([0, 1, 2], 0.5)
    """
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{value!r} of type {type(value).__name__} cannot be written to a JSON file.")


def entry_line(key: str, value: object) -> str:
    """Return an entry as a line of the file; doubles are written with all their digits.

    >>> entry_line("scores", [0.1, 1e-300])
    '"scores": [0.1, 1e-300]'
    """
    try:
        return f'"{key}": {json.dumps(value, default=plain, allow_nan=False)}'
    except (TypeError, ValueError, RecursionError) as error:
        raise Fault(f"{key} cannot be written: {error}.") from error


def read_json(content: bytes) -> object:
    """Return the content of a JSON text without repeated entries, NaN or infinity."""
    try:
        return json.loads(
            content.decode("utf-8"),
            object_pairs_hook=_distinct_keys,
            parse_constant=_reject_constant,
        )
    except UnicodeDecodeError as error:
        raise Fault(f"it is no text: byte {error.start} is not UTF-8.") from None
    except json.JSONDecodeError as error:
        raise Fault(
            f"it is no JSON, or only a part of it: {error.msg} in line {error.lineno}, column "
            f"{error.colno}. Copy it again, or fit the model again."
        ) from None
    except RecursionError:
        raise Fault("its entries are nested too deeply.") from None
    except ValueError:  # Python's limit on converting digits
        raise Fault("a number in it has thousands of digits.") from None


def _distinct_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    entries = dict(pairs)
    if len(entries) < len(pairs):
        raise Fault("an entry occurs twice.")
    return entries


def _reject_constant(name: str) -> NoReturn:
    raise Fault(f"it has {name}, where only finite numbers make sense.")


def check_record(
    value: object, what: str, keys: tuple[str, ...], optional: tuple[str, ...] = ()
) -> dict[str, Any]:
    """Return named entries: those wanted, perhaps the optional ones, and no others."""
    if not isinstance(value, dict):
        raise Fault(f"{what} is {show(value)}, not a set of named entries.")
    missing = [key for key in keys if key not in value]
    unknown = [key for key in value if key not in (*keys, *optional)]
    if missing:
        raise Fault(f"{what} has no entry {missing[0]!r}.")
    if unknown:
        raise Fault(f"{what} has the unknown entry {show(unknown[0])}.")
    return value


def check_list(value: object, what: str, length: int | None = None) -> list[Any]:
    """Return a list, of this length where one is given."""
    if not isinstance(value, list):
        raise Fault(f"{what} is {show(value)}, not a list.")
    if length is not None and len(value) != length:
        raise Fault(f"{what} has {len(value)} values where {length} are expected.")
    return value


def check_whole(value: object, what: str, low: int, high: int) -> int:
    """Return a whole number from ``low`` to ``high``."""
    if type(value) is not int or not low <= value <= high:
        raise Fault(f"{what} has {show(value)} where a whole number in {low}..{high} is expected.")
    return value


def check_wholes(value: object, what: str, length: int, low: int, high: int) -> Ints:
    """Return a list of whole numbers from ``low`` to ``high`` as an array."""
    items = check_list(value, what, length)
    return np.array([check_whole(item, what, low, high) for item in items], dtype=np.int64)


def check_real(value: object, what: str, low: float = -math.inf, high: float = math.inf) -> float:
    """Return a finite number from ``low`` to ``high``."""
    try:
        number = float(value) if type(value) in (int, float) else math.nan  # type: ignore[arg-type]
    except OverflowError:
        number = math.nan
    if not (math.isfinite(number) and low <= number <= high):
        within = "" if math.isinf(low) else f" in {low!r}..{high!r}"
        raise Fault(f"{what} has {show(value)} where a finite number{within} is expected.")
    return number


def check_array(
    value: object,
    what: str,
    shape: tuple[int, ...],
    low: float = -math.inf,
    high: float = math.inf,
) -> Floats:
    """Return nested lists of finite numbers from ``low`` to ``high`` as an array of a shape."""
    flat: list[object] = [value]
    for length in shape:
        flat = [item for part in flat for item in check_list(part, what, length)]
    numbers = [check_real(item, what, low, high) for item in flat]
    return np.array(numbers, dtype=np.float64).reshape(shape)


def check_reals(
    value: object, what: str, length: int, low: float = -math.inf, high: float = math.inf
) -> Floats:
    """Return a list of finite numbers from ``low`` to ``high`` as an array."""
    return check_array(value, what, (length,), low, high)


def check_text(value: object, what: str) -> str:
    """Return a text that can be written again."""
    if not isinstance(value, str) or len(value) > _MOST_TEXT or not _can_be_written(value):
        raise Fault(f"{what} has {show(value)} where text is expected.")
    return value


def _can_be_written(text: str) -> bool:
    """Say whether UTF-8 can encode the text: JSON may hold lone surrogates, which it cannot."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def check_choice(value: object, what: str, choices: tuple[str, ...]) -> Any:
    """Return one of some texts."""
    if not isinstance(value, str) or value not in choices:
        raise Fault(f"{what} is {show(value)}, not one of {', '.join(map(repr, choices))}.")
    return value


def show(value: object) -> str:
    """Return a value for an error message: short and in ASCII, because it may be anything."""
    try:
        text = ascii(value)
    except (ValueError, RecursionError):  # a number with thousands of digits
        return f"a {type(value).__name__}"
    return text if len(text) <= 60 else f"{text[:57]}..."


def check_plain(value: object, what: str, depth: int = _MOST_DEPTH) -> None:
    """Check that a value of any kind can be shown and written again."""
    if depth == 0:
        raise Fault(f"{what} is nested too deeply.")
    if isinstance(value, dict | list):
        parts = [*value.keys(), *value.values()] if isinstance(value, dict) else value
        for part in parts:
            check_plain(part, what, depth - 1)
    elif isinstance(value, str):
        check_text(value, what)
    elif isinstance(value, float):
        check_real(value, what)
