"""How many columns are of which kind."""

from collections import Counter

import numpy as np
import pytest

from unselected.statistics.counts import ClassCounts
from unselected.statistics.tally import ANY_TOTAL, Tally

SIZES = np.array([3, 2, 4])


def some_counts(seed, p, missing):
    rng = np.random.default_rng(seed)
    known = np.repeat(SIZES[:, np.newaxis], p, axis=1)
    if missing:
        known = known - (rng.random(known.shape) < 0.3)
    ones = rng.binomial(known, 0.4)
    return ClassCounts(ones, SIZES, known if missing else None)


def by_hand(counts, by_total):
    known = counts.known
    if known is None:
        known = np.repeat(counts.sizes[:, np.newaxis], counts.n_columns, axis=1)
    totals = counts.ones.sum(axis=0).tolist() if by_total else [ANY_TOTAL] * counts.n_columns
    return Counter(zip(map(tuple, known.T.tolist()), totals, strict=True))


def told(tally):
    keys = zip(map(tuple, tally.sizes.tolist()), tally.totals.tolist(), strict=True)
    found = dict(zip(keys, tally.n_columns.tolist(), strict=True))
    assert len(found) == tally.n_columns.size
    return found


@pytest.mark.parametrize("by_total", [False, True])
@pytest.mark.parametrize("missing", [False, True])
def test_columns_are_counted_by_kind(missing, by_total, seed):
    counts = some_counts(seed, 60, missing)
    tally = Tally.of(counts, by_total=by_total)
    assert told(tally) == by_hand(counts, by_total)
    assert tally.tells_apart(SIZES) == (missing or by_total)


@pytest.mark.parametrize("by_total", [False, True])
@pytest.mark.parametrize("missing", [(False, False), (True, False), (True, True)])
def test_parts_add_up_and_can_be_taken_away(missing, by_total, seed):
    """Also where only one of the parts has missing values."""
    counts = [some_counts(seed + i, 30 + i, holes) for i, holes in enumerate(missing)]
    parts = [Tally.of(one, by_total=by_total) for one in counts]
    united = Tally.united(parts)
    expected = sum((by_hand(one, by_total) for one in counts), Counter())
    assert told(united) == expected
    for part, other in zip(parts, reversed(counts), strict=True):
        assert told(united.without(part)) == by_hand(other, by_total)
    assert united.without(united).n_columns.size == 0


def test_counts_are_matched_by_kind(seed):
    counts = some_counts(seed, 50, missing=True)
    tally = Tally.of(counts, by_total=True)
    few = counts.take(np.arange(9))
    matched = tally.matched(Tally.of(few, by_total=True))
    expected = by_hand(few, by_total=True)
    keys = zip(map(tuple, tally.sizes.tolist()), tally.totals.tolist(), strict=True)
    assert matched.tolist() == [expected[key] for key in keys]


@pytest.mark.parametrize("by_total", [False, True])
def test_no_columns_are_of_no_kind(by_total):
    nothing = Tally.of(some_counts(0, 0, missing=False), by_total=by_total)
    assert nothing.n_columns.sum() == 0
    some = Tally.of(some_counts(0, 5, missing=False), by_total=by_total)
    assert told(Tally.united([nothing, some])) == told(some)
    assert told(some.without(nothing)) == told(some)


def test_narrow_counts_do_not_overflow():
    """Ones by class may be bytes; their total is not."""
    ones = np.full((3, 4), 200, dtype=np.uint8)
    counts = ClassCounts(ones, np.array([255, 255, 255]))
    assert Tally.of(counts, by_total=True).totals.tolist() == [600]
    known = ClassCounts(ones, counts.sizes, np.full((3, 4), 210, dtype=np.uint8))
    assert told(Tally.of(known, by_total=True)) == {((210, 210, 210), 600): 4}
