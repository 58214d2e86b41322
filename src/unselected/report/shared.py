"""An estimator with and without correction, fitted to all cases: what every page says of both."""

import platform
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unselected import __version__
from unselected.calibration import Estimate
from unselected.calibration.intervals import exact_interval
from unselected.estimators.added_value import AddedValue
from unselected.estimators.selecting import SelectiveEstimator
from unselected.experiments import Stability
from unselected.experiments.folds import OURS
from unselected.fitted.covariate_coding import CovariateCoding
from unselected.fitted.description import score_text
from unselected.fitted.effects import FeatureEffects
from unselected.plots import (
    ConcentrationDisplay,
    EffectsDisplay,
    FeatureIntervalsDisplay,
    MethodsDisplay,
    OmissionProbabilityDisplay,
    StabilityDisplay,
)
from unselected.plots.feature_intervals import kind_of
from unselected.plots.style import method_label
from unselected.report.page import (
    decimals,
    digits,
    folded_table,
    paragraph,
    percent,
    table,
    wide_picture,
    with_interval,
)

BOTH = ("corrected", "uncorrected")

# How many features a page lists.
_MOST_FEATURES = 500
# Kinds of effects in units of their own, which do not share an axis.
_OWN_UNITS = ("log_odds_ratio", "raw_difference")
# Scores under another name than that of the selection.
_SCORES = {
    "|COR|": "|correlation|",
    "F": "F statistic",
    "fisher": "-log10 p (Fisher)",
    "welch": "|t| (Welch)",
    "moderated_t": "|t| (moderated)",
    "wilcoxon": "|z| (Wilcoxon)",
    "auc": "area under the curve",
    "mean_difference": "|mean difference|",
}
# Pictures of effects, of many classes.
_MOST_EFFECTS = 6

Names = Sequence[str] | NDArray[Any]
Show = Callable[[float], str]


def column_names(fitted: SelectiveEstimator, names: Names | None) -> Names:
    """Return the names of the columns: as given, those of the table, or numbers."""
    if names is None:
        numbered = [f"column {j}" for j in range(fitted.n_features_in_)]
        return getattr(fitted, "feature_names_in_", numbered)
    if len(names) != fitted.n_features_in_:
        raise ValueError(f"names has {len(names)} names for {fitted.n_features_in_} columns.")
    return names


def with_ours(methods: Sequence[str] | None) -> Sequence[str] | None:
    """Return the methods to compare, ours first; None stands for the default."""
    if methods is None:
        return None
    return [OURS, *(name for name in methods if name != OURS)]


def coding_of(fitted: SelectiveEstimator) -> CovariateCoding | None:
    """Return how the covariates of a fitted estimator are coded; None where it has none."""
    coding: CovariateCoding | None = fitted.panel().predictor.coding
    return coding


def added_sentences(added: AddedValue | None) -> list[str]:
    """Return what the features add to the covariates, where there are any."""
    return [] if added is None else added.in_words()[:1]


def added_sections(
    added: AddedValue | None, coding: CovariateCoding | None
) -> list[tuple[str, str]]:
    """Return the section on covariates and what features add to them, where there are any."""
    if added is None or coding is None:
        return []
    words = (
        "Features are scored, kept and modelled given the covariates, and effects are adjusted for "
        f"them. Coding: {'; '.join(coding.in_words())}. All methods compared below have them too, "
        "but for 'features alone' and those that use no columns."
    )
    how = (
        "Cross-validated in the same folds: covariates alone, features alone, and both. "
        "Differences are paired by case, with intervals from resampled cases."
    )
    sentences = "".join(map(paragraph, added.in_words()))
    content = paragraph(words) + sentences + paragraph(how) + table(added.header, added.rows())
    return [(f"What the features add to {coding.listed}", content)]


def adjusted_for(coding: CovariateCoding | None) -> str:
    """Return what is said of an effect in the presence of covariates."""
    return "" if coding is None else f", adjusted for {coding.listed}"


def settings_of(
    estimator: SelectiveEstimator,
    coding: CovariateCoding | None,
    seed: int,
    cross_validation: str,
    provenance: dict[str, Any] | None,
) -> dict[str, Any]:
    """Return what it takes to reproduce a page: data, seed, parameters and versions."""
    packages = {name: version(name) for name in ("numpy", "scipy", "scikit-learn")}
    return {
        **(provenance or {}),
        "seed": seed,
        "cross-validation": cross_validation,
        "model": type(estimator).__name__,
        **{name: repr(value) for name, value in estimator.get_params().items()},
        **({} if coding is None else {"covariates": "; ".join(coding.in_words())}),
        "unselected": __version__,
        "python": platform.python_version(),
        **packages,
    }


def interval_of_mean(fraction: Estimate, n: int) -> tuple[float, float]:
    """Return the exact interval of a fraction of n cases, a mean over repetitions.

    >>> low, high = interval_of_mean(Estimate(0.0, 0.0, 0.0, 0.95), 4)
    >>> low, round(high, 6)  # 0.025 = (1 - high)^4
    (0.0, 0.602365)
    """
    return exact_interval(round(fraction.value * n), n, fraction.level)


def kept_words(fitted: SelectiveEstimator) -> str:
    """Return how many features were kept."""
    selection = fitted.selection_
    return f"{selection.indices.size} of {selection.n_features} features"


def preselected_sentences(fitted: SelectiveEstimator, spoilt: str, how: str) -> list[str]:
    """Return what has to be said if the columns were preselected; nothing otherwise."""
    if fitted.preselected_from is None:
        return []
    return [
        "The columns were selected earlier, on these same cases, so cross-validation could not "
        f"repeat the selection: {spoilt} shown here are too {how}."
    ]


