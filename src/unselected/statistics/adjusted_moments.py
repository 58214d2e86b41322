"""Sufficient statistics of real-valued columns with covariates projected out."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from unselected._typing import Floats, Ints
from unselected.statistics.design import Design, Geometry
from unselected.statistics.moments import Contrasts, Moments, Statistic, distinct_rows
from unselected.statistics.unscored import SAME_RESPONSE, SCORED, TOO_FEW


@dataclass(frozen=True)
class AdjustedContrasts(Contrasts):
    """Contrasts of k features given covariates.

    ``mean``, ``code_mean`` and ``leverage`` are those at some covariates: their means at first, see
    `at`.

    Attributes
    ----------
    rank : array of shape (k,)
        Directions of the covariates.
    uncertainty : array of shape (k,)
        z' (Z'Z)^-1 z, the leverage of a case with the covariates z.
    center : array of shape (k,)
    coefficients : array of shape (k, m)
        The mean at z is center + coefficients z.
    expected : array of shape (k, m, d), or (1, m, d)
        The code that covariates z lead to expect is z' expected.
    inverse : array of shape (k, m, m), or (1, m, m)
        (Z'Z)^-1.
    """

    rank: Floats
    uncertainty: Floats
    center: Floats
    coefficients: Floats
    expected: Floats
    inverse: Floats

    _of_features: ClassVar[tuple[str, ...]] = (
        *Contrasts._of_features,
        "rank",
        "uncertainty",
        "center",
        "coefficients",
    )
    _shared: ClassVar[tuple[str, ...]] = (*Contrasts._shared, "expected", "inverse")

    @property
    def df(self) -> Floats:
        """Degrees of freedom that are left beside the covariates, shape (k,)."""
        return self.n - self.rank

    @property
    def leverage(self) -> Floats:
        """The uncertainty of the mean, in units of the variance of a value, shape (k,)."""
        return self.uncertainty

    @property
    def log_volume(self) -> Floats:
        """Log of the factor that the integral over the coefficients leaves, shape (k,)."""
        squares = np.linalg.eigvalsh(self.inverse)
        some = squares > 1e-12 * squares[:, -1:]
        logs = 0.5 * np.sum(np.log(np.where(some, squares, 1.0)), axis=1)
        return np.broadcast_to(logs, self.n.shape)

    def at(self, z: Floats) -> Self:
        """Return the contrasts for new cases with the covariates z (m,)."""
        leverage = np.einsum("i,kij,j->k", z, self.inverse, z)
        return replace(
            self,
            mean=self.center + self.coefficients @ z,
            uncertainty=np.broadcast_to(leverage, self.n.shape),
            code_mean=np.einsum("i,kid->kd", z, self.expected),
        )


@dataclass(frozen=True)
class AdjustedMoments(Moments):
    """Coefficients of covariates, contrasts and residual sums of squares of p columns.

    Attributes
    ----------
    center : array of shape (p,)
        A value near which the column's values lie.
    offset : array of shape (m, p)
        Coefficients of the covariates: a column is center + z' offset on average.
    within : array of shape (p,)
        Residual sums of squares, with covariates and contrasts projected out.
    beta : array of shape (q, p)
        Sizes of the contrasts.
    own_geometry : Geometry or None
        Of each of these columns; None where no value is missing.
    complete : Geometry
        Of a column without missing values.
    expected : array of shape (m, d)
        See `Design`.
    score : {"|COR|", "F"}
    """

    beta: Floats
    own_geometry: Geometry | None
    complete: Geometry
    expected: Floats
    score: Statistic

    _of_columns: ClassVar[tuple[str, ...]] = (*Moments._of_columns, "beta")

    @classmethod
    def of(
        cls,
        design: Design,
        complete: Geometry,
        center: Floats,
        products: tuple[Floats, Floats],
        squares: Floats,
        geometry: Geometry | None = None,
    ) -> "AdjustedMoments":
        """Return moments from sums of products with Z (m, p) and C (d, p), and of squares."""
        used = complete if geometry is None else geometry
        with_z, with_c = products
        offset = used.coefficients(with_z)
        beta = used.sizes(used.beside(with_z, with_c))
        within = squares - np.einsum("ip,ip->p", offset, with_z) - np.einsum("ip,ip->p", beta, beta)
        within = np.where(used.nu > 0, within, 0.0)
        return cls(
            center, offset, within, beta, geometry, complete, design.expected, design.statistic
        )

    @property
    def geometry(self) -> Geometry:
        """The geometry of these columns, with one entry for all where no value is missing."""
        return self.complete if self.own_geometry is None else self.own_geometry

    @property
    def statistic(self) -> Statistic:
        """What the score is: a partial correlation, or the partial F of several classes."""
        return self.score

    @cached_property
    def between(self) -> Floats:
        """The sums of squares that the response explains beyond the covariates."""
        return np.asarray(np.sum(self.beta**2, axis=0))

    def take(self, columns: Ints) -> Self:
        """Return the moments of some columns."""
        own = self.own_geometry
        return replace(
            super().take(columns), own_geometry=None if own is None else own.take(columns)
        )

    @classmethod
    def united(cls, parts: list[Self]) -> Self:
        """Return the moments of the columns of all parts, one part after the other."""
        own = None
        if any(part.own_geometry is not None for part in parts):
            own = Geometry.united([part._wide_geometry for part in parts])
        return replace(super().united(parts), own_geometry=own)

    def with_columns(self, columns: Ints, other: Self) -> Self:
        """Return the moments with those of some columns replaced."""
        own = self.own_geometry
        if own is not None or other.own_geometry is not None:
            own = self._wide_geometry.with_columns(columns, other.geometry)
        return replace(super().with_columns(columns, other), own_geometry=own)

    @property
    def _wide_geometry(self) -> Geometry:
        """The geometry with an entry for each column."""
        return self.complete.wide(self.size) if self.own_geometry is None else self.own_geometry

    def patterns(self) -> tuple[NDArray[Any], Ints]:
        """Return the distinct (nu, lam), complete columns' first, and each column's index."""
        first = _terms(self.complete)
        if self.own_geometry is None:
            return first, np.zeros(self.size, dtype=np.intp)
        return distinct_rows(np.vstack([first, _terms(self.own_geometry)]))

    def lam_and_nu(self, patterns: NDArray[Any]) -> tuple[Floats, Floats]:
        """Return what an event needs to know of patterns, see `RealEvent`."""
        return patterns[:, 1:], patterns[:, 0]

    def reasons(self) -> Ints:
        """Return why columns have no score, see `Unscored`; `SCORED` for those that have one."""
        own, complete = self.geometry, self.complete
        lost = np.any((own.lam == 0.0) & (complete.lam > 0.0), axis=0)
        few = (own.nu < 1.0) & (own.n < complete.n)
        why = np.where(few, TOO_FEW, np.where(lost, SAME_RESPONSE, SCORED))
        return np.broadcast_to(why, (self.size,))

    def without_rounding(self, squares: Floats, part: float) -> Self:
        """Return the moments with columns constant of which covariates leave at most this part."""
        nothing = self.between + self.within <= part * squares
        within, beta = (np.where(nothing, 0.0, values) for values in (self.within, self.beta))
        return replace(self, within=within, beta=beta)

    def fitted_values(self, design: Design) -> Floats:
        """Return what covariates and response say of the columns in the cases of a design."""
        g = self.geometry
        sizes = self.beta / np.sqrt(np.where(g.lam > 0.0, g.lam, 1.0))
        slopes = np.einsum("dqp,qp->dp", g.axes, sizes)
        return np.asarray(
            self.center
            + design.Z @ (self.offset - np.einsum("idp,dp->ip", g.along, slopes))
            + design.C @ slopes
        )

    @property
    def mean_covariates(self) -> Floats:
        """The mean of z over the cases, shape (m,), whatever the cases that the basis is from."""
        gram = np.linalg.pinv(self.complete.inverse[..., 0], rcond=1e-10, hermitian=True)
        return np.asarray(gram[0] / self.complete.n[0], dtype=np.float64)

    def contrasts(self) -> AdjustedContrasts:
        """Return the contrasts, for new cases with the means of the covariates."""
        g, k = self.geometry, self.size
        n = np.broadcast_to(g.n.astype(np.float64), (k,))
        expected = np.moveaxis(self.expected[:, :, np.newaxis] + g.along, -1, 0)
        return AdjustedContrasts(
            n=n,
            mean=self.center,
            lam=g.lam.T,
            beta=self.beta.T,
            within=self.within,
            axes=np.moveaxis(g.axes, -1, 0),
            code_mean=expected[:, 0],
            rank=np.broadcast_to(g.rank.astype(np.float64), (k,)),
            uncertainty=1.0 / n,
            center=self.center,
            coefficients=self.offset.T,
            expected=expected,
            inverse=np.moveaxis(g.inverse, -1, 0),
        ).at(self.mean_covariates)


def _terms(geometry: Geometry) -> Floats:
    return np.column_stack([geometry.nu, geometry.lam.T])
