"""The fraction pi of related features: its prior, rules for integrals over it, and a summary."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from unselected._typing import Floats
from unselected.numerics.many_trapezoids import trapezoids
from unselected.numerics.quadrature import trapezoid

# Ends of the variable t of the rule: less than 1e-40 of the prior is outside.
FARTHEST = 4.2
# Allowed change when every second node of t is left out: the error of the full rule is at most its
# square.
_TOLERANCE = 1e-4
# Values of log(pi) of the coarse rule.
_N_COARSE = 12


class Fractions(NamedTuple):
    """Values of log(pi) and of log(1 - pi), each to full precision."""

    log_related: Floats
    log_rest: Floats

    @property
    def log_odds(self) -> Floats:
        """log(pi / (1 - pi)); infinite where all features are related."""
        return np.asarray(self.log_related - self.log_rest)

    def take(self, which: slice) -> "Fractions":
        """Return some of the values."""
        return Fractions(self.log_related[which], self.log_rest[which])


LogLikelihood = Callable[[Fractions], Floats]
# Of some functions by their numbers.
LogLikelihoods = Callable[[NDArray[np.intp], Fractions], Floats]


@dataclass(frozen=True)
class FractionPrior:
    """pi is log-uniform from ``least`` to 1, or 1 with probability ``all_related``.

    With ``least`` = 1 / p the logarithm of the number of related features is uniform, from one
    feature to all. ``coarse`` places few nodes: see `ConcentrationPrior`.

    The rule is placed in t, where log(pi) = log(least) s and s = 1 / (1 + exp(3.14... sinh(t))).
    The prior decays double-exponentially at both ends of t, so that a trapezoid rule needs no end
    points.
    """

    least: float
    all_related: float = 0.0
    coarse: bool = False

    @classmethod
    def of(cls, least: float | None, all_related: float, coarse: bool) -> "FractionPrior":
        """Return the prior of a model; with ``least`` None all features are related."""
        return cls(1.0 if least is None else least, all_related, coarse)

    def fractions(self, t: Floats) -> Fractions:
        """Return pi at these values of t."""
        log_related = np.asarray(np.log(self.least) * expit(-np.pi * np.sinh(t)))
        with np.errstate(divide="ignore"):
            return Fractions(log_related, np.log(-np.expm1(log_related)))

    def log_density(self, t: Floats) -> Floats:
        """Return the log prior density of t."""
        x = np.pi * np.sinh(np.abs(t))
        return np.asarray(np.log(np.pi * np.cosh(t)) - x - 2.0 * np.log1p(np.exp(-x)))

    def simulate(
        self, n_features: int, rng: np.random.Generator, fraction: float | None = None
    ) -> dict[str, Any]:
        """Draw pi, or use the one given, and which of the features are related."""
        if fraction is None:
            fraction = float(self.least ** rng.random())
            if self.all_related and rng.random() < self.all_related:
                fraction = 1.0
        return {"fraction": fraction, "related": rng.random(n_features) < fraction}

    def integrate(self, log_likelihood: LogLikelihood, refinement: int) -> tuple[Floats, Floats]:
        """Return nodes of t over the mass of prior times likelihood, and the logs of their terms.

        >>> prior = FractionPrior(1e-4)
        >>> t, log_terms = prior.integrate(lambda pi: pi.log_related, refinement=1)
        >>> round(float(np.exp(log_terms).sum() * np.log(1e4)), 9)  # 1 - 1e-4
        0.9999
        """
        if self.least == 1.0:
            return np.zeros(1), log_likelihood(self.fractions(np.zeros(1)))
        if self.coarse:
            t, log_prior = self.few_nodes()
            return t, np.asarray(log_prior + log_likelihood(self.fractions(t)))

        def log_density(t: Floats) -> Floats:
            return np.asarray(self.log_density(t) + log_likelihood(self.fractions(t)))

        return trapezoid(log_density, -FARTHEST, FARTHEST, refinement, _TOLERANCE)

    def integrate_together(
        self, log_likelihoods: LogLikelihoods, n: int, refinement: int
    ) -> list[tuple[Floats, Floats] | None]:
        """Return the same for n functions; None for those that need more care."""
        if self.least == 1.0 or self.coarse or refinement > 1:
            return [None] * n

        def log_densities(which: NDArray[np.intp], t: Floats) -> Floats:
            return np.asarray(self.log_density(t) + log_likelihoods(which, self.fractions(t)))

        return trapezoids(log_densities, n, -FARTHEST, FARTHEST, _TOLERANCE)

    def few_nodes(self) -> tuple[Floats, Floats]:
        """Return t at the midpoints of equal parts of log(pi), and at infinity, where pi is 1.

        The second array has their log probabilities.
        """
        if self.least == 1.0:
            return np.zeros(1), np.zeros(1)
        shares = (np.arange(_N_COARSE) + 0.5) / _N_COARSE
        t = np.arcsinh(-logit(shares) / np.pi)
        log_prior = np.full(_N_COARSE, np.log1p(-self.all_related) - np.log(_N_COARSE))
        if self.all_related:
            t = np.append(t, np.inf)
            log_prior = np.append(log_prior, np.log(self.all_related))
        return t, log_prior


def check_groups(least_fraction: float | None, all_related: float) -> None:
    """Raise where a probability that all features are related has no other group beside it."""
    if all_related and least_fraction is None:
        raise ValueError(
            f"all_related={all_related} needs least_fraction: without it all features are related."
        )


class FractionSummary(NamedTuple):
    """The posterior of the fraction of related features: mean and central 90 % interval."""

    mean: float
    low: float
    high: float


def summarize_fraction(pi: Fractions, log_weights: Floats) -> FractionSummary:
    """Return mean and interval of the fraction from weighted nodes.

    >>> pi = Fractions(np.log([0.1, 0.2, 0.3]), np.log([0.9, 0.8, 0.7]))
    >>> summarize_fraction(pi, np.log([0.25, 0.5, 0.25])).mean.__round__(12)
    0.2
    """
    order = np.argsort(pi.log_related)
    fraction, weights = np.exp(pi.log_related[order]), np.exp(log_weights[order])
    # A node represents the interval half-way to its neighbours.
    below = np.cumsum(weights) - 0.5 * weights
    low, high = np.exp(np.interp([0.05, 0.95], below, pi.log_related[order]))
    return FractionSummary(float(weights @ fraction), float(low), float(high))
