"""The integral over theta of the probability of counts, against Gauss's rule with all nodes."""

import numpy as np
import pytest
from scipy import integrate, stats

from unselected.models.count_terms import CountTerms, ThetaRule
from unselected.numerics.beta_binomial import (
    CountLaw,
    log_pmf,
    pmf_tables,
    theta_functions,
    windows,
)
from unselected.numerics.beta_binomial_integral import log_counts_and_theta


@pytest.mark.parametrize("sizes", [(40, 300), (700, 700), (200, 300, 400)], ids=str)
def test_few_nodes_give_what_all_nodes_give(sizes, seed):
    rng = np.random.default_rng(seed)
    ones = np.stack([np.append(rng.integers(0, n + 1, size=20), [0, 0, n, 1]) for n in sizes])
    ones[0, -3] = sizes[0]  # all ones in one class, none in the others
    all_or_none = np.array(sizes)[:, np.newaxis] * rng.integers(0, 2, size=(len(sizes), 8))
    ones = np.concatenate([ones, all_or_none], axis=1)
    terms = CountTerms(CountLaw(sizes, *ThetaRule()(sum(sizes))), ones, None)
    # Products of probabilities underflow here: sum in logarithms.
    for u in (0.0, 1e-7, 1e-3, 0.02, 1.0, 300.0):
        nodes, *tables = next(iter_all(terms.law, u))
        weights = terms.law.weights[nodes]
        functions = theta_functions(terms.law.theta[nodes], 2)
        expected = terms._in_logs(tables, np.vstack([weights, weights * functions]))
        logs, means = log_counts_and_theta(ones, sizes, u, n_draws=2)
        np.testing.assert_allclose(logs, expected[0], rtol=0, atol=1e-9)
        np.testing.assert_allclose(means, np.exp(expected[1:] - expected[0]), rtol=0, atol=1e-10)
        one_draw = log_counts_and_theta(ones, sizes, u)[1]
        np.testing.assert_allclose(one_draw, means[:1], rtol=1e-12)


def iter_all(law, u):
    """Yield all nodes together, with the tables of each class."""
    parts = list(law.pmf_blocks(u))
    nodes = np.concatenate([part[0] for part in parts])
    tables = [
        tuple(np.concatenate([part[1 + g][kind] for part in parts]) for kind in (0, 1))
        for g in range(len(law.sizes))
    ]
    yield nodes, *tables


def test_against_plain_integration():
    ones, sizes, u = np.array([[3], [600]]), (500, 900), 1 / 50

    def joint(theta):
        a, b = theta / u, (1.0 - theta) / u
        return stats.betabinom.pmf(3, 500, a, b) * stats.betabinom.pmf(600, 900, a, b)

    total = integrate.quad(joint, 0, 1, points=[0.2, 0.4], epsabs=0, limit=400)[0]
    mean = integrate.quad(lambda t: t * joint(t), 0, 1, points=[0.2, 0.4], epsabs=0, limit=400)[0]
    logs, means = log_counts_and_theta(ones, sizes, u)
    assert logs[0] == pytest.approx(np.log(total), abs=1e-7)
    assert means[0, 0] == pytest.approx(mean / total, abs=1e-7)


@pytest.mark.parametrize("u", [0.0, 1e-5, 1 / 300, 2.0])
def test_windows_have_all_the_probability(u):
    theta, n = np.array([0.003, 0.01, 0.02, 0.3, 0.35]), 2000
    for pair, counts in zip(
        np.stack([theta[:-1], theta[1:]], axis=1), windows(n, theta, u), strict=True
    ):
        if pair[1] - pair[0] > 0.1:  # too far apart for one table
            continue
        table = pmf_tables(n, pair, u, counts)
        exact = np.exp(log_pmf(n, np.arange(n + 1), pair[:, np.newaxis], u))
        inside = exact[:, counts]
        assert np.all(exact.sum(axis=1) - inside.sum(axis=1) < 1e-15)
        np.testing.assert_allclose(table, inside, rtol=1e-9, atol=1e-18)
