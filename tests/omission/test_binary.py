"""The omission probability of binary features: the counts that are omitted, and their sum."""

import hypothesis.strategies as st
import numpy as np
import oracle
import pytest
from hypothesis import given, settings
from scipy import stats

from unselected.numerics.beta_binomial import CountLaw
from unselected.numerics.quadrature import gauss_legendre, theta_nodes
from unselected.omission import binary
from unselected.omission.binary import OmittedCounts, log_omission, selected_probabilities
from unselected.selection.correlation import threshold_cut


def omission_probability(n0, n1, u, omitted):
    law = CountLaw((n0, n1), *gauss_legendre(theta_nodes(n0 + n1)))
    selected = sum(
        selected_probabilities([omitted], np.exp(log_p0), np.exp(log_p1), law.weights[nodes])[0]
        for nodes, log_p0, log_p1 in law.blocks(u)
    )
    return np.exp(log_omission(law, u, omitted, selected))


def pairs_of(omitted):
    return {
        (I0, I1)
        for I1, (start, stop) in enumerate(zip(omitted.start, omitted.stop, strict=True))
        for I0 in range(start, stop)
    }


@settings(max_examples=60, deadline=None)
@given(n0=st.integers(1, 12), n1=st.integers(1, 12), data=st.data())
def test_omitted_counts_are_those_that_do_not_pass(n0, n1, data):
    """For every attainable cut: at most there, and below it."""
    values = oracle.all_cor_squared(n0, n1)
    cut = data.draw(st.sampled_from(sorted(set(values.values()))))
    at_most = {pair for pair, value in values.items() if value <= cut}
    below = {pair for pair, value in values.items() if value < cut}
    assert pairs_of(OmittedCounts.at_most(cut, n0, n1)) == at_most
    assert pairs_of(OmittedCounts.below(cut, n0, n1)) == below


def test_the_sets_of_figure_1():
    """n = 22, 14 of them in class 1, gamma = 0.2: light grey counts are kept, the others not."""
    omitted = OmittedCounts.at_most(threshold_cut(0.2), 8, 14)
    cor = {pair: float(value) ** 0.5 for pair, value in oracle.all_cor_squared(8, 14).items()}
    assert pairs_of(omitted) == {pair for pair, value in cor.items() if value <= 0.2}
    # L0, dark grey: 8 I1 = 14 I0.
    assert {pair for pair, value in cor.items() if value == 0} == {(0, 0), (4, 7), (8, 14)}
    # b0 of the paper, the smallest I1 with Cor(0, I1) > gamma: 1.44 rounded up.
    b0 = 1 / (1 / 22 + (8 / 22) / (14 * 0.2**2))
    assert int(np.argmax(omitted.start > 0)) == int(np.ceil(b0)) == 2
    # Swapping zeros and ones reflects the figure in its centre.
    assert pairs_of(omitted) == {(8 - I0, 14 - I1) for I0, I1 in pairs_of(omitted)}


@settings(max_examples=25, deadline=None)
@given(n0=st.integers(1, 15), n1=st.integers(1, 15), log_alpha=st.floats(-4, 10), data=st.data())
def test_probability_is_the_masked_sum_over_the_table(n0, n1, log_alpha, data):
    values = oracle.all_cor_squared(n0, n1)
    cut = data.draw(st.sampled_from(sorted(set(values.values()))))
    alpha = np.exp(log_alpha)
    for omitted, keep in (
        (OmittedCounts.at_most(cut, n0, n1), lambda value: value <= cut),
        (OmittedCounts.below(cut, n0, n1), lambda value: value < cut),
    ):
        expected = oracle.omission_probability(n0, n1, alpha, keep)
        ours = omission_probability(n0, n1, 1 / alpha, omitted)
        assert ours == pytest.approx(expected, rel=1e-9, abs=1e-14)
    law = CountLaw((n0, n1), *gauss_legendre(theta_nodes(n0 + n1)))
    ours = binary.omission_probability(law, cut, np.array([0.0, 1 / alpha]))
    expected = oracle.omission_probability(n0, n1, alpha, lambda value: value <= cut)
    assert ours[1] == pytest.approx(expected, rel=1e-9, abs=1e-14)


