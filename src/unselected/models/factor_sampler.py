"""The Markov chain of the factor model: factors of the cases, tau and tau_0 of the response.

A step moves, in turn:
1. tau and the part of the factors along the response, one up and the other down. The event nearly
   fixes their product, so that each alone could move only a short way. This is slice sampling with
   the parameters of all columns integrated out.
2. tau and tau_0 given the factors, in the same way.
3. The parameters of the columns given the factors: draws from closed forms.
4. tau and the loadings of the features in proportion, the factors integrated out and drawn again
   (Metropolis-Hastings). Otherwise the chain mixes slowly where the features carry little
   information: small loadings leave the factors free, and free factors keep the loadings small.
5. The factors of all cases given all parameters. Their law is normal times the probability of the
   event, which elliptical slice sampling takes into account. The event depends on the factors
   through few numbers, so that the step goes far.
6. The latent normals of a response in classes.
7. The scale of the factors, with tau and tau_0 in the opposite direction. All likelihoods, that of
   the event included, depend on tau^2 Z Z' only, so that only the priors matter.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from unselected._typing import Floats
from unselected.models.factor_columns import ColumnsGivenFactors, GivenFactors, Lines, Response
from unselected.numerics.slice_sampling import elliptical_step, slice_step
from unselected.omission.factor import FactorOmission

# Approximate widths of the densities of log tau^2, log tau_0^2 and of the log scale.
_WIDTH, _WIDTH_OF_RESPONSE, _WIDTH_OF_SCALE = 1.0, 2.0, 0.2
# The same for log tau^2 where the factors along the response move with it.
_WIDTH_OF_BOTH = 2.0
# Standard deviations of the log factor that multiplies the loadings, tried in turn.
_SPREADS = (0.2, 0.8)
# The logs of tau^2 are kept between these: outside nothing changes, and nothing overflows.
_LEAST_LOG, _LARGEST_LOG = -80.0, 20.0


@dataclass(eq=False)
class FactorState:
    """The state of a chain.

    Attributes
    ----------
    Z : array of shape (n, q)
    log_u, log_u0 : float
        Logs of tau^2 of the features, and of the response.
    column : array of shape (n,)
        The response, or its latent normals.
    features, response : Lines
        Parameters, in the units of the columns that the sampler was given.
    """

    Z: Floats
    log_u: float
    log_u0: float
    column: Floats
    features: Lines
    response: Lines


@dataclass(frozen=True, eq=False)
class FactorSampler:
    """The Markov chain on the posterior of the factor model.

    Attributes
    ----------
    X : array of shape (n, k)
        The kept features, each with mean near 0 and standard deviation near 1.
    response : Response
    event : FactorOmission
    q : int
    a, b : float
        1 / tau^2 and 1 / tau_0^2 are Inverse-Gamma(a, b).
    """

    X: Floats
    response: Response
    event: FactorOmission
    q: int
    a: float
    b: float

    def start(self, chain: int, rng: np.random.Generator) -> FactorState:  # noqa: ARG002
        """Return a state drawn from the prior, except for the parameters of the columns."""
        Z = rng.normal(size=(len(self.X), self.q))
        log_u, log_u0 = np.log(np.maximum(rng.gamma(self.a, 1.0 / self.b, size=2), 1e-6))
        column = self.response.start(rng)
        lines = ColumnsGivenFactors(self.X, Z).draw(np.exp(log_u), rng)
        of_response = self.response.given(column, Z).draw(np.exp(log_u0), rng)
        return FactorState(Z, float(log_u), float(log_u0), column, lines, of_response)

    def step(self, state: FactorState, rng: np.random.Generator) -> FactorState:
        """Return the next state."""
        state = self._with_both_moved(state, rng)
        features = ColumnsGivenFactors(self.X, state.Z)
        response = self.response.given(state.column, state.Z)
        log_u = self._renewed_tau(state.log_u, features, _WIDTH, rng, omitted_given=state.Z)
        log_u0 = self._renewed_tau(state.log_u0, response, _WIDTH_OF_RESPONSE, rng)
        lines, line = features.draw(np.exp(log_u), rng), response.draw(np.exp(log_u0), rng)
        state = FactorState(state.Z, log_u, log_u0, state.column, lines, line)
        for spread in _SPREADS:
            state = self._with_loadings_scaled(state, spread, rng)
        state = self._with_factors_drawn(state, rng)
        u0 = float(np.exp(log_u0))
        column = self.response.renew(state.Z, u0, line, rng)
        return self._rescaled(replace(state, column=column), rng)

    def _log_prior(self, log_u: Floats) -> Floats:
        """Return the log prior density of log tau^2, up to a constant."""
        inside = (log_u > _LEAST_LOG) & (log_u < _LARGEST_LOG)
        log_u = np.clip(log_u, _LEAST_LOG, _LARGEST_LOG)
        return np.where(inside, self.a * log_u - self.b * np.exp(log_u), -np.inf)

    def _with_both_moved(self, state: FactorState, rng: np.random.Generator) -> FactorState:
        """Multiply tau by c, and the factors along the response by 1 / c.

        This is a group of transformations, with the Jacobian c^-q.
        """
        if self.event.n_omitted == 0:
            return state
        direction, u0 = self.event.direction, np.exp([state.log_u0])
        along = np.outer(direction, direction @ state.Z)
        rest = state.Z - along

        def moved(log_c: Floats) -> tuple[Floats, Floats]:
            Z = rest + np.exp(-log_c)[:, np.newaxis, np.newaxis] * along
            return np.clip(state.log_u + 2.0 * log_c, _LEAST_LOG, _LARGEST_LOG), Z

        def log_density(log_c: Floats) -> Floats:
            log_u, Z = moved(log_c)
            logs = self._log_prior(state.log_u + 2.0 * log_c) - self.q * log_c
            logs -= 0.5 * np.sum(Z**2, axis=(1, 2))
            logs += self.event.log_event(np.exp(log_u), Z)
            for i, (one, u) in enumerate(zip(Z, np.exp(log_u)[:, np.newaxis], strict=True)):
                logs[i] += ColumnsGivenFactors(self.X, one).log_likelihood(u)[0]
                logs[i] += self.response.given(state.column, one).log_likelihood(u0)[0]
            return logs

        log_c = slice_step(log_density, 0.0, rng, width=0.5 * _WIDTH_OF_BOTH)
        log_u, Z = moved(np.array([log_c]))
        return replace(state, Z=Z[0], log_u=float(log_u[0]))

    def _renewed_tau(
        self,
        log_u: float,
        given: GivenFactors,
        width: float,
        rng: np.random.Generator,
        *,
        omitted_given: Floats | None = None,
    ) -> float:
        """Return log tau^2 of some columns drawn again; the features have omitted ones too."""

        def log_density(log_u: Floats) -> Floats:
            u = np.exp(np.clip(log_u, _LEAST_LOG, _LARGEST_LOG))
            logs = self._log_prior(log_u) + given.log_likelihood(u)
            if omitted_given is not None:
                logs += self.event.log_event(u, omitted_given[np.newaxis])
            return np.asarray(logs)

        return slice_step(log_density, log_u, rng, width=width)

    def _with_loadings_scaled(
        self, state: FactorState, spread: float, rng: np.random.Generator
    ) -> FactorState:
        """Multiply tau and the loadings of the features by c, and draw the factors again.

        The factors are drawn given the columns. So the acceptance ratio has the density of the
        columns with the factors integrated out, the prior of tau, and the event. The prior of the
        loadings and the Jacobian cancel.
        """
        log_c = spread * rng.normal()
        features = state.features._replace(loadings=np.exp(log_c) * state.features.loadings)
        new = replace(state, log_u=state.log_u + 2.0 * log_c, features=features)
        old_law, law = (FactorLaw(self.X, one) for one in (state, new))
        new.Z = law.draw(rng)
        u = np.exp(np.clip([state.log_u, new.log_u], _LEAST_LOG, _LARGEST_LOG))
        logs = self._log_prior(np.array([state.log_u, new.log_u]))
        logs += self.event.log_event(u, np.stack([state.Z, new.Z]))
        gain = law.log_marginal - old_law.log_marginal + logs[1] - logs[0]
        return new if np.log(1.0 - rng.random()) < gain else state

    def _with_factors_drawn(self, state: FactorState, rng: np.random.Generator) -> FactorState:
        """Draw the factors given all parameters: normal for each case, times the event."""
        law = FactorLaw(self.X, state)
        draw = law.draw(rng)
        if self.event.n_omitted == 0:
            return replace(state, Z=draw)
        u = np.exp(state.log_u)

        def log_event(places: Floats) -> Floats:
            return self.event.log_event(np.full(len(places), u), places)

        Z = elliptical_step(log_event, state.Z, law.center, draw - law.center, rng)
        return replace(state, Z=Z)

    def _rescaled(self, state: FactorState, rng: np.random.Generator) -> FactorState:
        """Scale the factors by c, and tau, tau_0 and all loadings by 1 / c.

        No likelihood changes. The Jacobian is c^(n q), that of the factors alone (generalised Gibbs
        sampling, Liu and Sabatti 2000), because the loadings are drawn again before they are used.
        """
        squares, size = float(np.sum(state.Z**2)), state.Z.size

        def log_density(log_c: Floats) -> Floats:
            priors = self._log_prior(state.log_u - 2.0 * log_c)
            priors += self._log_prior(state.log_u0 - 2.0 * log_c)
            return np.asarray(priors + size * log_c - 0.5 * squares * np.exp(2.0 * log_c))

        log_c = slice_step(log_density, 0.0, rng, width=_WIDTH_OF_SCALE)
        c = float(np.exp(log_c))
        return FactorState(
            c * state.Z,
            state.log_u - 2.0 * log_c,
            state.log_u0 - 2.0 * log_c,
            state.column,
            state.features._replace(loadings=state.features.loadings / c),
            state.response._replace(loadings=state.response.loadings / c),
        )

    def record(self, state: FactorState) -> dict[str, Any]:
        """Return a state with its factors rotated by `canonical_turn`."""
        turn = canonical_turn(state.Z, state.features, self.event.direction)
        Z = state.Z @ turn
        return {
            "tau": np.exp(0.5 * state.log_u),
            "tau_response": np.exp(0.5 * state.log_u0),
            "response_correlation": multiple_correlation(Z, self.event.direction),
            "factors": Z,
            "means": state.features.intercept,
            "loadings": state.features.loadings @ turn,
            "variances": state.features.variance,
            "intercept": state.response.intercept[0],
            "coefficients": state.response.loadings[0] @ turn,
            "noise_variance": state.response.variance[0],
        }


class FactorLaw:
    """The normal law of the factors given columns and their parameters, without the event.

    The precision is K = I + sum over columns of lambda lambda' / s^2, the same for all cases, and
    the means are ``center`` (n, q). ``log_marginal`` is the log density of the columns with the
    factors integrated out, up to terms that do not depend on the loadings.
    """

    def __init__(self, X: Floats, state: FactorState) -> None:
        features, response = state.features, state.response
        weighted = features.loadings / features.variance[:, np.newaxis]
        of_response = response.loadings / response.variance[:, np.newaxis]
        precision = features.loadings.T @ weighted + response.loadings.T @ of_response
        self.lower = np.asarray(np.linalg.cholesky(np.eye(len(precision)) + precision), float)
        pull = (X - features.intercept) @ weighted
        pull += (state.column - response.intercept[0])[:, np.newaxis] * of_response
        half = _solved(self.lower, pull.T)
        self.center = _solved(self.lower.T, half).T
        log_root = float(np.sum(np.log(np.diag(self.lower))))
        self.log_marginal = 0.5 * float(np.sum(half**2)) - len(X) * log_root

    def draw(self, rng: np.random.Generator) -> Floats:
        """Draw the factors of all cases."""
        noise = rng.normal(size=self.center.T.shape)
        return np.asarray(self.center + _solved(self.lower.T, noise).T)


def _solved(matrix: Floats, right: Floats) -> Floats:
    return np.asarray(np.linalg.solve(matrix, right), dtype=np.float64)


def canonical_turn(Z: Floats, features: Lines, direction: Floats) -> Floats:
    """Return the rotation (q, q) that identifies the factors.

    The posterior is invariant under rotations of the factors. After this one the first factor is
    the only one that is correlated with the response, positively. The others are ordered by how
    much of the features they explain, and their loadings have positive sums.
    """
    along = (Z - Z.mean(axis=0)).T @ direction
    q = along.size
    first = along / np.linalg.norm(along)
    if q == 1:
        return np.asarray(first[:, np.newaxis])
    rest = np.linalg.svd(first[np.newaxis])[2][1:].T
    scaled = features.loadings @ rest / np.sqrt(features.variance)[:, np.newaxis]
    rest = rest @ np.linalg.eigh(scaled.T @ scaled)[1][:, ::-1]
    signs = np.where(np.sum(features.loadings @ rest, axis=0) < 0.0, -1.0, 1.0)
    return np.column_stack([first, rest * signs])


def multiple_correlation(Z: Floats, direction: Floats) -> float:
    """Return the multiple correlation of the response with the factors."""
    Zc = Z - Z.mean(axis=0)
    along = Zc.T @ direction
    explained = along @ np.linalg.solve(Zc.T @ Zc, along)
    return float(np.sqrt(np.clip(explained, 0.0, 1.0)))
