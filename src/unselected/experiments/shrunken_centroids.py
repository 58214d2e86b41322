"""Nearest shrunken centroids (Tibshirani et al. 2002), with the threshold that suits the data."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.neighbors import NearestCentroid

from unselected._typing import Floats, Ints

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
        losses = np.sum([self._losses(X, y, tried, *fold) for fold in folds], axis=0)
        best = len(tried) - 1 - int(np.argmin(losses[::-1]))  # the fewest features of equals
        self.threshold_ = float(tried[best])
        self._model = _centroids(self.threshold_).fit(X, y)
        self.coef_ = self._model.deviations_
        return self

    def predict_proba(self, X: Any) -> Floats:
        """Return probabilities of all classes."""
        return np.exp(_log_proba(self._model, np.asarray(X, dtype=np.float64)))

    def _losses(
        self, X: Floats, y: NDArray[Any], thresholds: Floats, train: Ints, test: Ints
    ) -> Floats:
        """Return the log loss in a fold with each threshold, from one fit without any.

        In units of the deviations within classes, a centroid is the mean of all rows and what a
        threshold leaves of the difference from it.
        """
        model = _centroids(0.0).fit(X[train], y[train])
        within = model.within_class_std_dev_
        unit = np.where(within == 0.0, 1.0, within)
        mean = X[train].mean(axis=0)
        n = np.bincount(np.searchsorted(model.classes_, y[train]))
        scale = np.sqrt(1.0 / n - 1.0 / train.size)[:, np.newaxis] * (within + np.median(within))
        rows = (X[test] - mean) / unit
        places = np.arange(test.size), np.searchsorted(self.classes_, y[test])
        losses = []
        for threshold in thresholds:
            left = np.maximum(np.abs(model.deviations_) - threshold, 0.0)
            moved = np.sign(model.deviations_) * left * scale / unit
            logs = rows @ moved.T - 0.5 * np.sum(moved**2, axis=1) + np.log(model.class_prior_)
            own = log_softmax(logs, axis=1)[places]
            losses.append(-np.sum(np.maximum(own, np.log(_LEAST))))
        return np.array(losses)


def _centroids(threshold: float) -> NearestCentroid:
    return NearestCentroid(shrink_threshold=threshold or None, priors="empirical")


def _log_proba(model: NearestCentroid, X: Any) -> Floats:
    """Return log probabilities; the scores of scikit-learn are twice their logarithms."""
    scores = model.decision_function(X)
    if scores.ndim == 1:
        scores = np.column_stack([np.zeros(scores.size), scores])
    return np.asarray(log_softmax(0.5 * scores, axis=1))
