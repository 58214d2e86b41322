"""The record of what was kept, by which rule."""

from dataclasses import dataclass, field
from typing import Generic, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from unselected.selection.events import Event, FamilyEvent, RealEvent
from unselected.statistics.moments import Statistic

Ties = Literal["first", "random"]


Rule = Literal["top k", "threshold", "all"]


E = TypeVar("E", bound=Event | RealEvent | FamilyEvent)


@dataclass(frozen=True, eq=False)
class Selection(Generic[E]):
    """The features that were kept, the rule, and the event.

    Attributes
    ----------
    indices : array of int
        Columns that were kept, in increasing order.
    threshold : float or None
        The cut on the score: the given threshold, or the smallest score that the rule kept. None
        where all features were kept without a cut.
    n_features : int
        Number of features before selection.
    n_omitted : int
        Number of features that were omitted.
    rule : {"top k", "threshold", "all"}
    ties : {"first", "random"} or None
        How ties at the cut are broken; None where the rule has no ties, or where the content of the
        columns decides.
    statistic : str
        The score: "|COR|", "F", or the name of another score, "custom" for one that the user
        defined.
    event : Event or RealEvent
        What is known of the omitted features.
    unscored : array of int
        Columns without a score, because too few of their values are known. They count as omitted,
        as constant columns do, but the event does not include them.
    event_error : float
        Standard error of the log probability of the event; 0 where it is not simulated.
    """

    indices: NDArray[np.intp]
    threshold: float | None
    n_features: int
    n_omitted: int
    rule: Rule
    ties: Ties | None
    statistic: Statistic
    event: E = field(repr=False)
    unscored: NDArray[np.intp] = field(default_factory=lambda: np.array([], dtype=np.intp))
    event_error: float = 0.0

    def __post_init__(self) -> None:
        self.indices.flags.writeable = False

    def __repr__(self) -> str:
        kept = f"{self.indices.size} of {self.n_features} features kept"
        if self.rule == "all":
            return f"Selection({kept})"
        ties = "" if self.ties is None else f", ties {self.ties}"
        bound = (
            f"{self.statistic} > {self.threshold:.4g}"
            if self.rule == "threshold"
            else f"{self.rule}{ties}, weakest {self.statistic} = {self.threshold:.4g}"
        )
        error = f"; log event +- {self.event_error:.2g}" if self.event_error else ""
        return f"Selection({kept}: {bound}{error})"
