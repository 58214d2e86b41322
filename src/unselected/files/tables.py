"""Tables from files: text (CSV, TSV, also compressed), Parquet, and scipy's sparse `.npz`.

Rows are samples, or features with ``features_in_rows``. A file that cannot be used is a
`TableError` that names the file, the row and the column, counted from 1.
"""

import io
import os
import sys
from collections.abc import Collection, Sequence
from pathlib import Path

from unselected.files.parquet_tables import read_parquet
from unselected.files.sparse_tables import read_sparse
from unselected.files.table_request import Request, Table
from unselected.files.text_tables import DELIMITERS, read_text
from unselected.files.writing import STANDARD

_ENDINGS = ".csv, .tsv or .txt (also with .gz), .parquet and .npz"


def read_table(
    path: str | os.PathLike[str],
    *,
    target: str | None = None,
    id_column: str | None = None,
    features_in_rows: bool = False,
    columns: Sequence[str] | None = None,
    left_out: str | None = None,
    covariates: Sequence[str] = (),
    levels: Collection[str] = (),
) -> Table:
    """Read a table from a file.

    Parameters
    ----------
    path : str or path
        A name that ends in .csv, .tsv or .txt (also with .gz), .parquet or .npz, or "-" for CSV or
        TSV from standard input. An .npz file is a matrix as `scipy.sparse.save_npz` writes it (csr,
        csc or coo), to which an array ``feature_names`` and further arrays may be added; features
        without names are called "0", "1" and so on.
    target : str, default=None
        The column that holds the response, classes or numbers; in an .npz file the array, by
        default ``y`` if there is one.
    id_column : str, default=None
        The column that tells the samples apart; in an .npz file the array.
    features_in_rows : bool, default=False
        Features are in rows: the first column holds their names, the header the ids of the samples,
        and the row named ``target`` the response. An .npz matrix is transposed.
    columns : sequence of str, default=None
        Read only these features, in this order. By default all but target, ids and covariates.
    left_out : str, default=None
        A column that is no feature, such as the groups of the cases.
    covariates : sequence of str, default=()
        Columns beside the features, such as age, sex and batch, which may hold text; in an .npz
        file the arrays. In text files a column all of whose cells are numbers is one of numbers,
        and one of TRUE and FALSE is one of booleans; all others have levels. Missing values are
        errors.
    levels : collection of str, default=()
        The covariates that have levels even where all cells look like numbers.

    Returns
    -------
    table : Table

    Raises
    ------
    TableError
        Where the file cannot be used.
    """
    request = Request(
        os.fspath(path),
        target,
        id_column,
        features_in_rows,
        columns,
        left_out,
        tuple(dict.fromkeys([covariates] if isinstance(covariates, str) else covariates)),
        levels,
    )
    request.check()
    if request.path == STANDARD:
        return read_text(io.BytesIO(sys.stdin.buffer.read()), request, DELIMITERS[".txt"])
    name = request.path.lower()
    ending = Path(name.removesuffix(".gz")).suffix
    if ending in DELIMITERS:
        with open(path, "rb") as file:
            return read_text(file, request, DELIMITERS[ending])
    readers = {".parquet": read_parquet, ".npz": read_sparse}
    if ending not in readers or name.endswith(".gz"):
        raise request.error(f"it is not clear what kind of file that is: {_ENDINGS} are known")
    with open(path, "rb") as file:
        return readers[ending](file, request)
