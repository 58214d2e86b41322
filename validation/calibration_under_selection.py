"""Simulation-based calibration under selection: draw from the model, select, condition, compare.

Used by the tests with few replicates and by `make validate` with many.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unselected.models.bernoulli import BernoulliModel
from unselected.models.bernoulli_posterior import BernoulliPosterior
from unselected.models.gaussian_posterior import GaussianPosterior
from unselected.selection.count_scores import CountScores
from unselected.selection.events import Event
from unselected.selection.record import Ties
from unselected.selection.rules import keep_top
from unselected.statistics.counting import count_classes

N_TRAIN, N_ZEROS, N_TEST, N_FEATURES, N_KEPT = 24, 11, 40, 150, 5


class Replicate(NamedTuple):
    """Ranks of the true alpha, and expected minus actual error: corrected first, then not."""

    ranks: list[float]
    gaps: list[float]


def replicate(model: BernoulliModel, ties: Ties, rng: np.random.Generator) -> Replicate:
    """Draw parameters from the prior and data from the model, keep a few features, condition."""
    y_train = np.arange(N_TRAIN) >= N_ZEROS
    f0, f1 = model.pseudocounts
    psi = rng.beta(f1 + N_TRAIN - N_ZEROS, f0 + N_ZEROS)  # given the training classes
    y = np.concatenate([y_train, rng.random(N_TEST) < psi])
    X, y, parameters = model.simulate(y.size, N_FEATURES, rng, y=y)
    counts, _ = count_classes(X[:N_TRAIN], y[:N_TRAIN], None, ploidy=model.ploidy)
    selection = keep_top(CountScores.of(counts), N_KEPT, ties, np.array([], dtype=int), rng)
    kept, rows = counts.take(selection.indices), X[N_TRAIN:, selection.indices]
    posteriors = [model.condition(kept, event) for event in (selection.event, Event())]
    return Replicate(
        [rank(posterior, parameters["alpha"]) for posterior in posteriors],
        [expected_minus_actual(posterior, rows, y[N_TRAIN:]) for posterior in posteriors],
    )


def rank(posterior: BernoulliPosterior | GaussianPosterior, alpha: float) -> float:
    """Return P(posterior alpha < true alpha), interpolated between the nodes."""
    order = np.argsort(posterior.log_alpha)
    weights = np.exp(posterior.log_weights[order])
    cumulative = np.cumsum(weights) - 0.5 * weights
    return float(
        np.interp(np.log(alpha), posterior.log_alpha[order], cumulative, left=0.0, right=1.0)
    )


def expected_minus_actual(
    posterior: BernoulliPosterior, rows: NDArray[np.uint8], y: NDArray[np.int64]
) -> float:
    """Return the error rate that the predictions promise less the one that comes."""
    log_odds = np.diff(posterior.log_joint(rows), axis=1)[:, 0]
    expected = np.mean(1.0 / (1.0 + np.exp(np.abs(log_odds))))
    return float(expected - np.mean((log_odds > 0) != y))
