"""Effects of kept features against those of cases that had no part in the selection.

Prints Markdown. Features are selected and modelled with one half of the cases. Naive and corrected
effects are compared with the plain estimates of the other half, in the direction of the naive ones.
These are without the bias of standardized differences in few cases (Hedges 1981). Intervals are
widened by the error of the other half. ``--divisions`` says how often cases are divided.
"""

import argparse
import warnings
from typing import Any, NamedTuple

import numpy as np
from classifier import REAL, load
from numpy.typing import NDArray
from regressor import RESPONSES, load_response
from scipy.special import gammaln
from scipy.stats import t
from sklearn.model_selection import KFold, StratifiedKFold

from unselected import SelectiveClassifier, SelectiveRegressor


class Estimate(NamedTuple):
    """A plain estimate of the effect of each feature, and half the width of its 90 % interval."""

    value: NDArray[np.float64]
    reach: NDArray[np.float64]

    @classmethod
    def of(cls, ratio: NDArray[np.float64], squares: float, df: int) -> "Estimate":
        """Take ratios of an effect to a deviation that was estimated with so many cases.

        ``squares`` is the squared error of the effect, in units of the squared deviation.
        """
        unbiased = np.exp(gammaln(0.5 * df) - gammaln(0.5 * (df - 1))) / np.sqrt(0.5 * df)
        error = np.sqrt(squares + 0.5 * ratio**2 / df)
        return cls(unbiased * ratio, t.ppf(0.95, df) * error)


def differences(Z: NDArray[Any], y: NDArray[Any], n_classes: int) -> list[Estimate]:
    """Return standardized differences between class means, as `feature_effects` has them."""
    sizes = np.bincount(y, minlength=n_classes)
    means = np.array([Z[y == g].mean(axis=0) for g in range(n_classes)])
    within = sum(((Z[y == g] - means[g]) ** 2).sum(axis=0) for g in range(n_classes))
    deviation = np.sqrt(within / (y.size - n_classes))
    directions = np.eye(n_classes) - 1.0 / n_classes
    if n_classes == 2:
        directions = np.array([[-1.0, 1.0]])
    result = []
    for direction in directions:
        squares = float(np.sum(direction**2 / sizes))
        result.append(Estimate.of(direction @ means / deviation, squares, y.size - n_classes))
    return result


def slopes(Z: NDArray[Any], y: NDArray[Any], unit: float) -> list[Estimate]:
    """Return standardized slopes: per ``unit`` of y, in units of the residual deviation."""
    n, centred = y.size, y - y.mean()
    slope = centred @ (Z - Z.mean(axis=0)) / (centred @ centred)
    residuals = Z - Z.mean(axis=0) - np.outer(centred, slope)
    deviation = np.sqrt((residuals**2).sum(axis=0) / (n - 2))
    squares = float(unit**2 / (centred @ centred))
    return [Estimate.of(slope * unit / deviation, squares, n - 2)]


def compared(effects: Any, others: list[Estimate]) -> list[list[float]]:
    """Return means of naive, corrected and other effects, and how many intervals hold."""
    rows = []
    names = [name for name in effects if name.startswith(("mean_difference", "standardized"))]
    for name, other in zip(names, others, strict=True):
        effect = effects[name]
        sign = np.sign(effect.naive)
        low, high = (
            effect.mean - side * np.sqrt((effect.mean - end) ** 2 + other.reach**2)
            for side, end in ((1.0, effect.low), (-1.0, effect.high))
        )
        held = np.mean((other.value >= low) & (other.value <= high))
        means = [np.mean(sign * each) for each in (effect.naive, effect.mean, other.value)]
        rows.append([float(each) for each in (*means, held)])
    return rows


def of_classes(name: str, n_divisions: int) -> list[list[float]]:
    """Return comparisons for a data set with classes."""
    data = load(name)
    rows: list[list[float]] = []
    if data is None:
        return rows
    X, y = data
    for seed in range(n_divisions):
        halves = StratifiedKFold(2, shuffle=True, random_state=seed)
        one, other = next(halves.split(X, y))
        model = SelectiveClassifier(k=20, dependence="none").fit(X[one], y[one])
        seen = model._predictor.fitted.rows(X[other][:, model.selection_.indices], str)
        effects = model.feature_effects().effects
        rows += compared(effects, differences(seen, y[other], model.classes_.size))
    return rows


def of_responses(name: str, n_divisions: int) -> list[list[float]]:
    """Return comparisons for a data set with a real response."""
    data = load_response(name)
    rows: list[list[float]] = []
    if data is None:
        return rows
    X, y = data
    for seed in range(n_divisions):
        one, other = next(KFold(2, shuffle=True, random_state=seed).split(X))
        model = SelectiveRegressor(k=20, dependence="none", marginals="raw").fit(X[one], y[one])
        seen = X[other][:, model.selection_.indices]
        effects = model.feature_effects().effects
        rows += compared(effects, slopes(seen, y[other], float(y[one].std())))
    return rows


def main() -> None:
    """Print a row for each data set."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--divisions", type=int, default=12)
    n = parser.parse_args().divisions
    warnings.simplefilter("ignore")
    print("| | naive | corrected | other half | corrected / other | 90 % intervals hold |")
    print("|---|---|---|---|---|---|")
    for name in (*REAL, *RESPONSES):
        rows = of_classes(name, n) if name in REAL else of_responses(name, n)
        if rows:
            naive, mean, other, held = np.mean(rows, axis=0)
            cells = f"{naive:.2f} | {mean:.2f} | {other:.2f} | {mean / other:.2f} | {held:.2f}"
            print(f"| {name} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
