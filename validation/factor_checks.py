"""Is the chain of the factor model right? Geweke's joint-distribution test, and calibration.

Used by the tests with few steps and replicates, and by `latent_factor.py` with many.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from calibration_under_selection import Replicate

from unselected._typing import Floats
from unselected.models.factor import FactorModel
from unselected.models.factor_predictive import Kind
from unselected.models.factor_sampler import FactorLaw, FactorSampler, FactorState
from unselected.numerics.chains import ChainSettings, library
from unselected.numerics.kernels import kernels_for_chains
from unselected.omission.factor import FactorOmission
from unselected.selection.events import RealEvent
from unselected.selection.real_scores import RealScores
from unselected.selection.rules import keep_top
from unselected.statistics.rows import KeptRows
from unselected.statistics.summing import class_moments, line_moments

# Of Geweke's test: cases, kept and omitted features, and the cut.
N, K, N_OMITTED, GAMMA = 9, 3, 30, 0.4
# Of calibration under selection.
N_TRAIN, N_TEST, N_FEATURES, N_KEPT = 24, 60, 3000, 5
NONE = np.array([], dtype=int)

STATISTICS = ("tau", "tau_0", "tau^2", "COR^2 of factor and response", "factor squared", "product")


class ForgetfulSampler(FactorSampler):
    """A wrong twin: the event is forgotten where the factors are drawn."""

    def _with_factors_drawn(self, state: FactorState, rng: np.random.Generator) -> FactorState:
        return replace(state, Z=FactorLaw(self.X, state).draw(rng))


def statistics(u: Floats, u0: Floats, squares: Floats, along: Floats) -> Floats:
    """Return what is compared, shape (6, draws), from tau^2, tau_0^2, Zc' Zc and Zc' r."""
    cor = along**2 / squares
    return np.stack([np.sqrt(u), np.sqrt(u0), u, cor, squares / N, np.sqrt(u) * cor])


def from_the_prior(kind: Kind, n_draws: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Return means of the statistics given the event, and their errors: weighted prior draws."""
    model = FactorModel(kind)
    u, u0 = rng.gamma(model.a, 1.0 / model.b, size=(2, n_draws))
    Z = rng.normal(size=(n_draws, N))
    y = np.sqrt(u0)[:, np.newaxis] * rng.normal(size=(n_draws, 1)) * Z
    y += rng.normal(size=Z.shape)
    if kind == "classes":
        y = (y + rng.normal(size=(n_draws, 1)) > 0.0).astype(np.float64)
    some = np.ptp(y, axis=1) > 0.0
    u, u0, Z, y = u[some], u0[some], Z[some], y[some]
    Z -= Z.mean(axis=1, keepdims=True)
    y -= y.mean(axis=1, keepdims=True)
    squares = np.sum(Z**2, axis=1)
    along = np.sum(Z * y, axis=1) / np.sqrt(np.sum(y**2, axis=1))
    omission = FactorOmission(y[0], GAMMA, N_OMITTED, kernels_for_chains(n_draws))
    log_weights = N_OMITTED * omission._log_of(u, squares[:, None, None], along[:, None])
    weights = np.exp(log_weights)
    weights /= weights.sum()
    values = statistics(u, u0, squares, along)
    mean = values @ weights
    error = np.sqrt(((values - mean[:, np.newaxis]) ** 2) @ weights**2)
    return mean, error


