"""Calibration under selection with covariates: what `make validate` does with many replicates."""

import covariates
import numpy as np
import pytest
from covariates import METHODS, judge_classes, judge_responses
from scipy import stats


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.* outside of their training range")
@pytest.mark.parametrize("judge", [judge_classes, judge_responses])
@pytest.mark.evidence
def test_calibrated_under_selection_and_the_wrong_twins_are_not(judge, seed, monkeypatch):
    """Ranks of the true tau, for the right method and three that forget something."""
    monkeypatch.setattr(covariates, "N_TEST", 20)
    rng = np.random.default_rng([seed, 17])
    found = [judge(rng) for _ in range(20)]
    ranks = np.array([one.ranks for one in found])
    p_values = {
        method: stats.kstest(own, "uniform").pvalue
        for method, own in zip(METHODS, ranks.T, strict=True)
    }
    assert p_values.pop("corrected") > 1e-4
    assert max(p_values.values()) < 1e-4, p_values
    gaps = np.array([one.gaps for one in found])
    errors = gaps.std(axis=0) / np.sqrt(len(gaps))
    assert abs(gaps[:, 0].mean()) < 4 * errors[0]
    assert gaps[:, 1].mean() < gaps[:, 0].mean() - 0.02  # overconfident
