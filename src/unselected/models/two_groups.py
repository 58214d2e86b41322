"""Two groups of features: a fraction pi of them is related to the response, the others are not.

A related feature has the concentration alpha (tau^2 = 1 / alpha), an unrelated one alpha = infinity
(tau = 0). With f_j(alpha) the likelihood of a feature, P(alpha) the probability that it is omitted,
and both at alpha = infinity for "null",

    pi f_j(alpha) + (1 - pi) f_j(null)    and    pi P(alpha) + (1 - pi) P(null)

replace f_j(alpha) and P(alpha). Terms in alpha are computed once for each node of alpha. The
integrand over pi is then a function of a single variable, log-concave in pi.
"""

import math
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unselected._typing import Floats
from unselected.models.fractions import (
    FARTHEST,
    FractionPrior,
    Fractions,
    LogLikelihood,
    LogLikelihoods,
)
from unselected.models.mixed_products import TOGETHER, MixedProducts, expanded
from unselected.numerics.interpolation import interpolate
from unselected.numerics.quadrature import NEGLIGIBLE, gauss_rule, log_sum

# Allowed change when every second node of alpha is left out. In t the error of the full rule is at
# most its square; in alpha it is less certain, because bulk and tail can differ.
ALPHA_TOLERANCE = 1e-6
# How far below the largest the terms of the coarse rule are used, in logs.
COARSE_REACH = 14.0
# For Gauss rules of pi: logs of pi plus this part of its mean are the variable. Of 0.01 to 10 it
# needed the fewest nodes.
_SHIFT = 0.1
# Largest absolute value of the log of a product.
_ROOM = 600.0
# At most so many new log u are taken from polynomials through so many known ones, which must not be
# further apart than this.
_MOST_BETWEEN, _NEAREST, _NEAR = 4, 6, 6.0


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


