"""Covariates that are passed beside X, and those that are columns of X.

Pipelines and cross-validation pass X only, so that covariates may be named in the constructor, as
columns of X. They are then taken out of X: covariates are not features.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from unselected._typing import Floats
from unselected.columns.dask import DaskColumns, is_dask_array
from unselected.columns.sources import ColumnSource
from unselected.columns.without import without_columns
from unselected.estimators.finding_columns import find_columns
from unselected.fitted.covariate_coding import CovariateCoding
from unselected.fitted.covariate_table import CovariateTable
from unselected.statistics.design import CovariateBasis

_PARAMETER = "covariates"


@dataclass(frozen=True, eq=False)
class CodedCovariates:
    """The covariates of the training cases as numbers.

    Attributes
    ----------
    coding : CovariateCoding
    coded : array of shape (n, c)
    basis : CovariateBasis
    Z : array of shape (n, m)
        In the basis, the intercept first.
    """

    coding: CovariateCoding
    coded: Floats
    basis: CovariateBasis
    Z: Floats

    @classmethod
    def learn(cls, table: CovariateTable) -> "CodedCovariates":
        """Learn how covariates are coded."""
        coding = CovariateCoding.learn(table)
        coded = coding.encode(table)
        basis = CovariateBasis.learn(coded)
        return cls(coding, coded, basis, basis.apply(coded))

    def by_name(self) -> dict[str, Floats]:
        """Return the coded columns of each covariate."""
        starts = np.cumsum([len(column.coded_names) for column in self.coding.columns])[:-1]
        parts = np.split(self.coded, starts, axis=1)
        return dict(zip(self.coding.names, parts, strict=True))


def resolve_covariates(constructor: Any, given: Any, X: Any) -> tuple[Any, CovariateTable | None]:
    """Return the features, and the covariates.

    Parameters
    ----------
    constructor : names or numbers of columns of X, or None
        The parameter ``covariates`` of the estimator.
    given : covariates, or None
        What was passed to ``fit`` or to a prediction; see `CovariateTable.read`.
    X : table of any kind

    Returns
    -------
    X_features : X, or X without its covariates
    table : CovariateTable, or None
        None where there are no covariates.

    Raises
    ------
    ValueError
        Where both are given, or where one of them does not go with X.
    """
    named = constructor is not None and np.size(constructor) > 0
    if named and given is not None:
        raise ValueError(
            f"{_PARAMETER} are named in the constructor, as columns of X, and also passed beside "
            "X: use one of the two."
        )
    if named:
        return split_covariates(X, constructor)
    if given is None:
        return X, None
    table = CovariateTable.read(given)
    table.check_cases(X.shape[0] if hasattr(X, "shape") else len(X))
    return X, table


def refuse_covariates(estimator: Any, given: Any) -> None:
    """Raise where covariates are given to a model that takes none."""
    if given is not None:
        raise ValueError(
            f"{type(estimator).__name__} takes no covariates, because its features depend on each "
            "other through latent variables: use SelectiveClassifier or SelectiveRegressor."
        )


def features_of(constructor: Any, X: Any) -> Any:
    """Return X without the covariates that the constructor names."""
    return resolve_covariates(constructor, None, X)[0]


def with_coded(
    rows: NDArray[Any], coding: CovariateCoding | None, given: CovariateTable | None
) -> NDArray[Any]:
    """Return rows of the kept columns with the coded covariates behind them."""
    if coding is None:
        if given is not None:
            raise ValueError(
                f"{_PARAMETER} are given, but the model was fitted without any: fit it with "
                f"{_PARAMETER} too."
            )
        return rows
    if given is None:
        names = ", ".join(map(repr, coding.names))
        raise ValueError(f"the model was fitted with covariates: pass {_PARAMETER}= with {names}.")
    return np.hstack([rows, coding.encode(given)])


def split_covariates(X: Any, wanted: Any) -> tuple[Any, CovariateTable]:
    """Return the features and the covariates of a table that holds both.

    Parameters
    ----------
    X : frame, array, sparse matrix or column source
        Features of a frame keep their names. A dask array is an error.
    wanted : names or numbers of columns
        Columns of X that are covariates. In an array they are found by number, counted from 0, and
        are called "column 0" and so on.

    >>> X, covariates = split_covariates(np.array([[1.5, 34], [0.5, 51]]), [1])
    >>> X.tolist(), covariates.names
    ([[1.5], [0.5]], ('column 1',))
    """
    if is_dask_array(X) or isinstance(X, DaskColumns):
        raise TypeError(
            f"{_PARAMETER} in the constructor cannot be columns of a dask array: pass them to fit, "
            f"as {_PARAMETER}=."
        )
    if not hasattr(X, "shape"):
        X = np.array(X, dtype=object)  # numpy would make text of numbers beside text
    if len(X.shape) != 2:
        raise ValueError(f"X has the shape {X.shape}: {_PARAMETER} are columns of a table.")
    n_columns, names = int(X.shape[1]), _names_of(X)
    places = _find(wanted, names, n_columns, X)
    features = np.delete(np.arange(n_columns), places)
    if features.size == 0:
        raise ValueError(
            f"{_PARAMETER} has all {n_columns} columns of X, so that no feature is left: name "
            "fewer."
        )
    if isinstance(X, ColumnSource):
        return without_columns(X, places), _of_array(X[:, places], places, names)
    if names is not None:
        return _columns(X, features), CovariateTable.read(_columns(X, places))
    if issparse(X):
        matrix: Any = X
        matrix = matrix.tocsr()  # not every format gives columns
        return matrix[:, features], _of_array(matrix[:, places].toarray(), places, None)
    return X[:, features], _of_array(X[:, places], places, None)


def _find(wanted: Any, names: NDArray[Any] | None, n_columns: int, X: Any) -> NDArray[np.intp]:
    try:
        return find_columns(wanted, names, n_columns, _PARAMETER)
    except ValueError as error:
        if isinstance(X, ColumnSource):
            raise ValueError(
                f"{error} Columns of {X.origin} hold numbers only: pass other covariates to fit, "
                f"as {_PARAMETER}=."
            ) from error
        raise


def _names_of(X: Any) -> NDArray[Any] | None:
    """Return the names of the columns of a source or a frame; None where there are none."""
    if isinstance(X, ColumnSource):
        return X.names
    if not hasattr(X, "columns"):
        return None
    names = np.empty(len(X.columns), dtype=object)
    names[:] = list(X.columns)
    return names


def _columns(frame: Any, places: NDArray[np.intp]) -> Any:
    """Return some columns of a frame: pandas finds them by position only with ``iloc``."""
    return getattr(frame, "iloc", frame)[:, places.tolist()]


def _of_array(
    values: NDArray[Any], places: NDArray[np.intp], names: NDArray[Any] | None
) -> CovariateTable:
    called = [f"column {j}" for j in places] if names is None else names[places].tolist()
    return CovariateTable.read(dict(zip(called, values.T, strict=True)))
