"""Mixtures of t distributions against scipy and numerical integrals."""

import numpy as np
import pytest
from scipy import integrate, stats

from unselected.models.student_mixture import StudentMixture


def mixture(seed, rows=3):
    rng = np.random.default_rng(seed)
    weights = rng.dirichlet(np.ones(4))
    location, squares = rng.normal(size=(4, rows)), rng.uniform(0.1, 3.0, size=(4, rows))
    return StudentMixture(weights, np.array([3.0, 5.0, 9.0, 40.0]), location, squares)


def laws(one, row):
    scale = np.sqrt(one.squares[:, row])
    return list(zip(one.weights, one.df, one.location[:, row], scale, strict=True))


def test_density_and_distribution_function_agree_with_scipy(seed):
    one, y = mixture(seed), np.array([-2.0, 0.1, 3.0])
    for row in range(3):
        density = sum(w * stats.t(df, a, s).pdf(y[row]) for w, df, a, s in laws(one, row))
        below = sum(w * stats.t(df, a, s).cdf(y[row]) for w, df, a, s in laws(one, row))
        assert one.log_density(y)[row] == pytest.approx(np.log(density), abs=1e-12)
        assert one.cdf(y)[row] == pytest.approx(below, abs=1e-12)


def test_moments_agree_with_integrals(seed):
    one = mixture(seed, rows=1)

    def density(y):
        return float(np.exp(one.log_density(np.array([y]))[0]))

    def moment(power):
        value, _ = integrate.quad(lambda y: y**power * density(y), -np.inf, np.inf, limit=200)
        return value

    mean, std = one.mean_and_std()
    assert moment(0) == pytest.approx(1.0, abs=1e-6)
    assert mean[0] == pytest.approx(moment(1), abs=1e-5)
    assert std[0] ** 2 + mean[0] ** 2 == pytest.approx(moment(2), rel=1e-3)


def test_quantiles_invert_the_distribution_function(seed):
    one, levels = mixture(seed, rows=50), np.array([0.001, 0.05, 0.5, 0.95, 0.999])
    np.testing.assert_allclose(one.cdf(one.quantiles(levels)), np.tile(levels, (50, 1)), atol=1e-7)


def test_quantiles_of_narrow_peaks_far_apart(seed):
    """Hardly any mass between the peaks: Newton's steps would leave the interval that is known."""
    rng = np.random.default_rng(seed)
    location = rng.normal(size=(2, 20)) + np.array([[-50.0], [30.0]])
    squares = 10.0 ** rng.uniform(-4.0, 0.0, size=(2, 20))
    one = StudentMixture(np.array([0.3, 0.7]), np.array([4.0, 30.0]), location, squares)
    levels = np.array([1e-9, 0.05, 0.29, 0.31, 0.95, 1.0 - 1e-9])
    found = one.cdf(one.quantiles(levels))
    np.testing.assert_allclose(np.log(found[:, 0]), np.log(1e-9), atol=1e-6)
    np.testing.assert_allclose(found, np.tile(levels, (20, 1)), rtol=0, atol=1e-9)


@pytest.mark.parametrize("weight", [0.5, 0.25])
@pytest.mark.parametrize("width", [1e-2, 1e-5])
def test_a_quantile_between_two_peaks(weight, width):
    """The distribution function is flat there, and Newton's steps are as long as they may be."""
    location, squares = np.array([[-3.0], [3.0]]), np.array([[1.0], [width**2]])
    one = StudentMixture(np.array([weight, 1.0 - weight]), np.full(2, 200.0), location, squares)
    found = one.cdf(one.quantiles([weight]))
    np.testing.assert_allclose(found, weight, rtol=0, atol=1e-8)


def test_quantiles_take_few_evaluations(seed, monkeypatch):
    one, counted = mixture(seed, rows=200), []
    evaluate = StudentMixture._cdf_and_density

    def counting(self, rows, y):
        counted.append(y.size)
        return evaluate(self, rows, y)

    monkeypatch.setattr(StudentMixture, "_cdf_and_density", counting)
    found = one.quantiles([0.05, 0.5, 0.95])
    assert sum(counted) < 6 * found.size
    np.testing.assert_allclose(one.cdf(found), np.tile([0.05, 0.5, 0.95], (200, 1)), atol=1e-11)


@pytest.mark.parametrize("levels", [[0.0], [1.0], [[0.5]], [np.nan]])
def test_levels_that_are_none(levels):
    with pytest.raises(ValueError, match="above 0 and below 1"):
        mixture(0).quantiles(levels)
