"""The prior of the concentration alpha, and the integral over it, common to the naive Bayes models.

With real-valued features 1 / alpha is tau^2. The nodes are placed in v, where
log(1/alpha) = v - exp(-v) - log(n). That is linear where the data are informative about alpha, and
double-exponential towards alpha = infinity, where they are not and the prior decreases only like a
power. One trapezoid rule then covers the bulk and the tail.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import gammainc, gammainccinv, gammaln

from unselected._typing import Floats, Ints
from unselected.numerics.quadrature import NEGLIGIBLE, SCAN, TOLERANCE, trapezoid

LogFunction = Callable[[Floats], Floats]

# The coarse rule: nodes of log u, from tau = 0.02 to tau = 8 where u is tau^2. Where fewer nodes
# than this have nearly all of the mass, steps around the largest are divided by four.
_COARSE = np.linspace(2.0 * np.log(0.02), 2.0 * np.log(8.0), 28)
_FEWEST_NODES, _MOST_DIVISIONS = 3.0, 4
# Beyond this log u there is hardly ever any mass.
_MOST_LOG_U = 7.5


@dataclass(frozen=True)
class ConcentrationPrior:
    """alpha ~ Inverse-Gamma(a, b): u = 1/alpha ~ Gamma(a, rate b).

    ``coarse`` places few nodes: enough for an average over models, but not for nine digits.
    """

    a: float
    b: float
    coarse: bool = False

    def quantile_nodes(self, K: int) -> Floats:
        """Return log u at the midpoints of K equal parts of the prior: the paper's nodes."""
        return np.asarray(np.log(gammainccinv(self.a, (np.arange(K) + 0.5) / K) / self.b))

    def log_prior(self, v: Floats, log_n: float) -> Floats:
        """Return the log prior density of v."""
        log_u = _log_u(v, log_n)
        jacobian = np.log1p(np.exp(-v))
        constant = self.a * np.log(self.b) - gammaln(self.a)
        return np.asarray(constant + self.a * log_u - self.b * np.exp(log_u) + jacobian)

    def integrate(
        self,
        log_likelihood: LogFunction,
        n: float,
        n_features: float,
        *,
        log_bound: LogFunction,
        growth: float = 0.0,
        refinement: int = 1,
        tolerance: float = TOLERANCE,
        rough: LogFunction | None = None,
        ahead: bool = False,
    ) -> tuple[Floats, Floats]:
        """Place nodes over the mass of prior times likelihood.

        Parameters
        ----------
        log_likelihood : callable
            Log of the likelihood, the event included, at an array of log u.
        n, n_features : float
            The log likelihood of a feature changes with u at most like n^2 u.
        log_bound : callable
            An upper bound of the log likelihood, as a function of log u.
        growth : float
            The largest rate at which the bound grows with log u.
        refinement, tolerance
            See `trapezoid`.
        rough : callable, optional
            The log likelihood with few digits, at a lower cost: it finds where the mass is.
        ahead : bool
            Ask at once for what is needed later where the likelihood keeps it, and many values cost
            little more than few.

        Returns
        -------
        log_u, log_terms : arrays
            The integral is sum(exp(log_terms)).
        """
        if self.coarse:
            return self._few_nodes(log_likelihood)
        log_n = float(np.log(n))

        def density_with(log_likelihood: LogFunction) -> LogFunction:
            return lambda v: np.asarray(self.log_prior(v, log_n) + log_likelihood(_log_u(v, log_n)))

        log_density = density_with(log_likelihood)
        scanned = log_density if rough is None else density_with(rough)
        low, high = self._bounds(scanned, log_n, n_features, log_bound, growth, ahead)
        v, log_terms = trapezoid(log_density, low, high, refinement, tolerance, scanned)
        return _log_u(v, log_n), log_terms

    def _few_nodes(self, log_likelihood: LogFunction) -> tuple[Floats, Floats]:
        """Return a few nodes over the mass, and their log terms."""
        ((_, log_u, log_terms),) = self.few_nodes(
            lambda log_u, _: log_likelihood(log_u)[np.newaxis], 1
        )
        return log_u, log_terms[0]

    def few_nodes(
        self, log_likelihoods: Callable[[Floats, Ints], Floats], n_sets: int
    ) -> list[tuple[Ints, Floats, Floats]]:
        """Place a few nodes over the mass of each of some likelihoods.

        Where all of it is between two nodes, steps around the best one are divided by four.

        Parameters
        ----------
        log_likelihoods : callable
            Returns the logs of some of the likelihoods at an array of log u, (likelihoods, log u).
            The last log u that it is asked for are those that are returned.
        n_sets : int
            The number of likelihoods.

        Returns
        -------
        rules : list of (which, log_u, log_terms)
            Likelihoods with the same nodes, these, and the log terms (likelihoods, log u).
        """
        found = []
        waiting = [(np.arange(n_sets), _COARSE, float(_COARSE[1] - _COARSE[0]), _MOST_DIVISIONS)]
        while waiting:
            which, log_u, step, n_divisions = waiting.pop()
            log_terms = self._log_of_steps(log_u, step) + log_likelihoods(log_u, which)
            weights = np.exp(log_terms - np.max(log_terms, axis=1, keepdims=True))
            n_nodes = weights.sum(axis=1) ** 2 / (weights**2).sum(axis=1)
            # Not the contrary: a likelihood that is nowhere a number has no best node.
            narrow = n_nodes < _FEWEST_NODES if n_divisions else np.zeros(which.size, dtype=bool)
            if not narrow.all():
                found.append((which[~narrow], log_u, log_terms[~narrow]))
            best, finer = np.argmax(log_terms, axis=1), 0.25 * step
            for place in np.unique(best[narrow]).tolist():
                around = log_u[place] + finer * np.arange(-6.0, 7.0)
                same = which[narrow & (best == place)]
                waiting.append((same, around, finer, n_divisions - 1))
        return found

    def _log_of_steps(self, log_u: Floats, step: float) -> Floats:
        """Return the log prior of steps around nodes of log u; the first has all that is below."""
        logs = self.a * (log_u + np.log(self.b)) - gammaln(self.a) - self.b * np.exp(log_u)
        logs += np.log(step)
        if log_u[0] == _COARSE[0]:
            below = np.log(gammainc(self.a, self.b * np.exp(log_u[0] - 0.5 * step)))
            logs[0] = np.logaddexp(logs[0], below)
        return np.asarray(logs)

    def _bounds(
        self,
        log_density: LogFunction,
        log_n: float,
        n_features: float,
        log_bound: LogFunction,
        growth: float,
        ahead: bool,
    ) -> tuple[float, float]:
        """Return an interval of v outside of which there is no mass."""
        # Below, only the prior's power of u is left, whatever the data.
        log_rate = np.log(self.b + n_features * np.exp(2.0 * log_n))
        decay = max(0.0, log_rate - log_n - np.log(self.a)) + 100.0 / self.a + 1.0
        low = float(np.floor(-np.log(decay)))  # an integer, so that the scan hits the points below
        # Above, prior and bound limit the density. The density at some points in between tells how
        # small they have to be.
        middle = low + np.arange(np.ceil(-low) + 3)
        if ahead:
            log_density(np.arange(low, max(middle[-1], np.ceil(log_n) + _MOST_LOG_U), SCAN))
        needed = np.max(log_density(middle)) - NEGLIGIBLE
        high = middle[-1:]
        while (
            self.log_prior(high, log_n)[0] + log_bound(_log_u(high, log_n))[0] > needed
            or self.b * np.exp(_log_u(high, log_n)[0]) < self.a + growth
        ):
            high = high + 1.0
        return low, float(high[0])

    def cover(
        self, log_likelihood: LogFunction, n: float, log_u: Floats, most: int
    ) -> tuple[Floats, Floats]:
        """Place equal steps over all that prior and likelihood do not exclude.

        This is for integrands whose mass lies elsewhere. The steps are half the smallest between
        the given nodes. They end below where nothing depends on u any more.

        Parameters
        ----------
        log_likelihood, n
            See `integrate`.
        log_u : array
            Nodes that integrate prior times likelihood.
        most : int
            Largest number of nodes; the steps are longer where it would be exceeded.

        Returns
        -------
        log_u, log_terms : arrays
        """
        log_n = float(np.log(n))
        known = np.sort(v_of(log_u, log_n))
        step = 0.5 * float(np.min(np.diff(known)))
        low, high = min(-5.0, known[0]), known[-1] + 1.0
        while self.log_prior(np.array([high]), log_n)[0] > -600.0:
            high += 1.0
        size = min(most, int(np.ceil((high - low) / step)) + 1)
        v = np.linspace(low, high, size)
        log_terms = self.log_prior(v, log_n) + log_likelihood(_log_u(v, log_n))
        return _log_u(v, log_n), np.asarray(log_terms + np.log(v[1] - v[0]))


def v_of(log_u: Floats, log_n: float) -> Floats:
    """Return v where log u = v - exp(-v) - log(n), by Newton's method from below."""
    target = log_u + log_n
    v = np.where(target > 0.0, target, -np.log1p(np.maximum(-target, 0.0)))
    for _ in range(60):
        v = v - (v - np.exp(-v) - target) / (1.0 + np.exp(-v))
    return np.asarray(v)


def _log_u(v: Floats, log_n: float) -> Floats:
    return np.asarray(v - np.exp(-v) - log_n)
