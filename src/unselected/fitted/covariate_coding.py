"""How covariates become numbers: learned with the training cases, and held by a model file.

Numbers stay as they are, booleans become 0 and 1, and levels are coded by treatment: a column of 0
and 1 for every level but the first, the reference.
"""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Self, get_args

import numpy as np

from unselected._typing import Floats
from unselected.fitted.covariate_table import (
    CovariateTable,
    Level,
    as_level,
    looks_like_a_number,
    shown,
)
from unselected.fitted.json_checks import (
    Entries,
    Fault,
    check_choice,
    check_list,
    check_real,
    check_record,
    check_text,
    show,
)

__all__ = ["CovariateCoding", "CovariateColumn", "CovariateTable"]

Kind = Literal["number", "boolean", "levels", "unused"]

# Levels that an error lists.
_MOST_LISTED = 10


# --- the values of one covariate -----------------------------------------------------------------


@dataclass(frozen=True)
class _Values:
    """The values of a covariate, none of them missing or infinite, and their kind."""

    name: str
    kind: Kind
    values: list[Any]
    case: Callable[[int], str]

    @classmethod
    def of(cls, table: CovariateTable, name: str) -> "_Values":
        """Return the values of a column of the table, or raise."""
        values = [_plain(value) for value in table.values[table.names.index(name)].tolist()]
        missing = [place for place, value in enumerate(values) if _is_missing(value)]
        if missing:
            raise ValueError(
                f"covariate {name!r} is missing in {len(missing)} of {len(values)} cases, the "
                f"first in {table.case(missing[0])}: fill it in, or leave these cases out."
            )
        if name in table.categories:
            return cls(name, "levels", [as_level(value) for value in values], table.case)
        kinds = [_kind(value) for value in values]
        if None in kinds:
            place = kinds.index(None)
            raise ValueError(
                f"covariate {name!r} has {shown(values[place])} in {table.case(place)}: only "
                "finite numbers, booleans and text can be coded."
            )
        return cls(name, _common_kind(name, kinds, values, table.case), values, table.case)

    def check_all(self, what: str, is_one: Callable[[Any], bool]) -> None:
        """Raise where a value is not what it was in training."""
        for place, value in enumerate(self.values):
            if not is_one(value):
                raise ValueError(
                    f"covariate {self.name!r} has {shown(value)} in {self.case(place)}, but "
                    f"{what} in the training cases: correct it, or leave that case out."
                )


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _is_missing(value: Any) -> bool:
    """Return whether a value is None, NaN, NaT, pandas' NA, or text without a character."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return True
    try:
        return bool(value != value)
    except TypeError:  # pandas' NA is neither true nor false
        return True


def _kind(value: Any) -> Kind | None:
    """Return the kind of a value that is not missing; None where it cannot be coded."""
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, str):
        return "levels"
    is_finite = isinstance(value, int | float) and abs(value) <= sys.float_info.max
    return "number" if is_finite else None


def _common_kind(
    name: str, kinds: Sequence[Kind | None], values: Sequence[Any], case: Callable[[int], str]
) -> Kind:
    """Return the kind of a column: numbers also where some are booleans, but no text among them."""
    if len(set(kinds)) == 1 and kinds[0] is not None:
        return kinds[0]
    if "levels" in kinds:
        place = kinds.index("levels")
        raise ValueError(
            f"covariate {name!r} has the text {shown(values[place])} in {case(place)}, and numbers "
            "or booleans in other cases: write all of them as numbers, or all as text."
        )
    return "number"


# --- the coding ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class CovariateColumn:
    """The coding of one covariate.

    Attributes
    ----------
    name : str
    kind : {"number", "boolean", "levels", "unused"}
        Of "unused" covariates, which are constant beside other constant ones, there is no column.
    levels : tuple of str, int, float or bool
        Of the kind "levels"; the first is the reference.
    """

    name: str
    kind: Kind
    levels: tuple[Level, ...] = ()

    @classmethod
    def learn(cls, table: CovariateTable, name: str) -> "CovariateColumn":
        """Return the coding of a column of the training cases."""
        known = _Values.of(table, name)
        if known.kind != "levels":
            return cls(name, known.kind)
        present = set(known.values)
        order = table.categories.get(name) or tuple(sorted(present))
        levels = tuple(level for level in order if level in present)
        if len(levels) == table.n_cases:
            raise ValueError(
                f"covariate {name!r} has another level in each of the {table.n_cases} cases: it "
                "identifies them, and cannot be adjusted for. Leave it out; numbers that were read "
                "as text have to be converted."
            )
        return cls(name, "levels", levels)

    @property
    def coded_names(self) -> list[str]:
        """The names of the coded columns."""
        if self.kind == "unused":
            return []
        if self.kind != "levels":
            return [self.name]
        return [f"{self.name}[{level}]" for level in self.levels[1:]]

    def in_words(self) -> str:
        """Return the coding in words."""
        if self.kind == "unused":
            return f"{self.name}: constant, which changes nothing"
        if self.kind != "levels":
            return f"{self.name}: {self.kind}"
        reference, *others = map(str, self.levels)
        return f"{self.name}: {', '.join([f'{reference} (reference)', *others])}"

    def encode(self, table: CovariateTable) -> Floats:
        """Return the coded columns of new cases, shape (n, columns)."""
        given = _Values.of(table, self.name)
        if self.kind == "unused":
            return np.empty((len(given.values), 0))
        if self.kind == "levels":
            return self._treatment(given)
        if self.kind == "boolean":
            given.check_all("booleans", lambda value: value in (0, 1))
        else:
            # Where numbers were read as text, the text that is no number is to blame.
            given.check_all("numbers", lambda v: not isinstance(v, str) or looks_like_a_number(v))
            given.check_all("numbers", lambda v: not isinstance(v, str))
        return np.array(given.values, dtype=np.float64).reshape(-1, 1)

    def _treatment(self, given: _Values) -> Floats:
        """Return a column for each level but the first; 1 where a case has that level."""
        # A text file cannot tell the level 1 from the level "1".
        place_of: dict[Any, int] = {str(level): j for j, level in enumerate(self.levels)}
        place_of |= {level: j for j, level in enumerate(self.levels)}
        listed = ", ".join(map(repr, self.levels[:_MOST_LISTED]))
        more = ", ..." if len(self.levels) > _MOST_LISTED else ""
        given.check_all(f"only the levels {listed}{more}", place_of.__contains__)
        places = np.array([place_of[value] for value in given.values], dtype=np.intp)
        others = np.arange(1, len(self.levels))
        return np.asarray(places[:, np.newaxis] == others, dtype=np.float64)

    def to_json(self) -> Entries:
        """Return the entries of a model file."""
        levels = {"levels": list(self.levels)} if self.kind == "levels" else {}
        return {"name": self.name, "kind": self.kind, **levels}

    @classmethod
    def from_json(cls, entry: object) -> "CovariateColumn":
        """Return the coding from its entries, checked."""
        fields = check_record(entry, "covariates", ("name", "kind"), ("levels",))
        name = check_text(fields["name"], "covariates name")
        kind: Kind = check_choice(fields["kind"], "covariates kind", get_args(Kind))
        if (kind == "levels") != ("levels" in fields):
            raise Fault(f"covariates {show(name)} of kind {kind} must have levels or none.")
        found = check_list(fields.get("levels", []), "covariates levels")
        levels = tuple(_check_level(level) for level in found)
        if len(set(levels)) < len(levels) or (kind == "levels" and not levels):
            raise Fault(f"covariates {show(name)} has no levels, or one of them twice.")
        return cls(name, kind, levels)


def _check_level(value: object) -> Level:
    if isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        check_real(value, "covariates levels")
        return value
    return check_text(value, "covariates levels")


@dataclass(frozen=True)
class CovariateCoding:
    """How covariates become numbers.

    Numbers stay as they are, booleans become 0 and 1, categories and text are coded by treatment.
    There is no column for the intercept. A constant covariate gives a constant column, or none.

    Attributes
    ----------
    columns : tuple of CovariateColumn

    >>> table = CovariateTable.read({"age": [34, 51, 47], "sex": ["male", "female", "male"]})
    >>> coding = CovariateCoding.learn(table)
    >>> coding.coded_names, coding.in_words()
    (['age', 'sex[male]'], ['age: number', 'sex: female (reference), male'])
    >>> coding.encode(table).tolist()
    [[34.0, 1.0], [51.0, 0.0], [47.0, 1.0]]
    """

    columns: tuple[CovariateColumn, ...]

    @classmethod
    def learn(cls, table: CovariateTable) -> Self:
        """Return the coding of the covariates of the training cases."""
        return cls(tuple(CovariateColumn.learn(table, name) for name in table.names))

    def unused(self) -> Self:
        """Return the coding of covariates that are all constant: there are no coded columns."""
        return type(self)(
            tuple(
                column if column.kind == "levels" else replace(column, kind="unused")
                for column in self.columns
            )
        )

    @property
    def names(self) -> list[str]:
        """The names of the covariates."""
        return [column.name for column in self.columns]

    @property
    def coded_names(self) -> list[str]:
        """The names of the coded columns."""
        return [name for column in self.columns for name in column.coded_names]

    @property
    def n_coded(self) -> int:
        """The number m of coded columns."""
        return len(self.coded_names)

    def encode(self, table: CovariateTable) -> Floats:
        """Return covariates as numbers, shape (n, m).

        The table may have its columns in any order, and others beside them.

        Raises
        ------
        ValueError
            Where a covariate or one of its values is missing, and where a value is infinite, of
            another kind than in training, or a level that training did not have.
        """
        missing = [repr(name) for name in self.names if name not in table.names]
        if missing:
            raise ValueError(
                f"the model needs covariates that are missing: {', '.join(missing)}. There are: "
                f"{', '.join(map(repr, table.names))}."
            )
        coded = [column.encode(table) for column in self.columns]
        return np.hstack([np.empty((table.n_cases, 0)), *coded])

    @property
    def listed(self) -> str:
        """The names in a sentence: "age, sex and batch"."""
        *others, last = self.names
        return f"{', '.join(others)} and {last}" if others else last

    def in_words(self) -> list[str]:
        """Return the coding of each covariate in words."""
        return [column.in_words() for column in self.columns]

    def to_json(self) -> list[Entries]:
        """Return the coding for a model file."""
        return [column.to_json() for column in self.columns]

    @classmethod
    def from_json(cls, entries: object) -> Self:
        """Return a coding from its entries, checked."""
        columns = [CovariateColumn.from_json(entry) for entry in check_list(entries, "covariates")]
        if not columns or len({column.name for column in columns}) < len(columns):
            raise Fault("covariates is empty, or has a name twice.")
        return cls(tuple(columns))
