"""The posterior of the effect of a binary feature: the difference of its rates between classes.

Given alpha and theta, phi_g is Beta(alpha theta + I_g, alpha (1 - theta) + n_g - I_g) in class g,
independently. With two classes the effect is phi_1 - phi_0, or the log of the odds ratio. With
several classes each has an effect: phi_g less the mean of all phi, or the same of their logits.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit

from unselected._typing import Floats, Ints
from unselected.fitted.class_rates import ClassRates
from unselected.fitted.effect_laws import LEAST_WEIGHT, EffectLaw
from unselected.fitted.rate_contrasts import rate_contrasts
from unselected.models.bernoulli import BernoulliModel
from unselected.models.bernoulli_posterior import BernoulliPosterior
from unselected.models.related import related_weights
from unselected.numerics.beta_binomial import CountLaw
from unselected.numerics.quadrature import gauss_legendre, log_sum, theta_nodes
from unselected.omission.count_tables import log_totals
from unselected.statistics.counts import ClassCounts

# With larger concentrations effects are about 1e-5, and lose all digits.
_LARGEST_ALPHA = 1e10
# Numbers of nodes of theta for the distribution of an effect, which depends on theta only weakly:
# where both values occur in all classes, and otherwise.
_THETAS = (8, 16)
# Vectors of counts that are processed at a time.
_VECTORS_TOGETHER = 64


@dataclass(frozen=True, eq=False)
class RatePosterior:
    """The posterior of the rates of features with one vector of counts: a mixture of betas.

    Attributes
    ----------
    weights : array of shape (parts,)
        Their sum is the probability that the feature is related.
    rates : tuple of ClassRates
        Of each class, arrays of shape (parts,).
    mean_logits : array of shape (G,)
        Means of logit(phi_g) - logit(theta) over all nodes of theta: they depend on the smallest
        where a class has only one value.
    """

    weights: Floats
    rates: tuple[ClassRates, ...]
    mean_logits: Floats

    def effects(self, *, logits: bool) -> Sequence[EffectLaw]:
        """Return the posteriors of the effects of the rates, or of their logits.

        Of two classes it is one effect, of several one for each class.
        """
        if len(self.rates) == 2:
            return [self._difference(logits=logits)]
        means = self.mean_logits if logits else None
        return rate_contrasts(self.weights, self.rates, means, logits=logits)

    def _difference(self, *, logits: bool) -> "RateDifference":
        """Return the posterior of the second class's rate less that of the first."""
        mean_of, variance_of = (
            ("mean_logit", "variance_of_logit") if logits else ("mean", "variance")
        )
        zero, one = self.rates
        each = getattr(one, mean_of) - getattr(zero, mean_of)
        variance = getattr(one, variance_of) + getattr(zero, variance_of)
        mean = float(self.weights @ each)
        if logits:
            mean = float(self.mean_logits[1] - self.mean_logits[0])
        squares = self.weights @ (variance + each**2)
        deviation = np.sqrt(max(float(squares) - mean**2, 0.0))
        null = max(0.0, 1.0 - self.weights.sum())
        return RateDifference(
            np.array([mean]), np.array([deviation]), np.array([null]), self, logits
        )


@dataclass(frozen=True, eq=False)
class RateDifference:
    """The posterior of a difference of rates, or of their logits; see `EffectLaw`."""

    mean: Floats
    deviation: Floats
    null: Floats
    posterior: RatePosterior
    logits: bool

    def cdf(self, x: Floats) -> Floats:
        """Return P(related, effect <= x) for x of shape (1, m)."""
        weights, (zero, one) = self.posterior.weights, self.posterior.rates
        # The rule covers the class with the narrower distributions: the other's are smooth there.
        variances = "variance_of_logit" if self.logits else "variance"
        if weights @ (getattr(one, variances) - getattr(zero, variances)) >= 0.0:
            return np.asarray(self._below(zero, one, x[0]) @ weights)[np.newaxis]
        above = self._below(one, zero, -x[0]) @ weights
        return np.asarray(weights.sum() - above)[np.newaxis]

    def _below(self, inner: ClassRates, other: ClassRates, shift: Floats) -> Floats:
        return inner.below_logit(other, shift) if self.logits else inner.below(other, shift)


