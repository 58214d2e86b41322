"""P(selected) by plain simulation: the same random numbers at all parameters."""

import numpy as np

from unselected.condition.features import FeatureSource, Parameters, copied
from unselected.condition.records import Estimate, Gate, ImpreciseEventError

# How much more is simulated than seems necessary.
MARGIN = 1.2


class Simulation:
    """Simulates features at each parameters that it is asked for.

    With the same random numbers everywhere the error changes smoothly with the parameters, as far
    as ``simulate_feature`` does. The features are counted and forgotten.
    """

    def __init__(self, source: FeatureSource, n_draws: int, max_draws: int) -> None:
        self.source, self.max_draws = source, max_draws
        self.n_blocks = -(-n_draws // source.block_size)

    def estimate(self, parameters: Parameters) -> Estimate:
        """Return P(selected) at some parameters."""
        return counted(self._simulate(parameters), self.n_blocks * self.source.block_size)

    def stored_estimate(self, parameters: Parameters) -> Estimate:
        """Return the same: nothing is stored."""
        return self.estimate(parameters)

    def _simulate(self, parameters: Parameters) -> int:
        blocks = self.source.blocks(copied(parameters), range(self.n_blocks), ())
        n_selected = sum(int(block.selected.sum()) for block in blocks)
        self.source.raise_if_degenerate()
        return n_selected

    def improve(self, parameters: Parameters, estimate: Estimate, gate: Gate) -> None:  # noqa: ARG002
        """Simulate more features from now on; raise where the gate is out of reach."""
        n = estimate.n_draws
        shortfall = (gate.n_omitted * estimate.se / estimate.omitted / gate.tolerance) ** 2
        if not gate.has_draws(estimate):
            shortfall = max(shortfall, gate.min_effective / max(estimate.n_selected, 1))
        needed = int(np.ceil(MARGIN * shortfall * n))
        if needed > self.max_draws:
            raise ImpreciseEventError(
                f"{gate.describe(estimate)}; about {needed:.1e} would be needed, and max_draws is "
                f"{self.max_draws}. Give log_density and references at which more features are "
                "selected, or a larger tolerance or max_draws"
            )
        self.n_blocks = -(-max(needed, n + 1) // self.source.block_size)


def counted(n_selected: int, n: int) -> Estimate:
    """Return the estimate from plain counts; its standard error is never 0.

    >>> estimate = counted(0, 100)
    >>> estimate.probability, round(estimate.se, 4), estimate.upper
    (0.0, 0.0099, 0.03)
    """
    cautious = (n_selected + 1.0) / (n + 2.0)
    return Estimate(
        probability=n_selected / n,
        se=float(np.sqrt(cautious * (1.0 - cautious) / n)),
        effective_draws=float(n_selected),
        n_draws=n,
        n_selected=n_selected,
        upper=upper_bound(n_selected, n),
        least=0.5 / n,
    )


def upper_bound(n_selected: int, n: int) -> float:
    """Return a bound on P that holds in about 95 of 100 cases, from a count among n."""
    return min(1.0, (n_selected + 3.0 + 2.0 * float(np.sqrt(n_selected))) / n)
