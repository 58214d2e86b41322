"""Scores against plain loops over the columns: numpy's correlations and scipy's F."""

import numpy as np
import oracle
import pytest
from scipy import stats

from unselected.columns.subset import ColumnSubset
from unselected.selection.correlation import threshold_cut
from unselected.selection.count_scores import CountScores
from unselected.selection.events import Event
from unselected.selection.real_scores import RealScores
from unselected.statistics.counts import ClassCounts, Counted
from unselected.statistics.summing import class_moments, line_moments

NONE = np.array([], dtype=int)
KINDS = ["two classes", "three classes", "line"]


def table(kind, missing, seed=0):
    """24 cases, 40 columns, of which one is constant, two are equal and one is constant but for
    the missing values."""
    rng = np.random.default_rng(seed)
    n = 24
    y = rng.normal(size=n) if kind == "line" else rng.permutation(np.arange(n) % KINDS_OF[kind])
    X = rng.normal(size=(n, 40)) + np.outer(y, np.linspace(-1.0, 1.0, 40))
    X *= 1e-3  # no sum of squares is near 1
    X[:, 7], X[:, 30] = 2.5, X[:, 11]
    if missing:
        X[:3, 3], X[2:5, 12:15], X[5, 20], X[1, 7] = np.nan, np.nan, np.nan, np.nan
    return X, y


KINDS_OF = {"two classes": 2, "three classes": 3}


def scored(kind, X, y):
    if kind == "line":
        return RealScores.of(line_moments(X, y))
    return RealScores.of(class_moments(X, y, KINDS_OF[kind]))


def plain_score(kind, x, y):
    known = ~np.isnan(x)
    x, y = x[known], y[known]
    if np.ptp(x) == 0.0:
        return 0.0
    if kind == "three classes":
        return stats.f_oneway(*(x[y == g] for g in range(3))).statistic
    return abs(np.corrcoef(x, y)[0, 1])


def pattern_of(kind, x, y):
    """lam and nu of a column, from its known values."""
    known = ~np.isnan(x)
    if kind == "line":
        return known.sum() - 2, [np.sum((y[known] - y[known].mean()) ** 2) / y.var()]
    codes = np.eye(KINDS_OF[kind])[y[known]]
    codes -= codes.mean(axis=0)
    nonzero = np.linalg.eigvalsh(codes @ codes.T)[-(codes.shape[1] - 1) :]
    return known.sum() - codes.shape[1], nonzero.tolist()


