"""Putting counts together: of other columns, or of other cases."""

import numpy as np
import pytest

from unselected.statistics.counts import ClassCounts


def parts_of(rng, n_parts, holes, sizes=None):
    """Return counts of parts in three classes; those numbered in ``holes`` have missing values."""
    for part in range(n_parts):
        own = rng.integers(1, 200, size=3) if sizes is None else sizes
        known = rng.integers(0, own[:, np.newaxis] + 1, size=(3, 4))
        ones = rng.integers(0, known + 1).astype(np.uint8)
        yield ClassCounts(ones, own, known.astype(np.uint8) if part in holes else None)


def known_of(part):
    whole = np.repeat(part.sizes[:, np.newaxis], part.n_columns, axis=1)
    return whole if part.known is None else part.known


@pytest.mark.parametrize("holes", [{0, 1, 2}, {1}, {2}])
def test_complete_parts_know_all_values_when_united(holes, seed):
    sizes = np.array([70, 0, 60])
    parts = list(parts_of(np.random.default_rng(seed), 3, holes, sizes))
    whole = ClassCounts.united(parts)
    np.testing.assert_array_equal(whole.ones, np.hstack([part.ones for part in parts]))
    np.testing.assert_array_equal(whole.known, np.hstack([known_of(part) for part in parts]))
    np.testing.assert_array_equal(whole.sizes, sizes)
    assert whole.known.dtype == whole.ones.dtype == np.uint8


@pytest.mark.parametrize("holes", [{0, 1, 2}, {1}, {2}])
def test_counts_of_cases_are_added_without_overflow(holes, seed):
    parts = list(parts_of(np.random.default_rng(seed), 3, holes))
    parts[0] = ClassCounts(np.full((3, 4), 250, np.uint8), np.full(3, 250), parts[0].known)
    parts[1] = ClassCounts(np.full((3, 4), 250, np.uint8), np.full(3, 250), parts[1].known)
    whole = ClassCounts.added(parts)
    np.testing.assert_array_equal(whole.sizes, sum(part.sizes for part in parts))
    np.testing.assert_array_equal(whole.ones, sum(part.ones.astype(int) for part in parts))
    np.testing.assert_array_equal(whole.known, sum(known_of(part).astype(int) for part in parts))


@pytest.mark.parametrize("together", [ClassCounts.united, ClassCounts.added])
def test_complete_parts_make_a_complete_whole(together, seed):
    parts = list(parts_of(np.random.default_rng(seed), 2, set(), np.array([5, 6, 7])))
    assert together(parts).known is None
