"""Fitted models of every kind that has a calculator, and random new cases for them."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from unselected import (
    SelectiveBernoulliNB,
    SelectiveClassifier,
    SelectiveGaussianNB,
    SelectiveNaiveRegressor,
    SelectiveRegressor,
)
from unselected.cli.fitting import selection_of
from unselected.files.models import SavedModel, load_model, save_model
from unselected.fitted.covariate_table import CovariateTable

N, P, K = 60, 60, 6


def bits(rng, n_classes=2):
    y = np.arange(N) % n_classes
    X = (rng.random((N, P)) < 0.4).astype(float)
    for j in range(8):
        X[:, j] = rng.random(N) < 0.2 + 0.5 * ((y + j) % n_classes) / (n_classes - 1)
    return X, np.array(["low", "mid", "high"])[y]


def genotypes(rng, n_classes=2, missing=0.0):
    y = np.arange(N) % n_classes
    rates = np.full((N, P), 0.3)
    for j in range(8):
        rates[:, j] = 0.1 + 0.5 * ((y + j) % n_classes) / (n_classes - 1)
    X = rng.binomial(2, rates).astype(float)
    X[:, 2:4] = np.where(rng.random((N, 1)) < 0.5, X[:, :1], X[:, 2:4])
    X[rng.random(X.shape) < missing] = np.nan
    return X, np.array(["low", "mid", "high"])[y]


def reals(rng, n_classes=2, missing=0.0):
    y = np.arange(N) % n_classes
    X = rng.normal(size=(N, P))
    X[:, :10] += rng.normal(size=(n_classes, 10))[y]
    X[:, :4] += rng.normal(size=(N, 1))
    X[rng.random(X.shape) < missing] = np.nan
    return X, np.array(["low", "mid", "high"])[y]


def mixed(rng, n_classes=2):
    """Columns of both families, of which the real-valued ones are skewed."""
    X, y = reals(rng, n_classes)
    return np.hstack([np.exp(X), bits(rng, n_classes)[0]]), y


def counted(rng, n_classes=2):
    """Classes by how many of five bits are 1, of which a logistic regression says most."""
    X = rng.normal(size=(200, P))
    X[:, :5] = rng.random((200, 5)) < 0.5
    y = np.digitize(X[:, :5].sum(axis=1), [3] if n_classes == 2 else [2, 4])
    return X, np.array(["low", "mid", "high"])[y]


def weighted_words(rng):
    """Weights of words that occur in few texts, and real-valued columns."""
    X, y = reals(rng)
    words = rng.random((N, P)) < np.where(
        np.arange(P) < 8, 0.05 + 0.35 * (y == "low")[:, None], 0.1
    )
    return np.hstack([words * rng.lognormal(size=words.shape), X]), y


def numbers(rng, missing=0.0):
    X, _ = reals(rng)
    y = 50.0 + 6.0 * (X[:, 0] + 0.5 * X[:, 1] - X[:, 9] + rng.normal(size=N))
    X[rng.random(X.shape) < missing] = np.nan
    return X, y


def skewed_numbers(rng):
    X, y = numbers(rng)
    return np.exp(X), y


def skewed_response(rng):
    X, y = numbers(rng)
    return X, np.exp((y - 50.0) / 6.0)


def covariates(rng, n):
    return {
        "age": rng.integers(30, 80, n),
        "batch": rng.choice(["b1", "b2", "b3"], n),
        "treated": rng.random(n) < 0.5,
    }


@dataclass(frozen=True)
class Kind:
    """How a model is fitted."""

    estimator: Any
    data: Any
    options: dict[str, Any]
    given_covariates: bool = False


def _kind(estimator, data, *, given_covariates=False, **options):
    return Kind(estimator, data, options, given_covariates)


def _genotypes(data=genotypes, **options):
    return _kind(SelectiveBernoulliNB, data, family="genotype", **options)


def three(data):
    return lambda rng: data(rng, 3)


def gaps(data):
    return lambda rng: data(rng, missing=0.05)


KINDS = {
    "bits": _kind(SelectiveBernoulliNB, bits),
    "bits, three classes": _kind(SelectiveBernoulliNB, three(bits)),
    "bits, sparse": _kind(SelectiveBernoulliNB, bits, prior="sparse"),
    "bits, sparse, three classes": _kind(SelectiveBernoulliNB, three(bits), prior="sparse"),
    "bits, rates given": _kind(SelectiveBernoulliNB, bits, rates="given"),
    "bits, tempered": _kind(SelectiveBernoulliNB, bits, dependence="tempered"),
    "bits, correlated": _kind(SelectiveBernoulliNB, bits, dependence="correlated"),
    "bits, covariates": _kind(
        SelectiveBernoulliNB, bits, given_covariates=True, dependence="correlated"
    ),
    "genotypes": _genotypes(),
    "genotypes with gaps": _genotypes(gaps(genotypes)),
    "genotypes, three classes": _genotypes(three(genotypes)),
    "genotypes, sparse": _genotypes(prior="sparse"),
    "genotypes with gaps, sparse": _genotypes(gaps(genotypes), prior="sparse"),
    "genotypes, sparse, three classes": _genotypes(three(genotypes), prior="sparse"),
    "genotypes, rates given": _genotypes(rates="given"),
    "genotypes, tempered": _genotypes(dependence="tempered"),
    "genotypes with gaps, correlated": _genotypes(gaps(genotypes), dependence="correlated"),
    "real numbers": _kind(SelectiveGaussianNB, reals),
    "real numbers, three classes": _kind(SelectiveGaussianNB, three(reals)),
    "real numbers, shrunk": _kind(SelectiveGaussianNB, reals, variance_shrinkage=5.0),
    "real numbers, sparse": _kind(SelectiveGaussianNB, reals, prior="sparse"),
    "real numbers with gaps, sparse": _kind(SelectiveGaussianNB, gaps(reals), prior="sparse"),
    "real numbers, sparse, three classes": _kind(SelectiveGaussianNB, three(reals), prior="sparse"),
    "real numbers, tempered": _kind(SelectiveGaussianNB, reals, dependence="tempered"),
    "real numbers with gaps, correlated": _kind(
        SelectiveGaussianNB, gaps(reals), dependence="correlated"
    ),
    "real numbers, covariates": _kind(SelectiveGaussianNB, reals, given_covariates=True),
    "real numbers, covariates, three classes": _kind(
        SelectiveGaussianNB, three(reals), given_covariates=True, dependence="correlated"
    ),
    "real numbers, sparse, covariates": _kind(
        SelectiveGaussianNB, reals, given_covariates=True, prior="sparse"
    ),
    "classifier": _kind(SelectiveClassifier, mixed),
    "classifier, three classes": _kind(SelectiveClassifier, three(mixed)),
    "classifier, counted bits": _kind(SelectiveClassifier, counted),
    "classifier, counted bits, three classes": _kind(SelectiveClassifier, three(counted)),
    "classifier, weighted words": _kind(SelectiveClassifier, weighted_words),
    "classifier, covariates": _kind(SelectiveClassifier, reals, given_covariates=True),
    "regression": _kind(SelectiveNaiveRegressor, numbers),
    "regression with gaps": _kind(SelectiveNaiveRegressor, gaps(numbers)),
    "regression, shrunk": _kind(SelectiveNaiveRegressor, numbers, variance_shrinkage=5.0),
    "regression, sparse": _kind(SelectiveNaiveRegressor, numbers, prior="sparse"),
    "regression, covariates": _kind(SelectiveNaiveRegressor, numbers, given_covariates=True),
    "regressor": _kind(SelectiveRegressor, skewed_numbers),
    "regressor, covariates": _kind(SelectiveRegressor, numbers, given_covariates=True),
    "regressor, skewed response": _kind(SelectiveRegressor, skewed_response),
}


def saved_model(name, folder) -> tuple[SavedModel, Any]:
    """Fit a model, write its file and read it again; return it with its kept training columns."""
    kind, rng = KINDS[name], np.random.default_rng(3)
    X, y = kind.data(rng)
    given = {"covariates": covariates(rng, N)} if kind.given_covariates else {}
    model = kind.estimator(k=K, **kind.options).fit(X, y, **given)
    path = folder / "model.json"
    write_model(model, path)
    return load_model(path), X[:, model.selection_.indices]


def write_model(model, path):
    """Write the model file of an estimator."""
    provenance = {"unselected": "0.2.0", "created": "2026-11-18T00:00:00+00:00"}
    save_model(model.panel().predictor, path, selection=selection_of(model), provenance=provenance)


def new_cases(saved, kept, n, *, spread=0.7):
    """Return rows near the training cases, with missing values, and coded covariates behind."""
    rng = np.random.default_rng(1)
    base = kept[rng.integers(0, len(kept), n)]
    is_count = np.all(np.isin(kept, (0.0, 1.0, 2.0)) | np.isnan(kept), axis=0)
    moved = base + spread * np.nanstd(kept, axis=0) * rng.normal(size=base.shape)
    rows = np.where(is_count, base, moved)
    rows[rng.random(rows.shape) < 0.08] = np.nan
    coding = saved.predictor.coding
    if coding is None:
        return rows
    return np.hstack([rows, coding.encode(CovariateTable.read(covariates(rng, n)))])
