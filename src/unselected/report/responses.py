"""A data set with a real response: a regressor on all cases, cross-validated, and a page on it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from unselected._typing import Floats
from unselected.calibration import RegressionSummary, summarize_regression
from unselected.dependence.diagnosis import Writer, as_keyword
from unselected.estimators.added_value import AddedValue
from unselected.estimators.regressor import SelectiveRegressor
from unselected.experiments import (
    RegressionComparisonRecord,
    RegressionComparisonRow,
    compare_regression,
    regression_table,
    response_added_value,
)
from unselected.experiments.compare_regression import PROMISED_COVERAGE, OurRegressor
from unselected.experiments.folds import by_method
from unselected.experiments.usual_regressors import MEAN_ONLY
from unselected.numerics.quadrature import log_sum
from unselected.plots import CoverageDisplay, PITDisplay, PredictedActualDisplay
from unselected.report.page import (
    decimals,
    digits,
    method_section,
    paragraph,
    percent,
    pictures,
    settings_table,
    table,
    with_interval,
)
from unselected.report.regressions import AverageOfRegressions, PaperRegression
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

# A difference of so many standard errors is not chance.
_FAR = 2.0


@dataclass(frozen=True)
class CrossValidated:
    """Cross-validated predictions of one method, averaged over the repetitions.

    The predictive distributions of a case are mixed: ``pit`` and the density are means; so are
    ``mean`` and, where the distributions of the repetitions are much alike, the 5 % and 95 %
    quantiles ``lower`` and ``upper``.
    """

    mean: Floats
    lower: Floats
    upper: Floats
    log_density: Floats
    pit: Floats

    def summary(self, y: Floats) -> RegressionSummary:
        """Return how the predictions did; the resampling is seeded, so pages are reproducible."""
        numbers = (self.mean, self.lower, self.upper, self.log_density, self.pit)
        return summarize_regression(y, *numbers, level=PROMISED_COVERAGE, random_state=0)


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

    def verdict(self) -> list[str]:
        """Return what the numbers mean, in sentences."""
        sentences = [
            f"{kept_sentence(self.corrected)} {_against_the_mean(self)}",
            f"Predictive intervals should cover {percent(PROMISED_COVERAGE)} of the responses. In "
            f"cross-validation they covered {_covered(self)}",
        ]
        if interval_of_mean(self.rows["corrected"].coverage, self.y.size)[1] < PROMISED_COVERAGE:
            sentences.append(
                "The overconfidence that remains after the correction does not come from the "
                f"selection. {self.own.on_overconfidence}"
            )
        sentences += added_sentences(self.added)
        sentences += preselected_sentences(self.corrected, "the errors", "small")
        best = best_sentence(self.rows, "log_density", "mean log density", 1)
        return [*sentences, best + _no_more_than_chance(self)]

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
            (
                "Method",
                method_section("response", self.own.on_dependence, adjusted=bool(self.added)),
            ),
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
    seed: int = 0,
    provenance: dict[str, Any] | None = None,
    progress: bool = False,
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
    provenance : dict, default=None
        More settings to show: the input file, its hash.
    progress : bool
        Show it on stderr.
    writer : callable
        How advice writes a parameter and its value; by default as a Python keyword.

    Returns
    -------
    findings : RegressionFindings
    """
    grouped = {} if groups is None else {"groups": groups}
    corrected = clone(regressor).set_params(correct_selection=True)
    corrected.fit(X, y, covariates=covariates, **grouped)
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
        seed=seed,
        progress=progress,
    )
    together = "" if groups is None else ", groups kept together"
    return RegressionFindings(
        corrected=corrected,
        names=names,
        y=responses,
        predictions={name: _averaged(group) for name, group in by_method(records).items()},
        rows={row.method: row for row in regression_table(records, responses, seed=seed)},
        settings=settings_of(
            regressor, coding, seed, f"{n_repeats} x {n_splits}-fold{together}", provenance
        ),
        own=_own_findings(corrected, X, y, covariates, groups is not None, writer),
        added=None
        if coding is None
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


def _averaged(records: list[RegressionComparisonRecord]) -> CrossValidated:
    fields = ("mean", "lower", "upper", "pit")
    means = {
        field: np.mean([getattr(record, field) for record in records], axis=0) for field in fields
    }
    means["pit"] = np.clip(means["pit"], 0.0, 1.0)
    logs = log_sum(np.array([record.log_density for record in records]), axis=0)
    return CrossValidated(**means, log_density=logs - np.log(len(records)))


def _against_the_mean(findings: RegressionFindings) -> str:
    ours, mean = findings.rows["corrected"].rmse, findings.rows[MEAN_ONLY].rmse
    less = 1.0 - ours.value / mean.value
    words = f"{percent(less)} less than" if less >= 0.005 else "which is no better than"
    return (
        f"In cross-validation the predictions were off by {digits(ours.value)} (root mean squared "
        f"error), {words} the {digits(mean.value)} of always predicting the mean."
    )


def _covered(findings: RegressionFindings) -> str:
    """Return the coverage with and without correction; once where there is no difference."""
    told = []
    for method in BOTH:
        row = findings.rows[method]
        told.append((percent(row.coverage.value), _judged(row, findings.y.size)))
    (corrected, judged), (uncorrected, judged_too) = told
    if told[0] == told[1]:
        return f"{corrected}, with and without correcting for the selection, {judged}."
    return (
        f"{uncorrected} without correcting for the selection, {judged_too}. With the correction "
        f"they covered {corrected}, {judged}."
    )


def _no_more_than_chance(findings: RegressionFindings) -> str:
    """Say so where another method was the best, but by little for so few cases."""
    best = max(findings.rows.values(), key=lambda row: row.log_density.value).method
    ahead = findings.predictions[best].log_density - findings.predictions["corrected"].log_density
    error = float(np.std(ahead)) / np.sqrt(ahead.size)
    if best in BOTH or float(np.mean(ahead)) > _FAR * error:
        return ""
    return (
        f" The lead of {np.mean(ahead):.3f} over 'corrected' is no more than chance (standard "
        f"error {error:.3f})."
    )


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
    return paragraph(
        "Cross-validated, with selection inside every fold for every method that selects; 95 % "
        "intervals from resampling the cases. The log density is better the larger it is. "
        f"Predictions can be trusted if the coverage is {percent(PROMISED_COVERAGE)}. Among "
        "methods that can be trusted, the one with the narrowest intervals is the most informative."
    ) + comparison_table_of(findings.rows, shown)


def _features(findings: RegressionFindings) -> str:
    own, header = findings.own, findings.own.feature_header
    if coding_of(findings.corrected) is not None:
        header = tuple(name.replace("slope", "adjusted slope") for name in header)
    return feature_table(findings.corrected, findings.names, header, own.feature_cells)


def _calibration(findings: RegressionFindings) -> str:
    columns = [_numbers(findings.predictions[method].summary(findings.y)) for method in BOTH]
    rows = [(name, columns[0][name], columns[1][name]) for name in columns[0]]
    return paragraph(
        "Cross-validated predictive distributions, averaged over the repetitions. The PIT value of "
        "a case is the predicted probability of a response of at most the observed one. If the "
        "predictive distributions are right, these values are uniform on 0 to 1: their mean is "
        "0.5, their variance 0.083. A larger variance means that the distributions are too narrow."
    ) + table(("", *BOTH), rows)


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


def _figures(findings: RegressionFindings) -> list[tuple[str, Any]]:
    found = {method: findings.predictions[method] for method in findings.own.pictured}
    pits = {method: predicted.pit for method, predicted in found.items()}
    where = "Where in its predictive distribution each response lies"
    return [
        *(
            (f"Predicted and actual responses, {method}", _predicted_actual(findings.y, predicted))
            for method, predicted in found.items()
        ),
        (where, PITDisplay.from_predictions(pits)),
        ("Coverage of intervals of all levels", CoverageDisplay.from_predictions(pits)),
        *findings.own.figures(),
    ]


def _predicted_actual(y: Floats, predicted: CrossValidated) -> PredictedActualDisplay:
    return PredictedActualDisplay.from_predictions(
        y, predicted.mean, predicted.lower, predicted.upper, level=PROMISED_COVERAGE
    )
