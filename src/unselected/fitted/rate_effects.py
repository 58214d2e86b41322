"""The posterior of the effect of a binary feature: the difference of its rates in two classes.

Given alpha and theta, phi_g is Beta(alpha theta + I_g, alpha (1 - theta) + n_g - I_g) in class g,
independently. The effect is phi_1 - phi_0, or the log of the odds ratio.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import betainc, betaln, digamma, expit, log_expit, zeta

from unselected._typing import Floats, Ints
from unselected.fitted.effect_laws import LEAST_WEIGHT, REACH
from unselected.models.bernoulli import BernoulliModel
from unselected.models.bernoulli_posterior import BernoulliPosterior
from unselected.models.two_groups import related_weights
from unselected.numerics.beta_binomial import CountLaw
from unselected.numerics.quadrature import gauss_legendre, log_sum, theta_nodes
from unselected.statistics.counts import ClassCounts

# With larger concentrations effects are about 1e-5, and lose all digits.
_LARGEST_ALPHA = 1e10
# Numbers of nodes of theta for the distribution of an effect, which depends on theta only weakly:
# where both values occur in both classes, and otherwise.
_THETAS = (8, 16)
# Points of the rule for the rate of one class.
_POINTS = 32
# Beyond this logit the distribution function is a power of the odds.
_FAR_LOGIT = 30.0
# Pairs of counts that are processed at a time.
_PAIRS_TOGETHER = 64


class _Rates(NamedTuple):
    """Components of a mixture of beta distributions of the rate in a class."""

    a: Floats
    b: Floats

    @property
    def mean(self) -> Floats:
        return self.a / (self.a + self.b)

    @property
    def variance(self) -> Floats:
        return self.a * self.b / ((self.a + self.b) ** 2 * (self.a + self.b + 1.0))

    @property
    def mean_logit(self) -> Floats:
        return np.asarray(digamma(self.a) - digamma(self.b))

    @property
    def variance_of_logit(self) -> Floats:
        return np.asarray(zeta(2.0, self.a) + zeta(2.0, self.b))

    def cdf(self, rate: Floats) -> Floats:
        """Return P(phi <= rate) for arrays of shape (..., parts, points)."""
        a, b = self.a[:, np.newaxis], self.b[:, np.newaxis]
        return np.asarray(betainc(a, b, np.clip(rate, 0.0, 1.0)))

    def cdf_of_logit(self, x: Floats) -> Floats:
        """Return P(logit phi <= x) likewise, also where phi is next to 0 or 1."""
        a, b = self.a[:, np.newaxis], self.b[:, np.newaxis]
        result = self.cdf(expit(x))
        log_beta = betaln(a, b)
        low = np.exp(np.minimum(a * x - np.log(a) - log_beta, 0.0))
        high = -np.expm1(np.minimum(-b * x - np.log(b) - log_beta, 0.0))
        return np.where(x < -_FAR_LOGIT, low, np.where(x > _FAR_LOGIT, high, result))

    def below_logit(self, other: "_Rates", shift: Floats) -> Floats:
        """Return P(logit of the other <= logit of this + shift), shape (shifts, parts)."""
        a, b = self.a[:, np.newaxis], self.b[:, np.newaxis]
        width = np.sqrt(1.0 / (a + 1.0) + 1.0 / (b + 1.0))
        x, log_steps = _sinh_rule(np.log(a / b), width, a, b)
        log_density = a * log_expit(x) + b * log_expit(-x) + log_steps
        weights = np.exp(log_density - log_density.max(axis=1, keepdims=True))
        weights /= weights.sum(axis=1, keepdims=True)
        below = other.cdf_of_logit(x + shift[:, np.newaxis, np.newaxis])
        return np.asarray(np.sum(weights * below, axis=2))

    def below(self, other: "_Rates", shift: Floats) -> Floats:
        """Return P(the other <= this + shift), shape (shifts, parts).

        The rule covers the interval where this rate and the shifted one are both between 0 and 1,
        in the logit of that interval, in which the integrand is smooth at the ends.
        """
        a, b = self.a[:, np.newaxis], self.b[:, np.newaxis]
        e = np.clip(shift, -1.0 + 1e-12, 1.0 - 1e-12)[:, np.newaxis, np.newaxis]
        low, above = np.maximum(0.0, -e), np.maximum(0.0, e)
        length = 1.0 - low - above
        mean, deviation = a / (a + b), np.sqrt(self.variance)[:, np.newaxis]
        near = np.minimum(0.25, deviation / length)
        middle = np.clip((mean - low) / length, near, 1.0 - near)
        width = np.minimum(1.0, deviation / (length * middle * (1.0 - middle)))
        tails = np.where(low > 0.0, 1.0, a), np.where(above > 0.0, 1.0, b)
        x, log_steps = _sinh_rule(np.log(middle / (1.0 - middle)), width, *tails)
        log_inside, log_rest = (np.log(length) + log_expit(side) for side in (x, -x))
        with np.errstate(divide="ignore"):
            log_phi = np.logaddexp(np.log(low), log_inside)
            log_complement = np.logaddexp(np.log(above), log_rest)
        log_density = (a - 1.0) * log_phi + (b - 1.0) * log_complement - betaln(a, b)
        log_density += log_inside + log_expit(-x) + log_steps
        below = other.cdf(np.maximum(e, 0.0) + np.exp(log_inside))
        total = np.sum(np.exp(log_density) * below, axis=2)
        return np.asarray(total + betainc(self.b, self.a, above[:, :, 0]))


def _sinh_rule(place: Floats, width: Floats, left: Floats, right: Floats) -> tuple[Floats, Floats]:
    """Return points and log steps for an integrand with tails exp(left x) and exp(-right x).

    The steps are equal in t, where x = place + width sinh(t). In t the integrand decays
    double-exponentially, so that the sum converges geometrically. The arguments have a last axis of
    1, for the points.
    """
    far = np.sqrt(2.0 * REACH)
    first, last = (np.arcsinh(far + REACH / (tail * width)) for tail in (left, right))
    step = (first + last) / (_POINTS - 1)
    t = step * np.arange(_POINTS) - first
    return place + width * np.sinh(t), np.log(step * width * np.cosh(t))


@dataclass(frozen=True, eq=False)
class PairPosterior:
    """The posterior of the rates of features with one pair of counts: a mixture of betas.

    Attributes
    ----------
    weights : array of shape (parts,)
        Their sum is the probability that the feature is related.
    rates : pair of _Rates
        Of each class, arrays of shape (parts,).
    mean_log_odds_ratio : float
        Over all nodes of theta: it depends on the smallest where a class has only one value.
    """

    weights: Floats
    rates: tuple[_Rates, _Rates]
    mean_log_odds_ratio: float

    def difference(self) -> "RateEffect":
        """Return the posterior of phi_1 - phi_0."""
        zero, one = self.rates
        each = one.mean - zero.mean
        mean = float(self.weights @ each)
        return self._effect(mean, each, zero.variance + one.variance, logits=False)

    def log_odds_ratio(self) -> "RateEffect":
        """Return the posterior of logit(phi_1) - logit(phi_0)."""
        zero, one = self.rates
        each = one.mean_logit - zero.mean_logit
        variance = zero.variance_of_logit + one.variance_of_logit
        return self._effect(self.mean_log_odds_ratio, each, variance, logits=True)

    def _effect(self, mean: float, each: Floats, variance: Floats, *, logits: bool) -> "RateEffect":
        squares = self.weights @ (variance + each**2)
        deviation = np.sqrt(max(float(squares) - mean**2, 0.0))
        null = max(0.0, 1.0 - self.weights.sum())
        return RateEffect(np.array([mean]), np.array([deviation]), np.array([null]), self, logits)


@dataclass(frozen=True, eq=False)
class RateEffect:
    """The posterior of a difference of rates, or of their logits; see `EffectLaw`."""

    mean: Floats
    deviation: Floats
    null: Floats
    pair: PairPosterior
    logits: bool

    def cdf(self, x: Floats) -> Floats:
        """Return P(related, effect <= x) for x of shape (1, m)."""
        zero, one = self.pair.rates
        weights = self.pair.weights
        # The rule covers the class with the narrower distributions: the other's are smooth there.
        variances = "variance_of_logit" if self.logits else "variance"
        if weights @ (getattr(one, variances) - getattr(zero, variances)) >= 0.0:
            return np.asarray(self._below(zero, one, x[0]) @ weights)[np.newaxis]
        above = self._below(one, zero, -x[0]) @ weights
        return np.asarray(weights.sum() - above)[np.newaxis]

    def _below(self, inner: _Rates, other: _Rates, shift: Floats) -> Floats:
        return inner.below_logit(other, shift) if self.logits else inner.below(other, shift)


def pair_posteriors(
    model: BernoulliModel, counts: ClassCounts, posterior: BernoulliPosterior
) -> Iterator[PairPosterior]:
    """Yield the posterior of the rates for each distinct pair of counts, in order.

    ``posterior.pair_of`` says which of them a feature has.
    """
    pairs = np.zeros((2, int(posterior.pair_of.max(initial=-1)) + 1), dtype=np.int64)
    pairs[:, posterior.pair_of] = counts.I0, counts.I1
    n = counts.n0 + counts.n1
    law = CountLaw(counts.n0, counts.n1, *gauss_legendre(theta_nodes(n) * model.refinement))
    for start in range(0, pairs.shape[1], _PAIRS_TOGETHER):
        yield from _pair_posteriors(law, pairs[:, start : start + _PAIRS_TOGETHER], posterior)


def _pair_posteriors(
    law: CountLaw, pairs: Ints, posterior: BernoulliPosterior
) -> Iterator[PairPosterior]:
    log_alpha, alpha_of = np.unique(posterior.log_alpha, return_inverse=True)
    tables = np.stack([_log_tables(law, u, pairs) for u in [*np.exp(-log_alpha), 0.0]])
    log_pairs = log_sum(tables, axis=1)
    given = np.exp(tables[:-1] - log_pairs[:-1, np.newaxis]).transpose(0, 2, 1)
    rules = [gauss_rule(law.theta, given, n) for n in _THETAS]
    log_ratio, by_node = log_pairs[:-1] - log_pairs[-1], np.exp(posterior.log_weights)
    of_alpha = related_weights(posterior.fractions, log_ratio, alpha_of, by_node)
    alpha = np.minimum(np.exp(np.minimum(log_alpha, 700.0)), _LARGEST_ALPHA)[:, np.newaxis]
    for place, (I0, I1) in enumerate(pairs.T):
        one_value = min(I0, I1) == 0 or I0 == law.n0 or I1 == law.n1
        theta, weights = (part[:, place] for part in rules[int(one_value)])
        related = of_alpha[:, place, np.newaxis]
        live = weights * related > LEAST_WEIGHT
        rates = _rates(law, alpha, theta, I0, I1)
        zero, one = (_Rates(each.a[live], each.b[live]) for each in rates)
        zeros, ones = _rates(law, alpha, law.theta, I0, I1)
        logits = float(np.sum(given[:, place] * related * (ones.mean_logit - zeros.mean_logit)))
        yield PairPosterior((weights * related)[live], (zero, one), logits)


def _rates(law: CountLaw, alpha: Floats, theta: Floats, I0: int, I1: int) -> tuple[_Rates, _Rates]:
    """Return the distributions of the rates in both classes given alpha and theta."""
    a, b = alpha * theta, alpha * (1.0 - theta)
    return _Rates(a + I0, b + law.n0 - I0), _Rates(a + I1, b + law.n1 - I1)


def gauss_rule(points: Floats, weights: Floats, n: int) -> tuple[Floats, Floats]:
    """Return n nodes and weights with the first 2 n moments of each of some discrete distributions.

    The coefficients of Lanczos' recurrence form a matrix whose eigenvalues are the nodes.

    Parameters
    ----------
    points : array of shape (m,)
    weights : array of shape (..., m)
        Each row sums to 1.
    n : int
        All points are returned where they are no more than this.

    Returns
    -------
    nodes, weights : arrays of shape (..., n)

    Examples
    --------
    >>> points = np.linspace(-1.0, 1.0, 9)
    >>> nodes, weights = gauss_rule(points, np.full(9, 1.0 / 9.0), 3)
    >>> bool(abs(weights @ nodes**4 - np.mean(points**4)) < 1e-12)
    True
    """
    if points.size <= n:
        return np.broadcast_to(points, weights.shape), weights
    vectors = [np.sqrt(weights)]
    matrix = np.zeros((*weights.shape[:-1], n, n))
    for i in range(n):
        rest = points * vectors[i]
        matrix[..., i, i] = np.sum(vectors[i] * rest, axis=-1)
        for _ in range(2):  # twice is enough
            for known in vectors:
                rest = rest - np.sum(known * rest, axis=-1, keepdims=True) * known
        size = np.linalg.norm(rest, axis=-1)
        if i + 1 < n:
            # A distribution with fewer than n points ends here: later nodes have no weight.
            size = np.where(size > 1e-13, size, 0.0)
            matrix[..., i, i + 1] = matrix[..., i + 1, i] = size
            vectors.append(rest / np.where(size > 0.0, size, np.inf)[..., np.newaxis])
    nodes, directions = np.linalg.eigh(matrix)
    return np.clip(nodes, points.min(), points.max()), directions[..., 0, :] ** 2


def _log_tables(law: CountLaw, u: float, pairs: Ints) -> Floats:
    """Return log P(theta, I0, I1 | alpha) at the nodes of theta, shape (thetas, pairs)."""
    logs = np.empty((law.theta.size, pairs.shape[1]))
    for nodes, log_p0, log_p1 in law.blocks(u):
        logs[nodes] = log_p0[:, pairs[0]] + log_p1[:, pairs[1]]
    return logs + np.log(law.weights)[:, np.newaxis]
