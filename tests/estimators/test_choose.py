"""Which model goes with which data, and what is said where one does not."""

import decimal

import numpy as np
import pytest

from unselected.estimators.choose import choose_model, numbers_of, response_for

BITS = np.array([[0, 1], [1, 1], [0, 0]] * 8, dtype=np.uint8)
REAL = BITS + 0.5
HOLES = np.where(np.eye(24, 2) > 0, np.nan, BITS)
N = len(BITS)


def texts(*labels):
    return np.array([labels[i % len(labels)] for i in range(N)], dtype=object)


@pytest.mark.parametrize(
    ("X", "y", "name", "reason"),
    [
        (BITS, texts("a", "b"), "bernoulli", "two classes, and all features are 0 or 1"),
        (BITS.astype(bool), np.arange(N) % 2, "bernoulli", "two classes"),
        (BITS.astype(float), np.arange(N) % 2 == 0, "bernoulli", "two classes"),
        (BITS, texts(1.5, 2.5).astype(float), "bernoulli", "two classes"),
        (REAL, texts("a", "b"), "gaussian", "bernoulli would cut them at their median"),
        (2 * BITS, texts("a", "b"), "gaussian", "bernoulli would cut them at their median"),
        (HOLES, texts("a", "b"), "bernoulli", "two classes, and all features are 0 or 1"),
        (HOLES + 0.5, texts("a", "b"), "gaussian", "missing values"),
        (BITS, texts("a", "b", "c"), "bernoulli", "3 classes, and all features are 0 or 1"),
        (HOLES, texts("a", "b", "c"), "bernoulli", "3 classes"),
        (BITS, texts(*"abcdefghijklmnop"), "bernoulli", "16 classes"),
        (BITS, np.arange(N) % 3, "bernoulli", "3 distinct whole numbers are treated as classes"),
        (REAL, texts("a", "b", "c"), "gaussian", "3 classes"),
        (REAL, np.arange(N) % 10, "gaussian", "10 distinct whole numbers are treated as classes"),
        (REAL, np.arange(N) % 10.0, "gaussian", "regressor would treat them as numbers"),
        (REAL, np.arange(N) % 11, "regression", "11 distinct numbers"),
        (BITS, np.arange(N) % 3 + 0.5, "regression", "not whole"),
        (REAL, texts("1.50", "2", "-3e2"), "regression", "not whole"),
        (REAL, texts("01", "02", "03"), "gaussian", "3 distinct whole numbers"),
        (REAL, texts("1.5", "2", "high"), "gaussian", "3 classes"),
        (REAL, texts("1_0", "2.5", "3"), "gaussian", "3 classes"),
        (REAL, texts("nan", "inf", "3"), "gaussian", "3 classes"),
        (REAL, texts("a"), "gaussian", "one class"),
    ],
)
def test_the_model_follows_from_the_data(X, y, name, reason):
    found, why = choose_model(X, y)
    assert found == name
    assert reason in why


def test_numbers_of_any_type():
    assert numbers_of(np.array([1, 2], dtype=np.uint8)).tolist() == [1.0, 2.0]
    exact = np.array([decimal.Decimal("1.5"), decimal.Decimal(2)], dtype=object)
    assert numbers_of(exact).tolist() == [1.5, 2.0]
    assert numbers_of(np.array([True, False])) is None
    assert numbers_of(np.array([None, 1.0], dtype=object)) is None


def test_a_response_is_returned_as_the_model_takes_it():
    labels = texts("a", "b")
    assert response_for("bernoulli", labels) is labels
    assert response_for("gaussian", labels) is labels
    assert response_for("regression", texts("1.50", "2")).tolist()[:2] == [1.5, 2.0]
    halves = response_for("gaussian", np.arange(N) % 2 + 0.5)  # scikit-learn refuses these
    assert sorted(set(halves.tolist())) == ["0.5", "1.5"]


@pytest.mark.parametrize(
    ("model", "y", "message"),
    [
        ("regression", texts("1", "high"), "it is 'high' in case 2: use classifier"),
        ("regression", np.arange(N) % 2 == 0, "it is True in case 1"),
        ("bernoulli", np.arange(N) + 0.5, "24 distinct numbers .* use regressor"),
        ("gaussian", np.arange(N) + 0.5, "24 distinct numbers .* use regressor"),
    ],
)
def test_a_model_that_does_not_go_with_the_data_is_refused(model, y, message):
    with pytest.raises(ValueError, match=message):
        response_for(model, y)
