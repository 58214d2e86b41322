"""A mixture of two components for binary features and a binary response, given an event.

Each case has a label, and given the labels features and response are independent. Of all that is
unknown, the chains move the labels and alpha alone: the mixing weight, the rates of features and
response in each label, theta and alpha0 are integrated out.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unselected._typing import Floats, Ints
from unselected.models.bernoulli import BernoulliModel, Likelihood
from unselected.models.concentration import ConcentrationPrior
from unselected.models.mixture_moves import Labelled, Worth, move_labels
from unselected.models.mixture_tables import (
    BLOCK,
    AlphaGrid,
    EventTables,
    FeatureTables,
    ResponseTables,
    grid_for,
)
from unselected.numerics.chains import Draws, run_chains
from unselected.numerics.kernels import kernels_for_moves
from unselected.numerics.quadrature import log_sum
from unselected.selection.events import Event
from unselected.statistics.counts import ClassCounts

AdjustLabels = Literal["exact", "ignore"]

# Steps from one draw to the next: labels and alpha depend on each other.
_STEPS_PER_DRAW = 4
# The tables take as long as n^3 divided by this moves in plain numpy.
_CUBES_PER_MOVE = 40
# Rows times draws whose log probabilities are worked on at a time.
_AT_A_TIME = 1 << 20
# What is diagnosed.
WATCHED = ("alpha", "alpha0", "share", "rates")


@dataclass(frozen=True)
class MixtureModel:
    """Labels z of cases, P(z = 1) uniform; given z all features and the response are independent.

    P(y = 1 | z) ~ Beta(alpha0 theta0, alpha0 (1 - theta0)), and for feature j the rates
    phi_0j, phi_1j ~ Beta(alpha theta_j, alpha (1 - theta_j)); theta0 and all theta_j are
    Uniform(0, 1), alpha ~ Inverse-Gamma(a, b) and alpha0 ~ Inverse-Gamma(a0, b0).

    ``adjust_labels`` says whether the event counts where labels are drawn ("exact"), as it must, or
    only where alpha is ("ignore"). ``refinement`` makes the nodes closer than they need be, to
    check them.
    """

    a: float = 0.5
    b: float = 5.0
    a0: float = 0.5
    b0: float = 5.0
    adjust_labels: AdjustLabels = "exact"
    refinement: int = 1

    def simulate(
        self,
        n_samples: int,
        n_features: int,
        rng: np.random.Generator,
        *,
        alpha: float | None = None,
        alpha0: float | None = None,
        z: NDArray[Any] | None = None,
    ) -> tuple[NDArray[np.uint8], NDArray[np.int64], dict[str, Any]]:
        """Draw parameters from the prior, or use those given, and data from the model.

        Returns X of shape (n_samples, n_features), y of shape (n_samples,), and the parameters.
        """
        if alpha is None:
            alpha = float(1.0 / rng.gamma(self.a, 1.0 / self.b))
        if alpha0 is None:
            alpha0 = float(1.0 / rng.gamma(self.a0, 1.0 / self.b0))
        if z is None:
            z = rng.random(n_samples) < rng.random()
        z = np.asarray(z, dtype=np.int64)
        theta0 = rng.random()
        psi = rng.beta(alpha0 * theta0, alpha0 * (1.0 - theta0), size=2)
        y = np.asarray(rng.random(n_samples) < psi[z], dtype=np.int64)
        theta = rng.random(n_features)
        phi = rng.beta(alpha * theta, alpha * (1.0 - theta), size=(2, n_features))
        X = np.empty((n_samples, n_features), dtype=np.uint8)
        for row, label in zip(X, z, strict=True):
            row[:] = rng.random(n_features) < phi[label]
        return X, y, {"alpha": alpha, "alpha0": alpha0, "z": z, "psi": psi, "phi": phi}

    def condition(
        self,
        bits: NDArray[np.bool_],
        y: NDArray[Any],
        event: Event,
        *,
        n_chains: int,
        n_draws: int,
        n_warmup: int,
        random_state: int | np.random.SeedSequence,
        progress: bool = False,
    ) -> "MixturePosterior":
        """Return draws from the posterior given the kept features, the classes and the event.

        ``bits`` (n, k) are the kept features of the training cases, ``y`` (n,) their classes.
        """
        n = len(y)
        n_moves = n_chains * (n_warmup + n_draws * _STEPS_PER_DRAW) * 2 * n
        n_moves += n**3 // _CUBES_PER_MOVE
        sampler = MixtureSampler(self, bits, y, event, kernels=kernels_for_moves(n_moves))
        draws = run_chains(
            sampler.start,
            sampler.step,
            sampler.record,
            n_chains=n_chains,
            n_draws=n_draws,
            n_warmup=n_warmup,
            random_state=random_state,
            watched=WATCHED,
            thin=_STEPS_PER_DRAW,
            progress=progress,
        )
        return sampler.posterior(draws)

    @property
    def alpha_prior(self) -> ConcentrationPrior:
        """The prior of alpha."""
        return ConcentrationPrior(self.a, self.b)

    def responses(self, n0: int, n1: int) -> ResponseTables:
        """Return what responses say of labels."""
        return ResponseTables(n0, n1, ConcentrationPrior(self.a0, self.b0), self.refinement)

    def alpha_grid(self, bits: NDArray[Any], y: NDArray[Any], event: Event) -> AlphaGrid:
        """Return nodes of alpha, laid for labels that are the classes: naive Bayes."""
        counts = ClassCounts(bits[y == 0].sum(axis=0), bits[y == 1].sum(axis=0), *_sizes(y))
        likelihood = Likelihood(BernoulliModel(a=self.a, b=self.b), counts, event)

        def log_likelihood(log_u: Floats) -> Floats:
            return np.array([likelihood.at(float(x)).log_total for x in log_u])

        n, k = bits.shape
        n_features = likelihood.n_features
        return grid_for(self.alpha_prior, n, k, n_features, log_likelihood, self.refinement)


def _sizes(y: NDArray[Any]) -> tuple[int, int]:
    n1 = int(np.sum(y == 1))
    return int(y.size) - n1, n1


@dataclass
class ChainState:
    """Where a chain is: the labels, the node of alpha, and the last draw of that of alpha0."""

    labels: Labelled
    node: int
    node0: int


class SharedTables(NamedTuple):
    """Tables that depend on numbers of cases and on the event alone, to be shared by data sets."""

    features: FeatureTables
    responses: ResponseTables
    events: EventTables


class MixtureSampler:
    """The moves of the chains, and the tables that they share.

    A step draws each label given all others, tries as many exchanges of labels between two cases
    of a class, and draws alpha and alpha0 given the labels.
    """

    def __init__(
        self,
        model: MixtureModel,
        bits: NDArray[Any],
        y: NDArray[Any],
        event: Event,
        shared: SharedTables | None = None,
        *,
        kernels: Any = None,
    ) -> None:
        self.model = model
        self.bits: Ints = np.ascontiguousarray(bits, dtype=np.int64)
        self.y: Ints = np.asarray(y, dtype=np.int64)
        self.n = int(self.y.size)
        self.n0, self.n1 = _sizes(self.y)
        self.total: Ints = self.bits.sum(axis=0)
        if shared is None:
            features = FeatureTables(self.n, model.alpha_grid(self.bits, self.y, event))
            events = EventTables(event, self.n0, self.n1, features, kernels)
            shared = SharedTables(features, model.responses(self.n0, self.n1), events)
        self.features, self.responses, self.events = shared
        self.grid = self.features.grid
        self._move: Callable[..., int] = move_labels if kernels is None else kernels.move_labels
        self._by_class = np.argsort(self.y, kind="stable")
        self._first_of_class = np.array([0, self.n0])[self.y]
        self._class_size = np.array([self.n0, self.n1])[self.y]

    def start(self, chain: int, rng: np.random.Generator) -> ChainState:
        """Return where a chain begins: the classes, the features' main contrast, or anything."""
        if chain % 4 == 0:
            z = self.y
        elif chain % 4 == 1:
            z = self._main_contrast()
        elif chain % 4 == 2:
            z = (rng.random(self.n) < 0.5).astype(np.int64)
        else:
            z = np.zeros(self.n, dtype=np.int64)
        state = ChainState(Labelled.of(z, self.bits, self.y), 0, 0)
        state.node = int(rng.integers(self.grid.size))
        return state

    def _main_contrast(self) -> Ints:
        """Return labels by the sign of the first principal component of the features."""
        centred = self.bits - self.bits.mean(axis=0)
        vectors = np.linalg.svd(centred, full_matrices=False)[0]
        return np.asarray(vectors[:, 0] > 0.0, dtype=np.int64) if vectors.size else self.y

    def step(self, state: ChainState, rng: np.random.Generator) -> ChainState:
        """Move all that is unknown."""
        self.step_labels(state, rng)
        self.step_alpha(state, rng)
        state.node0 = self._drawn(self.responses.log_terms[:, *state.labels.place], rng)
        return state

    def step_labels(self, state: ChainState, rng: np.random.Generator) -> None:
        """Draw each label, and try exchanges."""
        uniforms = rng.random(2 * self.n)
        pairs = self._pairs(rng)
        move, n_moves = 0, uniforms.size
        while move < n_moves:
            move = self._move(
                state.labels,
                self.bits,
                self.y,
                self.total,
                pairs,
                uniforms,
                self.worth(state.node),
                move,
            )
            if move < n_moves:
                self._need_around(state)

    def _pairs(self, rng: np.random.Generator) -> Ints:
        """Return pairs of cases of the same class, as many as there are cases."""
        first, second = rng.random((2, self.n))
        cases = (first * self.n).astype(np.int64)
        others = self._first_of_class[cases] + (second * self._class_size[cases]).astype(np.int64)
        return np.stack([cases, self._by_class[others]], axis=1)

    def worth(self, node: int) -> Worth:
        """Return what labels are worth at a node of alpha, as far as it is known."""
        log_place = self.responses.log_labels
        if self.model.adjust_labels == "exact":
            block, at = divmod(node, BLOCK)
            log_place = log_place + self.events.of_block(block)[at]
        return Worth(self.features.pool, self.features.offset[node], log_place)

    def _need_around(self, state: ChainState) -> None:
        """Compute what a flip from here can ask for."""
        block = state.node // BLOCK
        a, b = state.labels.place.tolist()
        around = [(a, b), (a - 1, b), (a + 1, b), (a, b - 1), (a, b + 1)]
        for a, b in around:
            if 0 <= a <= self.n0 and 0 <= b <= self.n1:
                self.features.need(block, a + b)
                self.events.need(block, a, b)

    def step_alpha(self, state: ChainState, rng: np.random.Generator) -> None:
        """Draw alpha among the nodes of its block and of a neighbouring one.

        Blocks are paired in one of two ways, at random: within a pair, all nodes are drawn from.
        """
        shift = int(rng.random() < 0.5)
        first = (state.node // BLOCK + shift) // 2 * 2 - shift
        blocks = range(max(first, 0), min(first + 2, -(-self.grid.size // BLOCK)))
        logs = np.concatenate([self._log_alpha_block(state.labels, block) for block in blocks])
        state.node = blocks[0] * BLOCK + self._drawn(logs, rng)

    def _log_alpha_block(self, labels: Labelled, block: int) -> Floats:
        """Return log P(alpha, kept features, event | labels) at a block of nodes."""
        a, b = labels.place.tolist()
        N1 = a + b
        self.features.need(block, N1)
        self.events.need(block, a, b)
        nodes = slice(block * BLOCK, (block + 1) * BLOCK)
        log_prior = self.grid.log_prior[nodes]
        places = labels.ones * (self.n - N1) + self.total  # m1 (N2 + 1) + m2
        start, m = self.features.offset[nodes.start, N1], log_prior.size
        size = (N1 + 1) * (self.n - N1 + 1)
        tables = self.features.pool[start : start + m * size].reshape(m, size)
        event = self.events.of_block(block)[:m, a, b]
        return np.asarray(tables.take(places, axis=1).sum(axis=1) + event + log_prior)

    def log_alpha(self, labels: Labelled) -> Floats:
        """Return log P(alpha, kept features, event | labels) at all nodes."""
        blocks = range(-(-self.grid.size // BLOCK))
        return np.concatenate([self._log_alpha_block(labels, block) for block in blocks])

    @staticmethod
    def _drawn(logs: Floats, rng: np.random.Generator) -> int:
        """Return a place with probability proportional to exp(logs)."""
        cumulative = np.cumsum(np.exp(logs - np.max(logs)))
        return int(np.searchsorted(cumulative, rng.random() * cumulative[-1], side="right"))

    def record(self, state: ChainState) -> dict[str, Any]:
        """Return what is remembered; label 1 is the one with the larger P(y = 1)."""
        a, b = state.labels.place.tolist()
        rates = self.responses.rate[:, a, b]
        swap = bool(rates[0] > rates[1])
        N1 = a + b if not swap else self.n - a - b
        return {
            "alpha": self.grid.alpha(state.node),
            "alpha0": self.responses.grid.alpha(state.node0),
            "share": (N1 + 1.0) / (self.n + 2.0),
            "rates": rates[::-1] if swap else rates,
            "labels": (state.labels.z ^ swap).astype(np.uint8),
            "log_omission": self.events.log_at_most(state.node, a, b),
            "node": state.node,
        }

    def posterior(self, draws: Draws) -> "MixturePosterior":
        """Return what the draws say of new cases."""
        labels, nodes = draws.stacked("labels"), draws.stacked("node")
        shape = (len(nodes), 2, self.bits.shape[1])
        log_one, log_zero = np.empty(shape), np.empty(shape)
        for s, (z, node) in enumerate(zip(labels, nodes, strict=True)):
            ones = z.astype(np.int64) @ self.bits
            N1 = int(z.sum())
            counts = np.stack([self.total - ones, ones]), np.array([self.n - N1, N1])
            log_one[s], log_zero[s] = self.features.log_rates(int(node), *counts)
        share = draws.stacked("share")
        return MixturePosterior(
            draws=draws,
            log_share=np.log(np.stack([1.0 - share, share], axis=1)),
            rates=draws.stacked("rates"),
            log_one=log_one,
            log_zero=log_zero,
        )


@dataclass(frozen=True, eq=False)
class MixturePosterior:
    """Draws from the posterior, and what each says of a new case.

    Attributes
    ----------
    draws : Draws
    log_share : array of shape (draws, 2)
        Log of the probability that a new case has label 0, or 1.
    rates : array of shape (draws, 2)
        P(y* = 1 | label).
    log_one, log_zero : arrays of shape (draws, 2, k)
        Log of the probability that a feature is 1, or 0, in each label.
    """

    draws: Draws
    log_share: Floats
    rates: Floats
    log_one: Floats
    log_zero: Floats

    @cached_property
    def log_psi(self) -> Floats:
        """Log of the class probabilities before any feature is seen, shape (2,)."""
        one = np.mean(np.sum(np.exp(self.log_share) * self.rates, axis=1))
        return np.asarray(np.log([1.0 - one, one]))

    def log_joint(self, bits: NDArray[np.bool_]) -> Floats:
        """Return log P(y*, x* | training data, event), one column per y*.

        The joint probability is averaged over the draws, so that a draw which explains x* better
        counts more.
        """
        n_draws = len(self.log_share)
        rows = max(1, _AT_A_TIME // n_draws)
        parts = [
            log_sum(self.log_joint_by_draw(bits[start : start + rows]), axis=2)
            for start in range(0, len(bits), rows)
        ]
        return np.asarray(np.concatenate([np.empty((0, 2)), *parts]) - np.log(n_draws))

    def log_joint_by_draw(self, bits: NDArray[np.bool_]) -> Floats:
        """Return log P(y*, x* | draw), shape (rows, 2, draws)."""
        n_draws, k = len(self.log_share), self.log_one.shape[2]
        log_odds = (self.log_one - self.log_zero).reshape(2 * n_draws, k)
        log_none = (self.log_zero.sum(axis=2) + self.log_share).ravel()
        by_label = (bits.astype(np.float64) @ log_odds.T + log_none).reshape(-1, n_draws, 2)
        rates = np.stack([1.0 - self.rates, self.rates])
        return np.stack([log_sum(by_label + np.log(rate), axis=2) for rate in rates], axis=1)
