"""Selection by |COR|: the rules, how ties are broken, and the event that selection makes.

The event is all that is remembered of the omitted features: that each of them looked too weak.
"""

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, betaln

from unselected.columns import ClassCounts
from unselected.quadrature import Floats, log_sum
from unselected.tables import (
    CLOSE,
    Ints,
    compare,
    cor_squared,
    exact_cor_squared,
    exact_values,
    root,
    threshold_cut,
)

Ties = Literal["first", "random"]
Rule = Literal["top k", "threshold", "all"]


@dataclass(frozen=True)
class Event:
    """What is known of the omitted features: how many are below a cut, how many at most there.

    ``n_below`` features are strictly below the cut and ``n_at_most`` at most there. ``n_lottery``
    features are at most there and, where tied with the ``n_kept_ties`` kept features at the cut,
    lost a fair draw for the places against them (the paper's rule).

    The empty event, ``Event()``, is that of the uncorrected method.
    """

    cut: Fraction | None = None
    n_below: int = 0
    n_at_most: int = 0
    n_lottery: int = 0
    n_kept_ties: int = 0

    @property
    def n_omitted(self) -> int:
        """How many omitted features the event speaks of."""
        return self.n_below + self.n_at_most + self.n_lottery

    @property
    def needs_below(self) -> bool:
        """Whether the event depends on the probability of being strictly below the cut."""
        return self.n_below + self.n_lottery > 0

    def log_prob(self, log_below: Floats, log_at_most: Floats) -> Floats:
        """Return the log probability of the event where a single feature has these.

        >>> import numpy as np
        >>> event = Event(n_below=0, n_at_most=3)
        >>> float(np.exp(event.log_prob(np.array(-np.inf), np.log(np.array(0.5)))).round(12))
        0.125
        """
        log_below, log_at_most = np.asarray(log_below), np.asarray(log_at_most)
        total = np.zeros(log_at_most.shape)
        if self.n_below:
            total = total + self.n_below * log_below
        if self.n_at_most + self.n_lottery:
            total = total + (self.n_at_most + self.n_lottery) * log_at_most
        if self.n_lottery:
            tied = -np.expm1(log_below - log_at_most)
            total = total + log_lottery(tied, self.n_kept_ties, self.n_lottery)
        return total


def log_lottery(tied: Floats, t: int, n_omitted: int) -> Floats:
    """Return log E[1 / binomial(t + r, t)], r ~ Binomial(n_omitted, tied).

    ``tied`` is the probability that an omitted feature is at the cut, r the unknown number of those
    that are; the t kept ones are one of binomial(t + r, t) equally likely outcomes of the draw.
    Equal to t * integral over s in (0, 1) of s^(t-1) (1 - s tied)^n_omitted ds, an incomplete beta
    function; where r < t is to be expected that could underflow, and the sum over r is taken.

    >>> np.exp(log_lottery(np.array([0.25, 1.0]), 1, 1)).round(12).tolist()  # 1 - tied / 2
    [0.875, 0.5]
    """
    tied = np.asarray(tied, dtype=np.float64)
    few = (tied * n_omitted < t) & (tied < 1.0)
    result = np.empty(tied.shape)
    result[few] = _log_lottery_sum(tied[few], t, n_omitted)
    q = tied[~few]
    result[~few] = np.log(betainc(t, n_omitted + 1.0, q)) - t * np.log(q)
    result[~few] += np.log(t) + betaln(t, n_omitted + 1.0)
    return result


def _log_lottery_sum(q: Floats, t: int, n_omitted: int) -> Floats:
    # Ratio of the terms r + 1 and r; from r = 2 t on they fall faster than 1 / 2.
    r = np.arange(min(n_omitted, 2 * t + 60))
    log_odds = np.log(np.maximum(q, 1e-300)) - np.log1p(-q)  # a sum over r >= 1 that is then 0
    log_terms = np.cumsum(np.log((n_omitted - r) / (t + 1.0 + r)) + log_odds[:, np.newaxis], axis=1)
    log_rest = log_sum(log_terms, axis=1) if r.size else np.full(q.shape, -np.inf)
    return n_omitted * np.log1p(-q) + np.logaddexp(0.0, log_rest)


