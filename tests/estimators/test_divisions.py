"""Folds depend on the content of the cases, not on their order or on the names of classes."""

import numpy as np
import pytest

from unselected.columns.content_keys import row_keys
from unselected.estimators.divisions import divided


@pytest.mark.parametrize("seed", range(3))
def test_order_and_names_do_not_matter(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(50, 8)), rng.integers(0, 3, 50)
    groups = rng.integers(0, 20, 50)
    rows, names = rng.permutation(50), rng.permutation(3)
    for own in (None, groups):
        folds = divided(y, row_keys(X), 10, seed, own)
        moved = divided(
            names[y[rows]], row_keys(X[rows]), 10, seed, None if own is None else own[rows]
        )
        np.testing.assert_array_equal(moved, folds[rows])


def test_folds_are_stratified_and_seeds_give_other_folds():
    keys = row_keys(np.random.default_rng(0).normal(size=(100, 4)))
    y = np.repeat([0, 1], [70, 30])
    first, second = (divided(y, keys, 10, seed) for seed in (0, 1))
    assert np.bincount(first[y == 1], minlength=10).tolist() == [3] * 10
    assert np.bincount(first, minlength=10).tolist() == [10] * 10
    assert np.mean(first == second) < 0.4


def test_groups_stay_together():
    keys = row_keys(np.random.default_rng(0).normal(size=(60, 4)))
    groups = np.repeat(np.arange(20), 3)
    folds = divided(np.arange(60) % 2, keys, 10, 0, groups)
    assert all(np.unique(folds[groups == g]).size == 1 for g in range(20))
