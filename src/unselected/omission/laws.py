"""The omission probability of a score of real values: by a formula, or simulated until precise."""

from dataclasses import dataclass, replace
from typing import NoReturn

import numpy as np

from unselected._typing import Floats
from unselected.omission.cut_mixture import MIXTURES, CutMixture
from unselected.omission.simulated import SimulatedCurve
from unselected.omission.table import Curve, OmissionTable
from unselected.omission.wilcoxon import simulate_ranks
from unselected.selection.real_score_kinds import RankScore
from unselected.selection.score_names import SCORE_NAMES
from unselected.selection.scored_event import ScoredEvent

# Comparisons of pairs of values, or values of features, that are simulated at most.
_MOST_PAIRS, _MOST_VALUES = 5_000_000_000, 200_000_000
# How much one kept feature adds to the error of the log event of ranks, times the root of the
# number of draws. It is a guess: those who fit look at the error that comes out.
_SPREAD = 0.4
_FEWEST_DRAWS = 1024
# How many times more at a time: what was simulated tells where more is needed.
_MOST_TIMES = 8
# A number of draws that is out of reach, even if it is a rough guess.
_FAR_TOO_MANY = 100


@dataclass(frozen=True, eq=False)
class _Exact:
    """A curve that needs no simulation, of a score that has no ties."""

    mixture: CutMixture

    def logs(self, v: Floats) -> Floats:
        """Return logs of P(omitted), twice."""
        return np.repeat(self.mixture.log_omitted(v)[:, np.newaxis], 2, axis=1)

    def errors(self, v: Floats) -> Floats:
        """Return zeros."""
        return np.zeros(v.size)


def with_law(event: ScoredEvent, tolerance: float) -> ScoredEvent:
    """Return the event with its omission probability.

    As many features are simulated as make the standard error of the log probability of the event
    about ``tolerance``, at a tau with which as many features are selected as were.
    """
    if event.cut is None:
        return event
    assert event.score is not None
    if event.statistic in MIXTURES:
        curve: Curve = _Exact(MIXTURES[event.statistic](event, event.cut))
        return replace(event, law=_table(event, curve))
    simulate = _custom if event.statistic == "custom" else _ranks
    return replace(event, law=simulate(event, tolerance))


def _ranks(event: ScoredEvent, tolerance: float) -> OmissionTable:
    assert event.sizes is not None
    pairs = int(np.prod(event.sizes))
    _check_reachable(event, pairs)
    most = _MOST_PAIRS // pairs
    needed = _SPREAD * event.n_kept / tolerance if event.n_omitted else 0.0
    n_draws = int(max(_FEWEST_DRAWS, np.ceil(needed**2)))
    if n_draws > most:
        _refuse(event, n_draws, most, tolerance)
    return _table(event, simulate_ranks(event, n_draws))


def _check_reachable(event: ScoredEvent, pairs: int) -> None:
    """Raise where not even perfect separation reaches the cut."""
    score, cut, sizes = event.score, event.cut, event.sizes
    assert isinstance(score, RankScore)
    assert cut is not None
    assert sizes is not None
    if score.excess_at(cut, *sizes.tolist()) > pairs:
        most = score.least + pairs * score.unit(*sizes.tolist())
        raise ValueError(
            f"no feature can have {SCORE_NAMES[score.name].words} above {cut:.6g}: with classes of "
            f"{sizes[0]} and {sizes[1]} cases it is at most {most:.6g}. Use a lower threshold."
        )


def _custom(event: ScoredEvent, tolerance: float) -> OmissionTable:
    assert event.sizes is not None
    most = _MOST_VALUES // int(event.sizes.sum())
    curve = SimulatedCurve(event)
    n_draws = curve.n_draws
    while True:
        table = _table(event, curve)
        if event.n_omitted and not curve.passed:
            raise ValueError(
                f"none of {curve.n_draws} simulated features has a score above {event.cut:.6g}, "
                "not even those that differ most between the classes: the probability that a "
                "feature is omitted is 1, as far as can be simulated. Use a lower threshold."
            )
        v, error = _gate(table, event)
        if error <= tolerance:
            return table
        wanted = tolerance / event.n_omitted * float(np.exp(table.log_omitted(_u(v, table))[0, 0]))
        needed = max(curve.n_needed(v, wanted), 2 * n_draws)
        # Where nothing was selected, the number that is needed grows with the inverse of the error.
        if n_draws >= most or needed > _FAR_TOO_MANY * most or needed * n_draws > (2 * most) ** 2:
            _refuse(event, needed, most, tolerance)
        n_draws = min(needed, _MOST_TIMES * n_draws, most)
        curve.add(v, n_draws)


def _table(event: ScoredEvent, curve: Curve) -> OmissionTable:
    lam = event.lam[0]
    return OmissionTable.of(curve, float(lam.max()), lam.size)


def _gate(table: OmissionTable, event: ScoredEvent) -> tuple[float, float]:
    """Return v where the selected fraction is the observed one, and the error of the log event."""
    v = np.linspace(1.0, 0.02, 200)
    u = _u(v, table)
    selected = -np.expm1(table.log_omitted(u)[:, 0])
    observed = event.n_kept / max(1, event.n_kept + event.n_omitted)
    place = int(np.searchsorted(np.maximum.accumulate(selected), observed))
    place = min(place, v.size - 1)
    return float(v[place]), float(event.n_omitted * table.error(u[place : place + 1])[0])


def _u(v: Floats | float, table: OmissionTable) -> Floats:
    """Return tau^2 at v."""
    return (np.atleast_1d(v) ** -2.0 - 1.0) / table.lam


def _refuse(event: ScoredEvent, n_draws: int, most: int, tolerance: float) -> NoReturn:
    """Raise, and say what it would take."""
    assert event.sizes is not None
    reachable = tolerance * np.sqrt(n_draws / most)
    raise ValueError(
        f"a standard error of {tolerance:.2g} in the log probability of the selection takes about "
        f"{n_draws:.1e} simulated features of {int(event.sizes.sum())} cases, and at most "
        f"{most:.1e} are simulated: use tolerance={_round_up(reachable)}, keep fewer features, or "
        "use a score that has a formula, such as 'correlation' or 'welch'."
    )


def _round_up(value: float) -> str:
    """Return a number with two digits that is not smaller.

    >>> _round_up(0.123), _round_up(3.0)
    ('0.13', '3')
    """
    unit = 10.0 ** (np.floor(np.log10(value)) - 1.0)
    return f"{np.ceil(value / unit - 1e-9) * unit:.2g}"
