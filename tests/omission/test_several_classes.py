"""Several classes: sums over two parts of them give what the table of all counts gives."""

import operator
from fractions import Fraction

import count_oracle
import numpy as np
import pytest

from unselected import SelectiveBernoulliNB
from unselected.models.count_terms import ManyCasesPairs
from unselected.numerics.beta_binomial import CountLaw
from unselected.numerics.beta_binomial_integral import ROUGH
from unselected.numerics.quadrature import gauss_legendre, theta_nodes
from unselected.omission import several_classes
from unselected.omission.count_tables import CountTable, joint_table
from unselected.omission.count_vectors import SortedVectors, vectors
from unselected.omission.many_cases import ManyCases
from unselected.omission.several_classes import MOST_SUMS, SeveralClasses, n_sums
from unselected.selection.explained import compare_explained, exact_explained

CUTS = [Fraction(0), Fraction(1, 20), Fraction(9, 25), Fraction(4, 5), Fraction(1)]


def by_table(sizes, cut, u, *, by_total=False):
    law = CountLaw(sizes, *gauss_legendre(theta_nodes(sum(sizes))))
    table = 0.0
    for nodes, *tables in law.pmf_blocks(u):
        table = table + joint_table([pmf for _, pmf in tables], law.weights[nodes])
    return CountTable(sizes, cut, by_total=by_total).omission(table)


def assert_equal(found, expected, places=...):
    for name in ("log_below", "log_at_cut", "log_at_most"):
        np.testing.assert_allclose(
            np.exp(getattr(found, name)),
            np.exp(getattr(expected, name)[places]),
            rtol=1e-10,
            atol=1e-15,
            err_msg=name,
        )


SIZES = [(5, 5, 5), (9, 2, 14), (1, 30, 1), (4, 3, 6, 5), (2, 3, 2, 3, 2), (7, 11), (1, 1, 1, 1, 1)]


@pytest.mark.parametrize("cut", CUTS, ids=str)
@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_the_sums_are_those_over_all_counts(sizes, cut):
    several = SeveralClasses(sizes, cut, 1, by_total=False)
    given = SeveralClasses(sizes, cut, 1, by_total=True)
    for u in (0.0, 1e-4, 0.02, 1.0, 50.0):
        assert_equal(several.at(u), by_table(sizes, cut, u), 0)
        found, expected = given.at(u), by_table(sizes, cut, u, by_total=True)
        assert_equal(found, expected)
        np.testing.assert_allclose(found.log_total, expected.log_total, rtol=0, atol=1e-12)


@pytest.mark.parametrize("alpha", [Fraction(1, 10), Fraction(5), count_oracle.INFINITE], ids=str)
@pytest.mark.parametrize("sizes", [(3, 3, 3), (2, 3, 4), (1, 2, 2, 1), (2, 1, 1, 2, 1)], ids=str)
def test_the_sums_are_those_in_fractions(sizes, alpha):
    law, cut = count_oracle.exact_law(sizes, alpha), Fraction(1, 4)
    u = 0.0 if alpha == count_oracle.INFINITE else float(1 / alpha)
    found = SeveralClasses(sizes, cut, 1, by_total=True).at(u)
    for m in range(sum(sizes) + 1):
        each = {v: law[v][0] for v in count_oracle.vectors(sizes, m)}
        total = sum(each.values())
        below, at_cut, at_most = (
            float(sum(P for v, P in each.items() if holds(count_oracle.r_squared(v, sizes), cut)))
            / float(total)
            for holds in (operator.lt, operator.eq, operator.le)
        )
        assert np.exp(found.log_below[m]) == pytest.approx(below, rel=1e-12, abs=1e-16)
        assert np.exp(found.log_at_cut[m]) == pytest.approx(at_cut, rel=1e-12, abs=1e-16)
        assert np.exp(found.log_at_most[m]) == pytest.approx(at_most, rel=1e-12, abs=1e-16)


@pytest.mark.parametrize(
    ("sizes", "cut"),
    [
        ((300, 250, 5), Fraction(1, 30)),
        ((12, 12, 12, 12, 12), Fraction(1, 3)),
        ((60, 70, 80), Fraction(1, 20)),
    ],
    ids=str,
)
def test_windows_of_counts_and_some_totals_at_a_time(sizes, cut, monkeypatch):
    """Most counts have no probability given theta, and the lists are made piece by piece."""
    monkeypatch.setattr(several_classes, "_BLOCK", 500)
    several = SeveralClasses(sizes, cut, 1, by_total=True)
    assert len(several._some_totals) > 1
    for u in (0.0, 1e-3, 0.3):
        assert_equal(several.at(u), by_table(sizes, cut, u, by_total=True))


@pytest.mark.parametrize("cut", [Fraction(1, 400), Fraction(36, 1000), Fraction(1, 2)], ids=str)
def test_two_classes_are_those_of_two(cut):
    many = ManyCases((300, 260), cut, 1, needs_below=True)
    special = ManyCasesPairs((300, 260), np.empty((2, 0), dtype=int), many, 1)
    general = SeveralClasses((300, 260), cut, 1, by_total=False)
    for u in (0.0, 1e-4, 0.1, 20.0):
        found, expected = general.at(u), special.at(u).omission
        for name in ("log_below", "log_at_cut", "log_at_most"):
            assert getattr(found, name) == pytest.approx(getattr(expected, name), rel=1e-10)


