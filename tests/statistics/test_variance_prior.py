"""The prior of variances: parts of a table together, its limits, and recovery from columns."""

import numpy as np
import pytest

from unselected.statistics.summing import class_moments
from unselected.statistics.variance_prior import LogVariances, VariancePrior


def moments_of(prior, seed, p=4000, sizes=(8, 9)):
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1], sizes)
    s2 = prior.df * prior.scale / rng.chisquare(prior.df, size=p)
    X = rng.normal(size=(y.size, p)) * np.sqrt(s2) + rng.normal(size=(2, p))[y]
    return class_moments(X, y, 2)


@pytest.mark.parametrize("df", [3.0, 20.0])
def test_the_prior_is_found(df, seed):
    found = LogVariances.of(moments_of(VariancePrior(df, 2.5), seed)).prior(15)
    assert found.df == pytest.approx(df, rel=0.25)
    assert found.scale == pytest.approx(2.5, rel=0.1)


def test_parts_together_are_the_whole(seed):
    moments = moments_of(VariancePrior(5.0, 1.0), seed, p=300)
    whole = LogVariances.of(moments)
    parts = [
        LogVariances.of(moments.take(np.arange(start, start + 75))) for start in (0, 75, 150, 225)
    ]
    together = sum(parts, LogVariances())
    assert together.n == whole.n == 300
    np.testing.assert_allclose((together.mean, together.squares), (whole.mean, whole.squares))


def test_equal_variances_have_the_largest_df(seed):
    rng = np.random.default_rng(seed)
    moments = class_moments(rng.normal(size=(40, 3)), np.arange(40) % 2, 2)
    equal = LogVariances(100, LogVariances.of(moments).mean, 0.0).prior(38)
    assert equal.df == 1e6
    assert 0.3 < equal.scale < 3.0


def test_too_few_columns_are_an_error():
    moments = class_moments(np.array([[0.0], [1.0], [3.0], [4.0]]), np.array([0, 0, 1, 1]), 2)
    with pytest.raises(ValueError, match="1 columns vary within classes"):
        LogVariances.of(moments).prior(2)
