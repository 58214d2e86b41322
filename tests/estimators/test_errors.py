"""Bad input: one clear error that names the culprit, and nothing fitted half way."""

import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.exceptions import NotFittedError

from unselected import SelectiveBernoulliNB

RNG = np.random.default_rng(0)
X = RNG.integers(0, 2, size=(20, 5))
Y = np.arange(20) % 2
NAMED = pd.DataFrame(X, columns=list("abcde"))


def replaced(row, column, value, table=NAMED):
    changed = table.astype(object)
    changed.iloc[row, column] = value
    return changed


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"k": 0}, r"k=0 is out of range: it must be in 1\.\.5"),
        ({"k": 6}, r"k=6 is out of range: it must be in 1\.\.5"),
        ({"k": -3}, "k=-3 is out of range"),
        ({"k": 2, "threshold": 0.5}, r"k=2 and threshold=0\.5 are both given"),
        ({"threshold": 1.5}, r"threshold=1\.5 is out of range"),
        ({"threshold": float("nan")}, "threshold=nan is out of range"),
        ({"k": 5, "always_keep": [0]}, r"k=5 is out of range: it must be in 1\.\.4, the number of"),
        ({"k": 2, "preselected_from": 9}, "k=2 cannot be used with preselected_from=9"),
        ({"preselected_from": 4}, "preselected_from=4 is out of range: it must be at least 5"),
        ({"ties": "last"}, "ties='last' is not one of 'first', 'random'"),
        ({"quadrature": "simpson"}, "quadrature='simpson' is not one of 'exact', 'paper'"),
        ({"binarize": "mean"}, "binarize='mean' is not one of 'auto', 'median'"),
        ({"binarize": float("nan")}, "binarize=nan must be a number, or 'auto'"),
        ({"binarize": 1 + 0j}, r"binarize=\(1\+0j\) must be a number"),
        ({"class_pseudocounts": "12"}, "class_pseudocounts='12' must be a positive number, or one"),
        (
            {"k": 1, "always_keep": range(5)},
            "k=1 has no columns to select from: always_keep has all 5",
        ),
        ({"preselected_from": 9, "always_keep": range(5)}, "preselected_from=9 gives no cut where"),
        ({"binarize": [0.5]}, r"binarize=\[0\.5\] must be"),
        (
            {"class_pseudocounts": (1.0, 0.0)},
            "class_pseudocounts=.* must be a positive number, or one",
        ),
        ({"class_pseudocounts": (1.0, 1.0, 1.0)}, "one for each of the 2 classes"),
        ({"rates": "learned"}, "rates='learned'"),
        ({"rates": "given", "quadrature": "paper"}, "does not support rates='given'"),
        ({"concentration_prior": (0.5, np.inf)}, "concentration_prior=.* must be two positive"),
        ({"concentration_prior": (1, 2, 3)}, "concentration_prior=.* must be two numbers"),
        ({"correct_selection": "no"}, "correct_selection='no' must be True or False"),
        ({"always_keep": ["f"]}, "always_keep has the name 'f', which no column of X has"),
        ({"always_keep": [5]}, "always_keep has column 5, but the columns are 0 to 4"),
        ({"always_keep": [-1]}, "always_keep has column -1, but the columns are 0 to 4"),
    ],
)
def test_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        SelectiveBernoulliNB(**parameters).fit(NAMED, Y)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"k": 2.0}, r"k=2\.0 must be a whole number"),
        ({"k": True}, "k=True must be a whole number"),
        ({"threshold": "0.5"}, "threshold='0.5' must be a number from 0 to 1"),
        ({"always_keep": [0.5]}, "always_keep has 0.5: give names of columns"),
        ({"always_keep": 5.0}, "always_keep has 5.0: give names of columns"),
        ({"always_keep": b"a"}, "always_keep has b'a': give names of columns"),
        ({"always_keep": [True]}, "always_keep has True: give names of columns"),
    ],
)
def test_parameters_of_the_wrong_type(parameters, message):
    with pytest.raises(TypeError, match=message):
        SelectiveBernoulliNB(**parameters).fit(NAMED, Y)


def test_names_without_a_table_that_has_them():
    with pytest.raises(ValueError, match="always_keep has the name 'a', but X has no column names"):
        SelectiveBernoulliNB(always_keep="a").fit(X, Y)


def test_duplicate_names():
    twice = pd.DataFrame(X, columns=list("acbeb"))
    for always_keep in (["b"], ["a"], None):
        with pytest.raises(ValueError, match="'b' is the name of more than one column: 2, 4"):
            SelectiveBernoulliNB(k=1, always_keep=always_keep).fit(twice, Y)
    SelectiveBernoulliNB(k=1, always_keep=2).fit(twice.to_numpy(), Y)


