from decimal import Decimal, localcontext
from itertools import pairwise
from math import comb

import hypothesis.strategies as st
import numpy as np
import oracle
import pytest
from hypothesis import given, settings
from scipy.integrate import quad

from unselected.selection.events import Event, log_lottery
from unselected.selection.rules import keep_above, keep_all, keep_preselected, keep_top
from unselected.selection.scores import CountScores
from unselected.statistics.counts import ClassCounts

NONE = np.array([], dtype=int)


@st.composite
def class_counts(draw, least=1):
    """Few cases, so that ties abound."""
    n0, n1, p = draw(st.integers(1, 5)), draw(st.integers(1, 5)), draw(st.integers(least, 12))
    I0 = draw(st.lists(st.integers(0, n0), min_size=p, max_size=p))
    I1 = draw(st.lists(st.integers(0, n1), min_size=p, max_size=p))
    return ClassCounts(np.array(I0), np.array(I1), n0, n1)


def scores(counts):
    return [
        oracle.cor_squared(int(I0), int(I1), counts.n0, counts.n1)
        for I0, I1 in zip(counts.I0, counts.I1, strict=True)
    ]


def root_of(value):
    """The double nearest to a square root, by 50-digit decimals."""
    with localcontext() as context:
        context.prec = 50
        return float((Decimal(value.numerator) / Decimal(value.denominator)).sqrt())


@settings(max_examples=300)
@given(counts=class_counts(), data=st.data())
def test_top_k_keeps_what_the_rule_keeps(counts, data):
    k = data.draw(st.integers(1, counts.I0.size))
    ties = data.draw(st.sampled_from(["first", "random"]))
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    selection = keep_top(CountScores.of(counts), k, ties, NONE, rng)
    assert frozenset(selection.indices.tolist()) in oracle.outcomes(scores(counts), k, ties)
    assert np.all(np.diff(selection.indices) > 0)
    kept = [scores(counts)[j] for j in selection.indices]
    assert selection.threshold == root_of(min(kept))
    assert selection.event.cut == min(kept)
    assert selection.n_omitted == selection.event.n_omitted == counts.I0.size - k


@given(counts=class_counts(), data=st.data())
def test_first_event_counts_who_stood_before_the_last_kept_at_the_cut(counts, data):
    k = data.draw(st.integers(1, counts.I0.size))
    selection = keep_top(CountScores.of(counts), k, "first", NONE, np.random.default_rng(0))
    cut, values = selection.event.cut, scores(counts)
    last = max(j for j in selection.indices if values[j] == cut)
    omitted = set(range(counts.I0.size)) - set(selection.indices.tolist())
    assert selection.event.n_below == sum(j < last for j in omitted)
    assert all(values[j] < cut for j in omitted if j < last)
    assert all(values[j] <= cut for j in omitted)


@given(counts=class_counts(), gamma=st.sampled_from([0.0, 0.2, 0.25, 0.3, 1 / 3, 0.5, 0.6, 1.0]))
def test_threshold_keeps_what_is_above(counts, gamma):
    selection = keep_above(CountScores.of(counts), gamma, NONE)
    above = [j for j, value in enumerate(scores(counts)) if root_of(value) > gamma]
    assert selection.indices.tolist() == above
    assert selection.event.n_at_most == selection.n_omitted == counts.I0.size - len(above)


@given(counts=class_counts(), data=st.data())
def test_a_fitted_threshold_can_be_used_again(counts, data):
    """All above the weakest kept |COR|: the kept ones less those at the cut."""
    k = data.draw(st.integers(1, counts.I0.size))
    top = keep_top(CountScores.of(counts), k, "first", NONE, np.random.default_rng(0))
    again = keep_above(CountScores.of(counts), top.threshold, NONE)
    above = [j for j, value in enumerate(scores(counts)) if value > top.event.cut]
    assert again.indices.tolist() == above


@given(counts=class_counts(least=3), data=st.data())
def test_columns_always_kept_compete_with_nobody(counts, data):
    p = counts.I0.size
    always = np.array(sorted(data.draw(st.sets(st.integers(0, p - 1), min_size=1, max_size=p - 1))))
    free = np.setdiff1d(np.arange(p), always)
    k = data.draw(st.integers(1, free.size))
    selection = keep_top(CountScores.of(counts), k, "first", always, np.random.default_rng(0))
    alone = keep_top(CountScores.of(counts.take(free)), k, "first", NONE, np.random.default_rng(0))
    assert selection.indices.tolist() == sorted([*free[alone.indices], *always])
    assert selection.event == alone.event


@given(counts=class_counts())
def test_preselected_columns_are_all_kept(counts):
    p = counts.I0.size
    selection = keep_preselected(CountScores.of(counts), p + 7, None, NONE)
    assert selection.indices.tolist() == list(range(p))
    assert (selection.n_features, selection.n_omitted, selection.ties) == (p + 7, 7, "random")
    weakest = min(scores(counts))
    assert selection.event == Event(weakest, n_lottery=7, n_kept_ties=scores(counts).count(weakest))


