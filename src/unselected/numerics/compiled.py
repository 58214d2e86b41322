"""The inner loops of the pass over the columns, compiled by numba.

Import this through `kernels`. Each loop has an equivalent in plain numpy, which is used where numba
is not installed or the table is too small for compilation to pay: `counting` for counts, `summing`
for moments. Rows are processed four at a time, so that the sums are read and written once for four
rows, and the additions do not wait for each other.
"""

import numpy as np
from numba import njit

_compile = njit(nogil=True, cache=True)

# The number of bits whose sum fits into a byte.
_MOST_BITS = 255
_FOUR = 4
# Columns whose sums of products stay in the second-level cache.
_TOGETHER = 4096


@_compile
def _add_four(a, b, c, d, total, seen):
    for j in range(total.size):
        total[j] += a[j] + b[j] + c[j] + d[j]
        seen[j] |= a[j] | b[j] | c[j] | d[j]


@_compile
def _add_one(a, total, seen):
    for j in range(total.size):
        total[j] += a[j]
        seen[j] |= a[j]


@_compile
def _widen(few, total):
    for j in range(few.size):
        total[j] += few[j]
        few[j] = 0


@_compile
def count_rows(X, order, sizes, total, seen):
    """Add the bytes of each class, rows in this order, to ``total`` (G, width); OR them all."""
    few = np.zeros(X.shape[1], dtype=np.uint8)
    start = 0
    for g in range(sizes.size):
        stop, held = start + sizes[g], 0
        while start < stop:
            if held + _FOUR > _MOST_BITS:
                _widen(few, total[g])
                held = 0
            if start + _FOUR <= stop:
                a, b, c, d = order[start], order[start + 1], order[start + 2], order[start + 3]
                _add_four(X[a], X[b], X[c], X[d], few, seen)
                start, held = start + _FOUR, held + _FOUR
            else:
                _add_one(X[order[start]], few, seen)
                start, held = start + 1, held + 1
        _widen(few, total[g])


@_compile
def _sum_of_bytes(word):
    pairs = np.uint64(0x00FF00FF00FF00FF)
    each = np.uint64(0x0001000100010001)
    return ((word & pairs) + ((word >> np.uint64(8)) & pairs)) * each >> np.uint64(48)


@_compile
def count_words(words, in_class, total, seen):
    """Add the bytes of each column, eight cases a word, to ``total`` (2, width); OR the words.

    The first row of ``total`` is of the cases that are not in the class, the second of those that
    are. ``words`` has shape (width, m). Bytes are added in place, at most 255 of them.
    """
    width, m = words.shape
    for j in range(width):
        column = words[j]
        for start in range(0, m, _MOST_BITS):
            both, ones, found = np.uint64(0), np.uint64(0), np.uint64(0)
            some, mask = column[start : start + _MOST_BITS], in_class[start:]
            for i in range(some.size):  # from 0 on, so that no index can be negative
                both += some[i]
                ones += some[i] & mask[i]
                found |= some[i]
            total[0, j] += _sum_of_bytes(both) - _sum_of_bytes(ones)
            total[1, j] += _sum_of_bytes(ones)
            seen[j] |= found


@_compile
def _add_four_differences(a, b, c, d, y, center, total, squares, products):
    for j in range(total.size):
        m = center[j]
        A, B, C, D = a[j] - m, b[j] - m, c[j] - m, d[j] - m
        total[j] += (A + B) + (C + D)
        squares[j] += (A * A + B * B) + (C * C + D * D)
        if y is not None:  # decided when it is compiled
            products[j] += (A * y[0] + B * y[1]) + (C * y[2] + D * y[3])


@_compile
def _add_one_difference(a, y, center, total, squares, products):
    for j in range(total.size):
        A = a[j] - center[j]
        total[j] += A
        squares[j] += A * A
        if y is not None:
            products[j] += A * y[0]


@_compile
def sum_rows(flat, starts, sizes, y, center, total, squares, products):
    """Add, for each class, the differences from ``center`` (width,) and their squares.

    ``flat`` is the memory of the rows, ``starts`` holds where each row begins, grouped by class;
    ``total`` and ``squares`` have shape (G, width). In this form the compiler knows that the values
    of a row are contiguous. Where real responses ``y`` are given, the products with them are added
    to ``products`` (width,); otherwise both are None.
    """
    w, i = center.size, 0
    for g in range(sizes.size):
        stop = i + sizes[g]
        while i < stop:
            a = flat[starts[i] : starts[i] + w]
            some = None if y is None else y[i : i + _FOUR]
            if i + _FOUR <= stop:
                b = flat[starts[i + 1] : starts[i + 1] + w]
                c = flat[starts[i + 2] : starts[i + 2] + w]
                d = flat[starts[i + 3] : starts[i + 3] + w]
                _add_four_differences(a, b, c, d, some, center, total[g], squares[g], products)
                i += _FOUR
            else:
                _add_one_difference(a, some, center, total[g], squares[g], products)
                i += 1


