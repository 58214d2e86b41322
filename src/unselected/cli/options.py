"""Options that commands share, and how they speak: data on stdout, all else on stderr."""

import json
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter, Token
from numpy.typing import NDArray

from unselected.cli import STANDARD_STREAM
from unselected.selection.record import Ties

SCHEMA = 1


def _path(_: type, tokens: Sequence[Token]) -> str:
    value = tokens[0].value
    return "-" if value == STANDARD_STREAM else value


ModelOption = Literal["auto", "bernoulli", "gaussian", "regression"]
PriorOption = Literal["common", "sparse"]
DependenceOption = Literal["none", "tempered", "correlated"]
KOption = int | Literal["loo"]
Input = Annotated[str, Parameter(converter=_path)]
Output = Annotated[str, Parameter(name=["--output", "-o"], converter=_path)]


@Parameter(name="*")
@dataclass(frozen=True)
class Speech:
    """How a command answers.

    Parameters
    ----------
    json
        Print one JSON object on stdout.
    debug
        Show the traceback of an error.
    """

    json: Annotated[bool, Parameter(negative="")] = False
    debug: Annotated[bool, Parameter(negative="")] = False

    def answer(self, command: str, content: dict[str, Any], text: str) -> None:
        """Print the answer, as text or as a JSON object with its schema number."""
        if self.json:
            print(json.dumps({"schema": SCHEMA, "command": command, **content}, allow_nan=False))
        else:
            print(text)


@Parameter(name="*")
@dataclass(frozen=True)
class Source:
    """A table with features and the response: classes or numbers.

    Parameters
    ----------
    target
        Name of the column (or row) that holds the response. For `fit` from an .npy, .h5ad, .bed
        or .zarr file, FILE:COLUMN of another table, with the same cases in the same order.
    id
        Name of a column that only identifies the cases.
    features_in_rows
        The table has a row for each feature and a column for each case.
    """

    target: str
    id: str | None = None
    features_in_rows: Annotated[bool, Parameter(negative="")] = False


@Parameter(name="*")
@dataclass(frozen=True)
class Choice:
    """The model, and how features are selected.

    Parameters
    ----------
    model
        bernoulli (features 0 or 1, two classes), gaussian (real-valued features, classes) or
        regression (real-valued features, a response of numbers); auto chooses from the data.
    k
        Keep this many features, the most correlated ones; loo tries 1, 2, 5, 10 and so on, and
        takes what best predicts cases left out.
    threshold
        Keep the features whose score is above this: the absolute correlation, or F where there are
        more than two classes.
    preselected_from
        The table holds only columns that somebody already kept, by their scores, out of so many.
    always_keep
        Keep this column whatever its score; may be given several times.
    ties
        Who is kept among tied features: first or random.
    prior
        common (every feature is related to the response, more or less) or sparse (an unknown
        fraction of them is, the others are not at all).
    dependence
        none (features are taken to be independent within classes), tempered (what their evidence
        is worth is learned from cases left out) or correlated (also how they vary together within
        classes); not for regression.
    uncorrected
        Do not condition on the selection, for comparison.
    variance_shrinkage
        Draw the variances of features with the same unit towards each other, as if by so many
        cases; gaussian and regression only.
    seed
        Seed of random choices.
    """

    model: ModelOption = "auto"
    k: KOption | None = None
    threshold: float | None = None
    preselected_from: int | None = None
    always_keep: tuple[str, ...] = ()
    ties: Ties = "first"
    prior: PriorOption = "common"
    dependence: DependenceOption = "none"
    uncorrected: Annotated[bool, Parameter(negative="")] = False
    variance_shrinkage: float | None = None
    seed: int = 0


@contextmanager
def patience(what: str, *, after: float = 2.0) -> Iterator[None]:
    """Show on stderr how long something has been going on, once it takes longer than that."""
    done = threading.Event()
    start = time.monotonic()

    def tell() -> None:
        told = False
        while not done.wait(1.0 if told else after):
            told = True
            seconds = time.monotonic() - start
            print(f"\r{what}: {seconds:.0f} s", end="", file=sys.stderr, flush=True)
        if told:
            print(file=sys.stderr, flush=True)

    teller = threading.Thread(target=tell, daemon=True)
    teller.start()
    try:
        yield
    finally:
        done.set()
        teller.join()


def check_free(output: str, force: bool) -> None:
    """Raise where the output exists and may not be overwritten, before the work is done for it."""
    if output != "-" and not force and Path(output).is_file():
        raise FileExistsError(f"{output} exists already: choose another name.")


def note(text: str) -> None:
    """Say something that is not data."""
    print(text, file=sys.stderr, flush=True)


def classes_text(classes: NDArray[Any]) -> str:
    """Return which classes there are, and of two that whose probabilities are told."""
    labels = [str(label) for label in classes]
    if len(labels) == 2:
        return f"classes {labels[0]} and {labels[1]}; probabilities are those of {labels[1]}"
    return f"classes {', '.join(labels)}"


def classes_content(classes: NDArray[Any]) -> dict[str, Any]:
    """Return which classes there are as plain JSON types; of two the second is the positive."""
    labels = [str(label) for label in classes]
    positive = {"positive_class": labels[1]} if len(labels) == 2 else {}
    return {"classes": labels, **positive}


def columns_of(rows: list[tuple[Any, ...]], header: tuple[str, ...]) -> str:
    """Return rows as aligned text, numbers to the right."""
    cells = [tuple(map(str, row)) for row in [header, *rows]]
    widths = [max(len(row[j]) for row in cells) for j in range(len(header))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if j == 0 else cell.rjust(width)
            for j, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in cells
    )
