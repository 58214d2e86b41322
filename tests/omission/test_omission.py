import hypothesis.strategies as st
import numpy as np
import oracle
import pytest
from hypothesis import given, settings
from real_oracle import simulated_scores
from scipy import stats

from unselected.numerics.beta_binomial import CountLaw
from unselected.numerics.chi_squared_ratio import _log_by_contour, log_ratio_probability
from unselected.numerics.quadrature import gauss_legendre, theta_nodes
from unselected.omission.binary import (
    OmittedCounts,
    log_omission,
    selected_probabilities,
)
from unselected.omission.real import log_real_omission
from unselected.selection.correlation import threshold_cut
from unselected.selection.events import RealEvent
from unselected.statistics.moments import class_axes


def omission_probability(n0, n1, u, omitted):
    law = CountLaw(n0, n1, *gauss_legendre(theta_nodes(n0 + n1)))
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


# Real-valued features


def real_event(sizes, cut, n_features=1):
    counts = np.array([sizes])
    statistic = "|COR|" if len(sizes) == 2 else "F"
    nu = (counts.sum(axis=1) - len(sizes)).astype(float)
    return RealEvent(cut, statistic, class_axes(counts)[0], nu, np.array([n_features]))


@pytest.mark.parametrize(
    ("sizes", "R2"),
    [((9, 14), 0.2), ((7, 7, 7), 0.35), ((42, 11, 9), 0.2), ((3, 4, 5, 30), 0.3), ((1, 1, 9), 0.5)],
)
@pytest.mark.parametrize("tau", [0.0, 0.3, 1.5])
def test_real_omission_agrees_with_a_million_simulated_features(sizes, R2, tau, seed):
    n, G = sum(sizes), len(sizes)
    cut = np.sqrt(R2) if G == 2 else (R2 / (G - 1)) / ((1 - R2) / (n - G))
    ours = np.exp(log_real_omission(np.array([tau**2]), real_event(sizes, cut)))[0, 0]
    draws = 10**6
    simulated = simulated_scores(sizes, tau, draws, np.random.default_rng(seed))
    error = 4.0 * np.sqrt(max(ours * (1 - ours), 1e-9) / draws)
    assert np.mean(simulated <= R2) == pytest.approx(ours, abs=error)
    twin = np.exp(log_real_omission(np.array([(tau + 0.1) ** 2]), real_event(sizes, cut)))[0, 0]
    assert abs(np.mean(simulated <= R2) - twin) > error


@pytest.mark.parametrize("G", [2, 3, 5])
@pytest.mark.parametrize("size", [2, 10, 400])
@pytest.mark.parametrize("kappa", [1e-4, 0.05, 0.5, 20.0])
def test_equal_classes_are_a_scaled_f_distribution(G, size, kappa):
    tau2 = np.array([0.0, 0.01, 0.3, 4.0])
    n = G * size
    law = stats.f(G - 1, n - G)
    cut = kappa * (n - G) / (G - 1)
    if G == 2:
        event = real_event((size,) * G, np.sqrt(kappa / (1 + kappa)))
    else:
        event = real_event((size,) * G, cut)
    np.testing.assert_allclose(
        np.exp(log_real_omission(tau2, event))[:, 0],
        law.cdf(cut / (1 + tau2 * size)),
        rtol=1e-9,
        atol=1e-15,
    )


@pytest.mark.parametrize("q", [1, 2, 4])
@pytest.mark.parametrize("nu", [1.0, 3.0, 59.0, 2000.0])
@pytest.mark.parametrize("kappa", [1e-4, 0.02, 0.5, 3.0, 1e3])
def test_the_contour_integral_gives_the_beta_distribution(q, nu, kappa):
    """The general method, made to do the case that has a closed form: both tails, relatively."""
    a = np.array([1.0, 1.7, 30.0, 1e4])
    rows, full = np.repeat(a[:, None], q, axis=1), np.full(4, nu)
    logs = _log_by_contour(rows / kappa, full, np.empty((4, 0)))
    x = kappa / (kappa + a)
    law = stats.beta(q / 2, nu / 2)
    np.testing.assert_allclose(np.exp(logs), law.cdf(x), rtol=1e-9, atol=1e-300)
    small = (law.sf(x) < 0.3) & (law.sf(x) > 1e-250)
    np.testing.assert_allclose(-np.expm1(logs)[small], law.sf(x)[small], rtol=1e-9)


@pytest.mark.parametrize("nu", [1.0, 20.0, 59.0, 3000.0])
@pytest.mark.parametrize("kappa", [1e-3, 0.05, 0.4, 8.0])
@pytest.mark.parametrize("ratio", [1.0 + 1e-9, 1.2, 5.0, 1e4])
def test_three_unequal_classes_agree_with_an_average_over_directions(nu, kappa, ratio):
    """Two contrasts: (z1, z2) has a uniform direction, and given that the law is a scaled F."""
    angle = (np.arange(20_000) + 0.5) * np.pi / 20_000
    mixed = np.cos(angle) ** 2 + ratio * np.sin(angle) ** 2
    expected = stats.beta(1.0, nu / 2).cdf(kappa / (kappa + mixed)).mean()
    ours = log_ratio_probability(
        np.array([[1.0, ratio]]), np.array([float(nu)]), np.array([float(kappa)])
    )
    assert np.exp(ours[0]) == pytest.approx(expected, abs=1e-9)


def test_real_omission_at_the_ends():
    tau2 = np.array([0.0, 1.0])
    assert log_real_omission(tau2, real_event((5, 7), 0.0)).tolist() == [[-np.inf], [-np.inf]]
    assert log_real_omission(tau2, real_event((5, 7), 1.0)).tolist() == [[0.0], [0.0]]
    assert log_real_omission(tau2, real_event((5, 7), None)).tolist() == [[0.0], [0.0]]


def test_real_omission_falls_with_tau_and_with_the_cut():
    tau2 = np.linspace(0.0, 5.0, 30)
    by_tau = log_real_omission(tau2, real_event((42, 11, 9), 5.0))[:, 0]
    assert np.all(np.diff(by_tau) < 0)
    by_cut = [
        log_real_omission(tau2[5:6], real_event((42, 11, 9), cut))[0, 0] for cut in range(1, 9)
    ]
    assert np.all(np.diff(by_cut) > 0)


def test_patterns_are_taken_one_by_one():
    """Many patterns at once, in blocks: each as if it were alone."""
    rng = np.random.default_rng(0)
    counts = rng.integers(2, 12, size=(300, 3))
    lam, nu = class_axes(counts)[0], counts.sum(axis=1) - 3.0
    event = RealEvent(4.0, "F", lam, nu, np.ones(300, dtype=int))
    tau2 = rng.gamma(0.5, 0.2, size=40)
    together = log_real_omission(tau2, event)
    for j in (0, 17, 299):
        alone = log_real_omission(tau2, event.patterns(slice(j, j + 1)))
        np.testing.assert_allclose(together[:, j], alone[:, 0], rtol=1e-11)
    np.testing.assert_allclose(event.log_prob(together), together.sum(axis=1), rtol=1e-12)
