"""Correlations within classes among the kept features, compared with independence."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import reduce
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import gamma

from unselected._typing import Floats

# More features than this are thinned to this number, because all pairs are examined.
_MOST_FEATURES = 1000
# A sum of squares below this part of a feature's own is rounding.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class WithinClassCorrelation:
    """Correlations within classes among the kept features, compared with independence.

    Attributes
    ----------
    n_features, n_pairs : int
        Numbers of kept features, and of examined pairs that have a correlation.
    mean_squared : float
        Mean over pairs of the squared correlation r^2 within classes.
    expected : float
        Its exact expectation under independence.
    p_value : float
        Probability of such a mean, or a larger one, under independence.
    effective_features : float
        k / (1 + (k - 1) c), where c is the mean squared correlation minus its bias from noise. It
        is the number of equally strong independent directions,
        (sum of eigenvalues)^2 / sum of their squares.
    inflation : float
        1 + (k - 1) times the mean correlation in the direction of the class differences: the
        number of times that the same evidence is counted. 1 under independence; below 1 where
        errors cancel.
    n_looked_at : int or None
        Number of features examined where there are too many for all pairs; None where all were
        examined.

    k is the number of kept features. All floats are NaN where there is no pair.
    """

    n_features: int
    n_pairs: int
    mean_squared: float
    expected: float
    p_value: float
    effective_features: float
    inflation: float
    n_looked_at: int | None = None


def within_class_correlation(X: ArrayLike, y: ArrayLike) -> WithinClassCorrelation:
    """Compare correlations within classes with their expectation under independence.

    For features a and b, each minus its class means, r = sum a b / sqrt(sum a^2 sum b^2). If the
    features are independent given the class, all permutations of b within classes are equally
    likely. With A_g and B_g the sums of squares in class g of n_g cases,

        E r^2 = sum_g A_g B_g / (n_g - 1) / (sum a^2 sum b^2),

    about 1 / (n - G). E r^4 follows from the fourth moments (Pitman 1937). Squared correlations of
    different pairs are then uncorrelated, so that mean and variance of their mean are known
    exactly. A gamma distribution with these moments gives the p-value. No distribution of the
    features is assumed: binary and real-valued features are treated alike.

    The selection of the features does not matter. A permutation within classes changes no count,
    mean or variance of a class, and so neither the score nor the selection.

    Parameters
    ----------
    X : array-like of shape (n, k)
        The kept features. NaN is a missing value; a pair uses the cases in which both are known.
        Of more than 1000 features, 1000 equally spaced ones are examined.
    y : array-like of shape (n,)
        Classes.

    Returns
    -------
    correlation : WithinClassCorrelation

    References
    ----------
    Pitman, E. J. G. (1937). Significance tests which may be applied to samples from any
    populations. II. The correlation coefficient test. Supplement to the JRSS 4, 225-232.
    Schott, J. R. (2005). Testing for complete independence in high dimensions. Biometrika 92.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> y, X = np.arange(200) % 2, rng.normal(size=(200, 20))
    >>> apart = within_class_correlation(X, y)
    >>> alike = within_class_correlation(X + rng.normal(size=(200, 1)), y)
    >>> apart.p_value > 0.01, alike.p_value < 1e-6
    (True, True)
    >>> round(apart.effective_features), round(alike.effective_features)
    (20, 4)
    """
    rows = np.asarray(X, dtype=np.float64)
    k = rows.shape[-1]
    looked_at = _MOST_FEATURES if k > _MOST_FEATURES else None
    return replace(_Pairs.among(rows, y, _MOST_FEATURES).summary(k), n_looked_at=looked_at)


class SquaredCorrelations(NamedTuple):
    """The mean squared correlation within classes, and its moments under independence.

    Attributes
    ----------
    n_pairs : int
        All others are NaN where there is no pair.
    seen : float
    expected, variance : float
    """

    n_pairs: int
    seen: float
    expected: float
    variance: float


def squared_correlations(X: Floats, y: NDArray[np.intp], n_lost: int = 0) -> SquaredCorrelations:
    """Return what `within_class_correlation` compares.

    Parameters
    ----------
    X, y : arrays of shape (n, k) and (n,)
    n_lost : int
        Degrees of freedom, besides those of the class means, that something else took from X, such
        as a line along the response. For normal features the squared correlations of the residuals
        are larger by a known factor.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> found = squared_correlations(rng.normal(size=(200, 20)), np.arange(200) % 2)
    >>> found.n_pairs, round(found.expected, 4), bool(abs(found.seen - found.expected) < 0.002)
    (190, 0.0051, True)
    """
    n_free = max(len(X) - np.unique(y).size, 1)
    factor = n_free / max(n_free - n_lost, 1)
    n_pairs, seen, expected, variance = _Pairs.among(X, y, X.shape[1]).moments()
    return SquaredCorrelations(n_pairs, seen, factor * expected, factor**2 * variance)


def _parts(X: Floats, y: NDArray[np.generic]) -> list[Floats]:
    """Return the rows of each class, scaled so that powers neither underflow nor overflow."""
    known = ~np.isnan(X)
    counts = np.maximum(known.sum(axis=0), 1)
    mean = np.where(known, X, 0.0).sum(axis=0) / counts
    spread = np.sqrt(np.where(known, (X - mean) ** 2, 0.0).sum(axis=0) / counts)
    scaled = (X - mean) / np.where(spread > 0.0, spread, 1.0)
    return [scaled[y == label] for label in np.unique(y)]


@dataclass(frozen=True)
class _PowerSums:
    """Sums of one class for each pair (j, l), over the cases in which both are known.

    All have shape (k, k): ``n`` cases, ``mean`` of feature j, its central sums ``second`` and
    ``fourth``, and ``cross``, the sum of products. Where nothing is missing, what is the same in
    all pairs has the shape (1, 1) or (k, 1).
    """

    n: Floats
    mean: Floats
    second: Floats
    fourth: Floats
    cross: Floats

    @classmethod
    def of(cls, X: Floats) -> "_PowerSums":
        known = (~np.isnan(X)).astype(np.float64)
        shared = np.ones((len(X), 1)) if known.all() else known
        # Sums are taken about the class mean, so that little cancels.
        own = np.where(known > 0, X, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1.0)
        x = np.where(known > 0, X - own, 0.0)
        n = shared.T @ shared
        square = x * x
        s1, s2, s3, s4 = (part.T @ shared for part in (x, square, square * x, square * square))
        m = s1 / np.maximum(n, 1.0)
        second = np.maximum(s2 - n * m**2, 0.0)
        fourth = s4 - 4.0 * m * s3 + 6.0 * m**2 * s2 - 3.0 * n * m**4
        return cls(n, own[:, np.newaxis] + m, second, fourth, x.T @ x - n * (m * m.T))

    @property
    def squared_product(self) -> Floats:
        """E S^2 over permutations, where S is the sum of products."""
        return np.asarray(self.second * self.second.T / np.maximum(self.n - 1.0, 1.0))

    @property
    def fourth_product(self) -> Floats:
        """E S^4 over permutations, by Pitman's formula."""
        n = self.n
        with np.errstate(divide="ignore", invalid="ignore"):
            kurtosis = self._fourth_cumulant() / (self.second / (n - 1.0)) ** 2
            excess = (n - 2.0) * (n - 3.0) / (3.0 * n * (n - 1.0) ** 2) * kurtosis * kurtosis.T
            moment = 3.0 / (n**2 - 1.0) * (1.0 + excess) * (self.second * self.second.T) ** 2
        squares = (self.second * self.second.T) ** 2
        exact = np.where(n > 3.0, moment, np.where(n == 3.0, 3.0 / 8.0 * squares, squares))
        return np.where((self.second > 0) & (self.second.T > 0) & (n > 1.0), exact, 0.0)

    def _fourth_cumulant(self) -> Floats:
        """Return Fisher's k-statistic of order four of feature j."""
        n = self.n
        top = n**2 * (n + 1.0) * self.fourth / n - 3.0 * (n - 1.0) * self.second**2
        return np.asarray(top / ((n - 1.0) * (n - 2.0) * (n - 3.0)))


