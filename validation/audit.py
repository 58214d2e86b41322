"""How often the audit rings: falsely on honest pipelines, and rightly on selections outside.

Prints Markdown. ``--only`` runs some parts: tables (missing weak columns, by kind of table), power
(by number of columns), pipelines (both alarms, ten pipelines), halves (real data: columns selected
by other cases, and by the same), cuts (the same for columns that are fixed in a pipeline). The data
sets are looked for beside a development checkout, or in the folder that the environment variable
DATA names; those that are not there are left out.
"""

import argparse
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from classifier import load
from numpy.typing import NDArray
from sklearn.calibration import CalibratedClassifierCV
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from unselected import SelectiveClassifier, SelectiveGaussianNB
from unselected.audit import check_selection
from unselected.audit.column_scores import NumericColumns, Response, column_scores
from unselected.audit.cut import cut_agreement
from unselected.audit.weak_columns import find_weak_columns

ALPHA = 0.05
N_CASES = 60
Table = tuple[NDArray[Any], NDArray[Any]]
Draw = Callable[[np.random.Generator], Table]


def two_classes(n: int = N_CASES) -> NDArray[np.int64]:
    """Return as many cases of either class."""
    return np.repeat([0, 1], n // 2)


def noise(rng: np.random.Generator) -> Table:
    """Return 500 columns of noise."""
    return rng.normal(size=(N_CASES, 500)), two_classes()


def sparse_signal(rng: np.random.Generator) -> Table:
    """Return 500 columns, of which 25 are related to the class."""
    X, y = noise(rng)
    X[:, :25] += 0.8 * y[:, None]
    return X, y


def all_strong(rng: np.random.Generator) -> Table:
    """Return 50 columns that are all strongly related to the class, as an expert chooses them."""
    y = two_classes()
    return rng.normal(size=(N_CASES, 50)) + 1.5 * y[:, None], y


def all_equal(rng: np.random.Generator) -> Table:
    """Return 300 columns with the same effect, and noise of which half is common to all."""
    y = two_classes(200)
    common = rng.normal(size=(200, 1))
    own = rng.normal(size=(200, 300))
    return np.sqrt(0.5) * (common + own) + 0.7 * y[:, None], y


def factors(rng: np.random.Generator) -> Table:
    """Return 400 columns with four common factors, of which a tenth is related to the class."""
    y = two_classes()
    common = rng.normal(size=(N_CASES, 4)) @ rng.normal(size=(4, 400))
    return 0.6 * common + rng.normal(size=(N_CASES, 400)) + (np.arange(400) < 40) * y[:, None], y


def rare_bits(rng: np.random.Generator) -> Table:
    """Return 400 binary columns, most of them with a few ones."""
    rates = rng.beta(0.3, 6.0, size=400)
    return (rng.random((N_CASES, 400)) < rates).astype(float), two_classes()


def four_classes(rng: np.random.Generator) -> Table:
    """Return 300 columns for four classes, of which 30 are related to the class."""
    y = np.repeat(np.arange(4), 15)
    X = rng.normal(size=(N_CASES, 300))
    X[:, :30] += rng.normal(size=(4, 30))[y]
    return X, y


def small(rng: np.random.Generator) -> Table:
    """Return 40 columns with strong effects and 20 cases, where scores are least normal."""
    y = two_classes(20)
    return rng.standard_t(4, size=(20, 40)) + 2.0 * y[:, None], y


KINDS: dict[str, Draw] = {
    "noise": noise,
    "25 of 500 columns related": sparse_signal,
    "50 columns, all strong": all_strong,
    "300 equal effects, half of the noise common": all_equal,
    "four common factors": factors,
    "rare bits": rare_bits,
    "four classes": four_classes,
    "20 cases, heavy tails, all strong": small,
}


def strongest(X: NDArray[Any], y: NDArray[Any], k: int) -> NDArray[Any]:
    """Return the columns with the highest scores."""
    scores = column_scores(NumericColumns.of(X), Response.classes(y))
    return np.sort(np.argsort(-np.nan_to_num(scores))[:k])


def missing(X: NDArray[Any], y: NDArray[Any], rng: np.random.Generator) -> float:
    """Return the p-value of missing weak columns."""
    found = find_weak_columns(NumericColumns.of(X), Response.classes(y), rng)
    return 1.0 if found is None else found.p_value


def rate(p_values: list[float]) -> str:
    """Return how often there is an alarm."""
    return f"{np.mean(np.array(p_values) <= ALPHA):.3f}"


def tables(n_sets: int) -> None:
    """Print alarms on tables that nobody selected, and on what a selection leaves of them."""
    print(f"\n| table ({n_sets} of each) | as it is | random fifth | strongest fifth |")
    print("|---|---|---|---|")
    for name, draw in KINDS.items():
        rngs = [np.random.default_rng([1, r]) for r in range(n_sets)]
        found: list[list[float]] = [[], [], []]
        for rng in rngs:
            X, y = draw(rng)
            k = X.shape[1] // 5
            found[0].append(missing(X, y, rng))
            found[1].append(missing(X[:, rng.permutation(X.shape[1])[:k]], y, rng))
            found[2].append(missing(X[:, strongest(X, y, k)], y, rng))
        print(f"| {name} | {' | '.join(rate(column) for column in found)} |", flush=True)


def power(n_sets: int) -> None:
    """Print alarms on the strongest columns of noise, by their number and that of all."""
    before = (100, 1000, 10000)
    print(f"\n| kept ({n_sets} of each) | " + " | ".join(f"of {p}" for p in before) + " |")
    print("|---|" + "---|" * len(before))
    for k in (5, 10, 20, 50):
        cells = []
        for p in before:
            p_values = []
            for r in range(n_sets):
                rng, y = np.random.default_rng([2, r, k, p]), two_classes()
                X = rng.normal(size=(N_CASES, p))
                p_values.append(missing(X[:, strongest(X, y, k)], y, rng))
            cells.append(rate(p_values))
        print(f"| {k} | {' | '.join(cells)} |", flush=True)


def pipelines(k: int) -> dict[str, tuple[Any, bool]]:
    """Return ten pipelines that select k columns, and whether they take long."""
    best = SelectKBest(k=k)
    bayes = make_pipeline(best, GaussianNB())
    return {
        "SelectKBest + LogisticRegression": (make_pipeline(best, LogisticRegression()), False),
        "SelectKBest + LogisticRegression(C=0.001)": (
            make_pipeline(best, LogisticRegression(C=0.001)),
            False,
        ),
        "SelectKBest + GaussianNB": (bayes, False),
        "SelectKBest + GaussianNB, calibrated": (CalibratedClassifierCV(bayes, cv=3), False),
        "SelectKBest + KNeighborsClassifier(15)": (
            make_pipeline(best, KNeighborsClassifier(15)),
            False,
        ),
        "SelectKBest + SVC": (make_pipeline(best, SVC()), False),
        "RandomForestClassifier": (RandomForestClassifier(30, random_state=0), True),
        "DummyClassifier": (DummyClassifier(strategy="prior"), False),
        "SelectiveGaussianNB": (SelectiveGaussianNB(k=k), False),
        "SelectiveClassifier": (SelectiveClassifier(k=k), True),
    }


def all_pipelines(n_sets: int) -> None:
    """Print both alarms, with all columns and with those that were selected from them before."""
    k = 20
    situations: dict[str, tuple[Draw, bool]] = {
        "noise": (noise, False),
        "25 of 500 related": (sparse_signal, False),
        "noise, selected before": (noise, True),
        "25 related, selected before": (sparse_signal, True),
    }
    print(f"\n| pipeline, {k} columns | sets | " + " | ".join(situations) + " |")
    print("|---|---|" + "---|" * len(situations))
    for name, (pipeline, is_slow) in pipelines(k).items():
        n, n_permutations = (max(n_sets // 4, 1), 5) if is_slow else (n_sets, 19)
        cells = []
        for draw, is_selected in situations.values():
            alarms = []
            for r in range(n):
                rng = np.random.default_rng([3, r])
                X, y = draw(rng)
                X = X[:, strongest(X, y, k)] if is_selected else X
                audit = check_selection(
                    pipeline,
                    X,
                    y,
                    n_permutations=n_permutations,
                    try_remedy=False,
                    random_state=r,
                )
                alarms.append((audit.selected_outside, audit.overconfident))
            outside, overconfident = np.mean(alarms, axis=0)
            cells.append(f"{outside:.2f}, {overconfident:.2f}")
        print(f"| {name} | {n} | {' | '.join(cells)} |", flush=True)


def real_halves(n_sets: int) -> Iterator[tuple[str, list[tuple[Table, Table]]]]:
    """Yield the name of each data set, and its cases divided in halves, several times."""
    for name in ("colon", "golub", "west", "gravier", "srbct"):
        data = load(name)
        if data is None:
            continue
        X, y = np.asarray(data[0][:, np.arange(data[0].shape[1])]), data[1]
        found = []
        for r in range(n_sets):
            order = np.random.default_rng([4, r]).permutation(y.size)
            first, second = order[: y.size // 2], order[y.size // 2 :]
            counts = [np.bincount(y[part], minlength=y.max() + 1) for part in (first, second)]
            if min(count.min() for count in counts) >= 2:
                found.append(((X[first], y[first]), (X[second], y[second])))
        yield name, found


def halves(n_sets: int) -> None:
    """Print alarms on half of the cases, with columns selected by the other half or by the same."""
    sizes = (20, 50, 200)
    header = " | ".join(f"{k} by {who}" for k in sizes for who in ("others", "the same"))
    print(f"\n| data ({n_sets} divisions) | all columns | {header} |")
    print("|---|---|" + "---|" * (2 * len(sizes)))
    for name, divisions in real_halves(n_sets):
        cells: dict[Any, list[float]] = {}
        for r, (others, same) in enumerate(divisions):
            rng = np.random.default_rng([5, r])
            X, y = same
            cells.setdefault("all", []).append(missing(X, y, rng))
            for k in sizes:
                for who, cases in (("others", others), ("the same", same)):
                    found = missing(X[:, strongest(*cases, k)], y, rng)
                    cells.setdefault((k, who), []).append(found)
        print(f"| {name} | {' | '.join(rate(values) for values in cells.values())} |", flush=True)


def cuts(n_sets: int) -> None:
    """Print alarms on fixed columns of a pipeline, or of a table with the one before it."""
    sizes = (5, 20, 50)
    header = " | ".join(f"{k} by {who}" for k in sizes for who in ("others", "the same"))
    print(f"\n| table ({n_sets} of each) | {header} |")
    print("|---|" + "---|" * (2 * len(sizes)))
    simulated = [
        (name, [_two_draws(draw, r) for r in range(n_sets)])
        for name, draw in (("noise", noise), ("25 of 500 columns related", sparse_signal))
    ]
    for name, pairs in [*simulated, *real_halves(n_sets)]:
        cells: dict[Any, list[float]] = {}
        for others, same in pairs:
            scores = column_scores(NumericColumns.of(same[0]), Response.classes(same[1]))
            for k in sizes:
                for who, cases in (("others", others), ("the same", same)):
                    is_kept = np.isin(np.arange(scores.size), strongest(*cases, k))
                    found = cut_agreement(scores, is_kept).p_value
                    cells.setdefault((k, who), []).append(found)
        print(f"| {name} | {' | '.join(rate(values) for values in cells.values())} |", flush=True)


def _two_draws(draw: Draw, r: int) -> tuple[Table, Table]:
    rng = np.random.default_rng([6, r])
    return draw(rng), draw(rng)


def main() -> None:
    """Run the parts that are asked for."""
    parts: dict[str, tuple[Callable[[int], None], int]] = {
        "tables": (tables, 100),
        "power": (power, 30),
        "pipelines": (all_pipelines, 8),
        "halves": (halves, 12),
        "cuts": (cuts, 100),
    }
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", choices=parts, default=list(parts))
    parser.add_argument("--sets", type=int, help="data sets of each kind")
    wanted = parser.parse_args()
    warnings.simplefilter("ignore")
    for name in wanted.only:
        run, n_sets = parts[name]
        run(wanted.sets or n_sets)


if __name__ == "__main__":
    main()
