"""Nearest shrunken centroids (Tibshirani et al. 2002), with the threshold that suits the data."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.neighbors import NearestCentroid

from unselected._typing import Floats

# Thresholds that are tried, from 0 to where all features are gone.
_N_THRESHOLDS = 20
# A probability of 0 counts as this in a log loss.
_LEAST = 1e-15


class ShrunkenCentroids(ClassifierMixin, BaseEstimator):
    """scikit-learn's `NearestCentroid` with the threshold of least log loss in inner folds.

    Probabilities are those of the paper, and of the R package pamr: p_g is proportional to
    pi_g exp(-d_g^2 / 2), where d_g is the standardized distance from the shrunken centroid.

    Parameters
    ----------
    cv : splitter
        Inner folds.

    Attributes
    ----------
    threshold_ : float
    coef_ : array of shape (n_classes, n_features)
        Standardized differences of the centroids from the mean; 0 where a feature is not used.
    """

    def __init__(self, cv: Any) -> None:
        self.cv = cv

    def fit(self, X: Any, y: Any) -> Self:
        """Choose the threshold, and fit the centroids to all rows."""
        X = np.asarray(X, dtype=np.float64)
        self.classes_ = np.unique(y)
        largest = float(np.abs(_centroids(0.0).fit(X, y).deviations_).max())
        tried = np.linspace(0.0, largest, _N_THRESHOLDS, endpoint=False)
        folds = list(self.cv.split(X, y))
        losses = [self._loss(X, y, threshold, folds) for threshold in tried]
        best = len(tried) - 1 - int(np.argmin(losses[::-1]))  # the fewest features of equals
        self.threshold_ = float(tried[best])
        self._model = _centroids(self.threshold_).fit(X, y)
        self.coef_ = self._model.deviations_
        return self

    def predict_proba(self, X: Any) -> Floats:
        """Return probabilities of all classes."""
        return np.exp(_log_proba(self._model, np.asarray(X, dtype=np.float64)))

    def _loss(self, X: Any, y: NDArray[Any], threshold: float, folds: list[Any]) -> float:
        total = 0.0
        for train, test in folds:
            logs = _log_proba(_centroids(threshold).fit(X[train], y[train]), X[test])
            own = logs[np.arange(test.size), np.searchsorted(self.classes_, y[test])]
            total -= float(np.sum(np.maximum(own, np.log(_LEAST))))
        return total


def _centroids(threshold: float) -> NearestCentroid:
    return NearestCentroid(shrink_threshold=threshold or None, priors="empirical")


def _log_proba(model: NearestCentroid, X: Any) -> Floats:
    """Return log probabilities; the scores of scikit-learn are twice their logarithms."""
    scores = model.decision_function(X)
    if scores.ndim == 1:
        scores = np.column_stack([np.zeros(scores.size), scores])
    return np.asarray(log_softmax(0.5 * scores, axis=1))
