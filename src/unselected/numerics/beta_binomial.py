"""The distribution of the counts of a binary feature: I0 and I1, or those of several classes.

I_g is the number of ones of a feature among the n_g cases of class g. Given theta and alpha the
counts are independent beta-binomials. Everything here is written in u = 1 / alpha, so that the
limit of unrelated features, alpha = infinity, is the ordinary point u = 0.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln, gammaln

from unselected._typing import Floats, Ints

# Elements of a table or an array that are processed at a time, to stay in the processor's cache.
_BLOCK = 1 << 16
# From here on Stirling's series is exact to rounding.
_LARGE_Z = 20.0
# Probabilities below exp(-_NEGLIGIBLE) of the largest are left out of a window, which is found on
# a grid of so many counts.
_NEGLIGIBLE, _GRID = 45.0, 65


def log_pmf_table(n_c: int, theta: Floats, u: float) -> Floats:
    """Return log P(I = i | theta, alpha = 1/u) for i = 0..n_c, one row per theta.

    The beta-binomial law of the paper's section 3.4, built from the ratios of neighbours

        P(i + 1) / P(i) = (n_c - i) (theta + i u) / ((i + 1) (1 - theta + (n_c - 1 - i) u))

    added up outwards from the mean, so that rounding errors are small where the probability is
    large. The table is then normalised by its sum. No gamma function is needed, and no size of
    alpha is special.

    >>> np.exp(log_pmf_table(2, np.array([0.5]), 0.0)).round(12).tolist()
    [[0.25, 0.5, 0.25]]
    """
    return _Steps.of(n_c, theta).tables(u)[0]


@dataclass(frozen=True)
class _Steps:
    """The terms of the ratios of neighbours, for some theta and any u."""

    theta: Floats
    one_less_theta: Floats
    up: Floats
    down: Floats
    orders: Floats
    above_mean: NDArray[np.bool_]

    @classmethod
    def of(cls, n_c: int, theta: Floats) -> "_Steps":
        i = np.arange(n_c, dtype=np.float64)
        theta = theta[:, np.newaxis]
        above_mean = i >= np.rint(n_c * theta)
        return cls(theta, 1.0 - theta, i, n_c - 1.0 - i, (n_c - i) / (i + 1.0), above_mean)

    def tables(self, u: float) -> tuple[Floats, Floats]:
        """Return log P(I = i) and P(I = i), one row per theta."""
        with np.errstate(divide="ignore"):  # theta may be 0 or 1
            ratio = self.theta + self.up * u
            ratio /= self.one_less_theta + self.down * u
            ratio *= self.orders
            log_ratio = np.log(ratio, out=ratio)
        table = np.zeros((self.theta.size, self.up.size + 1))
        np.cumsum(np.where(self.above_mean, log_ratio, 0.0), axis=1, out=table[:, 1:])
        downwards = np.where(self.above_mean, 0.0, log_ratio)[:, ::-1]
        table[:, :-1] -= np.cumsum(downwards, axis=1)[:, ::-1]
        pmf = np.exp(table)
        total = np.sum(pmf, axis=1, keepdims=True)
        table -= np.log(total)
        pmf /= total
        return table, pmf


def log_rising(theta: Floats, i: Ints, u: float) -> Floats:
    """Return the sum over j < i of log(theta + j u), for arrays that broadcast.

    With z = theta / u it is i log(u) + log Gamma(z + i) - log Gamma(z). Where z is large the
    difference is taken in Stirling's series, term by term, so that nothing cancels.

    >>> round(float(np.exp(log_rising(np.array(0.5), np.array(3), 0.25))), 12)  # 0.5 0.75 1
    0.375
    """
    if u == 0.0:
        return np.asarray(i * np.log(theta))
    z = theta / u
    small = z <= _LARGE_Z
    if small.all():
        return _log_rising_by_gamma(z, i, u)
    large = np.maximum(z, _LARGE_Z)
    logs = i * np.log(theta) + ((large + i - 0.5) * np.log1p(i / large) - i)
    logs += _stirling_rest(large + i) - _stirling_rest(large)
    if small.any():
        small, z, i = np.broadcast_arrays(small, z, i)
        logs[small] = _log_rising_by_gamma(z[small], i[small], u)
    return np.asarray(logs)


def _log_rising_by_gamma(z: Floats, i: Ints, u: float) -> Floats:
    return np.asarray(i * np.log(u) + gammaln(z + i) - gammaln(z))


def _stirling_rest(z: Floats) -> Floats:
    """Return what Stirling's formula lacks of log Gamma(z)."""
    s = (1.0 / z) ** 2
    return np.asarray((1 / 12 - s * (1 / 360 - s * (1 / 1260 - s / 1680))) / z)


