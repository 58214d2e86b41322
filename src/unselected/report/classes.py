"""A data set with classes: both classifiers on all cases, cross-validated, and a page on them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from unselected._typing import Floats
from unselected.calibration import DecileRow, decile_table, most_probable
from unselected.dependence.diagnosis import Writer, as_keyword
from unselected.estimators.added_value import AddedValue
from unselected.estimators.classifier import SelectiveClassifier
from unselected.experiments import ComparisonRow, class_added_value, compare, comparison_table
from unselected.experiments.folds import by_method
from unselected.experiments.usual_classifiers import OurClassifier
from unselected.plots import ProbabilityScatterDisplay, ReliabilityDisplay
from unselected.report.averages import AverageOfModels
from unselected.report.cases import CaseIntervals
from unselected.report.page import (
    decimals,
    digits,
    method_section,
    paragraph,
    percent,
    pictures,
    settings_table,
    table,
)
from unselected.report.paper_models import PaperModel
from unselected.report.shared import (
    BOTH,
    added_sections,
    added_sentences,
    best_sentence,
    coding_of,
    column_names,
    comparison_table_of,
    feature_table,
    interval_of_mean,
    kept_sentence,
    preselected_sentences,
    settings_of,
)

# A log loss this much above that of the class frequencies is not chance.
_MUCH_WORSE = 0.05
# What is shown of a feature in each class: the first of these that its description has.
_SEEN = {
    "ones": "ones in {}",
    "centers": "typical value in {} (n known)",
    "means": "mean in {} (n known)",
}
# The same at the means of the covariates.
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

    def verdict(self) -> list[str]:
        """Return what the numbers mean, in sentences."""
        corrected, uncorrected = (self.rows[method] for method in BOTH)
        n = self.y.size
        sentences = [
            f"{kept_sentence(self.corrected)} In cross-validation the classifier was "
            f"wrong in {percent(corrected.actual_error.value)} of cases.",
            "Without correcting for the selection, the expected error rate was "
            f"{percent(uncorrected.expected_error.value)}; {_judged(uncorrected, n)}. With the "
            f"correction it was {percent(corrected.expected_error.value)}; "
            f"{_judged(corrected, n)}.",
        ]
        if _is_overconfident(corrected, n):
            sentences.append(
                "The overconfidence that remains after the correction does not come from the "
                f"selection. {self.own.on_overconfidence}"
            )
        frequencies = self.rows.get("class frequencies")
        loss = corrected.log_loss.value
        if frequencies is not None and loss > frequencies.log_loss.value + _MUCH_WORSE:
            sentences.append(
                "Its probabilities were worse than the class frequencies alone, with a log loss of "
                f"{loss:.3f} against {frequencies.log_loss.value:.3f}: where it was wrong it was "
                f"far too confident. {self.own.on_failure}"
            )
        sentences += added_sentences(self.added)
        sentences += preselected_sentences(self.corrected, "the actual error rates", "low")
        return [*sentences, best_sentence(self.rows, "log_loss", "log loss", -1)]

    def sections(self) -> list[tuple[str, str]]:
        """Return the headings below the verdict, and the HTML under each."""
        return [
            ("Pictures", pictures(_figures(self))),
            *added_sections(self.added, coding_of(self.corrected)),
            ("Methods compared", _comparison(self)),
            ("Selected features", _features(self)),
            ("Calibration", _calibration(self)),
            *self.own.sections(),
            ("Settings", settings_table(self.settings)),
            ("Method", method_section("class", self.own.on_dependence, adjusted=bool(self.added))),
        ]


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
    seed: int = 0,
    provenance: dict[str, Any] | None = None,
    progress: bool = False,
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
    provenance : dict, default=None
        More settings to show: the input file, its hash.
    progress : bool
        Show it on stderr.
    writer : callable
        How advice writes a parameter and its value; by default as a Python keyword.

    Returns
    -------
    findings : Findings
    """
    grouped = {} if groups is None else {"groups": groups}
    corrected = clone(classifier).set_params(correct_selection=True)
    corrected.fit(X, y, covariates=covariates, **grouped)
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
        seed=seed,
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
        rows={row.method: row for row in comparison_table(records, y, seed=seed)},
        settings=settings_of(classifier, coding, seed, folds, provenance),
        own=_own_findings(
            corrected, X, y, covariates, probability["corrected"], groups is not None, writer
        ),
        added=None
        if coding is None
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
        return f"the actual one was {much} as high, so the probabilities are overconfident"
    if expected > max(actual.high, interval_of_mean(actual, n)[1]):
        return "the actual one was lower, so the probabilities are underconfident"
    return "that differs from the actual one by no more than chance"


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
        "squared_error": ("squared error", decimals),
        "actual_error": ("error", decimals),
        "expected_error": ("expected error", decimals),
    }
    return paragraph(
        "Cross-validated, with selection inside every fold for every method; 95 % intervals from "
        "resampling the cases. Probabilities can be trusted if expected and actual error agree."
    ) + comparison_table_of(findings.rows, shown)


