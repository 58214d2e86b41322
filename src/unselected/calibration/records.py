"""Records of numbers, as JSON has them."""

from dataclasses import fields, is_dataclass
from math import isfinite
from typing import Any

import numpy as np


class Record:
    """A dataclass of numbers, arrays and other records."""

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers in types that JSON has; NaN and infinity become None."""
        return {name: _plain(value) for name, value in _named(self)}


def _named(record: Any) -> list[tuple[str, Any]]:
    return [(field.name, getattr(record, field.name)) for field in fields(record)]


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        return {name: _plain(part) for name, part in _named(value)}
    if isinstance(value, np.ndarray):
        return [_plain(part) for part in value.tolist()]
    if isinstance(value, float):
        return value if isfinite(value) else None
    return value
