"""The steps of the fit of an average: who is told how many of them are done."""

from collections.abc import Callable
from contextvars import ContextVar


def _say_nothing(done: int, of: int) -> None:
    """Be told how many fits are done, and show nothing."""


# Is told how many fits are done, and of how many: the command line shows a bar.
on_step: ContextVar[Callable[[int, int], None]] = ContextVar("on_step", default=_say_nothing)
