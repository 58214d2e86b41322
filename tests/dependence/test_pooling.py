"""Evidence of an average pooled with that of regressions, learned from cases left out."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize

from unselected.dependence.held_out import HeldOut
from unselected.dependence.pooling import learn_offset, learn_pool

EVEN = np.log([0.5, 0.5])


def cases(n, seed):
    """Return classes, and two independent kinds of evidence with the right log odds."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % 2)
    odds = 2.0 * (rng.normal(size=(2, n)) + 2.0 * y - 1.0)
    return y, np.stack([np.zeros_like(odds), odds], axis=2)


def pool_of(average, regressions, y):
    return learn_pool(HeldOut.of_classes(average, EVEN, y), np.array(regressions))


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_independent_kinds_of_evidence_are_added(seed):
    y, (one, other) = cases(3000, seed)
    pool = pool_of(one, [other], y)
    assert pool.power == pytest.approx(1.0, abs=0.15)
    assert pool.shares[0] == pytest.approx(1.0, abs=0.15)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_better_of_two_regressions_gets_the_share(seed):
    y, (one, other) = cases(1000, seed)
    wild = 5.0 * np.random.default_rng(seed).normal(size=one.shape)
    pool = pool_of(one, [wild, other], y)
    assert pool.shares[1] > 0.7 > 0.05 > pool.shares[0]


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_regression_that_says_nothing_is_left_out(seed):
    y, (one, _) = cases(1000, seed)
    noise = 3.0 * np.random.default_rng(seed).normal(size=one.shape)
    pool = pool_of(one, [noise], y)
    assert pool.shares.size == 0
    assert pool.power == pytest.approx(1.0, abs=0.15)
    # The wrong twin: a regression that saw the classes.
    y_seen = np.stack([y == 0, y == 1], axis=1).astype(float)
    assert pool_of(one, [noise + 6.0 * y_seen], y).shares.size == 1


def test_cases_that_are_there_twice_count_half():
    y, (one, other) = cases(60, 1)
    twice = [np.concatenate([each, each]) for each in (one, other, y)]
    halved = replace(HeldOut.of_classes(twice[0], EVEN, twice[2]), weight=0.5)
    plain, double = pool_of(one, [other], y), learn_pool(halved, twice[1][np.newaxis])
    np.testing.assert_allclose(double.shares, plain.shares, rtol=1e-9)
    assert double.power == pytest.approx(plain.power, rel=1e-9)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_where_the_average_is_known_to_be_right_it_stays_as_it_is(seed):
    y, (one, other) = cases(60, seed)
    average = HeldOut.of_classes(0.8 * one, EVEN, y)
    known = learn_pool(average, other[np.newaxis], 0.99)
    unknown = learn_pool(average, other[np.newaxis])
    assert known.shares.sum() < 0.3 * max(unknown.shares.sum(), 0.2)
    assert abs(np.log(known.power)) < 0.5 * abs(np.log(unknown.power)) + 0.01
    # Many cases overrule it.
    y, (one, other) = cases(3000, seed)
    many = learn_pool(HeldOut.of_classes(one, EVEN, y), other[np.newaxis], 0.99)
    assert many.shares[0] == pytest.approx(1.0, abs=0.15)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_offset_corrects_evidence_that_is_for_one_class_throughout(seed):
    y, (one, _) = cases(2000, seed)
    moved = one + np.array([0.0, 0.7])
    found = learn_offset(HeldOut.of_classes(moved, EVEN, y))
    assert found[0] - found[1] == pytest.approx(0.7, abs=0.15)
    assert found.sum() == pytest.approx(0.0, abs=1e-12)
    right = learn_offset(HeldOut.of_classes(one, EVEN, y))
    assert abs(right[0] - right[1]) < 0.15
    swapped = learn_offset(HeldOut.of_classes(moved[:, ::-1], EVEN, 1 - y))
    np.testing.assert_allclose(swapped, found[::-1], atol=1e-12)


def test_few_cases_move_the_offset_little():
    y, (one, _) = cases(20, 1)
    moved = HeldOut.of_classes(one + np.array([0.0, 0.7]), EVEN, y)
    assert 0.0 < np.ptp(learn_offset(moved)) < 0.4
    np.testing.assert_allclose(learn_offset(moved, 0.9), 0.1 * learn_offset(moved))
    assert np.ptp(learn_offset(replace(moved, weight=0.1))) < 0.3 * np.ptp(learn_offset(moved))


def test_the_offset_of_three_classes_is_the_mode():
    """Against a general optimizer, of the same log posterior written down once more."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, size=50)
    evidence = rng.normal(size=(50, 3)) + np.array([0.5, 0.0, -0.2])
    log_prior = np.log([0.2, 0.3, 0.5])

    def loss(offset):
        logits = log_prior + evidence + offset
        seen = logits[np.arange(50), y] - np.logaddexp.reduce(logits, axis=1)
        gaps = [(offset[g] - offset[h]) ** 2 for g in range(3) for h in range(g)]
        # The prior of independent offsets, each with half of the variance of a difference.
        return -0.5 * seen.sum() + sum(gaps) / (3 * 0.5**2)

    best = minimize(loss, np.zeros(3), tol=1e-12).x
    found = learn_offset(HeldOut.of_classes(evidence, log_prior, y))
    np.testing.assert_allclose(found, best - best.mean(), atol=1e-6)
