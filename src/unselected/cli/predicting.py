"""`unselected predict` and `inspect`: without scikit-learn, so that they start at once."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from cyclopts import Parameter
from numpy.typing import NDArray

from unselected.cli.options import (
    Input,
    Output,
    Speech,
    classes_content,
    classes_text,
    columns_of,
    note,
    patience,
)
from unselected.cli.sources import check_plain, check_whole, read_kept, stays_in_its_file
from unselected.dependence.averaging import Weighing
from unselected.files.features import Feature, describe_features
from unselected.files.models import SavedClassifier, SavedRegressor, load_model
from unselected.files.tables import read_table
from unselected.files.writing import write_csv
from unselected.fitted.effects import FeatureEffects
from unselected.fitted.naive_bayes import KeptBernoulli, KeptGaussian, Worth

Saved = SavedClassifier | SavedRegressor
QUANTILES = (0.05, 0.5, 0.95)


@dataclass(frozen=True)
class Prediction:
    """What is told of new cases: columns for a table, the same for JSON, and remarks.

    ``header`` and ``rows`` leave out the case itself, as ``cases`` does. ``about`` is said before
    the table, ``after`` behind it.
    """

    header: Sequence[str]
    rows: Sequence[Sequence[Any]]
    content: dict[str, Any]
    cases: Sequence[dict[str, Any]]
    about: str
    after: str | None


def predict(
    model: str,
    new: Input,
    /,
    *,
    output: Output = "-",
    id: str | None = None,  # noqa: A002 - the name of the option
    features_in_rows: Annotated[bool, Parameter(negative="")] = False,
    no_names: Annotated[bool, Parameter(negative="")] = False,
    quantiles: Annotated[
        tuple[float, ...] | None, Parameter(consume_multiple=True, negative="")
    ] = None,
    prevalence: Annotated[
        tuple[str, ...] | None, Parameter(consume_multiple=True, negative="")
    ] = None,
    interval: float | None = None,
    indeterminate_below: float | None = None,
    force: Annotated[bool, Parameter(negative="")] = False,
    speech: Speech = Speech(),  # noqa: B008 - frozen
) -> None:
    """Predict new cases with a fitted model: probabilities of classes, or mean, std and quantiles.

    Parameters
    ----------
    model
        Model file written by `unselected fit`.
    new
        Table with the kept features, in any order, and any others; - is stdin. Any kind of file
        that `unselected fit` takes.
    output
        CSV file to write; - is stdout.
    id
        Name of a column that identifies the cases; else they are numbered from 1.
    features_in_rows
        The table has a row for each feature and a column for each case.
    no_names
        The model was fitted with --no-names: find its features in an .h5ad or .bed file by their
        numbers. It changes nothing for .npy and .zarr files, which have no names.
    quantiles
        Quantiles of the response to write, regression only; 0.05 0.5 0.95 where not given. They
        stand behind the names of the files.
    prevalence
        How common the classes are where the new cases come from, in place of the training set, for
        example where that has cases and controls sampled apart: CLASS=PROBABILITY for each, or, of
        two classes, the probability of the second. Behind the names of the files.
    interval
        Add intervals of the probabilities that hold this share of the posterior, for example 0.9.
    indeterminate_below
        Leave the prediction empty where no class is at least as probable as this.
    force
        Overwrite the output file.
    """
    saved = load_model(model)
    _check_options(
        saved,
        model,
        {"--quantiles": quantiles},
        {
            "--prevalence": prevalence,
            "--interval": interval,
            "--indeterminate-below": indeterminate_below,
        },
    )
    with patience("predicting"):
        X, known_ids = _read_new(saved, new, id, features_in_rows, no_names)
        if isinstance(saved, SavedClassifier):
            given = None if prevalence is None else _prevalence(prevalence, saved.kept.classes)
            predicted = _classes(saved, X, given, interval, indeterminate_below)
        else:
            predicted = _numbers(saved, X, QUANTILES if quantiles is None else quantiles)
    note(f"{len(predicted.rows)} cases; {predicted.about}")
    ids: Iterable[Any] = range(1, len(predicted.rows) + 1) if known_ids is None else known_ids
    ids = list(ids)
    if not speech.json or output != "-":
        rows = [(case, *row) for case, row in zip(ids, predicted.rows, strict=True)]
        write_csv(output, (id or "case", *predicted.header), rows, overwrite=force)
    if speech.json:
        cases = [{"case": case, **c} for case, c in zip(ids, predicted.cases, strict=True)]
        content = {"kind": saved.kind, **predicted.content, "cases": cases}
        speech.answer("predict", content, "")
    elif predicted.after is not None:
        note(predicted.after)


def _read_new(
    saved: Saved, path: str, id_column: str | None, features_in_rows: bool, no_names: bool
) -> tuple[Any, Any]:
    """Return the kept columns of new cases, and the ids of these where there are any."""
    names = saved.kept.names
    if stays_in_its_file(path):
        check_plain(path, id_column, features_in_rows)
        return read_kept(path, saved.kind, names, no_names=no_names), None
    check_whole(path, no_names)
    table = read_table(
        path,
        id_column=id_column,
        features_in_rows=features_in_rows,
        columns=None if names is None else names.tolist(),
    )
    return table.X, table.ids


def _check_options(
    saved: Saved, model: str, of_numbers: dict[str, Any], of_classes: dict[str, Any]
) -> None:
    """Raise where an option is given that is for the other kind of response."""
    classes = isinstance(saved, SavedClassifier)
    for option, value in (of_numbers if classes else of_classes).items():
        if value is not None:
            what = "classes" if classes else "numbers"
            raise ValueError(
                f"{option} does not go with {model}, which predicts {what}: leave it out."
            )


def _prevalence(given: Sequence[str], classes: NDArray[Any]) -> Any:
    """Return what was given on the command line as a number, or by class label."""
    if len(given) == 1 and "=" not in given[0]:
        return _number(given[0], given[0])
    labels = {str(label): label for label in classes.tolist()}
    values: dict[Any, float] = {}
    for text in given:
        name, equals, value = text.rpartition("=")
        label = labels.get(name, name)
        if not equals:
            raise ValueError(
                f"--prevalence {text} is of no class: give CLASS=PROBABILITY for each."
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


def _classes(
    saved: SavedClassifier,
    X: Any,
    prevalence: Any,
    level: float | None,
    least: float | None,
) -> Prediction:
    """Return the probabilities: that of the second of two classes, or those of all."""
    if least is not None and not 0.0 <= least <= 1.0:
        raise ValueError(f"--indeterminate-below {least} must be from 0 to 1.")
    if level is not None and not 0.0 < level < 1.0:
        raise ValueError(f"--interval {level} must be between 0 and 1, for example 0.9.")
    probability = saved.predict_proba(X, prevalence=prevalence)
    labels = [str(label) for label in saved.kept.classes]
    guesses = saved.kept.classes[np.argmax(probability, axis=1)].tolist()
    if least is not None:
        sure = (probability.max(axis=1) >= least).tolist()
        guesses = [guess if known else None for guess, known in zip(guesses, sure, strict=True)]
    shown = [1] if len(labels) == 2 else list(range(len(labels)))
    header = [f"probability of {labels[j]}" for j in shown]
    columns = [probability[:, shown]]
    if level is not None:
        lower, upper = saved.predict_proba_interval(X, level=level, prevalence=prevalence)
        header += [f"{end} end of {labels[j]}" for j in shown for end in ("lower", "upper")]
        columns.append(np.stack([lower, upper], axis=2)[:, shown].reshape(len(lower), -1))
    rows = [(*row, guess) for row, guess in zip(np.hstack(columns).tolist(), guesses, strict=True)]
    expected = float(np.mean(1.0 - probability.max(axis=1))) if len(rows) else None
    return Prediction(
        header=[*header, "predicted"],
        rows=rows,
        content={**classes_content(saved.kept.classes), "expected_error": expected},
        cases=[_case(row, [labels[j] for j in shown], level is not None) for row in rows],
        about=f"probabilities are those of {labels[1]}"
        if len(labels) == 2
        else classes_text(saved.kept.classes),
        after=_remark(expected, guesses),
    )


def _case(row: Sequence[Any], labels: Sequence[str], with_intervals: bool) -> dict[str, Any]:
    """Return a row of the table as JSON has it."""
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
    return f"expected error {expected:.3f}" + (f"; {left} cases indeterminate" if left else "")


def _numbers(saved: SavedRegressor, X: Any, levels: Sequence[float]) -> Prediction:
    """Return means, standard deviations and quantiles."""
    mean, std = saved.predict(X, return_std=True)
    values = saved.predict_quantiles(X, levels)
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


def inspect(
    model: str,
    /,
    *,
    effects: Annotated[bool, Parameter(negative="")] = False,
    level: float = 0.9,
    output: Output | None = None,
    force: Annotated[bool, Parameter(negative="")] = False,
    speech: Speech = Speech(),  # noqa: B008 - frozen
) -> None:
    """Show what a model file holds: the kept features, the selection, where it came from.

    Parameters
    ----------
    model
        Model file written by `unselected fit`.
    effects
        Show the effects of the kept features too: at face value, and with what selection did to
        them taken back. For many binary features it takes a while.
    level
        Posterior probability of the intervals of effects.
    output
        CSV file to write the effects to, with all that is known of each feature; - is stdout, and
        then nothing else is shown there.
    force
        Overwrite the output file.
    """
    saved = load_model(model)
    told = None
    if effects or output is not None:
        with patience("computing effects"):
            told = saved.feature_effects(level=level)
    if told is not None and output is not None:
        table = told.to_dict()
        columns = [column.tolist() for column in table.values()]
        write_csv(output, table, zip(*columns, strict=True), overwrite=force)
        if output == "-":
            return
    features = describe_features(saved.kept, saved.selection["scores"])
    content, text = _content(saved, features), _text(saved, features)
    if told is not None:
        content |= {"effects": _effects_content(told)}
        text += f"\n\n{_effects_text(told)}"
    speech.answer("inspect", content, text)


def _effects_content(told: FeatureEffects) -> dict[str, Any]:
    """Return the table as JSON has it: an infinite effect at face value becomes None."""
    table = told.to_dict()
    rows = zip(*(map(_finite, column.tolist()) for column in table.values()), strict=True)
    return {
        "level": told.level,
        "features": [dict(zip(table, row, strict=True)) for row in rows],
    }


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not np.isfinite(value) else value


def _effects_text(told: FeatureEffects) -> str:
    """Return a table of effects for each kind of them, the largest score first."""
    order = np.argsort(-told.score, kind="stable")
    parts = []
    for name, effect in told.effects.items():
        columns = (told.features, effect.naive, effect.mean, effect.low, effect.high)
        rows = [tuple(column[j] for column in columns) for j in order]
        cells = [(str(feature), *(f"{value:.3f}" for value in values)) for feature, *values in rows]
        header = (name, "at face value", "corrected mean", "from", "to")
        parts.append(columns_of(cells, header))
    return "\n\n".join([f"effects, with {100.0 * told.level:g} % intervals", *parts])


def _content(saved: Saved, features: list[Feature]) -> dict[str, Any]:
    classes = classes_content(saved.kept.classes) if isinstance(saved, SavedClassifier) else {}
    return {
        "kind": saved.kind,
        **classes,
        "corrected": saved.kept.event.n_omitted > 0,
        "selection": saved.selection,
        "features": features,
        "priors": _priors(saved),
        **_related_content(saved),
        **_tempering_content(saved),
        "provenance": saved.provenance,
    }


def _related_content(saved: Saved) -> dict[str, Any]:
    """Return the posterior of the fraction of related features, where there are two groups."""
    related = saved.kept.related
    return {} if related is None else {"related_fraction": related.fraction._asdict()}


def _worth(saved: Saved) -> Worth | None:
    return saved.kept.tempering if isinstance(saved, SavedClassifier) else None


def _tempering_content(saved: Saved) -> dict[str, Any]:
    """Return what the evidence of the features is worth, where that was learned."""
    worth = _worth(saved)
    if worth is None:
        return {}
    content: dict[str, Any] = {
        name: getattr(worth, name)
        for name in ("mean_eta", "untempered_probability", "mean_epsilon")
    }
    if isinstance(worth, Weighing):
        return {"weighing": {"weights": worth.weights.tolist(), **content}}
    return {"tempering": content}


def _tempering_text(saved: Saved) -> list[str]:
    worth = _worth(saved)
    if worth is None:
        return []
    how = "weighed" if isinstance(worth, Weighing) else "tempered"
    return [f"evidence: {how}. {worth.in_words()}"]


def _provenance_text(key: str, value: Any) -> list[str]:
    """Return an entry in a line; of what is known of dependence, the words."""
    if key == "dependence" and isinstance(value, dict) and isinstance(value.get("advice"), list):
        return [f"{key}: {sentence}" for sentence in value["advice"]]
    return [f"{key}: {value}"]


def _priors(saved: Saved) -> dict[str, Any]:
    kept = saved.kept
    priors: dict[str, Any] = {"concentration_prior": [kept.model.a, kept.model.b]}
    if isinstance(kept, KeptBernoulli):
        return {"class_pseudocounts": [kept.model.f0, kept.model.f1], **priors}
    priors["variance_shrinkage"] = kept.model.shrinkage
    if isinstance(kept, KeptGaussian):
        return {"class_pseudocounts": kept.pseudocounts.tolist(), **priors}
    return priors


def _text(saved: Saved, features: list[Feature]) -> str:
    selection = saved.selection
    bound = "" if selection["threshold"] is None else f", cut at {selection['threshold']:.4g}"
    corrected = "corrected" if saved.kept.event.n_omitted else "not corrected"
    about = "response: numbers"
    if isinstance(saved, SavedClassifier):
        classes = classes_content(saved.kept.classes)
        about = f"classes: {', '.join(classes['classes'])}"
        if "positive_class" in classes:
            about += f"; probabilities are those of {classes['positive_class']}"
    return "\n".join(
        [
            f"model: {saved.kind}",
            about,
            f"selection: {selection['rule']}, {len(features)} of {selection['n_features']} "
            f"features kept{bound}; {corrected}",
            *_related_text(saved),
            *_tempering_text(saved),
            *(line for entry in saved.provenance.items() for line in _provenance_text(*entry)),
            "",
            _feature_table(saved, features),
        ]
    )


def _related_text(saved: Saved) -> list[str]:
    related = saved.kept.related
    if related is None:
        return []
    mean, low, high = (f"{100.0 * value:.3g} %" for value in related.fraction)
    return [f"related features: {mean} of all (90 % interval: {low} to {high})"]


def _feature_table(saved: Saved, features: list[Feature]) -> str:
    """Return a row for each kept feature."""
    header: tuple[str, ...]
    rows: list[tuple[str, ...]]
    first = ("feature", saved.selection["statistic"])
    if isinstance(saved, SavedRegressor):
        header = ("correlation", "slope", "mean", "deviation", "cases")
        rows = [tuple(_short(f[name]) for name in header) for f in features]
    else:
        labels = [str(label) for label in saved.kept.classes]
        if saved.kind == "bernoulli":
            header = (*(f"ones in {label}" for label in labels), "cut")
            rows = [(*map(_share, f["ones"], f["cases"]), f"{f['cut']:g}") for f in features]
        else:
            header = (*(f"mean in {label}" for label in labels), "deviation")
            rows = [(*map(_short, f["means"]), _short(f["deviation"])) for f in features]
    if saved.kept.related is not None:
        header = (*header, "related")
        rows = [
            (*row, f"{f['related_probability']:.3f}") for f, row in zip(features, rows, strict=True)
        ]
    cells = [(f["name"], f"{f['score']:.4f}", *row) for f, row in zip(features, rows, strict=True)]
    return columns_of(cells, (*first, *header))


def _share(ones: int, cases: int) -> str:
    return f"{ones}/{cases}"


def _short(value: float) -> str:
    return f"{value:.4g}"
