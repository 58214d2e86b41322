"""Options that are whole numbers, and what they may be: anything else is told at once."""

from collections.abc import Callable, Sequence
from typing import Annotated

from cyclopts import Parameter, Token


def whole(_: type, tokens: Sequence[Token]) -> int:
    """Return a whole number; int() alone would turn 2.5 into 2."""
    text = tokens[0].value
    try:
        if (number := float(text)).is_integer():
            return int(number) if "e" in text.lower() or "." in text else int(text)
    except ValueError:
        pass
    raise ValueError(f"{text} is not a whole number.")


def _in(words: str, is_allowed: Callable[[int], bool]) -> Parameter:
    """Return what reads a whole number, with an error where it is not allowed."""

    def read(of: type, tokens: Sequence[Token]) -> int:
        number = whole(of, tokens)
        if not is_allowed(number):
            raise ValueError(f"{number} is out of range: it must be {words}.")
        return number

    return Parameter(converter=read)


Whole = Annotated[int, Parameter(converter=whole)]
Count = Annotated[int, _in("at least 1", lambda number: number >= 1)]
Folds = Annotated[int, _in("at least 2", lambda number: number >= 2)]
Seed = Annotated[int, _in("from 0 to 4294967295", lambda number: 0 <= number < 2**32)]
# As in joblib: -1 stands for all processors, -2 for all but one.
Jobs = Annotated[int, _in("at least 1, or -1 for all processors", lambda number: number != 0)]
