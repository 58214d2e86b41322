"""Which sums give the omission probability in many classes, and how much work they are."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache

from unselected.numerics.kernels import can_compile
from unselected.numerics.quadrature import theta_nodes
from unselected.omission.count_mixed import CountMixed
from unselected.omission.count_pairs import MOST_VECTORS_ALONE, CountPairs, CutBounds, pair_work
from unselected.omission.count_transform import CountTransform
from unselected.omission.several_classes import n_sums
from unselected.omission.total_blocks import Lattice, TotalBlock, block_of, divided

# Points of transforms for one value of alpha, at most: to resolve all values of the score, to
# smooth them, and where few digits are enough. A second has some 5e7 on one core.
MOST_EXACT_POINTS, MOST_POINTS, _MOST_ROUGH_POINTS = 1.5e8, 6e7, 1e7
# Pairs of vectors for one value of alpha, at most, by numpy and by compiled loops. A second has
# some 2e7 and 1e8 on one core.
_MOST_PAIRS, _MOST_COMPILED_PAIRS = 1e8, 4e8
# The same for a value of alpha where exact sums are compared with smoothed ones: there are few such
# values, and few nodes of theta. Points are those of a block and a node of theta.
_MOST_FINER_PAIRS, _MOST_COMPILED_FINER_PAIRS = 5e7, 4e8
_MOST_MIXED_POINTS, _MOST_FINER_POINTS, _MOST_FINER_FREQUENCIES = 5e8, 2e7, 1 << 14
# Squared half widths of blocks, for transforms and for pairs. Wider blocks have more totals, and
# longer transforms or more vectors for each.
_WIDTH, _WIDTH_FOR_PAIRS, _WIDTH_FOR_FINER_PAIRS = 0.33, 0.06, 0.01
# The fewest frequencies with which the law may be smoothed, and the most that pay.
FEWEST_FREQUENCIES, _MOST_FREQUENCIES = 128, 1024
# Nodes of theta for a block, for estimates of the work.
_USUAL_NODES = 6.0
# Sums over vectors with few ones, for one node of theta.
_MOST_RARE_SUMS = 1 << 19
# Numbers of the table P(m | theta), at most.
_MOST_NUMBERS = 1 << 25


Sums = CountTransform | CountPairs | CountMixed


@dataclass(frozen=True)
class Plan:
    """How the sums are taken for classes of these sizes, and the work of that.

    Attributes
    ----------
    sizes : tuple of int
    cut : Fraction
    share : float
        The part of the work that is allowed.
    """

    sizes: tuple[int, ...]
    cut: Fraction
    share: float = 1.0

    def transforms(self, most: int, first: int = 1) -> list[CountTransform]:
        """Return the transforms of blocks of totals from a first one to n / 2."""
        blocks = _blocks(self._sorted, self.cut, first, _WIDTH)
        return [CountTransform(block, self.sizes, most) for block in blocks]

    @cached_property
    def _narrow(self) -> list[TotalBlock]:
        return _blocks(self._sorted, self.cut, 1, _WIDTH_FOR_PAIRS)

    @property
    def pairs(self) -> list[CountPairs]:
        """The sums over pairs of vectors, for blocks of totals from 1 to n / 2."""
        bounds = CutBounds.of(self.sizes, self.cut)
        return [CountPairs(block, self.sizes, bounds, self.n_pairs) for block in self._narrow]

    def finer(self, transforms: Sequence[Sums]) -> list[list[Sums]]:
        """Return exact sums for the totals of some transforms, or finer ones where these are slow.

        Vectors of a few classes are summed where the others have few values of the score; else
        pairs of vectors for the smallest totals, and more frequencies for others.
        """
        bounds = CutBounds.of(self.sizes, self.cut)
        most = self.share * (_MOST_COMPILED_FINER_PAIRS if can_compile() else _MOST_FINER_PAIRS)
        left = most
        found: list[list[Sums]] = []
        for each in transforms:
            mixed = CountMixed.of(each.block, self.sizes, bounds)
            if mixed is not None and mixed.n_points <= self.share * _MOST_MIXED_POINTS:
                found.append([mixed])
                continue
            first, last = int(each.block.totals[0]), int(each.block.totals[-1])
            parts: list[Sums] = []
            for block in _blocks(self._sorted, self.cut, first, _WIDTH_FOR_FINER_PAIRS, last):
                left -= pair_work(block, self.sizes, MOST_VECTORS_ALONE)
                if left < 0.0:
                    break
                parts.append(CountPairs(block, self.sizes, bounds, most))
                first = int(block.totals[-1]) + 1
            if first <= last:
                parts.append(self._finer_transform(first, last))
            found.append(parts)
        return found

    def _finer_transform(self, first: int, last: int) -> CountTransform:
        (block,) = _block_list(self._sorted, self.cut, [(first, last)])
        one = CountTransform(block, self.sizes, 1)
        affordable = int(self.share * 2.0 * _MOST_FINER_POINTS / one.n_points)
        return CountTransform(block, self.sizes, min(affordable, _MOST_FINER_FREQUENCIES))

    @property
    def _sorted(self) -> tuple[int, ...]:
        return tuple(sorted(self.sizes))

    @cached_property
    def n_pairs(self) -> float:
        """The number of pairs for one value of alpha, about."""
        return sum(pair_work(block, self.sizes) for block in self._narrow)

    @property
    def sums_pairs(self) -> bool:
        """Whether pairs are summed: transforms do not resolve all values, and pairs are few."""
        most = _MOST_COMPILED_PAIRS if can_compile() else _MOST_PAIRS
        return not self.resolves_all and self.n_pairs <= self.share * most

    def n_points(self, most: int) -> float:
        """Return the number of points of the transforms for one value of alpha, about."""
        return _USUAL_NODES * sum(each.n_points for each in self.transforms(most))

    @cached_property
    def _every(self) -> int:
        """A number of frequencies that resolves all values of the score."""
        return max(each.block.n_steps for each in self.transforms(1))

    @cached_property
    def resolves_all(self) -> bool:
        """Whether all values of the score are resolved."""
        return self.n_points(self._every) <= self.share * MOST_EXACT_POINTS

    @property
    def n_frequencies(self) -> int:
        """The number of frequencies: of all values of the score, where these are not too many."""
        return self._every if self.resolves_all else self._within(MOST_POINTS, _MOST_FREQUENCIES)

    @property
    def n_rough_frequencies(self) -> int:
        """The number of frequencies where few digits are enough."""
        return self._within(_MOST_ROUGH_POINTS, FEWEST_FREQUENCIES << 1)

    def _within(self, most_points: float, most: int) -> int:
        """Return a number of frequencies with which the points are not too many."""
        affordable = most * min(1.0, self.share * most_points / self.n_points(most))
        return max(FEWEST_FREQUENCIES, int(affordable))

    @property
    def is_possible(self) -> bool:
        """Whether the fewest frequencies are not too much work, and memory."""
        n = sum(self.sizes)
        if theta_nodes(n) * (n // 2 + 1) > _MOST_NUMBERS:
            return False
        return self.sums_pairs or self.n_points(FEWEST_FREQUENCIES) <= self.share * MOST_POINTS

    @property
    def n_few(self) -> int:
        """The largest total whose vectors of counts are summed one by one."""
        few, half = 0, sum(self.sizes) // 2
        while few < half - 1 and n_sums(self.sizes, few + 1) <= self.share * _MOST_RARE_SUMS:
            few += 1
        return few


@lru_cache(maxsize=16)
def _blocks(
    sizes: tuple[int, ...], cut: Fraction, first: int, width: float, last: int | None = None
) -> list[TotalBlock]:
    """Return blocks of totals, which take a while where there are many."""
    return _block_list(sizes, cut, divided(sum(sizes), cut, first, width, last))


def _block_list(
    sizes: tuple[int, ...], cut: Fraction, ends: list[tuple[int, int]]
) -> list[TotalBlock]:
    lattice = Lattice(sizes)
    return [block_of(lattice, cut, *each) for each in ends]
