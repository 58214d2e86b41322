"""Normal scores: a monotone transform of each column that makes its marginal distribution normal.

The value with rank r among m known values becomes the normal quantile of (r - 1/2) / m; equal
values share their mean rank. Raw intensities, ratios and counts are often far from normal, and a
column's extreme values then dominate its mean and its variance. New values are interpolated between
the training values. Beyond these the transform continues as a straight line, for one unit at most:
an extreme value stays extreme, but not by any amount.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from unselected._typing import Bools, ColumnNamer, Floats, Ints
from unselected.columns.blocks import check_finite
from unselected.statistics.adjusted_moments import AdjustedMoments
from unselected.statistics.adjusted_sums import AdjustedSums, adjusted_moments_of
from unselected.statistics.design import Design
from unselected.statistics.leaving_out import LeftOut
from unselected.statistics.moments import ClassMoments, LineMoments

# Largest distance beyond the scores of the training values.
_TAIL = 1.0
_TINY = np.finfo(np.float64).tiny
# Distinct training values that the transform of new values passes through.
MOST_KNOTS = 128


@dataclass(frozen=True, eq=False)
class NormalScores:
    """The transform of k columns.

    Attributes
    ----------
    values, scores : tuples of arrays
        For each column: increasing training values, and their scores. A constant column has one.
    slopes : array of shape (k,)
        Units of the score for one unit of the value, beyond the training values.
    """

    values: tuple[Floats, ...]
    scores: tuple[Floats, ...]
    slopes: Floats

    @classmethod
    def learn(cls, X: NDArray[Any]) -> "NormalScores":
        """Learn the transform from the training rows (n, k); NaN is a missing value.

        >>> scores = NormalScores.learn(np.array([[1.0], [10.0], [100.0]]))
        >>> scores.apply(np.array([[1.0], [10.0], [55.0], [1000.0]])).round(3).ravel().tolist()
        [-0.967, 0.0, 0.484, 1.967]
        """
        columns = np.sort(np.asarray(X, dtype=np.float64).T, axis=1)  # missing values are last
        slopes = np.empty(len(columns))
        each: list[tuple[Floats, Floats]] = [(slopes, slopes)] * len(columns)
        distinct = ~np.isnan(columns).any(axis=1) & (np.diff(columns, axis=1) > 0.0).all(axis=1)
        for j in np.flatnonzero(~distinct):
            values, scores, slopes[j] = _knots(columns[j])
            each[j] = values, scores
        if distinct.any():  # one value after the other: all have the same scores
            scores = ndtri((np.arange(len(X)) + 0.5) / len(X))
            deviation = np.std(columns[distinct], axis=1)
            spread = np.sqrt(np.mean(scores**2))
            slopes[distinct] = np.where(deviation > 0.0, spread, 0.0) / np.maximum(deviation, _TINY)
            chosen = _chosen(scores)
            for j, values in zip(
                np.flatnonzero(distinct), columns[distinct][:, chosen], strict=True
            ):
                each[j] = values, scores[chosen]
        return cls(tuple(one[0] for one in each), tuple(one[1] for one in each), slopes)

    def apply(self, X: NDArray[Any]) -> Floats:
        """Return the scores of rows (n, k); NaN stays NaN."""
        result = np.empty(X.shape)
        n_knots = np.array([values.size for values in self.values], dtype=np.intp)
        for n in np.unique(n_knots):
            some = np.flatnonzero(n_knots == n)
            values, scores = (
                np.stack([each[j] for j in some]) for each in (self.values, self.scores)
            )
            x = np.asarray(X[:, some], dtype=np.float64)
            inside = np.clip(x, values[:, 0], values[:, -1])
            tail = np.clip(self.slopes[some] * (x - inside), -_TAIL, _TAIL)
            result[:, some] = _interpolated(inside, values, scores) + tail
        return result

    def invert(self, scores: Floats) -> Floats:
        """Return the values that have these scores, (n, k); NaN stays NaN.

        Beyond the scores of the training values this is the straight line of `apply`, to the same
        end: scores that no value has give the value at that end.

        >>> normal = NormalScores.learn(np.array([[1.0], [10.0], [100.0]]))
        >>> normal.invert(normal.apply(np.array([[1.0], [10.0], [55.0]]))).round(9).ravel().tolist()
        [1.0, 10.0, 55.0]
        """
        result = np.empty(scores.shape)
        each = zip(self.values, self.scores, self.slopes, strict=True)
        for j, (values, own, slope) in enumerate(each):
            z = scores[:, j]
            beyond = np.clip(z - np.clip(z, own[0], own[-1]), -_TAIL, _TAIL)
            known = np.interp(z, own, values) + (beyond / slope if slope > 0.0 else 0.0)
            result[:, j] = np.where(np.isnan(z), np.nan, known)
        return result

    def take(self, columns: Ints) -> "NormalScores":
        """Return the transform of some columns."""
        values, scores = (
            tuple(each[j] for j in columns.tolist()) for each in (self.values, self.scores)
        )
        return NormalScores(values, scores, self.slopes[columns])


def _knots(x: Floats) -> tuple[Floats, Floats, float]:
    """Return training values, their scores, and the slope beyond them."""
    x = x[~np.isnan(x)]
    if not x.size:
        return np.zeros(1), np.zeros(1), 0.0
    values, counts = np.unique(x, return_counts=True)
    above = np.cumsum(counts)
    scores = ndtri((above - 0.5 * counts) / x.size)
    deviation = float(np.std(x))
    spread = float(np.sqrt(counts @ scores**2 / x.size))
    slope = spread / deviation if deviation > 0.0 else 0.0
    chosen = _chosen(scores)
    return values[chosen], scores[chosen], slope


def _chosen(scores: Floats) -> Ints:
    """Return which of the increasing scores of training values are knots."""
    if scores.size <= MOST_KNOTS:
        return np.arange(scores.size)
    even = np.linspace(scores[0], scores[-1], MOST_KNOTS)  # which has knots in the tails too
    return np.unique(np.searchsorted(scores, even))


def _interpolated(x: Floats, values: Floats, scores: Floats) -> Floats:
    """Return the scores of x (n, k) between knots (k, knots), all columns at once by bisection."""
    columns, last = np.arange(len(values)), values.shape[1] - 1
    before = np.zeros(x.shape, dtype=np.intp)
    for step in (1 << bit for bit in reversed(range(last.bit_length()))):
        farther = np.minimum(before + step, last)
        before = np.where(values[columns, farther] <= x, farther, before)
    after = np.minimum(before + 1, last)
    low, width = values[columns, before], values[columns, after] - values[columns, before]
    part = np.divide(x - low, width, out=x - low, where=width > 0.0)  # NaN where x is missing
    rise = scores[columns, after] - scores[columns, before]
    return np.asarray(scores[columns, before] + part * rise)


def normal_score_moments_without(
    X: NDArray[Any],
    y: NDArray[np.intp],
    n_classes: int,
    label: ColumnNamer,
    sets: list[LeftOut],
) -> Iterator[ClassMoments]:
    """Yield the moments by class of a block's normal scores, without each of some sets of cases.

    The values are sorted once. Without a set of cases, ranks are counts of the others along that
    order.
    """
    check_finite(X, label, missing_allowed=True)
    block = _SortedBlock.of(X)
    codes = y[block.order]
    in_class = [(codes == g).astype(np.float64) for g in range(n_classes)]
    for left in sets:
        sizes = np.bincount(y[left.kept], minlength=n_classes)
        yield _class_moments(*block.scores(left.kept), in_class, sizes, block.known is None)


def _class_moments(
    scores: Floats, here: Bools, in_class: list[Floats], sizes: Ints, complete: bool
) -> ClassMoments:
    """Return moments by class from scores, 0 where they are not ``here``, in sorted order.

    ``in_class`` has an array for each class: 1 for its cases.
    """
    n = sizes[:, np.newaxis]
    if not complete:
        counts = [np.einsum("wn,wn->w", here, each) for each in in_class]
        n = np.stack(counts).round().astype(np.int64)
    sums = np.stack([np.einsum("wn,wn->w", scores, each) for each in in_class])
    mean = sums / np.maximum(n, 1)
    squares = np.einsum("wn,wn->w", scores, scores)
    within = np.maximum(squares - np.sum(n * mean**2, axis=0), 0.0)
    within[within < 1e-12 * squares] = 0.0  # rounding: no variance within classes
    return ClassMoments(np.zeros(len(scores)), mean, within, sizes, n)


def normal_score_line_moments_without(
    X: NDArray[Any], y: Floats, label: ColumnNamer, sets: list[LeftOut]
) -> Iterator[LineMoments]:
    """Yield the moments of a block's normal scores with a real response, as above."""
    check_finite(X, label, missing_allowed=True)
    block = _SortedBlock.of(X)
    responses = y[block.order]
    for left in sets:
        yield _line_moments(*block.scores(left.kept), responses, y[left.kept], block.known is None)


