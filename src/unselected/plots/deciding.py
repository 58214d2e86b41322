"""Whether decisions by predicted probabilities do more good than harm: decision curves."""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from matplotlib.axes import Axes

from unselected.calibration import NetBenefit, net_benefit
from unselected.plots.display import Display
from unselected.plots.style import INK, LIGHT, curve_style, legend_above, tidy

# Thresholds at which net benefit is drawn.
_THRESHOLDS = np.linspace(0.01, 0.95, 95)


@dataclass(eq=False, repr=False)
class DecisionCurveDisplay(Display):
    """Decision curves (Vickers and Elkin 2006): net benefit against the threshold of treatment.

    A threshold of 10 % says that missing a case is nine times as bad as treating one in vain. A
    model is of use where its curve is above both "treat all" and "treat none".

    Parameters
    ----------
    curves : mapping of str to NetBenefit
        By their names in the legend.
    positive : str
        What the cases to be treated are called.

    Attributes
    ----------
    ax_ : Axes
    figure_ : Figure
    """

    curves: Mapping[str, NetBenefit]
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
        """Draw the curve of each method.

        Parameters
        ----------
        predictions : mapping of str to pair of array-like
            By name, which cases are positive, in booleans, and their probabilities to be.
        positive : str
            What the cases to be treated are called.
        ax : Axes, default=None
            Where to draw; a new figure if None.

        Returns
        -------
        display : DecisionCurveDisplay
        """
        curves = {name: net_benefit(*pair, _THRESHOLDS) for name, pair in predictions.items()}
        return cls(curves, positive=positive).plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw the curves, with those of treating all and none.

        Parameters
        ----------
        ax : Axes, default=None

        Returns
        -------
        self : DecisionCurveDisplay
        """
        ax = self._start(ax, 5.2, 5.2)
        ax.axhline(0.0, color=INK, linewidth=0.8, label="treat none")
        first = next(iter(self.curves.values()))
        ax.plot(first.threshold, first.treat_all, color=LIGHT, linewidth=2.5, label="treat all")
        for place, (name, curve) in enumerate(self.curves.items()):
            ax.plot(curve.threshold, curve.model, label=name, **curve_style(place))
        top = max(float(np.max(curve.model)) for curve in self.curves.values())
        ax.set(
            xlim=(0.0, 1.0),
            ylim=(-0.25 * top - 0.01, 1.1 * top + 0.01),
            xlabel=f"Probability of {self.positive} from which a case is treated",
            ylabel="Net benefit",
        )
        tidy(ax)
        legend_above(ax, columns=2)
        return self
