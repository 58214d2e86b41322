"""The omission probability of Wilcoxon's score and of the area under the curve, by simulation.

Let e be the residuals of a feature around its class means, divided by the root W^(1/2) of their sum
of squares. Their law does not depend on tau. U grows with the difference D between the means, so
that given e there are two critical values of D between which the feature is omitted. With t that
of one side in units of the contrast beta, P(0 <= beta / W^(1/2) <= t | tau) is known. What is
simulated is the average of it over the law of e, for all tau at once.

The sum of the fourth powers of e, and the square of that sum, have known means: they are control
variates.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from unselected._typing import Floats, Ints
from unselected.numerics.quadrature import gauss_rule
from unselected.omission.cut_mixture import CERTAIN, CutMixture
from unselected.selection.real_score_kinds import RankScore
from unselected.selection.scored_event import ScoredEvent

Floats32 = NDArray[np.float32]

# Draws that are processed at a time, and draws that tell where critical values lie.
_BLOCK, _N_FIRST = 2048, 128
# Halvings of the interval in which a critical value is sought, and half of its length in standard
# deviations.
_HALVINGS, _REACH = 7, 4.5
# One of so many draws tells also the probability of being at the cut.
_N_PER_BELOW = 4
# Parts of the draws that tell the standard error, and nodes in place of the critical values.
_N_PARTS, _N_NODES, _N_NODES_OF_PARTS = 40, 12, 5


@dataclass(frozen=True, eq=False)
class _Draws:
    """Critical values of beta / W^(1/2) on both sides, (2, draws), and control variates.

    ``below`` are those of the first draws only: they are so close to ``at_most`` that few draws
    tell the difference.
    """

    at_most: Floats
    below: Floats
    controls: Floats


def simulate_ranks(event: ScoredEvent, n_draws: int) -> "RankCurve":
    """Return P(omitted) as a function of v (see `table`), from so many draws."""
    assert isinstance(event.score, RankScore)
    assert event.sizes is not None
    assert event.cut is not None
    n0, n1 = np.sort(event.sizes).tolist()
    excess = event.score.excess_at(event.cut, n0, n1)
    pairs = n0 * n1
    # The least numbers of pairs that are above the cut, and that are at it or above.
    above, at_least = int(np.floor((pairs + excess) / 2)) + 1, int(np.ceil((pairs + excess) / 2))
    nobody = above > pairs  # even perfect separation is only at the cut
    draws = _simulate(n0, n1, at_least if nobody else above, at_least, n_draws)
    weights = _calibrated(draws.controls, _mean_controls(n0, n1))
    law = partial(_law, nu=float(event.nu[0]))
    first, m = law(draws.at_most, weights), draws.below.shape[1]
    some = _calibrated(draws.controls[:, :m], _mean_controls(n0, n1))
    at_cut = law(draws.at_most[:, :m], some).less(law(draws.below, some))
    parts = np.array_split(np.arange(weights.size), _N_PARTS)
    return RankCurve(
        [CERTAIN if nobody else first, first.less(at_cut)],
        [law(draws.at_most[:, p], np.full(p.size, 1.0 / p.size), _N_NODES_OF_PARTS) for p in parts],
        np.stack([draws.controls[:, p].mean(axis=1) for p in parts]),
    )


@dataclass(frozen=True, eq=False)
class RankCurve:
    """P(omitted) of all draws, and of parts of them with their mean control variates."""

    laws: list[CutMixture]
    parts: list[CutMixture]
    controls: Floats

    def logs(self, v: Floats) -> Floats:
        """Return logs of P(at most at the cut) and P(below the cut), shape (v, 2)."""
        return np.stack([law.log_omitted(v) for law in self.laws], axis=1)

    def errors(self, v: Floats) -> Floats:
        """Return the standard errors of the first: how parts differ beyond their controls."""
        each = np.exp(np.stack([part.log_omitted(v) for part in self.parts]))
        known = np.column_stack([np.ones(len(each)), self.controls - self.controls.mean(axis=0)])
        rest = each - known @ np.linalg.lstsq(known, each, rcond=None)[0]
        n, freedom = len(each), len(each) - known.shape[1]
        error = np.sqrt(np.sum(rest**2, axis=0) / freedom / n)
        return np.asarray(error / each.mean(axis=0))


def _simulate(n0: int, n1: int, above: int, at_least: int, n_draws: int) -> _Draws:
    search, rng = _Search(), np.random.default_rng([n0, n1])
    at_most, below, controls = [], [], []
    for start in range(0, n_draws, _BLOCK):
        m = min(_BLOCK, n_draws - start)
        first, second, sums = _residuals(n0, n1, m, rng)
        sides = (first, second), (-first, -second)
        at_most.append(np.stack([search(*side, sums, above) for side in sides]))
        if start <= n_draws // _N_PER_BELOW:
            other = at_most[-1]
            if at_least != above:
                other = np.stack([search(*side, sums, at_least) for side in sides])
            below.append(other)
        controls.append(np.stack([sums, sums**2]))
    unit = np.sqrt(n0 * n1 / (n0 + n1))
    return _Draws(
        unit * np.concatenate(at_most, axis=1),
        unit * np.concatenate(below, axis=1),
        np.concatenate(controls, axis=1),
    )


def _residuals(
    n0: int, n1: int, m: int, rng: np.random.Generator
) -> tuple[Floats32, Floats32, Floats]:
    """Return residuals of m features by class, and the sums of their fourth powers."""
    values = rng.standard_normal((n0 + n1, m), dtype=np.float32)
    classes = values[:n0], values[n0:]
    for each in classes:
        each -= each.mean(axis=0)
    values /= np.sqrt(np.einsum("ij,ij->j", values, values))
    squares = values * values
    return *classes, np.einsum("ij,ij->j", squares, squares).astype(np.float64)


class _Search:
    """Finds the least difference D for which so many pairs have the second case above.

    The first features tell where it lies given the control variate, for those that follow.
    """

    def __init__(self) -> None:
        self.line: tuple[float, float] | None = None
        self.reach = 0.0

    def __call__(self, first: Floats32, second: Floats32, sums: Floats, pairs: int) -> Floats:
        if self.line is not None:
            return self._near(self.line, first, second, sums, pairs)
        m = min(_N_FIRST, sums.size)
        found = _exactly(first[:, :m], second[:, :m], pairs)
        slope, height = np.polyfit(sums[:m], found, 1).tolist()
        self.line, self.reach = (slope, height), _REACH * float(np.std(found - slope * sums[:m]))
        rest = self._near(self.line, first[:, m:], second[:, m:], sums[m:], pairs)
        return np.append(found, rest)

    def _near(
        self,
        line: tuple[float, float],
        first: Floats32,
        second: Floats32,
        sums: Floats,
        pairs: int,
    ) -> Floats:
        center = line[0] * sums + line[1]
        found = _bisect(first, second, pairs, center, self.reach)
        step = self.reach / 2.0 ** (_HALVINGS - 1)
        outside = np.flatnonzero(np.abs(found - center) > self.reach - step)
        found[outside] = _exactly(first[:, outside], second[:, outside], pairs)
        return found


def _exactly(first: Floats32, second: Floats32, pairs: int) -> Floats:
    """Return the least differences: each is one of the differences between two cases."""
    found = np.empty(first.shape[1])
    for place, (one, other) in enumerate(zip(first.T, second.T, strict=True)):
        found[place] = np.partition(np.subtract.outer(one, other).ravel(), pairs - 1)[pairs - 1]
    return found


def _bisect(first: Floats32, second: Floats32, pairs: int, center: Floats, reach: float) -> Floats:
    """Return the least differences, which are at most ``reach`` away from ``center``."""
    places, step = center.astype(np.float32), np.float32(reach)
    for _ in range(_HALVINGS):
        step *= np.float32(0.5)
        places += np.where(_n_above(first, second, places) >= pairs, -step, step)
    return places.astype(np.float64)


def _n_above(first: Floats32, second: Floats32, difference: Floats32) -> Ints:
    """Return how many pairs have the second case above the first when it is shifted."""
    moved = second + difference
    total = np.zeros(difference.size, dtype=np.int64)
    wide = np.uint8 if len(second) < 256 else np.int64
    for row in first:
        total += np.add.reduce((moved > row).view(np.uint8), axis=0, dtype=wide)
    return total


def _mean_controls(n0: int, n1: int) -> Floats:
    """Return the means of the sum of fourth powers of the residuals, and of its square.

    They are moments of normal variables with variances c and covariances r in a class, divided by
    those of their length.
    """
    nu = n0 + n1 - 2.0
    n = np.array([n0, n1], dtype=np.float64)
    c, r = 1.0 - 1.0 / n, -1.0 / n
    fourth = 3.0 * n * c**2
    same = n * 105.0 * c**4
    pairs = n * (n - 1.0) * (9.0 * c**4 + 72.0 * c**2 * r**2 + 24.0 * r**4)
    square = np.sum(same + pairs) + 2.0 * fourth[0] * fourth[1]
    length = nu * (nu + 2.0)
    return np.array([fourth.sum() / length, square / (length * (nu + 4.0) * (nu + 6.0))])


def _calibrated(controls: Floats, means: Floats) -> Floats:
    """Return weights of the draws with which the control variates have their means."""
    centred = controls - controls.mean(axis=1, keepdims=True)
    matrix = centred @ centred.T
    slopes = np.linalg.lstsq(matrix, means - controls.mean(axis=1), rcond=None)[0]
    weights = np.maximum(1.0 / controls.shape[1] + slopes @ centred, 0.0)
    return np.asarray(weights / weights.sum())


def _law(values: Floats, weights: Floats, n_nodes: int = _N_NODES, *, nu: float) -> CutMixture:
    """Return the law of features with these critical values, two for each weight."""
    with np.errstate(divide="ignore"):
        log_weights = np.tile(np.log(0.5 * weights), 2)
    t, log_weights = gauss_rule(values.ravel(), log_weights, n_nodes)
    return CutMixture(t**2, np.sign(t) * np.exp(log_weights), nu)
