"""Cases and predictions as arrays, checked; an error names the first row that is wrong."""

from collections.abc import Callable
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unselected._typing import Floats

_OF_CLASSES = ", for example column 1 of predict_proba"


def positives(y: Any, pos_label: Any) -> NDArray[np.bool_]:
    """Return which cases are positive; raise where the labels leave that in doubt.

    >>> positives(["sick", "well", "sick"], "sick").tolist()
    [True, False, True]
    """
    y = np.asarray(y)
    if pos_label is None:
        if y.dtype != np.bool_:
            raise ValueError(
                "pos_label=None is for the most probable of several classes: y must then be "
                "booleans, whether that class is right, as most_probable returns them."
            )
        pos_label = True
    _check_labels_known(y)
    labels = np.unique(y).tolist()
    if y.ndim != 1 or y.size == 0 or len(labels) > 2:
        raise ValueError(
            f"y has the shape {y.shape} and {len(labels)} labels: give one label for each case, "
            "of two classes."
        )
    if pos_label not in labels and not {*labels, pos_label} <= {0, 1}:
        raise ValueError(
            f"pos_label={pos_label!r} is not one of the labels in y, {labels}: say which "
            "of them the probabilities are of."
        )
    return np.asarray(y == pos_label)


def _check_labels_known(y: NDArray[Any]) -> None:
    # Nothing that is missing equals itself, not even in a way that is True: pandas' NA.
    for row, label in enumerate(y.ravel().tolist()):
        if label is None or (label == label) is not True:
            raise ValueError(f"y has the value {label} in row {row}: drop cases without a class.")


def labelled_cases(y: ArrayLike, probability: ArrayLike, pos_label: Any) -> tuple[Floats, Floats]:
    """Return which cases are in a class, as 0 and 1, and their probabilities, or raise.

    >>> labelled_cases(["sick", "well"], [0.75, 0.5], "sick")[0].tolist()
    [1.0, 0.0]
    """
    labels = np.asarray(y)
    if pos_label is not None and pos_label == 1 and not _has_two_labels(labels):
        return checked_cases(y, probability)
    return checked_cases(positives(labels, pos_label), probability)


def _has_two_labels(y: NDArray[Any]) -> bool:
    """Say whether y is of words, or of two whole numbers one of which is 1."""
    if y.dtype.kind == "O":
        return y.size > 0 and all(isinstance(label, str) for label in y.ravel().tolist())
    if y.dtype.kind not in "iuf":
        return y.dtype.kind in "US"
    labels = np.unique(y)
    return labels.size == 2 and 1 in labels and bool(np.all(labels == np.round(labels)))


def checked_cases(y: ArrayLike, probability: ArrayLike) -> tuple[Floats, Floats]:
    """Return both as arrays of floats, or raise naming the first row that is wrong."""
    classes, p = as_numbers("y", y, _OF_CLASSES), checked_probability(probability)
    check_lengths(y=classes, probability=p)
    advice = "give 0 and 1, or booleans, for example y == positive_class"
    check_rows("y", classes, (classes == 0.0) | (classes == 1.0), advice)
    return classes, p


def checked_probability(probability: ArrayLike) -> Floats:
    """Return probabilities of class 1, or raise naming the first row that has none."""
    advice = "give probabilities of class 1, from 0 to 1"
    return checked_numbers("probability", probability, is_probability, advice, _OF_CLASSES)


def is_probability(values: Floats) -> NDArray[np.bool_]:
    """Say which values are from 0 to 1."""
    return np.asarray((values >= 0.0) & (values <= 1.0))


def as_numbers(name: str, values: ArrayLike, example: str = "") -> Floats:
    """Return one float for each case, or raise."""
    array = np.asarray(values)
    if array.ndim != 1:
        raise ValueError(
            f"{name} has the shape {array.shape}: give one value for each case{example}."
        )
    if array.dtype.kind not in "biuf":
        for row, value in enumerate(array):
            if not isinstance(value, Real | np.bool_):
                raise ValueError(
                    f"{name} has the value {value!r} in row {row}, which is not a number."
                )
    return array.astype(np.float64)


def checked_numbers(
    name: str,
    values: ArrayLike,
    right: Callable[[Floats], NDArray[np.bool_]] = np.isfinite,
    advice: str = "give finite numbers",
    example: str = "",
) -> Floats:
    """Return one float for each of one or more cases, or raise at the first that is not right."""
    array = as_numbers(name, values, example)
    check_some(name, array)
    check_rows(name, array, right(array), advice)
    return array


def check_some(name: str, values: Floats) -> None:
    """Raise where there are no cases."""
    if len(values) == 0:
        raise ValueError(f"{name} has no cases: give at least one.")


def check_rows(name: str, values: Floats, right: NDArray[np.bool_], advice: str) -> None:
    """Raise at the first value that is not right."""
    if not right.all():
        row = int(np.argmin(right))
        raise ValueError(f"{name} has the value {values[row]:.17g} in row {row}: {advice}.")


def check_lengths(**arrays: Floats) -> None:
    """Raise unless all have as many cases as the first."""
    (first, cases), *others = arrays.items()
    for name, array in others:
        if len(array) != len(cases):
            raise ValueError(
                f"{first} has {len(cases)} cases and {name} has {len(array)}: give one {name} for "
                "each case."
            )
