"""Predictions, written once: from log P(class, row), or from the predictive law of a number."""

from abc import ABCMeta, abstractmethod
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_consistent_length, column_or_1d

from unselected._typing import Floats
from unselected.fitted.prevalence import log_prevalence
from unselected.numerics.quadrature import log_sum


class LogJointClassifier(ClassifierMixin, metaclass=ABCMeta):
    """Predictions from ``_log_joint(X)``, the log of P(class, kept features of a row)."""

    classes_: NDArray[Any]

    @abstractmethod
    def _log_joint(self, X: Any, log_prior: Floats | None = None) -> Floats:
        """Return log P(class, kept features) of each row, shape (n_samples, n_classes).

        With ``log_prior`` for the logs of the class probabilities, where it is given.
        """

    @property
    @abstractmethod
    def _log_psi(self) -> Floats:
        """The logs of the class probabilities before any feature is seen."""

    def _log_prior(self, prevalence: Any) -> Floats:
        """Return the logs of the class probabilities given, or else of those learned."""
        return self._log_psi if prevalence is None else log_prevalence(prevalence, self.classes_)

    def _log_joint_at(self, X: Any, prevalence: Any) -> Floats:
        return self._log_joint(X, None if prevalence is None else self._log_prior(prevalence))

    def predict_log_proba(self, X: Any, *, prevalence: Any = None) -> Floats:
        """Return the log of the predictive probabilities.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        prevalence : mapping, sequence of float, or float, default=None
            See `predict_proba`.

        Returns
        -------
        log_proba : ndarray of shape (n_samples, n_classes)
            In the order of ``classes_``; finite however extreme the probabilities are.
        """
        log_joint = self._log_joint_at(X, prevalence)
        return np.asarray(log_joint - log_sum(log_joint, axis=1)[:, np.newaxis])

    def predict_proba(self, X: Any, *, prevalence: Any = None) -> Floats:
        """Return the predictive probabilities.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        prevalence : mapping, sequence of float, or float, default=None
            Class probabilities where the predictions are made, in place of those of the training
            set: where cases and controls were sampled apart, or another population is meant. By
            class label; in the order of ``classes_``; or, of two classes, that of ``classes_[1]``.

        Returns
        -------
        proba : ndarray of shape (n_samples, n_classes)
            In the order of ``classes_``.
        """
        return np.exp(self.predict_log_proba(X, prevalence=prevalence))

    def predict(self, X: Any, *, prevalence: Any = None) -> NDArray[Any]:
        """Return the most probable class of each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        prevalence : mapping, sequence of float, or float, default=None
            See `predict_proba`.

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        log_joint = self._log_joint_at(X, prevalence)
        return np.asarray(self.classes_[np.argmax(log_joint, axis=1)])

    def expected_error(self, X: Any) -> float:
        """Return the error rate that the predictive probabilities of these rows imply.

        The mean over rows of the probability of all classes but the most probable one (section 4 of
        the paper). Where probabilities can be trusted, this is about the error rate that will be
        seen.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        error : float
        """
        return float(np.mean(1.0 - np.max(self.predict_proba(X), axis=1)))


class ResponsePosterior(Protocol):
    """What the posterior of a model with a real response says of rows of the kept features."""

    def mean_and_std(self, X: Floats) -> tuple[Floats, Floats]:
        """Return means and standard deviations of the predictive distributions."""

    def quantiles(self, X: Floats, levels: ArrayLike) -> Floats:
        """Return their quantiles, shape (rows, levels)."""

    def log_density(self, X: Floats, y: Floats) -> Floats:
        """Return the log predictive densities of responses."""

    def cdf(self, X: Floats, y: Floats) -> Floats:
        """Return the predictive probabilities of responses of at most y."""


class PredictiveRegressor(RegressorMixin, metaclass=ABCMeta):
    """Predictions from ``_posterior_of_rows(X)``: a predictive distribution for each row."""

    @abstractmethod
    def _posterior_of_rows(self, X: Any) -> tuple[ResponsePosterior, Floats]:
        """Return the posterior, and the kept columns of the rows as doubles."""

    def predict(self, X: Any, return_std: bool = False) -> Floats | tuple[Floats, Floats]:
        """Return the means of the predictive distributions.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        return_std : bool, default=False
            Return the standard deviations too.

        Returns
        -------
        mean : ndarray of shape (n_samples,)
        std : ndarray of shape (n_samples,)
            Only with ``return_std``.
        """
        posterior, rows = self._posterior_of_rows(X)
        mean, std = posterior.mean_and_std(rows)
        return (mean, std) if return_std else mean

    def predict_quantiles(self, X: Any, quantiles: Any = (0.05, 0.5, 0.95)) -> Floats:
        """Return quantiles of the predictive distributions.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        quantiles : sequence of float, default=(0.05, 0.5, 0.95)
            Each above 0 and below 1.

        Returns
        -------
        values : ndarray of shape (n_samples, n_quantiles)
        """
        posterior, rows = self._posterior_of_rows(X)
        return posterior.quantiles(rows, quantiles)

    def predict_log_density(self, X: Any, y: Any) -> Floats:
        """Return the log predictive densities of given responses.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)

        Returns
        -------
        log_density : ndarray of shape (n_samples,)
        """
        posterior, rows = self._posterior_of_rows(X)
        return posterior.log_density(rows, _responses(rows, y))

    def predict_cdf(self, X: Any, y: Any) -> Floats:
        """Return the predictive probabilities of a response of at most ``y``.

        Where the predictions can be trusted, these are spread evenly over 0 to 1 for the
        responses that come (the probability integral transform).

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)

        Returns
        -------
        probability : ndarray of shape (n_samples,)
        """
        posterior, rows = self._posterior_of_rows(X)
        return posterior.cdf(rows, _responses(rows, y))


def _responses(rows: Floats, y: Any) -> Floats:
    responses = np.asarray(column_or_1d(y), dtype=np.float64)
    check_consistent_length(rows, responses)
    if not np.all(np.isfinite(responses)):
        raise ValueError(
            f"y is not a finite number in row {int(np.argmin(np.isfinite(responses)))}."
        )
    return responses