@pytest.mark.parametrize("gamma", [0.0, 0.2, 0.6, 0.95])
def test_selected_and_omitted_sum_to_one(gamma):
    """Both are sums of their own, over the halves of theta that `CountLaw` gives."""
    n0, n1, alpha = 9, 14, 6.0
    omitted = OmittedCounts.at_most(threshold_cut(gamma), n0, n1)
    law = CountLaw((n0, n1), *gauss_legendre(theta_nodes(n0 + n1)))
    sets = [omitted, OmittedCounts.at_most(threshold_cut(0.4), n0, n1)]
    selected, left_out = np.zeros(2), 0.0
    for nodes, log_p0, log_p1 in law.blocks(1 / alpha):
        pmfs = np.exp(log_p0), np.exp(log_p1)
        selected += selected_probabilities(sets, *pmfs, law.weights[nodes])
        left_out += omitted.omitted_probability(*pmfs, law.weights[nodes])
    assert selected[0] + left_out == pytest.approx(1.0, abs=1e-12)
    above = oracle.omission_probability(n0, n1, alpha, lambda value: value > threshold_cut(gamma))
    assert selected[0] == pytest.approx(above, rel=1e-9, abs=1e-15)
    assert selected_probabilities([], *pmfs, law.weights[nodes]).size == 0


def test_the_smaller_of_the_two_probabilities_is_summed():
    """P(selected) is believed where it is below one half, and else not looked at again."""
    omitted = OmittedCounts.at_most(threshold_cut(0.4), 9, 14)
    law = CountLaw((9, 14), *gauss_legendre(theta_nodes(23)))
    itself = np.log(oracle.omission_probability(9, 14, 6.0, lambda v: v <= threshold_cut(0.4)))
    assert log_omission(law, 1 / 6.0, omitted, 0.3) == np.log1p(-0.3)
    for selected in (0.5, 0.7):
        assert log_omission(law, 1 / 6.0, omitted, selected) == pytest.approx(itself, rel=1e-9)
    nothing = OmittedCounts.below(threshold_cut(0.0) * 0, 9, 14)
    assert log_omission(law, 1 / 6.0, nothing, 1.0) == -np.inf


def test_tends_to_two_thirds_for_constant_features():
    """alpha -> 0 makes every feature constant in each class: (0,0), (n0,n1) have COR 0 ..."""
    omitted = OmittedCounts.at_most(threshold_cut(0.5), 10, 10)
    assert omission_probability(10, 10, 1e9, omitted) == pytest.approx(2 / 3, abs=1e-7)


def test_small_probabilities_keep_their_digits():
    """At gamma = 0 with coprime class sizes only constant features are omitted: 2 / (n + 1)."""
    n0, n1 = 1009, 1013
    omitted = OmittedCounts.at_most(threshold_cut(0.0), n0, n1)
    exact = 2 / (n0 + n1 + 1)
    assert omission_probability(n0, n1, 0.0, omitted) == pytest.approx(exact, rel=1e-13)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n0", "n1", "alpha"), [(10000, 10000, 200.0), (1, 19999, 1.0), (17000, 3000, 1e4)]
)
def test_twenty_thousand_cases(n0, n1, alpha):
    """Against scipy's beta-binomial, summed the other way round."""
    omitted = OmittedCounts.at_most(threshold_cut(0.02), n0, n1)
    nodes, weights = np.polynomial.legendre.leggauss(500)
    I1, expected = np.arange(n1 + 1), 0.0
    for theta, weight in zip(0.5 * (nodes + 1), 0.5 * weights, strict=True):
        prior = alpha * theta, alpha * (1 - theta)
        pmf0 = stats.betabinom.pmf(np.arange(n0 + 1), n0, *prior)
        at_least = np.append(np.cumsum(pmf0[::-1])[::-1], 0.0)
        interval = at_least[omitted.start] - at_least[omitted.stop]
        expected += weight * (stats.betabinom.pmf(I1, n1, *prior) @ interval)
    assert omission_probability(n0, n1, 1 / alpha, omitted) == pytest.approx(expected, abs=1e-9)
