"""Predictions of two classes from draws, averaged."""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unselected._typing import Floats
from unselected.numerics.quadrature import log_sum

# Elements of a table over rows and draws that are processed at a time.
_BLOCK = 1 << 20


class ClassDraws(ABC):
    """The joint distribution of class and features of a new case, for each draw."""

    @property
    @abstractmethod
    def n_draws(self) -> int:
        """The number of draws."""

    @abstractmethod
    def log_joint_by_draw(self, rows: NDArray[Any]) -> Floats:
        """Return log P(y*, x* | draw), shape (rows, 2, draws)."""

    def log_joint(self, rows: NDArray[Any]) -> Floats:
        """Return log P(y*, x* | training data, event), shape (rows, 2).

        The joint probability is averaged over the draws, so that a draw that explains x* better has
        more weight.
        """
        parts = [
            log_sum(self.log_joint_by_draw(rows[block]), axis=2) for block in self.blocks(rows)
        ]
        return np.asarray(np.concatenate([np.empty((0, 2)), *parts]) - np.log(self.n_draws))

    def blocks(self, rows: NDArray[Any]) -> list[slice]:
        """Return the rows that are processed at a time."""
        size = max(1, _BLOCK // self.n_draws)
        return [slice(start, start + size) for start in range(0, len(rows), size)]
