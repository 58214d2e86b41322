"""The omission probability of any score of real-valued features, by simulation.

Let beta be the contrasts of a feature between the classes, W the sum of squares within them, and
T = |beta|^2 / W. Given T and the direction d of beta the residuals have a law that does not depend
on tau, and the density of T and d is known:

    f(T, d | tau) ~ T^(q/2 - 1) (1 + A T)^(-(n - 1) / 2),  A = sum_i d_i^2 / (1 + tau^2 lam_i),

with d uniform where the lam_i are equal. So features are simulated once, in strata of T, most of
them where selection is in doubt. For each tau the probability of a stratum is exact, and the
features in it are weighted by the density. A score that depends on the scale of a feature needs
that too. With W + A |beta|^2 = Y, Y has the law of s^2 chi^2_(n-1), s^2 from the prior.

In a stratum T is spread evenly, or Y where the scale matters. Neighbours differ little, and their
differences tell the standard error (collapsed strata).
"""

from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv

from unselected._typing import Floats
from unselected.numerics.chi_squared_ratio import log_ratio_probability
from unselected.selection.scored_event import ScoredEvent
from unselected.statistics.moments import class_axes

# Strata of log T, first and after those where selection is in doubt have been divided.
_ENDS, _N_STRATA, _N_PIECES = (np.log(1e-6), np.log(1e6)), 28, 12
# Features of each stratum at first, and that are simulated at a time.
_N_FIRST, _BLOCK = 64, 4096
# Values of A from which a scale is drawn, all with equal probability.
_SHARES = np.array([1.0, 0.5, 0.25, 0.0])
# Half of the scales are drawn with evenly spread logarithms of their upper tail probability.
_LOG_TAILS = np.linspace(np.log(1e-9), 0.0, 4001)
_TAIL_RANKS = 0.5 * np.exp(_LOG_TAILS) + 0.5 * (1.0 - _LOG_TAILS / _LOG_TAILS[0])


@dataclass(eq=False)
class _Stratum:
    """Simulated features with T between two bounds, and whether their scores pass the cut."""

    low: float
    high: float
    T: list[Floats] = field(default_factory=list)
    direction: list[Floats] = field(default_factory=list)
    W: list[Floats] = field(default_factory=list)
    log_weights: list[Floats] = field(default_factory=list)
    above: list[NDArray[np.bool_]] = field(default_factory=list)
    at_least: list[NDArray[np.bool_]] = field(default_factory=list)

    def append(
        self,
        T: Floats,
        direction: Floats,
        W: Floats,
        log_weights: Floats,
        above: NDArray[np.bool_],
        at_least: NDArray[np.bool_],
    ) -> None:
        """Take in features."""
        self.T.append(T)
        self.direction.append(direction)
        self.W.append(W)
        self.log_weights.append(log_weights)
        self.above.append(above)
        self.at_least.append(at_least)

    @property
    def n(self) -> int:
        """The number of features."""
        return sum(part.size for part in self.above)

    @property
    def n_above(self) -> int:
        """The number of those that are selected."""
        return sum(int(part.sum()) for part in self.above)

    @property
    def mixed(self) -> bool:
        """Whether some of the features are selected and some are not."""
        n_at_least = sum(int(part.sum()) for part in self.at_least)
        return 0 < self.n_above < self.n or 0 < n_at_least < self.n


