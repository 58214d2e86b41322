"""Data sets whose findings several modules of tests look at: each is examined once."""

import matplotlib as mpl
import matplotlib.pyplot
import numpy as np
import pytest
from pages import FEW

mpl.use("agg")

from unselected import SelectiveBernoulliNB, SelectiveGaussianNB, SelectiveNaiveRegressor
from unselected.datasets import make_paper_simulation
from unselected.report import examine, examine_regression, report


@pytest.fixture(autouse=True)
def close_figures():
    yield
    mpl.pyplot.close("all")


@pytest.fixture(scope="session")
def two_classes(small_rivals):  # noqa: ARG001
    """Bits of two classes, with all methods."""
    data = make_paper_simulation(60, 1, 200, concentration=20.0, random_state=2)
    return examine(
        data.X_train,
        np.where(data.y_train == 1, "tumour", "normal"),
        classifier=SelectiveBernoulliNB(k=10),
        names=[f"<gene {j}>" for j in range(200)],
        n_splits=3,
        n_repeats=2,
        seed=5,
        provenance={"input": "genes & co.csv", "sha256": "ab12"},
    )


@pytest.fixture(scope="session")
def page_of_two(two_classes):
    return report(two_classes, title="genes & tumours")


@pytest.fixture(scope="session")
def three_classes(small_rivals):  # noqa: ARG001
    """Real-valued features of three classes, one value missing."""
    rng = np.random.default_rng(3)
    codes = np.arange(45) % 3
    X = rng.normal(size=(45, 100))
    X[:, :5] += 1.5 * rng.normal(size=(3, 5))[codes]
    X[4, 2] = np.nan
    y = np.array(["a", "<b>", "c"])[codes]
    names = [f"<gene {j}>" for j in range(100)]
    classifier = SelectiveGaussianNB(k=4, always_keep=[2])
    settings = {"names": names, "n_splits": 2, "n_repeats": 2, "methods": FEW}
    return X, y, examine(X, y, classifier=classifier, **settings)


@pytest.fixture(scope="session")
def numbers(small_rivals):  # noqa: ARG001
    """A real response, by the paper's model."""
    rng = np.random.default_rng(1)
    y = 100 + 5 * rng.normal(size=60)
    X = rng.normal(size=(60, 500))
    X[:, :8] += 0.12 * (y[:, np.newaxis] - 100)
    X[3, 1] = np.nan
    names = [f"<gene {j}>" for j in range(500)]
    regressor = SelectiveNaiveRegressor(k=10, always_keep=[1])
    settings = {"n_splits": 2, "n_repeats": 2, "provenance": {"input": "a & b.csv"}}
    return X, y, examine_regression(X, y, regressor=regressor, names=names, **settings)


@pytest.fixture(scope="session")
def page_of_numbers(numbers):
    return report(numbers[2], title="numbers & co")
