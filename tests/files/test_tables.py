import csv
import gc
import gzip
import io
import json
import math
import os
import re
import signal
import stat
import subprocess
import sys
from itertools import product
from pathlib import Path

import hypothesis.strategies as st
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from scipy import sparse
from written_files import HERE, csv_text, save, save_parquet

from unselected.files import sparse_tables, text_tables
from unselected.files.checkpoints import CheckpointError, Checkpoints
from unselected.files.table_request import Table, TableError
from unselected.files.tables import read_table
from unselected.files.writing import sha256, write_csv, write_text
from unselected.fitted.json_checks import plain

# --- whole files or none -------------------------------------------------------------------------


def test_text_is_written_as_it_is(tmp_path):
    path = tmp_path / "out.txt"
    write_text(path, "Grüße\r\n\n")
    assert path.read_bytes() == "Grüße\r\n\n".encode()
    assert list(tmp_path.iterdir()) == [path]


def test_files_are_not_overwritten_unless_told(tmp_path):
    path = tmp_path / "out.txt"
    path.write_text("old")
    with pytest.raises(FileExistsError, match=r"out\.txt exists already"):
        write_text(path, "new")
    assert path.read_text() == "old"
    write_text(path, "new", overwrite=True)
    assert path.read_text() == "new"


def test_minus_is_standard_output(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_text("-", "text\n")
    write_csv(Path("-"), ["a"], [[1]])
    assert capsys.readouterr().out == "text\na\n1\n"
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("step", ["fsync", "replace"])
@pytest.mark.parametrize("failure", [OSError, KeyboardInterrupt])
def test_a_failure_leaves_nothing_behind(step, failure, tmp_path, monkeypatch):
    path = tmp_path / "out.txt"
    path.write_text("old")

    def fail(*_):
        assert len(list(tmp_path.iterdir())) == 2  # the temporary file is in the same folder
        raise failure

    monkeypatch.setattr(os, step, fail)
    with pytest.raises(failure):
        write_text(path, "new", overwrite=True)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_text_that_cannot_be_encoded_leaves_nothing_behind(tmp_path):
    with pytest.raises(UnicodeEncodeError):
        write_text(tmp_path / "out.txt", "\ud800")
    assert not list(tmp_path.iterdir())


def test_text_is_on_the_disk_before_it_gets_its_name(tmp_path, monkeypatch):
    steps = []
    for step in ("fsync", "replace"):
        real = getattr(os, step)
        monkeypatch.setattr(
            os, step, lambda *a, step=step, real=real: steps.append(step) or real(*a)
        )
    write_text(tmp_path / "out.txt", "text")
    assert steps == ["fsync", "replace"]


def test_files_have_ordinary_permissions_and_links_stay_links(tmp_path):
    plain_file, link = tmp_path / "plain", tmp_path / "link"
    plain_file.touch()
    link.symlink_to("target")
    write_text(link, "text")
    assert link.is_symlink()
    assert (tmp_path / "target").read_text() == "text"
    modes = [stat.S_IMODE(path.stat().st_mode) for path in (plain_file, tmp_path / "target")]
    assert modes[0] == modes[1]


def test_what_is_no_regular_file_is_never_replaced(tmp_path):
    write_text("/dev/null", "text")
    assert Path("/dev/null").is_char_device()
    with pytest.raises(IsADirectoryError):
        write_text(tmp_path, "text", overwrite=True)
    with pytest.raises(FileNotFoundError):
        write_text(tmp_path / "no" / "out.txt", "text")


@HERE
@given(
    rows=st.integers(1, 4).flatmap(
        lambda width: st.lists(st.lists(csv_text, min_size=width, max_size=width), min_size=1)
    )
)
def test_csv_comes_back_whatever_the_text(rows, tmp_path):
    path = tmp_path / "out.csv"
    write_csv(path, rows[0], rows[1:], overwrite=True)
    with path.open(encoding="utf-8", newline="") as file:
        assert list(csv.reader(file, strict=True)) == rows


@HERE
@given(numbers=st.lists(st.floats(allow_nan=False), min_size=1))
def test_numbers_in_csv_come_back_to_the_last_bit(numbers, tmp_path):
    path = tmp_path / "out.csv"
    write_csv(path, ["python", "numpy"], [[x, np.float64(x)] for x in numbers], overwrite=True)
    with path.open(newline="") as file:
        read = [[float(field) for field in row] for row in list(csv.reader(file))[1:]]
    np.testing.assert_array_equal(np.array(read), np.array([numbers, numbers]).T)


def test_hash_of_a_file(tmp_path):
    path = tmp_path / "data"
    path.write_bytes(b"abc")
    assert sha256(path) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    path.write_bytes(b"a" * 1_000_000)
    assert sha256(path) == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"
    with pytest.raises(ValueError, match="standard input"):
        sha256("-")


def test_what_json_has_no_place_for_is_named():
    assert json.dumps([np.int64(3), np.bool_(True), np.zeros(2)], default=plain) == (
        "[3, true, [0.0, 0.0]]"
    )
    with pytest.raises(TypeError, match="set cannot be written"):
        json.dumps({1, 2}, default=plain)


# --- tables: text --------------------------------------------------------------------------------


def text_of(rows, delimiter=",", end="\n", quoting=csv.QUOTE_MINIMAL):
    buffer = io.StringIO(newline="")
    csv.writer(buffer, delimiter=delimiter, lineterminator=end, quoting=quoting).writerows(rows)
    return buffer.getvalue()


def assert_same(one, other):
    for field in ("X", "names", "y", "ids"):
        a, b = getattr(one, field), getattr(other, field)
        assert (a is None) == (b is None), field
        if a is not None:
            assert a.dtype == b.dtype, field
            np.testing.assert_array_equal(a, b)


def plain_table(X, names=None, y=None, ids=None):
    texts = [None if t is None else np.array(t, dtype=object) for t in (names, ids)]
    return Table(np.asarray(X), texts[0], None if y is None else np.asarray(y), texts[1], "")


@pytest.fixture(params=[1, 37, 1 << 19])
def block(request, monkeypatch):
    """Blocks of a line, of some lines, and larger than the table."""
    monkeypatch.setattr(text_tables, "_BLOCK", request.param)


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".txt", ".csv.gz", ".TSV.GZ"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.usefixtures("block")
def test_bits_with_labels_and_ids_anywhere(ending, end, tmp_path, seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, size=(9, 6), dtype=np.uint8)
    y = rng.choice(np.array(["normal", "tumour, late", ""], dtype=object)[:2], size=9)
    ids = [f"s{i}" for i in range(9)]
    names = [f"g{j}" for j in range(6)]
    columns = [*zip(names, X.T.tolist(), strict=True), ("class", y), ("id", ids)]
    order = rng.permutation(len(columns))
    rows = list(zip(*[[columns[j][0], *columns[j][1]] for j in order], strict=True))
    delimiter = "\t" if "t" in ending.lower() else ","
    path = save(tmp_path / f"data{ending}", text_of(rows, delimiter, end))
    places = [int(j) for j in order if j < 6]
    expected = plain_table(X[:, places], [names[j] for j in places], y, ids)
    assert_same(read_table(path, target="class", id_column="id"), expected)
    assert_same(
        read_table(path, columns=["g4", "g0"], id_column="id"),
        plain_table(X[:, [4, 0]], ["g4", "g0"], None, ids),
    )


digit_tables = st.integers(1, 5).flatmap(
    lambda width: st.lists(
        st.tuples(
            st.lists(st.sampled_from("0123456789"), min_size=width, max_size=width),
            st.one_of(st.sampled_from(["a", "b", "1"]), csv_text),
            csv_text,
        ),
        min_size=1,
        max_size=6,
    )
)


@HERE
@given(
    rows=digit_tables,
    places=st.tuples(st.integers(0, 5), st.integers(0, 5)),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC]),
    delimiter=st.sampled_from(",\t;"),
    end=st.sampled_from(["\n", "\r\n"]),
)
def test_rows_of_digits_are_split_as_the_csv_module_does(rows, places, quoting, delimiter, end):
    """The fast path either returns what csv returns, or says that it does not know."""
    width = len(rows[0][0])
    table = []
    for cells, label, name in rows:
        row = [int(cell) for cell in cells]
        row.insert(min(places[0], width), label)
        row.insert(min(places[1], width + 1), name)
        table.append(row)
    texts = sorted(j for j, cell in enumerate(table[0]) if isinstance(cell, str))
    content = text_of(table, delimiter, end, quoting)
    lines = io.StringIO(content, newline="").readlines()
    split = text_tables._split_digits(lines, delimiter, width + 2, texts)
    if split is None:
        special = '"\r\n' + delimiter
        odd = any(set(special) & set(row[j]) for row in table for j in texts)
        assert odd or quoting == csv.QUOTE_ALL
        return
    read = list(csv.reader(io.StringIO(content, newline=""), delimiter=delimiter))
    assert [list(row) for row in split[0]] == [[row[j] for j in texts] for row in read]
    digits = [[int(c) for j, c in enumerate(row) if j not in texts] for row in read]
    assert split[1].tolist() == digits