class SimulatedCurve:
    """P(omitted) from simulated features; more can be added."""

    def __init__(self, event: ScoredEvent) -> None:
        assert event.sizes is not None
        assert event.score is not None
        self.event, self.score = event, event.score
        self.order = np.argsort(event.sizes, kind="stable")  # names of classes do not matter
        sizes = event.sizes[self.order]
        self.y = np.repeat(self.order, sizes)
        self.groups = np.split(np.arange(sizes.sum()), np.cumsum(sizes)[:-1])
        lam, axes = class_axes(sizes[np.newaxis])
        self.lam, self.q, self.nu = lam[0], lam.shape[1], float(event.nu[0])
        self.contrasts = np.repeat(axes[0] / np.sqrt(sizes)[:, np.newaxis], sizes, axis=0)
        self.rng = np.random.default_rng(sizes)
        edges = np.linspace(*_ENDS, _N_STRATA + 1)
        self.strata = self._first(edges)
        doubtful = self._doubtful()
        finer = [
            np.linspace(s.low, s.high, _N_PIECES + 1 if d else 2)[:-1]
            for s, d in zip(self.strata, doubtful, strict=True)
        ]
        self.strata = self._first(np.append(np.concatenate(finer), _ENDS[1]))

    def _first(self, edges: Floats) -> list[_Stratum]:
        strata = [_Stratum(*ends) for ends in pairwise(edges.tolist())]
        for stratum in strata:
            self._add(stratum, _N_FIRST)
        return strata

    def _doubtful(self) -> NDArray[np.bool_]:
        """Say in which strata, or next to which, features are neither all selected nor all not."""
        rates = np.array([s.n_above / s.n for s in self.strata])
        doubtful = (rates > 0.0) & (rates < 1.0)
        changes = np.flatnonzero(np.diff(rates) != 0.0)
        doubtful[changes] = doubtful[changes + 1] = True
        return np.asarray(doubtful)

    @property
    def passed(self) -> bool:
        """Whether any feature was above the cut."""
        return any(stratum.n_above > 0 for stratum in self.strata)

    @property
    def n_draws(self) -> int:
        """The number of features so far."""
        return sum(stratum.n for stratum in self.strata)

    def add(self, v: float, n_draws: int) -> None:
        """Simulate more features, where they make P(omitted) at v more precise."""
        masses = self._masses(np.array([v]))[0]
        wanted = masses * self._spreads(v)
        wanted = np.ceil(n_draws * wanted / wanted.sum()).astype(np.int64)
        for stratum, n in zip(self.strata, wanted, strict=True):
            self._add(stratum, 2 * ((int(n) - stratum.n) // 2))

    def n_needed(self, v: float, error: float) -> int:
        """Return how many features, placed by `add`, give P(omitted) at v with this error."""
        spread = float(self._masses(np.array([v]))[0] @ self._spreads(v))
        return int(np.ceil((spread / error) ** 2))

    def _spreads(self, v: float) -> Floats:
        """Return how much a feature in each stratum tells at v, as a standard deviation.

        Strata in which none was selected are taken together, and so are those in which all were:
        as if half a feature of them were the other way.
        """
        n, above = self._counts()
        spreads = np.zeros(n.size)
        for same in (above == 0.0, above == n):
            spreads[same] = np.sqrt(0.5 / max(1.0, n[same].sum()))
        for place, s in enumerate(self.strata):
            if 0 < s.n_above < s.n:
                spreads[place] = np.sqrt(n[place] * self._variance(s, np.array([v]))[0])
        return np.asarray(np.maximum(spreads, np.sqrt(0.5) / n))

    def _counts(self) -> tuple[Floats, Floats]:
        """Return the numbers of features in each stratum, and of those above the cut."""
        n = np.array([s.n for s in self.strata], dtype=np.float64)
        return n, np.array([s.n_above for s in self.strata], dtype=np.float64)

    def _variance(self, s: _Stratum, v: Floats) -> Floats:
        """Return the variance of the share of features of a stratum that are selected, (v,)."""
        weights = self._weights(s, v)
        weights /= weights.sum(axis=1, keepdims=True)
        is_above = np.concatenate(s.above)
        away = weights * (is_above - (weights @ is_above)[:, np.newaxis])
        pairs = away[:, : away.shape[1] // 2 * 2]
        return np.asarray(np.sum((pairs[:, ::2] - pairs[:, 1::2]) ** 2, axis=1))

    def _add(self, stratum: _Stratum, n: int) -> None:
        for start in range(0, n, _BLOCK):
            m = min(_BLOCK, n - start)
            evenly = (np.arange(m) + self.rng.random(m)) / m
            places = evenly if self.score.scale_free else self.rng.random(m)
            T = np.exp(stratum.low + (stratum.high - stratum.low) * places)
            direction = self.rng.normal(size=(self.q, m))
            direction /= np.sqrt(np.sum(direction**2, axis=0))
            X = self.rng.normal(size=(self.y.size, m))
            for rows in self.groups:
                X[rows] -= X[rows].mean(axis=0)
            X /= np.sqrt(np.sum(X**2, axis=0))
            X += np.sqrt(T) * (self.contrasts @ direction)
            W, log_weights = np.ones(m), np.zeros(m)
            if not self.score.scale_free:
                W, log_weights = self._scales(T, evenly)
                X *= np.sqrt(W)
            scores = self.score.of(X, self.y, "simulated feature {}".format)
            stratum.append(T, direction, W, log_weights, *self._compare(scores))

    def _compare(self, scores: Floats) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Say which scores are above the cut, and which at least at it, to ten digits."""
        cut = self.event.cut
        assert cut is not None
        close = 1e-10 * abs(cut)
        return scores > cut + close, scores >= cut - close

    def _scales(self, T: Floats, evenly: Floats) -> tuple[Floats, Floats]:
        """Return W = Y / (1 + A T), with A one of some values, and logs of weights.

        Large values of Y are drawn too often; the weights make up for it.
        """
        prior = self.event.prior
        assert prior is not None
        ranks = _TAIL_RANKS[0] + evenly * (1.0 - _TAIL_RANKS[0])
        log_tail = np.interp(ranks, _TAIL_RANKS, _LOG_TAILS)
        cell = np.clip(np.searchsorted(_TAIL_RANKS, ranks) - 1, 0, _TAIL_RANKS.size - 2)
        log_weights = log_tail - np.log(np.diff(_TAIL_RANKS)[cell])
        rest = betaincinv(0.5 * prior.df, 0.5 * (self.nu + self.q), np.exp(log_tail))
        Y = prior.df * prior.scale * (1.0 - rest) / rest
        return Y / (1.0 + self.rng.choice(_SHARES, size=T.size) * T), log_weights

    def _masses(self, v: Floats) -> Floats:
        """Return the probability of each stratum at each v, shape (v, strata)."""
        edges = np.exp([s.low for s in self.strata[1:]])
        shape = (v.size, edges.size)
        a = np.repeat(self._a(v), edges.size, axis=0)
        kappa = np.broadcast_to(edges, shape).ravel()
        below = np.exp(log_ratio_probability(a, np.full(kappa.size, self.nu), kappa))
        ends = np.pad(below.reshape(shape), ((0, 0), (1, 1)), constant_values=((0, 0), (0.0, 1.0)))
        return np.maximum(np.diff(ends, axis=1), 0.0)

    def _a(self, v: Floats) -> Floats:
        """Return 1 + tau^2 lam_i at each v, shape (v, q)."""
        u = (v**-2.0 - 1.0) / self.lam.max()
        return np.asarray(1.0 + np.multiply.outer(u, self.lam))

    def _rates(self, v: Floats) -> tuple[Floats, Floats]:
        """Return the weighted shares of features above, and at least at, the cut.

        Both have the shape (strata, v).
        """
        above, at_least = np.zeros((2, len(self.strata), v.size))
        for place, s in enumerate(self.strata):
            if not s.mixed:
                above[place] = float(s.n_above > 0)
                at_least[place] = float(any(part.any() for part in s.at_least))
                continue
            weights = self._weights(s, v)
            weights /= weights.sum(axis=1, keepdims=True)
            above[place] = weights @ np.concatenate(s.above)
            at_least[place] = weights @ np.concatenate(s.at_least)
        return above, at_least

    def _weights(self, s: _Stratum, v: Floats) -> Floats:
        """Return weights that turn features of a stratum into such as they are at v, (v, n)."""
        T, d = np.concatenate(s.T), np.concatenate(s.direction, axis=1)
        A = (1.0 / self._a(v)) @ d**2
        logs = 0.5 * self.q * np.log(T) - 0.5 * (self.nu + self.q) * np.log1p(A * T)
        if not self.score.scale_free:
            W = np.concatenate(s.W)
            mixed = np.logaddexp.reduce([self._log_scale(W, share * T) for share in _SHARES])
            logs = logs + self._log_scale(W, A * T) - mixed + np.concatenate(s.log_weights)
        return np.asarray(np.exp(logs - logs.max(axis=1, keepdims=True)))

    def _log_scale(self, W: Floats, explained: Floats) -> Floats:
        """Return the log density of W = Y / (1 + explained), up to a constant."""
        prior = self.event.prior
        assert prior is not None
        drawn, n = prior.df * prior.scale, self.nu + self.q
        Y = W * (1.0 + explained)
        log_density = 0.5 * n * np.log(Y) - 0.5 * (n + prior.df) * np.log(drawn + Y)
        return np.asarray(log_density)

    def logs(self, v: Floats) -> Floats:
        """Return logs of P(at most at the cut) and P(below the cut), shape (v, 2)."""
        masses = self._masses(v)
        each = []
        for rates in self._rates(v):
            selected = np.sum(masses * rates.T, axis=1)
            omitted = np.sum(masses * (1.0 - rates.T), axis=1)
            with np.errstate(divide="ignore"):
                few = np.log1p(-np.minimum(selected, 0.5))
                each.append(np.where(selected < 0.5, few, np.log(omitted)))
        return np.stack(each, axis=1)

    def errors(self, v: Floats) -> Floats:
        """Return the standard errors of the first, shape (v,)."""
        masses, (n, above), variances = self._masses(v), self._counts(), np.zeros(v.size)
        for same in (above == 0, above == n):
            spread = np.sum(masses[:, same] ** 2 / n[same], axis=1)
            variances += 0.5 * (spread / np.maximum(masses[:, same].sum(axis=1), 1e-300)) ** 2
        for place, s in enumerate(self.strata):
            if 0 < s.n_above < s.n:
                variances += masses[:, place] ** 2 * self._variance(s, v)
        return np.asarray(np.sqrt(variances) / np.exp(self.logs(v)[:, 0]))
