"""What users pass in, checked: tables, labels, columns named by users, parameters.

scikit-learn's validation does most of it; here errors learn to name the column and the row.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from numbers import Integral, Real
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, clone
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_consistent_length, column_or_1d, validate_data

from unselected._typing import ColumnNamer
from unselected.columns.blocks import Columns
from unselected.columns.dask import DaskColumns, is_dask_array
from unselected.columns.sources import ColumnSource, SparseColumns
from unselected.selection.events import Statistic
from unselected.statistics.binarizing import Binarize

Target = Literal["two classes", "classes", "numbers"]

# A line through fewer responses leaves nothing to tell its deviations from.
FEWEST_RESPONSES = 3


@dataclass(frozen=True)
class TrainingTable:
    """A validated training set: table, response, and what the columns are called.

    The response is the number of a class in ``classes``, or a number itself where there are none.
    """

    X: Columns
    y: NDArray[Any]
    classes: NDArray[Any]
    names: NDArray[Any] | None

    @property
    def dense(self) -> NDArray[Any]:
        """The table as an array; a sparse one is an error, and so is a dask array."""
        if isinstance(self.X, DaskColumns):
            raise TypeError("A dask X is not taken here, an array is: pass X.compute().")
        if isinstance(self.X, ColumnSource):
            raise TypeError("A sparse X is not taken here, a dense array is: pass X.toarray().")
        return self.X

    @property
    def label(self) -> ColumnNamer:
        """How errors call a column; it knows the names alone, for it goes to workers."""
        return partial(column_label, names=self.names)


def column_label(column: int, names: NDArray[Any] | None) -> str:
    """Return how errors call a column: by number, and by name where it has one.

    >>> column_label(3, None), column_label(0, np.array(["age"], dtype=object))
    ('column 3', "column 0 ('age')")
    """
    return f"column {column}" if names is None else f"column {column} ({names[column]!r})"


def check_training(estimator: BaseEstimator, X: Any, y: Any, target: Target) -> TrainingTable:
    """Validate a training set without touching the estimator."""
    X, y = opened(X), y.compute() if is_dask_array(y) else y
    if isinstance(X, ColumnSource):
        return _check_source(X, y, target)
    _check_names_distinct(X)
    probe = clone(estimator)  # validation records names and counts of columns on what it is given
    _check_response_known(y)
    numeric = target == "numbers"
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


def opened(X: Any) -> Any:
    """Return a dask array as a source of columns, and anything else as it is."""
    return DaskColumns(X) if is_dask_array(X) else X


def _with_response(X: Columns, y: Any, names: NDArray[Any] | None, target: Target) -> TrainingTable:
    if target == "numbers":
        return TrainingTable(X, _varying_numbers(y), np.array([]), names)
    classes, codes = _classes(y, target)
    return TrainingTable(X, codes, classes, names)


def _check_source(X: ColumnSource, y: Any, target: Target) -> TrainingTable:
    """Validate a source by what it says of itself: its values are looked at when they are read."""
    _check_response_known(y)
    response = column_or_1d(y, warn=True)
    check_consistent_length(X, response)
    if target == "numbers":
        response = response.astype(np.float64)
        if response.size < FEWEST_RESPONSES:
            raise ValueError(
                f"y has {response.size} responses: {FEWEST_RESPONSES} or more are needed."
            )
    return _with_response(X, response, X.names, target)


def _varying_numbers(y: Any) -> NDArray[np.float64]:
    numbers = np.asarray(y, dtype=np.float64)
    if np.ptp(numbers) == 0.0:
        raise ValueError(
            f"y is {numbers[0]:g} in all cases: there is nothing that features could be related to."
        )
    with np.errstate(over="ignore"):
        spread = np.ptp(numbers)
    if not 1e-100 < spread < 1e100:
        raise ValueError(
            f"y has values {spread:g} apart, whose squares cannot be represented: measure it in "
            "another unit."
        )
    return numbers


def check_rows(estimator: BaseEstimator, X: Any) -> Columns:
    """Validate new rows against the columns that a fitted estimator knows."""
    X = opened(X)
    if isinstance(X, ColumnSource):
        _check_source_columns(estimator, X)
        return X
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
    """Return a validated table as something whose columns can be read."""
    return SparseColumns(X) if issparse(X) else as_numbers(X, names)


def as_numbers(X: Any, names: NDArray[Any] | None) -> NDArray[Any]:
    """Return booleans, integers or floats as they are, other values as floats where they can be."""
    values: NDArray[Any] = np.asarray(X)
    if values.dtype.kind in "biuf":
        return values
    numbers = np.empty(values.shape)
    for column in range(values.shape[1]):
        for row, value in enumerate(values[:, column].tolist()):
            if value is not None and not _is_number(value):
                raise ValueError(_no_number(column_label(column, names), row, value))
            numbers[row, column] = np.nan if value is None else float(value)
    return numbers


def _check_names_distinct(X: Any) -> None:
    """Raise where columns share a name, for neither users nor panels could tell them apart."""
    places: dict[Any, list[int]] = {}
    for place, name in enumerate(getattr(X, "columns", ())):
        if isinstance(name, str | Integral):
            places.setdefault(name, []).append(place)
    for name, where in places.items():
        if len(where) > 1:
            raise ValueError(
                f"{name!r} is the name of more than one column: {_join(where)}. Rename all but "
                "one, or pass an array without names."
            )


def _check_response_known(y: Any) -> None:
    labels = np.asarray(y)
    if labels.ndim == 0 or labels.dtype.kind not in "fO":
        return
    labels = labels.ravel()
    unknown = np.flatnonzero([_is_missing(label) for label in labels.tolist()])
    if unknown.size:
        raise ValueError(
            f"Input y contains NaN or infinity: {unknown.size} of {labels.size} responses are "
            f"missing, the first in row {unknown[0]}. Drop these rows, or predict them later."
        )


def _is_missing(label: Any) -> bool:
    """Say whether a label is None, NaN, infinite, or pandas' NA, which equals nothing."""
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
            f"Only binary classification is supported. The type of the target is {kind}."
        )
    classes, codes = np.unique(y, return_inverse=True)
    if classes.size < 2:
        raise ValueError(
            f"y holds one class only, {classes[0]!r}: the classifier needs cases of two classes."
        )
    return classes, codes


