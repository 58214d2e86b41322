"""Moves of labels: single flips, and swaps within a class, that leave the posterior as it is.

A loop in plain numpy, and its compiled twin in `compiled`, which makes the same moves given the
same random numbers.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unselected._typing import Floats, Ints


class Labelled(NamedTuple):
    """Labels, and what is counted of them; arrays that moves change in place.

    Attributes
    ----------
    z : array of shape (n,)
        The label of each case, 0 or 1.
    ones : array of shape (k,)
        Ones of each feature in the cases of label 1.
    place : array of shape (2,)
        Cases of class 0, and of class 1, that have label 1.
    """

    z: Ints
    ones: Ints
    place: Ints

    @classmethod
    def of(cls, z: NDArray[Any], bits: Ints, y: Ints) -> "Labelled":
        """Count what labels make."""
        z = np.array(z, dtype=np.int64)
        return cls(z, z @ bits, np.array([np.sum(z * (1 - y)), np.sum(z * y)], dtype=np.int64))

    def copied(self) -> "Labelled":
        """Return the same in arrays of its own."""
        return Labelled(*(array.copy() for array in self))


class Worth(NamedTuple):
    """What labels are worth at one alpha: tables to look terms of the log posterior up in.

    ``pool`` and ``offset`` are those of `FeatureTables` at a node, ``log_place`` is the rest by
    counts, NaN where it is not known yet.
    """

    pool: Floats
    offset: Ints
    log_place: Floats


def log_features(ones: Ints, total: Ints, N1: int, n: int, worth: Worth) -> float:
    """Return the log probability of all features where N1 cases have label 1."""
    places = ones * (n - N1 + 1) + (total - ones) + worth.offset[N1]
    return float(worth.pool.take(places).sum())


def move_labels(
    state: Labelled,
    bits: Ints,
    y: Ints,
    total: Ints,
    pairs: Ints,
    uniforms: Floats,
    worth: Worth,
    first: int,
) -> int:
    """Make the moves from the ``first`` on; return which one lacked a table, or their number.

    Move i < n draws the label of case i given all others. Move n + r exchanges the labels of
    ``pairs[r]``, which are cases of one class, or not: the counts of classes stay.

    Parameters
    ----------
    state : Labelled
        Changed in place.
    bits, y : arrays of shapes (n, k) and (n,)
    total : array of shape (k,)
        Ones of each feature in all cases.
    pairs : array of shape (swaps, 2)
    uniforms : array of shape (n + swaps,)
    """
    z, ones, place = state
    n = z.size
    N1 = int(place[0] + place[1])
    if worth.offset[N1] < 0 or np.isnan(worth.log_place[place[0], place[1]]):
        return first
    now = log_features(ones, total, N1, n, worth)
    for move in range(first, uniforms.size):
        if move < n:
            sign, new_place = 1 - 2 * int(z[move]), place.copy()
            new_place[y[move]] += sign
            new_N1 = N1 + sign
            if worth.offset[new_N1] < 0 or np.isnan(worth.log_place[new_place[0], new_place[1]]):
                return move
            new_ones = ones + sign * bits[move]
            new = log_features(new_ones, total, new_N1, n, worth)
            gain = new - now + worth.log_place[new_place[0], new_place[1]]
            gain -= worth.log_place[place[0], place[1]]
            if uniforms[move] < 1.0 / (1.0 + np.exp(-gain) if gain > -700.0 else np.inf):
                z[move] += sign
                ones[:], place[:], N1, now = new_ones, new_place, new_N1, new
        else:
            i, j = pairs[move - n]
            if z[i] == z[j]:
                continue
            new_ones = ones + (z[j] - z[i]) * (bits[i] - bits[j])
            new = log_features(new_ones, total, N1, n, worth)
            if uniforms[move] < np.exp(min(new - now, 0.0)):
                z[i], z[j] = z[j], z[i]
                ones[:], now = new_ones, new
    return int(uniforms.size)
