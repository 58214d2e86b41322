"""Dependence between features within classes, and what it does to the evidence.

Three looks at it. `within_class_correlation` compares the correlations within classes among the
kept features with what independence gives. `calibration_slope` asks the cases left out whether the
evidence is worth what it says. `advice` puts both into words.
"""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from unselected.dependence.calibration_slope import CalibrationSlope, calibration_slope
from unselected.dependence.correlated import MOST_FEATURES
from unselected.dependence.power import Dependence, HeldOut
from unselected.dependence.within_class import WithinClassCorrelation, within_class_correlation

# p-values below this speak against independence.
_DOUBTFUL = 0.01
# From here on dependence inflates the evidence by enough to say so.
_INFLATED = 1.25


@dataclass(frozen=True)
class DependenceReport:
    """What is known of dependence between the kept features, and what it does.

    Attributes
    ----------
    correlation : WithinClassCorrelation
        Of the kept features in the training cases.
    slope : CalibrationSlope
        What a unit of evidence, as the model has it, was worth to cases left out in ten folds.
    advice : tuple of str
        Both in words, and last what follows.
    """

    correlation: WithinClassCorrelation
    slope: CalibrationSlope
    advice: tuple[str, ...]

    @classmethod
    def of(
        cls, X: ArrayLike, y: ArrayLike, held_out: HeldOut, *, dependence: Dependence = "none"
    ) -> "DependenceReport":
        """Look at kept features and classes, as `within_class_correlation`, and cases left out."""
        correlation, slope = within_class_correlation(X, y), calibration_slope(held_out)
        return cls(correlation, slope, tuple(advice(correlation, slope, dependence=dependence)))

    def content(self) -> dict[str, Any]:
        """Return the same in plain types; None stands for what is not a finite number."""
        parts = {"correlation": asdict(self.correlation), "slope": asdict(self.slope)}
        finite = {
            name: {key: value if np.isfinite(value) else None for key, value in part.items()}
            for name, part in parts.items()
        }
        return {**finite, "advice": list(self.advice)}


def advice(
    correlation: WithinClassCorrelation,
    slope: CalibrationSlope,
    *,
    dependence: Dependence = "none",
) -> list[str]:
    """Say in plain words what was found, and what follows.

    A model that allows for dependence has no need of being told to.

    >>> found = WithinClassCorrelation(20, 190, 0.21, 0.017, 1e-30, 4.3, 5.1)
    >>> words = advice(found, CalibrationSlope(0.2, 0.1, 0.4, 0.95, 62))
    >>> print(words[1], words[-1], sep=" ")
    Evidence for the classes is counted about 5.1 times. Use dependence="correlated".
    """
    sentences = [*_words_of_correlation(correlation), _words_of_slope(slope)]
    if dependence != "none":
        return [*sentences, f'dependence="{dependence}" is in use, which allows for that.']
    return [*sentences, _recommendation(correlation, slope)]


def _words_of_correlation(found: WithinClassCorrelation) -> list[str]:
    if not found.n_pairs:
        return ["There are no two features to be correlated."]
    numbers = (
        f"mean squared correlation {found.mean_squared:.3f}, {found.expected:.3f} if they were "
        f"independent; {_p_in_words(found.p_value)}"
    )
    features = f"The {found.n_features} kept features"
    if not _is_dependent(found):
        return [f"{features} look independent within classes ({numbers})."]
    sentences = [
        f"{features} are correlated within classes ({numbers}). They are worth about "
        f"{found.effective_features:.1f} independent ones."
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
        return "No case left out has evidence for a class."
    ends = f"{100 * found.level:g} % interval {_bound(found.low)} to {_bound(found.high)}"
    start = f"To cases left out, a unit of evidence is worth {_bound(found.slope)} ({ends})"
    if found.high < 1.0:
        return f"{start}: the probabilities are too extreme."
    if found.low > 1.0:
        return f"{start}: the probabilities are too cautious."
    return f"{start}: the probabilities agree with what was seen."


def _bound(value: float) -> str:
    return f"{value:.2f}" if np.isfinite(value) else ("infinity" if value > 0 else "-infinity")


def _is_dependent(found: WithinClassCorrelation) -> bool:
    return found.n_pairs > 0 and found.p_value < _DOUBTFUL


def _recommendation(correlation: WithinClassCorrelation, slope: CalibrationSlope) -> str:
    related = _is_dependent(correlation) and correlation.n_features <= MOST_FEATURES
    guard = "correlated" if related else "tempered"
    if slope.high < 1.0:
        return f'Use dependence="{guard}".'
    if slope.low > 1.0 or np.isnan(slope.slope):
        return (
            "The model makes little of the features. Where you expect otherwise, leave out "
            "features that hardly vary, such as rare words, before any response is looked at, or "
            'try prior="sparse".'
        )
    if _is_dependent(correlation) and correlation.inflation >= _INFLATED:
        return (
            f'Prefer dependence="{guard}": the cases left out do not show an excess of '
            "confidence, but so few may not be able to."
        )
    return 'dependence="none" will do.'
