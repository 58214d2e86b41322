"""Omission probabilities from tables of counts: enumeration in fractions, and limits."""

from fractions import Fraction

import count_oracle
import numpy as np
import pytest
from count_oracle import INFINITE
from scipy import stats

from unselected.models.count_terms import CountTerms, OverallOmission, TabulatedOmission
from unselected.numerics.beta_binomial import CountLaw
from unselected.numerics.quadrature import gauss_legendre, theta_nodes
from unselected.omission.count_tables import (
    MOST_ENTRIES,
    CountTable,
    Omission,
    log_totals,
    n_entries,
)

SIZES = [(2, 3), (4, 4), (1, 6), (2, 2, 3), (1, 3, 2), (2, 1, 2, 2)]
ALPHAS = [Fraction(1, 10), Fraction(3, 4), Fraction(7), Fraction(10**6), INFINITE]


def u_of(alpha):
    return 0.0 if alpha == INFINITE else float(1 / alpha)


def law_of(sizes):
    return CountLaw(sizes, *gauss_legendre(theta_nodes(sum(sizes))))


def table_of(sizes, u, cut, by_total):
    """Return the omission probabilities through the general table."""
    terms = CountTerms(
        law_of(sizes),
        np.zeros((len(sizes), 1), dtype=int),
        TabulatedOmission(CountTable(sizes, cut, by_total=by_total)),
    )
    return terms.at(u).omission


