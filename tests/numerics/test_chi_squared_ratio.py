"""The contour integral against closed forms and against an average over directions."""

import numpy as np
import pytest
from scipy import stats

from unselected.numerics.chi_squared_ratio import _log_by_contour, log_ratio_probability


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
    np.testing.assert_allclose(np.exp(logs), law.cdf(x), rtol=1e-11, atol=1e-300)
    small = (law.sf(x) < 0.3) & (law.sf(x) > 1e-250)
    np.testing.assert_allclose(-np.expm1(logs)[small], law.sf(x)[small], rtol=1e-11)


@pytest.mark.parametrize("nu", [1.0, 20.0, 59.0, 3000.0])
@pytest.mark.parametrize("kappa", [1e-3, 0.05, 0.4, 8.0])
@pytest.mark.parametrize("ratio", [1.0 + 1e-9, 1.2, 5.0, 1e4])
def test_three_unequal_classes_agree_with_an_average_over_directions(nu, kappa, ratio):
    """Two contrasts: (z1, z2) has a uniform direction, and given that the law is a scaled F."""
    angle = (np.arange(20_000) + 0.5) * np.pi / 20_000
    mixed = np.cos(angle) ** 2 + ratio * np.sin(angle) ** 2
    law, x = stats.beta(1.0, nu / 2), kappa / (kappa + mixed)
    ours = log_ratio_probability(
        np.array([[1.0, ratio]]), np.array([float(nu)]), np.array([float(kappa)])
    )
    assert np.exp(ours[0]) == pytest.approx(law.cdf(x).mean(), rel=1e-11)
    if law.sf(x).mean() > 1e-250:
        assert -np.expm1(ours[0]) == pytest.approx(law.sf(x).mean(), rel=1e-11)


@pytest.mark.parametrize("a", [[2.0, 2.0], [1.0, 3.0]])
def test_cuts_at_the_ends_are_exact(a):
    """A cut at 0 is passed by all, and one at infinity by none."""
    rows, nu = np.array([a] * 3), np.full(3, 5.0)
    logs = log_ratio_probability(rows, nu, np.array([0.0, 0.3, np.inf]))
    assert logs[0] == -np.inf
    assert -2.0 < logs[1] < -0.5
    assert logs[2] == 0.0


@pytest.mark.parametrize("kappa", [1e-30, 1e-12, 1e-8, 1e-3, 1.0, 30.0])
def test_equal_weights_keep_the_digits_of_either_tail(kappa):
    law, x = stats.beta(1.5, 4.0), kappa / (kappa + 2.0)
    ours = log_ratio_probability(np.full((1, 3), 2.0), np.array([8.0]), np.array([kappa]))[0]
    assert ours == pytest.approx(law.logcdf(x), rel=1e-12)
    assert -np.expm1(ours) == pytest.approx(law.sf(x), rel=1e-12)
