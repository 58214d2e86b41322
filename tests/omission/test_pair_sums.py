"""Sums over ordered pairs of counts are those over the table of all counts."""

from fractions import Fraction

import numpy as np
import pytest

from unselected.omission.count_tables import CountTable
from unselected.omission.pair_sums import PairSums
from unselected.selection.correlation import exact_cor_squared

NAMES = ("log_below", "log_at_cut", "log_at_most", "log_total")
TINY = Fraction(1, 10**30)


def compare(sizes, cut, seed):
    P = np.random.default_rng(seed).random(((sizes[0] + 1) * (sizes[1] + 1), 3))
    ours = PairSums.of(*sizes).omission(P, cut)
    table = CountTable(sizes, cut, by_total=True)
    for t in range(P.shape[1]):
        theirs = table.omission(P[:, t])
        for name in NAMES:
            pair = getattr(ours, name)[t], getattr(theirs, name)
            np.testing.assert_allclose(*pair, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("sizes", [(7, 4), (3, 12), (1, 1), (20, 20), (19, 22)])
def test_any_cut_divides_pairs_as_the_table_does(sizes, seed):
    rng = np.random.default_rng(seed)
    for cut in (None, Fraction(0), Fraction(1), Fraction(1, 9), Fraction(float(rng.random()))):
        compare(sizes, cut, seed)


@pytest.mark.parametrize("sizes", [(7, 4), (1, 1), (19, 22)])
@pytest.mark.parametrize("cut", [None, Fraction(0), Fraction(1, 9)])
def test_some_totals_have_what_they_have_among_all(sizes, cut, seed):
    P = np.random.default_rng(seed).random(((sizes[0] + 1) * (sizes[1] + 1), 3))
    sums, n = PairSums.of(*sizes), sum(sizes) + 1
    whole = sums.omission(P, cut)
    for some in (slice(0, 1), slice(1, n - 1), slice(n - 1, n), slice(0, n)):
        ours, expected = sums.omission(P, cut, some), whole.of_totals(some)
        assert ours.log_total.shape == (3, some.stop - some.start)
        for name in NAMES:
            np.testing.assert_array_equal(getattr(ours, name), getattr(expected, name))


@pytest.mark.parametrize("sizes", [(7, 4), (20, 20), (19, 22)])
def test_a_cut_at_a_pair_is_told_from_one_a_hair_away(sizes, seed):
    """Doubles do not separate these: the squares are compared in whole numbers."""
    rng = np.random.default_rng(seed)
    for _ in range(5):
        ones = rng.integers(1, sizes, endpoint=False) if min(sizes) > 1 else (0, 1)
        cut = exact_cor_squared(*map(int, ones), *sizes)
        for moved in (cut, cut + TINY, cut - TINY):
            compare(sizes, max(moved, Fraction(0)), seed)
