"""Finished replicates of a long run, stored one by one, so that a killed run can continue."""

import json
import os
from operator import index
from pathlib import Path
from typing import Any

from unselected.fitted.json_checks import plain

_FORMAT = "unselected checkpoints"
_VERSION = 1
# How every checkpoint file begins, even one whose first line is incomplete.
_BEGINNING = b'{"format": "unselected checkpoints", "version": '


class CheckpointError(ValueError):
    """A checkpoint file cannot be used for this run; the message says what to do."""


class Checkpoints:
    """A file of JSON lines: the settings of the run first, then one line per finished replicate.

    The process may be killed at any moment. A line without a line end is dropped when the file is
    opened again, and its replicate is not finished.

    Parameters
    ----------
    path : str or path
        Created where it does not exist.
    settings : dict
        Everything that the results of a replicate depend on, by name.

    Raises
    ------
    CheckpointError
        Where the file was written with other settings, is damaged, or is not a checkpoint file.
    """

    def __init__(self, path: str | os.PathLike[str], settings: dict[str, Any]) -> None:
        self.path = Path(path)
        first = {"format": _FORMAT, "version": _VERSION, "settings": settings}
        self._header = _line(first)
        self._finished: dict[int, dict[str, Any]] = {}
        self._size = 0
        self._open()

    def finished(self) -> dict[int, dict[str, Any]]:
        """Return the records of the finished replicates, by number, in the order of finishing.

        Records are as JSON returns them, also those added in this run: tuples and arrays are lists,
        and keys are strings.
        """
        return dict(self._finished)

    def add(self, replicate: int, record: dict[str, Any]) -> None:
        """Append a finished replicate; it is on the disk when this returns."""
        replicate = int(index(replicate))
        if replicate in self._finished:
            raise ValueError(f"replicate {replicate} is finished already: it is added only once.")
        line = _line({"replicate": replicate, "record": record})
        self._append(line)
        self._finished[replicate] = json.loads(line)["record"]

    def _open(self) -> None:
        content = self.path.read_bytes() if self.path.exists() else b""
        whole = content[: content.rfind(b"\n") + 1]
        if whole:
            self._read(whole)
        elif not (content.startswith(_BEGINNING) or _BEGINNING.startswith(content)):
            raise self._error("is no file of finished replicates", "Choose another file name.")
        if len(whole) < len(content):
            os.truncate(self.path, len(whole))
        self._size = len(whole)
        if not whole:
            self._append(self._header)

    def _append(self, line: bytes) -> None:
        with self.path.open("ab") as file:
            if file.tell() != self._size:
                raise self._error(
                    "was changed while this run used it",
                    "Let only one run at a time write to it, and start this one again.",
                )
            file.write(line)
            file.flush()
            os.fsync(file.fileno())
        self._size += len(line)

    def _read(self, whole: bytes) -> None:
        header, *lines = whole.removesuffix(b"\n").split(b"\n")
        self._check_header(header)
        for number, line in enumerate(lines, start=2):
            replicate, record = self._parse(line, number)
            if replicate in self._finished:
                raise self._error(
                    f"has replicate {replicate} once more in line {number}", "Delete that line."
                )
            self._finished[replicate] = record

    def _parse(self, line: bytes, number: int) -> tuple[int, dict[str, Any]]:
        try:
            entry = json.loads(line)
            replicate, record = entry["replicate"], entry["record"]
        except (ValueError, KeyError, TypeError, RecursionError):
            replicate, record = None, None
        if type(replicate) is not int or not isinstance(record, dict):
            raise self._error(
                f"is damaged in line {number}", "Delete that line to compute its replicate again."
            )
        return replicate, record

    def _check_header(self, line: bytes) -> None:
        try:
            found = json.loads(line)
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict) or found.get("format") != _FORMAT:
            raise self._error("is no file of finished replicates", "Choose another file name.")
        if found.get("version") != _VERSION or not isinstance(found.get("settings"), dict):
            raise self._error(
                f"has the format version {found.get('version')!r}, not {_VERSION}",
                "Continue with the version of unselected that began it, or delete it.",
            )
        self._check_settings(found["settings"], json.loads(self._header)["settings"])

    def _check_settings(self, found: dict[str, Any], wanted: dict[str, Any]) -> None:
        differences = [
            f"{name}: {_show(found, name)} there, {_show(wanted, name)} now"
            for name in sorted(found.keys() | wanted.keys())
            if _show(found, name) != _show(wanted, name)
        ]
        if differences:
            raise self._error(
                f"was made with other settings ({'; '.join(differences)})",
                "Run with the same settings to continue it, choose another file, or delete it.",
            )

    def _error(self, fault: str, cure: str) -> CheckpointError:
        return CheckpointError(f"{self.path} {fault}. {cure}")


def _line(entry: dict[str, Any]) -> bytes:
    """Return a line of ASCII; NaN and infinity, which records may hold, are written as such."""
    return json.dumps(entry, default=plain).encode("ascii") + b"\n"


def _show(settings: dict[str, Any], name: str) -> str:
    return json.dumps(settings[name], sort_keys=True) if name in settings else "not set"
