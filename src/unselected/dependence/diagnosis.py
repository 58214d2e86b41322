"""Dependence between features within classes, and its effect on the evidence.

`within_class_correlation` compares the correlations within classes among the kept features with
their expectation under independence. `calibration_slope` measures on held-out cases whether the
evidence is calibrated. `advice` puts both into words.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from unselected.dependence.calibration_slope import CalibrationSlope, calibration_slope
from unselected.dependence.correlated import MOST_FEATURES
from unselected.dependence.held_out import HeldOut
from unselected.dependence.power import Dependence
from unselected.dependence.within_class import WithinClassCorrelation, within_class_correlation

# How a parameter and its value are written: in Python, in the shell.
Writer = Callable[[str, str], str]
# Parameters and values that are not in use.
Untried = tuple[tuple[str, str], ...]

# p-values below this count as evidence against independence.
_DOUBTFUL = 0.01
# Inflation of the evidence from here on is reported.
_INFLATED = 1.25
# What an option is for, where its name does not say so.
_PURPOSES = {("rates", "given"): " (for rare words and other features that hardly vary)"}


def as_keyword(parameter: str, value: str) -> str:
    """Return a parameter as Python takes it.

    >>> as_keyword("dependence", "correlated")
    'dependence="correlated"'
    """
    return f'{parameter}="{value}"'


@dataclass(frozen=True)
class DependenceReport:
    """Dependence between the kept features, and its effect on the probabilities.

    Attributes
    ----------
    correlation : WithinClassCorrelation
        Of the kept features in the training cases.
    slope : CalibrationSlope
        Calibration slope of the model's log evidence for cases left out in ten folds.
    dependence : {"none", "tempered", "correlated"}
        The guard against dependence that the model already has.
    writer : callable
        How advice writes a parameter and its value; by default as a Python keyword.
    untried : tuple of pairs of str
        Parameters and values that may help an underconfident model and are not in use.
    """

    correlation: WithinClassCorrelation
    slope: CalibrationSlope
    dependence: Dependence = "none"
    writer: Writer = as_keyword
    untried: Untried = ()

    @classmethod
    def of(
        cls,
        X: ArrayLike,
        y: ArrayLike,
        held_out: HeldOut,
        *,
        dependence: Dependence = "none",
        untried: Untried = (),
    ) -> "DependenceReport":
        """Diagnose kept features X with classes y, and the evidence for cases left out."""
        return cls(
            within_class_correlation(X, y),
            calibration_slope(held_out),
            dependence,
            untried=untried,
        )

    @property
    def advice(self) -> tuple[str, ...]:
        """The findings in words; the last sentence is the advice.

        A model that already allows for dependence gets no recommendation.

        >>> found = WithinClassCorrelation(20, 190, 0.21, 0.017, 1e-30, 4.3, 5.1)
        >>> words = DependenceReport(found, CalibrationSlope(0.2, 0.1, 0.4, 0.95, 62)).advice
        >>> print(words[1], words[-1], sep=" ")
        Evidence for the classes is counted about 5.1 times. Use dependence="correlated".
        """
        last = f"{self.writer('dependence', self.dependence)} is in use, which allows for that."
        if self.dependence == "none":
            last = _recommendation(self.correlation, self.slope, self.writer, self.untried)
        return (*_words_of_correlation(self.correlation), _words_of_slope(self.slope), last)

    def content(self) -> dict[str, Any]:
        """Return the same in plain types; None stands for what is not a finite number."""
        parts = {"correlation": asdict(self.correlation), "slope": asdict(self.slope)}
        if self.correlation.n_looked_at is None:
            del parts["correlation"]["n_looked_at"]
        finite = {
            name: {key: value if np.isfinite(value) else None for key, value in part.items()}
            for name, part in parts.items()
        }
        return {**finite, "advice": list(self.advice)}


def _words_of_correlation(found: WithinClassCorrelation) -> list[str]:
    if not found.n_pairs:
        return ["There is no pair of features to correlate."]
    some = "" if found.n_looked_at is None else f"{found.n_looked_at} of them were examined; "
    numbers = (
        f"{some}mean squared correlation {found.mean_squared:.3f}, {found.expected:.3f} if they "
        f"were independent; {_p_in_words(found.p_value)}"
    )
    features = f"The {found.n_features} kept features"
    if not _is_dependent(found):
        return [f"{features} look independent within classes ({numbers})."]
    sentences = [
        f"{features} are correlated within classes ({numbers}). They amount to "
        f"about {found.effective_features:.1f} independent features."
    ]
    if found.inflation >= _INFLATED:
        sentences.append(f"Evidence for the classes is counted about {found.inflation:.1f} times.")
    else:
        sentences.append("The correlations do not add up in the direction of the classes.")
    return sentences


def _p_in_words(p: float) -> str:
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


def _words_of_slope(found: CalibrationSlope) -> str:
    if np.isnan(found.slope):
        return "The model has no evidence for any class in any held-out case."
    ends = f"{100 * found.level:g} % interval {_bound(found.low)} to {_bound(found.high)}"
    start = f"The calibration slope on held-out cases is {_bound(found.slope)} ({ends})"
    if found.high < 1.0:
        return f"{start}: the probabilities are too extreme."
    if found.low > 1.0:
        return f"{start}: the probabilities are too cautious."
    return f"{start}: the probabilities agree with the observed classes."


def _bound(value: float) -> str:
    return f"{value:.2f}" if np.isfinite(value) else ("infinity" if value > 0 else "-infinity")


def _is_dependent(found: WithinClassCorrelation) -> bool:
    return found.n_pairs > 0 and found.p_value < _DOUBTFUL


def _recommendation(
    correlation: WithinClassCorrelation, slope: CalibrationSlope, writer: Writer, untried: Untried
) -> str:
    related = _is_dependent(correlation) and correlation.n_features <= MOST_FEATURES
    guard = writer("dependence", "correlated" if related else "tempered")
    if slope.high < 1.0:
        return f"Use {guard}."
    if slope.low > 1.0 or np.isnan(slope.slope):
        found = "The model is underconfident: it finds little signal in the features."
        options = " or ".join(writer(*option) + _PURPOSES.get(option, "") for option in untried)
        return f"{found} Where you expect otherwise, try {options}." if options else found
    if _is_dependent(correlation) and correlation.inflation >= _INFLATED:
        return (
            f"Prefer {guard}: the held-out cases show no overconfidence, but there may be too few "
            "of them to show it."
        )
    return f"{writer('dependence', 'none')} is adequate."
