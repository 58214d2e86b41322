"""Docstrings are written to be read in an editor; here they become reStructuredText.

Pages of the site are named by their files, and become links. Absolute values, and shapes with
attributes in them, would be taken for markup, and are escaped.
"""

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx

PAGE = re.compile(r"\bdocs/([\w/]+)\.md\b")
ABSOLUTE_VALUE = re.compile(r"(?<![`\w])\|(\w+)\|(?![`\w])")
SHAPE = re.compile(r"shape \([^)`]*\)")


def marked_up(lines: Iterable[str]) -> Iterator[str]:
    """Return the lines with links and escapes; examples stay as they are."""
    in_example = False
    for line in lines:
        in_example = line.lstrip().startswith(">>>") or (in_example and bool(line.strip()))
        yield line if in_example else _marked_up(line)


def _marked_up(line: str) -> str:
    line = PAGE.sub(r":doc:`/\1`", line)
    line = ABSOLUTE_VALUE.sub(r"\\|\1\\|", line)
    return SHAPE.sub(lambda shape: re.sub(r"_(?=[,)])", r"\\_", shape[0]), line)


def _mark_up(app: "Sphinx", what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    del app, what, name, obj, options
    lines[:] = marked_up(lines)


def setup(app: "Sphinx") -> dict[str, Any]:
    """Change docstrings before numpydoc sees them."""
    app.connect("autodoc-process-docstring", _mark_up, priority=100)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
