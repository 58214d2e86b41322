"""What an audit found: promised against actual error, and the scores of the columns."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Self

import numpy as np
from matplotlib.axes import Axes
from scipy.special import gammainc

from unselected._typing import Floats
from unselected.audit import SelectionAudit
from unselected.audit.weak_columns import SCORE_STEP
from unselected.plots.display import PanelsDisplay
from unselected.plots.style import (
    DARK,
    INK,
    LIGHT,
    MIDDLE,
    PALE,
    SMALL,
    draw_diagonal,
    square_limits,
    tidy,
)


@dataclass(eq=False, repr=False)
class SelectionAuditDisplay(PanelsDisplay):
    """Promised against actual error, and the scores of the columns.

    In the first panel a point above the diagonal is overconfident. Points of permuted responses
    belong at the error of chance, on the diagonal. In the second panel columns that nobody selected
    begin at 0; where weak columns are missing there is an edge.

    Parameters
    ----------
    audit : SelectionAudit

    Attributes
    ----------
    axes_ : list of two Axes
    figure_ : Figure

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from unselected.audit import check_selection
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(40, 30)), np.repeat([0, 1], 20)
    >>> audit = check_selection(GaussianNB(), X, y, n_permutations=5, try_remedy=False)
    >>> display = SelectionAuditDisplay.from_audit(audit, axes=Figure().subplots(1, 2))
    >>> display.axes_[1].get_ylabel()
    'Columns'
    """

    audit: SelectionAudit
    _: KW_ONLY

    @classmethod
    def from_audit(cls, audit: SelectionAudit, *, axes: Sequence[Axes] | None = None) -> Self:
        """Draw an audit.

        Parameters
        ----------
        audit : SelectionAudit
            From `unselected.audit.check_selection`.
        axes : sequence of two Axes, default=None
            Where to draw; a new figure if None.

        Returns
        -------
        display : SelectionAuditDisplay
        """
        return cls(audit).plot(axes)

    def plot(self, axes: Sequence[Axes] | None = None) -> Self:
        """Draw both panels.

        Parameters
        ----------
        axes : sequence of two Axes, default=None

        Returns
        -------
        self : SelectionAuditDisplay
        """
        errors, scores = self._start_panels(axes, 1, 2, 10.0, 4.8)
        if self.audit.permuted.promised is None:
            self._draw_actual(errors)
        else:
            self._draw_promises(errors)
        self._draw_scores(scores)
        return self

    @property
    def _error_words(self) -> str:
        return "error rate" if self.audit.n_classes else "rmse / standard deviation of the response"

    def _draw_promises(self, ax: Axes) -> None:
        audit = self.audit
        real, permuted = audit.real, audit.permuted
        promised = np.array(permuted.promised)
        draw_diagonal(ax)
        ax.plot(
            promised,
            permuted.actual,
            linestyle="",
            marker="s",
            markersize=5,
            color=MIDDLE,
            markerfacecolor="white",
            label="permuted responses",
        )
        drawn = [promised, np.array(permuted.actual)]
        if real.promised is not None:
            x, y = real.promised, real.actual
            ax.errorbar(
                x.value,
                y.value,
                xerr=[[x.value - x.low], [x.high - x.value]],
                yerr=[[y.value - y.low], [y.high - y.value]],
                marker="o",
                color=DARK,
                label=f"real responses ({100 * y.level:g} % intervals)",
            )
            drawn.append(np.array([x.low, x.high, y.low, y.high]))
        self._draw_chance(ax)
        square_limits(ax, *drawn, np.array([audit.chance_error]), floor=0.0)
        ring = audit.overconfident
        ax.set_title("Overconfident" if ring else "Not overconfident")
        ax.set(xlabel=f"Promised {self._error_words}", ylabel=f"Actual {self._error_words}")
        tidy(ax)
        ax.legend(loc="lower right", fontsize=SMALL, frameon=False)

    def _draw_actual(self, ax: Axes) -> None:
        """Draw the errors alone, where nothing is promised."""
        audit = self.audit
        ax.hist(audit.permuted.actual, bins="auto", color=PALE, edgecolor=MIDDLE, label="permuted")
        ax.axvline(audit.real.actual.value, color=DARK, linewidth=2, label="real responses")
        ax.set_title("No promise to compare with")
        ax.set(xlabel=f"Actual {self._error_words}", ylabel="Permutations")
        tidy(ax)
        ax.legend(loc="best", fontsize=SMALL, frameon=False)

    def _draw_chance(self, ax: Axes) -> None:
        label = "most frequent class" if self.audit.n_classes else "mean of the response"
        ax.axhline(self.audit.chance_error, color=LIGHT, linewidth=1, zorder=0.5, label=label)

    def _draw_scores(self, ax: Axes) -> None:
        weak = self.audit.weak_columns
        ax.set(xlabel="Score of a column (standard deviations of noise)", ylabel="Columns")
        tidy(ax)
        if weak is None:
            ax.set_title("No columns of numbers")
            return
        counts = np.array(weak.histogram, dtype=np.float64)
        edges = SCORE_STEP * np.arange(counts.size + 1, dtype=np.float64)
        ax.stairs(counts, edges, fill=True, facecolor=PALE, edgecolor=DARK, label="columns of X")
        noise = weak.n_columns * np.diff(_chi_below(edges, weak.n_directions))
        middles = 0.5 * (edges[1:] + edges[:-1])
        ax.plot(middles, noise, color=INK, linewidth=1, dashes=(4, 3), label="as many of noise")
        ax.set_xlim(left=0.0)
        missing = self.audit.alpha >= weak.p_value
        ax.set_title("Weak columns are missing" if missing else "No edge in the scores")
        ax.legend(loc="best", fontsize=SMALL, frameon=False)


def _chi_below(scores: Floats, n_directions: int) -> Floats:
    """Return the probability that a column of noise has a lower score."""
    return np.asarray(gammainc(n_directions / 2.0, 0.5 * scores**2))
