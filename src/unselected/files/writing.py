"""Files written as a whole or not at all: text and CSV; hashes of files."""

import csv
import hashlib
import io
import os
import secrets
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

# The name that stands for standard input and output.
STANDARD = "-"


def write_text(path: str | os.PathLike[str], text: str, *, overwrite: bool = False) -> None:
    """Write a file as a whole or not at all: to a temporary file, which is then renamed.

    Parameters
    ----------
    path : str or path
        "-" is standard output. A path that is not a regular file, such as a pipe, is written to
        directly.
    text : str
        Written in UTF-8, with the line ends that it has.
    overwrite : bool, default=False
        Replace a file that exists.

    Raises
    ------
    OSError
        As `check_writable`, or where writing fails, as on a full disk.
    """
    if os.fspath(path) == STANDARD:
        sys.stdout.write(text)
        sys.stdout.flush()
        return
    write_bytes(path, text.encode("utf-8"), overwrite=overwrite)


def write_bytes(path: str | os.PathLike[str], content: bytes, *, overwrite: bool = False) -> None:
    """Write a file as `write_text` does, but for standard output."""
    check_writable(path, overwrite=overwrite)
    place = Path(os.path.realpath(path))  # a link keeps pointing at the file
    if place.exists() and not place.is_file():
        place.write_bytes(content)
        return
    try:
        _write_and_rename(place, content)
    except OSError as error:  # it names the temporary file, or none
        reason = error.strerror or error
        raise type(error)(f"{os.fspath(path)} cannot be written: {reason}.") from error


def check_writable(path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
    """Raise where `write_text` could not write, before any work is done.

    Raises
    ------
    FileExistsError
        Where there is such a file already, unless ``overwrite``.
    OSError
        Where the path is a folder, its folder does not exist, or nothing may be written there.
    """
    name = os.fspath(path)
    if name == STANDARD:
        return
    place = Path(os.path.realpath(name))
    if place.is_dir():
        raise IsADirectoryError(f"{name} is a folder: give the name of a file in it.")
    if place.is_file() and not overwrite:
        raise FileExistsError(
            f"{name} exists already: choose another name, or allow it to be overwritten."
        )
    if not place.parent.is_dir():
        folder = os.path.dirname(name) or os.fspath(place.parent)
        raise FileNotFoundError(
            f"{name} cannot be written: there is no folder {folder}. Make it, or choose another."
        )
    is_special = place.exists() and not place.is_file()  # which is written to directly
    if not os.access(place if is_special else place.parent, os.W_OK):
        raise PermissionError(
            f"{name} cannot be written: you are not allowed to write there. Choose another place."
        )


def make_folder(path: str | os.PathLike[str]) -> None:
    """Make a folder, and those above it; one that is there already is left as it is.

    Raises
    ------
    OSError
        Where there is a file of that name, or no folder may be made there.
    """
    try:
        os.makedirs(path, exist_ok=True)
    except FileExistsError:
        raise NotADirectoryError(
            f"{os.fspath(path)} is a file: give the name of a folder."
        ) from None


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

    Numbers are written so that reading returns exactly the same ones; None is an empty field.

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
