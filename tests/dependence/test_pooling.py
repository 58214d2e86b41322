"""Evidence of an average pooled with that of regressions, learned from cases left out."""

from dataclasses import replace

import numpy as np
import pytest

from unselected.dependence.held_out import HeldOut
from unselected.dependence.pooling import learn_pool

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
