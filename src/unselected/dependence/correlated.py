"""Likelihoods with correlations within classes, and with class-specific variances.

Naive Bayes takes features to be independent within classes, and the model of real-valued features
gives all classes the same variances. Where that is wrong, another likelihood of a new case may fit
better. The likelihoods here keep what the posterior, conditioned on the selection, says of single
features: the location m_gj of feature j in class g and its predictive variance v_j. Then x of class
g has a multivariate t distribution around m_g with the scale matrix

    c_g D ((1 - w) R + w I) D,    D = diag(sqrt(v_j)),

where R holds the correlations of the kept features within classes, pooled over classes. The weight
w shrinks them towards independence. c_g is the relative variance of class g: 1 for all classes, or
as observed, for all features together or for each. With w = 1 features have independent t
distributions. The weights of these likelihoods are learned from cases left out: see `averaging`.

R = U'U, where U has no more rows than there are cases. With more features than cases the equations
are solved in that many unknowns: see `shrunk`.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unselected._typing import Floats
from unselected.dependence.shrunk import Shrunk, Solver

# The weights w of independence that are tried.
_INDEPENDENCE = (0.05, 0.2, 0.5)
# A matrix over pairs of more features than this is not kept: a factor of it is.
MOST_FEATURES = 2000
# Pseudo-cases that draw the variances of a feature by class to those of all features.
_PSEUDO_CASES = 5.0
# Values of rows and features that are processed at a time.
_BLOCK = 1 << 18
_BY_FEATURE = "by class and feature"
# Squares below this part of the largest are rounding.
_ROUNDING = 1e-12


class FeatureLaws(NamedTuple):
    """What the posterior says of single features of a new case.

    Attributes
    ----------
    location : array of shape (G, k)
    variance : array of shape (k,)
    df : float
        Degrees of freedom.
    varying : array of shape (k,)
        Which features are not constant; constant ones carry no information.
    """

    location: Floats
    variance: Floats
    df: float
    varying: NDArray[np.bool_]


class Shape(NamedTuple):
    """A likelihood to try: the weight of independence, and how variances differ by class."""

    independence: float
    variances: Literal["equal", "by class", "by class and feature"]


class _Deviations(NamedTuple):
    """Deviations of rows from the locations of the classes, and the shapes that need them.

    Attributes
    ----------
    rows, used : arrays of int
        Rows, and the features that are known there.
    gaps : array of shape (G, rows, used)
        In units of the standard deviation.
    solver : Solver
    shapes : list of (int, Shape)
        With their numbers. They have the same weight of independence.
    """

    rows: NDArray[np.intp]
    used: NDArray[np.intp]
    gaps: Floats
    solver: Solver
    shapes: list[tuple[int, Shape]]


@dataclass(frozen=True, eq=False)
class WithinClasses:
    """How the kept features vary within classes.

    Attributes
    ----------
    correlation : array of shape (k, k) or None
        Pooled over classes; a feature that is constant within them has 0 with all others.
    spread : array of shape (G,) or None
        Variance of each class relative to that of all cases, averaged over features. Each class
        gets one pseudo-case with the variance of all. None for binary features, whose rate fixes
        the variance.
    factor : array of shape (at most n, k) or None
        In place of ``correlation``: U with U'U = R. Its rows are cases, or combinations of them.
    variances : array of shape (G, k) or None
        In place of ``spread``: the relative variance of each class and feature.
    """

    correlation: Floats | None
    spread: Floats | None
    factor: Floats | None = None
    variances: Floats | None = None

    @classmethod
    def of(
        cls, X: NDArray[np.generic], y: NDArray[np.intp], n_classes: int, *, spreads: bool
    ) -> "WithinClasses":
        """Estimate from the kept columns (n, k) of the training cases; NaN is a missing value.

        >>> rng = np.random.default_rng(0)
        >>> y = np.arange(400) % 2
        >>> X = (rng.normal(size=(400, 1)) + rng.normal(size=(400, 2))) * (1 + y)[:, np.newaxis]
        >>> within = WithinClasses.of(X, y, 2, spreads=True)
        >>> within.correlation.round(1).tolist(), within.spread.round(1).tolist()
        ([[1.0, 0.5], [0.5, 1.0]], [0.4, 1.6])
        """
        unit = unit_residuals(X, y, n_classes)
        spread = _spread(unit, y, n_classes) if spreads else None
        if X.shape[1] > MOST_FEATURES:
            return cls(None, spread, unit).without_cases()
        return cls(_correlation(unit), spread)

    @classmethod
    def of_features(
        cls,
        X: NDArray[np.generic],
        y: NDArray[np.intp],
        n_classes: int,
        real: NDArray[np.bool_],
        *,
        differ: bool,
    ) -> "WithinClasses":
        """Estimate the same with variances that differ by class and feature.

        ``real`` says which features are real-valued; the rate of a binary one fixes its variance.
        A feature's variances are drawn to those of all features. Without ``differ``, for tables
        that have binary columns only, there are no such likelihoods.

        >>> rng = np.random.default_rng(0)
        >>> y = np.arange(400) % 2
        >>> X = rng.normal(size=(400, 2)) * np.stack([1 + y, 2 - y], axis=1)
        >>> within = WithinClasses.of_features(X, y, 2, np.ones(2, bool), differ=True)
        >>> within.variances.round(1).tolist()
        [[0.4, 1.5], [1.6, 0.5]]
        """
        return cls.of_units(unit_residuals(X, y, n_classes), y, n_classes, real, differ=differ)

    @classmethod
    def of_units(
        cls,
        unit: Floats,
        y: NDArray[np.intp],
        n_classes: int,
        real: NDArray[np.bool_],
        *,
        differ: bool,
    ) -> "WithinClasses":
        """Return the same as `of_features` from `unit_residuals`, which fits may share."""
        variances = None
        if differ:
            spread = _spread(unit[:, real], y, n_classes)
            sizes = np.bincount(y, minlength=n_classes)[:, np.newaxis]
            squares = _squares_by_class(unit, y, n_classes) * max(y.size - n_classes, 1)
            drawn = squares + _PSEUDO_CASES * spread[:, np.newaxis]
            variances = np.where(real, drawn / (sizes - 1.0 + _PSEUDO_CASES), 1.0)
        if unit.shape[1] > len(unit):
            return cls(None, None, unit, variances)
        return cls(_correlation(unit), None, None, variances)

    def by_cases(
        self, X: NDArray[np.generic], y: NDArray[np.intp], n_classes: int
    ) -> "WithinClasses":
        """Return the same, given the values it is of, with a factor where cases are few.

        Equations are then solved in as many unknowns as there are cases, not features. Rows of the
        factor are cases: this is for fits that are not stored.
        """
        if self.correlation is None or X.shape[1] <= len(X):
            return self
        return replace(self, correlation=None, factor=unit_residuals(X, y, n_classes))

    def without_cases(self) -> "WithinClasses":
        """Return the same, where rows of a factor are combinations of all cases.

        They are its principal components. A model file has no data of single cases.
        """
        if self.factor is None:
            return self
        squares, axes = np.linalg.eigh(self.factor @ self.factor.T)
        some = squares > _ROUNDING * squares[-1]
        return replace(self, factor=np.asarray(axes[:, some].T @ self.factor))

    @cached_property
    def shapes(self) -> list[Shape]:
        """The likelihoods that are tried besides the model's own."""
        shapes = [Shape(w, "equal") for w in _INDEPENDENCE]
        if self.spread is not None:
            shapes += [Shape(w, "by class") for w in (*_INDEPENDENCE, 1.0)]
        if self.variances is not None:
            shapes += [Shape(w, "by class and feature") for w in (*_INDEPENDENCE, 1.0)]
        return shapes

    def log_evidence(self, X: Floats, laws: FeatureLaws, scale: Floats | None = None) -> Floats:
        """Return log P(x | class) of rows for each shape, up to a constant in each row.

        Parameters
        ----------
        X : array of shape (n, k)
            NaN is a missing value; the likelihood is then that of the known features.
        laws : FeatureLaws
        scale : array of shape (n,), default=None
            Factor of the deviations in each row.

        Returns
        -------
        log_evidence : array of shape (shapes, n, G)
        """
        result = np.zeros((len(self.shapes), len(X), len(laws.location)))
        rows = max(1, _BLOCK // max(1, X.shape[1]))
        for start in range(0, len(X), rows):
            block = slice(start, start + rows)
            own = None if scale is None else scale[block]
            for each in self._deviations(X[block], laws, own):
                for number, shape in each.shapes:
                    logs = self._log_densities(each, shape, laws.df)
                    result[number, block][each.rows] = logs.T
        return result

    def log_evidence_by_feature(
        self, X: Floats, laws: FeatureLaws, scale: Floats | None = None
    ) -> Floats:
        """Return what each feature adds to it, shape (shapes, n, k, G).

        The squared distance of x from the location is a sum over features. Its logarithm is split
        in the same proportions.
        """
        result = np.zeros((len(self.shapes), *X.shape, len(laws.location)))
        for each in self._deviations(X, laws, scale):
            places = each.rows[:, np.newaxis], each.used
            products = _products(each.gaps, each.solver)
            for (number, shape), g in product(each.shapes, range(len(products))):
                logs = self._divided(products[g], shape, g, each.used, laws.df)
                result[number, *places, g] = logs
        return result

    def _deviations(
        self, X: Floats, laws: FeatureLaws, scale: Floats | None
    ) -> Iterator[_Deviations]:
        """Yield the deviations of rows, for each weight of independence and kind of variances."""
        for rows, used in _patterns(X, laws.varying):
            if not used.size:
                continue
            spread, location = np.sqrt(laws.variance[used]), laws.location[:, np.newaxis, used]
            all_known = rows.size * used.size == X.size
            gaps = ((X if all_known else X[np.ix_(rows, used)]) - location) / spread
            if scale is not None:
                gaps /= scale[rows, np.newaxis]
            shrunk = Shrunk.of(self.correlation, self.factor, used)
            for w in sorted({shape.independence for shape in self.shapes}):
                shapes = [each for each in enumerate(self.shapes) if each[1].independence == w]
                solver = shrunk.at(w)
                for own in (False, True):
                    some = [each for each in shapes if (each[1].variances == _BY_FEATURE) == own]
                    if some:
                        units = self._scaled(gaps, used) if own else gaps
                        yield _Deviations(rows, used, units, solver, some)

    def _scaled(self, gaps: Floats, used: NDArray[np.intp]) -> Floats:
        """Return gaps in units of the deviations by class and feature."""
        assert self.variances is not None
        return np.asarray(gaps / np.sqrt(self.variances[:, np.newaxis, used]))

    def _log_densities(self, deviations: _Deviations, shape: Shape, df: float) -> Floats:
        """Return the log densities of all classes, shape (G, rows)."""
        gaps, used = deviations.gaps, deviations.used
        G, n, k = gaps.shape
        if shape.variances == "equal":
            squares = deviations.solver.squares(gaps.reshape(-1, k).T).reshape(G, n)
            return np.asarray(-0.5 * (df + k) * np.log1p(squares / df))
        scale = np.ones(G)
        if shape.variances == "by class" and self.spread is not None:
            scale = self.spread
        units = (scale * df)[:, np.newaxis]
        if shape.independence == 1.0:
            logs = -0.5 * (df + 1.0) * np.log1p(gaps**2 / units[:, np.newaxis]).sum(axis=2)
        else:
            squares = deviations.solver.squares(gaps.reshape(-1, k).T).reshape(G, n)
            logs = -0.5 * (df + k) * np.log1p(squares / units)
        log_scale = k * np.log(scale)
        if shape.variances == _BY_FEATURE and self.variances is not None:
            log_scale = np.log(self.variances[:, used]).sum(axis=1)
        return np.asarray(logs - 0.5 * log_scale[:, np.newaxis])

    def _divided(
        self, products: Floats, shape: Shape, g: int, used: NDArray[np.intp], df: float
    ) -> Floats:
        """Return the log density of a class as a sum over features, shape (rows, used)."""
        scale = 1.0
        if shape.variances == "by class" and self.spread is not None:
            scale = float(self.spread[g])
        terms, k = products / (scale * df), products.shape[1]
        if shape.independence == 1.0:
            logs = -0.5 * (df + 1.0) * np.log1p(terms)
        else:
            total = terms.sum(axis=1, keepdims=True)
            share = np.divide(np.log1p(total), total, out=np.ones_like(total), where=total > 0.0)
            logs = -0.5 * (df + k) * share * terms
        if shape.variances == _BY_FEATURE and self.variances is not None:
            return np.asarray(logs - 0.5 * np.log(self.variances[g, used]))
        return np.asarray(logs - 0.5 * np.log(scale))


def log_independent(X: Floats, laws: FeatureLaws, scale: Floats | None = None) -> Floats:
    """Return log P(x_j | class) of independent features, (n, k, G), up to a constant in each row.

    NaN is a missing value, and adds nothing. ``scale`` (n,) multiplies the deviations of a row.
    """
    gaps = (X[:, :, np.newaxis] - laws.location.T) ** 2
    if scale is not None:
        gaps /= scale[:, np.newaxis, np.newaxis] ** 2
    logs = -0.5 * (laws.df + 1.0) * np.log1p(gaps / (laws.df * laws.variance[:, np.newaxis]))
    return np.where(np.isnan(logs) | ~laws.varying[:, np.newaxis], 0.0, logs)


def _products(gaps: Floats, solver: Solver) -> Floats:
    """Return terms whose sums over features are squared distances, shape (G, rows, used)."""
    flat = gaps.reshape(-1, gaps.shape[-1]).T
    return np.asarray((flat * solver.solve(flat)).T.reshape(gaps.shape))


def unit_residuals(X: NDArray[np.generic], y: NDArray[np.intp], n_classes: int) -> Floats:
    """Return differences from the class means, of length 1 in each column that has any."""
    residuals = _residuals(np.asarray(X, dtype=np.float64), y, n_classes)
    norm = np.sqrt(np.sum(residuals**2, axis=0))
    return np.asarray(residuals / np.where(norm > 0.0, norm, 1.0))


def _correlation(unit: Floats) -> Floats:
    correlation = unit.T @ unit
    np.fill_diagonal(correlation, 1.0)
    return np.asarray(correlation)


def _squares_by_class(unit: Floats, y: NDArray[np.intp], n_classes: int) -> Floats:
    """Return the sums of squares of each class, shape (G, k)."""
    return np.array([np.sum(unit[y == g] ** 2, axis=0) for g in range(n_classes)])


def _residuals(X: Floats, y: NDArray[np.intp], n_classes: int) -> Floats:
    """Return values minus their class means, 0 where missing, scaled by column."""
    if not np.isnan(X).any():
        return _complete_residuals(X, y, n_classes)
    known = ~np.isnan(X)
    first = X[np.argmax(known, axis=0), np.arange(X.shape[1])]  # near which the values lie
    values = np.where(known, X - first, 0.0)
    largest = np.max(np.abs(values), axis=0, initial=0.0)
    values /= np.where(largest > 0.0, largest, 1.0)
    for g in range(n_classes):
        rows = y == g
        mean = values[rows].sum(axis=0) / np.maximum(known[rows].sum(axis=0), 1)
        values[rows] -= np.where(known[rows], mean, 0.0)
    return np.asarray(values)


def _complete_residuals(X: Floats, y: NDArray[np.intp], n_classes: int) -> Floats:
    """Return the same where no value is missing, which takes less time."""
    values = X - X[:1]
    largest = np.max(np.abs(values), axis=0, initial=0.0)
    values /= np.where(largest > 0.0, largest, 1.0)
    for g in range(n_classes):
        rows = np.flatnonzero(y == g)
        own = values[rows]
        values[rows] = own - own.sum(axis=0) / max(rows.size, 1)
    return np.asarray(values)


def _spread(unit: Floats, y: NDArray[np.intp], n_classes: int) -> Floats:
    """Return the relative variance of each class; squared residuals sum to 1 in each column."""
    sizes = np.bincount(y, minlength=n_classes)
    squares = _squares_by_class(unit, y, n_classes)
    some = squares.sum(axis=0) > 0.0
    if not some.any():
        return np.ones(n_classes)
    in_units = squares[:, some].mean(axis=1) * max(y.size - n_classes, 1)
    return np.asarray((1.0 + in_units) / np.maximum(sizes, 1))


def _patterns(
    X: Floats, varying: NDArray[np.bool_]
) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Yield groups of rows that know the same varying features, and these features."""
    if not np.isnan(X).any():
        yield np.arange(len(X)), np.flatnonzero(varying)
        return
    known = ~np.isnan(X) & varying
    if np.array_equal(known.all(axis=0), varying):
        yield np.arange(len(X)), np.flatnonzero(varying)
        return
    patterns, place = np.unique(known, axis=0, return_inverse=True)
    for number, pattern in enumerate(patterns):
        yield np.flatnonzero(place == number), np.flatnonzero(pattern)
