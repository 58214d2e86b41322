"""Two groups of features: a fraction pi of them is related to the response, the others are not.

A related feature has the concentration alpha (tau^2 = 1 / alpha), an unrelated one alpha = infinity
(tau = 0). With f_j(alpha) the likelihood of a feature, P(alpha) the probability that it is omitted,
and both at alpha = infinity for "null",

    pi f_j(alpha) + (1 - pi) f_j(null)    and    pi P(alpha) + (1 - pi) P(null)

replace f_j(alpha) and P(alpha). Terms in alpha are computed once for each node of alpha. The
integrand over pi is then a function of a single variable, log-concave in pi.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from unselected._typing import Floats
from unselected.models.mixed_products import TOGETHER, MixedProducts
from unselected.numerics.quadrature import NEGLIGIBLE, gauss_rule, log_sum, trapezoid

# Ends of the variable t of the rule: less than 1e-40 of the prior is outside.
FARTHEST = 4.2
# Allowed change when every second node of t, or of alpha, is left out. In t the error of the full
# rule is at most its square. In alpha it is less certain, because bulk and tail can differ.
_TOLERANCE, ALPHA_TOLERANCE = 1e-4, 1e-6
# Values of log(pi) of the coarse rule, and how far below the largest its terms are used, in logs.
_N_COARSE, COARSE_REACH = 12, 14.0
# Largest absolute value of the log of a product.
_ROOM = 600.0


class Fractions(NamedTuple):
    """Values of log(pi) and of log(1 - pi), each to full precision."""

    log_related: Floats
    log_rest: Floats

    @property
    def log_odds(self) -> Floats:
        """log(pi / (1 - pi)); infinite where all features are related."""
        return np.asarray(self.log_related - self.log_rest)

    def take(self, which: slice) -> "Fractions":
        """Return some of the values."""
        return Fractions(self.log_related[which], self.log_rest[which])


LogLikelihood = Callable[[Fractions], Floats]


@dataclass(frozen=True)
class FractionPrior:
    """pi is log-uniform from ``least`` to 1, or 1 with probability ``all_related``.

    With ``least`` = 1 / p the logarithm of the number of related features is uniform, from one
    feature to all. ``coarse`` places few nodes: see `ConcentrationPrior`.

    The rule is placed in t, where log(pi) = log(least) s and s = 1 / (1 + exp(3.14... sinh(t))).
    The prior decays double-exponentially at both ends of t, so that a trapezoid rule needs no end
    points.
    """

    least: float
    all_related: float = 0.0
    coarse: bool = False

    @classmethod
    def of(cls, least: float | None, all_related: float, coarse: bool) -> "FractionPrior":
        """Return the prior of a model; with ``least`` None all features are related."""
        return cls(1.0 if least is None else least, all_related, coarse)

    def fractions(self, t: Floats) -> Fractions:
        """Return pi at these values of t."""
        log_related = np.asarray(np.log(self.least) * expit(-np.pi * np.sinh(t)))
        with np.errstate(divide="ignore"):
            return Fractions(log_related, np.log(-np.expm1(log_related)))

    def log_density(self, t: Floats) -> Floats:
        """Return the log prior density of t."""
        x = np.pi * np.sinh(np.abs(t))
        return np.asarray(np.log(np.pi * np.cosh(t)) - x - 2.0 * np.log1p(np.exp(-x)))

    def simulate(
        self, n_features: int, rng: np.random.Generator, fraction: float | None = None
    ) -> dict[str, Any]:
        """Draw pi, or use the one given, and which of the features are related."""
        if fraction is None:
            fraction = float(self.least ** rng.random())
            if self.all_related and rng.random() < self.all_related:
                fraction = 1.0
        return {"fraction": fraction, "related": rng.random(n_features) < fraction}

    def integrate(self, log_likelihood: LogLikelihood, refinement: int) -> tuple[Floats, Floats]:
        """Return nodes of t over the mass of prior times likelihood, and the logs of their terms.

        >>> prior = FractionPrior(1e-4)
        >>> t, log_terms = prior.integrate(lambda pi: pi.log_related, refinement=1)
        >>> round(float(np.exp(log_sum(log_terms)) * np.log(1e4)), 9)  # 1 - 1e-4
        0.9999
        """
        if self.least == 1.0:
            return np.zeros(1), log_likelihood(self.fractions(np.zeros(1)))
        if self.coarse:
            t, log_prior = self.few_nodes()
            return t, np.asarray(log_prior + log_likelihood(self.fractions(t)))

        def log_density(t: Floats) -> Floats:
            return np.asarray(self.log_density(t) + log_likelihood(self.fractions(t)))

        return trapezoid(log_density, -FARTHEST, FARTHEST, refinement, _TOLERANCE)

    def few_nodes(self) -> tuple[Floats, Floats]:
        """Return t at the midpoints of equal parts of log(pi), and at infinity, where pi is 1.

        The second array has their log probabilities.
        """
        if self.least == 1.0:
            return np.zeros(1), np.zeros(1)
        shares = (np.arange(_N_COARSE) + 0.5) / _N_COARSE
        t = np.arcsinh(-logit(shares) / np.pi)
        log_prior = np.full(_N_COARSE, np.log1p(-self.all_related) - np.log(_N_COARSE))
        if self.all_related:
            t = np.append(t, np.inf)
            log_prior = np.append(log_prior, np.log(self.all_related))
        return t, log_prior


def check_groups(least_fraction: float | None, all_related: float) -> None:
    """Raise where a probability that all features are related has no other group beside it."""
    if all_related and least_fraction is None:
        raise ValueError(
            f"all_related={all_related} needs least_fraction: without it all features are related."
        )


class Nodes(NamedTuple):
    """Nodes of alpha and pi together; those with the same alpha are adjacent.

    Attributes
    ----------
    log_u : array of shape (alphas,)
    alpha_of : array of shape (nodes,)
        Which of the alphas a node has.
    fractions : Fractions
        Of the nodes.
    log_terms : array of shape (nodes,)
    """

    log_u: Floats
    alpha_of: NDArray[np.intp]
    fractions: Fractions
    log_terms: Floats


class TwoGroups:
    """The likelihood averaged over pi as a function of log u, cached.

    Parameters
    ----------
    prior : FractionPrior
    mixtures : callable
        Returns, for each of some log u, the log likelihood as a function of pi.
    refinement : int
    table : callable, default=None
        Returns the log likelihood at some log u and pi, (log u, pi): faster for the coarse rule,
        which has the same pi at all of them.
    """

    def __init__(
        self,
        prior: FractionPrior,
        mixtures: Callable[[Floats], list[LogLikelihood]],
        refinement: int,
        table: Callable[[Floats, Fractions], Floats] | None = None,
    ) -> None:
        self._prior, self._mixtures, self._refinement = prior, mixtures, refinement
        self._table = table
        self._rules: dict[float, tuple[Floats, Floats]] = {}

    def log_total(self, log_u: Floats) -> Floats:
        """Return the log likelihood at each of some log u, averaged over pi."""
        return _log_sums([log_terms for _, log_terms in self._rules_at(log_u)])

    def nodes(self, log_u: Floats, log_terms: Floats) -> Nodes:
        """Return nodes of log u and pi, without those that add nothing.

        ``log_terms`` are those of log u alone, which include `log_total`.
        """
        rules = self._rules_at(log_u)
        surplus = log_terms - _log_sums([inner for _, inner in rules])
        terms = [inner + more for (_, inner), more in zip(rules, surplus, strict=True)]
        joint = self._flat(log_u, [t for t, _ in rules], terms)
        reach = COARSE_REACH if self._prior.coarse else NEGLIGIBLE
        live = joint.log_terms > np.max(joint.log_terms) - reach
        kept, alpha_of = np.unique(joint.alpha_of[live], return_inverse=True)
        fractions = Fractions(joint.fractions.log_related[live], joint.fractions.log_rest[live])
        return Nodes(log_u[kept], alpha_of, fractions, joint.log_terms[live])

    def few_nodes(self, log_u: Floats, log_weights: Floats, n: int) -> Nodes:
        """Return at most n nodes of pi for each of some weighted log u: Gauss rules.

        Products over features are smooth functions of log(pi + c), with c the mean of pi.
        """
        places, terms = [], []
        for (t, inner), log_weight in zip(self._rules_at(log_u), log_weights, strict=True):
            log_pi, log_total = self._prior.fractions(t).log_related, log_sum(inner)
            log_mean = log_sum(log_pi + inner) - log_total
            moved, few = gauss_rule(np.logaddexp(log_pi, log_mean), inner, n)
            places.append(np.minimum(moved + np.log1p(-np.exp(log_mean - moved)), 0.0))
            terms.append(few + log_weight - log_total)
        log_related = np.concatenate(places)
        with np.errstate(divide="ignore"):
            fractions = Fractions(log_related, np.log(-np.expm1(log_related)))
        alpha_of = np.repeat(np.arange(log_u.size), [part.size for part in terms])
        return Nodes(log_u, alpha_of, fractions, np.concatenate(terms))

    def _rules_at(self, log_u: Floats) -> list[tuple[Floats, Floats]]:
        new = np.array([x for x in log_u if float(x) not in self._rules])
        if new.size and self._prior.coarse and self._table is not None:
            t, log_prior = self._prior.few_nodes()
            terms = self._table(new, self._prior.fractions(t)) + log_prior
            self._rules |= {x: (t, row) for x, row in zip(new.tolist(), terms, strict=True)}
        elif new.size:
            for x, log_likelihood in zip(new.tolist(), self._mixtures(new), strict=True):
                self._rules[x] = self._rule(log_likelihood)
        return [self._rules[float(x)] for x in log_u]

    def _rule(self, log_likelihood: LogLikelihood) -> tuple[Floats, Floats]:
        if not self._prior.coarse:
            some = log_likelihood(self._prior.fractions(np.linspace(-FARTHEST, FARTHEST, 9)))
            if np.all(np.isneginf(some)):
                return np.zeros(1), np.full(1, -np.inf)  # where the data are impossible
        return self._prior.integrate(log_likelihood, self._refinement)

    def _flat(self, log_u: Floats, places: list[Floats], terms: list[Floats]) -> Nodes:
        alpha_of = np.repeat(np.arange(log_u.size), [part.size for part in terms])
        fractions = self._prior.fractions(np.concatenate(places))
        return Nodes(log_u, alpha_of, fractions, np.concatenate(terms))


def _log_sums(rows: list[Floats]) -> Floats:
    """Return the log of the sum of each row; all at once where the rows have one length."""
    if len({row.size for row in rows}) == 1:
        return log_sum(np.array(rows), axis=1)
    return np.array([log_sum(row) for row in rows])


class FractionSummary(NamedTuple):
    """The posterior of the fraction of related features: mean and central 90 % interval."""

    mean: float
    low: float
    high: float


def summarize_fraction(pi: Fractions, log_weights: Floats) -> FractionSummary:
    """Return mean and interval of the fraction from weighted nodes.

    >>> pi = Fractions(np.log([0.1, 0.2, 0.3]), np.log([0.9, 0.8, 0.7]))
    >>> summarize_fraction(pi, np.log([0.25, 0.5, 0.25])).mean.__round__(12)
    0.2
    """
    order = np.argsort(pi.log_related)
    fraction, weights = np.exp(pi.log_related[order]), np.exp(log_weights[order])
    # A node represents the interval half-way to its neighbours.
    below = np.cumsum(weights) - 0.5 * weights
    low, high = np.exp(np.interp([0.05, 0.95], below, pi.log_related[order]))
    return FractionSummary(float(weights @ fraction), float(low), float(high))


def log_mixed(pi: Fractions, log_related: Floats, log_null: Floats) -> Floats:
    """Return log(pi P + (1 - pi) P0) from log(P) and log(P0), which broadcast.

    Where both are near 1, their complements are mixed, so that small complements keep their digits.

    >>> half = Fractions(np.log([0.5]), np.log([0.5]))
    >>> bool(log_mixed(half, np.array([-1e-20]), np.array([0.0]))[0] == -5e-21)
    True
    """
    if np.min(log_related, initial=0.0) > -0.5 and np.min(log_null, initial=0.0) > -0.5:
        lacking = np.exp(pi.log_related) * np.expm1(log_related)
        return np.asarray(np.log1p(lacking + np.exp(pi.log_rest) * np.expm1(log_null)))
    if _has_room(log_related) and _has_room(log_null):  # much faster than in logs
        parts = np.exp(pi.log_related) * np.exp(log_related)
        parts = parts + np.exp(pi.log_rest) * np.exp(log_null)
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(parts))
    return np.logaddexp(pi.log_related + log_related, pi.log_rest + log_null)


def _has_room(logs: Floats) -> bool:
    """Say whether no probability is so small that a product with another underflows, but 0."""
    return bool(np.all((logs > -0.5 * _ROOM) | np.isneginf(logs)))


def log_each(pi: Fractions, log_ratio: Floats) -> Floats:
    """Return log(1 - pi + pi f_j / g_j) for each pi and each feature, shape (fractions, ...).

    ``log_ratio`` has the ratios of the features, in any shape.

    >>> quarter = Fractions(np.log([0.25]), np.log([0.75]))
    >>> np.exp(log_each(quarter, np.log([5.0, 1.0]))).round(12).tolist()
    [[2.0, 1.0]]
    """
    log_rest = pi.log_rest.reshape(-1, *(1,) * log_ratio.ndim)
    if np.max(np.abs(log_ratio), initial=0.0) > _ROOM:
        return np.logaddexp(np.add.outer(pi.log_related, log_ratio), log_rest)
    parts = np.multiply.outer(np.exp(pi.log_related), np.exp(log_ratio))
    parts += np.exp(log_rest)
    return np.asarray(np.log(parts, out=parts))


def log_product(log_ratio: Floats) -> LogLikelihood:
    """Return the sum over features of `log_each`, as a function of pi.

    There is one logarithm for many factors.

    >>> quarter = Fractions(np.log([0.25]), np.log([0.75]))
    >>> np.exp(log_product(np.log([5.0, 3.0]))(quarter)).round(12).tolist()
    [3.0]
    """
    size = np.abs(log_ratio)
    # A factor is between 1 and its ratio, whatever pi is.
    part = np.floor(np.cumsum(size) / (0.5 * _ROOM))
    starts = np.flatnonzero(np.diff(part, prepend=-1.0)).tolist()
    ranges = [slice(*ends) for ends in pairwise([*starts, size.size])]
    large = [np.max(size[each]) > 0.5 * _ROOM for each in ranges]
    ratios = [
        log_ratio[each] if far else np.exp(log_ratio[each])
        for each, far in zip(ranges, large, strict=True)
    ]

    def log_likelihood(pi: Fractions) -> Floats:
        result = np.zeros(pi.log_related.shape)
        for ratio, far in zip(ratios, large, strict=True):
            if far:
                result += log_each(pi, ratio).sum(axis=1)
                continue
            parts = np.multiply.outer(ratio, np.exp(pi.log_related))
            parts += np.exp(pi.log_rest)
            result += np.log(np.multiply.reduce(parts, axis=0))
        return result

    return log_likelihood


def log_products(
    log_ratios: Iterable[Floats],
    alpha_of: NDArray[np.intp],
    pi: Fractions,
    shape: tuple[int, ...],
) -> Floats:
    """Return the sum over features of log(1 - pi + pi ratio) at each node, for each of some rows.

    Parameters
    ----------
    log_ratios : iterable of arrays of shape (..., alphas)
        One for each feature.
    alpha_of, pi
        Of the nodes; see `Nodes`.
    shape : tuple
        (..., nodes), that of the result.
    """
    products = MixedProducts(
        np.exp(pi.log_related), np.exp(pi.log_rest), alpha_of, math.prod(shape[:-1]), _ROOM
    )
    far, sure = np.zeros(shape), np.zeros(1)
    least_odds, n_sure = float(np.min(pi.log_odds)), 0
    for log_ratio in log_ratios:
        if np.min(log_ratio, initial=0.0) + least_odds > NEGLIGIBLE:
            # The feature is certainly related, so that there is nothing to mix.
            n_sure, sure = n_sure + 1, sure + log_ratio
            continue
        need = float(np.max(np.abs(log_ratio), initial=0.0))
        if need > _ROOM / TOGETHER:
            related = np.take(log_ratio, alpha_of, axis=-1) + pi.log_related
            far += np.logaddexp(related, pi.log_rest)
            continue
        products.multiply(log_ratio.reshape(-1, log_ratio.shape[-1]), need)
    total = far + products.logs().reshape(shape)
    if n_sure:
        total += np.take(sure, alpha_of, axis=-1) + n_sure * pi.log_related
    return total
