"""Reliability: whether a predicted probability of 0.8 is right in 80 % of cases."""

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from unselected._typing import Floats
from unselected.calibration import reliability_curve
from unselected.calibration.inputs import positives
from unselected.plots.display import Display
from unselected.plots.predictions import class_words, probabilities
from unselected.plots.style import (
    DARK,
    LIGHT,
    PALE,
    draw_band,
    draw_diagonal,
    finish_unit_square,
)

_N_BINS = 40

# Points of the band where there are too many to draw each.
_N_BAND_POINTS = 400


@dataclass(eq=False, repr=False)
class ReliabilityDisplay(Display):
    """Reliability curve: the fraction of positive cases against their predicted probability.

    The curve is the isotonic (CORP) one, which needs no bins. Where the predictions are reliable
    it runs, but for chance, along the diagonal, and stays in the consistency band at most places.

    Parameters
    ----------
    probability, fraction : arrays of shape (n_points,)
        Distinct predicted probabilities, in increasing order, and the recalibrated ones.
    band_low, band_high : arrays of shape (n_points,)
        The consistency band: where the curve of reliable predictions would lie with probability
        ``level``, point by point.
    level : float
    predictions : array of shape (n_samples,)
        All predicted probabilities, for the histogram.
    name : str, default=None
        Of the curve in the legend.
    pos_label : default=1
        The class that the probabilities are of; None for the most probable of several classes.

    Attributes
    ----------
    line_ : Line2D
    ax_ : Axes
    figure_ : Figure
    """

    probability: Floats
    fraction: Floats
    band_low: Floats
    band_high: Floats
    level: float
    predictions: Floats
    _: KW_ONLY
    name: str | None = None
    pos_label: Any = 1

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        level: float = 0.9,
        random_state: Any = None,
        name: str | None = None,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the curve of a fitted classifier on data that it was not fitted to.

        Parameters
        ----------
        estimator : fitted classifier of two classes
            The probabilities are of the second of its ``classes_``.
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        level, random_state
            See `unselected.calibration.reliability_curve`.
        name : str, default=None
            By default the name of the classifier's class.
        ax : Axes, default=None
            Where to draw; a new figure if None.

        Returns
        -------
        display : ReliabilityDisplay
        """
        check_is_fitted(estimator)
        classes = np.asarray(estimator.classes_)
        if classes.size != 2:
            raise ValueError(
                f"the estimator has {classes.size} classes: two are needed. Of more, the most "
                "probable one can be drawn, by "
                "from_predictions(*most_probable(y, probability), pos_label=None)."
            )
        strange = np.setdiff1d(y, classes).tolist()
        if strange:
            raise ValueError(f"y has {strange[0]!r}, which is no class of the estimator.")
        return cls._from_positive(
            np.asarray(y) == classes[1],
            estimator.predict_proba(X)[:, 1],
            pos_label=classes[1],
            level=level,
            random_state=random_state,
            name=type(estimator).__name__ if name is None else name,
            ax=ax,
        )

    @classmethod
    def from_predictions(
        cls,
        y: Any,
        probability: Any,
        *,
        pos_label: Any = 1,
        level: float = 0.9,
        random_state: Any = None,
        name: str | None = None,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the curve of predicted probabilities.

        Parameters
        ----------
        y : array-like of shape (n_samples,)
            Classes.
        probability : array-like of shape (n_samples,)
            Predicted probabilities of ``pos_label``.
        pos_label : default=1
            None where the probabilities are of the most probable of several classes; ``y`` then
            says, in booleans, whether that is right (see `unselected.calibration.most_probable`).
        level, random_state
            See `unselected.calibration.reliability_curve`.
        name : str, default=None
            Of the curve in the legend.
        ax : Axes, default=None
            Where to draw; a new figure if None.

        Returns
        -------
        display : ReliabilityDisplay
        """
        return cls._from_positive(
            positives(y, pos_label),
            probability,
            pos_label=pos_label,
            level=level,
            random_state=random_state,
            name=name,
            ax=ax,
        )

    @classmethod
    def _from_positive(
        cls,
        positive: NDArray[np.bool_],
        probability: Any,
        *,
        level: float,
        random_state: Any,
        ax: Axes | None,
        **words: Any,
    ) -> Self:
        predictions = probabilities("probability", probability, positive.size)
        curve = reliability_curve(
            positive.astype(np.int64), predictions, level=level, random_state=random_state
        )
        return cls(**vars(curve), predictions=predictions, **words).plot(ax)

    def plot(self, ax: Axes | None = None, *, histogram: bool = True) -> Self:
        """Draw the curve with its band, and a histogram of the probabilities at the foot.

        Parameters
        ----------
        ax : Axes, default=None
        histogram : bool, default=True

        Returns
        -------
        self : ReliabilityDisplay
        """
        ax = self._start(ax, 5.2, 5.2)
        self._draw_curve(ax)
        if histogram:
            self._draw_histogram(ax)
        words = class_words(self.pos_label)
        finish_unit_square(ax, f"Predicted probability of {words}", f"Fraction of cases in {words}")
        return self

    def _draw_curve(self, ax: Axes) -> None:
        few = self.probability.size <= 100
        corner = _corners(self.fraction) | few
        (self.line_,) = ax.plot(
            self.probability[corner],
            self.fraction[corner],
            color=DARK,
            linewidth=2,
            marker="o" if few else "",
            markersize=3.5,
            label=self.name or "observed (isotonic)",
        )
        draw_diagonal(ax, "perfectly reliable")
        ends = self.probability[[0, -1]]
        x = self.probability if few else np.linspace(ends[0], ends[1], _N_BAND_POINTS)
        low, high = (np.interp(x, self.probability, end) for end in (self.band_low, self.band_high))
        draw_band(ax, x, low, high, f"{100 * self.level:g} % consistency band")

    def _draw_histogram(self, ax: Axes) -> None:
        counts, edges = np.histogram(self.predictions, bins=_N_BINS, range=(0.0, 1.0))
        ax.stairs(
            0.16 * counts / counts.max(),
            edges,
            fill=True,
            transform=ax.get_xaxis_transform(),
            facecolor=PALE,
            edgecolor=LIGHT,
            linewidth=0.6,
            label=f"{self.predictions.size} cases, at most {counts.max()} in a bar",
            zorder=0.5,
        )


def _corners(values: Floats) -> NDArray[np.bool_]:
    """Return which points are needed to draw a line: those inside a flat run are not."""
    change = np.concatenate([[True], np.diff(values) != 0, [True]])
    return np.asarray(change[1:] | change[:-1])
