"""Covariates in files: columns of text beside the features."""

import gzip
import io

import h5py
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import sparse

from unselected.files.h5ad_obs import read_obs
from unselected.files.table_request import TableError
from unselected.files.tables import read_table
from unselected.fitted.covariate_coding import CovariateCoding

TEXT = """class,g1,age,g2,sex,treated,batch
a,1,34,0,male,TRUE,b1
b,0,51.5,1,female,FALSE,b2
a,1,47,1,male,false,b1
"""
NAMES = ["age", "sex", "treated", "batch"]
IN_WORDS = [
    "age: number",
    "sex: female (reference), male",
    "treated: boolean",
    "batch: b1 (reference), b2",
]
CODED = [[34.0, 1.0, 1.0, 0.0], [51.5, 0.0, 0.0, 1.0], [47.0, 1.0, 0.0, 0.0]]


def check(table):
    """Compare with what the text above says."""
    assert table.names.tolist() == ["g1", "g2"]
    assert table.X.tolist() == [[1, 0], [0, 1], [1, 1]]
    assert table.y.tolist() == ["a", "b", "a"]
    assert table.covariates.names == tuple(NAMES)
    coding = CovariateCoding.learn(table.covariates)
    assert coding.in_words() == IN_WORDS
    assert coding.encode(table.covariates).tolist() == CODED
    assert table.notes == ()


def written(tmp_path, text=TEXT, name="t.csv"):
    path = tmp_path / name
    path.write_text(text)
    return path


def test_a_table_has_no_covariates_unless_they_are_asked_for(tmp_path):
    path = written(tmp_path, "y,a\n1,2\n0,3\n")
    assert read_table(path, target="y").covariates is None


def test_text_files_give_numbers_booleans_and_levels(tmp_path, monkeypatch):
    check(read_table(written(tmp_path), target="class", covariates=NAMES))
    tabs = written(tmp_path, TEXT.replace(",", "\t"), "t.tsv")
    check(read_table(tabs, target="class", covariates=NAMES))
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(TEXT.encode()))
    check(read_table(tmp_path / "t.csv.gz", target="class", covariates=[*NAMES, "age"]))
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(TEXT.encode())))
    check(read_table("-", target="class", covariates=NAMES))


def test_the_columns_of_covariates_may_be_anywhere_among_digits(tmp_path):
    text = 'sex,g1,g2,batch,g3\nmale,0,1,b 1,1\nfemale,1,1,"b,2",0\nmale,0,0,b 1,1\n'
    table = read_table(written(tmp_path, text), covariates=["batch", "sex"])
    assert table.X.dtype == np.uint8
    assert table.X.tolist() == [[0, 1, 1], [1, 1, 0], [0, 0, 1]]
    assert table.covariates.names == ("batch", "sex")
    assert table.covariates.values[0].tolist() == ["b 1", "b,2", "b 1"]


def test_some_features_and_covariates_are_read_as_for_a_prediction(tmp_path):
    table = read_table(written(tmp_path), columns=["g2"], covariates=["sex", "age"])
    assert table.X.tolist() == [[0], [1], [1]]
    assert table.covariates.names == ("sex", "age")
    alone = read_table(written(tmp_path), columns=[], covariates="sex")
    assert (alone.X.shape, alone.covariates.names) == ((3, 0), ("sex",))


def test_features_in_rows_have_covariates_in_rows(tmp_path):
    rows = [line.split(",") for line in TEXT.splitlines()]
    turned = [["name", "s1", "s2", "s3"], *map(list, zip(*rows, strict=True))]
    path = written(tmp_path, "\n".join(map(",".join, turned)) + "\n")
    check(read_table(path, target="class", covariates=NAMES, features_in_rows=True))
    some = read_table(path, columns=["g2"], covariates=["sex"], features_in_rows=True)
    assert (some.names.tolist(), some.covariates.names) == (["g2"], ("sex",))
    with pytest.raises(TableError, match="1 of the 5 covariates that are needed are missing: 'wei"):
        read_table(path, target="class", covariates=[*NAMES, "weight"], features_in_rows=True)
    lacking = written(tmp_path, path.read_text().replace("34", ""), "lacking.csv")
    with pytest.raises(TableError, match="'age' is missing in sample 1"):
        read_table(lacking, target="class", covariates=NAMES, features_in_rows=True)


