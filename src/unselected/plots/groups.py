"""Scores of two methods on the same groups of features, in pairs."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

from matplotlib.axes import Axes

from unselected._typing import Floats
from unselected.plots.display import PanelsDisplay
from unselected.plots.records import Tables, tables_by_group
from unselected.plots.style import (
    METHOD_STYLES,
    SMALL,
    draw_diagonal,
    square_limits,
    tidy,
)

METHODS = ("corrected", "uncorrected")
_SCORES = {
    "log_loss": "Average minus log probability (nats)",
    "squared_error": "Average squared error",
}
_ERRORS = ("actual_error", "expected_error")


@dataclass(eq=False, repr=False)
class PairedScoresDisplay(PanelsDisplay):
    """Scores of the corrected and the uncorrected method on the same groups of features.

    Two panels compare the methods group by group: below the diagonal correction is better. Two
    more compare the actual with the expected error rate of each method: above the diagonal the
    method is overconfident.

    Parameters
    ----------
    groups : sequence of length n_groups
        Names of the groups.
    log_loss, squared_error, actual_error, expected_error : mapping of str to array
        Of "corrected" and "uncorrected" to arrays of shape (n_groups,).

    Attributes
    ----------
    axes_ : list of four Axes
        log_loss, squared_error, errors uncorrected, errors corrected.
    figure_ : Figure

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> scores = {"log_loss": 0.6, "squared_error": 0.2, "actual_error": 0.2, "expected_error": 0.1}
    >>> records = [{"group": 0, "method": m, **scores} for m in ("corrected", "uncorrected")]
    >>> display = PairedScoresDisplay.from_records(records, axes=Figure().subplots(2, 2))
    >>> display.log_loss["corrected"].tolist()
    [0.6]
    """

    groups: Sequence[Hashable]
    _: KW_ONLY
    log_loss: Mapping[str, Floats]
    squared_error: Mapping[str, Floats]
    actual_error: Mapping[str, Floats]
    expected_error: Mapping[str, Floats]

    @classmethod
    def from_records(cls, records: Iterable[Any], *, axes: Sequence[Axes] | None = None) -> Self:
        """Draw the scores of an experiment with groups of features.

        Parameters
        ----------
        records : iterable of mappings or objects
            With ``group``, ``method``, ``log_loss``, ``squared_error``, ``actual_error`` and
            ``expected_error``; groups of different ``partition``, where records have one, are
            different groups. Every group needs one record of each method.
        axes : sequence of four Axes, default=None
            Where to draw; a new figure if None.

        Returns
        -------
        display : PairedScoresDisplay
        """
        groups, tables = tables_by_group(records, [*_SCORES, *_ERRORS], METHODS)
        return cls(groups, **tables).plot(axes)

    def plot(self, axes: Sequence[Axes] | None = None) -> Self:
        """Draw four panels, with a point for each group and the diagonal.

        Parameters
        ----------
        axes : sequence of four Axes, default=None

        Returns
        -------
        self : PairedScoresDisplay
        """
        panels = self._start_panels(axes, 2, 2, 7.6, 7.6)
        for panel, (score, title) in zip(panels[:2], _SCORES.items(), strict=True):
            self._draw_score(panel, getattr(self, score), title)
        panels[0].legend(loc="best", fontsize=SMALL, framealpha=0.9)
        for panel, method in zip(panels[2:], ("uncorrected", "corrected"), strict=True):
            self._draw_errors(panel, method)
        return self

    def _draw_score(self, ax: Axes, table: Tables, title: str) -> None:
        _draw_groups(ax, table["uncorrected"], table["corrected"], "corrected")
        ax.set_title(f"{title}\nbelow the line: corrected better", fontsize="medium")
        ax.set(xlabel="Uncorrected", ylabel="Corrected")
        square_limits(ax, *table.values())

    def _draw_errors(self, ax: Axes, method: str) -> None:
        _draw_groups(ax, self.expected_error[method], self.actual_error[method], method)
        ax.set_title(f"Error rate, {method}\nabove the line: overconfident", fontsize="medium")
        ax.set(xlabel="Expected error rate", ylabel="Actual error rate")
        square_limits(ax, *self.actual_error.values(), *self.expected_error.values(), floor=0.0)


def _draw_groups(ax: Axes, x: Floats, y: Floats, method: str) -> None:
    draw_diagonal(ax)
    tidy(ax)
    properties = METHOD_STYLES[method].points()
    ax.plot(x, y, linestyle="", label="a group of features", **properties)
