"""The log posterior of the labels of a two-component mixture, tabulated by counts.

Given labels, everything depends only on counts: a feature on its ones m1 and m2 among the N1 and N2
cases of the labels, the response and the event on the number of cases of each class with label 1.
These terms are computed when first needed, for blocks of nodes of alpha, and cached.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import betaln

from unselected._typing import Floats, Ints
from unselected.models.concentration import ConcentrationPrior
from unselected.numerics.quadrature import find_peaks, gauss_legendre, log_sum, theta_nodes
from unselected.omission.mixture import LabelledOmission, log_choose
from unselected.selection.events import Event

# Nodes of alpha that are computed together.
BLOCK = 16
# Largest number of doubles in the cache (half a gigabyte). Beyond it the cache is emptied.
_MOST_KEPT = 1 << 26
# Longest steps of the nodes; halving them changes nothing beyond rounding.
_LONGEST_STEP = 0.25
# Steps in widths of the narrowest peak: the trapezoid rule is then exact to 1e-13 or better.
_STEPS_PER_WIDTH = 2.0
# Logs this far below the largest are negligible.
_NOTHING = 45.0
# Stands for probabilities that underflow.
_LEAST = 1e-300


@dataclass(frozen=True, eq=False)
class AlphaGrid:
    """Equidistant nodes of v, where log(1/alpha) = v - exp(-v) - log(n); see `concentration`.

    A trapezoid rule on them integrates the prior, its tail included, times any likelihood that
    varies no faster than the steps.

    Attributes
    ----------
    log_u : array of shape (nodes,)
        log(1 / alpha).
    log_prior : array of shape (nodes,)
        Log of the prior's density times the step.
    """

    log_u: Floats
    log_prior: Floats

    @classmethod
    def over(
        cls, prior: ConcentrationPrior, n: int, n_features: int, *, high: float, step: float
    ) -> "AlphaGrid":
        """Place nodes over all alpha that the prior allows, up to log(n / alpha) = ``high``.

        ``n_features`` includes the omitted features: together they can distinguish a huge alpha
        from infinity.
        """
        low = _least_v(prior, n, n_features)
        v = low + step * np.arange(np.ceil((high - low) / step) + 1)
        log_n = float(np.log(n))
        log_prior = prior.log_prior(v, log_n) + np.log(step)
        return cls(np.asarray(v - np.exp(-v) - log_n), log_prior)

    @property
    def size(self) -> int:
        """The number of nodes."""
        return int(self.log_u.size)

    def alpha(self, nodes: Ints | int) -> Floats:
        """Return the concentrations at some nodes."""
        return np.exp(np.minimum(-self.log_u[nodes], 700.0))


def _least_v(prior: ConcentrationPrior, n: int, n_features: int) -> float:
    """Return a v below which only the prior's power of u is left, with negligible mass."""
    log_n = np.log(n)
    log_rate = np.log(prior.b + n_features * np.exp(2.0 * log_n))
    decay = max(0.0, log_rate - log_n - np.log(prior.a)) + 100.0 / prior.a + 1.0
    return float(np.floor(-np.log(decay)))


def grid_for(
    prior: ConcentrationPrior,
    n: int,
    n_kept: int,
    n_features: int,
    log_likelihood: Callable[[Floats], Floats],
    refinement: int = 1,
) -> AlphaGrid:
    """Place nodes so close that a trapezoid rule integrates over alpha for any labels.

    Parameters
    ----------
    log_likelihood : callable
        At an array of log u, given labels that explain the data well. It bounds the range of alpha
        and the width of the event's peak. Kept features make no peak narrower than
        1 / sqrt(n_kept + 1), because a feature has two rates that depend on alpha.
    """
    log_n = float(np.log(n))
    far = float(np.log((n_kept * n * np.log(2.0) + _NOTHING) / prior.b) + log_n) + 1.0

    def log_density(v: Floats) -> Floats:
        return np.asarray(prior.log_prior(v, log_n) + log_likelihood(v - np.exp(-v) - log_n))

    peaks, _ = find_peaks(log_density, _least_v(prior, n, n_features), far)
    least = max(peak.height for peak in peaks) - n * np.log(2.0) - _NOTHING
    high = max(peak.place for peak in peaks) + 1.0
    while prior.log_prior(np.array(high), log_n) > least:
        high += 0.5
    width = min(1.0 / np.sqrt(n_kept + 1.0), *(peak.width for peak in peaks))
    step = min(_LONGEST_STEP, width / _STEPS_PER_WIDTH) / refinement
    return AlphaGrid.over(prior, n, n_features, high=high, step=step)