def test_a_column_that_the_threshold_would_not_have_kept():
    table = NAMED.assign(a=Y, b=1 - Y, d=Y, e=Y)
    model = SelectiveBernoulliNB(threshold=0.9, preselected_from=100)
    with pytest.raises(
        ValueError, match=r"column 2 \('c'\) has an absolute correlation of 0\.\d+, which"
    ):
        model.fit(table, Y)
    model.set_params(always_keep="c").fit(table, Y)


@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_infinite_values(value):
    table = NAMED.astype("float64")
    table.iloc[7, 3] = value
    with pytest.raises(ValueError, match=r"column 3 \('d'\) has infinity.* in row 7"):
        SelectiveBernoulliNB().fit(table, Y)
    model = SelectiveBernoulliNB().fit(NAMED, Y)
    with pytest.raises(ValueError, match=r"column 3 \('d'\) has infinity.* in row 7"):
        model.predict(table)


@pytest.mark.parametrize("value", [np.nan, None, pd.NA])
def test_missing_values_of_any_kind_are_left_out(value):
    table = NAMED.astype("float64" if value is not pd.NA else "Float64")
    table.iloc[7, 3] = value
    model = SelectiveBernoulliNB().fit(table, Y)
    plain = NAMED.to_numpy(dtype=float, copy=True)
    plain[7, 3] = np.nan
    twin = SelectiveBernoulliNB().fit(plain, Y)
    np.testing.assert_array_equal(model.predict_proba(table), twin.predict_proba(plain))


@pytest.mark.parametrize("value", ["high", "", b"x", [1]])
def test_columns_that_are_not_numbers(value):
    message = rf"column 1 \('b'\) has {re.escape(repr(value))} in row 4, which is not a number"
    changed = NAMED.astype(object)
    changed.iat[4, 1] = value
    with pytest.raises((ValueError, TypeError), match=message):
        SelectiveBernoulliNB().fit(changed, Y)
    with pytest.raises((ValueError, TypeError), match=message):
        SelectiveBernoulliNB().fit(NAMED, Y).predict(changed)


def test_values_other_than_bits_where_only_bits_are_taken():
    table = NAMED.copy()
    table.loc[5, "c"] = 2
    with pytest.raises(
        ValueError, match=r"column 2 \('c'\) has the value 2 in row 5, but binarize=None"
    ):
        SelectiveBernoulliNB(binarize=None).fit(table, Y)
    model = SelectiveBernoulliNB(binarize=None).fit(NAMED, Y)
    with pytest.raises(
        ValueError, match=r"column 2 \('c'\) has the value 2 in row 5, but binarize=None"
    ):
        model.predict(table)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (np.where(np.arange(20) == 6, np.nan, Y), "y contains NaN.*first in row 6"),
        (np.where(np.arange(20) == 6, None, Y.astype(object)), "y contains NaN.*first in row 6"),
        (np.zeros(20), r"y holds one class only, 0\.0"),
        (np.array(["x"] * 20), r"y holds one class only"),
        (np.linspace(0, 1, 20), "Unknown label type: continuous"),
        (Y[:19], r"inconsistent numbers of samples: \[20, 19\]"),
        (None, "requires y to be passed, but the target y is None"),
    ],
)
def test_labels(y, message):
    with pytest.raises(ValueError, match=message):
        SelectiveBernoulliNB().fit(NAMED, y)


def test_one_row_and_no_columns():
    with pytest.raises(ValueError, match="one class only"):
        SelectiveBernoulliNB().fit(NAMED[:1], Y[:1])
    with pytest.raises(
        ValueError, match=r"0 feature\(s\) \(shape=\(20, 0\)\) while a minimum of 1"
    ):
        SelectiveBernoulliNB().fit(X[:, :0], Y)
    with pytest.raises(ValueError, match=r"0 sample\(s\)"):
        SelectiveBernoulliNB().fit(X[:0], Y[:0])


def test_new_tables_with_missing_renamed_or_reordered_columns():
    model = SelectiveBernoulliNB(k=2).fit(NAMED, Y)
    with pytest.raises(ValueError, match=r"(?s)now missing.*- c"):
        model.predict(NAMED.drop(columns="c"))
    with pytest.raises(ValueError, match=r"(?s)unseen at fit time:\n- z.*now missing:\n- c"):
        model.predict(NAMED.rename(columns={"c": "z"}))
    with pytest.raises(ValueError, match="must be in the same order"):
        model.predict(NAMED[list("edcba")])
    with pytest.raises(
        ValueError, match="X has 4 features, but SelectiveBernoulliNB is expecting 5"
    ):
        SelectiveBernoulliNB(k=2).fit(X, Y).predict(X[:, :4])


def test_nothing_works_before_fit():
    model = SelectiveBernoulliNB(k=2)
    for method in (model.predict, model.predict_proba, model.transform, model.expected_error):
        with pytest.raises(NotFittedError):
            method(X)
    for method in (model.get_support, model.panel, model.get_feature_names_out):
        with pytest.raises(NotFittedError):
            method()


