import numpy as np
import pytest
from scipy.special import gammaln

from unselected.numerics.quadrature import (
    find_peaks,
    gauss_legendre,
    gauss_rule,
    log_sum,
    simpson,
    theta_nodes,
    trapezoid,
)


def test_log_sum_survives_what_exp_does_not():
    assert log_sum(np.array([-2000.0, -2000.0])) == pytest.approx(-2000 + np.log(2), rel=1e-15)
    assert log_sum(np.array([-np.inf, -np.inf])) == -np.inf
    np.testing.assert_allclose(log_sum(np.zeros((2, 3)), axis=1), np.log(3))


@pytest.mark.parametrize("rule", [gauss_legendre(5), gauss_legendre(74), simpson(21)])
def test_rules_are_probabilities_symmetric_to_the_last_bit(rule):
    nodes, weights = rule
    assert weights.sum() == pytest.approx(1.0, abs=1e-14)
    np.testing.assert_array_equal(weights, weights[::-1])
    np.testing.assert_allclose(nodes, 1.0 - nodes[::-1], atol=2e-16)


def log_beta_integral(m, n, n_nodes):
    nodes, weights = gauss_legendre(n_nodes)
    return np.log(weights @ (nodes**m * (1 - nodes) ** (n - m)))


@pytest.mark.parametrize("n", [1, 2, 9, 50, 130, 200, 400])
def test_theta_nodes_integrate_the_sharpest_integrand(n):
    """At alpha = infinity the integrand is theta^m (1 - theta)^(n - m): a beta function."""
    for m in range(0, n + 1, max(1, n // 7)):
        exact = gammaln(m + 1.0) + gammaln(n - m + 1.0) - gammaln(n + 2.0)
        assert log_beta_integral(m, n, theta_nodes(n)) == pytest.approx(exact, abs=1e-12)


def test_a_third_of_the_theta_nodes_would_not_do():
    exact = 2 * gammaln(101.0) - gammaln(202.0)
    assert abs(log_beta_integral(100, 200, theta_nodes(200) // 3) - exact) > 1e-6


@pytest.mark.parametrize("width", [1e-4, 0.03, 1.0, 2.0])
@pytest.mark.parametrize("place", [-7.3, 0.0, 4.11])
def test_trapezoid_finds_a_peak_anywhere(place, width):
    nodes, log_terms = trapezoid(lambda x: -0.5 * ((x - place) / width) ** 2, -30.0, 30.0)
    terms = np.exp(log_terms)
    assert terms.sum() == pytest.approx(width * np.sqrt(2 * np.pi), rel=1e-10)
    mean = terms @ nodes / terms.sum()
    assert mean == pytest.approx(place, abs=1e-9)
    assert terms @ (nodes - mean) ** 2 / terms.sum() == pytest.approx(width**2, rel=1e-9)
    assert nodes.size < 80


def test_trapezoid_follows_a_skewed_peak():
    """Gamma densities of log(x)."""
    for shape in (0.5, 3.0, 40.0):
        _, log_terms = trapezoid(lambda t, s=shape: s * t - np.exp(t), -90.0, 6.0)
        assert log_sum(log_terms) == pytest.approx(gammaln(shape), abs=1e-10)


@pytest.mark.parametrize("offset", [0.0, 0.13, 0.25, 0.4])
@pytest.mark.parametrize("strength", [1.0, 30.0, 3000.0])
@pytest.mark.parametrize("tilt", [-0.01, 0.0, 0.01])
def test_trapezoid_finds_both_peaks(offset, strength, tilt):
    """A double well, from one broad hill to two needles that fall between scanned points."""

    def log_density(x):
        u = x - offset
        return -strength * ((u / 3) ** 2 - 1) ** 2 + strength * tilt * u

    _, log_terms = trapezoid(log_density, -12.0, 12.0)
    x = np.linspace(-12, 12, 2_000_001)
    assert log_sum(log_terms) == pytest.approx(
        float(log_sum(log_density(x)) + np.log(x[1] - x[0])), abs=1e-9
    )


def test_trapezoid_refuses_what_it_cannot_integrate():
    with pytest.raises(ArithmeticError, match="did not converge"):
        trapezoid(lambda x: -(x**2) - np.where(x > 0.123, 3.0, 0.0), -9.0, 9.0)


def test_trapezoid_refinement_gives_more_nodes_and_the_same_integral():
    def log_density(t):
        return 2.0 * t - np.exp(t)

    coarse, fine = (trapezoid(log_density, -25.0, 6.0, r) for r in (1, 10))
    assert fine[0].size > 9 * coarse[0].size
    assert log_sum(coarse[1]) == pytest.approx(float(log_sum(fine[1])), abs=1e-11)


def test_a_peak_without_hope_is_not_looked_at():
    """Two peaks, the second 500 lower: it takes no more points than without it."""
    asked = []

    def log_density(x):
        asked.append(x)
        return np.logaddexp(-0.5 * ((x + 5.1) / 0.02) ** 2, -500.0 - 0.5 * ((x - 5.1) / 0.5) ** 2)

    (peak,), _ = find_peaks(log_density, -9.0, 9.0)
    assert peak.place == pytest.approx(-5.1, abs=0.02)
    assert np.concatenate(asked[1:]).max() < 0.0


def test_a_rough_density_finds_the_peak_and_the_exact_one_is_integrated():
    asked = []

    def exact(x):
        asked.append(x)
        return -0.5 * ((x - 2.0) / 0.01) ** 2

    def rough(x):
        return np.round(-0.5 * ((x - 2.0) / 0.01) ** 2, 1)

    _, log_terms = trapezoid(exact, -9.0, 9.0, rough=rough)
    assert np.exp(log_terms).sum() == pytest.approx(0.01 * np.sqrt(2 * np.pi), rel=1e-9)
    assert np.all(np.abs(np.concatenate(asked) - 2.0) < 1.0)  # never far from the mass


@pytest.mark.parametrize("n_nodes", [1, 2, 5, 9])
def test_a_gauss_rule_of_points_has_their_moments(n_nodes, seed):
    rng = np.random.default_rng(seed)
    places, weights = rng.uniform(-1.0, 2.0, size=40), rng.gamma(0.3, size=40)
    nodes, log_weights = gauss_rule(places, np.log(weights), n_nodes)
    assert nodes.size == n_nodes
    assert np.all((nodes > places.min()) & (nodes < places.max()))
    for power in range(2 * n_nodes):
        assert np.exp(log_weights) @ nodes**power == pytest.approx(
            weights @ places**power, rel=1e-9, abs=1e-9
        )
    assert np.exp(log_weights) @ nodes ** (2 * n_nodes) != pytest.approx(
        weights @ places ** (2 * n_nodes), rel=1e-9
    )


def test_a_measure_on_few_points_is_its_own_gauss_rule():
    places, log_weights = np.array([3.0, 1.0]), np.array([-2000.0, -2001.0])
    nodes, same = gauss_rule(places, log_weights, 2)
    np.testing.assert_array_equal(nodes, places)
    np.testing.assert_array_equal(same, log_weights)
