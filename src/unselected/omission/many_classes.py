"""The omission probability of a binary feature in more classes than can be enumerated.

Given its total m,

    P(omitted | m) = integral over theta of P(omitted | m, theta) P(theta | m).

P(omitted | m, theta) is a smooth function of logit(theta): for unrelated features it does not
depend on theta at all. It is interpolated between a few nodes, those of Gauss's rule for
P(theta | m), averaged over a block of totals. At a node it is a ratio of two probabilities. Given
m, it does not change when all P(I | theta) are multiplied by exp(t I); t is chosen so that the mean
of m is in the middle of the block.

The numerator is a sum over vectors of counts. `count_transform` gives it where the score has few
values, as in classes of equal sizes; `count_pairs` where there are few vectors near the middle of a
block, as in a few classes of hundreds of cases, or eight of some fifty. Where both are too many,
the transform smooths the sums. Features with few ones, or few zeros, then have few vectors of
counts, and these are summed one by one.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft
from scipy.special import expit, logit

from unselected._typing import Floats, Ints
from unselected.columns.blocks import in_threads
from unselected.numerics.beta_binomial import log_pmf_table
from unselected.numerics.beta_binomial_integral import EXACT, Accuracy, n_nodes
from unselected.numerics.quadrature import gauss_legendre, gauss_rule
from unselected.omission.count_plan import Plan, Sums
from unselected.omission.count_tables import Omission
from unselected.omission.count_transform import typical_error
from unselected.omission.differences import Difference, Differences
from unselected.omission.several_classes import SeveralClasses

# Nodes of theta for a block: some, and more for each standard deviation of logit(theta). Fewer are
# enough for few digits, and for the small differences between exact and smoothed sums.
_USUAL, _MOST_NODES = (4.0, 36.0), 24
_ROUGH, _OF_DIFFERENCES = (2.0, 8.0), (-2.0, 26.0)
_FINER = 2
# More frequencies leave an error of at most about this part of the difference that they make.
_OF_ERROR = 0.25
# Where n / alpha is below this, nothing depends on theta; up to 1 fewer nodes are enough.
_UNRELATED = 1e-10
# Parts of P(theta | m) that are left out.
_NEGLIGIBLE = 1e-13
# Numbers of the table P(m | theta) that are computed at a time.
_BLOCK = 1 << 20


@dataclass(frozen=True, eq=False)
class _Given:
    """P(at most at the cut), P(at the cut) and the error of the first, given totals (m,)."""

    at_most: Floats
    at_cut: Floats
    error: Floats


class ManyClasses:
    """The omission probabilities of features with these numbers of known values.

    Parameters
    ----------
    sizes : tuple of int
    cut : Fraction
        A bound on R^2.
    refinement : int
        How many times finer than necessary the rules for theta are.
    by_total : bool
        Whether there is a probability for each total, 0 to n, or one for all.
    share : float, default=1.0
        The part of the work that is allowed for these sizes.
    most_frequencies : int, default=None
        Where it is given, the law is smoothed with so many, whatever the work.
    """

    def __init__(
        self,
        sizes: tuple[int, ...],
        cut: Fraction,
        refinement: int,
        *,
        by_total: bool,
        share: float = 1.0,
        most_frequencies: int | None = None,
    ) -> None:
        self._sizes, self._cut, self._refinement = sizes, cut, refinement
        self._by_total, self._n = by_total, sum(sizes)
        plan, self._few = Plan(sizes, cut, share), 0
        most = plan.n_frequencies if most_frequencies is None else most_frequencies
        self._rough = plan.transforms(min(most, plan.n_rough_frequencies))
        self._blocks: Sequence[Sums] = plan.transforms(most)
        self._finer: list[list[Sums]] = []
        if most_frequencies is None and plan.sums_pairs:
            self._blocks = plan.pairs
        elif not self.is_exact:
            self._few = plan.n_few
            self._blocks = plan.transforms(most, self._few + 1)
            if most_frequencies is None:
                self._finer = plan.finer(self._blocks)

    @property
    def is_exact(self) -> bool:
        """Whether nothing is smoothed."""
        return all(each.is_exact for each in self._blocks)

    @cached_property
    def _differences(self) -> Differences:
        return Differences(self._n / len(self._sizes), self._difference)

    @cached_property
    def _rare(self) -> SeveralClasses:
        parts = (self._sizes, self._cut, self._refinement)
        return SeveralClasses(*parts, by_total=True, most=self._few)

    def at(self, u: float, accuracy: Accuracy = EXACT) -> Omission:
        """Return the omission probabilities at alpha = 1 / u."""
        exactly = accuracy.per_root == EXACT.per_root
        rule = _ThetaRule.of(self._sizes, u, accuracy, self._refinement)
        blocks = self._blocks if exactly else self._rough

        def work(some: slice) -> _Given:
            return self._given(blocks[some.start], rule, rough=not exactly)

        parts = list(in_threads(work, [slice(i, i + 1) for i in range(len(blocks))]))
        at_most, at_cut, error = (
            np.concatenate([getattr(part, name) for part in parts])
            for name in ("at_most", "at_cut", "error")
        )
        if exactly and self._finer:
            found = self._differences.at(u, 1.0 - at_most)
            at_most, error = at_most + found.value, found.error
        sums = np.stack([at_most - at_cut, at_cut, 1.0 - at_most])
        before = np.array([[1.0], [0.0], [0.0]] if self._cut > 0 else [[0.0], [1.0], [0.0]])
        if exactly and self._few:
            before = self._rare.rare(u, accuracy)
        sums = np.maximum(np.concatenate([before, sums], axis=1), 0.0)
        error = np.concatenate([np.zeros(before.shape[1]), error])
        told = self._told(sums, error, rule.totals)
        if not all(each.is_exact for each in blocks):
            # Ties are not told from others close to the cut. A feature that is known to be one is
            # taken to be at most at the cut.
            told = replace(told, log_at_cut=told.log_at_most)
        return told if self._by_total else told.of_one()

    def _told(self, sums: Floats, error: Floats, totals: Floats) -> Omission:
        """Return the probabilities given totals up to n / 2, those above being the same.

        Where totals are not told apart, they have an axis with one element.
        """
        mirrored = np.arange(self._n - self._n // 2)[::-1]
        every = np.concatenate([np.arange(self._n // 2 + 1), mirrored])
        sums, totals = sums[:, every], totals[every]
        if self._by_total:
            return replace(Omission.of_sums(sums, np.log(totals)), error=error[every])
        overall = (sums * totals).sum(axis=1, keepdims=True)
        # A total and its mirror image have the same error, others independent ones.
        each = np.where(every == self._n - every, 1.0, 2.0) * error[every] * totals
        spread = np.sqrt(np.sum(each[: self._n // 2 + 1] ** 2))
        return replace(Omission.of_sums(overall, np.zeros(1)), error=np.array([spread]))

    def _given(self, sums: Sums, rule: "_ThetaRule", *, rough: bool) -> _Given:
        """Return the probabilities given the totals of a block."""
        block = sums.block
        nodes, weights = rule.nodes_for(block.totals, _ROUGH if rough else _USUAL)
        tilted = _Tilted.of(self._sizes, nodes, rule.u, float(np.mean(block.totals)))
        part = sums.omitted(tilted.pmfs)
        total = tilted.of_totals(block.totals)
        at_most, at_cut, difference = (
            np.einsum("im,im->m", weights, each / total)
            for each in (part.at_most, part.at_cut, part.difference)
        )
        return _Given(at_most, at_cut, typical_error(difference))

    def _difference(self, u: float) -> tuple[Floats, Difference]:
        """Return P(selected), smoothed, and what finer sums add to P(omitted), given totals."""
        rule, parts = _ThetaRule.of(self._sizes, u, EXACT, self._refinement), []
        for sums, finer in zip(self._blocks, self._finer, strict=True):
            totals = sums.block.totals
            nodes, weights = rule.nodes_for(totals, _OF_DIFFERENCES)
            tilted = _Tilted.of(self._sizes, nodes, u, float(np.mean(totals)))
            weights = weights / tilted.of_totals(totals)
            smoothed, stop = sums.omitted(tilted.pmfs).at_most, 0
            for each in finer:
                start, stop = stop, stop + each.block.totals.size
                part, own = each.omitted(tilted.pmfs), weights[:, start:stop]
                about, exact, doubt = (
                    np.einsum("im,im->m", own, few)
                    for few in (smoothed[:, start:stop], part.at_most, part.difference)
                )
                value, error = exact - about, np.zeros(exact.size)
                if not each.is_exact:
                    error = np.maximum(typical_error(doubt), typical_error(value) * _OF_ERROR)
                parts.append((1.0 - about, value, error))
        selected, value, error = map(np.concatenate, zip(*parts, strict=True))
        return selected, Difference(value, error)


@dataclass(frozen=True, eq=False)
class _ThetaRule:
    """Nodes of theta, and P(m | theta) of the totals up to n / 2 there, shape (nodes, m)."""

    sizes: tuple[int, ...]
    u: float
    theta: Floats
    weights: Floats
    given_theta: Floats
    refinement: int

    @classmethod
    def of(
        cls, sizes: tuple[int, ...], u: float, accuracy: Accuracy, refinement: int
    ) -> "_ThetaRule":
        theta, weights = gauss_legendre(n_nodes(sizes, u, accuracy.per_root) * refinement)
        n = sum(sizes)
        table = np.empty((theta.size, n // 2 + 1))
        rows = max(1, _BLOCK // n)
        for start in range(0, theta.size, rows):
            some = slice(start, start + rows)
            pmfs = {k: np.exp(log_pmf_table(k, theta[some], u)) for k in set(sizes)}
            table[some] = _law_of_total(sizes, pmfs)[:, : n // 2 + 1]
        return cls(sizes, u, theta, weights, table, refinement)

    @cached_property
    def totals(self) -> Floats:
        """P(m) of the totals up to n / 2."""
        return np.asarray(self.weights @ self.given_theta)

    def nodes_for(self, totals: Ints, number: tuple[float, float]) -> tuple[Floats, Floats]:
        """Return few nodes of theta for some totals, and their weights given each, (nodes, m).

        ``number`` says how many: some, and more for each standard deviation.
        """
        density = self.given_theta[:, totals] / self.totals[totals]
        density = np.where(density < _NEGLIGIBLE * density.max(), 0.0, density)
        density = density * self.weights[:, np.newaxis]
        mean = density.mean(axis=1)
        some = mean > 1e-5 * _NEGLIGIBLE * mean.max()
        places, mean, density = logit(self.theta[some]), mean[some], density[some]
        few, _ = gauss_rule(places, np.log(mean), self._n_nodes(places, mean, *number))
        weights = _lagrange(few, places) @ density
        return expit(few), weights / weights.sum(axis=0)

    def _n_nodes(self, places: Floats, weights: Floats, least: float, slope: float) -> int:
        """Return a number of nodes that is enough for a law of logit(theta)."""
        related = max(self.sizes) * self.u
        if related <= _UNRELATED:
            return 1
        share = weights / weights.sum()
        deviation = float(np.sqrt(share @ (places - share @ places) ** 2))
        # The smaller the effect of theta, the fewer digits of it are needed.
        digits = 1.0 - np.log10(min(related, 1.0)) / np.log10(_UNRELATED)
        number = 1.0 + digits * min(max(least + slope * deviation, 0.0), float(_MOST_NODES))
        # Not many times as many: polynomials of such high degrees would lose digits.
        return int(np.ceil(number)) + _FINER * (self.refinement - 1)


def _lagrange(nodes: Floats, x: Floats) -> Floats:
    """Return the polynomials that are 1 at one node and 0 at the others, shape (nodes, x).

    >>> _lagrange(np.array([0.0, 2.0]), np.array([0.0, 1.0])).tolist()
    [[1.0, 0.5], [0.0, 0.5]]
    """
    others = ~np.eye(nodes.size, dtype=np.bool_)
    ratios = x - nodes[:, np.newaxis]
    apart = np.where(others, nodes[:, np.newaxis] - nodes, 1.0)
    factors = np.where(others[:, :, np.newaxis], ratios / apart[:, :, np.newaxis], 1.0)
    return np.asarray(np.prod(factors, axis=1))


@dataclass(frozen=True, eq=False)
class _Tilted:
    """P(I | theta) exp(t I) of classes by size, normalised, shape (nodes, n + 1)."""

    sizes: tuple[int, ...]
    pmfs: dict[int, Floats]

    @classmethod
    def of(cls, sizes: tuple[int, ...], theta: Floats, u: float, mean: float) -> "_Tilted":
        """Choose t so that the total has about this mean, for each node."""
        logs = {n: log_pmf_table(n, theta, u) for n in set(sizes)}
        low, high = np.full(theta.size, -60.0), np.full(theta.size, 60.0)
        tilt = logit(mean / sum(sizes)) - logit(theta)
        for _ in range(60):
            pmfs = {n: _tilted(log, tilt) for n, log in logs.items()}
            found, variance = _moments(sizes, pmfs)
            low, high = np.where(found < mean, tilt, low), np.where(found < mean, high, tilt)
            if np.all(np.abs(found - mean) < 0.3 * np.sqrt(variance)):
                break
            newton = tilt + (mean - found) / variance
            inside = (newton > low) & (newton < high)
            tilt = np.where(inside, newton, 0.5 * (low + high))
        return cls(sizes, pmfs)

    def of_totals(self, totals: Ints) -> Floats:
        """Return the probabilities of totals, (nodes, m)."""
        return _law_of_total(self.sizes, self.pmfs)[:, totals]


def _tilted(log: Floats, tilt: Floats) -> Floats:
    log = log + tilt[:, np.newaxis] * np.arange(log.shape[1])
    pmf = np.exp(log - log.max(axis=1, keepdims=True))
    return np.asarray(pmf / pmf.sum(axis=1, keepdims=True))


def _moments(sizes: tuple[int, ...], pmfs: dict[int, Floats]) -> tuple[Floats, Floats]:
    """Return the mean and the variance of the total, (nodes,)."""
    mean, variance = np.zeros(len(pmfs[sizes[0]])), np.zeros(len(pmfs[sizes[0]]))
    for n, times in Counter(sizes).items():
        own = pmfs[n] @ np.arange(n + 1.0)
        squares = pmfs[n] @ np.arange(n + 1.0) ** 2
        mean, variance = mean + times * own, variance + times * (squares - own**2)
    return np.asarray(mean), np.maximum(variance, 1e-12)


def _law_of_total(sizes: tuple[int, ...], pmfs: dict[int, Floats]) -> Floats:
    """Return the law of the sum of independent counts, (nodes, n + 1)."""
    n = sum(sizes)
    length = next_fast_len(n + 1, real=True)
    product = np.array(1.0 + 0.0j)
    for size, times in Counter(sizes).items():
        product = product * rfft(pmfs[size], length, axis=1) ** times
    return np.maximum(irfft(product, length, axis=1)[:, : n + 1], 0.0)
