"""The prior of the models of real-valued features."""

from dataclasses import dataclass

import numpy as np
from scipy.special import gammainccinv

from unselected._typing import Floats
from unselected.models.concentration import ConcentrationPrior
from unselected.models.fractions import FractionPrior, check_groups

# Weaker shrinkage needs too many nodes of the common variance; stronger shrinkage loses all digits.
SHRINKAGE_BOUNDS = (0.1, 1e6)
# Degrees of freedom of the distribution of effects, and normal distributions in its place.
TAILS_BOUNDS = (0.5, 1e6)
_N_SCALES = 7


@dataclass(frozen=True)
class GaussianPrior:
    """alpha = 1 / tau^2 ~ Inverse-Gamma(a, b), and how the variances are shrunk.

    ``refinement`` makes the quadrature finer than necessary, to check it.

    With ``least_fraction`` there are two groups of features: a fraction pi has tau, the others have
    tau = 0. pi is log-uniform from ``least_fraction`` to 1, or 1 with probability ``all_related``.
    Without it all features are related. Two groups cannot be combined with ``shrinkage``.

    With ``tails`` the effects of related features have heavier tails than a normal distribution:
    nearly those of a t distribution with that many degrees of freedom. It needs ``least_fraction``.

    ``coarse`` places few nodes: enough for an average over models, but not for nine digits.

    With ``variance`` the common variance of ``shrinkage`` is known, and not integrated over.
    """

    a: float = 0.5
    b: float = 5.0
    shrinkage: float = 0.0
    refinement: int = 1
    least_fraction: float | None = None
    all_related: float = 0.0
    coarse: bool = False
    tails: float | None = None
    variance: float | None = None

    def __post_init__(self) -> None:
        if self.shrinkage > 0.0 and self.least_fraction is not None:
            raise ValueError(
                f"shrinkage={self.shrinkage} and least_fraction={self.least_fraction} cannot be "
                "combined: leave out one of them."
            )
        check_groups(self.least_fraction, self.all_related)
        if self.tails is not None and self.least_fraction is None:
            raise ValueError(
                f"tails={self.tails} needs least_fraction: give 1.0 if all features are related."
            )

    @property
    def learns_variance(self) -> bool:
        """Whether the posterior is also over a common variance."""
        return self.shrinkage > 0.0 and self.variance is None

    @property
    def scales(self) -> Floats:
        """Factors of tau^2, one of which each related feature has, all with equal probability.

        They are quantiles of the inverse gamma distribution whose mixture of normal distributions
        is a t distribution: a few normal distributions in place of all.
        """
        if self.tails is None:
            return np.ones(1)
        half, shares = 0.5 * self.tails, (np.arange(_N_SCALES) + 0.5) / _N_SCALES
        return np.asarray(half / gammainccinv(half, shares)[::-1])

    @property
    def concentration(self) -> ConcentrationPrior:
        """The prior of alpha."""
        return ConcentrationPrior(self.a, self.b, self.coarse)

    @property
    def fraction(self) -> FractionPrior:
        """The prior of the fraction of related features; it is 1 where there are no two groups."""
        return FractionPrior.of(self.least_fraction, self.all_related, self.coarse)
