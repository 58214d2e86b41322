"""What a page says of one kind of regressor alone: the average over regressions, or the paper's."""

from dataclasses import dataclass
from typing import Any

from unselected.dependence.diagnosis import Writer
from unselected.estimators.regression import SelectiveNaiveRegressor
from unselected.estimators.regressor import SelectiveRegressor
from unselected.fitted.response_stack import FittedResponseStack
from unselected.report.page import Figure, digits, paragraph, percent, table
from unselected.report.shared import BOTH, posterior_figures

# The kinds of regression of an average, as columns of a table.
_KINDS = {
    "inverse": "features given the response",
    "linear": "linear in the features",
    "quadratic": "quadratic",
}

# What is told of a feature where its values are modelled.
_SLOPE_HEADER = ("slope per unit of the response", "n known")


def _slope_cells(told: dict[str, Any]) -> tuple[str, ...]:
    return digits(told["slope"]), str(told["cases"])


@dataclass(frozen=True, eq=False)
class AverageOfRegressions:
    """The front door for a real response, fitted to all cases.

    ``grouped`` says whether groups of cases were given, ``writer`` how advice writes parameters.
    """

    corrected: SelectiveRegressor
    grouped: bool
    writer: Writer

    # Most of the average needs no correction, so that pictures of both would be much alike.
    pictured = ("corrected",)

    @property
    def _default_guard(self) -> str:
        """What the default comes to: after an earlier selection only features are modelled."""
        return "auto" if self.corrected.preselected_from is None else "correlated"

    @property
    def _guard(self) -> str:
        guard = str(self.corrected.dependence)
        return self._default_guard if guard == "auto" else guard

    @property
    def on_dependence(self) -> str:
        """What was done about dependence between features."""
        learned = (
            "The weights of all, how wide their distributions should be, and the fraction of "
            "outliers were learned from cases left out."
        )
        guard = {
            "auto": (
                "Predictions average over such models, of several numbers of features, and over "
                f"linear and quadratic regressions of the response on the features. {learned}"
            ),
            "correlated": (
                "Predictions average over such models, of several numbers of features, with and "
                f"without correlations between features given the response. {learned}"
            ),
        }
        return guard.get(self._guard, "")

    @property
    def on_overconfidence(self) -> str:
        """The reason for overconfidence that remains, and what to do."""
        if self._guard != self._default_guard:
            return (
                "The usual reason is that features depend on each other given the response, so the "
                f"same evidence is counted several times: {self.writer('dependence', 'auto')}, the "
                "default, guards against that."
            )
        caution = "Take the fraction that the intervals did cover as their level."
        if self.grouped:
            return caution
        return (
            f"{caution} Where several rows come from one subject, say so: groups, or --groups in "
            "the shell, keeps them together."
        )

    @property
    def _fitted(self) -> FittedResponseStack:
        fitted = self.corrected.panel().predictor.fitted
        assert isinstance(fitted, FittedResponseStack)
        return fitted

    @property
    def feature_header(self) -> tuple[str, ...]:
        """What is told of each feature: in the units of its column, whatever is modelled."""
        if self._fitted.marginals == "raw":
            return _SLOPE_HEADER
        levels = (f"typical value at response {digits(level)}" for level in self._fitted.levels)
        return (*levels, "n known")

    def feature_cells(self, told: dict[str, Any]) -> tuple[str, ...]:
        """Return that of one feature, given its description."""
        if "centers" not in told:
            return _slope_cells(told)
        return (*map(digits, told["centers"]), str(told["cases"]))

    def sections(self) -> list[tuple[str, str]]:
        """Return headings, and the HTML under each."""
        return [("What was learned from cases left out", self._learned())]

    def _learned(self) -> str:
        fitted = self._fitted
        sizes = sorted({int(member.columns.size) for member in fitted.members})
        weight = {
            (size, kind): sum(
                float(member.weights.sum())
                for member in fitted.members
                if (member.columns.size, member.model.kind) == (size, kind)
            )
            for size in sizes
            for kind in _KINDS
        }
        kinds = [kind for kind in _KINDS if any(weight[size, kind] for size in sizes)]
        rows = [(str(size), *(percent(weight[size, kind]) for kind in kinds)) for size in sizes]
        skewed = "" if fitted.transform is None else f"{fitted.transform.in_words} "
        words = (
            f"What is known without features has weight {percent(fitted.prior.null)}, a wide "
            "distribution for responses that fit nothing "
            f"{100.0 * fitted.prior.outlier:.1f} %. {_SEEN[fitted.marginals]} {skewed}The table "
            "has the weights of the regressions."
        )
        header = ("features", *(f"weight: {_KINDS[kind]}" for kind in kinds))
        return paragraph(words) + table(header, rows)

    def figures(self) -> list[Figure]:
        """Return pictures of a posterior, with captions: there are none."""
        return []


_SEEN = {
    "raw": "Columns were taken as they are.",
    "normal": "Columns were transformed to normal scores.",
}


@dataclass(frozen=True, eq=False)
class PaperRegression:
    """The paper's model of a real response, with and without correction, fitted to all cases."""

    corrected: SelectiveNaiveRegressor
    uncorrected: SelectiveNaiveRegressor

    pictured = BOTH
    on_dependence = ""
    feature_header = _SLOPE_HEADER

    @property
    def on_overconfidence(self) -> str:
        """The reason for overconfidence that remains after the correction, and what to do."""
        return (
            "The usual reason is that features depend on each other given the response, so the "
            "same evidence is counted several times. SelectiveRegressor, the default in the shell, "
            "guards against this."
        )

    def feature_cells(self, told: dict[str, Any]) -> tuple[str, ...]:
        """Return what is told of a feature, given its description."""
        return _slope_cells(told)

    def sections(self) -> list[tuple[str, str]]:
        """Return headings, and the HTML under each: there are none."""
        return []

    def figures(self) -> list[Figure]:
        """Return pictures of the posterior, with captions."""
        words = "How little features are related to the response, given the data"
        return posterior_figures(self.corrected, self.uncorrected, words)
