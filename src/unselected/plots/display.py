"""What all displays share: the axes that they are drawn on."""

from collections.abc import Sequence

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure


class Display:
    """Numbers as attributes, and after ``plot`` the axes on which they are drawn."""

    ax_: Axes
    figure_: Figure | SubFigure

    def _start(self, ax: Axes | None, width: float, height: float) -> Axes:
        """Remember the axes given, or those of a new figure of so many inches."""
        if ax is None:
            ax = plt.subplots(figsize=(width, height), layout="constrained")[1]
        self.ax_, self.figure_ = ax, ax.figure
        return ax


class PanelsDisplay(Display):
    """A display with several panels, of which ``ax_`` is the first."""

    axes_: list[Axes]

    def _start_panels(
        self, axes: Sequence[Axes] | None, rows: int, columns: int, width: float, height: float
    ) -> list[Axes]:
        """Remember the axes given, row by row, or new ones; raise where they are too few."""
        grid = np.asarray(axes, dtype=object)
        if axes is None:
            grid = plt.subplots(
                rows, columns, figsize=(width, height), layout="constrained", squeeze=False
            )[1]
        self.axes_ = list(grid.flat)
        if len(self.axes_) != rows * columns:
            raise ValueError(
                f"axes has {len(self.axes_)} axes, but {rows * columns} panels are drawn."
            )
        self._start(self.axes_[0], width, height)
        return self.axes_