class ThetaSums:
    """Products over the cases of a label, given theta, for several alpha at once.

    Given theta and u = 1 / alpha, values in their order with m ones among N cases have probability

        prod_{r < m} (theta + r u) prod_{r < N - m} (1 - theta + r u) / prod_{r < N} (1 + r u).

    The logs of these products are cached: each log probability is a sum of three of them.
    """

    def __init__(self, n: int, log_u: Floats) -> None:
        self.theta, self.weights = gauss_legendre(theta_nodes(n))
        steps = np.exp(log_u)[:, np.newaxis] * np.arange(n)
        shape = (log_u.size, self.theta.size, n + 1)
        self.ones, self.total = np.zeros(shape), np.zeros((log_u.size, n + 1))
        np.cumsum(
            np.log(self.theta[:, np.newaxis] + steps[:, np.newaxis]), axis=2, out=self.ones[..., 1:]
        )
        np.cumsum(np.log1p(steps), axis=1, out=self.total[:, 1:])
        self.zeros = self.ones[:, ::-1]  # the nodes are symmetric about 1/2

    def pmf(self, N: int) -> Floats:
        """Return P(m ones among N cases | theta), shape (alphas, nodes of theta, N + 1)."""
        logs = self.ones[..., : N + 1] + self.zeros[..., N::-1]
        logs += log_choose(N) - self.total[:, N, np.newaxis, np.newaxis]
        return np.exp(logs, out=logs)

    def law(self, N1: int, N2: int) -> Floats:
        """Return P(m1, m2), shape (alphas, (N1 + 1) (N2 + 1))."""
        weighted = self.pmf(N1) * self.weights[:, np.newaxis]
        return (weighted.transpose(0, 2, 1) @ self.pmf(N2)).reshape(len(weighted), -1)

    def mean_theta(self, at: int, ones: Ints, N: Ints) -> Floats:
        """Return E[theta | m1, m2] at one of the alphas, for ``ones`` of shape (2, k)."""
        logs = sum(
            self.ones[at][:, m] + self.zeros[at][:, n_cases - m]
            for m, n_cases in zip(ones, N, strict=True)
        )
        terms = np.exp(logs - np.max(logs, axis=0, initial=-np.inf)) * self.weights[:, np.newaxis]
        return np.asarray(self.theta @ terms / terms.sum(axis=0))


class FeatureTables:
    """log P(a feature's values in their order | alpha, labels), by node of alpha and counts.

    The table of a node and of N1 cases with label 1 is ``pool[offset[node, N1]:]``, in which the
    feature with m1 and m2 ones is at m1 (N2 + 1) + m2. An offset of -1 means that the table is not
    computed yet.
    """

    def __init__(self, n: int, grid: AlphaGrid) -> None:
        self.n, self.grid = n, grid
        self.pool: Floats = np.empty(1 << 16)
        self.offset: Ints = np.full((grid.size, n + 1), -1, dtype=np.int64)
        self._used = 0
        self._laws: dict[tuple[int, int], Floats] = {}
        self._kept = 0
        self._sums: dict[int, ThetaSums] = {}

    def need(self, block: int, N1: int) -> None:
        """Compute the tables of a block of nodes for N1 cases with label 1, if not cached."""
        first = block * BLOCK
        if self.offset[first, N1] < 0:
            orders = np.add.outer(log_choose(N1), log_choose(self.n - N1)).ravel()
            logs = np.log(np.maximum(self.law(block, N1), _LEAST)) - orders
            start = self._room(logs.size)
            self.pool[start : start + logs.size] = logs.ravel()
            places = start + logs.shape[1] * np.arange(len(logs))
            self.offset[first : first + len(logs), N1] = places

    def law(self, block: int, N1: int) -> Floats:
        """Return P(m1, m2 | alpha) for a block of nodes, shape (nodes, (N1 + 1) (N2 + 1))."""
        if (block, N1) not in self._laws:
            if self._kept > _MOST_KEPT:
                self._laws.clear()
                self._kept = 0
            self._laws[block, N1] = law = self._sums_of(block).law(N1, self.n - N1)
            self._kept += law.size
        return self._laws[block, N1]

    def _sums_of(self, block: int) -> ThetaSums:
        if block not in self._sums:
            nodes = slice(block * BLOCK, (block + 1) * BLOCK)
            self._sums[block] = ThetaSums(self.n, self.grid.log_u[nodes])
        return self._sums[block]

    def _room(self, size: int) -> int:
        """Return an offset in the pool for tables of this size."""
        if self._used + size > _MOST_KEPT:
            self.offset[:], self._used = -1, 0
        if self._used + size > self.pool.size:
            larger = np.empty(max(4 * self.pool.size, self._used + size))
            larger[: self._used] = self.pool[: self._used]
            self.pool = larger
        start, self._used = self._used, self._used + size
        return start

    def log_rates(self, node: int, ones: Ints, N: Ints) -> tuple[Floats, Floats]:
        """Return log P(x* = 1) and log P(x* = 0) in each label, shape (2, k).

        ``ones`` of shape (2, k) are the ones of each feature in each label, ``N`` the cases.
        """
        block, at = divmod(node, BLOCK)
        u = float(np.exp(self.grid.log_u[node]))
        theta = self._sums_of(block).mean_theta(at, ones, N)
        n_cases = N[:, np.newaxis]
        log_total = np.log1p(n_cases * u)
        log_one = np.log(theta + ones * u) - log_total
        return log_one, np.log((1.0 - theta) + (n_cases - ones) * u) - log_total


