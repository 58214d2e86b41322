"""A data set with a real response: a regressor on all cases, cross-validated, and a page on it."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from unselected._typing import Floats
from unselected.calibration import RegressionSummary
from unselected.dependence.diagnosis import Writer, as_keyword
from unselected.estimators.added_value import AddedValue
from unselected.estimators.regressor import SelectiveRegressor
from unselected.experiments import (
    RegressionComparisonRow,
    Stability,
    best_in_words,
    compare_regression,
    regression_table,
    response_added_value,
    selection_stability,
)
from unselected.experiments.added_value import can_tell_added_value
from unselected.experiments.compare_regression import PROMISED_COVERAGE, OurRegressor
from unselected.experiments.folds import OURS, by_method
from unselected.experiments.usual_regressors import MEAN_ONLY
from unselected.fitted.effects import FeatureEffects
from unselected.plots import CoverageDisplay, PITDisplay, PromisedActualDisplay
from unselected.plots.methods import RESPONSE_MEASURES
from unselected.plots.style import method_label
from unselected.report.page import (
    Figure,
    FirstScreen,
    decimals,
    digits,
    folded_table,
    method_section,
    percent,
    pictures,
    settings_table,
    with_interval,
)
from unselected.report.regressions import AverageOfRegressions, PaperRegression
from unselected.report.response_cases import (
    CrossValidated,
    predicted_actual,
    response_cases_table,
)
from unselected.report.shared import (
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


@dataclass(frozen=True)
class RegressionFindings:
    """What a report says: the corrected regressor on all cases, and methods cross-validated.

    ``own`` is what is said of this kind of regressor only, ``added`` what features add to
    covariates where there are any.
    """

    corrected: OurRegressor
    names: Sequence[str] | NDArray[Any]
    y: Floats
    predictions: dict[str, CrossValidated]
    rows: dict[str, RegressionComparisonRow]
    settings: dict[str, Any]
    own: AverageOfRegressions | PaperRegression
    added: AddedValue | None = None

    stability: Stability | None = None
    n_repeats: int = 1

    @cached_property
    def effects(self) -> FeatureEffects:
        """The effects of the kept features, which several pictures show."""
        return self.corrected.feature_effects()

    def verdict(self) -> list[str]:
        """Return what the numbers mean, in two sentences."""
        first = f"With {kept_words(self.corrected)}, {_against_the_mean(self)}; {_covered(self)}."
        return [first, *filter(None, [best_in_words(self.rows, called=method_label)])]

    def cautions(self) -> list[str]:
        """Return what a reader must know before believing the verdict."""
        sentences = preselected_sentences(self.corrected, "the errors", "small")
        if interval_of_mean(self.rows[OURS].coverage, self.y.size)[1] < PROMISED_COVERAGE:
            sentences.append(
                "The overconfidence that remains after the correction does not come from the "
                f"selection. {self.own.on_overconfidence}"
            )
        return sentences + added_sentences(self.added)

    def first_screen(self) -> FirstScreen:
        """Return verdict, predictions against responses, promises and features."""
        promised = PromisedActualDisplay.from_coverage(self.rows.values(), PROMISED_COVERAGE)
        figures: list[Figure] = [
            predicted_actual(self.y, self.predictions[OURS], self._word_on_coverage()),
            (
                f"Coverage of cases left out: {percent(PROMISED_COVERAGE)} were promised. Where "
                "the diamond is right of the bar, intervals are too narrow.",
                promised,
            ),
            *features_pictures(self.corrected, self.effects, self.names, "", which=slice(1)),
        ]
        return FirstScreen(self.verdict(), self.cautions(), figures)

    def _word_on_coverage(self) -> str:
        """Say why the picture counts otherwise than the verdict, where it does."""
        inside = self.predictions[OURS].coverage(self.y)
        mean = self.rows[OURS].coverage.value
        if percent(inside) == percent(mean):
            return ""
        return (
            f" Predictions here are averaged over {self.n_repeats} repetitions, and cover "
            f"{percent(inside)}; those of single repetitions cover {percent(mean)}, on average."
        )

    def sections(self) -> list[tuple[str, str]]:
        """Return the headings below the first screen, and the HTML under each."""
        method = method_section(
            "response", self.own.on_dependence, adjusted=coding_of(self.corrected) is not None
        )
        return [
            ("Methods compared", _comparison(self)),
            ("Coverage and PIT values", _calibration(self)),
            ("Selected features", _features(self)),
            ("Cases", response_cases_table(self.y, self.predictions[OURS])),
            *added_sections(self.added, coding_of(self.corrected)),
            *self.own.sections(),
            ("Settings", settings_table(self.settings)),
            ("Method", method),
        ]


def examine_regression(
    X: Any,
    y: Any,
    *,
    regressor: OurRegressor,
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
) -> RegressionFindings:
    """Fit a regressor, and cross-validate it with and without correction.

    Parameters
    ----------
    X, y : array-like
        The data; ``y`` are numbers.
    regressor : SelectiveRegressor or SelectiveNaiveRegressor
        What to fit; it is not changed.
    groups : array-like, default=None
        Cases of the same group stay together in all folds; for a `SelectiveRegressor`.
    covariates : table, default=None
        See `SelectiveRegressor.fit`; ``regressor`` may name columns of X instead.
    names : sequence of str, default=None
        Names of the columns of X.
    n_splits, n_repeats, seed
        Of the cross-validation.
    methods : sequence of str, default=None
        What to compare with, see `unselected.experiments.compare_regression`; "corrected" is
        always run.
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
    findings : RegressionFindings
    """
    grouped, start = {} if groups is None else {"groups": groups}, time.monotonic()
    corrected = clone(regressor).set_params(correct_selection=True)
    corrected.fit(X, y, covariates=covariates, **grouped)
    if on_fit is not None:
        on_fit(time.monotonic() - start)
    coding = coding_of(corrected)
    names = column_names(corrected, names)
    responses = np.asarray(y, dtype=np.float64)
    records = compare_regression(
        X,
        responses,
        k=max(1, corrected.selection_.indices.size),
        regressor=regressor,
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
    return RegressionFindings(
        corrected=corrected,
        names=names,
        y=responses,
        predictions={
            name: CrossValidated.averaged(group) for name, group in by_method(records).items()
        },
        rows={
            row.method: row
            for row in regression_table(records, responses, groups=groups, seed=seed)
        },
        stability=selection_stability(corrected, X, y, covariates=covariates, seed=seed),
        n_repeats=n_repeats,
        settings=settings_of(
            regressor, coding, seed, f"{n_repeats} x {n_splits}-fold{together}", provenance
        ),
        own=_own_findings(corrected, X, y, covariates, groups is not None, writer),
        added=None
        if coding is None or not can_tell_added_value(records)
        else response_added_value(records, y, coding.names, groups=groups, seed=seed),
    )


def _own_findings(
    corrected: OurRegressor, X: Any, y: Any, covariates: Any, grouped: bool, writer: Writer
) -> AverageOfRegressions | PaperRegression:
    """Return what is said of this kind of regressor only."""
    if isinstance(corrected, SelectiveRegressor):
        return AverageOfRegressions(corrected, grouped, writer)
    uncorrected = clone(corrected).set_params(correct_selection=False).fit(X, y, covariates)
    return PaperRegression(corrected, uncorrected)


def _against_the_mean(findings: RegressionFindings) -> str:
    ours = findings.rows[OURS].rmse
    off = (
        f"the predictions of cases left out were off by {digits(ours.value)} (root mean squared "
        "error)"
    )
    mean = findings.rows.get(MEAN_ONLY)
    if mean is None:
        return off
    less = 1.0 - ours.value / mean.rmse.value
    words = f"{percent(less)} less than" if less >= 0.005 else "which is no better than"
    return f"{off}, {words} the {digits(mean.rmse.value)} of always predicting the mean"


def _covered(findings: RegressionFindings) -> str:
    """Return the coverage; that without correction too where it was looked at and differs."""
    row, uncorrected = findings.rows[OURS], findings.rows.get("uncorrected")
    covered, level = percent(row.coverage.value), percent(PROMISED_COVERAGE)
    told = f"their {level} intervals covered {covered}, {_judged(row, findings.y.size)}"
    if uncorrected is None:
        return told
    without = percent(uncorrected.coverage.value)
    if without == covered:
        return f"{told}, with and without correcting for the selection"
    return f"{told}; without correcting for the selection {without}"


def _judged(row: RegressionComparisonRow, n: int) -> str:
    """Compare the coverage of n cases with the nominal one, given its exact interval."""
    low, high = interval_of_mean(row.coverage, n)
    if high < PROMISED_COVERAGE:
        return "too few, so they are overconfident"
    if low > PROMISED_COVERAGE:
        return "too many, so they are underconfident"
    return "which agrees with that"


def _comparison(findings: RegressionFindings) -> str:
    shown = {
        "log_density": ("log density", decimals),
        "rmse": ("root mean squared error", digits),
        "coverage": (f"coverage of {percent(PROMISED_COVERAGE)} intervals", decimals),
        "width": ("their mean width", digits),
    }
    words = (
        "All methods are fitted in the same folds, with everything that they select or tune inside "
        "the fold. The log density is better the larger it is; among methods whose coverage can be "
        "trusted, the one with the narrowest intervals is the most informative. Bars are 95 % "
        "intervals from 999 bootstrap samples of the cases; differences are paired by case, and "
        "orange where 0 is outside."
    )
    return methods_section(findings.rows, RESPONSE_MEASURES, shown, words)


def _features(findings: RegressionFindings) -> str:
    own, header = findings.own, findings.own.feature_header
    if coding_of(findings.corrected) is not None:
        header = tuple(name.replace("slope", "adjusted slope") for name in header)
    listed = feature_table(findings.corrected, findings.names, header, own.feature_cells)
    figures = [
        *stability_figures(findings.stability, findings.names),
        *effect_figures(findings.corrected, findings.effects),
        *own.figures(),
    ]
    return pictures(figures) + listed


def _calibration(findings: RegressionFindings) -> str:
    methods = [name for name in findings.own.pictured if name in findings.predictions]
    columns = [_numbers(findings.predictions[method].summary(findings.y)) for method in methods]
    rows = [(name, *(column[name] for column in columns)) for name in columns[0]]
    pits = {method_label(method): findings.predictions[method].pit for method in methods}
    figures: list[Figure] = [
        (
            "PIT values: the predicted probability of a response of at most the observed one. If "
            "the distributions are right, they are spread evenly; a heap at both ends means that "
            "the distributions are too narrow.",
            PITDisplay.from_predictions(pits),
        ),
        (
            "Coverage of central intervals of all levels. Below the diagonal they are too narrow.",
            CoverageDisplay.from_predictions(pits),
        ),
    ]
    header = ("averaged over the repetitions", *map(method_label, methods))
    return pictures(figures) + folded_table("Table of tests of calibration", header, rows)


def _numbers(summary: RegressionSummary) -> dict[str, str]:
    """Return the numbers of one method, by what they are called."""
    pit = summary.pit_test
    level = percent(summary.level)
    return {
        f"score of {level} intervals (less is better)": with_interval(summary.interval_score),
        "mean of PIT values": f"{pit.mean.value:.3f} (p = {pit.mean.p_value:.2g})",
        "variance of PIT values": f"{pit.variance.value:.3f} (p = {pit.variance.p_value:.2g})",
        "Kolmogorov-Smirnov test of PIT values": f"p = {pit.p_value:.2g}",
        "predictions lie": pit.bias,
        "predictive distributions are": pit.spread,
    }
