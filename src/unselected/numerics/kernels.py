"""Compiled loops, for tables so large that loading the compiler pays."""

from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

# Number of values from which compiled loops pay: loading numba takes about as long as plain numpy
# takes for that many.
WORTH_COMPILING = 10**8
# The same for moves of labels in a mixture.
WORTH_COMPILING_MOVES = 10**5
# The same for steps of the chains of a factor model.
WORTH_COMPILING_CHAINS = 200
# The same for pairs of vectors of counts.
WORTH_COMPILING_PAIRS = 10**7


def kernels_for(n_values: int) -> Any:
    """Return the compiled loops for a table of this size; None where plain numpy is to be used.

    Plain numpy is used where the table is small or numba is not installed.
    """
    return _kernels() if n_values >= WORTH_COMPILING else None


def kernels_for_scan(n_values: int) -> Any:
    """Return the compiled scan of a table of this size; None where plain numpy is to be used."""
    if n_values < WORTH_COMPILING or not can_compile():
        return None
    return import_module("unselected.numerics.compiled_scan")


def kernels_for_moves(n_moves: int) -> Any:
    """Return the compiled loops for this number of label moves; None where numpy is to be used."""
    return _kernels() if n_moves >= WORTH_COMPILING_MOVES else None


def kernels_for_chains(n_steps: int) -> Any:
    """Return the compiled integral for chains of this length; None where numpy is to be used."""
    if n_steps < WORTH_COMPILING_CHAINS or not can_compile():
        return None
    return import_module("unselected.numerics.compiled_contour")


def kernels_for_pairs(n_pairs: float) -> Any:
    """Return the compiled sums over so many pairs; None where numpy is to be used."""
    if n_pairs < WORTH_COMPILING_PAIRS or not can_compile():
        return None
    return import_module("unselected.numerics.compiled_pairs")


def can_compile() -> bool:
    """Say whether numba is installed."""
    return find_spec("numba") is not None


@cache
def _kernels() -> Any:
    return import_module("unselected.numerics.compiled") if can_compile() else None
