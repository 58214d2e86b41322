"""How work is measured, and how a row of results is printed."""

import statistics
import time
import tracemalloc
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

# Characters of what a row is about.
_WIDTH = 72


def seconds(
    *works: Callable[[], object],
    repetitions: int,
    of_all: Callable[[Sequence[float]], float] = statistics.median,
    clock: Callable[[], float] = time.perf_counter,
) -> list[float]:
    """Return the median time of each work, or what else is asked for, repeated in turns."""
    times: list[list[float]] = [[] for _ in works]
    for _ in range(repetitions):
        for taken, work in zip(times, works, strict=True):
            start = clock()
            work()
            taken.append(clock() - start)
    return [of_all(taken) for taken in times]


def cpu_seconds(*works: Callable[[], object], repetitions: int) -> list[float]:
    """Return the least time that the processor spent on each work, repeated in turns."""
    return seconds(*works, repetitions=repetitions, of_all=min, clock=time.process_time)


def peak_bytes(work: Callable[[], object]) -> int:
    """Return the most memory that was allocated at a time during the work."""
    tracemalloc.start()
    work()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def exponent(sizes: Sequence[int], times: Sequence[float]) -> float:
    """Return the power of the size with which the time grows: the slope of the logarithms."""
    return float(np.polyfit(np.log(sizes), np.log(times), 1)[0])


def report_header() -> None:
    """Print what stands in the columns of `report`."""
    print(f"{'':<{_WIDTH}} {'ours/ms':>9} {'other/ms':>9} {'ratio':>8}   goal")


def report(what: str, ours: float, theirs: float, ratio: float, goal: str) -> None:
    """Print a row: times in milliseconds, their ratio, the goal."""
    print(
        f"{what:<{_WIDTH}} {ours * 1e3:9.1f} {theirs * 1e3:9.1f} {ratio:8.2f}   {goal}", flush=True
    )


def two_classes(n: int) -> NDArray[np.intp]:
    """Return classes of n cases, half in each, in a random order that is always the same."""
    return np.random.default_rng(1).permutation(np.arange(n) % 2)


def random_bits(n: int, p: int) -> NDArray[np.uint8]:
    """Return a table of 0 and 1."""
    return np.random.default_rng(0).integers(0, 2, size=(n, p), dtype=np.uint8)


def random_reals(n: int, p: int) -> NDArray[np.float32]:
    """Return a table of standard normal numbers."""
    return np.random.default_rng(0).standard_normal(size=(n, p), dtype=np.float32)
