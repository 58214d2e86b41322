"""The predict methods of all estimators and panels, around a predictor and rows."""

from collections.abc import Callable
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_consistent_length, column_or_1d

from unselected._typing import ColumnNamer, Floats
from unselected.fitted.explanations import Explanation
from unselected.fitted.predictor import ClassPredictor, Predictor, ResponsePredictor

P = TypeVar("P", bound=Predictor)


class RowsToPredict(NamedTuple, Generic[P]):
    """A predictor, rows of the kept columns, and the names of these columns.

    Attributes
    ----------
    predictor : ClassPredictor or ResponsePredictor
    rows : array of shape (n, k)
        With coded covariates behind the kept columns, where the model has any.
    label : callable or None
        Returns what errors call a column; None for the predictor's own names.
    features : array of shape (k,) or None
    """

    predictor: P
    rows: NDArray[Any]
    label: ColumnNamer | None
    features: NDArray[Any] | None


class ClassPredictions(ClassifierMixin):
    """Class probabilities from ``_to_predict(X, covariates)``."""

    classes_: NDArray[Any]
    # Returns the predictor and the kept columns of the rows.
    _to_predict: Callable[[Any, Any], RowsToPredict[ClassPredictor]]

    def predict_log_proba(
        self, X: Any, *, prevalence: Any = None, covariates: Any = None
    ) -> Floats:
        """Return the log of the predictive probabilities.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        prevalence : mapping, sequence of float, or float, default=None
            See `predict_proba`.
        covariates : table of shape (n_samples, n_covariates), default=None
            See `predict_proba`.

        Returns
        -------
        log_proba : ndarray of shape (n_samples, n_classes)
            In the order of ``classes_``; finite however extreme the probabilities are.
        """
        predictor, rows, label, _ = self._to_predict(X, covariates)
        return predictor.predict_log_proba(rows, prevalence=prevalence, label=label)

    def predict_proba(self, X: Any, *, prevalence: Any = None, covariates: Any = None) -> Floats:
        """Return the predictive probabilities.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        prevalence : mapping, sequence of float, or float, default=None
            Class probabilities in the population of the new cases, in place of those of the
            training set: for case-control studies, or for another population. A mapping by class
            label, a sequence in the order of ``classes_``, or, for two classes, the probability of
            ``classes_[1]``.
        covariates : table of shape (n_samples, n_covariates), default=None
            Where `fit` had any: those of the new cases, by the same names. Not where the estimator
            names columns of X.

        Returns
        -------
        proba : ndarray of shape (n_samples, n_classes)
            In the order of ``classes_``.
        """
        return np.exp(self.predict_log_proba(X, prevalence=prevalence, covariates=covariates))

    def predict(self, X: Any, *, prevalence: Any = None, covariates: Any = None) -> NDArray[Any]:
        """Return the most probable class of each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        prevalence : mapping, sequence of float, or float, default=None
            See `predict_proba`.
        covariates : table of shape (n_samples, n_covariates), default=None
            See `predict_proba`.

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        log_proba = self.predict_log_proba(X, prevalence=prevalence, covariates=covariates)
        return np.asarray(self.classes_[np.argmax(log_proba, axis=1)])

    def expected_error(self, X: Any, *, covariates: Any = None) -> float:
        """Return the error rate that the predictive probabilities of these rows imply.

        It is the mean over rows of 1 less the largest class probability (section 4 of the paper).
        Where the probabilities are calibrated, it is close to the actual error rate.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        covariates : table of shape (n_samples, n_covariates), default=None
            See `predict_proba`.

        Returns
        -------
        error : float
        """
        return float(np.mean(1.0 - np.max(self.predict_proba(X, covariates=covariates), axis=1)))

    def predict_proba_interval(
        self, X: Any, *, level: float = 0.9, prevalence: Any = None, covariates: Any = None
    ) -> tuple[Floats, Floats]:
        """Return posterior intervals of the predictive probabilities.

        The hyperparameters, how strongly features are related to the class (``concentration_``) and
        with ``prior="sparse"`` how many are, have a posterior. Each of their values gives a
        predictive probability. `predict_proba` is the mean of these probabilities, and the interval
        contains a fraction ``level`` of them, under the posterior given the training cases and the
        features of the new case. All other parameters are averaged over, as in `predict_proba`. The
        interval is therefore not a statement on the class of a single case. Nor does it have the
        uncertainty of the prevalence: where no feature of a case is known, both ends are the
        probability itself. For models with latent variables, each draw gives a probability.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        level : float, default=0.9
        prevalence : mapping, sequence of float, or float, default=None
            See `predict_proba`.
        covariates : table of shape (n_samples, n_covariates), default=None
            See `predict_proba`.

        Returns
        -------
        lower, upper : ndarrays of shape (n_samples, n_classes)
            In the order of ``classes_``.
        """
        predictor, rows, label, _ = self._to_predict(X, covariates)
        return predictor.predict_proba_interval(
            rows, level=level, prevalence=prevalence, label=label
        )


class ExplainedPredictions(ClassPredictions):
    """Class probabilities, with explanations."""

    def explain(self, X: Any, *, prevalence: Any = None, covariates: Any = None) -> Explanation:
        """Return the contribution of each kept feature to the log odds of each case.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        prevalence : mapping, sequence of float, or float, default=None
            See `predict_proba`.
        covariates : table of shape (n_samples, n_covariates), default=None
            See `predict_proba`.

        Returns
        -------
        explanation : Explanation
            Contributions and prior sum to the log odds at the posterior mean. The difference to the
            log odds of `predict_proba` is given too. ``pandas.DataFrame(explanation.to_dict())``
            gives a table.
        """
        predictor, rows, label, features = self._to_predict(X, covariates)
        return predictor.explain(rows, features, prevalence=prevalence, label=label)


class ResponsePredictions(RegressorMixin):
    """A predictive distribution for each row, from ``_to_predict(X, covariates)``."""

    # Returns the predictor and the kept columns of the rows.
    _to_predict: Callable[[Any, Any], RowsToPredict[ResponsePredictor]]

    def predict(
        self, X: Any, return_std: bool = False, *, covariates: Any = None
    ) -> Floats | tuple[Floats, Floats]:
        """Return the means of the predictive distributions.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        return_std : bool, default=False
            Return the standard deviations too.
        covariates : table of shape (n_samples, n_covariates), default=None
            Where `fit` had any: those of the new cases, by the same names. Not where the estimator
            names columns of X.

        Returns
        -------
        mean : ndarray of shape (n_samples,)
        std : ndarray of shape (n_samples,)
            Only with ``return_std``.
        """
        predictor, rows, label, _ = self._to_predict(X, covariates)
        mean, std = predictor.mean_and_std(rows, label=label)
        return (mean, std) if return_std else mean

    def predict_quantiles(
        self, X: Any, quantiles: Any = (0.05, 0.5, 0.95), *, covariates: Any = None
    ) -> Floats:
        """Return quantiles of the predictive distributions.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        quantiles : sequence of float, default=(0.05, 0.5, 0.95)
            Each above 0 and below 1.
        covariates : table of shape (n_samples, n_covariates), default=None
            See `predict`.

        Returns
        -------
        values : ndarray of shape (n_samples, n_quantiles)
        """
        predictor, rows, label, _ = self._to_predict(X, covariates)
        return predictor.quantiles(rows, quantiles, label=label)

    def predict_log_density(self, X: Any, y: Any, *, covariates: Any = None) -> Floats:
        """Return the log predictive densities of given responses.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        covariates : table of shape (n_samples, n_covariates), default=None
            See `predict`.

        Returns
        -------
        log_density : ndarray of shape (n_samples,)
        """
        predictor, rows, label, _ = self._to_predict(X, covariates)
        return predictor.log_density(rows, _responses(rows, y), label=label)

    def predict_cdf(self, X: Any, y: Any, *, covariates: Any = None) -> Floats:
        """Return the predictive probabilities of a response of at most ``y``.

        Where the predictions are calibrated, these are uniform on 0 to 1 for new responses (the
        probability integral transform).

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        covariates : table of shape (n_samples, n_covariates), default=None
            See `predict`.

        Returns
        -------
        probability : ndarray of shape (n_samples,)
        """
        predictor, rows, label, _ = self._to_predict(X, covariates)
        return predictor.cdf(rows, _responses(rows, y), label=label)


def _responses(rows: NDArray[Any], y: Any) -> Floats:
    responses = np.asarray(column_or_1d(y), dtype=np.float64)
    check_consistent_length(rows, responses)
    if not np.all(np.isfinite(responses)):
        row = int(np.argmin(np.isfinite(responses)))
        raise ValueError(f"y is not a finite number in row {row}: drop the row.")
    return responses
