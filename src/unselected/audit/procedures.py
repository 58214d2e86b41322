"""What is audited: anything that is fitted to some cases and predicts others."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from unselected._typing import Floats, Ints
from unselected.audit.features_used import features_used
from unselected.audit.tables import names_of

# A probability below this counts as this in a logarithm.
_LEAST = 1e-15
# A standard deviation below this part of the response's own counts as this part.
_LEAST_DEVIATION = 1e-9

FitPredict = Callable[[Any, NDArray[Any], Any], Any]


class Predicted(NamedTuple):
    """What the cases of a fold were predicted to be.

    Attributes
    ----------
    values : array
        Classes, or numbers; of shape (n_cases,).
    certainty : array or None
        Probabilities of all classes, of shape (n_cases, n_classes), or standard deviations, of
        shape (n_cases,). None where the procedure has none.
    features : array or None
        The columns that were looked at; None where that is unknown.
    """

    values: NDArray[Any]
    certainty: Floats | None
    features: Ints | None


class Procedure(Protocol):
    """Is fitted to the rows of X and their responses, and predicts other rows."""

    def __call__(
        self, X: Any, y: NDArray[Any], X_new: Any, groups: NDArray[Any] | None
    ) -> Predicted:
        """Fit to ``X`` and ``y``, and predict ``X_new``."""


@dataclass(frozen=True)
class EstimatorProcedure:
    """A scikit-learn estimator, cloned for each fit."""

    estimator: Any
    classes: NDArray[Any] | None

    def __call__(
        self, X: Any, y: NDArray[Any], X_new: Any, groups: NDArray[Any] | None
    ) -> Predicted:
        """Fit a clone to ``X`` and ``y``, and predict ``X_new``."""
        model = clone(self.estimator)
        takes_groups = groups is not None and has_fit_parameter(model, "groups")
        model.fit(X, y, **({"groups": groups} if takes_groups else {}))
        return predicted_by(model, X_new, self.classes)._replace(
            features=features_used(model, X.shape[1], names_of(X))
        )


def predicted_by(model: Any, X_new: Any, classes: NDArray[Any] | None) -> Predicted:
    """Return what a fitted model predicts; ``classes`` is None for numbers."""
    if classes is None:
        mean, std = mean_and_std(model, X_new)
        return Predicted(mean, std, None)
    if not hasattr(model, "predict_proba"):
        return Predicted(np.asarray(model.predict(X_new)), None, None)
    probability = in_order(model.predict_proba(X_new), np.asarray(model.classes_), classes)
    return Predicted(classes[probability.argmax(axis=1)], probability, None)


def in_order(probability: Any, of: NDArray[Any], classes: NDArray[Any]) -> Floats:
    """Return probabilities of all classes; those that the model does not know have 0."""
    table = np.zeros((len(probability), classes.size))
    table[:, np.searchsorted(classes, of)] = probability
    return table


def mean_and_std(model: Any, X_new: Any) -> tuple[Floats, Floats | None]:
    """Return means, and standard deviations where ``predict`` has ``return_std``."""
    try:
        mean, std = model.predict(X_new, return_std=True)
    except TypeError:
        return np.asarray(model.predict(X_new), dtype=np.float64), None
    if not np.any(std):  # DummyRegressor has no standard deviations, and says 0
        return np.asarray(mean, dtype=np.float64), None
    return np.asarray(mean, dtype=np.float64), np.asarray(std, dtype=np.float64)


@dataclass(frozen=True)
class FunctionProcedure:
    """A function ``fit_predict(X_train, y_train, X_test)``.

    For classes it returns probabilities, with a column for each class in sorted order, or classes;
    for numbers means, or means and standard deviations.
    """

    function: FitPredict
    classes: NDArray[Any] | None

    def __call__(
        self,
        X: Any,
        y: NDArray[Any],
        X_new: Any,
        groups: NDArray[Any] | None,  # noqa: ARG002
    ) -> Predicted:
        """Call the function, and look at the shape of what it returns."""
        answer = self.function(X, y, X_new)
        if isinstance(answer, tuple):
            values, std = (np.asarray(part, dtype=np.float64) for part in answer)
            return Predicted(values, std, None)
        values = np.asarray(answer)
        n_new = X_new.shape[0]
        if values.shape == (n_new,):
            return Predicted(values, None, None)
        if self.classes is None or values.shape != (n_new, self.classes.size):
            wanted = "" if self.classes is None else f" or ({n_new}, {self.classes.size})"
            raise ValueError(
                f"the function returned an array of shape {values.shape} for {n_new} cases: "
                f"({n_new},){wanted} is needed."
            )
        return Predicted(self.classes[values.argmax(axis=1)], values.astype(np.float64), None)


class Judged(NamedTuple):
    """One number for each case, of predictions of cases left out.

    Attributes
    ----------
    actual : array of shape (n_cases,)
        Whether the prediction is wrong, or its squared error.
    promised : array of shape (n_cases,), or None
        What the prediction itself says that ``actual`` is on average.
    log_loss : array of shape (n_cases,), or None
        Minus the log probability, or density, of the response.
    """

    actual: Floats
    promised: Floats | None
    log_loss: Floats | None


def judge(predicted: Predicted, y: NDArray[Any], classes: NDArray[Any] | None) -> Judged:
    """Compare predictions with the responses."""
    certainty = predicted.certainty
    if classes is not None:
        wrong = (predicted.values != y).astype(np.float64)
        if certainty is None:
            return Judged(wrong, None, None)
        seen = certainty[np.arange(y.size), np.searchsorted(classes, y)]
        log_loss = -np.log(np.maximum(seen, _LEAST))
        return Judged(wrong, 1.0 - certainty.max(axis=1), log_loss)
    squared = (predicted.values - y) ** 2
    if certainty is None:
        return Judged(squared, None, None)
    variance = np.maximum(certainty, _LEAST_DEVIATION * max(float(np.std(y)), 1e-300)) ** 2
    return Judged(squared, variance, 0.5 * (np.log(2.0 * np.pi * variance) + squared / variance))
