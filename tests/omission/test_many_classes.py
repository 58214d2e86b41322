"""Many classes: a transform of their counts gives what sums over all vectors give."""

from fractions import Fraction

import numpy as np
import pytest
from omission_cases import largest_errors, tie_of

from unselected.numerics.beta_binomial_integral import EXACT as ALL_DIGITS
from unselected.numerics.beta_binomial_integral import ROUGH
from unselected.omission import count_plan, count_transform
from unselected.omission.count_plan import Plan
from unselected.omission.count_transform import CountTransform
from unselected.omission.count_vectors import squares_fit
from unselected.omission.many_classes import ManyClasses
from unselected.omission.several_classes import SeveralClasses
from unselected.omission.total_blocks import Lattice
from unselected.selection.explained import compare_explained, exact_explained

# What is said of it: all values of the score are resolved, or some are not.
EXACT = 2e-9
UNEQUAL = (14, 15, 17, 19, 16, 13)


@pytest.mark.parametrize(
    ("sizes", "cut"),
    [
        ((12,) * 5, Fraction(1, 4)),
        ((12,) * 5, tie_of((12,) * 5)),
        ((12,) * 5, Fraction(3, 4)),
        ((25,) * 6, tie_of((25,) * 6)),
        ((25,) * 6, Fraction(0)),
        ((6, 12, 18, 12), Fraction(1, 6)),
        ((9, 2, 14), Fraction(1, 5)),
        ((1, 30, 1), Fraction(1, 20)),
        ((2, 3, 2, 3, 2), Fraction(1)),
        ((50,) * 4, Fraction(1, 15)),
    ],
    ids=str,
)
def test_the_transform_gives_the_sums_over_all_vectors(sizes, cut):
    given, overall = (ManyClasses(sizes, cut, 1, by_total=each) for each in (True, False))
    several = SeveralClasses(sizes, cut, 1, by_total=True)
    assert given.is_exact
    for u in (0.0, 1e-12, 2e-3, 0.05, 3.0):
        found, expected = given.at(u), several.at(u)
        assert np.all(largest_errors(found, expected) < EXACT)
        np.testing.assert_allclose(found.log_total, expected.log_total, atol=1e-12)
        total = np.exp(expected.log_total)
        selected = -np.expm1(overall.at(u).log_at_most)
        assert selected == pytest.approx(total @ -np.expm1(expected.log_at_most), abs=EXACT)
        assert float(overall.at(u).error) == 0.0


def test_other_lattices_are_wrong(monkeypatch):
    """Values of the score that lie between those that there are: the errors are seen."""
    sizes, cut = (12,) * 5, Fraction(1, 4)
    expected = SeveralClasses(sizes, cut, 1, by_total=True).at(0.02)
    monkeypatch.setattr(Lattice, "is_even", property(lambda _: False))
    right = ManyClasses(sizes, cut, 1, by_total=True).at(0.02)  # finer than necessary
    assert np.all(largest_errors(right, expected) < EXACT)
    count_plan._blocks.cache_clear()
    monkeypatch.setattr(Lattice, "step", property(lambda self: Fraction(3, self.unit)))
    wrong = ManyClasses(sizes, cut, 1, by_total=True).at(0.02)
    assert largest_errors(wrong, expected)[2] > 1e3 * EXACT
    count_plan._blocks.cache_clear()


@pytest.mark.parametrize("cut", [Fraction(1, 5), Fraction(1, 12)], ids=str)
@pytest.mark.parametrize("sizes", [UNEQUAL, (60, 59, 41, 52)], ids=str)
def test_smoothed_sums_know_their_error(sizes, cut):
    """It is less than a thousandth of the probability of being selected."""
    given, overall = (
        ManyClasses(sizes, cut, 1, by_total=each, most_frequencies=300) for each in (True, False)
    )
    several = SeveralClasses(sizes, cut, 1, by_total=True)
    assert not given.is_exact
    for u in (1e-4, 0.02):
        expected, found, whatever = several.at(u), given.at(u), overall.at(u)
        selected, total = -np.expm1(expected.log_at_most), np.exp(expected.log_total)
        error = -np.expm1(found.log_at_most) - selected
        assert np.sqrt(np.mean(error**2)) < 2.0 * np.sqrt(np.mean(found.error**2))
        at_all = -np.expm1(whatever.log_at_most) - total @ selected
        assert abs(at_all) < 2.0 * whatever.error
        assert 2.0 * whatever.error < 1e-3 * (total @ selected) + 1e-9
        # The rare ones are summed exactly.
        assert np.max(np.abs(error[: given._few + 1])) < 1e-12
        np.testing.assert_array_equal(found.log_at_cut, found.log_at_most)


