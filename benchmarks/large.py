"""Tables larger than memory should be: time against a plain read in blocks, and resident memory.

`make bench-large` writes some gigabytes to a temporary folder and takes some minutes;
docs/guide/scale.md records what it printed, and where. Then it measures a cost model, time and
memory by p and n.
"""

import argparse
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import bed_reader
import numpy as np
from costs import print_costs
from timing import two_classes

from unselected import SelectiveBernoulliNB, open_columns

BLOCK = 100_000


def blocks(p: int) -> Iterator[slice]:
    """Yield blocks of columns."""
    for start in range(0, p, BLOCK):
        yield slice(start, min(start + BLOCK, p))


def write_npy(path: Path, n: int, p: int, *, by_column: bool) -> None:
    """Write a table of 0 and 1 as .npy, a block of columns at a time."""
    table = np.lib.format.open_memmap(
        path, mode="w+", dtype=np.uint8, shape=(n, p), fortran_order=by_column
    )
    rng = np.random.default_rng(0)
    for columns in blocks(p):
        width = columns.stop - columns.start
        table[:, columns] = rng.integers(0, 2, size=(n, width), dtype=np.uint8)
    table.flush()


def write_by_rows(path: Path, n: int, p: int) -> None:
    """Write an .npy file in C order."""
    write_npy(path, n, p, by_column=False)


def write_by_columns(path: Path, n: int, p: int) -> None:
    """Write an .npy file in Fortran order."""
    write_npy(path, n, p, by_column=True)


def write_bed(path: Path, n: int, p: int) -> None:
    """Write random genotypes, none of them missing, with the .bim and .fam files beside them.

    A genotype is two bits, the low ones first: 00 two copies of allele 1, 10 one, 11 none, and 01,
    which is missing, is left out: the low bit is 1 only where the high one is. Each variant begins
    with a byte of its own.
    """
    rng = np.random.default_rng(0)
    with open(path, "wb") as file, open(path.with_suffix(".bim"), "w") as bim:
        file.write(b"\x6c\x1b\x01")  # PLINK, variant by variant
        for columns in blocks(p):
            size = (columns.stop - columns.start, -(-n // 4))
            high = rng.integers(0, 256, size=size, dtype=np.uint8) & 0b10101010
            genotypes = high | (rng.integers(0, 256, size=size, dtype=np.uint8) & (high >> 1))
            if n % 4:
                genotypes[:, -1] &= (1 << 2 * (n % 4)) - 1  # nobody's bits are 0
            file.write(genotypes.tobytes())
            variants = range(columns.start + 1, columns.stop + 1)
            bim.writelines(f"1\tv{j}\t0\t{j}\tA\tC\n" for j in variants)
    with open(path.with_suffix(".fam"), "w") as fam:
        fam.writelines(f"f{i}\ts{i}\t0\t0\t0\t-9\n" for i in range(n))


def fit(path: Path) -> None:
    """Open the file and fit to its columns, without their names."""
    source = open_columns(path, names=False, coding="presence" if path.suffix == ".bed" else None)
    SelectiveBernoulliNB(k=100).fit(source, two_classes(source.shape[0]))


def read_npy(path: Path) -> None:
    """Map the file, and look at every value once, a block of columns at a time."""
    table = np.load(path, mmap_mode="r")
    for columns in blocks(table.shape[1]):
        table[:, columns].max()


def read_bed(path: Path) -> None:
    """Open the file with bed-reader and read it in blocks, in as many threads as it likes."""
    with bed_reader.open_bed(path) as file:
        for columns in blocks(file.sid_count):
            file.read(index=(slice(None), columns), dtype="int8")


@dataclass(frozen=True)
class Format:
    """A kind of file, how it is written, and how it is read when nothing else is done."""

    ending: str
    write: Callable[[Path, int, int], None]
    read: Callable[[Path], None]
    bytes_per_value: float


FORMATS = {
    "uint8, C order": Format(".npy", write_by_rows, read_npy, 1.0),
    "uint8, Fortran order": Format(".npy", write_by_columns, read_npy, 1.0),
    ".bed": Format(".bed", write_bed, read_bed, 0.25),
}
READERS = {kind.ending: kind.read for kind in FORMATS.values()}


def alone(work: str, path: Path) -> tuple[float, float]:
    """Return the seconds that a work takes in a process of its own, and its resident memory."""
    command = [sys.executable, __file__, "--alone", work, str(path)]
    answer = subprocess.run(command, capture_output=True, text=True, check=True)
    taken, peak = map(float, answer.stdout.split())
    return taken, peak


def do_alone(work: str, path: Path) -> None:
    """Fit or read, and print seconds and the largest resident memory."""
    start = time.perf_counter()
    (fit if work == "fit" else READERS[path.suffix])(path)
    print(f"{time.perf_counter() - start} {peak_resident_bytes()}")


def peak_resident_bytes() -> int:
    """Return the largest resident memory of this process, as Linux tells it.

    What `resource` tells includes that of the process that started this one.
    """
    rows = Path("/proc/self/status").read_text().splitlines()
    return int(next(row for row in rows if row.startswith("VmHWM")).split()[1]) * 1024


def bench_file(name: str, kind: Format, n: int, p: int) -> None:
    """Print one row for a table of that size, in a folder of its own."""
    size = n * p * kind.bytes_per_value
    with tempfile.TemporaryDirectory() as folder:
        free = shutil.disk_usage(folder).free
        if free < 1.5 * size:
            print(f"| {n} x {p} {name} | needs {size / 1e9:.1f} GB in {folder} | | | | |")
            return
        path = Path(folder) / f"large{kind.ending}"
        kind.write(path, n, p)
        reading, read_peak = alone("read", path)
        taken, peak = alone("fit", path)
    print(
        f"| {n} x {p} {name} ({size / 1e9:.1f} GB) | {taken:.1f} s | {reading:.1f} s "
        f"| {taken / reading:.2f} | {peak / 1e9:.2f} GB | {read_peak / 1e9:.2f} GB |",
        flush=True,
    )


def main() -> None:
    """Run all, or the one work that a process of its own is started for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--alone", nargs=2, metavar=("WORK", "FILE"), help="only read, or only fit")
    parser.add_argument("--columns", type=int, default=10**7)
    parser.add_argument("--skip-files", action="store_true", help="only the cost model")
    options = parser.parse_args()
    if options.alone is not None:
        do_alone(options.alone[0], Path(options.alone[1]))
        return
    print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}\n")
    if not options.skip_files:
        print("| file | open and fit | open and read in blocks | ratio | memory | of the read |")
        print("|---|---|---|---|---|---|")
        for name, kind in FORMATS.items():
            bench_file(name, kind, 500, options.columns)
    print()
    print_costs()


if __name__ == "__main__":
    main()
