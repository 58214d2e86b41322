"""How stable a selection is: how often features are selected again from resampled cases."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from unselected._typing import Floats
from unselected.plots.display import Display
from unselected.plots.style import BAND, DARK, LIGHT, legend_above, named_rows, tidy


@dataclass(eq=False, repr=False)
class StabilityDisplay(Display):
    """The features that were selected most often from bootstrap samples of the cases.

    Parameters
    ----------
    features : sequence of str
        The most frequent first.
    frequency : array of shape (n_features,)
        From 0 to 1.
    kept : array of bool of shape (n_features,)
        Which of them were selected from all cases.
    n_resamples : int

    Attributes
    ----------
    ax_ : Axes
    figure_ : Figure
    """

    features: Sequence[str]
    frequency: Floats
    kept: Any
    _: KW_ONLY
    n_resamples: int

    @classmethod
    def from_frequency(
        cls,
        names: Sequence[str] | NDArray[Any],
        frequency: Floats,
        kept: Any,
        *,
        n_resamples: int,
        most: int = 20,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the features that were selected most often.

        Parameters
        ----------
        names : sequence of str
            Of all columns.
        frequency : array of shape (n_columns,)
            How often each was selected.
        kept : array of int
            The columns that were selected from all cases.
        n_resamples : int
        most : int, default=20
            The number of rows.
        ax : Axes, default=None
            Where to draw; a new figure if None.

        Returns
        -------
        display : StabilityDisplay
        """
        is_kept = np.isin(np.arange(frequency.size), kept)
        order = np.lexsort((~is_kept, -frequency))[:most]
        order = order[frequency[order] > 0.0]
        labels = [str(names[j]) for j in order]
        return cls(labels, frequency[order], is_kept[order], n_resamples=n_resamples).plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw a row for each feature, the most frequent at the top.

        Parameters
        ----------
        ax : Axes, default=None

        Returns
        -------
        self : StabilityDisplay
        """
        ax = self._start(ax, 5.2, 5.2)
        places = named_rows(ax, self.features)
        ax.hlines(places, 0.0, self.frequency, color=BAND, linewidth=3.0)
        for kept, color, words in (
            (True, DARK, "selected from all cases"),
            (False, LIGHT, "not selected from all cases"),
        ):
            which = np.asarray(self.kept) == kept
            if which.any():
                ax.plot(
                    self.frequency[which],
                    places[which],
                    linestyle="",
                    color=color,
                    label=words,
                    marker="o" if kept else "s",
                    markersize=6,
                )
        words = f"Part of {self.n_resamples} bootstrap samples in which it is selected"
        ax.set(xlim=(0.0, 1.03), xlabel=words)
        tidy(ax)
        legend_above(ax, columns=2)
        return self
