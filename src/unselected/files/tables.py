"""Tables from files: text (CSV, TSV, also compressed), Parquet, and scipy's sparse `.npz`.

Rows are samples, or features with ``features_in_rows``. Whatever is wrong with a file is told as a
`TableError` with the file, the row and the column, counted from 1 as a person would.
"""

import csv
import difflib
import gzip
import io
import os
import re
import sys
import zipfile
import zlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from itertools import chain
from operator import itemgetter
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from unselected.files import STANDARD

Bytes = NDArray[np.uint8]

# Delimiters that a text file may have: the most frequent one in its first line, or the first here.
_DELIMITERS = {".csv": ",;\t", ".tsv": "\t", ".txt": "\t,;"}
_ENDINGS = ".csv, .tsv or .txt (also with .gz), .parquet and .npz"
# Characters of a text file that are split at a time.
_BLOCK = 1 << 19
_MISSING = frozenset(["", "NA", "NaN", "nan"])
_PANDAS_INDEX = re.compile(r"__index_level_[0-9]+__")
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_WHOLE_NUMBER = re.compile(r"0|-?[1-9][0-9]{0,17}")


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


def read_table(
    path: str | os.PathLike[str],
    *,
    target: str | None = None,
    id_column: str | None = None,
    features_in_rows: bool = False,
    columns: Sequence[str] | None = None,
) -> Table:
    """Read a table from a file.

    Parameters
    ----------
    path : str or path
        A name that ends in .csv, .tsv or .txt (also with .gz), .parquet or .npz, or "-" for CSV or
        TSV from standard input. An .npz file is a matrix as `scipy.sparse.save_npz` writes it (csr,
        csc or coo), to which an array ``feature_names`` and further arrays may be added; features
        without names are called "0", "1" and so on.
    target : str, default=None
        The column that holds the response, classes or numbers; in an .npz file the array, by
        default ``y`` if there is one.
    id_column : str, default=None
        The column that tells the samples apart; in an .npz file the array.
    features_in_rows : bool, default=False
        Features are in rows: the first column holds their names, the header the ids of the samples,
        and the row named ``target`` the response. An .npz matrix is transposed.
    columns : sequence of str, default=None
        Read only these features, in this order. By default all but target and ids.

    Returns
    -------
    table : Table

    Raises
    ------
    TableError
        Where the file cannot be used.
    """
    request = _Request(os.fspath(path), target, id_column, features_in_rows, columns)
    request.check()
    if request.path == STANDARD:
        return _read_text(io.BytesIO(sys.stdin.buffer.read()), request, _DELIMITERS[".txt"])
    name = request.path.lower()
    ending = Path(name.removesuffix(".gz")).suffix
    if ending in _DELIMITERS:
        with open(path, "rb") as file:
            return _read_text(file, request, _DELIMITERS[ending])
    readers = {".parquet": _read_parquet, ".npz": _read_sparse}
    if ending not in readers or name.endswith(".gz"):
        raise request.error(f"it is not clear what kind of file that is: {_ENDINGS} are known")
    with open(path, "rb") as file:
        return readers[ending](file, request)


@dataclass(frozen=True)
class _Layout:
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
class _Request:
    """What is wanted from which file, and the errors where that is not there."""

    path: str
    target: str | None
    id_column: str | None
    features_in_rows: bool
    columns: Sequence[str] | None

    def error(self, message: str) -> TableError:
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

    def layout(self, header: Sequence[str]) -> _Layout:
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
        return _Layout(len(header), names, [place_of[name] for name in names], target, ids)

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
        return self.error(
            f"column {column!r} has {value!r} in row {row}, which is no number. Correct it, or "
            "leave it empty if it is missing; a column that is no feature has to be the target or "
            "the id column, or deleted"
        )

    def no_label(self, where: str) -> TableError:
        return self.error(
            f"the target {self.target or 'y'!r} is missing for {where}: fill it in, or leave that "
            "sample out"
        )

    def no_rows(self) -> TableError:
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