def feature_table(
    fitted: Any,
    names: Names,
    header: Sequence[str],
    cells: Callable[[dict[str, Any]], Sequence[str]],
) -> str:
    """Return the kept features, the best first, with more columns of the model's own.

    Parameters
    ----------
    fitted : estimator
    names : sequence of str
        Of all columns that the estimator was fitted to.
    header : sequence of str
    cells : callable
        Given the model's description of a feature, what is between the score and whether the
        feature is at the cut.
    """
    score = _SCORES.get(fitted.selection_.statistic, fitted.selection_.statistic)
    show = decimals if fitted.selection_.statistic == "|COR|" else digits
    if coding_of(fitted) is not None:
        score = f"adjusted {score}"
    described = fitted.panel().predictor.fitted.describe(fitted.scores_)
    order = np.argsort(-fitted.scores_, kind="stable")
    rows = [
        (
            str(names[fitted.selection_.indices[j]]),
            score_text(fitted.scores_[j], show),
            *cells(described[j]),
            "yes" if fitted.scores_[j] == fitted.threshold_ else "",
        )
        for j in order[:_MOST_FEATURES]
    ]
    counted = f"{len(rows)} of {order.size}" if order.size > len(rows) else str(order.size)
    summary = f"Table of {counted} kept features"
    return folded_table(summary, ("feature", score, *header, "at the cut"), rows)


def methods_section(
    rows: Mapping[str, Any],
    measures: Sequence[Any],
    shown: Mapping[str, tuple[str, Show]],
    words: str,
) -> str:
    """Return the methods compared: a picture, and below it the table.

    ``shown`` has the heading of each field, and how it is shown; the first is the one that
    differences are of.
    """
    several = len(rows) > 1
    first = next(iter(shown)) if several else None
    header = ["method"]
    for field, (heading, _) in shown.items():
        header += [heading, "difference from ours"] if field == first else [heading]
    cells = []
    for row in rows.values():
        line = [method_label(row.method)]
        for field, (_, show) in shown.items():
            line.append(with_interval(getattr(row, field), show))
            if field == first:
                found = row.differences.get(field)
                line.append("" if found is None else with_interval(found, show))
        cells.append((*line, f"{row.features_needed:.0f}", row.method))
    table_of_all = folded_table(
        f"Table of {len(cells)} methods" if several else "Table",
        (*header, "features needed", "name for --method"),
        cells,
    )
    drawn = [measure for measure in measures if several or not measure.is_difference]
    picture = MethodsDisplay.from_rows(rows.values(), measures=drawn)
    return wide_picture(words, picture) + table_of_all


def features_pictures(
    fitted: Any, effects: FeatureEffects, names: Names, between: str, *, which: slice
) -> list[tuple[str, Any]]:
    """Return pictures of the strongest features, one for each kind of effect.

    ``which`` of them, where the first is of the kind that most features have.
    """
    if len(effects) == 0:
        return []
    known = {
        kind: int(np.isfinite(one.mean).sum())
        for name, one in reversed(effects.effects.items())
        if (kind := kind_of(name)) not in _OWN_UNITS
    }
    labels = [str(names[j]) for j in fitted.selection_.indices]
    adjusted = adjusted_for(coding_of(fitted))
    caption = (
        "The strongest features. Selection makes them look stronger than they are; the filled dots "
        f"take that back{adjusted}."
    )
    return [
        (
            caption,
            FeatureIntervalsDisplay.from_effects(effects, names=labels, kind=kind, between=between),
        )
        for kind in sorted(filter(known.get, known), key=lambda kind: -known[kind])[which]
    ]


def stability_figures(stability: Stability | None, names: Names) -> list[tuple[str, Any]]:
    """Return the picture of the stability of the selection, where anything was selected."""
    if stability is None:
        return []
    k, n = stability.kept.size, stability.n_resamples
    often = int(np.sum(stability.frequency[stability.kept] >= 0.9))
    caption = (
        f"Stability: the {k} strongest features were selected again from {n} bootstrap samples of "
        f"the cases. {often} of the {k} are selected in at least 90 % of these; the median is "
        f"{percent(stability.median)}. Where it is low, other features do nearly as well."
    )
    display = StabilityDisplay.from_frequency(
        names, stability.frequency, stability.kept, n_resamples=n
    )
    return [(caption, display)]


def posterior_figures(corrected: Any, uncorrected: Any, caption: str) -> list[tuple[str, Any]]:
    """Return pictures of the posteriors of the concentration, with captions."""
    both = dict(zip(BOTH, (corrected, uncorrected), strict=True))
    figures: list[tuple[str, Any]] = [(caption, ConcentrationDisplay.from_estimators(both))]
    if corrected.threshold_ is not None:
        display = OmissionProbabilityDisplay.from_estimator(corrected)
        figures.append(("Probability that a feature is omitted", display))
    return figures


def effect_figures(corrected: Any, effects: FeatureEffects) -> list[tuple[str, Any]]:
    """Return a picture of the kept features' effects; one per class if there are more than two."""
    if len(effects) == 0:
        return []
    shown = [name for name in effects.effects if kind_of(name) not in _OWN_UNITS][:_MOST_EFFECTS]
    adjusted = adjusted_for(coding_of(corrected))
    labels = [str(label) for label in getattr(corrected, "classes_", ())]
    pictured = []
    for name in shown:
        # The longest: a label may end as another does.
        own = max((x for x in labels if name.endswith(f"_{x}")), key=len, default="")
        on = f" on {own}" if own and labels[2:] else ""
        caption = (
            f"Effects of all kept features{on}{adjusted}, at face value and with selection "
            "accounted for"
        )
        pictured.append((caption, EffectsDisplay.from_effects(effects, effect=name)))
    return pictured
