from decimal import Decimal, localcontext

import hypothesis.strategies as st
import numpy as np
import oracle
import pytest
from hypothesis import given, settings

from unselected.selection.correlation import threshold_cut
from unselected.selection.count_scores import CountScores
from unselected.selection.events import Event
from unselected.selection.rules import (
    SelectionRule,
    keep_above,
    keep_all,
    keep_preselected,
    keep_top,
)
from unselected.statistics.counts import ClassCounts

NONE = np.array([], dtype=int)


@st.composite
def class_counts(draw, least=1):
    """Few cases, so that ties abound."""
    n0, n1, p = draw(st.integers(1, 5)), draw(st.integers(1, 5)), draw(st.integers(least, 12))
    I0 = draw(st.lists(st.integers(0, n0), min_size=p, max_size=p))
    I1 = draw(st.lists(st.integers(0, n1), min_size=p, max_size=p))
    return ClassCounts.of_two(np.array(I0), np.array(I1), n0, n1)


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
def test_random_event_is_a_draw_against_the_kept_ones_at_the_cut(counts, data):
    p = counts.I0.size
    k = data.draw(st.integers(1, p))
    selection = keep_top(CountScores.of(counts), k, "random", NONE, np.random.default_rng(0))
    kept = [scores(counts)[j] for j in selection.indices]
    event = Event(min(kept), n_lottery=p - k, n_kept_ties=kept.count(min(kept)))
    assert selection.event == event


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


@given(counts=class_counts(least=2), data=st.data())
def test_preselected_columns_with_some_that_did_not_compete(counts, data):
    p = counts.I0.size
    always = np.array(sorted(data.draw(st.sets(st.integers(0, p - 1), min_size=1, max_size=p - 1))))
    selection = keep_preselected(CountScores.of(counts), p + 7, None, always)
    competing = [scores(counts)[j] for j in range(p) if j not in always]
    weakest = min(competing)
    assert selection.event == Event(weakest, n_lottery=7, n_kept_ties=competing.count(weakest))
    assert selection.threshold == root_of(weakest)
    assert (selection.rule, selection.n_features, selection.n_omitted) == ("top k", p + 7, 7)


def test_preselected_columns_above_a_threshold():
    counts = ClassCounts.of_two(np.array([0, 1, 2]), np.array([2, 1, 2]), 2, 2)
    selection = keep_preselected(CountScores.of(counts), 10, 0.25, NONE)
    assert selection.indices.tolist() == [0, 1, 2]
    assert selection.event == Event(threshold_cut(0.25), n_at_most=7)
    assert (selection.threshold, selection.n_features, selection.n_omitted) == (0.25, 10, 7)
    assert (selection.rule, selection.ties, selection.statistic) == ("threshold", None, "|COR|")


def test_the_record_says_which_rule():
    counts = ClassCounts.of_two(np.array([0, 1, 2]), np.array([2, 1, 2]), 2, 2)
    everything = keep_all(CountScores.of(counts))
    assert (everything.rule, everything.n_omitted, everything.event) == ("all", 0, Event())
    assert (everything.threshold, everything.ties) == (None, None)
    above = keep_above(CountScores.of(counts), 0.25, np.array([2]))
    assert (above.indices.tolist(), above.rule, above.n_omitted) == ([0, 2], "threshold", 1)
    top = keep_top(CountScores.of(counts), 1, "random", NONE, np.random.default_rng(0))
    assert (top.rule, top.ties, top.n_features) == ("top k", "random", 3)


def rule(**options):
    given = {"k": None, "gamma": None, "always": NONE, "n_before": None, "ties": "first"}
    return SelectionRule(**(given | options), seeds=np.array([5]))


