"""Guards against dependence, on data with and without it. Prints Markdown.

Every classifier selects k features. The evidence of the training cases comes from ten folds,
selection included; with ``--singly`` from fits without one case each as well, which takes about
half an hour. ``--only`` runs some of the data.
The data sets are looked for beside a development checkout, or named by the environment variables
COLON, LYMPHOMA and REVIEWS; those that are not there are left out. With ``--scale 0.5`` the colon
data as they come and their logarithms are divided twice, as docs/evidence/dependence.md has them.
"""

import argparse
import os
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from real_data import lymphoma, scores
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import LeaveOneOut, StratifiedKFold
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.pipeline import make_pipeline

from unselected import SelectiveBernoulliNB, SelectiveGaussianNB
from unselected.datasets import make_paper_simulation
from unselected.dependence.held_out import HeldOut
from unselected.dependence.power import PowerPosterior, PowerPrior
from unselected.experiments.colon import load_colon, normalized
from unselected.files.tables import read_table

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]
Kind = Literal["real", "binary"]

COLON = Path(os.environ.get("COLON", Path(__file__).parents[2] / "shared/data/colon.csv.gz"))
REVIEWS = Path(os.environ.get("REVIEWS", COLON.with_name("movie_reviews.npz")))
SIZES = (5, 20, 100)
PRIORS = {
    "tempered, no strays": PowerPrior(no_outliers=1.0),
    "tempered, no lump at 1": PowerPrior(full_power=0.0),
}


@dataclass(frozen=True)
class Split:
    """Training and test cases; classes are numbers from 0 on."""

    X: NDArray[Any]
    y: Codes
    X_test: NDArray[Any]
    y_test: Codes


def folds(X: NDArray[Any], y: Codes, n_divisions: int) -> Iterator[Split]:
    """Divide into five, several times."""
    for seed in range(n_divisions):
        for train, test in StratifiedKFold(5, shuffle=True, random_state=seed).split(X, y):
            yield Split(X[train], y[train], X[test], y[test])


def near_duplicates(kind: Kind, rng: np.random.Generator, n: int) -> tuple[NDArray[Any], Codes]:
    """Draw 100 features with ten copies each: a tenth of the values flipped, or noise to match."""
    y = np.arange(n) % 2
    parents = rng.normal(scale=0.35, size=100) * (2 * y - 1)[:, np.newaxis]
    parents = parents + rng.normal(size=(n, 100))
    if kind == "real":
        return np.repeat(parents, 10, axis=1) + rng.normal(scale=0.33, size=(n, 1000)), y
    copies = np.repeat(parents > 0, 10, axis=1)
    return (copies ^ (rng.random((n, 1000)) < 0.1)).astype(np.uint8), y


def latent_factor(kind: Kind, rng: np.random.Generator, n: int) -> tuple[NDArray[Any], Codes]:
    """Draw 1000 features that one factor moves, each with its own loading."""
    y = np.arange(n) % 2
    factor = rng.normal(size=(n, 1))
    shift = rng.normal(scale=0.25, size=1000) * (2 * y - 1)[:, np.newaxis]
    X = shift + factor * rng.normal(scale=0.7, size=1000) + rng.normal(size=(n, 1000))
    return (X if kind == "real" else (X > 0).astype(np.uint8)), y


def drawn(
    draw: Callable[[np.random.Generator, int], tuple[NDArray[Any], Codes]], n_sets: int, seed: int
) -> Iterator[Split]:
    """Draw 80 training and 1000 test cases, several times."""
    for r in range(n_sets):
        X, y = draw(np.random.default_rng([seed, r]), 1080)
        yield Split(X[:80], y[:80], X[80:], y[80:])


def paper(n_sets: int, seed: int) -> Iterator[Split]:
    """Draw from the paper's model: no dependence."""
    for r in range(n_sets):
        data = make_paper_simulation(n_test=1000, random_state=np.random.default_rng([seed, r]))
        yield Split(data.X_train, data.y_train, data.X_test, data.y_test)


