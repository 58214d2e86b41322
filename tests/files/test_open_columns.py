"""What is opened from a file gives what the plain array gives, or an error that names the file."""

import csv
import importlib
import json
import os
import pickle
import re
import subprocess
import sys
from pathlib import Path

import bed_reader
import h5py
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zarr
from scipy import sparse

from unselected import (
    SelectiveBernoulliNB,
    SelectiveGaussianNB,
    SelectiveNaiveRegressor,
    SelectiveRegressor,
    open_columns,
)
from unselected.cli import main
from unselected.cli.fitting import selection_of
from unselected.cli.sources import ColumnNumbers
from unselected.columns import blocks as columns_module
from unselected.columns.sources import SourceError, SparseColumns
from unselected.files.models import save_model
from unselected.files.table_request import TableError

# Columns of the tables.
P = 60
ESTIMATORS = [SelectiveBernoulliNB, SelectiveGaussianNB, SelectiveNaiveRegressor]


# The tables are genotypes, of which a classifier of bits warns; that is tested elsewhere.
pytestmark = [
    pytest.mark.usefixtures("few_folds"),
    pytest.mark.filterwarnings("ignore:.* three consecutive whole numbers"),
    pytest.mark.filterwarnings("ignore:k=40 keeps all 40 columns"),
]


def names_of(X):
    return [f"x{j}" for j in range(X.shape[1])]


def write_npy(path, X):
    np.save(path, X)


def write_npy_by_columns(path, X):
    np.save(path, np.asfortranarray(X))


def write_npz(path, X):
    sparse.save_npz(path, sparse.csr_array(X))
    add_names(path, names_of(X))


def add_names(path, names):
    with np.load(path) as stored:
        arrays = dict(stored)
    np.savez(path, **arrays, feature_names=np.array(names))