@pytest.mark.parametrize(
    ("lines", "width", "texts"),
    [
        (['"1,0\n'], 3, [0]),  # a label that goes on in the next line, of another block
        (["011\n"], 2, []),  # one cell
        (["0;1\n"], 2, []),
        (["0,1,\n"], 2, []),
        (["0,,1\n"], 3, []),
        (["0,\u0661\n"], 2, []),
        (["\n"], 1, []),
        (["\n"], 2, [0]),
    ],
)
def test_rows_that_only_look_like_digits_are_left_to_the_csv_module(lines, width, texts):
    assert text_tables._split_digits(lines, ",", width, texts) is None


def test_rows_are_counted_through_fast_and_slow_blocks(tmp_path, monkeypatch):
    monkeypatch.setattr(text_tables, "_BLOCK", 37)
    rows = [[i % 2, 1, f"s{i}"] for i in range(100)]
    rows[40][0] = 0.5
    rows[90][1] = "wrong"
    path = save(tmp_path / "data.csv", text_of([["x", "z", "id"], *rows]))
    with pytest.raises(TableError, match="'wrong' in row 92"):
        read_table(path, id_column="id")
    rows[90][1] = 1
    table = read_table(save(path, text_of([["x", "z", "id"], *rows])), id_column="id")
    assert table.X.tolist() == [row[:2] for row in rows]
    assert table.ids.tolist() == [row[2] for row in rows]


@pytest.mark.usefixtures("block")
def test_without_the_fast_path_tables_are_the_same(tmp_path, monkeypatch, seed):
    X = np.random.default_rng(seed).integers(0, 3, size=(20, 7))
    rows = [["a", "class", *"bcdefg"], *([r[0], f"k{r[1] % 2}", *r[1:]] for r in X.tolist())]
    path = save(tmp_path / "data.csv", text_of(rows))
    fast = read_table(path, target="class")
    calls = []
    monkeypatch.setattr(text_tables, "_split_digits", lambda *args: calls.append(args))
    assert_same(read_table(path, target="class"), fast)
    assert calls
    assert fast.X.dtype == np.float64
    np.testing.assert_array_equal(fast.X, X)


