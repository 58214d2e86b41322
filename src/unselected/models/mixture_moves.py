"""Moves of labels: single flips, and swaps within a class, that leave the posterior invariant.

This is a loop in plain numpy. Its compiled equivalent in `compiled` makes the same moves from the
same random numbers.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unselected._typing import Floats, Ints


class Labelled(NamedTuple):
    """Labels and their counts, in arrays that moves change in place.

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
        """Count ones and classes for some labels."""
        z = np.array(z, dtype=np.int64)
        return cls(z, z @ bits, np.array([np.sum(z * (1 - y)), np.sum(z * y)], dtype=np.int64))


class LabelWeights(NamedTuple):
    """Log posterior weights of labels at one alpha, as tables of its terms.

    ``pool`` and ``offset`` are those of `FeatureTables` at a node. ``log_place`` holds all other
    terms by counts, NaN where they are not computed yet.
    """

    pool: Floats
    offset: Ints
    log_place: Floats


def log_features(ones: Ints, total: Ints, N1: int, n: int, weights: LabelWeights) -> float:
    """Return the log probability of all features where N1 cases have label 1."""
    places = ones * (n - N1 + 1) + (total - ones) + weights.offset[N1]
    return float(weights.pool.take(places).sum())


def move_labels(
    state: Labelled,
    bits: Ints,
    y: Ints,
    total: Ints,
    pairs: Ints,
    uniforms: Floats,
    weights: LabelWeights,
    first: int,
) -> int:
    """Make the moves from ``first`` on; return the first that lacks a table, or their number.

    Move i < n draws the label of case i given all others. Move n + r proposes to exchange the
    labels of ``pairs[r]``, two cases of one class, so that the counts by class stay the same.

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
    if weights.offset[N1] < 0 or np.isnan(weights.log_place[place[0], place[1]]):
        return first
    now = log_features(ones, total, N1, n, weights)
    for move in range(first, uniforms.size):
        if move < n:
            sign, new_place = 1 - 2 * int(z[move]), place.copy()
            new_place[y[move]] += sign
            new_N1 = N1 + sign
            if weights.offset[new_N1] < 0 or np.isnan(
                weights.log_place[new_place[0], new_place[1]]
            ):
                return move
            new_ones = ones + sign * bits[move]
            new = log_features(new_ones, total, new_N1, n, weights)
            gain = new - now + weights.log_place[new_place[0], new_place[1]]
            gain -= weights.log_place[place[0], place[1]]
            if uniforms[move] < 1.0 / (1.0 + np.exp(-gain) if gain > -700.0 else np.inf):
                z[move] += sign
                ones[:], place[:], N1, now = new_ones, new_place, new_N1, new
        else:
            i, j = pairs[move - n]
            if z[i] == z[j]:
                continue
            new_ones = ones + (z[j] - z[i]) * (bits[i] - bits[j])
            new = log_features(new_ones, total, N1, n, weights)
            if uniforms[move] < np.exp(min(new - now, 0.0)):
                z[i], z[j] = z[j], z[i]
                ones[:], now = new_ones, new
    return int(uniforms.size)
