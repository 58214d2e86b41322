"""`unselected fit`."""

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import Annotated, Any

import numpy as np
from cyclopts import Parameter
from numpy.typing import NDArray

from unselected import __version__
from unselected.cli.options import (
    Choice,
    DependenceOption,
    Input,
    ModelOption,
    Output,
    Source,
    Speech,
    classes_content,
    classes_text,
    note,
    patience,
)
from unselected.cli.progress import showing_progress
from unselected.cli.sources import (
    ColumnNumbers,
    check_plain,
    check_whole,
    names_in,
    open_for,
    stays_in_its_file,
)
from unselected.columns.sources import ColumnSource
from unselected.estimators.bernoulli import SelectiveBernoulliNB
from unselected.estimators.choose import ModelName, choose_model, response_for
from unselected.estimators.gaussian import SelectiveGaussianNB
from unselected.estimators.inputs import find_columns
from unselected.estimators.regression import SelectiveNaiveRegressor
from unselected.files.codecs import Kept
from unselected.files.models import save_model
from unselected.files.table_request import Table
from unselected.files.tables import read_table
from unselected.files.writing import sha256

SelectiveClassifier = SelectiveBernoulliNB | SelectiveGaussianNB
Selective = SelectiveClassifier | SelectiveNaiveRegressor

ESTIMATORS: dict[ModelName, Callable[..., Selective]] = {
    "bernoulli": SelectiveBernoulliNB,
    "gaussian": SelectiveGaussianNB,
    "regression": SelectiveNaiveRegressor,
}

# Columns of a table that stays in its file by which a model is chosen.
_LOOKED_AT = 1000


@dataclass(frozen=True, eq=False)
class OpenedTable:
    """A training table of which the features stay in their file."""

    X: ColumnSource
    y: NDArray[Any]
    names: NDArray[Any] | ColumnNumbers


TrainingTable = Table | OpenedTable


def fit(
    train: Input,
    /,
    *,
    source: Source,
    choice: Choice = Choice(),  # noqa: B008 - frozen
    no_names: Annotated[bool, Parameter(negative="")] = False,
    output: Output = "model.json",
    force: Annotated[bool, Parameter(negative="")] = False,
    speech: Speech = Speech(),  # noqa: B008 - frozen
) -> None:
    """Select features, fit the model, and write it to a file.

    Parameters
    ----------
    train
        Table with training cases: CSV, TSV (also .gz), Parquet or sparse .npz; - is stdin. Of
        .npy, .h5ad, .bed (PLINK) and .zarr files, columns are read in blocks.
    no_names
        Do not read the names of the features of an .h5ad or .bed file, which take about 1 GB of
        memory where there are ten million: features are called by their numbers, from 0 on. It
        changes nothing for .npy and .zarr files, which have no names.
    output
        Model file to write, JSON; - is stdout.
    force
        Overwrite the model file.
    """
    table: TrainingTable
    if stays_in_its_file(train):
        name, table = open_training(train, source, choice.model, no_names=no_names)
    else:
        check_whole(train, no_names)
        name, table = read_training(train, source, choice.model)
    model = fitted(name, table, choice)
    dependence = dependence_of(model, table)
    with patience(f"hashing {train}"):
        provenance = provenance_of(train, choice.seed)
    save_model(
        named(model, table),
        output,
        selection=selection_of(model),
        provenance=provenance | dependence,
        overwrite=force,
    )
    if output != "-":
        content = {"model": output, "kind": name, "seed": choice.seed, **described(model, table)}
        content |= dependence
        speech.answer("fit", content, f"{model.selection_}\nwritten to {output}")


def read_training(path: str, source: Source, wanted: ModelOption) -> tuple[ModelName, Table]:
    """Return the model to use, and a table with the response as that model takes it; tell both."""
    with patience(f"reading {path}"):
        table = read_table(
            path,
            target=source.target,
            id_column=source.id,
            features_in_rows=source.features_in_rows,
        )
    for remark in table.notes:
        note(f"note: {remark}")
    y = np.asarray(table.y)
    name = chosen(wanted, table.X, y)
    return name, replace(table, y=response_for(name, table.X, y, table.names))


