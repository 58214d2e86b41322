"""The pictures of a page on classes, from cross-validated probabilities."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unselected._typing import Floats
from unselected.calibration import most_probable
from unselected.experiments import ComparisonRow
from unselected.experiments.folds import OURS
from unselected.plots import (
    CaseStripDisplay,
    DecisionCurveDisplay,
    ProbabilityScatterDisplay,
    PromisedActualDisplay,
    ReliabilityDisplay,
    RocDisplay,
)
from unselected.plots.style import method_label
from unselected.report.page import Figure

# Curves of other methods beside ours, and of classes.
_MOST_OTHERS, _MOST_CLASSES = 2, 6


class ClassPictures:
    """The pictures of cross-validated probabilities.

    Parameters
    ----------
    classes : array of shape (n_classes,)
    y : array of shape (n_samples,)
        Numbers of the classes.
    probability : mapping of str to array of shape (n_samples, n_classes)
        By method.
    rows : mapping of str to ComparisonRow
    """

    def __init__(
        self,
        classes: NDArray[Any],
        y: NDArray[np.intp],
        probability: Mapping[str, Floats],
        rows: Mapping[str, ComparisonRow],
    ) -> None:
        self.classes, self.y, self.probability, self.rows = classes, y, probability, rows
        self.labels = [str(label) for label in classes]

    @property
    def event(self) -> str:
        """What probabilities are of: the second of two classes, or the most probable one."""
        return self.labels[1] if len(self.labels) == 2 else "the most probable class"

    def judged(self, method: str) -> tuple[NDArray[Any], Floats]:
        """Return whether the event occurred, and its probability."""
        rows = self.probability[method]
        return (self.y, rows[:, 1]) if rows.shape[1] == 2 else most_probable(self.y, rows)

    def reliability(self, method: str = OURS) -> Figure:
        """Return the reliability curve; its band is seeded, so pages are reproducible."""
        happened, probability = self.judged(method)
        several = self.classes.size > 2
        display = ReliabilityDisplay.from_predictions(
            np.asarray(happened, dtype=bool) if several else np.array(self.labels)[happened],
            probability,
            pos_label=None if several else self.labels[1],
            random_state=0,
        )
        name = "" if method == OURS else f", {method_label(method)}"
        return (
            f"Reliability{name}: of cases with a predicted probability of 80 %, 80 % should be "
            f"{'right' if several else self.labels[1]}. In the band, deviations are chance.",
            display,
        )

    def promised(self) -> Figure:
        """Return expected and actual error rates of all methods."""
        return (
            "Promised and actual error of cases left out. Where a diamond is left of the bar, "
            "probabilities are overconfident; right of it, underconfident.",
            PromisedActualDisplay.from_errors(self.rows.values(), self.y.size),
        )

    def scatter(self) -> Figure:
        """Return each case with and without correction."""
        corrected, uncorrected = (self.probability[name] for name in (OURS, "uncorrected"))
        caption = "Each case with and without correction"
        if self.classes.size > 2:
            return caption, ProbabilityScatterDisplay.from_most_probable(
                self.y, corrected, uncorrected
            )
        return caption, ProbabilityScatterDisplay.from_predictions(
            np.array(self.labels)[self.y],
            corrected[:, 1],
            uncorrected[:, 1],
            pos_label=self.labels[1],
        )

    def cases(self) -> Figure:
        """Return the strip of cases."""
        return (
            "Each case at its cross-validated probability; numbers are those of the rows of the "
            "table.",
            CaseStripDisplay.from_predictions(self.y, self.probability[OURS], classes=self.labels),
        )

    def curves(self) -> list[Figure]:
        """Return ROC and decision curves: of methods, or of ours for each of several classes."""
        pairs, positive, whose = self._pairs()
        area = self.rows[OURS].auc
        macro = ", the mean over classes against all others" if self.classes.size > 2 else ""
        roc = (
            f"ROC curve{whose}. The area under ours is {area.value:.3f} ({area.low:.3f} to "
            f"{area.high:.3f}){macro}."
        )
        figures: list[Figure] = [(roc, RocDisplay.from_predictions(pairs, positive=positive))]
        if self.classes.size == 2:
            decisions = (
                "Decision curve: a model is of use where it is above both treating all and "
                "treating none."
            )
            display = DecisionCurveDisplay.from_predictions(pairs, positive=positive)
            figures.append((decisions, display))
        else:
            figures += self._decisions(pairs)
        return figures

    def _decisions(self, pairs: Mapping[str, tuple[Any, Any]]) -> list[Figure]:
        """Return a decision curve for each of several classes against the others."""
        caption = "Decision curve for {}: of use where it is above treating all and none."
        return [
            (
                caption.format(label),
                DecisionCurveDisplay.from_predictions({"ours": pair}, positive=label),
            )
            for label, pair in pairs.items()
        ]

    def _pairs(self) -> tuple[dict[str, tuple[Any, Any]], str, str]:
        """Return what curves are of, what is positive, and whose they are."""
        if self.classes.size > 2:
            ours = self.probability[OURS]
            pairs = {
                label: (self.y == g, ours[:, g])
                for g, label in enumerate(self.labels[:_MOST_CLASSES])
            }
            return pairs, "the class", " of each class against the others"
        others = sorted(
            (name for name in self.rows if name != OURS and self.rows[name].features_needed > 0),
            key=lambda name: self.rows[name].log_loss.value,
        )
        shown = [OURS, *others[:_MOST_OTHERS]]
        pairs = {method_label(name): (self.y == 1, self.probability[name][:, 1]) for name in shown}
        best = " and the others of lowest log loss" if others else ""
        return pairs, self.labels[1], f" of ours{best}"
