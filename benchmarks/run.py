"""Speed and memory as ratios within one run, next to the figures aimed at.

Machines differ and are noisy, so that everything is compared with something else measured in the
same run: scikit-learn's usual pipeline, or one plain read of the data. Medians of several
repetitions, taken in turns.
"""

import argparse
import statistics
import tempfile
import time
import tracemalloc
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_selection import SelectKBest, f_classif, f_regression
from sklearn.linear_model import BayesianRidge
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.pipeline import make_pipeline

from unselected import SelectiveBernoulliNB, SelectiveGaussianNB, SelectiveNaiveRegressor
from unselected.counting import count_classes
from unselected.datasets import make_paper_simulation
from unselected.files.tables import read_table
from unselected.models.gaussian import GaussianModel


def seconds(*works: Callable[[], object], repetitions: int) -> list[float]:
    """Return the median time of each work, the repetitions taken in turns."""
    times: list[list[float]] = [[] for _ in works]
    for _ in range(repetitions):
        for taken, work in zip(times, works, strict=True):
            start = time.perf_counter()
            work()
            taken.append(time.perf_counter() - start)
    return [statistics.median(taken) for taken in times]


def peak_bytes(work: Callable[[], object]) -> int:
    """Return the most memory that was allocated at a time during the work."""
    tracemalloc.start()
    work()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def report(what: str, ours: float, theirs: float, ratio: float, goal: str) -> None:
    """Print a row: times in milliseconds, their ratio, the goal."""
    print(f"{what:<58} {ours * 1e3:9.1f} {theirs * 1e3:9.1f} {ratio:8.2f}   {goal}")


def usual(k: int, model: Any = None) -> Any:
    """Return what people use today."""
    return make_pipeline(SelectKBest(f_classif, k=k), model or BernoulliNB())


def bench_paper_size(repetitions: int) -> None:
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


def bench_wide(n_features: int, repetitions: int) -> None:
    """Fit to a million columns: time against the pipeline and a plain read, and memory."""
    rng = np.random.default_rng(0)
    X: NDArray[np.uint8] = rng.integers(0, 2, size=(200, n_features), dtype=np.uint8)
    y = rng.permutation(np.arange(200) % 2)
    model = SelectiveBernoulliNB(k=100)
    ours, theirs = seconds(
        lambda: model.fit(X, y),
        lambda: usual(100).fit(X, y),
        repetitions=repetitions,
    )
    size = f"p = {n_features}, n = 200 uint8"
    report(f"{size}, k = 100: whole fit", ours, theirs, theirs / ours, "at least 10 (times faster)")
    counting, read = seconds(
        lambda: count_classes(X, y, "auto"), lambda: X.max(), repetitions=3 * repetitions
    )
    report(f"{size}: counting pass, against X.max()", counting, read, counting / read, "at most 3")
    extra = peak_bytes(lambda: model.fit(X, y)) / X.nbytes
    print(f"{size}: peak extra memory {100 * extra:.1f} % of X (under 20 %)")


def fit_and_predict(model: Any, X: NDArray[Any], y: NDArray[Any], method: str) -> Callable[[], Any]:
    """Return the work of fitting to the first rows and predicting the others."""
    n = len(y)
    return lambda: getattr(model.fit(X[:n], y), method)(X[n:])


def bench_real(repetitions: int) -> None:
    """Fit and predict with real-valued features; as many new cases as training cases."""
    for classes, goal in ((2, "at most 3"), (3, "")):
        rng = np.random.default_rng(0)
        y = np.arange(60) % classes
        X, _ = GaussianModel().simulate(np.eye(classes)[np.tile(y, 2)], 4000, rng, tau=0.3)
        ours, theirs = seconds(
            fit_and_predict(SelectiveGaussianNB(k=500), X, y, "predict_proba"),
            fit_and_predict(usual(500, GaussianNB()), X, y, "predict_proba"),
            repetitions=3 * repetitions,
        )
        what = f"fit + predict, real, p = 4000, n = 60, k = 500, {classes} classes"
        report(what, ours, theirs, ours / theirs, goal)


def bench_real_response(repetitions: int) -> None:
    """Fit and predict a real response, against selection and Bayesian ridge regression."""
    rng = np.random.default_rng(0)
    y = rng.normal(size=120)
    X, _ = GaussianModel().simulate((y / y[:60].std())[:, np.newaxis], 4000, rng, tau=0.3)
    for k in (5, 50, 500):
        other = make_pipeline(SelectKBest(f_regression, k=k), BayesianRidge())
        ours, theirs = seconds(
            fit_and_predict(SelectiveNaiveRegressor(k=k), X, y[:60], "predict"),
            fit_and_predict(other, X, y[:60], "predict"),
            repetitions=repetitions,
        )
        what = f"fit + predict, real response, p = 4000, n = 60, k = {k}"
        report(what, ours, theirs, ours / theirs, "")


def bench_wide_real(n_features: int, repetitions: int) -> None:
    """Fit to a million real-valued columns: time and memory."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal(size=(200, n_features), dtype=np.float32)
    y = rng.permutation(np.arange(200) % 2)
    model = SelectiveGaussianNB(k=100)
    ours, theirs = seconds(
        lambda: model.fit(X, y),
        lambda: usual(100, GaussianNB()).fit(X, y),
        repetitions=repetitions,
    )
    size = f"p = {n_features}, n = 200 float32"
    report(f"{size}, k = 100: whole fit", ours, theirs, ours / theirs, "at most 1")
    extra = peak_bytes(lambda: model.fit(X, y)) / X.nbytes
    print(f"{size}: peak extra memory {100 * extra:.1f} % of X (under 20 %)")


def bench_reading(repetitions: int) -> None:
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


def main() -> None:
    """Run all benchmarks."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=7)
    parser.add_argument("--wide", type=int, default=10**6, help="columns of the wide table")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # f_classif divides by zero on constant columns
    print(f"{'':<58} {'ours/ms':>9} {'other/ms':>9} {'ratio':>8}   goal")
    bench_paper_size(options.repetitions)
    bench_wide(options.wide, options.repetitions)
    bench_real(options.repetitions)
    bench_real_response(options.repetitions)
    bench_wide_real(options.wide, options.repetitions)
    bench_reading(options.repetitions)


if __name__ == "__main__":
    main()
