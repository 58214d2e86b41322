"""A data set with classes: both classifiers on all cases, cross-validated, and a page on them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unselected._typing import Floats
from unselected.calibration import DecileRow, decile_table, most_probable
from unselected.dependence.diagnosis import DependenceReport
from unselected.estimators.bernoulli import SelectiveBernoulliNB
from unselected.estimators.gaussian import SelectiveGaussianNB
from unselected.experiments import ComparisonRow, compare, comparison_table
from unselected.experiments.folds import by_method
from unselected.plots import ProbabilityScatterDisplay, ReliabilityDisplay
from unselected.report.cases import CaseIntervals
from unselected.report.dependence import dependence_section
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
from unselected.report.shared import (
    BOTH,
    best_sentence,
    both_fitted,
    column_names,
    comparison_table_of,
    feature_table,
    interval_of_mean,
    kept_sentence,
    posterior_figures,
    preselected_sentences,
    settings_of,
)

# A log loss this much above that of the class frequencies is not chance.
_MUCH_WORSE = 0.05


@dataclass(frozen=True)
class Findings:
    """What a report says: both classifiers on all cases, and both cross-validated.

    ``y`` holds the numbers of the classes, and ``probability``, for each method, the
    cross-validated probabilities of all classes, averaged over the repetitions, a row for each
    case. ``dependence`` is of the corrected classifier, fitted to all cases; ``cases`` are its
    predictions of each case without the case's fold, with intervals.
    """

    corrected: SelectiveBernoulliNB | SelectiveGaussianNB
    uncorrected: SelectiveBernoulliNB | SelectiveGaussianNB
    names: Sequence[str] | NDArray[Any]
    y: NDArray[np.intp]
    probability: dict[str, Floats]
    rows: dict[str, ComparisonRow]
    settings: dict[str, Any]
    dependence: DependenceReport
    cases: CaseIntervals

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
                "selection. The usual reason is that features depend on each other, so the same "
                "evidence is counted several times: treat probabilities near 0 and 1 with caution. "
                f"The section on dependence says more. {self.dependence.advice[-1]}"
            )
        frequencies = self.rows.get("class frequencies")
        loss = corrected.log_loss.value
        if frequencies is not None and loss > frequencies.log_loss.value + _MUCH_WORSE:
            sentences.append(
                "Its probabilities were worse than the class frequencies alone, with a log loss of "
                f"{loss:.3f} against {frequencies.log_loss.value:.3f}: where it was wrong it was "
                "far too confident. Keep fewer features, or use another method."
            )
        sentences += preselected_sentences(self.corrected, "the actual error rates", "low")
        return [*sentences, best_sentence(self.rows, "log_loss", "log loss", -1)]

    def sections(self) -> list[tuple[str, str]]:
        """Return the headings below the verdict, and the HTML under each."""
        return [
            ("Methods compared", _comparison(self)),
            ("Selected features", _features(self)),
            ("Calibration", _calibration(self)),
            ("Cases", self.cases.section()),
            ("Dependence between features", dependence_section(self.corrected, self.dependence)),
            ("Pictures", pictures(_figures(self))),
            ("Settings", settings_table(self.settings)),
            ("Method", method_section("class")),
        ]


def examine(
    X: Any,
    y: Any,
    *,
    classifier: SelectiveBernoulliNB | SelectiveGaussianNB,
    names: Sequence[str] | NDArray[Any] | None = None,
    n_splits: int = 5,
    n_repeats: int = 5,
    seed: int = 0,
    provenance: dict[str, Any] | None = None,
    progress: bool = False,
) -> Findings:
    """Fit a classifier with and without correction, and cross-validate both.

    Parameters
    ----------
    X, y : array-like
        The data; NaN is a missing value.
    classifier : SelectiveBernoulliNB or SelectiveGaussianNB
        What to fit; it is not changed.
    names : sequence of str, default=None
        Names of the columns of X.
    n_splits, n_repeats, seed
        Of the cross-validation.
    provenance : dict, default=None
        More settings to show: the input file, its hash.
    progress : bool
        Show it on stderr.

    Returns
    -------
    findings : Findings
    """
    corrected, uncorrected = both_fitted(classifier, X, y)
    names = column_names(corrected, names)
    records = compare(
        X,
        y,
        k=max(1, corrected.selection_.indices.size),
        classifier=classifier,
        n_splits=n_splits,
        n_repeats=n_repeats,
        seed=seed,
        progress=progress,
    )
    folds = f"{n_repeats} x {n_splits}-fold, stratified"
    codes = np.unique(np.asarray(y), return_inverse=True)[1]
    return Findings(
        corrected=corrected,
        uncorrected=uncorrected,
        names=names,
        y=codes,
        probability={
            method: np.mean([record.probability for record in group], axis=0)
            for method, group in by_method(records).items()
        },
        rows={row.method: row for row in comparison_table(records, y, seed=seed)},
        settings=settings_of(classifier, seed, folds, provenance),
        dependence=corrected.dependence_report(),
        cases=CaseIntervals.of(corrected, X, codes),
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
    bits = isinstance(model, SelectiveBernoulliNB)
    by_class, field = ("ones in {}", "ones") if bits else ("mean in {} (n known)", "means")

    def cells(told: dict[str, Any]) -> list[str]:
        each = zip(told[field], told["cases"], strict=True)
        return [f"{value} of {n}" if bits else f"{digits(value)} ({n})" for value, n in each]

    header = [by_class.format(label) for label in model.classes_]
    return feature_table(model, findings.names, header, cells)


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
    classes = findings.corrected.classes_
    meaning = f" (class 1 is {classes[1]})" if classes.size == 2 else ""
    figures: list[tuple[str, Any]] = [
        (f"Reliability, {method}{meaning}", _reliability(findings, method)) for method in BOTH
    ]
    figures.append((f"Each case with and without correction{meaning}", _scatter(findings)))
    return figures + posterior_figures(
        findings.corrected, findings.uncorrected, "How alike the classes are, given the data"
    )


def _reliability(findings: Findings, method: str) -> ReliabilityDisplay:
    """Return the reliability curve; its band is seeded, so pages are reproducible."""
    pos_label = 1 if findings.corrected.classes_.size == 2 else None
    return ReliabilityDisplay.from_predictions(
        *_judged_cases(findings, method), pos_label=pos_label, random_state=0
    )


def _scatter(findings: Findings) -> ProbabilityScatterDisplay:
    corrected, uncorrected = (findings.probability[method] for method in BOTH)
    if corrected.shape[1] > 2:
        return ProbabilityScatterDisplay.from_most_probable(findings.y, corrected, uncorrected)
    return ProbabilityScatterDisplay.from_predictions(
        findings.y, corrected[:, 1], uncorrected[:, 1]
    )