def chosen(wanted: ModelOption, X: NDArray[Any], y: NDArray[Any], by: str = "") -> ModelName:
    """Return the model to use, and tell it, and by what it was chosen."""
    if wanted != "auto":
        note(f"model: {wanted}")
        return wanted
    name, reason = choose_model(X, y)
    note(f"model: {name} ({reason}{by}); --model overrides this")
    return name


def open_training(
    path: str, source: Source, wanted: ModelOption, *, no_names: bool
) -> tuple[ModelName, OpenedTable]:
    """Return the model to use, and a table that stays in its file; tell what is assumed."""
    check_plain(path, source.id, source.features_in_rows)
    with patience(f"opening {path}"):
        X = open_for(wanted, path, names=not no_names)
        first = X[:, : min(_LOOKED_AT, X.shape[1])]
    y = read_response(source.target, path, X.shape[0])
    by = f", by the first {_LOOKED_AT} of them" if X.shape[1] > _LOOKED_AT else ""
    name = chosen(wanted, first, y, by)
    if wanted == "auto" and name == "bernoulli":
        X = open_for(name, path, names=not no_names)
    if X.names is None:
        lacking = "names are not read" if no_names else "the features have no names"
        note(f"note: {lacking}; features are called by their numbers, from 0 on")
    names = names_in(X)
    return name, OpenedTable(X, response_for(name, first, y, names[: first.shape[1]]), names)


def read_response(target: str, path: str, n_cases: int) -> NDArray[Any]:
    """Return the response from FILE:COLUMN, whose rows are those of the table at a path."""
    file, colon, column = target.rpartition(":")
    if not (colon and file and column):
        raise ValueError(
            f"--target {target}: {path} holds features only; give the table and the column with "
            "the response, as in phenotype.csv:status."
        )
    y = np.asarray(read_table(file, target=column, columns=()).y)
    if y.size != n_cases:
        raise ValueError(
            f"{file} has {y.size} cases, but {path} has {n_cases}: both must have the same cases, "
            "in the same order."
        )
    note(f"note: cases are matched by their order: row 1 of {file} is row 1 of {path}, and so on")
    return y


def fitted(name: ModelName, table: TrainingTable, choice: Choice) -> Selective:
    """Return the model fitted to a table, and tell the seed and the classes."""
    with naming_columns(table), showing_progress(table.X, "fitting") as X:
        model = estimator(name, table, choice).fit(X, table.y)
    note(f"{table.X.shape[0]} cases, {table.X.shape[1]} features, seed {choice.seed}")
    if not isinstance(model, SelectiveNaiveRegressor):
        note(classes_text(model.classes_))
    if choice.k == "loo":
        note(path_text(model.k_path_))
    return model


def path_text(path: list[Any]) -> str:
    """Return which number of features was chosen among which."""
    best = min(path, key=lambda score: score.log_loss)
    tried = ", ".join(str(score.k) for score in path)
    return (
        f"k = {best.k} best predicts cases left out, with a log loss of {best.log_loss:.3f}; "
        f"tried: {tried}"
    )


def dependence_of(model: Selective, table: TrainingTable) -> dict[str, Any]:
    """Return what is to be said of dependence between features within classes, and tell it.

    That takes one more pass over the features, unless the model allows for dependence: where
    they stay in their file, that may take long, and is not done.
    """
    if isinstance(model, SelectiveNaiveRegressor):
        return {}
    if isinstance(table, OpenedTable) and model.dependence == "none":
        note("note: dependence between features was not looked at; --dependence correlated does")
        return {}
    try:
        with patience("looking at dependence between features"):
            report = model.dependence_report()
    except ValueError as error:
        note(f"note: dependence between features was not looked at: {error}")
        return {}
    for sentence in report.advice:
        note(f"dependence: {sentence}")
    worth = model.panel().kept.tempering
    if worth is not None:
        note(f"evidence: {worth.in_words()}")
    return {"dependence": report.content()}


