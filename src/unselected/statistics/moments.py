"""Sufficient statistics of real-valued columns: means, sums of squares, and contrasts.

A feature is modelled as x = mu + phi(y)' w + noise, where phi codes the response: one entry for
each class, or y itself. The sufficient statistics are its mean, the size of each contrast that the
response can explain, and the residual sum of squares.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from unselected._typing import Floats, Ints
from unselected.statistics.unscored import SAME_RESPONSE, SCORED, TOO_FEW

# What the score of a column is: an absolute correlation with the response, an F statistic, one of
# the others of binary or of real-valued features, or what a function returns.
CountStatistic = Literal["chi2", "mutual_info", "fisher", "odds_ratio", "rate_difference"]
ValueStatistic = Literal["welch", "moderated_t", "wilcoxon", "auc", "mean_difference", "volcano"]
Statistic = Literal["|COR|", "F", "custom"] | CountStatistic | ValueStatistic

# Responses whose sum of squares is at most this part of that of all cases count as equal.
_NO_SPREAD = 1e-12


@dataclass(frozen=True)
class Contrasts:
    """Sufficient statistics of k features, in q orthogonal contrasts of the response's code.

    Given tau, beta_i ~ N(0, s^2 (1 + tau^2 lam_i)) and within / s^2 ~ chi^2 with n - 1 - q degrees
    of freedom, all independent.

    Attributes
    ----------
    n : array of shape (k,)
        Known values.
    mean : array of shape (k,)
    lam, beta : arrays of shape (k, q)
        ``lam`` has one row only where it is the same for all features.
    within : array of shape (k,)
    axes : array of shape (k, d, q), or (1, d, q)
        A case with the code phi has the coordinates (phi - code_mean) axes.
    code_mean : array of shape (k, d), or (1, d)
    """

    n: Floats
    mean: Floats
    lam: Floats
    beta: Floats
    within: Floats
    axes: Floats
    code_mean: Floats

    # The fields that have an entry for each feature, and those that may have one for all instead.
    _of_features: ClassVar[tuple[str, ...]] = ("n", "mean", "beta", "within")
    _shared: ClassVar[tuple[str, ...]] = ("lam", "axes", "code_mean")

    @property
    def df(self) -> Floats:
        """Degrees of freedom that are left beside the mean, shape (k,)."""
        return self.n - 1.0

    @property
    def leverage(self) -> Floats:
        """The uncertainty of the mean, in units of the variance of a value, shape (k,)."""
        return 1.0 / self.n

    @property
    def log_volume(self) -> Floats:
        """Log of the factor that the integral over the mean leaves, shape (k,)."""
        return np.asarray(-0.5 * np.log(self.n))

    @property
    def varying(self) -> NDArray[np.bool_]:
        """Which features are not constant; a constant one carries no information."""
        return np.asarray(self.within + np.sum(self.beta**2, axis=1) > 0.0)

    def take(self, which: NDArray[np.bool_]) -> Self:
        """Return the contrasts of some features."""
        arrays: Any = {name: getattr(self, name)[which] for name in self._of_features}
        for name in self._shared:
            values = getattr(self, name)
            arrays[name] = values if len(values) == 1 else values[which]
        return replace(self, **arrays)

    def at(self, z: Floats) -> Self:  # noqa: ARG002
        """Return the contrasts for new cases with the covariates z: without any, all are alike."""
        return self

    def squares(self, u: Floats) -> Floats:
        """Return the effective sums of squares given tau^2 = u, shape (nodes, k).

        within + sum_i beta_i^2 / (1 + u lam_i): the more tau explains, the less a contrast counts.
        """
        squares = np.broadcast_to(self.within, (u.size, self.within.size)).copy()
        for lam, beta in zip(self.lam.T, self.beta.T, strict=True):
            squares += beta**2 / (1.0 + np.multiply.outer(u, lam))
        return squares

    def least_squares(self, code: Floats) -> Floats:
        """Return where the features lie given a code by least squares, shape (k,)."""
        sizes = self.beta / np.sqrt(np.where(self.lam > 0.0, self.lam, 1.0))
        return np.asarray(self.mean + np.sum(self.coordinates(code) * sizes, axis=1))

    def coordinates(self, code: Floats) -> Floats:
        """Return the coordinates of a code (d,) among the contrasts, shape (k or 1, q)."""
        return np.asarray(np.einsum("kd,kdq->kq", code - self.code_mean, self.axes))


@dataclass(frozen=True)
class Moments(ABC):
    """Means and sums of squares of p columns, one along the last axis of each array."""

    center: Floats
    offset: Floats
    within: Floats

    # The fields that have an entry for each column.
    _of_columns: ClassVar[tuple[str, ...]] = ("center", "offset", "within")

    @property
    def size(self) -> int:
        """The number of columns."""
        return self.center.size

    @property
    @abstractmethod
    def between(self) -> Floats:
        """The sums of squares that the response explains."""

    @abstractmethod
    def reasons(self) -> Ints:
        """Return why columns have no score, see `Unscored`; `SCORED` for those that have one."""

    @property
    @abstractmethod
    def statistic(self) -> Statistic:
        """What the score is."""

    @abstractmethod
    def patterns(self) -> tuple[NDArray[Any], Ints]:
        """Return the distinct patterns of known values, complete ones first, and each column's."""

    @abstractmethod
    def lam_and_nu(self, patterns: NDArray[Any]) -> tuple[Floats, Floats]:
        """Return what an event needs to know of patterns, see `RealEvent`."""

    def take(self, columns: Ints) -> Self:
        """Return the moments of some columns."""
        arrays: Any = {name: getattr(self, name)[..., columns] for name in self._of_columns}
        return replace(self, **arrays)

    @classmethod
    def united(cls, parts: list[Self]) -> Self:
        """Return the moments of the columns of all parts, one part after the other."""
        arrays: Any = {
            name: np.concatenate([getattr(part, name) for part in parts], axis=-1)
            for name in cls._of_columns
        }
        return replace(parts[0], **arrays)

    def with_columns(self, columns: Ints, other: Self) -> Self:
        """Return the moments with those of some columns replaced."""
        arrays: Any = {name: getattr(self, name).copy() for name in self._of_columns}
        for name, values in arrays.items():
            values[..., columns] = getattr(other, name)
        return replace(self, **arrays)


