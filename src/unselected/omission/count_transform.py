"""The omitted part of the counts with some totals, by a Fourier transform in R and m.

Given theta the counts of classes are independent, and so the transform of the law of R and m (see
`total_blocks`) is a product over classes. The law is damped, by exp(-a R), so that what lies beyond
the period of R does not come back as more than exp(-a period) of it. The sum over R up to the reach
of a total is a sum over frequencies.

Values of R are on a lattice. With as many frequencies as it has values in a period the sums are
exact to rounding. With fewer, the law is smoothed: it is convolved with a kernel of vanishing
moments, so that only what is rough remains as an error. How large that is, a kernel twice as wide
tells.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, reduce

import numpy as np
from numpy.typing import NDArray
from scipy.fft import fft, ifft, irfft

from unselected._typing import Floats
from unselected.omission.total_blocks import TotalBlock

Complexes = NDArray[np.complex128]

# a times the period: rounding errors grow by exp(this / 2), and what comes back falls by exp(this).
_DAMPING = 25.0
# Elements of an array that are processed at a time, to stay in the processor's cache.
_BLOCK = 1 << 15
# Frequencies up to this part of the last one are kept as they are, others less and less.
_FLAT = 0.25
# How far below the smallest R the smoothed law is summed, in periods of the last frequency, and at
# most in periods of R.
_MARGIN, _MOST_MARGIN = 40.0, 0.25
# The error is taken to be so many times the difference to the sums with half of the frequencies. It
# would be one time if the law were rough at all frequencies alike.
_CAUTION = 2.0


@dataclass(frozen=True, eq=False)
class OmittedPart:
    """P(at most at the cut and m), P(at the cut and m), and a difference, (nodes, m).

    The difference is that between two kernels, which tells the error of the first.
    """

    at_most: Floats
    at_cut: Floats
    difference: Floats


@dataclass(frozen=True, eq=False)
class CountTransform:
    """The transform for a block of totals.

    Attributes
    ----------
    block : TotalBlock
    sizes : tuple of int
    most : int
        The largest number of frequencies.
    """

    block: TotalBlock
    sizes: tuple[int, ...]
    most: int

    @property
    def n_frequencies(self) -> int:
        """The number of frequencies above 0."""
        return min(self.most, (self.block.n_steps - 1) // 2)

    @property
    def is_exact(self) -> bool:
        """Whether all values of the lattice are resolved."""
        return self.n_frequencies == (self.block.n_steps - 1) // 2

    @property
    def n_points(self) -> float:
        """The number of points of all transforms for one node of theta."""
        return float(self.n_frequencies + 1) * self.block.n_lags * (len(set(self.sizes)) + 1)

    @cached_property
    def _damping(self) -> float:
        return _DAMPING / self.block.period

    def omitted(self, pmfs: dict[int, Floats]) -> OmittedPart:
        """Return the omitted part for nodes of theta, from P(I | theta) by size, (nodes, n + 1)."""
        block, n_nodes = self.block, len(next(iter(pmfs.values())))
        damped = {
            n: pmf[:, block.within(n)] * np.exp(-self._damping * block.distances(n))
            for n, pmf in pmfs.items()
        }
        sums = np.zeros((3, n_nodes, block.totals.size))
        for frequencies, chirps, ends in self._chunks():
            weights = self._weights(frequencies)
            spans = weights * (ends[0] - ends[1])
            both_signs = np.where(frequencies == 0.0, 1.0, 2.0)
            parts = [spans, both_signs[:, np.newaxis] * ends[0]]
            if not self.is_exact:
                fine, wide = (self._kept(frequencies, last)[:, np.newaxis] for last in (1.0, 0.5))
                parts = [spans * fine, spans * (fine - wide)]
            for node in range(n_nodes):
                law = self._law({n: each[node] for n, each in damped.items()}, chirps)
                for i, part in zip((0, 1) if self.is_exact else (0, 2), parts, strict=True):
                    sums[i, node] += np.einsum("jm,jm->m", part, law).real
        at_cut = np.where(block.is_tie, sums[1] / block.n_steps, 0.0)
        return OmittedPart(sums[0], at_cut, sums[2])

    @property
    def n_values(self) -> int:
        """The number of values of R whose probabilities `cumulated` returns."""
        return self.block.n_steps // 2

    def cumulated(self, pmfs: dict[int, Floats]) -> Floats:
        """Return P(R at most each value, and m) for one node of theta, shape (m, 1 + values).

        The values begin with the reach of each total, below which nothing must be possible. Before
        them there is a 0. All values of the lattice have to be resolved.
        """
        block = self.block
        damped = {
            n: pmf[block.within(n)] * np.exp(-self._damping * block.distances(n))
            for n, pmf in pmfs.items()
        }
        law = np.empty((self.n_frequencies + 1, block.totals.size), dtype=np.complex128)
        for frequencies, chirps, ends in self._chunks():
            some = slice(int(frequencies[0]), int(frequencies[-1]) + 1)
            law[some] = np.conj(self._law(damped, chirps) * ends[0])
        growth = np.exp(self._damping * block.step * np.arange(self.n_values))
        sums = np.zeros((block.totals.size, 1 + self.n_values))
        for i in range(block.totals.size):
            own = irfft(law[:, i], block.n_steps)[: self.n_values]
            np.cumsum(own * growth, out=sums[i, 1:])
        return sums

    def _law(self, damped: dict[int, Floats], chirps: dict[int, Complexes]) -> Complexes:
        """Return the transform in R of the law of R and m, at the totals, (frequencies, m)."""
        factors = (
            _power(fft(chirps[n] * damped[n], self.block.n_lags, axis=1), times)
            for n, times in Counter(self.sizes).items()
        )
        product: Complexes = reduce(np.multiply, factors)
        start = sum(self.block.within(n).start for n in self.sizes)
        places = (self.block.totals - start) % self.block.n_lags
        return np.asarray(ifft(product, axis=1, overwrite_x=True)[:, places])

    def _chunks(self) -> Iterator[tuple[Floats, dict[int, Complexes], list[Complexes]]]:
        """Yield frequencies, exp(i w R) of counts, and exp((a - i w) R) at both ends of R.

        Powers of some are multiplied: that is faster than as many exponentials.
        """
        block, last = self.block, self.n_frequencies
        reach, least = block.reach, block.least
        if not self.is_exact:  # between values of the lattice, and before its first
            reach = reach + 0.5 * block.step
            least = least - min(_MARGIN / last, _MOST_MARGIN) * block.period
        rows = min(last + 1, max(8, _BLOCK // block.n_lags))
        rate = 2.0 * np.pi / block.period
        distances = {n: block.distances(n) for n in set(self.sizes)}
        bounds = [np.exp(self._damping * end) for end in (reach, least)]

        def turned(frequencies: Floats, lengths: Floats) -> Complexes:
            angles = rate * np.multiply.outer(frequencies, lengths)
            return np.asarray(np.exp(1j * angles))

        few = np.arange(float(rows))
        first = {n: turned(few, each) for n, each in distances.items()}
        ends = [
            turned(few, -end) * bound for end, bound in zip((reach, least), bounds, strict=True)
        ]
        for start in range(0, last + 1, rows):
            some = slice(0, min(rows, last + 1 - start))
            at = np.array(float(start))
            chirps = {n: first[n][some] * turned(at, each) for n, each in distances.items()}
            yield (
                start + few[some],
                chirps,
                [
                    each[some] * turned(at, -end)
                    for each, end in zip(ends, (reach, least), strict=True)
                ],
            )

    def _weights(self, frequencies: Floats) -> Complexes:
        """Return what frequencies count for in sums over R, shape (frequencies, 1)."""
        block = self.block
        rates = self._damping - 2j * np.pi * frequencies / block.period
        both_signs = np.where(frequencies == 0.0, 1.0, 2.0)
        if self.is_exact:
            weights = both_signs / (-np.expm1(-rates * block.step)) / block.n_steps
        else:
            weights = both_signs / (rates * block.period)
        return np.asarray(weights[:, np.newaxis])

    def _kept(self, frequencies: Floats, last: float) -> Floats:
        """Return the part of each frequency that is kept, up to this part of the last one."""
        part = frequencies / (last * self.n_frequencies)
        inner = np.clip((part - _FLAT) / (1.0 - _FLAT), 2e-3, 1.0 - 2e-3)
        return 1.0 / (1.0 + np.exp(1.0 / (1.0 - inner) - 1.0 / inner))


def typical_error(difference: Floats) -> Floats:
    """Return about the standard error of each of some sums from their differences."""
    return np.full(difference.shape, _CAUTION * np.sqrt(np.mean(difference**2)))


def _power(values: Complexes, times: int) -> Complexes:
    """Return an integer power by repeated squares."""
    result: Complexes | None = None
    while times:
        if times % 2:
            result = values if result is None else result * values
        times //= 2
        if times:
            values = values * values
    assert result is not None
    return result