@dataclass(frozen=True)
class _Pairs:
    """For each pair: r, the moments of r^2 under independence, and the cosine of class shifts."""

    r: Floats
    squared: Floats
    fourth: Floats
    alike: Floats

    @classmethod
    def among(cls, X: Floats, y: ArrayLike, most_features: int) -> "_Pairs":
        """Return the pairs of columns of X, of at most so many of them."""
        labels = np.asarray(y)
        if X.ndim != 2 or labels.shape != X.shape[:1]:
            raise ValueError(f"X of shape {X.shape} and y of shape {labels.shape} do not match.")
        k = X.shape[1]
        if k > most_features:
            X = X[:, np.linspace(0, k - 1, most_features).astype(np.intp)]
        return cls.of([_PowerSums.of(part) for part in _parts(X, labels)])

    @classmethod
    def of(cls, classes: list[_PowerSums]) -> "_Pairs":
        second = _sum(c.second for c in classes)
        squares = second * second.T
        upper = np.triu(np.ones(squares.shape, dtype=bool), 1)
        n = _sum(c.n for c in classes)
        # Both features must vary, beyond rounding, over the cases that they share.
        use = upper & (np.minimum(second, second.T) > _ROUNDING * np.maximum(n, 1.0))
        variances = np.array([c.squared_product for c in classes])
        fourths = np.sum([c.fourth_product for c in classes], axis=0)
        fourths += 3.0 * (variances.sum(axis=0) ** 2 - (variances**2).sum(axis=0))
        cross = np.sum([c.cross for c in classes], axis=0)
        return cls(
            r=cross[use] / np.sqrt(squares[use]),
            squared=variances.sum(axis=0)[use] / squares[use],
            fourth=fourths[use] / squares[use] ** 2,
            alike=_likeness(classes, n)[use],
        )

    def moments(self) -> SquaredCorrelations:
        """Return the mean of r^2 over the pairs, and its moments under independence."""
        n_pairs = self.r.size
        if not n_pairs:
            return SquaredCorrelations(0, *3 * (float("nan"),))
        variance = float(np.mean(self.fourth - self.squared**2)) / n_pairs
        seen, expected = float(np.mean(self.r**2)), float(np.mean(self.squared))
        return SquaredCorrelations(n_pairs, seen, expected, variance)

    def summary(self, k: int) -> WithinClassCorrelation:
        """Return the record of k features from these pairs."""
        n_pairs, seen, expected, variance = self.moments()
        if not n_pairs:
            nan = float("nan")
            return WithinClassCorrelation(k, 0, nan, nan, nan, nan, nan)
        beyond_noise = max(0.0, (seen - expected) / (1.0 - expected)) if expected < 1.0 else 0.0
        weight = np.sum(np.abs(self.alike))
        aligned = float(self.alike @ self.r / weight) if weight > 0.0 else 0.0
        return WithinClassCorrelation(
            n_features=k,
            n_pairs=n_pairs,
            mean_squared=seen,
            expected=expected,
            p_value=_gamma_tail(seen, expected, variance),
            effective_features=k / (1.0 + (k - 1) * beyond_noise),
            inflation=1.0 + (k - 1) * aligned,
        )


def _sum(parts: Iterable[Floats]) -> Floats:
    """Return the sum of arrays, which may have different shapes."""
    return reduce(np.add, parts)


def _likeness(classes: list[_PowerSums], n: Floats) -> Floats:
    """Return the cosine between the class differences of two features; 1 or -1 for two classes."""
    totals = _sum(c.n * c.mean for c in classes) / np.maximum(n, 1.0)
    gaps = [(c.n, c.mean - totals) for c in classes]
    product = _sum(size * gap * gap.T for size, gap in gaps)
    squares = _sum(size * gap**2 for size, gap in gaps)
    norm = np.sqrt(squares * squares.T)
    return np.where(norm > 0.0, product / np.where(norm > 0.0, norm, 1.0), 0.0)


def _gamma_tail(seen: float, mean: float, variance: float) -> float:
    """Return P(T >= seen) for the gamma distribution with this mean and variance."""
    if variance <= _ROUNDING * mean**2:
        return 1.0 if seen <= mean * (1.0 + 1e-9) else 0.0
    return float(gamma.sf(seen, mean**2 / variance, scale=variance / mean))