class _Block(NamedTuple):
    """Rows that follow each other: the number of the first, columns of text, and other cells.

    The others are an array where all of them are single digits, else text.
    """

    number: int
    texts: list[Sequence[str]]
    cells: Bytes | list[Sequence[str]]


class _Text:
    """The rows of a text file, one after the other."""

    def __init__(self, stream: io.TextIOWrapper, request: _Request, delimiters: str) -> None:
        self.request = request
        self._stream = stream
        self._waiting = deque([self._stream.readline()])
        outside_quotes = re.sub(r'"[^"]*"', "", self._waiting[0])
        self.delimiter = max(delimiters, key=outside_quotes.count)
        self._reader = csv.reader(self._lines(), delimiter=self.delimiter, strict=True)
        self._number = 0

    def row(self) -> list[str] | None:
        """Return the next row; None at the end. Empty rows may only stand there."""
        first_empty = None
        for fields in self._reader:
            self._number += 1
            if fields and first_empty:
                raise self.request.error(f"row {first_empty} is empty: delete it")
            if fields:
                return fields
            first_empty = first_empty or self._number
        return None

    def blocks(self, width: int, texts: list[int]) -> Iterator[_Block]:
        """Yield the rows that are left, each of which must have ``width`` cells."""
        while lines := self._stream.readlines(_BLOCK):
            digits = _split_digits(lines, self.delimiter, width, texts)
            if digits is None:
                block = self._split(lines, width, texts)
            else:
                block = _Block(self._number + 1, *digits)
                self._number += len(lines)
            if block.texts:
                yield block

    def check_width(self, fields: list[str], width: int) -> None:
        """Raise where the row just read does not have as many cells as the header."""
        if len(fields) != width:
            raise self.request.error(
                f"row {self._number} has {len(fields)} fields where the header has {width}: mend "
                f"it, and put fields that contain {self.delimiter!r} in double quotes"
            )

    def _split(self, lines: list[str], width: int, texts: list[int]) -> _Block:
        """Split rows at their delimiters; a cell in quotes may go on beyond these lines."""
        self._waiting.extend(lines)
        first = self._number + 1
        found: list[Sequence[str]] = []
        cells: list[Sequence[str]] = []
        while self._waiting and (fields := self.row()):
            self.check_width(fields, width)
            found.append([fields[place] for place in texts])
            for place in reversed(texts):
                del fields[place]
            cells.append(fields)
        return _Block(first, found, cells)

    def _lines(self) -> Iterator[str]:
        while line := self._waiting.popleft() if self._waiting else self._stream.readline():
            yield line


def _split_digits(
    lines: list[str], delimiter: str, width: int, texts: list[int]
) -> tuple[list[Sequence[str]], Bytes] | None:
    """Split rows whose cells are single digits, but for some columns of text; else return None.

    Each of those cells is two characters with its delimiter, so that where a column of text begins
    is known without looking at the cells before it.

    >>> _split_digits(["0,1,tumour,1"], ",", 4, [2])
    ([['tumour']], array([[0, 1, 1]], dtype=uint8))
    """
    shape = (len(lines), width - len(texts), 2)
    found, rests = [], []
    for line in lines:
        row, rest = _split_texts(line.rstrip("\r\n") + delimiter, delimiter, texts)
        if len(rest) != 2 * shape[1]:
            return None
        found.append(row)
        rests.append(rest)
    joined = "".join(rests)
    if not joined.isascii():
        return None
    pairs = np.frombuffer(joined.encode("ascii"), dtype=np.uint8).reshape(shape)
    digits = pairs[:, :, 0] - np.uint8(ord("0"))  # characters before "0" become large numbers
    if np.any(digits > 9) or np.any(pairs[:, :, 1] != ord(delimiter)):
        return None
    return found, digits


def _split_texts(rest: str, delimiter: str, texts: list[int]) -> tuple[Sequence[str], str]:
    """Return the columns of text, and what is left of the row; nothing where they are not clear."""
    found = []
    for removed, place in enumerate(texts):
        start = 2 * (place - removed)
        quoted = rest.startswith('"', start)
        stop = rest.find('"' + delimiter, start + 1) + 1 if quoted else rest.find(delimiter, start)
        text = rest[start + 1 : stop - 1] if quoted else rest[start:stop]
        if stop < start + 2 * quoted or '"' in text:
            return (), ""
        found.append(text)
        rest = rest[:start] + rest[stop + 1 :]
    return found, rest


