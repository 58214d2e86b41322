"""Logistic regressions of the classes on the kept features, with ridges.

Naive Bayes models the features given the class, and needs few cases. A logistic regression models
the class given the features. It makes no assumption of how these depend on each other, and predicts
better the more cases there are. Its evidence for the classes is linear in the features:

    log P(y = g | x) - log P(y = g)  =  b_g + sum_j (x_j - m_j) w_jg  (up to a constant),

where m_j is the mean of feature j. Features are centred and scaled, bits by 1/2, and coefficients
have independent normal priors. A prior is told by the variance of the log evidence at a typical
case.

Nothing here knows of the selection. Cases left out of it tell how much this evidence is worth.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unselected._typing import Bools, Floats
from unselected.numerics.ridge_logits import ridge_logits

# Prior variances of the log evidence at a typical case: one regression for each.
VARIANCES = np.array([2.0, 8.0, 32.0])
# The deviation of a bit that is 1 in half of the cases. Rare bits keep a small one.
_DEVIATION_OF_BITS = 0.5
# Squares below this part of the largest are rounding.
_ROUNDING = 1e-10


@dataclass(frozen=True, eq=False)
class LinearEvidence:
    """Evidence for the classes that is linear in the features.

    Attributes
    ----------
    centers : array of shape (k,)
        Means of the features, which stand for missing values.
    coefficients : array of shape (k, G)
    intercepts : array of shape (G,)
    """

    centers: Floats
    coefficients: Floats
    intercepts: Floats

    @classmethod
    def nothing(cls, k: int, n_classes: int) -> "LinearEvidence":
        """Return evidence of k features that say nothing."""
        return cls(np.zeros(k), np.zeros((k, n_classes)), np.zeros(n_classes))

    @property
    def has_features(self) -> bool:
        """Whether any feature says something."""
        return bool(self.coefficients.any())

    def by_feature(self, X: Floats) -> Floats:
        """Return what each feature of rows (n, k) adds, shape (n, k, G); 0 where it is missing."""
        return np.asarray(self._gaps(X)[:, :, np.newaxis] * self.coefficients)

    def log_evidence(self, X: Floats) -> Floats:
        """Return log P(class | row) less log P(class), up to a constant in a row, (n, G).

        A row without any known feature says nothing.
        """
        known = ~np.isnan(X).all(axis=1, keepdims=True)
        return np.asarray(self._gaps(X) @ self.coefficients + known * self.intercepts)

    def _gaps(self, X: Floats) -> Floats:
        return np.nan_to_num(X - self.centers)

    @classmethod
    def mixed(cls, shares: Floats, each: "Sequence[LinearEvidence]") -> "LinearEvidence":
        """Return the sum of evidence of the same features, multiplied by shares."""
        coefficients = np.tensordot(shares, [one.coefficients for one in each], 1)
        intercepts = np.tensordot(shares, [one.intercepts for one in each], 1)
        return cls(each[0].centers, coefficients, intercepts)


def logistic_ridges(
    X: Floats, is_binary: Bools, y: NDArray[np.intp], log_prior: Floats
) -> list[LinearEvidence]:
    """Fit a regression for each of `VARIANCES`.

    Parameters
    ----------
    X : array of shape (n, k)
        Kept features of the training cases; NaN is a missing value, and counts as the mean.
    is_binary : array of shape (k,)
    y : array of shape (n,)
        Classes, counted from 0.
    log_prior : array of shape (G,) or (n, G)
        Logs of the class probabilities before any feature is seen.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(200, 30)), np.arange(200) % 2
    >>> X[:, 0] += 2 * y
    >>> fitted = logistic_ridges(X, np.zeros(30, bool), y, np.log([0.5, 0.5]))
    >>> [int(np.abs(one.coefficients[:, 0]).argmax()) for one in fitted]
    [0, 0, 0]
    """
    known = ~np.isnan(X)
    n_known = np.maximum(known.sum(axis=0), 1)
    centers = np.where(known, X, 0.0).sum(axis=0) / n_known
    gaps = np.where(known, X - centers, 0.0)
    deviations = np.sqrt((gaps**2).sum(axis=0) / n_known)
    scale = np.where(is_binary, _DEVIATION_OF_BITS, deviations)
    unit = np.divide(gaps, scale, out=np.zeros_like(gaps), where=deviations > 0.0)
    Z, axes = _orthogonal(unit)
    prior = np.broadcast_to(log_prior, (y.size, log_prior.shape[-1]))
    modes = ridge_logits(Z, np.eye(prior.shape[1])[y], prior, VARIANCES)
    axes = np.divide(axes, scale[:, np.newaxis], out=axes, where=scale[:, np.newaxis] > 0.0)
    return [
        LinearEvidence(centers, axes @ coefficients, intercepts)
        for coefficients, intercepts in zip(*modes, strict=True)
    ]


def _orthogonal(unit: Floats) -> tuple[Floats, Floats]:
    """Return orthogonal columns Z = unit @ axes, and the axes, shape (k, columns).

    They span the same. The squares of a row of Z sum to 1 on average.
    """
    n, k = unit.shape
    wide = k > n
    squares, vectors = np.linalg.eigh(unit @ unit.T if wide else unit.T @ unit)
    some = squares > _ROUNDING * max(float(squares.max(initial=0.0)), 1e-300)
    squares, vectors = squares[some], vectors[:, some]
    axes = unit.T @ vectors / np.sqrt(squares) if wide else vectors
    axes = axes / np.sqrt(max(float(squares.sum()), 1e-300) / n)
    return unit @ axes, axes
