"""The front door for a real response on real and simulated data. Prints Markdown.

Five folds (seed 1), the response in units of its standard deviation. Noise follows, data for which
the naive model is true, and responses that follow a sum over independent columns. Data sets that
are not there are left out; see `classifier`.
"""

import argparse
import warnings
from typing import Any

import numpy as np
from classifier import DATA, SIZES
from numpy.typing import NDArray
from sklearn.model_selection import KFold

from unselected import SelectiveNaiveRegressor, SelectiveRegressor
from unselected.files.tables import read_table
from unselected.models.regression import RegressionModel

RESPONSES = ("riboflavin", "tecator", "permeability_response")


def load_response(name: str) -> tuple[NDArray[Any], NDArray[np.float64]] | None:
    """Return features and responses; None where the file is not there."""
    path = DATA / f"{name}.csv.gz"
    if not path.exists():
        return None
    table = read_table(path, target="response")
    return np.asarray(table.X), np.asarray(table.y, dtype=np.float64)


def judged(model: Any, X: NDArray[Any], y: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return log density, whether 90 % intervals hold, and squared error, (3, cases)."""
    place = model.predict_cdf(X, y)
    inside = (place > 0.05) & (place < 0.95)
    return np.stack([model.predict_log_density(X, y), inside, (model.predict(X) - y) ** 2])


def real() -> None:
    """Print log density, coverage and root mean squared error of each set."""
    print("| | " + " | ".join(f"k = {k}" for k in SIZES) + " |")
    print("|---" * (len(SIZES) + 1) + "|")
    found = []
    for name in RESPONSES:
        data = load_response(name)
        if data is None:
            continue
        X, y = data[0], data[1] / data[1].std()
        row = []
        for k in SIZES:
            size = k if k == "auto" else min(k, X.shape[1])
            folds = KFold(5, shuffle=True, random_state=1).split(X)
            parts = [
                judged(SelectiveRegressor(k=size).fit(X[train], y[train]), X[test], y[test])
                for train, test in folds
            ]
            mean = np.concatenate(parts, axis=1).mean(axis=1)
            row.append([mean[0], mean[1], np.sqrt(mean[2])])
        found.append(row)
        _print_row(name, row)
    if found:
        _print_row("mean", np.mean(found, axis=0).tolist())


def _print_row(name: str, row: list[list[float]]) -> None:
    cells = (f"{density:.3f}, {held:.3f}, {error:.3f}" for density, held, error in row)
    print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


def noise() -> None:
    """Print log density and coverage where the response has nothing to do with the features."""
    for k in (5, 20, 100):
        rows = []
        for seed in range(8):
            rng = np.random.default_rng([seed, 5])
            X, y = rng.normal(size=(560, 2000)), rng.normal(size=560)
            model = SelectiveRegressor(k=k).fit(X[:60], y[:60])
            rows.append(judged(model, X[60:], y[60:]).mean(axis=1))
        density, held, _ = np.mean(rows, axis=0)
        print(f"k = {k}: log density {density:.3f}, 90 % intervals hold {held:.3f}", flush=True)


def simulation() -> None:
    """Print what the front door gains in log density where the naive model is true."""
    for tau, n, n_sets in ((0.1, 60, 40), (0.3, 60, 20), (0.3, 150, 12)):
        for k in (5, 20, 100):
            gains = []
            for seed in range(n_sets):
                rng = np.random.default_rng([seed, 609])
                X, y, _ = RegressionModel().simulate(n + 400, 1000, rng, tau=tau)
                ours, exact = (
                    model.fit(X[:n], y[:n]).predict_log_density(X[n:], y[n:]).mean()
                    for model in (SelectiveRegressor(k=k), SelectiveNaiveRegressor(k=k))
                )
                gains.append(ours - exact)
            error, middle = np.std(gains, ddof=1) / np.sqrt(len(gains)), np.median(gains)
            print(
                f"tau = {tau}, n = {n}, k = {k}: {np.mean(gains):+.4f} "
                f"(standard error {error:.4f}), median {middle:+.4f}",
                flush=True,
            )


def of_a_sum() -> None:
    """Print log densities where the response follows a sum over three independent columns."""
    for k in (5, 20, 100):
        densities = []
        for seed in range(10):
            rng = np.random.default_rng(seed)
            X, y, new, y_new = *_summed(rng, 80), *_summed(rng, 500)
            model = SelectiveRegressor(k=k, marginals="raw").fit(X, y)
            densities.append(model.predict_log_density(new, y_new).mean())
        print(f"k = {k}: log density {np.mean(densities):.3f}", flush=True)


def _summed(rng: np.random.Generator, n: int) -> tuple[NDArray[Any], NDArray[Any]]:
    X = rng.normal(size=(n, 1000))
    return X, X[:, 0] + X[:, 1] - X[:, 2] + rng.normal(size=n)


def main() -> None:
    """Run the parts that are asked for."""
    parts = {"real": real, "noise": noise, "simulation": simulation, "sum": of_a_sum}
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", choices=parts, default=list(parts))
    warnings.simplefilter("ignore")
    for name in parser.parse_args().only:
        print(f"\n### {name}\n")
        parts[name]()


if __name__ == "__main__":
    main()