class Mixtures(NamedTuple):
    """Log likelihoods at some log u as functions of pi.

    Attributes
    ----------
    one : callable
        Returns one of them by its number.
    log_likelihoods : callable or None
        Several of them at once, at fractions of shape (log u, m); None where there is no such way.
    """

    one: Callable[[int], LogLikelihood]
    log_likelihoods: LogLikelihoods | None = None


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
        mixtures: Callable[[Floats], Mixtures],
        refinement: int,
        table: Callable[[Floats, Fractions], Floats] | None = None,
    ) -> None:
        self._prior, self._mixtures, self._refinement = prior, mixtures, refinement
        self._table = table
        self._rules: dict[float, tuple[Floats, Floats]] = {}

    def log_total(self, log_u: Floats) -> Floats:
        """Return the log likelihood at each of some log u, averaged over pi."""
        return _log_sums([log_terms for _, log_terms in self._rules_at(log_u)])

    def log_total_roughly(self, log_u: Floats) -> Floats:
        """Return the same; where a few new values are among known ones, by polynomials.

        A search for a peak asks for a few values at a time, which cost nearly as much as many.
        """
        new = np.array([_key(x) not in self._rules for x in log_u])
        known = np.array(sorted(self._rules))
        if not 0 < new.sum() <= _MOST_BETWEEN or known.size < _NEAREST:
            return self.log_total(log_u)
        first = np.searchsorted(known, log_u[new]) - _NEAREST // 2
        first = np.clip(first, 0, known.size - _NEAREST)
        if np.max(known[first + _NEAREST - 1] - known[first]) > _NEAR:
            return self.log_total(log_u)
        some = slice(int(first.min()), int(first.max()) + _NEAREST)
        values = self.log_total(known[some])
        if not np.all(np.isfinite(values)):
            return self.log_total(log_u)
        result = np.empty(log_u.size)
        result[~new] = self.log_total(log_u[~new]) if not new.all() else 0.0
        between = interpolate(log_u[new], known[some], values[:, np.newaxis], _NEAREST)
        result[new] = between[:, 0]
        return result

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

        Products over features are smooth functions of log(pi + c), with c a part of the mean of pi.
        """
        places, terms = [], []
        for (t, inner), log_weight in zip(self._rules_at(log_u), log_weights, strict=True):
            log_pi, log_total = self._prior.fractions(t).log_related, log_sum(inner)
            shift = log_sum(log_pi + inner) - log_total + np.log(_SHIFT)
            moved, few = gauss_rule(np.logaddexp(log_pi, shift), inner, n)
            places.append(np.minimum(moved + np.log1p(-np.exp(shift - moved)), 0.0))
            terms.append(few + log_weight - log_total)
        log_related = np.concatenate(places)
        fractions = Fractions(log_related, _log(-np.expm1(log_related)))
        alpha_of = np.repeat(np.arange(log_u.size), [part.size for part in terms])
        return Nodes(log_u, alpha_of, fractions, np.concatenate(terms))

    def _rules_at(self, log_u: Floats) -> list[tuple[Floats, Floats]]:
        new = np.array([x for x in log_u if _key(x) not in self._rules])
        if new.size and self._prior.coarse and self._table is not None:
            t, log_prior = self._prior.few_nodes()
            terms = self._table(new, self._prior.fractions(t)) + log_prior
            self._rules |= {_key(x): (t, row) for x, row in zip(new, terms, strict=True)}
        elif new.size:
            rules = self._rules_of(self._mixtures(new), new.size)
            self._rules |= zip(map(_key, new), rules, strict=True)
        return [self._rules[_key(x)] for x in log_u]

    def _rules_of(self, mixtures: Mixtures, n: int) -> Iterator[tuple[Floats, Floats]]:
        rules: list[tuple[Floats, Floats] | None] = [None] * n
        if mixtures.log_likelihoods is not None:
            rules = self._prior.integrate_together(mixtures.log_likelihoods, n, self._refinement)
        for i, rule in enumerate(rules):
            yield self._rule(mixtures.one(i)) if rule is None else rule

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


def _key(log_u: float) -> float:
    """Return what stands for a value of log u; rounding does not make it another one."""
    return round(float(log_u), 10)


def _log_sums(rows: list[Floats]) -> Floats:
    """Return the log of the sum of each row; none is empty."""
    flat, sizes = np.concatenate(rows), [row.size for row in rows]
    starts = np.cumsum([0, *sizes[:-1]])
    top = np.maximum.reduceat(flat, starts)
    top = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        return np.asarray(
            np.log(np.add.reduceat(np.exp(flat - np.repeat(top, sizes)), starts)) + top
        )


def log_mixed(pi: Fractions, log_related: Floats, log_null: Floats) -> Floats:
    """Return log(pi P + (1 - pi) P0) from log(P) and log(P0), which broadcast.

    Where both are near 1, their complements are mixed, so that small complements keep their digits.

    >>> half = Fractions(np.log([0.5]), np.log([0.5]))
    >>> bool(log_mixed(half, np.array([-1e-20]), np.array([0.0]))[0] == -5e-21)
    True
    """
    return mixing(log_related, log_null)(pi)


def mixing(log_related: Floats, log_null: Floats) -> LogLikelihood:
    """Return `log_mixed` as a function of pi."""
    if np.min(log_related, initial=0.0) > -0.5 and np.min(log_null, initial=0.0) > -0.5:
        lacking = np.expm1(log_related), np.expm1(log_null)
        return lambda pi: np.asarray(np.log1p(_mixed(pi, *lacking)))
    if not (_has_room(log_related) and _has_room(log_null)):
        return lambda pi: np.logaddexp(pi.log_related + log_related, pi.log_rest + log_null)
    parts = np.exp(log_related), np.exp(log_null)
    return lambda pi: _log(_mixed(pi, *parts))  # much faster


def _mixed(pi: Fractions, related: Floats, null: Floats) -> Floats:
    return np.asarray(np.exp(pi.log_related) * related + np.exp(pi.log_rest) * null)


def _log(values: Floats) -> Floats:
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(values))


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


def log_product_together(log_ratio: Floats) -> LogLikelihoods:
    """Return the same for some sets of ratios (sets, features), as a function of sets and pi.

    The fractions are of shape (sets, m).

    >>> quarter = Fractions(np.log([[0.25]]), np.log([[0.75]]))
    >>> product = log_product_together(np.log([[1.0, 1.0], [5.0, 3.0]]))
    >>> np.exp(product(np.array([1]), quarter)).round(12).tolist()
    [[3.0]]
    """
    size = np.max(np.abs(log_ratio), axis=0, initial=0.0)
    far = size > 0.5 * _ROOM / TOGETHER
    n_near = int(np.sum(~far))
    # Factors of 1 fill up the last group.
    ratios = np.ones((-(-n_near // TOGETHER) * TOGETHER, len(log_ratio)))
    ratios[:n_near] = np.exp(log_ratio[:, ~far].T)
    needs = np.zeros(len(ratios))
    needs[:n_near] = size[~far]
    in_groups = ratios.reshape(-1, TOGETHER, len(log_ratio)).swapaxes(0, 1)
    polynomials = np.ones((len(log_ratio), in_groups.shape[1], TOGETHER + 1))
    polynomials[..., 1:] = expanded(in_groups).transpose(2, 1, 0)
    part = np.floor(np.cumsum(needs.reshape(-1, TOGETHER).sum(axis=1)) / (0.5 * _ROOM))
    starts = np.flatnonzero(np.diff(part, prepend=-1.0))
    powers = np.arange(TOGETHER + 1)[:, np.newaxis]

    def log_likelihoods(which: NDArray[np.intp], pi: Fractions) -> Floats:
        result = np.zeros(pi.log_related.shape)
        if starts.size:
            values = np.exp(pi.log_related)[:, np.newaxis] ** powers
            values *= np.exp(pi.log_rest)[:, np.newaxis] ** (TOGETHER - powers)
            products = np.matmul(polynomials[which], values)
            result += np.log(np.multiply.reduceat(products, starts, axis=1)).sum(axis=1)
        for j in np.flatnonzero(far):
            more = log_ratio[which, j, np.newaxis] + pi.log_related
            result += np.logaddexp(more, pi.log_rest)
        return result

    return log_likelihoods


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
        low, high = float(np.min(log_ratio, initial=0.0)), float(np.max(log_ratio, initial=0.0))
        if low + least_odds > NEGLIGIBLE:
            # The feature is certainly related, so that there is nothing to mix.
            n_sure, sure = n_sure + 1, sure + log_ratio
            continue
        need = max(-low, high)
        if need > _ROOM / TOGETHER:
            related = np.take(log_ratio, alpha_of, axis=-1) + pi.log_related
            far += np.logaddexp(related, pi.log_rest)
            continue
        products.multiply(log_ratio.reshape(-1, log_ratio.shape[-1]), need)
    total = far + products.logs().reshape(shape)
    if n_sure:
        total += np.take(sure, alpha_of, axis=-1) + n_sure * pi.log_related
    return total
