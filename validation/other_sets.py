"""The front doors and the usual methods on public tables beside the development sets.

Prints Markdown. ``--export FOLDER`` writes the tables, which the R packages caret, dslabs,
modeldata, pls, ALL, bladderbatch, phyloseq and metagenomeSeq ship, with Rscript; ``--data FOLDER``
reads them. Of tables with many cases a few are drawn for training, fewer than columns in most, and
the others are for test; four draws (seed 3). The others are divided into five folds (seed 1).
"""

import argparse
import subprocess
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from classifier import losses
from numpy.typing import NDArray
from regressor import judged
from sklearn.feature_selection import VarianceThreshold
from sklearn.model_selection import ShuffleSplit, StratifiedKFold, StratifiedShuffleSplit

from unselected import SelectiveClassifier, SelectiveRegressor
from unselected.experiments.usual_classifiers import is_run_by_default, usual_methods
from unselected.experiments.usual_regressors import usual_regressors
from unselected.files.tables import read_table

_EXPORT = """
args <- commandArgs(trailingOnly = TRUE)
put <- function(y, X, name)
  write.csv(data.frame(target = y, X), file.path(args[1], paste0(name, ".csv")), row.names = FALSE)
suppressMessages(library(caret))
data(cox2); data(mdrr); data(dhfr); data(BloodBrain)
put(cox2Class, cox2Descr, "cox2")
put(log10(cox2IC50), cox2Descr, "cox2_ic50")
put(mdrrClass, mdrrDescr, "mdrr")
put(dhfr$Y, dhfr[names(dhfr) != "Y"], "dhfr")
put(logBBB, bbbDescr, "blood_brain")
put(dslabs::tissue_gene_expression$y, dslabs::tissue_gene_expression$x, "tissue")
data(gasoline, yarn, package = "pls")
put(gasoline$octane, unclass(gasoline$NIR), "gasoline")
put(yarn$density, unclass(yarn$NIR), "yarn")
of_classes <- function(name, without = character()) {
  data(list = name, package = "modeldata", envir = environment())
  table <- as.data.frame(get(name))
  target <- names(table)[tolower(names(table)) == "class"]
  X <- table[!names(table) %in% c(target, without)]
  X[] <- lapply(X, as.numeric)
  put(table[[target]], X, name)
}
of_classes("cells", "case")
of_classes("pd_speech")
of_classes("ad_data", "Genotype")
data(meats, package = "modeldata")
put(meats$protein, as.data.frame(meats)[1:100], "meats")
suppressMessages({library(Biobase); library(ALL); library(bladderbatch)})
data(ALL); data(bladderdata)
of_genes <- function(y, eset, name, some = !is.na(y)) put(y[some], t(exprs(eset))[some, ], name)
of_b_cells <- grepl("^B", ALL$BT) & ALL$mol.biol %in% c("BCR/ABL", "NEG")
of_genes(as.character(ALL$mol.biol), ALL, "all_bcr", of_b_cells)
of_genes(as.character(ALL$remission), ALL, "all_remission")
of_genes(as.character(ALL$relapse), ALL, "all_relapse")
of_genes(as.character(bladderEset$cancer), bladderEset, "bladder")
suppressMessages({library(phyloseq); library(metagenomeSeq)})
data(enterotype); data(mouseData); data(lungData)
of_counts <- function(y, counts, name) {
  X <- t(as(counts, "matrix"))[!is.na(y), ]
  put(y[!is.na(y)], X[, colSums(X > 0) > 1], name)
}
of_counts(as.character(sample_data(enterotype)$Enterotype), otu_table(enterotype), "enterotype")
of_counts(as.character(mouseData$diet), MRcounts(mouseData), "mouse_diet")
of_counts(as.character(lungData$SmokingStatus), MRcounts(lungData), "lung_smoking")
"""
# The training cases of each table; None for five folds.
CLASSES: dict[str, int | None]
CLASSES = {"cox2": 80, "mdrr": 80, "dhfr": 80, "pd_speech": 80, "ad_data": 80, "tissue": 60}
CLASSES |= {"cells": 60}
CLASSES |= dict.fromkeys(("all_bcr", "all_remission", "all_relapse", "bladder"))
CLASSES |= dict.fromkeys(("enterotype", "mouse_diet", "lung_smoking"))
RESPONSES: dict[str, int | None]
RESPONSES = {"gasoline": 40, "yarn": 20, "blood_brain": 80, "cox2_ic50": 100, "meats": 60}
# Features that methods keep which select a number of them.
_K = 20
_LEAST_DEVIATION = 1e-3


class Table(NamedTuple):
    """A table, its name, and the training and test cases of each draw."""

    name: str
    X: NDArray[Any]
    y: NDArray[Any]
    draws: list[tuple[NDArray[Any], NDArray[Any]]]


