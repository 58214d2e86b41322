"""What a page says of dependence between features, and of the power of the likelihood."""

import numpy as np

from unselected.dependence.diagnosis import DependenceReport
from unselected.estimators.bernoulli import SelectiveBernoulliNB
from unselected.estimators.gaussian import SelectiveGaussianNB
from unselected.report.page import paragraph, table


def dependence_section(
    fitted: SelectiveBernoulliNB | SelectiveGaussianNB, report: DependenceReport
) -> str:
    """Return the section, of a classifier that was fitted to all cases."""
    average = fitted.likelihood_average_
    guard = paragraph(average.in_words()) if average.is_learned else ""
    return (
        paragraph(
            "Naive Bayes adds up the evidence of features as if they were independent within "
            "classes. Where they are not, the same evidence is counted several times."
        )
        + paragraph(" ".join(report.advice))
        + guard
        + table(("of the kept features", "found", "if independent, or right"), _rows(report))
    )


def _rows(report: DependenceReport) -> list[tuple[str, str, str]]:
    found, slope = report.correlation, report.slope
    ends = f"{_number(slope.low)} to {_number(slope.high)}"
    return [
        ("number", str(found.n_features), ""),
        (
            "mean squared correlation within classes",
            _number(found.mean_squared, 3),
            _number(found.expected, 3),
        ),
        ("probability of such a mean, if independent", _chance(found.p_value), ""),
        (
            "effective number of features",
            _number(found.effective_features, 1),
            str(found.n_features),
        ),
        ("times that the same evidence is counted", _number(found.inflation, 1), "1"),
        (
            f"calibration slope on cases left out, ten folds ({100.0 * slope.level:g} % interval)",
            f"{_number(slope.slope)} ({ends})",
            "1",
        ),
    ]


def _chance(p_value: float) -> str:
    return "below 0.001" if p_value < 0.001 else _number(p_value, 3)


def _number(value: float, places: int = 2) -> str:
    """Return a number, or what stands for one that there is not.

    >>> _number(0.123), _number(float("nan")), _number(-float("inf"))
    ('0.12', 'unknown', '-infinity')
    """
    if np.isnan(value):
        return "unknown"
    if np.isinf(value):
        return "infinity" if value > 0.0 else "-infinity"
    return f"{value:.{places}f}"
