"""Scores and events of counts: ties in fractions, across classes, totals and missing values."""

from collections import Counter
from fractions import Fraction

import count_oracle
import numpy as np
import pytest

from unselected.columns.subset import ColumnSubset
from unselected.selection.count_scores import CountScores
from unselected.selection.rules import keep_above, keep_preselected, keep_top
from unselected.statistics.counts import ClassCounts, Counted
from unselected.statistics.tally import ANY_TOTAL
from unselected.statistics.unscored import TOO_FEW

NONE = np.array([], dtype=int)
# Class sizes, and the numbers of known values that occur.
CASES = {
    "two": ((4, 4), [(4, 4)]),
    "two, missing": ((3, 4), [(3, 4), (3, 3), (2, 4)]),
    "three": ((3, 2, 3), [(3, 2, 3)]),
    "three, missing": ((3, 3, 3), [(3, 3, 3), (3, 2, 1), (1, 3, 3), (2, 2, 2)]),
    "four": ((2, 2, 1, 2), [(2, 2, 1, 2)]),
}


def columns_of(case, seed):
    """Every vector of counts of every pattern, shuffled: (counts, numbers of known values)."""
    _, patterns = CASES[case]
    columns = [(ones, known) for known in patterns for ones in count_oracle.vectors(known)]
    order = np.random.default_rng(seed).permutation(len(columns))
    return [columns[j] for j in order]


def counts_of(sizes, columns):
    ones, known = (np.transpose([column[part] for column in columns]) for part in (0, 1))
    complete = np.all(known == np.array(sizes)[:, np.newaxis])
    return ClassCounts(ones, np.array(sizes), None if complete else known)


def scored(case, seed, by_total=False):
    sizes, _ = CASES[case]
    columns = columns_of(case, seed)
    values = [count_oracle.score(*column) for column in columns]
    return CountScores.of(counts_of(sizes, columns), by_total=by_total), columns, values


def kinds_told(event):
    """{kind: (below, at the cut, at most)} of an event."""
    k = event.kinds
    keys = [(tuple(sizes), m) for sizes, m in zip(k.sizes.tolist(), k.totals.tolist(), strict=True)]
    numbers = zip(k.n_below.tolist(), k.n_at_cut.tolist(), k.n_at_most.tolist(), strict=True)
    assert len(set(keys)) == len(keys)
    return dict(zip(keys, numbers, strict=True))


def expected_kinds(columns, omitted, by_total, place):
    """The same from the omitted columns themselves; ``place`` says where a column is counted."""
    found = {}
    for j in omitted:
        ones, known = columns[j]
        numbers = found.setdefault((known, sum(ones) if by_total else ANY_TOTAL), [0, 0, 0])
        numbers[place(j)] += 1
    return {key: tuple(numbers) for key, numbers in found.items()}


@pytest.mark.parametrize("case", CASES)
def test_different_counts_with_the_same_score_tie(case, seed):
    """Every rank is where sorting the fractions puts it."""
    scores, columns, values = scored(case, seed)
    assert len(set(columns)) == len(columns)
    assert max(Counter(values).values()) > 2
    for k in range(1, len(values) + 1):
        cut = sorted(values, reverse=True)[k - 1]
        above, at_cut = scores.split_at_rank(k, NONE)
        assert sorted(above.tolist()) == [j for j, value in enumerate(values) if value > cut]
        assert sorted(at_cut.tolist()) == [j for j, value in enumerate(values) if value == cut]


def test_f_ties_across_patterns_of_known_values():
    """The pairs are found by looking for equal F: 3 / 2, 15 / 8 and 5 / 2."""
    sizes, other = (2, 2, 4), (1, 2, 3)
    ours = {}
    for ones in count_oracle.vectors(sizes):
        ours.setdefault(count_oracle.score(ones, sizes), ones)
    pairs = [
        (ours[value], ones)
        for ones in count_oracle.vectors(other)
        if (value := count_oracle.score(ones, other)) in ours and 0 < value < np.inf
    ]
    found = {count_oracle.score(whole, sizes) for whole, _ in pairs}
    assert found == {Fraction(3, 2), Fraction(15, 8), Fraction(5, 2)}
    for whole, holes in pairs:
        assert count_oracle.r_squared(whole, sizes) != count_oracle.r_squared(holes, other)
        columns = [((1, 1, 2), sizes), (whole, sizes), (holes, other)]
        scores = CountScores.of(counts_of(sizes, columns))
        above, at_cut = scores.split_at_rank(1, NONE)
        assert above.size == 0
        assert sorted(at_cut.tolist()) == [1, 2]
        values = scores.values(np.arange(3))
        assert values[0] == 0.0
        assert values[1] == values[2] == float(count_oracle.score(whole, sizes))


