"""Compiled loops, for tables so large that loading the compiler pays."""

from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

# From so many values on. Loading numba takes about as long as plain numpy takes for that many.
WORTH_COMPILING = 10**8
# The same for moves of labels in a mixture.
WORTH_COMPILING_MOVES = 10**5
# The same for steps of the chains of a factor model.
WORTH_COMPILING_CHAINS = 200


def kernels_for(n_values: int) -> Any:
    """Return the compiled loops for a table of that size; None where plain numpy is to be used.

    That is where the table is small, or numba is not installed.
    """
    return _kernels() if n_values >= WORTH_COMPILING else None


def kernels_for_moves(n_moves: int) -> Any:
    """Return the compiled loops for so many moves of labels; None where numpy is to be used."""
    return _kernels() if n_moves >= WORTH_COMPILING_MOVES else None


def kernels_for_chains(n_steps: int) -> Any:
    """Return the compiled integral for chains of so many steps; None where numpy is to be used."""
    if n_steps < WORTH_COMPILING_CHAINS or find_spec("numba") is None:
        return None
    return import_module("unselected.numerics.compiled_contour")


@cache
def _kernels() -> Any:
    if find_spec("numba") is None:
        return None
    return import_module("unselected.numerics.compiled")
