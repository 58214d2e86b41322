"""Whole fits against what people use today, and reading a text file."""

import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_selection import SelectKBest, f_classif, f_regression
from sklearn.linear_model import BayesianRidge
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.pipeline import make_pipeline
from timing import cpu_seconds, peak_bytes, random_bits, random_reals, report, seconds, two_classes

from unselected import (
    SelectiveBernoulliNB,
    SelectiveGaussianNB,
    SelectiveNaiveRegressor,
    SelectiveRegressor,
)
from unselected.datasets import make_paper_simulation
from unselected.files.tables import read_table
from unselected.models.gaussian import GaussianModel
from unselected.numerics.one_thread import one_blas_thread


def usual(k: int, model: Any = None) -> Any:
    """Return what people use today."""
    return make_pipeline(SelectKBest(f_classif, k=k), model or BernoulliNB())


def bench_paper_size(_: int, repetitions: int) -> None:
    """Fit and predict at the size of the paper's simulation."""
    data = make_paper_simulation(random_state=0)

    def work(model: Any) -> Callable[[], object]:
        return lambda: model.fit(data.X_train, data.y_train).predict_proba(data.X_test)

    for k, goal in ((1, None), (10, 4), (100, None), (1000, 2)):
        ours, theirs = seconds(
            work(SelectiveBernoulliNB(k=k)), work(usual(k)), repetitions=repetitions
        )
        aim = "" if goal is None else f"at most {goal}"
        report(f"fit + predict, p = 10000, n = 200, k = {k}", ours, theirs, ours / theirs, aim)


def bench_wide(p: int, repetitions: int) -> None:
    """Fit to a million columns of 0 and 1: time against the pipeline, and memory."""
    X, y = random_bits(200, p), two_classes(200)
    model, size = SelectiveBernoulliNB(k=100), f"p = {p}, n = 200 uint8"
    ours, theirs = compare_fits(model, usual(100), X, y, repetitions)
    report(f"{size}, k = 100: whole fit", ours, theirs, theirs / ours, "at least 20 (times faster)")
    report_memory(size, model, X, y)


def bench_wide_real(p: int, repetitions: int) -> None:
    """Fit to a million real-valued columns: time against the pipeline, and memory."""
    X, y = random_reals(200, p), two_classes(200)
    model, size = SelectiveGaussianNB(k=100), f"p = {p}, n = 200 float32"
    ours, theirs = compare_fits(model, usual(100, GaussianNB()), X, y, repetitions)
    report(f"{size}, k = 100: whole fit", ours, theirs, ours / theirs, "at most 1")
    report_memory(size, model, X, y)


