"""One pass over the columns against one plain read of the table, and how both grow.

A pass runs in several threads, so the read it is compared with does too: `max()` of pieces of
memory that lie in one stretch, through the same `in_threads`. That is the fastest way to look at
every value once, and a stricter measure than `X.max()` in one thread.
"""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from timing import exponent, random_bits, random_reals, report, seconds, two_classes

from unselected import SelectiveBernoulliNB
from unselected.columns.blocks import in_threads
from unselected.columns.sources import SparseColumns
from unselected.models.bernoulli import BernoulliModel
from unselected.models.count_omission import Rates
from unselected.selection.streaming import StreamingSelection, class_scores, count_scores
from unselected.statistics.counting import over_counts

# Of a plain read: enough for all threads to be done at about the same time.
_PIECES = 16


def count(X: Any, y: NDArray[np.intp]) -> object:
    """Count the ones of all columns by class."""
    return list(over_counts(X, y, "auto", str, forget))


def forget(*_: object) -> None:
    """Do nothing with the counts of a block."""


def select(X: Any, y: NDArray[np.intp]) -> object:
    """Count the ones of all columns by class, and find the best hundred."""
    return count_scores(X, y, "auto", str, StreamingSelection(k=100))


def count_sparse(X: Any, y: NDArray[np.intp]) -> object:
    """Count the ones of a scipy matrix, and find the best hundred columns."""
    return select(SparseColumns(X), y)


def add_up(X: Any, y: NDArray[np.intp]) -> object:
    """Take the class means and the sums of squares of all columns, and find the best hundred."""
    return class_scores(X, y, 2, str, StreamingSelection(k=100))


def read_once(X: NDArray[Any]) -> Any:
    """Look at every value once, in threads."""
    stretch = X.ravel(order="K")  # no copy: as it lies in memory
    if stretch.dtype == np.bool_:
        stretch = stretch.view(np.uint8)  # for max() of booleans stops at the first that is true
    ends = np.linspace(0, stretch.size, _PIECES + 1).astype(int).tolist()
    pieces = [slice(*pair) for pair in pairwise(ends)]
    return max(in_threads(lambda piece: stretch[piece].max(), pieces))


def bench_passes(p: int, repetitions: int) -> None:
    """Pass over tables in memory, in both memory orders, of several types."""
    y = two_classes(200)
    bits = random_bits(200, p)
    compare_with_read("uint8, C order: counting pass", bits, y, count, 2, repetitions)
    compare_with_read("uint8, C order: counting and selecting", bits, y, select, None, repetitions)
    compare_with_read("bool, C order: counting pass", bits.view(np.bool_), y, count, 3, repetitions)
    turned = np.asfortranarray(bits)
    compare_with_read("uint8, Fortran order: counting pass", turned, y, count, 3, repetitions)
    compare_with_read(
        "bool, Fortran order: counting pass", turned.view(np.bool_), y, count, 3, repetitions
    )
    del bits, turned
    reals = random_reals(200, p)
    compare_with_read("float32, C order: moments and selecting", reals, y, add_up, 3, repetitions)
    turned_reals = np.asfortranarray(reals)
    compare_with_read(
        "float32, Fortran order: moments and selecting", turned_reals, y, add_up, 3, repetitions
    )


def compare_with_read(
    what: str,
    X: NDArray[Any],
    y: NDArray[np.intp],
    work: Callable[[Any, NDArray[np.intp]], object],
    goal: int | None,
    repetitions: int,
) -> None:
    """Print a row for a pass over a table."""
    ours, read = seconds(lambda: work(X, y), lambda: read_once(X), repetitions=repetitions)
    report(
        f"p = {X.shape[1]}, n = {len(X)} {what}, against max()",
        ours,
        read,
        ours / read,
        "" if goal is None else f"at most {goal}",
    )


