"""Means over cases, with intervals from resampled cases or groups."""

import numpy as np
import pytest

from unselected.numerics.resampling import Resamples

RNG = np.random.default_rng(3)
NUMBERS = RNG.normal(size=60)


def test_the_interval_is_that_of_resampled_cases():
    told = Resamples.draw(60, n_resamples=20000, seed=1).mean(NUMBERS).estimate(0.95)
    half = 1.96 * NUMBERS.std() / np.sqrt(60)
    assert told.value == pytest.approx(NUMBERS.mean())
    assert told.low == pytest.approx(NUMBERS.mean() - half, abs=0.1 * half)
    assert told.high == pytest.approx(NUMBERS.mean() + half, abs=0.1 * half)


def test_groups_are_resampled_as_a_whole():
    groups = np.repeat(np.array(["a", "b", "c", "d", "e"], dtype=object), [20, 10, 10, 10, 10])
    shifted = NUMBERS + np.repeat([0.0, 3.0, -3.0, 2.0, -2.0], [20, 10, 10, 10, 10])
    draws = Resamples.draw(60, n_resamples=500, seed=0, groups=groups).mean(shifted).draws
    sums = {name: shifted[groups == name].sum() for name in "abcde"}
    picks = np.random.default_rng(0).integers(5, size=(500, 5))[7]
    chosen = ["abcde"[pick] for pick in picks]
    size = sum(20 if name == "a" else 10 for name in chosen)
    assert draws[7] == pytest.approx(sum(sums[name] for name in chosen) / size)
    single = Resamples.draw(60, n_resamples=500, seed=0).mean(shifted).draws
    assert draws.std() > 1.5 * single.std()


def test_differences_are_paired():
    resamples = Resamples.draw(60, n_resamples=500, seed=0)
    first, second = resamples.mean(NUMBERS), resamples.mean(NUMBERS + 0.25)
    difference = second.less(first).estimate(0.95)
    assert (difference.low, difference.high) == pytest.approx((0.25, 0.25))
    squares = resamples.mean(NUMBERS**2)
    assert squares.root().value == pytest.approx(np.sqrt(np.mean(NUMBERS**2)))
    np.testing.assert_allclose(squares.root().draws ** 2, squares.draws)