def _read_text(file: IO[bytes], request: _Request, delimiters: str) -> Table:
    start = file.read(4)
    file.seek(0)
    if start in (b"PAR1", b"PK\x03\x04"):
        raise request.error("it is no text: a Parquet or .npz file is known by the end of its name")
    content = gzip.GzipFile(fileobj=file) if start[:2] == b"\x1f\x8b" else file
    decoded = io.TextIOWrapper(content, encoding="utf-8-sig", newline="")
    with _explained(request), decoded as stream:
        text = _Text(stream, request, delimiters)
        return _feature_rows(text) if request.features_in_rows else _sample_rows(text)


@contextmanager
def _explained(request: _Request) -> Iterator[None]:
    """Turn what can go wrong while text is read into errors that say what to do."""
    try:
        yield
    except UnicodeDecodeError as error:
        raise request.error(f"it is not UTF-8 text ({error.reason}): save it as such") from error
    except csv.Error as error:
        raise request.error(f"a row cannot be split ({error}): check its quotes") from error
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise request.error(f"it is damaged or incomplete ({error}): copy it again") from error


def _sample_rows(text: _Text) -> Table:
    request = text.request
    layout = request.layout(_header(text))
    pick = _picker(layout)
    blocks = []
    texts: list[Sequence[str]] = []
    for block in text.blocks(layout.width, layout.texts):
        blocks.append(_numbers(block._replace(cells=pick(block.cells)), layout.names, request))
        texts.extend(block.texts)
    if not blocks:
        raise request.no_rows()
    column = dict(zip(layout.texts, zip(*texts, strict=True), strict=False))
    y = ids = None
    if layout.target is not None:
        y = _labels(column[layout.target], request, lambda place: f"row {place + 2}")
    if layout.ids is not None:
        ids = _strings(column[layout.ids])
    return Table(_narrowed(np.vstack(blocks)), _strings(layout.names), y, ids, request.path)


def _header(text: _Text) -> list[str]:
    header = text.row()
    if header is None:
        raise text.request.error("it is empty: a table has a header and rows")
    return header


def _picker(layout: _Layout) -> Callable[[Any], Any]:
    """Return a function that picks the features from the cells besides the columns of text."""
    texts = set(layout.texts)
    others = [place for place in range(layout.width) if place not in texts]
    if layout.features == others:
        return lambda cells: cells
    rank = {place: rank for rank, place in enumerate(others)}
    places = [rank[place] for place in layout.features]
    take = itemgetter(*places) if len(places) > 1 else lambda row: [row[j] for j in places]
    return lambda cells: (
        cells[:, places] if isinstance(cells, np.ndarray) else list(map(take, cells))
    )


def _feature_rows(text: _Text) -> Table:
    header, first = _header(text), text.row()
    if first is None:
        raise text.request.no_rows()
    if len(first) == len(header) + 1:  # R leaves the corner out
        header.insert(0, "")
    text.check_width(first, len(header))
    blocks = chain([_Block(2, [first[:1]], [first[1:]])], text.blocks(len(header), [0]))
    return _from_feature_rows(header[1:], blocks, text.request)


def _from_feature_rows(ids: list[str], blocks: Iterable[_Block], request: _Request) -> Table:
    if request.id_column is not None:
        raise request.error(
            f"the id column {request.id_column!r} does not go with features in rows, where the "
            "header holds the ids: leave it out"
        )
    if not ids:
        raise request.error("it has no samples: there must be columns besides the names")
    request.check_distinct(ids, "sample")
    names: list[str] = []
    features: dict[str, NDArray[Any]] = {}
    y = None
    for block in blocks:
        names.extend(name for (name,) in block.texts)
        for row in _one_by_one(block, request):
            name = row.texts[0][0]
            if name == request.target:
                y = _labels([*map(str, row.cells[0])], request, lambda j: f"sample {ids[j]!r}")
            else:
                features[name] = _numbers(row, ids, request)[0]
    request.check_distinct(names, "feature")
    if request.target is not None and y is None:
        raise request.absent(request.target, "the target", names)
    chosen = list(features) if request.columns is None else list(request.columns)
    request.check_features(chosen, names)
    X = _side_by_side([features[name] for name in chosen], len(ids))
    return Table(X, _strings(chosen), y, _strings(ids), request.path)


