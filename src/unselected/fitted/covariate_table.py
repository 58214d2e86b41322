"""Covariates, the columns beside the features such as age, sex and batch, as users have them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Level = str | int | float | bool

# Types of pandas and polars whose categories have an order. In a Categorical of polars it is that
# in which the process met them.
_ORDERED = ("CategoricalDtype", "Enum")
# Characters of a value that an error shows.
_MOST_SHOWN = 60


@dataclass(frozen=True, eq=False)
class CovariateTable:
    """Columns beside the features, one value for each case. `read` makes it of what users have.

    The values are not checked here, but where they are coded: columns that a coding does not need
    may hold anything.

    Attributes
    ----------
    names : tuple of str
    values : tuple of arrays of shape (n,)
    categories : dict of str to tuple
        The levels in their order, of the columns that come with one, such as pandas' categoricals.
    case_word, first_case : str and int
        What errors call the cases: "row", counted from 0. Tables of a file count as the file does.

    >>> table = CovariateTable.read({"age": [34, 51], "sex": ["male", "female"]})
    >>> table.names, table.n_cases, table.values[1].tolist()
    (('age', 'sex'), 2, ['male', 'female'])
    """

    names: tuple[str, ...]
    values: tuple[NDArray[Any], ...]
    categories: dict[str, tuple[Level, ...]] = field(default_factory=dict)
    case_word: str = "row"
    first_case: int = 0

    @classmethod
    def read(cls, covariates: Any) -> "CovariateTable":
        """Return covariates as a table.

        Parameters
        ----------
        covariates : frame, mapping, series, sequence, array or CovariateTable
            A DataFrame of pandas or polars; a mapping of names to values; one column, called by
            its ``name`` or "covariate 0"; or an array of shape (n, m), whose columns are called
            "covariate 0" and so on.
        """
        if isinstance(covariates, CovariateTable):
            return covariates
        if isinstance(covariates, Mapping):
            return _of_columns(covariates.items())
        if hasattr(covariates, "columns"):
            _check_distinct([str(name) for name in covariates.columns])
            return _of_columns((name, covariates[name]) for name in covariates.columns)
        array = _array(covariates)
        if array.ndim == 1:
            return _of_columns([(_name_of(covariates), covariates)])
        if array.ndim != 2:
            raise ValueError(
                f"covariates has the shape {array.shape}: it needs a row for each case and a "
                "column for each covariate."
            )
        _check_numbers_are_numbers(array)
        return _of_columns((f"covariate {j}", array[:, j]) for j in range(array.shape[1]))

    @property
    def n_cases(self) -> int:
        """The number of cases."""
        return len(self.values[0])

    def check_cases(self, n_cases: int) -> None:
        """Raise unless there are as many cases as in X."""
        if self.n_cases != n_cases:
            raise ValueError(
                f"covariates has {self.n_cases} cases, but X has {n_cases}: both must have the "
                "same cases, in the same order."
            )

    def take(self, cases: ArrayLike) -> "CovariateTable":
        """Return the table of some of the cases, in this order."""
        places = np.asarray(cases)
        return replace(self, values=tuple(column[places] for column in self.values))

    def case(self, place: int) -> str:
        """Return what errors call a case."""
        return f"{self.case_word} {place + self.first_case}"


def _of_columns(columns: Iterable[tuple[Any, Any]]) -> CovariateTable:
    """Return a table of columns that have the same length and different names."""
    named = [(str(name), column) for name, column in columns]
    if not named:
        raise ValueError("covariates has no columns: leave it out where there are no covariates.")
    names = [name for name, _ in named]
    _check_distinct(names)
    values = tuple(_column(name, column) for name, column in named)
    for name, column in zip(names, values, strict=True):
        if len(column) != len(values[0]):
            raise ValueError(
                f"covariate {names[0]!r} has {len(values[0])} values, and {name!r} has "
                f"{len(column)}: each needs one for every case."
            )
    categories = {name: order for name, column in named if (order := _order_of(column)) is not None}
    return CovariateTable(tuple(names), values, categories)


def _check_distinct(names: Sequence[str]) -> None:
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"{twice!r} is the name of two covariates: rename one of them.")


def _name_of(column: Any) -> str:
    name = getattr(column, "name", None)
    return "covariate 0" if name is None or name == "" else str(name)


def _array(values: Any) -> NDArray[Any]:
    """Return an array; a list keeps its types, of which numpy would make text in common."""
    if hasattr(values, "dtype"):
        return np.asarray(values)
    return np.array(_listed(values), dtype=object)


def _listed(values: Any) -> list[Any]:
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise TypeError(
            f"covariates has {shown(values)} where values for all cases are expected: pass a "
            "DataFrame, or a dictionary of names and values."
        )
    return list(values)


def _column(name: str, column: Any) -> NDArray[Any]:
    values = _array(column)
    if values.ndim != 1:
        raise ValueError(
            f"covariate {name!r} has the shape {values.shape}: it needs one value for each case."
        )
    return values


def _order_of(column: Any) -> tuple[Level, ...] | None:
    """Return the levels in their order, of a column for which the user has given one."""
    dtype = getattr(column, "dtype", None)
    if type(dtype).__name__ not in _ORDERED:
        return None
    return tuple(as_level(category) for category in dtype.categories)  # type: ignore[union-attr]


def _check_numbers_are_numbers(array: NDArray[Any]) -> None:
    """Raise where an array of text has a column of numbers: numpy made text of them."""
    if array.dtype.kind != "U":
        return
    for j, column in enumerate(array.T.tolist()):
        if column and all(map(looks_like_a_number, column)):
            raise ValueError(
                f"covariates is an array of text, but its column {j} holds numbers: pass a "
                "DataFrame, or an array with dtype=object, so that they stay numbers."
            )


def looks_like_a_number(text: str) -> bool:
    """Return whether Python would read a text as a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def as_level(value: Any) -> Level:
    """Return a category as a model file can hold it: intervals and dates become text.

    >>> as_level(np.int64(3)), as_level("b2"), as_level((0, 40))
    (3, 'b2', '(0, 40)')
    """
    plain = value.item() if isinstance(value, np.generic) else value
    return plain if isinstance(plain, str | int | float) else str(plain)


def shown(value: object) -> str:
    """Return a value for an error."""
    text = repr(value)
    return text if len(text) <= _MOST_SHOWN else f"{text[: _MOST_SHOWN - 3]}..."
