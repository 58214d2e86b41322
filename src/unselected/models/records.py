"""The terms of the likelihood of binary features, at one value of alpha and at many."""

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from unselected._typing import Floats, Ints

# Where 1 / alpha is 0: the features are unrelated to the classes. Terms change by n^2 / alpha at
# most: below the second value of log(1 / alpha) nothing distinguishes it from 0.
NULL, _AS_NULL = -np.inf, -70.0

OF_OMISSION = ("log_below", "log_at_cut", "log_at_most")
_TERMS = ("log_counts", "theta_means", *OF_OMISSION)


def key_of(log_u: float) -> float:
    """Return what stands for a value of log(1 / alpha): itself, or `NULL`."""
    return float(log_u) if log_u > _AS_NULL else NULL


class _Totals(Protocol):
    """What a record asks of its likelihood."""

    def log_total_of(self, record: "Record") -> float:
        """Return the log likelihood, the event included."""

    def log_omitted(self, log_at_most: Floats) -> Floats:
        """Return log P(at most at the cut), averaged over omitted features."""


@dataclass(eq=False)
class Record:
    """At one alpha: means of theta for each vector of counts, P(omitted), and the likelihood.

    ``theta_means`` is that of `Terms`. The omission probabilities are those of each kind of omitted
    features, or of a single one where the event has no kinds. ``event_error`` is about the standard
    error of the log probability of the event, 0 where it is exact, and where it is interpolated.
    """

    likelihood: _Totals
    event_error: float
    log_counts: Floats
    theta_means: Floats
    log_below: Floats
    log_at_cut: Floats
    log_at_most: Floats

    @cached_property
    def log_total(self) -> float:
        """The log likelihood, the event included."""
        return self.likelihood.log_total_of(self)

    @property
    def log_omitted(self) -> float:
        """The log probability of being at most at the cut, averaged over omitted features."""
        return float(self.likelihood.log_omitted(self.log_at_most))

    @property
    def values(self) -> Floats:
        """All terms in one array."""
        return np.concatenate([getattr(self, name).ravel() for name in _TERMS])

    def with_values(self, values: Floats) -> "Record":
        """Return a record with other terms, in the order of `values`."""
        old = [getattr(self, name) for name in _TERMS]
        parts = np.split(values, np.cumsum([each.size for each in old])[:-1])
        new = (part.reshape(each.shape) for part, each in zip(parts, old, strict=True))
        return Record(self.likelihood, 0.0, *new)


@dataclass(frozen=True, eq=False)
class Records:
    """The terms of a `Record` at some values of alpha, which are the first axis."""

    log_counts: Floats
    theta_means: Floats
    log_below: Floats
    log_at_cut: Floats
    log_at_most: Floats

    @classmethod
    def stacked(cls, records: list[Record]) -> "Records":
        """Return the terms of records, one after the other."""
        return cls(*(np.array([getattr(each, name) for each in records]) for name in _TERMS))

    def take(self, places: Ints) -> "Records":
        """Return the terms at some of the values."""
        return Records(*(getattr(self, name)[places] for name in _TERMS))
