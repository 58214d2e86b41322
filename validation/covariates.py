"""Covariates: calibration under selection, and batches that are related to the class.

Prints Markdown; the tests use the same functions with fewer replicates. In `calibration` parameters
are drawn from the priors, with covariates that are related to the response and to most features. In
`batches` a batch is related to the class, and some features to the batch only.
"""

import argparse
import warnings
from typing import Any, NamedTuple

import numpy as np
from calibration_of_real_features import expected_minus_actual
from calibration_under_selection import rank
from numpy.typing import NDArray
from scipy import stats

from unselected import SelectiveClassifier, SelectiveGaussianNB, SelectiveNaiveRegressor
from unselected._typing import Floats
from unselected.models.class_regression import PRIOR_SCALE
from unselected.models.gaussian import GaussianModel
from unselected.statistics.design import CovariateBasis

N_CASES, N_TEST, N_FEATURES, N_KEPT = 40, 40, 150, 5
LEVEL = 0.9
# What is fitted: the right method first.
METHODS = ("corrected", "uncorrected", "ignored in the score", "ignored in the model")


class Drawn(NamedTuple):
    """Cases of a model with covariates, the training cases first, and the true tau."""

    X: Floats
    y: NDArray[Any]
    covariates: Floats
    tau: float


class Judged(NamedTuple):
    """The rank of the true tau, and how far predictions are from what comes, by method."""

    ranks: list[float]
    gaps: list[float]


