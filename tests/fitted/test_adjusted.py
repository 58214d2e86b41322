"""Predictions given covariates against dense algebra and numerical integration over tau.

For a few cases the covariance of a feature is written down, with Z c and phi w in it; tau is
integrated out with Gauss and Legendre's nodes. Nothing is shared but P(class | covariates), which
has tests of its own.
"""

import numpy as np
import pytest
from adjusted_cases import cases, some
from adjusted_oracle import log_marginal, log_new, rest_of
from real_oracle import half_normal
from scipy import stats
from scipy.special import logsumexp

from unselected import SelectiveGaussianNB, SelectiveNaiveRegressor

N, P, K = 17, 9, 3
ROOTS, WEIGHTS = np.polynomial.legendre.leggauss(70)
TAU, LOG_WEIGHTS = 1.4 * (ROOTS + 1.0), np.log(1.4 * WEIGHTS)


def coded(covariates):
    """The intercept and the covariates as numbers, coded by hand."""
    columns = [covariates["age"] / 10.0, covariates["sex"] == "m", covariates["batch"] == "b"]
    columns.append(covariates["batch"] == "c")
    return np.column_stack([np.ones(len(columns[0])), *columns]).astype(float)


def log_omission(x, Z, codes, kappa, tau):
    """log P(a feature with these known values is omitted | tau), by beta distributions."""
    known = ~np.isnan(x)
    rest = rest_of(Z[known], codes[known])
    q = max(1, codes.shape[1] - 1)
    lam = np.linalg.eigvalsh(rest.T @ rest)[::-1][:q]
    nu = known.sum() - np.linalg.matrix_rank(Z[known]) - q
    angle = (np.arange(500) + 0.5) * np.pi / 500
    mixed = lam[0] * np.cos(angle) ** 2 + lam[-1] * np.sin(angle) ** 2
    place = kappa(nu) / (kappa(nu) + 1.0 + np.multiply.outer(tau**2, mixed))
    return np.log(stats.beta(q / 2, nu / 2).cdf(place).mean(axis=1))


def log_posterior(model, X, Z, codes):
    """The log posterior of tau at the nodes, their weights included, up to a constant."""
    kept = model.selection_.indices
    cut, q = model.threshold_, max(1, codes.shape[1] - 1)

    def kappa(nu):
        return cut * q / nu if model.selection_.statistic == "F" else cut**2 / (1.0 - cut**2)

    logs = LOG_WEIGHTS + np.log(half_normal(TAU))
    for j in range(X.shape[1]):
        if j in kept:
            logs = logs + [log_marginal(X[:, j], Z, codes, tau**2) for tau in TAU]
        else:
            logs = logs + log_omission(X[:, j], Z, codes, kappa, TAU)
    return logs


def log_features(row, z, code, X, Z, codes, log_weights):
    """log p(features of a new case | z, code), averaged over tau."""
    logs = log_weights - logsumexp(log_weights)
    for new, x in zip(row, X.T, strict=True):
        if not np.isnan(new):
            logs = logs + [log_new(new, z, code, x, Z, codes, tau**2) for tau in TAU]
    return logsumexp(logs)


def tiny(kind, missing, seed):
    """Training cases, and two new cases of which one lacks a value."""
    X, y, covariates = cases(kind, seed, n=N + 2, p=P, missing=missing)
    X[N, :] = np.nan_to_num(X[N, :], nan=0.3)
    train, new = np.arange(N), np.arange(N, N + 2)
    return (X[train], y[train], some(covariates, train)), (X[new], some(covariates, new))


