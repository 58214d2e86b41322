"""The prior of the models of real-valued features."""

from dataclasses import dataclass

from unselected.models.concentration import ConcentrationPrior

# Weaker shrinkage needs too many nodes of the common variance; stronger shrinkage loses all digits.
SHRINKAGE_BOUNDS = (0.1, 1e6)


@dataclass(frozen=True)
class GaussianPrior:
    """alpha = 1 / tau^2 ~ Inverse-Gamma(a, b), and how the variances are shrunk.

    ``refinement`` makes the quadrature finer than necessary, to check it.

    With ``least_fraction`` there are two groups of features: a fraction pi has tau, the others have
    tau = 0. pi is log-uniform from ``least_fraction`` to 1. Without it all features are related.
    Two groups cannot be combined with ``shrinkage``.
    """

    a: float = 0.5
    b: float = 5.0
    shrinkage: float = 0.0
    refinement: int = 1
    least_fraction: float | None = None

    def __post_init__(self) -> None:
        if self.shrinkage > 0.0 and self.least_fraction is not None:
            raise ValueError(
                f"shrinkage={self.shrinkage} and least_fraction={self.least_fraction} cannot be "
                "combined: leave out one of them."
            )

    @property
    def concentration(self) -> ConcentrationPrior:
        """The prior of alpha."""
        return ConcentrationPrior(self.a, self.b)
