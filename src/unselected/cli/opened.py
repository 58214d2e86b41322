"""Tables that stay in their files: which they are, and what a command reads of them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from unselected.files.opening import ending_of, open_columns
from unselected.sources import ColumnSource
from unselected.tables import Ints

_ENDINGS = (".npy", ".h5ad", ".bed", ".zarr")


def stays_in_its_file(path: str) -> bool:
    """Say whether a table is opened and read by columns, and not read as a whole.

    >>> stays_in_its_file("genotypes.bed"), stays_in_its_file("train.csv")
    (True, False)
    """
    return ending_of(path) in _ENDINGS


def open_for(model: str, path: str) -> ColumnSource:
    """Open a table for a model: of genotypes, bernoulli takes the presence of an allele."""
    if ending_of(path) != ".bed":
        return open_columns(path)
    return open_columns(path, coding="presence" if model == "bernoulli" else "dosage")


def names_in(source: ColumnSource) -> NDArray[Any]:
    """Return the names of the columns, or where there are none their numbers, from 0 on."""
    if source.names is not None:
        return source.names
    return np.array([str(column) for column in range(source.shape[1])], dtype=object)


def check_plain(path: str, id_column: str | None, features_in_rows: bool) -> None:
    """Raise where options are given that are for tables that are read as a whole."""
    for option, given in (
        ("--id", id_column is not None),
        ("--features-in-rows", features_in_rows),
    ):
        if given:
            raise ValueError(f"{option} does not go with {path}, which has no such: leave it out.")


def read_kept(path: str, model: str, names: NDArray[Any] | None) -> NDArray[Any]:
    """Read the columns with these names, in this order; all where a model knows no names."""
    source = open_for(model, path)
    if names is None:
        return source[:, slice(0, source.shape[1])]
    return source[:, _places(names, names_in(source), path)]


def _places(wanted: NDArray[Any], known: NDArray[Any], path: str) -> Ints:
    needed = set(wanted.tolist())
    place_of = {name: place for place, name in enumerate(known.tolist()) if name in needed}
    missing = [name for name in wanted.tolist() if name not in place_of]
    if missing:
        raise ValueError(
            f"{path}: {len(missing)} of the {len(wanted)} features that are needed are missing, "
            f"the first of them {missing[0]!r}: add them to the file."
        )
    return np.array([place_of[name] for name in wanted.tolist()], dtype=np.intp)
