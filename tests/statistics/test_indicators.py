"""Columns that are modelled as indicators: of two values, or mostly of one."""

import numpy as np
import pytest

from unselected.statistics.binarizing import AS_IS, as_indicators, find_indicators


def column(*values):
    return np.array(values, dtype=float)[:, np.newaxis]


@pytest.mark.parametrize(
    ("values", "cut"),
    [
        ((0, 1, 0, 1, 1), AS_IS),
        ((0, 0, 0, 0, 0), AS_IS),
        ((-1, 1, 1, -1, 1), -1.0),
        ((0, 0.3, 0, 0.3, 0.3), 0.0),
        ((0, 0, 0, 0, 0.7, 0, 0, 0, 0, 2.5), 0.0),
        ((9, 9, 9, 9, 1, 9, 9, 9, 9, 4), 9.0),
    ],
)
def test_indicators_and_their_cuts(values, cut):
    indicators, cuts = find_indicators(column(*values))
    assert indicators.tolist() == [True]
    np.testing.assert_allclose(cuts, [cut], rtol=2e-6, atol=1e-5)
    above = (cuts < column(*values)).ravel()
    assert above.tolist() == [value > min(values) if cut < 9 else value == 9 for value in values]


@pytest.mark.parametrize(
    "values",
    [
        (3, 3, 3, 3),  # constant, and not 0 or 1
        (0, 0, 0, 1, 2.0, 0, 0, 3),  # five of eight
        (5, 5, 5, 5, 5, 5, 5, 1, 9, 5),  # the common value is in the middle
        (0, 0, 0, 0, 0, 0, 0, 0, 1, np.nan),
    ],
)
def test_other_columns_stay_as_they_are(values):
    assert find_indicators(column(*values))[0].tolist() == [False]
    np.testing.assert_array_equal(as_indicators(column(*values)), column(*values))


def test_three_quarters_are_not_enough():
    assert not find_indicators(column(0, 0, 0, 0, 0, 0, 1, 2))[0][0]
    assert find_indicators(column(0, 0, 0, 0, 0, 0, 0, 1, 2))[0][0]


def test_a_cut_of_one_half_is_not_taken_for_bits():
    X = column(0.5, 0.5, 1.5, 1.5)
    _, cuts = find_indicators(X)
    assert cuts[0] != AS_IS
    assert ((cuts < X) == (X == 1.5)).all()


@pytest.mark.parametrize("dtype", [np.uint8, np.int64, np.float32, np.float64])
def test_columns_become_bits_in_any_type(dtype):
    counts = np.array([[0, 1, 4], [0, 0, 5], [0, 0, 6], [2, 1, 7], [0, 1, 8], [0, 0, 9]] * 4, dtype)
    counts[3, 0] = 5
    bits = as_indicators(counts)
    assert bits.dtype == dtype
    np.testing.assert_array_equal(bits[:, 0], counts[:, 0] > 0)
    np.testing.assert_array_equal(bits[:, 1:], counts[:, 1:])


def test_a_column_and_its_negative_are_the_same_indicator():
    rng = np.random.default_rng(0)
    X = rng.poisson(0.2, size=(50, 30)) * rng.lognormal(size=(50, 30))
    indicators, cuts = find_indicators(X)
    mirrored, other_cuts = find_indicators(-X)
    assert indicators.any()
    np.testing.assert_array_equal(indicators, mirrored)
    for new in (X, 0.9 * X, X + 1e-4, X - 1e-4):
        ones, zeros = (cuts < new)[:, indicators], (other_cuts < -new)[:, indicators]
        np.testing.assert_array_equal(ones, ~zeros)


@pytest.mark.parametrize("common", [0.7, -0.3, 1e-3, 1234.5678])
def test_single_and_double_precision_are_the_same_indicator(common):
    X = column(common, common, common, common, 2.0 * abs(common), common)
    for sign in (1.0, -1.0):
        _, cuts = find_indicators(np.asarray(sign * X, dtype=np.float32))
        single = np.asarray(sign * X, dtype=np.float32) > cuts
        np.testing.assert_array_equal(sign * X > cuts, single)
