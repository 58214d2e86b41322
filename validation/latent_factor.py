"""The slow evidence for the factor model: Geweke's test, calibration, and 20 large replicates.

Prints Markdown. `make validate` runs it; it takes some minutes, most of them in the last part.
"""

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from factor_checks import STATISTICS, factor_replicate, geweke
from scipy import stats
from sklearn.exceptions import ConvergenceWarning

from unselected import (
    SelectiveFactorClassifier,
    SelectiveFactorRegressor,
    SelectiveGaussianNB,
    SelectiveNaiveRegressor,
)
from unselected._typing import Floats
from unselected.models.factor import FactorModel
from unselected.models.factor_predictive import Kind

KINDS: tuple[Kind, ...] = ("real", "classes")
N_TRAIN, N_TEST, N_FEATURES, N_KEPT = 62, 1000, 2000, 20


class Setting(NamedTuple):
    """What tau and tau_0 are; None is a draw from the prior."""

    name: str
    tau: float | None
    tau_response: float | None


SETTINGS = (Setting("tau, tau_0 from the prior", None, None), Setting("0.4 and 1", 0.4, 1.0))


def joint_distribution(n_steps: int, seed: int) -> None:
    """Geweke's test of both chains, and of twins that forget the event where factors are drawn."""
    print("\n## Geweke's joint-distribution test\n")
    print(f"Standard errors between the chain ({n_steps} steps) and the prior given the event.\n")
    print("| response | chain | " + " | ".join(STATISTICS) + " |")
    print("|---|---|" + "---|" * len(STATISTICS))
    for kind in KINDS:
        scores = geweke(kind, n_steps, 100 * n_steps, seed)
        for name, each in zip(("right", "event forgotten"), scores, strict=True):
            print(f"| {kind} | {name} | " + " | ".join(f"{z:+.1f}" for z in each) + " |")


def calibration(n_replicates: int, n_steps: int, seed: int) -> None:
    """Simulation-based calibration under selection, with the uncorrected twin."""
    print("\n## Calibration under selection\n")
    print(f"24 cases, 5 of 3000 features kept; {n_replicates} replicates, {n_steps} draws each.\n")
    print("| response | method | Kolmogorov-Smirnov p of tau | mean rank | gap of predictions |")
    print("|---|---|---|---|---|")
    for kind in KINDS:
        drawn = [
            factor_replicate(kind, n_steps, np.random.default_rng([seed, r]))
            for r in range(n_replicates)
        ]
        for j, method in enumerate(("corrected", "uncorrected")):
            ranks = np.array([one.ranks[j] for one in drawn])
            gaps = np.array([one.gaps[j] for one in drawn])
            error = np.std(gaps) / np.sqrt(gaps.size)
            p = stats.kstest(ranks, "uniform").pvalue
            print(
                f"| {kind} | {method} | {p:.2g} | {ranks.mean():.3f} "
                f"| {gaps.mean():+.4f} +- {error:.4f} |",
                flush=True,
            )


def classes_row(model: Any, X: Floats, y: Floats) -> Floats:
    """Return expected error, actual error and log loss of a fitted classifier."""
    log_proba: Floats = model.predict_log_proba(X)
    actual = np.mean(np.argmax(log_proba, axis=1) != y)
    expected = np.mean(1.0 - np.exp(log_proba.max(axis=1)))
    loss = -np.mean(log_proba[np.arange(y.size), y.astype(int)])
    return np.array([expected, actual, loss])


def responses_row(model: Any, X: Floats, y: Floats) -> Floats:
    """Return expected and actual root mean square error, and minus the mean log density."""
    mean, std = model.predict(X, return_std=True)
    density = model.predict_log_density(X, y)
    return np.array([np.sqrt(np.mean(std**2)), np.sqrt(np.mean((mean - y) ** 2)), -density.mean()])


def simulated(n_replicates: int, n_draws: int, seed: int) -> None:
    """Compare factor model and naive Bayes, corrected and not, on data from the model."""
    print(f"\n## Data from the model: n = {N_TRAIN}, p = {N_FEATURES}, k = {N_KEPT}\n")
    print(f"Means of {n_replicates} replicates with {N_TEST} test cases each.")
    print("Error: error rate for classes, root mean square for numbers; loss: minus log")
    print("predictive probability or density.\n")
    print("| response | setting | method | expected error | actual error | difference | loss |")
    print("|---|---|---|---|---|---|---|")
    for kind in KINDS:
        for setting in SETTINGS:
            _print_setting(kind, setting, n_replicates, n_draws, seed)


def _print_setting(kind: Kind, setting: Setting, times: int, n_draws: int, seed: int) -> None:
    chains: dict[str, Any]
    chains = {"n_draws": n_draws, "n_warmup": n_draws // 2, "n_chains": 2, "random_state": seed}
    factor: type = SelectiveFactorRegressor if kind == "real" else SelectiveFactorClassifier
    naive: type = SelectiveNaiveRegressor if kind == "real" else SelectiveGaussianNB
    models = {
        "factors, corrected": factor(k=N_KEPT, **chains),
        "factors, uncorrected": factor(k=N_KEPT, correct_selection=False, **chains),
        "naive, corrected": naive(k=N_KEPT),
        "naive, uncorrected": naive(k=N_KEPT, correct_selection=False),
    }
    row: Callable[[Any, Floats, Floats], Floats]
    row = responses_row if kind == "real" else classes_row
    found = np.empty((times, len(models), 3))
    for r in range(times):
        rng = np.random.default_rng([seed, r])
        X, y = _data(kind, setting, rng)
        for j, model in enumerate(models.values()):
            model.fit(X[:N_TRAIN], y[:N_TRAIN])
            found[r, j] = row(model, X[N_TRAIN:], y[N_TRAIN:])
    for j, name in enumerate(models):
        expected, actual, loss = found[:, j].mean(axis=0)
        gaps = found[:, j, 0] - found[:, j, 1]
        error = gaps.std() / np.sqrt(times)
        print(
            f"| {kind} | {setting.name} | {name} | {expected:.3f} | {actual:.3f} "
            f"| {gaps.mean():+.3f} +- {error:.3f} | {loss:.4f} |",
            flush=True,
        )


def _data(kind: Kind, setting: Setting, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Draw until both classes have four training cases, or more."""
    model, taus = FactorModel(kind), {"tau": setting.tau, "tau_response": setting.tau_response}
    while True:
        X, y, _ = model.simulate(N_TRAIN + N_TEST, N_FEATURES, rng, **taus)
        ones = np.sum(y[:N_TRAIN] > 0.5)
        if kind == "real" or 4 <= ones <= N_TRAIN - 4:
            return X, y


def main() -> None:
    """Print all of it, or what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("only", nargs="*", choices=["geweke", "calibration", "simulated", []])
    parser.add_argument("--replicates", type=int, default=20)
    parser.add_argument("--draws", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    wanted = options.only or ["geweke", "calibration", "simulated"]
    warnings.simplefilter("ignore", ConvergenceWarning)  # many short chains, averaged over
    start = time.perf_counter()
    print("# The factor model")
    if "geweke" in wanted:
        joint_distribution(4000, options.seed)
    if "calibration" in wanted:
        calibration(5 * options.replicates, 400, options.seed)
    if "simulated" in wanted:
        simulated(options.replicates, options.draws, options.seed)
    print(f"\n{(time.perf_counter() - start) / 60.0:.0f} minutes.")


if __name__ == "__main__":
    main()
