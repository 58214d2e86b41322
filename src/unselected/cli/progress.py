"""Progress of a pass over the columns of a file, and of many fits."""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from joblib import cpu_count
from numpy.typing import NDArray
from tqdm import tqdm

from unselected._typing import Ints
from unselected.cli.options import FRONT_DOORS, on_terminal, patience
from unselected.columns.blocks import Columns
from unselected.columns.sources import ColumnSource
from unselected.estimators.added_value import FEATURES_ALONE
from unselected.estimators.stack_steps import on_step
from unselected.experiments.folds import on_fold
from unselected.files.sources import FileColumns

# The methods whose fits are ours.
OUR_METHODS = ("corrected", "uncorrected", FEATURES_ALONE)

# What the other methods take in a fold, roughly: for each value of the table, and whatever its
# size. Measured on a table of 72 cases and 7129 features.
_SECONDS_PER_VALUE, _SECONDS_PER_FOLD = 3e-6, 1.0

# Other processes take seconds to start: fits to tables with fewer values are not worth them.
_FEWEST_VALUES = 100_000


class WatchedColumns(ColumnSource):
    """A column source that reports the number of columns of each block that is read.

    Parameters
    ----------
    source : ColumnSource
        The source to read; values, names and errors are its own.
    advance : callable
        Called with the number of columns of a block, by one thread at a time.
    """

    def __init__(self, source: ColumnSource, advance: Callable[[int], object]) -> None:
        self._source, self._advance = source, advance
        self._one_at_a_time = threading.Lock()
        self.origin, self.names, self.width = source.origin, source.names, source.width

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self._source.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the values."""
        return self._source.dtype

    def _read(self, columns: slice | Ints) -> NDArray[Any]:
        return self._source[:, columns]

    def __getitem__(self, key: tuple[slice, slice | Ints]) -> NDArray[Any]:
        block = self._source[key]  # its errors say what cannot be read
        if isinstance(key[1], slice):  # single columns are not part of a pass
            with self._one_at_a_time:
                self._advance(block.shape[1])
        return block


@contextmanager
def showing_steps(*, after: float = 2.0) -> Iterator[None]:
    """Show the progress of the many fits of an average over models, on a terminal."""
    if not on_terminal():
        with patience("fitting", after=after):
            yield
        return
    with tqdm(desc="fitting", unit=" fits", delay=after) as bar:

        def step(done: int, of: int) -> None:
            bar.total = of
            bar.update(done - bar.n)

        token = on_step.set(step)
        try:
            yield
        finally:
            on_step.reset(token)


def n_fits_of_ours(name: str, methods: Sequence[str], *, covariates: bool) -> int:
    """Return how many fits of ours there are in a fold: by default, or of the methods named."""
    if methods:
        return len(set(OUR_METHODS) & set(methods))
    return (1 if name in FRONT_DOORS else 2) + covariates


def expected_seconds(fit: float, n_fits: int, n_folds: int, n_values: int) -> float:
    """Return about how long a cross-validation takes, in which one fit of ours takes some seconds.

    Parameters
    ----------
    fit : float
        Seconds of a fit.
    n_fits, n_folds : int
    n_values : int
        Values of the table; 0 where no other methods are run.
    """
    others = n_folds * (_SECONDS_PER_FOLD + _SECONDS_PER_VALUE * n_values) if n_values else 0.0
    return fit * n_fits + others


def n_jobs_of(asked: int | None, name: str, n_values: int, repeats: int) -> int:
    """Return the number of processes of a cross-validation.

    Parameters
    ----------
    asked : int or None
        What ``--jobs`` says; None for one, or for all processors where that pays: where fits of a
        front door to a large table are divided.
    name : str
        Of the model.
    n_values : int
        Values of the table.
    repeats : int
        Repetitions of the cross-validation.
    """
    if asked is not None:
        return asked
    pays = name in FRONT_DOORS and repeats == 1 and n_values >= _FEWEST_VALUES
    return int(cpu_count()) if pays else 1


@contextmanager
def showing_fits(name: str, n_fits: int, *, jobs: int = 1, after: float = 2.0) -> Iterator[bool]:
    """Show the progress of a cross-validation; yield whether it has to show its own.

    Each fit of a front door takes seconds. They are counted, where stderr is a terminal; with
    several processes, fits of all methods are. The repetitions of other models are counted by the
    cross-validation itself.
    """
    if name not in FRONT_DOORS or not on_terminal():
        with patience("cross-validating", after=after):
            yield name not in FRONT_DOORS and on_terminal()
        return
    total = n_fits if jobs == 1 else None
    with tqdm(total=total, desc="cross-validating", unit=" fits", delay=after) as bar:

        def step(done: int, of: int) -> None:
            bar.update(1 if done == of else 0)

        def fit_elsewhere(of: int) -> None:
            if jobs > 1:
                bar.total = bar.n + of if bar.total is None else bar.total
                bar.update(1)

        token, other = on_step.set(step), on_fold.set(fit_elsewhere)
        try:
            yield False
        finally:
            on_step.reset(token)
            on_fold.reset(other)


@contextmanager
def showing_progress(X: Columns, what: str, *, after: float = 2.0) -> Iterator[Columns]:
    """Yield a table for one pass, and show the progress on stderr after some seconds.

    For a table in memory, and where stderr is not a terminal, only the elapsed time is shown.
    """
    if not (isinstance(X, FileColumns) and on_terminal()):
        with patience(what, after=after):
            yield X
        return
    with tqdm(total=X.shape[1], desc=what, unit=" columns", unit_scale=True, delay=after) as bar:
        yield WatchedColumns(X, bar.update)
