"""The compiled sums say what the plain ones say."""

import importlib

import numpy as np
import pytest

from unselected import SelectiveBernoulliNB
from unselected.columns import blocks
from unselected.numerics import kernels
from unselected.statistics.counting import count_classes
from unselected.statistics.summing import class_moments, line_moments

pytest.importorskip("numba")


@pytest.fixture
def _compiled(monkeypatch):
    monkeypatch.setattr(kernels, "WORTH_COMPILING", 0)
    monkeypatch.setattr(blocks, "_ROW_BYTES", 1 << 9)


@pytest.mark.usefixtures("_compiled")
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int16, np.float32])
@pytest.mark.parametrize("n", [3, 8, 251, 255, 256, 2060])
def test_counts_are_those_of_plain_sums(n, dtype, order, seed):
    rng = np.random.default_rng(seed)
    X = (rng.random((n, 150)) < rng.random(150)).astype(dtype, order=order)
    X[:, 3], X[:, 4] = 1, 0
    y = rng.permutation(np.arange(n) % 3 == 0).astype(int)
    counts, cuts = count_classes(X, y, "auto")
    np.testing.assert_array_equal(counts.I0, (X[y == 0] > 0).sum(axis=0))
    np.testing.assert_array_equal(counts.I1, (X[y == 1] > 0).sum(axis=0))
    assert np.all(cuts == 0.5)


@pytest.mark.parametrize("order", ["C", "F"])
def test_bytes_that_are_no_bits_are_cut_alike(order, seed, monkeypatch):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 256, size=(300, 50), dtype=np.uint8)
    X[:, ::3] = X[:, ::3] > 100
    X, y = np.asarray(X, order=order), np.arange(300) % 2
    plain, plain_cuts = count_classes(X, y, "auto")
    monkeypatch.setattr(kernels, "WORTH_COMPILING", 0)
    counts, cuts = count_classes(X, y, "auto")
    np.testing.assert_array_equal(counts.I0, plain.I0)
    np.testing.assert_array_equal(counts.I1, plain.I1)
    np.testing.assert_array_equal(cuts, plain_cuts)


def tables(rng):
    """Yield tables that are easy, far from zero, nearly constant, with holes and outliers."""
    X = rng.normal(size=(53, 90))
    yield "plain", X
    yield "far from zero", X + 1e9
    yield "far from its first value", np.vstack([X[:1] + 1e7, X[1:]])
    yield "constant and nearly so", np.where(np.arange(90) % 2, X * 1e-3 + 1.0, 1.0)
    holes = X.copy()
    holes[rng.random(X.shape) < 0.02] = np.nan
    holes[0, ::5] = np.nan
    yield "with missing values", holes
    yield "in single precision", X.astype(np.float32)
    yield "of whole numbers", rng.integers(-3, 9, size=X.shape)
    yield "of booleans", X > 0
    yield "in other memory order", np.asfortranarray(X)
    yield "very large", X * 1e130


@pytest.mark.parametrize("which", range(10))
def test_moments_are_those_of_plain_sums(which, seed, monkeypatch):
    rng = np.random.default_rng(seed)
    name, X = list(tables(rng))[which]
    y, line = rng.permutation(np.arange(53) % 3), rng.normal(size=53)
    plain, plain_line = class_moments(X, y, 3), line_moments(X, line)
    monkeypatch.setattr(kernels, "WORTH_COMPILING", 0)
    for ours, expected, names in (
        (class_moments(X, y, 3), plain, ("n", "center", "offset", "within", "between")),
        (line_moments(X, line), plain_line, ("n", "center", "offset", "within", "sxy", "syy")),
    ):
        for field in names:
            np.testing.assert_allclose(
                getattr(ours, field),
                getattr(expected, field),
                rtol=1e-12,
                atol=1e-12 * np.abs(getattr(expected, field)).max(),
                err_msg=f"{field}, {name}",
            )


@pytest.mark.usefixtures("_compiled")
def test_columns_that_the_sums_do_not_tell_are_taken_again(monkeypatch):
    """A wrong twin: without taking them again, digits are lost."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(53, 4)), np.arange(53) % 2
    X[0] += 1e7
    within = class_moments(X, y, 2).within
    # Outliers hold most of the squares here; it is the rest that must come out right.
    expected = np.sum([(X[y == g] - X[y == g].mean(axis=0)) ** 2 for g in (0,)], axis=(0, 1))
    expected += np.sum((X[y == 1] - X[y == 1].mean(axis=0)) ** 2, axis=0)
    np.testing.assert_allclose(within, expected, rtol=1e-13)
    X[0] -= 1e7
    X[1:] += np.where(y[1:] == 0, 0.0, 1e7)[:, np.newaxis]
    told = class_moments(X, y, 2).within
    plain = sum(np.sum((X[y == g] - X[y == g].mean(axis=0)) ** 2, axis=0) for g in (0, 1))
    np.testing.assert_allclose(told, plain, rtol=1e-8)
    monkeypatch.setattr("unselected.statistics.differences._FEW_DIGITS", 0.0)
    wrong = class_moments(X, y, 2).within
    assert np.max(np.abs(wrong / plain - 1)) > 1e-8


@pytest.mark.usefixtures("_compiled")
@pytest.mark.parametrize("kind", ["classes", "line"])
def test_equal_columns_get_equal_sums_wherever_they_stand(kind, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(53, 300)).astype(np.float32)
    X[:, [0, 130, 299]] = X[:, [70]]
    y = np.arange(53) % 2
    moments = class_moments(X, y, 2) if kind == "classes" else line_moments(X, X[:, 5] + y)
    for column in (0, 130, 299):
        assert moments.within[column] == moments.within[70]
        assert moments.between[column] == moments.between[70]


def test_without_the_compiler_plain_numpy_is_used(monkeypatch, seed):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, 2, size=(40, 300), dtype=np.uint8), np.arange(40) % 2
    expected = SelectiveBernoulliNB(k=5).fit(X, y).predict_proba(X)
    monkeypatch.setattr(kernels, "WORTH_COMPILING", 0)
    monkeypatch.setattr(kernels, "find_spec", lambda _: None)
    kernels._kernels.cache_clear()
    assert kernels.kernels_for(1) is None
    np.testing.assert_array_equal(SelectiveBernoulliNB(k=5).fit(X, y).predict_proba(X), expected)
    monkeypatch.undo()
    kernels._kernels.cache_clear()
    assert kernels.kernels_for(10**8) is importlib.import_module("unselected.numerics.compiled")
    assert kernels.kernels_for(10**7) is None
