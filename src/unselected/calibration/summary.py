"""All the numbers of one set of probabilities of two classes."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from unselected.calibration.inputs import labelled_cases
from unselected.calibration.intervals import RandomState, resampling
from unselected.calibration.line import calibration_in_the_large, calibration_slope_intercept
from unselected.calibration.records import Record
from unselected.calibration.reliability import SquaredErrorParts, split_squared_error
from unselected.calibration.two_classes import (
    SpiegelhalterTest,
    error_interval,
    expected_error,
    minus_logs,
    spiegelhalter,
)
from unselected.numerics.resampling import Estimate


@dataclass(frozen=True)
class CalibrationSummary(Record):
    """All the numbers of one set of predictions; see the functions of the same names.

    The actual error has an exact interval, the two scores have bootstrap intervals, the slope and
    the intercepts have Wald intervals.
    """

    n: int
    prevalence: float
    actual_error: Estimate
    expected_error: float
    average_minus_log_probability: Estimate
    average_squared_error: Estimate
    squared_error_parts: SquaredErrorParts
    slope: Estimate
    intercept: Estimate
    in_the_large: Estimate
    spiegelhalter: SpiegelhalterTest


def summarize(
    y: ArrayLike,
    probability: ArrayLike,
    *,
    pos_label: Any = 1,
    level: float = 0.95,
    n_resamples: int = 999,
    random_state: RandomState = None,
) -> CalibrationSummary:
    """Return all numbers of two classes, without tables and curves.

    Parameters
    ----------
    y : array-like of shape (n,)
        Labels of two classes, for example 0 and 1.
    probability : array-like of shape (n,)
        Predicted probabilities of ``pos_label``.
    pos_label : default=1
        The class that the probabilities are of. None for the most probable of several classes: y
        is then whether that class is right, as `most_probable` returns it.
    level : float
        Coverage of all intervals.
    n_resamples : int
        Resamples for the intervals of the two scores.
    random_state : int, Generator or None

    Returns
    -------
    summary : CalibrationSummary

    Examples
    --------
    >>> summary = summarize([0, 1, 0, 1], [0.25, 0.25, 0.75, 0.75], random_state=0)
    >>> summary.actual_error.value, summary.expected_error, summary.prevalence
    (0.5, 0.25, 0.5)
    >>> named = summarize(list("abab"), [0.25, 0.25, 0.75, 0.75], pos_label="b", random_state=0)
    >>> named == summary
    True
    """
    y, probability = labelled_cases(y, probability, pos_label)
    seen = np.where(y == 1.0, probability, 1.0 - probability)
    interval = resampling(level, n_resamples, random_state)
    line = calibration_slope_intercept(y, probability, level=level)
    return CalibrationSummary(
        n=y.size,
        prevalence=float(y.mean()),
        actual_error=error_interval(y, probability, level=level),
        expected_error=expected_error(probability),
        average_minus_log_probability=interval(minus_logs(seen)),
        average_squared_error=interval((y - probability) ** 2),
        squared_error_parts=split_squared_error(y, probability),
        slope=line.slope,
        intercept=line.intercept,
        in_the_large=calibration_in_the_large(y, probability, level=level),
        spiegelhalter=spiegelhalter(y, probability),
    )
