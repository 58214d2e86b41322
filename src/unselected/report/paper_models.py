"""What a page says of one of the paper's classifiers alone."""

from dataclasses import dataclass
from typing import Any

from unselected.dependence.diagnosis import DependenceReport
from unselected.estimators.bernoulli import SelectiveBernoulliNB
from unselected.estimators.gaussian import SelectiveGaussianNB
from unselected.report.cases import CaseIntervals
from unselected.report.dependence import dependence_section
from unselected.report.shared import posterior_figures

PaperClassifier = SelectiveBernoulliNB | SelectiveGaussianNB


@dataclass(frozen=True, eq=False)
class PaperModel:
    """One of the paper's models, with and without correction, fitted to all cases.

    ``dependence`` is of the corrected classifier; ``cases`` are its predictions of each case
    without the case's fold, with intervals.
    """

    corrected: PaperClassifier
    uncorrected: PaperClassifier
    dependence: DependenceReport
    cases: CaseIntervals

    on_dependence = ""

    @property
    def on_overconfidence(self) -> str:
        """The reason for overconfidence that remains after the correction, and what to do."""
        return (
            "The usual reason is that features depend on each other, so the same evidence is "
            "counted several times: treat probabilities near 0 and 1 with caution. The section on "
            f"dependence says more. {self.dependence.advice[-1]}"
        )

    @property
    def on_failure(self) -> str:
        """What to do where probabilities are worse than the class frequencies."""
        return (
            "SelectiveClassifier, the default in the shell, averages over numbers of features and "
            "guards against this."
        )

    def sections(self) -> list[tuple[str, str]]:
        """Return headings, and the HTML under each."""
        dependence = dependence_section(self.corrected, self.dependence)
        return [("Dependence between features", dependence)]

    def cases_table(self) -> str:
        """Return a table of the cases, with intervals."""
        return self.cases.table()

    def figures(self) -> list[tuple[str, Any]]:
        """Return pictures of the posterior, with captions."""
        words = "How alike the classes are, given the data"
        return posterior_figures(self.corrected, self.uncorrected, words)
