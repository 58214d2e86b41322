"""The request for a table in a file, the table itself, and the errors.

Errors name the file, the row and the column. Rows and columns are counted from 1.
"""

import difflib
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from numpy.typing import NDArray

from unselected.columns.sources import ArrayColumns
from unselected.files.writing import STANDARD
from unselected.fitted.covariate_table import CovariateTable

# What helps where a name is missing in the header, or where features are in rows.
_TURNED = " The first column has it: if features are in rows, use features_in_rows=True"
NOT_TURNED = " The header has it: if features are in columns, leave out features_in_rows=True"


class TableError(ValueError):
    """A table cannot be used as it is; the message says where, why, and what to do."""


@dataclass(frozen=True, eq=False)
class Table(ArrayColumns):
    """A table in memory: a column source for estimators, with response, ids and notes.

    Attributes
    ----------
    X : array of shape (n_samples, n_features)
        uint8 where all values are 0 and 1; else float64, with NaN for missing values.
    names : array of str of shape (n_features,)
        Names of the features.
    y : array of shape (n_samples,), or None
        The target. Labels of a text file become numbers where all of them are written as Python
        would write them: "1" is a number and "01" is text.
    ids : array of str of shape (n_samples,), or None
    path : str
    notes : tuple of str
        What the user should know about how the file was read.
    covariates : CovariateTable, or None
        The columns that were asked for as covariates; they are not among the features.
    """

    X: NDArray[Any]
    names: NDArray[Any] = field()  # other sources may have no names
    y: NDArray[Any] | None
    ids: NDArray[Any] | None
    path: str
    notes: tuple[str, ...] = ()
    covariates: CovariateTable | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "origin", self.path)  # the name in errors


@dataclass(frozen=True)
class Layout:
    """The positions of features, target, id and covariates in a row of a file.

    ``notes`` tell the user what was assumed.
    """

    width: int
    names: list[str]
    features: list[int]
    target: int | None
    ids: int | None
    covariates: dict[str, int]
    notes: tuple[str, ...] = ()

    @property
    def texts(self) -> list[int]:
        """The columns that may hold text."""
        apart = {self.target, self.ids, *self.covariates.values()}
        return sorted(place for place in apart if place is not None)


