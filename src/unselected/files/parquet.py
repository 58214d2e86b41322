"""Columns of a Parquet file."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unselected._typing import Ints
from unselected.files.sources import FileColumns, distinct_names, library, telling_damage
from unselected.files.table_request import TableError


class ParquetColumns(FileColumns):
    """Columns of booleans and numbers in a Parquet file; null becomes NaN.

    The footer, which describes all columns, is read once and kept.
    """

    def __init__(
        self, path: str, footer: Any, columns: list[str], dtype: Any, names: NDArray[Any] | None
    ) -> None:
        super().__init__(path, (footer.num_rows, len(columns)), dtype, names=names)
        self._footer = footer
        self._columns = columns

    def _load(self, columns: slice | Ints) -> NDArray[Any]:
        wanted = [self._columns[place] for place in np.arange(self.shape[1])[columns].tolist()]
        parquet = pyarrow_parquet(self.path)
        with parquet.ParquetFile(self.path, metadata=self._footer) as file:
            table = file.read(sorted(set(wanted)), use_threads=False)
        block = np.empty((table.num_rows, len(wanted)), dtype=self.dtype, order="F")
        for place, name in enumerate(wanted):
            block[:, place] = table[name].to_numpy()
        return block


def open_parquet(path: str, *, names: bool, leave_out: Sequence[str]) -> ParquetColumns:
    """Open a Parquet file."""
    parquet = pyarrow_parquet(path)
    with telling_damage(path, "no Parquet"), parquet.ParquetFile(path) as file:
        footer, schema = file.metadata, file.schema_arrow
    distinct_names(schema.names, len(schema.names), path)  # for columns are read by their names
    for name in leave_out:
        if name not in schema.names:
            raise TableError(f"{path}: leave_out has {name!r}, but there is no such column.")
    kept = [field for field in schema if field.name not in {*leave_out, *_index_of(schema)}]
    if not kept:
        raise TableError(f"{path}: it has no columns besides those that are left out.")
    dtype = _common_type(path, kept, _without_nulls(footer))
    columns = [field.name for field in kept]
    known = distinct_names(columns, len(columns), path) if names else None
    return ParquetColumns(path, footer, columns, dtype, known)


def pyarrow_parquet(path: str) -> Any:
    """Return the library that reads Parquet files."""
    return library("pyarrow.parquet", path, "Parquet files", "parquet")


def _index_of(schema: Any) -> set[str]:
    """Return the columns that hold the index of a pandas frame, which is not a feature."""
    about = schema.pandas_metadata or {}
    return {name for name in about.get("index_columns", ()) if isinstance(name, str)}


def _without_nulls(footer: Any) -> set[str]:
    """Return the columns without missing values, according to the file."""
    with_nulls, known = set(), set()
    for group in range(footer.num_row_groups):
        described = footer.row_group(group)
        for place in range(footer.num_columns):
            column = described.column(place)
            known.add(column.path_in_schema)
            statistics = column.statistics
            if statistics is None or not statistics.has_null_count or statistics.null_count:
                with_nulls.add(column.path_in_schema)
    return known - with_nulls


def _common_type(path: str, fields: Iterable[Any], without_nulls: set[str]) -> np.dtype[Any]:
    """Return the type that holds the values of all columns, and NaN where some may be missing."""
    types = set()
    for field in fields:
        dtype = _numpy_type(path, field)
        may_miss = field.nullable and field.name not in without_nulls
        types.add(np.promote_types(dtype, np.float32) if may_miss and dtype.kind != "f" else dtype)
    common: np.dtype[Any] = np.result_type(*types)
    return common


def _numpy_type(path: str, field: Any) -> np.dtype[Any]:
    try:
        dtype: np.dtype[Any] = np.dtype(field.type.to_pandas_dtype())
    except (NotImplementedError, TypeError):
        dtype = np.dtype(object)
    if dtype.kind not in "biuf":
        raise TableError(
            f"{path}: column {field.name!r} is of type {field.type}, and only booleans and numbers "
            f"can be features: encode it as numbers, or leave it out with "
            f"leave_out=[{field.name!r}]."
        )
    return dtype