def bench_leave_one_out(p: int, repetitions: int) -> None:
    """Leave out each of 200 cases, against one fit; a tenth of the columns."""
    y = two_classes(200)
    for what, model, X in (
        ("uint8", SelectiveBernoulliNB(k=100), random_bits(200, p // 10)),
        ("float32", SelectiveGaussianNB(k=100), random_reals(200, p // 10)),
    ):
        fit, left_out = seconds(
            partial(model.fit, X, y), model.fit(X, y).loo_predict_proba, repetitions=repetitions
        )
        size = f"p = {X.shape[1]}, n = 200 {what}, k = 100"
        report(
            f"{size}: leave out each case, against one fit",
            left_out,
            fit,
            left_out / fit,
            "at most 30",
        )


def compare_fits(
    ours: Any, theirs: Any, X: NDArray[Any], y: NDArray[Any], repetitions: int
) -> list[float]:
    """Return the times of two fits."""
    return seconds(lambda: ours.fit(X, y), lambda: theirs.fit(X, y), repetitions=repetitions)


def report_memory(size: str, model: Any, X: NDArray[Any], y: NDArray[Any]) -> None:
    """Print the memory that a fit takes besides the table."""
    extra = peak_bytes(lambda: model.fit(X, y)) / X.nbytes
    print(f"{size}: peak extra memory {100 * extra:.1f} % of X (under 20 %)", flush=True)


def fit_and_predict(model: Any, X: NDArray[Any], y: NDArray[Any], method: str) -> Callable[[], Any]:
    """Return the work of fitting to the first rows and predicting the others."""
    n = len(y)
    return lambda: getattr(model.fit(X[:n], y), method)(X[n:])


def bench_real(_: int, repetitions: int) -> None:
    """Fit and predict with real-valued features; as many new cases as training cases."""
    for classes, goal in ((2, "at most 3"), (3, "")):
        rng = np.random.default_rng(0)
        y = np.arange(60) % classes
        X, _truth = GaussianModel().simulate_features(
            np.eye(classes)[np.tile(y, 2)], 4000, rng, tau=0.3
        )
        ours, theirs = seconds(
            fit_and_predict(SelectiveGaussianNB(k=500), X, y, "predict_proba"),
            fit_and_predict(usual(500, GaussianNB()), X, y, "predict_proba"),
            repetitions=3 * repetitions,
        )
        what = f"fit + predict, real, p = 4000, n = 60, k = 500, {classes} classes"
        report(what, ours, theirs, ours / theirs, goal)


def bench_real_response(_: int, repetitions: int) -> None:
    """Fit and predict a real response, against selection and Bayesian ridge regression."""
    X, y = _linear(60, 4000, 1.0)
    for k in (5, 50, 500):
        other = make_pipeline(SelectKBest(f_regression, k=k), BayesianRidge())
        ours, theirs = seconds(
            fit_and_predict(SelectiveNaiveRegressor(k=k), X, y[:60], "predict"),
            fit_and_predict(other, X, y[:60], "predict"),
            repetitions=repetitions,
        )
        what = f"fit + predict, real response, p = 4000, n = 60, k = {k}"
        report(what, ours, theirs, ours / theirs, "")
    for share in (1.0, 0.002):
        X, y = _linear(71, 4088, share)
        for k in (5, 20, 100, 500):
            _bench_priors(X, y, k, f"{100 * share:g} % related, k = {k}")
    _bench_answers()


def _linear(n: int, p: int, share: float) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return twice n cases; a share of the features is related to the response."""
    rng = np.random.default_rng(0)
    y = rng.normal(size=2 * n)
    model = GaussianModel(least_fraction=1.0 / p)
    tau = 0.3 if share == 1.0 else 1.0
    codes = (y / y[:n].std())[:, np.newaxis]
    X, _truth = model.simulate_features(codes, p, rng, tau=tau, fraction=share)
    return X, y


def _bench_priors(X: NDArray[Any], y: NDArray[Any], k: int, what: str) -> None:
    """Compare the two-group prior with the common one, in CPU time: fit, and prediction of a row.

    The fastest of some repetitions counts, because machines are shared. Linear algebra has one
    thread: others, left from the work before, would wait for more in processor time.
    """
    with one_blas_thread():
        _compare_priors(X, y, k, what)


def _compare_priors(X: NDArray[Any], y: NDArray[Any], k: int, what: str) -> None:
    n = len(y) // 2
    models = [SelectiveNaiveRegressor(k=k, prior=prior) for prior in ("sparse", "common")]
    fits = [partial(model.fit, X[:n], y[:n]) for model in models]
    ours, theirs = cpu_seconds(*fits, repetitions=5)
    report(f"fit, two groups; common prior, {what}", ours, theirs, ours / theirs, "at most 4")
    rows, responses = X[n:], y[n:]
    for asked, predictions in (
        ("predict", [partial(model.predict, rows) for model in models]),
        ("log density of", [partial(m.predict_log_density, rows, responses) for m in models]),
        ("three quantiles of", [partial(m.predict_quantiles, rows) for m in models]),
    ):
        taken = cpu_seconds(*predictions, repetitions=5)
        ours, theirs = (each / len(rows) for each in taken)
        named = f"{asked} a row, two groups; common prior, {what}"
        report(named, ours, theirs, ours / theirs, "at most 4; other/ms < 0.5")


def _bench_answers() -> None:
    """Time what is predicted of a row by an average over regressions of 500 features."""
    X, y = _linear(71, 4088, 1.0)
    model, rows = SelectiveRegressor(k=500).fit(X[:71], y[:71]), X[71:]
    works: dict[str, Callable[[], object]] = {
        "mean and standard deviation": partial(model.predict, rows, return_std=True),
        "three quantiles": partial(model.predict_quantiles, rows, [0.05, 0.5, 0.95]),
        "log density": partial(model.predict_log_density, rows, y[71:]),
    }
    mean, *times = cpu_seconds(partial(model.predict, rows), *works.values(), repetitions=7)
    for what, taken in zip(works, times, strict=True):
        ours, theirs = taken / len(rows), mean / len(rows)
        what = f"SelectiveRegressor(k=500), a row: {what}; mean"
        report(what, ours, theirs, ours / theirs, "ours/ms < 0.5")


def bench_reading(_: int, repetitions: int) -> None:
    """Read a wide CSV of 0 and 1, against numpy.loadtxt."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, size=(100, 50_000))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "wide.csv"
        header = ",".join(f"x{j}" for j in range(X.shape[1]))
        np.savetxt(path, X, fmt="%d", delimiter=",", header=header, comments="")
        ours, theirs = seconds(
            lambda: read_table(path),
            lambda: np.loadtxt(path, delimiter=",", skiprows=1, dtype=np.uint8),
            repetitions=repetitions,
        )
    report(
        "read a 100 x 50000 CSV, against numpy.loadtxt", ours, theirs, ours / theirs, "at most 3"
    )
