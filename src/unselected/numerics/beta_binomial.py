"""The distribution of the counts (I0, I1) of a binary feature.

I0 and I1 are the numbers of ones of a feature among the n0 cases of class 0 and the n1 cases of
class 1. Given theta and alpha they are independent beta-binomials. Everything here is written in
u = 1 / alpha, so that the limit of unrelated features, alpha = infinity, is the ordinary point
u = 0.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from unselected._typing import Floats, Ints

# Elements of a table or an array that are processed at a time, to stay in the processor's cache.
_BLOCK = 1 << 16


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


@dataclass(frozen=True)
class CountLaw:
    """The law of (I0, I1) for n0 and n1 cases, as an average over nodes of theta.

    ``theta`` must be symmetric about 1/2: swapping zeros and ones of a feature maps the node
    theta to 1 - theta and the count I to n - I, so that half of the tables are enough.
    """

    n0: int
    n1: int
    theta: Floats
    weights: Floats

    def blocks(self, u: float) -> Iterator[tuple[Ints, Floats, Floats]]:
        """Yield (nodes, log P(I0 | theta), log P(I1 | theta)) for blocks of nodes."""
        for nodes, (log_p0, _), (log_p1, _) in self.pmf_blocks(u):
            yield nodes, log_p0, log_p1

    def pmf_blocks(
        self, u: float
    ) -> Iterator[tuple[Ints, tuple[Floats, Floats], tuple[Floats, Floats]]]:
        """Yield nodes, and for each class log P(I | theta) and P(I | theta), in blocks of nodes."""
        for nodes, n_twins, steps in self._steps:
            of_class = [_with_twins(steps_of.tables(u), n_twins) for steps_of in steps]
            yield nodes, of_class[0], of_class[-1]

    @cached_property
    def _steps(self) -> list[tuple[Ints, int, list[_Steps]]]:
        """Blocks of nodes, the number of mirror images that come with them, and their steps."""
        n_nodes = self.theta.size
        n_half = (n_nodes + 1) // 2
        sizes = [self.n0] if self.n0 == self.n1 else [self.n0, self.n1]
        rows = max(1, _BLOCK // (self.n0 + self.n1 + 2))
        blocks = []
        for start in range(0, n_half, rows):
            nodes = np.arange(start, min(start + rows, n_half))
            twins = n_nodes - 1 - nodes
            twins = twins[twins >= n_half]
            steps = [_Steps.of(n_c, self.theta[nodes]) for n_c in sizes]
            blocks.append((np.concatenate([nodes, twins]), twins.size, steps))
        return blocks


def _with_twins(tables: tuple[Floats, Floats], n_twins: int) -> tuple[Floats, Floats]:
    """Return tables together with those of the mirror images of the first nodes."""
    log, pmf = (np.concatenate([table, table[:n_twins, ::-1]]) for table in tables)
    return log, pmf
