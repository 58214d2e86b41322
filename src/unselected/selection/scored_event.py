"""The event of a selection of real-valued features by another score than correlation or F."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from unselected._typing import Floats, Ints
from unselected.selection.events import RealEvent, log_lottery
from unselected.selection.real_score import RealScore
from unselected.statistics.variance_prior import VariancePrior


@dataclass(frozen=True, eq=False)
class ScoredEvent(RealEvent):
    """What is known of omitted features, which may tie with kept ones at the cut.

    All features are complete, so that there is one pattern. ``n_features`` has two numbers instead:
    of features at most at the cut, and of those below it. The probability of both is that of
    ``law``, which is None until it is computed.

    Attributes
    ----------
    n_kept_ties : int
        Kept features at the cut that won a fair draw; 0 where there was none. Omitted features that
        tie with them lost it.
    n_kept : int
        Number of features that were not omitted.
    sizes : array of shape (G,)
        Cases of each class.
    score : RealScore or None
        None where the event was read from a model file.
    prior : VariancePrior or None
        Of the variances of features; None where the score does not depend on them.
    """

    n_kept_ties: int = 0
    n_kept: int = 0
    sizes: Ints | None = None
    score: RealScore | None = None
    prior: VariancePrior | None = None

    def log_prob(self, log_at_most: Floats) -> Floats:
        """Return the log probability of the event, given those of `OmissionLaw.log_omitted`."""
        total = super().log_prob(log_at_most)
        if self.n_kept_ties:
            tied = -np.expm1(log_at_most[..., 1] - log_at_most[..., 0])
            n_omitted = int(self.n_features[0])
            total = total + log_lottery(np.clip(tied, 0.0, 1.0), self.n_kept_ties, n_omitted)
        return np.asarray(total)

    def patterns(self, which: NDArray[np.bool_] | slice) -> "ScoredEvent":  # noqa: ARG002
        """Return the event, which has one pattern."""
        return self

    def merged(self) -> "ScoredEvent":
        """Return the event, which has one pattern."""
        return self

    def emptied(self) -> "ScoredEvent":
        """Return the same cut with nothing known to be below it: the uncorrected method."""
        return replace(self, n_features=np.zeros_like(self.n_features), n_kept_ties=0)
