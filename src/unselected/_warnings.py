"""Warnings that point at the line outside of the library that called it."""

import os
import sys
import warnings
from pathlib import Path

_LIBRARY = f"{Path(__file__).parent}{os.sep}"


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn the user at the line that called the library."""
    warnings.warn(message, category, stacklevel=_stacklevel())


def _stacklevel() -> int:
    """Return how far up the first caller is that does not belong to the library."""
    frame, level = sys._getframe(1), 0
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_LIBRARY):
        frame, level = frame.f_back, level + 1
    return level + 1
