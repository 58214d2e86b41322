"""Tables larger than memory should be: time against one plain read in blocks, and resident memory.

`make bench-large` writes some gigabytes to a temporary folder and takes some minutes; docs/scale.md
records what it printed, and where.
"""

import argparse
import os
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from unselected import SelectiveBernoulliNB, open_columns

BLOCK = 100_000


def responses(n: int) -> np.ndarray:
    """Return classes that are the same for the writer and the reader."""
    return np.random.default_rng(1).permutation(np.arange(n) % 2)


def write_bits(path: Path, n: int, p: int, *, by_column: bool) -> None:
    """Write a table of 0 and 1 as .npy, a block of columns at a time."""
    table = np.lib.format.open_memmap(
        path, mode="w+", dtype=np.uint8, shape=(n, p), fortran_order=by_column
    )
    rng = np.random.default_rng(0)
    for start in range(0, p, BLOCK):
        width = min(BLOCK, p - start)
        table[:, start : start + width] = rng.integers(0, 2, size=(n, width), dtype=np.uint8)
    table.flush()


def read_in_blocks(path: Path) -> None:
    """Look at every value once, a block of columns at a time."""
    table = np.load(path, mmap_mode="r")
    for start in range(0, table.shape[1], BLOCK):
        table[:, start : start + BLOCK].max()


def fit(path: Path) -> None:
    """Fit to the columns of the file, and print seconds and the largest resident memory."""
    source = open_columns(path)
    y = responses(source.shape[0])
    start = time.perf_counter()
    SelectiveBernoulliNB(k=100).fit(source, y)
    taken = time.perf_counter() - start
    print(f"{taken} {peak_resident_bytes()}")


def peak_resident_bytes() -> int:
    """Return the largest resident memory of this process, as Linux tells it.

    What `resource` tells includes that of the process that started this one.
    """
    rows = Path("/proc/self/status").read_text().splitlines()
    return int(next(row for row in rows if row.startswith("VmHWM")).split()[1]) * 1024


def bench_file(folder: Path, n: int, p: int, *, by_column: bool) -> None:
    """Print one row for a table of that size."""
    path = folder / "large.npy"
    write_bits(path, n, p, by_column=by_column)
    start = time.perf_counter()
    read_in_blocks(path)
    reading = time.perf_counter() - start
    command = [sys.executable, __file__, "--fit", str(path)]
    answer = subprocess.run(command, capture_output=True, text=True, check=True)
    taken, peak = map(float, answer.stdout.split())
    order = "Fortran" if by_column else "C"
    print(
        f"| {n} x {p} uint8, {order} order ({n * p / 1e9:.1f} GB) | {taken:.1f} s "
        f"| {reading:.1f} s | {taken / reading:.2f} | {peak / 1e9:.2f} GB |",
        flush=True,
    )
    path.unlink()


def main() -> None:
    """Run all, or the one fit that a process of its own is started for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fit", type=Path, help="only fit to this file")
    parser.add_argument("--columns", type=int, default=10**7)
    options = parser.parse_args()
    if options.fit is not None:
        fit(options.fit)
        return
    print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}\n")
    print("| file | whole fit | read in blocks | ratio | largest resident memory |")
    print("|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for by_column in (False, True):
            bench_file(Path(folder), 500, options.columns, by_column=by_column)


if __name__ == "__main__":
    main()
