"""Tables that stay in their files and are read by columns."""

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unselected._typing import Ints
from unselected.columns.sources import ColumnSource
from unselected.files.bed import Coding
from unselected.files.opening import ending_of, open_columns
from unselected.files.sources import places

_ENDINGS = (".npy", ".h5ad", ".bed", ".zarr")


def stays_in_its_file(path: str) -> bool:
    """Return whether a table is read by columns, and not as a whole.

    >>> stays_in_its_file("genotypes.bed"), stays_in_its_file("train.csv")
    (True, False)
    """
    return ending_of(path) in _ENDINGS


def is_in_another_file(option: str) -> bool:
    """Say whether an option is FILE:COLUMN rather than the name of a column."""
    file, colon, _ = option.rpartition(":")
    return bool(colon) and os.path.exists(file)


def open_for(model: str, path: str, *, names: bool = True) -> ColumnSource:
    """Open a table for a model; models for binary features get the presence of an allele.

    That for genotypes, "genotype", gets the number of copies, as all others do.
    """
    if ending_of(path) != ".bed":
        return open_columns(path, names=names)
    coding: Coding = "presence" if model in ("bernoulli", "mixture") else "dosage"
    return open_columns(path, names=names, coding=coding)


@dataclass(frozen=True)
class ColumnNumbers:
    """Names of columns without names: their numbers from 0, made when they are needed.

    >>> names = ColumnNumbers(10_000_000)
    >>> names[np.array([3, 1])].tolist(), names.place("9999999"), names.place("age")
    (['3', '1'], 9999999, None)
    """

    n_columns: int

    def __getitem__(self, columns: slice | Ints) -> NDArray[Any]:
        numbers = places(columns, self.n_columns)
        return np.array([str(number) for number in numbers.tolist()], dtype=object)

    def place(self, name: str) -> int | None:
        """Return the column with this name, or None."""
        is_number = name.isascii() and name.isdecimal() and (name == "0" or name[0] != "0")
        return int(name) if is_number and int(name) < self.n_columns else None


def names_in(source: ColumnSource) -> NDArray[Any] | ColumnNumbers:
    """Return the names of the columns, or their numbers where there are no names."""
    return ColumnNumbers(source.shape[1]) if source.names is None else source.names


def check_whole(path: str, no_names: bool) -> None:
    """Raise on options that are for tables that stay in their files."""
    if no_names:
        raise ValueError(
            f"--no-names is not available for {path}, which is read as a whole: omit it."
        )


def check_plain(path: str, id_column: str | None, features_in_rows: bool) -> None:
    """Raise on options that are for tables that are read as a whole."""
    for option, given in (
        ("--id", id_column is not None),
        ("--features-in-rows", features_in_rows),
    ):
        if given:
            raise ValueError(f"{option} is not available for {path}: omit it.")


def read_kept(path: str, model: str, names: NDArray[Any] | None, *, no_names: bool) -> NDArray[Any]:
    """Read the columns with these names, in this order; all columns where names is None."""
    source = open_for(model, path, names=not no_names)
    if names is None:
        return source[:, slice(0, source.shape[1])]
    return source[:, _places(names.tolist(), names_in(source), path, no_names=no_names)]


def _places(
    wanted: list[str], known: NDArray[Any] | ColumnNumbers, path: str, *, no_names: bool
) -> Ints:
    if isinstance(known, ColumnNumbers):
        found = {name: known.place(name) for name in wanted}
    else:
        needed = set(wanted)
        found = {name: place for place, name in enumerate(known.tolist()) if name in needed}
    missing = [name for name in wanted if found.get(name) is None]
    if missing:
        raise ValueError(
            f"{path}: {len(missing)} of the {len(wanted)} features that are needed are missing, "
            f"the first of them {missing[0]!r}: {_remedy(wanted, no_names=no_names)}."
        )
    return np.array([found[name] for name in wanted], dtype=np.intp)


def _remedy(wanted: list[str], *, no_names: bool) -> str:
    """Return what to do where columns are missing; the model may have numbers, not names."""
    are_numbers = all(name.isdecimal() for name in wanted)
    if no_names and not are_numbers:
        return "the model has names, so omit --no-names"
    if not no_names and are_numbers:
        return "add them to the file, or use --no-names if the model was fitted with it"
    return "add them to the file"
