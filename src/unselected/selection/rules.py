"""Selection: the rules, how ties are broken, and the record of what was kept."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from unselected._typing import Ints
from unselected.selection.record import E, Selection, Ties
from unselected.selection.scores import Scores
from unselected.selection.streaming import StreamingSelection


def keep_all(scores: Scores[E]) -> Selection[E]:
    """Keep every feature that has a score; there is nothing to condition on."""
    p, event = scores.size, scores.nothing_omitted()
    indices = scores.unscored.others(p)
    return Selection(indices, None, p, p - indices.size, "all", None, scores.statistic, event)


def keep_above(scores: Scores[E], gamma: float, always: Ints) -> Selection[E]:
    """Keep the features with a score above gamma, and those in ``always``."""
    indices = np.union1d(scores.above(gamma), always)
    event = scores.event_above(gamma, indices)
    n_omitted = scores.size - indices.size
    return Selection(
        indices, gamma, scores.size, n_omitted, "threshold", None, scores.statistic, event
    )


def keep_top(
    scores: Scores[E], k: int, ties: Ties, always: Ints, rng: np.random.Generator | None
) -> Selection[E]:
    """Keep the k features with the largest scores besides those in ``always``.

    Ties at the cut go to the lower column (``ties="first"``), or are drawn at random
    (``ties="random"``), which needs a generator.
    """
    above, at_cut = scores.split_at_rank(k, always)
    places = k - above.size
    if ties == "first":
        kept_at_cut = at_cut[:places]
    else:
        assert rng is not None
        kept_at_cut = rng.choice(at_cut, size=places, replace=False)
    indices = np.sort(np.concatenate([above, kept_at_cut, always]))
    event = scores.event_by_rank(kept_at_cut, indices, ties == "random")
    gamma = float(scores.values(kept_at_cut[:1])[0])
    n_omitted = scores.size - indices.size
    return Selection(indices, gamma, scores.size, n_omitted, "top k", ties, scores.statistic, event)


def keep_preselected(
    scores: Scores[E], n_before: int, gamma: float | None, always: Ints
) -> Selection[E]:
    """Keep every column of a preselected table: it was kept out of ``n_before`` by its score.

    The positions of the omitted columns are not known. So without a threshold the event is the one
    for ties broken at random. A column without a score is not kept; there may be some where cases
    are left out.
    """
    n_unseen, indices = n_before - scores.size, scores.unscored.others(scores.size)
    n_omitted = n_before - indices.size
    if gamma is not None:
        event = scores.event_before(gamma, always, n_unseen)
        return Selection(
            indices, gamma, n_before, n_omitted, "threshold", None, scores.statistic, event
        )
    _, at_cut = scores.split_at_rank(indices.size - always.size, always)
    event = scores.event_before(None, at_cut, n_unseen)
    weakest = float(scores.values(at_cut[:1])[0])
    return Selection(
        indices, weakest, n_before, n_omitted, "top k", "random", scores.statistic, event
    )


@dataclass(frozen=True, eq=False)
class SelectionRule:
    """The selection that the parameters of an estimator ask for, checked.

    Attributes
    ----------
    k : int or None
    gamma : float or None
        The threshold.
    always : array of int
        Columns that are kept whatever their scores.
    n_before : int or None
        Number of columns before the preselection.
    ties : {"first", "random"}
    seeds : array of int
        Seeds of the draws among ties, so that a repeated selection draws the same.
    """

    k: int | None
    gamma: float | None
    always: NDArray[np.intp]
    n_before: int | None
    ties: Ties
    seeds: Ints

    def streaming(self) -> StreamingSelection:
        """Return the filter that drops columns while the table is read."""
        if self.n_before is not None:
            return StreamingSelection()
        return StreamingSelection(self.k, self.gamma, self.always)

    def select(self, scores: Scores[E]) -> Selection[E]:
        """Return the selection by the rule.

        A column without a score is not kept. Where fewer than k columns have one, all of these are
        kept.
        """
        unscored = scores.unscored.columns
        if not unscored.size:
            return self._select(scores, self.k, self.always)
        always = np.setdiff1d(self.always, unscored, assume_unique=True)
        n_free = scores.size - unscored.size - always.size
        if n_free == 0 and self.gamma is None:
            selection = keep_all(scores)
        else:
            selection = self._select(scores, self.k and min(self.k, n_free), always)
        return replace(selection, unscored=unscored)

    def _select(self, scores: Scores[E], k: int | None, always: Ints) -> Selection[E]:
        if self.n_before is not None:
            return keep_preselected(scores, self.n_before, self.gamma, always)
        if self.gamma is not None:
            return keep_above(scores, self.gamma, always)
        if k is None:
            return keep_all(scores)
        rng = np.random.default_rng(self.seeds) if self.ties == "random" else None
        return keep_top(scores, k, self.ties, always, rng)
