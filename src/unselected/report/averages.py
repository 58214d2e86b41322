"""What a page says of an average over models of classes alone: `SelectiveClassifier`."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unselected._typing import Floats
from unselected.dependence.diagnosis import Writer
from unselected.estimators.classifier import SelectiveClassifier
from unselected.fitted.stack import FittedStack
from unselected.report.cases import cases_table
from unselected.report.page import Figure, paragraph, percent, table


@dataclass(frozen=True, eq=False)
class AverageOfModels:
    """The front door for classes, fitted to all cases.

    ``y`` holds the numbers of the classes, and ``probability`` cross-validated probabilities.
    ``grouped`` says whether groups of cases were given, ``writer`` how advice writes parameters.
    """

    corrected: SelectiveClassifier
    y: NDArray[np.intp]
    probability: Floats
    grouped: bool
    writer: Writer

    @property
    def _fitted(self) -> FittedStack:
        fitted = self.corrected.panel().predictor.fitted
        assert isinstance(fitted, FittedStack)
        return fitted

    @property
    def on_dependence(self) -> str:
        """What was done about dependence between features."""
        guard = {
            "auto": (
                "Predictions average over such models, of several numbers of features, and over "
                "likelihoods with and without correlations within classes. Their weights, and how "
                "far each likelihood is to be believed, were learned from cases left out."
            ),
            "tempered": (
                "Predictions average over such models, of several numbers of features. Their "
                "weights, and how far the likelihood is to be believed where features depend on "
                "each other, were learned from cases left out."
            ),
        }
        return guard.get(str(self.corrected.dependence), "")

    @property
    def on_overconfidence(self) -> str:
        """The reason for overconfidence that remains, and what to do."""
        if self.corrected.dependence != "auto":
            return (
                "The usual reason is that features depend on each other, so the same evidence is "
                f"counted several times: {self.writer('dependence', 'auto')}, the default, guards "
                "against that."
            )
        caution = "Treat probabilities near 0 and 1 with caution."
        if self.grouped:
            return caution
        return (
            f"{caution} Where several rows come from one subject, say so: groups, or --groups in "
            "the shell, keeps them together."
        )

    @property
    def on_failure(self) -> str:
        """What it means that probabilities are worse than the class frequencies."""
        return "These features say little about the class."

    def sections(self) -> list[tuple[str, str]]:
        """Return headings, and the HTML under each."""
        return [("What was learned from cases left out", self._learned())]

    def cases_table(self) -> str:
        """Return a table of the cases."""
        return cases_table(self.corrected.classes_, self.y, self.probability)

    def _learned(self) -> str:
        header = (
            "features",
            "weight of the model",
            "features are independent within classes",
            "power of the likelihood",
            "outlier fraction",
        )
        fitted = self._fitted
        rows = []
        for member, weight in zip(fitted.members, fitted.weights, strict=True):
            average = member.predictor.average
            rows.append(
                (
                    str(member.columns.size),
                    percent(weight),
                    percent(average.own_probability),
                    f"{average.mean_power:.2f}",
                    f"{100.0 * average.mean_outlier_fraction:.1f} %",
                )
            )
        words = (
            "Weights are posterior probabilities, and the rest are posterior means. A power of 1 "
            "believes the evidence of the features as it is, one of 0.5 takes half of its "
            "logarithm. Outliers are cases that the features say nothing of."
        )
        return (
            paragraph(" ".join(self.corrected.in_words())) + table(header, rows) + paragraph(words)
        )

    def figures(self) -> list[Figure]:
        """Return pictures of a posterior, with captions: there are none."""
        return []
