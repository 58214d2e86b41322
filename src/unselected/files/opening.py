"""`open_columns` opens every kind of file that can be read by columns."""

import os
from collections.abc import Sequence
from pathlib import Path

from unselected.columns.sources import ColumnSource
from unselected.files.bed import Coding, open_bed
from unselected.files.h5ad import open_h5ad
from unselected.files.npy import open_npy
from unselected.files.npz import open_npz
from unselected.files.parquet import open_parquet
from unselected.files.zarr import open_zarr

_ENDINGS = ".npy, .npz, .parquet, .h5ad, .bed and .zarr"


def open_columns(
    path: str | os.PathLike[str],
    *,
    names: bool = True,
    coding: Coding | None = None,
    leave_out: Sequence[str] = (),
) -> ColumnSource:
    """Open a table in a file, for fits and predictions that do not load it into memory.

    `fit` reads all columns once, in blocks; predictions read only the kept columns. The file is
    opened for each block and closed again. Reading a file that has changed after this call is an
    error.

    =============  ==================================================  ===========================
    ending         what it holds                                       installed with
    =============  ==================================================  ===========================
    .npy           an array as `numpy.save` writes it                  ``unselected``
    .npz           a matrix as `scipy.sparse.save_npz` writes it       ``unselected``
    .parquet       columns of numbers and booleans; null is NaN        ``unselected[parquet]``
    .h5ad          the matrix X of an AnnData file; genes are columns  ``unselected[bio]``
    .bed           PLINK genotypes; variants are columns               ``unselected[bio]``
    .zarr          an array, also one in a group: ``cases.zarr/X``     ``unselected[zarr]``
    =============  ==================================================  ===========================

    Parameters
    ----------
    path : str or path
        The file, or for Zarr the folder. Rows are cases, columns are features.
    names : bool, default=True
        Read the names of the columns where there are any: the array ``feature_names`` that may
        stand beside an .npz matrix, the columns of a Parquet file, the index of ``var`` in an .h5ad
        file, the ids in the .bim file (for a variant without an id of its own, chromosome:position:
        allele 1:allele 2). Names of ten million columns take about 1 GB of memory.
    coding : {"dosage", "presence"}, default=None
        For .bed files only. "dosage", the default: the number of copies of allele 1 of the .bim
        file, 0, 1 or 2, as float32, with NaN for missing genotypes. "presence": 1 where there is a
        copy, else 0, as uint8; columns with missing genotypes are read as float32, with NaN.
    leave_out : sequence of str, default=()
        For Parquet files only: columns that are not features, such as the response or ids. The
        index of a pandas frame is always left out.

    Returns
    -------
    source : ColumnSource
        With ``shape``, ``dtype``, ``names``, ``origin`` (the path), and ``source[:, columns]`` for
        a slice or an array of columns. Sparse matrices of .npz files and those that .h5ad files
        store by rows (CSR) are in memory, with the values that are not 0; all others stay in the
        file.

    Raises
    ------
    FileNotFoundError
        Where there is no such file.
    ImportError
        Where the library for this kind of file is not installed.
    ValueError
        Where the file is damaged, is of another kind, or holds something else than a table of
        numbers, or where an option does not go with it.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(f"{folder}/cases.npy", np.arange(6, dtype=np.uint8).reshape(2, 3))
    ...     source = open_columns(f"{folder}/cases.npy")
    ...     source.shape, source[:, 1:].tolist()
    ((2, 3), [[1, 2], [4, 5]])
    """
    place = os.fspath(path)
    ending = ending_of(place)
    _check_options(place, ending, coding, leave_out)
    if not os.path.exists(place):
        raise FileNotFoundError(f"{place}: there is no such file.")
    match ending:
        case ".npy":
            return open_npy(place)
        case ".npz":
            return open_npz(place, names=names)
        case ".parquet":
            return open_parquet(place, names=names, leave_out=leave_out)
        case ".h5ad":
            return open_h5ad(place, names=names)
        case ".bed":
            return open_bed(place, names=names, coding=coding or "dosage")
        case ".zarr":
            return open_zarr(place)
    raise ValueError(f"{place}: it is not clear what kind of file that is: {_ENDINGS} are known.")


def ending_of(path: str) -> str:
    """Return the ending that identifies the kind of file; ".zarr" for paths in a Zarr folder.

    >>> ending_of("data/cases.NPY"), ending_of("cases.zarr/X")
    ('.npy', '.zarr')
    """
    endings = [Path(part).suffix.lower() for part in Path(path).parts]
    return ".zarr" if ".zarr" in endings else (endings[-1] if endings else "")


def _check_options(path: str, ending: str, coding: Coding | None, leave_out: Sequence[str]) -> None:
    """Raise on options that have no meaning for this kind of file."""
    if coding is not None and ending != ".bed":
        raise ValueError(f"{path}: coding={coding!r} is for .bed files only: leave it out.")
    if leave_out and ending != ".parquet":
        raise ValueError(f"{path}: leave_out is for Parquet files only.")
    if isinstance(leave_out, str):
        raise TypeError(f"leave_out={leave_out!r} must be a list of names of columns.")