def test_parquet_columns_keep_their_types(tmp_path):
    columns = {
        "class": ["a", "b", "a"],
        "g1": [1, 0, 1],
        "age": [34.0, 51.5, 47.0],
        "g2": [0, 1, 1],
        "sex": pa.array(["male", "female", "male"]).dictionary_encode(),
        "treated": [True, False, False],
        "batch": ["b1", "b2", "b1"],
    }
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table(columns), path)
    check(read_table(path, target="class", covariates=NAMES))
    digits = pa.table({"g": [1, 2, 3], "batch": ["1", "2", "1"]})
    pq.write_table(digits, path)
    table = read_table(path, covariates=["batch"])
    assert CovariateCoding.learn(table.covariates).columns[0].kind == "levels"
    for values in ([1, None, 2], ["a", None, "a"], [1.0, np.nan, 1.0], ["a", "", "a"]):
        pq.write_table(pa.table({"g": [1, 2, 3], "batch": values}), path)
        with pytest.raises(TableError, match="the covariate 'batch' is missing in row 2"):
            read_table(path, covariates=["batch"])


def test_sparse_matrices_have_covariates_beside_them(tmp_path):
    path = tmp_path / "t.npz"
    arrays = {
        "feature_names": np.array(["g1", "g2"]),
        "class": np.array(["a", "b", "a"]),
        "age": np.array([34.0, 51.5, 47.0]),
        "sex": np.array(["male", "female", "male"]),
        "treated": np.array([True, False, False]),
        "batch": np.array([b"b1", b"b2", b"b1"]),
    }
    sparse.save_npz(path, sparse.csr_array(np.array([[1, 0], [0, 1], [1, 1]])))
    with np.load(path) as stored:
        parts = dict(stored)
    np.savez(path, **parts, **arrays)
    check(read_table(path, target="class", covariates=NAMES))
    with pytest.raises(TableError, match="there is no array 'weight' for the covariates"):
        read_table(path, target="class", covariates=["weight"])


# --- what text means -----------------------------------------------------------------------------


def kinds_of(tmp_path, cells, name="t.csv", delimiter=",", **options):
    """Return the kind of a column with these cells, and the notes."""
    rows = [f"{j % 10}{delimiter}{cell}" for j, cell in enumerate(cells)]
    path = written(tmp_path, "\n".join([f"g{delimiter}z", *rows]) + "\n", name)
    table = read_table(path, covariates=["z"], **options)
    return CovariateCoding.learn(table.covariates), table


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (["1", "2", "1"], "number"),
        (["01", "02", "01"], "number"),
        ([" 1.5", "-2e3 ", "+.5"], "number"),
        (["0", "1", "0"], "number"),
        (["TRUE", "FALSE", "True"], "boolean"),
        (["TRUE", "FALSE", "maybe", "TRUE"], "levels"),
        (["none", "none", "high"], "levels"),
        (["none", "none"], "levels"),
        (["1_000", "1_000"], "levels"),
        (["yes", "no", "no"], "levels"),
    ],
)
def test_cells_say_the_kind_of_a_covariate(tmp_path, cells, kind):
    coding, table = kinds_of(tmp_path, cells)
    assert coding.columns[0].kind == kind
    assert table.notes == ()


def test_spaces_around_a_level_are_no_part_of_it(tmp_path):
    assert kinds_of(tmp_path, ["male ", "male", " male"])[0].columns[0].levels == ("male",)


def test_decimal_commas_are_numbers_where_semicolons_separate(tmp_path):
    _, table = kinds_of(tmp_path, ["1,5", "2", "3,25"], delimiter=";")
    assert table.covariates.values[0].tolist() == [1.5, 2.0, 3.25]


def test_numbers_beside_words_are_levels_and_a_note_says_so(tmp_path):
    coding, table = kinds_of(tmp_path, ["1", "2b", "1", "2b"])
    assert coding.columns[0].levels == ("1", "2b")
    (note,) = table.notes
    assert "'z' has '2b' in row 3, which is no number: all of its values are taken" in note


def test_levels_stay_levels_where_new_cells_look_like_numbers(tmp_path):
    for cells in (["1", "1", "2"], ["TRUE", "FALSE", "TRUE"]):
        coding, table = kinds_of(tmp_path, cells, levels=["z"])
        assert coding.columns[0].levels == tuple(sorted(set(cells)))
        assert table.notes == ()
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"g": [1, 2, 3], "z": [1, 2, 1]}), path)
    table = read_table(path, covariates=["z"], levels={"z"})
    assert table.covariates.values[0].tolist() == ["1", "2", "1"]


@pytest.mark.parametrize("mark", ["", " ", "NA", "NaN", "?", ".", "null", "None"])
def test_a_missing_covariate_names_column_and_row(tmp_path, mark):
    with pytest.raises(TableError, match=r"t\.csv: the covariate 'z' is missing in row 3"):
        kinds_of(tmp_path, ["1", mark, "2"])
    if mark not in ("null", "None"):  # which may be names of levels
        with pytest.raises(TableError, match="the covariate 'z' is missing in row 4"):
            kinds_of(tmp_path, ["a", "b", mark])