def test_doubles_of_two_classes_with_missing_values_are_those_of_the_known(seed):
    scores, columns, _ = scored("two, missing", seed)
    some = scores.subset.columns
    expected = [float(count_oracle.r_squared(*columns[j])) for j in some]
    np.testing.assert_allclose(scores.rough, expected, rtol=1e-14, atol=0)


@pytest.mark.parametrize("case", CASES)
def test_scores_are_correctly_rounded(case, seed):
    scores, _, values = scored(case, seed)
    ours = scores.values(np.arange(len(values)))
    if scores.statistic == "F":
        largest = np.finfo(float).max
        expected = [largest if value == np.inf else float(value) for value in values]
        np.testing.assert_array_equal(ours, expected)
    else:
        for root, square in zip(ours.tolist(), values, strict=True):
            low, high = (Fraction(np.nextafter(root, to)) + Fraction(root) for to in (-1.0, 2.0))
            assert low * abs(low) <= 4 * square <= high**2


@pytest.mark.parametrize("case", CASES)
def test_a_threshold_at_a_score_omits_it(case, seed):
    scores, _, values = scored(case, seed)
    of_columns = scores.values(np.arange(len(values)))
    for gamma in np.unique(of_columns)[:-1]:
        expected = np.flatnonzero(of_columns > gamma)
        np.testing.assert_array_equal(scores.above(gamma), expected)
        just_below = np.nextafter(gamma, -1.0) if gamma else 0.0
        if gamma:
            np.testing.assert_array_equal(
                scores.above(just_below), np.flatnonzero(of_columns >= gamma)
            )
        cut = scores.event_above(gamma, expected).cut
        square = [v if scores.statistic == "|COR|" else r_of_f(scores, v) for v in values]
        assert [value > cut for value in square] == (of_columns > gamma).tolist()


def r_of_f(scores, F):
    """R^2 of a complete column with this F."""
    sizes = scores.counts.sizes
    q, nu = sizes.size - 1, int(sizes.sum()) - sizes.size
    return Fraction(1) if F == np.inf else q * F / (q * F + nu)


