"""Agreement with a cut: exact tails, right rates, and the loss of an edge."""

import numpy as np
import pytest
from scipy.stats import binom

from unselected.audit.cut import cut_agreement


def test_the_p_value_is_a_tail_of_coins():
    scores = np.arange(30.0)
    is_kept = scores >= 20
    is_kept[[19, 20]] = [True, False]
    found = cut_agreement(scores, is_kept)
    assert (found.n_kept, found.n_all, found.n_strongest) == (10, 30, 9)
    assert (found.n_looked_at, found.n_agree) == (20, 18)
    assert found.p_value == pytest.approx(binom.sf(17, 20, 2 / 3))
    assert cut_agreement(scores, scores < 10).p_value > 0.5


def test_columns_kept_for_other_reasons_ring_seldom(seed):
    """At random, and by effects that also make the scores; the twin keeps by the scores."""
    rng = np.random.default_rng(seed)
    rings = {"random": [], "effects": [], "scores": []}
    for _ in range(400):
        effects = rng.normal(size=300)
        scores = np.abs(effects + rng.normal(size=300))
        kept = {
            "random": rng.permutation(300) < 30,
            "effects": np.argsort(np.argsort(-np.abs(effects))) < 30,
            "scores": np.argsort(np.argsort(-scores)) < 30,
        }
        for name, is_kept in kept.items():
            rings[name].append(cut_agreement(scores, is_kept).p_value <= 0.05)
    assert np.mean(rings["random"]) < 0.05
    assert np.mean(rings["effects"]) < 0.05
    assert np.mean(rings["scores"]) == 1.0


def test_related_columns_among_noise_ring_seldom(seed):
    """The steepest case: the cut is where related columns end; the twin lets half of them agree."""
    rng = np.random.default_rng(seed)
    effects = np.where(np.arange(500) < 25, 3.0, 0.0)
    found = []
    for _ in range(300):
        other, scores = np.abs(effects + rng.normal(size=(2, 500)))
        found.append(cut_agreement(scores, np.argsort(np.argsort(-other)) < 20))
    assert np.mean([one.p_value <= 0.05 for one in found]) < 0.03
    assert np.mean([binom.sf(one.n_agree - 1, 20, 0.5) <= 0.05 for one in found]) > 0.05


def test_few_columns_cannot_ring():
    scores = np.arange(50.0)
    assert cut_agreement(scores, scores >= 48).p_value == pytest.approx((2 / 3) ** 4)
    assert cut_agreement(scores, np.ones(50, dtype=bool)).p_value == 1.0


def test_a_column_without_a_score_is_the_weakest():
    scores = np.array([np.nan, 3.0, 1.0])
    assert cut_agreement(scores, np.array([False, True, False])).n_strongest == 1
