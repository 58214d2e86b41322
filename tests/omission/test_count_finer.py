"""Exact sums at a few values of alpha take the errors of smoothed sums away."""

from fractions import Fraction

import numpy as np
import pytest
from omission_cases import tie_of

from unselected.omission import count_mixed, count_plan, count_vectors, many_classes
from unselected.omission.count_mixed import CountMixed
from unselected.omission.count_pairs import CountPairs, CutBounds
from unselected.omission.count_plan import Plan
from unselected.omission.count_vectors import squares_of, unit_of
from unselected.omission.differences import Difference, Differences
from unselected.omission.many_classes import ManyClasses
from unselected.omission.several_classes import SeveralClasses
from unselected.omission.total_blocks import Lattice, block_of

# The part of the error of smoothed sums that is left.
SMALL = 1e-3
UNEQUAL, ROUND = (14, 15, 17, 19, 16, 13), (10, 20, 30, 21, 15)


@pytest.fixture
def smoothed(monkeypatch):
    """Smooth the law of the score also where it could be summed exactly at once."""
    for name in ("MOST_EXACT_POINTS", "_MOST_PAIRS", "_MOST_COMPILED_PAIRS"):
        monkeypatch.setattr(count_plan, name, 0.0)
    monkeypatch.setattr(count_plan, "_MOST_FREQUENCIES", 256)
    monkeypatch.setattr(count_plan, "_MOST_RARE_SUMS", 1 << 12)


@pytest.fixture
def without_mixed(monkeypatch):
    monkeypatch.setattr(count_plan, "_MOST_MIXED_POINTS", 0.0)


def _errors(sizes, cut, u):
    """Return the largest errors: with exact sums at a few values of alpha, and without, as told."""
    several = SeveralClasses(sizes, cut, 1, by_total=True).at(u)
    finer = ManyClasses(sizes, cut, 1, by_total=True)
    assert not finer.is_exact
    found = finer.at(u)
    rough = ManyClasses(sizes, cut, 1, by_total=True, most_frequencies=256).at(u)
    own, before = (
        float(np.max(np.abs(np.exp(each.log_at_most) - np.exp(several.log_at_most))))
        for each in (found, rough)
    )
    return own, before, float(np.max(found.error))


def _both(sizes, cut, first, last, rng):
    """Return what vectors of a few classes give, and what pairs of vectors give."""
    block, bounds = block_of(Lattice(sizes), cut, first, last), CutBounds.of(sizes, cut)
    pmfs = {n: rng.dirichlet(np.full(n + 1, 5.0), size=2) for n in sizes}
    mixed = CountMixed.of(block, sizes, bounds)
    pairs = CountPairs(block, sizes, bounds, 0.0)
    return mixed.omitted(pmfs).at_most, pairs.omitted(pmfs).at_most


@pytest.mark.parametrize(
    ("sizes", "cut", "first", "last"),
    [
        ((10, 15, 20, 21, 30), Fraction(1, 8), 3, 14),
        ((10, 15, 20, 21, 30), Fraction(1, 8), 40, 48),
        ((16, 16, 27, 27, 27), Fraction(1, 6), 30, 45),
        ((9, 15, 21, 21, 27), Fraction(1, 8), 20, 30),  # the others have every second value
        ((10, 10, 13), tie_of((10, 10, 13)), 8, 16),
        ((3, 5, 7), Fraction(0), 1, 7),
        ((6, 10, 15), Fraction(1), 5, 15),
    ],
    ids=str,
)
def test_vectors_of_a_few_classes_give_what_pairs_give(sizes, cut, first, last, seed):
    mixed, pairs = _both(sizes, cut, first, last, np.random.default_rng(seed))
    np.testing.assert_allclose(mixed, pairs, rtol=0.0, atol=1e-9 * pairs.max())


