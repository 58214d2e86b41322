"""Covariates of a file: cells of text as numbers, booleans or levels, and values with a type."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unselected.files.cells import (
    BOOLEANS,
    MISSING,
    MISSING_NUMBER,
    Decimals,
    is_decimal,
    strings,
)
from unselected.files.table_request import Request
from unselected.fitted.covariate_table import CovariateTable


def text_covariates(
    columns: Mapping[str, Sequence[str]],
    request: Request,
    decimals: Decimals | None = None,
    *,
    case_word: str = "row",
    first_case: int = 2,
) -> tuple[CovariateTable | None, tuple[str, ...]]:
    """Return covariates of a text file, and notes on them; None where none are wanted.

    A column all of whose cells are numbers becomes numbers, one of TRUE and FALSE booleans, and any
    other levels. ``first_case`` is the number of the first case in errors.
    """
    if not columns:
        return None, ()
    cells = tuple(strings(text.strip() for text in texts) for texts in columns.values())
    table = CovariateTable(tuple(columns), cells, case_word=case_word, first_case=first_case)
    notes: list[str] = []
    values = tuple(_typed(name, table, request, decimals, notes) for name in table.names)
    return replace(table, values=values), tuple(notes)


def _typed(
    name: str,
    table: CovariateTable,
    request: Request,
    decimals: Decimals | None,
    notes: list[str],
) -> NDArray[Any]:
    """Return a column of text as numbers or booleans where all of its cells are, else as it is."""
    texts: NDArray[Any] = table.values[table.names.index(name)]
    is_number = np.array([_is_number(text, decimals) for text in texts])
    is_number &= name not in request.levels
    among_numbers = is_number.any() and set(texts[~is_number]) <= MISSING_NUMBER
    marks = MISSING_NUMBER if among_numbers else MISSING
    for place, text in enumerate(texts):
        if text in marks:
            raise request.no_covariate(name, table.case(place), text)
    if is_number.all():
        plain = texts.tolist() if decimals is None else decimals.normal(texts.tolist())
        return np.array([float(text) for text in plain])
    if is_number.any():
        place = int(np.argmin(is_number))
        notes.append(
            f"the covariate {name!r} has {texts[place]!r} in {table.case(place)}, which is no "
            "number: all of its values are taken for levels"
        )
    if name not in request.levels and set(texts) <= BOOLEANS.keys():
        return np.array([BOOLEANS[text] == 1.0 for text in texts])
    return texts


def _is_number(text: str, decimals: Decimals | None) -> bool:
    may_have_comma = decimals is not None and decimals.may_be_commas
    return is_decimal(text) and (may_have_comma or "," not in text)


def typed_covariates(
    columns: Mapping[str, Sequence[Any]], request: Request
) -> CovariateTable | None:
    """Return covariates of a file whose values have types; None where none are wanted."""
    if not columns:
        return None
    raw = tuple(strings(values) for values in columns.values())
    table = CovariateTable(tuple(columns), raw, first_case=1)
    for name, values in zip(table.names, table.values, strict=True):
        for place, value in enumerate(values):
            if value is None or value != value or value == "":
                raise request.no_covariate(name, table.case(place))
        if name in request.levels:  # which may have come from text
            values[:] = [str(value) for value in values]
    return table
