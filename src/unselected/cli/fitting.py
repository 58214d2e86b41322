"""`unselected fit`."""

import os
from dataclasses import asdict, replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unselected import __version__
from unselected.cli.commands import FitOptions
from unselected.cli.covariates import CovariatePlace, read_covariates
from unselected.cli.estimating import GUARDED, NamedTraining, chosen, estimator
from unselected.cli.options import (
    FRONT_DOORS,
    AnyModelOption,
    Choice,
    Source,
    classes_content,
    classes_text,
    note,
    patience,
)
from unselected.cli.progress import showing_progress, showing_steps
from unselected.cli.sources import (
    check_plain,
    check_whole,
    is_in_another_file,
    names_in,
    open_for,
    stays_in_its_file,
)
from unselected.cli.wording import as_option, in_shell_words
from unselected.estimators.choose import response_for
from unselected.files.models import save_model
from unselected.files.table_request import Table
from unselected.files.tables import read_table
from unselected.files.writing import check_writable, sha256
from unselected.fitted.predictor import Predictor

# The model for a table that stays in its file is chosen by this many columns.
_LOOKED_AT = 1000


def fit(train: str, /, *, source: Source, options: FitOptions) -> None:
    """Do what `unselected.cli.commands.fit` says."""
    choice, output = options.choice, options.output
    check_writable(output, overwrite=options.force)
    if stays_in_its_file(train):
        name, table = open_training(train, source, choice, no_names=options.no_names)
    else:
        check_whole(train, options.no_names)
        name, table = read_training(train, source, choice)
    model = fitted(name, table, choice)
    dependence = dependence_of(model, table)
    with patience(f"hashing {train}"):
        provenance = provenance_of(train, choice.seed)
    predictor = named(model, table)
    for remark in predictor.fitted.remarks_on_saving():
        note(f"note: {remark}")
    save_model(
        predictor,
        output,
        selection=selection_of(model),
        provenance=provenance | dependence,
        overwrite=options.force,
    )
    if output != "-":
        content = {"model": output, "kind": predictor.fitted.kind, "seed": choice.seed}
        content |= described(model, table) | dependence
        options.speech.answer("fit", content, f"{model.selection_}\nwritten to {output}")


def read_training(path: str, source: Source, choice: Choice) -> tuple[str, NamedTraining]:
    """Read a table; return the model to use, and the table with its response."""
    groups = choice.groups
    of_table = groups is not None and not is_in_another_file(groups)
    if of_table and path == "-":
        raise ValueError("--groups needs a table in a file, because it is read twice.")
    place = CovariatePlace.of(source.covariates)
    with patience(f"reading {path}"):
        table = read_table(
            path,
            target=source.target,
            id_column=source.id,
            features_in_rows=source.features_in_rows,
            left_out=groups if of_table else None,
            covariates=place.in_table,
        )
    for remark in table.notes:
        note(f"note: {remark}")
    y, wanted = np.asarray(table.y), choice.model
    name = chosen(choice, table.X, y)
    labels = None
    if groups is not None:
        where = f"{path}:{groups}" if of_table else groups
        labels = read_column(where, "groups", path, y.size, source.features_in_rows and of_table)
    covariates = table.covariates
    if place.file is not None:
        covariates = read_covariates(place.file, place.names, (), path, y.size)
    response = _response(wanted, name, y)
    return name, NamedTraining(table, response, table.names, labels, covariates)


def open_training(
    path: str, source: Source, choice: Choice, *, no_names: bool
) -> tuple[str, NamedTraining]:
    """Open a table that stays in its file; return the model to use, and the table."""
    check_plain(path, source.id, source.features_in_rows)
    wanted = choice.model
    genotypes = choice.family == "genotype"
    with patience(f"opening {path}"):
        X = open_for("genotype" if genotypes else wanted, path, names=not no_names)
        first = X[:, : min(_LOOKED_AT, X.shape[1])]
    y = read_column(source.target, "target", path, X.shape[0])
    by = f", by the first {_LOOKED_AT} of them" if X.shape[1] > _LOOKED_AT else ""
    name = chosen(choice, first, y, by)
    if wanted == "auto" and name == "bernoulli" and not genotypes:
        X = open_for(name, path, names=not no_names)
    if X.names is None:
        lacking = "names are not read" if no_names else "the features have no names"
        note(f"note: {lacking}; features are numbered from 0")
    labels = None
    if choice.groups is not None:
        labels = read_column(choice.groups, "groups", path, X.shape[0])
    place, covariates = CovariatePlace.of(source.covariates), None
    if place.names:
        covariates = read_covariates(place.file or path, place.names, (), path, X.shape[0])
    return name, NamedTraining(X, _response(wanted, name, y), names_in(X), labels, covariates)


