"""Features as the user's functions simulate and score them, checked, in blocks."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unselected._typing import Bools, Floats

# Values and columns that are simulated at a time.
_BLOCK_VALUES = 1 << 20
_BLOCK_COLUMNS = 1 << 12

Parameters = Mapping[str, Any]
Columns = NDArray[Any]
SimulateFeature = Callable[[Parameters, int, np.random.Generator], ArrayLike]
Score = Callable[[Columns, NDArray[Any]], ArrayLike]


class Block(NamedTuple):
    """Simulated columns (cases, n), and which of them are selected."""

    columns: Columns
    selected: Bools


class FeatureSource:
    """Simulates and scores features, and remembers how many passed the threshold."""

    def __init__(
        self,
        simulate_feature: SimulateFeature,
        score: Score,
        threshold: float,
        y: ArrayLike,
        seed: int,
        most_columns: int,
    ) -> None:
        self.simulate_feature, self.score, self.seed = simulate_feature, score, seed
        self.threshold = float(threshold)
        if not np.isfinite(self.threshold):
            raise ValueError(f"threshold must be a finite number, not {threshold!r}")
        self.y = np.asarray(y)
        if self.y.ndim == 0 or len(self.y) == 0:
            raise ValueError("y must have an entry for each case")
        columns = min(_BLOCK_COLUMNS, _BLOCK_VALUES // len(self.y), most_columns)
        self.block_size = max(1, columns)
        self.n_scored = self.n_selected = 0
        self.lowest, self.highest = np.inf, -np.inf

    def blocks(
        self, parameters: Parameters, blocks: range, stream: tuple[int, ...]
    ) -> Iterator[Block]:
        """Yield blocks of simulated features; those of a stream and a number are the same.

        That is, they come from the same random numbers, whatever the parameters are.
        """
        for number in blocks:
            rng = np.random.default_rng([self.seed, *stream, number])
            columns = self._simulated(parameters, rng)
            scores = self._scored(columns)
            selected = scores > self.threshold
            self.n_scored += scores.size
            self.n_selected += int(selected.sum())
            self.lowest = min(self.lowest, float(scores.min()))
            self.highest = max(self.highest, float(scores.max()))
            yield Block(columns, selected)

    def _simulated(self, parameters: Parameters, rng: np.random.Generator) -> Columns:
        columns = np.asarray(self.simulate_feature(parameters, self.block_size, rng))
        expected = (len(self.y), self.block_size)
        if columns.shape != expected:
            raise ValueError(
                f"simulate_feature(parameters, {self.block_size}, rng) returned the shape "
                f"{columns.shape}; it must be (cases, features) = {expected}"
            )
        return columns

    def _scored(self, columns: Columns) -> Floats:
        scores = np.asarray(self.score(columns, self.y), dtype=np.float64)
        if scores.shape != (columns.shape[1],):
            raise ValueError(
                f"score returned the shape {scores.shape} for {columns.shape[1]} features; it must "
                "be one number for each"
            )
        n_missing = int(np.isnan(scores).sum())
        if n_missing:
            raise ValueError(
                f"score returned NaN for {n_missing} of {scores.size} simulated features; give "
                "these, such as constant features, a number"
            )
        return scores

    def raise_if_degenerate(self) -> None:
        """Raise where the scores of all features simulated so far cannot tell one from another."""
        n = self.n_scored
        if n > 1 and self.lowest == self.highest:
            raise ValueError(
                f"all {n} simulated features have the same score, {self.lowest:g}: nothing can be "
                "selected by it"
            )
        if self.n_selected == 0:
            raise ValueError(
                f"none of {n} simulated features has a score above the threshold "
                f"{self.threshold:g}; the highest is {self.highest:g}. Simulate stronger effects "
                "with references, or more features with n_draws"
            )
        if self.n_selected == n:
            raise ValueError(
                f"all {n} simulated features have a score above the threshold "
                f"{self.threshold:g}; the lowest is {self.lowest:g}. No feature would be omitted"
            )


def copied(parameters: Parameters) -> dict[str, Any]:
    """Return parameters as arrays of their own; raise where they have no names."""
    if not isinstance(parameters, Mapping):
        raise ValueError(
            f"parameters must map names to numbers or arrays, not {type(parameters).__name__}"
        )
    return {name: np.array(value) for name, value in parameters.items()}


def are_equal(first: Parameters, second: Parameters) -> bool:
    """Whether two sets of parameters are the same."""
    return first.keys() == second.keys() and all(
        np.array_equal(value, second[name]) for name, value in first.items()
    )