def evidence(model: Any, X: NDArray[Any], y: Codes, rows: NDArray[Any]) -> tuple[Floats, Floats]:
    """Fit, and return log evidence, up to a constant in each row, and prior of some rows."""
    counts = np.bincount(y) + 1.0
    log_prior = np.log(counts / counts.sum())
    log_proba = model.fit(X, y).predict_log_proba(rows)
    return log_proba - log_prior, np.broadcast_to(log_prior, log_proba.shape)


def left_out(model: Any, X: NDArray[Any], y: Codes, n_folds: int) -> tuple[Floats, Floats]:
    """Return evidence and prior of each case from a fit to the other folds."""
    logs, log_prior = (np.empty((y.size, np.bincount(y).size)) for _ in range(2))
    for train, test in _divided(y, n_folds):
        logs[test], log_prior[test] = evidence(model, X[train], y[train], X[test])
    return logs, log_prior


def _divided(y: Codes, n_folds: int) -> Iterator[tuple[Codes, Codes]]:
    """Yield training and test rows; folds of one case need no classes."""
    if n_folds >= y.size:
        yield from LeaveOneOut().split(y)
    else:
        n_folds = min(n_folds, int(np.bincount(y).min()))
        yield from StratifiedKFold(n_folds, shuffle=True, random_state=0).split(y, y)


def ours(kind: Kind, k: int, split: Split, *, singly: bool) -> dict[str, Floats]:
    """Return test probabilities without tempering, and with each prior of it."""
    model = SelectiveGaussianNB(k=k) if kind == "real" else SelectiveBernoulliNB(k=k)
    by_fold = left_out(model, split.X, split.y, 10)
    one_by_one = left_out(model, split.X, split.y, split.y.size) if singly else None
    new = evidence(model, split.X, split.y, split.X_test)
    result = {"none": np.asarray(model.predict_proba(split.X_test))}
    for guard in ("tempered", "correlated"):
        guarded = clone(model).set_params(dependence=guard).fit(split.X, split.y)
        result[guard] = np.asarray(guarded.predict_proba(split.X_test))
    for name, prior in PRIORS.items():
        tempering = PowerPosterior.learn(HeldOut.of_classes(*by_fold, split.y), prior=prior)
        result[name] = np.exp(tempering.log_proba(*new))
    if one_by_one is not None:
        tempering = PowerPosterior.learn(HeldOut.of_classes(*one_by_one, split.y))
        result["tempered, cases left out singly"] = np.exp(tempering.log_proba(*new))
    return result


def rivals(kind: Kind, k: int, split: Split) -> dict[str, Floats]:
    """Return test probabilities of what people use, with the same number of features.

    Binary features tie, and `SelectKBest` breaks ties another way: logistic regression is fitted to
    the features that our classifiers keep, too.
    """
    model = SelectiveGaussianNB(k=k) if kind == "real" else SelectiveBernoulliNB(k=k)
    kept = model.fit(split.X, split.y).selection_.indices
    X, X_test = split.X, split.X_test
    if kind == "binary":
        cut = np.median(X, axis=0) if np.issubdtype(X.dtype, np.floating) else 0
        X, X_test = X > cut, X_test > cut
    naive_bayes = GaussianNB() if kind == "real" else BernoulliNB()
    linear = make_pipeline(SelectKBest(f_classif, k=k), LogisticRegression(max_iter=5000))
    bayes = make_pipeline(SelectKBest(f_classif, k=k), naive_bayes)
    methods = {
        "SelectKBest + LogisticRegression": linear,
        "sigmoid-calibrated NB": CalibratedClassifierCV(bayes, cv=5),
    }
    result = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # constant columns, and folds that separate
        for name, method in methods.items():
            result[name] = method.fit(X, split.y).predict_proba(X_test)
        same = LogisticRegression(max_iter=5000).fit(X[:, kept], split.y)
        result["LogisticRegression, our features"] = same.predict_proba(X_test[:, kept])
    return result


