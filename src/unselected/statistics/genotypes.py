"""Genotypes: how many of the two alleles of a case are copies of the one that is counted."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from unselected._typing import ColumnNamer
from unselected.columns.blocks import find_missing, first_fault
from unselected.statistics.binarizing import Missing

# The number of alleles of a case.
DIPLOID = 2


def genotype_rows(X: NDArray[Any], label: ColumnNamer) -> NDArray[Any]:
    """Return genotypes of new rows, of which each is 0, 1, 2 or, where it is missing, NaN.

    >>> genotype_rows(np.array([[0, 2], [1, 3]]), "column {}".format)
    Traceback (most recent call last):
    ValueError: column 1 has the value 3 in row 1, but family='genotype' takes ...
    """
    check_genotypes(X, label, find_missing(X, label, missing_allowed=True))
    return X


def check_genotypes(X: NDArray[Any], label: ColumnNamer, missing: Missing) -> None:
    """Raise where a known value is not 0, 1 or 2; the error names the column and the row."""
    wrong = ~((X == 0) | (X == 1) | (X == DIPLOID))
    if missing is not None:
        wrong &= ~missing
    if wrong.any():
        row, column = first_fault(wrong)
        raise ValueError(
            f"{label(column)} has the value {X[row, column]!s} in row {row}, but family='genotype' "
            "takes only 0, 1 and 2, the number of copies of an allele, and NaN for a missing "
            "genotype: recode the column, or drop it."
        )


def copies(X: NDArray[Any], missing: Missing) -> NDArray[np.uint8]:
    """Return genotypes as bytes, 0 where they are missing."""
    known = X if missing is None else np.where(missing, 0, X)
    return known.astype(np.uint8)
