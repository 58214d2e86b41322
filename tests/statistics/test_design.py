"""The basis of covariates, and what follows from covariates and codes alone."""

import numpy as np
import pytest
from adjusted_oracle import rest_of

from unselected.statistics.design import CovariateBasis, Design

N = 31


def coded(rng, n=N):
    return np.column_stack([rng.normal(50.0, 9.0, n), rng.integers(0, 2, n), rng.normal(size=n)])


def design_of(coded, y):
    Z = CovariateBasis.learn(coded).apply(coded)
    return Design.by_class(Z, y, y.max() + 1) if y.dtype.kind == "i" else Design.along(Z, y)


def test_the_basis_is_orthogonal_and_spans_what_the_covariates_span(seed):
    Z = coded(np.random.default_rng(seed))
    basis = CovariateBasis.learn(Z)
    ours = basis.apply(Z)
    np.testing.assert_allclose(ours.T @ ours, N * np.eye(4), atol=1e-10)
    np.testing.assert_allclose(rest_of(ours, Z), 0.0, atol=1e-10)
    assert (basis.size, basis.n_coded) == (4, 3)


@pytest.mark.parametrize("kind", ["classes", "real"])
def test_codes_are_beside_the_covariates_of_some_cases_too(seed, kind):
    rng = np.random.default_rng(seed)
    Z = coded(rng)
    some = CovariateBasis.learn(Z).apply(Z)[: N - 7]  # columns that are not orthogonal any more
    if kind == "classes":
        design = Design.by_class(some, np.arange(N - 7) % 3, 3)
        np.testing.assert_allclose(design.C.sum(axis=1), 0.0, atol=1e-12)
    else:
        design = Design.along(some, rng.normal(size=N - 7))
    np.testing.assert_allclose(some.T @ design.C, 0.0, atol=1e-11)


@pytest.mark.parametrize(
    ("extra", "directions"),
    [
        (lambda _: np.full(N, 3.7), 0),
        (lambda _: np.full(N, 1e9), 0),
        (lambda Z: Z[:, 0] - 2.0 * Z[:, 1], 0),
        (lambda Z: 1e12 * Z[:, 2], 0),
        (lambda _: 1e-9 * np.arange(N), 1),
        (lambda _: 1e9 + np.arange(N), 1),
    ],
    ids=["constant", "large constant", "combination", "multiple", "small", "far from zero"],
)
def test_covariates_that_add_nothing_add_no_direction(extra, directions, seed):
    Z = coded(np.random.default_rng(seed))
    assert CovariateBasis.learn(np.column_stack([Z, extra(Z)])).size == 4 + directions


def test_without_covariates_there_is_the_intercept():
    basis = CovariateBasis.learn(np.empty((5, 0)))
    assert basis.size == 1
    assert basis.apply(np.empty((2, 0))).tolist() == [[1.0], [1.0]]


def test_distinct_covariates_are_visited_once(seed):
    rng = np.random.default_rng(seed)
    basis = CovariateBasis.learn(coded(rng))
    new = coded(rng, 4)[[0, 1, 0, 2, 1, 0]]
    found = {tuple(rows): z for rows, z in basis.distinct(new)}
    assert sorted(found) == [(0, 2, 5), (1, 4), (3,)]
    for rows, z in found.items():
        np.testing.assert_allclose(z, basis.apply(new[[rows[0]]])[0], rtol=1e-12)


@pytest.mark.parametrize("kind", ["two", "three", "line"])
def test_codes_are_residuals_and_lam_their_squares(kind, seed):
    """lam are the squares of the codes' residuals by least squares, in orthogonal contrasts."""
    rng = np.random.default_rng(seed)
    Z = coded(rng)
    y = (
        rng.normal(size=N) + Z[:, 2]
        if kind == "line"
        else rng.permutation(N) % (2 + (kind == "three"))
    )
    design = design_of(Z, y)
    A = np.column_stack([np.ones(N), Z])
    codes = (y / design.unit)[:, None] if kind == "line" else np.eye(y.max() + 1)[y]
    rest = rest_of(A, codes)
    np.testing.assert_allclose(design.C, rest, atol=1e-10)
    np.testing.assert_allclose(design.C + design.Z @ design.expected, codes, atol=1e-10)
    q = design.n_contrasts
    lam = np.linalg.eigvalsh(rest.T @ rest)[::-1][:q]
    np.testing.assert_allclose(design.geometry(n_contrasts=q).lam[:, 0], lam, rtol=1e-10)
    assert q == {"two": 1, "three": 2, "line": 1}[kind]
    if kind == "line":
        assert design.unit == pytest.approx(np.sqrt(np.mean(rest_of(A, y) ** 2)), rel=1e-10)


def test_what_covariates_leave_unexplained(seed):
    """1 - R^2 of two classes and of a response; the least over contrasts of three classes."""
    rng = np.random.default_rng(seed)
    Z = coded(rng)
    A = np.column_stack([np.ones(N), Z])
    two, line = rng.permutation(N) % 2, rng.normal(size=N)
    for y in (two, line):
        expected = np.sum(rest_of(A, y * 1.0) ** 2) / np.sum((y - y.mean()) ** 2)
        assert design_of(Z, y).unexplained == pytest.approx(expected, rel=1e-9)
    three = rng.permutation(N) % 3
    batch = np.column_stack([Z, three == 2])
    assert design_of(batch, three).unexplained == pytest.approx(0.0, abs=1e-9)
    assert design_of(batch, three).n_contrasts == 1
    assert design_of(np.zeros((N, 1)), three).unexplained == pytest.approx(1.0)


def test_covariates_that_determine_the_classes_leave_no_contrast():
    """Nothing but rounding is left of the codes, and it is not taken for a contrast."""
    y = np.arange(N) % 2
    design = design_of(np.column_stack([y + 0.0, np.sin(np.arange(N))]), y)
    np.testing.assert_array_equal(design.C, 0.0)
    assert design.geometry(n_contrasts=1).lam.tolist() == [[0.0]]


def test_covariates_that_determine_a_response_are_an_error(seed):
    Z = coded(np.random.default_rng(seed))
    with pytest.raises(ValueError, match="the covariates determine y"):
        design_of(Z, Z[:, 0] + 3.0 * Z[:, 2])


@pytest.mark.parametrize("kind", ["two", "three", "line"])
def test_without_some_cases_the_geometry_is_that_of_the_others(kind, seed):
    rng = np.random.default_rng(seed)
    Z = coded(rng)
    y = rng.normal(size=N) if kind == "line" else rng.permutation(N) % (2 + (kind == "three"))
    whole, kept = design_of(Z, y), np.arange(5, N)
    some, q = whole.without(kept), whole.n_contrasts
    anew = design_of(Z[kept], y[kept])
    ours, expected = (each.geometry(n_contrasts=q) for each in (some, anew))
    np.testing.assert_allclose(ours.lam, expected.lam, rtol=1e-9)
    assert some.unit == pytest.approx(anew.unit, rel=1e-10)
    assert (ours.n.tolist(), ours.rank.tolist()) == ([N - 5], [4])


def test_missing_values_that_take_a_covariate_with_them(seed):
    """A level that no known value has is no direction: its degree of freedom is not spent."""
    rng = np.random.default_rng(seed)
    Z, y = coded(rng), rng.permutation(N) % 2
    known = np.column_stack([Z[:, 1] == 0, np.ones(N, dtype=bool)])
    geometry = design_of(Z, y).geometry(known, n_contrasts=1)
    assert geometry.rank.tolist() == [3, 4]
    assert geometry.nu.tolist() == [known[:, 0].sum() - 4.0, N - 5.0]