def from_the_chain(
    kind: Kind, sampler: type[FactorSampler], n_steps: int, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Return the same from a chain that draws data and parameters given each other.

    Means and scales of columns have improper priors, which say nothing: columns are drawn with mean
    0 and scale 1, and no statistic depends on that.
    """
    model, compiled = FactorModel(kind), kernels_for_chains(n_steps)
    X, y, _ = model.simulate(N, K, rng)
    while np.ptp(y) == 0.0:
        X, y, _ = model.simulate(N, K, rng)
    event = RealEvent(GAMMA, "|COR|", np.ones((1, 1)), np.ones(1), np.array([N_OMITTED]))

    def chain(X: Floats, y: Floats) -> FactorSampler:
        s = model.sampler(X, y, event, compiled)
        return sampler(s.X, s.response, s.event, s.q, s.a, s.b)

    state = chain(X, y).start(0, rng)
    values = np.empty((len(STATISTICS), n_steps))
    for i in range(n_steps):
        y, state = _new_response(kind, chain(X, y), y, state, rng)
        tau = np.exp(0.5 * state.log_u)
        X = tau * state.Z @ rng.normal(size=(1, K)) + rng.normal(size=(N, K))
        current = chain(X, y)
        state = current.step(state, rng)
        Z = state.Z[:, 0] - state.Z[:, 0].mean()
        each = np.array([np.exp(state.log_u)]), np.array([np.exp(state.log_u0)])
        along = np.array([Z @ current.event.direction])
        values[:, i] = statistics(*each, np.array([Z @ Z]), along)[:, 0]
    ess = [
        float(library("arviz_stats.base").array_stats.ess(row[np.newaxis], method="mean"))
        for row in values
    ]
    return values.mean(axis=1), values.std(axis=1) / np.sqrt(ess)


def _new_response(
    kind: Kind, chain: FactorSampler, y: Floats, state: FactorState, rng: np.random.Generator
) -> tuple[Floats, FactorState]:
    """Draw the response given the factors, and accept it by the probability of the event."""
    beta = np.exp(0.5 * state.log_u0) * rng.normal()
    column = beta * state.Z[:, 0] + rng.normal(size=N)
    new = column
    if kind == "classes":
        column = column + rng.normal()
        new = (column > 0.0).astype(np.float64)
    if np.ptp(new) == 0.0:
        return y, state
    u = np.array([np.exp(state.log_u)])
    there = replace(chain.event, response=new).log_event(u, state.Z[np.newaxis])[0]
    here = replace(chain.event, response=y).log_event(u, state.Z[np.newaxis])[0]
    if np.log(1.0 - rng.random()) < there - here:
        return new, replace(state, column=column)
    return y, state


class GewekeTest(NamedTuple):
    """How many standard errors the chain is from the prior, for each of `STATISTICS`."""

    right: Floats
    twin: Floats


def geweke(kind: Kind, n_steps: int, n_prior: int, seed: int) -> GewekeTest:
    """Compare the chain and its forgetful twin with draws from the prior given the event."""
    expected, error = from_the_prior(kind, n_prior, np.random.default_rng([seed, 0]))
    scores = []
    for sampler in (FactorSampler, ForgetfulSampler):
        mean, of_mean = from_the_chain(kind, sampler, n_steps, np.random.default_rng([seed, 1]))
        scores.append((mean - expected) / np.sqrt(error**2 + of_mean**2))
    return GewekeTest(*scores)


def factor_replicate(
    kind: Kind, n_steps: int, rng: np.random.Generator, *, a: float = 4.0, b: float = 80.0
) -> Replicate:
    """Draw from the model, select, condition; with and without correction.

    Ranks are those of the true tau among the draws. Gaps are expected minus actual error, or the
    coverage of central 90 % intervals less 0.9. ``a`` and ``b`` are those of the prior of tau^2.
    """
    model = FactorModel(kind, a=a, b=b)
    X, y, drawn = model.simulate(N_TRAIN + N_TEST, N_FEATURES, rng)
    while np.ptp(y[:N_TRAIN]) == 0.0:
        X, y, drawn = model.simulate(N_TRAIN + N_TEST, N_FEATURES, rng)
    train, rows = y[:N_TRAIN], slice(N_TRAIN, None)
    if kind == "real":
        scores = RealScores.of(line_moments(X[:N_TRAIN], train))
    else:
        scores = RealScores.of(class_moments(X[:N_TRAIN], train.astype(int), 2))
    selection = keep_top(scores, N_KEPT, "first", NONE, rng)
    kept = selection.indices
    ranks, gaps = [], []
    for event in (selection.event, selection.event.emptied()):
        seed = int(rng.integers(2**31))
        chains = ChainSettings(n_chains=1, n_draws=n_steps, n_warmup=n_steps // 4, seed=seed)
        rows_kept = KeptRows(X[:N_TRAIN, kept], train)
        posterior = replace(model, chains=chains).condition(rows_kept, event)
        ranks.append(float(np.mean(posterior.draws.stacked("tau") < drawn["tau"])))
        if kind == "real":
            probability = posterior.cdf(X[rows, kept], y[rows])
            gaps.append(float(np.mean(np.abs(2.0 * probability - 1.0) <= 0.9)) - 0.9)
        else:
            joint = posterior.log_joint(X[rows, kept])
            expected = np.mean(1.0 / (1.0 + np.exp(np.abs(joint[:, 1] - joint[:, 0]))))
            gaps.append(float(expected - np.mean((joint[:, 1] > joint[:, 0]) != y[rows])))
    return Replicate(ranks, gaps)
