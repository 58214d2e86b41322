"""Rules for many functions at once against those for one at a time."""

import numpy as np
import pytest

from unselected.numerics.many_trapezoids import trapezoids
from unselected.numerics.quadrature import log_sum, trapezoid


def skewed(seed, n=60):
    """Peaks of all widths, most of them skewed."""
    rng = np.random.default_rng(seed)
    place, width = rng.uniform(-3.0, 3.0, n), 10.0 ** rng.uniform(-2.0, 0.3, n)
    tilt = rng.uniform(-1.0, 1.0, n)

    def log_densities(which, x):
        z = (x - place[which, np.newaxis]) / width[which, np.newaxis]
        cosh = np.abs(z) + np.log1p(np.exp(-2.0 * np.abs(z)))
        return tilt[which, np.newaxis] * np.tanh(z) - 3.0 * cosh - 0.1 * x**4

    return log_densities, n


def test_they_are_the_rules_of_single_functions(seed):
    log_densities, n = skewed(seed)
    sizes = set()
    for i, rule in enumerate(trapezoids(log_densities, n, -6.0, 6.0, 1e-4)):
        which = np.array([i])
        x, log_terms = trapezoid(
            lambda at, which=which: log_densities(which, at[np.newaxis])[0], -6.0, 6.0, 1, 1e-4
        )
        np.testing.assert_allclose(rule[0], x, rtol=0, atol=1e-11)
        np.testing.assert_allclose(rule[1], log_terms, rtol=0, atol=1e-9)
        sizes.add(x.size)
    assert len(sizes) > 3


@pytest.mark.parametrize(("tolerance", "error"), [(1e-4, 1e-7), (1e-6, 1e-11)])
def test_integrals_are_as_accurate_as_asked_for(tolerance, error):
    def bumps(which, x):
        return -0.5 * ((x - 0.37 * which[:, np.newaxis]) / 0.01) ** 2

    rules = trapezoids(bumps, 4, -5.0, 5.0, tolerance)
    totals = [np.exp(log_sum(log_terms)) for _, log_terms in rules]
    np.testing.assert_allclose(totals, 0.01 * np.sqrt(2.0 * np.pi), rtol=error)


def test_other_functions_are_left_to_the_rule_for_one():
    """Two peaks, a peak at an end, and no mass at all, among simple ones."""

    each = [
        lambda x: -0.5 * (x / 0.3) ** 2,
        lambda x: -0.5 * ((np.abs(x) - 2.0) / 0.3) ** 2,
        lambda x: x,
        lambda x: np.full(x.size, -np.inf),
        lambda x: -0.5 * ((x - 1.0) / 0.3) ** 2,
    ]

    def logs(which, x):
        return np.array([each[i](at) for i, at in zip(which, x, strict=True)])

    rules = trapezoids(logs, 5, -4.0, 4.0, 1e-4)
    assert [rule is None for rule in rules] == [False, True, True, True, False]
