"""What methods promise against what they keep: error rates, and coverage of intervals."""

from collections.abc import Iterable, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

from matplotlib.axes import Axes

from unselected.calibration import Estimate
from unselected.calibration.intervals import exact_interval
from unselected.plots.display import Display
from unselected.plots.style import (
    BAND,
    DARK,
    INK,
    MIDDLE,
    legend_above,
    method_rows,
    tidy,
)

_BAR: dict[str, Any] = {"linewidth": 5, "solid_capstyle": "butt"}


@dataclass(eq=False, repr=False)
class PromisedActualDisplay(Display):
    """The rate that each method promises, and the one that it came to.

    A row has a filled dot at the actual rate of cases left out, on a bar that is its interval, and
    a hollow diamond at the promised rate. Where the diamond is on the bar, the method can be
    believed.

    Parameters
    ----------
    methods : sequence of str
    promised : sequence of float
    actual : sequence of Estimate
    what : str, default="error rate"
        What the rates are of.

    Attributes
    ----------
    kept : list of bool
        Whether the promised rate is in the interval of the actual one.
    ax_ : Axes
    figure_ : Figure

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> display = PromisedActualDisplay(["mine"], [0.1], [Estimate(0.3, 0.2, 0.4, 0.95)])
    >>> display.plot(Figure().subplots()).kept
    [False]
    """

    methods: Sequence[str]
    promised: Sequence[float]
    actual: Sequence[Estimate]
    _: KW_ONLY
    what: str = "error rate"

    def __post_init__(self) -> None:
        both = zip(self.promised, self.actual, strict=True)
        self.kept = [one.low <= promise <= one.high for promise, one in both]

    @classmethod
    def from_errors(cls, rows: Iterable[Any], n_cases: int, *, ax: Axes | None = None) -> Self:
        """Draw expected and actual error rates.

        With few errors some resamples have none, so that an interval from resampling reaches 0,
        which the exact (Clopper-Pearson) one does not: its ends are the larger of both.

        Parameters
        ----------
        rows : iterable of ComparisonRow
            From `unselected.experiments.comparison_table`.
        n_cases : int
        ax : Axes, default=None
            Where to draw; a new figure if None.

        Returns
        -------
        display : PromisedActualDisplay
        """
        rows = list(rows)
        return cls(
            [row.method for row in rows],
            [row.expected_error.value for row in rows],
            [_with_exact_ends(row.actual_error, n_cases) for row in rows],
        ).plot(ax)

    @classmethod
    def from_coverage(cls, rows: Iterable[Any], level: float, *, ax: Axes | None = None) -> Self:
        """Draw the nominal coverage of predictive intervals, and the actual one.

        Parameters
        ----------
        rows : iterable of RegressionComparisonRow
            From `unselected.experiments.regression_table`.
        level : float
            The nominal coverage.
        ax : Axes, default=None
            Where to draw; a new figure if None.

        Returns
        -------
        display : PromisedActualDisplay
        """
        rows = list(rows)
        methods, actual = [row.method for row in rows], [row.coverage for row in rows]
        what = f"coverage of {100 * level:g} % intervals"
        return cls(methods, [level] * len(rows), actual, what=what).plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw a row for each method, the first at the top.

        Parameters
        ----------
        ax : Axes, default=None

        Returns
        -------
        self : PromisedActualDisplay
        """
        ax = self._start(ax, 5.2, 5.2)
        places = method_rows(ax, self.methods)
        level = self.actual[0].level
        for place, one, kept in zip(places, self.actual, self.kept, strict=True):
            color = DARK if kept else MIDDLE
            ax.plot([one.low, one.high], [place, place], color=BAND, **_BAR, zorder=1)
            ax.plot([one.value], [place], "o", color=color, markersize=6, zorder=3)
        promise: dict[str, Any] = {
            "marker": "D",
            "markerfacecolor": "white",
            "markeredgecolor": INK,
        }
        ax.plot(self.promised, places, linestyle="", markersize=6, zorder=2, **promise)
        words: list[tuple[str, dict[str, Any]]] = [
            ("actual", {"marker": "o", "color": DARK}),
            ("actual, promise broken", {"marker": "o", "color": MIDDLE}),
            ("promised", promise),
        ]
        handles = [ax.plot([], [], linestyle="", label=name, **look)[0] for name, look in words]
        handles += ax.plot([], [], color=BAND, **_BAR, label=f"{100 * level:g} % interval")
        self._limit(ax)
        ax.set_xlabel(self.what.capitalize())
        tidy(ax)
        legend_above(ax, columns=2, handles=handles)
        return self

    def _limit(self, ax: Axes) -> None:
        ends = [*self.promised, *(one.low for one in self.actual), *(o.high for o in self.actual)]
        low, high = min(ends), max(ends)
        margin = 0.06 * (high - low) or 0.05
        start = 0.0 if self.what == "error rate" else low
        ax.set_xlim(start - margin, min(1.0, high) + margin)


def _with_exact_ends(fraction: Estimate, n: int) -> Estimate:
    """Return a fraction of n cases with the larger ends of its interval and the exact one."""
    low, high = exact_interval(round(fraction.value * n), n, fraction.level)
    ends = max(fraction.low, low), max(fraction.high, high)
    return Estimate(fraction.value, *ends, fraction.level)
