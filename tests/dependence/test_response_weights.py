"""Weights of predictive distributions of a response, from cases left out."""

import numpy as np
import pytest
from scipy import stats

from unselected.dependence.response_weights import (
    OUTLIER_DF,
    Candidate,
    HeldOutResponses,
    learn_weights,
)

ONE = np.ones(1)


def cases_of(y, weight=1.0):
    one = np.ones(y.size)
    return HeldOutResponses(y, 30.0 * one, 0.0 * one, 1.2 * one, weight)


def candidate(mean, squares, prior):
    return Candidate(mean[np.newaxis], np.full((1, mean.size), squares), ONE, np.log([prior]))


def test_bayesian_weights_agree_with_a_plain_sum(seed):
    """Of two candidates, where stacking has no say: the first one knows nothing, and wins."""
    y = np.random.default_rng(seed).normal(size=12)
    noise = np.random.default_rng(seed + 1).normal(size=12) * 30.0
    learned = learn_weights([candidate(0 * y, 1.0, 0.5), candidate(noise, 0.01, 0.5)], cases_of(y))
    outlier = stats.t(OUTLIER_DF, 0.0, np.sqrt(1.2)).pdf(y)
    total, clean = np.zeros(2), 0.0
    for i, law in enumerate((stats.t(30, 0.0, 1.0), stats.t(30, noise, 0.1))):
        for epsilon, prior in zip([0, 0.01, 0.03, 0.08, 0.2], [0.5, *[0.125] * 4], strict=True):
            term = 0.5 * prior * np.prod((1 - epsilon) * law.pdf(y) + epsilon * outlier)
            total[i] += term
            clean += (1 - epsilon) * term if i == 0 else 0.0
    assert total[0] / total.sum() > 1.0 - 1e-6
    assert learned.nodes[0][0] == pytest.approx(clean / total.sum(), abs=1e-6)
    assert learned.outlier + sum(float(part.sum()) for part in learned.nodes) == pytest.approx(1.0)


def test_stacking_combines_what_is_right_for_different_cases(seed):
    rng = np.random.default_rng(seed)
    y = rng.normal(size=300)
    half = np.arange(300) % 2 == 0
    each = [np.where(half, y, rng.normal(size=300)), np.where(half, rng.normal(size=300), y)]
    some = [candidate(0 * y, 1.0, 0.5), *(candidate(mean, 0.05, 0.25) for mean in each)]
    weights = [float(part.sum()) for part in learn_weights(some, cases_of(y)).nodes]
    assert min(weights[1:]) > 0.05  # Bayesian weights alone would take one of them


def test_in_noise_nothing_is_known(seed):
    rng = np.random.default_rng(seed)
    y = rng.normal(size=60)
    others = [candidate(rng.normal(size=60), 1.0, 0.05) for _ in range(10)]
    learned = learn_weights([candidate(0 * y, 1.0, 0.5), *others], cases_of(y))
    assert learned.nodes[0].sum() + learned.outlier > 0.9


def test_cases_that_were_left_out_twice_count_once(seed):
    y = np.random.default_rng(seed).normal(size=20)
    once, twice = (
        learn_weights(
            [candidate(0 * z, 1.0, 0.5), candidate(0.5 * z, 1.0, 0.5)], cases_of(z, weight)
        )
        for z, weight in ((y, 1.0), (np.tile(y, 2), 0.5))
    )
    for a, b in zip(once.nodes, twice.nodes, strict=True):
        np.testing.assert_allclose(a, b)
