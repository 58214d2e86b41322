"""Simulation-based calibration under selection, for real-valued features.

Draw from the model, select, condition, compare; a tenth of the values is missing. Used by the
tests with few replicates and by `make validate` with many.
"""

import numpy as np
from calibration_under_selection import Replicate, rank
from numpy.typing import NDArray

from unselected._typing import Floats
from unselected.fitted.gaussian import FittedGaussian
from unselected.fitted.predictor import ClassPredictor
from unselected.fitted.regression import FittedRegression
from unselected.models.gaussian import GaussianModel
from unselected.models.regression import RegressionModel
from unselected.selection.real_scores import RealScores
from unselected.selection.rules import keep_top
from unselected.statistics.line import LineStatistics
from unselected.statistics.summing import class_moments, line_moments

SIZES, N_CASES = (9, 6, 8), 23
N_TEST, N_FEATURES, N_KEPT = 40, 150, 5
MISSING = 0.1
LEVEL = 0.9
NONE = np.array([], dtype=int)


def class_replicate(model: GaussianModel, rng: np.random.Generator) -> Replicate:
    """Draw three classes of unequal sizes; the gaps are expected minus actual error."""
    G = len(SIZES)
    train = np.repeat(np.arange(G), SIZES)
    psi = rng.dirichlet(np.add(SIZES, 1.0))  # given the training classes
    y = np.concatenate([train, rng.choice(G, size=N_TEST, p=psi)])
    X, parameters = model.simulate_features(np.eye(G)[y], N_FEATURES, rng)
    known = np.unique(train, return_index=True)[1]
    X = with_holes(X, known, rng)
    moments = class_moments(X[: train.size], train, G)
    selection = keep_top(RealScores.of(moments), N_KEPT, "first", NONE, rng)
    ranks, gaps = [], []
    for event in (selection.event, selection.event.emptied()):
        kept = FittedGaussian(
            model, moments.take(selection.indices), event, np.ones(G), np.arange(G), None
        )
        ranks.append(rank(kept.posterior, parameters["tau"] ** -2.0))
        proba = ClassPredictor(kept).predict_proba(X[train.size :, selection.indices])
        gaps.append(expected_minus_actual(proba, y[train.size :]))
    return Replicate(ranks, gaps)


def expected_minus_actual(proba: Floats, y: NDArray[np.intp]) -> float:
    """Return the error rate that the predictions promise less the one that comes."""
    return float(np.mean(1.0 - proba.max(axis=1)) - np.mean(proba.argmax(axis=1) != y))


def line_replicate(model: GaussianModel, rng: np.random.Generator) -> Replicate:
    """Draw a real response; the gaps are coverage of the central 90 % intervals less 90 %."""
    y = rng.normal(5.0, 2.0, size=N_CASES + N_TEST)
    train = y[:N_CASES]
    X, parameters = model.simulate_features((y / train.std())[:, np.newaxis], N_FEATURES, rng)
    X = with_holes(X, np.arange(5), rng)
    moments = line_moments(X[:N_CASES], train)
    selection = keep_top(RealScores.of(moments), N_KEPT, "first", NONE, rng)
    ranks, gaps = [], []
    for event in (selection.event, selection.event.emptied()):
        statistics = LineStatistics(moments.take(selection.indices), float(train.mean()))
        kept = FittedRegression(RegressionModel(model), statistics, event, None)
        ranks.append(rank(kept.posterior.features, parameters["tau"] ** -2.0))
        gaps.append(coverage(kept, X[N_CASES:, selection.indices], y[N_CASES:]) - LEVEL)
    return Replicate(ranks, gaps)


def coverage(kept: FittedRegression, rows: Floats, y: Floats) -> float:
    """Return how many responses lie in their central intervals."""
    probabilities = [
        part.cdf(y[block, np.newaxis]) for block, part in kept.posterior.predictive(rows)
    ]
    return float(np.mean(np.abs(2.0 * np.concatenate(probabilities) - 1.0) <= LEVEL))


def with_holes(X: Floats, known: NDArray[np.intp], rng: np.random.Generator) -> Floats:
    """Return the table with values missing at random, but in rows that stay whole."""
    holes = rng.random(X.shape) < MISSING
    holes[known] = False
    return np.where(holes, np.nan, X)