def write_parquet(path, X):
    """Columns with nulls where values are NaN, in three groups of rows."""
    columns = [pa.array(column, from_pandas=True) for column in X.T]
    pq.write_table(pa.table(columns, names=names_of(X)), path, row_group_size=len(X) // 3 + 1)


def write_h5ad(path, X, chunks=None):
    with h5py.File(path, "w") as file:
        file.create_dataset("X", data=X, chunks=chunks)
        write_var(file, names_of(X))


def write_h5ad_in_chunks(path, X):
    write_h5ad(path, X, chunks=(7, 3))


def write_h5ad_csr(path, X):
    write_h5ad_sparse(path, sparse.csr_matrix(X), "csr_matrix")


def write_h5ad_csc(path, X):
    write_h5ad_sparse(path, sparse.csc_matrix(X), "csc_matrix")


def write_h5ad_sparse(path, X, kind):
    with h5py.File(path, "w") as file:
        group = file.create_group("X")
        group.attrs["encoding-type"], group.attrs["shape"] = kind, X.shape
        for part in ("data", "indices", "indptr"):
            group[part] = getattr(X, part)
        write_var(file, names_of(X))


def write_var(file, names):
    var = file.create_group("var")
    var.attrs["_index"] = "gene"
    var["gene"] = names


def write_zarr(path, X, width, **options):
    array = zarr.create_array(
        str(path), shape=X.shape, chunks=(25, width), dtype=X.dtype, overwrite=True, **options
    )
    array[:] = X


def write_zarr_2(path, X):
    write_zarr(path, X, width=10, zarr_format=2)


def write_zarr_3(path, X):
    write_zarr(path, X, width=1, zarr_format=3)


def write_sharded_zarr(path, X):
    n = -(-len(X) // 25) * 25
    write_zarr(path, X, width=4, shards=(n, 20))


def write_bed(path, X, **properties):
    properties = {"sid": names_of(X), **properties}
    bed_reader.to_bed(path, X.astype(np.float32), properties=properties)


FORMATS = {
    "npy": ("X.npy", write_npy),
    "npy by columns": ("X.npy", write_npy_by_columns),
    "npz": ("X.npz", write_npz),
    "parquet": ("X.parquet", write_parquet),
    "h5ad": ("X.h5ad", write_h5ad),
    "h5ad in chunks": ("X.h5ad", write_h5ad_in_chunks),
    "h5ad csr": ("X.h5ad", write_h5ad_csr),
    "h5ad csc": ("X.h5ad", write_h5ad_csc),
    "zarr 2": ("X.zarr", write_zarr_2),
    "zarr 3": ("X.zarr", write_zarr_3),
    "sharded zarr": ("X.zarr", write_sharded_zarr),
    "bed": ("X.bed", write_bed),
}
IN_MEMORY = ["npz", "h5ad csr"]
WITHOUT_NAMES = ["npy", "npy by columns", "zarr 2", "zarr 3", "sharded zarr"]


def written(kind, X, folder):
    name, write = FORMATS[kind]
    write(folder / name, X)
    return folder / name


@pytest.fixture(params=[1, 25], ids=lambda width: f"width {width}")
def block_width(request, monkeypatch):
    """How many columns are read at a time: one, or a few. All other tests read as usual."""
    width = request.param
    monkeypatch.setattr(
        columns_module,
        "_blocks_of",
        lambda _, p: [slice(start, min(start + width, p)) for start in range(0, p, width)],
    )


def genotypes(seed, *, missing):
    """0, 1 and 2, which every format can hold; some columns are constant."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(40) % 2)
    frequency = np.clip(rng.random(P) * (1 + 0.4 * y[:, None]) * 0.6, 0, 1)
    X = rng.binomial(2, frequency).astype(np.float32)
    X[:, 7], X[:, 8] = 0, 1
    if missing:
        X[rng.random(X.shape) < 0.05] = np.nan
    return X, y


PLAIN = {}


def fitted_plain(estimator, X, y, **options):
    """The fit to an array, once for all files that have the same values."""
    key = (estimator, X.dtype.str, X.tobytes(), y.tobytes())
    if key not in PLAIN:
        PLAIN[key] = estimator(**{"k": 8, **options}).fit(X, y)
    return PLAIN[key]


def fitted_alike(estimator, X, y, source):
    plain, model = fitted_plain(estimator, X, y), estimator(k=8).fit(source, y)
    np.testing.assert_array_equal(model.selection_.indices, plain.selection_.indices)
    assert model.selection_.event.n_omitted == plain.selection_.event.n_omitted
    np.testing.assert_allclose(model.scores_, plain.scores_, rtol=1e-9)
    method = "predict" if estimator is SelectiveNaiveRegressor else "predict_proba"
    np.testing.assert_allclose(
        getattr(model, method)(source), getattr(plain, method)(X), rtol=1e-7, atol=1e-12
    )
    return plain, model


@pytest.mark.usefixtures("block_width")
@pytest.mark.parametrize(
    ("estimator", "missing", "block_width"),
    [
        (SelectiveBernoulliNB, False, 1),
        (SelectiveBernoulliNB, True, 25),
        (SelectiveGaussianNB, True, 1),
        (SelectiveNaiveRegressor, False, 25),
    ],
    indirect=["block_width"],
)
@pytest.mark.parametrize("kind", FORMATS)
def test_files_give_what_the_plain_array_gives(kind, estimator, missing, seed, tmp_path):
    X, y = genotypes(seed, missing=missing)
    if estimator is SelectiveNaiveRegressor:
        y = y + np.random.default_rng(seed).normal(size=y.size)
    source = open_columns(written(kind, X, tmp_path))
    plain, model = fitted_alike(estimator, X, y, source)
    np.testing.assert_array_equal(model.transform(source), X[:, plain.selection_.indices])
    assert source.names is None if kind in WITHOUT_NAMES else source.names.tolist() == names_of(X)


@pytest.mark.parametrize("kind", ["npy", "npy by columns"])
def test_the_header_of_an_array_is_parsed_once(kind, tmp_path, monkeypatch):
    """Threads read blocks side by side, and Python before 3.11.8 may fail to parse in threads."""
    X, _ = genotypes(0, missing=True)
    source = open_columns(written(kind, X, tmp_path))

    def parse_again(*_):
        pytest.fail("the header was parsed again")

    monkeypatch.setattr("ast.literal_eval", parse_again)
    np.testing.assert_array_equal(source[:, 3:9], X[:, 3:9])
    np.testing.assert_array_equal(source[:, np.array([7, 2])], X[:, [7, 2]])


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int64])
@pytest.mark.parametrize("kind", [kind for kind in FORMATS if kind != "bed"])
def test_bits_of_any_type_are_counted_alike_to_the_last_bit(kind, dtype, seed, tmp_path):
    X, y = genotypes(seed, missing=False)
    X = (X > 0).astype(dtype)
    source = open_columns(written(kind, X, tmp_path))
    assert source.dtype == dtype
    plain, model = fitted_alike(SelectiveBernoulliNB, X, y, source)
    assert model.selection_.event == plain.selection_.event
    np.testing.assert_array_equal(model.predict_log_proba(source), plain.predict_log_proba(X))


@pytest.mark.parametrize("kind", FORMATS)
def test_any_columns_can_be_read_in_any_order(kind, tmp_path):
    X, _ = genotypes(0, missing=False)
    path = written(kind, X, tmp_path)
    source = open_columns(path)
    assert (source.origin, source.shape) == (str(path), X.shape)
    for columns in (slice(5, 9), slice(None), np.array([P - 1, 3, 3, 17]), np.array([2])):
        block = source[:, columns]
        np.testing.assert_array_equal(block, X[:, columns])
        assert type(block) is np.ndarray
        assert block.dtype == source.dtype


@pytest.mark.parametrize(
    ("kind", "width"),
    [("zarr 2", 10), ("zarr 3", 1), ("sharded zarr", 20), ("h5ad in chunks", 3), ("h5ad", None)],
)
def test_chunks_are_read_whole(kind, width, tmp_path):
    assert open_columns(written(kind, genotypes(0, missing=False)[0], tmp_path)).width == width


def test_presence_is_of_allele_1_and_may_be_unknown(seed, tmp_path):
    X, y = genotypes(seed, missing=False)
    path = written("bed", X, tmp_path)
    source = open_columns(path, coding="presence")
    assert source.dtype == np.uint8
    bits = (X >= 1).astype(np.uint8)
    fitted_alike(SelectiveBernoulliNB, bits, y, source)
    np.testing.assert_array_equal(source[:, :], bits)
    X[5, 20] = np.nan
    write_bed(path, X)
    some = open_columns(path, coding="presence", names=False)[:, np.array([3, 20])]
    np.testing.assert_array_equal(some, np.where(np.isnan(X), np.nan, bits)[:, [3, 20]])
    holes = np.where(np.isnan(X), np.nan, bits)
    fitted_alike(SelectiveBernoulliNB, holes, y, open_columns(path, coding="presence"))


def test_variants_without_their_own_id_are_called_by_place_and_alleles(tmp_path):
    about = {"sid": ["rs1", ".", "rs2", "rs2"], "bp_position": [5, 6, 7, 7]}
    about |= {"chromosome": ["1", "1", "2", "2"]}
    about |= {"allele_1": ["A", "C", "A", "G"], "allele_2": ["T"] * 4}
    write_bed(tmp_path / "X.bed", np.ones((3, 4)), **about)
    names = open_columns(tmp_path / "X.bed").names
    assert names.tolist() == ["rs1", "1:6:C:T", "2:7:A:T", "2:7:G:T"]


def test_parquet_types_nulls_and_what_is_no_feature(tmp_path):
    path = tmp_path / "X.parquet"
    small = {"a": pa.array([1, 2, None], pa.int8()), "b": pa.array([True, False, True])}
    pq.write_table(pa.table(small), path)
    source = open_columns(path)
    assert source.dtype == np.float32
    np.testing.assert_array_equal(source[:, :], [[1, 1], [2, 0], [np.nan, 1]])
    large = pa.array([1 << 40, None, 3], pa.int64())
    pq.write_table(pa.table({**small, "c": large, "b.d": large}), path)
    source = open_columns(path, leave_out=["a"])
    assert source.dtype == np.float64
    assert source.names.tolist() == ["b", "c", "b.d"]
    np.testing.assert_array_equal(source[:, :1], [[1], [0], [1]])
    np.testing.assert_array_equal(source[:, np.array([2, 0])], [[1 << 40, 1], [np.nan, 0], [3, 1]])
    assert open_columns(path, names=False).names is None
    pq.write_table(pa.table({**small, "status": ["x", "y", "z"]}), path)
    with pytest.raises(TableError, match=r"X\.parquet: column 'status' is of type string"):
        open_columns(path)
    with pytest.raises(TableError, match="leave_out has 'statsu', but there is no such"):
        open_columns(path, leave_out=["statsu"])
    with pytest.raises(TableError, match="no columns besides"):
        open_columns(path, leave_out=["a", "b", "status"])
    assert open_columns(path, leave_out=["status"]).shape == (3, 2)


def test_the_index_of_a_pandas_frame_is_no_feature(tmp_path):
    pandas = importlib.import_module("pandas")
    frame = pandas.DataFrame({"a": [1.5, 2.5]}, index=pandas.Index(["s1", "s2"], name="sample"))
    frame.to_parquet(tmp_path / "X.parquet")
    assert open_columns(tmp_path / "X.parquet").names.tolist() == ["a"]


def test_what_anndata_writes_is_read(tmp_path):
    """In a process of its own, for anndata warns of what is no concern here."""
    X = np.array([[0, 1.5, 0], [2, 0, 0]], dtype=np.float32)
    np.save(tmp_path / "X.npy", X)
    code = """
import anndata, numpy, pandas, sys
from scipy import sparse
X = numpy.load("X.npy")
var = pandas.DataFrame(index=["g1", "g2", "g3"])
for name, matrix in {"dense": X, "csr": sparse.csr_matrix(X), "csc": sparse.csc_matrix(X)}.items():
    anndata.AnnData(matrix, var=var).write_h5ad(name + ".h5ad")
"""
    pytest.importorskip("anndata")
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], cwd=tmp_path, check=True)
    for name in ("dense", "csr", "csc"):
        source = open_columns(tmp_path / f"{name}.h5ad")
        np.testing.assert_array_equal(source[:, :], X)
        assert source.names.tolist() == ["g1", "g2", "g3"]


def test_older_h5ad_files_are_read(tmp_path):
    with h5py.File(tmp_path / "X.h5ad", "w") as file:
        file["var"] = np.array([(b"g1", 1), (b"g2", 2)], dtype=[("index", "S2"), ("n", int)])
        group = file.create_group("X")
        group.attrs["h5sparse_format"], group.attrs["h5sparse_shape"] = "csc", (2, 2)
        group["data"], group["indices"], group["indptr"] = [5.0, 6.0], [1, 0], [0, 1, 2]
    source = open_columns(tmp_path / "X.h5ad")
    assert source.names.tolist() == ["g1", "g2"]
    np.testing.assert_array_equal(source[:, :], [[0, 6], [5, 0]])


ON_DISK = [kind for kind in FORMATS if kind not in IN_MEMORY]


@pytest.mark.parametrize("estimator", [SelectiveBernoulliNB, SelectiveNaiveRegressor])
@pytest.mark.parametrize("kind", ON_DISK)
@pytest.mark.parametrize("fault", ["smaller", "cut", "gone"])
def test_a_file_that_changes_after_it_was_opened(kind, estimator, fault, tmp_path):
    X, y = genotypes(0, missing=False)
    path = written(kind, X, tmp_path)
    source = open_columns(path, names=False)
    model = estimator(k=5).fit(source, y)
    before = model.predict(X)
    spoil(path, fault, kind, X, tmp_path)
    fresh = estimator(k=5)
    for again in (fresh, model):
        with pytest.raises(SourceError, match=rf"{path.name}: columns 0 to {P} cannot be read: "):
            again.fit(source, y)
    with pytest.raises(SourceError, match=rf"{path.name}: 5 columns cannot be read: "):
        model.predict(source)
    assert not [name for name in vars(fresh) if name.endswith("_")]
    np.testing.assert_array_equal(model.predict(X), before)


def spoil(path, fault, kind, X, folder):
    files = [path] if path.is_file() else sorted(path.rglob("*"))
    if fault == "smaller":
        written(kind, X[:-1, :-1], folder)
        return
    for file in filter(Path.is_file, files):
        if fault == "gone":
            file.unlink()
        elif file.name not in ("zarr.json", ".zarray", ".zattrs"):
            os.truncate(file, file.stat().st_size // 2)


CHUNK_OF_COLUMN_30 = {"zarr 2": "1.3", "zarr 3": "c/1/30", "sharded zarr": "c/0/1"}


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("kind", CHUNK_OF_COLUMN_30)
@pytest.mark.usefixtures("block_width")
def test_a_zarr_chunk_that_vanishes_is_no_fill_value(kind, estimator, tmp_path):
    X, y = genotypes(0, missing=False)
    path = written(kind, X, tmp_path)
    source = open_columns(path)
    key = CHUNK_OF_COLUMN_30[kind]
    (path / key).unlink()
    assert np.any(zarr.open(str(path))[:, 30] != X[:, 30])  # which Zarr does not mind
    fresh = estimator(k=5)
    message = rf"X\.zarr: columns \d+ to \d+ cannot be read: .* chunk {key} is gone"
    with pytest.raises(SourceError, match=message):
        fresh.fit(source, y)
    assert not [name for name in vars(fresh) if name.endswith("_")]
    np.testing.assert_array_equal(source[:, :20], X[:, :20])  # others are there
    with pytest.raises(SourceError, match=rf"2 columns cannot be read: .* chunk {key} is gone"):
        _ = source[:, np.array([30, 0])]


@pytest.mark.parametrize("kind", CHUNK_OF_COLUMN_30)
def test_zarr_chunks_that_were_never_written_are_fill_values_until_they_are(kind, tmp_path):
    X, y = genotypes(0, missing=False)
    path = written(kind, X, tmp_path)
    key = CHUNK_OF_COLUMN_30[kind]
    (path / key).unlink()
    sparser = zarr.open(str(path), mode="r+")
    source = open_columns(path)
    fitted_alike(SelectiveGaussianNB, sparser[:], y, source)
    sparser[25:, 30] = 2
    with pytest.raises(SourceError, match=rf"the chunk {key} is not what it was; open it again"):
        _ = source[:, 30:31]
    np.testing.assert_array_equal(open_columns(path)[:, :], sparser[:])


@pytest.mark.parametrize("kind", IN_MEMORY)
def test_what_is_in_memory_needs_the_file_no_more(kind, tmp_path):
    X, y = genotypes(0, missing=False)
    path = written(kind, X, tmp_path)
    source = open_columns(path)
    path.unlink()
    assert isinstance(source, SparseColumns)
    fitted_alike(SelectiveGaussianNB, X, y, source)


@pytest.mark.parametrize("kind", [kind for kind in FORMATS if "zarr" not in kind])
@pytest.mark.parametrize("content", ["nothing", "half", "something else"])
def test_damaged_files_are_named(kind, content, tmp_path):
    path = written(kind, genotypes(0, missing=False)[0], tmp_path)
    whole = path.read_bytes()
    contents = {"nothing": b"", "half": whole[: len(whole) // 2], "something else": b"a,b\n1,2\n"}
    path.write_bytes(contents[content])
    with pytest.raises(TableError, match=rf"{path.name}: it "):
        open_columns(path)


def test_places_outside_a_sparse_matrix_are_not_followed(tmp_path):
    X = sparse.csc_matrix(np.eye(4))
    X.indices[2] = 1_000_000
    write_h5ad_sparse(tmp_path / "c.h5ad", X, "csc_matrix")
    with pytest.raises(SourceError, match=r"c\.h5ad: columns 0 to 4 cannot be read"):
        _ = open_columns(tmp_path / "c.h5ad")[:, 0:4]
    write_h5ad_sparse(tmp_path / "r.h5ad", X, "csr_matrix")
    with pytest.raises(TableError, match=r"r\.h5ad: it is damaged"):
        open_columns(tmp_path / "r.h5ad")
    X.indptr[-1] = 1
    write_h5ad_sparse(tmp_path / "p.h5ad", X, "csc_matrix")
    with pytest.raises(TableError, match=r"p\.h5ad: .*damaged"):
        open_columns(tmp_path / "p.h5ad")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (np.ones(4), r"its shape is \(4,\)"),
        (np.ones((2, 2, 2)), r"its shape is \(2, 2, 2\)"),
        (np.ones((0, 3)), r"its shape is \(0, 3\)"),
        (np.array([["a", "b"]]), "its values are of type <U1"),
        (np.ones((2, 2), dtype=complex), "its values are of type complex128"),
    ],
)
def test_shapes_and_types_that_are_no_table(values, message, tmp_path):
    for ending in (".npy", ".zarr", ".h5ad"):
        path = tmp_path / f"X{ending}"
        if ending == ".npy":
            np.save(path, values)
        elif values.dtype.kind == "U" or 0 in values.shape:
            continue  # stored in another way, or not at all
        elif ending == ".zarr":
            zarr.save_array(str(path), values)
        else:
            with h5py.File(path, "w") as file:
                file["X"] = values
                write_var(file, [f"x{j}" for j in range(values.shape[-1])])
        with pytest.raises(TableError, match=rf"X\{ending}: {message}"):
            open_columns(path)


class Trap:
    """Whoever unpickles it leaves a trace."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return Path.touch, (self.path,)


def test_nothing_in_a_file_is_executed(tmp_path):
    trace = tmp_path / "trace"
    traps = np.array([[Trap(trace)]], dtype=object)
    np.save(tmp_path / "X.npy", traps)
    with pytest.raises(TableError, match=r"X\.npy: it is damaged or no array of numbers"):
        open_columns(tmp_path / "X.npy")
    sparse.save_npz(tmp_path / "X.npz", sparse.csr_array(np.eye(1)))
    with np.load(tmp_path / "X.npz") as stored:
        arrays = dict(stored)
    np.savez(tmp_path / "X.npz", **arrays, feature_names=traps[0])
    with pytest.raises(TableError, match=r"X\.npz: it is damaged"):
        open_columns(tmp_path / "X.npz")
    assert open_columns(tmp_path / "X.npz", names=False).names is None
    write_zarr_2(tmp_path / "X.zarr", np.ones((2, 2)))
    about = tmp_path / "X.zarr" / ".zarray"
    text = about.read_text()
    changed = re.sub(r'"compressor": \{[^}]*\}', '"compressor": {"id": "pickle"}', text)
    assert changed != text
    about.write_text(changed)
    (tmp_path / "X.zarr" / "0.0").write_bytes(pickle.dumps(Trap(trace)))
    with pytest.raises(TableError, match=r"X\.zarr: .*could run code"):
        open_columns(tmp_path / "X.zarr")
    assert not trace.exists()
    np.load(tmp_path / "X.npy", allow_pickle=True)  # the trap does work
    assert trace.exists()


def test_names_must_be_distinct_and_as_many_as_columns(tmp_path):
    path = tmp_path / "X.npz"
    for names, message in ((["a", "b", "a"], "2 columns are named 'a'"), (["a"], "1 names for 3")):
        sparse.save_npz(path, sparse.csr_array(np.eye(3)))
        add_names(path, names)
        with pytest.raises(TableError, match=message):
            open_columns(path)
        assert open_columns(path, names=False).names is None


def test_paths_and_options_that_make_no_sense(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"none\.npy: there is no such file"):
        open_columns(tmp_path / "none.npy")
    (tmp_path / "X.xlsx").touch()
    with pytest.raises(ValueError, match=r"X\.xlsx: it is not clear .* \.zarr are known"):
        open_columns(tmp_path / "X.xlsx")
    path = written("npy", np.eye(3), tmp_path)
    with pytest.raises(ValueError, match=r"coding='dosage' is for \.bed files only"):
        open_columns(path, coding="dosage")
    with pytest.raises(ValueError, match="leave_out is for Parquet files only"):
        open_columns(path, leave_out=["a"])
    with pytest.raises(TypeError, match="must be a list of names"):
        open_columns(tmp_path / "X.parquet", leave_out="status")
    bed = written("bed", np.eye(3), tmp_path)
    with pytest.raises(ValueError, match="coding='additive' is not one of"):
        open_columns(bed, coding="additive")
    bed.with_suffix(".bim").unlink()
    with pytest.raises(FileNotFoundError, match=r"X\.bed: there is no X\.bim beside it"):
        open_columns(bed)


def test_an_array_in_a_zarr_group_is_opened_by_its_path(tmp_path):
    group = zarr.open_group(str(tmp_path / "cases.zarr"), mode="w")
    group.create_array("X", data=np.eye(3))
    with pytest.raises(TableError, match=r"a group with the arrays X: give the path"):
        open_columns(tmp_path / "cases.zarr")
    np.testing.assert_array_equal(open_columns(tmp_path / "cases.zarr" / "X")[:, :], np.eye(3))
    (tmp_path / "empty.zarr").mkdir()
    with pytest.raises((TableError, FileNotFoundError), match=r"empty\.zarr"):
        open_columns(tmp_path / "empty.zarr")


@pytest.mark.parametrize(
    ("kind", "module", "package", "extra"),
    [
        ("parquet", "pyarrow.parquet", "pyarrow", "parquet"),
        ("h5ad", "h5py", "h5py", "bio"),
        ("bed", "bed_reader", "bed-reader", "bio"),
        ("zarr 3", "zarr", "zarr", "zarr"),
    ],
)
def test_a_missing_library_is_named_with_its_pip_line(
    kind, module, package, extra, tmp_path, monkeypatch
):
    path = written(kind, np.eye(4), tmp_path)
    monkeypatch.setitem(sys.modules, module, None)
    message = rf'need {package}\. pip install "unselected\[{extra}\]"$'
    with pytest.raises(ImportError, match=message):
        open_columns(path)


def test_no_file_stays_open(tmp_path):
    folder = Path("/proc/self/fd")
    if not folder.is_dir():
        pytest.skip("open files are not listed here")
    X, y = genotypes(0, missing=False)
    for kind in FORMATS:
        source = open_columns(written(kind, X, tmp_path))
        SelectiveGaussianNB(k=3).fit(source, y).predict(source)
        held = [os.readlink(link) for link in folder.iterdir() if link.is_symlink()]
        assert not [name for name in held if str(tmp_path) in name]
        assert str(tmp_path) not in Path("/proc/self/maps").read_text()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write_phenotypes(y):
    labels = np.where(y == 1, "case", "control")
    heights = np.round(y + np.random.default_rng(1).normal(size=y.size), 3)
    with open("phenotype.csv", "w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["sample", "status", "height"])
        rows.writerows((f"s{i}", labels[i], heights[i]) for i in range(y.size))
    return labels, heights


def answers(path):
    with open(path, newline="") as file:
        return np.array([float(row[1]) for row in list(csv.reader(file))[1:]])


STAY_IN_FILES = [kind for kind in FORMATS if kind not in ("npz", "parquet")]


@pytest.mark.parametrize("kind", STAY_IN_FILES)
def test_the_commands_take_files_and_a_response_from_another(kind, seed, folder, capsys):
    X, y = genotypes(seed, missing=True)
    path = written(kind, X, folder).name
    labels, heights = write_phenotypes(y)
    model = fitted_plain(SelectiveGaussianNB, X, labels)
    fit = ("fit", path, "--k", "8", "--target")
    assert main([*fit, "phenotype.csv:status", "--model", "gaussian", "-o", "m.json"]) == 0
    said = capsys.readouterr().err
    assert f"row 1 of phenotype.csv is row 1 of {path}" in said
    assert ("features are numbered from 0" in said) == (kind in WITHOUT_NAMES)
    assert main(["predict", "m.json", path, "-o", "p.csv"]) == 0
    np.testing.assert_allclose(answers("p.csv"), model.predict_proba(X)[:, 1], atol=1e-7)
    model = fitted_plain(SelectiveRegressor, X, heights, random_state=0)
    assert main([*fit, "phenotype.csv:height", "-o", "r.json"]) == 0
    assert main(["predict", "r.json", path, "-o", "r.csv"]) == 0
    np.testing.assert_allclose(answers("r.csv"), model.predict(X), atol=1e-7)


@pytest.mark.usefixtures("folder")
def test_bernoulli_takes_the_presence_of_alleles(seed):
    X, y = genotypes(seed, missing=False)
    write_bed("X.bed", X)
    labels, _ = write_phenotypes(y)
    target = ("--target", "phenotype.csv:status", "--k", "6")
    assert main(["fit", "X.bed", *target, "--model", "bernoulli", "-o", "m.json"]) == 0
    write_bed("new.bed", X[:, ::-1], sid=names_of(X)[::-1])  # found by their names
    assert main(["predict", "m.json", "new.bed", "-o", "p.csv"]) == 0
    model = SelectiveBernoulliNB(k=6).fit(X > 0, labels)
    np.testing.assert_allclose(answers("p.csv"), model.predict_proba(X > 0)[:, 1], atol=1e-9)


@pytest.mark.usefixtures("folder")
def test_bits_are_known_by_the_first_columns(seed, capsys):
    X, y = genotypes(seed, missing=False)
    np.save("X.npy", np.tile(X > 0, 20))
    write_phenotypes(y)
    asked = ("--target", "phenotype.csv:status", "--k", "6", "--rates", "given")
    assert main(["fit", "X.npy", *asked]) == 0
    assert "all features are 0 or 1, by the first 1000 of them" in capsys.readouterr().err


@pytest.mark.usefixtures("folder")
def test_a_model_without_names_predicts_from_just_its_columns(seed):
    X, y = genotypes(seed, missing=False)
    model = SelectiveGaussianNB(k=4).fit(X, y)
    save_model(
        model.panel().predictor,
        "m.json",
        selection=selection_of(model),
        provenance={"unselected": "0"},
    )
    np.save("new.npy", X[:, model.selection_.indices])
    assert main(["predict", "m.json", "new.npy", "-o", "p.csv"]) == 0
    np.testing.assert_allclose(answers("p.csv"), model.predict_proba(X)[:, 1], atol=1e-9)


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--target", "status"], "X.npy holds features only; give the table and the column"),
        (["--target", "none.csv:status"], "none.csv"),
        (["--target", "phenotype.csv:statsu"], "did you mean 'status'"),
        (["--target", "short.csv:status"], "short.csv has 2 cases, but X.npy has 40"),
        (["--target", "phenotype.csv:status", "--id", "sample"], "--id is not available for X.npy"),
        (
            ["--target", "phenotype.csv:status", "--features-in-rows"],
            "--features-in-rows is not available",
        ),
    ],
)
def test_commands_say_what_is_wrong(arguments, message, capsys):
    X, y = genotypes(0, missing=False)
    np.save("X.npy", X)
    write_phenotypes(y)
    Path("short.csv").write_text("status\na\nb\n")
    assert main(["fit", "X.npy", "--k", "3", "-o", "m.json", *arguments]) == 1
    assert message in capsys.readouterr().err
    assert not Path("m.json").exists()


@pytest.mark.parametrize("kind", ["bed", "h5ad", "h5ad csr", "npy", "zarr 3"])
def test_names_need_not_be_read(kind, seed, folder, capsys):
    X, y = genotypes(seed, missing=True)
    path = written(kind, X, folder).name
    labels, _ = write_phenotypes(y)
    model = SelectiveGaussianNB(k=6, always_keep=[11]).fit(X, labels)
    fit = ("fit", path, "--k", "6", "--target", "phenotype.csv:status", "--no-names")
    fit += ("--model", "gaussian")
    assert main([*fit, "--always-keep", "11", "--json", "-o", "m.json"]) == 0
    answer = capsys.readouterr()
    kept = [str(j) for j in model.selection_.indices]
    assert json.loads(answer.out)["features"] == kept
    assert "features are numbered from 0" in answer.err
    assert main(["predict", "m.json", path, "--no-names", "-o", "p.csv"]) == 0
    np.testing.assert_allclose(answers("p.csv"), model.predict_proba(X)[:, 1], atol=1e-7)
    for name in ("x11", "60", "-1", "011"):
        assert main([*fit, "--always-keep", name, "-o", "n.json"]) != 0
        assert "are numbered 0 to 59" in capsys.readouterr().err or name == "-1"
        assert not Path("n.json").exists()
    capsys.readouterr()
    answer = main(["predict", "m.json", path])
    said = capsys.readouterr().err
    assert answer == (0 if kind in WITHOUT_NAMES else 1)
    assert ("or use --no-names if the model was fitted with it" in said) == bool(answer)


def test_names_are_not_in_memory_where_they_are_not_read(folder, monkeypatch):
    """Neither those of the file nor numbers in their place."""
    X, y = genotypes(0, missing=False)
    path = written("bed", X, folder).name
    write_phenotypes(y)
    made = []
    numbers = ColumnNumbers.__getitem__

    def counted(self, columns):
        names = numbers(self, columns)
        made.append(names.size)
        return names

    monkeypatch.setattr(ColumnNumbers, "__getitem__", counted)
    monkeypatch.setattr("unselected.cli.fitting._LOOKED_AT", 2)
    monkeypatch.setattr("unselected.files.bed._variant_names", lambda _: pytest.fail("read"))
    fit = ("fit", path, "--k", "6", "--target", "phenotype.csv:status", "-o", "m.json")
    assert main([*fit, "--no-names"]) == 0
    assert made
    assert max(made) <= 6


@pytest.mark.usefixtures("folder")
def test_no_names_is_for_files_that_are_read_by_columns(capsys):
    Path("train.csv").write_text("y,a\n0,1\n1,0\n1,0\n0,1\n0,1\n1,0\n")
    assert main(["fit", "train.csv", "--target", "y", "--no-names", "-o", "m.json"]) == 1
    assert "--no-names is not available for train.csv" in capsys.readouterr().err
    assert main(["fit", "train.csv", "--target", "y", "-o", "m.json"]) == 0
    assert main(["predict", "m.json", "train.csv", "--no-names"]) == 1
    assert "--no-names is not available for train.csv" in capsys.readouterr().err


@pytest.mark.usefixtures("folder")
def test_no_names_is_named_where_it_helps(capsys):
    X, y = genotypes(0, missing=False)
    write_bed("X.bed", X, sid=["same"] * P)
    write_phenotypes(y)
    fit = ("fit", "X.bed", "--target", "phenotype.csv:status", "--k", "3", "-o", "m.json")
    assert main(fit) == 1
    assert "or open the file with --no-names." in capsys.readouterr().err
    assert main([*fit, "--no-names"]) == 0
    write_bed("X.bed", X)
    assert main([*fit, "--force"]) == 0
    capsys.readouterr()
    assert main(["predict", "m.json", "X.bed", "--no-names"]) == 1
    assert "the model has names, so omit --no-names" in capsys.readouterr().err


@pytest.mark.usefixtures("folder")
def test_prediction_says_what_is_missing(capsys):
    X, y = genotypes(0, missing=False)
    write_bed("X.bed", X)
    write_phenotypes(y)
    asked = ("--target", "phenotype.csv:status", "--model", "gaussian", "-o", "m.json")
    assert main(["fit", "X.bed", *asked]) == 0
    write_bed("new.bed", X[:, :10])
    assert main(["predict", "m.json", "new.bed"]) == 1
    assert "new.bed: 50 of the 60 features that are needed are missing, the first of them" in (
        capsys.readouterr().err
    )
