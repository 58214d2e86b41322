"""The record of what was kept, by which rule."""

from dataclasses import dataclass, field
from typing import Generic, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from unselected.selection.events import Event, RealEvent, Statistic

Ties = Literal["first", "random"]


Rule = Literal["top k", "threshold", "all"]


E = TypeVar("E", bound=Event | RealEvent)


@dataclass(frozen=True, eq=False)
class Selection(Generic[E]):
    """Which features were kept, by which rule, and what that says of the others.

    Attributes
    ----------
    indices : array of int
        Columns that were kept, in increasing order.
    threshold : float or None
        The cut on the score: the threshold given, or the weakest score that was kept because of
        it. None where there was no cut, for all features were kept without one.
    n_features : int
        Number of features that selection looked at.
    n_omitted : int
        Number of features that were left out.
    rule : {"top k", "threshold", "all"}
    ties : {"first", "random"} or None
        How features tied at the cut were chosen among; None where the rule has no ties.
    statistic : {"|COR|", "F"}
        What the score is.
    event : Event or RealEvent
        What conditioning on selection uses.
    """

    indices: NDArray[np.intp]
    threshold: float | None
    n_features: int
    n_omitted: int
    rule: Rule
    ties: Ties | None
    statistic: Statistic
    event: E = field(repr=False)

    def __post_init__(self) -> None:
        self.indices.flags.writeable = False

    def __repr__(self) -> str:
        kept = f"{self.indices.size} of {self.n_features} features kept"
        if self.rule == "all":
            return f"Selection({kept})"
        bound = (
            f"{self.statistic} > {self.threshold:.4g}"
            if self.rule == "threshold"
            else (f"{self.rule}, ties {self.ties}, weakest {self.statistic} = {self.threshold:.4g}")
        )
        return f"Selection({kept}: {bound})"
