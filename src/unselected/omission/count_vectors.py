"""Vectors of counts of several classes, equal classes in order."""

from collections import Counter
from math import comb, prod

import numpy as np
from numpy.typing import NDArray

from unselected._typing import Floats

# Counts of vectors, of which there may be millions: classes have fewer than 2^15 cases.
Counts = NDArray[np.int16]


def vectors(sizes: tuple[int, ...], most: int | None = None) -> tuple[Counts, Floats]:
    """Return vectors of counts (G, v), with equal classes in order, and their numbers of orders.

    ``most`` is the largest total.

    >>> ones, orders = vectors((1, 1, 2))
    >>> ones.T.tolist()[:4], orders.tolist()
    ([[0, 0, 0], [0, 0, 1], [0, 0, 2], [0, 1, 0]], [1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 1.0, 1.0, 1.0])
    >>> vectors((1, 1, 2), 1)[0].T.tolist()
    [[0, 0, 0], [0, 0, 1], [0, 1, 0]]
    """
    most = sum(sizes) if most is None else most
    ones, orders = np.empty((0, 1), dtype=np.int16), np.ones(1)
    for n, k in Counter(sizes).items():
        own, own_orders = _multisets(n, k, most)
        ones = np.vstack([np.repeat(ones, own_orders.size, axis=1), np.tile(own, orders.size)])
        orders = np.outer(orders, own_orders).ravel()
        few = ones.sum(axis=0, dtype=np.int32) <= most
        if not few.all():
            ones, orders = ones[:, few], orders[few]
    return ones, orders


def _multisets(n: int, k: int, most: int) -> tuple[Counts, Floats]:
    """Return the increasing sequences of k counts from 0 to n, and their numbers of orders."""
    n = min(n, most)
    ones, orders = np.arange(n + 1, dtype=np.int16)[np.newaxis], np.ones(n + 1)
    n_last = np.ones(n + 1)  # how often the last count occurs
    for length in range(2, k + 1):
        n_next = n + 1 - ones[-1]
        first = np.cumsum(n_next, dtype=np.int32) - n_next
        before = np.repeat(np.arange(n_next.size, dtype=np.int32), n_next)
        step = (np.arange(before.size, dtype=np.int32) - first[before]).astype(np.int16)
        n_last = np.where(step == 0, n_last[before] + 1.0, 1.0)
        ones = np.vstack([ones[:, before], ones[-1, before] + step])
        orders = orders[before] * length / n_last
        few = ones.sum(axis=0, dtype=np.int32) <= most
        if not few.all():
            ones, orders, n_last = ones[:, few], orders[few], n_last[few]
    return ones, orders


def n_vectors(sizes: tuple[int, ...], most: int | None) -> float:
    """Return the number of vectors of counts, but for the order of equal classes."""
    number = prod(float(comb(n + k, k)) for n, k in Counter(sizes).items())
    return number if most is None else min(number, float(comb(most + len(sizes), len(sizes))))
