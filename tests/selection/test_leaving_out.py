"""Taking cases off says what selecting anew without them says."""

import numpy as np
import pytest

from unselected.columns import blocks
from unselected.selection.leaving_out import (
    class_scores_without,
    count_scores_without,
    line_scores_without,
)
from unselected.selection.rules import keep_above, keep_top
from unselected.selection.streaming import (
    StreamingSelection,
    class_scores,
    count_scores,
    line_scores,
)
from unselected.statistics.leaving_out import LeftOut

NONE = np.array([], dtype=int)
LABEL = "column {}".format
N, P = 20, 90


@pytest.fixture(params=["one block", "small blocks"], autouse=True)
def _blocks(request, monkeypatch):
    if request.param == "small blocks":
        monkeypatch.setattr(blocks, "_WIDE_BYTES", 0)


FOLD_OF = np.random.default_rng(5).permutation(N) % 5
SETS = {
    "each case": LeftOut.each_of(N),
    "folds": [LeftOut.rows(np.flatnonzero(FOLD_OF == fold), N) for fold in range(5)],
}


def assert_same(ours, anew, select):
    selections = select(ours), select(anew)
    np.testing.assert_array_equal(selections[0].indices, selections[1].indices)
    kept = selections[1].indices
    np.testing.assert_allclose(ours.values(kept), anew.values(kept), rtol=1e-12)
    events = [selection.event for selection in selections]
    if hasattr(events[0], "nu"):
        assert events[0].cut == pytest.approx(events[1].cut, rel=1e-12)
        np.testing.assert_array_equal(events[0].n_features, events[1].n_features)
        np.testing.assert_allclose(events[0].lam, events[1].lam, rtol=1e-12)
        np.testing.assert_array_equal(events[0].nu, events[1].nu)
    else:
        assert events[0] == events[1]


def rules(statistic):
    always = np.array([3, 60])
    gamma = 2.0 if statistic == "F" else 0.3
    for chosen, ties in ((NONE, "first"), (always, "random")):
        yield (
            lambda chosen=chosen: StreamingSelection(k=7, always=chosen),
            lambda s, chosen=chosen, ties=ties: keep_top(
                s, 7, ties, chosen, np.random.default_rng(0)
            ),
        )
    yield (
        lambda: StreamingSelection(gamma=gamma, always=always),
        lambda s: keep_above(s, gamma, always),
    )


@pytest.mark.parametrize("sets", SETS)
@pytest.mark.parametrize(
    ("kind", "binarize"),
    [
        ("bits", "auto"),
        ("booleans", "median"),
        ("counts", "auto"),
        ("counts", 0.5),
        ("mixed", "auto"),
        ("mixed", "median"),
        ("numbers", "median"),
        ("numbers", 0.5),
    ],
)
def test_counts_without_cases_are_those_of_the_others(kind, binarize, sets, seed):
    rng = np.random.default_rng(seed)
    X = (rng.random((N, P)) < rng.random(P)).astype(float)
    if kind in ("counts", "mixed"):
        X[:, :: 1 if kind == "counts" else 3] += rng.poisson(1.0, size=X.shape)[
            :, :: 1 if kind == "counts" else 3
        ]
    X[:, 7], X[5, 7], X[:, 8], X[6, 8] = 0, 2, 1, 0
    if kind == "numbers":
        X = rng.normal(size=(N, P))
    if kind == "booleans":
        X = X > 0
    y = rng.permutation(np.arange(N) % 2)
    for stream, select in rules("|COR|"):
        each = count_scores_without(X, y, binarize, LABEL, SETS[sets], stream)
        for left, ours in zip(SETS[sets], each, strict=True):
            rest = (X[left.kept], y[left.kept])
            anew = count_scores(*rest, binarize, LABEL, stream())
            assert_same(ours, anew, select)
            kept = select(anew).indices
            np.testing.assert_array_equal(ours.take(kept).cuts, anew.take(kept).cuts)


def numbers(rng, kind):
    X = rng.normal(size=(N, P))
    if kind == "missing":
        X[rng.random(X.shape) < 0.1] = np.nan
    if kind == "odd":  # constant but for one case, far out in one case, far from zero
        X[:, :5], X[3, 2], X[0, 3] = 1.0, 2.0, 5.0
        X[4, 10:20] += 1e6
        X[:, 30:40] += 1e7
        X[:, 50] = X[:, 40]
    return X


@pytest.mark.parametrize("sets", SETS)
@pytest.mark.parametrize(
    ("kind", "response"),
    [
        ("plain", 3),
        ("missing", 2),
        ("missing", 3),
        ("missing", "line"),
        ("odd", 2),
        ("odd", "line"),
    ],
)
def test_moments_without_cases_are_those_of_the_others(kind, response, sets, seed):
    rng = np.random.default_rng(seed)
    X = numbers(rng, kind)
    line = response == "line"
    y = rng.normal(size=N) if line else rng.permutation(np.arange(N) % response)
    for stream, select in rules("F" if response == 3 else "|COR|"):
        if line:
            each = line_scores_without(X, y, LABEL, SETS[sets], stream)
        else:
            each = class_scores_without(X, y, response, LABEL, SETS[sets], stream)
        for left, ours in zip(SETS[sets], each, strict=True):
            rest = X[left.kept], y[left.kept]
            anew = (
                line_scores(*rest, LABEL, stream())
                if line
                else class_scores(*rest, response, LABEL, stream())
            )
            assert_same(ours, anew, select)


def test_forgetting_to_select_anew_would_be_caught(seed):
    """A wrong twin: the scores of all cases, for a set that leaves some out."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(N, P)), np.arange(N) % 2
    stream, select = next(iter(rules("|COR|")))
    whole = class_scores(X, y, 2, LABEL, stream())
    caught = 0
    for left in SETS["each case"]:
        anew = class_scores(X[left.kept], y[left.kept], 2, LABEL, stream())
        try:
            assert_same(whole, anew, select)
        except (AssertionError, IndexError):
            caught += 1
    assert caught == N
