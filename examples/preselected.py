"""What an earlier selection does to intervals, and why cross-validation cannot see it.

Run as `python examples/preselected.py trim32.csv.gz`, a table of 120 cases whose 500 columns
somebody kept out of 18,975 by their correlation with the column `response`. Without the file, two
tables of that kind are simulated, one of noise and one in which 50 columns are related to the
response, and 1000 new cases say what is true. Takes some minutes.
"""

import os
import sys
import warnings
from collections.abc import Sequence

import numpy as np
from sklearn.model_selection import KFold

from unselected import SelectiveRegressor
from unselected._typing import Floats
from unselected.files.tables import read_table

N_BEFORE, N_KEPT, N_CASES, N_NEW = 18_975, 500, 120, 1000
TAILS = (0.05, 0.95)


def simulated(
    n_related: int, strength: float, rng: np.random.Generator
) -> tuple[Floats, Floats, Floats, Floats]:
    """Return cases of the columns with the largest correlations in them, and new cases."""
    y = rng.normal(size=N_CASES + N_NEW)
    X = rng.normal(size=(y.size, N_BEFORE))
    X[:, :n_related] += strength * y[:, np.newaxis]
    seen, z = X[:N_CASES], y[:N_CASES] - y[:N_CASES].mean()
    centred = seen - seen.mean(axis=0)
    correlation = np.abs(z @ centred) / np.sqrt((centred**2).sum(axis=0))
    kept = np.sort(np.argsort(-correlation)[:N_KEPT])
    return seen[:, kept], y[:N_CASES], X[N_CASES:, kept], y[N_CASES:]


def judged(model: SelectiveRegressor, X: Floats, y: Floats) -> Floats:
    """Return for each case its log density, whether it is in its 90 % interval, and the width."""
    low, high = model.predict_quantiles(X, TAILS).T
    return np.array([model.predict_log_density(X, y), (low <= y) & (y <= high), high - low])


def cross_validated(model: SelectiveRegressor, X: Floats, y: Floats) -> Floats:
    """Return the mean of these numbers over cases left out in five folds."""
    parts = [
        judged(model.fit(X[train], y[train]), X[test], y[test])
        for train, test in KFold(5, shuffle=True, random_state=0).split(X)
    ]
    return np.asarray(np.hstack(parts).mean(axis=1))


def tell(X: Floats, y: Floats, new: tuple[Floats, Floats] | None) -> None:
    """Print what a fit says with and without knowing of the earlier selection."""
    print(f"{len(y)} cases, {X.shape[1]} columns; 90 % of the responses: {3.29 * y.std():.2f} wide")
    for n_before in (None, N_BEFORE):
        model = SelectiveRegressor(preselected_from=n_before)
        print(f"\npreselected_from={n_before}")
        print(f"  {'cross-validation':18}{_in_words(cross_validated(model, X, y))}")
        model.fit(X, y)
        if new is not None:
            print(f"  {'new cases':18}{_in_words(judged(model, *new).mean(axis=1))}")
        told = model.feature_effects()
        slope = told.effects["standardized_slope"]
        best = int(np.argmax(told.score))
        numbers = (slope.naive[best], slope.mean[best], slope.low[best], slope.high[best])
        print(
            "  strongest slope   {:.2f} at face value, {:.2f} ({:.2f} to {:.2f})".format(*numbers)
        )


def _in_words(numbers: Floats) -> str:
    log_density, coverage, width = numbers
    return f"log density {log_density:.2f}, coverage {coverage:.2f}, width {width:.2f}"


def main(arguments: Sequence[str]) -> None:
    """Tell of the table, or of two that are simulated."""
    warnings.simplefilter("ignore")  # all columns are kept, as they should be here
    if arguments and os.path.exists(arguments[0]):
        table = read_table(arguments[0], target="response")
        tell(np.asarray(table.X, dtype=np.float64), np.asarray(table.y, dtype=np.float64), None)
        return
    rng = np.random.default_rng(0)
    for n_related, strength in ((0, 0.0), (50, 0.5)):
        X, y, *new = simulated(n_related, strength, rng)
        print(f"\n=== {n_related} of {N_BEFORE} columns are related to the response")
        tell(X, y, (new[0], new[1]))


if __name__ == "__main__":
    main(sys.argv[1:])
