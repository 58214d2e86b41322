"""Which sums give the omission probability in many classes, and how much work they are."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache

from unselected.numerics.kernels import can_compile
from unselected.numerics.quadrature import theta_nodes
from unselected.omission.count_pairs import CountPairs, CutBounds, pair_work
from unselected.omission.count_transform import CountTransform
from unselected.omission.count_vectors import squares_fit
from unselected.omission.several_classes import n_sums
from unselected.omission.total_blocks import Lattice, TotalBlock, block_of, divided

# Points of transforms for one value of alpha, at most: to resolve all values of the score, to
# smooth them, and where few digits are enough. A second has some 5e7 on one core.
MOST_EXACT_POINTS, MOST_POINTS, _MOST_ROUGH_POINTS = 1.5e8, 6e7, 1e7
# Pairs of vectors for one value of alpha, at most, by numpy and by compiled loops. A second has
# some 2e7 and 1e8 on one core.
_MOST_PAIRS, _MOST_COMPILED_PAIRS = 1e8, 4e8
# Squared half widths of blocks, for transforms and for pairs. Wider blocks have more totals, and
# longer transforms or more vectors for each.
_WIDTH, _WIDTH_FOR_PAIRS = 0.33, 0.06
# The fewest frequencies with which the law may be smoothed, and the most that pay.
FEWEST_FREQUENCIES, _MOST_FREQUENCIES = 128, 1024
# Nodes of theta for a block, for estimates of the work.
_USUAL_NODES = 6.0
# Sums over vectors with few ones, for one node of theta.
_MOST_RARE_SUMS = 1 << 19
# Numbers of the table P(m | theta), at most.
_MOST_NUMBERS = 1 << 25


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
        blocks = _blocks(tuple(sorted(self.sizes)), self.cut, first, _WIDTH)
        return [CountTransform(block, self.sizes, most) for block in blocks]

    @cached_property
    def _narrow(self) -> list[TotalBlock]:
        return _blocks(tuple(sorted(self.sizes)), self.cut, 1, _WIDTH_FOR_PAIRS)

    @property
    def pairs(self) -> list[CountPairs]:
        """The sums over pairs of vectors, for blocks of totals from 1 to n / 2."""
        bounds = CutBounds.of(self.sizes, self.cut)
        return [CountPairs(block, self.sizes, bounds, self.n_pairs) for block in self._narrow]

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
        if not squares_fit(self.sizes):
            return 0
        while few < half - 1 and n_sums(self.sizes, few + 1) <= self.share * _MOST_RARE_SUMS:
            few += 1
        return few


@lru_cache(maxsize=16)
def _blocks(sizes: tuple[int, ...], cut: Fraction, first: int, width: float) -> list[TotalBlock]:
    """Return blocks of totals, which take a while where there are many."""
    lattice = Lattice(sizes)
    return [block_of(lattice, cut, *ends) for ends in divided(sum(sizes), cut, first, width)]
