"""R^2 and F from counts, against fractions of the values themselves."""

from fractions import Fraction
from math import inf

import count_oracle
import numpy as np
import pytest
from scipy import stats

from unselected.selection.explained import (
    compare_explained,
    exact_explained,
    explained,
    freedom,
    with_other_freedom,
)

SIZES = [(3, 4), (1, 5), (3, 3, 3), (2, 3, 4), (2, 1, 3, 2)]


@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_r_squared_is_that_of_the_values(sizes):
    every = count_oracle.vectors(sizes)
    exact = [count_oracle.r_squared(ones, sizes) for ones in every]
    assert [exact_explained(ones, sizes) for ones in every] == exact
    rough = explained(np.transpose(every), np.array(sizes)[:, np.newaxis])
    np.testing.assert_allclose(rough, [float(value) for value in exact], rtol=1e-14, atol=0)
    each_its_own = np.repeat(np.array(sizes)[:, np.newaxis], len(every), axis=1)
    np.testing.assert_array_equal(explained(np.transpose(every), each_its_own), rough)


def test_f_is_that_of_scipy(seed):
    rng = np.random.default_rng(seed)
    sizes, nu = (7, 9, 6), 22 - 3
    ones = (2, 6, 4)
    values = [rng.permutation([1] * i + [0] * (n - i)) for i, n in zip(ones, sizes, strict=True)]
    r = exact_explained(ones, sizes)
    expected = stats.f_oneway(*values).statistic
    assert float((r / 2) / ((1 - r) / nu)) == pytest.approx(expected, rel=1e-12)
    assert float(count_oracle.score(ones, sizes)) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_comparison_is_exact_at_every_value_and_next_to_it(sizes):
    every = count_oracle.vectors(sizes)
    exact = [count_oracle.r_squared(ones, sizes) for ones in every]
    ones, step = np.transpose(every), Fraction(1, 10**40)
    for value in set(exact):
        for cut in (value, value + step, *([value - step] if value else [])):
            expected = [(r > cut) - (r < cut) for r in exact]
            assert compare_explained(ones, np.array(sizes), cut).tolist() == expected


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1), (1, 0, 2)])
def test_neither_the_order_of_classes_nor_the_name_of_a_one_matters(order):
    sizes = (2, 3, 4)
    for ones in count_oracle.vectors(sizes):
        value = exact_explained(ones, sizes)
        turned = tuple(n - i for i, n in zip(ones, sizes, strict=True))
        assert exact_explained(turned, sizes) == value
        moved = [tuple(part[g] for g in order) for part in (ones, sizes)]
        assert exact_explained(*moved) == value


def test_one_case_in_each_class():
    ones = np.array([[1, 0, 1], [0, 0, 1]])
    assert explained(ones, np.array([[1], [1]])).tolist() == [1.0, 0.0, 0.0]


def test_more_columns_than_are_taken_at_a_time():
    ones = np.tile(np.array([[1, 0, 3], [4, 0, 1]]), 30_000)
    few = explained(ones[:, :3], np.array([[5], [5]]))
    np.testing.assert_array_equal(explained(ones, np.array([[5], [5]])), np.tile(few, 30_000))
    each = np.full(ones.shape, 5)
    np.testing.assert_array_equal(explained(ones, each), np.tile(few, 30_000))


def test_the_same_f_with_other_degrees_of_freedom():
    """Across patterns of known values, R^2 is turned into that of a complete feature."""
    complete, holes = (3, 4, 3), (3, 2, 2)
    nu, other = int(freedom(np.array(complete))), int(freedom(np.array(holes)))
    assert (nu, other) == (7, 4)
    values = {}
    for sizes, degrees in ((complete, nu), (holes, other)):
        for ones in count_oracle.vectors(sizes):
            r = with_other_freedom(exact_explained(ones, sizes), degrees, nu)
            assert (r == 1) == (count_oracle.score(ones, sizes) == inf)
            values.setdefault(r, set()).add(count_oracle.score(ones, sizes))
    # One F for each R^2, and larger ones for larger ones.
    assert {len(found) for found in values.values()} == {1}
    ordered = [next(iter(values[r])) for r in sorted(values)]
    assert ordered == sorted(ordered)
    for r in values:
        assert with_other_freedom(with_other_freedom(r, nu, other), other, nu) == r
