"""The event of a selection: all that is known of the omitted features.

It says that none of them passed the cut, and no more. A model adds its log probability to the log
posterior. An empty event gives the usual, uncorrected posterior.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, betaln

from unselected._typing import Floats, Ints
from unselected.numerics.quadrature import log_sum
from unselected.selection.count_score import EXPLAINED, CountScore
from unselected.statistics.moments import Statistic


@dataclass(frozen=True, eq=False)
class OmittedKinds:
    """Omitted features of several kinds, which the model does not take to be alike.

    Features of a kind have the same numbers of known values, and the same total where totals are
    given. ``n_below`` of a kind are below the cut, ``n_at_cut`` are at it and lost against kept
    features that tie with them, and ``n_at_most`` are at most at it.

    Attributes
    ----------
    sizes : array of shape (kinds, G)
        The numbers of known values in each class.
    totals : array of shape (kinds,)
        The number of ones, or -1 where it is not looked at.
    n_below, n_at_cut, n_at_most : arrays of shape (kinds,)
    """

    sizes: Ints
    totals: Ints
    n_below: Ints
    n_at_cut: Ints
    n_at_most: Ints

    @property
    def n_features(self) -> Ints:
        """The numbers of omitted features of each kind."""
        return self.n_below + self.n_at_cut + self.n_at_most

    def log_prob(self, log_below: Floats, log_at_cut: Floats, log_at_most: Floats) -> Floats:
        """Return the log probability of the event, given those of a feature of each kind (last)."""
        total = np.zeros(log_at_most.shape[:-1])
        for n, logs in (
            (self.n_below, log_below),
            (self.n_at_cut, log_at_cut),
            (self.n_at_most, log_at_most),
        ):
            some = n > 0
            if some.any():
                total = total + logs[..., some] @ n[some].astype(np.float64)
        return np.asarray(total)


@dataclass(frozen=True)
class Event:
    """What is known of the omitted features: the numbers of those below and at most at the cut.

    ``n_below`` features are strictly below the cut and ``n_at_most`` at most at it. ``n_lottery``
    features are at most at the cut. Those of them that tie with the ``n_kept_ties`` kept features
    at the cut lost a fair draw against these (the paper's rule).

    Where the omitted features are not alike under the model, because their totals are given or some
    of their values are missing, ``kinds`` has their numbers instead. It says of each whether it is
    at the cut, which is more than that it was not kept, and makes the way in which ties are broken
    irrelevant.

    The empty event, ``Event()``, gives the usual, uncorrected posterior. ``cut`` is a bound on the
    key of ``score``, see `count_score`. By default it is one on R^2: COR^2 for two classes, and
    that of a complete feature with the same F for several.
    """

    # Whether omitted features that are constant are left out of it.
    skips_constant: ClassVar[bool] = False

    cut: Fraction | None = None
    n_below: int = 0
    n_at_most: int = 0
    n_lottery: int = 0
    n_kept_ties: int = 0
    kinds: OmittedKinds | None = None
    statistic: Statistic = "|COR|"
    score: CountScore = EXPLAINED

    @property
    def n_omitted(self) -> int:
        """How many omitted features the event speaks of."""
        if self.kinds is not None:
            return int(self.kinds.n_features.sum())
        return self.n_below + self.n_at_most + self.n_lottery

    def emptied(self) -> "Event":
        """Return the same cut with nothing known to be below it: the uncorrected method."""
        return Event(self.cut, statistic=self.statistic, score=self.score)

    @property
    def needs_below(self) -> bool:
        """Whether the event depends on the probability of being strictly below the cut."""
        return self.n_below + self.n_lottery > 0

    def log_prob(self, log_below: Floats, log_at_most: Floats) -> Floats:
        """Return the log probability of the event without kinds, given those of a single feature.

        >>> import numpy as np
        >>> event = Event(n_below=0, n_at_most=3)
        >>> float(np.exp(event.log_prob(np.array(-np.inf), np.log(np.array(0.5)))).round(12))
        0.125
        """
        log_below, log_at_most = np.asarray(log_below), np.asarray(log_at_most)
        total = np.zeros(log_at_most.shape)
        if self.n_below:
            total = total + self.n_below * log_below
        if self.n_at_most + self.n_lottery:
            total = total + (self.n_at_most + self.n_lottery) * log_at_most
        if self.n_lottery:
            tied = -np.expm1(log_below - log_at_most)
            total = total + log_lottery(tied, self.n_kept_ties, self.n_lottery)
        return total


def log_lottery(tied: Floats, t: int, n_omitted: int) -> Floats:
    """Return log E[1 / binomial(t + r, t)], r ~ Binomial(n_omitted, tied).

    ``tied`` is the probability that an omitted feature is at the cut, and r the unknown number of
    those that are. The t kept ones are one of binomial(t + r, t) equally likely outcomes of the
    draw. The result equals t * integral over s in (0, 1) of s^(t-1) (1 - s tied)^n_omitted ds, an
    incomplete beta function. Where r < t is expected this could underflow, and the sum over r is
    computed instead.

    >>> np.exp(log_lottery(np.array([0.25, 1.0]), 1, 1)).round(12).tolist()  # 1 - tied / 2
    [0.875, 0.5]
    """
    tied = np.asarray(tied, dtype=np.float64)
    few = (tied * n_omitted < t) & (tied < 1.0)
    result = np.empty(tied.shape)
    result[few] = _log_lottery_sum(tied[few], t, n_omitted)
    q = tied[~few]
    result[~few] = np.log(betainc(t, n_omitted + 1.0, q)) - t * np.log(q)
    result[~few] += np.log(t) + betaln(t, n_omitted + 1.0)
    return result


def _log_lottery_sum(q: Floats, t: int, n_omitted: int) -> Floats:
    # Ratio of the terms r + 1 and r; from r = 2 t on it is below 1 / 2.
    r = np.arange(min(n_omitted, 2 * t + 60))
    log_odds = np.log(np.maximum(q, 1e-300)) - np.log1p(-q)  # a sum over r >= 1 that is then 0
    log_terms = np.cumsum(np.log((n_omitted - r) / (t + 1.0 + r)) + log_odds[:, np.newaxis], axis=1)
    log_rest = log_sum(log_terms, axis=1) if r.size else np.full(q.shape, -np.inf)
    return n_omitted * np.log1p(-q) + np.logaddexp(0.0, log_rest)


class OmissionLaw(Protocol):
    """The omission probability of a feature as a function of tau^2."""

    def log_omitted(self, u: Floats) -> Floats:
        """Return logs of P(at most at the cut) and P(below the cut), shape (nodes, 2)."""

    def error(self, u: Floats) -> Floats:
        """Return the standard errors of the first, shape (nodes,); 0 where it is not simulated."""

    def entries(self) -> dict[str, Floats]:
        """Return the arrays that a model file holds."""


@dataclass(frozen=True, eq=False)
class RealEvent:
    """What is known of omitted real-valued features: that none passed the cut.

    Ties have probability 0 here, so that it does not matter how they are broken. Given tau, a
    feature is omitted when sum_i (1 + tau^2 lam_i) chi^2_1 <= kappa chi^2_nu. lam and nu depend on
    which of its values are known; features with the same lam and nu form a pattern.

    Attributes
    ----------
    cut : float or None
        The largest score that is omitted; None where there is no cut.
    statistic : {"|COR|", "F"}
        The score that the cut applies to.
    lam : array of shape (patterns, q)
        The first pattern is that of a feature whose values are all known.
    nu : array of shape (patterns,)
    n_features : array of shape (patterns,)
        Number of omitted features with each pattern.
    law : OmissionLaw or None
        What gives the omission probability of another score than |COR| and F.
    """

    # Whether omitted features that are constant are left out of it.
    skips_constant: ClassVar[bool] = True

    cut: float | None
    statistic: Statistic
    lam: Floats
    nu: Floats
    n_features: Ints
    law: "OmissionLaw | None" = None

    @property
    def n_omitted(self) -> int:
        """How many omitted features the event speaks of."""
        return int(self.n_features.sum())

    @property
    def kappa(self) -> Floats:
        """For each pattern, the largest ratio of the sums of squares that is omitted."""
        if self.cut is None:
            return np.full(self.nu.shape, np.inf)
        with np.errstate(divide="ignore", over="ignore"):
            if self.statistic == "F":
                return np.asarray(self.cut * self.lam.shape[1] / self.nu)
            square = np.float64(self.cut) ** 2
            return np.full(self.nu.shape, square / np.maximum(1.0 - square, 0.0))

    def log_prob(self, log_at_most: Floats) -> Floats:
        """Return the log probability of the event, given those of single features.

        Parameters
        ----------
        log_at_most : array of shape (..., patterns)
            Values of patterns without omitted features are ignored, -inf included.
        """
        some = self.n_features > 0
        return np.asarray(log_at_most[..., some] @ self.n_features[some].astype(np.float64))

    def patterns(self, which: NDArray[np.bool_] | slice) -> "RealEvent":
        """Return the event restricted to some of the patterns."""
        parts = (self.lam[which], self.nu[which], self.n_features[which])
        return RealEvent(self.cut, self.statistic, *parts)

    def merged(self) -> "RealEvent":
        """Return one pattern for each number of known values, with the mean of their lam.

        With a real response nearly every feature with missing values has a pattern of its own, and
        lam differs little between those with as many known values. The first pattern stays.

        >>> lam, n = np.array([[9.0], [8.0], [7.0], [6.0]]), np.array([5, 1, 1, 2])
        >>> merged = RealEvent(0.5, "|COR|", lam, np.array([8.0, 7.0, 7.0, 6.0]), n).merged()
        >>> merged.lam.ravel().tolist(), merged.n_features.tolist()
        ([9.0, 6.0, 7.5], [5, 2, 2])
        """
        nu, place = np.unique(self.nu[1:], return_inverse=True)
        n = np.bincount(place, weights=self.n_features[1:], minlength=nu.size)
        size = np.maximum(self.n_features[1:], 1e-9)  # where nothing is omitted, a plain mean
        total = np.bincount(place, weights=size, minlength=nu.size)
        lam = [
            np.bincount(place, size * each, minlength=nu.size) / total for each in self.lam[1:].T
        ]
        return RealEvent(
            self.cut,
            self.statistic,
            np.vstack([self.lam[:1], np.transpose(lam)]),
            np.append(self.nu[:1], nu),
            np.append(self.n_features[:1], n.round().astype(np.int64)),
        )

    def emptied(self) -> "RealEvent":
        """Return the same cut with nothing known to be below it: the uncorrected method."""
        return replace(self, n_features=np.zeros_like(self.n_features))


@dataclass(frozen=True)
class FamilyEvent:
    """What is known of the omitted features of each family; None where it has no columns."""

    # Whether omitted features that are constant are left out of it: real-valued ones are.
    skips_constant: ClassVar[bool] = True

    binary: Event | None
    real: RealEvent | None
    statistic: Statistic

    @property
    def n_omitted(self) -> int:
        """How many omitted features the event speaks of."""
        return sum(each.n_omitted for each in (self.binary, self.real) if each is not None)

    def emptied(self) -> "FamilyEvent":
        """Return the same cut with nothing known to be below it: the uncorrected method."""
        binary = None if self.binary is None else self.binary.emptied()
        return replace(self, binary=binary, real=None if self.real is None else self.real.emptied())
