"""The omission probability given labels: all columns, one by one, and naive Bayes as a limit."""

from itertools import product
from math import comb

import numpy as np
import oracle
import pytest
from mixture_oracle import cor_squared

from unselected.omission import mixture
from unselected.omission.binary import OmittedCounts
from unselected.omission.mixture import (
    LabelledOmission,
    OmittedIntervals,
    hypergeometric,
    log_choose,
)
from unselected.selection.correlation import threshold_cut
from unselected.selection.events import Event

# Classes of four and three cases: 2^7 columns.
Y = np.array([0, 0, 0, 0, 1, 1, 1])
N0, N1 = 4, 3
COLUMNS = {column: cor_squared(column, Y.tolist()) for column in product((0, 1), repeat=7)}
CUTS = sorted(set(COLUMNS.values()))


def labels_with(a, b):
    """Labels that are 1 for ``a`` cases of class 0 and ``b`` of class 1."""
    return np.array([1] * a + [0] * (N0 - a) + [1] * b + [0] * (N1 - b))


def shares_by_columns(z, cut, *, strictly=False):
    """P(selected | m1, m2) and P(omitted | m1, m2), by all columns with so many ones."""
    sizes = [int(np.sum(z == label)) for label in (1, 0)]
    counted = np.zeros((2, sizes[0] + 1, sizes[1] + 1))
    for column, value in COLUMNS.items():
        omitted = value < cut or (value == cut and not strictly)
        ones = np.array(column)
        counted[int(omitted), ones[z == 1].sum(), ones[z == 0].sum()] += 1
    return counted / counted.sum(axis=0)


def test_binomials_and_hypergeometrics():
    for n in (0, 1, 5, 12):
        np.testing.assert_allclose(np.exp(log_choose(n)), [comb(n, i) for i in range(n + 1)])
    assert not log_choose(5).flags.writeable
    for white, black in ((0, 0), (2, 0), (0, 3), (3, 4), (5, 2)):
        expected = [
            [
                comb(white, i) * comb(black, m - i) / comb(white + black, m) if m >= i else 0.0
                for i in range(white + 1)
            ]
            for m in range(white + black + 1)
        ]
        np.testing.assert_allclose(hypergeometric(white, black), expected, rtol=1e-12, atol=0)