def naming_the_column(error: TypeError | ValueError, X: Any) -> TypeError | ValueError:
    """Return the error, telling which value was no number where that was the reason."""
    fault = None if "inconsistent" in str(error) else _first_non_number(X)
    return error if fault is None else type(error)(f"{_no_number(*fault)} ({error})")


def _no_number(column: str, row: int, value: Any) -> str:
    return (
        f"{column} has {value!r} in row {row}, which is not a number: encode the column (for "
        "example with sklearn.preprocessing.OneHotEncoder) or drop it."
    )


def _first_non_number(X: Any) -> tuple[str, int, Any] | None:
    names = getattr(X, "columns", None)
    values = np.asarray(X)
    if values.ndim != 2 or values.dtype.kind not in "OUS":
        return None
    for column in range(values.shape[1]):
        for row, value in enumerate(values[:, column].tolist()):
            if value is not None and not _is_number(value):
                label = None if names is None else np.asarray(list(names), dtype=object)
                return column_label(column, label), row, value
    return None


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


def find_columns(
    wanted: Any, names: NDArray[Any] | None, n_columns: int, parameter: str
) -> NDArray[np.intp]:
    """Return the columns that a user names, by name or by number, in increasing order.

    >>> find_columns(["age", 0], np.array(["sex", "dose", "age"], dtype=object), 3, "always_keep")
    array([0, 2])
    """
    if wanted is None:
        return np.array([], dtype=np.intp)
    single = isinstance(wanted, str | bytes) or not isinstance(wanted, Iterable)
    items = [wanted] if single else list(wanted)
    return np.unique([_find_column(item, names, n_columns, parameter) for item in items]).astype(
        np.intp
    )


def _find_column(item: Any, names: NDArray[Any] | None, n_columns: int, parameter: str) -> int:
    if _is_a(Integral, item):
        if not 0 <= item < n_columns:
            raise ValueError(
                f"{parameter} has column {item}, but the columns are 0 to {n_columns - 1}."
            )
        return int(item)
    if not isinstance(item, str):
        raise TypeError(
            f"{parameter} has {item!r}: give names of columns, or their numbers counted from 0."
        )
    if names is None:
        raise ValueError(
            f"{parameter} has the name {item!r}, but X has no column names: pass a DataFrame, "
            "or numbers of columns counted from 0."
        )
    found = np.flatnonzero(names == item)
    if found.size == 0:
        raise ValueError(f"{parameter} has the name {item!r}, which no column of X bears.")
    return int(found[0])


