"""The omission probability given factors: simulation, Imhof's integral, and its limits."""

import numpy as np
import pytest
from scipy import integrate

from unselected.numerics.kernels import kernels_for_chains
from unselected.omission import factor
from unselected.omission.factor import FactorOmission
from unselected.omission.real import log_real_omission
from unselected.selection.events import RealEvent
from unselected.statistics.moments import class_axes


def imhof(eigenvalues):
    """P(sum of eigenvalue * chi^2_1 <= 0) by the formula of Imhof (1961)."""

    def integrand(x):
        angle = 0.5 * np.sum(np.arctan(eigenvalues * x))
        size = x * np.prod((1.0 + (eigenvalues * x) ** 2) ** 0.25)
        return np.sin(angle) / size

    value, _ = integrate.quad(integrand, 0.0, np.inf, limit=2000, epsabs=1e-12, epsrel=1e-12)
    return 0.5 - value / np.pi


def dense_eigenvalues(response, gamma, u, Z):
    """Of the form x' (r r' - gamma^2 C) x, x ~ N(0, I + u Z Z'), in all n dimensions."""
    n = response.size
    C = np.eye(n) - 1.0 / n
    r = C @ response / np.linalg.norm(C @ response)
    root = np.linalg.cholesky(np.eye(n) + u * Z @ Z.T)
    return np.linalg.eigvalsh(root.T @ (np.outer(r, r) - gamma**2 * C) @ root)


def problem(n, q, kind, seed):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % 3 == 0) * 1.0 if kind == "classes" else rng.normal(size=n)
    return y, rng.normal(size=(n, q)) + 0.8 * np.outer(y, np.arange(1.0, q + 1.0)), rng


def log_probability(response, gamma, u, Z, **options):
    return float(FactorOmission(response, gamma, 1, **options).log_at_most(u, Z[None])[0])


