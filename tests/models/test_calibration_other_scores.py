"""Simulation-based calibration where features are selected by the difference of their rates.

Alpha is drawn from the prior, and data from the model. The features with the largest differences
between the rates of the classes are kept. Ranks of alpha, and expected less actual numbers of
errors, are judged by bounds that are the same for the right model and for two that must fail: the
posterior that ignores the selection, and the one that takes it for a selection by correlation.
"""

from typing import NamedTuple

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit

from unselected.models.bernoulli import BernoulliModel
from unselected.selection.count_score import EXPLAINED
from unselected.selection.count_score_kinds import SCORES
from unselected.selection.count_scores import CountScores
from unselected.selection.events import Event
from unselected.selection.rules import keep_top
from unselected.statistics.counts import ClassCounts

SIZES, P, K, N_NEW, N_REPLICATES = (4, 20), 2000, 8, 100, 90
PRIOR = (2.0, 6.0)
Y = np.repeat([0, 1], SIZES)
METHODS = ("right", "uncorrected", "as correlation")
NONE = np.array([], dtype=int)


class Replicate(NamedTuple):
    """For each method, the rank of alpha, and expected less actual errors of new cases."""

    ranks: list[float]
    gaps: list[float]


def rank(posterior, alpha):
    """Return P(posterior alpha < alpha), interpolated between the nodes."""
    order = np.argsort(posterior.log_alpha)
    weights = np.exp(posterior.log_weights[order])
    cumulative = np.cumsum(weights) - 0.5 * weights
    return np.interp(np.log(alpha), posterior.log_alpha[order], cumulative, left=0.0, right=1.0)


def expected_minus_actual(posterior, rows, y):
    joint = posterior.log_joint(rows)
    one = expit(joint[:, 1] - joint[:, 0])
    return np.mean(np.minimum(one, 1.0 - one)) - np.mean((one > 0.5) != y)


def as_correlation(scores, kept):
    """The event that the omitted features are at most as correlated as the weakest kept one."""
    weakest = float(CountScores.of(scores.counts.take(kept)).values(np.arange(kept.size)).min())
    cut = EXPLAINED.cut_at(weakest, scores.counts.sizes)
    return Event(cut, n_at_most=scores.size - kept.size)


def replicate(rng):
    model = BernoulliModel((1.0, 1.0), *PRIOR)
    X, _, parameters = model.simulate(Y.size, P, rng, y=Y)
    ones = np.array([X[Y == g].sum(axis=0, dtype=int) for g in (0, 1)])
    scores = CountScores.of(ClassCounts(ones, np.array(SIZES)), score=SCORES["rate_difference"])
    selection = keep_top(scores, K, "first", NONE, rng)
    counts = scores.counts.take(selection.indices)
    events = (
        selection.event,
        selection.event.emptied(),
        as_correlation(scores, selection.indices),
    )
    posteriors = [model.condition(counts, event) for event in events]
    psi = rng.beta(1.0 + SIZES[1], 1.0 + SIZES[0])
    y = (rng.random(N_NEW) < psi).astype(int)
    rows = rng.random((N_NEW, K)) < parameters["phi"][:, selection.indices][y]
    alpha = parameters["alpha"]
    return Replicate(
        [rank(posterior, alpha) for posterior in posteriors],
        [expected_minus_actual(posterior, rows, y) for posterior in posteriors],
    )


@pytest.mark.slow
@pytest.mark.evidence
def test_ranks_and_predictions_are_calibrated_and_the_twins_are_not(seed):
    rng = np.random.default_rng(seed)
    drawn = [replicate(rng) for _ in range(N_REPLICATES)]
    ranks, gaps = (np.array([one[part] for one in drawn]).T for part in (0, 1))
    p_values = dict(zip(METHODS, (stats.kstest(r, "uniform").pvalue for r in ranks), strict=True))
    errors = gaps.std(axis=1, ddof=1) / np.sqrt(N_REPLICATES)
    away = dict(zip(METHODS, np.abs(gaps.mean(axis=1)) / errors, strict=True))
    assert p_values["right"] > 1e-4
    assert p_values["uncorrected"] < 1e-4
    assert p_values["as correlation"] < 1e-4
    assert away["right"] < 4.0
    assert away["uncorrected"] > 4.0
