"""P(counts), E[theta | counts] and omission at one alpha, by every way of summing."""

from fractions import Fraction

import count_oracle
import numpy as np
import pytest
from scipy import stats

from unselected.models import count_terms
from unselected.models.count_terms import (
    CountTerms,
    ManyCasesPairs,
    ManyCasesTerms,
    OverallOmission,
    TabulatedOmission,
    ThetaRule,
)
from unselected.numerics import beta_binomial
from unselected.numerics.beta_binomial import CountLaw
from unselected.numerics.quadrature import gauss_legendre, theta_nodes
from unselected.omission.count_tables import CountTable
from unselected.omission.many_cases import ManyCases
from unselected.selection.correlation import threshold_cut
from unselected.selection.count_score import EXPLAINED

WAYS = {
    "products": {},
    "table": {"_FEWEST_PAIRS_BY_TABLE": 0},
    "logs": {"FEW_CASES": 0},
}


def law_of(sizes):
    return CountLaw(sizes, *gauss_legendre(theta_nodes(sum(sizes))))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("sizes", [(2, 4), (5, 1), (2, 3, 2), (1, 2, 2, 2)], ids=str)
@pytest.mark.parametrize("alpha", [Fraction(1, 10), Fraction(5), count_oracle.INFINITE], ids=str)
def test_every_vector_is_what_enumeration_gives(sizes, alpha, way, monkeypatch):
    for name, value in WAYS[way].items():
        monkeypatch.setattr(count_terms, name, value)
    exact = count_oracle.exact_law(sizes, alpha)
    ones = np.transpose(count_oracle.vectors(sizes))
    u = 0.0 if alpha == count_oracle.INFINITE else float(1 / alpha)
    found = CountTerms(law_of(sizes), ones, None).at(u)
    expected = [exact[vector] for vector in count_oracle.vectors(sizes)]
    np.testing.assert_allclose(
        np.exp(found.log_counts), [float(P) for P, _ in expected], rtol=1e-12
    )
    means = [float(with_theta / P) for P, with_theta in expected]
    np.testing.assert_allclose(found.theta_means, [means], rtol=1e-12)
    assert found.omission is None


def test_the_oracle_in_doubles_is_the_oracle_in_fractions():
    for sizes in [(3, 2), (2, 1, 3)]:
        exact, rough = count_oracle.exact_law(sizes, Fraction(2, 5)), count_oracle.law(sizes, 2.5)
        for vector, both in exact.items():
            np.testing.assert_allclose(rough[vector], [float(x) for x in both], rtol=1e-12)


