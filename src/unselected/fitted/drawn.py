"""Fitted models whose posterior is a sample of draws, and which draws go into a model file."""

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unselected._typing import Floats, Ints
from unselected.fitted.base import Fitted, FittedClasses
from unselected.fitted.json_checks import check_list, check_whole

# Bytes that the draws of a file may take, and what a number takes in text.
_MOST_BYTES, _BYTES_PER_NUMBER = 5_000_000, 25
# Upper limit for the number of draws, far above any real one.
_MOST_DRAWS = 10**7


class Drawn(Fitted):
    """A fitted model with the predictions of draws from a Markov chain.

    Attributes
    ----------
    predictive : MixturePredictive or FactorPredictive
    """

    predictive: Any

    @property
    def numbers(self) -> list[Floats]:
        """Arrays of the posterior, which are finite if the model's numbers are consistent."""
        numbers: list[Floats] = self.predictive.numbers
        return numbers

    @property
    @abstractmethod
    def numbers_per_draw(self) -> int:
        """How many numbers a file holds for each draw."""

    @property
    def saved_draws(self) -> Ints:
        """Which draws go into a file."""
        return drawn_rows(self.predictive.n_draws, self.numbers_per_draw)

    def remarks_on_saving(self) -> list[str]:
        """Return a sentence where only some of the draws go into a file."""
        n_saved, n_draws = self.saved_draws.size, self.predictive.n_draws
        if n_saved == n_draws:
            return []
        return [
            f"the model file holds {n_saved} of the {n_draws} draws, evenly spaced, to stay below "
            f"{_MOST_BYTES / 1e6:g} MB."
        ]


class DrawnClasses(FittedClasses, Drawn):
    """A fitted model of two classes with the predictions of draws."""

    @property
    def log_psi(self) -> Floats:
        """Log of the class probabilities before any feature is seen."""
        return np.asarray(self.predictive.log_psi)

    def log_evidence(self, rows: NDArray[Any]) -> Floats:
        """Return log P(row | class), shape (rows, 2)."""
        return np.asarray(self.predictive.log_joint(rows) - self.log_psi)

    def by_node(self, rows: NDArray[Any]) -> tuple[Floats, Floats]:
        """Return log P(row | class, draw), (rows, 2, draws), and the draws' log weights.

        All draws are divided by the class probabilities averaged over draws, so that the average is
        that of `log_evidence`.
        """
        logs = self.predictive.log_joint_by_draw(rows) - self.log_psi[:, np.newaxis]
        n_draws = self.predictive.n_draws
        return np.asarray(logs), np.full(n_draws, -np.log(n_draws))


def drawn_rows(n_draws: int, numbers_per_draw: int) -> Ints:
    """Return which draws go into a file: all, or as many as fit, evenly spaced.

    >>> drawn_rows(4, 10).tolist(), drawn_rows(10**6, 10**5).tolist()
    ([0, 1, 2, 3], [0, 500000])
    """
    most = max(1, _MOST_BYTES // (_BYTES_PER_NUMBER * max(1, numbers_per_draw)))
    return np.arange(0, n_draws, -(-n_draws // most))


def parse_n_draws(entry: object, what: str) -> int:
    """Return the number of draws of which an entry is the list."""
    return check_whole(len(check_list(entry, what)), f"the length of {what}", 1, _MOST_DRAWS)