@dataclass(frozen=True)
class ClassMoments(Moments):
    """Means by class of p columns, and the sums of squares within classes.

    Attributes
    ----------
    center : array of shape (p,)
        A value near which the column's values lie.
    offset : array of shape (G, p)
        Class means minus ``center``.
    within : array of shape (p,)
    sizes : array of shape (G,)
        Cases of each class.
    n : array of shape (G, p), or (G, 1) where no value is missing
        Known values of each class.
    """

    sizes: Ints
    n: Ints

    @property
    def complete(self) -> bool:
        """Whether no value is missing, so that ``n`` is the same for all columns."""
        return self.n.shape[1] == 1 and bool(np.all(self.n[:, 0] == self.sizes))

    @cached_property
    def between(self) -> Floats:
        """The sums of squares between classes."""
        off = self.offset - self._grand_offset
        return np.asarray(np.sum(self.n * off**2, axis=0))

    @property
    def _grand_offset(self) -> Floats:
        return np.asarray(np.sum(self.n * self.offset, axis=0) / self.n.sum(axis=0))

    def take(self, columns: Ints) -> Self:
        """Return the moments of some columns."""
        n = self.n if self.complete else self.n[:, columns]
        return replace(super().take(columns), n=n)

    @classmethod
    def united(cls, parts: list[Self]) -> Self:
        """Return the moments of the columns of all parts, one part after the other."""
        n = parts[0].sizes[:, np.newaxis]
        if not all(part.complete for part in parts):
            each = [np.broadcast_to(part.n, part.offset.shape) for part in parts]
            n = np.concatenate(each, axis=1)
        return replace(super().united(parts), n=n)

    def with_columns(self, columns: Ints, other: Self) -> Self:
        """Return the moments with those of some columns replaced."""
        n = self.n
        if not other.complete:
            n = np.broadcast_to(n, self.offset.shape).copy()
            n[:, columns] = other.n
        return replace(super().with_columns(columns, other), n=n)

    def patterns(self) -> tuple[Ints, Ints]:
        """Return the distinct class counts (m, G), those of complete columns first.

        The second array holds the index of each column's counts among them.
        """
        if self.complete:
            return self.sizes[np.newaxis, :], np.zeros(self.size, dtype=np.intp)
        return distinct_rows(np.vstack([self.sizes, self.n.T]))

    @property
    def statistic(self) -> Statistic:
        """What the score is: |COR| for two classes, F for more."""
        return "F" if self.sizes.size > 2 else "|COR|"

    def lam_and_nu(self, patterns: NDArray[Any]) -> tuple[Floats, Floats]:
        """Return what an event needs to know of patterns, see `RealEvent`."""
        nu = np.asarray(patterns.sum(axis=1) - self.sizes.size, dtype=np.float64)
        return class_axes(patterns)[0], nu

    def reasons(self) -> Ints:
        """Return why columns have no score, see `Unscored`; `SCORED` for those that have one."""
        empty, sizes = self.n == 0, self.sizes[:, np.newaxis]
        few = (self.n.sum(axis=0) <= self.sizes.size) & (self.n < sizes).any(axis=0)
        why = np.where(empty.any(axis=0), empty.argmax(axis=0), np.where(few, TOO_FEW, SCORED))
        return np.broadcast_to(why, (self.size,))

    def contrasts(self) -> Contrasts:
        """Return the contrasts between classes: the code of a class is a unit vector."""
        counts, pattern_of = self.patterns()
        if self.complete:
            pattern_of = pattern_of[:1]
        lam, directions = class_axes(counts)
        n = counts.sum(axis=1, keepdims=True)
        roots = np.sqrt(counts)[:, :, np.newaxis]
        axes = roots * directions / np.sqrt(lam)[:, np.newaxis, :]
        towards = (roots * directions)[pattern_of]
        return Contrasts(
            n=np.broadcast_to(n[pattern_of, 0].astype(np.float64), (self.size,)),
            mean=self.center + self._grand_offset,
            lam=lam[pattern_of],
            beta=np.einsum(
                "gk,kgq->kq", self.offset, np.broadcast_to(towards, (self.size, *towards.shape[1:]))
            ),
            within=self.within,
            axes=axes[pattern_of],
            code_mean=(counts / n)[pattern_of],
        )