@HERE
@given(
    X=st.integers(1, 4).flatmap(
        lambda p: st.lists(
            st.lists(st.floats(allow_infinity=False), min_size=p, max_size=p), min_size=1
        )
    )
)
def test_numbers_come_back_to_the_last_bit(X, tmp_path):
    path = tmp_path / "data.csv"
    write_csv(path, [f"x{j}" for j in range(len(X[0]))], X, overwrite=True)
    read = read_table(path).X
    assert read.dtype == (np.uint8 if set(np.ravel(X)) <= {0.0, 1.0} else np.float64)
    np.testing.assert_array_equal(read, np.array(X))


@pytest.mark.parametrize(
    ("cells", "dtype"),
    [
        (["0", "1"], np.uint8),
        (["0.0", "1.0"], np.uint8),
        ([" 1", "0e0 "], np.uint8),
        (["0", "2"], np.float64),
        (["0", ""], np.float64),
        (["1", "-1.5E-3"], np.float64),
    ],
)
def test_only_zeros_and_ones_are_bytes(cells, dtype, tmp_path):
    path = save(tmp_path / "data.csv", text_of([["x", "z"], *([cell, "1"] for cell in cells)]))
    X = read_table(path).X
    assert X.dtype == dtype
    assert X.flags.c_contiguous
    np.testing.assert_array_equal(X[:, 0], [float(cell or "nan") for cell in cells])


@pytest.mark.parametrize("missing", ["", "NA", "NaN", "nan", " NA "])
def test_missing_values(missing, tmp_path):
    path = save(tmp_path / "data.csv", f"x,z\n1,{missing}\n{missing},2.5\n")
    np.testing.assert_array_equal(read_table(path).X, [[1, np.nan], [np.nan, 2.5]])


@pytest.mark.usefixtures("block")
@pytest.mark.parametrize("ending", [".csv", ".csv.gz"])
def test_empty_lines_at_the_end_do_not_matter(ending, tmp_path):
    for end, cell in product(["", "\n", "\n\n", "\r\n\r\n"], ["0.5", "1"]):
        path = save(tmp_path / f"data{ending}", f"x,z\n1,{cell}\n0,1{end}")
        assert read_table(path).X.tolist() == [[1, float(cell)], [0, 1]], (end, cell)
    gc.collect()  # a file left open would be complained of now


@pytest.mark.parametrize(
    "wrong",
    [
        "abc",
        "1_0",
        "inf",
        "-Infinity",
        "1e999",
        "٣",
        "0x1",
        "1 2",
    ],
)
@pytest.mark.parametrize("features_in_rows", [False, True])
@pytest.mark.usefixtures("block")
def test_other_text_is_named_with_column_and_row(wrong, features_in_rows, tmp_path):
    rows = [["", "s1", "s2", "s3"], ["g1", 0, 1, 0], ["g2", 1, 0, wrong], ["g3", 2.5, 1, 0]]
    path = save(tmp_path / "data.csv", text_of(rows))
    arguments = {"features_in_rows": True} if features_in_rows else {"id_column": ""}
    with pytest.raises(TableError) as error:
        read_table(path, **arguments)
    assert f"data.csv: column 's3' has {wrong!r} in row 3, which is no number." in str(error.value)


def test_all_columns_of_text_are_named_at_once(tmp_path):
    rows = [["patient", "g1", "site", "g2"], ["p1", 0, "lung", 1], ["p2", 1, "liver", "-"]]
    path = save(tmp_path / "data.csv", text_of(rows))
    with pytest.raises(TableError) as error:
        read_table(path)
    assert (
        "column 'patient' has 'p1' in row 2, which is no number; other columns have such cells "
        "too: 'site', 'g2'. Correct it"
    ) in str(error.value)


@pytest.mark.usefixtures("block")
def test_a_cell_in_quotes_may_hold_anything(tmp_path):
    rows = [["a\nb", "c,d", "class"], *([i % 2, 1, f'x\n{i % 2},"y"'] for i in range(9))]
    path = save(tmp_path / "data.csv", text_of(rows))
    table = read_table(path, target="class")
    assert table.names.tolist() == ["a\nb", "c,d"]
    assert table.y.tolist() == [row[2] for row in rows[1:]]
    assert table.X.tolist() == [row[:2] for row in rows[1:]]
    rows[5][0] = "wrong"
    save(path, text_of(rows))
    with pytest.raises(TableError, match="'wrong' in row 6"):  # rows, not lines
        read_table(path, target="class")


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (["0", "1"], np.array([0, 1])),
        (["-3", "12"], np.array([-3, 12])),
        (["01", "02"], np.array(["01", "02"], dtype=object)),
        (["1.0", "2.0"], np.array([1.0, 2.0])),
        (["1", "2.5"], np.array([1.0, 2.5])),
        (["1.50", "2"], np.array(["1.50", "2"], dtype=object)),
        (["1", "b"], np.array(["1", "b"], dtype=object)),
        (["True", "False"], np.array(["True", "False"], dtype=object)),
        (["9" * 30, "1"], np.array(["9" * 30, "1"], dtype=object)),
    ],
)
@pytest.mark.parametrize("features_in_rows", [False, True])
def test_labels_are_numbers_only_where_they_are_written_so(
    labels, expected, features_in_rows, tmp_path
):
    rows = [["id", "x", "class"], ["s1", "0", labels[0]], ["s2", "1", labels[1]]]
    if features_in_rows:
        rows = list(zip(*rows, strict=True))
    path = save(tmp_path / "data.csv", text_of(rows))
    other = {"features_in_rows": True} if features_in_rows else {"id_column": "id"}
    table = read_table(path, target="class", **other)
    assert_same(table, plain_table(np.array([[0], [1]], np.uint8), ["x"], expected, ["s1", "s2"]))