def test_random_ties_are_fair_and_seeded():
    counts = ClassCounts(np.array([0, 1, 0, 1, 0]), np.array([4, 4, 4, 4, 4]), 4, 4)
    kept = [
        tuple(keep_top(CountScores.of(counts), 4, "random", NONE, np.random.default_rng(s)).indices)
        for s in range(400)
    ]
    assert set(kept) == {(0, 1, 2, 4), (0, 2, 3, 4)}
    assert 150 < kept.count((0, 1, 2, 4)) < 250
    again = keep_top(CountScores.of(counts), 4, "random", NONE, np.random.default_rng(3)).indices
    assert tuple(again) == kept[3]


def test_one_million_tied_columns_are_quick_to_rank():
    counts = ClassCounts(np.zeros(10**6, np.uint8), np.full(10**6, 50, np.uint8), 100, 100)
    selection = keep_top(CountScores.of(counts), 10, "first", NONE, np.random.default_rng(0))
    assert selection.indices.tolist() == list(range(10))
    assert (selection.event.n_below, selection.event.n_at_most) == (0, 10**6 - 10)


def test_repr_tells_what_happened():
    counts = ClassCounts(np.array([0, 1, 2]), np.array([2, 1, 2]), 2, 2)
    assert repr(keep_all(CountScores.of(counts))) == "Selection(3 of 3 features kept)"
    top = keep_top(CountScores.of(counts), 1, "first", NONE, np.random.default_rng(0))
    assert repr(top) == "Selection(1 of 3 features kept: top k, ties first, weakest |COR| = 1)"
    assert (
        repr(keep_above(CountScores.of(counts), 0.25, NONE))
        == "Selection(1 of 3 features kept: |COR| > 0.25)"
    )
    with pytest.raises(AttributeError):
        top.threshold = 0.5


# The event


def test_the_empty_event_is_certain_whatever_the_probabilities():
    minus_inf = np.array([-np.inf, -1.0])
    np.testing.assert_array_equal(Event().log_prob(minus_inf, minus_inf), [0.0, 0.0])


def test_zero_counts_contribute_nothing_even_against_minus_infinity():
    event = Event(n_below=0, n_at_most=2)
    assert event.log_prob(np.array(-np.inf), np.array(-0.5)) == -1.0
    assert Event(n_below=3).log_prob(np.array(-0.5), np.array(-np.inf)) == -1.5


def lottery_by_enumeration(tied, t, n_omitted):
    return sum(
        comb(n_omitted, r) * tied**r * (1 - tied) ** (n_omitted - r) / comb(t + r, t)
        for r in range(n_omitted + 1)
    )


@given(tied=st.floats(1e-6, 1.0), t=st.integers(1, 40), n_omitted=st.integers(1, 60))
def test_lottery_is_the_mean_over_the_unknown_number_of_ties(tied, t, n_omitted):
    expected = lottery_by_enumeration(tied, t, n_omitted)
    ours = np.exp(log_lottery(np.array([tied]), t, n_omitted))[0]
    assert ours == pytest.approx(expected, rel=1e-11)


@pytest.mark.parametrize("tied", [1e-9, 1e-6, 3e-5, 1e-3, 0.2])
@pytest.mark.parametrize("t", [1, 7, 300])
def test_lottery_among_ten_million(tied, t):
    """The integral of the docstring, on a log scale around its peak."""
    n_omitted = 10**7

    def log_f(s):
        return (t - 1) * np.log(s) + n_omitted * np.log1p(-s * tied)

    peak = min(1.0, max((t - 1) / (tied * (n_omitted + t - 1)), 1e-12))
    width = min(1 / t, np.sqrt(t) / (tied * n_omitted))
    points = sorted({min(1.0, max(1e-300, peak + j * width)) for j in range(-40, 41)} | {0.0, 1.0})
    pieces = [
        quad(lambda s: np.exp(log_f(s) - log_f(peak)), a, b, epsabs=0, epsrel=1e-12)[0]
        for a, b in pairwise(points)
    ]
    expected = np.log(t) + np.log(sum(pieces)) + log_f(peak)
    assert log_lottery(np.array([tied]), t, n_omitted)[0] == pytest.approx(expected, abs=1e-7)


def test_lottery_where_betas_underflow():
    """5000 kept at the cut against 10 omitted: an omitted tie hardly ever wins a place."""
    ours = np.exp(log_lottery(np.array([0.6, 1e-300, 0.0]), 5000, 10))
    np.testing.assert_allclose(ours, [lottery_by_enumeration(0.6, 5000, 10), 1.0, 1.0], rtol=1e-10)
