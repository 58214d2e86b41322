"""Likelihoods with correlations within classes, and with class-specific variances.

Naive Bayes takes features to be independent within classes, and the model of real-valued features
gives all classes the same variances. Where that is wrong, another likelihood of a new case may fit
better. The likelihoods here keep what the posterior, conditioned on the selection, says of single
features: the location m_gj of feature j in class g and its predictive variance v_j. Then x of class
g has a multivariate t distribution around m_g with the scale matrix

    c_g D ((1 - w) R + w I) D,    D = diag(sqrt(v_j)),

where R holds the correlations of the kept features within classes, pooled over classes. The weight
w shrinks them towards independence. c_g is the relative variance of class g: 1 for all classes, or
as observed. With w = 1 features have independent t distributions. The weights of these likelihoods
are learned from cases left out: see `averaging`.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from unselected._typing import Floats

# The weights w of independence that are tried.
_INDEPENDENCE = (0.05, 0.2, 0.5)
# A matrix over pairs of more features than this is not kept.
MOST_FEATURES = 2000
# Values of rows and features that are processed at a time.
_BLOCK = 1 << 18


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
    """A likelihood to try: the weight of independence, and whether variances are per class."""

    independence: float
    by_class: bool


@dataclass(frozen=True, eq=False)
class WithinClasses:
    """How the kept features vary within classes.

    Attributes
    ----------
    correlation : array of shape (k, k)
        Pooled over classes; a feature that is constant within them has 0 with all others.
    spread : array of shape (G,) or None
        Variance of each class relative to that of all cases, averaged over features. Each class
        gets one pseudo-case with the variance of all. None for binary features, whose rate fixes
        the variance.
    """

    correlation: Floats
    spread: Floats | None

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
        if X.shape[1] > MOST_FEATURES:
            raise ValueError(
                f"dependence='correlated' needs all pairs of kept features, and {X.shape[1]} "
                f"features are too many: keep at most {MOST_FEATURES}, or use "
                "dependence='tempered'."
            )
        residuals = _residuals(np.asarray(X, dtype=np.float64), y, n_classes)
        norm = np.sqrt(np.sum(residuals**2, axis=0))
        unit = residuals / np.where(norm > 0.0, norm, 1.0)
        correlation = unit.T @ unit
        np.fill_diagonal(correlation, 1.0)
        return cls(correlation, _spread(unit, y, n_classes) if spreads else None)

    @property
    def shapes(self) -> list[Shape]:
        """The likelihoods that are tried besides the model's own."""
        shapes = [Shape(w, by_class=False) for w in _INDEPENDENCE]
        if self.spread is not None:
            shapes += [Shape(w, by_class=True) for w in (*_INDEPENDENCE, 1.0)]
        return shapes

    def log_evidence(self, X: Floats, laws: FeatureLaws) -> Floats:
        """Return log P(x | class) of rows for each shape, up to a constant in each row.

        Parameters
        ----------
        X : array of shape (n, k)
            NaN is a missing value; the likelihood is then that of the known features.
        laws : FeatureLaws

        Returns
        -------
        log_evidence : array of shape (shapes, n, G)
        """
        result = np.zeros((len(self.shapes), len(X), len(laws.location)))
        rows = max(1, _BLOCK // max(1, X.shape[1]))
        for start in range(0, len(X), rows):
            block = slice(start, start + rows)
            for place, _, logs in self._by_feature(X[block], laws):
                result[:, block][place] = logs.sum(axis=1)
        return result

    def log_evidence_by_feature(self, X: Floats, laws: FeatureLaws) -> Floats:
        """Return what each feature adds to it, shape (shapes, n, k, G).

        The squared distance of x from the location is a sum over features. Its logarithm is split
        in the same proportions.
        """
        result = np.zeros((len(self.shapes), *X.shape, len(laws.location)))
        for (shape, rows, g), used, logs in self._by_feature(X, laws):
            result[shape, rows[:, np.newaxis], used, g] = logs
        return result

    def _by_feature(
        self, X: Floats, laws: FeatureLaws
    ) -> Iterator[tuple[tuple[int, NDArray[np.intp], int], NDArray[np.intp], Floats]]:
        """Yield (shape, rows, class), the features known there, and what they add."""
        for rows, used in _patterns(X, laws.varying):
            if not used.size:
                continue
            spread = np.sqrt(laws.variance[used])
            gaps = (X[np.ix_(rows, used)] - laws.location[:, np.newaxis, used]) / spread
            for w in sorted({shape.independence for shape in self.shapes}):
                products = self._products(gaps, used, w)
                for number, shape in enumerate(self.shapes):
                    if shape.independence == w:
                        for g in range(len(gaps)):
                            logs = self._divided(products[g], shape, g, laws.df)
                            yield (number, rows, g), used, logs

    def _products(self, gaps: Floats, used: NDArray[np.intp], w: float) -> Floats:
        """Return terms whose sums over features are squared distances, shape (G, rows, used)."""
        if w == 1.0:
            return gaps**2
        matrix = (1.0 - w) * self.correlation[np.ix_(used, used)]
        matrix[np.diag_indices(used.size)] += w
        flat = gaps.reshape(-1, used.size).T
        solved = cho_solve(cho_factor(matrix, lower=True, check_finite=False), flat)
        return np.asarray((flat * solved).T.reshape(gaps.shape))

    def _divided(self, products: Floats, shape: Shape, g: int, df: float) -> Floats:
        """Return the log density of a class as a sum over features, shape (rows, used)."""
        scale = 1.0 if self.spread is None or not shape.by_class else float(self.spread[g])
        terms, k = products / (scale * df), products.shape[1]
        if shape.independence == 1.0:
            logs = -0.5 * (df + 1.0) * np.log1p(terms)
        else:
            total = terms.sum(axis=1, keepdims=True)
            share = np.divide(np.log1p(total), total, out=np.ones_like(total), where=total > 0.0)
            logs = -0.5 * (df + k) * share * terms
        return np.asarray(logs - 0.5 * np.log(scale))


def _residuals(X: Floats, y: NDArray[np.intp], n_classes: int) -> Floats:
    """Return values minus their class means, 0 where missing, scaled by column."""
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


def _spread(unit: Floats, y: NDArray[np.intp], n_classes: int) -> Floats:
    """Return the relative variance of each class; squared residuals sum to 1 in each column."""
    sizes = np.bincount(y, minlength=n_classes)
    squares = np.array([np.sum(unit[y == g] ** 2, axis=0) for g in range(n_classes)])
    some = squares.sum(axis=0) > 0.0
    if not some.any():
        return np.ones(n_classes)
    in_units = squares[:, some].mean(axis=1) * max(y.size - n_classes, 1)
    return np.asarray((1.0 + in_units) / np.maximum(sizes, 1))


def _patterns(
    X: Floats, varying: NDArray[np.bool_]
) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Yield groups of rows that know the same varying features, and these features."""
    known = ~np.isnan(X) & varying
    if np.array_equal(known.all(axis=0), varying):
        yield np.arange(len(X)), np.flatnonzero(varying)
        return
    patterns, place = np.unique(known, axis=0, return_inverse=True)
    for number, pattern in enumerate(patterns):
        yield np.flatnonzero(place == number), np.flatnonzero(pattern)
