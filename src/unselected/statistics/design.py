"""Covariates and codes of the response of the cases, and the geometry that follows from them.

A feature is modelled as x = z' c + phi(y)' w + noise, where z are covariates with an intercept and
phi codes the response. c has a flat prior, so that all that matters is left when z is projected
out: of the codes, and of every column. Covariates are used in a basis Z with Z'Z = n I over all
cases, which depends neither on their units nor on how categories are coded.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unselected._typing import Bools, Floats, Ints
from unselected.statistics.moments import Statistic

# Directions of covariates, and contrasts of the response, with less than this part of the variation
# count as none.
_NOTHING = 1e-10
# Products of orthogonal directions, as a part of their squares.
_ROUNDING = 1e-13


@dataclass(frozen=True, eq=False)
class CovariateBasis:
    """The basis of covariates that has been learned from the training cases.

    Attributes
    ----------
    center : array of shape (c,)
        Means of the coded covariates.
    transform : array of shape (c, m - 1)
    """

    center: Floats
    transform: Floats

    @classmethod
    def learn(cls, coded: Floats) -> "CovariateBasis":
        """Learn from coded covariates (n, c); constant and collinear ones add nothing.

        >>> rng = np.random.default_rng(0)
        >>> coded = rng.normal(size=(20, 2)) * [1.0, 1000.0]
        >>> basis = CovariateBasis.learn(np.column_stack([coded, coded.sum(axis=1), np.ones(20)]))
        >>> Z = basis.apply(np.column_stack([coded, coded.sum(axis=1), np.ones(20)]))
        >>> Z.shape, (Z.T @ Z).round(9).tolist() == (20 * np.eye(3)).tolist()
        ((20, 3), True)
        """
        center = coded.mean(axis=0)
        away = coded - center
        spread = np.sqrt(np.mean(away**2, axis=0))
        varies = spread > _NOTHING * (np.abs(center) + spread)
        unit = np.where(varies, spread, 1.0)
        away = np.where(varies, away / unit, 0.0)
        squares, axes = np.linalg.eigh(away.T @ away / len(coded))
        some = squares > _NOTHING * max(float(squares.max(initial=0.0)), 1.0)
        scaled = axes[:, some] / np.sqrt(squares[some])
        return cls(center, np.where(varies, 1.0 / unit, 0.0)[:, np.newaxis] * scaled)

    @property
    def size(self) -> int:
        """The number m of directions, the intercept included."""
        return int(self.transform.shape[1]) + 1

    @property
    def n_coded(self) -> int:
        """The number of coded covariates."""
        return int(self.center.size)

    def apply(self, coded: Floats) -> Floats:
        """Return Z (n, m) of cases: the intercept first."""
        return np.column_stack([np.ones(len(coded)), (coded - self.center) @ self.transform])

    def distinct(self, coded: Floats) -> Iterator[tuple[Ints, Floats]]:
        """Yield the numbers of cases with the same covariates, and these in the basis (m,)."""
        values, which = np.unique(coded, axis=0, return_inverse=True)
        order = np.argsort(which.ravel(), kind="stable")
        ends = np.cumsum(np.bincount(which.ravel(), minlength=len(values)))
        for z, end, start in zip(self.apply(values), ends, np.append(0, ends), strict=False):
            yield order[start:end], z


@dataclass(frozen=True, eq=False)
class Design:
    """Covariates and codes of the training cases.

    Attributes
    ----------
    Z : array of shape (n, m)
        Covariates in their basis.
    C : array of shape (n, d)
        Codes of the response, without what the covariates say of them. They sum to 0 in each case
        where they are those of classes.
    expected : array of shape (m, d)
        The code that the covariates z lead to expect is z' expected.
    of_classes : bool
    unit : float
        The unit of a real response: its standard deviation (divisor n) given the covariates.
    """

    Z: Floats
    C: Floats
    expected: Floats
    of_classes: bool
    unit: float = 1.0

    @classmethod
    def by_class(cls, Z: Floats, y: NDArray[np.intp], n_classes: int) -> "Design":
        """Return the design of cases with these covariates and classes, counted from 0."""
        codes = np.eye(n_classes)[y]
        rest, expected = _without_covariates(Z, codes)
        squares, axes = np.linalg.eigh(rest.T @ rest)
        some = axes[:, squares > _NOTHING * _variation(codes)]
        return cls(Z, rest @ some @ some.T, expected, of_classes=True)

    @classmethod
    def along(cls, Z: Floats, y: Floats) -> "Design":
        """Return the design of cases with these covariates and a real response."""
        rest, expected = _without_covariates(Z, y[:, np.newaxis])
        unit = float(np.sqrt(np.mean(rest**2)))
        if not unit > _NOTHING * float(np.std(y)):
            raise ValueError(
                "the covariates determine y: nothing is left for features to explain. Leave out "
                "the covariate that y was computed from."
            )
        return cls(Z, rest / unit, expected / unit, of_classes=False, unit=unit)

    def without(self, kept: Ints) -> "Design":
        """Return some of the cases; their covariates are not orthogonal any more."""
        some = replace(self, Z=self.Z[kept], C=self.C[kept])
        if self.of_classes:
            return some
        found, *_ = np.linalg.lstsq(some.Z, some.C)
        change = float(np.sqrt(np.mean((some.C - some.Z @ found) ** 2)))
        change = change if change > _NOTHING else 1.0
        return replace(
            some, C=some.C / change, expected=some.expected / change, unit=some.unit * change
        )

    def without_covariates(self) -> "Design":
        """Return the same response, beside an intercept only."""
        codes, intercept = self.C + self.Z @ self.expected, self.Z[:, :1]
        if self.of_classes:
            return Design(intercept, *_without_covariates(intercept, codes), of_classes=True)
        return Design.along(intercept, self.unit * codes[:, 0])

    @property
    def factors(self) -> Floats:
        """What columns are multiplied with, (n, m + d or m + d - 1): the last class is implied."""
        own = self.C[:, :-1] if self.of_classes else self.C
        return np.hstack([self.Z, own])

    def split(self, products: Floats) -> tuple[Floats, Floats]:
        """Return the sums of products with Z (m, p) and with C (d, p) from those with `factors`."""
        m = self.Z.shape[1]
        of_codes = products[m:]
        if self.of_classes:
            of_codes = np.vstack([of_codes, -of_codes.sum(axis=0)])
        return products[:m], of_codes

    def geometry(self, known: Bools | None = None, *, n_contrasts: int) -> "Geometry":
        """Return the geometry of complete columns, or of columns with these known values (n, p)."""
        Z, C = self.Z, self.C
        both = np.hstack([Z, C])
        # Over all cases most products are 0 but for rounding, and products with 0 are left out.
        whole_gram = both.T @ both
        whole_gram[np.abs(whole_gram) < _ROUNDING * len(Z)] = 0.0
        if known is None:
            gram, n = whole_gram[np.newaxis], np.array([len(Z)])
        else:
            # Where all values are known this has to be the geometry of complete columns, exactly.
            pairs = (both[:, :, np.newaxis] * both[:, np.newaxis, :]).reshape(len(Z), -1)
            gram = (known.T.astype(np.float64) @ pairs).reshape(-1, both.shape[1], both.shape[1])
            n = known.sum(axis=0)
            whole = n == len(Z)
            gram[whole] = whole_gram
        return Geometry.of(n, gram, Z.shape[1], n_contrasts)

    @property
    def statistic(self) -> Statistic:
        """The score: a partial correlation, or the partial F of several classes."""
        return "F" if self.of_classes and self.C.shape[1] > 2 else "|COR|"

    @property
    def n_contrasts(self) -> int:
        """The number q of contrasts of the response that covariates leave; at least 1."""
        squares = np.linalg.eigvalsh(self.C.T @ self.C)
        total = _variation(self.C + self.Z @ self.expected)
        most = int(self.C.shape[1]) - int(self.of_classes)
        return min(max(1, int(np.sum(squares > _NOTHING * total))), most)

    @property
    def unexplained(self) -> float:
        """The part of the response's variation that covariates do not explain, at most 1.

        Of several contrasts of classes, that of the contrast which they explain best.
        """
        codes = self.C + self.Z @ self.expected
        away = codes - codes.mean(axis=0)
        squares, axes = np.linalg.eigh(away.T @ away)
        some = squares > _NOTHING * squares[-1]
        scaled = axes[:, some] / np.sqrt(squares[some])
        return float(np.linalg.eigvalsh(scaled.T @ (self.C.T @ self.C) @ scaled)[0].clip(0.0, 1.0))


def _variation(codes: Floats) -> float:
    """Return the sum of squares of codes around their means."""
    return float(np.sum((codes - codes.mean(axis=0)) ** 2))


def _without_covariates(Z: Floats, codes: Floats) -> tuple[Floats, Floats]:
    """Return what covariates leave of codes (n, d), and their coefficients (m, d)."""
    solved = np.linalg.pinv(Z, rcond=_NOTHING)
    expected = solved @ codes
    rest = codes - Z @ expected
    again = solved @ rest  # twice is enough: what is left is rounding
    return rest - Z @ again, expected + again


@dataclass(frozen=True, eq=False)
class Geometry:
    """What follows from covariates, codes and known values alone, columns along the last axis.

    The last axis has one entry only where it is the same for all columns.

    Attributes
    ----------
    n, rank : arrays of shape (p,)
        Known values, and directions of the covariates among them.
    inverse : array of shape (m, m, p)
        (Z'Z)^-1 over the known values.
    along : array of shape (m, d, p)
        What the covariates of these cases say of C: nothing where all cases are among them.
    lam : array of shape (q, p)
        Sums of squares of the contrasts of the response, with covariates projected out.
    axes : array of shape (d, q, p)
        A code phi has the coordinates (phi - z' (expected + along)) axes; 0 where lam is 0.
    """

    n: Ints
    rank: Ints
    inverse: Floats
    along: Floats
    lam: Floats
    axes: Floats

    @classmethod
    def of(cls, n: Ints, gram: Floats, m: int, q: int) -> "Geometry":
        """Return the geometry given sums of products of Z and C, (p, m + d, m + d)."""
        zz, zc, cc = gram[:, :m, :m], gram[:, :m, m:], gram[:, m:, m:]
        squares, vectors = np.linalg.eigh(zz)
        some = squares > _NOTHING * n[:, np.newaxis]
        weights = np.where(some, 1.0 / np.where(some, squares, 1.0), 0.0)
        inverse = np.einsum("pij,pj,pkj->pik", vectors, weights, vectors)
        along = inverse @ zc
        rest = cc - np.swapaxes(zc, 1, 2) @ along
        lam, axes = np.linalg.eigh(rest)
        lam, axes = lam[:, ::-1][:, :q], axes[:, :, ::-1][:, :, :q]
        told = lam > _NOTHING * np.maximum(np.trace(cc, axis1=1, axis2=2), 1e-300)[:, np.newaxis]
        lam, axes = np.where(told, lam, 0.0), np.where(told[:, np.newaxis], axes, 0.0)
        return cls(
            n,
            some.sum(axis=1),
            np.moveaxis(inverse, 0, -1),
            np.moveaxis(along, 0, -1),
            lam.T,
            np.moveaxis(axes, 0, -1),
        )

    @property
    def nu(self) -> Floats:
        """Residual degrees of freedom."""
        return np.asarray(self.n - self.rank - len(self.lam), dtype=np.float64)

    def sizes(self, products: Floats) -> Floats:
        """Return the sizes of the contrasts (q, p) from sums of products with the codes (d, p)."""
        along = _products(np.swapaxes(self.axes, 0, 1), products)
        along /= np.sqrt(np.where(self.lam > 0.0, self.lam, 1.0))
        return along

    def coefficients(self, with_z: Floats) -> Floats:
        """Return the coefficients of covariates (m, p) from sums of products with them."""
        return _products(self.inverse, with_z)

    def beside(self, with_z: Floats, with_c: Floats) -> Floats:
        """Return sums of products with codes (d, p), without what covariates say of these."""
        return with_c - _products(np.swapaxes(self.along, 0, 1), with_z)

    def take(self, columns: Ints) -> "Geometry":
        """Return the geometry of some columns, of those with an entry each."""
        return self._each(lambda values: values[..., columns])

    def wide(self, size: int) -> "Geometry":
        """Return the one geometry with an entry for each of so many columns."""
        return self._each(lambda values: np.broadcast_to(values, (*values.shape[:-1], size)).copy())

    def _each(self, change: Any) -> "Geometry":
        return Geometry(*(change(getattr(self, name)) for name in _FIELDS))

    @classmethod
    def united(cls, parts: "list[Geometry]") -> "Geometry":
        """Return the geometry of the columns of all parts, which are wide."""
        return cls(
            *(np.concatenate([getattr(part, name) for part in parts], -1) for name in _FIELDS)
        )

    def with_columns(self, columns: Ints, other: "Geometry") -> "Geometry":
        """Return the geometry with that of some columns replaced; this one is wide."""
        result = self._each(np.copy)
        for name in _FIELDS:
            getattr(result, name)[..., columns] = getattr(other, name)
        return result


def _products(matrices: Floats, vectors: Floats) -> Floats:
    """Return the product of each matrix (i, j, p) with its vector (j, p), shape (i, p).

    There may be one matrix for all vectors. Terms are added in one order, so that equal columns get
    equal results; matrix products would not promise that.
    """
    result = np.zeros((len(matrices), vectors.shape[1]))
    for total, row in zip(result, matrices, strict=True):
        for factor, vector in zip(row, vectors, strict=True):
            if factor.any():
                total += factor * vector
    return result


_FIELDS = ("n", "rank", "inverse", "along", "lam", "axes")
