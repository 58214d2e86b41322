"""Classes given covariates: brute force, invariances, limits, calibration under the prior."""

import numpy as np
import pytest
from scipy.special import gammaln, log_softmax, logsumexp, softmax

from unselected.models.class_regression import PRIOR_SCALE, ClassRegression


def cases(rng, n, m, n_classes, shift=0.0):
    """Covariates with units of their own, and classes that depend on them."""
    Z = rng.normal(size=(n, m))
    logits = 1.1 * Z @ rng.normal(size=(m, n_classes)) + shift * np.arange(n_classes)
    y = np.argmax(logits + rng.gumbel(size=logits.shape), axis=1)
    return Z * rng.uniform(0.1, 100.0, size=m) + rng.normal(size=m), y


def proba(Z, y, n_classes, new, pseudocounts=None):
    f = np.ones(n_classes) if pseudocounts is None else pseudocounts
    return np.exp(ClassRegression.fit(Z, y, n_classes, f).log_proba(new))


def log_joint(theta, U, y, f):
    """The log density of classes and coefficients (draws, G, 1 + r) whose sum over G is zero."""
    logits = np.einsum("sgk,nk->sng", theta, np.column_stack([np.ones(len(U)), U]))
    likelihood = log_softmax(logits, axis=2)[:, np.arange(len(y)), y].sum(axis=1)
    at_mean = log_softmax(theta[:, :, 0], axis=1) @ f
    return likelihood + at_mean - np.sum(theta[:, :, 1:] ** 2, axis=(1, 2)) / PRIOR_SCALE**2


def whitened(Z, new):
    covariance = np.cov(Z.T, bias=True).reshape(Z.shape[1], -1)
    root = np.linalg.inv(np.linalg.cholesky(covariance)).T
    return (Z - Z.mean(axis=0)) @ root, (new - Z.mean(axis=0)) @ root


def brute_force(Z, y, new, n_classes, f, rng, draws=40_000):
    """Importance sampling from a Student t with the moments of an earlier round."""
    U, V = whitened(Z, new)
    k, basis = 1 + U.shape[1], np.linalg.svd(np.ones((1, n_classes)))[2][1:].T
    d, df = k * (n_classes - 1), 6.0
    center, root = np.zeros(d), 1.5 * np.eye(d)
    few = draws // 5  # enough to learn the moments from
    for size, spread in ((few, 1.5), (few, 1.3), (few, 1.2), (few, 1.1), (draws, 1.1)):
        e = rng.normal(size=(size // 2, d)) / np.sqrt(rng.chisquare(df, size=(size // 2, 1)) / df)
        e = np.vstack([e, -e])
        x = center + e @ root.T
        theta = np.einsum("gc,sck->sgk", basis, x.reshape(size, -1, k))
        log_w = log_joint(theta, U, y, f) + 0.5 * (df + d) * np.log1p(np.sum(e**2, axis=1) / df)
        log_volume = np.linalg.slogdet(root)[1]
        w = softmax(log_w)
        tempered = w if 1.0 / np.sum(w**2) > 50.0 * d else softmax(0.2 * log_w)
        center = tempered @ x
        root = spread * np.linalg.cholesky(
            (x - center).T @ ((x - center) * tempered[:, np.newaxis])
        )
    assert 1.0 / np.sum(w**2) > 0.2 * draws
    constant = gammaln(0.5 * (df + d)) - gammaln(0.5 * df) - 0.5 * d * np.log(df * np.pi)
    prior = gammaln(f).sum() - gammaln(f.sum()) - 0.5 * np.log(n_classes)
    prior += 0.5 * (d - n_classes + 1) * np.log(np.pi * PRIOR_SCALE**2)
    log_evidence = logsumexp(log_w) - np.log(draws) + log_volume - constant - prior
    logits = np.einsum("sgk,nk->sng", theta, np.column_stack([np.ones(len(V)), V]))
    return np.einsum("s,sng->ng", w, softmax(logits, axis=2)), log_evidence


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "m", "n_classes", "shift", "worst", "typical"),
    [
        (20, 1, 2, 0.0, 0.008, 0.002),
        (100, 2, 2, 0.0, 0.005, 0.001),
        (60, 5, 2, 0.0, 0.008, 0.002),
        (60, 2, 2, 3.5, 0.008, 0.002),
        (60, 2, 3, 0.0, 0.008, 0.002),
        (40, 1, 4, 0.0, 0.008, 0.002),
    ],
)
@pytest.mark.evidence
def test_integrals_agree_with_importance_sampling(n, m, n_classes, shift, worst, typical, seed):
    rng = np.random.default_rng(seed)
    Z, y = cases(rng, n, m, n_classes, shift)
    new = Z.mean(axis=0) + 1.2 * Z.std(axis=0) * rng.normal(size=(20, m))
    f = np.full(n_classes, 1.0)
    expected, log_evidence = brute_force(Z, y, new, n_classes, f, rng)
    regression = ClassRegression.fit(Z, y, n_classes, f)
    error = np.abs(np.exp(regression.log_proba(new)) - expected)
    assert error.max() < worst
    assert error.mean() < typical
    assert abs(regression.log_evidence - log_evidence) < 0.2


