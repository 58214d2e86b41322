"""Fitted estimators that need only the columns that were kept."""

from typing import Any, Generic, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_array

from unselected._typing import ColumnNamer, Floats
from unselected.columns.sources import ColumnSource
from unselected.estimators.base import PredictiveRegressor
from unselected.estimators.explaining import ExplainingClassifier
from unselected.estimators.inputs import as_columns, column_label, naming_the_column
from unselected.fitted.naive_bayes import KeptBernoulli, KeptGaussian, KeptRegression, real_rows
from unselected.models.regression import RegressionPosterior

K = TypeVar("K", KeptBernoulli, KeptGaussian, KeptRegression)
C = TypeVar("C", KeptBernoulli, KeptGaussian)


class Panel(BaseEstimator, Generic[K]):
    """A fitted estimator on its kept columns alone: fitting changes nothing, cloning returns it."""

    kept: K

    @property
    def n_features_in_(self) -> int:
        """The number of kept columns."""
        return self.kept.n_columns

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """The names of the kept columns."""
        if self.kept.names is None:
            raise AttributeError("the estimator was fitted to columns without names")
        return self.kept.names

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_clone__(self) -> Self:
        return self

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Return the panel as it is: it is fitted.

        Parameters
        ----------
        X, y : ignored

        Returns
        -------
        self : Panel
        """
        return self

    def _checked_rows(self, X: Any) -> NDArray[Any]:
        """Return rows of the kept columns, as numbers and in their order."""
        names = self.kept.names
        if names is not None and hasattr(X, "columns"):
            X = _columns_by_name(X, names)
        try:
            X = check_array(
                X,
                accept_sparse=("csr", "csc"),
                dtype=None,
                ensure_all_finite=False,
                ensure_min_features=0,
                estimator=self,
            )
        except (TypeError, ValueError) as error:
            raise naming_the_column(error, X) from error
        rows = as_columns(X, names)
        if isinstance(rows, ColumnSource):
            rows = rows[:, np.arange(rows.shape[1])]
        if rows.shape[1] != self.n_features_in_:
            raise ValueError(
                f"X has {rows.shape[1]} columns, but the panel needs its {self.n_features_in_}."
            )
        return rows

    def _label(self, column: int) -> str:
        return column_label(column, self.kept.names)


class ClassifierPanel(ExplainingClassifier, Panel[C]):
    """What ``panel()`` of a selective classifier returns: it needs the kept columns alone.

    It is fitted already: `fit` changes nothing, and cloning returns the panel itself.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    n_features_in_ : int
        The number of kept columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where the classifier was fitted to named columns. A table with names is then
        matched by name, in any order; other columns that it has are not looked at.
    """

    def __init__(self, kept: C) -> None:
        self.kept = kept

    @property
    def classes_(self) -> NDArray[Any]:  # type: ignore[override]
        """The classes."""
        return self.kept.classes

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        return f"ClassifierPanel({self.n_features_in_} columns, classes {self.classes_.tolist()})"

    def _log_joint(self, X: Any, log_prior: Floats | None = None) -> Floats:
        return self.kept.log_joint(self._checked_rows(X), self._label, log_prior)

    @property
    def _log_psi(self) -> Floats:
        return self.kept.log_psi

    def _kept_and_rows(self, X: Any) -> tuple[C, NDArray[Any], ColumnNamer, NDArray[Any]]:
        names = np.arange(self.n_features_in_) if self.kept.names is None else self.kept.names
        return self.kept, self._checked_rows(X), self._label, names


class RegressorPanel(PredictiveRegressor, Panel[KeptRegression]):
    """What ``panel()`` of a selective regressor returns: it needs the kept columns alone.

    It is fitted already: `fit` changes nothing, and cloning returns the panel itself.

    Attributes
    ----------
    n_features_in_ : int
        The number of kept columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where the regressor was fitted to named columns; see `ClassifierPanel`.
    """

    def __init__(self, kept: KeptRegression) -> None:
        self.kept = kept

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        return f"RegressorPanel({self.n_features_in_} columns)"

    def _posterior_of_rows(self, X: Any) -> tuple[RegressionPosterior, Floats]:
        return self.kept.posterior, real_rows(self._checked_rows(X), self._label)


def _columns_by_name(X: Any, names: NDArray[Any]) -> Any:
    """Return the named columns of a DataFrame in this order."""
    places: dict[Any, list[int]] = {}
    for place, name in enumerate(X.columns):
        places.setdefault(name, []).append(place)
    missing = [name for name in names if name not in places]
    if missing:
        shown = ", ".join(map(repr, missing[:5])) + (", ..." if len(missing) > 5 else "")
        raise ValueError(f"X lacks {len(missing)} of the panel's columns: {shown}.")
    twice = [name for name in names if len(places[name]) > 1]
    if twice:
        raise ValueError(
            f"X has more than one column named {twice[0]!r}: keep the one that is meant."
        )
    order = [places[name][0] for name in names]
    return X.iloc[:, order] if hasattr(X, "iloc") else X[:, order]
