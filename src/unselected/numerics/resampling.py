"""Means over cases, with intervals from resampled cases or groups of cases."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unselected._typing import Floats, Ints


@dataclass(frozen=True)
class Estimate:
    """A number with an interval that covers the truth in a share ``level`` of repetitions."""

    value: float
    low: float
    high: float
    level: float


class Resampled(NamedTuple):
    """A number, and what it is in each resample.

    Attributes
    ----------
    value : float
    draws : array of shape (n_resamples,)
    """

    value: float
    draws: Floats

    def root(self) -> "Resampled":
        """Return the square root."""
        return Resampled(float(np.sqrt(self.value)), np.sqrt(self.draws))

    def less(self, other: "Resampled") -> "Resampled":
        """Return the difference to another number of the same resamples: paired by case."""
        return Resampled(self.value - other.value, self.draws - other.draws)

    def estimate(self, level: float) -> Estimate:
        """Return the number with the central interval of the resamples; NaN are left out."""
        low, high = np.nanquantile(self.draws, [(1 - level) / 2, (1 + level) / 2])
        return Estimate(self.value, float(low), float(high), level)


@dataclass(frozen=True, eq=False)
class Resamples:
    """Resamples of units, each a case or a group of cases that stay together.

    Attributes
    ----------
    unit_of : array of shape (n,)
        The number of each case's unit.
    picks : array of shape (n_resamples, n_units)

    Examples
    --------
    Two cases of a group agree more than others, so that there is less to learn from.

    >>> numbers = np.repeat([0.0, 1.0, 0.0, 1.0, 1.0], 4)
    >>> single, grouped = (
    ...     Resamples.draw(20, n_resamples=999, seed=0, groups=groups).mean(numbers).estimate(0.9)
    ...     for groups in (None, np.repeat(np.arange(5), 4))
    ... )
    >>> single.value == grouped.value, grouped.high - grouped.low > single.high - single.low
    (True, True)
    """

    unit_of: Ints
    picks: NDArray[np.int64]

    @classmethod
    def draw(cls, n_cases: int, *, n_resamples: int, seed: int, groups: Any = None) -> "Resamples":
        """Draw as many units as there are, with replacement."""
        unit_of = np.arange(n_cases)
        if groups is not None:
            unit_of = np.unique(np.asarray(groups), return_inverse=True)[1]
        n_units = int(unit_of.max()) + 1
        picks = np.random.default_rng(seed).integers(n_units, size=(n_resamples, n_units))
        return cls(unit_of, picks)

    def weights(self, which: slice) -> Floats:
        """Return how often each case is in some of the resamples, shape (n_which, n)."""
        picks = self.picks[which]
        n_units = picks.shape[1]
        rows = np.arange(len(picks))[:, np.newaxis]
        times = np.bincount((rows * n_units + picks).ravel(), minlength=len(picks) * n_units)
        return times.reshape(len(picks), n_units)[:, self.unit_of].astype(np.float64)

    def mean(self, per_case: NDArray[Any]) -> Resampled:
        """Return the mean of one number for each case."""
        sums = np.bincount(self.unit_of, weights=per_case)
        sizes = np.bincount(self.unit_of).astype(np.float64)
        draws = sums[self.picks].sum(axis=1) / sizes[self.picks].sum(axis=1)
        return Resampled(float(np.mean(per_case)), draws)
