"""Files written as a whole or not at all, hashes, CSV, and JSON's own types."""

import csv
import hashlib
import io
import os
import secrets
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

# The name that stands for standard input and output.
STANDARD = "-"


def write_text(path: str | os.PathLike[str], text: str, *, overwrite: bool = False) -> None:
    """Write a whole file or nothing: under a temporary name in the same folder, then renamed.

    Parameters
    ----------
    path : str or path
        "-" is standard output. Something that is no regular file, such as a pipe, is written to
        directly.
    text : str
        Written in UTF-8, with the line ends that it has.
    overwrite : bool, default=False
        Replace a file that exists.

    Raises
    ------
    FileExistsError
        Where there is such a file already, unless ``overwrite``.
    """
    if os.fspath(path) == STANDARD:
        sys.stdout.write(text)
        sys.stdout.flush()
        return
    place = Path(os.path.realpath(path))  # a link keeps pointing at the file
    if place.exists() and not place.is_file():
        place.write_bytes(text.encode("utf-8"))
        return
    _check_free(path, place, overwrite)
    _write_and_rename(place, text.encode("utf-8"))


def _check_free(path: str | os.PathLike[str], place: Path, overwrite: bool) -> None:
    if place.exists() and not overwrite:
        raise FileExistsError(
            f"{os.fspath(path)} exists already: choose another name, or allow it to be overwritten."
        )


def _write_and_rename(place: Path, content: bytes) -> None:
    temporary = place.with_name(f".unselected-{secrets.token_hex(8)}")
    try:
        with temporary.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, place)
    finally:  # an interrupt included; after the renaming there is nothing to remove
        temporary.unlink(missing_ok=True)


def write_csv(
    path: str | os.PathLike[str],
    header: Iterable[str],
    rows: Iterable[Iterable[Any]],
    *,
    overwrite: bool = False,
) -> None:
    r"""Write a table as CSV with lines that end in "\n", as `write_text` writes.

    Numbers are written so that reading returns the very same ones; None is an empty field.

    >>> write_csv("-", ["id", "probability"], [["a,b", 0.1], ["c", None]])
    id,probability
    "a,b",0.1
    c,
    """
    lines = [_csv_line(header), *map(_csv_line, rows)]
    write_text(path, "".join(lines), overwrite=overwrite)


def _csv_line(fields: Iterable[Any]) -> str:
    buffer = io.StringIO(newline="")
    # Only with this ending does every version of csv quote a field that has a "\r" or a "\n".
    csv.writer(buffer, lineterminator="\r\n").writerow(fields)
    return buffer.getvalue().removesuffix("\r\n") + "\n"


def sha256(path: str | os.PathLike[str]) -> str:
    """Return the SHA-256 hash of a file, in hexadecimal; it is read in blocks."""
    if os.fspath(path) == STANDARD:
        raise ValueError("standard input cannot be hashed: it can be read only once.")
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def plain(value: object) -> Any:
    """Return what numpy holds in JSON's own types; the ``default`` of `json.dumps`.

    >>> plain(np.arange(3)), plain(np.float32(0.5))
    ([0, 1, 2], 0.5)
    """
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{value!r} of type {type(value).__name__} has no place in a JSON file.")
