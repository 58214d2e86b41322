"""`unselected export`, without scikit-learn, so that it starts fast."""

from typing import Any

from unselected.calculator.page import calculator_page
from unselected.calculator.score_card import score_card
from unselected.cli.commands import ExportOptions
from unselected.cli.options import note, patience
from unselected.files.labels import read_labels
from unselected.files.models import SavedModel, load_model
from unselected.files.writing import check_writable, write_csv, write_text

# Nobody enters more values than these by hand.
_MANY_FIELDS = 100
_OUTPUTS = {"html": "calculator.html", "csv": "score_card.csv"}


def export(model: str, /, *, options: ExportOptions) -> None:
    """Do what `unselected.cli.commands.export` says."""
    output = _OUTPUTS[options.to] if options.output is None else options.output
    check_writable(output, overwrite=options.force)
    saved = load_model(model)
    with patience("exporting"):
        content = _WRITERS[options.to](saved, output, options)
    if output != "-":
        content = {"output": output, "kind": saved.kind, "to": options.to, **content}
        options.speech.answer("export", content, f"written to {output}")


def _write_page(saved: SavedModel, output: str, options: ExportOptions) -> dict[str, Any]:
    labels = None if options.labels is None else read_labels(options.labels)
    page = calculator_page(saved, title=options.title, labels=labels)
    write_text(output, page, overwrite=options.force)
    n_features = saved.predictor.fitted.n_columns
    if n_features > _MANY_FIELDS:
        note(
            f"the page asks for {n_features} features. `unselected fit --k 20` keeps at most 20; "
            "tables can be pasted too."
        )
    return {"bytes": len(page.encode("utf-8"))}


def _write_card(saved: SavedModel, output: str, options: ExportOptions) -> dict[str, Any]:
    card = score_card(saved)
    write_csv(output, card.header, card.rows, overwrite=options.force)
    note(
        "points are log odds: add them to those of (start), leave out what is unknown. "
        f"Probabilities of the card differ from the model's by at most {card.difference:.2g}, over "
        "random cases."
    )
    return {"largest_difference": card.difference}


_WRITERS = {"html": _write_page, "csv": _write_card}
