"""Evidence of logistic regressions on the kept features."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from unselected.models.logistic_ridges import VARIANCES, LinearEvidence, logistic_ridges


def data(seed, n=40, k=60, n_classes=2):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % n_classes)
    X = rng.normal(size=(n, k)) + (np.arange(k) < 5) * y[:, np.newaxis]
    X[:, k // 2 :] = X[:, k // 2 :] > 0.5
    return X, np.arange(k) >= k // 2, y


@pytest.mark.parametrize("k", [12, 60])
def test_probabilities_are_those_of_scikit_learn(k):
    """Fewer features than cases, and more: both ways to find orthogonal columns."""
    X, bits, y = data(0, k=k)
    fitted = logistic_ridges(X, bits, y, np.log(np.bincount(y) / y.size))
    unit = (X - X.mean(axis=0)) / np.where(bits, 0.5, X.std(axis=0))
    unit /= np.sqrt((unit**2).sum(axis=1).mean())
    for v, one in zip(VARIANCES, fitted, strict=True):
        # One difference of two coefficients, each with prior variance v, has variance 2 v.
        other = LogisticRegression(C=2.0 * v, tol=1e-10, max_iter=10000).fit(unit, y)
        odds = np.diff(one.log_evidence(X), axis=1)[:, 0]
        odds += np.log(np.bincount(y)[1] / np.bincount(y)[0])
        np.testing.assert_allclose(odds, other.decision_function(unit), atol=1e-3)


def test_contributions_and_intercepts_are_the_evidence():
    X, bits, y = data(1, n_classes=3)
    X[::7, ::5] = np.nan
    for one in logistic_ridges(X, bits, y, np.zeros(3)):
        each = one.by_feature(X)
        assert np.all(each[np.isnan(X)] == 0.0)
        np.testing.assert_allclose(each.sum(axis=1) + one.intercepts, one.log_evidence(X))


def test_a_row_without_any_known_feature_says_nothing():
    X, bits, y = data(1, n_classes=3)
    X[:2], X[1, 7] = np.nan, 1.0
    one = LinearEvidence.mixed(np.ones(1), logistic_ridges(X, bits, y, np.zeros(3))[:1])
    evidence = one.log_evidence(X)
    assert one.has_features
    assert np.all(evidence[0] == 0.0)
    assert np.any(evidence[1] != 0.0)


def test_nothing_to_say():
    nothing = LinearEvidence.nothing(4, 3)
    assert not nothing.has_features
    assert np.all(nothing.log_evidence(np.ones((2, 4))) == 0.0)


def test_neither_the_order_of_cases_nor_of_features_matters():
    X, bits, y = data(2, n_classes=3)
    X[:, 3] = 1.5  # constant
    rng = np.random.default_rng(0)
    rows, columns, classes = (rng.permutation(size) for size in (*X.shape, 3))
    plain = logistic_ridges(X, bits, y, np.zeros(3))
    shuffled = X[np.ix_(rows, columns)]
    other = logistic_ridges(shuffled, bits[columns], classes[y[rows]], np.zeros(3))
    for one, another in zip(plain, other, strict=True):
        assert np.all(one.coefficients[3] == 0.0)
        found = another.log_evidence(shuffled)[:, classes]
        np.testing.assert_allclose(found, one.log_evidence(X)[rows], atol=1e-9)


def test_the_unit_of_a_real_column_does_not_matter():
    X, bits, y = data(3)
    scaled = np.where(bits, X, 1000.0 * X - 5.0)
    each = zip(*(logistic_ridges(Z, bits, y, np.zeros(2)) for Z in (X, scaled)), strict=True)
    for one, other in each:
        np.testing.assert_allclose(other.log_evidence(scaled), one.log_evidence(X), atol=1e-8)


def test_mixed_evidence_is_a_sum():
    X, bits, y = data(4)
    each = logistic_ridges(X, bits, y, np.zeros(2))
    shares = np.array([0.5, 0.1, 0.0])
    expected = sum(s * one.log_evidence(X) for s, one in zip(shares, each, strict=True))
    found = LinearEvidence.mixed(shares, each).log_evidence(X)
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_no_features_leave_nothing_to_say():
    y = np.array([0, 1, 1])
    log_prior = np.log([1 / 3, 2 / 3])
    for one in logistic_ridges(np.zeros((3, 0)), np.zeros(0, bool), y, log_prior):
        np.testing.assert_allclose(np.diff(one.log_evidence(np.zeros((1, 0)))), 0.0, atol=1e-5)
