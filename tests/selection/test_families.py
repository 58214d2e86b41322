"""One selection over binary and real-valued columns, and one event for each family."""

import numpy as np
import pytest

from unselected.columns.content_keys import column_keys, row_keys
from unselected.selection.leaving_out import family_scores_without
from unselected.selection.rules import SelectionRule, keep_above, keep_all, keep_top
from unselected.selection.streaming import StreamingSelection
from unselected.statistics.leaving_out import LeftOut

NOTHING = np.array([], dtype=np.intp)
N = 30


def mixed_table(seed, p=80, missing=0.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, p))
    X[:, ::2] = rng.random((N, p // 2)) < rng.random(p // 2)
    X[rng.random(X.shape) < missing] = np.nan
    return X


def explained(x, y):
    """Return R^2 of a column with classes, by definition."""
    known = ~np.isnan(x)
    x, y = x[known], y[known]
    total = np.sum((x - x.mean()) ** 2)
    within = sum(np.sum((x[y == g] - x[y == g].mean()) ** 2) for g in np.unique(y))
    return 0.0 if total == 0.0 else max(0.0, 1.0 - within / total)


def scores_of(X, y, stream=StreamingSelection, marginals=("raw",), sets=None):
    sets = sets or [LeftOut.rows(NOTHING, len(y))]
    keys = row_keys(X)
    return family_scores_without(
        X,
        y,
        int(y.max()) + 1,
        str,
        sets,
        stream,
        marginals,
        lambda columns: column_keys(X[:, columns], keys),
    )


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("seed", range(3))
def test_columns_of_both_families_compete_by_the_variance_that_classes_explain(n_classes, seed):
    X, y = mixed_table(seed), np.arange(N) % n_classes
    scores = scores_of(X, y)[0][0]
    expected = np.array([explained(column, y) for column in X.T])
    np.testing.assert_allclose(scores.rough, expected, atol=1e-12)
    selection = keep_top(scores, 11, "first", NOTHING, np.random.default_rng(0))
    assert expected[selection.indices].min() >= np.sort(expected)[-11] - 1e-12
    event = selection.event
    n_binary = int(scores.of_binary(selection.indices).sum())
    assert event.binary.n_omitted == 40 - n_binary
    assert event.real.n_omitted == 40 - (11 - n_binary)
    assert event.n_omitted == 69
    assert event.emptied().n_omitted == 0


@pytest.mark.parametrize("seed", range(3))
def test_streaming_and_all_scores_select_the_same(seed):
    X, y = mixed_table(seed, p=400, missing=0.02), np.arange(N) % 2
    rule = SelectionRule(9, None, np.array([3]), None, "first", np.zeros(1, dtype=np.int64))
    whole = rule.select(scores_of(X, y)[0][0])
    streamed = rule.select(scores_of(X, y, rule.streaming)[0][0])
    np.testing.assert_array_equal(streamed.indices, whole.indices)
    assert 3 in whole.indices
    assert streamed.event.n_omitted == whole.event.n_omitted


def test_sets_and_marginals_come_in_order_of_marginals_and_sets():
    X, y = mixed_table(0), np.arange(N) % 2
    sets = [LeftOut.rows(NOTHING, N), LeftOut.rows(np.arange(6), N)]
    raw, normal = scores_of(X, y, marginals=("raw", "normal"), sets=sets)
    rest = X[6:], y[6:]
    np.testing.assert_allclose(raw[1].rough, scores_of(*rest)[0][0].rough, atol=1e-12)
    alone = scores_of(*rest, marginals=("normal",))[0][0]
    np.testing.assert_allclose(normal[1].rough, alone.rough, atol=1e-12)
    assert np.abs(normal[0].real.rough - raw[0].real.rough).max() > 0.01
    np.testing.assert_array_equal(normal[0].binary.rough, raw[0].binary.rough)


def test_a_threshold_cuts_both_families():
    X, y = mixed_table(1), np.arange(N) % 2
    scores = scores_of(X, y)[0][0]
    selection = keep_above(scores, 0.3, NOTHING)
    expected = np.sqrt([explained(column, y) for column in X.T])
    np.testing.assert_array_equal(selection.indices, np.flatnonzero(expected > 0.3))
    assert keep_all(scores).event.n_omitted == 0


def test_columns_of_one_kind_are_one_family():
    X, y = mixed_table(2), np.arange(N) % 2
    assert scores_of(X[:, ::2], y)[0][0].real is None
    assert scores_of(X[:, 1::2], y)[0][0].binary is None


def test_ties_do_not_depend_on_the_order_of_columns():
    rng = np.random.default_rng(0)
    y = np.arange(N) % 2
    X = np.repeat(rng.integers(0, 2, (N, 6)), 4, axis=1)
    X = np.hstack([X, rng.permuted(X, axis=0)])
    order = rng.permutation(X.shape[1])
    kept = []
    for table in (X, X[:, order]):
        scores = scores_of(table, y)[0][0]
        chosen = keep_top(scores, 6, "first", NOTHING, rng).indices
        kept.append(np.sort(np.sum(table[:, chosen] * np.arange(1, N + 1)[:, None] ** 2, axis=0)))
    np.testing.assert_array_equal(*kept)


def test_unseen_columns_must_be_of_one_family():
    scores = scores_of(mixed_table(0), np.arange(N) % 2)[0][0]
    with pytest.raises(ValueError, match="preselected_from needs columns of one kind"):
        scores.event_before(0.2, NOTHING, 10)
