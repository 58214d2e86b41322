"""Predictions of new cases from the draws of a mixture."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from unselected._typing import Floats
from unselected.numerics.chains import Draws
from unselected.numerics.quadrature import log_sum

# Rows times draws whose log probabilities are processed at a time.
_AT_A_TIME = 1 << 20


@dataclass(frozen=True, eq=False)
class MixturePredictive:
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

    def log_joint(self, bits: NDArray[np.bool_]) -> Floats:
        """Return log P(y*, x* | training data, event), one column per y*.

        The joint probability is averaged over the draws, so that a draw that explains x* better has
        more weight.
        """
        n_draws = len(self.log_share)
        rows = max(1, _AT_A_TIME // n_draws)
        parts = [
            log_sum(self.log_joint_by_draw(bits[start : start + rows]), axis=2)
            for start in range(0, len(bits), rows)
        ]
        return np.asarray(np.concatenate([np.empty((0, 2)), *parts]) - np.log(n_draws))

    def log_joint_by_draw(self, bits: NDArray[np.bool_]) -> Floats:
        """Return log P(y*, x* | draw), shape (rows, 2, draws)."""
        n_draws, k = len(self.log_share), self.log_one.shape[2]
        log_odds = (self.log_one - self.log_zero).reshape(2 * n_draws, k)
        log_none = (self.log_zero.sum(axis=2) + self.log_share).ravel()
        by_label = (bits.astype(np.float64) @ log_odds.T + log_none).reshape(-1, n_draws, 2)
        rates = np.stack([1.0 - self.rates, self.rates])
        return np.stack([log_sum(by_label + np.log(rate), axis=2) for rate in rates], axis=1)


@dataclass(frozen=True, eq=False)
class MixturePosterior(MixturePredictive):
    """The same, with the draws themselves."""

    draws: Draws
