"""What a rule of selection asks of the scores of columns with the response.

A rule in `rules` asks three things: which columns are above a cut, which are at the k-th place, and
what is known of the others. For counts (`count_scores`) the comparisons are exact, in integers; for
real values (`real_scores`) they are in doubles, where ties mean equal columns.

Columns that can no longer be selected need not be among the scores: `streaming` drops them while
the table is read.
"""

from typing import Any, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from unselected._typing import Floats, Ints
from unselected.columns.subset import ColumnSubset
from unselected.selection.events import Event, FamilyEvent, RealEvent
from unselected.statistics.moments import Statistic
from unselected.statistics.unscored import Unscored

E_co = TypeVar("E_co", bound=Event | RealEvent | FamilyEvent, covariant=True)


class Scores(Protocol[E_co]):
    """What a rule of selection needs of the columns. Columns are identified by number."""

    @property
    def size(self) -> int:
        """The number of columns of the table."""

    @property
    def subset(self) -> ColumnSubset:
        """The columns that these are the scores of; no other can be selected."""

    @property
    def unscored(self) -> Unscored:
        """Columns without a score; the event does not include them."""

    @property
    def statistic(self) -> Statistic:
        """The name of the score."""

    @property
    def rough(self) -> Floats:
        """Numbers in the order of the scores, but for what is closer than ``close``."""

    @property
    def close(self) -> float:
        """How close, relatively, numbers are that may be in the wrong order."""

    def at_least(self, bound: float) -> NDArray[np.bool_]:
        """Say whose ``rough`` is at least that."""

    def stay(self, places: Ints) -> Self:
        """Return the scores at some positions only; the event still includes the others."""

    def above(self, gamma: float) -> Ints:
        """Return the columns that have a score above gamma."""

    def values(self, columns: Ints) -> Floats:
        """Return the scores of some columns, NaN for unscored; equal ones are equal doubles."""

    def split_at_rank(self, k: int, always: Ints) -> tuple[Ints, Ints]:
        """Return the columns above the k-th largest score, and those that equal it.

        Columns in ``always`` do not compete.
        """

    def nothing_omitted(self) -> E_co:
        """Return the event of a selection that omitted nothing."""

    def event_above(self, gamma: float, indices: Ints) -> E_co:
        """Return the event that all but these columns are at most at gamma."""

    def event_by_rank(self, kept_at_cut: Ints, indices: Ints, at_random: bool) -> E_co:
        """Return the event that all but these columns lost to those kept at the cut."""

    def event_before(self, gamma: float | None, at_cut: Ints, n_omitted: int) -> E_co:
        """Return the event that a number of columns, never observed, were omitted before.

        They were at most at gamma, or without gamma lost a draw against the columns at the cut.
        """


def together(parts: list[ColumnSubset]) -> tuple[ColumnSubset, Ints]:
    """Return the columns of all parts, and the order that makes their numbers increase."""
    columns = np.concatenate([part.columns for part in parts])
    order = np.argsort(columns, kind="stable")
    return ColumnSubset(columns[order], parts[0].size), order


def competing(scores: Scores[Any], always: Ints) -> Floats:
    """Return the scores, with those that do not compete below all others."""
    if not always.size:
        return scores.rough
    rough = scores.rough.copy()
    rough[scores.subset.places(always)] = -np.inf
    return rough
