"""Whether columns look normal."""

import numpy as np
import pytest
from scipy import stats

from unselected.statistics.normality import look_normal, misfits

SHAPES = {
    "normal": lambda rng, size: 50.0 + 0.01 * rng.normal(size=size),
    "skewed": lambda rng, size: np.exp(0.4 * rng.normal(size=size)),
    "heavy tails": lambda rng, size: rng.standard_t(4, size=size),
    "uniform": lambda rng, size: rng.uniform(size=size),
}


@pytest.mark.parametrize("n", [20, 60, 200])
@pytest.mark.parametrize("shape", SHAPES)
def test_only_normal_columns_have_standard_normal_misfits(n, shape, seed):
    """Royston's approximation holds for normal columns; for the others the same bounds fail."""
    found = misfits(SHAPES[shape](np.random.default_rng(seed), (n, 2000)))
    fits = abs(found.mean()) < 0.12 and abs(found.std() - 1.0) < 0.12
    assert fits == (shape == "normal")


def test_a_misfit_is_the_squared_correlation_with_normal_quantiles(seed):
    rng = np.random.default_rng(seed)
    X = rng.exponential(size=(40, 3))
    expected = stats.norm.ppf((np.arange(1, 41) - 0.375) / 40.25)
    w = [np.corrcoef(np.sort(column), expected)[0, 1] ** 2 for column in X.T]
    mean = -1.2725 + 1.0521 * (np.log(np.log(40)) - np.log(40))
    deviation = 1.0308 - 0.26758 * (np.log(np.log(40)) + 2.0 / np.log(40))
    np.testing.assert_allclose(misfits(X), (np.log1p(-np.array(w)) - mean) / deviation, rtol=1e-9)


def test_missing_values_are_left_out_and_rows_have_no_order(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, 4))
    gaps = np.vstack([X, np.full((7, 4), np.nan)])
    gaps[:, 0] = np.append(X[:, 0], rng.normal(size=7))
    shuffled = gaps[rng.permutation(37)]
    np.testing.assert_allclose(misfits(shuffled)[1:], misfits(X)[1:], rtol=1e-9)
    assert misfits(shuffled)[0] == pytest.approx(misfits(gaps[:, :1])[0], rel=1e-9)


def test_large_values_do_not_overflow(seed):
    X = np.random.default_rng(seed).normal(size=(30, 4))
    np.testing.assert_allclose(misfits(1e200 * X), misfits(X), rtol=1e-9)


def test_columns_that_cannot_tell_have_no_say(seed):
    rng = np.random.default_rng(seed)
    bits, few = rng.integers(0, 2, size=(60, 300)), np.full((60, 2), np.nan)
    few[:4] = rng.normal(size=(4, 2))
    assert np.isnan(misfits(np.hstack([bits, np.ones((60, 1)), few]).astype(float))).all()
    assert not look_normal(bits)
    assert look_normal(np.hstack([bits, rng.normal(size=(60, 300))]))


@pytest.mark.parametrize("shape", SHAPES)
def test_hundreds_of_columns_leave_no_doubt(shape, seed):
    X = SHAPES[shape](np.random.default_rng(seed), (60, 400))
    assert look_normal(X) == (shape == "normal")
