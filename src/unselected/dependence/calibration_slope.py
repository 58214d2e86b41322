"""The calibration slope of the log evidence for held-out cases."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.stats import chi2

from unselected.dependence.held_out import HeldOut
from unselected.numerics.quadrature import log_sum

# Evidence that changes no odds by more than one percent counts as none.
_NO_EVIDENCE = 0.01


@dataclass(frozen=True)
class CalibrationSlope:
    """The calibration slope of the log evidence for held-out cases, with its interval.

    Attributes
    ----------
    slope : float
        The maximum likelihood estimate. It is infinite where the evidence separates the classes.
    low, high : float
        Ends of the likelihood interval.
    level : float
    n : int
        Number of cases.
    """

    slope: float
    low: float
    high: float
    level: float
    n: int


def calibration_slope(left_out: HeldOut, *, level: float = 0.95) -> CalibrationSlope:
    """Return slope b of P(y = g) ~ psi_g exp(b E_g) over cases left out, with its interval.

    Calibrated evidence has slope 1. Evidence that is counted several times has a slope below 1. The
    prior odds stay as they are: there is no intercept. For any number of classes the log likelihood
    is concave in b. The interval holds the slopes at which twice its fall from the maximum is below
    the ``level`` quantile of chi-squared with one degree of freedom. That treats the cases as
    independent, so leave them out in ten folds: the errors of leave-one-out are correlated (see
    `power`).

    Parameters
    ----------
    left_out : HeldOut
    level : float

    Returns
    -------
    slope : CalibrationSlope
        NaN with infinite ends where no case has evidence for or against any class, that is, none
        that changes odds by more than one percent.

    Examples
    --------
    Evidence of log(9) is right three times in four. The log odds should be log(3), half as much.

    >>> evidence = np.log(9.0) * np.array([[1.0, 0.0]] * 4 + [[0.0, 1.0]] * 4)
    >>> cases = HeldOut.of_classes(evidence, np.log([0.5, 0.5]), [0, 0, 0, 1, 1, 1, 1, 0])
    >>> found = calibration_slope(cases)
    >>> round(found.slope, 6), round(found.low, 2), round(found.high, 2)
    (0.5, -0.17, 1.37)
    """
    if not 0.0 < level < 1.0:
        raise ValueError(f"level={level} must be above 0 and below 1.")

    unit = float(np.max(np.ptp(left_out.log_evidence, axis=1), initial=0.0))
    if unit < _NO_EVIDENCE:
        return CalibrationSlope(np.nan, -np.inf, np.inf, level, left_out.size)
    slope = _best_slope(left_out, 1.0 / unit)
    fall = 0.5 * float(chi2.ppf(level, 1))
    low, high = (_end(left_out, slope, fall, side / unit) for side in (-1.0, 1.0))
    return CalibrationSlope(slope, low, high, level, left_out.size)


def _best_slope(left_out: HeldOut, step: float) -> float:
    """Return the slope at which the derivative, which decreases everywhere, is 0."""
    gaps = left_out.seen_evidence[:, np.newaxis] - left_out.log_evidence
    for end, evidence_is_best in ((np.inf, np.min(gaps) >= 0.0), (-np.inf, np.max(gaps) <= 0.0)):
        if evidence_is_best:
            return end

    def derivative(b: float) -> float:
        """Return the observed minus the expected evidence."""
        logs = left_out.log_prior + b * left_out.log_evidence
        weights = np.exp(logs - log_sum(logs, axis=1)[:, np.newaxis])
        return float(np.sum(weights * gaps))

    low, high = _outward(derivative, -step, 1.0), _outward(derivative, step, -1.0)
    return float(brentq(derivative, low, high, xtol=1e-12 * step, rtol=1e-12))


def _end(left_out: HeldOut, slope: float, fall: float, step: float) -> float:
    """Return where, in the direction of ``step``, the log likelihood has fallen by ``fall``."""
    if slope * step == np.inf:
        return slope

    def above(b: float) -> float:
        return float(left_out.log_without_outliers(np.array([b])).sum()) - top + fall

    if np.isinf(slope):
        top = _log_likelihood_at_infinity(left_out, slope)
        start = _outward(above, -step, 1.0)
    else:
        top, start = 0.0, slope
        top = above(slope) - fall
    stop = start + _outward(lambda b: above(start + b), step, -1.0)
    return float(brentq(above, start, stop, xtol=1e-12 * abs(step), rtol=1e-12))


def _outward(function: Callable[[float], float], step: float, sign: float) -> float:
    """Double ``step`` until the function has this sign there."""
    while function(step) * sign <= 0.0:
        step *= 2.0
    return step


def _log_likelihood_at_infinity(left_out: HeldOut, slope: float) -> float:
    """Return the limit for a slope at which the evidence is right about every case."""
    signed = np.sign(slope) * left_out.log_evidence
    best = signed == signed.max(axis=1, keepdims=True)
    logs = np.where(best, left_out.log_prior, -np.inf)
    return float(np.sum(left_out.seen_prior - log_sum(logs, axis=1)))
