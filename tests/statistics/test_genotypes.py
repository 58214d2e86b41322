"""Counts of alleles, all at once, in blocks and without some of the cases."""

import numpy as np
import pytest

from unselected.numerics.kernels import kernels_for
from unselected.statistics.bit_sums import CountRequest, count_block
from unselected.statistics.counting import count_classes
from unselected.statistics.genotypes import genotype_rows
from unselected.statistics.leaving_out import LeftOut, counts_without


def genotypes(seed, n=300, p=9):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, 3, size=(n, p)).astype(float), rng.integers(0, 3, size=n)
    X[:, 0] = 2.0  # 600 alleles: more than a byte counts to
    X[rng.random((n, p)) < 0.1 * (np.arange(p) > 2)] = np.nan
    return X, y


def by_hand(X, y):
    ones = np.array([np.nansum(X[y == g], axis=0) for g in range(3)])
    known = np.array([2 * np.sum(~np.isnan(X[y == g]), axis=0) for g in range(3)])
    return ones, known


@pytest.mark.parametrize("compiled", [False, True])
def test_alleles_are_counted(compiled, seed):
    X, y = genotypes(seed)
    kernels = kernels_for(10**9) if compiled else None
    found = count_block(X, CountRequest(y, 3, None, True, ploidy=2), str, kernels)
    ones, known = by_hand(X, y)
    np.testing.assert_array_equal(found.ones, ones)
    np.testing.assert_array_equal(found.known, known)
    counts, _ = count_classes(X, y, None, n_classes=3, missing_allowed=True, ploidy=2)
    np.testing.assert_array_equal(counts.ones, ones)
    np.testing.assert_array_equal(counts.known_values, known)
    np.testing.assert_array_equal(counts.sizes, 2 * np.bincount(y))


def test_complete_columns_have_no_numbers_of_known_values(seed):
    X, y = genotypes(seed)
    counts, _ = count_classes(X[:, :3], y, None, n_classes=3, missing_allowed=True, ploidy=2)
    assert counts.known is None


def test_alleles_without_some_cases(seed):
    X, y = genotypes(seed)
    sets = [LeftOut.rows(np.array(out), y.size) for out in ([0], [3, 5, 299])]
    how = {"n_classes": 3, "missing_allowed": True, "ploidy": 2}
    for left, (counts, _) in zip(sets, counts_without(X, y, None, str, sets, **how), strict=True):
        ones, known = by_hand(X[left.kept], y[left.kept])
        np.testing.assert_array_equal(counts.ones, ones)
        np.testing.assert_array_equal(counts.known_values, known)
        np.testing.assert_array_equal(counts.sizes, 2 * np.bincount(y[left.kept]))


@pytest.mark.parametrize("wrong", [-1, 3, 0.5, -9])
def test_other_values_are_named(wrong):
    X = np.array([[0.0, 1.0], [2.0, np.nan], [1.0, wrong]])
    with pytest.raises(ValueError, match=rf"^column 1 has the value {float(wrong)} in row 2, but"):
        genotype_rows(X, "column {}".format)