@pytest.mark.slow
@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("kind", ["two", "three"])
def test_class_probabilities_agree_with_brute_force(kind, missing, seed):
    (X, y, known), (X_new, known_new) = tiny(kind, missing, seed)
    model = SelectiveGaussianNB(k=K).fit(X, y, covariates=known)
    kept, codes = model.selection_.indices, np.eye(y.max() + 1)[y]
    if missing:
        X_new[1, kept[0]] = np.nan
    Z, Z_new = coded(known), coded(known_new)
    log_weights = log_posterior(model, X, Z, codes)
    fitted = model._predictor.fitted
    from_z = fitted.log_prior(model._to_predict(X_new, known_new).rows)
    expected = from_z + [
        [
            log_features(row, z, code, X[:, kept], Z, codes, log_weights)
            for code in np.eye(codes.shape[1])
        ]
        for row, z in zip(X_new[:, kept], Z_new, strict=True)
    ]
    expected -= logsumexp(expected, axis=1, keepdims=True)
    ours = model.predict_log_proba(X_new, covariates=known_new)
    np.testing.assert_allclose(ours, expected, rtol=0, atol=1e-8)
    # The flat prior is that of coefficients of the basis, in which Z'Z = n I.
    volume = 0.5 * np.linalg.slogdet(Z.T @ Z / N)[1]
    evidence = logsumexp(log_weights) + K * volume
    assert fitted.posterior.log_evidence == pytest.approx(evidence, abs=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_predictive_densities_agree_with_brute_force(missing, seed):
    (X, y, known), (X_new, known_new) = tiny("line", missing, seed)
    model = SelectiveNaiveRegressor(k=K).fit(X, y, covariates=known)
    kept, Z, Z_new = model.selection_.indices, coded(known), coded(known_new)
    if missing:
        X_new[1, kept[0]] = np.nan
    rest = rest_of(Z, y)
    unit, df = np.sqrt(np.mean(rest**2)), N - Z.shape[1]
    codes = (y / unit)[:, None]
    log_weights = log_posterior(model, X, Z, codes)
    for row, z, place in zip(X_new, Z_new, range(2), strict=True):
        mean = z @ np.linalg.lstsq(Z, y, rcond=None)[0]
        scale = np.sqrt(rest @ rest / df * (1.0 + z @ np.linalg.solve(Z.T @ Z, z)))
        at = mean + scale * np.array([-1.5, 0.1, 2.0])
        expected = stats.t(df, mean, scale).logpdf(at) + [
            log_features(row[kept], z, np.array([value / unit]), X[:, kept], Z, codes, log_weights)
            for value in at
        ]
        one = some(known_new, np.full(3, place))
        ours = model.predict_log_density(np.tile(row, (3, 1)), at, covariates=one)
        np.testing.assert_allclose(np.diff(ours), np.diff(expected), rtol=0, atol=1e-8)


@pytest.mark.slow
def test_densities_means_and_quantiles_belong_together(seed):
    """Densities at the covariates of each case integrate to 1, with the mean and spread told."""
    X, y, known = cases("line", seed, p=20)
    model = SelectiveNaiveRegressor(k=4).fit(X, y, covariates=known)
    for case in (0, 5):
        one = some(known, np.array([case]))
        (mean,), (std,) = model.predict(X[[case]], return_std=True, covariates=one)
        t = np.linspace(-20.0, 20.0, 401)
        values, widths = mean + std * (t + t**3 / 10), std * (1.0 + 0.3 * t**2) * (t[1] - t[0])
        many = some(known, np.full(t.size, case))
        rows = np.tile(X[case], (t.size, 1))
        weights = widths * np.exp(model.predict_log_density(rows, values, covariates=many))
        assert weights.sum() == pytest.approx(1.0, abs=1e-6)
        assert weights @ values == pytest.approx(mean, abs=1e-5 * std)
        assert np.sqrt(weights @ (values - mean) ** 2) == pytest.approx(std, rel=1e-4)
        (quantiles,) = model.predict_quantiles(X[[case]], (0.1, 0.6), covariates=one)
        again = model.predict_cdf(
            np.tile(X[case], (2, 1)), quantiles, covariates=some(many, [0, 1])
        )
        np.testing.assert_allclose(again, (0.1, 0.6), atol=1e-8)
