"""How well probabilities put cases in order: ROC curves."""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

from matplotlib.axes import Axes

from unselected.calibration import RocCurve, roc_curve
from unselected.plots.display import Display
from unselected.plots.style import curve_style, draw_diagonal, finish_unit_square


@dataclass(eq=False, repr=False)
class RocDisplay(Display):
    """ROC curves: the part of the positive cases found against the part of the others mistaken.

    Parameters
    ----------
    curves : mapping of str to RocCurve
        By their names in the legend.
    positive : str
        What positive cases are called.

    Attributes
    ----------
    ax_ : Axes
    figure_ : Figure

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> display = RocDisplay.from_predictions(
    ...     {"mine": ([False, True], [0.2, 0.7])}, positive="tumour", ax=Figure().subplots()
    ... )
    >>> display.ax_.get_ylabel()
    'Cases of tumour that are found'
    """

    curves: Mapping[str, RocCurve]
    _: KW_ONLY
    positive: str

    @classmethod
    def from_predictions(
        cls,
        predictions: Mapping[str, tuple[Any, Any]],
        *,
        positive: str,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the curve of each method or class.

        Parameters
        ----------
        predictions : mapping of str to pair of array-like
            By name, which cases are positive, in booleans, and their probabilities to be.
        positive : str
            What positive cases are called.
        ax : Axes, default=None
            Where to draw; a new figure if None.

        Returns
        -------
        display : RocDisplay
        """
        curves = {name: roc_curve(*pair) for name, pair in predictions.items()}
        return cls(curves, positive=positive).plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw the curves, and the diagonal of guessing.

        Parameters
        ----------
        ax : Axes, default=None

        Returns
        -------
        self : RocDisplay
        """
        ax = self._start(ax, 5.2, 5.2)
        draw_diagonal(ax, "guessing")
        for place, (name, curve) in enumerate(self.curves.items()):
            x, y = curve.false_positive_rate, curve.true_positive_rate
            ax.plot(x, y, label=name, drawstyle="default", **curve_style(place))
        others = f"Other cases taken for {self.positive}"
        finish_unit_square(ax, others, f"Cases of {self.positive} that are found")
        return self
