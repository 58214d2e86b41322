"""The scores of columns without some of the cases."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from unselected._typing import ColumnNamer, Floats, Ints
from unselected.columns.blocks import (
    Columns,
    find_missing,
    in_threads,
    picked,
    shifted,
    wide_blocks,
)
from unselected.columns.subset import ColumnSubset
from unselected.numerics.kernels import kernels_for, kernels_for_scan
from unselected.selection.count_score import EXPLAINED, CountScore
from unselected.selection.count_scores import CountScores
from unselected.selection.families import FamilyScores, KeyReader
from unselected.selection.pair_scan import PairScan
from unselected.selection.real_scores import RealScores
from unselected.selection.scored_columns import ScoredColumns
from unselected.selection.streaming import Accumulator, StreamingSelection
from unselected.statistics.adjusted_moments import AdjustedMoments
from unselected.statistics.adjusted_sums import adjusted_moments_without
from unselected.statistics.binarizing import (
    AS_IS,
    Binarize,
    FindBinary,
    are_bits,
    find_indicators,
    find_none,
)
from unselected.statistics.counts import ClassCounts, Counted
from unselected.statistics.design import Design
from unselected.statistics.leaving_out import (
    LeftOut,
    SomeMoments,
    bit_counts_without,
    class_moments_without,
    counts_without,
    line_moments_without,
)
from unselected.statistics.moments import ClassMoments, LineMoments, Moments
from unselected.statistics.normal_scores import (
    normal_score_adjusted_moments_without,
    normal_score_line_moments_without,
    normal_score_moments_without,
)

S = TypeVar("S", CountScores, RealScores, FamilyScores, ScoredColumns)

# Bytes of each value of a block of bits, with what is computed from it.
_BYTES_OF_BITS = 2

# Whether real-valued columns are scored and modelled as they are, or by their normal scores.
Marginals = Literal["raw", "normal"]


def count_scores_without(
    X: Columns,
    y: NDArray[np.intp],
    binarize: Binarize,
    label: ColumnNamer,
    sets: list[LeftOut],
    new_stream: Callable[[], StreamingSelection],
    *,
    n_classes: int = 2,
    missing_allowed: bool = False,
    ploidy: int = 1,
    by_total: bool = False,
    score: CountScore = EXPLAINED,
) -> list[CountScores]:
    """Return the scores of binary columns that can be selected without each of some sets of cases.

    Parameters
    ----------
    X, y, binarize, label, n_classes, missing_allowed, ploidy
        As in `counting.over_counts`; the table is read in blocks, which are made dense.
    sets : list of LeftOut
    new_stream : callable
        Returns a new selection by the same rule; each set has its own.
    by_total : bool, default=False
        Whether the totals of all columns are kept.
    score : CountScore, default=EXPLAINED
    """

    def block(values: NDArray[Any], names: ColumnNamer) -> Iterator[tuple[ClassCounts, Floats]]:
        how: dict[str, Any] = {"n_classes": n_classes, "missing_allowed": missing_allowed}
        return counts_without(values, y, binarize, names, sets, **how, ploidy=ploidy)

    def scores(
        counted: tuple[ClassCounts, Floats],
        left: LeftOut,  # noqa: ARG001
        subset: ColumnSubset,
    ) -> CountScores:
        return CountScores.of_part(Counted(*counted), subset, by_total=by_total, score=score)

    blocks = wide_blocks(X, X.dtype.itemsize)
    return scores_of_sets(X, blocks, label, sets, new_stream, block, scores, CountScores.united)


def class_scores_without(
    X: Columns,
    y: NDArray[np.intp],
    n_classes: int,
    label: ColumnNamer,
    sets: list[LeftOut],
    new_stream: Callable[[], StreamingSelection],
) -> list[RealScores]:
    """Return the scores of real-valued columns by class, without each of some sets of cases."""
    n_best = new_stream().n_best

    def block(values: NDArray[Any], names: ColumnNamer) -> Iterator[SomeMoments]:
        return class_moments_without(values, y, n_classes, names, sets, n_best)

    def score(some: SomeMoments, left: LeftOut, subset: ColumnSubset) -> RealScores:  # noqa: ARG001
        if some.places is None:
            return RealScores.of(some.moments, subset)
        scores = RealScores.of(some.moments, subset.take(some.places))
        return replace(scores, n_varying=scores.n_varying + some.n_others)

    blocks = wide_blocks(X)
    return scores_of_sets(X, blocks, label, sets, new_stream, block, score, RealScores.united)


def line_scores_without(
    X: Columns,
    y: Floats,
    label: ColumnNamer,
    sets: list[LeftOut],
    new_stream: Callable[[], StreamingSelection],
) -> list[RealScores]:
    """Return the scores of columns with a real response, without each of some sets of cases."""

    def block(values: NDArray[Any], names: ColumnNamer) -> Iterator[LineMoments]:
        return line_moments_without(values, y, names, sets)

    def score(moments: LineMoments, left: LeftOut, subset: ColumnSubset) -> RealScores:  # noqa: ARG001
        return RealScores.of(moments, subset)

    blocks = wide_blocks(X)
    return scores_of_sets(X, blocks, label, sets, new_stream, block, score, RealScores.united)


def adjusted_scores_without(
    X: Columns,
    design: Design,
    label: ColumnNamer,
    sets: list[LeftOut],
    new_stream: Callable[[], StreamingSelection],
) -> list[RealScores]:
    """Return the scores of columns given covariates, without each of some sets of cases."""

    def block(values: NDArray[Any], names: ColumnNamer) -> Iterator[AdjustedMoments]:
        return adjusted_moments_without(values, design, names, sets)

    def score(moments: AdjustedMoments, left: LeftOut, subset: ColumnSubset) -> RealScores:  # noqa: ARG001
        return RealScores.of(moments, subset)

    blocks = wide_blocks(X)
    return scores_of_sets(X, blocks, label, sets, new_stream, block, score, RealScores.united)


def adjusted_family_scores_without(
    X: Columns,
    design: Design,
    label: ColumnNamer,
    sets: list[LeftOut],
    new_stream: Callable[[], StreamingSelection],
    marginals: tuple[Marginals, ...],
    keys: KeyReader,
    unadjusted_before: bool = False,
) -> list[list[FamilyScores]]:
    """Return the scores of all columns given covariates, as `family_scores_without` does.

    Columns of 0 and 1 are numbers here: covariates act on them as on others. Where columns were
    selected before by unadjusted scores, these are the scores, and models adjust for covariates.
    """

    def block(values: NDArray[Any], names: ColumnNamer) -> Iterator[AdjustedMoments]:
        find_missing(values, names, missing_allowed=True)
        for each in marginals:
            if each == "normal":
                yield from normal_score_adjusted_moments_without(values, design, names, sets)
            else:
                yield from adjusted_moments_without(values, design, names, sets)

    how = (label, sets, new_stream)
    each = _real_family_scores_without(X, *how, block, keys, len(marginals))
    if not unadjusted_before:
        return each
    before = adjusted_family_scores_without(X, design.without_covariates(), *how, marginals, keys)
    return [
        [one.with_adjusted(own) for one, own in zip(*both, strict=True)]
        for both in zip(before, each, strict=True)
    ]


class _FamilyBlock(NamedTuple):
    """The statistics of a block without a set of cases: binary columns first, then the others."""

    places: tuple[Ints, Ints]
    counts: tuple[ClassCounts, Floats] | None
    moments: ClassMoments | None

    def scores(self, subset: ColumnSubset, keys: KeyReader) -> FamilyScores:
        """Return the scores of these columns of a table."""
        binary = real = None
        if self.counts is not None:
            part = subset.take(self.places[0])
            binary = CountScores.of_part(Counted(*self.counts), part, by_total=True)
        if self.moments is not None:
            real = RealScores.of(self.moments, subset.take(self.places[1]))
        return FamilyScores(binary, real, keys)


def family_scores_without(
    X: Columns,
    y: NDArray[np.intp],
    n_classes: int,
    label: ColumnNamer,
    sets: list[LeftOut],
    new_stream: Callable[[], StreamingSelection],
    marginals: tuple[Marginals, ...],
    keys: KeyReader,
    find_binary: FindBinary = find_indicators,
    likely: Ints | None = None,
) -> list[list[FamilyScores]]:
    """Return the scores of binary and real-valued columns, without each of some sets of cases.

    There is a list for each of the marginals. ``find_binary`` says which columns are binary by the
    values of all cases, those left out included: the kind of a column does not depend on the set.
    Where some of its values are missing it is real-valued, because the omission probability of
    binary features takes long for many patterns of known values.

    Where ``likely`` has many of the best columns, the table may be scanned faster. The scores do
    not depend on it.
    """

    def block(values: NDArray[Any], names: ColumnNamer) -> Iterator[_FamilyBlock]:
        find_missing(values, names, missing_allowed=True)
        bits, cuts = find_binary(values)
        places = np.flatnonzero(bits), np.flatnonzero(~bits)
        counts: list[Any] = [None] * len(sets)
        if places[0].size:
            chosen, cuts = values if bits.all() else values[:, places[0]], cuts[places[0]]
            if not (cuts == AS_IS).all():
                chosen = chosen > cuts
            ones = chosen.view(np.uint8) if chosen.dtype.itemsize == 1 else chosen.astype(np.uint8)
            without = bit_counts_without(ones, y, sets, n_classes, kernels)
            counts = [(counted, cuts) for counted in without]
        real, named = values[:, places[1]], picked(names, places[1])
        for each in marginals:
            moments: Any = [None] * len(sets)
            if places[1].size:
                moments = _real_moments(real, y, n_classes, named, sets, each)
            yield from (_FamilyBlock(places, *both) for both in zip(counts, moments, strict=True))

    def score(part: _FamilyBlock, left: LeftOut, subset: ColumnSubset) -> FamilyScores:  # noqa: ARG001
        return part.scores(subset, keys)

    kernels = kernels_for(X.shape[0] * X.shape[1])
    if find_binary is not find_none and n_classes == 2:
        compiled = kernels_for_scan(X.shape[0] * X.shape[1])
        scan = PairScan.of(X, y, sets, new_stream().n_best, compiled, likely)
        found = None if scan is None else scan.scores()
        if found is not None:
            return [[FamilyScores(one, None, keys) for one in found] for _ in marginals]
    each = scores_of_sets(
        X,
        _family_blocks(X),
        label,
        sets * len(marginals),
        new_stream,
        block,
        score,
        FamilyScores.united,
    )
    return [each[start : start + len(sets)] for start in range(0, len(each), len(sets))]


def response_scores_without(
    X: Columns,
    y: Floats,
    label: ColumnNamer,
    sets: list[LeftOut],
    new_stream: Callable[[], StreamingSelection],
    marginals: tuple[Marginals, ...],
    keys: KeyReader,
) -> list[list[FamilyScores]]:
    """Return the scores of columns with a real response, as `family_scores_without` does.

    Columns of 0 and 1 are numbers here: their normal scores are a linear function of them, and the
    score is the same.
    """

    def block(values: NDArray[Any], names: ColumnNamer) -> Iterator[LineMoments]:
        find_missing(values, names, missing_allowed=True)
        for each in marginals:
            if each == "normal":
                yield from normal_score_line_moments_without(values, y, names, sets)
            else:
                yield from line_moments_without(values, y, names, sets)

    return _real_family_scores_without(X, label, sets, new_stream, block, keys, len(marginals))


def _real_family_scores_without(
    X: Columns,
    label: ColumnNamer,
    sets: list[LeftOut],
    new_stream: Callable[[], StreamingSelection],
    block: Callable[[NDArray[Any], ColumnNamer], Iterator[Any]],
    keys: KeyReader,
    n_marginals: int,
) -> list[list[FamilyScores]]:
    """Return the scores of columns that are all real-valued, from moments by marginals and set."""

    def score(moments: Moments, left: LeftOut, subset: ColumnSubset) -> FamilyScores:  # noqa: ARG001
        return FamilyScores(None, RealScores.of(moments, subset), keys)

    each = scores_of_sets(
        X, wide_blocks(X), label, sets * n_marginals, new_stream, block, score, FamilyScores.united
    )
    return [each[start : start + len(sets)] for start in range(0, len(each), len(sets))]


def _family_blocks(X: Columns) -> list[slice]:
    """Return blocks of columns; wider ones where the table starts with bytes of 0 and 1.

    These are counted as they are, while real-valued columns are copied as doubles.
    """
    blocks = wide_blocks(X)
    if isinstance(X, np.ndarray) and X.itemsize == 1 and are_bits(X[:, blocks[0]]).all():
        return wide_blocks(X, _BYTES_OF_BITS)
    return blocks


def _real_moments(
    X: NDArray[Any],
    y: NDArray[np.intp],
    n_classes: int,
    label: ColumnNamer,
    sets: list[LeftOut],
    marginals: Marginals,
) -> Iterator[ClassMoments]:
    if marginals == "normal":
        return normal_score_moments_without(X, y, n_classes, label, sets)
    return (some.moments for some in class_moments_without(X, y, n_classes, label, sets))


def scores_of_sets(
    X: Columns,
    blocks: list[slice],
    label: ColumnNamer,
    sets: list[LeftOut],
    new_stream: Callable[[], StreamingSelection],
    block: Callable[[NDArray[Any], ColumnNamer], Iterator[Any]],
    score: Callable[[Any, LeftOut, ColumnSubset], S],
    unite: Callable[[list[S]], S],
) -> list[S]:
    """Return the scores without each set of cases, in one pass over the blocks of columns.

    ``block`` yields what ``score`` needs of a block without each set.
    """
    streams = [new_stream() for _ in sets]
    accumulators = [Accumulator(stream, unite) for stream in streams]
    p = X.shape[1]

    def work(columns: slice) -> list[S]:
        subset = ColumnSubset(np.arange(columns.start, columns.stop), p)
        summed = block(X[:, columns], shifted(label, columns.start))
        each = zip(streams, sets, summed, strict=True)
        return [stream.filter(score(part, left, subset)) for stream, left, part in each]

    for parts in in_threads(work, blocks):
        for accumulator, part in zip(accumulators, parts, strict=True):
            accumulator.add(part)
    return [accumulator.result() for accumulator in accumulators]