def _features(findings: Findings) -> str:
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
    each = zip(told[kind], told["cases"], strict=True)
    if kind == "ones":
        return [f"{ones} of {n}" for ones, n in each]
    return [f"{digits(value)} ({n})" for value, n in each]


def _adjusted(told: dict[str, Any]) -> list[str]:
    """Return what was seen of a feature in each class, at the means of the covariates."""
    return [digits(value) for value in told[_kind_of(told)]]


def _calibration(findings: Findings) -> str:
    tables = [decile_table(*_judged_cases(findings, method)) for method in BOTH]
    header = ("probability", *("cases", "mean prediction", "actual fraction") * 2)
    rows = [
        (f"{left.low:.1f} to {left.high:.1f}", *_cells(left), *_cells(right))
        for left, right in zip(*tables, strict=True)
    ]
    classes = findings.corrected.classes_
    event = str(classes[1]) if classes.size == 2 else "the most probable class"
    return paragraph(
        f"Cross-validated probabilities of {event}, in ten categories: first corrected, then "
        "uncorrected. For calibrated probabilities, mean prediction and actual fraction agree."
    ) + table(header, rows)


def _judged_cases(findings: Findings, method: str) -> tuple[NDArray[Any], Floats]:
    """Return whether a class occurred, and its probability: second of two, or most probable."""
    rows = findings.probability[method]
    return (findings.y, rows[:, 1]) if rows.shape[1] == 2 else most_probable(findings.y, rows)


def _cells(row: DecileRow) -> tuple[str, str, str]:
    if row.mean_prediction is None or row.actual_fraction is None:
        return "0", "", ""
    return str(row.count), f"{row.mean_prediction:.3f}", f"{row.actual_fraction:.3f}"


def _figures(findings: Findings) -> list[tuple[str, Any]]:
    figures: list[tuple[str, Any]] = [
        (f"Reliability, {method}", _reliability(findings, method)) for method in BOTH
    ]
    figures.append(("Each case with and without correction", _scatter(findings)))
    return figures + findings.own.figures()


def _reliability(findings: Findings, method: str) -> ReliabilityDisplay:
    """Return the reliability curve; its band is seeded, so pages are reproducible."""
    happened, probability = _judged_cases(findings, method)
    classes = findings.corrected.classes_
    if classes.size > 2:
        return ReliabilityDisplay.from_predictions(
            happened, probability, pos_label=None, random_state=0
        )
    return ReliabilityDisplay.from_predictions(
        classes[happened], probability, pos_label=classes[1], random_state=0
    )


def _scatter(findings: Findings) -> ProbabilityScatterDisplay:
    corrected, uncorrected = (findings.probability[method] for method in BOTH)
    classes = findings.corrected.classes_
    if classes.size > 2:
        return ProbabilityScatterDisplay.from_most_probable(findings.y, corrected, uncorrected)
    return ProbabilityScatterDisplay.from_predictions(
        classes[findings.y], corrected[:, 1], uncorrected[:, 1], pos_label=classes[1]
    )