def cuts_of(sizes):
    """R^2 of some vectors of counts, and bounds between them."""
    squares = sorted({count_oracle.r_squared(ones, sizes) for ones in count_oracle.vectors(sizes)})
    chosen = [squares[1], squares[len(squares) // 2], squares[-2]]
    return [Fraction(0), *chosen, chosen[1] + Fraction(1, 10**9), Fraction(1)]


def as_score(cut, sizes):
    """The same cut as COR^2 or F."""
    G = len(sizes)
    if G == 2:
        return cut
    return np.inf if cut == 1 else (cut / (G - 1)) / ((1 - cut) / (sum(sizes) - G))


def exact(sizes, alpha, cut, total=None):
    parts = count_oracle.exact_omission(sizes, alpha, as_score(cut, sizes), total)
    return [float(part) for part in parts]


def probabilities(omission):
    return np.exp([omission.log_below, omission.log_at_cut, omission.log_at_most])


@pytest.mark.parametrize("alpha", ALPHAS, ids=str)
@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_given_the_total_is_what_enumeration_gives(sizes, alpha):
    for cut in cuts_of(sizes):
        ours = probabilities(table_of(sizes, u_of(alpha), cut, by_total=True))
        assert ours.shape == (3, sum(sizes) + 1)
        expected = np.transpose([exact(sizes, alpha, cut, m) for m in range(sum(sizes) + 1)])
        np.testing.assert_allclose(ours, expected, rtol=1e-12, atol=0)


@pytest.mark.parametrize("alpha", ALPHAS, ids=str)
@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_whatever_the_total_is_what_enumeration_gives(sizes, alpha):
    for cut in cuts_of(sizes):
        ours = probabilities(table_of(sizes, u_of(alpha), cut, by_total=False))
        expected = exact(sizes, alpha, cut)
        np.testing.assert_allclose(ours[:, 0], expected, rtol=1e-12, atol=0)


@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_the_law_of_the_totals(sizes):
    omission = table_of(sizes, u_of(ALPHAS[1]), Fraction(1, 3), by_total=True)
    law = count_oracle.exact_law(sizes, ALPHAS[1])
    expected = [
        float(sum(law[ones][0] for ones in count_oracle.vectors(sizes, m)))
        for m in range(sum(sizes) + 1)
    ]
    np.testing.assert_allclose(np.exp(omission.log_total), expected, rtol=1e-12)
    ours = log_totals(law_of(sizes), np.array([u_of(alpha) for alpha in ALPHAS]))
    np.testing.assert_allclose(np.exp(ours[1]), expected, rtol=1e-11)
    np.testing.assert_allclose(np.exp(ours[-1]), 1.0 / (sum(sizes) + 1.0), rtol=1e-11)


@pytest.mark.parametrize("sizes", [(7, 9), (20, 13), (4, 5, 6), (3, 3, 4, 3)], ids=str)
def test_unrelated_features_are_hypergeometric_whatever_theta(sizes):
    n, cut = sum(sizes), Fraction(1, 5)
    ours = probabilities(table_of(sizes, 0.0, cut, by_total=True))
    # Two unequal nodes of theta in the place of all: the division by the total removes theta.
    theta = np.array([0.2, 0.8])
    terms = CountTerms(
        CountLaw(sizes, theta, np.array([0.5, 0.5])),
        np.zeros((len(sizes), 1), dtype=int),
        TabulatedOmission(CountTable(sizes, cut, by_total=True)),
    )
    np.testing.assert_allclose(probabilities(terms.at(0.0).omission), ours, rtol=1e-11, atol=1e-300)
    for m in range(n + 1):
        among = np.array(count_oracle.vectors(sizes, m))
        if len(sizes) == 2:
            pmf = stats.hypergeom(n, sizes[1], m).pmf(among[:, 1])
        else:
            pmf = stats.multivariate_hypergeom(sizes, m).pmf(among)
        at_most = [count_oracle.r_squared(tuple(ones), sizes) <= cut for ones in among.tolist()]
        np.testing.assert_allclose(ours[2, m], pmf @ at_most, rtol=1e-12)


@pytest.mark.parametrize("by_total", [False, True])
@pytest.mark.parametrize("sizes", [(2, 3), (9, 14), (1, 8), (30, 30)], ids=str)
@pytest.mark.parametrize("u", [0.0, 1e-7, 0.3, 10.0])
def test_two_classes_agree_with_their_own_path(sizes, u, by_total):
    """The table summed over all totals is what cumulative sums give without a table."""
    for cut in (Fraction(0), Fraction(1, 9), count_oracle.r_squared((0, 1), sizes), Fraction(1)):
        ones = np.zeros((2, 1), dtype=int)
        special = OverallOmission(law_of(sizes), cut, needs_below=True)
        expected = CountTerms(law_of(sizes), ones, special).at(u).omission
        ours = table_of(sizes, u, cut, by_total)
        weights = np.exp(ours.log_total)
        np.testing.assert_allclose(weights.sum(), 1.0, rtol=1e-12)
        np.testing.assert_allclose(
            probabilities(ours) @ weights, probabilities(expected), rtol=1e-12, atol=1e-15
        )


@pytest.mark.parametrize("sizes", [(6, 5), (4, 3, 5)], ids=str)
def test_rare_features_are_always_omitted_and_add_nothing(sizes):
    """No split of a small total reaches the cut: the log probability is 0, not nearly."""
    cut = Fraction(3, 5)
    for u in (0.0, 0.1, 10.0):
        log_at_most = table_of(sizes, u, cut, by_total=True).log_at_most
        for m in range(sum(sizes) + 1):
            reach = {count_oracle.r_squared(v, sizes) > cut for v in count_oracle.vectors(sizes, m)}
            if not any(reach):
                assert log_at_most[m] == 0.0
            else:
                assert log_at_most[m] < 0.0
        assert log_at_most[0] == log_at_most[1] == 0.0


def test_complements_keep_their_digits():
    """P(above) of 1e-30 is not lost in 1 - P."""
    sums = np.array([[1.0, 0.2], [0.0, 1e-25], [1e-30, 0.3]])
    omission = Omission.of_sums(sums, np.zeros(2))
    np.testing.assert_allclose(omission.log_at_most[0], -1e-30, rtol=1e-12)
    np.testing.assert_allclose(omission.log_below[0], -1e-30, rtol=1e-12)
    np.testing.assert_allclose(omission.log_at_most[1], np.log(0.4), rtol=1e-12)
    np.testing.assert_allclose(omission.log_at_cut[1], np.log(2e-25), rtol=1e-12)
    assert omission.log_at_cut[0] == -np.inf


@pytest.mark.parametrize("sizes", [(3, 4), (2, 2, 3)], ids=str)
def test_an_unknown_total_is_any_of_them(sizes):
    alpha, cut = ALPHAS[1], cuts_of(sizes)[2]
    averaged = table_of(sizes, u_of(alpha), cut, by_total=True).averaged()
    each = [exact(sizes, alpha, cut, m) for m in range(sum(sizes) + 1)]
    np.testing.assert_allclose(probabilities(averaged), np.mean(each, axis=0), rtol=1e-12)


def test_without_a_cut_everything_is_below():
    omission = table_of((2, 3, 2), 0.5, None, by_total=True)
    assert np.all(omission.log_at_most == 0.0)
    assert np.all(omission.log_below == 0.0)


def test_the_largest_table_is_that_of_two_classes_of_2000_cases():
    assert n_entries((2000, 2000)) < MOST_ENTRIES < n_entries((2100, 2100))


def test_vectors_are_counted():
    for sizes in SIZES:
        assert n_entries(sizes) == len(count_oracle.vectors(sizes))
