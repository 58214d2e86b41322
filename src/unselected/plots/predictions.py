"""Predicted probabilities of cases, checked, and those of two methods compared."""

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from unselected._typing import Floats
from unselected.calibration.inputs import positives
from unselected.calibration.several_classes import checked_classes, predicted_classes
from unselected.plots.display import Display
from unselected.plots.style import (
    DARK,
    MIDDLE,
    MOST_VECTOR_POINTS,
    circle_entry,
    draw_diagonal,
    legend_above,
    tidy,
)


def class_words(pos_label: Any) -> str:
    """Return the name of the class that probabilities are of; None is the most probable one.

    >>> class_words("tumour"), class_words(1), class_words(None)
    ('tumour', 'class 1', 'the most probable class')
    """
    if pos_label is None:
        return "the most probable class"
    return str(pos_label) if isinstance(pos_label, str) else f"class {pos_label}"


def probabilities(name: str, values: Any, n: int) -> Floats:
    """Return one probability for each of n cases, or raise, naming the row."""
    p = np.asarray(values, dtype=np.float64)
    if p.shape != (n,):
        raise ValueError(f"{name} has the shape {p.shape}: give one number for each of {n} cases.")
    wrong = np.flatnonzero(~((p >= 0) & (p <= 1)))
    if wrong.size:
        row = wrong[0]
        raise ValueError(f"{name} is {p[row]} in row {row}: a probability is from 0 to 1.")
    return p


@dataclass(eq=False, repr=False)
class ProbabilityScatterDisplay(Display):
    """Predicted probabilities of class 1, corrected for selection against uncorrected.

    Without correction the probabilities are more extreme: the points lie below the diagonal on
    the right, and above it on the left.

    Parameters
    ----------
    positive : array of bool of shape (n_samples,)
        Which cases are in the class that the probabilities are of.
    corrected, uncorrected : arrays of shape (n_samples,)
        Predicted probabilities.
    pos_label : default=1
        What that class is called; None for the most probable of several classes.

    Attributes
    ----------
    points_ : PathCollection
        The cases in a mixed order.
    ax_ : Axes
    figure_ : Figure

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> display = ProbabilityScatterDisplay.from_predictions(
    ...     [0, 1], [0.3, 0.8], [0.1, 0.9], ax=Figure().subplots()
    ... )
    >>> display.ax_.get_xlabel()
    'Uncorrected probability of class 1'
    """

    positive: NDArray[np.bool_]
    corrected: Floats
    uncorrected: Floats
    _: KW_ONLY
    pos_label: Any = 1

    @classmethod
    def from_predictions(
        cls,
        y: Any,
        corrected: Any,
        uncorrected: Any,
        *,
        pos_label: Any = 1,
        ax: Axes | None = None,
    ) -> Self:
        """Draw a point for each case.

        Parameters
        ----------
        y : array-like of shape (n_samples,)
            Classes.
        corrected, uncorrected : array-like of shape (n_samples,)
            Probabilities of ``pos_label`` that the two methods predict.
        pos_label : default=1
            None where the probabilities are of the most probable of several classes; ``y`` then
            says, in booleans, whether that is right (see `from_most_probable`).
        ax : Axes, default=None
            Where to draw; a new figure if None.

        Returns
        -------
        display : ProbabilityScatterDisplay
        """
        positive = positives(y, pos_label)
        return cls(
            positive,
            probabilities("corrected", corrected, positive.size),
            probabilities("uncorrected", uncorrected, positive.size),
            pos_label=pos_label,
        ).plot(ax)

    @classmethod
    def from_most_probable(
        cls, y: Any, corrected: Any, uncorrected: Any, *, ax: Axes | None = None
    ) -> Self:
        """Draw a point for each case of several classes: for its most probable class.

        That is the most probable one by the corrected probabilities, for both methods.

        Parameters
        ----------
        y : array-like of shape (n_samples,)
            Class numbers, 0 to n_classes - 1.
        corrected, uncorrected : array-like of shape (n_samples, n_classes)
            Probabilities of the classes that the two methods predict.
        ax : Axes, default=None
            Where to draw; a new figure if None.

        Returns
        -------
        display : ProbabilityScatterDisplay
        """
        classes, p = checked_classes(y, corrected)
        _, others = checked_classes(y, uncorrected)
        if p.shape != others.shape:
            raise ValueError(
                f"corrected has {p.shape[1]} classes and uncorrected has {others.shape[1]}: give "
                "probabilities of the same ones."
            )
        rows, predicted = np.arange(classes.size), predicted_classes(p)
        return cls(
            predicted == classes, p[rows, predicted], others[rows, predicted], pos_label=None
        ).plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw filled circles for the cases in the class, and hollow ones for the others.

        Parameters
        ----------
        ax : Axes, default=None

        Returns
        -------
        self : ProbabilityScatterDisplay
        """
        ax = self._start(ax, 5.2, 5.2)
        self._draw_cases(ax)
        draw_diagonal(ax)
        ax.set(
            xlim=(-0.02, 1.02),
            ylim=(-0.02, 1.02),
            aspect="equal",
            xlabel=f"Uncorrected probability of {class_words(self.pos_label)}",
            ylabel=f"Corrected probability of {class_words(self.pos_label)}",
        )
        tidy(ax)
        return self

    def _draw_cases(self, ax: Axes) -> None:
        many = self.positive.size > MOST_VECTOR_POINTS
        # In mixed order, so neither class hides the other.
        order = np.random.default_rng(0).permutation(self.positive.size)
        positive = self.positive[order]
        self.points_ = ax.scatter(
            self.uncorrected[order],
            self.corrected[order],
            s=10 if many else 22,
            facecolors=[DARK if one else "white" for one in positive],
            edgecolors=[DARK if one else MIDDLE for one in positive],
            linewidths=0.8,
            alpha=0.85,
            rasterized=many,
            zorder=2,
        )
        name = f"in {class_words(self.pos_label)}"
        entries = [circle_entry(name, DARK, DARK), circle_entry(f"not {name}", "white", MIDDLE)]
        legend_above(ax, columns=2, handles=entries)
