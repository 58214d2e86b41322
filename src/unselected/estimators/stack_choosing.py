"""What each number of features keeps of the families of columns."""

from typing import Any, NamedTuple

from unselected._typing import Bools
from unselected.selection.families import FamilyScores
from unselected.selection.record import Selection
from unselected.selection.rules import SelectionRule
from unselected.statistics.counts import Counted


class Chosen(NamedTuple):
    """What a number of features keeps without a set of cases.

    Attributes
    ----------
    k : int or None
    selection : Selection
    event : FamilyEvent
        To condition on.
    is_binary : array of shape (kept,)
    counted : Counted or None
        The counts of kept binary columns; None where there is no model of them.
    moments : ClassMoments, AdjustedMoments or None
        The same of real-valued ones.
    in_mixed_table : bool
        Whether real-valued columns were there to be kept.
    """

    k: int | None
    selection: Selection[Any]
    event: Any
    is_binary: Bools
    counted: Counted | None
    moments: Any
    in_mixed_table: bool

    @classmethod
    def each(
        cls, scores: FamilyScores, rules: list[SelectionRule], corrected: bool
    ) -> "list[Chosen]":
        """Return what each rule keeps of the columns with these scores."""
        return [cls._by(rule, scores, corrected) for rule in rules]

    @classmethod
    def _by(cls, rule: SelectionRule, scores: FamilyScores, corrected: bool) -> "Chosen":
        selection = rule.select(scores)
        event = selection.event if corrected else selection.event.emptied()
        is_binary, real = scores.of_binary(selection.indices), scores.real
        counted = moments = None
        if is_binary.any() or real is None:  # also where nothing was kept
            assert scores.binary is not None
            counted = scores.binary.take(selection.indices[is_binary])
        if real is not None and not (is_binary.size and is_binary.all()):
            moments = real.take(selection.indices[~is_binary])
        return cls(rule.k, selection, event, is_binary, counted, moments, real is not None)
