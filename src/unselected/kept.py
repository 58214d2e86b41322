"""All that is left after selection: what it takes to predict from the kept columns alone."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from numpy.typing import NDArray

from unselected.columns import Binarize, ClassCounts, Label, binarize_columns
from unselected.models.bernoulli import BernoulliModel, BernoulliPosterior
from unselected.quadrature import Floats
from unselected.selection import Event


@dataclass(frozen=True, eq=False)
class KeptBernoulli:
    """The kept columns' counts and cuts, the event, and the model; numpy and scipy are enough.

    Attributes
    ----------
    model : BernoulliModel
    counts : ClassCounts
        Of the kept columns.
    event : Event
        The one conditioned on: empty where there is no correction.
    thresholds : array of shape (k,)
    binarize : {"auto", "median"}, float or None
    classes : array of shape (2,)
    names : array of shape (k,) or None
    """

    model: BernoulliModel
    counts: ClassCounts
    event: Event
    thresholds: Floats
    binarize: Binarize
    classes: NDArray[Any]
    names: NDArray[Any] | None

    @cached_property
    def posterior(self) -> BernoulliPosterior:
        """The posterior of alpha, computed when first needed."""
        return self.model.condition(self.counts, self.event)

    def log_joint(self, X: NDArray[Any], label: Label) -> Floats:
        """Return log P(class, row) for rows of the kept columns, in their order."""
        bits = binarize_columns(X, self.thresholds, self.binarize, label)
        return self.posterior.log_joint(bits)
