"""What is said of a simulated probability, and when it is good enough."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np


class ImpreciseEventError(RuntimeError):
    """The event cannot be computed to the tolerance with the simulated features allowed."""


class LogEvent(NamedTuple):
    """The log probability of the event, and its Monte Carlo standard error."""

    log_event: float
    se: float


@dataclass(frozen=True)
class Estimate:
    """An estimate of P(one feature is selected) at some parameters.

    Attributes
    ----------
    probability, se : float
        P(selected) and its standard error.
    effective_draws : float
        Effective sample size of the selected features, (sum of weights)^2 / sum of squares.
    n_draws, n_selected, n_references : int
        Simulated features, those selected of them, and the parameters they were simulated at.
    upper : float
        A bound on P(selected) from features simulated at these very parameters; 1 without any.
    scouts_share : float
        Which share of the variance is that of features simulated at these very parameters.
    interpolation_error : float
        Of log(1 - P), where it is interpolated.
    least : float
        The smallest P that can be told from 0.
    """

    probability: float
    se: float
    effective_draws: float
    n_draws: int
    n_selected: int
    n_references: int = 1
    upper: float = 1.0
    scouts_share: float = 1.0
    interpolation_error: float = 0.0
    least: float = 0.0

    @property
    def omitted(self) -> float:
        """P(omitted), at least half a simulated feature."""
        return max(1.0 - self.probability, 0.5 / self.n_draws)

    @property
    def log_omission_se(self) -> float:
        """The standard error of log P(omitted), with the interpolation error."""
        return float(np.hypot(self.se / self.omitted, self.interpolation_error))


@dataclass(frozen=True)
class Gate:
    """How precise the log probability of the event must be."""

    n_omitted: int
    tolerance: float
    min_effective: float

    def is_precise(self, estimate: Estimate) -> bool:
        """Whether the standard error of the log event is at most the tolerance."""
        return self.n_omitted * estimate.log_omission_se <= self.tolerance

    def has_draws(self, estimate: Estimate) -> bool:
        """Whether enough selected features stand behind it, or P is too small to matter."""
        if estimate.effective_draws >= self.min_effective:
            return True
        return self.n_omitted * estimate.upper <= self.tolerance

    def passes(self, estimate: Estimate) -> bool:
        """Whether the estimate can be used."""
        if self.n_omitted == 0:
            return True
        return self.has_draws(estimate) and self.is_precise(estimate)

    def describe(self, estimate: Estimate) -> str:
        """Return in words how far the estimate is from what is asked."""
        return (
            f"the log probability of {self.n_omitted} omitted features has a standard error of "
            f"{self.n_omitted * estimate.log_omission_se:.3g} (tolerance {self.tolerance:g}) from "
            f"{estimate.effective_draws:.3g} effective selected draws "
            f"(at least {self.min_effective:g}) of {estimate.n_draws} simulated features"
        )


@dataclass(frozen=True)
class Diagnosis:
    """What is known of the event at some parameters.

    Attributes
    ----------
    probability, se : float
        P(one feature is selected) and its standard error.
    log_event, log_event_se : float
        The log probability that all omitted features are omitted, and its standard error.
    effective_draws : float
        Effective sample size of the selected features.
    n_draws, n_selected, n_references : int
        Simulated features, those selected of them, and the parameters they were simulated at.
    reliable : bool
        Whether the gate holds.
    """

    probability: float
    se: float
    log_event: float
    log_event_se: float
    effective_draws: float
    n_draws: int
    n_selected: int
    n_references: int
    reliable: bool

    @classmethod
    def of(cls, estimate: Estimate, gate: Gate) -> "Diagnosis":
        """Return what an estimate says of the event."""
        return cls(
            probability=estimate.probability,
            se=estimate.se,
            log_event=float(gate.n_omitted * np.log(estimate.omitted)),
            log_event_se=gate.n_omitted * estimate.log_omission_se,
            effective_draws=estimate.effective_draws,
            n_draws=estimate.n_draws,
            n_selected=estimate.n_selected,
            n_references=estimate.n_references,
            reliable=gate.passes(estimate),
        )


@dataclass(frozen=True)
class DrawsCheck:
    """Whether the gate held over posterior draws.

    Attributes
    ----------
    n_checked, n_failed, n_outside : int
        Draws looked at, those where the gate fails, and those of them outside of the lattice.
    largest_se : float
        The largest standard error of the log event.
    least_effective_draws : float
        The smallest effective sample size of the selected features.
    failed : tuple of int
        Which draws failed; simulate there too, with `SelectionProbability.prepare`, and sample
        again.
    """

    n_checked: int
    n_failed: int
    n_outside: int
    largest_se: float
    least_effective_draws: float
    failed: tuple[int, ...]

    @property
    def reliable(self) -> bool:
        """Whether the gate held everywhere."""
        return self.n_failed == 0
