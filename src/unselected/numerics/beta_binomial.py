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
from scipy.special import betaln, gammaln, xlogy

from unselected._typing import Floats, Ints

# Elements of a table or an array that are processed at a time, to stay in the processor's cache.
_BLOCK = 1 << 16
# Elements of tables at several values of u, which several arrays of this size are computed from.
_TOGETHER = 1 << 14
# From here on Stirling's series is exact to rounding.
_LARGE_Z = 20.0
# Probabilities below exp(-45) are left out of a window, unless more may be.
_NEGLIGIBLE = 45.0


def theta_functions(theta: Floats, n_draws: int) -> Floats:
    """Return theta, and for two draws also theta (1 - theta), along a new first axis.

    Their means given the counts are what the probabilities of so many further draws depend on.
    """
    return np.stack([theta, theta * (1.0 - theta)][:n_draws])


def log_further_draws(means: Floats, ones: Ints, n: Ints | int, u: float | Floats) -> Floats:
    """Return log P(0, 1, ... of further draws of a class are ones | counts).

    Given theta, the rate is Beta(alpha theta + I, alpha (1 - theta) + n - I). With alpha = 1 / u
    one further draw is a one with probability (theta + I u) / (1 + n u), averaged over theta. Two
    are both ones with probability

        (theta + I u) (theta + (I + 1) u) / ((1 + n u) (1 + (n + 1) u)),

    and likewise for one of them or none.

    Parameters
    ----------
    means : array of shape (draws, ...)
        Of `theta_functions` given the counts.
    ones, n : arrays of int
        I and n of a class; they broadcast with the means.
    u : float or array

    Returns
    -------
    logs : array of shape (draws + 1, ...)

    Examples
    --------
    >>> half = theta_functions(np.array(0.5), 2)
    >>> np.exp(log_further_draws(half, np.array(3), np.array(4), 0.0)).round(12).tolist()
    [0.25, 0.5, 0.25]
    """
    theta, zeros = means[0], n - ones
    log_total = np.log1p(n * u)
    if len(means) == 1:
        one, zero = theta + ones * u, (1.0 - theta) + zeros * u
        return np.stack([np.log(zero) - log_total, np.log(one) - log_total])
    both = means[1]  # E[theta (1 - theta)], so that nothing cancels in the squares
    two = (theta - both) + (2 * ones + 1) * u * theta + ones * (ones + 1) * u**2
    none = ((1.0 - theta) - both) + (2 * zeros + 1) * u * (1.0 - theta)
    none = none + zeros * (zeros + 1) * u**2
    mixed = 2.0 * (both + u * (zeros * theta + ones * (1.0 - theta)) + ones * zeros * u**2)
    log_total = log_total + np.log1p((n + 1) * u)
    return np.stack([np.log(each) - log_total for each in (none, mixed, two)])


def log_null_draws(ones: Ints, n: Ints | int, ploidy: int) -> Floats:
    """Return log P(0, 1, ... of further draws are ones) of unrelated features, (values, vectors).

    All draws have one rate, which is Beta(1, 1) before them: theta = 1 / 2 and alpha = 2.
    """
    uniform = theta_functions(np.array(0.5), ploidy)
    return log_further_draws(uniform.reshape(-1, 1), ones, n, 0.5)


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

    def tables(self, u: float | Floats) -> tuple[Floats, Floats]:
        """Return log P(I = i) and P(I = i), one row per theta.

        An array of u has two more axes of 1; its first axis is then that of the tables.
        """
        with np.errstate(divide="ignore"):  # theta may be 0 or 1
            ratio = self.theta + self.up * u
            ratio /= self.one_less_theta + self.down * u
            ratio *= self.orders
            log_ratio = np.log(ratio, out=ratio)
        table = np.zeros((*ratio.shape[:-1], self.up.size + 1))
        np.cumsum(np.where(self.above_mean, log_ratio, 0.0), axis=-1, out=table[..., 1:])
        downwards = np.where(self.above_mean, 0.0, log_ratio)[..., ::-1]
        table[..., :-1] -= np.cumsum(downwards, axis=-1)[..., ::-1]
        pmf = np.exp(table)
        total = np.sum(pmf, axis=-1, keepdims=True)
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
    end = np.asarray(large + i, dtype=np.float64)
    logs = (end - 0.5) * np.log1p(i / large)
    logs += i * (np.log(theta) - 1.0)
    logs += _stirling_rest(end) - _stirling_rest(large)
    if small.any():
        z, i, small = np.broadcast_arrays(z, i, small)
        logs[small] = _log_rising_by_gamma(z[small], i[small], u)
    return np.asarray(logs)


def _log_rising_by_gamma(z: Floats, i: Ints, u: float) -> Floats:
    return np.asarray(i * np.log(u) + gammaln(z + i) - gammaln(z))


def _stirling_rest(z: Floats) -> Floats:
    """Return what Stirling's formula lacks of log Gamma(z)."""
    inverse = 1.0 / z
    s = inverse * inverse
    rest = s * (-1 / 1680)
    for coefficient in (1 / 1260, -1 / 360, 1 / 12):  # in place: these arrays are large
        rest += coefficient
        rest *= s if coefficient < 1 / 12 else inverse
    return np.asarray(rest)