def _one_by_one(block: _Block, request: _Request) -> Iterator[_Block]:
    """Yield the rows of a block that are wanted."""
    wanted = None if request.columns is None else {request.target, *request.columns}
    for j, texts in enumerate(block.texts):
        if wanted is None or texts[0] in wanted:
            yield _Block(block.number + j, [texts], block.cells[j : j + 1])


def _numbers(block: _Block, columns: Sequence[str], request: _Request) -> NDArray[Any]:
    """Return cells as numbers, one row per row; NaN where they are missing."""
    if isinstance(block.cells, np.ndarray):
        return block.cells
    cells = list(chain.from_iterable(block.cells))
    values = _plain_numbers(cells)
    if values is None:
        values = np.array([_number(cell.strip()) for cell in cells])
        if np.isinf(values).any():
            place = int(np.argmax(np.isinf(values)))
            row, column = divmod(place, len(columns))
            raise request.no_number(columns[column], block.number + row, cells[place])
    return values.reshape(len(block.cells), len(columns))


def _plain_numbers(cells: list[str]) -> NDArray[Any] | None:
    """Return cells as finite numbers, fast; None where something else is among them."""
    joined = "".join(cells)
    if "_" in joined or not joined.isascii():  # float() takes 1_000, and digits of any script
        return None
    try:
        values = np.fromiter(map(float, cells), dtype=np.float64, count=len(cells))
    except ValueError:
        return None
    return values if np.isfinite(values).all() else None


def _number(text: str) -> float:
    """Return the number that a text is; infinity where it is none."""
    if text in _MISSING:
        return np.nan
    return float(text) if _NUMBER.fullmatch(text) else np.inf


def _narrowed(X: NDArray[Any]) -> NDArray[Any]:
    """Return uint8 where all values are 0 and 1, else float64."""
    zero_one = X.max(initial=0) <= 1 if X.dtype == np.uint8 else np.all((X == 0) | (X == 1))
    return X.astype(np.uint8 if zero_one else np.float64, copy=False)


def _side_by_side(features: list[NDArray[Any]], n_samples: int) -> NDArray[Any]:
    if not features:
        return np.empty((n_samples, 0), dtype=np.uint8)
    return _narrowed(np.ascontiguousarray(np.vstack(features).T))


def _strings(texts: Iterable[str]) -> NDArray[Any]:
    """Return an array of Python's own strings: numpy's lose zeros at the end."""
    listed = list(texts)
    array = np.empty(len(listed), dtype=object)
    array[:] = listed
    return array


def _labels(texts: Sequence[str], request: _Request, where: Callable[[int], str]) -> NDArray[Any]:
    """Return labels as whole numbers or numbers where all are written so, else as text."""
    for place, text in enumerate(texts):
        if text.strip() in _MISSING:
            raise request.no_label(where(place))
    distinct = set(texts)
    if all(map(_WHOLE_NUMBER.fullmatch, distinct)):
        return np.array([int(text) for text in texts], dtype=np.int64)
    if all(map(_is_as_written, distinct)):
        return np.array([float(text) for text in texts], dtype=np.float64)
    return _strings(texts)


def _is_as_written(text: str) -> bool:
    """Say whether a text is a finite number just as Python would write it.

    >>> _is_as_written("1.5"), _is_as_written("2"), _is_as_written("02"), _is_as_written("1.50")
    (True, True, False, False)
    """
    number = float(text) if _NUMBER.fullmatch(text) else np.inf
    return bool(np.isfinite(number)) and text in (repr(number), repr(number).removesuffix(".0"))


