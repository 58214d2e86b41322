"""Validation of tables, responses and the columns that users name.

scikit-learn's validation does most of the work. Here its errors also name the column and the row.
"""

from dataclasses import dataclass, replace
from functools import partial
from numbers import Integral
from typing import Any, Literal

import numpy as np
from numpy.exceptions import DTypePromotionError
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, clone
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_consistent_length, column_or_1d, validate_data

from unselected._typing import ColumnNamer, Ints
from unselected.columns.blocks import Columns
from unselected.columns.dask import DaskColumns, is_dask_array
from unselected.columns.sources import ArrayColumns, ColumnSource, SparseColumns
from unselected.estimators.cautions import check_classes, check_confounding
from unselected.estimators.covariates import CodedCovariates, resolve_covariates
from unselected.estimators.parameters import shown
from unselected.fitted.covariate_coding import CovariateCoding
from unselected.fitted.covariate_table import CovariateTable
from unselected.fitted.predictor import column_label
from unselected.statistics.design import Design
from unselected.statistics.leaving_out import LeftOut

Target = Literal["two classes", "classes", "numbers"]

# With fewer responses, a fitted line leaves no residual to estimate the variance from.
FEWEST_RESPONSES = 3


@dataclass(frozen=True)
class TrainingTable:
    """A validated training set: table, response, classes and column names.

    ``y`` holds indices into ``classes``, or numbers where ``classes`` is empty. Covariates that are
    columns of X have been taken out of it. ``constant`` is the coding of covariates that are all
    constant: fits are those without covariates, and predictions ask for them.
    """

    X: Columns
    y: NDArray[Any]
    classes: NDArray[Any]
    names: NDArray[Any] | None
    covariates: CodedCovariates | None = None
    constant: CovariateCoding | None = None

    def with_covariates(
        self, values: NDArray[Any], cases: Ints | slice = slice(None)
    ) -> NDArray[Any]:
        """Return columns of some cases with their coded covariates, if any, behind them."""
        if self.covariates is None:
            return values
        return np.hstack([values, self.covariates.coded[cases]])

    def coded_at(self, cases: Ints | slice) -> dict[str, NDArray[Any]] | None:
        """Return the coded covariates of some cases, for fits to these; None where there are none.

        They are numbers, so that a level that some cases lack is no level that is unknown.
        """
        if self.covariates is None or not self.n_coded:
            return None
        coded = self.covariates.coded[cases]
        return dict(zip(self.covariates.coding.coded_names, coded.T, strict=True))

    @property
    def n_coded(self) -> int:
        """The number of coded covariates."""
        return 0 if self.coding is None else self.coding.n_coded

    @property
    def coding(self) -> CovariateCoding | None:
        """How covariates become numbers; None where there are none."""
        return self.constant if self.covariates is None else self.covariates.coding

    @property
    def design(self) -> Design:
        """The design of covariates and response."""
        assert self.covariates is not None
        Z = self.covariates.Z
        if self.classes.size:
            return Design.by_class(Z, self.y, self.classes.size)
        return Design.along(Z, self.y)

    @property
    def dense(self) -> NDArray[Any]:
        """The table as an array; a sparse table or a dask array is an error."""
        if isinstance(self.X, DaskColumns):
            raise TypeError("A dask X is not supported here: pass X.compute().")
        if isinstance(self.X, ColumnSource):
            raise TypeError("A sparse X is not supported here: pass X.toarray().")
        return self.X

    def check_classes_left(self, sets: list[LeftOut], groups: Ints | None = None) -> None:
        """Raise where a set contains all cases of a class; ``groups`` are left out as a whole."""
        sizes = np.bincount(self.y, minlength=self.classes.size)
        for left in sets:
            out = np.bincount(self.y[left.out], minlength=self.classes.size)
            gone = np.flatnonzero(out == sizes)
            if gone.size:
                few = f"cases ({sizes[gone[0]]})"
                if groups is not None:
                    few = f"groups of cases ({np.unique(groups[self.y == gone[0]]).size})"
                raise ValueError(
                    f"class {self.classes[gone].tolist()[0]!r} has too few {few}: leaving cases "
                    "out leaves none of it. Add cases of that class, or drop or merge it."
                )

    @property
    def label(self) -> ColumnNamer:
        """What errors call a column. It holds only the names, because it is sent to workers."""
        return partial(column_label, names=self.names)


def check_training(
    estimator: BaseEstimator, X: Any, y: Any, target: Target, covariates: Any = None
) -> TrainingTable:
    """Validate a training set without touching the estimator.

    ``covariates`` are those passed to `fit`; the estimator may name columns of X instead.
    """
    X, given = resolve_covariates(getattr(estimator, "covariates", None), covariates, X)
    table = _check_training(estimator, X, y, target)
    return table if given is None else adjusted_table(table, given)


