"""Ridge logistic regressions against those of scikit-learn and their own gradients."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from unselected.numerics.ridge_logits import ridge_logits

VARIANCES = np.array([0.5, 8.0, 32.0])


def data(seed, n_classes, n=90, r=7):
    rng = np.random.default_rng(seed)
    Z = np.linalg.qr(rng.normal(size=(n, r)) - rng.normal(size=r))[0]
    Z -= Z.mean(axis=0)
    Z = np.linalg.svd(Z, full_matrices=False)[0] * rng.uniform(0.5, 5.0, size=r)
    y = np.argmax(Z[:, :n_classes] * 4.0 + rng.gumbel(size=(n, n_classes)), axis=1)
    y[:n_classes] = np.arange(n_classes)
    return Z, y


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("seed", [0, 1])
def test_modes_have_no_gradient(seed, n_classes):
    Z, y = data(seed, n_classes)
    Y, prior = np.eye(n_classes)[y], np.log(np.arange(1.0, n_classes + 1.0))
    log_prior = np.broadcast_to(prior, Y.shape)
    modes = ridge_logits(Z, Y, log_prior, VARIANCES)
    for v, own, intercepts in zip(VARIANCES, *modes, strict=True):
        logits = log_prior + intercepts + Z @ own
        proba = np.exp(logits - np.logaddexp.reduce(logits, axis=1, keepdims=True))
        np.testing.assert_allclose(Z.T @ (Y - proba), own / v, atol=1e-4)
        np.testing.assert_allclose((Y - proba).sum(axis=0), 0.0, atol=1e-4)


@pytest.mark.parametrize("seed", [0, 1])
def test_probabilities_are_those_of_scikit_learn(seed):
    Z, y = data(seed, 3)
    modes = ridge_logits(Z, np.eye(3)[y], np.zeros((y.size, 3)), VARIANCES)
    for v, own, intercepts in zip(VARIANCES, *modes, strict=True):
        other = LogisticRegression(C=v, tol=1e-10, max_iter=10000).fit(Z, y).predict_proba(Z)
        logits = intercepts + Z @ own
        logits -= np.logaddexp.reduce(logits, axis=1, keepdims=True)
        np.testing.assert_allclose(np.exp(logits), other, atol=1e-5)


def test_an_offset_takes_the_place_of_an_intercept():
    Z, y = data(2, 2)
    Y = np.eye(2)[y]
    plain, moved = (
        ridge_logits(Z, Y, np.broadcast_to(each, Y.shape), VARIANCES)
        for each in ([0.0, 0.0], [0.0, 3.0])
    )
    np.testing.assert_allclose(plain.coefficients, moved.coefficients, atol=1e-5)
    differences = [np.diff(each.intercepts, axis=1)[:, 0] for each in (plain, moved)]
    np.testing.assert_allclose(differences[0] - 3.0, differences[1], atol=1e-5)


def test_without_columns_there_are_intercepts():
    Y = np.eye(2)[[0, 1, 1, 1]]
    modes = ridge_logits(np.zeros((4, 0)), Y, np.zeros((4, 2)), VARIANCES)
    assert modes.coefficients.shape == (3, 0, 2)
    np.testing.assert_allclose(np.diff(modes.intercepts, axis=1), np.log(3.0), atol=1e-5)
