"""The front doors: against logistic and ridge regression, and against the exact model."""

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_selection import SelectKBest, f_classif, f_regression
from sklearn.linear_model import BayesianRidge, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from timing import cpu_seconds, peak_bytes, random_bits, random_reals, report, seconds, two_classes

from unselected import SelectiveBernoulliNB, SelectiveClassifier, SelectiveRegressor


def bench_front_door(wide: int, repetitions: int) -> None:
    """Fit and predict tables of expression data, and a wide table of 0 and 1."""
    few = max(1, repetitions // 3)
    _bench_real(77, 7129, 20, "at most 3 s", few)
    _bench_real(77, 7129, "auto", "at most 20 s", few)
    _bench_real(200, 20000, "auto", "at most 90 s", few)
    _bench_response(71, 4088, 20, "at most 3 s", few)
    _bench_response(71, 4088, "auto", "at most 20 s", few)
    _bench_bits(200, wide, 100, few)


def _bench_bits(n: int, p: int, k: int, repetitions: int) -> None:
    """Compare with the exact model, whose fit reads the table once; also in processor time."""
    bits, y = random_bits(n, p), two_classes(n)
    models = (SelectiveClassifier(k=k), SelectiveBernoulliNB(k=k))
    works = [partial(model.fit, bits, y) for model in models]
    works[0]()  # loads what is compiled
    what = f"front door, fit, uint8, n = {n}, p = {p}, k = {k}; exact model"
    for measure, unit in ((seconds, ""), (cpu_seconds, ", CPU")):
        ours, theirs = measure(*works, repetitions=repetitions)
        report(what + unit, ours, theirs, ours / theirs, "at most 3")
    print(f"    memory besides the table: {peak_bytes(works[0]) / 2**20:.0f} MB (under 1 GB)")


def _bench_real(n: int, p: int, k: Any, goal: str, repetitions: int) -> None:
    X, y = random_reals(n, p).astype(np.float64), two_classes(n)
    X[:, :20] += 0.7 * y[:, np.newaxis]
    selecting = SelectKBest(f_classif, k=20)
    other = make_pipeline(StandardScaler(), selecting, LogisticRegression(max_iter=2000))
    works = [partial(_fit_and_predict, model, X, y) for model in (SelectiveClassifier(k=k), other)]
    ours, theirs = seconds(*works, repetitions=repetitions)
    what = f"front door, fit + predict, real, n = {n}, p = {p}, k = {k}; logistic"
    report(what, ours, theirs, ours / theirs, goal)
    print(f"    memory besides the table: {peak_bytes(works[0]) / 2**20:.0f} MB (under 1 GB)")


def _bench_response(n: int, p: int, k: Any, goal: str, repetitions: int) -> None:
    X = random_reals(n, p).astype(np.float64)
    y = X[:, :5].sum(axis=1) + np.random.default_rng(1).normal(size=n)
    other = make_pipeline(SelectKBest(f_regression, k=20), BayesianRidge())
    works = [partial(_fit_response, model, X, y) for model in (SelectiveRegressor(k=k), other)]
    ours, theirs = seconds(*works, repetitions=repetitions)
    what = f"front door, fit + predict, response, n = {n}, p = {p}, k = {k}; ridge"
    report(what, ours, theirs, ours / theirs, goal)
    print(f"    memory besides the table: {peak_bytes(works[0]) / 2**20:.0f} MB (under 1 GB)")


def _fit_response(model: Any, X: NDArray[Any], y: NDArray[Any]) -> Any:
    return model.fit(X, y).predict(X)


def _fit_and_predict(model: Any, X: NDArray[Any], y: NDArray[Any]) -> Any:
    return model.fit(X, y).predict_proba(X)