def log_binomial(n: int | Ints, i: Ints) -> Floats:
    """Return the log of the number of orders of i ones among n cases."""
    return np.asarray(-betaln(n - i + 1.0, i + 1.0) - np.log(n + 1.0))


def log_orders_and_best(n: Ints, ones: Ints) -> tuple[Floats, Floats]:
    """Return logs of the numbers of orders of vectors of counts, and bounds of one order's log P.

    A bound is the probability at the rates that are observed. The counts have the shape
    (classes, vectors).
    """
    zeros, safe = n - ones, np.maximum(n, 1)
    best = xlogy(ones, ones / safe) + xlogy(zeros, zeros / safe)
    return log_binomial(n, ones).sum(axis=0), best.sum(axis=0)


def log_pmf(n_c: int, i: Ints, theta: Floats, u: float) -> Floats:
    """Return log P(I = i | theta, alpha = 1 / u), for arrays that broadcast.

    >>> np.exp(log_pmf(2, np.arange(3), np.array(0.5), 0.0)).round(12).tolist()
    [0.25, 0.5, 0.25]
    """
    rising = log_rising(theta, i, u) + log_rising(1.0 - theta, n_c - i, u)
    return np.asarray(log_binomial(n_c, i) + rising - log_rising(np.array(1.0), np.array(n_c), u))


def windows(n_c: int, theta: Floats, u: float, negligible: float = _NEGLIGIBLE) -> list[slice]:
    """Return, for each interval between neighbouring thetas, the counts that have a probability.

    P(I outside) is below 2 exp(-negligible) for all thetas in the interval: a binomial count less
    its mean is sub-Gaussian with variance n / 4 at most, and a beta variable with
    1 / (4 (alpha + 1)), so that I is with the sum of n / 4 and n^2 / (4 (alpha + 1)).

    >>> windows(1000, np.array([0.01, 0.02]), 0.0)
    [slice(0, 171, None)]
    """
    variance = 0.25 * n_c * (1.0 + n_c * (u / (1.0 + u)))
    far = np.sqrt(2.0 * negligible * variance)
    low = np.maximum(np.floor(n_c * theta[:-1] - far), 0.0).astype(np.int64)
    high = np.minimum(np.ceil(n_c * theta[1:] + far), n_c).astype(np.int64) + 1
    return [slice(start, stop) for start, stop in zip(low.tolist(), high.tolist(), strict=True)]


def pmf_tables(n_c: int, theta: Floats, u: float, counts: slice) -> Floats:
    """Return P(I = i | theta, alpha = 1 / u) for counts in a window, one row per theta.

    See `scaled_pmf_tables`.

    >>> pmf_tables(2, np.array([0.5]), 0.0, slice(0, 3)).tolist()
    [[0.25, 0.5, 0.25]]
    """
    pmf = scaled_pmf_tables(n_c, theta, u, counts)
    pmf /= np.sum(pmf, axis=1, keepdims=True)
    return pmf


def scaled_pmf_tables(n_c: int, theta: Floats, u: float, counts: slice) -> Floats:
    """Return the same, where each row has a factor of its own.

    The ratios of neighbours are multiplied up from the mean, without logarithms. The thetas are
    neighbours, so that their means are close to each other. What underflows is 0.

    >>> scaled_pmf_tables(2, np.array([0.5]), 0.0, slice(0, 3)).tolist()
    [[0.5, 1.0, 0.5]]
    """
    i = np.arange(counts.start, counts.stop - 1, dtype=np.float64)
    theta = theta[:, np.newaxis]
    up = theta + i * u
    up *= (n_c - i) / (i + 1.0)
    down = (1.0 - theta) + (n_c - 1.0 - i) * u
    middle = round(n_c * float(theta[theta.size // 2, 0])) - counts.start
    middle = min(max(middle, 0), i.size)
    pmf = np.empty((theta.size, i.size + 1))
    pmf[:, middle] = 1.0
    upwards, downwards = up[:, middle:], down[:, :middle][:, ::-1]
    upwards /= down[:, middle:]
    downwards /= up[:, :middle][:, ::-1]
    np.cumprod(upwards, axis=1, out=pmf[:, middle + 1 :])
    np.cumprod(downwards, axis=1, out=pmf[:, :middle][:, ::-1])
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
        rows, self._size = max(1, _BLOCK // (n + 2)), n_half * (n + 2)
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

    @property
    def n_together(self) -> int:
        """At how many values of u the tables of all nodes stay in the processor's cache; or 0."""
        return _TOGETHER // self._size if len(self.blocks) == 1 else 0

    def together(self, u: tuple[float, ...], n_c: int) -> tuple[Floats, Floats]:
        """Return the same at some values of u, the first axis, where there is one block."""
        return self._computed(np.array(u)[:, np.newaxis, np.newaxis], 0, n_c)

    def _computed(self, u: float | Floats, block: int, n_c: int) -> tuple[Floats, Floats]:
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
    log, pmf = (np.concatenate([table, table[..., :n_twins, ::-1]], axis=-2) for table in tables)
    return log, pmf
