"""Covariates beside X, and covariates that are columns of X."""

import dask.array
import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from unselected.columns.sources import ArrayColumns, ColumnSource, SparseColumns
from unselected.estimators.covariates import resolve_covariates, split_covariates
from unselected.files.opening import open_columns
from unselected.fitted.covariate_coding import CovariateCoding

COLUMNS = {
    "g1": [0.5, 1.5, 2.5],
    "sex": ["male", "female", "male"],
    "g2": [1, 0, 1],
    "age": [34.0, 51.0, 47.0],
}
NUMBERS = np.array([[0.5, 1, 7], [1.5, 0, 8], [2.5, 1, 9]])


def coded(table):
    return CovariateCoding.learn(table).encode(table).tolist()


@pytest.mark.parametrize("of", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
@pytest.mark.parametrize("wanted", [["age", "sex"], ["sex", 3], (1, "age"), np.array([3, 1])])
def test_a_frame_is_split_by_names_and_numbers(of, wanted):
    features, table = split_covariates(of(COLUMNS), wanted)
    assert type(features) is of
    assert list(features.columns) == ["g1", "g2"]
    assert table.names == ("sex", "age")
    assert coded(table) == [[1.0, 34.0], [0.0, 51.0], [1.0, 47.0]]


def test_a_frame_keeps_its_types_and_its_index():
    frame = pd.DataFrame(COLUMNS, index=["x", "y", "z"])
    features, _ = split_covariates(frame, "sex")
    pd.testing.assert_frame_equal(features, frame[["g1", "g2", "age"]])
    assert coded(split_covariates(frame.assign(sex=frame.sex.astype("category")), "sex")[1]) == [
        [1.0],
        [0.0],
        [1.0],
    ]


def test_frames_with_numbers_for_names_are_split_by_position():
    frame = pd.DataFrame(NUMBERS, columns=[10, 11, 12])
    features, table = split_covariates(frame, [2])
    assert list(features.columns) == [10, 11]
    assert (table.names, coded(table)) == (("12",), [[7], [8], [9]])


@pytest.mark.parametrize(
    "X",
    [NUMBERS, NUMBERS.tolist(), sparse.csr_array(NUMBERS), sparse.coo_array(NUMBERS)],
    ids=["array", "lists", "csr", "coo"],
)
def test_an_array_is_split_by_numbers(X):
    features, table = split_covariates(X, 2)
    dense = features.toarray() if sparse.issparse(features) else features
    np.testing.assert_array_equal(np.asarray(dense, dtype=float), NUMBERS[:, :2])
    assert sparse.issparse(features) == sparse.issparse(X)
    assert (table.names, coded(table)) == (("column 2",), [[7], [8], [9]])
    with pytest.raises(ValueError, match="the name 'age', but X has no column names"):
        split_covariates(X, ["age"])


def test_rows_with_text_keep_their_numbers():
    rows = [[0.5, "male"], [1.5, "female"], [2.5, "male"]]
    for X in (rows, np.array(rows, dtype=object)):
        features, table = split_covariates(X, [1])
        assert features.tolist() == [[0.5], [1.5], [2.5]]
        assert coded(table) == [[1.0], [0.0], [1.0]]


def test_sources_are_split_by_name_and_number(tmp_path):
    np.save(tmp_path / "X.npy", NUMBERS)
    names = np.array(["g1", "g2", "age"], dtype=object)
    with_names = SparseColumns(sparse.csr_array(NUMBERS))
    with_names.names = names
    for source, wanted, name in (
        (open_columns(tmp_path / "X.npy"), 2, "column 2"),
        (ArrayColumns(NUMBERS, names), "age", "age"),
        (with_names, "age", "age"),
    ):
        features, table = split_covariates(source, wanted)
        assert isinstance(features, ColumnSource)
        np.testing.assert_array_equal(features[:, :], NUMBERS[:, :2])
        assert (table.names, coded(table)) == ((name,), [[7], [8], [9]])
    for missing in ("sex", 3):
        with pytest.raises(ValueError, match=r"hold numbers only: pass .* to fit, as covariates="):
            split_covariates(with_names, missing)


def test_a_dask_array_is_refused():
    with pytest.raises(TypeError, match="dask array: pass them to fit, as covariates="):
        split_covariates(dask.array.from_array(NUMBERS), [0])


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        (["age", "weight"], "covariates has the name 'weight', which no column of X has"),
        ([4], "covariates has column 4, but the columns are 0 to 3"),
        (list(COLUMNS), "covariates has all 4 columns of X, so that no feature is left"),
    ],
)
def test_columns_that_are_not_there_are_named(wanted, message):
    with pytest.raises(ValueError, match=message):
        split_covariates(pd.DataFrame(COLUMNS), wanted)


def test_x_has_to_be_a_table():
    with pytest.raises(ValueError, match=r"X has the shape \(3,\)"):
        split_covariates(NUMBERS[:, 0], [0])


# --- one of two places ---------------------------------------------------------------------------


@pytest.mark.parametrize("nothing", [None, [], ()])
def test_without_covariates_x_is_as_it_was(nothing):
    X, table = resolve_covariates(nothing, None, NUMBERS)
    assert X is NUMBERS
    assert table is None


def test_covariates_beside_x_leave_x_as_it_is():
    X, table = resolve_covariates(None, {"age": [1, 2, 3]}, NUMBERS)
    assert X is NUMBERS
    assert coded(table) == [[1], [2], [3]]
    assert resolve_covariates([], pd.Series([1, 2, 3]), NUMBERS.tolist())[1].n_cases == 3
    with pytest.raises(ValueError, match="covariates has 2 cases, but X has 3"):
        resolve_covariates(None, {"age": [1, 2]}, NUMBERS)


def test_columns_of_x_are_taken_out_of_x():
    X, table = resolve_covariates(["age"], None, pd.DataFrame(COLUMNS))
    assert list(X.columns) == ["g1", "sex", "g2"]
    assert table.names == ("age",)
    assert resolve_covariates(0, None, NUMBERS)[1].names == ("column 0",)


def test_both_places_at_once_are_an_error():
    with pytest.raises(ValueError, match="named in the constructor, as columns of X, and also"):
        resolve_covariates(["age"], {"sex": [0, 1, 0]}, pd.DataFrame(COLUMNS))
