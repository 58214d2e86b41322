"""A table that says how features are shown to readers: their labels and units."""

import csv
import os
from typing import NamedTuple

_COLUMNS = ("feature", "label", "unit")


class Label(NamedTuple):
    """How a feature is shown: its name for readers, and the unit of its values."""

    text: str
    unit: str = ""


def read_labels(path: str | os.PathLike[str]) -> dict[str, Label]:
    """Read a CSV file with the columns feature, label and unit; the last may be missing.

    An empty label leaves the name of the feature.

    Raises
    ------
    ValueError
        Where the columns are others, a feature has no name, or one is there twice.
    """
    with open(path, encoding="utf-8-sig", newline="") as file:
        reader = csv.DictReader(file)
        header = tuple(reader.fieldnames or ())
        if header not in (_COLUMNS, _COLUMNS[:2]):
            raise ValueError(
                f"{os.fspath(path)} has the columns {', '.join(header)}: give feature, label and, "
                "if features have units, unit."
            )
        labels: dict[str, Label] = {}
        for number, row in enumerate(reader, start=2):
            name = (row["feature"] or "").strip()
            if not name or name in labels:
                what = f"has the feature {name!r} twice" if name else "names no feature"
                raise ValueError(f"{os.fspath(path)} {what} in line {number}.")
            text, unit = (row.get(column) or "" for column in _COLUMNS[1:])
            labels[name] = Label(text.strip() or name, unit.strip())
    return labels
