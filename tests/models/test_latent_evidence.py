"""Few replicates of what `make validate` does with many: see validation/latent.py."""

import numpy as np
import pytest
from latent import REPLICATED, compared, geweke, replicate
from scipy import stats

from unselected.models.mixture import MixtureModel


@pytest.mark.slow
def test_the_joint_distribution_stays_and_that_of_wrong_twins_does_not(seed):
    exact = geweke(MixtureModel(), 800, seed)
    assert np.max(np.abs(list(exact.values()))) < 4.5
    ignoring = geweke(MixtureModel(adjust_labels="ignore"), 800, seed)
    assert np.max(np.abs(list(ignoring.values()))) > 4.5
    forgetting = geweke(MixtureModel(), 200, seed, forget=True)
    assert np.max(np.abs(list(forgetting.values()))) > 4.5


@pytest.mark.slow
@pytest.mark.evidence
def test_ranks_are_uniform_under_selection_and_uncorrected_ones_are_not(seed):
    rng = np.random.default_rng(seed)
    short = {"n_chains": 2, "n_draws": 40}
    drawn = [replicate(REPLICATED, 16, 500, 12, rng, **short) for _ in range(12)]
    corrected, uncorrected = np.array([one.ranks for one in drawn]).T
    assert stats.kstest(corrected, "uniform").pvalue > 1e-4
    assert stats.kstest(uncorrected, "uniform").pvalue < 1e-4


@pytest.mark.slow
@pytest.mark.evidence
def test_correction_promises_what_comes(seed):
    each = [compared(8 * seed + r, n=40, p=1500, k=24, n_draws=16) for r in range(8)]
    gaps = {
        name: np.mean([one[name].expected_error - one[name].actual_error for one in each])
        for name in each[0]
    }
    assert abs(gaps["mixture, corrected"]) < 0.075
    assert abs(gaps["mixture, uncorrected"]) > 0.075