def tables(folder: Path, sizes: dict[str, int | None], *, classes: bool) -> Iterator[Table]:
    """Yield the tables that are there."""
    for name, size in sizes.items():
        path = folder / f"{name}.csv"
        if not path.exists():
            continue
        table = read_table(path, target="target")
        X, y = np.asarray(table.X, dtype=np.float64), np.asarray(table.y)
        if classes:
            y = np.unique(y, return_inverse=True)[1]
        if size is None:
            divided = StratifiedKFold(5, shuffle=True, random_state=1)
        else:
            kind = StratifiedShuffleSplit if classes else ShuffleSplit
            divided = kind(4, train_size=size, random_state=3)
        draws = list(divided.split(X, y))
        yield Table(name, X, y if classes else y / y.std(), draws)


def classifiers(n_columns: int) -> dict[str, Any]:
    """Return ours, and the usual methods that a report compares with."""
    k = min(_K, n_columns)
    ours = {"`SelectiveClassifier()`": SelectiveClassifier()}
    ours[f"`SelectiveClassifier(k={k})`"] = SelectiveClassifier(k=k)
    constant: list[Any] = [VarianceThreshold()]
    usual = usual_methods(k, ours=SelectiveClassifier(), first=constant, inner_splits=5, seed=0)
    return ours | {name: one for name, one in usual.items() if is_run_by_default(name)}


def regressors(n_columns: int) -> dict[str, Any]:
    """Return the same for a real response."""
    k = min(_K, n_columns)
    ours = {"`SelectiveRegressor()`": SelectiveRegressor()}
    ours[f"`SelectiveRegressor(k={k})`"] = SelectiveRegressor(k=k)
    return ours | usual_regressors(k, first=[VarianceThreshold()], inner_splits=5, seed=0)


def of_classes(table: Table) -> dict[str, NDArray[np.float64]]:
    """Return log loss, error, and expected less actual error of each method."""
    found: dict[str, list[NDArray[np.float64]]] = {}
    for train, test in table.draws:
        for name, method in classifiers(table.X.shape[1]).items():
            fitted = method.fit(table.X[train], table.y[train])
            # A forest says 0 where no tree votes for a class, which has no log loss.
            proba = np.clip(fitted.predict_proba(table.X[test]), 1e-4, None)
            loss, wrong, expected = losses(proba, table.y[test]).mean(axis=1)
            found.setdefault(name, []).append(np.array([loss, wrong, expected - wrong]))
    return {name: np.mean(each, axis=0) for name, each in found.items()}


def of_responses(table: Table) -> dict[str, NDArray[np.float64]]:
    """Return log density, coverage of 90 % intervals, and root mean squared error."""
    found: dict[str, list[NDArray[np.float64]]] = {}
    for train, test in table.draws:
        X, y = table.X[test], table.y[test]
        for name, method in regressors(table.X.shape[1]).items():
            fitted = method.fit(table.X[train], table.y[train])
            if isinstance(fitted, SelectiveRegressor):
                density, held, squares = judged(fitted, X, y).mean(axis=1)
            else:
                density, held, squares = _judged_normal(fitted, X, y)
            found.setdefault(name, []).append(np.array([density, held, np.sqrt(squares)]))
    return {name: np.mean(each, axis=0) for name, each in found.items()}


def _judged_normal(fitted: Any, X: NDArray[Any], y: NDArray[Any]) -> tuple[float, float, float]:
    mean, deviation = fitted.predict(X, return_std=True)
    deviation = np.maximum(deviation, _LEAST_DEVIATION)
    z = (y - mean) / deviation
    density = -0.5 * z**2 - np.log(deviation) - 0.5 * np.log(2.0 * np.pi)
    return density.mean(), np.mean(np.abs(z) < 1.6448536), np.mean((y - mean) ** 2)


def print_part(title: str, rows: dict[str, dict[str, NDArray[np.float64]]]) -> None:
    """Print a table with a line for each method, and a column for each data set."""
    if not rows:
        return
    print(f"\n{title}\n\n| | " + " | ".join(rows) + " |")
    print("|---" * (len(rows) + 1) + "|")
    for method in next(iter(rows.values())):
        cells = (", ".join(f"{value:.3f}" for value in row[method]) for row in rows.values())
        print(f"| {method} | " + " | ".join(cells) + " |", flush=True)


def main() -> None:
    """Export the tables, or judge the methods."""
    parser = argparse.ArgumentParser(description=__doc__)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--export", type=Path, metavar="FOLDER")
    what.add_argument("--data", type=Path, metavar="FOLDER")
    parser.add_argument("--only", nargs="+", choices=(*CLASSES, *RESPONSES), metavar="TABLE")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.export is not None:
        options.export.mkdir(parents=True, exist_ok=True)
        command = ["Rscript", "-", str(options.export)]
        subprocess.run(command, input=_EXPORT, text=True, check=True)
        return
    some = options.only or (*CLASSES, *RESPONSES)
    sizes = {name: size for name, size in CLASSES.items() if name in some}
    found = {each.name: of_classes(each) for each in tables(options.data, sizes, classes=True)}
    print_part("Log loss, error, expected less actual error", found)
    sizes = {name: size for name, size in RESPONSES.items() if name in some}
    found = {each.name: of_responses(each) for each in tables(options.data, sizes, classes=False)}
    print_part("Log density, coverage of 90 % intervals, root mean squared error", found)


if __name__ == "__main__":
    main()