@pytest.mark.parametrize("cut", CUTS, ids=str)
@pytest.mark.parametrize("kind", ["at most", "below"])
def test_shares_of_omitted_columns_are_those_of_all_columns(cut, kind):
    make = OmittedCounts.at_most if kind == "at most" else OmittedCounts.below
    intervals = OmittedIntervals(make(cut, N0, N1), N0, N1)
    for a, b in product(range(N0 + 1), range(N1 + 1)):
        expected = shares_by_columns(labels_with(a, b), cut, strictly=kind == "below")
        np.testing.assert_allclose(intervals.given_ones(a, b), expected, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("gamma", [0.02, 0.3, 0.7])
def test_shares_in_larger_classes_are_sums_over_two_hypergeometric_draws(gamma):
    n0, n1 = 5, 8
    cut = threshold_cut(gamma)
    intervals = OmittedIntervals(OmittedCounts.at_most(cut, n0, n1), n0, n1)
    omitted = {pair: value <= cut for pair, value in oracle.all_cor_squared(n0, n1).items()}
    for a, b in ((5, 4), (2, 4), (0, 8), (3, 3), (1, 7)):
        c, d = n1 - b, n0 - a
        ours = intervals.given_ones(a, b)
        for m1, m2 in product(range(a + b + 1), range(c + d + 1)):
            expected = sum(
                comb(b, i) * comb(a, m1 - i) * comb(c, j) * comb(d, m2 - j)
                for i in range(max(0, m1 - a), min(b, m1) + 1)
                for j in range(max(0, m2 - d), min(c, m2) + 1)
                if omitted[m1 + m2 - i - j, i + j]
            ) / (comb(a + b, m1) * comb(c + d, m2))
            assert ours[:, m1, m2] == pytest.approx([1 - expected, expected], abs=1e-12)


def test_compiled_omission_is_the_same():
    compiled = pytest.importorskip("unselected.numerics.compiled", reason="needs numba")
    intervals = OmittedIntervals(OmittedCounts.at_most(threshold_cut(0.4), 14, 17), 14, 17)
    for a, b in ((0, 0), (3, 12), (14, 2), (7, 9), (0, 17), (14, 17)):
        plain, fast = (intervals.given_ones(a, b, kernels) for kernels in (None, compiled))
        assert fast == pytest.approx(plain, abs=1e-14)
        assert plain.sum(axis=0) == pytest.approx(1.0)


@pytest.mark.parametrize(
    "counts",
    [{"n_at_most": 3}, {"n_below": 2, "n_at_most": 1}, {"n_lottery": 4, "n_kept_ties": 2}],
    ids=str,
)
@pytest.mark.parametrize("cut", [CUTS[1], CUTS[3], CUTS[-2], CUTS[-1]], ids=str)
def test_logs_are_those_of_the_average_over_the_law(cut, counts, seed):
    """Where most columns are omitted, and where few are."""
    rng = np.random.default_rng(seed)
    event = Event(cut, **counts)
    omission = LabelledOmission(event, N0, N1)
    for a, b in ((0, 3), (2, 1), (4, 0), (2, 1)):
        z = labels_with(a, b)
        shape = (int(z.sum()) + 1, 7 - int(z.sum()) + 1)
        law = rng.dirichlet(np.full(shape[0] * shape[1], 0.2), size=3)
        at_most, below = (
            law @ shares_by_columns(z, cut, strictly=strictly)[1].ravel()
            for strictly in (False, True)
        )
        with np.errstate(divide="ignore"):
            expected = event.log_prob(np.log(below), np.log(at_most))
        log_event, log_at_most = omission.logs(a, b, law)
        np.testing.assert_allclose(log_at_most, np.log(at_most), rtol=1e-11, atol=1e-14)
        np.testing.assert_allclose(log_event, expected, rtol=1e-10, atol=1e-13)


def test_rare_selections_and_rare_omissions_keep_their_digits():
    """1 - 1e-30 and 1e-30: each from the sum that is small."""
    cut = CUTS[-2]  # just the classes themselves, and their opposite, are above
    omission = LabelledOmission(Event(cut, n_at_most=1), N0, N1)
    law = np.zeros((2, 5 * 4))
    selected = shares_by_columns(labels_with(4, 0), cut)[0].ravel()
    chosen = int(np.flatnonzero(selected == 1.0)[0])
    law[:, chosen], law[:, 0] = [1e-30, 1.0], [1.0, 1e-30]
    _, logs = omission.logs(4, 0, law)
    np.testing.assert_allclose(logs, [-1e-30, np.log(1e-30)], rtol=1e-12)


def test_what_is_kept_of_many_labels_is_bounded(monkeypatch):
    monkeypatch.setattr(mixture, "_MOST_KEPT", (N0 + 2) * (N1 + 2) * 2 * 3)
    event = Event(CUTS[3], n_below=1, n_at_most=1)
    small = LabelledOmission(event, N0, N1)
    monkeypatch.undo()
    large = LabelledOmission(event, N0, N1)
    for a, b in [*product(range(3), range(3)), (0, 0)]:
        size = (a + b + 1) * (8 - a - b)
        law = np.full((1, size), 1.0 / size)
        assert small.logs(a, b, law)[0] == large.logs(a, b, law)[0]
        assert len(small._given_ones) <= 3
    assert len(large._given_ones) == 9
    monkeypatch.setattr(mixture, "_MOST_KEPT", 0)
    least = LabelledOmission(event, N0, N1)
    for a in range(3):
        least.logs(a, 0, np.full((1, (a + 1) * (8 - a)), 1.0 / ((a + 1) * (8 - a))))
        assert len(least._given_ones) == 1


def test_without_a_cut_nothing_is_omitted():
    with pytest.raises(ValueError, match="the event has no cut"):
        LabelledOmission(Event(), N0, N1)
