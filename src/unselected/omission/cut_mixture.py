"""Scores of two classes for which P(omitted) is an average over cuts on a ratio.

Let beta be the contrast between the classes and W the sum of squares within them. Given something
whose law does not depend on tau (the share of W that is in the first class, or the shape of the
residuals), a feature is omitted when beta^2 / W' <= kappa, where beta^2 / W' has the law of
(1 + lam tau^2) chi^2_1 / chi^2_nu'. So P(omitted) is an average over kappa, with known weights.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import betainc, betaincinv, ndtr, ndtri, stdtr

from unselected._typing import Floats
from unselected.selection.real_score_kinds import Volcano
from unselected.selection.scored_event import ScoredEvent

# Normal quantiles further out have no weight in double precision.
_FARTHEST = 8.5
_STEP = 0.125
_N_GAUSS = 60
# Below this a difference from 1 would lose digits.
_SMALL_T = 0.05


@dataclass(frozen=True, eq=False)
class CutMixture:
    """P(omitted) = sum of weights times P((1 + lam tau^2) chi^2_1 <= kappa chi^2_nu).

    Some weights may be negative.
    """

    kappa: Floats
    weights: Floats
    nu: float

    def log_omitted(self, v: Floats) -> Floats:
        """Return log P(omitted) where 1 + lam tau^2 = 1 / v^2, shape (v,)."""
        t = np.multiply.outer(v, np.sqrt(self.kappa * self.nu))
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(np.clip(_within(t, self.nu) @ self.weights, 0.0, 1.0)))

    def less(self, other: "CutMixture") -> "CutMixture":
        """Return the difference of two probabilities."""
        kappa = np.append(self.kappa, other.kappa)
        return CutMixture(kappa, np.append(self.weights, -other.weights), self.nu)


# A feature that is always omitted.
CERTAIN = CutMixture(np.array([np.inf]), np.ones(1), 1.0)


def moderated_t(event: ScoredEvent, cut: float) -> CutMixture:
    """Return the law of a moderated t, Student t with d_0 + nu degrees of freedom at tau = 0."""
    assert event.prior is not None
    nu = event.prior.df + float(event.nu[0])
    return _single(cut**2 / nu, nu)


def mean_difference(event: ScoredEvent, cut: float) -> CutMixture:
    """Return the law of a difference of means, Student t with d_0 degrees of freedom."""
    prior = event.prior
    assert prior is not None
    return _single(cut**2 * _effective(event) / (prior.df * prior.scale), prior.df)


def welch(event: ScoredEvent, cut: float) -> CutMixture:
    """Return the law of Welch's t, an average over the share b of W that is in the first class.

    b ~ Beta((n_0 - 1) / 2, (n_1 - 1) / 2).
    """
    n0, n1 = _sizes(event)
    z = np.arange(-_FARTHEST, _FARTHEST + _STEP, _STEP)
    share = betaincinv(0.5 * (n0 - 1.0), 0.5 * (n1 - 1.0), ndtr(z))
    error = share / ((n0 - 1.0) * n0) + (1.0 - share) / ((n1 - 1.0) * n1)
    weights = np.exp(-0.5 * z**2)
    kappa = cut**2 * _effective(event) * error
    return CutMixture(kappa, weights / weights.sum(), float(event.nu[0]))


def volcano(event: ScoredEvent, cut: float) -> CutMixture:
    """Return the law of the volcano score, an average over W.

    W / (W + d_0 s_0^2) ~ Beta(nu / 2, d_0 / 2). Given W the difference is Student t with d_0 + nu
    degrees of freedom, and has to exceed the larger of two bounds.
    """
    prior, score, nu = event.prior, event.score, float(event.nu[0])
    assert prior is not None
    assert isinstance(score, Volcano)
    least, least_t = score.bounds(cut, nu)
    drawn, m = prior.df * prior.scale, _effective(event)
    # The bounds are equal at this W.
    kink = nu * m * (least / least_t) ** 2 if least_t > 0.0 else np.inf
    half = 0.5 * nu, 0.5 * prior.df
    at_kink = float(np.clip(ndtri(betainc(*half, kink / (kink + drawn))), -_FARTHEST, _FARTHEST))
    if not np.isfinite(kink):
        at_kink = _FARTHEST
    z, weights = _in_two_parts(at_kink)
    share = betaincinv(*half, ndtr(z))
    kappa = np.maximum(least**2 * m * (1.0 - share) / drawn, least_t**2 * share / nu)
    return CutMixture(kappa, weights, prior.df + nu)


MIXTURES: dict[str, Callable[[ScoredEvent, float], CutMixture]] = {
    "welch": welch,
    "moderated_t": moderated_t,
    "mean_difference": mean_difference,
    "volcano": volcano,
}


def _within(t: Floats, nu: float) -> Floats:
    """Return P(|Student t| <= t), with small relative errors also where it is small."""
    within = 1.0 - 2.0 * stdtr(nu, -t)
    small = t < _SMALL_T
    squares = t[small] ** 2
    within[small] = betainc(0.5, 0.5 * nu, squares / (nu + squares))
    return np.asarray(within)


def _single(kappa: float, nu: float) -> CutMixture:
    return CutMixture(np.array([kappa]), np.ones(1), nu)


def _sizes(event: ScoredEvent) -> tuple[int, int]:
    assert event.sizes is not None
    n0, n1 = event.sizes.tolist()
    return n0, n1


def _effective(event: ScoredEvent) -> float:
    """Return n_0 n_1 / n: beta^2 is the squared difference of means times this."""
    n0, n1 = _sizes(event)
    return n0 * n1 / (n0 + n1)


def _in_two_parts(middle: float) -> tuple[Floats, Floats]:
    """Return nodes and weights of normal quantiles, for functions with a kink."""
    places, weights = np.polynomial.legendre.leggauss(_N_GAUSS)
    ends = np.array([-_FARTHEST, middle, _FARTHEST])
    halves = 0.5 * np.diff(ends)[:, np.newaxis]
    z = (ends[:-1, np.newaxis] + halves * (1.0 + places)).ravel()
    density = (halves * weights).ravel() * np.exp(-0.5 * z**2)
    return z, density / density.sum()
