"""The shared table has for every vector of counts what is computed for it alone."""

from fractions import Fraction

import numpy as np
import pytest

from unselected.models import shared_table
from unselected.models.count_terms import CountTerms, TabulatedOmission, ThetaRule
from unselected.models.shared_table import SharedTable, SharedTables, SharedTerms
from unselected.numerics.beta_binomial import CountLaw
from unselected.numerics.quadrature import gauss_legendre, theta_nodes
from unselected.omission.count_tables import CountTable


@pytest.mark.parametrize("by_total", [False, True])
@pytest.mark.parametrize("sizes", [(4, 6), (3, 5, 2), (2, 2, 3, 2), (200, 160)], ids=str)
def test_looked_up_terms_are_those_computed(sizes, by_total, seed):
    law = CountLaw(sizes, *gauss_legendre(theta_nodes(sum(sizes))))
    rng = np.random.default_rng(seed)
    ones = rng.integers(0, np.array(sizes)[:, np.newaxis] + 1, size=(len(sizes), 9))
    shared = SharedTable(law, by_total=by_total)
    for cut in (Fraction(1, 10), None, Fraction(2, 3), Fraction(1, 10)):
        looked_up = SharedTerms.of(shared, ones, cut)
        alone = CountTerms(law, ones, TabulatedOmission(CountTable(sizes, cut, by_total=by_total)))
        for u in (0.0, 0.2, 10.0, 0.2):
            ours, expected = looked_up.at(u), alone.at(u)
            np.testing.assert_allclose(ours.log_counts, expected.log_counts, rtol=1e-11)
            np.testing.assert_allclose(ours.theta_means, expected.theta_means, rtol=1e-11)
            for name in ("log_below", "log_at_cut", "log_at_most", "log_total"):
                pair = (getattr(each.omission, name) for each in (ours, expected))
                np.testing.assert_allclose(*pair, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("sizes", [(4, 6), (3, 5, 2)], ids=str)
@pytest.mark.parametrize("cut", [None, Fraction(1, 10)])
def test_terms_at_several_alphas_are_those_at_each(sizes, cut, seed):
    law = CountLaw(sizes, *gauss_legendre(theta_nodes(sum(sizes))))
    rng = np.random.default_rng(seed)
    ones = rng.integers(0, np.array(sizes)[:, np.newaxis] + 1, size=(len(sizes), 9))
    terms = SharedTerms.of(SharedTable(law, by_total=True), ones, cut)
    alphas = (0.0, 0.2, 10.0)
    for _ in range(2):  # computed, and remembered
        log_counts, theta_means, told = terms.together(alphas)
        for place, u in enumerate(alphas):
            expected = terms.at(u)
            np.testing.assert_array_equal(log_counts[place], expected.log_counts)
            np.testing.assert_array_equal(theta_means[place], expected.theta_means)
            for name in ("log_below", "log_at_cut", "log_at_most", "log_total"):
                pair = getattr(told, name)[place], getattr(expected.omission, name)
                np.testing.assert_allclose(*pair, rtol=1e-13, atol=1e-15)


def test_alphas_that_were_asked_for_last_are_remembered_together(monkeypatch):
    shared = SharedTable(CountLaw((4, 6), *gauss_legendre(6)), by_total=True)
    terms = SharedTerms.of(shared, np.array([[1], [2]]), Fraction(1, 4))
    monkeypatch.setattr(shared_table, "_MOST_NUMBERS", 5 * 2 * 35)
    assert terms.fits(5)
    assert not terms.fits(6)
    for alphas in ((0.0, 0.1, 0.2), (0.3, 0.4), (0.0, 0.1, 0.2), (0.5,)):
        terms.together(alphas)
    assert list(shared._together) == [(0.0, 0.1, 0.2), (0.5,)]


def test_cuts_are_forgotten_where_there_are_many():
    shared = SharedTable(CountLaw((4, 6), *gauss_legendre(6)), by_total=True)
    terms = [SharedTerms.of(shared, np.array([[1], [2]]), Fraction(1, n)) for n in (3, 4)]
    first, second = (each.together((0.1, 0.2))[2] for each in terms)
    shared.forget_cuts(2)
    assert terms[1].together((0.1, 0.2))[2] is second
    shared.forget_cuts(1)
    again = SharedTerms.of(shared, np.array([[1], [2]]), Fraction(1, 3)).together((0.1, 0.2))[2]
    assert again is not first
    np.testing.assert_array_equal(again.log_at_most, first.log_at_most)


def test_equal_cuts_are_one():
    law = CountLaw((2, 2), *gauss_legendre(3))
    shared = SharedTable(law, by_total=True)
    numbers = [shared.number_of(cut) for cut in (Fraction(1, 3), None, Fraction(2, 6), Fraction(0))]
    assert numbers == [0, 1, 0, 2]


@pytest.mark.parametrize("by_total", [False, True])
def test_only_the_last_alphas_are_remembered(by_total, monkeypatch):
    monkeypatch.setattr(shared_table, "_MOST_NUMBERS", 1)
    law = CountLaw((4, 6), *gauss_legendre(6))
    shared, cut = SharedTable(law, by_total=by_total), Fraction(1, 4)
    terms = SharedTerms.of(shared, np.array([[1], [2]]), cut)
    u = np.arange(20) / 10
    once, again = ([terms.at(x) for x in u.tolist()] for _ in range(2))
    assert len(shared._known) == shared_table._FEWEST_ALPHAS
    for before, after in zip(once, again, strict=True):
        np.testing.assert_array_equal(before.omission.log_at_most, after.omission.log_at_most)
        np.testing.assert_array_equal(before.log_counts, after.log_counts)


def test_patterns_have_a_table_each():
    tables = SharedTables(gauss_legendre(8), 12, by_total=False)
    assert tables.of((5, 7)) is tables.of((5, 7))
    smaller = tables.of((5, 6))
    assert smaller.law.sizes == (5, 6)
    expected = CountLaw((5, 6), *gauss_legendre(8))
    np.testing.assert_allclose(
        smaller.tables(0.3)[0], SharedTable(expected, by_total=False).tables(0.3)[0], rtol=1e-12
    )


@pytest.mark.parametrize("sizes", [(30, 30), (100, 80), (255, 255)], ids=str)
def test_coarse_nodes_of_theta_are_enough(sizes):
    tables = []
    for coarse in (False, True):
        nodes = ThetaRule(coarse=coarse)(sum(sizes))
        tables.append(SharedTable(CountLaw(sizes, *nodes), by_total=True))
    for u in (0.0, 0.01, 1.0):
        (P, means), (coarse_P, coarse_means) = (each.tables(u) for each in tables)
        np.testing.assert_allclose(coarse_P, P, rtol=1e-9)
        np.testing.assert_allclose(coarse_means, means, rtol=1e-9)
    n_nodes = [each.law.theta.size for each in tables]
    assert n_nodes[1] < n_nodes[0] or sum(sizes) < 100


@pytest.mark.parametrize("sizes", [(30, 30), (9, 14), (3, 5, 2)], ids=str)
@pytest.mark.parametrize("ploidy", [1, 2])
def test_tables_of_several_alphas_are_those_of_each(sizes, ploidy):
    sizes = tuple(ploidy * n for n in sizes)
    law = CountLaw(sizes, *gauss_legendre(theta_nodes(sum(sizes) + 1)))
    alphas = (0.0, *np.geomspace(1e-3, 30.0, 12).tolist())
    together = SharedTable(law, by_total=True, ploidy=ploidy).together(alphas)
    alone, places = SharedTable(law, by_total=True, ploidy=ploidy), np.arange(len(together.P))
    for place, u in enumerate(alphas):
        P, means = alone.tables(u)
        np.testing.assert_allclose(together.P[:, place], P, rtol=1e-12)
        np.testing.assert_allclose(together.theta_means(places)[:, place], means, rtol=1e-12)
