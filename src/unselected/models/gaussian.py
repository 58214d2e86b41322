"""Naive Bayes for real-valued features, given an event: the paper's idea with conjugate scaling.

x = mu + phi(y)' w + noise, noise ~ N(0, s^2), w ~ N(0, tau^2 s^2 I), mu flat, p(s^2) ~ 1 / s^2.
phi codes the response: a unit vector for each class, so that class means are N(mu, tau^2 s^2), or y
in units of its standard deviation. tau is common to all features and takes the part of
1 / sqrt(alpha). Everything but tau is integrated out in closed form: given tau a new value of a
feature has a Student t distribution.

With ``shrinkage`` = d > 0 variances are drawn together instead: s_j^2 is inverse-chi-squared with d
degrees of freedom around a common variance, whose logarithm is flat and is integrated over
numerically. How a feature compares with the cut does not depend on s_j^2, so that the event stays
what it is.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln, gammaln

from unselected._typing import Floats
from unselected.models.concentration import ConcentrationPrior
from unselected.models.two_groups import FractionPrior, Fractions
from unselected.numerics.quadrature import NEGLIGIBLE, log_sum, trapezoid
from unselected.omission.real import log_real_omission
from unselected.selection.events import RealEvent
from unselected.statistics.moments import Contrasts

# Weaker shrinkage takes too many nodes of the common variance, stronger leaves no digits.
SHRINKAGE_BOUNDS = (0.1, 1e6)

# How far the end nodes have to be below the largest, and how much it may matter to leave out
# every second node, for a sum over nodes to be trusted: its error is about the square of that.
FAR_DOWN, LARGEST_DIFFERENCE = 25.0, 1e-4
# Nodes of a wide posterior, without and with a common variance, and how many are taken at a time.
_MOST_NODES, _MOST_NODES_OF_TWO = 20_000, 300
_NODES_TOGETHER = 256

# Elements of a table over nodes, rows and features that are worked on at a time.
_BLOCK = 1 << 17
# Values further out than this, in units of a feature's spread, say nothing more about the response.
_LARGEST = 1e100


@dataclass(frozen=True, eq=False)
class GaussianPosterior:
    """The posterior of tau (and of the common variance) as weighted nodes.

    Attributes
    ----------
    log_alpha, log_weights : arrays of shape (nodes,)
        alpha = 1 / tau^2. The weights sum to 1.
    log_at_most : array of shape (nodes,)
        Log of the probability that a feature without missing values is at most at the cut; 0 where
        there is no cut.
    log_evidence : float
        log P(kept features, event | y), up to a constant of the improper priors.
    log_variance : array of shape (nodes,)
        Log of the common variance; -inf where variances are not drawn together.
    contrasts : Contrasts
        Of the kept features.
    event : RealEvent
    model : GaussianModel
    """

    log_alpha: Floats
    log_weights: Floats
    log_at_most: Floats
    log_evidence: float
    log_variance: Floats
    contrasts: Contrasts
    event: RealEvent
    model: "GaussianModel"

    _of_nodes: ClassVar[tuple[str, ...]] = (
        "log_alpha",
        "log_weights",
        "log_at_most",
        "log_variance",
    )

    @property
    def fractions(self) -> Fractions | None:
        """The fraction of related features of each node; None where all features are related."""
        return None

    @property
    def related(self) -> Floats | None:
        """The posterior probability that each kept feature is related; None where all are."""
        return None

    @property
    def shrinkage(self) -> float:
        """The degrees of freedom d that draw the variances together."""
        return self.model.shrinkage

    @cached_property
    def wide(self) -> "GaussianPosterior":
        """The same posterior on many more nodes, over all values of tau that the prior allows.

        A row far from all training cases can make likely what these exclude.
        """
        return self.model.cover(self)

    def log_predictive(self, code: Floats, X: Floats) -> Floats:
        """Return the log density of rows whose response has this code, averaged over the nodes."""
        by_node = self.log_densities(code, X) + self.log_weights
        result = log_sum(by_node, axis=1)
        doubtful = self.is_doubtful(by_node)
        if doubtful.any():
            result[doubtful] = self._log_predictive_far(code, X[doubtful])
        return result

    def _log_predictive_far(self, code: Floats, X: Floats) -> Floats:
        """Return the same of rows for which the nodes do not do."""
        parts = [part.log_densities(code, X) + part.log_weights for part in self.wide.in_parts()]
        return log_sum(np.concatenate(parts, axis=1), axis=1)

    def log_densities(self, code: Floats, X: Floats) -> Floats:
        """Return the log density of such rows given the nodes, shape (rows, nodes)."""
        return self.law(code).log_density(X)

    def is_doubtful(self, by_node: Floats) -> NDArray[np.bool_]:
        """Say where a sum over the nodes, of the logs of its terms, cannot be trusted."""
        return is_doubtful(by_node)

    def in_parts(self) -> Iterator["GaussianPosterior"]:
        """Yield the posterior a few nodes at a time; the weights are those of the whole."""
        for start in range(0, self.log_weights.size, _NODES_TOGETHER):
            yield self.some_nodes(slice(start, start + _NODES_TOGETHER))

    def some_nodes(self, which: slice) -> "GaussianPosterior":
        """Return some of the nodes with their weights."""
        nodes: dict[str, Any] = {name: getattr(self, name)[which] for name in self._of_nodes}
        return replace(self, **nodes)

    def of_features(self) -> tuple["GaussianPosterior", Floats]:
        """Return nodes, and the posterior weight that each feature gives them, (k, nodes)."""
        weights = np.exp(self.log_weights)
        return self, np.broadcast_to(weights, (self.contrasts.n.size, weights.size))

    def law(self, code: Floats) -> "StudentLaw":
        """Return the law of the features of a new case whose response has this code.

        Student t with n - 1 + d degrees of freedom, given the node.
        """
        varying = self.contrasts.varying
        c, u = self.contrasts.take(varying), np.exp(-self.log_alpha)
        loc = np.broadcast_to(c.mean, (u.size, c.mean.size)).copy()
        spread = np.broadcast_to(1.0 + 1.0 / c.n, loc.shape).copy()
        for f, lam, beta in zip(c.coordinates(code).T, c.lam.T, c.beta.T, strict=True):
            share = u[:, np.newaxis] / (1.0 + np.multiply.outer(u, lam))
            loc += share * (f * np.sqrt(lam)) * beta
            spread += share * f**2
        drawn = self.shrinkage * np.exp(self.log_variance)[:, np.newaxis]
        squares = (c.squares(u) + drawn) * spread
        return StudentLaw(loc.T, squares.T, c.n - 1.0 + self.shrinkage, varying)


def is_doubtful(by_node: Floats) -> NDArray[np.bool_]:
    """Say where a sum over nodes cannot be trusted: its mass is at an end, or between nodes.

    Parameters
    ----------
    by_node : array of shape (..., nodes)
        Logs of the terms.
    """
    top = np.max(by_node, axis=-1)
    at_an_end = np.maximum(by_node[..., 0], by_node[..., -1]) > top - FAR_DOWN
    terms = np.exp(by_node - top[..., np.newaxis])
    half = 2.0 * terms[..., ::2].sum(axis=-1) / terms.sum(axis=-1)
    return np.asarray(at_an_end | (np.abs(half - 1.0) > LARGEST_DIFFERENCE))


@dataclass(frozen=True)
class StudentLaw:
    """Independent Student t laws of m features, for each of some nodes.

    The density of x is proportional to (squares + (x - loc)^2)^(-(df + 1) / 2). Constant
    features are left out: they say nothing.

    Attributes
    ----------
    loc, squares : arrays of shape (m, nodes)
    df : array of shape (m,)
    varying : array of shape (k,)
        Which of the k features are meant.
    """

    loc: Floats
    squares: Floats
    df: Floats
    varying: NDArray[np.bool_]

    def log_density(self, X: Floats) -> Floats:
        """Return the log density of rows, shape (rows, nodes); NaN is left out of the product."""
        values, known, loc, squares, half, constant = self._in_units(X)
        if known is None:
            total = np.broadcast_to(constant.sum(axis=0), (len(X), loc.shape[1])).copy()
        else:
            total = known.T.astype(np.float64) @ constant
        rows = max(1, _BLOCK // (8 * loc.shape[1]))
        for start in range(0, len(X), rows):
            block = slice(start, start + rows)
            seen = None if known is None else known[:, block]
            total[block] -= _weighted_logs(values[:, block], loc, squares, half, seen)
        return total

    def by_feature(self, X: Floats) -> Iterator[Floats]:
        """Yield the log densities of each feature, shape (rows, nodes); 0 where it is missing."""
        values, known, loc, squares, half, constant = self._in_units(X)
        for j, x in enumerate(values):
            gap = np.subtract.outer(x, loc[j])
            logs = constant[j] - half[j] * np.log(squares[j] + gap**2)
            if known is not None:
                logs[~known[j]] = 0.0
            yield logs

    def of_row(self, x: Floats) -> Floats:
        """Return the log densities of the features of one row, shape (features, nodes)."""
        values, known, loc, squares, half, constant = self._in_units(x[np.newaxis])
        logs = constant - half * np.log(squares + (values - loc) ** 2)
        return logs if known is None else np.where(known, logs, 0.0)

    def _in_units(
        self, X: Floats
    ) -> tuple[Floats, NDArray[np.bool_] | None, Floats, Floats, Floats, Floats]:
        """Return values, which are known (None for all), loc, squares, (df + 1) / 2 and constants.

        Measured from a feature's own place in its own unit, all numbers are about 1.
        """
        unit = np.sqrt(self.squares[:, :1])
        loc, squares = (self.loc - self.loc[:, :1]) / unit, self.squares / unit**2
        with np.errstate(over="ignore"):
            values = (X.T[self.varying] - self.loc[:, :1]) / unit
        known = ~np.isnan(values) if np.isnan(values.sum()) else None
        values = np.clip(values, -_LARGEST, _LARGEST)
        half = 0.5 * (self.df + 1.0)[:, np.newaxis]
        constant = gammaln(half) - gammaln(0.5 * self.df)[:, np.newaxis] - np.log(unit)
        constant = constant - 0.5 * np.log(np.pi) + (half - 0.5) * np.log(squares)
        if known is not None:
            values = np.where(known, values, 0.0)
        return values, known, loc, squares, half, constant


def _weighted_logs(
    values: Floats, loc: Floats, squares: Floats, half: Floats, known: NDArray[np.bool_] | None
) -> Floats:
    """Return sum_j half_j log(squares_j + (values_j - loc_j)^2), shape (rows, nodes)."""
    total = np.zeros((values.shape[1], loc.shape[1]))
    alike = bool(np.all(half == half[:1]))
    step = max(1, _BLOCK // total.size)
    if alike:
        step = min(step, _factors_together(values, loc, squares))
    for start in range(0, len(values), step):
        some = slice(start, start + step)
        terms = np.subtract(values[some, :, np.newaxis], loc[some, np.newaxis, :])
        np.multiply(terms, terms, out=terms)
        terms += squares[some, np.newaxis, :]
        if known is not None:
            np.copyto(terms, 1.0, where=~known[some, :, np.newaxis])
        if alike:  # one logarithm for many factors
            total += half[0] * np.log(np.multiply.reduce(terms, axis=0))
        else:
            total += np.tensordot(half[some, 0], np.log(terms, out=terms), 1)
    return total


def _factors_together(values: Floats, loc: Floats, squares: Floats) -> int:
    """Return how many factors neither overflow nor vanish when multiplied."""
    if squares.size == 0:
        return 1
    largest = np.max(np.abs(values), initial=0.0) + np.max(np.abs(loc))
    ends = np.log([np.min(squares), np.max(squares) + largest**2])
    return max(1, int(600.0 / max(1.0, float(np.max(np.abs(ends))))))


@dataclass(frozen=True)
class GaussianModel:
    """The model at the head of this module; alpha = 1 / tau^2 ~ Inverse-Gamma(a, b).

    ``refinement`` makes the quadrature finer than it need be, to check it.

    With ``least_fraction`` there are two groups of features: a fraction pi has tau, the others have
    0; pi is log-uniform from ``least_fraction`` to 1. Without it all features are related. Two
    groups are without ``shrinkage``; `two_real_groups` has their posterior.
    """

    a: float = 0.5
    b: float = 5.0
    shrinkage: float = 0.0
    refinement: int = 1
    least_fraction: float | None = None

    def simulate(
        self,
        codes: Floats,
        n_features: int,
        rng: np.random.Generator,
        *,
        tau: float | None = None,
        variance: float = 1.0,
        fraction: float | None = None,
    ) -> tuple[Floats, dict[str, Any]]:
        """Draw parameters and features of cases whose responses have these codes (n, d).

        ``mu`` is drawn from N(0, variance), and without shrinkage s^2 is ``variance`` for all
        features: the improper priors cannot be drawn from, and posteriors do not depend on it.
        Returns X of shape (n, n_features), and the parameters; with two groups also the fraction,
        and which features are related.
        """
        if tau is None:
            tau = float(np.sqrt(rng.gamma(self.a, 1.0 / self.b)))
        s2 = np.full(n_features, variance)
        if self.shrinkage > 0.0:
            s2 *= self.shrinkage / rng.chisquare(self.shrinkage, size=n_features)
        mu = rng.normal(scale=np.sqrt(variance), size=n_features)
        w = tau * np.sqrt(s2) * rng.normal(size=(codes.shape[1], n_features))
        groups: dict[str, Any] = {}
        if self.least_fraction is not None:
            groups = FractionPrior(self.least_fraction).simulate(n_features, rng, fraction)
            w *= groups["related"]
        X = rng.normal(size=(len(codes), n_features))
        X *= np.sqrt(s2)
        X += mu
        X += codes @ w
        return X, {"tau": tau, "mu": mu, "w": w, "s2": s2, **groups}

    def condition(self, contrasts: Contrasts, event: RealEvent) -> GaussianPosterior:
        """Return the posterior given the contrasts of the kept features and the event."""
        likelihood = RealLikelihood(self, contrasts, event)
        log_u, log_terms = ConcentrationPrior(self.a, self.b).integrate(
            likelihood.log_total,
            likelihood.n,
            contrasts.n.size + event.n_omitted,
            log_bound=likelihood.log_bound,
            growth=likelihood.growth,
            refinement=self.refinement,
        )
        return self._posterior(likelihood, contrasts, event, log_u, log_terms, reach=NEGLIGIBLE)

    def cover(self, posterior: GaussianPosterior) -> GaussianPosterior:
        """Return a posterior with nodes wherever the prior allows tau."""
        contrasts, event = posterior.contrasts, posterior.event
        likelihood = RealLikelihood(self, contrasts, event)
        log_u, log_terms = ConcentrationPrior(self.a, self.b).cover(
            likelihood.log_total,
            likelihood.n,
            np.unique(-posterior.log_alpha),
            _MOST_NODES if self.shrinkage == 0.0 else _MOST_NODES_OF_TWO,
        )
        return self._posterior(likelihood, contrasts, event, log_u, log_terms, reach=np.inf)

    def _posterior(
        self,
        likelihood: "RealLikelihood",
        contrasts: Contrasts,
        event: RealEvent,
        log_u: Floats,
        log_terms: Floats,
        reach: float,
    ) -> GaussianPosterior:
        """Return the posterior with these nodes, but for those further than ``reach`` down."""
        log_variance = np.full(log_u.size, -np.inf)
        if self.shrinkage > 0.0 and likelihood.some:
            log_u, log_variance, log_terms = likelihood.with_variance(log_u, log_terms)
            live = log_terms >= np.max(log_terms) - reach
            log_u, log_variance, log_terms = log_u[live], log_variance[live], log_terms[live]
        log_total = log_sum(log_terms)
        return GaussianPosterior(
            log_alpha=-log_u,
            log_weights=log_terms - log_total,
            log_at_most=log_real_omission(np.exp(log_u), event.patterns(slice(1)))[:, 0],
            log_evidence=float(log_total) + likelihood.log_constant,
            log_variance=log_variance,
            contrasts=contrasts,
            event=event,
            model=self,
        )


class RealLikelihood:
    """P(kept features, event | tau, y) as a function of log u = log tau^2."""

    def __init__(self, model: GaussianModel, contrasts: Contrasts, event: RealEvent) -> None:
        c = contrasts.take(contrasts.varying)
        self.contrasts, self.event = c, event.patterns(event.n_features > 0)
        self.d, self.refinement = model.shrinkage, model.refinement
        self.n = float(np.max(contrasts.n, initial=event.nu[0]))
        self.some = c.n.size > 0
        self.half, self.half_n = 0.5 * (c.n - 1.0 + self.d), 0.5 * (c.n - 1.0)
        self.growth = float(np.sum(self.half_n))
        # Sums of squares are measured in units of a typical one, so that their logs are small.
        total = c.within + np.sum(c.beta**2, axis=1)
        self.unit = float(np.exp(np.mean(np.log(total)))) if self.some else 1.0
        constants = gammaln(self.half) - 0.5 * np.log(c.n) - self.half_n * np.log(np.pi * self.unit)
        if self.d > 0.0:
            constants += 0.5 * self.d * np.log(self.d) - gammaln(0.5 * self.d)
        self.log_constant = float(np.sum(constants))

    def log_total(self, log_u: Floats) -> Floats:
        """Return the log likelihood at each of some log u."""
        total = np.zeros(log_u.shape)
        if self.event.n_omitted:
            total += self.event.log_prob(log_real_omission(np.exp(log_u), self.event))
        rows = max(1, _BLOCK // max(1, self.half.size))
        for start in range(0, log_u.size, rows):
            block = slice(start, start + rows)
            total[block] += self._log_features(np.exp(log_u[block]))
        return total

    def _squares(self, u: Floats) -> Floats:
        return self.contrasts.squares(u) / self.unit

    def _log_features(self, u: Floats) -> Floats:
        squares = self._squares(u)
        if self.d > 0.0 and self.some:
            fit = np.array([log_sum(self._over_variance(row)[1]) for row in squares])
        else:
            fit = -np.log(squares) @ self.half
        lam = self.contrasts.lam
        times = self.half.size if len(lam) == 1 else 1
        explained = np.sum(np.log1p(np.multiply.outer(u, lam)), axis=(1, 2))
        return np.asarray(fit - 0.5 * times * explained)

    def log_by_feature(self, u: Floats) -> Floats:
        """Return the log likelihood of each feature without shrinkage, shape (nodes, features)."""
        explained = np.sum(np.log1p(np.multiply.outer(u, self.contrasts.lam)), axis=2)
        return np.asarray(-np.log(self._squares(u)) * self.half - 0.5 * explained)

    def _over_variance(self, squares: Floats) -> tuple[Floats, Floats]:
        """Return nodes of the log common variance, and the logs of the terms of the integral."""
        k = self.half.size

        def log_density(log_variance: Floats) -> Floats:
            log_total = np.logaddexp(np.log(squares), np.log(self.d) + log_variance[:, np.newaxis])
            return np.asarray(0.5 * self.d * k * log_variance - log_total @ self.half)

        # Where d times the variance is far from all sums, the log density falls linearly: at no
        # less than half of its final rate from this far on.
        least = min(self.d, 2.0 * float(np.min(self.half_n)))
        far = np.log(4.0 * np.max(self.half) / least) + 4.0 * NEGLIGIBLE / (k * least)
        low, high = np.log(np.array([squares.min(), squares.max()]) / self.d)
        return trapezoid(log_density, low - far, high + far, self.refinement)

    def with_variance(self, log_u: Floats, log_terms: Floats) -> tuple[Floats, Floats, Floats]:
        """Return nodes of log u and of the log common variance together, with their log terms."""
        parts = []
        for x, term, squares in zip(log_u, log_terms, self._squares(np.exp(log_u)), strict=True):
            log_variance, inner = self._over_variance(squares)
            inner += term - log_sum(inner)
            parts.append((np.full(inner.size, x), log_variance + np.log(self.unit), inner))
        x, log_variance, joint = (np.concatenate(part) for part in zip(*parts, strict=True))
        return x, log_variance, joint

    def log_bound(self, log_u: Floats) -> Floats:
        """Return what the log likelihood does not exceed.

        No contrast counts less than with the largest lam. Of the integral over the common variance
        the first feature has its part, a beta function, and the others at most their maxima.
        """
        least = self._least_squares(log_u)
        bound = -np.log(least) @ self.half_n
        if self.d > 0.0 and self.some:
            others = 0.5 * self.d * np.log(2.0 * self.half_n)
            others = others + self.half * np.log(self.half / self.half_n)
            first = betaln(0.5 * self.d, self.half_n[0]) - 0.5 * self.d * np.log(self.d)
            bound = bound + first - np.sum(others[1:])
        return np.asarray(bound)

    def log_bound_of_new(self, log_u: Floats) -> Floats:
        """Return what the log density of a new case's features does not exceed, no shrinkage."""
        constants = gammaln(self.half + 0.5) - gammaln(self.half)
        least = np.log(np.pi * self.unit * self._least_squares(log_u))
        return np.asarray(np.sum(constants - 0.5 * least, axis=1))

    def _least_squares(self, log_u: Floats) -> Floats:
        """Return what the sums of squares are at least, shape (nodes, features)."""
        c = self.contrasts
        most = 1.0 + np.exp(log_u)[:, np.newaxis] * np.max(c.lam, initial=0.0)
        return np.asarray((c.within + np.sum(c.beta**2, axis=1) / most) / self.unit)