def adjusted_table(table: TrainingTable, given: CovariateTable) -> TrainingTable:
    """Return a training set with covariates; those that say nothing make no difference."""
    covariates = CodedCovariates.learn(given)
    if covariates.basis.size == 1:
        return replace(table, constant=covariates.coding.unused())
    contrasts = max(1, table.classes.size - 1)
    if table.y.size - covariates.basis.size - contrasts < 1:
        raise ValueError(
            f"{table.y.size} cases are too few for covariates with {covariates.basis.size - 1} "
            f"coded columns: at least {covariates.basis.size + contrasts + 1} are needed."
        )
    check_confounding(covariates, table.y, table.classes.size)
    return replace(table, covariates=covariates)


def _check_training(estimator: BaseEstimator, X: Any, y: Any, target: Target) -> TrainingTable:
    X, y = opened(X), y.compute() if is_dask_array(y) else y
    if isinstance(X, ColumnSource):
        return _check_source(X, y, target)
    _check_names_distinct(X)
    probe = clone(estimator)  # validation sets attributes on the estimator it is given
    _check_response_known(y)
    numeric = target == "numbers"
    if numeric:
        _check_numbers(y)
    try:
        X, y = validate_data(
            probe,
            X,
            y,
            accept_sparse=("csr", "csc"),
            ensure_all_finite=False,
            y_numeric=numeric,
            ensure_min_samples=FEWEST_RESPONSES if numeric else 1,
        )
    except (TypeError, ValueError) as error:
        raise naming_the_column(error, X) from error
    names = getattr(probe, "feature_names_in_", None)
    return _with_response(as_columns(X, names), y, names, target)


def _check_numbers(y: Any) -> None:
    """Raise where a response is text that is no number, and name it."""
    responses = np.asarray(y)
    if responses.dtype.kind not in "OUS":
        return
    for row, response in enumerate(responses.ravel().tolist()):
        if not isinstance(response, str | bytes):
            continue
        try:
            float(response)
        except ValueError:
            raise ValueError(
                f"y has {response!r} in row {row} (counted from 0), which is no number. If the "
                "responses are classes, use SelectiveClassifier."
            ) from None


def opened(X: Any) -> Any:
    """Return a dask array as a column source, and anything else unchanged."""
    return DaskColumns(X) if is_dask_array(X) else X


def _with_response(X: Columns, y: Any, names: NDArray[Any] | None, target: Target) -> TrainingTable:
    if target == "numbers":
        return TrainingTable(X, _varying_numbers(y), np.array([]), names)
    classes, codes = _classes(y, target)
    return TrainingTable(X, codes, classes, names)


def _check_source(X: ColumnSource, y: Any, target: Target) -> TrainingTable:
    """Validate a source without reading its values, which are checked when they are read."""
    if X.shape[1] == 0:
        raise ValueError(f"{X.origin} has no columns: X needs at least one feature.")
    _check_response_known(y)
    response = column_or_1d(y, warn=True)
    check_consistent_length(X, response)
    if target == "numbers":
        _check_numbers(response)
        response = response.astype(np.float64)
        if response.size < FEWEST_RESPONSES:
            raise ValueError(
                f"y has {response.size} responses: a fit needs at least {FEWEST_RESPONSES}."
            )
    return _with_response(_in_memory(X), response, X.names, target)


def _in_memory(X: ColumnSource) -> Columns:
    """Return the array of a table in memory, which is faster, or else the source."""
    return X.X if isinstance(X, ArrayColumns) else X


def _varying_numbers(y: Any) -> NDArray[np.float64]:
    numbers = np.asarray(y, dtype=np.float64)
    if np.ptp(numbers) == 0.0:
        raise ValueError(f"y is {numbers[0]:g} in all cases: a fit needs responses that differ.")
    with np.errstate(over="ignore"):
        spread = np.ptp(numbers)
    if not 1e-100 < spread < 1e100:
        raise ValueError(
            f"y has a range of {spread:g}, whose square cannot be represented: use another unit."
        )
    return numbers


def check_rows(estimator: BaseEstimator, X: Any) -> Columns:
    """Validate new rows against the columns of a fitted estimator."""
    X = opened(X)
    if isinstance(X, ColumnSource):
        _check_source_columns(estimator, X)
        return _in_memory(X)
    try:
        rows = validate_data(
            estimator, X, reset=False, accept_sparse=("csr", "csc"), ensure_all_finite=False
        )
    except (TypeError, ValueError) as error:
        raise naming_the_column(error, X) from error
    return as_columns(rows, getattr(estimator, "feature_names_in_", None))


