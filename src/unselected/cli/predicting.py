"""`unselected predict`, without scikit-learn, so that it starts fast."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unselected._typing import ColumnNamer
from unselected.cli.commands import PredictOptions
from unselected.cli.covariates import levels_of, read_covariates, rows_with_covariates
from unselected.cli.options import classes_content, classes_text, note, patience
from unselected.cli.sources import check_plain, check_whole, read_kept, stays_in_its_file
from unselected.files.models import SavedModel, load_model
from unselected.files.tables import read_table
from unselected.files.writing import check_writable, write_csv
from unselected.fitted.predictor import ClassPredictor, ResponsePredictor, kept_features

QUANTILES = (0.05, 0.5, 0.95)


@dataclass(frozen=True)
class Prediction:
    """The output for new cases: columns of a table, the same for JSON, and notes.

    ``header``, ``rows`` and ``cases`` do not contain the ids of the cases. ``about`` is printed
    before the table, ``after`` after it.
    """

    header: Sequence[str]
    rows: Sequence[Sequence[Any]]
    content: dict[str, Any]
    cases: Sequence[dict[str, Any]]
    about: str
    after: str | None


def predict(model: str, new: str, /, *, options: PredictOptions) -> None:
    """Do what `unselected.cli.commands.predict` says."""
    output, force = options.output, options.force
    check_writable(output, overwrite=force)
    saved = load_model(model)
    _check_options(saved, model, options)
    with patience("predicting"):
        X, known_ids = _read_new(saved, new, options)
        predictor = saved.predictor
        if isinstance(predictor, ClassPredictor):
            predicted = _classes(predictor, X, options)
        else:
            levels = QUANTILES if options.quantiles is None else options.quantiles
            predicted = _numbers(predictor, X, levels)
    note(f"{len(predicted.rows)} cases; {predicted.about}")
    ids = list(range(1, len(predicted.rows) + 1) if known_ids is None else known_ids)
    if not options.speech.json or output != "-":
        rows = [(case, *row) for case, row in zip(ids, predicted.rows, strict=True)]
        write_csv(output, (options.id or "case", *predicted.header), rows, overwrite=force)
    if options.speech.json:
        cases = [{"case": case, **c} for case, c in zip(ids, predicted.cases, strict=True)]
        content = {"kind": saved.kind, **predicted.content, "cases": cases}
        options.speech.answer("predict", content, "")
    elif predicted.after is not None:
        note(predicted.after)


def _read_new(saved: SavedModel, path: str, options: PredictOptions) -> tuple[Any, Any]:
    """Return what the model needs of the new cases, and their ids or None."""
    names, coding = saved.predictor.names, saved.predictor.coding
    wanted, levels = ((), ()) if coding is None else (coding.names, levels_of(coding))
    ids = covariates = None
    if stays_in_its_file(path):
        check_plain(path, options.id, options.features_in_rows)
        X = read_kept(path, saved.kind, names, no_names=options.no_names)
    else:
        check_whole(path, options.no_names)
        table = read_table(
            path,
            id_column=options.id,
            features_in_rows=options.features_in_rows,
            columns=None if names is None else names.tolist(),
            covariates=wanted if options.covariates is None else (),
            levels=levels,
        )
        for remark in table.notes:
            note(f"note: {remark}")
        X, ids, covariates = table.X, table.ids, table.covariates
    if coding is None:
        return X, ids
    if covariates is None:
        covariates = read_covariates(options.covariates or path, wanted, levels, path, len(X))
    return rows_with_covariates(X, coding, covariates), ids


def _check_options(saved: SavedModel, model: str, options: PredictOptions) -> None:
    """Raise on options that are for the other kind of response."""
    what, of_others = "classes", ["quantiles"]
    if saved.classes is None:
        what, of_others = "numbers", ["prevalence", "interval", "indeterminate_below"]
    for name in of_others:
        if getattr(options, name) is not None:
            raise ValueError(
                f"--{name.replace('_', '-')} is not available for {model}, which predicts {what}: "
                "omit it."
            )
    if options.covariates is not None and saved.predictor.coding is None:
        raise ValueError(f"--covariates is not available for {model}, which has none: omit it.")


def _prevalence(given: Sequence[str] | None, classes: NDArray[Any]) -> Any:
    """Return --prevalence as a number, or as numbers by class label; None if not given."""
    if given is None:
        return None
    if len(given) == 1 and "=" not in given[0]:
        return _number(given[0], given[0])
    labels = {str(label): label for label in classes.tolist()}
    values: dict[Any, float] = {}
    for text in given:
        name, equals, value = text.rpartition("=")
        label = labels.get(name, name)
        if not equals:
            raise ValueError(
                f"--prevalence {text} names no class: give CLASS=PROBABILITY for each class."
            )
        if label in values:
            raise ValueError(f"--prevalence has the class {name} twice: give it once.")
        values[label] = _number(value, text)
    return values


def _number(text: str, given: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(
            f"--prevalence {given} is neither a number nor CLASS=PROBABILITY."
        ) from None


def _classes(predictor: ClassPredictor, X: Any, options: PredictOptions) -> Prediction:
    """Return the probabilities of the second of two classes, or of all classes."""
    prevalence = _prevalence(options.prevalence, predictor.classes)
    level, least = options.interval, options.indeterminate_below
    if least is not None and not 0.0 <= least <= 1.0:
        raise ValueError(f"--indeterminate-below {least} must be from 0 to 1.")
    if level is not None and not 0.0 < level < 1.0:
        raise ValueError(f"--interval {level} must be between 0 and 1, for example 0.9.")
    label = _naming(predictor)
    probability = predictor.predict_proba(X, prevalence=prevalence, label=label)
    labels = [str(label) for label in predictor.classes]
    guesses = predictor.classes[np.argmax(probability, axis=1)].tolist()
    if least is not None:
        sure = (probability.max(axis=1) >= least).tolist()
        guesses = [guess if known else None for guess, known in zip(guesses, sure, strict=True)]
    shown = [1] if len(labels) == 2 else list(range(len(labels)))
    header = [f"probability of {labels[j]}" for j in shown]
    columns = [probability[:, shown]]
    if level is not None:
        lower, upper = predictor.predict_proba_interval(
            X, level=level, prevalence=prevalence, label=label
        )
        header += [f"{end} end of {labels[j]}" for j in shown for end in ("lower", "upper")]
        columns.append(np.stack([lower, upper], axis=2)[:, shown].reshape(len(lower), -1))
    rows = [(*row, guess) for row, guess in zip(np.hstack(columns).tolist(), guesses, strict=True)]
    expected = float(np.mean(1.0 - probability.max(axis=1))) if len(rows) else None
    return Prediction(
        header=[*header, "predicted"],
        rows=rows,
        content={**classes_content(predictor.classes), "expected_error": expected},
        cases=[_case(row, [labels[j] for j in shown], level is not None) for row in rows],
        about=f"probabilities are those of {labels[1]}"
        if len(labels) == 2
        else classes_text(predictor.classes),
        after=_remark(expected, guesses),
    )


def _naming(predictor: ClassPredictor | ResponsePredictor) -> ColumnNamer:
    """Return how messages call a feature: the file has other columns, in any order."""
    features = kept_features(predictor.fitted)
    return lambda column: f"feature {features[column]}"


def _case(row: Sequence[Any], labels: Sequence[str], with_intervals: bool) -> dict[str, Any]:
    """Return a row of the table for JSON."""
    n = len(labels)
    probability = dict(zip(labels, row, strict=False))
    ends = {label: list(row[n + 2 * j : n + 2 * j + 2]) for j, label in enumerate(labels)}
    if n == 1:
        case = {"probability": row[0], **({"interval": ends[labels[0]]} if with_intervals else {})}
    else:
        case = {"probabilities": probability, **({"intervals": ends} if with_intervals else {})}
    return {**case, "predicted": row[-1]}


def _remark(expected: float | None, guesses: Sequence[Any]) -> str | None:
    if expected is None:
        return None
    left = sum(guess is None for guess in guesses)
    said = f"expected error {expected:.3f}, the error rate that these probabilities imply"
    return said + (f"; {left} cases indeterminate" if left else "")


def _numbers(predictor: ResponsePredictor, X: Any, levels: Sequence[float]) -> Prediction:
    """Return means, standard deviations and quantiles."""
    label = _naming(predictor)
    mean, std = predictor.mean_and_std(X, label=label)
    values = predictor.quantiles(X, levels, label=label)
    rows = np.column_stack([mean, std, values]).tolist()
    names = [repr(level) for level in levels]
    return Prediction(
        header=["mean", "std", *(f"quantile {name}" for name in names)],
        rows=rows,
        content={"quantiles": list(levels)},
        cases=[
            {"mean": m, "std": s, "quantiles": dict(zip(names, row, strict=True))}
            for m, s, *row in rows
        ],
        about="mean, standard deviation and quantiles of the response",
        after=None,
    )
