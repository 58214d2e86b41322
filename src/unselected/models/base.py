"""The contract of every model: simulate from the prior, and condition on what is known."""

from typing import Any, Protocol, TypeVar

import numpy as np

from unselected.selection.events import Event, RealEvent

S_contra = TypeVar("S_contra", contravariant=True)
E_contra = TypeVar("E_contra", bound=Event | RealEvent, contravariant=True)
P_co = TypeVar("P_co", covariant=True)


class Model(Protocol[S_contra, E_contra, P_co]):
    """A joint model of features and response whose features are exchangeable.

    Its fields are the hyperparameters and the settings of the computation. Both methods honour all
    of them. With an empty event the posterior is the usual, uncorrected one.
    """

    def simulate(
        self, n_samples: int, n_features: int, rng: np.random.Generator
    ) -> tuple[Any, Any, dict[str, Any]]:
        """Draw parameters from the prior, and data: features, responses, parameters."""

    def condition(self, statistics: S_contra, event: E_contra) -> P_co:
        """Return the posterior given the kept features' statistics and the event."""