def class_axes(counts: Ints) -> tuple[Floats, Floats]:
    """Return lam (m, G - 1) and orthonormal directions (m, G, G - 1) for class counts (m, G).

    They diagonalize P diag(n_g) P, P the projection orthogonal to sqrt(n_g): with all counts equal
    lam is that count, with two classes it is 2 n0 n1 / n.

    >>> class_axes(np.array([[3, 6]]))[0].round(12).tolist()
    [[4.0]]
    """
    G = counts.shape[1]
    unit = np.sqrt(counts / counts.sum(axis=1, keepdims=True))
    projection = np.eye(G) - unit[:, :, np.newaxis] * unit[:, np.newaxis, :]
    matrix = projection * counts[:, np.newaxis, :] @ projection
    lam, directions = np.linalg.eigh(0.5 * (matrix + matrix.transpose(0, 2, 1)))
    return lam[:, 1:], directions[:, :, 1:]  # the first eigenvalue is 0, of sqrt(n_g) itself


@dataclass(frozen=True)
class LineMoments(Moments):
    """Means and sums of squares and products of p columns with a real response y.

    Attributes
    ----------
    center, offset : arrays of shape (p,)
        The mean of a column is ``center + offset``.
    within : array of shape (p,)
        The residual sum of squares around the line.
    unit : float
        Standard deviation of the response, of all cases (divisor n): the unit of a slope.
    n : array of shape (p,)
        Known values; the response below is that of the cases with known values.
    y_mean, syy : arrays of shape (p,)
        Mean of the response and its sum of squares.
    sxy : array of shape (p,)
    complete : tuple of int and float
        ``n`` and ``syy`` of a column without missing values.
    """

    unit: float
    n: Ints
    y_mean: Floats
    syy: Floats
    sxy: Floats
    complete: tuple[int, float]

    _of_columns: ClassVar[tuple[str, ...]] = (*Moments._of_columns, "n", "y_mean", "syy", "sxy")

    @classmethod
    def of(
        cls,
        complete: tuple[int, float],
        n: Any,
        y_mean: Any,
        syy: Any,
        center: Floats,
        offset: Floats,
        sxy: Floats,
        within: Floats,
    ) -> "LineMoments":
        """Return moments; ``n``, ``y_mean`` and ``syy`` may be one number for all columns."""
        unit = float(np.sqrt(complete[1] / complete[0]))
        n, y_mean, syy = (np.full(center.size, value) for value in (n, y_mean, syy))
        return cls(center, offset, within, unit, n, y_mean, syy, sxy, complete)

    @cached_property
    def between(self) -> Floats:
        """The sums of squares that the lines explain."""
        return np.asarray(self.sxy**2 / self.syy)

    def patterns(self) -> tuple[Floats, Ints]:
        """Return the distinct (n, syy), complete columns' first, and each column's index."""
        if np.all(self.n == self.complete[0]):
            return np.array([self.complete], dtype=np.float64), np.zeros(self.size, dtype=np.intp)
        return distinct_rows(np.vstack([self.complete, np.column_stack([self.n, self.syy])]))

    @property
    def statistic(self) -> Statistic:
        """What the score is."""
        return "|COR|"

    def lam_and_nu(self, patterns: NDArray[Any]) -> tuple[Floats, Floats]:
        """Return what an event needs to know of patterns, see `RealEvent`."""
        return np.asarray(patterns[:, 1:] / self.unit**2), np.asarray(patterns[:, 0] - 2.0)

    def reasons(self) -> Ints:
        """Return why columns have no score, see `Unscored`; `SCORED` for those that have one."""
        same = self.syy <= _NO_SPREAD * self.complete[1]
        return np.where(self.n < 3, TOO_FEW, np.where(same, SAME_RESPONSE, SCORED))

    def contrasts(self) -> Contrasts:
        """Return the one contrast, along y; the code of a case is y in units of its deviation."""
        return Contrasts(
            n=self.n.astype(np.float64),
            mean=self.center + self.offset,
            lam=(self.syy / self.unit**2)[:, np.newaxis],
            beta=(self.sxy / np.sqrt(self.syy))[:, np.newaxis],
            within=self.within,
            axes=np.ones((1, 1, 1)),
            code_mean=(self.y_mean / self.unit)[:, np.newaxis],
        )


def distinct_rows(rows: NDArray[Any]) -> tuple[NDArray[Any], Ints]:
    """Return the distinct rows, the first given first, and which of them each later row is.

    >>> rows, which = distinct_rows(np.array([[5, 5], [3, 4], [5, 5], [3, 4]]))
    >>> rows.tolist(), which.tolist()
    ([[5, 5], [3, 4]], [1, 0, 1])
    """
    values, where = np.unique(rows, axis=0, return_inverse=True)
    where = where.ravel()
    order = np.argsort(np.arange(len(values)) != where[0], kind="stable")
    place = np.empty_like(order)
    place[order] = np.arange(order.size)
    return values[order], place[where[1:]]
