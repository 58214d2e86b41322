"""Events: what they say of the omitted features, and how probable that is."""

from fractions import Fraction
from itertools import pairwise
from math import comb

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from scipy.integrate import quad

from unselected.selection.events import Event, OmittedKinds, RealEvent, log_lottery


def test_the_empty_event_is_certain_whatever_the_probabilities():
    minus_inf = np.array([-np.inf, -1.0])
    np.testing.assert_array_equal(Event().log_prob(minus_inf, minus_inf), [0.0, 0.0])


def test_zero_counts_contribute_nothing_even_against_minus_infinity():
    event = Event(n_below=0, n_at_most=2)
    assert event.log_prob(np.array(-np.inf), np.array(-0.5)) == -1.0
    assert Event(n_below=3).log_prob(np.array(-0.5), np.array(-np.inf)) == -1.5


def lottery_by_enumeration(tied, t, n_omitted):
    return sum(
        comb(n_omitted, r) * tied**r * (1 - tied) ** (n_omitted - r) / comb(t + r, t)
        for r in range(n_omitted + 1)
    )


@given(tied=st.floats(1e-6, 1.0), t=st.integers(1, 40), n_omitted=st.integers(1, 60))
def test_lottery_is_the_mean_over_the_unknown_number_of_ties(tied, t, n_omitted):
    expected = lottery_by_enumeration(tied, t, n_omitted)
    ours = np.exp(log_lottery(np.array([tied]), t, n_omitted))[0]
    assert ours == pytest.approx(expected, rel=1e-11)


@pytest.mark.parametrize("tied", [1e-9, 1e-6, 2.99e-5, 3e-5, 1e-3, 0.2])
@pytest.mark.parametrize("t", [1, 7, 300])
def test_lottery_among_ten_million(tied, t):
    """The integral of the docstring, on a log scale around its peak."""
    n_omitted = 10**7

    def log_f(s):
        return (t - 1) * np.log(s) + n_omitted * np.log1p(-s * tied)

    peak = min(1.0, max((t - 1) / (tied * (n_omitted + t - 1)), 1e-12))
    width = min(1 / t, np.sqrt(t) / (tied * n_omitted))
    points = sorted({min(1.0, max(1e-300, peak + j * width)) for j in range(-40, 41)} | {0.0, 1.0})
    pieces = [
        quad(lambda s: np.exp(log_f(s) - log_f(peak)), a, b, epsabs=0, epsrel=1e-12)[0]
        for a, b in pairwise(points)
    ]
    expected = np.log(t) + np.log(sum(pieces)) + log_f(peak)
    assert log_lottery(np.array([tied]), t, n_omitted)[0] == pytest.approx(expected, abs=1e-7)


def test_lottery_where_betas_underflow():
    """5000 kept at the cut against 10 omitted: an omitted tie hardly ever wins a place."""
    ours = np.exp(log_lottery(np.array([0.6, 1e-300, 0.0]), 5000, 10))
    np.testing.assert_allclose(ours, [lottery_by_enumeration(0.6, 5000, 10), 1.0, 1.0], rtol=1e-10)


@given(q=st.floats(0.0, 0.6), t=st.integers(1, 30), n_omitted=st.integers(1, 400))
def test_lottery_with_few_ties_to_be_expected(q, t, n_omitted):
    """The sum over the number of ties; so many omitted that it may not be taken to its end."""
    tied = q * min(1.0, t / n_omitted)
    expected = lottery_by_enumeration(tied, t, n_omitted)
    ours = np.exp(log_lottery(np.array([tied]), t, n_omitted))[0]
    assert ours == pytest.approx(expected, rel=1e-11)


def test_where_all_omitted_are_tied_and_fewer_than_the_kept():
    """Three against five places: one of binomial(8, 5) outcomes."""
    assert np.exp(log_lottery(np.array([1.0]), 5, 3)) == pytest.approx(1 / comb(8, 5))


def test_a_draw_against_nobody_is_won():
    assert log_lottery(np.array([0.0, 0.3]), 4, 0).tolist() == [0.0, 0.0]


def test_lottery_keeps_the_shape():
    tied = np.array([[0.0, 0.5, 1.0], [0.1, 0.9, 0.01]])
    expected = [[lottery_by_enumeration(q, 3, 4) for q in row] for row in tied]
    np.testing.assert_allclose(np.exp(log_lottery(tied, 3, 4)), expected, rtol=1e-12)


def test_an_event_is_the_product_over_its_features():
    below, at_most = np.array([0.2, 0.5]), np.array([0.3, 0.9])
    event = Event(Fraction(1, 4), n_below=2, n_at_most=3)
    np.testing.assert_allclose(
        np.exp(event.log_prob(np.log(below), np.log(at_most))), below**2 * at_most**3
    )
    draw = Event(Fraction(1, 4), n_below=1, n_at_most=2, n_lottery=4, n_kept_ties=3)
    lost = [lottery_by_enumeration(q, 3, 4) for q in 1 - below / at_most]
    np.testing.assert_allclose(
        np.exp(draw.log_prob(np.log(below), np.log(at_most))), below * at_most**6 * lost
    )