def _check_source_columns(estimator: BaseEstimator, X: ColumnSource) -> None:
    if X.shape[1] != estimator.n_features_in_:
        raise ValueError(
            f"{X.origin} has {X.shape[1]} columns, but {type(estimator).__name__} was fitted to "
            f"{estimator.n_features_in_}."
        )
    names = getattr(estimator, "feature_names_in_", None)
    if names is not None and X.names is not None and not np.array_equal(names, X.names):
        first = int(np.argmin(names == X.names))
        raise ValueError(
            f"{X.origin} has the column {X.names[first]!r} where the training table has "
            f"{names[first]!r}: the columns must have the same names, in the same order."
        )


def as_columns(X: Any, names: NDArray[Any] | None) -> Columns:
    """Return a validated table as an array or as a column source."""
    return SparseColumns(X) if issparse(X) else as_numbers(X, names)


def as_numbers(X: Any, names: NDArray[Any] | None) -> NDArray[Any]:
    """Return booleans, integers and floats unchanged, and other values converted to floats."""
    values: NDArray[Any] = np.asarray(X)
    if values.dtype.kind in "biuf":
        return values
    fault = _first_non_number(values, names)
    if fault is not None:
        raise ValueError(fault)
    return values.astype(np.float64, order="C")  # in which None is NaN


def _check_names_distinct(X: Any) -> None:
    """Raise where two columns have the same name, because panels match columns by name."""
    places: dict[Any, list[int]] = {}
    for place, name in enumerate(getattr(X, "columns", ())):
        if isinstance(name, str | Integral):
            places.setdefault(name, []).append(place)
    for name, where in places.items():
        if len(where) > 1:
            listed = ", ".join(map(str, where))
            raise ValueError(
                f"{name!r} is the name of more than one column: {listed}. Rename all but one, or "
                "pass an array without names."
            )


def _check_response_known(y: Any) -> None:
    labels = np.asarray(y)
    if labels.ndim == 0 or labels.dtype.kind not in "fO":
        return
    labels = labels.ravel()
    unknown = np.flatnonzero([is_missing(label) for label in labels.tolist()])
    if unknown.size:
        raise ValueError(
            f"Input y contains NaN or infinity: {unknown.size} of {labels.size} responses are "
            f"missing, the first in row {unknown[0]}. Drop these rows, or predict them later."
        )


def is_missing(label: Any) -> bool:
    """Return whether a label is None, NaN, infinite, or pandas' NA, which equals nothing."""
    if label is None or isinstance(label, float):
        return label is None or not np.isfinite(label)
    try:
        return bool(label != label)
    except TypeError:
        return True


def _classes(y: Any, target: Target) -> tuple[NDArray[Any], NDArray[np.intp]]:
    check_classification_targets(y)
    kind = type_of_target(y)
    if target == "two classes" and kind != "binary":
        raise ValueError(
            f"Only binary classification is supported. The type of the target is {kind}. "
            "For several classes use SelectiveGaussianNB, or SelectiveBernoulliNB for features of "
            "0 and 1."
        )
    classes, codes = np.unique(y, return_inverse=True)
    if classes.size < 2:
        raise ValueError(
            f"y holds one class only, {shown(classes[0])}: a classifier needs at least two classes."
        )
    check_classes(classes, codes)
    return classes, codes


def naming_the_column(error: TypeError | ValueError, X: Any) -> TypeError | ValueError:
    """Return the error, with column and row of the first value that is not a number, if any."""
    values = np.empty(0) if "inconsistent" in str(error) else np.asarray(X)
    if values.ndim != 2 or values.dtype.kind not in "OUS":
        return error
    names = getattr(X, "columns", None)
    labels = None if names is None else np.asarray(list(names), dtype=object)
    fault = _first_non_number(values, labels)
    if fault is None:
        return error
    if isinstance(error, DTypePromotionError):  # its message lists the type of every column
        return TypeError(fault)
    return type(error)(f"{fault} ({error})")


def _first_non_number(values: NDArray[Any], names: NDArray[Any] | None) -> str | None:
    """Return what to say of the first value that is not a number, if there is one."""
    for column in range(values.shape[1]):
        for row, value in enumerate(values[:, column].tolist()):
            if value is not None and not _is_number(value):
                return (
                    f"{column_label(column, names)} has {value!r} in row {row}, which is not a "
                    "number: encode the column (for example with "
                    "sklearn.preprocessing.OneHotEncoder) or drop it."
                )
    return None


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True
