"""Records as a printed table of fixed width."""

from collections.abc import Sequence

import numpy as np

# Rows that are shown; the others are counted.
MOST_ROWS = 20


def listing(header: Sequence[str], rows: Sequence[Sequence[object]], n_more: int = 0) -> str:
    """Return a table as text: the first column to the left, the others to the right.

    Parameters
    ----------
    header : sequence of str
        Names of the columns; a name with a line break takes two lines.
    rows : sequence of sequences
        Numbers are rounded to three places, anything else is shown as it is.
    n_more : int, default=0
        Number of further rows that are not shown.

    Examples
    --------
    >>> print(listing(["k", "loss"], [[5, 0.25], [10, 0.1234]], n_more=80))
    k    loss
    5   0.250
    10  0.123
    ... and 80 more
    """
    names = [name.split("\n") for name in header]
    depth = max(len(name) for name in names)
    lines = [[""] * (depth - len(name)) + name for name in names]
    cells = [*zip(*lines, strict=True), *([cell(value) for value in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    text = [
        "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]).rstrip()
        for row in cells
    ]
    return "\n".join([*text, *([f"... and {n_more} more"] if n_more > 0 else [])])


def cell(value: object) -> str:
    """Return a number with three places, and anything else as it is.

    >>> cell(0.12345), cell(np.float64(5.2e7)), cell(3), cell("x17"), cell(None)
    ('0.123', '5.2e+07', '3', 'x17', '')
    """
    if isinstance(value, float | np.floating):
        number = float(value)
        return f"{number:.3f}" if abs(number) < 1e5 else f"{number:.3g}"
    return "" if value is None else str(value)