def log_pmf(n_c: int, i: Ints, theta: Floats, u: float) -> Floats:
    """Return log P(I = i | theta, alpha = 1 / u), for arrays that broadcast.

    >>> np.exp(log_pmf(2, np.arange(3), np.array(0.5), 0.0)).round(12).tolist()
    [0.25, 0.5, 0.25]
    """
    log_orders = -betaln(n_c - i + 1.0, i + 1.0) - np.log(n_c + 1.0)
    rising = log_rising(theta, i, u) + log_rising(1.0 - theta, n_c - i, u)
    return np.asarray(log_orders + rising - log_rising(np.array(1.0), np.array(n_c), u))


def windows(n_c: int, theta: Floats, u: float) -> list[slice]:
    """Return, for each interval between neighbouring thetas, the counts that have a probability.

    P(I = i) is negligible outside for all thetas in the interval.

    >>> windows(1000, np.array([0.01, 0.02]), 0.0)
    [slice(0, 79, None)]
    """
    grid = np.unique(np.linspace(0, n_c, _GRID).astype(np.int64))
    theta = theta[:, np.newaxis]
    logs = log_pmf(n_c, grid, theta, u)
    modes = np.rint(n_c * theta).astype(np.int64)
    top = np.maximum(logs.max(axis=1, keepdims=True), log_pmf(n_c, modes, theta, u))
    live = logs > top - _NEGLIGIBLE
    means = np.searchsorted(grid, n_c * theta[:, 0])
    # A narrow distribution may lie between two counts of the grid.
    first = np.minimum(np.where(live.any(axis=1), live.argmax(axis=1), grid.size), means)
    last = np.maximum(np.where(live, np.arange(grid.size), 0).max(axis=1), means)
    low = grid[np.maximum(np.minimum(first[:-1], first[1:]) - 1, 0)]
    high = grid[np.minimum(np.maximum(last[:-1], last[1:]) + 1, grid.size - 1)] + 1
    return [slice(start, stop) for start, stop in zip(low.tolist(), high.tolist(), strict=True)]


def pmf_tables(n_c: int, theta: Floats, u: float, counts: slice) -> Floats:
    """Return P(I = i | theta, alpha = 1 / u) for counts in a window, one row per theta.

    The ratios of neighbours are multiplied up from the mean, without logarithms, and the rows
    normalised. The thetas are neighbours, so that their means are close to each other. What
    underflows is 0.

    >>> pmf_tables(2, np.array([0.5]), 0.0, slice(0, 3)).tolist()
    [[0.25, 0.5, 0.25]]
    """
    i = np.arange(counts.start, counts.stop - 1, dtype=np.float64)
    theta = theta[:, np.newaxis]
    ratio = theta + i * u
    ratio *= (n_c - i) / (i + 1.0)
    ratio /= (1.0 - theta) + (n_c - 1.0 - i) * u
    middle = min(max(round(n_c * float(theta.mean())) - counts.start, 0), i.size)
    pmf = np.empty((theta.size, i.size + 1))
    pmf[:, middle] = 1.0
    np.cumprod(ratio[:, middle:], axis=1, out=pmf[:, middle + 1 :])
    np.cumprod(1.0 / ratio[:, :middle][:, ::-1], axis=1, out=pmf[:, :middle][:, ::-1])
    pmf /= np.sum(pmf, axis=1, keepdims=True)
    return pmf


