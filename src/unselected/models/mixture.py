"""A mixture of two components for binary features and a binary response, given an event.

Each case has a label. Given the labels, features and response are independent. The chains move only
the labels and alpha. The mixing weight, the rates of features and response in each label, theta and
alpha0 are integrated out.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unselected._typing import Floats, Ints
from unselected.models.bernoulli import BernoulliModel
from unselected.models.bernoulli_likelihood import Likelihood
from unselected.models.concentration import ConcentrationPrior
from unselected.models.mixture_moves import Labelled, LabelWeights, move_labels
from unselected.models.mixture_posterior import MixturePosterior
from unselected.models.mixture_tables import (
    BLOCK,
    AlphaGrid,
    EventTables,
    FeatureTables,
    ResponseTables,
    grid_for,
)
from unselected.numerics.chains import ChainSettings, Draws, run_chains
from unselected.numerics.kernels import kernels_for_moves
from unselected.selection.events import Event
from unselected.statistics.counts import ClassCounts
from unselected.statistics.rows import KeptRows

AdjustLabels = Literal["exact", "ignore"]

# Steps from one draw to the next: labels and alpha depend on each other.
_STEPS_PER_DRAW = 4
# The tables take as long as n^3 / this number of moves in plain numpy.
_CUBES_PER_MOVE = 40
# Parameters whose draws are diagnosed.
WATCHED = ("alpha", "alpha0", "share", "rates")


@dataclass(frozen=True)
class MixtureModel:
    """Labels z of cases, P(z = 1) uniform; given z all features and the response are independent.

    P(y = 1 | z) ~ Beta(alpha0 theta0, alpha0 (1 - theta0)), and for feature j the rates
    phi_0j, phi_1j ~ Beta(alpha theta_j, alpha (1 - theta_j)); theta0 and all theta_j are
    Uniform(0, 1), alpha ~ Inverse-Gamma(a, b) and alpha0 ~ Inverse-Gamma(a0, b0).

    ``adjust_labels`` says whether the event enters the draws of the labels ("exact"), as it must,
    or only those of alpha ("ignore"). ``refinement`` makes the nodes closer than necessary, to
    check them. ``chains`` sets the number of chains, their length, and their seed.
    """

    a: float = 0.5
    b: float = 5.0
    a0: float = 0.5
    b0: float = 5.0
    adjust_labels: AdjustLabels = "exact"
    refinement: int = 1
    chains: ChainSettings = field(default_factory=ChainSettings)

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

    def condition(self, statistics: KeptRows, event: Event) -> "MixturePosterior":
        """Return draws from the posterior given the kept features, the classes and the event.

        The kept features are bits (n, k).
        """
        bits, y = statistics
        chains, n = self.chains, len(y)
        n_moves = chains.n_chains * (chains.n_warmup + chains.n_draws * _STEPS_PER_DRAW) * 2 * n
        n_moves += n**3 // _CUBES_PER_MOVE
        sampler = MixtureSampler(self, bits, y, event, kernels=kernels_for_moves(n_moves))
        verbs = (sampler.start, sampler.step, sampler.record)
        draws = run_chains(*verbs, chains, watched=WATCHED, thin=_STEPS_PER_DRAW)
        return sampler.posterior(draws)

    @property
    def alpha_prior(self) -> ConcentrationPrior:
        """The prior of alpha."""
        return ConcentrationPrior(self.a, self.b)

    def responses(self, n0: int, n1: int) -> ResponseTables:
        """Return P(responses | labels), tabulated."""
        return ResponseTables(n0, n1, ConcentrationPrior(self.a0, self.b0), self.refinement)

    def alpha_grid(self, bits: NDArray[Any], y: NDArray[Any], event: Event) -> AlphaGrid:
        """Return nodes of alpha, placed for labels that equal the classes: naive Bayes."""
        counts = ClassCounts.of_two(bits[y == 0].sum(axis=0), bits[y == 1].sum(axis=0), *_sizes(y))
        likelihood = Likelihood(BernoulliModel(a=self.a, b=self.b).theta_rule, counts, event)

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
    """The state of a chain: the labels, the node of alpha, and the last drawn node of alpha0."""

    labels: Labelled
    node: int
    node0: int


class SharedTables(NamedTuple):
    """Tables that depend only on class sizes and on the event, shared by data sets."""

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
        """Return an initial state: labels from the classes, the main contrast, or at random."""
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
        """Make one step: labels, alpha and alpha0."""
        self.step_labels(state, rng)
        self.step_alpha(state, rng)
        state.node0 = self._drawn(self.responses.log_terms[:, *state.labels.place], rng)
        return state

    def step_labels(self, state: ChainState, rng: np.random.Generator) -> None:
        """Draw each label, and try exchanges."""
        uniforms = rng.random(2 * self.n)
        given = (self.bits, self.y, self.total, self._pairs(rng), uniforms)
        move, n_moves = 0, uniforms.size
        while move < n_moves:
            move = self._move(state.labels, *given, self.label_weights(state.node), move)
            if move < n_moves:
                self._need_around(state)

    def _pairs(self, rng: np.random.Generator) -> Ints:
        """Return pairs of cases of the same class, as many as there are cases."""
        first, second = rng.random((2, self.n))
        cases = (first * self.n).astype(np.int64)
        others = self._first_of_class[cases] + (second * self._class_size[cases]).astype(np.int64)
        return np.stack([cases, self._by_class[others]], axis=1)

    def label_weights(self, node: int) -> LabelWeights:
        """Return the log weights of labels at a node of alpha, as far as they are computed."""
        log_place = self.responses.log_labels
        if self.model.adjust_labels == "exact":
            block, at = divmod(node, BLOCK)
            log_place = log_place + self.events.of_block(block)[at]
        return LabelWeights(self.features.pool, self.features.offset[node], log_place)

    def _need_around(self, state: ChainState) -> None:
        """Compute the tables that a flip from this state can need."""
        block = state.node // BLOCK
        a, b = state.labels.place.tolist()
        around = [(a, b), (a - 1, b), (a + 1, b), (a, b - 1), (a, b + 1)]
        for a, b in around:
            if 0 <= a <= self.n0 and 0 <= b <= self.n1:
                self.features.need(block, a + b)
                self.events.need(block, a, b)

    def step_alpha(self, state: ChainState, rng: np.random.Generator) -> None:
        """Draw alpha among the nodes of its block and of a neighbouring one.

        Blocks are paired in one of two ways, at random. The draw is among all nodes of a pair.
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
        """Return what is recorded of a state; label 1 is the one with the larger P(y = 1)."""
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
        """Return the posterior of these draws."""
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
