"""What people write in cells and headers: booleans, missing values, decimal commas, row names."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from unselected.files import text_tables
from unselected.files.table_request import TableError
from unselected.files.tables import read_table


@pytest.fixture(params=[1, 37, 1 << 19])
def block(request, monkeypatch):
    """Few characters at a time, as for a long file, or all at once."""
    monkeypatch.setattr(text_tables, "_BLOCK", request.param)


def save(path, *lines):
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.usefixtures("block")
def test_booleans_are_ones_and_zeros(tmp_path):
    lines = ["a,b,y", "TRUE,false,u", "False,TRUE,v", "true,True,u", "FALSE,0,v"]
    table = read_table(save(tmp_path / "t.csv", *lines), target="y")
    assert table.X.tolist() == [[1, 0], [0, 1], [1, 1], [0, 0]]
    assert table.X.dtype == np.uint8


MISSING = [
    "",
    " ",
    "NA",
    "N/A",
    "n/a",
    "#N/A",
    "#NA",
    "<NA>",
    "NaN",
    "nan",
    "NAN",
    "NULL",
    ".",
    "?",
]


@pytest.mark.parametrize("text", [*MISSING, "None", "null", "none", "na"])
@pytest.mark.parametrize("features_in_rows", [False, True])
def test_missing_values_of_features(text, features_in_rows, tmp_path):
    path = save(tmp_path / "t.csv", "id,a,b", f"s,{text},2.5", "t,1,0")
    arguments = {"features_in_rows": True} if features_in_rows else {"id_column": "id"}
    X = read_table(path, **arguments).X
    np.testing.assert_array_equal(X.T if features_in_rows else X, [[np.nan, 2.5], [1.0, 0.0]])


@pytest.mark.parametrize("text", MISSING[2:])
def test_missing_responses_are_told_as_they_are_written(text, tmp_path):
    path = save(tmp_path / "t.csv", "a,y", "1,u", f"0,{text}")
    with pytest.raises(TableError, match=r"the target 'y' is missing for row 3 \(") as error:
        read_table(path, target="y")
    assert f"({text!r} stands for a missing value)" in str(error.value)


@pytest.mark.parametrize("text", ["None", "none", "null", "TRUE"])
def test_words_that_may_name_a_class_do(text, tmp_path):
    path = save(tmp_path / "t.csv", "a,y", "1,u", f"0,{text}")
    assert read_table(path, target="y").y.tolist() == ["u", text]


@pytest.mark.usefixtures("block")
@pytest.mark.parametrize("features_in_rows", [False, True])
def test_decimal_commas_between_semicolons(features_in_rows, tmp_path):
    """As R's `write.csv2` writes them."""
    rows = [["", "s1", "s2", "s3"], ["g1", "3,14", "-,5", "2"], ["g2", "NA", "1,5e-3", " 7,0"]]
    y = ["y", "1,50", "2", "0,25"]
    if features_in_rows:
        lines, arguments = [*rows, y], {"features_in_rows": True}
    else:
        lines, arguments = list(zip(*rows, y, strict=True)), {}
    path = save(tmp_path / "t.csv", *(";".join(line) for line in lines))
    table = read_table(path, target="y", **arguments)
    np.testing.assert_array_equal(table.X, [[3.14, np.nan], [-0.5, 1.5e-3], [2.0, 7.0]])
    assert [float(label) for label in table.y] == [1.5, 2.0, 0.25]
    assert table.ids.tolist() == ["s1", "s2", "s3"]


@pytest.mark.usefixtures("block")
@pytest.mark.parametrize("first", ["1,5", "2.5"])
def test_points_and_commas_in_one_file_are_not_guessed_at(first, tmp_path):
    second = {"1,5": "2.5", "2.5": "1,5"}[first]
    path = save(tmp_path / "t.csv", "a;b", f"{first};1", *["1;0"] * 20, f"1;{second}")
    with pytest.raises(TableError, match=r"'1,5' has a decimal comma and '2\.5' a decimal point"):
        read_table(path)


