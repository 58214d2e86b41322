"""Predictions of a number, with their intervals, and the observed responses."""

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from unselected._typing import Floats
from unselected.calibration.intervals import tails
from unselected.calibration.real_response import checked_means_and_intervals, is_inside
from unselected.plots.display import Display
from unselected.plots.style import (
    BAND,
    DARK,
    MIDDLE,
    MOST_VECTOR_POINTS,
    draw_diagonal,
    legend_above,
    tidy,
)


@dataclass(eq=False, repr=False)
class PredictedActualDisplay(Display):
    """Responses against their predicted means, with the predictive intervals.

    A case is a dot at its predicted mean (across) and its response (upwards), on a bar from one end
    of its predictive interval to the other. A response outside its interval is a miss, and marked.
    Where predictions are right, the dots scatter about the diagonal evenly, and of intervals of
    90 % a tenth miss.

    Parameters
    ----------
    y : array of shape (n_samples,)
        Responses.
    mean : array of shape (n_samples,)
        Predicted means.
    lower, upper : arrays of shape (n_samples,)
        Bounds of the predictive intervals.
    level : float, default=None
        Nominal level of the intervals, for the legend.

    Attributes
    ----------
    missed : array of bool of shape (n_samples,)
    bars_ : LineCollection
    hits_, misses_ : PathCollection
    ax_ : Axes
    figure_ : Figure

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> display = PredictedActualDisplay.from_predictions(
    ...     [1.0, 5.0], [2.0, 3.0], [0.0, 2.0], [3.0, 4.0], ax=Figure().subplots()
    ... )
    >>> display.missed.tolist()
    [False, True]
    """

    y: Floats
    mean: Floats
    lower: Floats
    upper: Floats
    _: KW_ONLY
    level: float | None = None

    def __post_init__(self) -> None:
        self.missed: NDArray[np.bool_] = ~is_inside(self.y, self.lower, self.upper)

    @classmethod
    def from_predictions(
        cls,
        y: Any,
        mean: Any,
        lower: Any,
        upper: Any,
        *,
        level: float | None = None,
        ax: Axes | None = None,
    ) -> Self:
        """Draw a dot and a bar for each case.

        Parameters
        ----------
        y : array-like of shape (n_samples,)
            Responses.
        mean : array-like of shape (n_samples,)
            Predicted means.
        lower, upper : array-like of shape (n_samples,)
            Bounds of the predictive intervals, for example two columns of predict_quantiles.
        level : float, default=None
            Nominal level of the intervals, for the legend.
        ax : Axes, default=None
            Where to draw; a new figure if None.

        Returns
        -------
        display : PredictedActualDisplay
        """
        if level is not None:
            tails(level)
        return cls(*checked_means_and_intervals(y, mean, lower, upper), level=level).plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw bars, filled dots for the responses inside them, and crosses for the misses.

        Parameters
        ----------
        ax : Axes, default=None

        Returns
        -------
        self : PredictedActualDisplay
        """
        ax = self._start(ax, 5.2, 5.2)
        self._draw_intervals()
        self._draw_responses()
        draw_diagonal(ax, "response equal to predicted mean")
        self._limit()
        ax.set(xlabel="Predicted mean of the response", ylabel="Response")
        tidy(ax)
        legend_above(ax, columns=2, handles=self._entries())
        return self

    def _entries(self) -> list[Any]:
        """Return the entries of the legend, in which bars are visible however thin they are."""
        bar = Line2D([], [], color=BAND, linewidth=2.0, label=str(self.bars_.get_label()))
        handles, _ = self.ax_.get_legend_handles_labels()
        return [bar if handle is self.bars_ else handle for handle in handles]

    @property
    def _many(self) -> bool:
        return self.y.size > MOST_VECTOR_POINTS

    def _draw_intervals(self) -> None:
        words = "predictive interval"
        self.bars_ = self.ax_.vlines(
            self.mean,
            self.lower,
            self.upper,
            color=BAND,
            linewidth=0.6 if self.y.size > 150 else 1.6,
            alpha=0.35 if self._many else 0.7,
            rasterized=self._many,
            zorder=1,
            label=words if self.level is None else f"{100 * self.level:g} % {words}",
        )

    def _draw_responses(self) -> None:
        size = 4 if self._many else 8 if self.y.size > 150 else 18
        n, n_missed = self.y.size, int(self.missed.sum())
        hit = ~self.missed
        self.hits_ = self.ax_.scatter(
            self.mean[hit],
            self.y[hit],
            s=size,
            color=DARK,
            linewidths=0,
            rasterized=self._many,
            zorder=2,
            label=f"response inside, {n - n_missed} of {n} cases",
        )
        self.misses_ = self.ax_.scatter(
            self.mean[self.missed],
            self.y[self.missed],
            s=2.2 * size,
            color=MIDDLE,
            marker="X",
            edgecolors="white",
            linewidths=0.4,
            rasterized=self._many,
            zorder=2.5,
            label=f"outside, {n_missed} ({100 * n_missed / n:.3g} %)",
        )

    def _limit(self) -> None:
        """Show all bars and responses; means may vary much less, and have a scale of their own."""
        for set_limits, values in (
            (self.ax_.set_xlim, [self.mean]),
            (self.ax_.set_ylim, [self.y, self.lower, self.upper]),
        ):
            low, high = float(np.min(values)), float(np.max(values))
            margin = 0.05 * (high - low) or 0.5
            set_limits(low - margin, high + margin)
