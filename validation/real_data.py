"""Real-valued features on real data: lymphoma, beside what people use instead, and colon.

The lymphoma data are those of the R package BCBCSF: a table with a column ``class`` and 4026 log
ratios. They are looked for beside a development checkout, or named by the environment variable
LYMPHOMA; the colon data are found as `unselected reproduce colon` finds them.
"""

import os
import warnings
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.calibration import CalibratedClassifierCV
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline

from unselected import SelectiveGaussianNB
from unselected.experiments import colon, paired_tests
from unselected.files.tables import read_table

BESIDE = Path(__file__).parents[2] / "shared" / "data" / "lymphoma.csv.gz"
SIZES = (5, 50, 500)
# Probabilities below this count as this, as scikit-learn's log loss did for long.
SMALLEST = 1e-15

# One division of the colon data, five genes, corrected, by an independent program.
COLON = {"actual_error": 0.148, "log_loss": 0.594, "squared_error": 0.132}


def methods(k: int) -> dict[str, object]:
    """Return the estimators that are compared, each selecting k features."""
    naive_bayes = make_pipeline(SelectKBest(f_classif, k=k), GaussianNB())
    return {
        "SelectiveGaussianNB": SelectiveGaussianNB(k=k),
        "the same, uncorrected": SelectiveGaussianNB(k=k, correct_selection=False),
        "SelectKBest + GaussianNB": naive_bayes,
        "SelectKBest + LogisticRegression": make_pipeline(
            SelectKBest(f_classif, k=k), LogisticRegression(max_iter=5000)
        ),
        "sigmoid-calibrated GaussianNB": CalibratedClassifierCV(naive_bayes, cv=5),
    }


def lymphoma() -> tuple[NDArray[np.float64], NDArray[np.intp]] | None:
    """Return the table and the classes as numbers, or None where there is no file."""
    path = Path(os.environ.get("LYMPHOMA", BESIDE))
    if not path.exists():
        return None
    table = read_table(path, target="class")
    codes = np.unique(np.asarray(table.y), return_inverse=True)[1]
    return np.asarray(table.X, dtype=np.float64), codes


def scores(proba: NDArray[np.float64], y: NDArray[np.intp]) -> tuple[float, float, float]:
    """Return log loss, error and expected error."""
    log_loss = -np.mean(np.log(np.maximum(proba[np.arange(y.size), y], SMALLEST)))
    error, expected = np.mean(proba.argmax(axis=1) != y), np.mean(1.0 - proba.max(axis=1))
    return float(log_loss), float(error), float(expected)


def print_lymphoma(seed: int) -> None:
    """Print a table of all methods and sizes, over three divisions into nine folds."""
    data = lymphoma()
    print("\n## Lymphoma: 62 cases of three classes, 4026 features\n")
    if data is None:
        print("(the data are not there)")
        return
    X, y = data
    print("Log loss / error / expected error in 9-fold stratified cross-validation, means over")
    print(f"divisions with seeds {seed - 1}, {seed} and {seed + 1}; probabilities below")
    print(f"{SMALLEST:g} count as that.\n")
    print("| method | " + " | ".join(f"k = {k}" for k in SIZES) + " |\n|---|---|---|---|")
    for name in methods(1):
        cells = []
        for k in SIZES:
            rows = [one_division(methods(k)[name], X, y, seed + d) for d in (-1, 0, 1)]
            cells.append(" / ".join(f"{value:.3f}" for value in np.mean(rows, axis=0)))
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


def one_division(
    method: object, X: NDArray[np.float64], y: NDArray[np.intp], seed: int
) -> tuple[float, float, float]:
    """Cross-validate one method once."""
    folds = StratifiedKFold(9, shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        proba = cross_val_predict(method, X, y, cv=folds, method="predict_proba")
    return scores(proba, y)


def print_colon() -> None:
    """Print the figures of one division of the colon data beside those of another program."""
    print("\n## Colon: 62 cases, ten groups of 200 genes, 5 kept, values of the genes\n")
    try:
        records = colon(seed=0, features="real")
    except ConnectionError:
        print("(the data are not there)")
        return
    print("| score | corrected | another program | uncorrected | groups in which corrected wins |")
    print("|---|---|---|---|---|")
    for test in paired_tests(records):
        numbers = (test.corrected, COLON[test.score], test.uncorrected)
        cells = " | ".join(f"{value:.3f}" for value in numbers)
        assert abs(test.corrected - COLON[test.score]) < 5e-4
        print(f"| {test.score} | {cells} | {test.n_better} of {test.n_groups} |", flush=True)


if __name__ == "__main__":
    print_lymphoma(1)
    print_colon()
