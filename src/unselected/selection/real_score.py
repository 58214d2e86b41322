"""What a score of real-valued features is, other than correlation and F."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Self

from unselected._typing import ColumnNamer, Floats, Ints
from unselected.statistics.moments import Statistic
from unselected.statistics.variance_prior import VariancePrior


@dataclass(frozen=True, eq=False)
class RealScore(ABC):
    """A score of a column with the classes of its cases.

    It may depend on the values of its own column only, and does not change when a constant is added
    to them: the model leaves the location of a feature open.

    Attributes
    ----------
    simulated : bool
        Whether the omission probability is simulated.
    """

    simulated: ClassVar[bool] = False

    @property
    def scale_free(self) -> bool:
        """Whether the score stays the same when a column is multiplied by a number.

        Otherwise variances need a prior.
        """
        return True

    @abstractmethod
    def statistic(self, n_classes: int) -> Statistic:
        """Return the name of the score; raise where it is not for so many classes."""

    @abstractmethod
    def of(self, X: Floats, y: Ints, label: ColumnNamer) -> Floats:
        """Return the scores of complete columns (n, p); ``y`` holds classes, counted from 0."""

    def given(self, prior: VariancePrior) -> Self:  # noqa: ARG002
        """Return the score where variances have this prior."""
        return self

    def checked_with(self, sizes: Ints) -> Self:  # noqa: ARG002
        """Return the score for classes of these sizes; raise where there is none."""
        return self
