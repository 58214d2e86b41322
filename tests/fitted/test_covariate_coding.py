"""Covariates as numbers: what users pass, the coding, and errors that name column and case."""

import datetime
import json
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest

from unselected.fitted.covariate_coding import CovariateCoding, CovariateColumn, CovariateTable
from unselected.fitted.json_checks import Fault

PATIENTS = {
    "age": [34.0, 51.5, 47.0, 60.0],
    "sex": ["male", "female", "male", "female"],
    "treated": [True, False, False, True],
}
CODED = [[34.0, 1.0, 1.0], [51.5, 0.0, 0.0], [47.0, 1.0, 0.0], [60.0, 0.0, 1.0]]


def learned(covariates):
    return CovariateCoding.learn(CovariateTable.read(covariates))


def encoded(coding, covariates):
    return coding.encode(CovariateTable.read(covariates)).tolist()


# --- what users pass -----------------------------------------------------------------------------


@pytest.mark.parametrize("of", [dict, pd.DataFrame, pl.DataFrame], ids=["dict", "pandas", "polars"])
def test_frames_and_mappings_give_the_same_numbers(of):
    coding = learned(of(PATIENTS))
    assert coding.coded_names == ["age", "sex[male]", "treated"]
    assert coding.n_coded == 3
    assert coding.in_words() == ["age: number", "sex: female (reference), male", "treated: boolean"]
    assert encoded(coding, of(PATIENTS)) == CODED


def test_object_arrays_and_lists_of_rows_keep_their_types():
    rows = list(zip(*PATIENTS.values(), strict=True))
    for table in (rows, np.array(rows, dtype=object)):
        coding = learned(table)
        assert coding.coded_names == ["covariate 0", "covariate 1[male]", "covariate 2"]
        assert encoded(coding, table) == CODED
    with pytest.raises(ValueError, match="array of text, but its column 0 holds numbers"):
        CovariateTable.read(np.array([[34, "male"], [51, "female"]]))


def test_an_array_of_numbers_is_coded_as_it_is():
    Z = np.random.default_rng(0).standard_normal((5, 3))
    assert np.array_equal(learned(Z).encode(CovariateTable.read(Z)), Z)
    assert encoded(learned(Z > 0), Z > 0) == (Z > 0).astype(float).tolist()


@pytest.mark.parametrize(
    ("column", "name"),
    [
        (["b", "a", "b"], "covariate 0"),
        (np.array(["b", "a", "b"]), "covariate 0"),
        (pd.Series(["b", "a", "b"], name="batch"), "batch"),
        (pd.Series(["b", "a", "b"]), "covariate 0"),
        (pl.Series("batch", ["b", "a", "b"]), "batch"),
        (pl.Series(["b", "a", "b"]), "covariate 0"),
    ],
)
def test_one_column_has_its_name_or_a_number(column, name):
    coding = learned(column)
    assert coding.coded_names == [f"{name}[b]"]
    assert encoded(coding, column) == [[1.0], [0.0], [1.0]]


def test_categories_keep_their_order_and_the_first_present_is_the_reference():
    values, order = ["z", "a", "z"], ["never", "z", "a"]
    for column in (
        pd.Categorical(values, categories=order),
        pd.Series(pd.Categorical(values, categories=order, ordered=True)),
        pl.Series(values, dtype=pl.Enum(order)),
    ):
        assert learned({"batch": column}).in_words() == ["batch: z (reference), a"]
        assert learned(column).columns[0].levels == ("z", "a")
    # The order of a polars Categorical depends on what the process has met before.
    unordered = pl.Series(values, dtype=pl.Categorical)
    assert learned({"batch": unordered}).in_words() == ["batch: a (reference), z"]


def test_categories_of_numbers_and_intervals_are_levels():
    coding = learned({"batch": pd.Categorical([3, 1, 3, 3])})
    assert coding.columns == (CovariateColumn("batch", "levels", (1, 3)),)
    for same in (pd.Categorical([3, 1]), [3, 1], [3.0, 1.0], ["3", "1"]):  # as files may hold it
        assert encoded(coding, {"batch": same}) == [[1.0], [0.0]]
    ages = learned({"age": pd.cut([20, 50, 21, 51], [0, 40, 80])})
    assert ages.in_words() == ["age: (0, 40] (reference), (40, 80]"]
    assert CovariateCoding.from_json(ages.to_json()) == ages


