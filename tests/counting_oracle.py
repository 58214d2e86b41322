"""Counts by class as they are defined: a column and a class at a time, known values alone."""

import numpy as np


def cut_of(values, binarize):
    """Return where a column with these known values is cut."""
    if isinstance(binarize, int | float):
        return float(binarize)
    are_bits = set(values.tolist()) <= {0, 1}
    if values.size == 0 or binarize is None or (binarize == "auto" and are_bits):
        return 0.5
    cut, largest = np.median(values), values.max()
    if cut >= largest > values.min():
        cut = values[values < largest].max()
    return float(cut)


def brute_counts(X, y, n_classes, binarize):
    """Return the ones and the known values of each class (G, p), and the cuts (p,)."""
    p = X.shape[1]
    ones, known = np.zeros((n_classes, p), dtype=int), np.zeros((n_classes, p), dtype=int)
    cuts = np.empty(p)
    for j, column in enumerate(X.T):
        is_known = column == column  # NaN is not equal to itself
        cuts[j] = cut_of(column[is_known], binarize)
        for g in range(n_classes):
            values = column[is_known & (y == g)]
            ones[g, j], known[g, j] = np.sum(values > cuts[j]), values.size
    return ones, known, cuts


def assert_counts_are(counted, expected, sizes):
    """Check counts and cuts against those of `brute_counts`."""
    (counts, cuts), (ones, known, expected_cuts) = counted, expected
    np.testing.assert_array_equal(counts.ones, ones)
    np.testing.assert_array_equal(counts.sizes, sizes)
    np.testing.assert_array_equal(cuts, expected_cuts)
    if np.all(known == sizes[:, np.newaxis]):
        assert counts.known is None
    else:
        np.testing.assert_array_equal(counts.known, known)
