"""What `read_table` returns is taken by the estimators: as its array, with names in errors."""

import warnings

import numpy as np
import pytest

from unselected import (
    SelectiveBernoulliNB,
    SelectiveFactorRegressor,
    SelectiveGaussianNB,
    SelectiveMixtureClassifier,
    SelectiveNaiveRegressor,
)
from unselected.columns.sources import ArrayColumns
from unselected.experiments import compare, compare_regression
from unselected.files.tables import read_table

NAMES = [f"gene {j}" for j in range(12)]


def written(path, X, y):
    rows = [",".join(map(str, [label, *row])) for label, row in zip(y, X.tolist(), strict=True)]
    path.write_text("\n".join([",".join(["y", *NAMES]), *rows]) + "\n")
    return path


@pytest.fixture(params=[SelectiveBernoulliNB, SelectiveGaussianNB, SelectiveNaiveRegressor])
def case(request, tmp_path, seed):
    """An estimator, and a table for it from a file."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, 12)).round(4)
    y = np.arange(30) % 2 if request.param is not SelectiveNaiveRegressor else X[:, 0] * 2
    if request.param is SelectiveBernoulliNB:
        X = (X > 0).astype(int)
    return request.param(k=3), read_table(written(tmp_path / "t.csv", X, y.tolist()), target="y")


def test_a_table_gives_what_its_array_gives_to_the_last_bit(case):
    estimator, table = case
    by_array = type(estimator)(k=3).fit(table.X, table.y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = estimator.fit(table, table.y)
        predict = "predict" if isinstance(estimator, SelectiveNaiveRegressor) else "predict_proba"
        found = getattr(model, predict)(table)
    np.testing.assert_array_equal(found, getattr(by_array, predict)(table.X))
    np.testing.assert_array_equal(model.transform(table), by_array.transform(table.X))
    assert model.feature_names_in_.tolist() == NAMES
    assert model._fitting.table.X is table.X  # no other way of reading


def test_a_table_is_a_source(case):
    _, table = case
    assert isinstance(table, ArrayColumns)
    assert (table.shape, table.dtype) == (table.X.shape, table.X.dtype)
    assert table.origin == table.path
    np.testing.assert_array_equal(table[:, 2:5], table.X[:, 2:5])
    np.testing.assert_array_equal(table[:, np.array([4, 1])], table.X[:, [4, 1]])


def with_infinity(table):
    X = table.X.astype(np.float64)
    X[4, 7] = np.inf
    return ArrayColumns(X, table.names)


def test_errors_name_the_column(case):
    estimator, table = case
    with pytest.raises(ValueError, match=r"column 7 \('gene 7'\) has infinity in row 4"):
        estimator.fit(with_infinity(table), table.y)
    model = estimator.fit(table, table.y)
    with pytest.raises(ValueError, match=r"column 7 \('gene 7'\) has infinity in row 4"):
        model.predict(with_infinity(table))
    others = ArrayColumns(table.X, np.array(["gene 0", "x", *NAMES[2:]], dtype=object))
    with pytest.raises(
        ValueError, match="has the column 'x' where the training table has 'gene 1'"
    ):
        model.predict(others)
    with pytest.raises(ValueError, match="the table has no columns"):
        estimator.fit(ArrayColumns(table.X[:, :0], table.names[:0]), table.y)


def test_errors_inside_of_folds_name_the_column(case):
    estimator, table = case
    compared = compare_regression if isinstance(estimator, SelectiveNaiveRegressor) else compare
    kind = "regressor" if compared is compare_regression else "classifier"
    settings = {"k": 3, kind: estimator, "n_splits": 3, "n_repeats": 1, "methods": ["corrected"]}
    with pytest.raises(ValueError, match=r"column 7 \('gene 7'\) has infinity"):
        compared(with_infinity(table), table.y, **settings)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_latent_models_take_a_table(tmp_path, seed):
    X = np.random.default_rng(seed).normal(size=(20, 12)).round(3)
    table = read_table(written(tmp_path / "t.csv", X, X[:, 0].tolist()), target="y")
    settings = {"k": 3, "n_chains": 1, "n_draws": 4, "n_warmup": 2, "random_state": 0}
    model = SelectiveFactorRegressor(**settings).fit(table, table.y)
    by_array = SelectiveFactorRegressor(**settings).fit(table.X, table.y)
    np.testing.assert_array_equal(model.predict(table), by_array.predict(table.X))
    table = read_table(written(tmp_path / "b.csv", (X > 0).astype(int), X[:, 0] > 0), target="y")
    model = SelectiveMixtureClassifier(**settings).fit(table, table.y)
    by_array = SelectiveMixtureClassifier(**settings).fit(table.X, table.y)
    np.testing.assert_array_equal(model.predict_proba(table), by_array.predict_proba(table.X))
