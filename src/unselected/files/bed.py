"""Columns of a PLINK `.bed` file: samples in rows, variants in columns."""

from collections import Counter
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from unselected._typing import Ints
from unselected.files.sources import FileColumns, distinct_names, library, telling_damage
from unselected.files.table_request import TableError

Coding = Literal["dosage", "presence"]

_OF_SAMPLES = ("fid", "iid", "father", "mother", "sex", "pheno")
_OF_VARIANTS = ("chromosome", "sid", "cm_position", "bp_position", "allele_1", "allele_2")
# Bytes of a block. bed-reader numbers all variants whenever it opens a file, so few large blocks
# are faster than many small ones.
_BLOCK_BYTES = 1 << 26
# What bed-reader writes for a missing genotype where the type is int8.
_MISSING = -127


class BedColumns(FileColumns):
    """Genotypes: the number of copies of the first allele of a variant, or its presence."""

    def __init__(
        self, path: str, shape: tuple[int, int], coding: Coding, names: NDArray[Any] | None
    ) -> None:
        dtype = np.float32 if coding == "dosage" else np.uint8
        fitting = _BLOCK_BYTES // (max(1, shape[0]) * np.dtype(dtype).itemsize)
        super().__init__(path, shape, dtype, names=names, width=max(1, min(shape[1], fitting)))
        self.coding = coding

    def _load(self, columns: slice | Ints) -> NDArray[Any]:
        dtype = "float32" if self.coding == "dosage" else "int8"
        with _bed(self.path, self.shape) as file:
            counts = np.asarray(file.read(index=(slice(None), columns), dtype=dtype, num_threads=1))
        if self.coding == "dosage":
            return counts
        bits, unknown = (counts > 0).view(np.uint8), counts == _MISSING
        return np.where(unknown, np.float32(np.nan), bits) if unknown.any() else bits


def open_bed(path: str, *, names: bool, coding: Coding) -> BedColumns:
    """Open a `.bed` file, with the `.bim` and the `.fam` file beside it."""
    if coding not in get_args(Coding):
        raise ValueError(f"coding={coding!r} is not one of 'dosage', 'presence'.")
    for ending in (".bim", ".fam"):
        if not Path(path).with_suffix(ending).is_file():
            raise FileNotFoundError(
                f"{path}: there is no {Path(path).with_suffix(ending).name} beside it, which "
                "describes its variants or samples."
            )
    with telling_damage(path, "no PLINK .bed"):
        with _bed(path) as file:
            n, p = file.shape
            found = _variant_names(file) if names else None
        _check_size(path, n, p)
    return BedColumns(
        path, (n, p), coding, None if found is None else distinct_names(found, p, path)
    )


def _bed(path: str, shape: tuple[int, int] | None = None) -> Any:
    """Return the opened file; with a known shape the .bim and .fam files are not read again."""
    known: dict[str, Any] = {}
    if shape is not None:
        unread = dict.fromkeys(_OF_SAMPLES + _OF_VARIANTS)
        known = {"iid_count": shape[0], "sid_count": shape[1], "properties": unread}
    reader = library("bed_reader", path, "PLINK files", "bio")
    return reader.open_bed(path, num_threads=1, **known)


def _check_size(path: str, n: int, p: int) -> None:
    """Raise unless the size is 3 bytes and a quarter of a byte for each genotype."""
    size, expected = Path(path).stat().st_size, 3 + -(-n // 4) * p
    if size != expected:
        raise TableError(
            f"{path}: it has {size} bytes where {n} samples and {p} variants take {expected}: the "
            "file is damaged, or belongs to another .bim or .fam."
        )


def _variant_names(file: Any) -> list[str]:
    """Return the ids of the variants; one without a unique id gets its position and alleles."""
    ids: list[str] = file.sid.tolist()
    times = Counter(ids)
    if len(times) == len(ids) and "." not in times:
        return ids
    places = zip(file.chromosome, file.bp_position, file.allele_1, file.allele_2, strict=True)
    return [
        name if name != "." and times[name] == 1 else ":".join(map(str, place))
        for name, place in zip(ids, places, strict=True)
    ]
