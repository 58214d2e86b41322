"""What every selective classifier does once it can tell log P(y, x): written here, in log space."""

from abc import ABCMeta, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin

from unselected.quadrature import Floats, log_sum


class LogJointClassifier(ClassifierMixin, metaclass=ABCMeta):
    """Predictions from ``_log_joint(X)``, the log of P(class, kept features of a row)."""

    classes_: NDArray[Any]

    @abstractmethod
    def _log_joint(self, X: Any) -> Floats:
        """Return log P(class, kept features) of each row, shape (n_samples, n_classes)."""

    def predict_log_proba(self, X: Any) -> Floats:
        """Return the log of the predictive probabilities.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        log_proba : ndarray of shape (n_samples, n_classes)
            In the order of ``classes_``; finite however extreme the probabilities are.
        """
        log_joint = self._log_joint(X)
        return np.asarray(log_joint - log_sum(log_joint, axis=1)[:, np.newaxis])

    def predict_proba(self, X: Any) -> Floats:
        """Return the predictive probabilities.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        proba : ndarray of shape (n_samples, n_classes)
            In the order of ``classes_``.
        """
        return np.exp(self.predict_log_proba(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the more probable class of each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        log_joint = self._log_joint(X)
        return np.asarray(self.classes_[np.argmax(log_joint, axis=1)])

    def expected_error(self, X: Any) -> float:
        """Return the error rate that the predictive probabilities of these rows imply.

        The mean over rows of the smaller probability (section 4 of the paper). Where probabilities
        can be trusted, this is about the error rate that will be seen.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        error : float
        """
        return float(np.mean(1.0 - np.max(self.predict_proba(X), axis=1)))
