"""Selection: the rules, how ties are broken, and the record of what was kept."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unselected._typing import Ints
from unselected.selection.record import E, Selection, Ties
from unselected.selection.scores import Scores
from unselected.selection.streaming import StreamingSelection


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


@dataclass(frozen=True, eq=False)
class SelectionRule:
    """What the parameters of an estimator ask for, found to be possible.

    Attributes
    ----------
    k : int or None
    gamma : float or None
        The threshold.
    always : array of int
        Columns that are kept whatever their scores.
    n_before : int or None
        How many columns there were before somebody kept these.
    ties : {"first", "random"}
    seeds : array of int
        Of the draws among ties: a selection that is made again draws the same.
    """

    k: int | None
    gamma: float | None
    always: NDArray[np.intp]
    n_before: int | None
    ties: Ties
    seeds: Ints

    def streaming(self) -> StreamingSelection:
        """Return who may be forgotten while the table is read."""
        if self.n_before is not None:
            return StreamingSelection()
        return StreamingSelection(self.k, self.gamma, self.always)

    def select(self, scores: Scores[E]) -> Selection[E]:
        """Return what the rule keeps."""
        if self.n_before is not None:
            return keep_preselected(scores, self.n_before, self.gamma, self.always)
        if self.gamma is not None:
            return keep_above(scores, self.gamma, self.always)
        if self.k is None:
            return keep_all(scores)
        rng = np.random.default_rng(self.seeds)
        return keep_top(scores, self.k, self.ties, self.always, rng)