def test_missing_labels_are_named(tmp_path):
    path = save(tmp_path / "data.csv", "x,class\n1,a\n0,NA\n")
    with pytest.raises(TableError, match="target 'class' is missing for row 3"):
        read_table(path, target="class")
    path = save(tmp_path / "data.csv", "name,s1,s2\nx,1,0\nclass,a,\n")
    with pytest.raises(TableError, match="target 'class' is missing for sample 's2'"):
        read_table(path, target="class", features_in_rows=True)


@pytest.mark.parametrize("corner", [["gene"], [""], []], ids=["named", "empty", "as R writes"])
@pytest.mark.usefixtures("block")
def test_features_in_rows(corner, tmp_path, seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, size=(5, 30), dtype=np.uint8)
    rows = [[f"g{j}", *X[:, j].tolist()] for j in range(30)]
    rows.insert(int(rng.integers(31)), ["class", "b", "a", "a", "b", "a"])
    path = save(tmp_path / "data.tsv", text_of([[*corner, *"vwxyz"], *rows], "\t"))
    names = [f"g{j}" for j in range(30)]
    table = read_table(path, target="class", features_in_rows=True)
    assert_same(table, plain_table(X, names, np.array([*"baaba"], dtype=object), [*"vwxyz"]))
    assert table.X.flags.c_contiguous
    some = read_table(path, columns=["g7", "g2"], features_in_rows=True)
    assert_same(some, plain_table(X[:, [7, 2]], ["g7", "g2"], None, [*"vwxyz"]))


@pytest.mark.usefixtures("block")
def test_columns_that_are_not_wanted_are_not_looked_at(tmp_path):
    path = save(tmp_path / "data.csv", ",x,note,y\n0,1,good,2.5\n1,0,bad,1\n")
    assert read_table(path, columns=["y", "x"]).X.tolist() == [[2.5, 1], [1, 0]]
    assert read_table(path, columns=["x"]).X.tolist() == [[1], [0]]
    nothing = read_table(path, columns=[], id_column="note")
    assert nothing.X.shape == (2, 0)
    assert nothing.ids.tolist() == ["good", "bad"]
    path = save(tmp_path / "rows.csv", "gene,s1,s2\nnote,good,bad\nx,1,0\n")
    rows = {"features_in_rows": True}
    assert read_table(path, columns=["x"], **rows).X.tolist() == [[1], [0]]
    assert read_table(path, columns=[], **rows).X.shape == (2, 0)
    path = save(tmp_path / "ids.csv", "id\ns1\ns2\n")
    assert read_table(path, columns=[], id_column="id").X.shape == (2, 0)


@pytest.mark.parametrize("compress", [bytes, gzip.compress])
@pytest.mark.parametrize("delimiter", [",", "\t", ";"])
def test_standard_input_tells_its_delimiter(compress, delimiter, monkeypatch):
    content = '\ufeff"a,b;c",d,class\n1,0,x\n0,1,y\n'.replace(",d,", "\0d\0")
    content = content.replace("\n1,0,", "\n1\0000\0").replace("\n0,1,", "\n0\0001\0")
    content = content.replace("\0", delimiter).encode()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(compress(content))))
    table = read_table("-", target="class")
    assert table.names.tolist() == ["a,b;c", "d"]
    assert table.X.tolist() == [[1, 0], [0, 1]]
    assert table.path == "-"


