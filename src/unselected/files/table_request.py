"""What is wanted from the file of a table, the table that comes of it, and what may be wrong.

A request knows its file, and words the errors: with the row and the column, counted from 1 as a
person would.
"""

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from unselected.files.writing import STANDARD


class TableError(ValueError):
    """A table cannot be used as it is; the message says where, why, and what to do."""


@dataclass(frozen=True, eq=False)
class Table:
    """A table in memory.

    Attributes
    ----------
    X : array of shape (n_samples, n_features)
        uint8 where all values are 0 and 1; else float64, with NaN for missing values.
    names : array of str of shape (n_features,)
        Names of the features.
    y : array of shape (n_samples,), or None
        The target. Labels of a text file become numbers where every one of them is written as
        Python would write it, so that "1" is a number and "01" is text.
    ids : array of str of shape (n_samples,), or None
    path : str
    notes : tuple of str
        What the user should know about how the file was read.
    """

    X: NDArray[Any]
    names: NDArray[Any]
    y: NDArray[Any] | None
    ids: NDArray[Any] | None
    path: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Layout:
    """Where things are in a row of a file: the features by name, the target and the id."""

    width: int
    names: list[str]
    features: list[int]
    target: int | None
    ids: int | None

    @property
    def texts(self) -> list[int]:
        """The columns that hold text."""
        return sorted(place for place in (self.target, self.ids) if place is not None)


@dataclass(frozen=True)
class Request:
    """What is wanted from which file, and the errors where that is not there."""

    path: str
    target: str | None
    id_column: str | None
    features_in_rows: bool
    columns: Sequence[str] | None

    def error(self, message: str) -> TableError:
        """Return an error that begins with the file."""
        where = "standard input" if self.path == STANDARD else self.path
        return TableError(f"{where}: {message}.")

    def check(self) -> None:
        """Raise where the request contradicts itself."""
        apart = {self.target, self.id_column} - {None}
        twice = apart.intersection(self.columns or ())
        if self.target is not None and self.target == self.id_column:
            twice.add(self.target)
        for name in twice:
            raise self.error(f"{name!r} is wanted for two purposes at once: choose one of them")

    def layout(self, header: Sequence[str]) -> Layout:
        """Find the wanted columns in the header of a file with samples in rows."""
        self.check_distinct(header, "column")
        place_of = {name: place for place, name in enumerate(header)}
        target = self._place(self.target, place_of, "the target")
        ids = self._place(self.id_column, place_of, "the ids")
        if self.columns is None:
            names = [name for place, name in enumerate(header) if place not in (target, ids)]
        else:
            names = list(self.columns)
        self.check_features(names, place_of)
        return Layout(len(header), names, [place_of[name] for name in names], target, ids)

    def check_features(self, names: Sequence[str], known: Iterable[str]) -> None:
        """Raise where features are missing, or where there are none at all."""
        places = {name: place for place, name in enumerate(known, start=1)}
        missing = [name for name in names if name not in places]
        if missing:
            raise self.error(
                f"{len(missing)} of the {len(names)} features that are needed are missing: "
                f"{_listed(missing)}{_close_to(missing[0], list(places))}. Add them to the file"
            )
        if self.columns is not None:
            return
        if not names:
            raise self.error("it has no features: there must be some besides target and ids")
        for name in names:
            if not name.strip():
                raise self.error(
                    f"{'feature' if self.features_in_rows else 'column'} {places[name]} has no "
                    "name: give it one. If it holds an index, write the file without, or make it "
                    "the id column"
                )

    def check_distinct(self, names: Sequence[str], what: str) -> None:
        """Raise where a name occurs twice."""
        if len(set(names)) == len(names):
            return
        first: dict[str, int] = {}
        for place, name in enumerate(names, start=1):
            if name in first:
                raise self.error(
                    f"{what} {first[name]} and {what} {place} are both named {name!r}: rename or "
                    "delete one of them"
                )
            first[name] = place

    def absent(self, name: str, purpose: str, known: Iterable[str]) -> TableError:
        """Return the error for something that the user named and that is not there."""
        known = list(known)
        return self.error(
            f"there is no {name!r} for {purpose}{_close_to(name, known)}. There are: "
            f"{_listed(known)}"
        )

    def no_number(self, column: str, row: int, value: str) -> TableError:
        """Return the error for a cell of a feature that cannot be read."""
        return self.error(
            f"column {column!r} has {value!r} in row {row}, which is no number. Correct it, or "
            "leave it empty if it is missing; a column that is no feature has to be the target or "
            "the id column, or deleted"
        )

    def no_label(self, where: str) -> TableError:
        """Return the error for a sample without a response."""
        return self.error(
            f"the target {self.target or 'y'!r} is missing for {where}: fill it in, or leave that "
            "sample out"
        )

    def no_rows(self) -> TableError:
        """Return the error for a table without samples, or without features in rows."""
        return self.error("it has a header but no rows: add them")

    def _place(self, name: str | None, place_of: dict[str, int], purpose: str) -> int | None:
        if name is not None and name not in place_of:
            raise self.absent(name, purpose, place_of)
        return None if name is None else place_of[name]


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names[:8])) + (", ..." if len(names) > 8 else "")


def _close_to(name: str, known: Sequence[str]) -> str:
    close = difflib.get_close_matches(name, known, n=3)
    return f" (did you mean {' or '.join(map(repr, close))}?)" if close else ""
