"""Fitted estimators that need only the kept columns."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_array

from unselected.columns.sources import ColumnSource
from unselected.estimators.covariates import with_coded
from unselected.estimators.inputs import as_columns, naming_the_column
from unselected.estimators.parameters import first_few
from unselected.estimators.predicting import (
    ExplainedPredictions,
    ResponsePredictions,
    RowsToPredict,
)
from unselected.fitted.covariate_table import CovariateTable
from unselected.fitted.predictor import (
    ClassPredictor,
    Predictor,
)


class Panel(BaseEstimator):
    """A fitted estimator that needs only its kept columns.

    Fitting changes nothing, and cloning returns the panel itself.
    """

    def __init__(self, predictor: Any) -> None:
        self.predictor = predictor

    @property
    def n_features_in_(self) -> int:
        """The number of kept columns."""
        return int(self.predictor.n_columns)

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """The names of the kept columns."""
        names: NDArray[Any] | None = self.predictor.names
        if names is None:
            raise AttributeError("the estimator was fitted to columns without names")
        return names

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_clone__(self) -> Self:
        return self

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Return the panel unchanged: it is already fitted.

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
        names = self.predictor.names
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
                f"X has {rows.shape[1]} columns, but the panel needs {self.n_features_in_}: pass "
                "the kept columns only."
            )
        return rows

    def _to_predict(self, X: Any, covariates: Any) -> RowsToPredict[Any]:
        coding = self.predictor.coding
        if coding is not None and covariates is None and hasattr(X, "columns"):
            covariates = _columns_by_name(X, np.array(coding.names, dtype=object))
        given = None if covariates is None else CovariateTable.read(covariates)
        rows = with_coded(self._checked_rows(X), coding, given)
        return RowsToPredict(self.predictor, rows, None, None)


class ClassifierPanel(Panel, ExplainedPredictions):
    """A fitted classifier that needs only the kept columns, as ``panel()`` returns it.

    `fit` changes nothing, and cloning returns the panel itself.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    n_features_in_ : int
        The number of kept columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the kept columns, where the classifier was fitted to named columns. The columns of
        a table with names are then matched by name, in any order; other columns are ignored.
    """

    @property
    def classes_(self) -> NDArray[Any]:  # type: ignore[override]
        """The classes."""
        classes: NDArray[Any] = self.predictor.classes
        return classes

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        return f"ClassifierPanel({self.n_features_in_} columns, classes {self.classes_.tolist()})"


class RegressorPanel(Panel, ResponsePredictions):
    """A fitted regressor that needs only the kept columns, as ``panel()`` returns it.

    `fit` changes nothing, and cloning returns the panel itself.

    Attributes
    ----------
    n_features_in_ : int
        The number of kept columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the kept columns, where the regressor was fitted to named columns; see
        `ClassifierPanel`.
    """

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        return f"RegressorPanel({self.n_features_in_} columns)"


def panel_of(predictor: Predictor) -> ClassifierPanel | RegressorPanel:
    """Return the panel around a predictor."""
    if isinstance(predictor, ClassPredictor):
        return ClassifierPanel(predictor)
    return RegressorPanel(predictor)


def _columns_by_name(X: Any, names: NDArray[Any]) -> Any:
    """Return the named columns of a DataFrame in this order."""
    places: dict[Any, list[int]] = {}
    for place, name in enumerate(X.columns):
        places.setdefault(name, []).append(place)
    missing = [name for name in names if name not in places]
    if missing:
        shown = first_few(missing, 5)
        raise ValueError(f"X lacks {len(missing)} of the panel's columns: {shown}. Add them.")
    twice = [name for name in names if len(places[name]) > 1]
    if twice:
        raise ValueError(
            f"X has more than one column named {twice[0]!r}: rename or drop all but one."
        )
    order = [places[name][0] for name in names]
    return X.iloc[:, order] if hasattr(X, "iloc") else X[:, order]