@_compile
def _add_four_products(rows, center, factors, first, second, third, squares):
    a, b, c, d = rows
    p, q, r, s = factors[0, 0], factors[1, 0], factors[2, 0], factors[3, 0]
    t, u, v, w = factors[0, 1], factors[1, 1], factors[2, 1], factors[3, 1]
    x, y, z, o = factors[0, 2], factors[1, 2], factors[2, 2], factors[3, 2]
    for j in range(center.size):
        m = center[j]
        A, B, C, D = a[j] - m, b[j] - m, c[j] - m, d[j] - m
        first[j] += (A * p + B * q) + (C * r + D * s)
        second[j] += (A * t + B * u) + (C * v + D * w)
        third[j] += (A * x + B * y) + (C * z + D * o)
        if squares is not None:  # decided when it is compiled
            squares[j] += (A * A + B * B) + (C * C + D * D)


@_compile
def _add_one_product(a, center, factors, first, second, third):
    for j in range(center.size):
        A = a[j] - center[j]
        first[j] += A * factors[0, 0]
        second[j] += A * factors[0, 1]
        third[j] += A * factors[0, 2]


@_compile
def _add_square(a, center, squares):
    for j in range(center.size):
        squares[j] += (a[j] - center[j]) ** 2


@_compile
def sum_products(flat, starts, factors, center, products, squares):
    """Add the products of differences from ``center`` (width,) with factors, and their squares.

    ``factors`` has a row for each row of the table, and ``products`` one for each of its columns,
    a multiple of three: three products of four rows are what the registers hold. Rows are handed on
    one by one, so that the compiler knows that their values are contiguous.
    """
    w, n = center.size, starts.size
    for begin in range(0, w, _TOGETHER):
        end = min(begin + _TOGETHER, w)
        m, squared = center[begin:end], squares[begin:end]
        i = 0
        while i < n:
            a = flat[starts[i] + begin : starts[i] + end]
            size = _FOUR if i + _FOUR <= n else 1
            if size == _FOUR:
                b = flat[starts[i + 1] + begin : starts[i + 1] + end]
                c = flat[starts[i + 2] + begin : starts[i + 2] + end]
                d = flat[starts[i + 3] + begin : starts[i + 3] + end]
            else:
                b = c = d = a
            for f in range(0, factors.shape[1], 3):
                own = factors[i : i + size, f : f + 3]
                first, second = products[f, begin:end], products[f + 1, begin:end]
                third = products[f + 2, begin:end]
                if size == 1:
                    _add_one_product(a, m, own, first, second, third)
                elif f == 0:
                    _add_four_products((a, b, c, d), m, own, first, second, third, squared)
                else:
                    _add_four_products((a, b, c, d), m, own, first, second, third, None)
            if size == 1:
                _add_square(a, m, squared)
            i += size


@_compile
def _log_features(ones, total, N1, n, pool, offset):
    log = 0.0
    start = offset[N1]
    for j in range(ones.size):
        log += pool[start + ones[j] * (n - N1 + 1) + total[j] - ones[j]]
    return log


@_compile
def move_labels(state, bits, y, total, pairs, uniforms, weights, first):
    """Move labels as `mixture_moves.move_labels` does."""
    z, ones, place = state
    pool, offset, log_place = weights
    n, k = bits.shape
    N1 = place[0] + place[1]
    if offset[N1] < 0 or np.isnan(log_place[place[0], place[1]]):
        return first
    now = _log_features(ones, total, N1, n, pool, offset)
    new_ones = np.empty_like(ones)
    for move in range(first, uniforms.size):
        if move < n:
            sign = 1 - 2 * z[move]
            a, b = place[0], place[1]
            if y[move] == 0:
                a += sign
            else:
                b += sign
            if offset[N1 + sign] < 0 or np.isnan(log_place[a, b]):
                return move
            for j in range(k):
                new_ones[j] = ones[j] + sign * bits[move, j]
            new = _log_features(new_ones, total, N1 + sign, n, pool, offset)
            gain = new - now + log_place[a, b] - log_place[place[0], place[1]]
            if gain > -700.0 and uniforms[move] < 1.0 / (1.0 + np.exp(-gain)):
                z[move] += sign
                ones[:] = new_ones
                place[0], place[1] = a, b
                N1, now = N1 + sign, new
        else:
            i, j = pairs[move - n, 0], pairs[move - n, 1]
            if z[i] != z[j]:
                change = z[j] - z[i]
                for f in range(k):
                    new_ones[f] = ones[f] + change * (bits[i, f] - bits[j, f])
                new = _log_features(new_ones, total, N1, n, pool, offset)
                if uniforms[move] < np.exp(min(new - now, 0.0)):
                    z[i], z[j] = z[j], z[i]
                    ones[:], now = new_ones, new
    return uniforms.size


@_compile
def add_dealt(sums, deal1, below, from_there, low, high):
    """Add sums over the ones of label 1 in class 1, as `omission.mixture` does."""
    half, n_rows = sums.shape[1], sums.shape[2]
    n_zeros, b = deal1.shape[0] - deal1.shape[1], deal1.shape[1] - 1
    for m1 in range(half):
        for m2 in range(n_rows):
            first, last = low[m1 + m2], high[m1 + m2]
            selected, omitted = 0.0, 0.0
            for i in range(max(0, m1 - n_zeros), min(b, m1) + 1):
                under = below[m2, first - i]
                selected += deal1[m1, i] * (under + from_there[m2, last - i])
                omitted += deal1[m1, i] * (below[m2, last - i] - under)
            sums[0, m1, m2] += selected
            sums[1, m1, m2] += omitted