def test_few_numbers_are_numbers_and_text_of_digits_is_levels():
    assert learned({"a": [1, 2, 1, 2]}).columns[0].kind == "number"
    assert learned({"a": ["1", "2", "1", "2"]}).columns[0].kind == "levels"
    assert learned({"a": np.array([True, 2, 1], dtype=object)}).columns[0].kind == "number"


def test_constant_columns_are_allowed():
    coding = learned({"one": [1, 1], "same": ["x", "x"]})
    assert coding.coded_names == ["one"]
    assert encoded(coding, {"one": [1, 1], "same": ["x", "x"]}) == [[1.0], [1.0]]
    only = learned({"same": ["x", "x"]})
    assert only.encode(CovariateTable.read({"same": ["x", "x"]})).shape == (2, 0)


def test_a_table_is_taken_as_it_is_and_some_of_its_cases():
    table = CovariateTable.read(pd.DataFrame(PATIENTS))
    assert CovariateTable.read(table) is table
    some = pickle.loads(pickle.dumps(table.take([2, 0])))
    assert some.n_cases == 2
    assert learned(PATIENTS).encode(some).tolist() == [CODED[2], CODED[0]]
    categorical = CovariateTable.read(pd.Series(pd.Categorical(["b", "a", "b"], ["b", "a"])))
    assert learned(categorical.take([0, 1, 1])).in_words() == ["covariate 0: b (reference), a"]


@pytest.mark.parametrize(
    ("covariates", "message"),
    [
        ({"a": [1, 2], "b": [1]}, "'a' has 2 values, and 'b' has 1"),
        ({}, "no columns"),
        (np.zeros((2, 2, 2)), r"shape \(2, 2, 2\)"),
        ({"a": np.zeros((2, 2))}, r"'a' has the shape \(2, 2\)"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "'a' is the name of two covariates"),
        ({"1": [1], 1: [2]}, "'1' is the name of two covariates"),
    ],
)
def test_tables_of_no_use_are_refused(covariates, message):
    with pytest.raises(ValueError, match=message):
        CovariateTable.read(covariates)


@pytest.mark.parametrize("covariates", ["age", 3, {"sex": "male"}, {"age": 3}])
def test_what_is_no_table_is_refused(covariates):
    with pytest.raises(TypeError, match="values for all cases are expected"):
        CovariateTable.read(covariates)


def test_the_number_of_cases_is_checked():
    table = CovariateTable.read(PATIENTS)
    table.check_cases(4)
    with pytest.raises(ValueError, match="covariates has 4 cases, but X has 5"):
        table.check_cases(5)


# --- values that cannot be coded -----------------------------------------------------------------

MISSING = [
    [None, 1.0, None],
    np.array([np.nan, 1.0, np.nan]),
    ["", "a", "a"],
    ["  ", "a", "a"],
    np.array(["", "a", "a"]),
    pd.array([None, 1, 2], dtype="Int64"),
    pd.array([None, True, False], dtype="boolean"),
    pd.Series([None, "a", "a"], dtype="string"),
    pd.Series(["a", "a", None]).astype("category").iloc[::-1],
    pd.to_datetime(pd.Series([None, "2020-01-01", "2021-01-01"])),
    pl.Series([None, 1, 2]),
    pl.Series([None, "a", "a"]),
    pl.Series([None, True, False]),
]


@pytest.mark.parametrize("values", MISSING, ids=range(len(MISSING)))
def test_a_missing_covariate_is_an_error_that_names_column_and_case(values):
    with pytest.raises(ValueError, match=r"covariate 'x' is missing in [12] of 3 cases.* row 0"):
        learned({"age": [1, 2, 3], "x": values})


def test_missing_values_of_new_cases_are_errors_too_but_not_of_columns_without_use():
    coding = learned(PATIENTS)
    new = {name: values[:2] for name, values in PATIENTS.items()}
    assert encoded(coding, {**new, "weight": [None, np.nan]}) == CODED[:2]
    with pytest.raises(ValueError, match=r"'sex' is missing in 1 of 2 cases, the first in row 1"):
        encoded(coding, {**new, "sex": ["male", None]})


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([1.0, np.inf, 2.0], "has inf in row 1"),
        ([1, 10**400, 2], "has 1000.* in row 1"),
        (np.array(["2020-01-01"] * 3, dtype="M8[D]"), "has datetime.* in row 0"),
        ([1, 2, datetime.date(2020, 1, 1)], "has datetime.* in row 2"),
        (np.ones(3, dtype=complex), r"has \(1\+0j\) in row 0"),
        ([1, "x", 3], "has the text 'x' in row 1, and numbers or booleans"),
        ([True, "x", False], "has the text 'x' in row 1, and numbers or booleans"),
        (["s1", "s2", "s3"], "has another level in each of the 3 cases: it identifies them"),
    ],
)
def test_values_that_cannot_be_coded_are_named(values, message):
    with pytest.raises(ValueError, match=f"covariate 'x' {message}"):
        learned({"x": values})