def test_one_covariate_agrees_with_a_grid(seed):
    """Two classes: the density of two numbers on a grid, with no random draws."""
    rng = np.random.default_rng(seed)
    Z, y = cases(rng, 30, 1, 2)
    new = Z.mean() + Z.std() * np.linspace(-2.0, 2.0, 9)[:, np.newaxis]
    U, V = whitened(Z, new)
    a, b = (grid.ravel() for grid in np.meshgrid(np.linspace(-6, 6, 301), np.linspace(-9, 9, 301)))
    theta = 0.5 * np.stack([np.column_stack([-a, -b]), np.column_stack([a, b])], axis=1)
    w = softmax(log_joint(theta, U, y, np.array([0.5, 2.0])))
    expected = w @ (1.0 / (1.0 + np.exp(-(a[:, np.newaxis] + np.outer(b, V)))))
    actual = proba(Z, y, 2, new, np.array([0.5, 2.0]))[:, 1]
    np.testing.assert_allclose(actual, expected, atol=0.005)


@pytest.mark.parametrize("n_classes", [2, 3, 4])
def test_recoding_changes_nothing(n_classes, seed):
    """Units, origin, order and reference level of covariates, order of cases and classes."""
    rng = np.random.default_rng(seed)
    level = rng.permutation(np.arange(45) % 3)  # balanced: all axes of the levels are alike
    Z, y = cases(rng, 45, 2, n_classes)
    levels, f = np.eye(3), np.linspace(0.5, 2.0, n_classes)
    coded = np.column_stack([Z, levels[level][:, 1:]])
    regression = ClassRegression.fit(coded, y, n_classes, f)
    expected = regression.log_proba(coded)

    def check(Z, y=y, f=f, cases=slice(None), classes=slice(None)):
        again = ClassRegression.fit(Z, y, n_classes, f)
        np.testing.assert_allclose(again.log_proba(Z), expected[cases][:, classes], atol=1e-9)
        assert again.log_evidence == pytest.approx(regression.log_evidence, abs=1e-8)

    check(coded * [1e6, 1e-6, 3.0, -1.0] + [0.0, 1e-3, -7.0, 2.0])
    check(coded[:, [2, 0, 3, 1]])
    check(np.column_stack([Z, levels[level][:, :2]]))
    check(coded @ rng.normal(size=(4, 4)))
    order = rng.permutation(45)
    check(coded[order], y[order], cases=order)
    relabelled = rng.permutation(n_classes)
    check(coded, np.argsort(relabelled)[y], f[relabelled], classes=relabelled)


def test_columns_that_add_nothing_change_nothing(seed):
    rng = np.random.default_rng(seed)
    Z, y = cases(rng, 30, 2, 3)
    more = np.column_stack([np.full(30, 7.3), Z, Z[:, 0] - 2.0 * Z[:, 1] + 4.0])
    np.testing.assert_allclose(proba(more, y, 3, more), proba(Z, y, 3, Z), atol=1e-10)