class PmfTables:
    """Tables of P(I | theta) on nodes of theta, for any class sizes.

    Laws of different class sizes can share them. Those of the last u are remembered where there are
    few cases.

    Parameters
    ----------
    theta : array
        It must be symmetric about 1/2: swapping zeros and ones of a feature maps the node theta to
        1 - theta and the count I to n - I, so that half of the tables are enough.
    n : int
        The largest number of cases of all classes together.
    """

    def __init__(self, theta: Floats, n: int) -> None:
        self._theta, n_half = theta, (theta.size + 1) // 2
        rows = max(1, _BLOCK // (n + 2))
        self._halves = [
            np.arange(start, min(start + rows, n_half)) for start in range(0, n_half, rows)
        ]
        twins = [theta.size - 1 - half for half in self._halves]
        self._n_twins = [int(np.count_nonzero(twin >= n_half)) for twin in twins]
        # The nodes of each block, and after them their mirror images.
        self.blocks = [
            np.concatenate([half, twin[twin >= n_half]])
            for half, twin in zip(self._halves, twins, strict=True)
        ]
        self._steps: dict[tuple[int, int], _Steps] = {}
        self._known: dict[int, tuple[Floats, Floats]] = {}
        self._u = np.nan

    def of(self, u: float, block: int, n_c: int) -> tuple[Floats, Floats]:
        """Return log P(I | theta) and P(I | theta) of n_c cases, for a block of nodes."""
        if len(self.blocks) > 1:
            return self._computed(u, block, n_c)
        if u != self._u:
            self._known, self._u = {}, u
        if n_c not in self._known:
            self._known[n_c] = self._computed(u, block, n_c)
        return self._known[n_c]

    def _computed(self, u: float, block: int, n_c: int) -> tuple[Floats, Floats]:
        key = block, n_c
        if key not in self._steps:
            self._steps[key] = _Steps.of(n_c, self._theta[self._halves[block]])
        return _with_twins(self._steps[key].tables(u), self._n_twins[block])


@dataclass(frozen=True)
class CountLaw:
    """The law of the counts for class sizes n_g, as an average over nodes of theta.

    ``theta`` must be symmetric about 1/2. ``shared`` tables are those of laws with the same nodes.
    """

    sizes: tuple[int, ...]
    theta: Floats
    weights: Floats
    shared: PmfTables | None = None

    @property
    def n0(self) -> int:
        """The number of cases of the first class."""
        return self.sizes[0]

    @property
    def n1(self) -> int:
        """The number of cases of the second class."""
        return self.sizes[1]

    @cached_property
    def tables(self) -> PmfTables:
        """The tables of the law."""
        return PmfTables(self.theta, sum(self.sizes)) if self.shared is None else self.shared

    def blocks(self, u: float) -> Iterator[tuple[Any, ...]]:
        """Yield nodes, and for each class log P(I_g | theta), in blocks of nodes."""
        for nodes, *tables in self.pmf_blocks(u):
            yield nodes, *(log for log, _ in tables)

    def pmf_blocks(self, u: float) -> Iterator[tuple[Any, ...]]:
        """Yield nodes, and for each class log P(I_g | theta) and P(I_g | theta)."""
        for block, nodes in enumerate(self.tables.blocks):
            known = {n: self.tables.of(u, block, n) for n in set(self.sizes)}
            yield nodes, *(known[n] for n in self.sizes)


def _with_twins(tables: tuple[Floats, Floats], n_twins: int) -> tuple[Floats, Floats]:
    """Return tables together with those of the mirror images of the first nodes."""
    log, pmf = (np.concatenate([table, table[:n_twins, ::-1]]) for table in tables)
    return log, pmf
