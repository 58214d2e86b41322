"""Sifting while the table is read changes nothing but what is remembered."""

import numpy as np
import pytest

from unselected import SelectiveBernoulliNB, SelectiveGaussianNB, SelectiveNaiveRegressor
from unselected.columns import blocks
from unselected.selection import streaming
from unselected.selection.rules import keep_above, keep_top
from unselected.selection.scores import CountScores, RealScores
from unselected.selection.streaming import (
    StreamingSelection,
    class_scores,
    count_scores,
    line_scores,
)
from unselected.statistics.counting import count_classes
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
    monkeypatch.setattr(streaming, "CLOSE", -1e-9)
    X, y = bits(seed)
    everyone = CountScores.of(count_classes(X, y, None)[0])
    scores = count_scores(X, y, None, LABEL, StreamingSelection(k=7))
    with pytest.raises((AssertionError, ValueError, IndexError)):
        assert_same_selection(
            scores, everyone, lambda s: keep_top(s, 7, "first", NONE, np.random.default_rng(1))
        )


@pytest.mark.parametrize(
    "estimator", [SelectiveBernoulliNB, SelectiveGaussianNB, SelectiveNaiveRegressor]
)
@pytest.mark.parametrize("rule", [{"k": 5}, {"threshold": 0.3}, {}, {"preselected_from": 5000}])
def test_scores_of_all_features_are_stored_when_asked_for(estimator, rule, seed):
    X, y = bits(seed)
    if estimator is SelectiveNaiveRegressor:
        y = X[:, 0] + 0.1 * np.arange(len(X))
    plain, stored = estimator(**rule).fit(X, y), estimator(**rule, store_scores=True).fit(X, y)
    assert not hasattr(plain, "feature_scores_")
    assert stored.feature_scores_.shape == (X.shape[1],)
    kept = stored.selection_.indices
    np.testing.assert_array_equal(stored.feature_scores_[kept], plain.scores_)
    np.testing.assert_array_equal(stored.predict(X[:9]), plain.predict(X[:9]))
    with np.errstate(invalid="ignore"):
        expected = np.abs(np.nan_to_num(np.corrcoef(X.T, y)[-1, :-1]))
    np.testing.assert_allclose(stored.feature_scores_, expected, atol=1e-12)
    if estimator is SelectiveBernoulliNB:
        expected = np.stack([X[y == g].sum(axis=0) for g in (0, 1)])
        np.testing.assert_array_equal(stored.feature_counts_, expected)
