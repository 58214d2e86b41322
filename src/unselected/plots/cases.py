"""Cases as a strip: the probability of each, in a row for each class."""

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from unselected._typing import Floats
from unselected.calibration.several_classes import checked_classes, predicted_classes
from unselected.plots.display import Display
from unselected.plots.style import (
    DARK,
    INK,
    MIDDLE,
    MOST_VECTOR_POINTS,
    SMALL,
    legend_above,
    named_rows,
    tidy,
)

# Wrong cases are numbered where there are no more than this.
_MOST_NUMBERS = 25


@dataclass(eq=False, repr=False)
class CaseStripDisplay(Display):
    """Cases in a row for each class, at their predicted probabilities.

    Of two classes the probability is that of the second, of more that of the case's own class.
    Cases whose class is not the most probable one are crosses, with their numbers.

    Parameters
    ----------
    y : array of shape (n_samples,)
        Class numbers, 0 to n_classes - 1.
    probability : array of shape (n_samples, n_classes)
    classes : array of shape (n_classes,)
        What the classes are called.

    Attributes
    ----------
    wrong : array of bool of shape (n_samples,)
    ax_ : Axes
    figure_ : Figure

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> display = CaseStripDisplay.from_predictions(
    ...     [0, 1], [[0.9, 0.1], [0.8, 0.2]], classes=["well", "ill"], ax=Figure().subplots()
    ... )
    >>> display.wrong.tolist(), display.ax_.get_xlabel()
    ([False, True], 'Predicted probability of ill')
    """

    y: NDArray[np.intp]
    probability: Floats
    _: KW_ONLY
    classes: Any

    def __post_init__(self) -> None:
        self.wrong = predicted_classes(self.probability) != self.y

    @classmethod
    def from_predictions(
        cls, y: Any, probability: Any, *, classes: Any, ax: Axes | None = None
    ) -> Self:
        """Draw a point for each case.

        Parameters
        ----------
        y : array-like of shape (n_samples,)
            Class numbers, 0 to n_classes - 1.
        probability : array-like of shape (n_samples, n_classes)
        classes : array-like of shape (n_classes,)
            What the classes are called.
        ax : Axes, default=None
            Where to draw; a new figure if None.

        Returns
        -------
        display : CaseStripDisplay
        """
        return cls(*checked_classes(y, probability), classes=classes).plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw the strip.

        Parameters
        ----------
        ax : Axes, default=None

        Returns
        -------
        self : CaseStripDisplay
        """
        n_classes = len(self.classes)
        ax = self._start(ax, 11.7, 1.1 + 0.5 * n_classes)
        rows = named_rows(
            ax,
            [
                f"{label} ({n})"
                for label, n in zip(
                    self.classes, np.bincount(self.y, minlength=n_classes), strict=True
                )
            ],
        )
        shown = self.probability[np.arange(self.y.size), 1 if n_classes == 2 else self.y]
        spread = np.random.default_rng(0).uniform(-0.28, 0.28, self.y.size)
        heights = rows[self.y] + spread
        many = self.y.size > MOST_VECTOR_POINTS
        for wrong, marker, color, words in (
            (False, "o", DARK, "right"),
            (True, "X", MIDDLE, "wrong: another class is more probable"),
        ):
            which = self.wrong == wrong
            size = 8 if many else 26 if not wrong else 44
            ax.scatter(
                shown[which],
                heights[which],
                s=size,
                marker=marker,
                color=color,
                linewidths=0,
                alpha=0.75 if not wrong else 1.0,
                rasterized=many,
                label=f"{words} ({which.sum()})",
            )
        if self.wrong.sum() <= _MOST_NUMBERS:
            for i in np.flatnonzero(self.wrong):
                ax.annotate(
                    str(i + 1),
                    (shown[i], heights[i]),
                    xytext=(5, 3),
                    color=INK,
                    textcoords="offset points",
                    fontsize=SMALL - 1,
                )
        of = str(self.classes[1]) if n_classes == 2 else "its own class"
        if n_classes == 2:
            ax.axvline(0.5, color=INK, linewidth=0.8, dashes=(4, 3), zorder=1)
        ax.set(xlim=(-0.02, 1.02), xlabel=f"Predicted probability of {of}")
        tidy(ax)
        legend_above(ax, columns=2)
        return self