def test_errors_about_standard_input_say_so(monkeypatch):
    for content, what in [(b"", "empty"), (b"PAR1....", "no text"), (b"PK\x03\x04..", "no text")]:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
        with pytest.raises(TableError, match=f"^standard input: it is {what}"):
            read_table("-")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "it is empty"),
        ("\n\n", "it is empty"),
        ("x,class\n", "a header but no rows"),
        ("x,class", "a header but no rows"),
        ("x,class\n\n\r\n", "a header but no rows"),
        ("class\na\n", "it has no features"),
        ("x,class\n1,a\n1\n", "row 3 has 1 fields where the header has 2"),
        ("x,class\n1,a\n1.5,b,c\n", "row 3 has 3 fields where the header has 2"),
        ("x,class\n1,a\n\n1,b\n", "row 3 is empty: delete it"),
        ("\nx,class\n1,a\n", "row 1 is empty"),
        ("x,x,class\n1,1,a\n", "column 1 and column 2 are both named 'x'"),
        ("x,z,class,\n0,1,a,\n", "column 4 has no name"),
        (
            "x,Class\n1,a\n",
            r"no 'class' for the target \(did you mean 'Class'\?\). There are: 'x',",
        ),
        ("x,z\n1,a\n", "no 'class' for the target. There are: 'x', 'z'"),
        ('x,class\n1,"a\n0,b\n', "check its quotes"),
        ('x,class\n1,"a"b\n', "check its quotes"),
        (b"x,class\n1,\xe9\n", "it is not UTF-8 text"),
        ("x,class\n1,a\n".encode("utf-16"), "it is not UTF-8 text"),
    ],
)
@pytest.mark.usefixtures("block")
def test_faults_of_a_file_are_named(content, message, tmp_path):
    path = save(tmp_path / "data.csv", content)
    with pytest.raises(TableError, match=message) as error:
        read_table(path, target="class")
    assert str(error.value).startswith(f"{path}: ")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("gene,s1\n", "a header but no rows"),
        ("gene\ng1\n", "it has no samples"),
        ("gene,s1,s1\ng1,0,1\n", "sample 1 and sample 2 are both named 's1'"),
        ("gene,s1\nclass,a\ng1,0\ng2,1\ng1,1\n", "feature 2 and feature 4 are both named 'g1'"),
        ("gene,s1,s2\ng1,0\n", "row 2 has 2 fields where the header has 3"),
        ("gene,s1,s2\ng1,0,1\ng2,0\n", "row 3 has 2 fields where the header has 3"),
        ("gene,s1\nclass,a\n,1\n", "feature 2 has no name"),
        ("gene,s1\nclas,a\ng1,0\n", "column 's1' has 'a' in row 2"),
        ("gene,s1\nclas,1\ng1,0\n", r"no 'class' for the target \(did you mean 'clas'\?\)"),
        ("gene,s1\nclass,1\n", "it has no features"),
    ],
)
@pytest.mark.usefixtures("block")
def test_faults_of_a_file_with_features_in_rows(content, message, tmp_path):
    path = save(tmp_path / "data.csv", content)
    with pytest.raises(TableError, match=message):
        read_table(path, target="class", features_in_rows=True)


def test_requests_that_contradict_themselves(tmp_path):
    path = save(tmp_path / "data.csv", "id,x,z\na,1,0\n")
    with pytest.raises(TableError, match="'id' does not go with features in rows"):
        read_table(path, id_column="id", features_in_rows=True)
    with pytest.raises(TableError, match="'x' is wanted for two purposes"):
        read_table(path, target="x", id_column="x")
    with pytest.raises(TableError, match="'x' is wanted for two purposes"):
        read_table(path, target="x", columns=["z", "x"])


def test_missing_features_are_listed(tmp_path):
    names = [f"gene{j}" for j in range(30)]
    path = save(tmp_path / "data.csv", text_of([names, [0] * 30]))
    with pytest.raises(TableError) as error:
        read_table(path, columns=["gene3", "Gene4", "other"])
    assert "2 of the 3 features that are needed are missing: 'Gene4', 'other'" in str(error.value)
    assert "did you mean 'gene4'" in str(error.value)
    with pytest.raises(TableError, match="2 of the 3 features"):
        read_table(path, columns=["gene", "0", "none"], features_in_rows=True)


@pytest.mark.parametrize("name", ["data", "data.xlsx", "data.gz", "data.parquet.gz", "csv"])
def test_unknown_endings(name, tmp_path):
    with pytest.raises(TableError, match=rf"{name}: it is not clear .*\.csv, .* \.npz are known"):
        read_table(save(tmp_path / name, "x\n1\n"))


def test_a_missing_file_is_what_it_is(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"none\.csv"):
        read_table(tmp_path / "none.csv")


def test_a_compressed_file_cut_off_or_damaged_anywhere_is_noticed(tmp_path, seed):
    rng = np.random.default_rng(seed)
    content = text_of([["x", "z"], *rng.integers(0, 2, size=(40, 2)).tolist()]).encode()
    whole = gzip.compress(content)
    path = tmp_path / "data.csv.gz"
    expected = read_table(save(tmp_path / "data.csv", content))
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        with pytest.raises(TableError, match=r"data\.csv\.gz: "):
            read_table(path)
    for place in range(len(whole)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0x40]) + whole[place + 1 :])
        try:
            table = read_table(path)
        except TableError:
            continue
        assert_same(table, expected)  # a flag or the time in the header


# --- tables: Parquet and sparse ------------------------------------------------------------------


def test_parquet_columns_of_any_type(tmp_path):
    columns = {
        "label": pa.array(["b", "a", "b"]).dictionary_encode(),
        "flag": [True, False, True],
        "whole": pa.array([1, None, 3], pa.int16()),
        "real": pa.array([0.5, None, math.nan], pa.float32()),
        "text": ["1.5", "NA", "2"],
        "flag or not": [True, None, False],
        "id": [7, 8, 9],
    }
    path = save_parquet(tmp_path / "data.parquet", columns)
    table = read_table(path, target="label", id_column="id")
    nan = math.nan
    X = [[1, 1, 0.5, 1.5, 1], [0, nan, nan, nan, nan], [1, 3, nan, 2, 0]]
    names = ["flag", "whole", "real", "text", "flag or not"]
    expected = plain_table(np.array(X), names, np.array(["b", "a", "b"], object), ["7", "8", "9"])
    assert_same(table, expected)
    some = read_table(path, columns=["whole", "flag"])
    assert_same(some, plain_table(np.array([[1, 1], [nan, 0], [3, 1]]), ["whole", "flag"]))
    bits = read_table(path, columns=["flag"], target="id")
    assert_same(bits, plain_table(np.array([[1], [0], [1]], np.uint8), ["flag"], [7, 8, 9]))
    assert read_table(path, columns=[]).X.shape == (3, 0)


