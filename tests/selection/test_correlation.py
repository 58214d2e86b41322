"""|COR| of counts: exact integers decide what doubles cannot."""

from fractions import Fraction

import hypothesis.strategies as st
import numpy as np
import oracle
import pytest
from hypothesis import given

from unselected.selection.correlation import (
    compare,
    cor_squared,
    exact_cor_squared,
    root,
    threshold_cut,
)

sizes = st.integers(1, 30)


@given(n0=sizes, n1=sizes, data=st.data())
def test_cor_squared_is_equation_1(n0, n1, data):
    I0, I1 = data.draw(st.integers(0, n0)), data.draw(st.integers(0, n1))
    exact = oracle.cor_squared(I0, I1, n0, n1)
    assert exact_cor_squared(I0, I1, n0, n1) == exact
    ours = cor_squared(np.array([I0]), np.array([I1]), n0, n1)[0]
    assert ours == pytest.approx(float(exact), rel=1e-14)


def test_cor_squared_of_one_case_in_each_class():
    assert cor_squared(np.array([0, 1, 0, 1]), np.array([1, 0, 0, 1]), 1, 1).tolist() == [
        1,
        1,
        0,
        0,
    ]


@given(n0=sizes, n1=sizes, data=st.data())
def test_compare_never_errs_on_ties(n0, n1, data):
    """Against every attainable value, most of all the feature's own and those that tie with it."""
    pairs = st.tuples(st.integers(0, n0), st.integers(0, n1))
    at, other = data.draw(pairs), data.draw(pairs)
    cut, value = oracle.cor_squared(*at, n0, n1), oracle.cor_squared(*other, n0, n1)
    I0, I1 = np.array([at[0], other[0]]), np.array([at[1], other[1]])
    expected = [0, (value > cut) - (value < cut)]
    assert compare(I0, I1, n0, n1, cut).tolist() == expected


def test_compare_tells_apart_what_doubles_cannot():
    n0 = n1 = 10_000_019
    a, b = (0, 5), (9_999_999, 10_000_014)
    exact = [exact_cor_squared(*pair, n0, n1) for pair in (a, b)]
    I0, I1 = np.array([a[0], b[0]]), np.array([a[1], b[1]])
    signs = compare(I0, I1, n0, n1, exact[0])
    assert signs.tolist() == [0, (exact[1] > exact[0]) - (exact[1] < exact[0])]
    nudged = exact[0] * (1 + Fraction(1, 10**25))
    assert float(nudged) == float(exact[0])
    assert compare(I0[:1], I1[:1], n0, n1, nudged).tolist() == [-1]


@pytest.mark.parametrize("gamma", [0.0, 0.2, 0.3, 0.6, 1 / 3, 0.5, 1.0])
def test_threshold_cut_takes_what_was_meant(gamma):
    """A correlation equal to gamma to the last bit is at gamma, and one a bit larger is above."""
    cut = threshold_cut(gamma)
    for value in (gamma, *([] if gamma in (0, 1) else [np.nextafter(gamma, 0)])):
        assert Fraction(value) ** 2 <= cut
    assert Fraction(float(np.nextafter(gamma, 2))) ** 2 > cut
    decimal = Fraction(str(gamma)) ** 2
    assert decimal <= cut
    unit = Fraction(float(np.spacing(gamma)))
    assert (Fraction(gamma) + unit * Fraction(49, 100)) ** 2 <= cut
    assert (Fraction(gamma) + unit * Fraction(51, 100)) ** 2 > cut


@given(value=st.fractions(0, 1, max_denominator=10**12))
def test_root_is_correctly_rounded(value):
    below, above = (Fraction(x) for x in neighbours(root(value)))
    assert below**2 <= value <= above**2


def neighbours(x):
    """The midpoints between a double and the doubles next to it."""
    return [(Fraction(x) + Fraction(float(np.nextafter(x, end)))) / 2 if x else 0 for end in (0, 2)]


def test_root_next_to_a_tie_between_two_doubles():
    """The smallest trace above the midpoint decides, also one that no digit shows."""
    middle = Fraction(2**53 + 1, 2**54)
    assert root(middle**2) == 0.5  # to even
    for trace in (Fraction(1, 2**100), Fraction(1, 2**150), Fraction(1, 2**400)):
        assert root(middle**2 + trace) == np.nextafter(0.5, 1)
        assert root(middle**2 - trace) == 0.5