def assert_speaks_of(event, kind, X, y, omitted):
    """The event's patterns are those of complete columns and of the omitted ones that vary."""
    expected = {}
    for j in omitted:
        if plain_score(kind, X[:, j], y) > 0.0:
            nu, lam = pattern_of(kind, X[:, j], y)
            key = (int(nu), *np.round(lam, 8))
            expected[key] = expected.get(key, 0) + 1
    nu, lam = pattern_of(kind, np.zeros(len(y)), y)
    first = (int(nu), *np.round(lam, 8))
    expected.setdefault(first, 0)
    found = [(int(nu), *np.round(lam, 8)) for nu, lam in zip(event.nu, event.lam, strict=True)]
    assert found[0] == first
    assert dict(zip(found, event.n_features.tolist(), strict=True)) == expected


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_real_scores_are_the_plain_ones(kind, missing):
    X, y = table(kind, missing)
    scores = scored(kind, X, y)
    plain = np.array([plain_score(kind, x, y) for x in X.T])
    assert (scores.size, scores.statistic) == (40, "F" if kind == "three classes" else "|COR|")
    np.testing.assert_allclose(scores.rough, plain, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(scores.values(np.array([20, 3])), plain[[20, 3]], rtol=1e-10)
    cut = np.sort(plain)[25]
    np.testing.assert_array_equal(scores.above(cut * (1 + 1e-9)), np.flatnonzero(plain > cut))
    bound = scores.rough[4]
    np.testing.assert_array_equal(scores.at_least(bound), scores.rough >= bound)
    assert scores.at_least(bound)[4]
    assert 4 not in scores.above(bound)


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_real_events_speak_of_what_was_left_out_and_varies(kind, missing):
    X, y = table(kind, missing)
    scores = scored(kind, X, y)
    everyone = np.arange(40)
    kept = np.array([0, 3, 7, 11, 12, 20, 39])
    omitted = np.setdiff1d(everyone, kept)
    event = scores.event_above(0.25, kept)
    assert (event.cut, event.statistic) == (0.25, scores.statistic)
    assert_speaks_of(event, kind, X, y, omitted)
    by_rank = scores.event_by_rank(np.array([20, 3]), kept, False)
    assert by_rank.cut == scores.values(np.array([20]))[0]
    assert_speaks_of(by_rank, kind, X, y, omitted)
    # At a cut of 0 the event would be impossible: it says nothing.
    assert_speaks_of(scores.event_above(0.0, kept), kind, X, y, [])
    nothing = scores.nothing_omitted()
    assert nothing.cut is None
    assert_speaks_of(nothing, kind, X, y, [])


@pytest.mark.parametrize("kind", KINDS)
def test_real_columns_that_were_never_seen_are_complete(kind):
    X, y = table(kind, True)
    scores = scored(kind, X, y)
    event = scores.event_before(None, np.array([5, 2]), 100)
    assert event.cut == scores.values(np.array([5]))[0]
    assert (event.n_features.tolist(), event.nu.size) == ([100], 1)
    assert event.nu[0] == pattern_of(kind, np.zeros(24), y)[0]
    assert scores.event_before(0.5, NONE, 100).cut == 0.5


@pytest.mark.parametrize("always", [NONE, np.array([0, 39])])
@pytest.mark.parametrize("kind", KINDS)
def test_real_scores_are_split_at_the_kth(kind, always):
    X, y = table(kind, False)
    scores = scored(kind, X, y)
    competing = np.setdiff1d(np.arange(40), always)
    order = competing[np.argsort(-scores.rough[competing], kind="stable")]
    equal = int(np.flatnonzero(np.isin(order, [11, 30]))[0])  # two equal columns
    for k in (1, 5, competing.size):
        above, at_cut = scores.split_at_rank(k, always)
        if order[k - 1] not in (11, 30):
            assert sorted(above.tolist()) == sorted(order[: k - 1].tolist())
            assert at_cut.tolist() == [order[k - 1]]
    for k in (equal + 1, equal + 2):
        above, at_cut = scores.split_at_rank(k, always)
        assert sorted(above.tolist()) == sorted(order[:equal].tolist())
        assert at_cut.tolist() == [11, 30]


def test_columns_that_separate_the_classes_have_the_largest_f():
    """F = infinity is a finite number, so that ranks and events can do with it."""
    y = np.arange(12) % 3
    X = np.column_stack([y.astype(float), np.ones(12), np.random.default_rng(0).normal(size=12)])
    rough = scored("three classes", X, y).rough
    assert rough[0] == np.finfo(np.float64).max
    assert rough[1] == 0.0
    assert rough[2] == pytest.approx(plain_score("three classes", X[:, 2], y))


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_real_scores_of_parts_are_those_of_the_whole(kind, missing):
    """Parts in any order, each with the patterns of its own columns only."""
    X, y = table(kind, missing)
    whole = scored(kind, X, y)
    pieces = [np.arange(16, 40), np.arange(4, 16), np.arange(4)]
    parts = []
    for columns in pieces:
        part = scored(kind, X[:, columns], y)
        parts.append(RealScores.of(part.moments, ColumnSubset(columns, 40)))
    united = RealScores.united(parts)
    np.testing.assert_array_equal(united.subset.columns, np.arange(40))
    np.testing.assert_allclose(united.rough, whole.rough, rtol=1e-12)
    kept = np.array([1, 3, 14])
    assert_speaks_of(united.event_above(0.2, kept), kind, X, y, np.setdiff1d(np.arange(40), kept))
    few = united.stay(np.array([3, 14, 20]))
    assert (few.size, few.subset.columns.tolist()) == (40, [3, 14, 20])
    np.testing.assert_allclose(few.values(np.array([14])), whole.values(np.array([14])))
    only = np.array([3, 20])
    omitted = np.setdiff1d(np.arange(40), only)
    assert_speaks_of(few.event_above(0.2, only), kind, X, y, omitted)
    assert few.take(only).size == 2


def test_a_single_part_is_the_whole():
    X, y = table("three classes", True)
    whole = scored("three classes", X, y)
    united = RealScores.united([whole])
    np.testing.assert_array_equal(united.rough, whole.rough)
    assert united.size == 40
    c = CountScores.of(counts(0, 6))
    alone = CountScores.united([c])
    assert (alone.size, alone.counts.n0, alone.counts.n1) == (6, 4, 5)
    np.testing.assert_array_equal(alone.rough, c.rough)


# Counts


def counts(seed, p, n0=4, n1=5):
    rng = np.random.default_rng(seed)
    return ClassCounts.of_two(
        rng.integers(0, n0 + 1, size=p), rng.integers(0, n1 + 1, size=p), n0, n1
    )


def exact(c):
    pairs = zip(c.I0.tolist(), c.I1.tolist(), strict=True)
    return [oracle.cor_squared(*pair, c.n0, c.n1) for pair in pairs]


@pytest.mark.parametrize("p", [20, 119, 120, 500])
@pytest.mark.parametrize("dtype", [np.uint8, np.int64])
def test_counts_are_looked_up_or_computed_alike(p, dtype):
    """There are 30 pairs of counts; with 120 columns or more they are looked up."""
    c = counts(p, p)
    scores = CountScores.of(ClassCounts.of_two(c.I0.astype(dtype), c.I1.astype(dtype), c.n0, c.n1))
    plain = np.array([float(value) for value in exact(c)])
    for bound in (0.0, 0.05, 0.3, plain.max(), 1.5):
        expected = plain >= bound * (1 - 1e-12)
        np.testing.assert_array_equal(scores.at_least(bound * (1 - 1e-12)), expected)
    assert "rough" not in vars(scores) or p < 120


def test_known_values_follow_their_columns_when_parts_are_united():
    """Complete parts know all values, and columns are sorted by number."""
    sizes = np.array([4, 5, 6])
    whole, holes = np.array([[1, 2], [3, 4], [5, 6]]), np.array([[0, 1], [2, 3], [4, 0]])
    parts = [
        (ClassCounts(whole, sizes), [1, 6]),
        (ClassCounts(holes, sizes, known=holes + 1), [0, 4]),
    ]
    united = CountScores.united(
        [
            CountScores.of_part(
                Counted(c, np.array(columns) / 8),
                ColumnSubset(np.array(columns), 9),
                by_total=False,
            )
            for c, columns in parts
        ]
    )
    assert united.subset.columns.tolist() == [0, 1, 4, 6]
    assert united.counted.cuts.tolist() == [0.0, 0.125, 0.5, 0.75]
    assert united.counts.ones.tolist() == [[0, 1, 1, 2], [2, 3, 3, 4], [4, 5, 0, 6]]
    assert united.counts.known.tolist() == [[1, 4, 2, 4], [3, 5, 4, 5], [5, 6, 1, 6]]


def test_counts_of_a_wide_class_do_not_overflow_in_the_lookup():
    rng = np.random.default_rng(0)
    c = ClassCounts.of_two(
        rng.integers(0, 16, size=2000).astype(np.uint8),
        rng.integers(0, 18, size=2000).astype(np.uint8),
        15,
        17,
    )
    values = oracle.all_cor_squared(15, 17)
    plain = [float(values[pair]) >= 0.1 for pair in zip(c.I0, c.I1, strict=True)]
    np.testing.assert_array_equal(CountScores.of(c).at_least(0.1), plain)


def test_counts_above_and_their_values():
    c = counts(1, 60)
    scores = CountScores.of(c)
    values = exact(c)
    gamma = 0.4
    above = [j for j, value in enumerate(values) if value > threshold_cut(gamma)]
    assert scores.above(gamma).tolist() == above
    some = np.array([7, 3, 50])
    expected = [float(values[j]) ** 0.5 for j in some]
    np.testing.assert_allclose(scores.values(some), expected, rtol=1e-15)
    np.testing.assert_allclose(scores.rough, [float(value) for value in values], rtol=1e-14)
    assert (scores.size, scores.statistic) == (60, "|COR|")


def test_events_of_counts():
    c = counts(2, 30)
    scores, values = CountScores.of(c), exact(c)
    kept = np.array([2, 5, 9, 20])
    assert scores.nothing_omitted() == Event()
    assert scores.event_above(0.3, kept) == Event(threshold_cut(0.3), n_at_most=26)
    random = scores.event_by_rank(np.array([9, 5]), kept, True)
    assert random == Event(values[9], n_lottery=26, n_kept_ties=2)
    # Before column 9, the last kept at the cut, stand seven that were left out.
    first = scores.event_by_rank(np.array([5, 9]), kept, False)
    assert first == Event(values[5], n_below=7, n_at_most=19)
    assert scores.event_before(0.3, NONE, 50) == Event(threshold_cut(0.3), n_at_most=50)
    before = scores.event_before(None, np.array([9, 4]), 50)
    assert before == Event(values[9], n_lottery=50, n_kept_ties=2)


def test_counts_of_parts_are_those_of_the_whole():
    c = counts(3, 30)
    cuts = np.arange(30.0)
    whole = CountScores.of_part(Counted(c, cuts), ColumnSubset.everyone(30), by_total=False)
    pieces = [np.arange(12, 30), np.arange(12)]
    united = CountScores.united([whole.stay(piece) for piece in pieces])
    assert united.subset.columns.tolist() == list(range(30))
    assert united.size == 30
    for ours, theirs in zip(
        (united.counts.I0, united.counts.I1, united.counted.cuts), (c.I0, c.I1, cuts), strict=True
    ):
        np.testing.assert_array_equal(ours, theirs)
    assert (united.counts.n0, united.counts.n1) == (4, 5)
    few = whole.stay(np.array([4, 8, 20]))
    taken = few.take(np.array([20, 4]))
    assert taken.cuts.tolist() == [20.0, 4.0]
    np.testing.assert_array_equal(taken.counts.I0, c.I0[[20, 4]])


# Of a million cases in each class; the second correlation is larger by 7e-17 of itself.
HARD = [(206373, 704379), (169915, 662877)]


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_values_that_doubles_cannot_tell_are_ranked_exactly(order):
    n = 1_000_003
    pairs = [(0, 10**6), HARD[order[0]], HARD[order[1]], HARD[1], (5, 9)]
    c = ClassCounts.of_two(np.array([a for a, _ in pairs]), np.array([b for _, b in pairs]), n, n)
    scores = CountScores.of(c)
    larger = sorted([1 + order.index(1), 3])
    smaller = [1 + order.index(0)]
    found = [tuple(part.tolist() for part in scores.split_at_rank(k, NONE)) for k in range(1, 6)]
    assert found == [
        ([], [0]),
        ([0], larger),
        ([0], larger),
        ([0, *larger], smaller),
        ([0, 1, 2, 3], [4]),
    ]
