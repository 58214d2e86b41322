"""`unselected fit`."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from typing import Annotated, Any

import numpy as np
from cyclopts import Parameter

from unselected import __version__
from unselected.cli.options import (
    Choice,
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
from unselected.estimators.bernoulli import SelectiveBernoulliNB
from unselected.estimators.choose import ModelName, choose_model, response_for
from unselected.estimators.gaussian import SelectiveGaussianNB
from unselected.estimators.inputs import find_columns
from unselected.estimators.regression import SelectiveNaiveRegressor
from unselected.files import sha256
from unselected.files.kinds import Kept
from unselected.files.models import save_model
from unselected.files.tables import Table, read_table

SelectiveClassifier = SelectiveBernoulliNB | SelectiveGaussianNB
Selective = SelectiveClassifier | SelectiveNaiveRegressor

ESTIMATORS: dict[ModelName, Callable[..., Selective]] = {
    "bernoulli": SelectiveBernoulliNB,
    "gaussian": SelectiveGaussianNB,
    "regression": SelectiveNaiveRegressor,
}


def fit(
    train: Input,
    /,
    *,
    source: Source,
    choice: Choice = Choice(),  # noqa: B008 - frozen
    output: Output = "model.json",
    force: Annotated[bool, Parameter(negative="")] = False,
    speech: Speech = Speech(),  # noqa: B008 - frozen
) -> None:
    """Select features, fit the model, and write it to a file.

    Parameters
    ----------
    train
        Table with training cases: CSV, TSV (also .gz), Parquet or sparse .npz; - is stdin.
    output
        Model file to write, JSON; - is stdout.
    force
        Overwrite the model file.
    """
    name, table = read_training(train, source, choice.model)
    model = fitted(name, table, choice)
    save_model(
        named(model, table),
        output,
        selection=selection_of(model),
        provenance=provenance_of(train, choice.seed),
        overwrite=force,
    )
    if output != "-":
        content = {"model": output, "kind": name, "seed": choice.seed, **described(model, table)}
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
    if wanted == "auto":
        name, reason = choose_model(table.X, y)
        note(f"model: {name} ({reason}); --model overrides this")
    else:
        name = wanted
        note(f"model: {name}")
    return name, replace(table, y=response_for(name, table.X, y, table.names))


def fitted(name: ModelName, table: Table, choice: Choice) -> Selective:
    """Return the model fitted to a table, and tell the seed and the classes."""
    with patience("fitting"), naming_columns(table):
        model = estimator(name, table, choice).fit(table.X, table.y)
    note(f"{table.X.shape[0]} cases, {table.X.shape[1]} features, seed {choice.seed}")
    if not isinstance(model, SelectiveNaiveRegressor):
        note(classes_text(model.classes_))
    return model


@contextmanager
def naming_columns(table: Table) -> Iterator[None]:
    """Add the names of columns to errors that have their numbers only, for arrays have no names."""
    try:
        yield
    except ValueError as error:

        def with_name(found: re.Match[str]) -> str:
            name = table.names[int(found[1]) :][:1].tolist()
            return f"{found[0]} ({name[0]!r})" if name else found[0]

        raise ValueError(re.sub(r"\bcolumn (\d+)\b(?! \()", with_name, str(error))) from error


def estimator(name: ModelName, table: Table, choice: Choice) -> Selective:
    """Return the estimator that the options describe, not yet fitted."""
    always = find_columns(list(choice.always_keep), table.names, table.X.shape[1], "--always-keep")
    options: dict[str, Any] = {
        "k": choice.k,
        "threshold": choice.threshold,
        "correct_selection": not choice.uncorrected,
        "preselected_from": choice.preselected_from,
        "always_keep": always.tolist() or None,
        "ties": choice.ties,
        "random_state": choice.seed,
    }
    if choice.variance_shrinkage is not None:
        if name == "bernoulli":
            raise ValueError(
                "--variance-shrinkage does not go with the model bernoulli, which has no "
                "variances: leave it out, or use --model gaussian."
            )
        options["variance_shrinkage"] = choice.variance_shrinkage
    return ESTIMATORS[name](**options)


def named(model: Selective, table: Table) -> Kept:
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
        "sha256": None if path == "-" else sha256(path),
        "seed": seed,
    }


def described(model: Selective, table: Table) -> dict[str, Any]:
    """Return what a fit found, as plain JSON types."""
    classes = {}
    if not isinstance(model, SelectiveNaiveRegressor):
        classes = classes_content(model.classes_)
    return {
        "n_cases": table.X.shape[0],
        **classes,
        "corrected": bool(model.correct_selection),
        "selection": selection_of(model),
        "features": table.names[model.selection_.indices].tolist(),
    }