def _join(items: Iterable[Any]) -> str:
    return ", ".join(str(item) for item in items)


def _is_a(kind: type, value: Any) -> bool:
    """Say whether a value is a number of a kind; True and False are none."""
    return isinstance(value, kind) and not isinstance(value, bool | np.bool_)


def check_choice(parameter: str, value: Any, choices: tuple[str, ...]) -> None:
    """Raise unless the value is one of the choices."""
    if not (isinstance(value, str) and value in choices):
        raise ValueError(f"{parameter}={value!r} is not one of {_join(map(repr, choices))}.")


def check_flag(parameter: str, value: Any) -> None:
    """Raise unless the value is True or False."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{parameter}={value!r} must be True or False.")


def check_whole(parameter: str, value: Any, low: int, high: int | None, meaning: str) -> int:
    """Return an integer within bounds, or raise, saying what the bounds are."""
    if not _is_a(Integral, value):
        raise TypeError(f"{parameter}={value!r} must be a whole number: {meaning}.")
    if value < low or (high is not None and value > high):
        bounds = f"at least {low}" if high is None else f"in {low}..{high}"
        raise ValueError(f"{parameter}={value} is out of range: it must be {bounds}, {meaning}.")
    return int(value)


def check_score(parameter: str, value: Any, statistic: Statistic) -> float:
    """Return a value that the statistic can have, or raise."""
    if not _is_a(Real, value):
        bounds = "from 0 to 1" if statistic == "|COR|" else "from 0 on"
        raise TypeError(f"{parameter}={value!r} must be a number {bounds}.")
    if statistic == "|COR|" and not 0.0 <= value <= 1.0:
        raise ValueError(f"{parameter}={value} is out of range: a correlation is from 0 to 1.")
    if not 0.0 <= value < np.inf:
        raise ValueError(f"{parameter}={value} is out of range: an F statistic is 0 or more.")
    return float(value)


def check_number(parameter: str, value: Any, else_: str) -> None:
    """Raise unless the value is a number other than NaN."""
    if not _is_a(Real, value) or np.isnan(value):
        raise ValueError(f"{parameter}={value!r} must be a number, {else_}.")


def check_binarize(value: Any) -> Binarize:
    """Return how columns become bits, numbers of any type as float."""
    if isinstance(value, str):
        check_choice("binarize", value, ("auto", "median"))
    elif value is not None:
        check_number("binarize", value, "or 'auto', 'median' or None")
        return float(value)
    how: Binarize = value
    return how


def check_zero_or_between(parameter: str, value: Any, low: float, high: float) -> float:
    """Return 0 or a number within bounds, or raise."""
    if not _is_a(Real, value) or not (value == 0.0 or low <= value <= high):
        raise ValueError(f"{parameter}={value!r} must be 0, or a number from {low:g} to {high:g}.")
    return float(value)


def check_pseudocounts(value: Any, n_classes: int) -> NDArray[np.float64]:
    """Return a positive number for each class, or raise."""
    numbers = [value] * n_classes if _is_a(Real, value) else value
    try:
        counts = np.array([float(number) for number in numbers if not isinstance(number, str)])
    except (TypeError, ValueError):
        counts = np.array([])
    if counts.size != n_classes or not np.all((counts > 0.0) & (counts < np.inf)):
        raise ValueError(
            f"class_pseudocounts={value!r} must be a positive number, or one for each of the "
            f"{n_classes} classes."
        )
    return counts


def check_positive_pair(parameter: str, value: Any, meaning: str) -> tuple[float, float]:
    """Return two positive finite numbers, or raise."""
    try:
        first, second = (float(number) for number in value if not isinstance(number, str))
    except (TypeError, ValueError):
        raise ValueError(f"{parameter}={value!r} must be two numbers: {meaning}.") from None
    if not (0.0 < first < np.inf and 0.0 < second < np.inf):
        raise ValueError(f"{parameter}={value!r} must be two positive finite numbers: {meaning}.")
    return first, second
