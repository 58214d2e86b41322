"""`unselected predict` and `inspect`: without scikit-learn, so that they start at once."""

from typing import Annotated, Any

import numpy as np
from cyclopts import Parameter

from unselected.cli.options import Input, Output, Speech, columns_of, note, patience
from unselected.files import write_csv
from unselected.files.models import SavedModel, load_model
from unselected.files.tables import read_table


def predict(
    model: str,
    new: Input,
    /,
    *,
    output: Output = "-",
    id: str | None = None,  # noqa: A002 - the name of the option
    features_in_rows: Annotated[bool, Parameter(negative="")] = False,
    force: Annotated[bool, Parameter(negative="")] = False,
    speech: Speech = Speech(),  # noqa: B008 - frozen
) -> None:
    """Predict new cases with a fitted model.

    Parameters
    ----------
    model
        Model file written by `unselected fit`.
    new
        Table with the kept features, in any order, and any others; - is stdin.
    output
        CSV file to write; - is stdout.
    id
        Name of a column that identifies the cases; else they are numbered from 1.
    features_in_rows
        The table has a row for each feature and a column for each case.
    force
        Overwrite the output file.
    """
    saved = load_model(model)
    names = saved.kept.names
    with patience("predicting"):
        table = read_table(
            new,
            id_column=id,
            features_in_rows=features_in_rows,
            columns=None if names is None else names.tolist(),
        )
        probability = saved.predict_proba(table.X)
    positive = str(saved.kept.classes[1])
    note(f"{len(probability)} cases; probabilities are those of {positive}")
    ids = range(1, len(probability) + 1) if table.ids is None else table.ids
    predicted = saved.kept.classes[np.argmax(probability, axis=1)]
    rows = list(zip(ids, probability[:, 1].tolist(), predicted.tolist(), strict=True))
    header = (id or "case", f"probability of {positive}", "predicted")
    expected_error = float(np.mean(1.0 - probability.max(axis=1))) if len(rows) else None
    if speech.json:
        write_csv(output, header, rows, overwrite=force) if output != "-" else None
        content = {"positive_class": positive, "expected_error": expected_error}
        cases = [dict(zip(("case", "probability", "predicted"), row, strict=True)) for row in rows]
        speech.answer("predict", {**content, "cases": cases}, "")
        return
    write_csv(output, header, rows, overwrite=force)
    if expected_error is not None:
        note(f"expected error {expected_error:.3f}")


def inspect(
    model: str,
    /,
    *,
    speech: Speech = Speech(),  # noqa: B008 - frozen
) -> None:
    """Show what a model file holds: the kept features, the selection, where it came from.

    Parameters
    ----------
    model
        Model file written by `unselected fit`.
    """
    saved = load_model(model)
    speech.answer("inspect", _content(saved), _text(saved))


def _content(saved: SavedModel) -> dict[str, Any]:
    kept = saved.kept
    return {
        "classes": [str(label) for label in kept.classes],
        "positive_class": str(kept.classes[1]),
        "corrected": kept.event.n_omitted > 0,
        "selection": saved.selection,
        "features": _features(saved),
        "priors": {
            "class_pseudocounts": [kept.model.f0, kept.model.f1],
            "concentration_prior": [kept.model.a, kept.model.b],
        },
        "provenance": saved.provenance,
    }


def _features(saved: SavedModel) -> list[dict[str, Any]]:
    counts = saved.kept.counts
    names = range(counts.I0.size) if saved.kept.names is None else saved.kept.names
    columns = zip(
        names, saved.selection["scores"], counts.I0, counts.I1, saved.kept.thresholds, strict=True
    )
    return [
        {
            "name": str(name),
            "score": score,
            "ones": [int(I0), int(I1)],
            "cases": [counts.n0, counts.n1],
            "cut": float(cut),
        }
        for name, score, I0, I1, cut in columns
    ]


def _text(saved: SavedModel) -> str:
    negative, positive = (str(label) for label in saved.kept.classes)
    selection = saved.selection
    rows = [
        (f["name"], f"{f['score']:.4f}", *map(_share, f["ones"], f["cases"]), f"{f['cut']:g}")
        for f in sorted(_features(saved), key=lambda f: -float(f["score"]))
    ]
    header = ("feature", "|COR|", f"ones in {negative}", f"ones in {positive}", "cut")
    bound = "" if selection["threshold"] is None else f", cut at {selection['threshold']:.4g}"
    corrected = "corrected" if saved.kept.event.n_omitted else "not corrected"
    return "\n".join(
        [
            f"classes: {negative}, {positive}; probabilities are those of {positive}",
            f"selection: {selection['rule']}, {len(rows)} of {selection['n_features']} features "
            f"kept{bound}; {corrected}",
            *(f"{key}: {value}" for key, value in saved.provenance.items()),
            "",
            columns_of(rows, header),
        ]
    )


def _share(ones: int, cases: int) -> str:
    return f"{ones}/{cases}"
