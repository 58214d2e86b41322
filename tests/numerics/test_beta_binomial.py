"""The law of the counts against the paper's formulas, and where digits could be lost."""

import hypothesis.strategies as st
import numpy as np
import oracle
import pytest
from hypothesis import given, settings
from scipy import stats

from unselected.numerics.beta_binomial import (
    CountLaw,
    log_further_draws,
    log_pmf_table,
    theta_functions,
)
from unselected.numerics.quadrature import gauss_legendre, theta_nodes

sizes = st.integers(1, 30)


def law(n0, n1):
    return CountLaw((n0, n1), *gauss_legendre(theta_nodes(n0 + n1)))


def joint_table(count_law, u):
    """The table of (I0, I1) that the library never builds."""
    total = 0.0
    for nodes, log_p0, log_p1 in count_law.blocks(u):
        total = total + (count_law.weights[nodes] * np.exp(log_p0).T) @ np.exp(log_p1)
    return total


@given(n=sizes, theta=st.floats(0.001, 0.999), log_alpha=st.floats(-7, 12))
def test_pmf_is_the_beta_binomial(n, theta, log_alpha):
    alpha = np.exp(log_alpha)
    ours = np.exp(log_pmf_table(n, np.array([theta]), 1.0 / alpha))
    # The oracle's beta functions lose some digits where alpha (1 - theta) is small.
    np.testing.assert_allclose(
        ours, oracle.beta_binomial(n, np.array([theta]), alpha), rtol=1e-8, atol=1e-300
    )


def test_pmf_in_the_limits_of_alpha():
    theta = np.array([0.3])
    binomial = [0.7**3, 3 * 0.3 * 0.49, 3 * 0.09 * 0.7, 0.027]
    np.testing.assert_allclose(np.exp(log_pmf_table(3, theta, 0.0))[0], binomial, rtol=1e-14)
    np.testing.assert_allclose(np.exp(log_pmf_table(3, theta, 1e-200))[0], binomial, rtol=1e-14)
    constant = np.exp(log_pmf_table(3, theta, 1e12))[0]
    np.testing.assert_allclose(constant, [0.7, 0.0, 0.0, 0.3], atol=1e-11)


def test_pmf_at_the_ends_of_simpsons_rule():
    table = np.exp(log_pmf_table(4, np.array([0.0, 1.0]), 0.1))
    np.testing.assert_array_equal(table, [[1, 0, 0, 0, 0], [0, 0, 0, 0, 1]])


@pytest.mark.parametrize(
    ("alpha", "reference"),
    [
        (1e2, [-13.67591056186006, -7.058745958020264, -7.133565064739754, -15.37790543032220]),
        (1e6, [-609.7941319135785, -7.111672682394069, -10.01722416887111, -867.1870600179640]),
    ],
)
def test_pmf_of_many_cases_keeps_its_digits(alpha, reference):
    """Against 40-digit arithmetic (mpmath): log P(i) for n = 10000, theta = 0.3."""
    table = log_pmf_table(10000, np.array([0.3]), 1.0 / alpha)[0]
    np.testing.assert_allclose(table[[1500, 2900, 3150, 5000]], reference, rtol=0, atol=2e-12)
    assert np.exp(table).sum() == pytest.approx(1.0, abs=1e-13)


@settings(max_examples=40)
@given(n0=sizes, n1=sizes, log_alpha=st.floats(-5, 12))
def test_joint_table_sums_to_one_and_is_the_papers(n0, n1, log_alpha):
    alpha = np.exp(log_alpha)
    table = joint_table(law(n0, n1), 1.0 / alpha)
    assert table.sum() == pytest.approx(1.0, abs=1e-12)
    # Gamma functions of alpha = 160000 leave the oracle about nine digits.
    np.testing.assert_allclose(table, oracle.joint_table(n0, n1, alpha)[0], rtol=1e-8)
    np.testing.assert_allclose(table, table[::-1, ::-1], rtol=1e-11)


@pytest.mark.parametrize(("n0", "n1"), [(100, 100), (300, 77), (1, 500)])
@pytest.mark.parametrize("alpha", [0.02, 1.0, 300.0, 1e9])
def test_joint_table_sums_to_one_for_larger_classes(n0, n1, alpha):
    assert joint_table(law(n0, n1), 1.0 / alpha).sum() == pytest.approx(1.0, abs=1e-12)


def test_blocks_of_nodes_cover_each_node_once(monkeypatch):
    whole = joint_table(law(20, 30), 0.01)
    for block in (1, 60, 333):
        monkeypatch.setattr("unselected.numerics.beta_binomial._BLOCK", block)
        seen = np.concatenate([nodes for nodes, _, _ in law(20, 30).blocks(0.01)])
        assert sorted(seen) == list(range(law(20, 30).theta.size))
        np.testing.assert_allclose(joint_table(law(20, 30), 0.01), whole, rtol=1e-12)


@pytest.mark.parametrize("n_draws", [1, 2])
@pytest.mark.parametrize("u", [1e-4, 0.02, 3.0])
def test_further_draws_are_beta_binomial(n_draws, u):
    """Given theta; averaged over theta they are in tests/estimators/test_genotypes.py."""
    ones, n = np.array([0, 3, 7, 7]), np.array([0, 10, 7, 9])
    theta = np.array([0.3, 0.001, 0.999, 0.5])
    logs = log_further_draws(theta_functions(theta, n_draws), ones, n, u)
    expected = stats.betabinom.logpmf(
        np.arange(n_draws + 1)[:, np.newaxis], n_draws, theta / u + ones, (1 - theta) / u + n - ones
    )
    np.testing.assert_allclose(logs, expected, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(np.exp(logs).sum(axis=0), 1.0, rtol=1e-13)