def test_errors_count_cases_as_the_file_does():
    values = (np.array([1.0, np.nan]),)
    table = CovariateTable(("age",), values, case_word="sample", first_case=1)
    with pytest.raises(ValueError, match="the first in sample 2:"):
        CovariateCoding.learn(table)


# --- new cases -----------------------------------------------------------------------------------


def test_columns_are_found_by_name_in_any_order():
    shuffled = pd.DataFrame(PATIENTS)[["treated", "sex", "age"]].assign(ward="x")
    assert encoded(learned(PATIENTS), shuffled) == CODED


def test_missing_columns_are_named():
    with pytest.raises(ValueError, match=r"missing: 'age', 'treated'\. There are: 'sex', 'batch'"):
        encoded(learned(PATIENTS), {"sex": ["male"], "batch": ["b1"]})


def test_a_level_that_training_did_not_have_is_named_with_those_it_had():
    coding = learned({"batch": ["b1", "b2", "b1"]})
    for value, word in (("b9", "'b9'"), (1, "1"), (True, "True")):
        message = rf"'batch' has {word} in row 1, but only the levels 'b1', 'b2' in the training"
        with pytest.raises(ValueError, match=message):
            encoded(coding, pd.DataFrame({"batch": pd.Series(["b1", value]).astype("category")}))
    many = learned({"batch": [f"b{j % 20}" for j in range(40)]})
    with pytest.raises(ValueError, match=r"'b0', 'b1', 'b10', .*\.\.\. in"):
        encoded(many, {"batch": ["b99"]})


def test_values_of_another_kind_than_in_training_are_errors():
    coding = learned({"age": [1, 2], "treated": [True, False]})
    assert encoded(coding, {"age": [True], "treated": [1.0]}) == [[1.0, 1.0]]
    with pytest.raises(ValueError, match="'age' has 'old' in row 0, but numbers in the training"):
        encoded(coding, {"age": ["old"], "treated": [True]})
    with pytest.raises(ValueError, match="'age' has 'old' in row 1, but numbers in the training"):
        encoded(coding, {"age": ["30", "old"], "treated": [True, True]})
    with pytest.raises(ValueError, match="'age' has '30' in row 0, but numbers in the training"):
        encoded(coding, {"age": ["30"], "treated": [True]})
    for value in (2, 0.5, "yes"):
        with pytest.raises(ValueError, match=r"'treated' has .* in row 0, but booleans in the"):
            encoded(coding, {"age": [1], "treated": [value]})


def test_no_new_cases_are_no_rows():
    nobody = CovariateTable.read({name: [] for name in PATIENTS})
    assert learned(PATIENTS).encode(nobody).shape == (0, 3)


# --- the model file ------------------------------------------------------------------------------


def test_a_coding_comes_back_from_json():
    coding = learned({**PATIENTS, "batch": pd.Categorical([2, 1, 2, 2]), "köln": list("aabb")})
    again = CovariateCoding.from_json(json.loads(json.dumps(coding.to_json())))
    assert again == coding
    assert [type(level) for level in again.columns[3].levels] == [int, int]


GOOD = {"name": "sex", "kind": "levels", "levels": ["female", "male"]}


@pytest.mark.parametrize(
    "entries",
    [
        {},
        [],
        ["sex"],
        [GOOD, GOOD],
        [{**GOOD, "name": 3}],
        [{**GOOD, "kind": "text"}],
        [{**GOOD, "levels": []}],
        [{**GOOD, "levels": ["male", "male"]}],
        [{**GOOD, "levels": [1, True]}],
        [{**GOOD, "levels": [float("inf")]}],
        [{**GOOD, "levels": [None]}],
        [{**GOOD, "kind": "number"}],
        [{"name": "sex", "kind": "levels"}],
        [{**GOOD, "more": 1}],
    ],
)
def test_wrong_entries_are_faults(entries):
    assert CovariateCoding.from_json([GOOD]).coded_names == ["sex[male]"]
    with pytest.raises(Fault, match="covariates"):
        CovariateCoding.from_json(entries)
