"""Blocks of neighbouring totals m of a binary feature, and the omitted counts around them.

With x near m / n, the counts of all classes together are at the distance

    R = sum over g of (I_g - n_g x)^2 / n_g = Q - 2 x m + n x^2,    Q = sum of I_g^2 / n_g,

and a feature with m ones is omitted where Q is at most c m + (1 - c) m^2 / n, with c the cut on
R^2. So R is at most a bound there, the reach of m. Q is a multiple of 1 / lcm of the class sizes.
Where the multiples are odd for all I_g^2 alike, as with equal classes, Q is an even or an odd one
as m is even or odd, and only every second multiple occurs.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil, isqrt, lcm, sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.fft import next_fast_len

from unselected._typing import Floats, Ints

_LEAST_HALF_WIDTH = 4
# The same in variances of the total of an unrelated feature, which must not be too improbable.
_MOST_VARIANCES = 12.0
# Beyond so many multiples no lattice is resolved, and none has to be kept.
_FINEST = 10**9


@dataclass(frozen=True)
class Lattice:
    """The values that Q can have: offset(m) + step * integer."""

    sizes: tuple[int, ...]

    @cached_property
    def unit(self) -> int:
        """The least common multiple of the class sizes."""
        return lcm(*self.sizes)

    @cached_property
    def is_even(self) -> bool:
        """Whether Q is an even multiple of 1 / unit where m is even, and odd where m is odd."""
        return all((self.unit // n) % 2 for n in self.sizes)

    @cached_property
    def step(self) -> Fraction:
        """The distance of neighbouring values."""
        return Fraction(2 if self.is_even else 1, self.unit)

    def last(self, m: int, cut: Fraction) -> tuple[Fraction, bool]:
        """Return the largest value that is at most at the cut, and whether it is at the cut."""
        bound = cut * m + (1 - cut) * Fraction(m * m, sum(self.sizes))
        offset = Fraction(m if self.is_even else 0, self.unit)
        place = (bound - offset) / self.step
        return offset + (place.numerator // place.denominator) * self.step, place.denominator == 1

    def first(self, m: int) -> Fraction:
        """Return the smallest value that is not impossible for a total: R is not negative."""
        offset = Fraction(m if self.is_even else 0, self.unit)
        return offset + ceil((Fraction(m * m, sum(self.sizes)) - offset) / self.step) * self.step

    def centre(self, middle: Fraction, n_lags: int) -> Fraction:
        """Move a centre a little, so that totals a period apart share a lattice."""
        if self.unit >= _FINEST:
            return middle
        scale = 2 * self.unit * n_lags
        place = round(middle * scale)
        return Fraction(place + (self.is_even and (place - n_lags) % 2), scale)


@dataclass(frozen=True, eq=False)
class TotalBlock:
    """Neighbouring totals, and the lengths of the transforms that give their omitted part.

    Attributes
    ----------
    totals : array of int, shape (m,)
    centre : float
        x.
    reach, least : arrays of shape (m,)
        R of the last value at most at the cut, and the value before the first that is possible.
    is_tie : array of bool, shape (m,)
        Whether the reach is exactly at the cut.
    step : float
        Of the lattice.
    n_steps : int
        The number of its values in a period of R; odd.
    n_lags : int
        The number of totals in a period. Others that are mapped to the same place have a larger
        R than the reach.
    """

    totals: Ints
    centre: float
    reach: Floats
    least: Floats
    is_tie: NDArray[np.bool_]
    step: float
    n_steps: int
    n_lags: int

    @property
    def period(self) -> float:
        """The period of R."""
        return self.n_steps * self.step

    def within(self, n: int) -> slice:
        """Return the counts of a class of n cases that alone do not exceed the period."""
        half = sqrt(self.period * n)
        low, high = np.floor(n * self.centre - half), np.ceil(n * self.centre + half)
        return slice(max(0, int(low)), min(n, int(high)) + 1)

    def distances(self, n: int) -> Floats:
        """Return what these counts add to R."""
        within = self.within(n)
        return (np.arange(within.start, within.stop) - n * self.centre) ** 2 / n


def block_of(lattice: Lattice, cut: Fraction, first: int, last: int) -> TotalBlock:
    """Return the block of the totals from first to last."""
    n, totals = sum(lattice.sizes), range(first, last + 1)
    found = [lattice.last(m, cut) for m in totals]
    # In two steps: the centre is moved a little, so that totals a period apart share a lattice.
    middle = Fraction(first + last, 2 * n)
    reach = max(_distance(Q, m, middle, n) for m, (Q, _) in zip(totals, found, strict=True))
    bound = max(float(reach), 4.0 * float(lattice.step)) * (1.0 + 1e-6)
    n_steps = 2 * ceil(bound / float(lattice.step)) + 3
    period = n_steps * float(lattice.step)
    largest = max(lattice.sizes)
    widest = min(2.0 * sqrt(period * largest) + 3.0, largest + 1.0)
    needed = max(0.5 * (last - first) + sqrt(n * bound) + 3.0, widest)
    n_lags = next_fast_len(ceil(needed))
    centre = lattice.centre(middle, n_lags)
    ends = [_distance(Q, m, centre, n) for m, (Q, _) in zip(totals, found, strict=True)]
    least = []
    for m, end in zip(totals, ends, strict=True):
        room = (end - (m - n * centre) ** 2 / n) / lattice.step
        least.append(end - max(0, room.numerator // room.denominator + 1) * lattice.step)
    return TotalBlock(
        np.array(totals),
        float(centre),
        np.array([float(end) for end in ends]),
        np.array([float(end) for end in least]),
        np.array([tie for _, tie in found]),
        float(lattice.step),
        n_steps,
        n_lags,
    )


def _distance(Q: Fraction, m: int, x: Fraction, n: int) -> Fraction:
    return Q - 2 * x * m + n * x * x


def divided(
    n: int, cut: Fraction, first: int, width: float, end: int | None = None
) -> list[tuple[int, int]]:
    """Return first and last totals of blocks, from a first total to an end, by default n / 2.

    ``width`` is the squared half width of a block, in units of what makes its reach twice that of
    its middle.

    >>> divided(100, Fraction(1, 20), 5, 0.33)
    [(5, 13), (14, 24), (25, 35), (36, 48), (49, 50)]
    """
    half, ends = n // 2 if end is None else end, []
    share = min(width * float(cut), _MOST_VARIANCES / n)
    while first <= half:
        wide = isqrt(max(0, int(share * first * (n - first))))
        # The middle is farther from 0 than the first total, and the block wider for that.
        while (wide + 1) ** 2 <= share * (first + wide + 1) * (n - first - wide - 1):
            wide += 1
        last = min(half, first + 2 * max(wide, _LEAST_HALF_WIDTH))
        ends.append((first, last))
        first = last + 1
    return ends