@pytest.mark.parametrize("wrong", ["orders", "first"])
def test_other_vectors_or_values_are_wrong(wrong, monkeypatch, seed):
    """Each order of equal classes counts, and the law begins with its first possible value."""
    in_order, first = count_mixed._in_order, Lattice.first
    if wrong == "orders":
        monkeypatch.setattr(count_mixed, "_divisions", lambda _: [((16, 16), (27, 27, 27))])
        right = _both((16, 16, 27, 27, 27), Fraction(1, 6), 30, 45, np.random.default_rng(seed))
        np.testing.assert_allclose(*right, rtol=0.0, atol=1e-9 * right[1].max())

        def once(sizes, ones):
            ones, orders = in_order(sizes, ones)
            return ones, np.ones_like(orders)

        monkeypatch.setattr(count_mixed, "_in_order", once)
    else:
        monkeypatch.setattr(Lattice, "first", lambda self, m: first(self, m) + 5 * self.step)
    mixed, pairs = _both((16, 16, 27, 27, 27), Fraction(1, 6), 30, 45, np.random.default_rng(seed))
    assert np.max(np.abs(mixed - pairs)) > 1e-6 * pairs.max()


def test_a_few_classes_are_those_that_spoil_the_lattice():
    sizes, cut = tuple(range(30, 121, 10)), Fraction(1, 14)
    plan = Plan(sizes, cut)
    transforms = plan.transforms(plan.n_frequencies, plan.n_few + 1)
    finer = plan.finer(transforms)
    assert all(isinstance(each, CountMixed) for (each,) in finer)
    assert all({70, 110} <= set(each.few) for (each,) in finer)
    # Nothing is left out, and nothing too large is attempted.
    assert [each.block.totals.size for (each,) in finer] == [
        each.block.totals.size for each in transforms
    ]
    primes = (53, 59, 61, 67, 71, 73, 79, 83, 89, 97)
    assert not any(
        isinstance(each, CountMixed)
        for some in Plan(primes, cut).finer(Plan(primes, cut).transforms(256))
        for each in some
    )


@pytest.mark.parametrize("u", [0.0, 1e-4, 0.013, 0.09])
@pytest.mark.usefixtures("smoothed")
def test_exact_sums_at_a_few_values_are_enough_for_all(u):
    own, before, told = _errors(ROUND, Fraction(1, 8), u)
    assert own < told + 1e-12
    assert own < SMALL * before


@pytest.mark.parametrize("u", [0.004, 0.09])
@pytest.mark.usefixtures("smoothed", "without_mixed")
def test_so_are_pairs(u):
    own, before, told = _errors(UNEQUAL, Fraction(1, 6), u)
    assert own < told
    assert own < SMALL * before


@pytest.mark.parametrize("wrong", ["no differences", "few nodes of theta"])
@pytest.mark.usefixtures("smoothed")
def test_it_takes_them_and_enough_nodes_of_theta(wrong, monkeypatch):
    if wrong == "no differences":
        right = Differences.at

        def none(self, u, selected):
            error = right(self, u, selected).error
            return Difference(np.zeros(error.size), error)

        monkeypatch.setattr(Differences, "at", none)
    else:
        monkeypatch.setattr(many_classes, "_OF_DIFFERENCES", (1.0, 0.0))
    own, before, told = _errors(ROUND, Fraction(1, 8), 0.09)
    assert own > told
    assert own > SMALL * before


@pytest.mark.usefixtures("smoothed", "without_mixed")
def test_more_frequencies_know_their_error(monkeypatch):
    """Where no exact sums are possible, the smoothed ones are finer and say how exact they are."""
    monkeypatch.setattr(count_plan, "_MOST_FINER_PAIRS", 0.0)
    monkeypatch.setattr(count_plan, "_MOST_COMPILED_FINER_PAIRS", 0.0)
    monkeypatch.setattr(count_plan, "_MOST_FINER_FREQUENCIES", 1 << 12)
    cut, u = Fraction(1, 6), 0.02
    expected = np.exp(SeveralClasses(UNEQUAL, cut, 1, by_total=True).at(u).log_at_most)
    found = ManyClasses(UNEQUAL, cut, 1, by_total=True).at(u)
    rough = ManyClasses(UNEQUAL, cut, 1, by_total=True, most_frequencies=256).at(u)
    error, before = (
        np.sqrt(np.mean((np.exp(each.log_at_most) - expected) ** 2)) for each in (found, rough)
    )
    assert error < 0.3 * before
    assert error < 2.0 * np.sqrt(np.mean(found.error**2))
    assert np.sqrt(np.mean(found.error**2)) < np.sqrt(np.mean(rough.error**2))