def test_as_many_at_most_at_the_cut_as_in_the_draw():
    event = Event(Fraction(1, 4), n_at_most=2, n_lottery=2, n_kept_ties=1)
    expected = 0.9**4 * lottery_by_enumeration(1 - 0.5 / 0.9, 1, 2)
    assert np.exp(event.log_prob(np.log(0.5), np.log(0.9))) == pytest.approx(expected)


def test_what_an_event_speaks_of():
    event = Event(Fraction(1, 4), n_below=2, n_at_most=3, n_lottery=5, n_kept_ties=7)
    assert event.n_omitted == 10
    assert event.emptied() == Event(Fraction(1, 4))
    assert [Event(n_below=1).needs_below, Event(n_lottery=1).needs_below] == [True, True]
    assert not Event(n_at_most=3).needs_below
    assert Event() == Event(None, 0, 0, 0, 0)


def test_features_of_several_kinds_are_a_product_too():
    """Two kinds below and at the cut, one at most at it; of a fourth kind there is no feature."""
    n_below, n_at_cut, n_at_most = np.array([[2, 0, 1, 0], [1, 3, 0, 0], [0, 0, 4, 0]])
    kinds = OmittedKinds(np.ones((4, 2)), np.full(4, -1), n_below, n_at_cut, n_at_most)
    assert kinds.n_features.tolist() == [3, 3, 5, 0]
    assert Event(Fraction(1, 4), kinds=kinds).n_omitted == 11
    below = np.array([[0.2, 0.0, 0.5, 0.0], [0.3, 0.1, 0.4, 0.0]])
    at_cut, at_most = np.array([0.1, 0.6, 0.0, 0.0]), np.array([0.4, 0.0, 0.7, 0.0])
    with np.errstate(divide="ignore"):
        logs = np.log(below), np.log([at_cut] * 2), np.log([at_most] * 2)
    expected = below[:, 0] ** 2 * below[:, 2] * 0.1 * 0.6**3 * 0.7**4
    np.testing.assert_allclose(np.exp(kinds.log_prob(*logs)), expected)
    none = OmittedKinds(np.ones((4, 2)), np.full(4, -1), *np.zeros((3, 4), dtype=int))
    assert none.log_prob(*logs).tolist() == [0.0, 0.0]


def test_what_is_said_where_nothing_else_is():
    assert Event().statistic == "|COR|"
    assert (Event.skips_constant, RealEvent.skips_constant) == (False, True)


def real_event(cut, statistic="|COR|", n_features=(3, 0, 4)):
    lam = np.array([[4.0, 5.0], [3.0, 4.0], [2.0, 3.0]])
    return RealEvent(cut, statistic, lam, np.array([9.0, 7.0, 4.0]), np.array(n_features))


def test_the_cut_as_a_ratio_of_sums_of_squares():
    """R^2 / (1 - R^2), and 2 F / nu for three classes."""
    np.testing.assert_allclose(real_event(0.6).kappa, [0.5625] * 3, rtol=1e-14)
    np.testing.assert_allclose(real_event(3.0, "F").kappa, [6 / 9, 6 / 7, 6 / 4], rtol=1e-14)
    assert real_event(1.0).kappa.tolist() == [np.inf] * 3
    assert real_event(1.0 + 1e-16).kappa.tolist() == [np.inf] * 3
    assert real_event(None).kappa.tolist() == [np.inf] * 3
    assert real_event(0.0).kappa.tolist() == [0.0] * 3
    assert real_event(1e308, "F").kappa.tolist() == [np.inf] * 3  # and no warning


def test_real_events_count_features_by_pattern():
    event = real_event(0.6)
    assert event.n_omitted == 7
    logs = np.log([[0.5, 0.1, 0.25], [0.9, 0.2, 0.8]])
    expected = [0.5**3 * 0.25**4, 0.9**3 * 0.8**4]
    np.testing.assert_allclose(np.exp(event.log_prob(logs)), expected)
    logs[:, 1] = -np.inf  # of which there is no feature
    np.testing.assert_allclose(np.exp(event.log_prob(logs)), expected)
    one = real_event(0.6, n_features=(1, 0, 1))
    np.testing.assert_allclose(np.exp(one.log_prob(logs)), [0.125, 0.72])


def test_real_events_in_part_and_emptied():
    event = real_event(0.6, "F")
    part = event.patterns(np.array([True, False, True]))
    assert (part.cut, part.statistic, part.n_omitted) == (0.6, "F", 7)
    assert (part.lam.tolist(), part.nu.tolist()) == ([[4.0, 5.0], [2.0, 3.0]], [9.0, 4.0])
    empty = event.emptied()
    assert (empty.cut, empty.n_features.tolist()) == (0.6, [0, 0, 0])
    assert empty.log_prob(np.full((2, 3), -np.inf)).tolist() == [0.0, 0.0]