def test_parquet_with_features_in_rows(tmp_path):
    columns = {"gene": ["g1", "class", "g2"], "s1": ["0", "a", "1"], "s2": ["1", "b", None]}
    path = save_parquet(tmp_path / "data.parquet", columns)
    table = read_table(path, target="class", features_in_rows=True)
    X = np.array([[0, 1], [1, math.nan]])
    assert_same(table, plain_table(X, ["g1", "g2"], np.array(["a", "b"], object), ["s1", "s2"]))


def test_the_index_of_pandas_is_no_feature(tmp_path):
    columns = {"x": [1, 0], "__index_level_0__": ["s1", "s2"]}
    path = save_parquet(tmp_path / "data.parquet", columns)
    assert read_table(path).names.tolist() == ["x"]
    table = read_table(path, id_column="__index_level_0__")
    assert (table.names.tolist(), table.ids.tolist()) == (["x"], ["s1", "s2"])


def test_faults_of_a_parquet_file(tmp_path):
    path = save_parquet(tmp_path / "data.parquet", {"x": ["1", "b"], "y": ["a", None]})
    with pytest.raises(TableError, match="column 'x' has 'b' in row 2"):
        read_table(path)
    with pytest.raises(TableError, match="target 'y' is missing for row 2"):
        read_table(path, target="y", columns=[])
    with pytest.raises(TableError, match="no 'Y' for the target"):
        read_table(path, target="Y")
    whole = path.read_bytes()
    for length in range(0, len(whole), 7):
        path.write_bytes(whole[:length])
        with pytest.raises(TableError, match=r"data\.parquet: it is damaged"):
            read_table(path)
    save_parquet(path, {"x": pa.array([], pa.int8())})
    with pytest.raises(TableError, match="no rows"):
        read_table(path)
    save_parquet(path, {"x": [1.0, math.inf]})
    with pytest.raises(TableError, match="column 'x' has 'inf' in row 2"):
        read_table(path)
    twice = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["x", "x"])
    pq.write_table(twice, path)
    with pytest.raises(TableError, match="both named 'x'"):
        read_table(path)


def test_parquet_without_pyarrow_says_what_to_install(tmp_path, monkeypatch):
    path = save_parquet(tmp_path / "data.parquet", {"x": [1]})
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(ImportError, match=re.escape('pip install "unselected[parquet]"')):
        read_table(path)


def save_sparse(path, matrix, **arrays):
    sparse.save_npz(path, matrix)
    with np.load(path) as stored:
        np.savez_compressed(path, **stored, **arrays)
    return path


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
@pytest.mark.parametrize("dtype", [bool, np.int8, np.float32])
def test_sparse_tables(form, dtype, tmp_path, seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, size=(6, 9)).astype(dtype)
    names = np.array([f"g{j}" for j in range(9)])
    y = np.array(["a", "b", "b", "a", "a", "b"])
    matrix = sparse.coo_array(X).asformat(form)
    path = save_sparse(tmp_path / "x.npz", matrix, y=y, feature_names=names, who=np.arange(6))
    table = read_table(path, id_column="who")
    expected = plain_table(X.astype(np.uint8), names, y.astype(object), [str(i) for i in range(6)])
    assert_same(table, expected)
    assert table.X.flags.c_contiguous
    assert not table.notes
    some = read_table(path, columns=["g8", "g1"], target="who")
    assert_same(some, plain_table(X[:, [8, 1]].astype(np.uint8), ["g8", "g1"], np.arange(6)))
    path = save_sparse(tmp_path / "t.npz", matrix.T, y=y.astype(bytes), feature_names=names)
    turned = read_table(path, features_in_rows=True)
    assert_same(turned, plain_table(X.astype(np.uint8), names, y.astype(object)))
    bare = save_sparse(tmp_path / "bare.npz", matrix)
    assert read_table(bare).names.tolist() == [str(j) for j in range(9)]
    assert "called by their numbers" in read_table(bare).notes[0]
    np.testing.assert_array_equal(read_table(bare, columns=["8", "1"]).X, X[:, [8, 1]])


def test_sparse_numbers_and_repeated_places(tmp_path):
    matrix = sparse.coo_array(([1, 1, 1.5], ([0, 0, 1], [0, 0, 1])), shape=(2, 2))
    X = read_table(save_sparse(tmp_path / "x.npz", matrix)).X
    assert X.dtype == np.float64
    assert X.tolist() == [[2, 0], [0, 1.5]]
    twice = sparse.csr_array((np.ones(3), np.array([0, 0, 1]), np.array([0, 2, 3])), shape=(2, 2))
    X = read_table(save_sparse(tmp_path / "x.npz", twice)).X
    assert X.dtype == np.float64
    assert X.tolist() == [[2, 0], [0, 1]]


def test_python_objects_in_a_sparse_file_are_not_read(tmp_path):
    matrix, names = sparse.eye_array(2, format="csr"), np.array(["a", "b"], dtype=object)
    path = save_sparse(tmp_path / "x.npz", matrix, feature_names=names, y=names)
    table = read_table(path)
    assert table.names.tolist() == ["0", "1"]
    assert table.y is None
    found = [re.search("array '(.*?)' holds Python objects", note) for note in table.notes]
    assert [match[1] for match in found if match] == ["feature_names", "y"]
    with pytest.raises(TableError, match="'y' holds Python objects"):
        read_table(path, target="y")
    with pytest.raises(TableError, match="1 of the 1 features that are needed are missing: 'a'"):
        read_table(path, columns=["a"])


