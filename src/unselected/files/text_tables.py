"""Tables from text: CSV and TSV, also compressed, in blocks of lines.

Rows of single digits, as for binary features, are split without parsing each cell.
"""

import csv
import gzip
import io
import re
import zlib
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from operator import itemgetter
from typing import IO, Any

import numpy as np

from unselected.files.cells import Block, Bytes, Decimals, labels, narrowed, numbers, strings
from unselected.files.covariate_cells import text_covariates
from unselected.files.feature_rows import from_feature_rows
from unselected.files.table_request import Layout, Request, Table

# Possible delimiters: the most frequent one in the first line is used, or the first here.
DELIMITERS = {".csv": ",;\t", ".tsv": "\t", ".txt": "\t,;"}
# Characters of a text file that are split at a time.
_BLOCK = 1 << 19


def read_text(file: IO[bytes], request: Request, delimiters: str) -> Table:
    """Read a table from UTF-8 text, which may be compressed with gzip."""
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
def _explained(request: Request) -> Iterator[None]:
    """Turn errors while reading text into errors that say what to do."""
    try:
        yield
    except UnicodeDecodeError as error:
        raise request.error(f"it is not UTF-8 text ({error.reason}): save it as such") from error
    except csv.Error as error:
        raise request.error(f"a row cannot be split ({error}): check its quotes") from error
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise request.error(f"it is damaged or incomplete ({error}): copy it again") from error


class _Text:
    """The rows of a text file, one after the other."""

    def __init__(self, stream: io.TextIOWrapper, request: Request, delimiters: str) -> None:
        self.request = request
        self._stream = stream
        self._waiting = deque([self._stream.readline()])
        outside_quotes = re.sub(r'"[^"]*"', "", self._waiting[0])
        self.delimiter = max(delimiters, key=outside_quotes.count)
        self.decimals = Decimals(request, self.delimiter)
        self._reader = csv.reader(self._lines(), delimiter=self.delimiter, strict=True)
        self._number = 0

    def row(self) -> list[str] | None:
        """Return the next row; None at the end. Only the last rows may be empty."""
        first_empty = None
        for fields in self._reader:
            self._number += 1
            if fields and first_empty:
                raise self.request.error(f"row {first_empty} is empty: delete it")
            if fields:
                return fields
            first_empty = first_empty or self._number
        return None

    def first_cells(self) -> Iterator[str]:
        """Yield the first cell of each remaining row."""
        while fields := self.row():
            yield fields[0]

    def blocks(self, width: int, texts: list[int]) -> Iterator[Block]:
        """Yield the remaining rows, each of which must have ``width`` cells."""
        while lines := self._stream.readlines(_BLOCK):
            digits = _split_digits(lines, self.delimiter, width, texts)
            if digits is None:
                block = self._split(lines, width, texts)
            else:
                block = Block(self._number + 1, *digits)
                self._number += len(lines)
            if block.texts:
                yield block

    def check_width(self, fields: list[str], width: int) -> None:
        """Raise where the last row read does not have as many cells as the header."""
        if len(fields) != width:
            from_r = self._number == 2 and len(fields) == width + 1
            raise self.request.error(
                f"row {self._number} has {len(fields)} fields where the header has {width}: mend "
                f"it, and put fields that contain {self.delimiter!r} in double quotes"
                + (". If R wrote it, use col.names=NA, or row.names=FALSE" if from_r else "")
            )

    def _split(self, lines: list[str], width: int, texts: list[int]) -> Block:
        """Split rows at their delimiters; a cell in quotes may continue beyond these lines."""
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
        return Block(first, found, cells)

    def _lines(self) -> Iterator[str]:
        while line := self._waiting.popleft() if self._waiting else self._stream.readline():
            yield line


def _split_digits(
    lines: list[str], delimiter: str, width: int, texts: list[int]
) -> tuple[list[Sequence[str]], Bytes] | None:
    """Split rows whose cells are single digits, but for some columns of text; else return None.

    Each digit takes two characters with its delimiter, so the start of a column of text is known
    without parsing the cells before it.

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
    """Return the columns of text and the rest of the row; empty where they are ambiguous."""
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


def _sample_rows(text: _Text) -> Table:
    request = text.request
    layout = request.layout(_header(text), text.first_cells)
    pick = _picker(layout)
    blocks = []
    texts: list[Sequence[str]] = []
    for block in text.blocks(layout.width, layout.texts):
        picked = block._replace(cells=pick(block.cells))
        blocks.append(numbers(picked, layout.names, request, text.decimals))
        texts.extend(block.texts)
    if not blocks:
        raise request.no_rows()
    column = dict(zip(layout.texts, zip(*texts, strict=True), strict=False))
    y = ids = None
    if layout.target is not None:
        y = labels(column[layout.target], request, lambda place: f"row {place + 2}", text.decimals)
    if layout.ids is not None:
        ids = strings(column[layout.ids])
    X, names = narrowed(np.vstack(blocks)), strings(layout.names)
    asked = {name: column[place] for name, place in layout.covariates.items()}
    covariates, notes = text_covariates(asked, request, text.decimals)
    return Table(X, names, y, ids, request.path, (*layout.notes, *notes), covariates)


def _header(text: _Text) -> list[str]:
    header = text.row()
    if header is None:
        raise text.request.error("it is empty: a table has a header and rows")
    return header


def _picker(layout: Layout) -> Callable[[Any], Any]:
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
    blocks = chain([Block(2, [first[:1]], [first[1:]])], text.blocks(len(header), [0]))
    return from_feature_rows(header[1:], blocks, text.request, text.decimals)