@dataclass(frozen=True, eq=False)
class Selection:
    """Which features were kept, by which rule, and what that says of the others.

    Attributes
    ----------
    indices : array of int
        Columns that were kept, in increasing order.
    threshold : float or None
        The cut on |COR|: the threshold given, or the weakest |COR| that was kept because of it.
        None where there was no cut, for all features were kept without one.
    n_features : int
        Number of features that selection looked at.
    n_omitted : int
        Number of features that were left out.
    rule : {"top k", "threshold", "all"}
    ties : {"first", "random"} or None
        How features tied at the cut were chosen among; None where the rule has no ties.
    event : Event
        What conditioning on selection uses.
    """

    indices: NDArray[np.intp]
    threshold: float | None
    n_features: int
    n_omitted: int
    rule: Rule
    ties: Ties | None
    event: Event = field(repr=False)

    def __post_init__(self) -> None:
        self.indices.flags.writeable = False

    def __repr__(self) -> str:
        kept = f"{self.indices.size} of {self.n_features} features kept"
        if self.rule == "all":
            return f"Selection({kept})"
        bound = (
            f"|COR| > {self.threshold:.4g}"
            if self.rule == "threshold"
            else (f"{self.rule}, ties {self.ties}, weakest |COR| = {self.threshold:.4g}")
        )
        return f"Selection({kept}: {bound})"


def keep_all(counts: ClassCounts) -> Selection:
    """Keep every feature; there is nothing to condition on."""
    p = counts.I0.size
    return Selection(np.arange(p), None, p, 0, "all", None, Event())


def keep_above(counts: ClassCounts, gamma: float, always: Ints) -> Selection:
    """Keep the features with |COR| > gamma, and those in ``always``."""
    p, cut = counts.I0.size, threshold_cut(gamma)
    sign = compare(counts.I0, counts.I1, counts.n0, counts.n1, cut)
    sign[always] = 1
    indices = np.flatnonzero(sign > 0)
    n_omitted = p - indices.size
    event = Event(cut, n_at_most=n_omitted)
    return Selection(indices, gamma, p, n_omitted, "threshold", None, event)


def keep_top(
    counts: ClassCounts, k: int, ties: Ties, always: Ints, rng: np.random.Generator
) -> Selection:
    """Keep the k features with the largest |COR| besides those in ``always``.

    Ties at the cut go to the lower column (``ties="first"``): then an omitted feature that stands
    before the last kept one at the cut is strictly below it, a later one at most there. Or they
    are drawn at random (``ties="random"``).
    """
    p = counts.I0.size
    above, at_cut = _split_at_rank(counts, k, always)
    places = k - above.size
    if ties == "first":
        kept_at_cut = at_cut[:places]
    else:
        kept_at_cut = rng.choice(at_cut, size=places, replace=False)
    indices = np.sort(np.concatenate([above, kept_at_cut, always]))
    n_omitted = p - indices.size
    cut = _exact_at(counts, int(kept_at_cut[0]))
    if ties == "first":
        last = int(kept_at_cut[-1])
        n_below = last + 1 - int(np.searchsorted(indices, last, side="right"))
        event = Event(cut, n_below=n_below, n_at_most=n_omitted - n_below)
    else:
        event = Event(cut, n_lottery=n_omitted, n_kept_ties=places)
    return Selection(indices, root(cut), p, n_omitted, "top k", ties, event)


def keep_preselected(
    counts: ClassCounts, n_before: int, gamma: float | None, always: Ints
) -> Selection:
    """Keep every column given: somebody kept them, out of ``n_before``, by |COR|.

    Where the omitted columns stood is not known, so that without a threshold the event is the
    one for ties broken at random.
    """
    p = counts.I0.size
    n_omitted = n_before - p
    if gamma is not None:
        event = Event(threshold_cut(gamma), n_at_most=n_omitted)
        return Selection(np.arange(p), gamma, n_before, n_omitted, "threshold", None, event)
    _, at_cut = _split_at_rank(counts, p - always.size, always)
    cut = _exact_at(counts, int(at_cut[0]))
    event = Event(cut, n_lottery=n_omitted, n_kept_ties=at_cut.size)
    return Selection(np.arange(p), root(cut), n_before, n_omitted, "top k", "random", event)


def _split_at_rank(counts: ClassCounts, k: int, always: Ints) -> tuple[Ints, Ints]:
    """Return the columns above the k-th largest |COR|, and those that equal it exactly.

    Columns in ``always`` do not compete.
    """
    squares = cor_squared(counts.I0, counts.I1, counts.n0, counts.n1)
    squares[always] = -1.0
    kth = np.partition(squares, squares.size - k)[squares.size - k]
    contenders = np.flatnonzero(squares >= kth * (1 - CLOSE))
    surely = squares[contenders] > kth * (1 + CLOSE)
    above, close = contenders[surely], contenders[~surely]
    # Doubles cannot tell the close ones apart: rank the few distinct values among them exactly.
    values, value_of = exact_values(counts.I0[close], counts.I1[close], counts.n0, counts.n1)
    for value in sorted(set(values), reverse=True):
        equal = close[np.array([other == value for other in values])[value_of]]
        if above.size + equal.size >= k:
            break
        above = np.concatenate([above, equal])
    return above, equal


def _exact_at(counts: ClassCounts, column: int) -> Fraction:
    return exact_cor_squared(int(counts.I0[column]), int(counts.I1[column]), counts.n0, counts.n1)