@pytest.mark.parametrize(
    ("arrays", "arguments", "message"),
    [
        ({"y": np.arange(3)}, {}, r"'y' for the target has the shape \(3,\)"),
        ({"y": np.array(["2020"], "M8")}, {}, "it needs 2 texts or numbers"),
        ({"y": np.array([1.0, np.nan])}, {}, "target 'y' is missing for row 2"),
        ({"feature_names": np.array(["a", "a"])}, {}, "both named 'a'"),
        ({"feature_names": np.array(["a", "b"])}, {"columns": ["c"]}, "1 of the 1 features"),
        ({}, {"target": "class"}, "no array 'class' for the target"),
        ({}, {"id_column": "who"}, "no array 'who' for the ids"),
        ({"indices": np.array([0, 7], np.int32)}, {}, "damaged or no matrix"),
        ({"indices": np.array([0, -1], np.int32)}, {}, "damaged or no matrix"),
        ({"indptr": np.array([0, 9, 2], np.int32)}, {}, "damaged or no matrix"),
        ({"format": np.array(b"dia")}, {}, "damaged or no matrix"),
        ({"format": np.array(b"eval")}, {}, "damaged or no matrix"),
        ({"data": np.array([1, np.inf])}, {}, "infinite values"),
        ({"data": np.array([1, 1j])}, {}, "type complex128"),
        ({"shape": np.array([0, 2]), "indptr": np.zeros(1, int)}, {}, "damaged|needs rows"),
    ],
)
def test_faults_of_a_sparse_file(arrays, arguments, message, tmp_path):
    path = tmp_path / "x.npz"
    sparse.save_npz(path, sparse.eye_array(2, format="csr"))
    with np.load(path) as stored:
        np.savez(path, **{**stored, **arrays})
    with pytest.raises(TableError, match=message) as error:
        read_table(path, **arguments)
    assert str(error.value).startswith(f"{path}: ")


def test_other_sparse_formats_and_other_archives(tmp_path):
    path = tmp_path / "x.npz"
    sparse.save_npz(path, sparse.eye_array(4, format="dia"))
    with pytest.raises(TableError, match="2-d dia matrix: save it as csr"):
        read_table(path)
    np.savez(path, X=np.eye(2))
    with pytest.raises(TableError, match=r"no matrix of scipy\.sparse\.save_npz"):
        read_table(path)


def test_a_sparse_file_cut_off_anywhere_is_noticed(tmp_path):
    path = save_sparse(tmp_path / "x.npz", sparse.eye_array(5, format="csr"))
    whole = path.read_bytes()
    for length in range(0, len(whole), 3):
        path.write_bytes(whole[:length])
        with pytest.raises(TableError, match=r"x\.npz: it is damaged"):
            read_table(path)


def test_a_sparse_table_larger_than_memory_is_refused(tmp_path, monkeypatch):
    bits = sparse.coo_array(([True], ([2], [3])), shape=(10**8, 10**6))
    path = save_sparse(tmp_path / "x.npz", bits)
    with pytest.raises(TableError, match=r"takes 100000\.0 GB of memory, and this machine has"):
        read_table(path)
    thin = sparse.coo_array(([True], ([0], [3])), shape=(1, 10**13))
    for matrix in (thin, thin.T):  # even the places of its columns would not fit
        path = save_sparse(tmp_path / "x.npz", matrix, feature_names=np.array(["a"]))
        with pytest.raises(TableError, match=r"takes 80000\.0 GB"):
            read_table(path)
    narrow = sparse.coo_array(([True], ([2], [3])), shape=(100, 100))
    path = save_sparse(tmp_path / "x.npz", narrow)
    monkeypatch.setattr(sparse_tables, "_memory", lambda: 40_000)
    assert read_table(path).X.sum() == 1  # a byte for each value
    with pytest.raises(TableError, match="leave columns out"):
        read_table(save_sparse(path, narrow.astype(float) * 0.5))


def test_where_the_memory_is_not_known_no_table_is_refused(monkeypatch):
    assert 10**8 < sparse_tables._memory() < 10**15
    monkeypatch.delattr(os, "sysconf")
    assert sparse_tables._memory() == sys.maxsize


# --- checkpoints ---------------------------------------------------------------------------------


def test_finished_replicates_are_there_again(tmp_path):
    path, given_settings = tmp_path / "run.jsonl", {"k": [1, 10], "seed": 3}
    run_once = Checkpoints(path, given_settings)
    assert run_once.finished() == {}
    run_once.add(4, {"error": np.float64(0.1), "pair": (1, 2), 10: np.arange(2)})
    run_once.add(np.int64(0), {"log": -math.inf, "name": "ü\n"})
    expected = {
        4: {"error": 0.1, "pair": [1, 2], "10": [0, 1]},
        0: {"log": -math.inf, "name": "ü\n"},
    }
    assert run_once.finished() == expected
    again = Checkpoints(path, {"seed": 3, "k": (1, 10)})
    assert again.finished() == expected
    assert list(again.finished()) == [4, 0]
    again.add(7, {"error": math.nan})
    assert math.isnan(Checkpoints(path, given_settings).finished()[7]["error"])
    assert len(path.read_text().splitlines()) == 4


def test_every_replicate_is_on_the_disk_when_it_is_added(tmp_path, monkeypatch):
    sizes = []
    monkeypatch.setattr(os, "fsync", lambda descriptor: sizes.append(os.fstat(descriptor).st_size))
    store = Checkpoints(tmp_path / "run.jsonl", {})
    store.add(0, {})
    assert sizes == [size for size in sizes if size > 0]
    assert len(sizes) == 2
    assert sizes[-1] == (tmp_path / "run.jsonl").stat().st_size


