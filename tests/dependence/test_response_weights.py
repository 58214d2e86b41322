"""Weights of predictive distributions of a response, from cases left out."""

import numpy as np
import pytest
from scipy import stats

from unselected.dependence import response_weights
from unselected.dependence.response_weights import (
    OUTLIER_DF,
    Candidate,
    HeldOutResponses,
    learn_weights,
    log_evidence,
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
    some = [candidate(0 * y, 1.0, 0.5), candidate(noise, 0.01, 0.5)]
    learned = learn_weights(some, cases_of(y))
    outlier = stats.t(OUTLIER_DF, 0.0, np.sqrt(1.2)).pdf(y)
    total, clean = np.zeros(2), 0.0
    for i, law in enumerate((stats.t(30, 0.0, 1.0), stats.t(30, noise, 0.1))):
        for epsilon, prior in zip([0, 0.01, 0.03, 0.08, 0.2], [0.8, *[0.05] * 4], strict=True):
            term = 0.5 * prior * np.prod((1 - epsilon) * law.pdf(y) + epsilon * outlier)
            total[i] += term
            clean += (1 - epsilon) * term if i == 0 else 0.0
    assert total[0] / total.sum() > 1.0 - 1e-6
    evidence = np.log(total.sum()) - np.log(outlier).sum()
    assert log_evidence(some, cases_of(y)) == pytest.approx(evidence, abs=1e-6)
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


def loss_of_mixtures(seed, n=60, n_others=15):
    """The expected loss in log density where one of the candidates is the true model.

    The others are as good as regressions on other numbers of features: their means are those of
    the true one, with errors. New cases tell the loss.
    """
    rng = np.random.default_rng(seed)
    losses = []
    for _ in range(8):
        signal, noise = rng.normal(size=(2, n + 500)) * np.array([[0.8], [0.6]])
        y = signal + noise
        means = [signal, *(signal + 0.3 * rng.normal(size=(n_others, n + 500)))]
        squares = [0.36, *[0.45] * n_others]
        some = [candidate(0 * y[:n], 1.0, 0.1), candidate(means[0][:n], 0.36, 0.7)]
        others = zip(means[1:], squares[1:], strict=True)
        some += [candidate(mean[:n], each, 0.2 / n_others) for mean, each in others]
        learned = learn_weights(some, cases_of(y[:n]))
        new = cases_of(y[n:])
        laws = zip([0 * signal, *means], [1.0, *squares], strict=True)
        density = learned.outlier * stats.t(OUTLIER_DF, 0.0, np.sqrt(1.2)).pdf(new.y)
        for part, (mean, each) in zip(learned.nodes, laws, strict=True):
            density += part.sum() * stats.t(30, mean[n:], np.sqrt(each)).pdf(new.y)
        true = stats.t(30, signal[n:], 0.6).logpdf(new.y)
        losses.append(np.mean(true - np.log(density)))
    return float(np.mean(losses))


def test_stacking_costs_little_where_a_candidate_is_true(seed, monkeypatch):
    """The cost above that of Bayesian weights alone; with half of the weights it is too large."""
    ours = loss_of_mixtures(seed)
    monkeypatch.setattr(response_weights, "_STACKED", 0.0)
    bayes = loss_of_mixtures(seed)
    monkeypatch.setattr(response_weights, "_STACKED", 0.5)
    half = loss_of_mixtures(seed)
    cheap = [cost - bayes < 0.75 * (half - bayes) for cost in (ours, half)]
    assert cheap == [True, False]


def test_a_model_known_to_be_right_has_no_outliers_and_is_not_stacked(seed):
    y = np.random.default_rng(seed).normal(size=40)
    some = [candidate(0 * y, 1.0, 0.1), candidate(0 * y, 1.1, 0.1), candidate(0.2 * y, 1.0, 0.8)]
    known, unknown = (learn_weights(some, cases_of(y), share) for share in (0.999, 0.0))
    assert known.outlier < 0.002 < unknown.outlier
    bayes = np.exp([log_evidence([one], cases_of(y)) for one in some])
    weights = [float(part.sum()) for part in known.nodes]
    np.testing.assert_allclose(weights, bayes / bayes.sum(), atol=0.02)