def rate_posteriors(
    model: BernoulliModel, counts: ClassCounts, posterior: BernoulliPosterior
) -> Iterator[RatePosterior]:
    """Yield the posterior of the rates for each distinct vector of counts, in order.

    ``posterior.vector_of`` says which of them a feature has.
    """
    n_vectors = int(posterior.vector_of.max(initial=-1)) + 1
    vectors = np.zeros((counts.sizes.size, n_vectors), dtype=np.int64)
    vectors[:, posterior.vector_of] = counts.ones
    patterns, pattern_of_feature = counts.patterns()
    pattern_of = np.zeros(n_vectors, dtype=np.intp)
    pattern_of[posterior.vector_of] = pattern_of_feature
    # Vectors are sorted by pattern: those of a pattern are adjacent.
    for start, stop in _runs(pattern_of):
        sizes = patterns[pattern_of[start]]
        n_nodes = theta_nodes(int(sizes.sum())) * model.refinement
        law = CountLaw(tuple(sizes.tolist()), *gauss_legendre(n_nodes))
        for first in range(start, stop, _VECTORS_TOGETHER):
            some = vectors[:, first : min(first + _VECTORS_TOGETHER, stop)]
            yield from _rate_posteriors(law, some, posterior, model.rates == "given")


def _runs(values: Ints) -> list[tuple[int, int]]:
    """Return the starts and stops of runs of equal values."""
    starts = np.flatnonzero(np.diff(values, prepend=-1)).tolist()
    return list(pairwise([*starts, values.size]))


def _rate_posteriors(
    law: CountLaw, vectors: Ints, posterior: BernoulliPosterior, given: bool
) -> Iterator[RatePosterior]:
    log_alpha, alpha_of = np.unique(posterior.log_alpha, return_inverse=True)
    tables = np.stack([_log_tables(law, u, vectors) for u in [*np.exp(-log_alpha), 0.0]])
    log_vectors = log_sum(tables, axis=1)
    of_theta = np.exp(tables[:-1] - log_vectors[:-1, np.newaxis]).transpose(0, 2, 1)
    rules = [gauss_rule(law.theta, of_theta, n) for n in _THETAS]
    of_alpha = _related_weights(posterior, log_vectors, alpha_of, vectors, law, given)
    alpha = np.minimum(np.exp(np.minimum(log_alpha, 700.0)), _LARGEST_ALPHA)[:, np.newaxis]
    sizes = np.array(law.sizes)
    for place, ones in enumerate(vectors.T):
        one_value = bool(np.any((ones == 0) | (ones == sizes)))
        theta, weights = (part[:, place] for part in rules[int(one_value)])
        related = of_alpha[:, place, np.newaxis]
        live = weights * related > LEAST_WEIGHT
        rates = [ClassRates(each.a[live], each.b[live]) for each in _rates(law, alpha, theta, ones)]
        at_nodes = of_theta[:, place] * related
        logits = [
            float(np.sum(at_nodes * (each.mean_logit - logit(law.theta))))
            for each in _rates(law, alpha, law.theta, ones)
        ]
        yield RatePosterior((weights * related)[live], tuple(rates), np.array(logits))


def _related_weights(
    posterior: BernoulliPosterior,
    log_vectors: Floats,
    alpha_of: NDArray[np.intp],
    vectors: Ints,
    law: CountLaw,
    given: bool,
) -> Floats:
    """Return P(related, alpha) of each vector of counts, shape (alphas, vectors)."""
    by_node = np.exp(posterior.log_weights)
    log_ratio = log_vectors[:-1] - log_vectors[-1]
    if given and posterior.fractions is not None:
        log_total = log_totals(law, np.exp(-np.unique(posterior.log_alpha)))
        log_ratio -= log_total[:, vectors.sum(axis=0)] + np.log(sum(law.sizes) + 1.0)
    return related_weights(posterior.fractions, log_ratio, alpha_of, by_node)


def _rates(law: CountLaw, alpha: Floats, theta: Floats, ones: Ints) -> list[ClassRates]:
    """Return the distributions of the rates in each class given alpha and theta."""
    a, b = alpha * theta, alpha * (1.0 - theta)
    each = zip(ones.tolist(), law.sizes, strict=True)
    return [ClassRates(a + i, b + n - i) for i, n in each]


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


def _log_tables(law: CountLaw, u: float, vectors: Ints) -> Floats:
    """Return log P(theta, counts | alpha) at the nodes of theta, shape (thetas, vectors)."""
    logs = np.zeros((law.theta.size, vectors.shape[1]))
    for nodes, *of_classes in law.blocks(u):
        for log, ones in zip(of_classes, vectors, strict=True):
            logs[nodes] += log[:, ones]
    return logs + np.log(law.weights)[:, np.newaxis]