def test_a_rule_does_what_it_was_asked_for():
    counts = ClassCounts.of_two(np.array([0, 1, 2, 0]), np.array([4, 4, 4, 4]), 4, 4)
    everyone = CountScores.of(counts)
    assert rule().select(everyone).rule == "all"
    assert rule(k=1).select(everyone).indices.tolist() == [0]
    assert rule(k=1, always=np.array([2])).select(everyone).indices.tolist() == [0, 2]
    assert rule(gamma=0.6).select(everyone).indices.tolist() == [0, 1, 3]
    assert rule(n_before=9).select(everyone).n_omitted == 5
    assert rule(n_before=9, gamma=0.1).select(everyone).threshold == 0.1
    drawn = [rule(k=1, ties="random").select(everyone).indices.tolist() for _ in range(9)]
    assert drawn == [drawn[0]] * 9  # the same seeds, the same draw


def test_columns_without_a_score_are_kept_by_no_rule():
    """Columns 1 and 4 are unknown in a class; 0, 2 and 3 have scores."""
    known = np.array([[4, 0, 4, 4, 4], [4, 4, 4, 3, 0]])
    ones = np.array([[0, 0, 1, 2, 3], [4, 4, 4, 3, 0]])
    scores = CountScores.of(ClassCounts(ones, np.array([4, 4]), known))
    assert scores.unscored.columns.tolist() == [1, 4]

    def kept(**options):
        selection = rule(**options).select(scores)
        assert selection.unscored.tolist() == [1, 4]
        return selection.rule, selection.indices.tolist(), selection.event.n_omitted

    assert kept(k=1) == ("top k", [0], 2)
    assert kept(k=1, always=np.array([1, 3])) == ("top k", [0, 3], 1)
    assert kept(k=3) == ("top k", [0, 2, 3], 0)
    assert kept(k=4) == ("top k", [0, 2, 3], 0)  # as many as there are
    assert kept(k=2, always=np.array([0, 2, 3, 4])) == ("all", [0, 2, 3], 0)
    assert kept(gamma=0.5, always=np.array([0, 2, 3])) == ("threshold", [0, 2, 3], 0)
    assert kept() == ("all", [0, 2, 3], 0)


def test_a_rule_says_what_may_be_forgotten_on_the_way():
    stream = rule(k=3, always=np.array([1])).streaming()
    assert (stream.k, stream.gamma, stream.always.tolist()) == (3, None, [1])
    assert rule(gamma=0.5).streaming().gamma == 0.5
    before = rule(n_before=50, gamma=0.5).streaming()
    assert (before.k, before.gamma, before.always.size) == (None, None, 0)


def test_random_ties_are_fair_and_seeded():
    counts = ClassCounts.of_two(np.array([0, 1, 0, 1, 0]), np.array([4, 4, 4, 4, 4]), 4, 4)
    kept = [
        tuple(keep_top(CountScores.of(counts), 4, "random", NONE, np.random.default_rng(s)).indices)
        for s in range(400)
    ]
    assert set(kept) == {(0, 1, 2, 4), (0, 2, 3, 4)}
    assert 150 < kept.count((0, 1, 2, 4)) < 250
    again = keep_top(CountScores.of(counts), 4, "random", NONE, np.random.default_rng(3)).indices
    assert tuple(again) == kept[3]


def test_one_million_tied_columns_are_quick_to_rank():
    counts = ClassCounts.of_two(np.zeros(10**6, np.uint8), np.full(10**6, 50, np.uint8), 100, 100)
    selection = keep_top(CountScores.of(counts), 10, "first", NONE, np.random.default_rng(0))
    assert selection.indices.tolist() == list(range(10))
    assert (selection.event.n_below, selection.event.n_at_most) == (0, 10**6 - 10)


def test_repr_tells_what_happened():
    counts = ClassCounts.of_two(np.array([0, 1, 2]), np.array([2, 1, 2]), 2, 2)
    assert repr(keep_all(CountScores.of(counts))) == "Selection(3 of 3 features kept)"
    top = keep_top(CountScores.of(counts), 1, "first", NONE, np.random.default_rng(0))
    assert repr(top) == "Selection(1 of 3 features kept: top k, ties first, weakest |COR| = 1)"
    assert (
        repr(keep_above(CountScores.of(counts), 0.25, NONE))
        == "Selection(1 of 3 features kept: |COR| > 0.25)"
    )
    with pytest.raises(AttributeError):
        top.threshold = 0.5