def _read_parquet(file: IO[bytes], request: _Request) -> Table:
    try:
        parquet = import_module("pyarrow.parquet")
    except ImportError as error:
        raise ImportError(
            f'{request.path}: Parquet files need pyarrow. pip install "unselected[parquet]"'
        ) from error
    try:
        source = parquet.ParquetFile(file)
        header = _without_index(source.schema_arrow.names, request)
        layout = None if request.features_in_rows else request.layout(header)
        table = source.read(header if layout is None else _names_of(layout, header))
    except TableError:
        raise
    except (ValueError, OSError) as error:  # from which pyarrow derives its errors
        raise request.error(f"it is damaged or no Parquet ({error}): write it again") from error
    if source.metadata.num_rows == 0:
        raise request.no_rows()
    if layout is None:
        return _parquet_feature_rows(table, request)
    features = [_parquet_numbers(table[name], name, request) for name in layout.names]
    y = ids = None
    if request.target is not None:
        y = _known_labels(table[request.target].to_pylist(), request)
    if request.id_column is not None:
        ids = _strings(map(_cell, table[request.id_column].to_pylist()))
    X = _side_by_side(features, source.metadata.num_rows)
    return Table(X, _strings(layout.names), y, ids, request.path)


def _without_index(names: Iterable[str], request: _Request) -> list[str]:
    """Leave out what pandas stores of its index, unless it is asked for: it is no feature."""
    asked = {request.target, request.id_column}
    return [name for name in names if name in asked or not _PANDAS_INDEX.fullmatch(name)]


def _names_of(layout: _Layout, header: list[str]) -> list[str]:
    return [header[place] for place in {*layout.texts, *layout.features}]


def _parquet_feature_rows(table: Any, request: _Request) -> Table:
    names, *samples = [list(map(_cell, column.to_pylist())) for column in table.columns]
    cells: list[Sequence[str]] = list(zip(*samples, strict=True))
    block = _Block(1, [[name] for name in names], cells)
    return _from_feature_rows(table.column_names[1:], [block], request)


def _parquet_numbers(column: Any, name: str, request: _Request) -> NDArray[Any]:
    values = np.asarray(column.to_numpy())
    if values.dtype.kind in "bui" or (values.dtype.kind == "f" and not np.isinf(values).any()):
        return _narrowed(values)
    block = _Block(1, [], [[_cell(value)] for value in column.to_pylist()])
    return _narrowed(_numbers(block, [name], request)[:, 0])


def _cell(value: object) -> str:
    """Return a value as a text file would hold it."""
    if value is None:
        return ""
    return str(int(value)) if isinstance(value, bool) else str(value)


def _known_labels(labels: list[Any], request: _Request) -> NDArray[Any]:
    """Return labels that have their types already."""
    for place, label in enumerate(labels):
        if label is None or label != label:
            raise request.no_label(f"row {place + 1}")
    return _strings(labels) if isinstance(labels[0], str) else np.array(labels)


def _read_sparse(file: IO[bytes], request: _Request) -> Table:
    matrix, arrays = _load_sparse(file, request)
    if request.features_in_rows:
        matrix = matrix.T
    n_samples, n_features = matrix.shape
    if n_samples == 0 or n_features == 0:
        raise request.error(f"its shape is {matrix.shape}: it needs rows and columns")
    notes: list[str] = []
    names = _side_array("feature_names", "names", n_features, arrays, notes, request)
    target = _side_array(request.target or "y", "the target", n_samples, arrays, notes, request)
    ids = _side_array(request.id_column, "the ids", n_samples, arrays, notes, request)
    if names is None:
        names = list(range(n_features))
        notes.append("the features have no names: they are called by their numbers, from 0 on")
    names = [_cell(name) for name in names]
    request.check_distinct(names, "feature")
    if request.columns is not None:
        matrix, names = _pick_sparse(matrix, names, request), list(request.columns)
    return Table(
        X=_densified(matrix, request),
        names=_strings(names),
        y=None if target is None else _known_labels(target, request),
        ids=None if ids is None else _strings(map(_cell, ids)),
        path=request.path,
        notes=tuple(notes),
    )


