"""Sifting while the table is read changes nothing but what is remembered."""

import numpy as np
import pytest

from unselected.columns import blocks
from unselected.columns.subset import ColumnSubset
from unselected.selection import streaming
from unselected.selection.count_score import Explained
from unselected.selection.count_scores import CountScores
from unselected.selection.real_scores import RealScores
from unselected.selection.rules import keep_above, keep_top
from unselected.selection.streaming import (
    Accumulator,
    StreamingSelection,
    class_scores,
    count_scores,
    line_scores,
)
from unselected.statistics.counting import count_classes
from unselected.statistics.counts import ClassCounts, Counted
from unselected.statistics.summing import class_moments, line_moments

NONE = np.array([], dtype=int)
LABEL = "column {}".format


@pytest.fixture(params=["one block", "small blocks", "small blocks, nobody waits"])
def _blocks(request, monkeypatch):
    if request.param != "one block":
        monkeypatch.setattr(blocks, "_ROW_BYTES", 7)
        monkeypatch.setattr(blocks, "_COPY_BYTES", 0)
    if request.param == "small blocks, nobody waits":
        monkeypatch.setattr(streaming, "_WAITING", 0)


def bits(seed):
    rng = np.random.default_rng(seed)
    X = (rng.random((21, 700)) < rng.random(700)).astype(np.uint8)
    X[:, 300:330], X[:, 5] = X[:, [10]], 1
    return X, rng.permutation(np.arange(21) % 2)


def reals(seed, missing):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, 700))
    if missing:
        X[rng.random(X.shape) < 0.05] = np.nan
    X[:, 20], X[:, 600] = 1.0, X[:, 100]
    return X, rng.permutation(np.arange(30) % 3)


def assert_same_selection(scores, everyone, rule):
    sifted, plain = rule(scores), rule(everyone)
    np.testing.assert_array_equal(sifted.indices, plain.indices)
    assert repr(sifted) == repr(plain)
    events = sifted.event, plain.event
    if hasattr(plain.event, "nu"):
        for name in ("cut", "lam", "nu", "n_features"):
            first, second = (getattr(event, name) for event in events)
            np.testing.assert_array_equal(first, second)
    else:
        assert events[0] == events[1]
    values = scores.values(plain.indices)
    np.testing.assert_array_equal(values, everyone.values(plain.indices))


@pytest.mark.usefixtures("_blocks")
@pytest.mark.parametrize("always", [NONE, np.array([5, 300, 310, 699])])
@pytest.mark.parametrize("k", [1, 7, 40, 600])
@pytest.mark.parametrize("ties", ["first", "random"])
def test_the_best_counts_are_found_in_any_blocks(k, ties, always, seed):
    X, y = bits(seed)
    everyone = CountScores.of(count_classes(X, y, None)[0])
    scores = count_scores(X, y, None, LABEL, StreamingSelection(k=k, always=always))
    assert_same_selection(
        scores, everyone, lambda s: keep_top(s, k, ties, always, np.random.default_rng(1))
    )


@pytest.mark.usefixtures("_blocks")
@pytest.mark.parametrize("always", [NONE, np.array([5, 300, 699])])
@pytest.mark.parametrize("gamma", [0.0, 0.3, 3 / 7, 1.0])
def test_counts_above_a_threshold_are_found_in_any_blocks(gamma, always, seed):
    X, y = bits(seed)
    everyone = CountScores.of(count_classes(X, y, None)[0])
    scores = count_scores(X, y, None, LABEL, StreamingSelection(gamma=gamma, always=always))
    assert_same_selection(scores, everyone, lambda s: keep_above(s, gamma, always))
    assert scores.subset.columns.size == keep_above(everyone, gamma, always).indices.size


@pytest.mark.usefixtures("_blocks")
@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("always", [NONE, np.array([20, 100, 699])])
@pytest.mark.parametrize("rule", [1, 33, 2.5])
def test_the_best_real_columns_are_found_in_any_blocks(rule, always, missing, seed):
    X, y = reals(seed, missing)
    top = isinstance(rule, int)

    def select(scores):
        if top:
            return keep_top(scores, rule, "first", always, np.random.default_rng(0))
        return keep_above(scores, rule / (1 if scores.statistic == "F" else 10), always)

    for response in (y, X[:, 0], y % 2):
        line = response.dtype.kind == "f"
        if line:
            response = np.nan_to_num(response)
        gamma = None if top else rule / (1 if response.max() == 2 and not line else 10)
        stream = StreamingSelection(rule if top else None, gamma, always)
        if line:
            everyone = RealScores.of(line_moments(X, response))
            scores = line_scores(X, response, LABEL, stream)
        else:
            G = int(response.max()) + 1
            everyone = RealScores.of(class_moments(X, response, G))
            scores = class_scores(X, response, G, LABEL, stream)
        assert_same_selection(scores, everyone, select)


