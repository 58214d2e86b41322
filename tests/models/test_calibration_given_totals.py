"""Simulation-based calibration under selection where the totals are given, rare and common ones.

Alpha is drawn from the prior. The total of each feature is split between the classes by
P(I0, I1 | m, alpha); the features with the largest scores are kept. Ranks of alpha and expected
less actual numbers of errors are judged by bounds that are the same for the right model and for
two that must fail: uniform rates, and the posterior that ignores the selection.
"""

from typing import NamedTuple

import count_oracle
import numpy as np
import pytest
from scipy import stats
from scipy.special import expit

from unselected.models.bernoulli import BernoulliModel
from unselected.selection.count_scores import CountScores
from unselected.selection.rules import keep_top
from unselected.statistics.counts import ClassCounts

SIZES, K, N_NEW, N_REPLICATES = (12, 12), 5, 100, 110
PRIOR = (2.0, 6.0)
# Most are too rare to be selected, whatever alpha.
TOTALS = np.array([1, 1, 2, 2, 2, 3] * 60 + [6, 8, 10, 12, 13, 15] * 8)
METHODS = ("right", "uniform rates", "uncorrected")


class Replicate(NamedTuple):
    """For each method, the rank of alpha, and expected less actual errors of new cases."""

    ranks: list[float]
    gaps: list[float]


class Splits:
    """P(I1, theta | m, alpha) on a grid of theta, by products of the paper's ratios."""

    def __init__(self, alpha):
        self.alpha, u = alpha, 1.0 / alpha
        B0, B1 = (np.stack([count_oracle.chances(i, n, u) for i in range(n + 1)]) for n in SIZES)
        self._of = {}
        for m in np.unique(TOTALS).tolist():
            I1 = np.arange(max(0, m - SIZES[0]), min(m, SIZES[1]) + 1)
            table = B0[m - I1] * B1[I1] * count_oracle.THETA_WEIGHTS
            self._of[m] = I1, table

    def draw(self, totals, rng):
        """Return I0 and I1 of features with these totals, shape (2, features)."""
        ones = np.empty(totals.size, dtype=int)
        for m, (I1, table) in self._of.items():
            p, alike = table.sum(axis=1), totals == m
            ones[alike] = rng.choice(I1, size=alike.sum(), p=p / p.sum())
        return np.stack([totals - ones, ones])

    def rates(self, I0, I1, rng):
        """Return phi_0 and phi_1 from their law given the split: theta first."""
        values, table = self._of[I0 + I1]
        p = table[I1 - values[0]]
        theta = rng.choice(count_oracle.THETA, p=p / p.sum())
        a, b = self.alpha * theta, self.alpha * (1.0 - theta)
        return [rng.beta(a + i, b + n - i) for i, n in zip((I0, I1), SIZES, strict=True)]


def rank(posterior, alpha):
    """Return P(posterior alpha < alpha), interpolated between the nodes."""
    order = np.argsort(posterior.log_alpha)
    weights = np.exp(posterior.log_weights[order])
    cumulative = np.cumsum(weights) - 0.5 * weights
    return np.interp(np.log(alpha), posterior.log_alpha[order], cumulative, left=0.0, right=1.0)


def replicate(rng):
    alpha = 1.0 / rng.gamma(PRIOR[0], 1.0 / PRIOR[1])
    splits = Splits(alpha)
    counts = ClassCounts(splits.draw(TOTALS, rng), np.array(SIZES))
    models = [BernoulliModel((1.0, 1.0), *PRIOR, rates=rates) for rates in ("given", "uniform")]
    scores = [CountScores.of(counts, by_total=by_total) for by_total in (True, False)]
    none = np.array([], dtype=int)
    selections = [keep_top(each, K, "first", none, rng) for each in scores]
    kept = counts.take(selections[0].indices)
    posteriors = [
        models[0].condition(kept, selections[0].event),
        models[1].condition(kept, selections[1].event),
        models[0].condition(kept, selections[0].event.emptied()),
    ]
    rates = np.array([splits.rates(*pair, rng) for pair in kept.ones.T.tolist()])  # (K, 2)
    psi = rng.beta(1.0 + SIZES[1], 1.0 + SIZES[0])
    y = (rng.random(N_NEW) < psi).astype(int)
    rows = rng.random((N_NEW, K)) < rates[:, y].T
    return Replicate(
        [rank(posterior, alpha) for posterior in posteriors],
        [expected_minus_actual(posterior, rows, y) for posterior in posteriors],
    )


def expected_minus_actual(posterior, rows, y):
    joint = posterior.log_joint(rows)
    one = expit(joint[:, 1] - joint[:, 0])
    return np.mean(np.minimum(one, 1.0 - one)) - np.mean((one > 0.5) != y)


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
    assert p_values["uniform rates"] < 1e-4
    assert p_values["uncorrected"] < 1e-4
    assert away["right"] < 4.0
    assert away["uniform rates"] > 4.0
    assert away["uncorrected"] > 4.0


def test_drawn_splits_are_those_of_the_oracle(seed):
    """The simulation draws what the enumeration in fractions says."""
    rng = np.random.default_rng(seed)
    splits = Splits(2.0)
    drawn = splits.draw(np.full(4000, 3), rng)[1]
    law = count_oracle.law(SIZES, 0.5)
    p = np.array([law[(3 - i, i)][0] for i in range(4)])
    assert stats.chisquare(np.bincount(drawn, minlength=4), 4000 * p / p.sum()).pvalue > 1e-4