def _load_sparse(file: IO[bytes], request: _Request) -> tuple[Any, dict[str, Any]]:
    """Return the matrix, and the other arrays that are wanted; None for one of Python objects."""
    wanted = {"feature_names", request.target or "y", request.id_column or ""}
    try:
        sizes = [entry.file_size for entry in zipfile.ZipFile(file).infolist()]
        _check_memory(sum(sizes), request)
        file.seek(0)
        matrix: Any = sparse.load_npz(file)
        if matrix.format not in ("csr", "csc", "coo") or matrix.ndim != 2:
            raise request.error(
                f"it holds a {matrix.ndim}-d {matrix.format} matrix: save it as csr"
            )
        if matrix.format != "coo":  # whose places have been checked
            matrix.check_format(full_check=True)
        _check_memory(8 * sum(matrix.shape), request)
        file.seek(0)
        with np.load(file, allow_pickle=False) as stored:
            arrays = {name: _stored(stored, name) for name in wanted.intersection(stored.files)}
    except TableError:
        raise
    except Exception as error:  # a damaged archive can fail in any way
        raise request.error(
            f"it is damaged or no matrix of scipy.sparse.save_npz ({error}): write it again"
        ) from error
    return matrix, arrays


def _stored(stored: Any, name: str) -> NDArray[Any] | None:
    try:
        return np.asarray(stored[name])
    except ValueError as error:
        if "allow_pickle" in str(error):  # which would run what the file says
            return None
        raise


def _side_array(
    name: str | None,
    purpose: str,
    length: int,
    arrays: dict[str, Any],
    notes: list[str],
    request: _Request,
) -> list[Any] | None:
    """Return an array that stands beside the matrix, if it is there and can be read."""
    asked = name is not None and name in (request.target, request.id_column)
    if name not in arrays:
        if asked:
            raise request.error(f"there is no array {name!r} for {purpose}: add it to the file")
        return None
    values = arrays[name]
    if values is None:
        fault = f"the array {name!r} holds Python objects, which are not read because they could "
        fault += "run code; save it as text or numbers, for example with .astype(str)"
        if asked:
            raise request.error(fault)
        notes.append(fault)
        return None
    if values.dtype.kind == "S":
        values = np.char.decode(values, "utf-8", "replace")
    if values.shape != (length,) or values.dtype.kind not in "buifU":
        raise request.error(
            f"the array {name!r} for {purpose} has the shape {values.shape} and the type "
            f"{values.dtype}: it needs {length} texts or numbers"
        )
    return list(values.tolist())


def _pick_sparse(matrix: Any, names: list[str], request: _Request) -> Any:
    columns = list(request.columns or ())
    request.check_features(columns, names)
    place_of = {name: place for place, name in enumerate(names)}
    return sparse.csc_array(matrix)[:, [place_of[name] for name in columns]]


def _densified(matrix: Any, request: _Request) -> NDArray[Any]:
    """Return a dense array; one of bits never becomes one of doubles on the way."""
    matrix = sparse.csc_array(matrix)
    matrix.sum_duplicates()
    if matrix.dtype.kind not in "buif" or np.isinf(matrix.data).any():
        raise request.error(f"it has infinite values or those of type {matrix.dtype}: mend it")
    dtype = _narrowed(matrix.data).dtype
    _check_memory(int(matrix.shape[0]) * int(matrix.shape[1]) * dtype.itemsize, request)
    return np.asarray(matrix.astype(dtype).toarray(order="C"))


def _check_memory(n_bytes: int, request: _Request) -> None:
    if n_bytes > _memory():
        raise request.error(
            f"the table takes {n_bytes / 1e9:.1f} GB of memory, and this machine has "
            f"{_memory() / 1e9:.1f} GB: leave columns out, or use a larger machine"
        )


def _memory() -> int:
    """Return the bytes of memory of this machine, or what no table has where that is not known."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return sys.maxsize