@dataclass(frozen=True)
class Request:
    """The columns requested from a file, and the errors where they are missing.

    ``levels`` are the covariates whose values are levels, also where they look like numbers.
    """

    path: str
    target: str | None
    id_column: str | None
    features_in_rows: bool
    columns: Sequence[str] | None
    left_out: str | None = None
    covariates: tuple[str, ...] = ()
    levels: Collection[str] = ()

    def error(self, message: str) -> TableError:
        """Return an error that begins with the name of the file."""
        where = "standard input" if self.path == STANDARD else self.path
        return TableError(f"{where}: {message}.")

    def check(self) -> None:
        """Raise where the request contradicts itself."""
        apart = {self.target, self.id_column, self.left_out, *self.covariates} - {None}
        twice = apart.intersection(self.columns or ())
        twice |= {self.target, self.id_column}.intersection(self.covariates)
        if self.target is not None and self.target == self.id_column:
            twice.add(self.target)
        for name in twice:
            raise self.error(f"{name!r} is wanted for two purposes at once: choose one of them")

    def layout(
        self, header: Sequence[str], first_cells: Callable[[], Iterable[str]] = tuple
    ) -> Layout:
        """Find the requested columns in the header of a file with samples in rows.

        Where one is missing, the first cells of the rows show whether features are in rows. A first
        column without a name holds the ids: R and pandas write row names so.
        """
        self.check_distinct(header, "column")
        place_of = {name: place for place, name in enumerate(header)}
        hint = self._hint(place_of, first_cells)
        target = self._place(self.target, place_of, "the target", hint)
        ids = self._place(self.id_column, place_of, "the ids", hint)
        self.check_covariates(place_of, hint)
        covariates = {name: place_of[name] for name in self.covariates}
        left_out = self._place(self.left_out, place_of, "what is left out", hint)
        apart = {target, ids, left_out, *covariates.values()}
        notes: tuple[str, ...] = ()
        if header and not header[0].strip() and 0 not in apart:
            notes = (_note_of_unnamed(self.id_column),)
            ids = 0 if ids is None else ids
            apart.add(0)
        names = self.columns
        if names is None:
            names = [name for place, name in enumerate(header) if place not in apart]
        self.check_features(names, place_of, hint)
        features = [place_of[name] for name in names]
        return Layout(len(header), list(names), features, target, ids, covariates, notes)

    def _hint(self, known: Iterable[str], first_cells: Callable[[], Iterable[str]]) -> str:
        """Return a hint where a requested name is missing, but is the name of a row."""
        asked = (self.target, *self.covariates, *(self.columns or ()))
        wanted = [name for name in asked if name is not None]
        absent = set(wanted).difference(known)
        return _TURNED if absent and absent.intersection(first_cells()) else ""

    def check_covariates(self, known: Iterable[str], hint: str = "") -> None:
        """Raise where covariates are missing."""
        known = list(known)
        missing = [name for name in self.covariates if name not in known]
        if missing:
            raise self.error(
                f"{len(missing)} of the {len(self.covariates)} covariates that are needed are "
                f"missing: {_listed(missing)}{_close_to(missing[0], known)}."
                f"{hint or ' There are: ' + _listed(known)}"
            )

    def check_features(self, names: Sequence[str], known: Iterable[str], hint: str = "") -> None:
        """Raise where features are missing, or where there are none at all."""
        places = {name: place for place, name in enumerate(known, start=1)}
        missing = [name for name in names if name not in places]
        if missing:
            raise self.error(
                f"{len(missing)} of the {len(names)} features that are needed are missing: "
                f"{_listed(missing)}{_close_to(missing[0], list(places))}."
                f"{hint or ' Add them to the file'}"
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

    def absent(self, name: str, purpose: str, known: Iterable[str], hint: str = "") -> TableError:
        """Return the error for a name that is missing."""
        known = list(known)
        return self.error(
            f"there is no {name!r} for {purpose}{_close_to(name, known)}. There are: "
            f"{_listed(known)}{'.' + hint if hint else ''}"
        )

    def no_number(
        self, column: str, row: int, value: str, others: Sequence[str] = ()
    ) -> TableError:
        """Return the error for a cell of a feature that cannot be read, as some of others."""
        too = f"; other columns have such cells too: {_listed(others)}" if others else ""
        return self.error(
            f"column {column!r} has {value!r} in row {row}, which is no number{too}. Correct it, "
            "or leave it empty if it is missing; a column that is no feature has to be the target, "
            "the id column or a covariate, or deleted"
        )

    def no_label(self, where: str, text: str = "") -> TableError:
        """Return the error for a sample without a response."""
        written = f" ({text!r} stands for a missing value)" if text else ""
        return self.error(
            f"the target {self.target or 'y'!r} is missing for {where}{written}: fill it in, or "
            "leave that sample out"
        )

    def no_covariate(self, name: str, where: str, text: str = "") -> TableError:
        """Return the error for a case without a covariate."""
        written = f" ({text!r} stands for a missing value)" if text else ""
        return self.error(
            f"the covariate {name!r} is missing in {where}{written}: fill it in, or leave that "
            "case out"
        )

    def no_rows(self) -> TableError:
        """Return the error for a table without samples, or without features in rows."""
        return self.error("it has a header but no rows: add them")

    def _place(
        self, name: str | None, place_of: dict[str, int], purpose: str, hint: str
    ) -> int | None:
        if name is not None and name not in place_of:
            raise self.absent(name, purpose, place_of, hint)
        return None if name is None else place_of[name]


def _note_of_unnamed(id_column: str | None) -> str:
    use = "is taken for the ids of the cases" if id_column is None else "is left out"
    return f"column 1 has no name, as R and pandas write the names of rows: it {use}"


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names[:8])) + (", ..." if len(names) > 8 else "")


def _close_to(name: str, known: Sequence[str]) -> str:
    close = difflib.get_close_matches(name, known, n=3)
    return f" (did you mean {' or '.join(map(repr, close))}?)" if close else ""
