"""PIT values of predictions of a number: their distribution, and the coverage of intervals."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from scipy.stats import kstwo

from unselected._typing import Floats
from unselected.calibration import coverage_curve
from unselected.calibration.intervals import tails
from unselected.calibration.pit import checked_pit
from unselected.plots.display import Display
from unselected.plots.style import (
    draw_band,
    draw_diagonal,
    finish_unit_square,
    styles_of,
)


def checked_pits(predictions: Mapping[str, Any]) -> dict[str, Floats]:
    """Return the PIT values of one or more methods for the same cases, or raise."""
    if not predictions:
        raise ValueError("predictions is empty: there is no method to draw.")
    pits = {name: checked_pit(pit, f"predictions[{name!r}]") for name, pit in predictions.items()}
    (first, values), *others = pits.items()
    for name, pit in others:
        if pit.size != values.size:
            raise ValueError(
                f"predictions has {values.size} cases for {first!r} and {pit.size} for {name!r}: "
                "methods are compared, and one band drawn, for the same cases."
            )
    return pits


@dataclass(eq=False, repr=False)
class PITDisplay(Display):
    """Distribution of PIT values, which is uniform where predictive distributions are right.

    The PIT value of a case is the predicted probability of a response of at most the observed one.
    The curve is the fraction of cases with at most a value. It runs along the diagonal if
    predictions are right, but for chance. Overconfident predictions have too many values near 0
    and 1: the curve is above the diagonal on the left and below it on the right. If it is below
    the diagonal throughout, predictions are too low.

    Parameters
    ----------
    pit : mapping of str to array of shape (n_samples,)
        PIT values by the name in the legend, of the same cases.
    half_width : float
        Distance of the edges of the band from the diagonal.
    confidence : float
        Probability with which the curve of right predictions stays inside the band throughout.

    Attributes
    ----------
    lines_ : dict of str to Line2D
    ax_ : Axes
    figure_ : Figure

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> display = PITDisplay.from_predictions({"corrected": [0.2, 0.9]}, ax=Figure().subplots())
    >>> round(display.half_width, 6)  # 1 - sqrt(0.05 / 2)
    0.841886
    """

    pit: Mapping[str, Floats]
    half_width: float
    confidence: float

    @classmethod
    def from_predictions(
        cls, predictions: Mapping[str, Any], *, confidence: float = 0.95, ax: Axes | None = None
    ) -> Self:
        """Draw the distribution of the PIT values of one or more methods.

        Parameters
        ----------
        predictions : mapping of str to array-like of shape (n_samples,)
            PIT values by the name in the legend, ``predict_cdf(X, y)`` of regressors, all of the
            same cases.
        confidence : float, default=0.95
            Of the band, which is the exact one of Kolmogorov and Smirnov for independent cases.
        ax : Axes, default=None
            Where to draw; a new figure if None.

        Returns
        -------
        display : PITDisplay
        """
        tails(confidence)
        pits = checked_pits(predictions)
        n = next(iter(pits.values())).size
        return cls(pits, float(kstwo.ppf(confidence, n)), confidence).plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw a staircase for each method, the diagonal, and the band around it.

        Parameters
        ----------
        ax : Axes, default=None

        Returns
        -------
        self : PITDisplay
        """
        ax = self._start(ax, 5.2, 5.2)
        styles = styles_of(self.pit)
        self.lines_ = {name: self._draw_steps(name, style.line()) for name, style in styles.items()}
        draw_diagonal(ax, "right predictions")
        ends = np.array([0.0, self.half_width, 1.0 - self.half_width, 1.0])
        x = np.unique(np.clip(ends, 0.0, 1.0))
        low, high = np.clip([x - self.half_width, x + self.half_width], 0.0, 1.0)
        label = f"{100 * self.confidence:g} % band for the whole curve"
        draw_band(ax, x, low, high, label)
        finish_unit_square(
            ax,
            "PIT value: predicted probability of no larger response",
            "Fraction of cases with at most this PIT value",
        )
        return self

    def _draw_steps(self, name: str, properties: dict[str, Any]) -> Line2D:
        values = np.sort(self.pit[name])
        x = np.concatenate([[0.0], values, [1.0]])
        heights = np.concatenate([np.arange(values.size + 1) / values.size, [1.0]])
        return self.ax_.step(x, heights, where="post", label=name, **properties)[0]


@dataclass(eq=False, repr=False)
class CoverageDisplay(Display):
    """Coverage of central predictive intervals against their nominal level.

    Where predictive distributions are right, the curve runs along the diagonal, but for chance.
    Below it the intervals hold the response less often than their level: predictions are
    overconfident. Above it they are wider than necessary.

    Parameters
    ----------
    levels : array of shape (n_levels,)
        Nominal levels.
    coverage : mapping of str to array of shape (n_levels,)
        The fraction of cases in the intervals, by the name in the legend.
    band_low, band_high : arrays of shape (n_levels,)
        Where the coverage of right predictions would lie with at least the probability
        ``confidence``, point by point.
    confidence : float
    n_samples : int

    Attributes
    ----------
    lines_ : dict of str to Line2D
    ax_ : Axes
    figure_ : Figure

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> display = CoverageDisplay.from_predictions(
    ...     {"corrected": [0.04, 0.3, 0.5, 0.97]}, levels=[0.5, 0.9], ax=Figure().subplots()
    ... )
    >>> display.coverage["corrected"].tolist()
    [0.5, 0.5]
    """

    levels: Floats
    coverage: Mapping[str, Floats]
    band_low: Floats
    band_high: Floats
    confidence: float
    n_samples: int

    @classmethod
    def from_predictions(
        cls,
        predictions: Mapping[str, Any],
        *,
        levels: Any = None,
        confidence: float = 0.95,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the coverage of one or more methods, from their PIT values.

        Parameters
        ----------
        predictions : mapping of str to array-like of shape (n_samples,)
            PIT values by the name in the legend, ``predict_cdf(X, y)`` of regressors, all of the
            same cases.
        levels : array-like, default=None
            Nominal levels in increasing order; by default 0.01, 0.02, ... 0.99.
        confidence : float, default=0.95
            Of the band at a level, by the binomial law of independent cases.
        ax : Axes, default=None
            Where to draw; a new figure if None.

        Returns
        -------
        display : CoverageDisplay
        """
        pits = checked_pits(predictions)
        curves = {
            name: coverage_curve(pit, levels, confidence=confidence) for name, pit in pits.items()
        }
        first = next(iter(curves.values()))
        if np.any(np.diff(first.levels) <= 0.0):
            raise ValueError(f"levels={levels!r} must be increasing.")
        coverage = {name: curve.coverage for name, curve in curves.items()}
        n = next(iter(pits.values())).size
        band = first.band_low, first.band_high
        return cls(first.levels, coverage, *band, confidence, n).plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw a line for each method, the diagonal, and the band.

        Parameters
        ----------
        ax : Axes, default=None

        Returns
        -------
        self : CoverageDisplay
        """
        ax = self._start(ax, 5.2, 5.2)
        self.lines_ = {
            name: ax.plot(self.levels, self.coverage[name], label=name, **style.line())[0]
            for name, style in styles_of(self.coverage).items()
        }
        draw_diagonal(ax, "right predictions")
        label = f"{100 * self.confidence:g} % band at each level"
        draw_band(ax, self.levels, self.band_low, self.band_high, label)
        finish_unit_square(
            ax,
            "Nominal level of the central predictive interval",
            f"Fraction of the {self.n_samples} cases inside it",
        )
        return self
