"""The front door for classes on real and simulated data. Prints Markdown.

Five stratified folds (seed 1); of texts 200 training cases, drawn twice. The paper's simulation
compares with the exact model; noise and other seeds of the folds follow. The data sets are looked
for beside a development checkout, or in the folder that the environment variable DATA names; those
that are not there are left out. ``--only`` runs some parts.
"""

import argparse
import os
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import LogisticRegressionCV
from sklearn.model_selection import StratifiedKFold

from unselected import SelectiveBernoulliNB, SelectiveClassifier
from unselected.files.tables import read_table
from unselected.models.bernoulli import BernoulliModel

DATA = Path(os.environ.get("DATA", Path(__file__).parents[2] / "shared/data"))
REAL = ("colon", "lymphoma", "golub", "west", "gravier", "srbct")
BINARY = ("movie_reviews", "pcmac", "permeability")
SIZES: tuple[Any, ...] = (5, 20, 100, "auto")


def load(name: str) -> tuple[Any, NDArray[np.intp]] | None:
    """Return features and classes, counted from 0; None where the file is not there."""
    path = DATA / f"{name}.npz"
    if path.exists():
        with np.load(path, allow_pickle=False) as arrays:
            labels = arrays["y"] if "y" in arrays else np.load(DATA / f"{name}_y.npy")
        return read_table(path).X, np.unique(labels, return_inverse=True)[1]
    path = DATA / f"{name}.csv.gz"
    if not path.exists():
        return None
    table = read_table(path, target="class")
    return table.X, np.unique(np.asarray(table.y), return_inverse=True)[1]


def splits(name: str, y: NDArray[np.intp]) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
    """Yield training and test cases."""
    if name in ("movie_reviews", "pcmac"):
        for seed in (1, 2):
            order = np.random.default_rng(seed).permutation(y.size)
            yield order[:200], order[200:1200]
        return
    yield from StratifiedKFold(5, shuffle=True, random_state=1).split(np.zeros((y.size, 1)), y)


