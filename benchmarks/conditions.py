"""The event of a model by simulation: injections that are reweighted, and plain simulation."""

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray
from timing import report

from unselected.condition import SelectionProbability

N_CASES, P, K = 60, 10_000, 100
LARGEST_SE = 0.3
TAU = 0.2
# Seconds aimed at, on two cores.
_GOAL = 60.0

Y = np.arange(N_CASES) % 2


def simulate(parameters: Any, n: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw features whose class means differ by tau times a standard normal number."""
    effect = float(parameters["tau"]) * rng.standard_normal(n)
    columns = rng.standard_normal((N_CASES, n))
    columns += (Y - 0.5)[:, np.newaxis] * effect
    return columns


def t_statistic(X: NDArray[Any], y: NDArray[Any]) -> NDArray[np.float64]:
    """Return |t| of the difference between the classes."""
    between, within = summarize(X, y)
    return np.asarray(np.abs(between) / np.sqrt(within / (N_CASES - 2.0) * 4.0 / N_CASES))


def summarize(X: NDArray[Any], y: NDArray[Any]) -> NDArray[np.float64]:
    """Return the difference of the class means, and the sum of squares within classes."""
    means = [X[y == g].mean(axis=0) for g in (0, 1)]
    within = sum(((X[y == g] - means[g]) ** 2).sum(axis=0) for g in (0, 1))
    return np.array([means[1] - means[0], within])


def log_density(columns: NDArray[Any], parameters: Any) -> NDArray[np.float64]:
    """Return the log density of the difference; what is within classes does not depend on tau."""
    variance = float(parameters["tau"]) ** 2 + 4.0 / N_CASES
    return np.asarray(-0.5 * columns[0] ** 2 / variance - 0.5 * np.log(variance))


def threshold() -> float:
    """Return the smallest score of the k best of p features."""
    X = simulate({"tau": TAU}, P, np.random.default_rng(0))
    return float(np.sort(t_statistic(X, Y))[-K])


def plain_seconds(cut: float, n_draws: float) -> float:
    """Return how long plain simulation of so many features takes, from a few."""
    n, start = 1 << 17, time.process_time()
    omission = SelectionProbability(simulate, t_statistic, cut, y=Y, n_draws=n, tolerance=1e6)
    omission.diagnose({"tau": TAU})
    return (time.process_time() - start) * n_draws / n


def bench_condition(_wide: int, _repetitions: int) -> None:
    """Log event of p = 10^4, k = 100 to a standard error of 0.3: processor time."""
    cut, start = threshold(), time.process_time()
    omission = SelectionProbability(
        simulate,
        t_statistic,
        cut,
        y=Y,
        log_density=log_density,
        summarize=summarize,
        references=[{"tau": tau} for tau in (0.1, 0.3, 1.0)],
        tolerance=LARGEST_SE,
    )
    omission.log_event({"tau": TAU}, P - K)
    ours = time.process_time() - start
    known = omission.diagnose({"tau": TAU}, P - K)
    n_plain = (P - K) ** 2 * known.probability / (1.0 - known.probability) / LARGEST_SE**2
    plain = plain_seconds(cut, n_plain)
    what = (
        f"log event, n = {N_CASES}, p = {P}, k = {K}: se {known.log_event_se:.2f} from "
        f"{known.n_draws:.1e} features"
    )
    report(what, ours, plain, ours / plain, f"to plain simulation; at most {_GOAL:.0f} s")