@contextmanager
def naming_columns(table: TrainingTable) -> Iterator[None]:
    """Add the names of columns to errors that have their numbers only, for arrays have no names."""
    try:
        yield
    except ValueError as error:

        def with_name(found: re.Match[str]) -> str:
            column = int(found[1])
            name = table.names[column : column + 1].tolist()
            return f"{found[0]} ({name[0]!r})" if name else found[0]

        raise ValueError(re.sub(r"\bcolumn (\d+)\b(?! \()", with_name, str(error))) from error


def estimator(name: ModelName, table: TrainingTable, choice: Choice) -> Selective:
    """Return the estimator that the options describe, not yet fitted."""
    always = always_kept(choice.always_keep, table)
    options: dict[str, Any] = {
        "k": choice.k,
        "threshold": choice.threshold,
        "correct_selection": not choice.uncorrected,
        "preselected_from": choice.preselected_from,
        "always_keep": always.tolist() or None,
        "ties": choice.ties,
        "prior": choice.prior,
        "random_state": choice.seed,
    }
    if choice.variance_shrinkage is not None:
        if name == "bernoulli":
            raise ValueError(
                "--variance-shrinkage does not go with the model bernoulli, which has no "
                "variances: leave it out, or use --model gaussian."
            )
        options["variance_shrinkage"] = choice.variance_shrinkage
    return ESTIMATORS[name](**options, **dependence_for(name, choice.dependence))


def dependence_for(name: ModelName, wanted: DependenceOption) -> dict[str, Any]:
    """Return the parameter of dependence as a model takes it; a regression has none."""
    if name != "regression":
        return {"dependence": wanted}
    if wanted != "none":
        raise ValueError(
            f"--dependence {wanted} is for classes, and does not go with the model regression: "
            "leave it out."
        )
    return {}


def always_kept(wanted: tuple[str, ...], table: TrainingTable) -> NDArray[np.intp]:
    """Return the columns that the user names, in increasing order."""
    names, p = table.names, table.X.shape[1]
    if not isinstance(names, ColumnNumbers):
        return find_columns(list(wanted), names, p, "--always-keep")
    for name in wanted:
        if names.place(name) is None:
            raise ValueError(
                f"--always-keep {name}: the features are called by their numbers, 0 to {p - 1}: "
                "give one of these."
            )
    return find_columns([names.place(name) for name in wanted], None, p, "--always-keep")


def named(model: Selective, table: TrainingTable) -> Kept:
    """Return what prediction needs, with the names of the table's columns."""
    kept: Kept = model.panel().kept
    return replace(kept, names=table.names[model.selection_.indices])


def selection_of(model: Selective) -> dict[str, Any]:
    """Return the selection as plain JSON types."""
    selection = model.selection_
    return {
        "rule": selection.rule,
        "ties": selection.ties,
        "threshold": selection.threshold,
        "statistic": selection.statistic,
        "n_features": selection.n_features,
        "n_omitted": selection.n_omitted,
        "scores": model.scores_.tolist(),
    }


def provenance_of(path: str, seed: int) -> dict[str, Any]:
    """Return where a result came from."""
    return {
        "unselected": __version__,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "input": path,
        "sha256": None if path == "-" or os.path.isdir(path) else sha256(path),
        "seed": seed,
    }


def described(model: Selective, table: TrainingTable) -> dict[str, Any]:
    """Return what a fit found, as plain JSON types."""
    classes = {}
    if not isinstance(model, SelectiveNaiveRegressor):
        classes = classes_content(model.classes_)
    path = [asdict(score) for score in getattr(model, "k_path_", ())]
    return {
        "n_cases": table.X.shape[0],
        **classes,
        **({"k_path": path} if path else {}),
        "corrected": bool(model.correct_selection),
        "selection": selection_of(model),
        "features": table.names[model.selection_.indices].tolist(),
    }
