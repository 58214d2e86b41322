"""Calibration slope and intercept: a logistic regression of the classes on the log odds."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq
from scipy.special import expit, logit

from unselected._typing import Floats
from unselected.calibration.inputs import checked_cases
from unselected.calibration.intervals import tails, wald_interval
from unselected.calibration.two_classes import bernoulli_variance
from unselected.numerics.resampling import Estimate

# Probabilities are moved this far from 0 and 1 before their logit is taken.
_LOGIT_MARGIN = 1e-12
# Newton's method stops at a step this small in standard errors, squared.
_SMALL_STEP, _MOST_STEPS = 1e-16, 100
# A relative decrease of the log likelihood by this much may be rounding.
_ROUNDING = 1e-10


@dataclass(frozen=True)
class CalibrationLine:
    """Calibration slope and intercept: a logistic regression of the classes on the log odds."""

    slope: Estimate
    intercept: Estimate


def calibration_slope_intercept(
    y: ArrayLike, probability: ArrayLike, *, level: float = 0.95
) -> CalibrationLine:
    """Return slope b and intercept a of logit P(y = 1) = a + b logit(p), with Wald intervals.

    Fitted by maximum likelihood. Calibrated probabilities have slope 1 and intercept 0;
    overconfident ones have a slope below 1. Probabilities are moved into [1e-12, 1 - 1e-12] first.

    Parameters
    ----------
    y : array-like of shape (n,)
        Classes, 0 and 1.
    probability : array-like of shape (n,)
        Predicted probabilities of class 1.
    level : float
        Coverage of the intervals, about.

    Returns
    -------
    line : CalibrationLine
        All NaN where the likelihood has no maximum: only one class was observed, all probabilities
        are equal, or a cut on them separates the classes (cases at the cut may be of both).

    Examples
    --------
    Of four cases with logit -2 one is in class 1, with logit +2 three: the line has to pass through
    logit(1/4) and logit(3/4), and its slope is log(3) / 2.

    >>> p = 1 / (1 + np.exp([2.0] * 4 + [-2.0] * 4))
    >>> line = calibration_slope_intercept([1, 0, 0, 0, 0, 1, 1, 1], p)
    >>> round(line.slope.value, 6), abs(round(line.intercept.value, 6))
    (0.549306, 0.0)
    """
    tails(level)
    y, probability = checked_cases(y, probability)
    (intercept, slope), covariance = _fit_line(_log_odds(probability), y)
    return CalibrationLine(
        slope=wald_interval(slope, covariance[1, 1], level),
        intercept=wald_interval(intercept, covariance[0, 0], level),
    )


def calibration_in_the_large(
    y: ArrayLike, probability: ArrayLike, *, level: float = 0.95
) -> Estimate:
    """Return the intercept a of logit P(y = 1) = a + logit(p), with its Wald interval.

    Fitted by maximum likelihood. It is 0 where the probabilities are right on average, and
    positive where they are too low. Probabilities are moved into [1e-12, 1 - 1e-12] first.

    Parameters
    ----------
    y : array-like of shape (n,)
        Classes, 0 and 1.
    probability : array-like of shape (n,)
        Predicted probabilities of class 1.
    level : float
        Coverage of the interval, about.

    Returns
    -------
    intercept : Estimate
        NaN where only one class was observed.

    Examples
    --------
    >>> a = calibration_in_the_large([1, 1, 1, 0], [0.5, 0.5, 0.5, 0.5])
    >>> round(a.value, 6)  # log(3)
    1.098612
    """
    tails(level)
    y, probability = checked_cases(y, probability)
    if np.all(y == y[0]):
        return wald_interval(np.nan, np.nan, level)
    x = _log_odds(probability)
    # At these ends all fitted probabilities lie on one side of the prevalence.
    low, high = (float(logit(y.mean()) - end) for end in (x.max() + 1.0, x.min() - 1.0))
    intercept = brentq(lambda a: float(np.sum(expit(a + x) - y)), low, high, xtol=1e-12)
    return wald_interval(intercept, 1.0 / np.sum(bernoulli_variance(expit(intercept + x))), level)


def _log_odds(probability: Floats) -> Floats:
    return np.asarray(logit(np.clip(probability, _LOGIT_MARGIN, 1.0 - _LOGIT_MARGIN)))


def _fit_line(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Return (intercept, slope) of the logistic regression of y on x, and their covariance."""
    if not _overlap(x[y == 0.0], x[y == 1.0]):
        return np.full(2, np.nan), np.full((2, 2), np.nan)
    # Newton's method works on standardised log odds; this matrix takes its result back.
    centre, scale = x.mean(), x.std()
    back = np.array([[1.0, -centre / scale], [0.0, 1.0 / scale]])
    design = np.column_stack([np.ones(x.size), (x - centre) / scale])
    beta = _maximize_likelihood(design, y)
    return back @ beta, back @ np.linalg.inv(_information(design, beta)) @ back.T


def _overlap(x0: Floats, x1: Floats) -> bool:
    """Whether no cut on x separates the classes: only then the likelihood has a maximum."""
    if x0.size == 0 or x1.size == 0:
        return False
    return bool(x0.max() > x1.min() and x1.max() > x0.min())


def _maximize_likelihood(design: Floats, y: Floats) -> Floats:
    """Return the maximum that Newton's method finds; NaN where it takes too many steps."""
    beta = np.array([logit(y.mean()), 0.0])
    for _ in range(_MOST_STEPS):
        gradient = design.T @ (y - expit(design @ beta))
        step = np.linalg.solve(_information(design, beta), gradient)
        if gradient @ step < _SMALL_STEP:
            return beta
        beta = beta + _damping(design, y, beta, step, float(gradient @ step)) * step
    return np.full(2, np.nan)


def _information(design: Floats, beta: Floats) -> Floats:
    log_odds = design @ beta
    # Not p (1 - p), which is 0 for p next to 1.
    return np.asarray((design.T * (expit(log_odds) * expit(-log_odds))) @ design)


def _damping(design: Floats, y: Floats, beta: Floats, step: Floats, rise: float) -> float:
    """Return the fraction of a step, by halving, that gains a tenth of the predicted increase."""
    now = _log_likelihood(design @ beta, y)
    part = 1.0
    while _log_likelihood(design @ (beta + part * step), y) < (
        now + 0.1 * part * rise - _ROUNDING * abs(now)
    ):
        part /= 2.0
    return part


def _log_likelihood(log_odds: Floats, y: Floats) -> float:
    return float(np.sum(y * log_odds - np.logaddexp(0.0, log_odds)))
