"""What a page says of single cases with a real response: predictions, intervals, PIT values."""

from dataclasses import dataclass

import numpy as np

from unselected._typing import Floats
from unselected.calibration import RegressionSummary, summarize_regression
from unselected.experiments import RegressionComparisonRecord
from unselected.experiments.compare_regression import PROMISED_COVERAGE
from unselected.numerics.quadrature import log_sum
from unselected.plots import PredictedActualDisplay
from unselected.report.page import Figure, decimals, digits, folded_table, paragraph, percent

# How many cases a page lists.
_MOST_CASES = 1000


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

    @classmethod
    def averaged(cls, records: list[RegressionComparisonRecord]) -> "CrossValidated":
        """Mix the predictive distributions of the repetitions."""
        fields = ("mean", "lower", "upper", "pit")
        means = {
            field: np.mean([getattr(record, field) for record in records], axis=0)
            for field in fields
        }
        means["pit"] = np.clip(means["pit"], 0.0, 1.0)
        logs = log_sum(np.array([record.log_density for record in records]), axis=0)
        return cls(**means, log_density=logs - np.log(len(records)))

    def coverage(self, y: Floats) -> float:
        """Return the part of the responses that are inside their intervals."""
        return float(np.mean((self.lower <= y) & (y <= self.upper)))

    def summary(self, y: Floats) -> RegressionSummary:
        """Return how the predictions did; the resampling is seeded, so pages are reproducible."""
        numbers = (self.mean, self.lower, self.upper, self.log_density, self.pit)
        return summarize_regression(y, *numbers, level=PROMISED_COVERAGE, random_state=0)


def predicted_actual(y: Floats, predicted: CrossValidated, remark: str) -> Figure:
    """Return the picture of responses against predictions; its caption ends with the remark."""
    caption = (
        "Responses of cases left out against their predictions: dots should scatter about the "
        f"diagonal.{remark}"
    )
    return caption, PredictedActualDisplay.from_predictions(
        y, predicted.mean, predicted.lower, predicted.upper, level=PROMISED_COVERAGE
    )


def response_cases_table(y: Floats, predicted: CrossValidated) -> str:
    """Return a table of the cases, those that surprise most first."""
    order = np.argsort(-np.abs(predicted.pit - 0.5), kind="stable")[:_MOST_CASES]
    rows = [
        (
            str(i + 1),
            digits(y[i]),
            digits(predicted.mean[i]),
            digits(predicted.lower[i]),
            digits(predicted.upper[i]),
            decimals(predicted.pit[i]),
        )
        for i in order.tolist()
    ]
    header = ("case", "response", "predicted mean", "from", "to", "PIT value")
    counted = f"{len(rows)} of {y.size}" if len(rows) < y.size else str(y.size)
    words = (
        f"Each case is predicted by fits without its fold; intervals are of "
        f"{percent(PROMISED_COVERAGE)}. The responses that surprise most come first: look at these."
    )
    return paragraph(words) + folded_table(f"Table of {counted} cases", header, rows)
