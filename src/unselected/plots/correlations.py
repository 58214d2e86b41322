"""Correlations of binary features with the class: in counts, and in training and test data."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray
from sklearn.utils import check_X_y

from unselected._typing import Floats
from unselected.omission.binary import OmittedCounts
from unselected.plots.display import Display
from unselected.plots.style import (
    CELLS,
    DARK,
    INK,
    MIDDLE,
    MOST_VECTOR_POINTS,
    SMALL,
    draw_diagonal,
    legend_above,
    tidy,
)
from unselected.selection.correlation import absolute_cor, cor_squared, threshold_cut
from unselected.selection.explained import explained
from unselected.statistics.counting import count_classes

_MINUS = "\N{MINUS SIGN}"

# Cells that have room for a number, in each direction.
_MOST_CELLS_WITH_TEXT = 17


@dataclass(eq=False, repr=False)
class SelectedCountsDisplay(Display):
    """Which counts (I0, I1) of a binary feature are kept: figure 1 of the paper, for any sizes.

    I0 and I1 are the numbers of ones among the ``n0`` cases of class 0 and the ``n1`` of class 1.
    A feature is omitted where the absolute value of its correlation with the class,

        Cor = (n0 I1 - n1 I0) / sqrt(n0 n1 m (n - m)),   m = I0 + I1,  n = n0 + n1,

    is at most the threshold, compared exactly.

    Parameters
    ----------
    cor : array of shape (n0 + 1, n1 + 1)
        Correlation with the class for each (I0, I1); 0 for constant features.
    region : array of int of shape (n0 + 1, n1 + 1)
        0 where the correlation is zero, 1 where the feature is omitted otherwise, 2 where kept.
    threshold : float

    Attributes
    ----------
    image_ : AxesImage
    ax_ : Axes
    figure_ : Figure

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> display = SelectedCountsDisplay.from_counts(8, 14, 0.2, ax=Figure().subplots())
    >>> int((display.region == 0).sum()), float(display.cor[0, 14])
    (3, 1.0)
    """

    cor: Floats
    region: NDArray[np.int8]
    threshold: float

    @classmethod
    def from_counts(cls, n0: int, n1: int, threshold: float, *, ax: Axes | None = None) -> Self:
        """Draw the sets for numbers of cases and a threshold.

        Parameters
        ----------
        n0, n1 : int
            Numbers of cases of the two classes, at least 1 each.
        threshold : float
            From 0 to 1.
        ax : Axes, default=None
            Where to draw; a new figure if None.

        Returns
        -------
        display : SelectedCountsDisplay
        """
        check_counts(n0, n1, threshold)
        I0, I1 = np.meshgrid(np.arange(n0 + 1), np.arange(n1 + 1), indexing="ij")
        excess = n0 * I1 - n1 * I0
        size = np.sqrt(cor_squared(I0.ravel(), I1.ravel(), n0, n1)).reshape(I0.shape)
        omitted = OmittedCounts.at_most(threshold_cut(threshold), n0, n1)
        kept = (omitted.start > I0) | (omitted.stop <= I0)
        region = np.where(excess == 0, 0, np.where(kept, 2, 1)).astype(np.int8)
        return cls(np.sign(excess) * size, region, float(threshold)).plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw the cells in three greys, with their correlations where there is room for numbers.

        Parameters
        ----------
        ax : Axes, default=None

        Returns
        -------
        self : SelectedCountsDisplay
        """
        ax = self._start(ax, 7.2, 5.0)
        rows, columns = self.cor.shape
        alike = max(rows, columns) <= 3 * min(rows, columns)
        self.image_ = ax.imshow(
            self.region,
            cmap=ListedColormap(CELLS),
            vmin=-0.5,
            vmax=2.5,
            origin="lower",
            aspect="equal" if alike else "auto",
            interpolation="nearest",
        )
        if max(rows, columns) <= _MOST_CELLS_WITH_TEXT:
            self._write_numbers(ax)
        self._label(ax, rows - 1, columns - 1)
        return self

    def _write_numbers(self, ax: Axes) -> None:
        rows, columns = self.cor.shape
        size = 8.0 if columns <= 16 and rows <= 11 else 6.0
        for (I0, I1), cor in np.ndenumerate(self.cor):
            color = "white" if self.region[I0, I1] == 0 else INK
            words = short_cor(cor).replace("-", _MINUS)
            ax.text(I1, I0, words, ha="center", va="center", color=color, fontsize=size)
        ax.vlines(np.arange(1, columns) - 0.5, -0.5, rows - 0.5, "white", linewidth=0.8)
        ax.hlines(np.arange(1, rows) - 0.5, -0.5, columns - 0.5, "white", linewidth=0.8)
        ax.tick_params(length=0)
        ax.set(xticks=range(columns), yticks=range(rows))

    def _label(self, ax: Axes, n0: int, n1: int) -> None:
        threshold = f"{self.threshold:.3g}"
        if max(n0, n1) >= _MOST_CELLS_WITH_TEXT:
            for axis in (ax.xaxis, ax.yaxis):
                axis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10]))
        ax.set_xlabel(f"$I_1$: ones among the {n1} cases of class 1")
        ax.set_ylabel(f"$I_0$: ones among the {n0} cases of class 0")
        names = (
            "omitted, correlation 0",
            f"omitted, |correlation| \N{LESS-THAN OR EQUAL TO} {threshold}",
            f"kept, |correlation| > {threshold}",
        )
        entries = [
            Patch(facecolor=color, edgecolor=INK, linewidth=0.5, label=name)
            for color, name in zip(CELLS, names, strict=True)
        ]
        legend_above(ax, columns=3, handles=entries)


