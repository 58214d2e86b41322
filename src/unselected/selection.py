"""Selection: the rules, how ties are broken, and the record of what was kept."""

from dataclasses import dataclass, field
from typing import Generic, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from unselected.events import Event, RealEvent, Statistic
from unselected.scores import Scores
from unselected.tables import Ints

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


def keep_all(scores: Scores[E]) -> Selection[E]:
    """Keep every feature; there is nothing to condition on."""
    p, event = scores.size, scores.nothing_omitted()
    return Selection(np.arange(p), None, p, 0, "all", None, scores.statistic, event)


def keep_above(scores: Scores[E], gamma: float, always: Ints) -> Selection[E]:
    """Keep the features with a score above gamma, and those in ``always``."""
    indices = np.union1d(scores.above(gamma), always)
    event = scores.event_above(gamma, indices)
    n_omitted = scores.size - indices.size
    return Selection(
        indices, gamma, scores.size, n_omitted, "threshold", None, scores.statistic, event
    )


def keep_top(
    scores: Scores[E], k: int, ties: Ties, always: Ints, rng: np.random.Generator
) -> Selection[E]:
    """Keep the k features with the largest scores besides those in ``always``.

    Ties at the cut go to the lower column (``ties="first"``), or are drawn at random
    (``ties="random"``).
    """
    above, at_cut = scores.split_at_rank(k, always)
    places = k - above.size
    if ties == "first":
        kept_at_cut = at_cut[:places]
    else:
        kept_at_cut = rng.choice(at_cut, size=places, replace=False)
    indices = np.sort(np.concatenate([above, kept_at_cut, always]))
    event = scores.event_by_rank(kept_at_cut, indices, ties == "random")
    gamma = float(scores.values(kept_at_cut[:1])[0])
    n_omitted = scores.size - indices.size
    return Selection(indices, gamma, scores.size, n_omitted, "top k", ties, scores.statistic, event)


def keep_preselected(
    scores: Scores[E], n_before: int, gamma: float | None, always: Ints
) -> Selection[E]:
    """Keep every column given: somebody kept them, out of ``n_before``, by their scores.

    Where the omitted columns stood is not known, so that without a threshold the event is the
    one for ties broken at random.
    """
    p = scores.size
    n_omitted = n_before - p
    if gamma is not None:
        event = scores.event_before(gamma, always, n_omitted)
        return Selection(
            np.arange(p), gamma, n_before, n_omitted, "threshold", None, scores.statistic, event
        )
    _, at_cut = scores.split_at_rank(p - always.size, always)
    event = scores.event_before(None, at_cut, n_omitted)
    weakest = float(scores.values(at_cut[:1])[0])
    return Selection(
        np.arange(p), weakest, n_before, n_omitted, "top k", "random", scores.statistic, event
    )