@pytest.mark.parametrize("cut", [Fraction(0), Fraction(1, 4), Fraction(4, 9), Fraction(1)])
def test_two_classes_without_a_table_know_what_is_at_the_cut(cut):
    """Also where nothing is below it, and where no pair of counts is at it."""
    sizes, none = (3, 5), np.zeros((2, 0), dtype=int)
    for alpha in (Fraction(1, 10), Fraction(3)):
        terms = CountTerms(
            law_of(sizes), none, OverallOmission(law_of(sizes), cut, needs_below=True)
        )
        omission = terms.at(float(1 / alpha)).omission
        ours = np.exp([omission.log_below, omission.log_at_cut, omission.log_at_most])
        expected = [float(p) for p in count_oracle.exact_omission(sizes, alpha, cut)]
        np.testing.assert_allclose(ours, expected, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("sizes", [(3, 5), (6, 1), (4, 4)], ids=str)
@pytest.mark.parametrize("alpha", [Fraction(1, 10), Fraction(4), Fraction(10**7)], ids=str)
def test_terms_for_many_cases_are_right_for_few(sizes, alpha):
    """All cuts that a pair of counts attains, 0 and 1 among them, and those between."""
    ones, u = np.transpose(count_oracle.vectors(sizes)), float(1 / alpha)
    values = {count_oracle.score(vector, sizes) for vector in count_oracle.vectors(sizes)}
    law = count_oracle.exact_law(sizes, alpha)
    for cut in values | {Fraction(1, 7), Fraction(3, 5)}:
        omission = ManyCases(sizes, cut, 1, needs_below=True)
        found = ManyCasesPairs(sizes, ones, omission, 1).at(u)
        told = found.omission
        ours = np.exp([np.ravel(log)[0] for log in (told.log_below, told.log_at_cut)])
        below, at_cut, at_most = map(float, count_oracle.exact_omission(sizes, alpha, cut))
        np.testing.assert_allclose(ours, [below, at_cut], rtol=1e-10, atol=1e-14)
        assert np.exp(np.ravel(told.log_at_most)[0]) == pytest.approx(at_most, rel=1e-10)
        expected = [law[vector] for vector in count_oracle.vectors(sizes)]
        np.testing.assert_allclose(
            np.exp(found.log_counts), [float(P) for P, _ in expected], rtol=1e-10
        )
        means = [float(with_theta / P) for P, with_theta in expected]
        np.testing.assert_allclose(found.theta_means, [means], rtol=1e-10)


def test_terms_of_three_classes_with_many_cases_are_right_for_few():
    sizes, alpha = (2, 3, 2), Fraction(3, 4)
    every = count_oracle.vectors(sizes)
    found = ManyCasesTerms(sizes, np.transpose(every), None, 1).at(float(1 / alpha))
    law = count_oracle.exact_law(sizes, alpha)
    np.testing.assert_allclose(
        np.exp(found.log_counts), [float(law[vector][0]) for vector in every], rtol=1e-10
    )


def test_blocks_of_nodes_add_up(monkeypatch):
    """With many cases theta comes in blocks; all of them count, in tables too."""
    monkeypatch.setattr(beta_binomial, "_BLOCK", 1 << 13)
    sizes = (150, 120, 3)
    law = law_of(sizes)
    assert len(list(law.pmf_blocks(0.1))) > 1
    vectors = np.array([[3, 100, 0], [7, 90, 120], [1, 0, 3]])
    found = CountTerms(law, vectors, TabulatedOmission(CountTable(sizes, None, by_total=True)))
    terms = found.at(0.1)
    theta, weights = np.polynomial.legendre.leggauss(200)
    theta, weights = 0.5 * (theta + 1.0), 0.5 * weights
    for vector, log_counts in zip(vectors.T.tolist(), terms.log_counts, strict=True):
        chances = [count_chances(i, n, theta, 0.1) for i, n in zip(vector, sizes, strict=True)]
        assert log_counts == pytest.approx(np.log(weights @ np.prod(chances, axis=0)), abs=1e-10)
    assert np.exp(terms.omission.log_total).sum() == pytest.approx(1.0, rel=1e-12)


def count_chances(i, n, theta, u):
    return stats.betabinom(n, theta / u, (1.0 - theta) / u).pmf(i)


@pytest.mark.parametrize("score", ["none", "overall", "tabulated"])
@pytest.mark.parametrize("sizes", [(9, 9), (12, 7), (60, 61)])
def test_alphas_together_are_as_alone_to_the_last_bit(sizes, score, monkeypatch):
    law, cut = CountLaw(sizes, *ThetaRule()(sum(sizes))), threshold_cut(0.4)
    omission = {
        "none": None,
        "overall": OverallOmission(law, cut, needs_below=True),
        "tabulated": TabulatedOmission(
            CountTable.by_size(sizes, cut, by_total=True, score=EXPLAINED)
        ),
    }[score]
    rng = np.random.default_rng(3)
    ones = np.array([rng.integers(0, n + 1, size=12) for n in sizes])
    u = (0.0, *np.exp(rng.normal(-3.0, 2.0, size=40)).tolist())
    alone = CountTerms(law, ones, omission)
    expected, ahead = [alone.at(x) for x in u], CountTerms(law, ones, omission)
    ahead.compute_ahead(u)
    monkeypatch.setattr(CountTerms, "_rule", None)  # nothing is left to compute
    for x, one in zip(u, expected, strict=True):
        found = ahead.at(x)
        np.testing.assert_array_equal(found.log_counts, one.log_counts)
        np.testing.assert_array_equal(found.theta_means, one.theta_means)
        for name in ("log_below", "log_at_cut", "log_at_most", "log_total"):
            if one.omission is not None:
                theirs = getattr(one.omission, name)
                np.testing.assert_array_equal(getattr(found.omission, name), theirs)
    with pytest.raises(TypeError):
        ahead.at(u[0])  # what was taken is not kept
