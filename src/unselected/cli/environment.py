"""What is installed: versions of libraries, and which extras are complete. Loads none of them."""

import platform
import re
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, requires, version

from unselected import __version__

# Of a line such as: bed-reader>=1.0; extra == 'bio'
_REQUIREMENT = re.compile(
    r"(?P<name>[\w.-]+)(?:\[[^]]*\])?\s*(?:>=\s*(?P<least>[\d.]+))?[^;]*"
    r"(?:;.*extra == ['\"](?P<extra>[\w-]+)['\"].*)?"
)


@dataclass(frozen=True)
class Library:
    """A library that is needed, always or for an extra; ``installed`` is its version or None."""

    name: str
    least: str
    installed: str | None

    @property
    def is_usable(self) -> bool:
        """Whether it is there, and new enough."""
        return self.installed is not None and _numbers(self.installed) >= _numbers(self.least)

    def __str__(self) -> str:
        if self.installed is None:
            return f"{self.name} is missing"
        older = "" if self.is_usable else f" (needs {self.least})"
        return f"{self.name} {self.installed}{older}"


def _numbers(text: str) -> tuple[int, ...]:
    """Return the numbers at the beginning of a version.

    >>> _numbers("2.10.0rc1"), _numbers("")
    ((2, 10, 0), ())
    """
    found = re.match(r"\d+(?:\.\d+)*", text)
    return tuple(int(part) for part in found[0].split(".")) if found else ()


def libraries() -> dict[str, list[Library]]:
    """Return the libraries that the package declares: under "" those always needed, then by extra.

    Empty where the package runs from its source, without having been installed.
    """
    try:
        lines = requires("unselected") or []
    except PackageNotFoundError:
        lines = []
    return grouped(lines)


def grouped(lines: Iterable[str]) -> dict[str, list[Library]]:
    """Return the libraries of lines of requirements, by extra; `all` only repeats the others.

    >>> found = grouped(["none>=2", "nil>=1.0; extra == 'bio'", "unselected[bio]; extra == 'all'"])
    >>> found["bio"]
    [Library(name='nil', least='1.0', installed=None)]
    >>> list(found)
    ['', 'bio']
    """
    groups: dict[str, list[Library]] = {}
    for line in lines:
        found = _REQUIREMENT.match(line)
        if found is None or found["extra"] == "all":
            continue
        library = Library(found["name"], found["least"] or "", _installed(found["name"]))
        groups.setdefault(found["extra"] or "", []).append(library)
    return groups


def _installed(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def version_text() -> str:
    """Return the versions of the package, of Python, and of the libraries, a line for each."""
    groups = libraries()
    always = [str(library) for library in groups.pop("", [])]
    beside = {
        library.name: f"{library} ({extra})"
        for extra, group in sorted(groups.items(), reverse=True)
        for library in group
        if library.installed is not None
    }
    first = [f"unselected {__version__}", f"Python {platform.python_version()}", *always]
    return "\n".join([*first, *(text for _, text in sorted(beside.items()))])
