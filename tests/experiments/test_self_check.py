"""The values that an installation is checked by are right, and a wrong result is noticed."""

from fractions import Fraction
from math import comb

import numpy as np
import oracle
import pytest

from unselected.experiments import self_check as checks
from unselected.experiments.self_check import Check, self_check


def times(a, b):
    """The product of two polynomials."""
    product = [Fraction(0)] * (len(a) + len(b) - 1)
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            product[i + j] += x * y
    return product


def beta_binomial(n, ones, alpha):
    """P(ones | theta, alpha) as a polynomial in theta, with fractions."""
    polynomial, rising = [Fraction(comb(n, ones))], 1
    for j in range(ones):
        polynomial = times(polynomial, [j, alpha])
    for j in range(n - ones):
        polynomial = times(polynomial, [alpha + j, -alpha])
    for j in range(n):
        rising *= alpha + j
    return [term / rising for term in polynomial]


def test_the_omission_probability_is_this_fraction():
    total = Fraction(0)
    for (I0, I1), value in oracle.all_cor_squared(3, 3).items():
        if value <= Fraction(1, 4):
            law = times(beta_binomial(3, I0, 2), beta_binomial(3, I1, 2))
            total += sum(term / (power + 1) for power, term in enumerate(law))
    assert total == Fraction(2851, 3780)


def test_the_posterior_is_that_of_enumerating_all_omitted_data():
    kept = {0: (2, 0)}
    np.testing.assert_array_equal(checks._tiny_model().selection_.indices, [0])
    event = oracle.event_by_enumeration(
        kept, 4, 3, 3, lambda scores: oracle.outcomes(scores, 1, "first").get(frozenset([0]), 0.0)
    )
    evidence = oracle.evidence_by_class([kept[0]], np.array([[1]]), 3, 3, event)[0]
    assert evidence[1] / evidence.sum() == pytest.approx(checks._BY_ENUMERATION, abs=1e-9)


def test_wrong_results_are_noticed(monkeypatch):
    assert all(check.passed for check in self_check())
    assert not Check("", float("nan"), 0.0, 1.0).passed
    right = checks.omission_probability
    monkeypatch.setattr(checks, "omission_probability", lambda *a: right(*a) * (1 + 1e-9))
    uncorrected = checks.SelectiveBernoulliNB(k=1, correct_selection=False)
    monkeypatch.setattr(checks, "SelectiveBernoulliNB", lambda **_: uncorrected)
    failed = [check.what for check in self_check() if not check.passed]
    assert failed == ["omission probability, binary", "corrected posterior"]


def test_compiled_loops_are_checked_where_there_are_any(monkeypatch):
    monkeypatch.setattr(checks, "kernels_for", lambda _: None)
    assert "compiled loops" not in [check.what for check in self_check()]