def test_errors_of_the_coding_count_rows_as_the_file_does(tmp_path):
    with pytest.raises(ValueError, match="'z' has inf in row 3"):
        kinds_of(tmp_path, ["1", "1e999", "2"])
    coding, _ = kinds_of(tmp_path, ["a", "b", "a"])
    _, table = kinds_of(tmp_path, ["a", "a", "c", "a"])
    with pytest.raises(ValueError, match="'z' has 'c' in row 4, but only the levels 'a', 'b'"):
        coding.encode(table.covariates)


# --- requests that cannot be met -----------------------------------------------------------------


def test_missing_columns_are_all_named(tmp_path):
    message = "2 of the 3 covariates that are needed are missing: 'Age', 'site' .did you mean 'age'"
    with pytest.raises(TableError, match=message):
        read_table(written(tmp_path), target="class", covariates=["Age", "sex", "site"])


@pytest.mark.parametrize(
    "options",
    [
        {"target": "class", "covariates": ["class"]},
        {"id_column": "sex", "covariates": ["sex"]},
        {"columns": ["g1", "age"], "covariates": ["age"]},
    ],
)
def test_a_column_has_one_purpose(tmp_path, options):
    with pytest.raises(TableError, match="is wanted for two purposes at once"):
        read_table(written(tmp_path), **options)


def test_groups_may_be_covariates(tmp_path):
    names = {"target": "class", "left_out": "batch", "covariates": ["batch", "sex", "treated"]}
    table = read_table(written(tmp_path), **names)
    assert table.names.tolist() == ["g1", "age", "g2"]
    assert table.covariates.names == ("batch", "sex", "treated")


def test_text_among_features_is_told_that_it_may_be_a_covariate(tmp_path):
    with pytest.raises(TableError, match=r"'sex' has 'male' in row 2.* or a covariate, or deleted"):
        read_table(written(tmp_path), target="class", covariates=["batch"])


# --- obs of .h5ad files --------------------------------------------------------------------------


def write_obs(path):
    """Write columns as anndata does: categories, nullable values, arrays of numbers and text."""
    with h5py.File(path, "w") as file:
        obs = file.create_group("obs")
        obs["_index"] = ["c1", "c2", "c3"]
        obs["age"] = [34.0, 51.5, 47.0]
        obs["treated"] = np.array([True, False, False])
        obs["batch"] = ["b1", "b2", "b1"]
        sex = obs.create_group("sex")
        sex["categories"], sex["codes"] = ["female", "male"], np.array([1, 0, 1], dtype=np.int8)
        stage = obs.create_group("stage")
        stage["categories"], stage["codes"] = ["low", "high"], np.array([1, 0, -1], dtype=np.int8)
        weight = obs.create_group("weight")
        weight["values"], weight["mask"] = [70, 80, 1], np.array([False, False, True])
        file["obs/__categories/site"] = ["south", "north"]
        obs["site"] = np.array([1, 0, 1], dtype=np.int8)
        obs["site"].attrs["categories"] = file["obs/__categories/site"].ref


def test_obs_of_h5ad_files_has_covariates(tmp_path):
    write_obs(tmp_path / "t.h5ad")
    table = read_obs(str(tmp_path / "t.h5ad"), NAMES)
    coding = CovariateCoding.learn(table)
    assert coding.in_words() == IN_WORDS
    assert coding.encode(table).tolist() == CODED
    site = CovariateCoding.learn(read_obs(str(tmp_path / "t.h5ad"), ["site"]))
    assert site.in_words() == ["site: south (reference), north"]
    levels = read_obs(str(tmp_path / "t.h5ad"), ["age"], levels=["age"])
    assert levels.values[0].tolist() == ["34.0", "51.5", "47.0"]


def test_obs_names_what_is_missing(tmp_path):
    path = str(tmp_path / "t.h5ad")
    write_obs(path)
    for name in ("stage", "weight"):
        with pytest.raises(TableError, match=f"the covariate '{name}' is missing in row 3"):
            read_obs(path, [name])
    with pytest.raises(TableError, match=r"missing: 'agee' \(did you mean 'age'"):
        read_obs(path, ["sex", "agee"])
    with h5py.File(path, "w") as file:
        file["X"] = np.eye(3)
    with pytest.raises(TableError, match="missing: 'sex'"):
        read_obs(path, ["sex"])
    with h5py.File(path, "w") as file:
        file["obs"] = np.array([(b"c1", 1)], dtype=[("index", "S2"), ("sex", int)])
    with pytest.raises(TableError, match="an old version of anndata"):
        read_obs(path, ["sex"])
