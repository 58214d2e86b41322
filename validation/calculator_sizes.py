"""Sizes of the calculators of models that keep 50 of 1000 features.

Prints a Markdown table: kB of each page, with 200 and with 1000 simulated cases, seed 0.
"""

import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unselected import (
    SelectiveBernoulliNB,
    SelectiveClassifier,
    SelectiveGaussianNB,
    SelectiveNaiveRegressor,
    SelectiveRegressor,
)
from unselected.calculator.page import calculator_page
from unselected.cli.fitting import selection_of
from unselected.files.models import load_model, save_model

K, N_FEATURES, N_RELATED = 50, 1000, 30
Table = tuple[NDArray[Any], NDArray[Any]]


def reals(n: int, n_classes: int = 2) -> Table:
    """Return features of which some differ between classes."""
    rng, y = np.random.default_rng(0), np.arange(n) % n_classes
    X = rng.normal(size=(n, N_FEATURES))
    X[:, :N_RELATED] += 0.7 * rng.normal(size=(n_classes, N_RELATED))[y]
    return X, y


def bits(n: int, n_classes: int = 2) -> Table:
    """Return the same as zeros and ones."""
    X, y = reals(n, n_classes)
    return (X > 0).astype(float), y


def genotypes(n: int, n_classes: int = 2) -> Table:
    """Return numbers of copies of an allele, of which some differ between classes."""
    X, y = reals(n, n_classes)
    return np.searchsorted([-0.25, 0.75], X).astype(float), y


def skewed(n: int, n_classes: int = 2) -> Table:
    """Return features that are far from normal."""
    X, y = reals(n, n_classes)
    return np.exp(X), y


def numbers(n: int) -> Table:
    """Return a real response."""
    X, _ = reals(n)
    return X, X[:, :10].sum(axis=1) + 2.0 * np.random.default_rng(1).normal(size=n)


def skewed_numbers(n: int) -> Table:
    """Return a real response and features that are far from normal."""
    X, y = numbers(n)
    return np.exp(X), y


def with_gaps(table: Table) -> Table:
    """Return a table of which a twentieth is missing."""
    X, y = table
    return np.where(np.random.default_rng(2).random(X.shape) < 0.05, np.nan, X), y


def pages(n: int) -> dict[str, tuple[Any, Table, dict[str, Any]]]:
    """Return estimators, tables and parameters by their names in the table."""
    bayes, real, shrunk = SelectiveBernoulliNB, SelectiveGaussianNB, {"variance_shrinkage": 5.0}
    sparse, correlated = {"prior": "sparse"}, {"dependence": "correlated"}
    alleles = {"family": "genotype"}
    naive, door = SelectiveNaiveRegressor, SelectiveClassifier
    return {
        "`SelectiveBernoulliNB`": (bayes, bits(n), {}),
        "with missing values": (bayes, with_gaps(bits(n)), {}),
        "sparse": (bayes, bits(n), sparse),
        "sparse, three classes": (bayes, bits(n, 3), sparse),
        "correlated": (bayes, bits(n), correlated),
        '`family="genotype"`': (bayes, genotypes(n), alleles),
        "genotypes with missing values": (bayes, with_gaps(genotypes(n)), alleles),
        "genotypes, three classes": (bayes, genotypes(n, 3), alleles),
        "genotypes, sparse": (bayes, genotypes(n), alleles | sparse),
        "genotypes, sparse, three classes": (bayes, genotypes(n, 3), alleles | sparse),
        "genotypes, correlated": (bayes, genotypes(n), alleles | correlated),
        "`SelectiveGaussianNB`": (real, reals(n), {}),
        "sparse ": (real, reals(n), sparse),
        "sparse, three classes, missing values": (real, with_gaps(reals(n, 3)), sparse),
        "correlated, three classes": (real, reals(n, 3), correlated),
        "`variance_shrinkage=5`": (real, reals(n), shrunk),
        "the same correlated, three classes, missing values": (
            real,
            with_gaps(reals(n, 3)),
            shrunk | correlated,
        ),
        "`SelectiveClassifier`": (door, reals(n), {}),
        "with missing values ": (door, with_gaps(reals(n)), {}),
        "skewed numbers, five classes": (door, skewed(n, 5), {}),
        "bits": (door, bits(n), {}),
        "`SelectiveNaiveRegressor`": (naive, numbers(n), {}),
        "sparse  ": (naive, numbers(n), sparse),
        "sparse, missing values": (naive, with_gaps(numbers(n)), sparse),
        "`variance_shrinkage=5` ": (naive, numbers(n), shrunk),
        "`SelectiveRegressor`": (SelectiveRegressor, numbers(n), {}),
        "skewed numbers": (SelectiveRegressor, skewed_numbers(n), {}),
        "missing values": (SelectiveRegressor, with_gaps(numbers(n)), {}),
    }


def kilobytes(estimator: Any, table: Table, parameters: dict[str, Any]) -> str:
    """Return the size of the page of a model; why there is none."""
    try:
        model = estimator(k=K, **parameters).fit(*table)
    except ValueError:
        return "refused"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        predictor, provenance = model.panel().predictor, {"unselected": "0"}
        save_model(predictor, path, selection=selection_of(model), provenance=provenance)
        return f"{len(calculator_page(load_model(path)).encode()) / 1000:.0f}"


def main() -> None:
    """Print the table."""
    warnings.simplefilter("ignore")
    few, many = pages(200), pages(1000)
    print("| model | 200 cases | 1000 cases |\n|---|---|---|")
    for name in few:
        print(
            f"| {name.strip()} | {kilobytes(*few[name])} | {kilobytes(*many[name])} |", flush=True
        )


if __name__ == "__main__":
    main()