def _known(function, errors):
    asked = []

    def compute(u):
        asked.append(u)
        P = np.array([0.1 + 0.2 * u / (1.0 + u), 0.5])
        return P, Difference(np.sqrt(P * (1.0 - P)) * function(np.log1p(10.0 * u)), errors)

    return Differences(10.0, compute), asked


def test_differences_are_interpolated_and_computed_once():
    def wave(v):
        return 1e-6 * np.cos(np.array([2.0, 3.0]) * v)

    differences, asked = _known(wave, np.zeros(2))
    for u in (0.0, 0.003, 0.05, 0.07, 2.0):
        P = np.array([0.1 + 0.2 * u / (1.0 + u), 0.5])
        found = differences.at(u, P)
        exact = np.sqrt(P * (1.0 - P)) * wave(np.log1p(10.0 * u))
        if u > 0.0:
            assert np.all(np.abs(found.value - exact) < 2e-9)
            assert np.all(np.abs(found.value - exact) < found.error + 1e-15)
        assert np.all(found.error < 2e-8)
    n = len(asked)
    differences.at(0.06, np.array([0.01, 0.5]))
    assert len(asked) == n == len(set(asked))
    # A difference that is not smooth is not interpolated well, and it is told.
    rough, _ = _known(lambda v: 1e-6 * np.cos(40.0 * v) * np.ones(2), np.zeros(2))
    assert np.all(rough.at(0.05, np.array([0.01, 0.5])).error > 1e-9)
    doubtful, _ = _known(wave, np.full(2, 1e-7))
    assert 3e-8 < doubtful.at(0.05, np.array([0.01, 0.5])).error[1] < 3e-7


@pytest.mark.parametrize("cut", [Fraction(1, 6), tie_of(UNEQUAL)], ids=str)
def test_squares_that_64_bits_do_not_hold_are_rounded(cut, monkeypatch):
    """A tie is at the cut nevertheless, unless the bounds forget that squares are rounded."""
    exact = SeveralClasses(UNEQUAL, cut, 1, by_total=True).at(0.02)
    monkeypatch.setattr(count_vectors, "squares_fit", lambda _: False)
    found = SeveralClasses(UNEQUAL, cut, 1, by_total=True).at(0.02)
    for name in ("log_below", "log_at_cut", "log_at_most"):
        logs = getattr(found, name), getattr(exact, name)
        np.testing.assert_allclose(*map(np.exp, logs), rtol=0.0, atol=1e-13)
    if cut == tie_of(UNEQUAL):
        last = count_vectors.last_squares

        def forgotten(sizes, cut, unit):
            below, at_most = last(sizes, cut, unit)
            return np.where(below < at_most, below + len(sizes), below), at_most

        monkeypatch.setattr("unselected.omission.several_classes.last_squares", forgotten)
        wrong = SeveralClasses(UNEQUAL, cut, 1, by_total=True).at(0.02)
        assert np.max(np.abs(np.exp(wrong.log_at_cut) - np.exp(exact.log_at_cut))) > 1e-9


def test_rounded_squares_are_close():
    sizes = (97, 101, 103, 107, 109, 113, 127, 131, 137, 139)
    unit, ones = unit_of(sizes), np.array([0, 1, 50, 97], dtype=np.int16)
    found = squares_of(97, ones, unit)
    assert found.tolist() == [unit * int(i) ** 2 // 97 for i in ones]