def bench_sparse(p: int, repetitions: int) -> None:
    """Count a sparse matrix, against scipy's sums of its columns."""
    n, y = 2000, two_classes(2000)
    places = ones_per_row(n, p, share=0.01)
    starts = np.concatenate([[0], np.cumsum([row.size for row in places])])
    columns = np.concatenate(places)
    for dtype in (np.uint8, np.float32):
        values = np.ones(columns.size, dtype=dtype)
        X = sparse.csr_array((values, columns, starts), shape=(n, p))
        ours, theirs = seconds(
            partial(count_sparse, X, y),
            partial(X.sum, axis=0),
            repetitions=repetitions,
        )
        what = f"CSR 1 % {np.dtype(dtype).name}, p = {p}, n = {n}: against X.sum(axis=0)"
        report(what, ours, theirs, ours / theirs, "at most 2")


def ones_per_row(n: int, p: int, *, share: float) -> list[NDArray[np.int32]]:
    """Return the columns of the ones of each row, in order."""
    rng = np.random.default_rng(0)
    drawn = (rng.integers(0, p, size=int(share * p), dtype=np.int32) for _ in range(n))
    return [np.unique(columns) for columns in drawn]


def bench_growth(p: int, repetitions: int) -> None:
    """Fit the exponents of time: in p from p / 100 to 10 p, and in n.

    A whole fit has work that does not depend on p, which is most of the time at the small end: its
    exponent has no goal.
    """
    n, y = 50, two_classes(50)
    sizes = [p // 100, p // 10, p, 10 * p]
    X = random_bits(n, sizes[-1])
    tables = [np.ascontiguousarray(X[:, :size]) for size in sizes]
    passes = [seconds_of(partial(count, T, y), repetitions) for T in tables]
    fits = [seconds_of(partial(SelectiveBernoulliNB(k=20).fit, T, y), repetitions) for T in tables]
    report_growth(f"exponent in p, n = {n} uint8: counting pass", sizes, passes, "0.9 to 1.1")
    report_growth("the same: whole fit, k = 20", sizes, fits, "")
    del X, tables
    bench_growth_in_cases(p, repetitions)


def bench_growth_in_cases(p: int, repetitions: int) -> None:
    """Fit the exponent of the time of the pass in n; even the smallest table fits in no cache."""
    sizes = [50, 100, 200, 400, 800]
    X = random_bits(sizes[-1], p)
    times = [seconds_of(partial(count, X[:n], two_classes(n)), repetitions) for n in sizes]
    report_growth(f"exponent in n, p = {p} uint8: counting pass", sizes, times, "at most 1.1")


def bench_many_cases(_: int, repetitions: int) -> None:
    """Fit the exponent of the time of a whole fit in n, from 500 to 20000 cases; with 2000 columns.

    The features are drawn from the model, related to the classes about as in the paper.
    """
    sizes = [500, 2000, 20000]
    model = BernoulliModel()
    times: dict[Rates, list[float]] = {"uniform": [], "given": []}
    X, y, _parameters = model.simulate(
        sizes[-1], 2000, np.random.default_rng(0), alpha=300.0, y=two_classes(sizes[-1])
    )
    for rates, found in times.items():
        for n in sizes[: 3 if rates == "uniform" else 2]:
            work = partial(SelectiveBernoulliNB(k=50, rates=rates).fit, X[:n], y[:n])
            found.append(seconds_of(work, min(repetitions, 3)))
    what = "p = 2000 uint8, k = 50: whole fit"
    few, some, _many = times["uniform"]
    report(f"{what}, n = 2000 against n = 500", some, few, some / few, "at most 100 ms")
    report_growth(f"exponent in n, {what}", sizes, times["uniform"], "at most 1")
    report_growth(f"the same, rates given, {what}", sizes[:2], times["given"], "")


def seconds_of(work: Callable[[], object], repetitions: int) -> float:
    """Return the median time of a work, after a first time that does not count."""
    work()
    return seconds(work, repetitions=repetitions)[0]


def report_growth(what: str, sizes: Sequence[int], times: Sequence[float], goal: str) -> None:
    """Print an exponent, with the times at the largest and the smallest size."""
    span = f"{sizes[0]} to {sizes[-1]}"
    report(f"{what}, {span}", times[-1], times[0], exponent(sizes, times), goal)
