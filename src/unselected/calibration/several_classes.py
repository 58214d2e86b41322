"""Scores of probabilities of several classes, and how often the most probable class is right.

``y`` are class numbers, 0 to G - 1, and ``probability`` has a column for each class and rows that
sum to 1, as predict_proba returns them. With two classes all agree with the functions of two
classes, to which the second column is given.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unselected._typing import Floats, Ints
from unselected.calibration.inputs import (
    as_numbers,
    check_lengths,
    check_rows,
    check_some,
    checked_numbers,
    is_probability,
)
from unselected.calibration.intervals import RandomState, fraction_interval, resampling
from unselected.calibration.line import calibration_in_the_large
from unselected.calibration.records import Record
from unselected.calibration.two_classes import SpiegelhalterTest, minus_logs, spiegelhalter
from unselected.numerics.resampling import Estimate

# How far rows of probabilities may be from a sum of 1, for those of single precision.
_FAR_FROM_ONE = 1e-5


class MostProbable(NamedTuple):
    """Whether the most probable class of each case is the observed one, and its probability.

    Attributes
    ----------
    is_right : array of bool of shape (n,)
    confidence : array of shape (n,)
    """

    is_right: NDArray[np.bool_]
    confidence: Floats


@dataclass(frozen=True)
class ClassesSummary(Record):
    """All the numbers of one set of probabilities of several classes.

    Attributes
    ----------
    n : int
    prevalence : tuple of float
        The fraction of cases in each class.
    actual_error : Estimate
        With an exact interval.
    expected_error : float
    average_minus_log_probability, average_squared_error : Estimate
        With bootstrap intervals.
    in_the_large : Estimate
        Calibration in the large of the confidence, see `calibration_in_the_large`: negative where
        the most probable class is right less often than predicted.
    spiegelhalter : SpiegelhalterTest
        Of the confidence.
    """

    n: int
    prevalence: tuple[float, ...]
    actual_error: Estimate
    expected_error: float
    average_minus_log_probability: Estimate
    average_squared_error: Estimate
    in_the_large: Estimate
    spiegelhalter: SpiegelhalterTest


def most_probable(y: ArrayLike, probability: ArrayLike) -> MostProbable:
    """Return whether the most probable class was right, and the probability it was given.

    These two are cases of two classes, right and wrong: `decile_table`, `reliability_curve` and the
    others show whether classes predicted with a probability of 0.8 are right in 80 % of the cases.
    Of equally probable classes the last counts, as 0.5 counts as class 1 where there are two.

    Parameters
    ----------
    y : array-like of shape (n,)
        Class numbers, 0 to G - 1.
    probability : array-like of shape (n, G)
        Predicted probabilities of the classes.

    Returns
    -------
    is_right : array of bool of shape (n,)
    confidence : array of shape (n,)

    Examples
    --------
    >>> is_right, confidence = most_probable([2, 0], [[0.25, 0.25, 0.5], [0.125, 0.75, 0.125]])
    >>> is_right.tolist(), confidence.tolist()
    ([True, False], [0.5, 0.75])
    """
    return _most_probable(*checked_classes(y, probability))


def multiclass_actual_error(y: ArrayLike, probability: ArrayLike) -> float:
    """Return the fraction of cases whose most probable class is not the observed one.

    Parameters
    ----------
    y : array-like of shape (n,)
        Class numbers, 0 to G - 1.
    probability : array-like of shape (n, G)
        Predicted probabilities of the classes.

    Returns
    -------
    error : float

    Examples
    --------
    >>> multiclass_actual_error([2, 0], [[0.25, 0.25, 0.5], [0.125, 0.75, 0.125]])
    0.5
    """
    return 1.0 - float(np.mean(most_probable(y, probability).is_right))


def multiclass_expected_error(probability: ArrayLike) -> float:
    """Return the error rate that the probabilities imply: the mean of 1 - the largest.

    Parameters
    ----------
    probability : array-like of shape (n, G)
        Predicted probabilities of the classes.

    Returns
    -------
    error : float

    Examples
    --------
    >>> multiclass_expected_error([[0.25, 0.25, 0.5], [0.125, 0.75, 0.125]])
    0.375
    """
    return float(np.mean(1.0 - np.max(_checked_rows(probability), axis=1)))


def multiclass_average_minus_log_probability(y: ArrayLike, probability: ArrayLike) -> float:
    """Return the mean of -log P(the observed class), scikit-learn's `log_loss`.

    A probability of 0 for the observed class counts as 2.2e-16, which costs 36.04.

    Parameters
    ----------
    y : array-like of shape (n,)
        Class numbers, 0 to G - 1.
    probability : array-like of shape (n, G)
        Predicted probabilities of the classes.

    Returns
    -------
    score : float

    Examples
    --------
    >>> probability = [[0.25, 0.25, 0.5], [0.25, 0.5, 0.25]]
    >>> round(multiclass_average_minus_log_probability([2, 0], probability), 6)  # 1.5 log(2)
    1.039721
    """
    return float(np.mean(_log_losses(*checked_classes(y, probability))))


def multiclass_average_squared_error(y: ArrayLike, probability: ArrayLike) -> float:
    """Return half the mean over cases of sum_g (I(y = g) - p_g)^2.

    With the factor 1/2 it is `average_squared_error` where there are two classes.

    Parameters
    ----------
    y : array-like of shape (n,)
        Class numbers, 0 to G - 1.
    probability : array-like of shape (n, G)
        Predicted probabilities of the classes.

    Returns
    -------
    score : float

    Examples
    --------
    >>> multiclass_average_squared_error([2], [[0.25, 0.25, 0.5]])
    0.1875
    """
    return float(np.mean(_squared_errors(*checked_classes(y, probability))))


def summarize_classes(
    y: ArrayLike,
    probability: ArrayLike,
    *,
    level: float = 0.95,
    n_resamples: int = 999,
    random_state: RandomState = None,
) -> ClassesSummary:
    """Return all numbers of several classes, without tables and curves.

    Parameters
    ----------
    y : array-like of shape (n,)
        Class numbers, 0 to G - 1.
    probability : array-like of shape (n, G)
        Predicted probabilities of the classes.
    level : float
        Coverage of all intervals.
    n_resamples : int
        Resamples for the intervals of the two scores.
    random_state : int, Generator or None

    Returns
    -------
    summary : ClassesSummary

    Examples
    --------
    >>> summary = summarize_classes(
    ...     [2, 0, 1], [[0.25, 0.25, 0.5], [0.125, 0.75, 0.125], [0.25, 0.75, 0]], random_state=0
    ... )
    >>> round(summary.actual_error.value, 6), round(summary.expected_error, 6)
    (0.333333, 0.333333)
    """
    classes, p = checked_classes(y, probability)
    is_right, confidence = _most_probable(classes, p)
    interval = resampling(level, n_resamples, random_state)
    return ClassesSummary(
        n=classes.size,
        prevalence=tuple((np.bincount(classes, minlength=p.shape[1]) / classes.size).tolist()),
        actual_error=fraction_interval(~is_right, level),
        expected_error=float(np.mean(1.0 - confidence)),
        average_minus_log_probability=interval(_log_losses(classes, p)),
        average_squared_error=interval(_squared_errors(classes, p)),
        in_the_large=calibration_in_the_large(is_right, confidence, level=level),
        spiegelhalter=spiegelhalter(is_right, confidence),
    )


def checked_classes(y: ArrayLike, probability: ArrayLike) -> tuple[Ints, Floats]:
    """Return class numbers and probabilities, or raise naming the first row that is wrong."""
    classes, p = as_numbers("y", y), _checked_rows(probability)
    check_lengths(y=classes, probability=p)
    G = p.shape[1]
    advice = (
        f"give class numbers, 0 to {G - 1} for {G} columns of probability, for example "
        "np.searchsorted(classes_, y)"
    )
    check_rows("y", classes, np.isin(classes, np.arange(G)), advice)
    return classes.astype(np.intp), p


def _checked_rows(probability: ArrayLike) -> Floats:
    p = np.asarray(probability)
    if p.ndim != 2 or p.shape[1] < 2:
        raise ValueError(
            f"probability has the shape {p.shape}: give a row for each case and a column for each "
            "of two or more classes, as predict_proba returns them."
        )
    check_some("probability", p)
    advice = "a probability is from 0 to 1"
    p = np.stack(
        [
            checked_numbers(f"column {g} of probability", column, is_probability, advice)
            for g, column in enumerate(p.T)
        ]
    )
    total = p.sum(axis=0)
    right = np.abs(total - 1.0) <= _FAR_FROM_ONE
    check_rows("the sum of probability", total, right, "the classes of a case have a sum of 1")
    return p.T


def predicted_classes(probability: Floats) -> Ints:
    """Return the most probable class of each row, the last one of those equally probable."""
    return np.asarray(probability.shape[1] - 1 - np.argmax(probability[:, ::-1], axis=1))


def _most_probable(y: Ints, probability: Floats) -> MostProbable:
    is_right = np.asarray(predicted_classes(probability) == y)
    return MostProbable(is_right, np.max(probability, axis=1))


def _log_losses(y: Ints, probability: Floats) -> Floats:
    return minus_logs(probability[np.arange(y.size), y])


def _squared_errors(y: Ints, probability: Floats) -> Floats:
    seen = np.eye(probability.shape[1])[y]
    return np.asarray(0.5 * np.sum((seen - probability) ** 2, axis=1))