class ResponseTables:
    """P(responses | labels), and the rates of the two labels, with alpha0 integrated out.

    All arrays are by the number of cases of class 0, and of class 1, that have label 1.

    Attributes
    ----------
    grid : AlphaGrid
        Of alpha0.
    log_labels : array of shape (n0 + 1, n1 + 1)
        log P(labels, responses), the mixing weight integrated out.
    log_terms : array of shape (nodes, n0 + 1, n1 + 1)
        Log of the posterior weights of the nodes of alpha0.
    rate : array of shape (2, n0 + 1, n1 + 1)
        P(y* = 1 | label), of label 0 and of label 1.
    """

    def __init__(self, n0: int, n1: int, prior: ConcentrationPrior, refinement: int = 1) -> None:
        n = n0 + n1
        high = float(np.log((n * np.log(2.0) + _NOTHING) / prior.b) + np.log(n)) + 1.0
        step = _LONGEST_STEP / refinement
        self.grid = AlphaGrid.over(prior, n, 1, high=high, step=step)
        sums = ThetaSums(n, self.grid.log_u)
        a, b = np.arange(n0 + 1), np.arange(n1 + 1)
        N1 = np.add.outer(a, b)
        log_zeros = sums.zeros[..., a] + sums.zeros[..., n0 - a]
        log_ones = sums.ones[..., b] + sums.ones[..., n1 - b]
        # Scaled, because the probability of many cases in their order underflows.
        tops = [np.max(logs, axis=1, keepdims=True) for logs in (log_zeros, log_ones)]
        zeros, ones = np.exp(log_zeros - tops[0]), np.exp(log_ones - tops[1])
        zeros *= sums.weights[:, np.newaxis]
        plain = zeros.transpose(0, 2, 1) @ ones
        theta = (zeros * sums.theta[:, np.newaxis]).transpose(0, 2, 1) @ ones / plain
        logs = np.log(plain) + tops[0].transpose(0, 2, 1) + tops[1]
        logs += self.grid.log_prior[:, np.newaxis, np.newaxis]
        logs -= sums.total[:, N1] + sums.total[:, n - N1]
        log_responses = log_sum(logs, axis=0)
        self.log_labels = log_responses + betaln(N1 + 1.0, n - N1 + 1.0)
        self.log_terms = logs - log_responses
        u = np.exp(self.grid.log_u)[:, np.newaxis, np.newaxis]
        rates = [(theta + (n1 - b) * u) / (1.0 + (n - N1) * u), (theta + b * u) / (1.0 + N1 * u)]
        weights = np.exp(self.log_terms)
        self.rate = np.stack([np.sum(weights * rate, axis=0) for rate in rates])


class EventTables:
    """log P(event | alpha, labels), by node of alpha and by the counts of classes in label 1."""

    def __init__(
        self, event: Event, n0: int, n1: int, features: FeatureTables, kernels: Any = None
    ) -> None:
        self.event, self.n0, self.n1, self.features = event, n0, n1, features
        self.omission = None if event.cut is None else LabelledOmission(event, n0, n1, kernels)
        self._blocks: dict[int, Floats] = {}
        self._at_most: dict[int, Floats] = {}

    def of_block(self, block: int) -> Floats:
        """Return the logs for a block of nodes, (BLOCK, n0 + 1, n1 + 1); NaN: not computed yet."""
        if block not in self._blocks:
            shape = (BLOCK, self.n0 + 1, self.n1 + 1)
            self._blocks[block] = np.full(shape, 0.0 if self.event.n_omitted == 0 else np.nan)
            self._at_most[block] = np.full(shape, 0.0 if self.omission is None else np.nan)
        return self._blocks[block]

    def need(self, block: int, a: int, b: int) -> None:
        """Compute the logs of a block for these counts, if not cached."""
        if np.isnan(self.of_block(block)[0, a, b]):
            self._compute(block, a, b)

    def _compute(self, block: int, a: int, b: int) -> None:
        if self.omission is None:
            raise ValueError(f"{self.event.n_omitted} features are omitted, but there is no cut")
        log_event, log_at_most = self.omission.logs(a, b, self.features.law(block, a + b))
        nodes = slice(log_event.size)
        for place in ((a, b), (self.n0 - a, self.n1 - b)):  # the same with the labels swapped
            self.of_block(block)[nodes, *place] = log_event
            self._at_most[block][nodes, *place] = log_at_most

    def log_at_most(self, node: int, a: int, b: int) -> float:
        """Return the log probability that a feature is at most at the cut; 0 without one."""
        block, at = divmod(node, BLOCK)
        self.of_block(block)
        if np.isnan(self._at_most[block][0, a, b]):
            self._compute(block, a, b)
        return float(self._at_most[block][at, a, b])
