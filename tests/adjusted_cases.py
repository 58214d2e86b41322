"""Training cases with covariates that are related to the response and to most features."""

import numpy as np

from unselected import (
    SelectiveBernoulliNB,
    SelectiveClassifier,
    SelectiveGaussianNB,
    SelectiveNaiveRegressor,
    SelectiveRegressor,
)

# Estimators of every kind, by what they are called in tests, with the kind of response.
ESTIMATORS = {
    "gaussian": (SelectiveGaussianNB(k=5), "two"),
    "gaussian, three classes": (SelectiveGaussianNB(k=5), "three"),
    "gaussian, correlated": (SelectiveGaussianNB(k=5, dependence="correlated"), "two"),
    "gaussian, sparse": (SelectiveGaussianNB(k=5, prior="sparse"), "three"),
    "gaussian, shrunk": (SelectiveGaussianNB(k=4, variance_shrinkage=3.0), "two"),
    "bernoulli": (SelectiveBernoulliNB(k=5), "two"),
    "naive regressor": (SelectiveNaiveRegressor(k=5), "line"),
    "naive regressor, sparse": (SelectiveNaiveRegressor(k=5, prior="sparse"), "line"),
    "classifier": (SelectiveClassifier(k=5), "two"),
    "classifier, three classes": (SelectiveClassifier(k=5), "three"),
    "regressor": (SelectiveRegressor(k=5), "line"),
}


def covariates_of(rng, n):
    """A number, two levels and three levels, each of which every tenth case has."""
    return {
        "age": rng.normal(50.0, 9.0, n),
        "sex": np.where(rng.permutation(n) % 2, "f", "m"),
        "batch": np.array(list("abc"))[rng.permutation(n) % 3],
    }


def some(covariates, rows):
    return {name: values[rows] for name, values in covariates.items()}


def cases(kind, seed, n=36, p=40, missing=0.0):
    """Features (n, p), responses and covariates; values are missing in every second column."""
    rng = np.random.default_rng([seed, 17])
    covariates = covariates_of(rng, n)
    known = np.column_stack(
        [
            (covariates["age"] - 50.0) / 9.0,
            covariates["sex"] == "m",
            covariates["batch"] == "b",
            covariates["batch"] == "c",
        ]
    ).astype(float)
    if kind == "line":
        y = known[:, 0] + rng.normal(size=n)
        codes = y[:, None]
    else:
        n_classes = 2 if kind == "two" else 3
        y = (known[:, 1].astype(int) * (rng.random(n) < 0.4) + rng.permutation(n)) % n_classes
        codes = np.eye(n_classes)[y]
    X = rng.normal(size=(n, p)) + known @ rng.normal(size=(4, p))
    X += 0.7 * codes @ rng.normal(size=(codes.shape[1], p))
    X[:, ::2][rng.random(X[:, ::2].shape) < missing] = np.nan
    return X, y, covariates


def predictions(model, X, **covariates):
    """What a model says of rows, as one array with a row for each of them."""
    if hasattr(model, "predict_log_proba"):
        return model.predict_log_proba(X, **covariates)
    mean, std = model.predict(X, return_std=True, **covariates)
    at = model.predict_log_density(X, np.linspace(-2.0, 2.0, X.shape[0]), **covariates)
    return np.column_stack([mean, std, at])