def test_a_score_that_is_rounded_downwards_is_wrong(monkeypatch):
    """The same bound: a cut that is off by the width of the kernel is seen."""
    cut, u, chunks = Fraction(1, 5), 0.02, CountTransform._chunks
    expected = SeveralClasses(UNEQUAL, cut, 1, by_total=False).at(u)

    def rounded(self):
        moved = self.block.period / self.n_frequencies
        for frequencies, chirps, (reach, least) in chunks(self):
            turn = (self._damping - 2j * np.pi * frequencies / self.block.period) * moved
            yield frequencies, chirps, [reach * np.exp(turn)[:, np.newaxis], least]

    for wrong in (False, True):
        if wrong:
            monkeypatch.setattr(CountTransform, "_chunks", rounded)
        found = ManyClasses(UNEQUAL, cut, 1, by_total=False, most_frequencies=300).at(u)
        error = np.expm1(expected.log_at_most) - np.expm1(found.log_at_most)
        assert (abs(error) > 2.0 * found.error) == wrong


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sizes", "n_drawn"),
    [
        ((40,) * 10, 300_000),
        pytest.param(
            (30, 40, 50, 60, 65, 70, 80, 90, 105, 120), 1_000_000, marks=pytest.mark.evidence
        ),
    ],
    ids=str,
)
def test_more_classes_than_can_be_enumerated_against_simulation(sizes, n_drawn):
    """There are 1e16 vectors and more. A cut with a P(selected) 4 % larger would be seen."""
    rng, u = np.random.default_rng(5), 0.01
    n = np.array(sizes)[:, np.newaxis]
    cut = exact_explained(tuple(k // 2 + (-1) ** g * k // 10 for g, k in enumerate(sizes)), sizes)
    omission = ManyClasses(sizes, cut, 1, by_total=False)
    assert omission.is_exact == (len(set(sizes)) == 1)
    P = float(np.exp(omission.at(u).log_at_most))
    n_omitted = 0
    for _ in range(10):
        theta = rng.random(n_drawn // 10)
        phi = rng.beta(theta / u, (1.0 - theta) / u, size=(len(sizes), theta.size))
        ones = rng.binomial(n, phi)
        n_omitted += int(np.sum(compare_explained(ones, n[:, 0], cut) <= 0))
    assert abs(n_omitted / n_drawn - P) < 4.0 * np.sqrt(P * (1.0 - P) / n_drawn)
    assert 0.04 * (1.0 - P) > 4.0 * np.sqrt(P * (1.0 - P) / n_drawn)


def test_sizes_whose_squares_would_overflow():
    """64 bits do not hold the product of these primes times n: squares are rounded."""
    primes, u, rng = (37, 41, 43, 47, 53, 59, 61, 67, 71, 73), 0.01, np.random.default_rng(0)
    primes = (*primes, 79, 83)
    cut, n = Fraction(1, 40), np.array(primes)[:, np.newaxis]
    assert not squares_fit(primes)
    assert Plan(primes, cut).n_few > 10
    below, at_cut, _ = SeveralClasses(primes, cut, 1, by_total=True, most=10).rare(u, ALL_DIGITS)
    # Small rates are drawn more often than uniform ones would be, and count less.
    theta = rng.beta(1.0, 40.0, size=400_000)
    ones = rng.binomial(n, rng.beta(theta / u, (1.0 - theta) / u, size=(len(primes), theta.size)))
    for m in (5, 10):
        some = ones.sum(axis=0) == m
        is_omitted = compare_explained(ones[:, some], n[:, 0], cut) <= 0
        weight = (1.0 - theta[some]) ** -39.0
        P = np.average(is_omitted, weights=weight)
        error = np.sqrt(np.sum((weight * (is_omitted - P)) ** 2)) / weight.sum()
        assert abs(below[m] + at_cut[m] - P) < 4.0 * error < 0.05


def test_few_digits_are_enough_to_find_the_mass(monkeypatch):
    many = ManyClasses((60,) * 5, Fraction(1, 15), 1, by_total=False)
    points, fft = [], count_transform.fft

    def counting(values, length, axis):
        points.append(values.shape[0] * length)
        return fft(values, length, axis=axis)

    monkeypatch.setattr(count_transform, "fft", counting)
    for u in (1e-3, 0.05):
        exact, n_exact = many.at(u), sum(points)
        points.clear()
        assert many.at(u, ROUGH).log_at_most == pytest.approx(exact.log_at_most, rel=2e-3)
        assert sum(points) < 0.7 * n_exact
        points.clear()


def test_a_finer_rule_changes_nothing():
    once, thrice = (ManyClasses((20,) * 5, Fraction(1, 6), r, by_total=True) for r in (1, 3))
    for u in (1e-3, 0.5):
        assert np.all(largest_errors(once.at(u), thrice.at(u)) < EXACT)


def test_a_plan_keeps_within_its_work():
    unequal = (30, 40, 50, 60, 65, 70, 80, 90, 105, 120)
    plan, half = Plan(unequal, Fraction(1, 20)), Plan(unequal, Fraction(1, 20), 0.5)
    assert not plan.resolves_all
    assert plan.n_points(plan.n_frequencies) <= 1.01 * count_plan.MOST_POINTS
    assert half.n_points(half.n_frequencies) <= 0.505 * count_plan.MOST_POINTS
    assert half.n_few <= plan.n_few
    assert Plan((1000,) * 4, Fraction(1, 200)).resolves_all
    assert not Plan((200_000,) * 3, Fraction(1, 20)).is_possible
