"""The statistics without some of the cases, for many such sets of cases, in one pass.

Leaving out a case changes counts, or sums, by one row; the rest of the table is not read again.
Every set of cases left out has a selection of its own, with its own scores, cuts at medians, and k
best columns.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unselected._typing import ColumnNamer, Floats, Ints
from unselected.columns.blocks import check_finite, find_missing, picked
from unselected.statistics.binarizing import AS_IS, Binarize, are_bits, find_cuts
from unselected.statistics.bit_sums import sums_by_group, with_solid_rows
from unselected.statistics.class_sums import ClassSums
from unselected.statistics.counts import ClassCounts, count_type
from unselected.statistics.differences import centred
from unselected.statistics.genotypes import check_genotypes, copies
from unselected.statistics.line_sums import LineSums
from unselected.statistics.moments import ClassMoments, LineMoments

# Where less than this part of a sum of squares is left, the subtraction has lost digits.
_LITTLE = 1e-3


@dataclass(frozen=True, eq=False)
class LeftOut:
    """A set of cases that is left out.

    Attributes
    ----------
    out, kept : arrays of int
        Rows of these cases, and of the others.
    asked : array of int
        Rows that are to be predicted without them.
    """

    out: Ints
    kept: Ints
    asked: Ints

    @classmethod
    def rows(cls, out: Ints, n: int, asked: Ints | None = None) -> "LeftOut":
        """Return the set of some of n cases.

        >>> LeftOut.rows(np.array([1]), 3).kept.tolist()
        [0, 2]
        """
        return cls(out, np.delete(np.arange(n), out), out if asked is None else asked)

    @classmethod
    def each_of(cls, n: int) -> "list[LeftOut]":
        """Return each single case."""
        return [cls.rows(np.array([i]), n) for i in range(n)]


def counts_without(
    X: NDArray[Any],
    y: NDArray[np.intp],
    binarize: Binarize,
    label: ColumnNamer,
    sets: list[LeftOut],
    *,
    n_classes: int = 2,
    missing_allowed: bool = False,
    ploidy: int = 1,
) -> Iterator[tuple[ClassCounts, Floats]]:
    """Yield the counts by class and the cuts (width,) of a block without each set of cases.

    Parameters
    ----------
    X, y, binarize, label, n_classes, missing_allowed, ploidy
        As in `counting.over_counts`.
    sets : list of LeftOut
    """
    missing = find_missing(X, label, missing_allowed=missing_allowed)
    if ploidy > 1:
        check_genotypes(X, label, missing)
        cuts, bits = np.full(X.shape[1], AS_IS), copies(X, missing)
    else:
        cuts = find_cuts(X, binarize, label, missing)
        bits = (cuts < X).view(np.uint8)
    total = _sums_by_class(bits, y, n_classes, ploidy)
    holes = None if missing is None else _sums_by_class(missing, y, n_classes)
    moving = np.array([], dtype=np.intp)  # columns whose cuts depend on the cases
    if binarize in ("auto", "median") and ploidy == 1:
        fixed = are_bits(X, missing) if binarize == "auto" else np.zeros(X.shape[1], dtype=np.bool_)
        moving = np.flatnonzero(~fixed)
    values = X[:, moving]
    unknown = None if missing is None else missing[:, moving]
    for left in sets:
        ones, own_cuts = _without_rows(total, bits, y, left.out), cuts
        if moving.size:
            rest = values[left.kept]
            own_cuts = cuts.copy()
            own_missing = None if unknown is None else unknown[left.kept]
            own_cuts[moving] = find_cuts(rest, binarize, label, own_missing)
            above = rest > own_cuts[moving]
            ones[:, moving] = _sums_by_class(above, y[left.kept], n_classes)
        known, sizes = None, ploidy * np.bincount(y[left.kept], minlength=n_classes)
        if missing is not None and holes is not None:
            own_holes = _without_rows(holes, missing.view(np.uint8), y, left.out)
            if own_holes.any():
                own_holes = ploidy * own_holes.astype(ones.dtype)
                known = (sizes[:, np.newaxis] - own_holes).astype(ones.dtype)
        yield ClassCounts(ones, sizes, known), own_cuts


def bit_counts_without(
    bits: NDArray[np.uint8], y: NDArray[np.intp], sets: list[LeftOut], n_classes: int, kernels: Any
) -> Iterator[ClassCounts]:
    """Yield the counts by class of a block of 0 and 1 without each set of cases.

    Neighbouring sets that have no case in common, as the folds of a division, are summed together:
    the block is looked at once for all of them.

    Parameters
    ----------
    bits : array of shape (n, width)
    y : array of shape (n,)
    sets : list of LeftOut
    n_classes : int
    kernels : module or None
        Compiled loops, see `kernels`.
    """
    bits = with_solid_rows(bits)
    total = sums_by_group(bits, y, n_classes, kernels)
    for some in disjoint(sets):
        group_of = np.full(y.size, -1)
        for number, left in enumerate(some):
            group_of[left.out] = number * n_classes + y[left.out]
        sums = sums_by_group(bits, group_of, len(some) * n_classes, kernels)
        for left, taken in zip(some, sums.reshape(len(some), n_classes, -1), strict=True):
            yield ClassCounts(total - taken, np.bincount(y[left.kept], minlength=n_classes))


def disjoint(sets: list[LeftOut]) -> Iterator[list[LeftOut]]:
    """Yield neighbouring sets that have no case in common, as many as there are, one after another.

    >>> sets = [LeftOut.rows(np.array(out), 4) for out in ([0, 1], [2], [1, 3])]
    >>> [len(some) for some in disjoint(sets)]
    [2, 1]
    """
    some: list[LeftOut] = []
    taken = np.zeros(sets[0].out.size + sets[0].kept.size, dtype=np.bool_)
    for left in sets:
        if taken[left.out].any():
            yield some
            some, taken = [], np.zeros_like(taken)
        some.append(left)
        taken[left.out] = True
    yield some


def _sums_by_class(
    bits: NDArray[Any], y: NDArray[np.intp], n_classes: int, largest: int = 1
) -> NDArray[Any]:
    """Return the sums of values up to the largest in the rows of each class, shape (G, width)."""
    small = count_type(largest * len(bits))
    return np.stack([bits[y == g].sum(axis=0, dtype=small) for g in range(n_classes)])


def _without_rows(
    sums: NDArray[Any], bits: NDArray[np.uint8], y: NDArray[np.intp], out: Ints
) -> NDArray[Any]:
    """Return the sums by class without some rows."""
    rest = sums.copy()
    for row in out:
        rest[y[row]] -= bits[row]
    return rest


@dataclass(frozen=True, eq=False)
class _Differences:
    """Differences of the values of a block from one of each column, 0 where missing."""

    center: Floats
    values: Floats
    known: NDArray[np.bool_] | None

    @classmethod
    def of(cls, X: NDArray[Any], label: ColumnNamer) -> "_Differences":
        check_finite(X, label, missing_allowed=True)
        center, values = centred(X)
        unknown = np.isnan(values) if np.isnan(values.sum()) else None
        if unknown is None:
            return cls(center, values, None)
        values[unknown] = 0.0
        return cls(center, values, ~unknown)

    def n_known(self, rows: Ints) -> NDArray[Any]:
        """Return the numbers of known values among some rows, (width,), or (1,) if equal."""
        return np.array([rows.size]) if self.known is None else self.known[rows].sum(axis=0)

    def around(self, mean: Floats, rows: Ints, columns: Ints | slice = slice(None)) -> Floats:
        """Return the differences of the known values of some rows and columns from a mean."""
        values = self.values[rows][:, columns] - mean
        return values if self.known is None else np.where(self.known[rows][:, columns], values, 0.0)


@dataclass(frozen=True, eq=False)
class SomeMoments:
    """The moments of the columns of a block that can be selected.

    Attributes
    ----------
    moments : ClassMoments
    places : array of int or None
        Their positions in the block; None for all.
    n_others : int
        Number of other columns, all of which vary.
    """

    moments: ClassMoments
    places: Ints | None
    n_others: int


@dataclass(frozen=True, eq=False)
class _ClassSums:
    """The sums of a block by class, from which those of cases left out are subtracted.

    Attributes
    ----------
    X, y, sizes, label
        The block, the classes of the cases and their sizes, and the name of a column in errors.
    d : _Differences
    n, sums, mean, squares : arrays of shape (G, width)
        Known values, and sums and means of differences and their squares around the means; ``n``
        has the shape (G, 1) where no value is missing.
    """

    X: NDArray[Any]
    y: NDArray[np.intp]
    sizes: Ints
    label: ColumnNamer
    d: _Differences
    n: Ints
    sums: Floats
    mean: Floats
    squares: Floats

    @classmethod
    @np.errstate(divide="ignore", invalid="ignore", over="ignore")
    def of(
        cls, X: NDArray[Any], y: NDArray[np.intp], n_classes: int, label: ColumnNamer
    ) -> "_ClassSums":
        d = _Differences.of(X, label)
        rows_of = [np.flatnonzero(y == g) for g in range(n_classes)]
        n = np.stack([d.n_known(rows) for rows in rows_of])
        sums = np.stack([d.values[rows].sum(axis=0) for rows in rows_of])
        mean = sums / n
        squares = np.stack(
            [np.sum(d.around(m, rows) ** 2, axis=0) for m, rows in zip(mean, rows_of, strict=True)]
        )
        sizes = np.bincount(y, minlength=n_classes)
        return cls(X, y, sizes, label, d, n, sums, mean, squares)

    @cached_property
    def all_squares(self) -> Floats:
        """The sums of squares within all classes."""
        return np.asarray(self.squares.sum(axis=0))

    @cached_property
    def _around_all(self) -> tuple[Floats, Floats]:
        """The means over all classes, and the sums of squares around them."""
        mean = self.sizes @ self.mean / self.sizes.sum()
        return mean, self.all_squares + self.sizes @ (self.mean - mean) ** 2

    def _promising(self, row: int, k: int) -> Ints | None:
        """Return the columns that may be among the k best without a case; None for all.

        Without a case x of class g the sums of squares around all means and around the class means
        are

            T' = T - (x - m)^2 n / (n - 1),  W' = W - (x - m_g)^2 n_g / (n_g - 1),

        and every score grows with T' / W'. No value may be missing.
        """
        n, g, x = self.y.size, self.y[row], self.d.values[row]
        if k >= x.size or self.sizes[g] < 2:
            return None
        mean, total = self._around_all
        share = self.sizes[g] / (self.sizes[g] - 1.0)
        within = self.all_squares - (x - self.mean[g]) ** 2 * share
        ratio = (total - (x - mean) ** 2 * (n / (n - 1.0))) / within
        doubtful = ~(within > _LITTLE * self.all_squares)
        ratio[doubtful] = 0.0  # their scores are not known: they neither compete nor drop out
        kth = np.partition(ratio, x.size - k)[x.size - k]
        # Where this is large, the effect of rounding on ratio - 1 is small.
        return np.flatnonzero((ratio >= kth - 1e-6 * max(kth - 1.0, 1e-3)) | doubtful)

    @np.errstate(divide="ignore", invalid="ignore", over="ignore")
    def without(self, left: LeftOut, n_best: int | None) -> SomeMoments:
        """Return the moments without a set of cases, of the columns that can be selected."""
        d, y, places = self.d, self.y, None
        if n_best is not None and left.out.size == 1 and d.known is None:
            places = self._promising(int(left.out[0]), n_best)
        some: Ints | slice = slice(None) if places is None else places
        which = np.arange(self.X.shape[1])[some]
        own_n = self.n.copy() if self.n.shape[1] == 1 else self.n[:, some].copy()
        own_mean, own_squares = self.mean[:, some].copy(), self.squares[:, some].copy()
        for g in np.unique(y[left.out]):
            out = left.out[y[left.out] == g]
            own_n[g] = self.n[g] - d.n_known(out)
            own_mean[g] = (self.sums[g, some] - d.values[out][:, some].sum(axis=0)) / own_n[g]
            taken = np.sum(d.around(self.mean[g, some], out, some) ** 2, axis=0)
            moved = own_mean[g] - self.mean[g, some]
            own_squares[g] = self.squares[g, some] - taken - own_n[g] * moved**2
        rest = ClassSums(y[left.kept], self.sizes.size)
        within = own_squares.sum(axis=0)
        moments = ClassMoments(d.center[some], own_mean, within, rest.sizes, own_n)
        again = to_be_summed_anew(within, self.all_squares[some])
        if again.size:
            values, names = (
                self.X[np.ix_(left.kept, which[again])],
                picked(self.label, which[again]),
            )
            moments = moments.with_columns(again, rest.exact(values, names))
        return SomeMoments(moments, places, self.X.shape[1] - which.size)


def class_moments_without(
    X: NDArray[Any],
    y: NDArray[np.intp],
    n_classes: int,
    label: ColumnNamer,
    sets: list[LeftOut],
    n_best: int | None = None,
) -> Iterator[SomeMoments]:
    """Yield the moments by class without each set of cases, from those of all cases.

    Columns of which little is left, or whose sums cannot be subtracted, are summed again.
    """
    sums = _ClassSums.of(X, y, n_classes, label)
    for left in sets:
        yield sums.without(left, n_best)


def line_moments_without(
    X: NDArray[Any], y: Floats, label: ColumnNamer, sets: list[LeftOut]
) -> Iterator[LineMoments]:
    """Yield the moments with a real response without each set of cases.

    Columns with missing values are summed again for each set, because their known cases differ.
    """
    d = _Differences.of(X, label)
    Y = y - y.mean()
    sums, mean = d.values.sum(axis=0), d.values.mean(axis=0)
    squares = np.sum((d.values - mean) ** 2, axis=0)
    products = Y @ (d.values - mean)
    holes = np.flatnonzero([] if d.known is None else ~d.known.all(axis=0))
    for left in sets:
        rest = y[left.kept]
        m, rest_mean = rest.size, rest.mean()
        syy = float(np.sum((rest - rest_mean) ** 2))
        own_mean = (sums - d.values[left.out].sum(axis=0)) / m
        away = d.values[left.out] - mean
        total = squares - np.sum(away**2, axis=0) - m * (own_mean - mean) ** 2
        shift = rest_mean - y.mean()
        sxy = products - Y[left.out] @ away - m * shift * (own_mean - mean)
        sums_of_y, within = ((m, syy), m, rest_mean, syy), total - sxy**2 / syy
        moments = LineMoments.of(*sums_of_y, d.center, own_mean, sxy, within)
        again = np.union1d(to_be_summed_anew(within, squares), holes)
        if again.size:
            exact = LineSums(rest).exact(X[np.ix_(left.kept, again)], picked(label, again))
            moments = moments.with_columns(again, exact)
        yield moments


def to_be_summed_anew(within: Floats, before: Floats) -> Ints:
    """Return the columns with little left of their squares, constant ones included."""
    return np.flatnonzero(~(within > _LITTLE * before))
