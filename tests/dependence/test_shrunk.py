"""Equations with shrunk correlations, against dense matrices."""

import numpy as np
import pytest

from unselected.dependence.correlated import FeatureLaws, WithinClasses
from unselected.dependence.shrunk import Shrunk

USED = np.array([0, 2, 3, 5])


def factor(seed, rows=5, features=6):
    u = np.random.default_rng(seed).normal(size=(rows, features))
    u /= np.linalg.norm(u, axis=0)
    u[:, 3] = 0.0  # constant within classes
    return u


def dense(u, w):
    R = u.T @ u
    np.fill_diagonal(R, 1.0)
    return ((1.0 - w) * R + w * np.eye(len(R)))[np.ix_(USED, USED)]


@pytest.mark.parametrize("by_factor", [True, False])
@pytest.mark.parametrize("w", [0.05, 0.5, 1.0])
def test_solutions_and_squares_are_those_of_the_matrix(by_factor, w, seed):
    u, flat = factor(seed), np.random.default_rng(seed).normal(size=(USED.size, 7))
    correlation = u.T @ u
    np.fill_diagonal(correlation, 1.0)
    pair = (None, u) if by_factor else (correlation, None)
    solver = Shrunk.of(*pair, USED).at(w)
    expected = np.linalg.solve(dense(u, w), flat)
    np.testing.assert_allclose(solver.solve(flat), expected, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(solver.squares(flat), (flat * expected).sum(axis=0), rtol=1e-10)


@pytest.mark.parametrize("k", [8, 60])  # a matrix, and a factor
@pytest.mark.parametrize("missing", [False, True])
def test_the_evidence_of_rows_is_the_sum_over_features(k, missing, seed):
    rng = np.random.default_rng(seed)
    y, X = np.arange(40) % 2, rng.normal(size=(40, k))
    real = rng.random(k) < 0.7
    laws = FeatureLaws(rng.normal(size=(2, k)), rng.gamma(3.0, size=k), 38.0, np.arange(k) != 1)
    rows = rng.normal(size=(9, k))
    if missing:
        rows[rng.random(rows.shape) < 0.1] = np.nan
    for within in (
        WithinClasses.of_features(X, y, 2, real, differ=True),
        WithinClasses.of(X, y, 2, spreads=True),
    ):
        for scale in (None, rng.gamma(5.0, size=9)):
            whole = within.log_evidence(rows, laws, scale)
            parts = within.log_evidence_by_feature(rows, laws, scale)
            np.testing.assert_allclose(whole, parts.sum(axis=2), rtol=1e-9, atol=1e-9)


def test_features_that_are_all_constant_within_classes(capfd):
    """Their factor has no rows; LAPACK would complain on stderr."""
    gaps = np.random.default_rng(0).normal(size=(4, 3))
    solver = Shrunk(None, np.zeros((0, 4))).at(0.2)
    np.testing.assert_array_equal(solver.solve(gaps), gaps)
    np.testing.assert_allclose(solver.squares(gaps), np.sum(gaps**2, axis=0))
    assert capfd.readouterr().err == ""
