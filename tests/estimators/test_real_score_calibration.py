"""Simulation-based calibration of fits by ranks; the uncorrected twin fails the same bound."""

import numpy as np
import pytest
from scipy.stats import kstest
from value_scores import brute as brute_force
from value_scores import replicate

pytestmark = pytest.mark.slow


def test_ranks_of_tau_are_uniform_after_selection_by_wilcoxon(seed):
    rng = np.random.default_rng(seed)
    judged = [replicate("wilcoxon", rng) for _ in range(50)]
    corrected, uncorrected = (
        kstest([one.ranks[place] for one in judged], "uniform").pvalue for place in (0, 1)
    )
    assert corrected > 1e-4
    assert uncorrected < 1e-8
    gaps = np.array([one.gaps for one in judged])
    z = gaps.mean(axis=0) / (gaps.std(axis=0) / np.sqrt(len(judged)))
    assert abs(z[0]) < 4.0 < abs(z[1])


def test_brute_force_of_the_validation_script(seed):
    assert abs(brute_force("auc", 0.4, 50_000, np.random.default_rng(seed)).z) < 4.0
