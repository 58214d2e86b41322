"""Products of small matrices in one thread: several threads make very many of them slower."""

from contextlib import AbstractContextManager
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController


def one_blas_thread() -> AbstractContextManager[Any]:
    """Return a context in which the libraries of linear algebra use one thread.

    The libraries that are loaded are looked up once: that takes milliseconds.
    """
    limited: AbstractContextManager[Any] = _libraries().limit(limits=1, user_api="blas")
    return limited


@cache
def _libraries() -> ThreadpoolController:
    return ThreadpoolController()
