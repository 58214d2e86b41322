"""The loop over a table of 0 and 1 in two classes, without sets of cases, compiled by numba.

Import this through `kernels`; `selection.pair_scan` says what it is for, and
`selection.leaving_out` has the equivalent in plain numpy. Parts of the table stay in the
processor's cache while they are summed for all sets.
"""

import numpy as np
from numba import njit

_compile = njit(nogil=True, cache=True)

# The first blocks are smaller, by powers of 2 from this one on: nothing bounds the scores yet.
_SMALL = 4


@_compile
def _sum_part(X, rows, begin, end, total, seen):
    """Add some columns of some rows up; OR them where that is asked for.

    Rows are processed eight at a time, and then two at a time: sums are read and written less often
    so, and parts of a fold have few rows.
    """
    total[:] = 0
    i = 0
    while i + 8 <= rows.size:
        a, b = X[rows[i], begin:end], X[rows[i + 1], begin:end]
        c, d = X[rows[i + 2], begin:end], X[rows[i + 3], begin:end]
        e, f = X[rows[i + 4], begin:end], X[rows[i + 5], begin:end]
        g, h = X[rows[i + 6], begin:end], X[rows[i + 7], begin:end]
        for j in range(total.size):
            total[j] += (a[j] + b[j] + c[j] + d[j]) + (e[j] + f[j] + g[j] + h[j])
        if seen is not None:  # decided when it is compiled
            for j in range(total.size):
                seen[j] |= (a[j] | b[j] | c[j] | d[j]) | (e[j] | f[j] | g[j] | h[j])
        i += 8
    while i + 2 <= rows.size:
        a, b = X[rows[i], begin:end], X[rows[i + 1], begin:end]
        for j in range(total.size):
            total[j] += a[j] + b[j]
        if seen is not None:
            for j in range(total.size):
                seen[j] |= a[j] | b[j]
        i += 2
    if i < rows.size:
        a = X[rows[i], begin:end]
        for j in range(total.size):
            total[j] += a[j]
        if seen is not None:
            for j in range(total.size):
                seen[j] |= a[j]


@_compile
def _add_to(few, total):
    for j in range(few.size):
        total[j] += few[j]


@_compile
def _sum_block(X, begin, cases, total, taken, seen):
    """Sum a block of columns by class: over all rows, and over those of each disjoint set."""
    rows, starts, n_disjoint = cases
    n_sets, end = (starts.size - 3) // 2, begin + total.shape[1]
    seen[:] = 0
    for g in range(2):
        rest = rows[starts[2 * n_sets + g] : starts[2 * n_sets + g + 1]]
        _sum_part(X, rest, begin, end, total[g], seen)
        for s in range(n_disjoint):
            own = rows[starts[2 * s + g] : starts[2 * s + g + 1]]
            _sum_part(X, own, begin, end, taken[s, g], seen)
            _add_to(taken[s, g], total[g])


@_compile
def _find(total, width, matters, codes, places):
    """Put the columns whose pair of counts matters into ``places``, and return their number."""
    first, second = total[0], total[1]
    for j in range(first.size):
        codes[j] = first[j] * width + second[j]
    n_found = 0
    for j in range(first.size):
        places[n_found] = j
        n_found += matters[codes[j]]
    return n_found


@_compile
def _subtract(total, taken, rest):
    """Put the ones of both classes into ``rest``, without those that are taken."""
    first, second, out_first, out_second = total[0], total[1], taken[0], taken[1]
    for j in range(rest.size):
        rest[j] = (first[j] - out_first[j]) + (second[j] - out_second[j])


@_compile
def _tally(rest, codes, tallies):
    for j in range(rest.size):
        codes[j] = rest[j]
    for j in range(rest.size):
        tallies[codes[j]] += np.uint32(1)


@_compile
def _tally_both(rest, other, width, codes, tallies):
    """Tally the pairs of totals without two sets: half as many steps as one after the other."""
    for j in range(rest.size):
        codes[j] = rest[j] * width + other[j]
    for j in range(rest.size):
        tallies[codes[j]] += np.uint32(1)


@_compile
def _hold(s, begin, places, total, taken, pairs, state, pool, n_held):
    """Hold those of some columns that may be among the best without a set, and count them."""
    width, rank = pairs
    numbers, last, ends, held = state
    sets, columns, codes = pool
    for place in places:
        code = (int(total[0, place]) - int(taken[0, place])) * width
        code += int(total[1, place]) - int(taken[1, place])
        r = rank[code]
        if r < ends[s]:
            numbers[s, r] += np.uint32(1)
            if r < last[s]:
                held[s] += 1
            sets[n_held], columns[n_held], codes[n_held] = s, begin + place, code
            n_held += 1
    return n_held