def _line_moments(
    scores: Floats, here: Bools, responses: Floats, y: Floats, complete: bool
) -> LineMoments:
    """Return moments with the response, in sorted order; ``y`` are those of the cases used."""
    y_mean: Any = y.mean()
    away = np.where(here, responses - y_mean, 0.0)
    syy: Any = float(np.sum((y - y_mean) ** 2))
    whole, n = (y.size, syy), np.full(len(scores), y.size)
    if not complete:
        n = here.sum(axis=1)
        shift = np.where(n == y.size, 0.0, away.sum(axis=1) / np.maximum(n, 1))
        away = np.where(here, away - shift[:, np.newaxis], 0.0)
        y_mean = y_mean + shift
        syy = np.where(n == y.size, syy, np.einsum("wn,wn->w", away, away))
    offset = scores.sum(axis=1) / np.maximum(n, 1)
    squares = np.einsum("wn,wn->w", scores, scores)
    sxy = np.einsum("wn,wn->w", scores, away)
    with np.errstate(divide="ignore", invalid="ignore"):
        within = np.nan_to_num(squares - n * offset**2 - sxy**2 / syy)
    within[within < 1e-12 * squares] = 0.0
    return LineMoments.of(whole, n, y_mean, syy, np.zeros(len(scores)), offset, sxy, within)