def short_cor(value: float) -> str:
    """Return a correlation in as few characters as possible.

    >>> short_cor(-0.534), short_cor(0.0), short_cor(1.0), short_cor(0.001)
    ('-.53', '0', '1', '.00')
    """
    if value in (-1.0, 0.0, 1.0):
        return f"{value:.0f}".replace("-0", "0")
    return f"{value:.2f}".replace("0.", ".", 1)


def check_counts(n0: int, n1: int, threshold: float) -> None:
    """Raise unless both classes have cases and the threshold is a correlation."""
    for name, n in (("n0", n0), ("n1", n1)):
        if not isinstance(n, int | np.integer) or n < 1:
            raise ValueError(f"{name}={n} must be a whole number of cases, at least 1.")
    if not 0.0 <= threshold <= 1.0:
        raise ValueError(f"threshold={threshold} is out of range: a correlation is from 0 to 1.")


@dataclass(eq=False, repr=False)
class CorrelationsDisplay(Display):
    """Absolute correlation of every feature with the class, in training and in test data.

    Features that look strong in the training data owe much of that to chance: in the test data
    they are weaker. Vertical lines mark the weakest training correlation that is kept with the
    k strongest features, for several k (the paper's second figure).

    Parameters
    ----------
    train, test : arrays of shape (n_features,)
        Absolute correlations.
    ks : array of int of shape (n_ks,)
    cuts : array of shape (n_ks,)
        The k-th largest training correlation for each k.

    Attributes
    ----------
    points_ : PathCollection
    ax_ : Axes
    figure_ : Figure
    """

    train: Floats
    test: Floats
    ks: NDArray[np.int64]
    cuts: Floats

    @classmethod
    def from_data(
        cls,
        X_train: Any,
        y_train: Any,
        X_test: Any,
        y_test: Any,
        *,
        ks: Sequence[int] = (1, 10, 100, 1000),
        ax: Axes | None = None,
    ) -> Self:
        """Draw the correlations of binary features.

        Parameters
        ----------
        X_train, X_test : array-like of shapes (n_train, n_features) and (n_test, n_features)
            0 and 1 only; NaN is a missing value.
        y_train, y_test : array-like of shapes (n_train,) and (n_test,)
            The same two classes, with any labels.
        ks : sequence of int
            Numbers of kept features to mark. Those above the number of features have no line.
        ax : Axes, default=None
            Where to draw; a new figure if None.

        Returns
        -------
        display : CorrelationsDisplay
        """
        classes = np.unique(y_train)
        train = _correlations(X_train, y_train, classes, "train")
        test = _correlations(X_test, y_test, classes, "test")
        if train.size != test.size:
            raise ValueError(f"X_train has {train.size} columns, but X_test has {test.size}.")
        for k in ks:
            if k < 1:
                raise ValueError(f"ks has {k}: it must be at least 1.")
        marked = np.array([k for k in ks if k <= train.size], dtype=np.int64)
        return cls(train, test, marked, np.sort(train)[train.size - marked]).plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw a dot for each feature, and a line for each k.

        Parameters
        ----------
        ax : Axes, default=None

        Returns
        -------
        self : CorrelationsDisplay
        """
        ax = self._start(ax, 6.0, 5.2)
        many = self.train.size > MOST_VECTOR_POINTS
        self.points_ = ax.scatter(
            self.train,
            self.test,
            s=5 if many else 12,
            color=DARK,
            alpha=0.35 if many else 0.7,
            linewidths=0,
            rasterized=many,
            label="a feature",
        )
        draw_diagonal(ax, "as strong in test data")
        self._mark_cuts(ax)
        ax.set(
            xlim=(0, 1.04 * self.train.max() or 1.0),
            ylim=(0, 1.2 * max(self.test.max(), 0.5 * self.train.max()) or 1.0),
            xlabel="|Correlation with the class| in training data",
            ylabel="|Correlation with the class| in test data",
        )
        ax.legend(loc="upper left", fontsize=SMALL, framealpha=0.9)
        return self

    def _mark_cuts(self, ax: Axes) -> None:
        tidy(ax)
        for cut in self.cuts:
            ax.axvline(cut, color=MIDDLE, linewidth=1.2)
        if self.ks.size:
            top = ax.secondary_xaxis("top")
            top.set_xticks(self.cuts.tolist(), [f"{k}" for k in self.ks])
            top.set_xlabel("Weakest of the $k$ strongest features, $k$ =")
            top.tick_params(length=0)
            top.spines["top"].set_visible(False)


def _correlations(X: Any, y: Any, classes: NDArray[Any], which: str) -> Floats:
    """Return |COR| of the columns, the second class being 1."""
    X, y = check_X_y(X, y, dtype=None, ensure_all_finite=False, estimator=f"X_{which}")
    if classes.size != 2:
        raise ValueError(
            f"y_train must have two classes, not {classes.size}: this picture is of binary "
            "features and two classes."
        )
    found = np.unique(y)
    if not np.array_equal(found, classes):
        raise ValueError(
            f"y_{which} has the classes {found.tolist()}, but y_train has {classes.tolist()}: "
            "correlations need cases of both."
        )
    codes = np.searchsorted(classes, y)
    counts, _ = count_classes(
        X, codes, None, lambda column: f"column {column} of X_{which}", missing_allowed=True
    )
    if counts.known is not None:
        return np.sqrt(explained(counts.ones, counts.known))
    return absolute_cor(counts.I0, counts.I1, counts.n0, counts.n1)