@pytest.mark.parametrize("Z", [np.zeros((9, 0)), np.full((9, 2), 0.1)], ids=["none", "constant"])
def test_without_covariates_it_is_exactly_the_dirichlet(Z):
    y, f = np.array([0, 0, 0, 0, 0, 2, 2, 2, 2]), np.array([1.0, 0.5, 2.0])
    regression = ClassRegression.fit(Z, y, 3, f)
    actual = np.exp(regression.log_proba(Z[:2]))
    np.testing.assert_allclose(
        actual, np.tile([6 / 12.5, 0.5 / 12.5, 6 / 12.5], (2, 1)), rtol=1e-14
    )
    one_by_one, totals = 0.0, f.copy()
    for g in y:
        one_by_one += np.log(totals[g] / totals.sum())
        totals[g] += 1.0
    assert regression.log_evidence == pytest.approx(one_by_one, rel=1e-12)


def test_a_covariate_about_nothing_is_nearly_the_dirichlet_and_is_found_out(seed):
    rng = np.random.default_rng(seed)
    y = np.arange(400) % 2
    noise, signal = rng.normal(size=(400, 1)), rng.normal(size=(400, 1)) + y[:, np.newaxis]
    assert np.abs(proba(noise, y, 2, np.zeros((1, 1))) - 0.5).max() < 0.03
    none, of_noise, of_signal = (
        ClassRegression.fit(Z, y, 2, np.ones(2)).log_evidence
        for Z in (np.zeros((400, 0)), noise, signal)
    )
    assert of_noise < none + 3.0 < of_signal


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("n", [30, 600])
def test_a_batch_that_is_a_class_gives_high_but_finite_odds(n, n_classes, seed):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    Z = np.column_stack([np.eye(n_classes)[y][:, 1:], rng.normal(size=n)])
    own = proba(Z, y, n_classes, Z)[np.arange(n), y]
    assert (own > {30: 0.8, 600: 0.95}[n]).all()
    assert (own < 1.0 - 0.1 / n).all()


def test_rows_far_away_have_probabilities(seed):
    rng = np.random.default_rng(seed)
    Z, y = cases(rng, 30, 2, 3)
    logs = ClassRegression.fit(Z, y, 3, np.ones(3)).log_proba(1e6 * Z)
    assert np.isfinite(logs).all()
    np.testing.assert_allclose(np.exp(logs).sum(axis=1), 1.0, rtol=1e-12)


def test_many_rows_are_predicted_as_one_by_one(seed):
    rng = np.random.default_rng(seed)
    Z, y = cases(rng, 40, 2, 4)
    regression, new = ClassRegression.fit(Z, y, 4, np.ones(4)), np.tile(Z, (60, 1))
    np.testing.assert_allclose(
        regression.log_proba(new), np.tile(regression.log_proba(Z), (60, 1)), rtol=1e-12
    )
    assert regression.log_proba(Z[:0]).shape == (0, 4)


def surprises(rng, n_classes, n=16, m=5, replicates=150, n_new=50):
    """Standard errors by which new cases are worse predicted than the probabilities promise.

    Of the regression and of its twin. Coefficients are drawn from the prior, given covariates.
    """
    gains = []
    for _ in range(replicates):
        Z = rng.normal(size=(n + n_new, m))
        U, V = whitened(Z[:n], Z[n:])
        slopes = PRIOR_SCALE / np.sqrt(2.0) * rng.normal(size=(m, n_classes))
        base = np.log(rng.dirichlet(np.full(n_classes, 2.0)))
        logits = np.vstack([U, V]) @ slopes + base
        y = np.argmax(logits + rng.gumbel(size=logits.shape), axis=1)
        integrated = ClassRegression.fit(Z[:n], y[:n], n_classes, np.full(n_classes, 2.0))
        each = [one.log_proba(Z[n:]) for one in (integrated, plugged_in(integrated))]
        gains.append(
            [np.mean(np.sum(np.exp(p) * p, axis=1) - p[np.arange(n_new), y[n:]]) for p in each]
        )
    return np.mean(gains, axis=0) / (np.std(gains, axis=0) / np.sqrt(replicates))


def plugged_in(regression):
    """The wrong twin: the logits' means, without their spread."""
    return ClassRegression(
        regression.center,
        regression.transform,
        regression.totals,
        regression.mean,
        np.zeros_like(regression.covariance),
        regression.log_evidence,
    )


@pytest.mark.slow
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.evidence
def test_log_loss_is_what_probabilities_promise(n_classes, seed):
    ours, twin = surprises(np.random.default_rng(1000 + seed), n_classes)
    assert abs(ours) < 4.0
    assert twin > 4.0