def print_rows(what: str, kind: Kind, k: int, splits: Iterator[Split], *, singly: bool) -> None:
    """Print means over splits for each method: log loss, error, expected less actual error."""
    table: dict[str, list[tuple[float, float, float]]] = {}
    for split in splits:
        found = ours(kind, k, split, singly=singly) | rivals(kind, k, split)
        for name, proba in found.items():
            table.setdefault(name, []).append(scores(proba, split.y_test))
    for name, rows in table.items():
        loss, error, expected = np.array(rows).T
        spread = loss.std(ddof=1) / np.sqrt(loss.size)
        print(
            f"| {what} | {kind} | {k} | {name} | {loss.mean():.3f} +- {spread:.3f} "
            f"| {error.mean():.3f} | {np.mean(expected - error):+.3f} |",
            flush=True,
        )


def reviews(least: int, n_sets: int) -> Iterator[Split]:
    """Draw 200 film reviews for training and 1000 others; words that neither few nor most have.

    Few are less than ``least`` of the training texts, whatever their classes.
    """
    table = read_table(REVIEWS, target="y")
    X, y = table.X > 0, np.unique(np.asarray(table.y), return_inverse=True)[1]
    for r in range(n_sets):
        rows = np.random.default_rng(r).permutation(y.size)
        train, test = rows[:200], rows[200:1200]
        count = X[train].sum(axis=0)
        words = (count >= least) & (count <= train.size - least)
        Z = X[:, words].astype(np.uint8)
        yield Split(Z[train], y[train], Z[test], y[test])


def _drawn_reviews(least: int, n_sets: int, _: Kind) -> Iterator[Split]:
    return reviews(least, n_sets)


def sources(seed: int, scale: float) -> dict[str, tuple[Callable[[Kind], Any], tuple[Kind, ...]]]:
    """Return for each set of data how to split it, and for which kinds of features."""
    n_sets, n_divisions = max(2, round(12 * scale)), max(1, round(4 * scale))
    both: tuple[Kind, ...] = ("real", "binary")
    found: dict[str, tuple[Callable[[Kind], Any], tuple[Kind, ...]]] = {
        "near-duplicates": (lambda kind: drawn(partial(near_duplicates, kind), n_sets, seed), both),
        "latent factor": (lambda kind: drawn(partial(latent_factor, kind), n_sets, seed), both),
    }
    if COLON.exists():
        X, y = load_colon(str(COLON))
        codes = y.astype(np.intp)
        found["colon"] = (lambda _: folds(normalized(X), codes, n_divisions), both)
        found["colon raw"] = (lambda _: folds(X, codes, n_divisions), ("real",))
        found["colon logarithms"] = (lambda _: folds(np.log(X), codes, n_divisions), ("real",))
    data = lymphoma()
    if data is not None:
        found["lymphoma"] = (lambda _: folds(*data, n_divisions), ("real",))
    if REVIEWS.exists():
        for least in (0, 10, 20):
            found[f"reviews {least}"] = (partial(_drawn_reviews, least, n_divisions), ("binary",))
    return found


def print_dependence(seed: int, scale: float, only: list[str] | None, *, singly: bool) -> None:
    """Print the table."""
    print("\n## Dependence between features\n")
    print("Means over test parts, with standard errors: five-fold for the real data, 80 training")
    print("and 1000 test cases for simulated data, 200 and 1000 for the paper's simulation.\n")
    print("| data | features | k | method | log loss | error | expected - actual error |")
    print("|---|---|---|---|---|---|---|")
    for what, (split, kinds) in sources(seed, scale).items():
        for kind in kinds:
            for k in SIZES:
                if only is None or what in only:
                    print_rows(what, kind, k, split(kind), singly=singly)
    if only is None or "paper" in only:
        for k in (10, 100, 1000):
            splits = paper(max(2, round(20 * scale)), seed)
            print_rows("paper", "binary", k, splits, singly=singly)


def main() -> None:
    """Print the table of the data that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=2)
    parser.add_argument("--scale", type=float, default=1.0, help="multiply the replicates by this")
    parser.add_argument("--only", nargs="*", help="names of data, such as colon")
    parser.add_argument("--singly", action="store_true", help="leave out single cases as well")
    options = parser.parse_args()
    print_dependence(options.seed, options.scale, options.only, singly=options.singly)


if __name__ == "__main__":
    main()
