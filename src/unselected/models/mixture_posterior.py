"""Predictions of new cases from the draws of a mixture."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from unselected._typing import Floats
from unselected.models.class_draws import ClassDraws
from unselected.numerics.chains import Draws
from unselected.numerics.quadrature import log_sum


@dataclass(frozen=True, eq=False)
class MixturePredictive(ClassDraws):
    """The predictive distribution of a new case for each draw from the posterior.

    Attributes
    ----------
    log_share : array of shape (draws, 2)
        Log of the probability that a new case has label 0, or 1.
    rates : array of shape (draws, 2)
        P(y* = 1 | label).
    log_one, log_zero : arrays of shape (draws, 2, k)
        Log of the probability that a feature is 1, or 0, in each label.
    """

    log_share: Floats
    rates: Floats
    log_one: Floats
    log_zero: Floats

    @cached_property
    def log_psi(self) -> Floats:
        """Log of the class probabilities before any feature is seen, shape (2,)."""
        one = np.mean(np.sum(np.exp(self.log_share) * self.rates, axis=1))
        return np.asarray(np.log([1.0 - one, one]))

    @property
    def n_draws(self) -> int:
        """The number of draws."""
        return len(self.log_share)

    @property
    def numbers(self) -> list[Floats]:
        """What predictions are computed from; not finite where the parameters are inconsistent."""
        return [self.log_share, self.log_one, self.log_zero]

    def log_joint_by_draw(self, rows: NDArray[np.bool_]) -> Floats:
        """Return log P(y*, x* | draw), shape (rows, 2, draws)."""
        n_draws, k = self.n_draws, self.log_one.shape[2]
        log_odds = (self.log_one - self.log_zero).reshape(2 * n_draws, k)
        log_none = (self.log_zero.sum(axis=2) + self.log_share).ravel()
        by_label = (rows.astype(np.float64) @ log_odds.T + log_none).reshape(-1, n_draws, 2)
        rates = np.stack([1.0 - self.rates, self.rates])
        return np.stack([log_sum(by_label + np.log(rate), axis=2) for rate in rates], axis=1)


@dataclass(frozen=True, eq=False)
class MixturePosterior(MixturePredictive):
    """The same, with the draws themselves."""

    draws: Draws
