"""Divisions of cases into folds that do not depend on the order of rows, columns or class names."""

import numpy as np
from numpy.typing import NDArray

from unselected._typing import Ints
from unselected.columns.content_keys import Keys, mixed


def divided(
    y: NDArray[np.intp], keys: Keys, n_folds: int, seed: int, groups: Ints | None = None
) -> Ints:
    """Return a fold for each case: stratified by class, in an order that keys and seed determine.

    Parameters
    ----------
    y : array of shape (n,)
        Classes, counted from 0.
    keys : array of shape (n,)
        Of the cases, see `content_keys`.
    n_folds, seed : int
    groups : array of shape (n,) or None
        Cases with the same number stay together.

    Examples
    --------
    >>> y, keys = np.array([0, 0, 0, 1, 1, 1]), np.arange(6, dtype=np.uint64)
    >>> folds = divided(y, keys, 3, seed=0)
    >>> sorted(folds[:3].tolist()), sorted(folds[3:].tolist())
    ([0, 1, 2], [0, 1, 2])
    >>> turned = divided(1 - y[::-1], keys[::-1], 3, seed=0)
    >>> np.array_equal(turned[::-1], folds)
    True
    """
    unit = np.arange(y.size) if groups is None else np.unique(groups, return_inverse=True)[1]
    of_units = _summed(keys, unit)
    shuffled = mixed(of_units ^ mixed(np.array([seed], dtype=np.uint64)))
    stratum = _main_class(_class_ranks(y, keys)[y], unit)
    order = np.lexsort((shuffled, stratum))
    fold_of = np.empty(order.size, dtype=np.int64)
    fold_of[order] = np.arange(order.size) % n_folds
    return np.asarray(fold_of[unit])


def _summed(keys: Keys, unit: Ints) -> Keys:
    """Return the sum of the keys of each unit, wrapping around."""
    total = np.zeros(int(unit.max()) + 1, dtype=np.uint64)
    np.add.at(total, unit, mixed(keys))
    return total


def _main_class(rank: Ints, unit: Ints) -> NDArray[np.intp]:
    """Return the rank of the class of most cases of each unit."""
    counts = np.zeros((int(unit.max()) + 1, int(rank.max()) + 1), dtype=np.int64)
    np.add.at(counts, (unit, rank), 1)
    return np.asarray(np.argmax(counts, axis=1), dtype=np.intp)


def _class_ranks(y: NDArray[np.intp], keys: Keys) -> Ints:
    """Return a rank of each class by its size and content, whatever its name."""
    order = np.lexsort((_summed(keys, y), np.bincount(y)))
    ranks = np.empty_like(order)
    ranks[order] = np.arange(order.size)
    return np.asarray(ranks)