def _response(wanted: AnyModelOption, name: str, y: NDArray[Any]) -> NDArray[Any]:
    """Return the response for a model; an error calls the model by the name that was given."""
    return response_for(name, y, called=name if wanted == "auto" else wanted)


def read_column(
    option: str, what: str, path: str, n_cases: int, features_in_rows: bool = False
) -> NDArray[Any]:
    """Return the response or the groups from FILE:COLUMN, in the order of the table's rows."""
    file, colon, column = option.rpartition(":")
    if not (colon and file and column):
        raise ValueError(
            f"--{what} {option}: {path} holds features only; give the table and the column with "
            f"the {'response' if what == 'target' else what}, as in phenotype.csv:status."
        )
    y = np.asarray(read_table(file, target=column, columns=(), features_in_rows=features_in_rows).y)
    if y.size != n_cases:
        raise ValueError(
            f"{file} has {y.size} cases, but {path} has {n_cases}: both must have the same cases, "
            "in the same order."
        )
    if file != path:
        note(
            f"note: cases are matched by their order: row 1 of {file} is row 1 of {path}, and so on"
        )
    return y


def fitted(name: str, table: NamedTraining, choice: Choice) -> Any:
    """Return the fitted model; print the seed and the classes."""
    model = estimator(name, table, choice)
    if name in FRONT_DOORS:
        with showing_steps():
            model.fit(table.X, table.y, **table.fit_arguments)
    else:
        with showing_progress(table.X, "fitting") as X:
            model.fit(X, table.y, **table.fit_arguments)
    note(f"{table.in_words()}, seed {choice.seed}")
    if hasattr(model, "classes_"):
        note(classes_text(model.classes_))
    if choice.k == "loo":
        note(path_text(model.k_path_))
    if name in FRONT_DOORS:
        for sentence in model.in_words():
            note(sentence)
    return model


def path_text(path: list[Any]) -> str:
    """Return the chosen number of features, and the numbers that were tried."""
    best = min(path, key=lambda score: score.log_loss)
    tried = ", ".join(str(score.k) for score in path)
    return (
        f"k = {best.k} has the lowest leave-one-out log loss, {best.log_loss:.3f}; tried: {tried}"
    )


def dependence_of(model: Any, table: NamedTraining) -> dict[str, Any]:
    """Return the report on dependence between features within classes, and print it.

    It takes one more pass over the features, unless the model guards against dependence. For
    features that stay in their file this may take long, and is not done.
    """
    if not isinstance(model, GUARDED):
        return {}
    if not isinstance(table.X, Table) and model.dependence == "none":
        note("note: dependence between features was not checked; use --dependence correlated")
        return {}
    try:
        with patience("checking dependence between features"):
            report = replace(model.dependence_report(), writer=as_option)
    except ValueError as error:
        note(f"note: dependence between features was not checked: {in_shell_words(str(error))}")
        return {}
    for sentence in report.advice:
        note(f"dependence: {sentence}")
    average = model.likelihood_average_
    if average.is_learned:
        note(f"likelihood: {average.in_words()}")
    return {"dependence": report.content()}


def named(model: Any, table: NamedTraining) -> Predictor:
    """Return the predictor, with the names of the table's columns."""
    predictor: Any = model.panel().predictor
    names = table.names[model.selection_.indices]
    return replace(predictor, fitted=replace(predictor.fitted, names=names))  # type: ignore[no-any-return]


def selection_of(model: Any) -> dict[str, Any]:
    """Return the selection as plain JSON types."""
    fields = ("rule", "ties", "threshold", "statistic", "n_features", "n_omitted")
    selection = {field: getattr(model.selection_, field) for field in fields}
    return selection | {"scores": model.scores_.tolist()}


def provenance_of(path: str, seed: int) -> dict[str, Any]:
    """Return the provenance of a result."""
    return {
        "unselected": __version__,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "input": path,
        "sha256": None if path == "-" or os.path.isdir(path) else sha256(path),
        "seed": seed,
    }


def described(model: Any, table: NamedTraining) -> dict[str, Any]:
    """Return the results of a fit as plain JSON types."""
    classes = classes_content(model.classes_) if hasattr(model, "classes_") else {}
    path = [asdict(score) for score in getattr(model, "k_path_", ())]
    weights = getattr(model, "k_weights_", {})
    return {
        "n_cases": table.X.shape[0],
        **({} if table.covariates is None else {"covariates": list(table.covariates.names)}),
        **classes,
        **({"k_path": path} if path else {}),
        **({"k_weights": weights, "marginals": model.marginals_} if weights else {}),
        "corrected": bool(model.correct_selection),
        "selection": selection_of(model),
        "features": table.names[model.selection_.indices].tolist(),
    }
