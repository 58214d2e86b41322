"""`unselected inspect`, without scikit-learn, so that it starts fast."""

from typing import Any

import numpy as np

from unselected.cli.commands import InspectOptions
from unselected.cli.options import classes_content, columns_of, patience
from unselected.files.models import SavedModel, load_model
from unselected.files.writing import check_writable, write_csv
from unselected.fitted.base import RELATED, short
from unselected.fitted.covariate_coding import CovariateCoding
from unselected.fitted.description import Feature, describe_features, score_text
from unselected.fitted.effects import FeatureEffects
from unselected.models.fractions import FractionSummary

# The number of features shown without --all.
_SHOWN = 20
# A fraction of features above this is all of them.
_ALL = 0.9999


def inspect(model: str, /, *, options: InspectOptions) -> None:
    """Do what `unselected.cli.commands.inspect` says."""
    output = options.output
    if output is not None:
        check_writable(output, overwrite=options.force)
    saved = load_model(model)
    told = None
    if options.effects or output is not None:
        with patience("computing effects"):
            told = saved.feature_effects(level=options.level)
    if told is not None and output is not None:
        table = told.to_dict()
        columns = [column.tolist() for column in table.values()]
        write_csv(output, table, zip(*columns, strict=True), overwrite=options.force)
        if output == "-":
            return
    features = describe_features(saved.predictor.fitted, saved.selection["scores"])
    most = len(features) if options.all else _SHOWN
    content, text = _content(saved, features), _text(saved, features, most)
    if told is not None:
        coding = saved.predictor.coding
        content |= {"effects": _effects_content(told, coding)}
        text += f"\n\n{_effects_text(told, coding, most)}"
    options.speech.answer("inspect", content, text)


def _effects_content(told: FeatureEffects, coding: CovariateCoding | None) -> dict[str, Any]:
    """Return the table for JSON, where an infinite effect at face value becomes None."""
    table = told.to_dict()
    rows = zip(*(map(_finite, column.tolist()) for column in table.values()), strict=True)
    return {
        "level": told.level,
        **({} if coding is None else {"adjusted_for": coding.names}),
        "features": [dict(zip(table, row, strict=True)) for row in rows],
    }


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not np.isfinite(value) else value


def _effects_text(told: FeatureEffects, coding: CovariateCoding | None, most: int) -> str:
    """Return a table for each kind of effect, with the largest score first."""
    order = np.argsort(-told.score, kind="stable")[:most]
    parts = []
    for name, effect in told.effects.items():
        columns = (told.features, effect.naive, effect.mean, effect.low, effect.high)
        # Features of the other family have no such effect.
        rows = [[column[j] for column in columns] for j in order if not np.isnan(effect.mean[j])]
        show = short if name.startswith("raw_difference") else "{:.3f}".format
        cells = [(str(feature), *map(show, values)) for feature, *values in rows]
        header = (name, "at face value", "corrected mean", "from", "to")
        parts.append(columns_of(cells, header) + _left_out(told.score.size, most))
    adjusted = "" if coding is None else f" adjusted for {coding.listed},"
    title = f"effects,{adjusted} with {100.0 * told.level:g} % intervals"
    return "\n\n".join([title, *parts])


def _content(saved: SavedModel, features: list[Feature]) -> dict[str, Any]:
    classes = {} if saved.classes is None else classes_content(saved.classes)
    related, coding = saved.fitted.related, saved.predictor.coding
    return {
        "kind": saved.kind,
        **classes,
        **({} if coding is None else {"covariates": coding.to_json()}),
        "corrected": saved.fitted.event.n_omitted > 0,
        "selection": saved.selection,
        "features": features,
        "priors": saved.fitted.priors,
        **saved.fitted.details(),
        **({} if related is None else {"related_fraction": related.fraction._asdict()}),
        **_guard_content(saved),
        "provenance": saved.provenance,
    }


def _guard_content(saved: SavedModel) -> dict[str, Any]:
    """Return the power of the likelihood and the model weights, where these were learned."""
    average = saved.average
    if not average.is_learned:
        return {}
    content: dict[str, Any] = {
        "mean_eta": average.mean_power,
        "untempered_probability": average.full_power_probability,
        "mean_epsilon": average.mean_outlier_fraction,
    }
    if len(average.powers) > 1:
        return {"weighing": {"weights": average.weights.tolist(), **content}}
    return {"tempering": content}


def _provenance_text(key: str, value: Any) -> list[str]:
    """Return the lines of an entry; for the dependence report, its sentences."""
    if key == "dependence" and isinstance(value, dict) and isinstance(value.get("advice"), list):
        return [f"{key}: {sentence}" for sentence in value["advice"]]
    return [f"{key}: {value}"]


def _text(saved: SavedModel, features: list[Feature], most: int) -> str:
    selection, coding = saved.selection, saved.predictor.coding
    bound = "" if selection["threshold"] is None else f", cut at {selection['threshold']:.4g}"
    corrected = "corrected" if saved.fitted.event.n_omitted else "not corrected"
    about = "response: numbers"
    if saved.classes is not None:
        classes = classes_content(saved.classes)
        about = f"classes: {', '.join(classes['classes'])}"
        if "positive_class" in classes:
            about += f"; probabilities are those of {classes['positive_class']}"
    return "\n".join(
        [
            f"model: {saved.kind}",
            about,
            *(f"covariate {words}" for words in ([] if coding is None else coding.in_words())),
            f"selection: {selection['rule']}, {len(features)} of {selection['n_features']} "
            f"features kept{bound}; {corrected}",
            *saved.fitted.in_words(),
            *_related_text(saved),
            *([f"likelihood: {saved.average.in_words()}"] if saved.average.is_learned else []),
            *(line for entry in saved.provenance.items() for line in _provenance_text(*entry)),
            "",
            _feature_table(saved, features[:most]) + _left_out(len(features), most),
        ]
    )


def _left_out(n_features: int, most: int) -> str:
    """Return a line with the number of features that are not shown, if any."""
    more = n_features - most
    return f"\n... and {more} more features with lower scores: --all shows them" if more > 0 else ""


def _related_text(saved: SavedModel) -> list[str]:
    related = saved.fitted.related
    return [] if related is None else [f"related features: {_fraction_text(related.fraction)}"]


def _fraction_text(fraction: FractionSummary) -> str:
    """Return the fraction of related features in words.

    >>> _fraction_text(FractionSummary(0.986, 1.0, 1.0))
    'all of them, with a probability above 95 %'
    >>> _fraction_text(FractionSummary(0.2, 0.1, 0.35))
    '20 % of all (90 % interval: 10 % to 35 %)'
    """
    if fraction.low > _ALL:
        return "all of them, with a probability above 95 %"
    mean, low, high = (f"{100.0 * value:.3g} %" for value in fraction)
    return f"{mean} of all (90 % interval: {low} to {high})"


def _feature_table(saved: SavedModel, features: list[Feature]) -> str:
    """Return a table with a row for each feature; binary ones and others have their own columns."""
    shown = [saved.fitted.cells(feature) for feature in features]
    adjusted = "" if saved.predictor.coding is None else "adjusted "
    score = f"{adjusted}{saved.selection['statistic']}"
    told = dict.fromkeys(name for cells in shown for name in cells)
    names = sorted(told, key=lambda name: name == RELATED)  # it is the last, for all kinds
    rows = [
        (f["name"], score_text(f["score"]), *(cells.get(name, "") for name in names))
        for f, cells in zip(features, shown, strict=True)
    ]
    return columns_of(rows, ("feature", score, *names))