def _covariates(rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Return a number and a bit of each case, and the same in the basis of training cases."""
    n = N_CASES + N_TEST
    coded = np.column_stack([rng.normal(50.0, 10.0, n), rng.integers(0, 2, n)])
    return coded, CovariateBasis.learn(coded[:N_CASES]).apply(coded)


def _features(Z: Floats, codes: Floats, rng: np.random.Generator) -> tuple[Floats, float]:
    """Return features that depend on covariates, four of five strongly, and on the codes."""
    X, parameters = GaussianModel().simulate_features(codes, N_FEATURES, rng)
    slopes = 2.0 * rng.normal(size=(Z.shape[1], N_FEATURES)) * (rng.random(N_FEATURES) < 0.8)
    return X + Z @ slopes, float(parameters["tau"])


def draw_classes(rng: np.random.Generator) -> Drawn:
    """Draw two classes by logistic regression, with coefficients from their prior."""
    while True:
        coded, Z = _covariates(rng)
        slopes = np.append(rng.logistic(), PRIOR_SCALE * rng.normal(size=Z.shape[1] - 1))
        y = (rng.random(len(Z)) < 1.0 / (1.0 + np.exp(-Z @ slopes))).astype(int)
        if 1 < y[:N_CASES].sum() < N_CASES - 1:  # of what is known, so that nothing is distorted
            X, tau = _features(Z, np.eye(2)[y], rng)
            return Drawn(X, y, coded, tau)


def draw_responses(rng: np.random.Generator) -> Drawn:
    """Draw responses that are linear in the covariates."""
    coded, Z = _covariates(rng)
    y = Z @ rng.normal(size=Z.shape[1]) + rng.normal(size=len(Z))
    known, seen = Z[:N_CASES], y[:N_CASES]
    unit = np.std(seen - known @ np.linalg.lstsq(known, seen, rcond=None)[0])
    X, tau = _features(Z, (y / unit)[:, np.newaxis], rng)
    return Drawn(X, y, coded, tau)


def _fitted(method: str, kind: Any, drawn: Drawn) -> tuple[Any, Floats, Floats | None]:
    """Return a model, and features and covariates of the new cases as it wants them."""
    X, y, covariates, _ = drawn
    train, new = slice(N_CASES), slice(N_CASES, None)
    if method in ("corrected", "uncorrected"):
        model = kind(k=N_KEPT, correct_selection=method == "corrected")
        model.fit(X[train], y[train], covariates=covariates[train])
        return model, X[new], covariates[new]
    # Columns are selected by one score, and modelled with another.
    in_score, in_model = (
        (None, covariates) if method == "ignored in the score" else (covariates, None)
    )
    first = kind(k=N_KEPT).fit(
        X[train], y[train], covariates=None if in_score is None else in_score[train]
    )
    own = X[:, first.selection_.indices]
    model = kind(preselected_from=N_FEATURES)
    model.fit(own[train], y[train], covariates=None if in_model is None else in_model[train])
    return model, own[new], None if in_model is None else in_model[new]


def judge_classes(rng: np.random.Generator) -> Judged:
    """Return ranks of tau, and expected minus actual error."""
    drawn = draw_classes(rng)
    ranks, gaps = [], []
    for method in METHODS:
        model, X, covariates = _fitted(method, SelectiveGaussianNB, drawn)
        ranks.append(rank(model._predictor.fitted.nodes, drawn.tau**-2.0))
        proba = model.predict_proba(X, covariates=covariates)
        gaps.append(expected_minus_actual(proba, drawn.y[N_CASES:]))
    return Judged(ranks, gaps)


def judge_responses(rng: np.random.Generator) -> Judged:
    """Return ranks of tau, and coverage of the central 90 % intervals less 90 %."""
    drawn = draw_responses(rng)
    ranks, gaps = [], []
    for method in METHODS:
        model, X, covariates = _fitted(method, SelectiveNaiveRegressor, drawn)
        fitted = model._predictor.fitted
        ranks.append(rank(fitted.nodes, drawn.tau**-2.0))
        place = model.predict_cdf(X, drawn.y[N_CASES:], covariates=covariates)
        gaps.append(float(np.mean(np.abs(2.0 * place - 1.0) <= LEVEL)) - LEVEL)
    return Judged(ranks, gaps)


def calibration(n_replicates: int) -> None:
    """Print p-values of uniform ranks, and mean gaps with their standard errors."""
    for what, judge in (("two classes", judge_classes), ("real response", judge_responses)):
        rng = np.random.default_rng(17)
        found = [judge(rng) for _ in range(n_replicates)]
        ranks, gaps = (np.array([getattr(one, name) for one in found]) for name in Judged._fields)
        print(f"\n{what}, {n_replicates} replicates\n\n| covariates | ranks of tau, p | gap |")
        print("|---|---|---|")
        for method, own, gap in zip(METHODS, ranks.T, gaps.T, strict=True):
            error = gap.std() / np.sqrt(gap.size)
            p_value = stats.kstest(own, "uniform").pvalue
            print(f"| {method} | {p_value:.2g} | {gap.mean():+.3f} +- {error:.3f} |", flush=True)


# --- batches -------------------------------------------------------------------------------------


class Batches(NamedTuple):
    """A batch that is related to the class, and features of which some follow the batch.

    Attributes
    ----------
    X : array of shape (n, p)
    y, batch : arrays of shape (n,)
    of_batch : array of shape (p,)
        Which features follow the batch. None follows the class beyond that.
    """

    X: Floats
    y: NDArray[np.intp]
    batch: NDArray[Any]
    of_batch: NDArray[np.bool_]


class BatchFigures(NamedTuple):
    """What a method says of new cases, what comes, and how many kept features follow the batch."""

    expected: float
    actual: float
    log_loss: float
    of_batch: int


def draw_batches(rng: np.random.Generator, n: int, p: int) -> Batches:
    """Draw cases of which four in five of a class are in one batch; half the features follow it."""
    of_batch = np.arange(p) % 2 == 0
    y = rng.integers(0, 2, n)
    batch = np.where(rng.random(n) < 0.8, y, 1 - y)
    X = rng.normal(size=(n, p)) + np.outer(batch, of_batch * rng.normal(size=p))
    return Batches(X, y, np.array(["old", "new"])[batch], of_batch)


def judge_batches(model: Any, drawn: Batches, n: int, *, adjusted: bool) -> BatchFigures:
    """Fit to the first n cases, with the batch as a covariate or without, and judge the others."""
    X, y, batch, of_batch = drawn
    covariates = {"batch": batch[:n]} if adjusted else None
    model.fit(X[:n], y[:n], covariates=covariates)
    proba = model.predict_proba(X[n:], covariates={"batch": batch[n:]} if adjusted else None)
    return BatchFigures(
        float(np.mean(1.0 - proba.max(axis=1))),
        float(np.mean(proba.argmax(axis=1) != y[n:])),
        float(-np.mean(np.log(proba[np.arange(len(proba)), y[n:]]))),
        int(of_batch[model.selection_.indices].sum()),
    )


def batches(n_replicates: int) -> None:
    """Print expected and actual error, log loss, and the share of batch genes among the kept."""
    n, p, k = 60, 2000, 10
    print(f"n = {n}, p = {p}, k = {k}; {n_replicates} replicates\n")
    print("| | expected error | actual error | log loss | kept genes that follow the batch |")
    print("|---|---|---|---|---|")
    models = {
        "`SelectiveGaussianNB`": SelectiveGaussianNB(k=k),
        "the same, uncorrected": SelectiveGaussianNB(k=k, correct_selection=False),
        "`SelectiveClassifier`": SelectiveClassifier(k=k),
    }
    for name, model in models.items():
        for adjusted in (True, False):
            rng = np.random.default_rng(60)
            some = n_replicates if "Classifier" not in name else max(1, n_replicates // 10)
            found = np.array(
                [
                    judge_batches(model, draw_batches(rng, n + 500, p), n, adjusted=adjusted)
                    for _ in range(some)
                ]
            )
            expected, actual, loss, kept = found.mean(axis=0)
            total = int(found[:, 3].sum())
            test = stats.binomtest(total, k * some, 0.5).pvalue if total <= k * some else np.nan
            print(
                f"| {name}, batch {'a covariate' if adjusted else 'ignored'} | {expected:.3f} "
                f"| {actual:.3f} | {loss:.3f} | {kept / k:.2f} (p = {test:.2g}) |",
                flush=True,
            )


def main() -> None:
    """Run the parts that are asked for."""
    parts = {"calibration": calibration, "batches": batches}
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", choices=parts, default=list(parts))
    parser.add_argument("--replicates", type=int, default=200)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for name in options.only:
        print(f"\n### {name}\n")
        parts[name](options.replicates)


if __name__ == "__main__":
    main()
