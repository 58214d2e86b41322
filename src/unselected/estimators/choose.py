"""The choice of a model for a data set, and a check of the user's own choice."""

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from unselected._typing import Floats
from unselected.estimators.parameters import first_few

ModelName = Literal["bernoulli", "gaussian", "regression"]

# At most this many distinct whole numbers are treated as classes.
MOST_CLASSES = 10


def choose_model(X: NDArray[Any], y: NDArray[Any]) -> tuple[ModelName, str]:
    """Return the name of the model that fits the data, and the reason.

    A response of numbers is treated as numeric where they are not all whole or have more than 10
    distinct values. Two distinct values are always classes. The model is "regression" for a numeric
    response, "bernoulli" for two classes and features that are all 0 or 1, and "gaussian" for other
    features or more classes.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        Numbers; NaN is a missing value.
    y : array of shape (n_samples,)
        Numbers, booleans or text.

    Returns
    -------
    name : {"bernoulli", "gaussian", "regression"}
    reason : str

    Examples
    --------
    >>> choose_model(np.array([[0, 1], [1, 1], [0, 0]]), np.array(["a", "b", "a"]))
    ('bernoulli', 'two classes, and all features are 0 or 1')
    >>> choose_model(np.array([[0.5], [1.0], [0.1]]), np.array([1.5, 2.0, 0.1]))[0]
    'regression'
    """
    numbers = numbers_of(y)
    distinct = np.unique(y if numbers is None else numbers)
    if numbers is not None and distinct.size > 2:
        if not _are_whole(distinct):
            return "regression", "the response has numbers that are not whole"
        if distinct.size > MOST_CLASSES:
            return "regression", (
                f"the response has {distinct.size} distinct numbers; gaussian would treat each as "
                "a class"
            )
        return "gaussian", (
            f"{distinct.size} distinct whole numbers are treated as classes; regression would "
            "treat them as numbers"
        )
    if distinct.size != 2:
        return "gaussian", "one class" if distinct.size == 1 else f"{distinct.size} classes"
    if _are_bits(X):
        return "bernoulli", "two classes, and all features are 0 or 1"
    if _first_missing(X) is not None:
        return "gaussian", "two classes, and features have missing values"
    return "gaussian", (
        "two classes, and features are not all 0 or 1; bernoulli would cut them at their median"
    )


def response_for(
    model: ModelName, X: NDArray[Any], y: NDArray[Any], names: NDArray[Any] | None = None
) -> NDArray[Any]:
    """Return the response in the form that the model needs: labels, or numbers for "regression".

    Parameters
    ----------
    model : {"bernoulli", "gaussian", "regression"}
    X, y : arrays
        As in `choose_model`.
    names : array of shape (n_features,), default=None
        Names of the features, for errors.

    Raises
    ------
    ValueError
        Where the model does not fit the data; the message says which one does.

    Examples
    --------
    >>> response_for("regression", np.zeros((2, 1)), np.array(["1.50", "2"])).tolist()
    [1.5, 2.0]
    """
    if model == "regression":
        numbers = numbers_of(y)
        if numbers is None:
            raise ValueError(
                f"regression needs a numeric response, but {_first_text(y)}: use gaussian, or "
                "bernoulli for two classes."
            )
        return numbers
    classes = np.unique(y)
    if model == "bernoulli":
        if classes.size > 2:
            raise ValueError(
                f"bernoulli needs two classes, but the response has {classes.size}, "
                f"{first_few(classes.tolist(), 5)}: use gaussian, or regression for numbers."
            )
        missing = _first_missing(X)
        if missing is not None:
            row, column = missing
            feature = f"feature {column + 1}" if names is None else f"feature {names[column]!r}"
            raise ValueError(
                f"bernoulli allows no missing values, but {feature} is missing in case {row + 1}: "
                "fill it in, or use gaussian."
            )
    numbers = numbers_of(y)
    if numbers is None or _are_whole(numbers):
        return y
    if classes.size > MOST_CLASSES:
        raise ValueError(
            f"{model} needs classes, but the response has {classes.size} distinct numbers that are "
            "not whole: use regression."
        )
    return np.array([str(label) for label in y.tolist()], dtype=object)


def numbers_of(y: NDArray[Any]) -> Floats | None:
    """Return a response as numbers where all its values are numbers or their text; else None.

    >>> numbers_of(np.array(["1.50", "-2e3"])).tolist(), numbers_of(np.array(["1", "low"]))
    ([1.5, -2000.0], None)
    """
    if y.dtype.kind in "iuf":
        return y.astype(np.float64)
    numbers = [_number(label) for label in y.tolist()]
    return None if np.isnan(numbers).any() else np.array(numbers)


def _number(label: object) -> float:
    """Return a label as a finite number; NaN where it is not one."""
    if isinstance(label, bool) or (isinstance(label, str) and "_" in label):
        return np.nan  # float() would accept 1_000
    try:
        number = float(label)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return np.nan
    return number if np.isfinite(number) else np.nan


def _first_text(y: NDArray[Any]) -> str:
    for row, label in enumerate(y.tolist()):
        if np.isnan(_number(label)):
            return f"it is {label!r} in case {row + 1}"
    return "it has none"


def _are_whole(numbers: NDArray[Any]) -> bool:
    return bool(np.all(numbers == np.round(numbers)))


def _are_bits(X: NDArray[Any]) -> bool:
    return X.dtype.kind == "b" or all(bool(np.all((row == 0) | (row == 1))) for row in X)


def _first_missing(X: NDArray[Any]) -> tuple[int, int] | None:
    """Return the row and column of the first missing value."""
    if X.dtype.kind == "f":
        for place, row in enumerate(X):
            missing = np.isnan(row)
            if missing.any():
                return place, int(np.argmax(missing))
    return None