FAILING = [
    ({"k": 99}, (NAMED, Y)),
    ({"always_keep": ["zz"]}, (NAMED, Y)),
    ({"preselected_from": 50, "threshold": 0.99, "k": None}, (NAMED, Y)),
    ({}, (replaced(0, 0, np.inf), Y)),
    ({}, (replaced(0, 0, "q"), Y)),
    ({}, (NAMED.iloc[:, :3], np.zeros(20))),
    ({}, (X[:, :0], Y)),
]


def fitted_state(model):
    return {name: value for name, value in vars(model).items() if name not in model.get_params()}


@pytest.mark.parametrize(("parameters", "arguments"), FAILING, ids=range(len(FAILING)))
def test_a_failed_fit_leaves_a_fitted_estimator_as_it_was(parameters, arguments):
    model = SelectiveBernoulliNB(k=2).fit(NAMED, Y)
    before = fitted_state(model)
    predictions = model.predict_proba(NAMED)
    model.set_params(**parameters)
    with pytest.raises(ValueError):  # noqa: PT011 - which one is tested above
        model.fit(*arguments)
    after = fitted_state(model)
    assert after.keys() == before.keys()
    assert all(after[name] is before[name] for name in before)
    np.testing.assert_array_equal(model.predict_proba(NAMED), predictions)


def test_a_second_fit_forgets_the_first():
    model = SelectiveBernoulliNB(k=2).fit(NAMED, Y)
    model.fit(X[:, :3], 1 - Y)
    assert not hasattr(model, "feature_names_in_")
    assert model.n_features_in_ == 3
    assert model.binarize_thresholds_.shape == (2,)


@pytest.mark.parametrize(
    ("column", "shown"),
    [
        (pd.Categorical(["u", "v"] * 10), "'u'"),
        (pd.Series(["1", "x"] * 10, dtype="string"), "'x'"),
        (pd.date_range("2020", periods=20), r"(Timestamp|datetime|\d+)"),
    ],
    ids=["categorical", "string", "dates"],
)
def test_other_kinds_of_columns_are_named(column, shown):
    table = NAMED.assign(c=column)
    model = SelectiveBernoulliNB(k=1).fit(NAMED, Y)
    kept = SelectiveBernoulliNB(always_keep="c", k=1).fit(NAMED, Y)
    for call in (
        lambda: SelectiveBernoulliNB().fit(table, Y),
        lambda: model.predict(table),
        lambda: kept.panel().predict(table),
        lambda: model.transform(table),
    ):
        with pytest.raises(
            (ValueError, TypeError), match=rf"column \d \('c'\) has {shown}.* in row"
        ):
            call()


def test_polars_columns_are_named():
    table = pl.DataFrame({"a": Y, "b": ["q"] * 20})
    with pytest.raises(ValueError, match=r"column 1 \('b'\) has 'q' in row 0"):
        SelectiveBernoulliNB().fit(table, Y)
    endless = pl.DataFrame({"a": Y, "b": [np.inf, *[1.0, 0.0] * 9, 1.0]})
    with pytest.raises(ValueError, match=r"column 1 \('b'\) has infinity in row 0"):
        SelectiveBernoulliNB().fit(endless, Y)


@pytest.mark.parametrize("missing", [pd.NA, None, np.nan, np.inf])
@pytest.mark.parametrize("shape", [(20,), (20, 1)])
def test_missing_labels_of_any_kind(missing, shape):
    y = Y.astype(object)
    y[6] = missing
    with pytest.raises(ValueError, match=r"y contains NaN or infinity: 1 of 20.*first in row 6"):
        SelectiveBernoulliNB().fit(X, y.reshape(shape))


def test_a_wrong_length_of_y_is_not_blamed_on_a_column():
    holed = NAMED.astype(object)
    holed.iloc[0, 0] = None
    with pytest.raises(ValueError, match=r"^Found input variables with inconsistent"):
        SelectiveBernoulliNB().fit(holed, Y[:19])


def test_transform_names_what_is_infinite():
    model = SelectiveBernoulliNB(k=2).fit(NAMED, Y)
    endless = NAMED.astype(float)
    endless.iloc[3, 2] = np.inf
    with pytest.raises(ValueError, match=r"column 2 \('c'\) has infinity in row 3"):
        model.transform(endless)


def test_columns_named_by_numbers_count_by_position_and_may_not_repeat():
    model = SelectiveBernoulliNB(k=1, always_keep=[0])
    assert 0 in model.fit(pd.DataFrame(X, columns=[4, 3, 2, 1, 0]), Y).selection_.indices
    with pytest.raises(ValueError, match="3 is the name of more than one column: 1, 2"):
        model.fit(pd.DataFrame(X, columns=[4, 3, 3, 1, 0]), Y)