def test_points_between_semicolons_are_fine(tmp_path):
    path = save(tmp_path / "t.csv", "a;y", "2.5;u,v", "1;w.x")
    table = read_table(path, target="y")
    assert (table.X.tolist(), table.y.tolist()) == ([[2.5], [1.0]], ["u,v", "w.x"])


@pytest.mark.parametrize(("name", "line"), [("t.tsv", "1,5\t2"), ("t.csv", '"1,5",2')])
def test_commas_elsewhere_are_named_with_the_remedy(name, line, tmp_path):
    header = "a\tb" if name == "t.tsv" else "a,b"
    with pytest.raises(TableError, match=r"column 'a' has '1,5' in row 2: a comma is a decimal"):
        read_table(save(tmp_path / name, header, line))


@pytest.mark.usefixtures("block")
def test_a_first_column_without_a_name_holds_the_ids(tmp_path):
    """As R's `write.csv` and pandas' `to_csv` write the names of rows."""
    path = save(tmp_path / "t.csv", '"","a","y"', '"s 1",1,"u"', '"s 2",0,"v"')
    table = read_table(path, target="y")
    assert table.ids.tolist() == ["s 1", "s 2"]
    assert (table.names.tolist(), table.X.tolist()) == (["a"], [[1], [0]])
    assert table.notes == (
        "column 1 has no name, as R and pandas write the names of rows: it is taken for the ids of "
        "the cases",
    )
    assert read_table(path, columns=["a"]).ids.tolist() == ["s 1", "s 2"]
    assert read_table(path, target="y", id_column="").notes == ()
    path = save(tmp_path / "t.csv", ",id,a,y", "1,s,1,u", "2,t,0,v")
    table = read_table(path, target="y", id_column="id")
    assert (table.ids.tolist(), table.names.tolist()) == (["s", "t"], ["a"])
    assert table.notes[0].endswith("it is left out")


def test_the_same_of_a_parquet_file(tmp_path):
    pq.write_table(pa.table({"": ["s", "t"], "a": [1, 0], "y": ["u", "v"]}), tmp_path / "t.parquet")
    table = read_table(tmp_path / "t.parquet", target="y")
    assert (table.ids.tolist(), table.names.tolist()) == (["s", "t"], ["a"])
    assert len(table.notes) == 1


def test_a_header_of_write_table_is_named_with_the_remedy(tmp_path):
    path = save(tmp_path / "t.csv", "a,b", "s,1,0", "t,0,1")
    with pytest.raises(TableError, match=r"row 2 has 3 fields .* use col\.names=NA"):
        read_table(path)


@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
def test_features_in_rows_that_were_not_said_to_be(name, tmp_path):
    if name == "t.csv":
        save(tmp_path / name, ",s1,s2", "g1,1,0", "g2,0,1", "class,u,v")
    else:
        columns = {"": ["g1", "g2", "class"], "s1": ["1", "0", "u"], "s2": ["0", "1", "v"]}
        pq.write_table(pa.table(columns), tmp_path / name)
    path = tmp_path / name
    with pytest.raises(TableError, match=r"no 'class' for the target.*use features_in_rows=True"):
        read_table(path, target="class")
    with pytest.raises(TableError, match=r"1 of the 1 features.*: 'g2'.*use features_in_rows=True"):
        read_table(path, columns=["g2"])
    with pytest.raises(TableError, match="no 'other' for the target") as error:
        read_table(path, target="other")
    assert "use features_in_rows" not in str(error.value)
    assert read_table(path, target="class", features_in_rows=True).y.tolist() == ["u", "v"]


def test_features_in_columns_that_were_said_to_be_in_rows(tmp_path):
    path = save(tmp_path / "t.csv", "kind,g1,class", "s,1,0", "s,0,1")
    with pytest.raises(TableError, match=r"The header has it: .* leave out features_in_rows"):
        read_table(path, target="class", features_in_rows=True)