def test_a_replicate_is_added_once(tmp_path):
    store = Checkpoints(tmp_path / "run.jsonl", {})
    store.add(1, {"a": 1})
    with pytest.raises(ValueError, match="replicate 1 is finished already"):
        store.add(1, {"a": 2})
    with pytest.raises(TypeError):
        store.add("2", {})
    with pytest.raises(TypeError, match="set cannot be written"):
        store.add(2, {"a": {1}})
    store.finished()[9] = {}
    assert Checkpoints(tmp_path / "run.jsonl", {}).finished() == {1: {"a": 1}} == store.finished()


def test_a_run_killed_at_any_byte_continues(tmp_path):
    path, given_settings = tmp_path / "run.jsonl", {"k": 5, "note": "a\nb"}
    store = Checkpoints(path, given_settings)
    sizes = [path.stat().st_size]
    for r in range(2):
        store.add(r, {"error": r / 7, "text": "é"})
        sizes.append(path.stat().st_size)
    expected, whole = store.finished(), path.read_bytes()
    for length in range(len(whole) + 1):
        path.write_bytes(whole[:length])
        store = Checkpoints(path, given_settings)
        n_finished = sum(size <= length for size in sizes[1:])
        assert store.finished() == {r: expected[r] for r in range(n_finished)}
        for r in range(n_finished, 2):
            store.add(r, {"error": r / 7, "text": "é"})
        assert path.read_bytes() == whole


def test_a_first_line_cut_off_may_be_of_another_run(tmp_path):
    path = tmp_path / "run.jsonl"
    Checkpoints(path, {"k": 5, "other": "settings"})
    path.write_bytes(path.read_bytes()[:-3])
    Checkpoints(path, {"k": 6}).add(1, {})
    assert Checkpoints(path, {"k": 6}).finished() == {1: {}}


def test_other_settings_are_named(tmp_path):
    path = tmp_path / "run.jsonl"
    Checkpoints(path, {"k": 5, "seed": 1, "old": None}).add(0, {})
    before = path.read_bytes()
    with pytest.raises(CheckpointError) as error:
        Checkpoints(path, {"k": 6, "seed": 1, "new": "x"})
    message = str(error.value)
    assert f"{path} was made with other settings" in message
    assert "k: 5 there, 6 now" in message
    assert 'new: not set there, "x" now' in message
    assert "old: null there, not set now" in message
    assert "seed" not in message.split("(")[1].split(")")[0]
    assert "choose another file, or delete it" in message
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "content",
    [b"important", b"important\n", b"[1]\n", b'{"format": "other"}\n', b"\xff\xfe\n", b"[" * 9999],
)
def test_other_files_are_left_alone(content, tmp_path):
    path = save(tmp_path / "run.jsonl", content)
    with pytest.raises(CheckpointError, match=r"is no file of finished replicates\. Choose"):
        Checkpoints(path, {})
    assert path.read_bytes() == content


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"garbage", "damaged in line 3. Delete that line"),
        (b"\0\0\0", "damaged in line 3"),
        (b"", "damaged in line 3"),
        (b"[1]", "damaged in line 3"),
        (b'{"replicate": true, "record": {}}', "damaged in line 3"),
        (b'{"replicate": 1, "record": []}', "damaged in line 3"),
        (b'{"replicate": 1}', "damaged in line 3"),
        (b"[" * 9999, "damaged in line 3"),
        (b'{"replicate": 0, "record": {}}', "has replicate 0 once more in line 3"),
    ],
)
def test_a_damaged_line_is_named(line, message, tmp_path):
    path = tmp_path / "run.jsonl"
    Checkpoints(path, {}).add(0, {})
    save(path, path.read_bytes() + line + b"\n")
    before = path.read_bytes()
    with pytest.raises(CheckpointError, match=message):
        Checkpoints(path, {})
    assert path.read_bytes() == before


def test_another_version_of_the_file_is_refused(tmp_path):
    path = tmp_path / "run.jsonl"
    Checkpoints(path, {})
    save(path, path.read_bytes().replace(b'"version": 1', b'"version": 2'))
    with pytest.raises(CheckpointError, match="format version 2, not 1"):
        Checkpoints(path, {})


def test_two_runs_do_not_write_to_one_file(tmp_path):
    one, other = (Checkpoints(tmp_path / "run.jsonl", {}) for _ in range(2))
    one.add(0, {})
    with pytest.raises(CheckpointError, match="changed while this run used it"):
        other.add(0, {})
    one.add(1, {})
    assert set(Checkpoints(tmp_path / "run.jsonl", {}).finished()) == {0, 1}


def test_what_was_added_survives_a_killed_process(tmp_path):
    code = (
        "import sys; from unselected.files.checkpoints import Checkpoints\n"
        "store = Checkpoints(sys.argv[1], {'k': 1})\n"
        "for r in range(10**6):\n"
        "    store.add(r, {'value': r * 0.1})\n"
        "    print(r, flush=True)\n"
    )
    path = tmp_path / "run.jsonl"
    with subprocess.Popen(
        [sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE, text=True
    ) as process:
        seen = [int(process.stdout.readline()) for _ in range(20)]
        process.send_signal(signal.SIGKILL)
    finished = Checkpoints(path, {"k": 1}).finished()
    assert set(seen) <= set(finished) == set(range(len(finished)))
    assert all(record == {"value": r * 0.1} for r, record in finished.items())
