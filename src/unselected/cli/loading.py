"""Commands whose code is loaded when they are called, so that help starts fast."""

import inspect
from collections.abc import Callable
from functools import wraps
from importlib import import_module
from typing import ParamSpec

P = ParamSpec("P")


def done_in(module: str) -> Callable[[Callable[P, None]], Callable[P, None]]:
    """Return a decorator for a function that has only a signature and a docstring.

    A call loads ``module`` and calls its function of the same name. That function gets every
    argument, so that the defaults are defined only once.
    """

    def decorated(described: Callable[P, None]) -> Callable[P, None]:
        signature = inspect.signature(described)

        @wraps(described)
        def command(*args: P.args, **kwargs: P.kwargs) -> None:
            given = signature.bind(*args, **kwargs)
            given.apply_defaults()
            work = getattr(import_module(module), described.__name__)
            work(*given.args, **given.kwargs)

        return command

    return decorated
