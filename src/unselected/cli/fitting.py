"""`unselected fit`."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Annotated, Any

import numpy as np
from cyclopts import Parameter

from unselected import __version__
from unselected.cli.options import Choice, Input, Output, Source, Speech, note, patience
from unselected.estimators.bernoulli import SelectiveBernoulliNB
from unselected.estimators.inputs import find_columns
from unselected.files import sha256
from unselected.files.models import save_model
from unselected.files.tables import Table, read_table
from unselected.kept import KeptBernoulli


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
    """Select features, fit the classifier, and write it to a file.

    Parameters
    ----------
    train
        Table with training cases: CSV, TSV (also .gz), Parquet or sparse .npz; - is stdin.
    output
        Model file to write, JSON; - is stdout.
    force
        Overwrite the model file.
    """
    table = read_training(train, source)
    model = fitted(table, choice)
    save_model(
        named(model, table),
        output,
        selection=selection_of(model),
        provenance=provenance_of(train, choice.seed),
        overwrite=force,
    )
    if output != "-":
        content = {"model": output, "seed": choice.seed, **described(model, table)}
        speech.answer("fit", content, f"{model.selection_}\nwritten to {output}")


def read_training(path: str, source: Source) -> Table:
    """Return a table with classes."""
    with patience(f"reading {path}"):
        table = read_table(
            path,
            target=source.target,
            id_column=source.id,
            features_in_rows=source.features_in_rows,
        )
    for remark in table.notes:
        note(f"note: {remark}")
    return table


def fitted(table: Table, choice: Choice) -> SelectiveBernoulliNB:
    """Return the classifier fitted to a table, and tell the seed and the positive class."""
    with patience("fitting"):
        model = classifier(table, choice).fit(table.X, table.y)
    positive = model.classes_[1]
    note(f"{table.X.shape[0]} cases, {table.X.shape[1]} features, seed {choice.seed}")
    note(f"classes {model.classes_[0]} and {positive}; probabilities are those of {positive}")
    return model


def classifier(table: Table, choice: Choice) -> SelectiveBernoulliNB:
    """Return the classifier that the options describe, not yet fitted."""
    names = None if table.names is None else np.array(table.names, dtype=object)
    always = find_columns(list(choice.always_keep), names, table.X.shape[1], "--always-keep")
    return SelectiveBernoulliNB(
        k=choice.k,
        threshold=choice.threshold,
        correct_selection=not choice.uncorrected,
        preselected_from=choice.preselected_from,
        always_keep=always.tolist() or None,
        ties=choice.ties,
        random_state=choice.seed,
    )


def named(model: SelectiveBernoulliNB, table: Table) -> KeptBernoulli:
    """Return what prediction needs, with the names of the table's columns."""
    if table.names is None:
        return model.panel().kept
    names = np.array(table.names, dtype=object)[model.selection_.indices]
    return replace(model.panel().kept, names=names)


def selection_of(model: SelectiveBernoulliNB) -> dict[str, Any]:
    """Return the selection as plain JSON types."""
    selection = model.selection_
    return {
        "rule": selection.rule,
        "ties": selection.ties,
        "threshold": selection.threshold,
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


def described(model: SelectiveBernoulliNB, table: Table) -> dict[str, Any]:
    """Return what a fit found, as plain JSON types."""
    kept = model.selection_.indices.tolist()
    return {
        "n_cases": table.X.shape[0],
        "classes": [str(label) for label in model.classes_],
        "positive_class": str(model.classes_[1]),
        "corrected": bool(model.correct_selection),
        "selection": selection_of(model),
        "features": kept if table.names is None else [table.names[j] for j in kept],
    }
