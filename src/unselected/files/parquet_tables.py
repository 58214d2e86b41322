"""Tables from Parquet files, read with pyarrow."""

import re
from collections.abc import Iterable, Sequence
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from unselected.files.cells import (
    Block,
    as_text,
    known_labels,
    narrowed,
    numbers,
    side_by_side,
    strings,
)
from unselected.files.covariate_cells import typed_covariates
from unselected.files.feature_rows import from_feature_rows
from unselected.files.parquet import pyarrow_parquet
from unselected.files.table_request import Layout, Request, Table, TableError

_PANDAS_INDEX = re.compile(r"__index_level_[0-9]+__")


def read_parquet(file: IO[bytes], request: Request) -> Table:
    """Read the requested columns of a table from a Parquet file."""
    parquet = pyarrow_parquet(request.path)
    try:
        source = parquet.ParquetFile(file)
        header = _without_index(source.schema_arrow.names, request)
        layout = None
        if not request.features_in_rows:
            layout = request.layout(header, lambda: _first_cells(source, header))
        table = source.read(header if layout is None else _names_of(layout, header))
    except TableError:
        raise
    except (ValueError, OSError) as error:  # the bases of pyarrow's errors
        raise request.error(f"it is damaged or no Parquet ({error}): write it again") from error
    if source.metadata.num_rows == 0:
        raise request.no_rows()
    if layout is None:
        return _feature_rows(table, request)
    features = [_column_numbers(table[name], name, request) for name in layout.names]
    y = ids = None
    if request.target is not None:
        y = known_labels(table[request.target].to_pylist(), request)
    if layout.ids is not None:
        ids = strings(map(as_text, table[header[layout.ids]].to_pylist()))
    X = side_by_side(features, source.metadata.num_rows)
    asked = {name: table[name].to_pylist() for name in request.covariates}
    covariates = typed_covariates(asked, request)
    return Table(X, strings(layout.names), y, ids, request.path, layout.notes, covariates)


def _first_cells(source: Any, header: list[str]) -> list[str]:
    return [as_text(value) for value in source.read(header[:1])[0].to_pylist()]


def _without_index(names: Iterable[str], request: Request) -> list[str]:
    """Leave out the index of pandas, unless it is asked for."""
    asked = {request.target, request.id_column, *request.covariates}
    return [name for name in names if name in asked or not _PANDAS_INDEX.fullmatch(name)]


def _names_of(layout: Layout, header: list[str]) -> list[str]:
    return [header[place] for place in {*layout.texts, *layout.features}]


def _feature_rows(table: Any, request: Request) -> Table:
    names, *samples = [list(map(as_text, column.to_pylist())) for column in table.columns]
    cells: list[Sequence[str]] = list(zip(*samples, strict=True))
    block = Block(1, [[name] for name in names], cells)
    return from_feature_rows(table.column_names[1:], [block], request)


def _column_numbers(column: Any, name: str, request: Request) -> NDArray[Any]:
    values = np.asarray(column.to_numpy())
    if values.dtype.kind in "bui" or (values.dtype.kind == "f" and not np.isinf(values).any()):
        return narrowed(values)
    block = Block(1, [], [[as_text(value)] for value in column.to_pylist()])
    return narrowed(numbers(block, [name], request)[:, 0])
