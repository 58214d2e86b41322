"""Local interpolation: exact for polynomials, and to all digits for smooth functions."""

import numpy as np
import pytest

from unselected.numerics.interpolation import interpolate


def test_polynomials_are_exact_between_points_at_any_distances(seed):
    rng = np.random.default_rng(seed)
    known = np.cumsum(rng.uniform(0.2, 1.0, size=12))
    x = 0.5 * (known[1:] + known[:-1])
    of = [np.polynomial.Polynomial(rng.normal(size=6)) for _ in range(3)]
    values, expected = (np.transpose([each(at) for each in of]) for at in (known, x))
    np.testing.assert_allclose(interpolate(x, known, values, 6), expected, rtol=1e-9)
    assert not np.allclose(interpolate(x, known, values, 5), expected, rtol=1e-6)


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
def test_smooth_functions_keep_their_digits_whatever_the_units(scale):
    known = np.linspace(-2.0, 2.0, 41)
    x = known[8:-9] + 0.05
    found = interpolate(scale * x, scale * known, np.exp(known)[:, np.newaxis], 16)
    np.testing.assert_allclose(found[:, 0], np.exp(x), rtol=1e-13)
