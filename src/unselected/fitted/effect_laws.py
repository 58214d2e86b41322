"""The posterior of how much a kept feature differs between classes, or changes with the response.

It is a mixture over the nodes of the posterior, alpha or tau, and over theta for binary features.
Where there are two groups of features, a feature that is not related has the effect 0: a point mass
of 1 - r_j. Means are in closed form. The distribution function is a sum over the mixture of one
integral each, and its inverse is found by bracketing.

This module holds what all effects share, and the search for quantiles. `rate_effects` and
`rate_contrasts` have the distributions for binary features, `standardized_effects` those for
real-valued ones.
"""

from typing import Protocol

import numpy as np
from scipy.special import ndtri

from unselected._typing import Floats
from unselected.numerics.increasing import solve

# Smallest weight of a mixture component that is used.
LEAST_WEIGHT = 1e-10
# How far down the rules for the integrals reach, in logs.
REACH = 18.0
# First step from a guess of a quantile, in standard deviations of an effect.
_FIRST_STEP = 0.2


class EffectLaw(Protocol):
    """The posterior of an effect, for each of k features: that of related ones, and a mass at 0.

    ``null`` is the probability that the effect is 0, ``mean`` and ``deviation`` are of all.
    """

    @property
    def mean(self) -> Floats: ...  # noqa: D102

    @property
    def deviation(self) -> Floats: ...  # noqa: D102

    @property
    def null(self) -> Floats: ...  # noqa: D102

    def cdf(self, x: Floats) -> Floats:
        """Return P(related, effect <= x) for x of shape (k, m)."""


def quantiles(law: EffectLaw, levels: Floats) -> Floats:
    """Return the quantiles of an effect at these levels, shape (k, m).

    0 where the mass at 0 takes the distribution function past the level.
    """
    k, m = law.mean.size, levels.size
    null = law.null[:, np.newaxis]
    below = law.cdf(np.zeros((k, 1)))
    wanted = np.broadcast_to(levels, (k, m))
    left, right = wanted < below, wanted > below + null
    if not np.any(left | right):
        return np.zeros((k, m))
    targets = np.where(right, wanted - null, wanted)
    # Where 0 is the answer, something that is found soon.
    targets = np.where(left | right, targets, 0.5 * (1.0 - null))
    start, step = _guess(law, targets)
    return np.where(left | right, solve(law.cdf, targets, start, step), 0.0)


def _guess(law: EffectLaw, targets: Floats) -> tuple[Floats, Floats]:
    """Return about where the targets are reached, and a step, from mean and deviation."""
    some = np.maximum(1.0 - law.null, 1e-12)
    mean = law.mean / some
    squares = (law.deviation**2 + law.mean**2) / some
    deviation = np.sqrt(np.maximum(squares - mean**2, 1e-24))[:, np.newaxis]
    z = ndtri(np.clip(targets / some[:, np.newaxis], 1e-6, 1.0 - 1e-6))
    return mean[:, np.newaxis] + deviation * z, _FIRST_STEP * np.broadcast_to(deviation, z.shape)