def test_few_columns_are_remembered_of_many(monkeypatch):
    """Even where each block is better than all before it."""
    monkeypatch.setattr(blocks, "_COPY_BYTES", 0)
    monkeypatch.setattr(streaming, "_WAITING", 0)
    rng = np.random.default_rng(0)
    y = np.arange(30) % 2
    X = rng.normal(size=(30, 20_000)) + y[:, np.newaxis] * np.linspace(0, 3, 20_000)
    seen = []
    united = RealScores.united

    def counting(parts):
        seen.append(sum(part.subset.columns.size for part in parts))
        return united(parts)

    monkeypatch.setattr(RealScores, "united", staticmethod(counting))
    scores = class_scores(X, y, 2, LABEL, StreamingSelection(k=10))
    assert scores.subset.columns.size == 10
    assert scores.size == 20_000
    assert max(seen) < 200


def test_a_contest_without_ties_would_be_caught(monkeypatch, seed):
    """A wrong twin: sifting that drops who equals the k-th best loses features."""
    monkeypatch.setattr(blocks, "_ROW_BYTES", 7)
    X, y = bits(seed)
    everyone = CountScores.of(count_classes(X, y, None)[0])
    with monkeypatch.context() as patch:
        patch.setattr(Explained, "close", -1e-9)
        scores = count_scores(X, y, None, LABEL, StreamingSelection(k=7))
    with pytest.raises((AssertionError, ValueError, IndexError)):
        assert_same_selection(
            scores, everyone, lambda s: keep_top(s, 7, "first", NONE, np.random.default_rng(1))
        )


# The rule and the waiting parts, one by one


def part(columns, ones):
    """Scores of columns with so many ones, all in class 1: the more, the better."""
    ones = np.array(ones)
    counts = ClassCounts.of_two(np.zeros_like(ones), ones, 10, 10)
    subset = ColumnSubset(np.array(columns), 100)
    return CountScores.of_part(Counted(counts, np.full(ones.size, np.nan)), subset, by_total=False)


def square(ones):
    return CountScores.of(ClassCounts.of_two(np.array([0]), np.array([ones]), 10, 10)).rough[0]


def test_without_a_rule_everyone_stays():
    scores = part([0, 1], [1, 2])
    assert StreamingSelection().filter(scores) is scores
    assert StreamingSelection().n_best is None


def test_how_many_of_the_best_are_enough():
    assert StreamingSelection(k=3).n_best == 3
    assert StreamingSelection(gamma=0.3).n_best is None
    assert StreamingSelection(k=3, gamma=0.3).n_best is None
    assert StreamingSelection(k=3, always=np.array([7])).n_best is None


def test_what_is_learned_is_the_kth_best_of_those_that_compete():
    stream = StreamingSelection(k=2)
    stream.learn(part([0], [5]))
    assert stream.bound == -np.inf  # one is fewer than two
    stream.learn(part([0, 1], [5, 3]))
    assert stream.bound == square(3)
    stream.learn(part([2, 3, 4], [2, 1, 1]))
    assert stream.bound == square(3)  # never less
    exempt = StreamingSelection(k=2, always=np.array([0]))
    exempt.learn(part([0, 1, 2, 3], [9, 5, 4, 1]))
    assert exempt.bound == square(4)
    threshold = StreamingSelection(gamma=0.3)
    threshold.learn(part([0, 1], [5, 3]))
    assert threshold.bound == -np.inf


def test_a_bound_from_elsewhere_is_used():
    stream = StreamingSelection(k=2, always=np.array([6]), bound=square(4))
    stay = stream.filter(part([1, 2, 3, 5, 6, 7], [3, 4, 1, 9, 0, 2]))
    assert stay.subset.columns.tolist() == [2, 5, 6]
    assert stream.filter(part([8, 9, 10], [3, 2, 1])).subset.columns.size == 0
    fresh = StreamingSelection(k=2)
    assert fresh.filter(part([8, 9, 10], [3, 2, 1])).subset.columns.tolist() == [8, 9]


def test_parts_wait_until_they_are_too_many(monkeypatch):
    monkeypatch.setattr(streaming, "_WAITING", 3)
    stream = StreamingSelection(k=2)
    waiting = Accumulator(stream, CountScores.united)
    waiting.add(part([0, 1, 2, 3], [1, 2, 3, 4]))  # the first is looked at at once
    assert (len(waiting._parts), waiting._waiting, waiting._most) == (1, 2, 7)
    assert stream.bound == square(3)
    waiting.add(part([4, 5, 6, 7, 8], [5] * 5))  # seven wait, which may
    assert (len(waiting._parts), waiting._waiting) == (2, 7)
    waiting.add(part([9], [6]))  # eight are too many; six are tied for the second place or above
    assert (len(waiting._parts), waiting._waiting, waiting._most) == (1, 6, 12)
    assert stream.bound == square(5)
    waiting.add(part([10, 11], [7, 7]))
    assert waiting.result().subset.columns.tolist() == [10, 11]


def test_with_a_threshold_parts_wait_for_the_end():
    waiting = Accumulator(StreamingSelection(gamma=0.3), CountScores.united)
    waiting.add(part([0, 1], [5, 6]))
    waiting.add(part([2], [7]))
    assert (len(waiting._parts), waiting._most) == (2, np.inf)
    assert waiting.result().subset.columns.tolist() == [0, 1, 2]