def normal_score_adjusted_moments_without(
    X: NDArray[Any], design: Design, label: ColumnNamer, sets: list[LeftOut]
) -> Iterator[AdjustedMoments]:
    """Yield the moments of a block's normal scores given covariates, as above."""
    check_finite(X, label, missing_allowed=True)
    block, n = _SortedBlock.of(X), design.n_contrasts
    for left in sets:
        scores, here = block.scores(left.kept)
        in_rows = block.in_order_of_rows(scores)[left.kept]
        known = None
        if block.known is not None:
            known = block.in_order_of_rows(here)[left.kept]
        yield adjusted_moments_of(in_rows, known, AdjustedSums(design.without(left.kept), n))


@dataclass(frozen=True, eq=False)
class _SortedBlock:
    """The values of a block, each column sorted; a row of an array is a column of the block.

    Attributes
    ----------
    order : array of shape (width, n)
    known : array of shape (width, n) or None
        Which values are not missing; None where all are known.
    ends : pair of arrays of shape (width, n), or None
        Where the values that equal this one start and stop, as places in an array of the shape
        (width, n + 1); None without ties.
    """

    order: Ints
    known: Bools | None
    ends: tuple[Ints, Ints] | None

    @classmethod
    def of(cls, X: NDArray[Any]) -> "_SortedBlock":
        values = np.ascontiguousarray(X.T)
        order = np.argsort(values, axis=1, kind="stable")
        values = np.take_along_axis(values, order, axis=1)
        missing = np.isnan(values) if values.dtype.kind == "f" else None
        known = None if missing is None or not missing.any() else ~missing
        return cls(order, known, _ends_of_ties(values))

    def scores(self, rows: Ints) -> tuple[Floats, Bools]:
        """Return the normal scores among some rows, 0 elsewhere, and which values are there."""
        chosen = np.zeros(self.order.shape[1], dtype=bool)
        chosen[rows] = True
        here = chosen[self.order]
        if self.known is not None:
            here &= self.known
        return self._scores(here), here

    def in_order_of_rows(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return values in sorted order (width, n) as an array (n, width) in that of the rows."""
        result = np.empty_like(values)
        np.put_along_axis(result, self.order, values, axis=1)
        return result.T

    def _scores(self, here: Bools) -> Floats:
        """Return the normal scores of the values that are here, in sorted order; 0 elsewhere."""
        before = np.zeros((len(here), here.shape[1] + 1), dtype=np.int32)
        np.cumsum(here, axis=1, out=before[:, 1:])
        total = before[:, -1]
        if self.ends is None:
            twice = before[:, :-1] + before[:, 1:]
        else:
            start, stop = self.ends
            twice = before.take(start) + before.take(stop)
        if (total == total[0]).all():
            ranks = np.arange(2 * total[0])
            table = ndtri(np.clip(ranks, 0.5, None) / (2.0 * total[0] + 1e-300))
            scores = np.append(table, 0.0).take(twice)  # only values that are not here come last
            scores *= here
            return scores
        scores = ndtri(np.clip(twice, 0.5, None) / (2.0 * np.maximum(total, 1))[:, np.newaxis])
        return np.where(here, scores, 0.0)


def _ends_of_ties(values: NDArray[Any]) -> tuple[Ints, Ints] | None:
    """Return where equal values of sorted rows start and stop; None without any."""
    new = values[:, 1:] != values[:, :-1]
    if new.all():
        return None
    place = np.arange(values.shape[1])
    edge = np.ones((len(values), 1), dtype=bool)
    first = np.where(np.hstack([edge, new]), place, 0)
    last = np.where(np.hstack([new, edge]), place, values.shape[1])
    first = np.maximum.accumulate(first, axis=1)
    last = np.minimum.accumulate(last[:, ::-1], axis=1)[:, ::-1]
    row = (values.shape[1] + 1) * np.arange(len(values))[:, np.newaxis]
    return row + first, row + last + 1