@pytest.mark.parametrize("kind", ["classes", "real"])
@pytest.mark.parametrize(("n", "q"), [(6, 1), (15, 1), (20, 2), (30, 3)])
@pytest.mark.parametrize("gamma", [0.1, 0.4, 0.7])
@pytest.mark.parametrize("tau", [0.05, 0.5, 3.0])
def test_agrees_with_the_integral_of_imhof(n, q, kind, gamma, tau, seed):
    y, Z, _ = problem(n, q, kind, seed)
    ours = np.exp(log_probability(y, gamma, np.array([tau**2]), Z))
    assert ours == pytest.approx(imhof(dense_eigenvalues(y, gamma, tau**2, Z)), abs=1e-8)
    twin = np.exp(log_probability(y, gamma, np.array([(1.1 * tau) ** 2]), Z))
    assert abs(twin - ours) > 1e-6


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "q", "kind", "tau"), [(12, 1, "real", 0.6), (25, 1, "classes", 0.3), (14, 2, "real", 0.5)]
)
def test_agrees_with_a_million_simulated_features(n, q, kind, tau, seed):
    y, Z, rng = problem(n, q, kind, seed)
    gamma, draws, total = 0.45, 10**6, 0
    r = (y - y.mean()) / np.linalg.norm(y - y.mean())
    for _ in range(5):
        x = tau * rng.normal(size=(draws // 5, q)) @ Z.T + rng.normal(size=(draws // 5, n))
        x -= x.mean(axis=1, keepdims=True)
        total += np.sum((x @ r) ** 2 <= gamma**2 * np.einsum("ij,ij->i", x, x))
    ours = np.exp(log_probability(y, gamma, np.array([tau**2]), Z))
    error = 4.5 * np.sqrt(ours * (1.0 - ours) / draws)
    assert total / draws == pytest.approx(ours, abs=error)
    # Twin: factors that have more to do with the response.
    along = Z + np.where(r @ Z < 0.0, -1.0, 1.0) * (3.0 * np.sqrt(n) * r)[:, np.newaxis]
    other = np.exp(log_probability(y, gamma, np.array([tau**2]), along))
    assert abs(total / draws - other) > error


def test_without_loadings_features_are_independent(seed):
    """tau = 0: the t test of naive Bayes, whatever the factors are."""
    y, Z, _ = problem(20, 2, "classes", seed)
    lam = class_axes(np.array([[13, 7]]))[0]
    event = RealEvent(0.4, "|COR|", lam, np.array([18.0]), np.array([1]))
    alone = log_real_omission(np.array([0.0]), event)[0, 0]
    assert log_probability(y, 0.4, np.array([0.0]), Z) == pytest.approx(alone, rel=1e-12)
    assert log_probability(y, 0.4, np.array([0.1]), Z) != pytest.approx(alone, rel=1e-3)


@pytest.mark.parametrize("kind", ["classes", "real"])
def test_factors_that_are_the_codes_are_naive_bayes(kind, seed):
    y, _, _ = problem(20, 1, kind, seed)
    u = np.array([0.01, 0.3, 4.0])
    if kind == "classes":
        lam, codes = class_axes(np.array([[13, 7]]))[0], np.eye(2)[y.astype(int)]
    else:
        lam, codes = np.array([[20.0]]), (y / y.std())[:, None]
    event = RealEvent(0.4, "|COR|", lam, np.array([18.0]), np.array([1]))
    ours = FactorOmission(y, 0.4, 1).log_at_most(u, codes[None])
    np.testing.assert_allclose(ours, log_real_omission(u, event)[:, 0], rtol=1e-10)


@pytest.mark.parametrize("q", [1, 3])
@pytest.mark.parametrize("n", [9, 62, 1000])
@pytest.mark.parametrize("gamma", [0.02, 0.3, 0.8])
def test_compiled_or_not_is_the_same(q, n, gamma, seed):
    pytest.importorskip("numba")
    y, Z, rng = problem(n, q, "real", seed)
    Z, u = np.stack([Z, rng.normal(size=Z.shape)] * 10), np.exp(rng.uniform(-12.0, 4.0, size=20))
    plain = FactorOmission(y, gamma, 1).log_at_most(u, Z)
    compiled = FactorOmission(y, gamma, 1, kernels_for_chains(10**9)).log_at_most(u, Z)
    np.testing.assert_allclose(compiled, plain, rtol=1e-11, atol=1e-300)


def test_one_factor_is_several_of_which_one_counts(seed):
    """The closed form of the eigenvalues against the general one."""
    y, Z, rng = problem(30, 1, "real", seed)
    u = np.array([0.2])
    more = np.column_stack([Z, np.zeros((30, 2))])
    ours = log_probability(y, 0.3, u, Z)
    assert log_probability(y, 0.3, u, more) == pytest.approx(ours, rel=1e-10)
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    assert log_probability(y, 0.3, u, more @ turn + 5.0) == pytest.approx(ours, rel=1e-10)


def test_tiny_tails_keep_their_digits():
    """A cut that is passed once in 10^20: Imhof's integral by hand would lose all digits."""
    y, Z, _ = problem(60, 1, "real", 0)
    logs = [log_probability(y, 0.9, np.array([u]), Z) for u in (0.0, 1e-9)]
    assert logs[1] / logs[0] == pytest.approx(1.0, abs=1e-6)
    assert -1e-18 < logs[0] < -1e-26


def test_no_cut_and_the_ends():
    y, Z, _ = problem(10, 1, "real", 0)
    u = np.array([0.0, 1.0])
    assert FactorOmission(y, None, 0).log_at_most(u, Z[None]).tolist() == [0.0, 0.0]
    assert FactorOmission(y, 1.0, 0).log_at_most(u, Z[None]).tolist() == [0.0, 0.0]
    assert FactorOmission(y, 0.0, 0).log_at_most(u, Z[None]).tolist() == [-np.inf, -np.inf]
    assert FactorOmission(y, 0.5, 0).log_event(u, Z[None]).tolist() == [0.0, 0.0]
    each = FactorOmission(y, 0.5, 7).log_event(u, Z[None])
    np.testing.assert_allclose(each, 7 * FactorOmission(y, 0.5, 7).log_at_most(u, Z[None]))
    np.testing.assert_allclose(
        FactorOmission(y, 0.5, 1).log_event(u, Z[None]),
        FactorOmission(y, 0.5, 0).log_at_most(u, Z[None]),
    )


@pytest.mark.parametrize("shared", [True, False])
def test_blocks_of_rows_change_nothing(shared, monkeypatch):
    y, Z, rng = problem(12, 2, "real", 0)
    u = rng.gamma(1.0, size=7)
    Z = Z[None] if shared else rng.normal(size=(7, 12, 2))
    whole = FactorOmission(y, 0.4, 1).log_at_most(u, Z)
    monkeypatch.setattr(factor, "_ROWS", 3)
    np.testing.assert_allclose(FactorOmission(y, 0.4, 1).log_at_most(u, Z), whole, rtol=1e-10)
    alone = [log_probability(y, 0.4, u[[r]], Z[0 if shared else r]) for r in range(7)]
    np.testing.assert_allclose(whole, alone, rtol=1e-10)