def losses(proba: NDArray[Any], y: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return log loss, error and expected error of each case, shape (3, cases)."""
    clipped = np.clip(proba, 1e-15, 1.0)
    seen = clipped[np.arange(y.size), y] / clipped.sum(axis=1)
    return np.stack([-np.log(seen), proba.argmax(axis=1) != y, 1.0 - proba.max(axis=1)])


def measured(name: str, k: Any) -> NDArray[np.float64] | None:
    """Return the mean log loss, error and expected error on a data set."""
    data = load(name)
    if data is None:
        return None
    X, y = data
    parts = [
        losses(SelectiveClassifier(k=k).fit(X[train], y[train]).predict_proba(X[test]), y[test])
        for train, test in splits(name, y)
    ]
    if name in ("movie_reviews", "pcmac"):
        return np.asarray(np.mean([part.mean(axis=1) for part in parts], axis=0))
    return np.asarray(np.concatenate(parts, axis=1).mean(axis=1))


def table_of(names: tuple[str, ...], sizes: tuple[Any, ...]) -> None:
    """Print log loss (error, expected less actual error) of each set."""
    print("| | " + " | ".join(f"k = {k}" for k in sizes) + " |")
    print("|---" * (len(sizes) + 1) + "|")
    found: dict[Any, list[NDArray[np.float64]]] = {k: [] for k in sizes}
    for name in names:
        cells = []
        for k in sizes:
            loss = measured(name, k)
            if loss is None:
                break
            found[k].append(loss)
            cells.append(f"{loss[0]:.3f} ({loss[1]:.3f}, {loss[2] - loss[1]:+.3f})")
        if cells:
            print(f"| {name} | " + " | ".join(cells) + " |", flush=True)
    if all(found.values()):
        means = [np.mean(found[k], axis=0) for k in sizes]
        gaps = [np.mean([abs(each[2] - each[1]) for each in found[k]]) for k in sizes]
        cells = [f"{m[0]:.3f} ({m[1]:.3f}, {g:.3f})" for m, g in zip(means, gaps, strict=True)]
        print("| mean; of the absolute difference | " + " | ".join(cells) + " |")


def weighted() -> None:
    """Print losses on texts whose words are weighted (tf-idf), next to logistic regression."""
    for name in ("movie_reviews", "pcmac"):
        data = load(name)
        if data is None:
            continue
        X, y = data
        found: dict[str, list[NDArray[np.float64]]] = {}
        for train, test in splits(name, y):
            weights = TfidfTransformer().fit(X[train])
            rows, new = (weights.transform(X[some]) for some in (train, test))
            ridge = LogisticRegressionCV(
                Cs=np.logspace(-2, 4, 10), cv=5, scoring="neg_log_loss", max_iter=500
            )
            methods: dict[str, Any] = {f"k = {k}": SelectiveClassifier(k=k) for k in SIZES}
            methods["LogisticRegressionCV, all words"] = ridge
            for method, model in methods.items():
                proba = model.fit(rows, y[train]).predict_proba(new)
                found.setdefault(method, []).append(losses(proba, y[test]).mean(axis=1))
        for method, parts in found.items():
            loss, wrong, expected = np.mean(parts, axis=0)
            print(f"{name}, {method}: {loss:.3f} ({wrong:.3f}, {expected - wrong:+.3f})")


def simulation() -> None:
    """Print what the front door costs where the paper's model is true."""
    print("| k | exact model | front door |\n|---|---|---|")
    for k in (10, 100, 1000):
        means = []
        for seed in range(12):
            X, y, _ = BernoulliModel().simulate(
                2200, 10000, np.random.default_rng(seed), alpha=300.0
            )
            means.append(
                [
                    losses(model.fit(X[:200], y[:200]).predict_proba(X[200:]), y[200:])[0].mean()
                    for model in (SelectiveBernoulliNB(k=k), SelectiveClassifier(k=k))
                ]
            )
        exact, front = np.mean(means, axis=0)
        print(f"| {k} | {exact:.4f} | {front:.4f} |", flush=True)


def noise() -> None:
    """Print how far the expected error on pure noise is below the actual one, a half."""
    for k in SIZES:
        below = []
        for seed in range(28):
            rng = np.random.default_rng(seed)
            X, new = rng.normal(size=(50, 2000)), rng.normal(size=(500, 2000))
            model = SelectiveClassifier(k=k).fit(X, np.arange(50) % 2)
            below.append(0.5 - model.expected_error(new))
        each = ", ".join(f"{gap:.3f}" for gap in below)
        print(f"k = {k}: mean {np.mean(below):.3f}; each: {each}", flush=True)


def published() -> None:
    """Print log losses by the protocol of published figures: three folds, divided three times."""
    for name in ("colon", "golub", "pcmac"):
        data = load(name)
        if data is None:
            continue
        X, y = data
        parts = []
        for seed in range(3):
            folds = StratifiedKFold(3, shuffle=True, random_state=seed)
            for train, test in folds.split(np.zeros((y.size, 1)), y):
                proba = SelectiveClassifier().fit(X[train], y[train]).predict_proba(X[test])
                parts.append(losses(proba, y[test]).mean(axis=1))
        loss, wrong, expected = np.mean(parts, axis=0)
        print(f"{name}: {loss:.3f} ({wrong:.3f}, {expected - wrong:+.3f})", flush=True)


def seeds() -> None:
    """Print how much other folds move probabilities: three folds, three seeds."""
    for name in ("colon", "golub", "west"):
        data = load(name)
        if data is None:
            continue
        X, y = data
        for k in (20, "auto"):
            moved = []
            for train, test in list(splits(name, y))[:3]:
                proba = [
                    SelectiveClassifier(k=k, random_state=seed)
                    .fit(X[train], y[train])
                    .predict_proba(X[test])[:, 0]
                    for seed in (1, 2, 3)
                ]
                moved += [np.abs(proba[i] - proba[j]) for i, j in ((0, 1), (1, 2), (0, 2))]
            each = np.concatenate(moved)
            print(f"{name}, k = {k}: median {np.median(each):.3f}, largest {each.max():.3f}")


def main() -> None:
    """Run the parts that are asked for."""
    parts = {
        "real": lambda: table_of(REAL, SIZES),
        "binary": lambda: table_of(BINARY, SIZES),
        "weighted": weighted,
        "simulation": simulation,
        "noise": noise,
        "seeds": seeds,
        "published": published,
    }
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", choices=parts, default=list(parts))
    warnings.simplefilter("ignore")
    for name in parser.parse_args().only:
        print(f"\n### {name}\n")
        parts[name]()


if __name__ == "__main__":
    main()
