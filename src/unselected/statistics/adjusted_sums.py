"""Sums of real-valued columns with covariates and codes of the response."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unselected._typing import Bools, ColumnNamer, Floats
from unselected.columns.blocks import check_finite, picked
from unselected.columns.sources import SparseColumns
from unselected.statistics.adjusted_moments import AdjustedMoments
from unselected.statistics.block_sums import BlockSums
from unselected.statistics.design import Design, Geometry
from unselected.statistics.differences import centred, in_memory, not_told
from unselected.statistics.leaving_out import LeftOut, to_be_summed_anew

# Factors that compiled sums take at a time.
_FACTORS_TOGETHER = 3
# What covariates leave of a column is rounding below this part of its squares: where covariates are
# subtracted before squares are summed, and afterwards.
_ROUNDING, _ROUNDING_AFTERWARDS = 1e-20, 1e-12


@dataclass(frozen=True, eq=False)
class AdjustedSums(BlockSums[AdjustedMoments]):
    """The sums of a block with the covariates and codes of its rows.

    ``n_contrasts`` is that of all cases: without some of them there may be fewer.
    """

    design: Design
    n_contrasts: int

    @cached_property
    def complete(self) -> Geometry:
        """The geometry of a column without missing values."""
        return self.design.geometry(n_contrasts=self.n_contrasts)

    @cached_property
    def factors(self) -> Floats:
        """What columns are multiplied with, see `Design`."""
        return np.ascontiguousarray(self.design.factors)

    def moments(
        self,
        center: Floats,
        products: Floats,
        squares: Floats,
        geometry: Geometry | None = None,
    ) -> AdjustedMoments:
        """Return moments from sums of products with `factors`, and of squares."""
        both = self.design.split(products)
        return AdjustedMoments.of(self.design, self.complete, center, both, squares, geometry)

    def _compiled(self, kernels: Any, rows: NDArray[Any]) -> tuple[AdjustedMoments, Floats]:
        center, size = rows[0].astype(np.float64), self.factors.shape[1]
        factors = np.pad(self.factors, ((0, 0), (0, -size % _FACTORS_TOGETHER)))
        products, squares = np.zeros((factors.shape[1], center.size)), np.zeros(center.size)
        kernels.sum_products(*in_memory(rows), factors, center, products, squares)
        return self.moments(center, products[:size], squares), squares

    def _summed(self, center: Floats, D: Floats, missing: Bools | None) -> AdjustedMoments:
        geometry = None
        if missing is not None:
            D[missing] = 0.0
            geometry = self.design.geometry(~missing, n_contrasts=self.n_contrasts)
        squares = np.einsum("np,np->p", D, D)
        moments = self.moments(center, self.factors.T @ D, squares, geometry)
        others = not_told(squares, moments.within)
        if not others.size:
            return moments
        some = others if others.size > 1 else np.repeat(others, 2)  # in company, see `exact`
        exact = self._subtracted_first(
            center[some],
            D[:, some],
            None if missing is None else missing[:, some],
            None if geometry is None else geometry.take(some),
        )
        return moments.with_columns(others, exact.take(np.arange(others.size)))

    def _subtracted_first(
        self, center: Floats, D: Floats, missing: Bools | None, geometry: Geometry | None
    ) -> AdjustedMoments:
        """Return moments of differences, the covariates subtracted before squares are summed."""
        used = self.complete if geometry is None else geometry
        before = np.einsum("np,np->p", D, D)
        offset = used.coefficients(self.design.Z.T @ D)
        D -= self.design.Z @ offset
        if missing is not None:
            D[missing] = 0.0
        rest = self.moments(center, self.factors.T @ D, np.square(D).sum(axis=0), geometry)
        moments = replace(rest, offset=offset + rest.offset)
        return moments.without_rounding(before, _ROUNDING)

    def _of_stored(self, X: SparseColumns) -> AdjustedMoments:
        products = np.stack([X.sums(column, 1) for column in self.factors.T])
        squares = X.sums(np.ones(X.shape[0]), 2)
        moments = self.moments(np.zeros(X.shape[1]), products, squares)
        again = to_be_summed_anew(moments.within, squares)
        moments.within[again[squares[again] > 0.0]] = np.nan  # by which they are made dense
        return moments


def adjusted_moments_without(
    X: NDArray[Any], design: Design, label: ColumnNamer, sets: list[LeftOut]
) -> Iterator[AdjustedMoments]:
    """Yield the moments of a block given covariates, without each set of cases.

    Columns of which little is left are summed again.
    """
    check_finite(X, label, missing_allowed=True)
    center, D = centred(X)
    unknown = np.isnan(D) if np.isnan(D.sum()) else None
    mean = np.nanmean(D, axis=0) if unknown is not None else D.mean(axis=0)
    center, D = center + mean, D - mean
    if unknown is not None:
        D[unknown] = 0.0
    factors, q = design.factors, design.n_contrasts
    products, squares = factors.T @ D, np.square(D).sum(axis=0)
    for left in sets:
        sums = AdjustedSums(design.without(left.kept), q)
        out = D[left.out]
        own = products - factors[left.out].T @ out
        own[design.Z.shape[1] :] *= design.unit / sums.design.unit
        rest = squares - np.square(out).sum(axis=0)
        geometry = None
        if unknown is not None:
            geometry = sums.design.geometry(~unknown[left.kept], n_contrasts=q)
        moments = sums.moments(center, own, rest, geometry)
        again = to_be_summed_anew(moments.within, squares)
        if again.size:
            exact = sums.exact(X[np.ix_(left.kept, again)], picked(label, again))
            moments = moments.with_columns(again, exact)
        yield moments


def adjusted_moments_of(scores: Floats, known: Bools | None, sums: AdjustedSums) -> AdjustedMoments:
    """Return the moments of scores (n, width), which are 0 where not known, as they are."""
    geometry = None
    if known is not None:
        geometry = sums.design.geometry(known, n_contrasts=sums.n_contrasts)
    squares = np.square(scores).sum(axis=0)
    moments = sums.moments(np.zeros(scores.shape[1]), sums.factors.T @ scores, squares, geometry)
    within = np.maximum(moments.within, 0.0)
    within[within < _ROUNDING_AFTERWARDS * squares] = 0.0
    return replace(moments, within=within).without_rounding(squares, _ROUNDING_AFTERWARDS)
