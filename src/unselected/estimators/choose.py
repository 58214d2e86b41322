"""The choice of a model for a data set, and a check of the user's own choice."""

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from unselected._typing import Floats

ModelName = Literal["bernoulli", "gaussian", "regression"]

# The models of a numeric response: the front door, and the paper's.
FOR_NUMBERS = ("regressor", "regression")

# At most this many distinct whole numbers are treated as classes.
MOST_CLASSES = 10

_BITS = "all features are 0 or 1"


def choose_model(X: NDArray[Any], y: NDArray[Any]) -> tuple[ModelName, str]:
    """Return the name of the model that fits the data, and the reason.

    A response of numbers is treated as numeric where they are not all whole or have more than 10
    distinct values. Two distinct values are always classes. The model is "regression" for a numeric
    response, "bernoulli" for classes and features that are all 0, 1 or missing, and "gaussian" for
    classes and other features.

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
                f"the response has {distinct.size} distinct numbers; classifier would treat each "
                "as a class"
            )
        classes = (
            f"{distinct.size} distinct whole numbers are treated as classes; regressor would treat "
            "them as numbers"
        )
        return (
            ("bernoulli", f"{_BITS}, and {classes}") if are_all_bits(X) else ("gaussian", classes)
        )
    classes = {1: "one class", 2: "two classes"}.get(distinct.size, f"{distinct.size} classes")
    if are_all_bits(X):
        return "bernoulli", f"{classes}, and {_BITS}"
    if distinct.size != 2:
        return "gaussian", classes
    if _have_missing(X):
        return "gaussian", "two classes, and features have missing values"
    return "gaussian", (
        "two classes, and features are not all 0 or 1; bernoulli would cut them at their median"
    )


def response_for(model: str, y: NDArray[Any], *, called: str | None = None) -> NDArray[Any]:
    """Return the response in the form that the model needs: labels or numbers.

    Parameters
    ----------
    model : {"classifier", "regressor", "bernoulli", "gaussian", "regression"}
    y : array of shape (n_samples,)
        As in `choose_model`.
    called : str, optional
        What errors call the model, for one with latent variables that needs the same response.

    Raises
    ------
    ValueError
        Where the model does not fit the response; the message says which one does.

    Examples
    --------
    >>> response_for("regressor", np.array(["1.50", "2"])).tolist()
    [1.5, 2.0]
    """
    if model in FOR_NUMBERS:
        numbers = numbers_of(y)
        if numbers is None:
            raise ValueError(
                f"{called or model} needs a numeric response, but {_first_text(y)}: use classifier."
            )
        return numbers
    classes = np.unique(y)
    numbers = numbers_of(y)
    if numbers is None or _are_whole(numbers):
        return y
    if classes.size > MOST_CLASSES:
        raise ValueError(
            f"{called or model} needs classes, but the response has {classes.size} distinct "
            "numbers that are not whole: use regressor."
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


def are_all_bits(X: NDArray[Any]) -> bool:
    """Return whether all values are 0, 1 or missing; only a missing value differs from itself."""
    if X.dtype.kind == "b":
        return True
    return all(bool(np.all((row == 0) | (row == 1) | (row != row))) for row in X)


def _have_missing(X: NDArray[Any]) -> bool:
    return X.dtype.kind == "f" and any(bool(np.isnan(row).any()) for row in X)
