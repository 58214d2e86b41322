"""Methods compared by cross-validation: one panel for each number, one row for each method."""

from collections.abc import Iterable, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from matplotlib.axes import Axes

from unselected.calibration import Estimate
from unselected.plots.display import PanelsDisplay
from unselected.plots.style import BAND, DARK, INK, LIGHT, MIDDLE, SMALL, method_rows, tidy


class Measure(NamedTuple):
    """A number of a row of a comparison, and how it is drawn.

    Attributes
    ----------
    field : str
        Of the row, or of its ``differences``.
    words : str
    is_difference : bool
        From ours; 0 is marked.
    """

    field: str
    words: str
    is_difference: bool = False


CLASS_MEASURES = (
    Measure("log_loss", "Log loss"),
    Measure("log_loss", "Log loss less ours", is_difference=True),
    Measure("auc", "AUC"),
    Measure("actual_error", "Error rate"),
    Measure("features_needed", "Features needed"),
)
RESPONSE_MEASURES = (
    Measure("log_density", "Log density"),
    Measure("log_density", "Log density less ours", is_difference=True),
    Measure("rmse", "Root mean squared error"),
    Measure("width", "Width of 90 % intervals"),
    Measure("features_needed", "Features needed"),
)


@dataclass(eq=False, repr=False)
class MethodsDisplay(PanelsDisplay):
    """Methods compared: a panel for each number, with a dot and an interval for each method.

    Parameters
    ----------
    rows : sequence of ComparisonRow or RegressionComparisonRow
    measures : sequence of Measure
        One for each panel.

    Attributes
    ----------
    axes_ : list of Axes
    figure_ : Figure
    """

    rows: Sequence[Any]
    _: KW_ONLY
    measures: Sequence[Measure]

    @classmethod
    def from_rows(
        cls,
        rows: Iterable[Any],
        *,
        measures: Sequence[Measure] = CLASS_MEASURES,
        axes: Sequence[Axes] | None = None,
    ) -> Self:
        """Draw the methods of a comparison.

        Parameters
        ----------
        rows : iterable of ComparisonRow or RegressionComparisonRow
            From `comparison_table` or `regression_table` of `unselected.experiments`.
        measures : sequence of Measure
            What to draw, by default for classes; `RESPONSE_MEASURES` for a real response.
        axes : sequence of Axes, default=None
            Where to draw, one for each measure; a new figure if None.

        Returns
        -------
        display : MethodsDisplay
        """
        return cls(list(rows), measures=measures).plot(axes)

    def plot(self, axes: Sequence[Axes] | None = None) -> Self:
        """Draw a row for each method, the first at the top of each panel.

        Parameters
        ----------
        axes : sequence of Axes, default=None

        Returns
        -------
        self : MethodsDisplay
        """
        height = 1.1 + 0.27 * len(self.rows)
        n = len(self.measures)
        panels = self._start_panels(axes, 1, n, 2.1 * n + 1.2, height)
        for panel, measure in zip(panels, self.measures, strict=True):
            self._draw(panel, measure)
        for panel in panels[1:]:
            panel.set_yticklabels([])
        return self

    def _draw(self, ax: Axes, measure: Measure) -> None:
        is_text = measure.field == "features_needed"  # which a line would strike out
        places = method_rows(ax, [row.method for row in self.rows], lines=not is_text)
        if is_text:
            self._draw_numbers(ax, places.tolist())
        else:
            if measure.is_difference:
                ax.axvline(0.0, color=INK, linewidth=0.8, dashes=(4, 3), zorder=1)
            for place, row in zip(places.tolist(), self.rows, strict=True):
                source = row.differences if measure.is_difference else vars(row)
                estimate = source.get(measure.field)
                if estimate is not None:
                    _draw_estimate(ax, place, estimate, _color(row.method, estimate, measure))
        ax.set_title(measure.words, fontsize=SMALL + 0.5)
        ax.tick_params(axis="x", labelsize=SMALL)
        ax.locator_params(axis="x", nbins=4) if not is_text else None
        tidy(ax)
        ax.spines["left"].set_visible(False)

    def _draw_numbers(self, ax: Axes, places: list[float]) -> None:
        for place, row in zip(places, self.rows, strict=True):
            color = DARK if row.method == "corrected" else LIGHT
            ax.text(0.5, place, f"{row.features_needed:.0f}", ha="center", va="center", color=color)
        ax.set(xlim=(0, 1), xticks=[])
        ax.spines["bottom"].set_visible(False)


def _color(method: str, estimate: Estimate, measure: Measure) -> str:
    """Ours is dark; a difference by more than chance stands out."""
    if method == "corrected":
        return DARK
    far = measure.is_difference and not estimate.low <= 0.0 <= estimate.high
    return MIDDLE if far else INK


def _draw_estimate(ax: Axes, place: float, estimate: Estimate, color: str) -> None:
    ends = [estimate.low, estimate.high]
    if np.all(np.isfinite(ends)):
        ax.plot(ends, [place, place], color=BAND, linewidth=4, solid_capstyle="butt", zorder=1)
    ax.plot([estimate.value], [place], "o", color=color, markersize=5, zorder=2)
