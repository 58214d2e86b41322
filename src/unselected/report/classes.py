"""A data set with classes: both classifiers on all cases, cross-validated, and a page on them."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from unselected._typing import Floats
from unselected.calibration import DecileRow, decile_table
from unselected.dependence.diagnosis import Writer, as_keyword
from unselected.estimators.added_value import AddedValue
from unselected.estimators.classifier import SelectiveClassifier
from unselected.experiments import (
    ComparisonRow,
    Stability,
    best_in_words,
    class_added_value,
    compare,
    comparison_table,
    selection_stability,
)
from unselected.experiments.added_value import can_tell_added_value
from unselected.experiments.folds import OURS, by_method
from unselected.experiments.usual_classifiers import FREQUENCIES, OurClassifier
from unselected.fitted.effects import FeatureEffects
from unselected.plots.methods import CLASS_MEASURES
from unselected.plots.style import method_label
from unselected.report.averages import AverageOfModels
from unselected.report.cases import CaseIntervals
from unselected.report.class_pictures import ClassPictures
from unselected.report.page import (
    Figure,
    FirstScreen,
    decimals,
    digits,
    folded_table,
    method_section,
    paragraph,
    percent,
    pictures,
    settings_table,
    wide_picture,
)
from unselected.report.paper_models import PaperModel
from unselected.report.shared import (
    BOTH,
    added_sections,
    added_sentences,
    coding_of,
    column_names,
    effect_figures,
    feature_table,
    features_pictures,
    interval_of_mean,
    kept_words,
    methods_section,
    preselected_sentences,
    settings_of,
    stability_figures,
    with_ours,
)

# A log loss this much above that of the class frequencies is not chance.
_MUCH_WORSE = 0.05
# What is shown of a feature in each class: the first of these that its description has.
_SEEN = {
    "ones": "ones in {}",
    "copies": "copies in {}",
    "centers": "typical value in {} (n known)",
    "means": "mean in {} (n known)",
}
# What shares are of.
_SHARES = {"ones": "cases", "copies": "alleles"}
# What was seen at the means of the covariates.
_ADJUSTED = {"centers": "adjusted typical value in {}", "means": "adjusted mean in {}"}


@dataclass(frozen=True)
class Findings:
    """What a report says: the corrected classifier on all cases, and methods cross-validated.

    ``y`` holds the numbers of the classes, and ``probability``, for each method, the
    cross-validated probabilities of all classes, averaged over the repetitions, a row for each
    case. ``own`` is what is said of this kind of classifier only, ``added`` what features add to
    covariates where there are any.
    """

    corrected: OurClassifier
    names: Sequence[str] | NDArray[Any]
    y: NDArray[np.intp]
    probability: dict[str, Floats]
    rows: dict[str, ComparisonRow]
    settings: dict[str, Any]
    own: PaperModel | AverageOfModels
    added: AddedValue | None = None

    stability: Stability | None = None

    @cached_property
    def effects(self) -> FeatureEffects:
        """The effects of the kept features, which several pictures show."""
        return self.corrected.feature_effects()

    @property
    def pictures(self) -> ClassPictures:
        """The pictures of the cross-validated probabilities."""
        return ClassPictures(self.corrected.classes_, self.y, self.probability, self.rows)

    def verdict(self) -> list[str]:
        """Return what the numbers mean, in two sentences."""
        ours, uncorrected = self.rows[OURS], self.rows.get("uncorrected")
        without = ""
        if uncorrected is not None:
            expected = percent(uncorrected.expected_error.value)
            without = f" (without the correction for selection, in {expected})"
        first = (
            f"With {kept_words(self.corrected)}, the classifier was wrong in "
            f"{percent(ours.actual_error.value)} of cases left out, and expected to be in "
            f"{percent(ours.expected_error.value)}{without}: {_judged(ours, self.y.size)}."
        )
        return [first, *filter(None, [best_in_words(self.rows, called=method_label)])]

    def cautions(self) -> list[str]:
        """Return what a reader must know before believing the verdict."""
        sentences = preselected_sentences(self.corrected, "the actual error rates", "low")
        if _is_overconfident(self.rows[OURS], self.y.size):
            sentences.append(
                "The overconfidence that remains after the correction does not come from the "
                f"selection. {self.own.on_overconfidence}"
            )
        frequencies = self.rows.get(FREQUENCIES)
        loss = self.rows[OURS].log_loss.value
        if frequencies is not None and loss > frequencies.log_loss.value + _MUCH_WORSE:
            sentences.append(
                "Its probabilities were worse than the class frequencies alone, with a log loss of "
                f"{loss:.3f} against {frequencies.log_loss.value:.3f}: where it was wrong it was "
                f"far too confident. {self.own.on_failure}"
            )
        return sentences + added_sentences(self.added)

    def first_screen(self) -> FirstScreen:
        """Return verdict, reliability, promises and features."""
        drawn = self.pictures
        figures = [drawn.reliability(), drawn.promised(), *self._feature_figures(slice(1))]
        return FirstScreen(self.verdict(), self.cautions(), figures)

    def _feature_figures(self, which: slice) -> list[Figure]:
        labels = self.pictures.labels
        between = f"{labels[1]} less {labels[0]}" if len(labels) == 2 else ""
        return features_pictures(self.corrected, self.effects, self.names, between, which=which)

    def sections(self) -> list[tuple[str, str]]:
        """Return the headings below the first screen, and the HTML under each."""
        drawn = self.pictures
        method = method_section(
            "class", self.own.on_dependence, adjusted=coding_of(self.corrected) is not None
        )
        return [
            ("Methods compared", _comparison(self)),
            ("Order and decisions", pictures(drawn.curves())),
            ("Selected features", self._features()),
            ("Cases", wide_picture(*drawn.cases()) + self.own.cases_table()),
            *added_sections(self.added, coding_of(self.corrected)),
            ("Calibration", _calibration(self)),
            *self.own.sections(),
            ("Settings", settings_table(self.settings)),
            ("Method", method),
        ]

    def _features(self) -> str:
        figures = [
            *stability_figures(self.stability, self.names),
            *effect_figures(self.corrected, self.effects),
            *self._feature_figures(slice(1, None)),
        ]
        return pictures(figures) + _feature_table(self)


def examine(
    X: Any,
    y: Any,
    *,
    classifier: OurClassifier,
    groups: Any = None,
    covariates: Any = None,
    names: Sequence[str] | NDArray[Any] | None = None,
    n_splits: int = 5,
    n_repeats: int = 5,
    methods: Sequence[str] | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
    provenance: dict[str, Any] | None = None,
    progress: bool = False,
    on_fit: Callable[[float], None] | None = None,
    writer: Writer = as_keyword,
) -> Findings:
    """Fit a classifier, and cross-validate it with and without correction.

    Parameters
    ----------
    X, y : array-like
        The data; NaN is a missing value.
    classifier : SelectiveClassifier, SelectiveBernoulliNB or SelectiveGaussianNB
        What to fit; it is not changed.
    groups : array-like, default=None
        Cases of the same group stay together in all folds; for a `SelectiveClassifier`.
    covariates : table, default=None
        See `SelectiveClassifier.fit`; ``classifier`` may name columns of X instead.
    names : sequence of str, default=None
        Names of the columns of X.
    n_splits, n_repeats, seed
        Of the cross-validation.
    methods : sequence of str, default=None
        What to compare with, see `unselected.experiments.compare`; "corrected" is always run.
    n_jobs : int, default=None
        Processes of the cross-validation; no number depends on it.
    provenance : dict, default=None
        More settings to show: the input file, its hash.
    progress : bool
        Show it on stderr.
    on_fit : callable, default=None
        Told how many seconds the fit to all cases took, before the cross-validation starts.
    writer : callable
        How advice writes a parameter and its value; by default as a Python keyword.

    Returns
    -------
    findings : Findings
    """
    grouped, start = {} if groups is None else {"groups": groups}, time.monotonic()
    corrected = clone(classifier).set_params(correct_selection=True)
    corrected.fit(X, y, covariates=covariates, **grouped)
    if on_fit is not None:
        on_fit(time.monotonic() - start)
    coding = coding_of(corrected)
    names = column_names(corrected, names)
    records = compare(
        X,
        y,
        k=max(1, corrected.selection_.indices.size),
        classifier=classifier,
        groups=groups,
        covariates=covariates,
        n_splits=n_splits,
        n_repeats=n_repeats,
        methods=with_ours(methods),
        seed=seed,
        n_jobs=n_jobs,
        progress=progress,
    )
    together = "" if groups is None else ", groups kept together"
    folds = f"{n_repeats} x {n_splits}-fold, stratified{together}"
    codes = np.unique(np.asarray(y), return_inverse=True)[1]
    probability = {
        method: np.mean([record.probability for record in group], axis=0)
        for method, group in by_method(records).items()
    }
    return Findings(
        corrected=corrected,
        names=names,
        y=codes,
        probability=probability,
        rows={row.method: row for row in comparison_table(records, y, groups=groups, seed=seed)},
        settings=settings_of(classifier, coding, seed, folds, provenance),
        stability=selection_stability(corrected, X, y, covariates=covariates, seed=seed),
        own=_own_findings(
            corrected, X, y, covariates, probability["corrected"], groups is not None, writer
        ),
        added=None
        if coding is None or not can_tell_added_value(records)
        else class_added_value(records, y, coding.names, groups=groups, seed=seed),
    )


def _own_findings(
    corrected: OurClassifier,
    X: Any,
    y: Any,
    covariates: Any,
    probability: Floats,
    grouped: bool,
    writer: Writer,
) -> PaperModel | AverageOfModels:
    """Return what is said of this kind of classifier only."""
    codes = np.unique(np.asarray(y), return_inverse=True)[1]
    if isinstance(corrected, SelectiveClassifier):
        return AverageOfModels(corrected, codes, probability, grouped, writer)
    return PaperModel(
        corrected=corrected,
        uncorrected=clone(corrected).set_params(correct_selection=False).fit(X, y, covariates),
        dependence=replace(corrected.dependence_report(), writer=writer),
        cases=CaseIntervals.of(corrected, X, codes, covariates),
    )


def _judged(row: ComparisonRow, n: int) -> str:
    """Compare the expected error rate with the actual one of n cases, given its interval."""
    expected, actual = row.expected_error.value, row.actual_error
    if _is_overconfident(row, n):
        times = actual.value / expected if expected > 0 else float("inf")
        much = f"{times:.1f} times" if np.isfinite(times) else "infinitely many times"
        return f"the probabilities are overconfident, with {much} the errors expected"
    if expected > max(actual.high, interval_of_mean(actual, n)[1]):
        return "the probabilities are underconfident"
    return "that agrees, but for chance, so the probabilities can be trusted"


def _is_overconfident(row: ComparisonRow, n: int) -> bool:
    """Say whether there were more errors than expected, by more than chance.

    With few errors some resamples have none, and the bootstrap interval then reaches 0. The exact
    interval does not.
    """
    actual = row.actual_error
    return row.expected_error.value < max(actual.low, interval_of_mean(actual, n)[0])


def _comparison(findings: Findings) -> str:
    shown = {
        "log_loss": ("log loss", decimals),
        "auc": ("AUC", decimals),
        "actual_error": ("error", decimals),
        "expected_error": ("expected error", decimals),
        "squared_error": ("squared error", decimals),
    }
    several = (
        " AUC is the mean over classes, each against all others."
        if findings.corrected.classes_.size > 2
        else ""
    )
    words = (
        "All methods are fitted in the same folds, with everything that they select or tune inside "
        "the fold. Bars are 95 % intervals from 999 bootstrap samples of the cases; differences "
        f"are paired by case, and orange where 0 is outside.{several}"
    )
    return methods_section(findings.rows, CLASS_MEASURES, shown, words)


def _feature_table(findings: Findings) -> str:
    model = findings.corrected
    adjusted = coding_of(model) is not None
    described = model.panel().predictor.fitted.describe(model.scores_)
    kinds = {_kind_of(told) for told in described}
    shown = _ADJUSTED if adjusted else _SEEN
    words = [words for kind, words in shown.items() if kind in kinds]
    header = [" or ".join(each.format(label) for each in words) for label in model.classes_]
    return feature_table(model, findings.names, header, _adjusted if adjusted else _seen)


def _kind_of(told: dict[str, Any]) -> str:
    """Return what is shown of a feature, given its description."""
    return next(kind for kind in _SEEN if kind in told)


def _seen(told: dict[str, Any]) -> list[str]:
    """Return what was seen of a feature in each class."""
    kind = _kind_of(told)
    if kind in _SHARES:
        shares = zip(told[kind], told[_SHARES[kind]], strict=True)
        return [f"{ones} of {n}" for ones, n in shares]
    each = zip(told[kind], told["cases"], strict=True)
    return [f"{digits(value)} ({n})" for value, n in each]


def _adjusted(told: dict[str, Any]) -> list[str]:
    """Return what was seen of a feature in each class, at the means of the covariates."""
    return [digits(value) for value in told[_kind_of(told)]]


def _calibration(findings: Findings) -> str:
    drawn = findings.pictures
    methods = [name for name in BOTH if name in findings.rows]
    tables = [decile_table(*drawn.judged(method)) for method in methods]
    header = ["probability"]
    for method in methods:
        name = f", {method_label(method)}"
        header += [f"cases{name}", f"mean prediction{name}", f"actual fraction{name}"]
    rows = [
        (f"{each[0].low:.1f} to {each[0].high:.1f}", *(c for row in each for c in _cells(row)))
        for each in zip(*tables, strict=True)
    ]
    words = (
        f"Cross-validated probabilities of {drawn.event}, in ten categories. For calibrated "
        "probabilities, mean prediction and actual fraction agree."
    )
    both = [drawn.reliability("uncorrected"), drawn.scatter()] if len(methods) == 2 else []
    figures = pictures([*both, *findings.own.figures()])
    return paragraph(words) + figures + folded_table("Table of ten categories", header, rows)


def _cells(row: DecileRow) -> tuple[str, str, str]:
    if row.mean_prediction is None or row.actual_fraction is None:
        return "0", "", ""
    return str(row.count), f"{row.mean_prediction:.3f}", f"{row.actual_fraction:.3f}"
