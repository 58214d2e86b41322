"""Class probabilities of the population to predict, given by the user."""

from collections.abc import Mapping
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unselected._typing import Floats

# Tolerance for the sum of rounded probabilities.
_TOLERANCE = 1e-6


def log_prevalence(prevalence: Any, classes: NDArray[Any]) -> Floats:
    """Return the logs of class probabilities given in one of several ways.

    Parameters
    ----------
    prevalence : mapping, sequence of float, or float
        The probability of each class by its label; those of all classes in their order; or, of two
        classes, that of the second.
    classes : array of shape (G,)

    Returns
    -------
    log_probabilities : array of shape (G,)

    Examples
    --------
    >>> np.exp(log_prevalence({"ill": 0.02, "well": 0.98}, np.array(["ill", "well"]))).tolist()
    [0.02, 0.98]
    """
    labels = classes.tolist()
    if isinstance(prevalence, Mapping):
        values = _by_label(prevalence, labels)
    elif isinstance(prevalence, Real):
        values = _of_second(float(prevalence), labels)
    else:
        values = _in_order(prevalence, labels)
    for label, value in zip(labels, values.tolist(), strict=True):
        if not 0.0 < value < 1.0:
            raise ValueError(
                f"prevalence of {label!r} is {value!r}: it must be above 0 and below 1."
            )
    total = float(values.sum())
    if abs(total - 1.0) > _TOLERANCE:
        raise ValueError(
            f"prevalence sums to {total:.6g} over the classes, not to 1: divide by the sum."
        )
    return np.asarray(np.log(values / total))


def _by_label(prevalence: Mapping[Any, Any], labels: list[Any]) -> Floats:
    missing = [label for label in labels if label not in prevalence]
    if missing:
        raise ValueError(f"prevalence lacks class {missing[0]!r}: give every class its own.")
    others = [label for label in prevalence if label not in labels]
    if others:
        raise ValueError(f"prevalence has {others[0]!r}, which is not one of the classes {labels}.")
    return _numbers([prevalence[label] for label in labels])


def _of_second(value: float, labels: list[Any]) -> Floats:
    if len(labels) != 2:
        raise ValueError(
            f"prevalence={value!r} is one number, but there are {len(labels)} classes: give a "
            "mapping of classes to probabilities."
        )
    if not 0.0 < value < 1.0:
        raise ValueError(
            f"prevalence={value!r} must be above 0 and below 1: the probability of {labels[1]!r}."
        )
    return np.array([1.0 - value, value])


def _in_order(prevalence: Any, labels: list[Any]) -> Floats:
    values = _numbers(prevalence)
    if values.shape != (len(labels),):
        raise ValueError(
            f"prevalence has the shape {values.shape}, but there are {len(labels)} classes: give "
            f"one probability for each, in the order {labels}."
        )
    return values


def _numbers(values: Any) -> Floats:
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"prevalence={values!r} is not made of numbers: give a mapping of classes to "
            "probabilities, or these in the order of classes_."
        ) from None
