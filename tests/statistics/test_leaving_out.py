"""The counts without some cases are those of the other cases."""

import numpy as np
import pytest
from counting_oracle import assert_counts_are, brute_counts

from unselected.statistics.counting import count_classes
from unselected.statistics.leaving_out import LeftOut, bit_counts_without, counts_without

N, P = 23, 40
LABEL = "column {}".format
SETS = {
    "each case": LeftOut.each_of(N),
    "folds": [
        LeftOut.rows(np.flatnonzero(np.random.default_rng(5).permutation(N) % 4 == fold), N)
        for fold in range(4)
    ],
    "a class": [LeftOut.rows(np.flatnonzero(np.arange(N) % 3 == 1), N)],
    "nobody": [LeftOut.rows(np.array([], dtype=np.intp), N)],
}


def table(rng, binarize, missing):
    X = (rng.random((N, P)) < rng.random(P)).astype(float)
    if binarize is not None:
        X[:, ::3] += rng.poisson(1.0, size=X[:, ::3].shape)
        X[:, ::4] = rng.normal(size=X[:, ::4].shape)
        X[:, 7], X[5, 7] = 0, 2  # not bits, because of one case alone
    if missing == "in some columns":
        X[:, ::2][rng.random(X[:, ::2].shape) < 0.2] = np.nan
        X[:, 11], X[:, 12], X[3, 12] = np.nan, np.nan, 1.0  # no value without a case
    if missing == "in one case":
        X[6, [1, 12]] = np.nan
    return X


@pytest.mark.parametrize("sets", SETS)
@pytest.mark.parametrize(
    ("binarize", "n_classes"), [("auto", 2), ("auto", 5), ("median", 3), (0.5, 2), (None, 3)]
)
@pytest.mark.parametrize("missing", ["nowhere", "in some columns", "in one case"])
def test_counts_are_those_of_the_other_cases(n_classes, missing, binarize, sets, seed):
    rng = np.random.default_rng(seed)
    X = table(rng, binarize, missing)
    y = np.arange(N) % 3 % n_classes if sets == "a class" else rng.permutation(N) % n_classes
    allowed = {"n_classes": n_classes, "missing_allowed": True}
    each = counts_without(X, y, binarize, LABEL, SETS[sets], **allowed)
    for left, (counts, cuts) in zip(SETS[sets], each, strict=True):
        rest, classes = X[left.kept], y[left.kept]
        expected = brute_counts(rest, classes, n_classes, binarize)
        assert_counts_are((counts, cuts), expected, np.bincount(classes, minlength=n_classes))
        anew = count_classes(rest, classes, binarize, **allowed)[0]
        assert (counts.known is None) == (anew.known is None)


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int16, np.float32])
def test_bits_of_any_type(dtype, seed):
    rng = np.random.default_rng(seed)
    X, y = (rng.random((N, P)) < rng.random(P)).astype(dtype), np.arange(N) % 4
    each = counts_without(X, y, "auto", LABEL, SETS["folds"], n_classes=4)
    for left, counted in zip(SETS["folds"], each, strict=True):
        expected = brute_counts(X[left.kept], y[left.kept], 4, "auto")
        assert_counts_are(counted, expected, np.bincount(y[left.kept], minlength=4))


def test_values_that_are_no_numbers_are_named():
    X, y = np.zeros((N, P)), np.arange(N) % 2
    X[4, 9] = np.nan
    with pytest.raises(ValueError, match=r"column 9 has NaN .* in row 4"):
        list(counts_without(X, y, "auto", LABEL, SETS["nobody"]))
    X[2, 11] = np.inf
    with pytest.raises(ValueError, match="column 11 has infinity in row 2"):
        list(counts_without(X, y, "auto", LABEL, SETS["nobody"], missing_allowed=True))


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("sets", [*SETS, "folds of two divisions"])
def test_bits_of_sets_that_are_summed_together(sets, compiled, seed):
    kernels = pytest.importorskip("unselected.numerics.compiled") if compiled else None
    rng = np.random.default_rng(seed)
    bits = (rng.random((N, P)) < rng.random(P)).astype(np.uint8)
    y = rng.permutation(N) % 3
    some = SETS.get(sets, [])
    if sets not in SETS:
        fold_of = [rng.permutation(N) % 4 for _ in range(2)]
        everyone = LeftOut.rows(np.array([], dtype=np.intp), N)
        some = [
            everyone,
            *(LeftOut.rows(np.flatnonzero(f == i), N) for f in fold_of for i in range(4)),
        ]
    found = list(bit_counts_without(bits, y, some, 3, kernels))
    expected = [counts for counts, _ in counts_without(bits, y, None, LABEL, some, n_classes=3)]
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one.ones, other.ones)
        np.testing.assert_array_equal(one.sizes, other.sizes)
