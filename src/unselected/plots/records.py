"""Records of experiments, read into arrays: mappings or objects, one for each method and run."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from math import isfinite
from typing import Any

import numpy as np

from unselected._typing import Floats

Tables = dict[str, Floats]

_MISSING = object()


def read(records: Iterable[Any], fields: Sequence[str]) -> list[dict[str, Any]]:
    """Return the fields of each record; raise where there is no record, or a field is missing.

    >>> read([{"k": 1, "seconds": 2.0}], ["k"])
    [{'k': 1}]
    """
    rows = [
        {field: _field(record, field, place) for field in fields}
        for place, record in enumerate(records)
    ]
    if not rows:
        raise ValueError("records is empty: there is nothing to draw.")
    return rows


def field_or(record: Any, field: str, default: Any) -> Any:
    """Return a field of a mapping or an object, or the default."""
    if isinstance(record, Mapping):
        return record.get(field, default)
    return getattr(record, field, default)


def _field(record: Any, field: str, place: int) -> Any:
    value = field_or(record, field, _MISSING)
    if value is _MISSING:
        raise ValueError(
            f"record {place} has no {field!r}: give mappings or objects that have it (of a "
            "DataFrame, frame.to_dict('records'))."
        )
    return value


def check_methods(found: Iterable[Any], known: Sequence[str]) -> None:
    """Raise at the first method that is not known."""
    for method in found:
        if method not in known:
            raise ValueError(
                f"method {method!r} is not one of {', '.join(map(repr, known))}: rename it, or "
                "leave its records out."
            )


def as_number(value: Any, field: str, place: int) -> float:
    """Return a finite number, or raise, naming the record."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = float("nan")
    if not isfinite(number):
        raise ValueError(f"record {place} has {field}={value!r}, which is not a finite number.")
    return number


def tables_by_k(
    records: Iterable[Any], scores: Sequence[str], methods: Sequence[str]
) -> tuple[Floats, dict[str, Tables]]:
    """Return the numbers of kept features, and for each score and method its values.

    Returns
    -------
    k : array of shape (n_k,)
        In increasing order.
    tables : dict of dict of arrays of shape (n_replicates, n_k)
        By score, then by method; NaN where there is no record.
    """
    rows = read(records, ["method", "replicate", "k", *scores])
    check_methods((row["method"] for row in rows), methods)
    found = [method for method in methods if any(row["method"] == method for row in rows)]
    numbers = [_positive(row["k"], place) for place, row in enumerate(rows)]
    k = np.unique(numbers)
    replicates = {name: i for i, name in enumerate(dict.fromkeys(r["replicate"] for r in rows))}
    shape = len(replicates), k.size
    tables = {score: {method: np.full(shape, np.nan) for method in found} for score in scores}
    seen: set[tuple[Hashable, ...]] = set()
    for place, (row, number) in enumerate(zip(rows, numbers, strict=True)):
        check_new(seen, place, method=row["method"], replicate=row["replicate"], k=number)
        cell = replicates[row["replicate"]], int(np.searchsorted(k, number))
        for score in scores:
            tables[score][row["method"]][cell] = as_number(row[score], score, place)
    return k, tables


def _positive(value: Any, place: int) -> float:
    number = as_number(value, "k", place)
    if number < 1:
        raise ValueError(f"record {place} has k={value!r}: it must be at least 1.")
    return number


def check_new(seen: set[tuple[Hashable, ...]], place: int, **key: Any) -> None:
    """Remember the key of a record, or raise if another record has the same."""
    values = tuple(key.values())
    if values in seen:
        what = ", ".join(f"{name}={value!r}" for name, value in key.items())
        raise ValueError(f"record {place} is the second with {what}: give each run once.")
    seen.add(values)


def tables_by_group(
    records: Iterable[Any], scores: Sequence[str], methods: Sequence[str]
) -> tuple[list[Hashable], dict[str, Tables]]:
    """Return the groups, and for each score and method its values, one for each group.

    If records also have a ``partition``, groups are pairs of partition and group.
    """
    records = list(records)
    rows = read(records, ["method", "group", *scores])
    check_methods((row["method"] for row in rows), methods)
    values: dict[tuple[Hashable, str], dict[str, float]] = {}
    seen: set[tuple[Hashable, ...]] = set()
    for place, (record, row) in enumerate(zip(records, rows, strict=True)):
        partition = field_or(record, "partition", None)
        group = row["group"] if partition is None else (partition, row["group"])
        check_new(seen, place, method=row["method"], group=group)
        values[group, row["method"]] = {s: as_number(row[s], s, place) for s in scores}
    groups = list(dict.fromkeys(group for group, _ in values))
    for group in groups:
        _check_complete(group, [method for method in methods if (group, method) not in values])
    return groups, {
        score: {m: np.array([values[group, m][score] for group in groups]) for m in methods}
        for score in scores
    }


def _check_complete(group: Hashable, missing: list[str]) -> None:
    if missing:
        raise ValueError(
            f"group {group!r} has no record of method {missing[0]!r}: a pair needs both methods."
        )
