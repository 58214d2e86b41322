"""The keys that break ties are those of the columns, remembered or not."""

import numpy as np
import pytest

from unselected.estimators import content_folds
from unselected.estimators.content_folds import AverageFitting, ContentKeys
from unselected.selection.leaving_out import family_scores_without
from unselected.statistics.binarizing import find_indicators
from unselected.statistics.leaving_out import LeftOut


class Counting:
    """A table that counts how often it is read."""

    def __init__(self, X):
        self.X, self.shape, self.dtype, self.n_read = X, X.shape, X.dtype, 0

    def __getitem__(self, places):
        self.n_read += 1
        return self.X[places]


def keys_of(X, y):
    everyone = LeftOut.rows(np.array([], dtype=np.intp), y.size)

    def score(stream, keys):
        return family_scores_without(X, y, 2, str, [everyone], stream, ("raw",), keys)[0][0]

    content = ContentKeys.read(X, everyone, score, find_indicators)
    table = Counting(X)
    object.__setattr__(content, "X", table)
    return content, table


@pytest.mark.parametrize("real", [False, True])
def test_remembered_keys_are_those_that_are_read(real, seed):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, 2, size=(30, 50)), np.arange(30) % 2
    if real:
        X = X + np.where(np.arange(50) % 2, 0.0, rng.normal(size=X.shape))
    content, table = keys_of(X, y)
    columns = rng.permutation(50)
    direct = content.of_columns(columns)
    content.remember(columns[:40])
    assert table.n_read == 2
    np.testing.assert_array_equal(content.of_columns(columns[5:30]), direct[5:30])
    assert table.n_read == 2
    np.testing.assert_array_equal(content.of_columns(columns[30:]), direct[30:])
    assert table.n_read == 3


def test_very_many_columns_are_not_remembered(monkeypatch):
    monkeypatch.setattr(content_folds, "_FEW_COLUMNS", 10)
    rng = np.random.default_rng(0)
    content, table = keys_of(rng.integers(0, 2, size=(30, 50)), np.arange(30) % 2)
    content.remember(np.arange(11))
    assert table.n_read == 0
    assert content.of_columns(np.arange(50)).size == 50


def test_the_strongest_columns_are_those_with_the_largest_scores(monkeypatch, seed):
    monkeypatch.setattr(content_folds, "_SOME_MORE", 3)
    rng = np.random.default_rng(seed)
    content, _ = keys_of(rng.normal(size=(30, 50)), np.arange(30) % 2)
    rough = content.scores.rough
    strongest = content.strongest(4)
    assert strongest.size == 11
    assert set(strongest.tolist()) == set(np.argsort(-rough)[:11].tolist())
    assert content.strongest(None) is None
    assert content.strongest(1000).size == 50


def test_the_values_of_the_strongest_columns(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(40, 30)), np.arange(40) % 2
    X[:, [3, 17, 21]] += 5.0 * y[:, np.newaxis]
    X[:, 8] = X[:, 3]
    content, _ = keys_of(X, y)
    known = content.values
    np.testing.assert_array_equal(content.strongest_values(31), known)
    some = content.strongest_values(5).T.tolist()  # one less: none is strictly above the fifth
    assert sorted(some) == sorted(X[:, [3, 8, 17, 21]].T.tolist())
    copies, _ = keys_of(np.repeat(X[:, :1], 7, axis=1), y)
    assert copies.strongest_values(3).shape == (40, 7)  # all tie


def test_cases_of_a_group_count_as_one_together():
    fitting, n = AverageFitting(), 12
    left = LeftOut.rows(np.array([0, 1]), n)
    fitting.groups = None
    assert fitting.case_weight(left, 3) == pytest.approx(1 / 3)
    fitting.groups = np.arange(n)
    assert fitting.case_weight(left, 3) == pytest.approx(1 / 3)
    fitting.groups = np.arange(n) // 2  # five of the six groups are left
    assert fitting.case_weight(left, 3) == pytest.approx(1 / 6)
