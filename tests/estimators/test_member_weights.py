"""The power of an average over models, from the probabilities that it gave to cases left out."""

import numpy as np
import pytest

from unselected.dependence.averaging import LikelihoodAverage
from unselected.dependence.held_out import HeldOut
from unselected.dependence.pooling import learn_pool
from unselected.dependence.power import PowerPosterior
from unselected.estimators.member_weights import Fit, Weighed, evidence_left_out, normalized
from unselected.statistics.leaving_out import LeftOut

EVEN = np.log([0.5, 0.5])


def cases_of(n, seed):
    """Return classes, and two independent measurements whose log odds are right."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % 2)
    return y, 2.0 * (rng.normal(size=(2, n)) + 2.0 * y - 1.0)


def members_of(y, log_odds, times=1.0):
    """Return an average over models with these log odds, all with the same weight."""
    members = []
    for own in log_odds:
        evidence = np.stack([np.zeros(y.size), times * own], axis=1)
        cases = HeldOut.of_classes(evidence, EVEN, y)
        full = PowerPosterior(
            np.ones(1), np.zeros(1), np.zeros(1), cases, PowerPosterior.full().prior
        )
        average = LikelihoodAverage((full,), np.zeros(1))
        members.append(Weighed(None, average, -np.log(len(log_odds))))
    return members


def power_of_average(members, y):
    """Return the power without any regression beside the members."""
    pool = learn_pool(evidence_left_out(members, y), np.zeros((0, y.size, 2)))
    assert pool.shares.size == 0
    return pool.power


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_an_average_over_models_that_disagree_gets_a_power_above_1(seed):
    y, log_odds = cases_of(4000, seed)
    # Each model is right and knows half of what there is; the average knows more than it says.
    assert power_of_average(members_of(y, log_odds), y) > 1.25


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_power_of_one_model_corrects_it(seed):
    y, log_odds = cases_of(4000, seed)
    assert power_of_average(members_of(y, log_odds[:1]), y) == pytest.approx(1.0, abs=0.15)
    assert power_of_average(members_of(y, log_odds[:1], times=2.0), y) == pytest.approx(
        0.5, abs=0.08
    )


def test_few_cases_hardly_move_the_power():
    y, log_odds = cases_of(8, 1)
    few = power_of_average(members_of(y, log_odds), y)
    assert 0.75 < few < 1.35
    alike = np.zeros((2, 8))
    assert power_of_average(members_of(y, alike), y) == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize(("bits", "own"), [([True, True], 0.85), ([True, False], 0.5)])
def test_independence_has_a_larger_prior_where_all_features_are_binary(bits, own):
    y, log_odds = cases_of(40, 1)
    evidence = np.stack([np.zeros(40), log_odds[0]], axis=1)
    left = [LeftOut.rows(np.array([], dtype=np.intp), 40), LeftOut.rows(np.arange(40), 80)]
    fits = [
        Fit(2, None, np.array(bits), None, np.stack([evidence, evidence]), evidence * 0.0, each)
        for each in left
    ]
    learned = Weighed.learn(fits, y, 1, powered=True)
    np.testing.assert_allclose(learned.average.weights, [own, 1.0 - own], atol=0.01)


def members_with_weights(logs):
    """Members of 1, 2, ... features with these log probabilities of cases left out."""
    sizes = np.arange(len(logs)) + 1
    fits = [Fit(int(k), _Sized(np.arange(k)), None, None, None, None, None) for k in sizes]
    return [Weighed(fit, None, log) for fit, log in zip(fits, logs, strict=True)]


class _Sized:
    """A selection of some columns."""

    def __init__(self, indices):
        self.indices = indices


def test_independent_features_speak_for_the_model_with_most_of_them():
    members = members_with_weights([0.0, -2.0, -5.0])
    by_cases = [np.exp(one.log_weight) for one in normalized(members)]
    by_both = [np.exp(one.log_weight) for one in normalized(members, 0.97)]
    assert by_cases[0] > by_cases[1] > by_cases[2]
    prior = np.array([0.01, 0.01, 0.98])
    wanted = prior * np.exp(0.2 * np.array([0.0, -2.0, -5.0]))
    wanted /= wanted.sum()
    some = wanted >= 0.02
    np.testing.assert_allclose(by_both, wanted[some] / wanted[some].sum(), rtol=1e-9)


def test_independent_features_have_power_1_unless_cases_left_out_speak_against_it():
    y, log_odds = cases_of(60, 1)
    left = [LeftOut.rows(np.array([], dtype=np.intp), 60), LeftOut.rows(np.arange(60), 120)]

    def full_power(times, independent):
        evidence = np.stack([np.zeros(60), times * log_odds[0]], axis=1)[np.newaxis]
        fits = [
            Fit(2, None, np.array([False]), None, evidence, 0.0 * evidence[0], each)
            for each in left
        ]
        learned = Weighed.learn(fits, y, 1, powered=True, independent=independent)
        return learned.average.full_power_probability

    assert full_power(1.0, 0.99) > 0.97 > full_power(1.0, 0.0)
    assert full_power(12.0, 0.99) < 0.2
