"""Unequal classes: sums over pairs of vectors near a block give what sums over all vectors give."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from omission_cases import largest_errors, tie_of

from unselected.numerics import kernels
from unselected.numerics.beta_binomial_integral import ROUGH
from unselected.omission import count_pairs, count_plan
from unselected.omission.count_pairs import CutBounds, n_near
from unselected.omission.count_plan import Plan
from unselected.omission.count_vectors import SortedVectors, vectors_near
from unselected.omission.many_classes import ManyClasses
from unselected.omission.several_classes import SeveralClasses
from unselected.selection.explained import exact_explained

# What is said of them. Most are below 1e-12: P(omitted | theta) is interpolated.
EXACT = 1e-9
UNEQUAL = (14, 15, 17, 19, 16, 13)


@pytest.fixture(autouse=True)
def no_transforms(monkeypatch):
    """Sum pairs also where transforms would resolve all values of the score."""
    monkeypatch.setattr(count_plan, "MOST_EXACT_POINTS", 0.0)


@pytest.mark.parametrize(
    ("sizes", "cut"),
    [
        (UNEQUAL, Fraction(1, 5)),
        (UNEQUAL, tie_of(UNEQUAL)),
        (UNEQUAL, Fraction(3, 4)),
        ((60, 59, 41, 52), Fraction(1, 12)),
        ((60, 59, 41, 52), tie_of((60, 59, 41, 52))),
        ((31, 8, 23), Fraction(0)),
        ((3, 5, 7), Fraction(0)),  # near some totals there is no vector at all
        ((1, 30, 2), Fraction(1, 20)),
        ((2, 3, 2, 5, 2), Fraction(1)),
        ((97, 101, 103), Fraction(1, 30)),
        ((9, 8, 7, 10, 11, 6, 5, 12), Fraction(1, 8)),
    ],
    ids=str,
)
def test_pairs_give_the_sums_over_all_vectors(sizes, cut):
    given, overall = (ManyClasses(sizes, cut, 1, by_total=each) for each in (True, False))
    several = SeveralClasses(sizes, cut, 1, by_total=True)
    assert Plan(sizes, cut).sums_pairs
    assert given.is_exact
    for u in (0.0, 1e-4, 0.02, 3.0):
        found, expected = given.at(u), several.at(u)
        assert max(largest_errors(found, expected)) < EXACT
        total = np.exp(expected.log_total)
        selected = -np.expm1(overall.at(u).log_at_most)
        assert selected == pytest.approx(total @ -np.expm1(expected.log_at_most), abs=EXACT)
        assert float(overall.at(u).error) == 0.0


@pytest.mark.parametrize("cut", [Fraction(1, 12), tie_of(UNEQUAL)], ids=str)
def test_compiled_loops_sum_the_same(cut, monkeypatch):
    plain = ManyClasses(UNEQUAL, cut, 1, by_total=True).at(0.02)
    monkeypatch.setattr(kernels, "WORTH_COMPILING_PAIRS", 0)
    compiled = ManyClasses(UNEQUAL, cut, 1, by_total=True).at(0.02)
    assert max(largest_errors(plain, compiled)) < 1e-13
    assert np.any(np.isfinite(compiled.log_at_cut)) == (cut != Fraction(1, 12))


def test_without_a_compiler_fewer_pairs_are_summed(monkeypatch):
    cut = Fraction(1, 19)
    few, many = Plan((30, 40, 50, 60, 65), cut), Plan((990, 995, 1005, 1010), cut)
    assert few.sums_pairs
    assert many.sums_pairs
    monkeypatch.setattr(count_plan, "can_compile", lambda: False)
    assert few.sums_pairs
    assert not many.sums_pairs


@pytest.mark.parametrize(
    "wrong",
    [
        lambda bounds: CutBounds(bounds.unit, bounds.below, bounds.below),
        lambda bounds: CutBounds(bounds.unit, bounds.below - bounds.unit // 100, bounds.at_most),
    ],
    ids=["ties taken as above", "a cut that is a little lower"],
)
def test_other_bounds_are_wrong(wrong, monkeypatch):
    cut, right = tie_of(UNEQUAL), CutBounds.of
    expected = SeveralClasses(UNEQUAL, cut, 1, by_total=True).at(0.02)
    monkeypatch.setattr(CutBounds, "of", lambda *parts: wrong(right(*parts)))
    found = ManyClasses(UNEQUAL, cut, 1, by_total=True).at(0.02)
    assert max(largest_errors(found, expected)) > 100.0 * EXACT


def test_a_smaller_reach_is_wrong(monkeypatch):
    """Vectors that are omitted but far from the centre are missed, and it is seen."""
    cut, near = Fraction(1, 5), count_pairs.vectors_near
    expected = SeveralClasses(UNEQUAL, cut, 1, by_total=True).at(0.02)
    monkeypatch.setattr(
        count_pairs, "vectors_near", lambda *parts: near(*parts[:2], 0.8 * parts[2])
    )
    found = ManyClasses(UNEQUAL, cut, 1, by_total=True).at(0.02)
    assert max(largest_errors(found, expected)) > 100.0 * EXACT


def test_many_nodes_of_theta_are_taken_in_parts(monkeypatch):
    cut = Fraction(1, 12)
    once = ManyClasses(UNEQUAL, cut, 1, by_total=True).at(0.5)
    monkeypatch.setattr(count_pairs, "_NODES_TOGETHER", 2)
    parts = ManyClasses(UNEQUAL, cut, 1, by_total=True).at(0.5)
    assert max(largest_errors(once, parts)) < 1e-14


def test_what_transforms_smooth_is_within_their_error():
    """Four classes of hundreds: 3e10 vectors, more than can be enumerated."""
    sizes, cut = (395, 401, 409, 388), Fraction(1, 170)
    pairs = ManyClasses(sizes, cut, 1, by_total=True)
    smoothed = ManyClasses(sizes, cut, 1, by_total=True, most_frequencies=1000)
    assert pairs.is_exact
    assert not smoothed.is_exact
    found, about = pairs.at(0.003), smoothed.at(0.003)
    difference = np.exp(about.log_at_most) - np.exp(found.log_at_most)
    assert 1e-7 < np.sqrt(np.mean(difference**2)) < np.sqrt(np.mean(about.error**2))


@pytest.mark.parametrize("share", [0.5, 0.13, 0.02])
def test_vectors_near_are_those_within_reach(share):
    sizes, reach = (7, 12, 5), 1.3
    every = np.array(list(product(*(range(n + 1) for n in sizes))))
    n = np.array(sizes)
    R = np.sum((every - n * share) ** 2 / n, axis=1)
    np.testing.assert_array_equal(vectors_near(sizes, share, reach).T, every[R <= reach])
    assert vectors_near(sizes, 0.5, 1e-4).shape[1] == 0


@pytest.mark.parametrize(
    "sizes", [(300, 280), (90, 80, 70), (40, 45, 50, 35), (20, 21, 22, 23, 24)]
)
def test_the_number_of_vectors_is_known_beforehand(sizes):
    for reach in (1.0, 4.0):
        number = vectors_near(sizes, 0.4, reach).shape[1]
        assert 0.6 * number < n_near(sizes, reach, 0.4) < 1.6 * number


def test_what_is_too_much_is_not_summed():
    sizes, cut = (30, 40, 50, 60, 65, 70, 80, 90, 105, 120), Fraction(1, 20)
    assert not Plan(sizes, cut).sums_pairs
    assert Plan(sizes[:5], cut).sums_pairs
    assert not Plan(sizes[:5], cut, share=1e-6).sums_pairs
    large = (32771, 30, 50)  # counts that 16 bits do not hold
    assert Plan(large, Fraction(1, 50)).n_pairs == float("inf")


def test_vectors_are_sorted_by_total_and_square():
    ones = vectors_near((5, 8, 6), 0.4, 1.0)
    found = SortedVectors.of((5, 8, 6), ones, np.ones(ones.shape[1]), 120)
    keys = list(zip(found.totals.tolist(), found.squares.tolist(), strict=True))
    assert keys == sorted(keys)
    squares = sum(
        120 // n * row.astype(int) ** 2 for n, row in zip((5, 8, 6), found.ones, strict=True)
    )
    np.testing.assert_array_equal(found.squares, squares)
    assert found.starts[-1] == ones.shape[1]


def test_ties_have_a_probability_where_few_digits_are_enough():
    """Rough sums are smoothed and know no ties: one is taken to be at most at the cut."""
    sizes = (131, 160, 97, 203)
    cut = exact_explained((60, 40, 30, 61), sizes)
    many = ManyClasses(sizes, cut, 1, by_total=True)
    assert many.is_exact
    exact, rough = many.at(0.02), many.at(0.02, ROUGH)
    assert np.isfinite(exact.log_at_cut[191])
    np.testing.assert_array_equal(rough.log_at_cut, rough.log_at_most)