@pytest.mark.parametrize("sizes", [(40, 35, 50, 45, 30, 38), (25,) * 8], ids=str)
def test_more_classes_than_can_be_enumerated_against_simulation(sizes):
    """There are 6e9 and 2e11 vectors. Ties counted as below would be seen."""
    rng, u, n_drawn = np.random.default_rng(3), 0.05, 400_000
    cut = exact_explained(tuple(n // 2 + (-1) ** g * 3 for g, n in enumerate(sizes)), sizes)
    omission = SeveralClasses(sizes, cut, 1, by_total=False).at(u)
    theta = rng.random(n_drawn)
    phi = rng.beta(theta / u, (1.0 - theta) / u, size=(len(sizes), n_drawn))
    sign = compare_explained(
        rng.binomial(np.array(sizes)[:, np.newaxis], phi), np.array(sizes), cut
    )
    for log, omitted in ((omission.log_below, sign < 0), (omission.log_at_most, sign <= 0)):
        P = float(np.exp(log))
        assert abs(np.mean(omitted) - P) < 4.0 * np.sqrt(P * (1.0 - P) / n_drawn)


def test_a_finer_rule_changes_nothing():
    once, thrice = (
        SeveralClasses((60, 50, 40, 30), Fraction(1, 20), finer, by_total=False) for finer in (1, 3)
    )
    for u in (0.0, 1e-3, 0.5):
        assert once.at(u).log_at_most == pytest.approx(thrice.at(u).log_at_most, rel=1e-11)


def test_small_selection_probabilities_keep_their_digits():
    """Ten million features are conditioned on: 1 - P(omitted) must not be rounded."""
    sizes, cut, u = (40, 40, 40), Fraction(2, 5), 1e-4
    found = float(SeveralClasses(sizes, cut, 1, by_total=False).at(u).log_at_most)
    assert -1e-9 < found < 0.0
    assert found == pytest.approx(float(by_table(sizes, cut, u).log_at_most[0]), rel=1e-9)


def test_ties_are_found_exactly():
    """R^2 = 32/81 exactly, by several vectors: doubles alone would not tell."""
    cut = exact_explained((1, 3, 5), (6, 6, 6))
    several = SeveralClasses((6, 6, 6), cut, 1, by_total=False).at(0.3)
    expected = float(by_table((6, 6, 6), cut, 0.3).log_at_cut[0])
    assert expected > -10.0
    assert several.log_at_cut == pytest.approx(expected, rel=1e-10)
    near = SeveralClasses((6, 6, 6), cut + Fraction(1, 10**30), 1, by_total=False).at(0.3)
    assert near.log_at_cut == -np.inf
    assert near.log_below == pytest.approx(several.log_at_most, abs=1e-13)


@pytest.mark.parametrize("by_total", [False, True])
def test_few_digits_are_enough_to_find_the_mass(by_total, monkeypatch):
    """Six of them, from fewer nodes of theta and fewer counts at each."""
    several = SeveralClasses((60, 50, 60), Fraction(1, 20), 1, by_total=by_total)
    nodes, pmf_tables = [], several_classes.pmf_tables

    def counting(n, theta, u, counts):
        nodes.append(theta.size * (counts.stop - counts.start))
        return pmf_tables(n, theta, u, counts)

    monkeypatch.setattr(several_classes, "pmf_tables", counting)
    for u in (0.001, 0.1):
        exact, n_exact = several.at(u), sum(nodes)
        nodes.clear()
        rough = several.at(u, ROUGH)
        assert sum(nodes) < 0.7 * n_exact
        np.testing.assert_allclose(rough.log_at_most, exact.log_at_most, atol=1e-6)
        nodes.clear()


def test_vectors_take_two_bytes_for_each_count():
    """There may be ten millions; squares and totals of counts must not overflow for all that."""
    ones, orders = vectors((200, 200))
    assert ones.dtype == np.int16
    part = SortedVectors.of((200, 200), ones, orders, 200)
    assert part.totals.max() == 400
    assert part.squares.max() == 200 * 400


def test_fewer_sums_are_counted_where_classes_are_of_equal_sizes():
    assert n_sums((30,) * 6) < 0.2 * n_sums((28, 29, 30, 31, 32, 33))
    assert max(n_sums((1800,) * 3), n_sums((200,) * 4), n_sums((100,) * 5)) < MOST_SUMS


@pytest.mark.slow
@pytest.mark.parametrize("n", [170, 300])
def test_three_classes_of_many_cases(n):
    """More vectors of counts than a table may have; some features are strong."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], n)
    X = (rng.random((3 * n, 6)) < rng.random(6)).astype(float)
    for g, rate in enumerate((0.2, 0.5, 0.8)):
        X[y == g, :3] = (np.arange(n) < rate * n)[:, np.newaxis]
    model = SelectiveBernoulliNB(k=3).fit(X, y)
    assert model.selection_.indices.tolist() == [0, 1, 2]
    assert np.all(np.isfinite(model.predict_log_proba(X[:5])))


def test_only_vectors_with_few_ones():
    """They give what all vectors give, for these totals."""
    for sizes, cut, most in (
        ((30, 25, 20, 31), Fraction(1, 10), 12),
        ((12,) * 5, exact_explained((1, 1, 1, 2, 4), (12,) * 5), 9),
    ):
        several = SeveralClasses(sizes, cut, 1, by_total=True)
        few = SeveralClasses(sizes, cut, 1, by_total=True, most=most)
        assert n_sums(sizes, most) < 0.3 * n_sums(sizes)
        for u in (0.0, 1e-3, 0.5):
            expected = several.at(u)
            logs = (expected.log_below, expected.log_at_cut)
            for found, log in zip(few.rare(u), logs, strict=False):
                np.testing.assert_allclose(found, np.exp(log[: most + 1]), atol=1e-14)
            above = -np.expm1(expected.log_at_most[: most + 1])
            np.testing.assert_allclose(few.rare(u)[2], above, atol=1e-14)