@_compile
def _tighten(pairs, state, bounds, k, close, matters):
    """Move the ends up to the k-th best column held, with ties, and say which pairs matter."""
    kinds, n_pairs, score, best = pairs
    numbers, last, ends, held = state
    for s in range(kinds.size):
        own = score[kinds[s]]
        while last[s] > 0 and held[s] - numbers[s, last[s] - 1] >= k:
            last[s] -= 1
            held[s] -= numbers[s, last[s]]
        if held[s] >= k and last[s] > 0:
            bound = own[last[s] - 1]
            bounds[s] = bound - close * abs(bound)
            ends[s] = last[s]
            while ends[s] < n_pairs[kinds[s]] and own[ends[s]] >= bounds[s]:
                ends[s] += 1
    lowest = np.full(n_pairs.size, np.inf)
    for s in range(kinds.size):
        lowest[kinds[s]] = min(lowest[kinds[s]], bounds[s])
    matters[:] = 0
    for kind in range(n_pairs.size):
        for code in range(matters.size):
            matters[code] |= best[kind, code] >= lowest[kind]


@_compile
def scan_pairs(X, begin, cases, pairs, n_totals, k, close, found, work, pool):
    """Tally totals without sets of rows, and find columns that may be among the k best.

    Parameters
    ----------
    X : array of shape (n, p)
    begin : int
        Columns from there on are read, until all are or the pool is full.
    cases : (rows, starts, n_disjoint)
        ``starts`` tells which of the rows belong to each set and class, and last which are in none
        of the first ``n_disjoint`` sets, which have no row in common.
    pairs : (kinds, widths, n_pairs, rank, score, best)
        The kind of each set. Of each kind: n1 + 1, first of all rows together, and the number of
        pairs of counts; the rank of each pair; the scores from the best on; and for each pair of
        all rows the largest score that is possible without a set.
    n_totals, k : int
    close : float
        Scores that are as close, relatively, may be equal.
    found : (last, ends, bounds, tallies)
        Of each set: how many of the first pairs hold k columns; how many may be among the best;
        the score of the last of these. ``tallies`` has the numbers of columns by the totals
        without two neighbouring sets, or where its rows have the length ``n_totals``, without one.
    work : (numbers, held, total, taken, rest, codes, places, seen, matters)
        ``numbers`` and ``held`` count columns: of each set and rank, and before ``last``.
    pool : (sets, columns, pairs)
        Takes what is found.

    Returns
    -------
    end, n_held : int
        The first column that was not read, and the entries of the pool. The second is -1 where a
        value is neither 0 nor 1.
    """
    rows, starts, n_disjoint = cases
    kinds, widths, n_pairs, rank, score, best = pairs
    last, ends, bounds, tallies = found
    numbers, held, total, taken, rest, codes, places, seen, matters = work
    n_sets, most, in_pairs = kinds.size, codes.size, tallies.shape[1] > n_totals
    state, of_kinds = (numbers, last, ends, held), (kinds, n_pairs, score, best)
    n_held, n_parts, next_bound = 0, 0, 1
    _tighten(of_kinds, state, bounds, k, close, matters)
    while begin < X.shape[1] and n_held + n_sets * most <= pool[0].size:
        size = min(max(1, most >> max(0, _SMALL - n_parts)), X.shape[1] - begin)
        both, out = total[:, :size], taken[:, :, :size]
        _sum_block(X, begin, cases, both, out, seen[:size])
        if seen[:size].max() > 1:
            return begin, -1
        some = places[: _find(both, widths[0], matters, codes[:size], places)]
        for s in range(n_sets):
            place = min(s, n_disjoint)
            if s >= n_disjoint:
                for g in range(2):
                    own = rows[starts[2 * s + g] : starts[2 * s + g + 1]]
                    _sum_part(X, own, begin, begin + size, out[place, g], None)
            own_pairs = widths[1 + kinds[s]], rank[kinds[s]]
            n_held = _hold(s, begin, some, both, out[place], own_pairs, state, pool, n_held)
            own_rest, other = rest[s % 2, :size], rest[0, :size]
            _subtract(both, out[place], own_rest)
            if not in_pairs:
                _tally(own_rest, codes[:size], tallies[s])
            elif s % 2 == 1 or s == n_sets - 1:
                _tally_both(other, own_rest, n_totals, codes[:size], tallies[s // 2])
        begin, n_parts = begin + size, n_parts + 1
        if n_parts == next_bound:
            next_bound *= 2
            _tighten(of_kinds, state, bounds, k, close, matters)
    return begin, n_held
