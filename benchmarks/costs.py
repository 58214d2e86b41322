"""A cost model: the time and the memory of a fit by the numbers of columns and cases.

Fits to tables of several sizes are measured, the fastest of some at each size, and two formulas are
fitted to them: seconds = a + b n + c p + d n p, and bytes besides the table = e + f p. No part is
below 0, and what was measured is weighed so that shares of it count, and not seconds and bytes.
"""

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls
from timing import peak_bytes, random_bits, random_reals, seconds, two_classes

from unselected import SelectiveBernoulliNB, SelectiveGaussianNB, open_columns

# Cases and columns of the tables that are measured, unless they take more bytes than that, ...
DESIGN = [
    *((50, p) for p in (10**5, 10**6, 10**7)),
    *((200, p) for p in (10**5, 10**6, 4 * 10**6)),
    *((800, p) for p in (10**5, 250_000, 10**6)),
]
MOST_BYTES = 10**9
# ... and those of which the cost is told in advance.
EXAMPLES = [(200, 10**6), (500, 10**7)]
REPETITIONS = 3


@dataclass(frozen=True)
class Costs:
    """Costs of a fit: ``fixed + per_case n + per_column p + per_value n p`` seconds, and bytes."""

    fixed: float
    per_case: float
    per_column: float
    per_value: float
    fixed_bytes: float
    bytes_per_column: float

    def seconds(self, n: int, p: int) -> float:
        """Return the time of a fit to a table of that size."""
        return self.fixed + self.per_case * n + (self.per_column + self.per_value * n) * p

    def gigabytes(self, p: int) -> float:
        """Return the memory besides the table."""
        return (self.fixed_bytes + self.bytes_per_column * p) / 1e9


def fitted(
    sizes: list[tuple[int, int]], times: list[float], peaks: list[int]
) -> tuple[Costs, float]:
    """Return the costs, and how far a measured time is from them at most, as a share of it.

    >>> sizes = [(50, 1000), (100, 1000), (100, 5000), (20, 9000), (20, 100)]
    >>> times = [1e-2 + 1e-4 * n + 1e-6 * p + 1e-9 * n * p for n, p in sizes]
    >>> costs, furthest = fitted(sizes, times, [5000 + 8 * p for _, p in sizes])
    >>> round(costs.per_case, 9), round(costs.per_value, 12), round(costs.bytes_per_column, 6)
    (0.0001, 1e-09, 8.0)
    >>> furthest < 1e-6
    True
    """
    n, p = np.array(sizes, dtype=np.float64).T
    ones = np.ones_like(p)
    time_parts, furthest = _parts([ones, n, p, n * p], times)
    byte_parts, _ = _parts([ones, p], peaks)
    return Costs(*time_parts, *byte_parts), furthest


def _parts(terms: Sequence[NDArray[Any]], found: Sequence[float]) -> tuple[list[float], float]:
    """Return what each term counts for, at least 0, and the largest error as a share."""
    scales = [float(term.max()) for term in terms]
    weighed = np.column_stack(terms) / scales / np.array(found)[:, np.newaxis]
    parts = nnls(weighed, np.ones(len(found)))[0]
    return (parts / scales).tolist(), float(np.max(np.abs(weighed @ parts - 1.0)))


def measured(
    make: Callable[[int, int], NDArray[Any]],
    opened: Callable[[NDArray[Any]], AbstractContextManager[Any]],
    model: Any,
) -> tuple[Costs, float]:
    """Return the costs of fits to tables of one kind."""
    itemsize = make(1, 1).itemsize
    sizes = [(n, p) for n, p in DESIGN if n * p * itemsize <= MOST_BYTES]
    times, peaks = [], []
    for n, p in sizes:
        with opened(make(n, p)) as X:
            fit = partial(model.fit, X, two_classes(n))
            peaks.append(peak_bytes(fit))
            times.append(seconds(fit, repetitions=REPETITIONS, of_all=min)[0])
    return fitted(sizes, times, peaks)


@contextmanager
def in_a_file(X: NDArray[Any]) -> Iterator[Any]:
    """Yield the columns of a table in an .npy file, which is in the system's cache."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "X.npy"
        np.save(path, X)
        yield open_columns(path)


def print_costs() -> None:
    """Print a row of the cost model for each kind of table, with some sizes as examples."""
    examples = "".join(f" n = {n}, p = {p} |" for n, p in EXAMPLES)
    print(f"| X, k = 100 | seconds | memory besides X |{examples} furthest from a measured time |")
    print("|---" * (4 + len(EXAMPLES)) + "|")
    bits, reals = SelectiveBernoulliNB(k=100), SelectiveGaussianNB(k=100)
    print_row("uint8 array", *measured(random_bits, nullcontext, bits))
    print_row("uint8 .npy file", *measured(random_bits, in_a_file, bits))
    print_row("float32 array", *measured(random_reals, nullcontext, reals))
    print_row("float32 .npy file", *measured(random_reals, in_a_file, reals))


def print_row(what: str, costs: Costs, furthest: float) -> None:
    """Print the formulas for a kind of table."""
    told = "".join(
        f" {costs.seconds(n, p):.2f} s, {costs.gigabytes(p):.2f} GB |" for n, p in EXAMPLES
    )
    print(
        f"| {what} | {costs.fixed:.3f} + {costs.per_case * 1e3:.2f} n / 10^3 "
        f"+ {costs.per_column * 1e6:.3f} p / 10^6 + {costs.per_value * 1e9:.2f} n p / 10^9 "
        f"| {costs.fixed_bytes / 1e6:.0f} MB "
        f"+ {costs.bytes_per_column:.0f} bytes a column |{told} {100 * furthest:.0f} % |",
        flush=True,
    )
