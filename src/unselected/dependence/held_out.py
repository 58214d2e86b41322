"""Held-out evidence: each training case under the model that was trained without it."""

from dataclasses import dataclass, replace
from functools import reduce

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unselected._typing import Floats
from unselected.numerics.quadrature import log_sum

# Elements of a table over nodes, cases and classes that are processed at a time.
_BLOCK = 1 << 20


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Evidence and prior of each training case, from the model that was trained without it.

    Attributes
    ----------
    log_evidence : array of shape (n, G)
        log P(x_i | y = g). It comes from a fit without the fold of case i, selection included.
        Averages over the nodes of the model are taken before the logarithm. A constant in a row
        does not matter.
    log_prior : array of shape (n, G)
        log psi_g from the same fit.
    seen_evidence, seen_prior : arrays of shape (n,)
        The same at the observed class.
    codes : array of shape (n,)
        The observed classes, counted from 0.
    weight : float
        What a case counts. Where the cases were divided into folds several times, each of them is
        here once for each division and counts less.
    """

    log_evidence: Floats
    log_prior: Floats
    seen_evidence: Floats
    seen_prior: Floats
    codes: NDArray[np.intp]
    weight: float = 1.0

    @classmethod
    def none(cls, n_classes: int = 2) -> "HeldOut":
        """Return an empty record, where no case was left out or a file does not hold them."""
        empty = np.zeros((0, n_classes))
        return cls(empty, empty, empty[:, 0], empty[:, 0], np.zeros(0, dtype=np.intp))

    @classmethod
    def of_classes(cls, log_evidence: ArrayLike, log_prior: ArrayLike, y: ArrayLike) -> "HeldOut":
        """Take classes y, numbers from 0 on, of shape (n,)."""
        evidence = finite("log_evidence", log_evidence)
        prior = np.broadcast_to(finite("log_prior", log_prior), evidence.shape)
        codes = np.asarray(y, dtype=np.intp)
        if codes.shape != evidence.shape[:1]:
            raise ValueError(f"y has the shape {codes.shape}; log_evidence has {evidence.shape}.")
        if not np.all((codes >= 0) & (codes < evidence.shape[1])):
            bad = codes[(codes < 0) | (codes >= evidence.shape[1])][0]
            raise ValueError(
                f"y has the class {bad}; log_evidence has {evidence.shape[1]} classes."
            )
        prior = prior - log_sum(prior, axis=1)[:, np.newaxis]
        seen = np.arange(codes.size), codes
        return cls(evidence, prior, evidence[seen], prior[seen], codes)

    @property
    def log_gain(self) -> float:
        """Log of how much more probable the evidence makes the observed responses."""
        gained = self.log_without_outliers(np.ones(1))[0] - self.seen_prior
        return float(self.weight * gained.sum())

    def with_evidence(self, log_evidence: Floats) -> "HeldOut":
        """Return the same cases with other evidence, shape (n, G)."""
        seen = np.take_along_axis(log_evidence, self.codes[:, np.newaxis], axis=1)[:, 0]
        return replace(self, log_evidence=log_evidence, seen_evidence=seen)

    @property
    def size(self) -> int:
        """The number of cases."""
        return len(self.seen_prior)

    def log_without_outliers(self, eta: Floats) -> Floats:
        """Return log probabilities of the observed classes, shape (eta, n)."""
        rows = max(1, _BLOCK // max(1, self.log_evidence.size))
        parts = [self._log_some(eta[start : start + rows]) for start in range(0, eta.size, rows)]
        return np.concatenate(parts)

    def _log_some(self, eta: Floats) -> Floats:
        column = eta[:, np.newaxis]
        seen = self.seen_prior + column * self.seen_evidence
        each = zip(self.log_prior.T, self.log_evidence.T, strict=True)
        # One class after the other: a reduction over a short last axis is slow.
        logs = [prior + column * evidence for prior, evidence in each]
        top = reduce(np.maximum, logs)
        total = reduce(np.add, [np.exp(log - top) for log in logs])
        return np.asarray(seen - (np.log(total) + top))


def finite(name: str, values: ArrayLike) -> NDArray[np.float64]:
    """Return an array of finite numbers, or raise, naming the first that is not."""
    array = np.asarray(values, dtype=np.float64)
    if not np.all(np.isfinite(array)):
        place = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        raise ValueError(f"{name} at {place} is {array[place]}: only finite numbers can be used.")
    return array
