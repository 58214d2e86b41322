"""Many cases: other sums over the same counts."""

from fractions import Fraction

import numpy as np
import pytest

from unselected.models.count_terms import (
    CountTerms,
    ManyCasesPairs,
    OverallOmission,
    TabulatedOmission,
    ThetaRule,
)
from unselected.numerics.beta_binomial import CountLaw
from unselected.numerics.beta_binomial_integral import EXACT, ROUGH
from unselected.omission.count_tables import CountTable
from unselected.omission.many_cases import ManyCases, ManyCasesTable

CUTS = [Fraction(0), Fraction(1, 400), Fraction(36, 1000), Fraction(1, 2), Fraction(1)]
NO_FEATURE = np.empty((2, 0), dtype=np.int64)


def many_cases(sizes, cut, refinement, *, needs_below):
    omission = ManyCases(sizes, cut, refinement, needs_below=needs_below)
    terms = ManyCasesPairs(sizes, NO_FEATURE, omission, refinement)
    return lambda u: terms.at(u).omission


def probabilities(omission):
    logs = (omission.log_below, omission.log_at_cut, omission.log_at_most)
    return np.exp([float(np.ravel(log)[0]) for log in logs])


@pytest.mark.parametrize("cut", CUTS, ids=str)
@pytest.mark.parametrize("sizes", [(300, 300), (80, 500), (600, 5)], ids=str)
def test_the_sums_are_those_over_all_counts(sizes, cut):
    law = CountLaw(sizes, *ThetaRule()(sum(sizes)))
    exact = CountTerms(law, NO_FEATURE, OverallOmission(law, cut, needs_below=True))
    many = many_cases(sizes, cut, 1, needs_below=True)
    for u in (0.0, 1e-9, 1e-4, 1 / 300, 0.1, 20.0):
        expected = probabilities(exact.at(u).omission)
        np.testing.assert_allclose(probabilities(many(u)), expected, rtol=1e-9, atol=1e-13)


def test_small_selection_probabilities_keep_their_digits():
    """Ten million features are conditioned on: 1 - P(omitted) must not be rounded."""
    sizes, cut = (300, 300), Fraction(1, 4)
    law = CountLaw(sizes, *ThetaRule()(600))
    exact = CountTerms(law, NO_FEATURE, OverallOmission(law, cut, needs_below=False)).at(1e-4)
    log = float(exact.omission.log_at_most)
    assert -1e-9 < log < 0.0
    found = many_cases(sizes, cut, 1, needs_below=False)(1e-4)
    assert float(found.log_at_most) == pytest.approx(log, rel=1e-9)


@pytest.mark.parametrize("finer", [1, 2])
@pytest.mark.parametrize("by_total", [False, True])
def test_the_table_of_many_cases_is_that_of_few(by_total, finer):
    """More nodes of theta than are taken at a time."""
    sizes = (50, 9, 40)
    table = CountTable(sizes, Fraction(36, 1000), by_total=by_total)
    law = CountLaw(sizes, *ThetaRule()(sum(sizes)))
    exact = CountTerms(law, np.zeros((3, 1), dtype=np.int64), TabulatedOmission(table))
    many = ManyCasesTable(table, finer)
    for u in (0.0, 1e-4, 0.1, 20.0):
        found, expected = many.at(u), exact.at(u).omission
        for name in ("log_below", "log_at_cut", "log_at_most", "log_total"):
            np.testing.assert_allclose(
                np.exp(getattr(found, name)), np.exp(getattr(expected, name)), rtol=1e-9, atol=1e-13
            )


def test_a_finer_rule_changes_nothing():
    sizes, cut = (900, 1100), Fraction(9, 1000)
    for u in (0.0, 1e-3, 0.5):
        once, thrice = (
            probabilities(many_cases(sizes, cut, finer, needs_below=True)(u)) for finer in (1, 3)
        )
        np.testing.assert_allclose(once, thrice, rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize("sizes", [(300, 300), (1800, 200), (980, 1020)], ids=str)
def test_rough_probabilities_have_seven_digits(sizes):
    """Enough to find where the likelihood of ten thousand features has its mass."""
    for cut in (Fraction(1, 300), Fraction(1, 20)):
        omission = ManyCases(sizes, cut, 1, needs_below=True)
        terms = ManyCasesPairs(sizes, NO_FEATURE, omission, 1)
        for u in (0.0, 1e-9, 1e-4, 1 / 300, 0.1, 20.0):
            exact, rough = (probabilities(terms.at(u, each).omission) for each in (EXACT, ROUGH))
            np.testing.assert_allclose(rough, exact, rtol=1e-6, atol=1e-7)


def test_the_order_of_the_classes_does_not_matter():
    cut = Fraction(36, 1000)
    for u in (0.0, 1e-3, 0.5):
        found, turned = (
            probabilities(many_cases(sizes, cut, 1, needs_below=True)(u))
            for sizes in ((80, 500), (500, 80))
        )
        np.testing.assert_allclose(found, turned, rtol=1e-12)
