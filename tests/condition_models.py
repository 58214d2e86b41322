"""The library's own models as a user would write them: simulate, score, log density, exact event.

Each model is a function of nothing that returns a `Door`: what `SelectionProbability` asks for, and
the exact log probability that one feature is omitted.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import betaln

from unselected.condition import SelectionProbability
from unselected.numerics.beta_binomial import CountLaw, log_pmf_table
from unselected.numerics.quadrature import gauss_legendre
from unselected.omission.binary import omission_probability
from unselected.omission.factor import FactorOmission
from unselected.omission.mixture import LabelledOmission
from unselected.omission.real import log_real_omission
from unselected.selection.correlation import threshold_cut
from unselected.selection.events import Event, RealEvent
from unselected.statistics.moments import class_axes

Y = np.repeat([0, 1], [9, 11])
N = Y.size
GAMMA = 0.55
THETA, WEIGHTS = gauss_legendre(40)


@dataclass(frozen=True)
class Door:
    simulate: Callable
    log_density: Callable
    references: list[dict[str, Any]]
    draw: Callable  # parameters from a generator
    log_omission: Callable  # exact
    stronger: Callable  # the twin's parameters
    summarize: Callable | None = None

    def omission(self, **options):
        options = {"references": self.references, "summarize": self.summarize} | options
        return SelectionProbability(
            self.simulate, correlation, GAMMA, y=Y, log_density=self.log_density, **options
        )


def correlation(X, y):
    """|COR|; 0 for constant features."""
    centred, response = X - X.mean(axis=0), y - y.mean()
    norm = np.sqrt((centred**2).sum(axis=0) * (response**2).sum())
    return np.abs(response @ centred) / np.where(norm > 0.0, norm, 1.0)


def simulate_bits(alpha, labels, n, rng):
    theta = rng.random(n)
    phi = rng.beta(alpha * theta, alpha * (1.0 - theta), size=(2, n))
    return (rng.random((labels.size, n)) < phi[labels]).astype(np.uint8)


def log_bits(ones, sizes, alpha):
    """log P(columns in their order | alpha) from their ones with each label, theta averaged."""
    a, b = alpha * THETA[:, None], alpha * (1.0 - THETA[:, None])
    of_label = [
        betaln(a + np.arange(N + 1), b + N - np.arange(N + 1)) - betaln(a, b) for N in sizes
    ]
    table = np.einsum("t,ti,tj->ij", WEIGHTS, *map(np.exp, of_label))
    return np.log(table)[*np.asarray(ones, dtype=int)]


def bernoulli():
    law = CountLaw((9, 11), THETA, WEIGHTS)

    def log_omission(parameters):
        u = np.array([1.0 / parameters["alpha"]])
        return float(np.log(omission_probability(law, threshold_cut(GAMMA), u)[0]))

    return Door(
        simulate=lambda parameters, n, rng: simulate_bits(parameters["alpha"], Y, n, rng),
        log_density=lambda ones, parameters: log_bits(ones, (9, 11), parameters["alpha"]),
        references=[{"alpha": 1.0}, {"alpha": 20.0}],
        draw=lambda rng: {"alpha": float(np.exp(rng.uniform(0.0, 6.0)))},
        log_omission=log_omission,
        stronger=lambda parameters: {"alpha": 0.5 * parameters["alpha"]},
        summarize=lambda X, y: np.array([X[y == 0].sum(axis=0), X[y == 1].sum(axis=0)]),
    )


def mixture():
    exact = LabelledOmission(Event(threshold_cut(GAMMA), n_at_most=1), 9, 11)

    def log_omission(parameters):
        z = np.asarray(parameters["labels"])
        sizes = int(np.sum(z == 1)), int(np.sum(z == 0))
        of_label = [np.exp(log_pmf_table(N, THETA, 1.0 / parameters["alpha"])) for N in sizes]
        law = np.einsum("t,ti,tj->ij", WEIGHTS, *of_label).reshape(1, -1)
        return float(exact.logs(int(np.sum(z[Y == 0])), int(np.sum(z[Y == 1])), law)[1][0])

    def log_density(columns, parameters):
        z = np.asarray(parameters["labels"])
        ones = [columns[z == label].sum(axis=0) for label in (0, 1)]
        return log_bits(ones, (int(np.sum(z == 0)), int(np.sum(z == 1))), parameters["alpha"])

    def draw(rng):
        labels = np.where(rng.random(N) < 0.25, 1 - Y, Y)
        return {"alpha": float(np.exp(rng.uniform(0.0, 4.0))), "labels": labels}

    return Door(
        simulate=lambda parameters, n, rng: simulate_bits(
            parameters["alpha"], np.asarray(parameters["labels"]), n, rng
        ),
        log_density=log_density,
        references=[{"alpha": 1.0, "labels": Y}],
        draw=draw,
        log_omission=log_omission,
        stronger=lambda parameters: parameters | {"alpha": 0.5 * parameters["alpha"]},
    )


def simulate_reals(tau, Z, n, rng):
    return tau * Z @ rng.normal(size=(Z.shape[1], n)) + rng.normal(size=(len(Z), n))


def log_reals(columns, tau, Z):
    """log N(0, I + tau^2 Z Z'), but for a constant."""
    lower = np.linalg.cholesky(np.eye(len(Z)) + tau**2 * Z @ Z.T)
    whitened = np.linalg.solve(lower, columns)
    return -0.5 * (whitened**2).sum(axis=0) - np.log(np.diag(lower)).sum()


def gaussian():
    Z = np.eye(2)[Y]
    lam = class_axes(np.array([[9, 11]]))[0]
    event = RealEvent(GAMMA, "|COR|", lam, np.array([N - 2.0]), np.array([1]))

    def log_omission(parameters):
        return float(log_real_omission(np.array([parameters["tau"] ** 2]), event)[0, 0])

    return Door(
        simulate=lambda parameters, n, rng: simulate_reals(parameters["tau"], Z, n, rng),
        log_density=lambda columns, parameters: log_reals(columns, parameters["tau"], Z),
        references=[{"tau": 0.2}, {"tau": 0.8}],
        draw=lambda rng: {"tau": float(rng.uniform(0.0, 0.7))},
        log_omission=log_omission,
        stronger=lambda parameters: {"tau": parameters["tau"] + 0.2},
    )


def factor():
    exact = FactorOmission(Y.astype(float), GAMMA, 1)

    def log_omission(parameters):
        u, Z = np.array([parameters["tau"] ** 2]), np.asarray(parameters["factors"])
        return float(exact.log_at_most(u, Z[np.newaxis])[0])

    def draw(rng):
        factors = rng.normal(size=(N, 1)) + 0.5 * (Y[:, np.newaxis] - 0.5)
        return {"tau": float(rng.uniform(0.1, 0.8)), "factors": factors}

    return Door(
        simulate=lambda parameters, n, rng: simulate_reals(
            parameters["tau"], np.asarray(parameters["factors"]), n, rng
        ),
        log_density=lambda columns, parameters: log_reals(
            columns, parameters["tau"], np.asarray(parameters["factors"])
        ),
        references=[{"tau": 0.5, "factors": Y[:, np.newaxis] - 0.5}],
        draw=draw,
        log_omission=log_omission,
        stronger=lambda parameters: parameters | {"tau": parameters["tau"] + 0.3},
    )


DOORS = {"bernoulli": bernoulli, "gaussian": gaussian, "mixture": mixture, "factor": factor}
