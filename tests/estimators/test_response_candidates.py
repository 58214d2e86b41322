"""Raw values or normal scores: what cases left out say, and what the columns look like."""

import numpy as np
import pytest

from unselected.dependence.inverse_regression import POWERS, InverseRegression
from unselected.dependence.response_weights import HeldOutResponses, log_evidence
from unselected.estimators.response_candidates import (
    NULL,
    ResponseFit,
    candidates_of,
    null_candidate,
    preferred,
)
from unselected.estimators.response_views import View

N = 60
RAW, NORMAL = View("raw", "as is"), View("normal", "as is")


def cases_of(y):
    one = np.ones(y.size)
    return HeldOutResponses(y, (N - 1.0) * one, 0.0 * one, one, 1.0)


def fits_of(location, squares):
    """A regression that gives the cases left out these distributions, whatever its power."""
    model = InverseRegression(
        np.zeros(1), np.ones(1), np.ones(1), np.zeros((0, 1)), N, 0.0, 1.0, (1.0,)
    )
    shape = (1, POWERS.size, location.size)
    laws = (np.broadcast_to(each, shape) for each in (location, squares))
    fit = ResponseFit(None, model, *laws)
    return [[fit], [fit]]


def with_gap(y, gap):
    """Two views; the evidence for normal scores is larger by a gap."""

    def evidence(squares):
        each = candidates_of(fits_of(0.0 * y, squares), 1.0)
        return log_evidence([one for some in each for one in some], cases_of(y))

    low, high = 1.0, 1e4
    wanted = evidence(1.0) - abs(gap)
    for _ in range(60):
        middle = np.sqrt(low * high)
        low, high = (middle, high) if evidence(middle) > wanted else (low, middle)
    worse, better = fits_of(0.0 * y, low), fits_of(0.0 * y, 1.0)
    return {RAW: worse, NORMAL: better} if gap > 0 else {RAW: better, NORMAL: worse}


@pytest.mark.parametrize(
    ("gap", "of_normal_columns", "of_others"),
    [(-0.5, RAW, RAW), (0.5, RAW, NORMAL), (2.5, RAW, NORMAL), (3.5, NORMAL, NORMAL)],
)
def test_weak_evidence_for_normal_scores_counts_where_columns_are_not_normal(
    gap, of_normal_columns, of_others, seed
):
    rng = np.random.default_rng(seed)
    y, columns = np.clip(rng.normal(size=N), -2.5, 2.5), rng.normal(size=(N, 400))
    fits = with_gap(y, gap)
    assert preferred(fits, cases_of(y), columns) == of_normal_columns
    assert preferred(fits, cases_of(y), np.exp(columns)) == of_others


@pytest.mark.parametrize(
    ("kinds", "expected"),
    [
        (["linear", "quadratic", "inverse"] * 2, [0.05, 0.05, 0.8 / 11, 0.05, 0.05, 8.0 / 11]),
        (["inverse"] * 3, [1 / 111, 10 / 111, 100 / 111]),
        (["linear", "quadratic"], [0.5, 0.5]),
    ],
)
def test_independent_features_speak_for_regressions_on_more_of_them(kinds, expected):
    y = np.zeros(N)
    (each,), _ = fits_of(y, 1.0 + y)
    fits = [[each._replace(model=_OfKind(each.model, kind)) for kind in kinds]] * 2
    shares = [sum(np.exp(one.log_prior).sum() for one in some) for some in candidates_of(fits, 0.9)]
    np.testing.assert_allclose(shares, 0.9 * np.array(expected), rtol=1e-9)


class _OfKind:
    """A regression by another name."""

    def __init__(self, model, kind):
        self.kind, self.log_prior, self.scales = kind, model.log_prior, model.scales


def test_priors_of_no_features_and_of_the_likelihood_as_it_is():
    y = np.zeros(N)
    fits = fits_of(y, 1.0 + y)
    (one,) = candidates_of(fits, 1.0 - NULL)[0]
    assert np.exp(null_candidate(cases_of(y)).log_prior).sum() == pytest.approx(0.03)
    assert np.exp(one.log_prior).sum() == pytest.approx(0.97)
    assert np.exp(one.log_prior[POWERS == 1.0]) == pytest.approx(0.97 * 0.95)


def test_independent_features_speak_for_the_naive_regression_with_most_of_them():
    y = np.zeros(N)
    (each,), _ = fits_of(y, 1.0 + y)
    fits = [[each] * 3] * 2
    total = np.exp(null_candidate(cases_of(y), 0.9).log_prior).sum()
    shares = [np.exp(one.log_prior) for (one,) in candidates_of(fits, 1.0 - NULL, 0.9)]
    assert total + sum(share.sum() for share in shares) == pytest.approx(1.0)
    alone = [np.exp(one.log_prior) for (one,) in candidates_of(fits, 1.0 - NULL)]
    np.testing.assert_allclose(shares[0], 0.1 * alone[0], rtol=1e-9)
    np.testing.assert_allclose(
        shares[2], 0.1 * alone[2] + np.where(POWERS == 1.0, 0.9, 0.0), rtol=1e-9
    )