@pytest.mark.parametrize("by_total", [False, True])
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("ties", ["first", "random"])
def test_events_tell_the_kinds_of_the_omitted_columns(case, ties, by_total, seed):
    scores, columns, values = scored(case, seed, by_total)
    p, always = len(columns), np.array([1, 6])
    for k in (1, p // 4, p // 2, p - 3):
        selection = keep_top(scores, k, ties, always, np.random.default_rng(seed))
        kept = set(selection.indices.tolist())
        assert len(kept) == k + always.size
        omitted = [j for j in range(p) if j not in kept]
        cut = min(values[j] for j in kept - set(always.tolist()))
        assert max(values[j] for j in omitted) <= cut
        event = selection.event
        assert event.cut == (cut if scores.statistic == "|COR|" else r_of_f(scores, cut))
        assert event.n_omitted == len(omitted) == p - k - 2
        if event.kinds is None:
            assert not by_total
            assert "missing" not in case
            continue
        assert event.n_below == event.n_at_most == event.n_lottery == 0
        told = expected_kinds(columns, omitted, by_total, lambda j, cut=cut: int(values[j] == cut))
        assert kinds_told(event) == told


@pytest.mark.parametrize("by_total", [False, True])
@pytest.mark.parametrize("case", CASES)
def test_events_of_thresholds_tell_them_as_at_most(case, by_total, seed):
    scores, columns, _ = scored(case, seed, by_total)
    gamma = float(np.median(scores.values(np.arange(len(columns)))))
    selection = keep_above(scores, gamma, np.array([2]))
    omitted = sorted(set(range(len(columns))) - set(selection.indices.tolist()))
    event = selection.event
    if event.kinds is None:
        assert not by_total
        assert (event.n_at_most, event.n_omitted) == (len(omitted), len(omitted))
    else:
        assert kinds_told(event) == expected_kinds(columns, omitted, by_total, lambda _: 2)


@pytest.mark.parametrize("case", CASES)
def test_columns_that_were_never_seen_have_no_kind(case, seed):
    scores, _, _ = scored(case, seed, by_total=True)
    event = keep_preselected(scores, scores.size + 50, None, NONE).event
    assert event.kinds is None
    assert (event.n_lottery, event.n_omitted) == (50, 50)


@pytest.mark.parametrize("by_total", [False, True])
@pytest.mark.parametrize("case", CASES)
def test_parts_united_are_the_whole(case, by_total, seed):
    sizes, _ = CASES[case]
    whole, columns, _ = scored(case, seed, by_total)
    p = len(columns)
    pieces = np.array_split(np.random.default_rng(seed).permutation(p), 4)
    parts = []
    for piece in map(np.sort, pieces):
        counts = counts_of(sizes, [columns[j] for j in piece])
        cuts = np.full(piece.size, 0.5)
        part = CountScores.of_part(Counted(counts, cuts), ColumnSubset(piece, p), by_total=by_total)
        # Columns that can no longer be selected are dropped; the tally still has them.
        parts.append(part.stay(np.flatnonzero(part.rough >= 0.2)))
    united = CountScores.united(parts)
    assert united.subset.columns.size < p
    rng = np.random.default_rng(0)
    first, second = (keep_top(each, 5, "first", NONE, rng) for each in (united, whole))
    np.testing.assert_array_equal(first.indices, second.indices)
    assert (first.event.cut, first.event.n_omitted) == (second.event.cut, second.event.n_omitted)
    if second.event.kinds is None:
        assert first.event == second.event
    else:
        assert kinds_told(first.event) == kinds_told(second.event)


@pytest.mark.parametrize("case", ["three, missing", "two, missing"])
def test_the_order_of_columns_and_classes_does_not_matter(case, seed):
    sizes, _ = CASES[case]
    columns, rng = columns_of(case, seed), np.random.default_rng(seed)
    turn = rng.permutation(len(sizes))
    moved = [tuple(tuple(part[g] for g in turn) for part in column) for column in columns]
    order = rng.permutation(len(columns))
    k = len(columns) // 3
    plain = keep_above(CountScores.of(counts_of(sizes, columns), by_total=True), 0.7, NONE)
    turned_sizes = tuple(sizes[g] for g in turn)
    turned = counts_of(turned_sizes, [moved[j] for j in order])
    other = keep_above(CountScores.of(turned, by_total=True), 0.7, NONE)
    assert set(order[other.indices].tolist()) == set(plain.indices.tolist())
    assert other.event.cut == plain.event.cut
    ours = {
        (tuple(key[0][g] for g in turn), key[1]): value
        for key, value in kinds_told(plain.event).items()
    }
    assert kinds_told(other.event) == ours
    first, second = (
        scores.values(scores.split_at_rank(k, NONE)[1][:1])[0]
        for scores in (
            CountScores.of(counts_of(sizes, columns)),
            CountScores.of(turned),
        )
    )
    assert first == second


def test_columns_without_known_values_in_a_class_have_no_score():
    sizes = (3, 3, 2)
    columns = [
        ((1, 0, 2), (3, 3, 2)),
        ((1, 0, 0), (3, 3, 0)),
        ((0, 1, 0), (1, 1, 1)),  # three values in three classes: no degree of freedom
        ((0, 1, 1), (2, 1, 1)),
        ((0, 0, 1), (0, 0, 1)),
    ]
    scores = CountScores.of(counts_of(sizes, columns), by_total=True)
    assert scores.unscored.columns.tolist() == [1, 2, 4]
    assert scores.unscored.reasons.tolist() == [2, TOO_FEW, 0]
    assert np.isnan(scores.values(np.arange(5))).tolist() == [False, True, True, False, True]
    event = keep_top(scores, 1, "first", NONE, np.random.default_rng(0)).event
    assert event.n_omitted == 1  # nothing is said of the others


def test_with_two_classes_two_known_values_are_enough():
    columns = [((1, 0), (1, 1)), ((1, 2), (3, 3)), ((0, 0), (0, 2))]
    scores = CountScores.of(counts_of((3, 3), columns))
    assert scores.unscored.columns.tolist() == [2]
    assert scores.values(np.array([0])).tolist() == [1.0]


def test_the_tally_of_a_whole_table_is_that_of_its_columns(seed):
    scores, columns, _ = scored("three, missing", seed, by_total=True)
    expected = Counter((known, sum(ones)) for ones, known in columns)
    tally = scores.tally
    found = {
        (tuple(sizes), m): n
        for sizes, m, n in zip(
            tally.sizes.tolist(), tally.totals.tolist(), tally.n_columns.tolist(), strict=True
        )
    }
    assert found == dict(expected)
