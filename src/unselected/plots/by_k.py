"""Scores by the number of kept features, for the methods of the paper's section 4."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from unselected._typing import Floats
from unselected.plots.display import PanelsDisplay
from unselected.plots.records import Tables, check_methods, tables_by_k
from unselected.plots.style import (
    LIGHT,
    METHOD_STYLES,
    SMALL,
    Style,
    log_ticks,
    ticks_at_k,
    tidy,
)

METHODS = tuple(METHOD_STYLES)
_TITLES = {
    "corrected": "Corrected for selection",
    "uncorrected": "Not corrected",
    "complete": "All features",
}


class Curve(NamedTuple):
    """A score by k: mean and range over the replicates, and how many these are."""

    k: Floats
    mean: Floats
    low: Floats
    high: Floats
    n_replicates: int


def curve_of(k: Floats, tables: Tables, method: str) -> Curve:
    """Return the score of a method by k, ended by that of all features where that is known.

    >>> curve = curve_of(np.array([1.0, 9.0]), {"corrected": np.array([[2.0, np.nan], [4, 5]])},
    ...                  "corrected")
    >>> curve.mean.tolist(), curve.low.tolist(), curve.n_replicates
    ([3.0, 5.0], [2.0, 5.0], 2)
    """
    values = tables[method]
    if "complete" in tables:
        values = np.where(np.isnan(tables["complete"]), values, tables["complete"])
    known = np.isfinite(values).any(axis=0)
    values = values[:, known]
    low, high = np.nanmin(values, axis=0), np.nanmax(values, axis=0)
    return Curve(k[known], np.nanmean(values, axis=0), low, high, values.shape[0])


def as_k(values: Any) -> Floats:
    """Return numbers of kept features as an array, or raise."""
    k = np.asarray(values, dtype=np.float64)
    if k.ndim != 1 or k.size == 0 or not np.all(k >= 1) or np.any(np.diff(k) <= 0):
        raise ValueError(f"k={values!r} must be increasing numbers from 1 on.")
    return k


def as_tables(k: Floats, name: str, values: Mapping[str, Any]) -> Tables:
    """Return arrays of shape (n_replicates, n_k) by method, or raise."""
    check_methods(values, METHODS)
    if not values:
        raise ValueError(f"{name} is empty: there is no method to draw.")
    tables = {
        method: np.atleast_2d(np.asarray(values[method], dtype=np.float64))
        for method in METHODS
        if method in values
    }
    for method, table in tables.items():
        if table.ndim != 2 or table.shape[1] != k.size:
            raise ValueError(
                f"{name}[{method!r}] has the shape {np.shape(values[method])}: its last dimension "
                f"must be that of k, {k.size}."
            )
        if table.shape != next(iter(tables.values())).shape:
            raise ValueError(f"{name} has methods with different numbers of replicates.")
        if not np.isfinite(table).any():
            raise ValueError(f"{name}[{method!r}] has no finite value.")
    return tables


def _lines(tables: Tables) -> list[str]:
    """Return the methods that have a line of their own: all features are the end of the others."""
    return [method for method in tables if method != "complete"] or ["complete"]


def _draw_curve(ax: Axes, curve: Curve, **properties: Any) -> Line2D:
    (line,) = ax.plot(curve.k, curve.mean, **properties)
    if curve.n_replicates > 1:
        color = properties["color"]
        ax.fill_between(curve.k, curve.low, curve.high, color=color, alpha=0.16, linewidth=0)
    return line


def _draw_ends(ax: Axes, k: Floats, tables: Tables, *, others: bool, color: str) -> list[Artist]:
    """Mark all features, where others have lines, and each k; return entries of the legend."""
    entries: list[Artist] = []
    all_k = np.array([])
    if "complete" in tables:
        curve = curve_of(k, {"complete": tables["complete"]}, "complete")
        all_k = curve.k
        if others:
            properties = {**METHOD_STYLES["complete"].points(), "markersize": 9}
            entries += ax.plot(
                curve.k, curve.mean, linestyle="", zorder=1.5, label="all features", **properties
            )
    n_replicates = next(iter(tables.values())).shape[0]
    if n_replicates > 1:
        label = f"range of {n_replicates} replicates"
        entries.append(Patch(color=color, alpha=0.25, linewidth=0, label=label))
    tidy(ax)
    ticks_at_k(ax, k, all_k)
    return entries


class ErrorByKDisplay(PanelsDisplay):
    """Actual and expected error rate by the number of kept features.

    The expected error rate is the one that the predictive probabilities imply. Where it is below
    the actual one, the method is overconfident. One panel for each method, or all in one.

    Parameters
    ----------
    k : array-like of shape (n_k,)
        Numbers of kept features.
    actual, expected : mapping of str to array-like of shape (n_k,) or (n_replicates, n_k)
        Error rates of the methods "corrected", "uncorrected" and "complete" (all features); NaN
        where there is none. "complete" is the last point of the lines of the others.

    Attributes
    ----------
    axes_ : list of Axes
    ax_ : Axes
        The first of them.
    figure_ : Figure

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> display = ErrorByKDisplay([1, 10], {"corrected": [0.4, 0.3]}, {"corrected": [0.4, 0.2]})
    >>> display.plot([Figure().subplots()]).ax_.get_title()
    'Corrected for selection'
    """

    def __init__(self, k: Any, actual: Mapping[str, Any], expected: Mapping[str, Any]) -> None:
        self.k = as_k(k)
        self.actual = as_tables(self.k, "actual", actual)
        self.expected = as_tables(self.k, "expected", expected)
        if self.actual.keys() != self.expected.keys():
            raise ValueError(
                f"actual has the methods {list(self.actual)}, but expected has "
                f"{list(self.expected)}."
            )

    @classmethod
    def from_records(
        cls, records: Iterable[Any], *, ax: Axes | Sequence[Axes] | None = None
    ) -> Self:
        """Draw the errors of an experiment.

        Parameters
        ----------
        records : iterable of mappings or objects
            With ``k``, ``method``, ``replicate``, ``actual_error`` and ``expected_error``.
            Replicates are averaged, and their range is shaded.
        ax : Axes or sequence of Axes, default=None
            See `plot`.

        Returns
        -------
        display : ErrorByKDisplay
        """
        k, tables = tables_by_k(records, ["actual_error", "expected_error"], METHODS)
        return cls(k, tables["actual_error"], tables["expected_error"]).plot(ax)

    def plot(self, ax: Axes | Sequence[Axes] | None = None) -> Self:
        """Draw the actual error solid and the expected error dotted.

        Parameters
        ----------
        ax : Axes or sequence of Axes, default=None
            One Axes for all methods, or one for each; a new figure with a panel for each if None.

        Returns
        -------
        self : ErrorByKDisplay
        """
        methods = _lines(self.actual)
        together = isinstance(ax, Axes)
        panels = [methods] if together else [[method] for method in methods]
        axes = [ax] if isinstance(ax, Axes) else ax
        self._start_panels(axes, 1, len(panels), 1.2 + 3.6 * len(panels), 3.7)
        for panel, drawn in zip(self.axes_, panels, strict=True):
            self._draw(panel, drawn)
            if not together:
                panel.set_title(_TITLES[drawn[0]])
        tables = [*self.actual.values(), *self.expected.values()]
        top = max(float(np.nanmax(table)) for table in tables)
        for panel in self.axes_:
            panel.set_ylim(0.0, 1.06 * top or 1.0)
        return self

    def _draw(self, ax: Axes, methods: Sequence[str]) -> None:
        entries: list[Artist] = []
        for method in methods:
            prefix = "" if len(methods) == 1 else f"{method}, "
            entries += self._draw_method(ax, method, prefix)
        color = METHOD_STYLES[methods[0]].color if len(methods) == 1 else LIGHT
        others = methods != ["complete"]
        entries += _draw_ends(ax, self.k, self.actual, others=others, color=color)
        ax.set(xlabel="Number of features kept, $k$", ylabel="Error rate")
        ax.legend(handles=entries, fontsize=SMALL, loc="best", frameon=False)

    def _draw_method(self, ax: Axes, method: str, prefix: str) -> list[Artist]:
        style = METHOD_STYLES[method]
        kinds = (("actual", self.actual, "-", True), ("expected", self.expected, ":", False))
        return [
            _draw_curve(
                ax,
                curve_of(self.k, tables, method),
                **Style(style.color, linestyle, style.marker, filled).points(),
                linestyle=linestyle,
                linewidth=1.8,
                label=f"{prefix}{kind} error",
            )
            for kind, tables, linestyle, filled in kinds
        ]


_SCORES = {
    "log_loss": "Average minus log probability (nats)",
    "squared_error": "Average squared error",
    "seconds": "Computation time (seconds)",
}


class ScoresByKDisplay(PanelsDisplay):
    """Log probability, squared error and computation time by the number of kept features.

    Parameters
    ----------
    k : array-like of shape (n_k,)
        Numbers of kept features.
    log_loss, squared_error, seconds : mapping of str to array-like
        Of shape (n_k,) or (n_replicates, n_k) for the methods "corrected", "uncorrected" and
        "complete" (all features); NaN where there is none. ``log_loss`` is minus the average
        natural logarithm of the probability of the true class; ``squared_error`` the average
        square of class (0 or 1) minus probability.

    Attributes
    ----------
    axes_ : list of three Axes
    figure_ : Figure

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> record = {"k": 1, "method": "corrected", "replicate": 0,
    ...           "log_loss": 0.6, "squared_error": 0.2, "seconds": 0.1}
    >>> display = ScoresByKDisplay.from_records(
    ...     [record, {**record, "k": 10}], axes=Figure().subplots(1, 3)
    ... )
    >>> display.log_loss["corrected"].tolist()
    [[0.6, 0.6]]
    """

    def __init__(
        self,
        k: Any,
        log_loss: Mapping[str, Any],
        squared_error: Mapping[str, Any],
        seconds: Mapping[str, Any],
    ) -> None:
        self.k = as_k(k)
        self.log_loss = as_tables(self.k, "log_loss", log_loss)
        self.squared_error = as_tables(self.k, "squared_error", squared_error)
        self.seconds = as_tables(self.k, "seconds", seconds)

    @classmethod
    def from_records(cls, records: Iterable[Any], *, axes: Sequence[Axes] | None = None) -> Self:
        """Draw the scores of an experiment.

        Parameters
        ----------
        records : iterable of mappings or objects
            With ``k``, ``method``, ``replicate``, ``log_loss``, ``squared_error`` and ``seconds``.
            Replicates are averaged, and their range is shaded.
        axes : sequence of three Axes, default=None
            Where to draw; a new figure if None.

        Returns
        -------
        display : ScoresByKDisplay
        """
        k, tables = tables_by_k(records, list(_SCORES), METHODS)
        return cls(k, **tables).plot(axes)

    def plot(self, axes: Sequence[Axes] | None = None) -> Self:
        """Draw three panels; the time has a logarithmic axis.

        Parameters
        ----------
        axes : sequence of three Axes, default=None

        Returns
        -------
        self : ScoresByKDisplay
        """
        panels = self._start_panels(axes, 1, 3, 11.0, 3.6)
        for panel, (score, label) in zip(panels, _SCORES.items(), strict=True):
            entries = self._draw(panel, getattr(self, score))
            if panel is panels[0]:
                panel.legend(handles=entries, fontsize=SMALL, loc="best", frameon=False)
            panel.set(xlabel="Number of features kept, $k$", ylabel=label)
        if min(float(np.nanmin(table)) for table in self.seconds.values()) > 0:
            log_ticks(panels[2], "y")
        return self

    def _draw(self, ax: Axes, tables: Tables) -> list[Artist]:
        entries: list[Artist] = []
        for method in _lines(tables):
            style = METHOD_STYLES[method]
            properties = {**style.points(), **style.line(), "label": method}
            entries.append(_draw_curve(ax, curve_of(self.k, tables, method), **properties))
        entries += _draw_ends(ax, self.k, tables, others=len(tables) > 1, color=LIGHT)
        return entries
