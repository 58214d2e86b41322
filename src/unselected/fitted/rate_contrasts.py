"""The posterior of a binary feature's rate in a class less the mean of its rates in all classes.

Given alpha and theta the rates of the classes are independent, so the characteristic function of
such a contrast, of the rates or of their logits, is a product over the classes. A Fourier series
turns it into the distribution function.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unselected._typing import Complexes, Floats, Ints
from unselected.fitted.class_rates import ClassRates
from unselected.fitted.effect_laws import REACH

# Parts that together have less than this weight are left out.
_NEGLIGIBLE = 1e-6
# Each part gets an interval of so many standard deviations, and of so many scales of its longest
# exponential tail, to both sides of its mean. It is repeated periodically: what is outside is lost.
_DEVIATIONS, _TAILS = 6.0, 12.0
# Frequencies are used until exp(-REACH) is left, or up to the last of these numbers: some
# distributions are nearly steps, whose series are long.
_FREQUENCIES = (16, 32, 64, 128, 256)
# Terms at high frequencies are damped by exp(-REACH (frequency / highest)^8), or a step would
# become waves.
_DAMPING = 8
# However wide the logit of a rate is, its characteristic function decreases at last like
# exp(-pi |t| / 2), which a normal one with this deviation does for the frequencies in question.
_SHARPEST_DEVIATION = 0.5


@dataclass(frozen=True, eq=False)
class _Series:
    """Fourier series of distributions between middle - reach and middle + reach.

    ``coefficients``, of shape (parts, frequencies), are the characteristic function around the
    middle over pi times the number of the frequency; the others have the shape (parts,).
    """

    weights: Floats
    middle: Floats
    reach: Floats
    coefficients: Complexes

    def cdf(self, x: Floats) -> Floats:
        """Return the weighted sum of the distribution functions at x of shape (m,)."""
        place = np.clip((x[:, np.newaxis] - self.middle) / self.reach, -1.0, 1.0)
        frequency = np.arange(1.0, self.coefficients.shape[1] + 1.0)
        at_start = np.sum(self.coefficients.imag * np.cos(np.pi * frequency), axis=1)
        turn = np.exp(-1j * np.pi * place)[:, :, np.newaxis]
        turns = np.cumprod(np.broadcast_to(turn, (*place.shape, frequency.size)), axis=2)
        waves = np.einsum("pf,mpf->mp", self.coefficients, turns).imag
        below = np.clip(0.5 * (1.0 + place) + at_start - waves, 0.0, 1.0)
        return np.asarray(below @ self.weights)


@dataclass(frozen=True, eq=False)
class RateContrast:
    """The posterior of a contrast of rates, or of their logits; see `EffectLaw`.

    ``parts`` are those with few frequencies, and those with more.
    """

    mean: Floats
    deviation: Floats
    null: Floats
    parts: Sequence[_Series]

    def cdf(self, x: Floats) -> Floats:
        """Return P(related, effect <= x) for x of shape (1, m)."""
        return np.asarray(sum(part.cdf(x[0]) for part in self.parts))[np.newaxis]


def rate_contrasts(
    weights: Floats, rates: Sequence[ClassRates], means: Floats | None = None, *, logits: bool
) -> list[RateContrast]:
    """Return the posterior of each class's rate less the mean of all, or the same of logits.

    Parameters
    ----------
    weights : array of shape (parts,)
        Their sum is the probability that the feature is related.
    rates : sequence of ClassRates
        Of each class, in the parts.
    means : array of shape (G,), optional
        The mean of each class, but for a constant, where it is known better than from the parts.
    logits : bool

    Returns
    -------
    contrasts : list of RateContrast
        One for each class.

    Examples
    --------
    >>> rates = [ClassRates(np.array([a]), np.array([4.0])) for a in (1.0, 4.0, 4.0)]
    >>> laws = rate_contrasts(np.ones(1), rates, logits=False)
    >>> [round(float(law.mean[0]), 6) for law in laws]
    [-0.2, 0.1, 0.1]
    >>> round(float(laws[0].cdf(np.array([[-0.2]]))[0, 0]), 6)
    0.544995
    """
    directions = np.eye(len(rates)) - 1.0 / len(rates)
    each = np.array([one.mean_logit if logits else one.mean for one in rates])
    variance = np.array([one.variance_of_logit if logits else one.variance for one in rates])
    mean = directions @ (each @ weights if means is None else means)
    squares = (directions**2 @ variance + (directions @ each) ** 2) @ weights
    deviation = np.sqrt(np.maximum(squares - mean**2, 0.0))
    null = np.array([max(0.0, 1.0 - weights.sum())])
    series = _series(weights, rates, logits=logits)
    return [
        RateContrast(mean[[g]], deviation[[g]], null, [part[g] for part in series])
        for g in range(len(rates))
    ]


def _series(weights: Floats, rates: Sequence[ClassRates], *, logits: bool) -> list[list[_Series]]:
    """Return the series of parts with so many frequencies, one for each class."""
    order = np.argsort(weights)
    live = order[np.cumsum(weights[order]) > _NEGLIGIBLE * weights.sum()]
    weights = weights[live] * (weights.sum() / weights[live].sum())
    rates = [ClassRates(one.a[live], one.b[live]) for one in rates]
    reach = _reach(rates, logits=logits)
    n_frequencies = _n_frequencies(rates, reach, logits=logits)
    result = []
    for n in np.unique(n_frequencies).tolist():
        some = n_frequencies == n
        alike = [ClassRates(one.a[some], one.b[some]) for one in rates]
        result.append(_series_alike(weights[some], alike, reach[some], n, logits=logits))
    return result


def _series_alike(
    weights: Floats, rates: Sequence[ClassRates], reach: Floats, n: int, *, logits: bool
) -> list[_Series]:
    """Return the series with n frequencies of these parts, one for each class."""
    G = len(rates)
    each = np.array([one.mean_logit if logits else one.mean for one in rates])
    centers = (np.eye(G) - 1.0 / G) @ each
    # The interval of a rate's contrast is inside of that between its extremes.
    room = np.inf if logits else 1.0 - 1.0 / G - reach
    middles = np.clip(centers, -room, room)
    frequency = np.arange(1.0, n + 1.0)
    damping = np.exp(-REACH * (frequency / n) ** _DAMPING) / (np.pi * frequency)
    step = np.pi / reach
    turns = np.exp(1j * ((centers - middles) * step)[:, :, np.newaxis] * frequency)
    coefficients = _transforms(rates, step, n, logits=logits) * turns * damping
    return [_Series(weights, middles[g], reach, coefficients[g]) for g in range(G)]


def _reach(rates: Sequence[ClassRates], *, logits: bool) -> Floats:
    """Return how far from its mean each part reaches, shape (parts,)."""
    variance = [one.variance_of_logit if logits else one.variance for one in rates]
    tails = [1.0 / (np.minimum(one.a, one.b) if logits else one.a + one.b) for one in rates]
    share = np.abs(np.eye(len(rates)) - 1.0 / len(rates))
    deviation = np.sqrt(np.max(share**2 @ variance, axis=0))
    reach = _DEVIATIONS * deviation + _TAILS * share.max() * np.max(tails, axis=0)
    return np.asarray(reach if logits else np.minimum(reach, share.max()))


def _n_frequencies(rates: Sequence[ClassRates], reach: Floats, *, logits: bool) -> Ints:
    """Return how many frequencies the characteristic functions of each part extend over.

    Of a rate it is about that of a gamma distribution, of a logit about that of a normal one.
    """
    share = np.abs(np.eye(len(rates)) - 1.0 / len(rates))[:, :, np.newaxis]
    a, b = (np.array([getattr(one, name) for one in rates]) for name in "ab")
    variance = np.array([one.variance_of_logit for one in rates])
    sharpest = np.minimum(variance, _SHARPEST_DEVIATION**2)
    result = np.full(reach.shape, _FREQUENCIES[-1])
    for n in reversed(_FREQUENCIES):
        t = np.pi * n / reach * share
        decay = t**2 * sharpest if logits else np.minimum(a, b) * np.log1p((t / (a + b)) ** 2)
        result[np.min(0.5 * decay.sum(axis=1), axis=0) > REACH] = n
    return result


def _transforms(
    rates: Sequence[ClassRates], step: Floats, n_frequencies: int, *, logits: bool
) -> Complexes:
    """Return the characteristic functions of the contrasts around their means.

    Of shape (G, parts, frequencies).
    """
    G = len(rates)
    transforms = [one.transform_of_logit if logits else one.transform for one in rates]
    own, other = (
        [transform(share * step, n_frequencies) for transform in transforms]
        for share in (1.0 - 1.0 / G, -1.0 / G)
    )
    return np.array([np.prod([own[g], *other[:g], *other[g + 1 :]], axis=0) for g in range(G)])
