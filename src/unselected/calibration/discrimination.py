"""How well predictions put cases in order: the area under the ROC curve, and both curves of it."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unselected._typing import Floats
from unselected.calibration.inputs import positives
from unselected.calibration.several_classes import checked_classes
from unselected.numerics.resampling import Resampled, Resamples

# Resamples times cases that are weighed at once.
_MOST_WEIGHTS = 2_000_000


class RocCurve(NamedTuple):
    """The ROC curve: a step for each distinct probability.

    Attributes
    ----------
    false_positive_rate, true_positive_rate : arrays of shape (n_points,)
        From (0, 0) to (1, 1).
    """

    false_positive_rate: Floats
    true_positive_rate: Floats


class NetBenefit(NamedTuple):
    """The decision curve: net benefit at each threshold.

    Attributes
    ----------
    threshold : array of shape (n_thresholds,)
        Probability from which a case is treated.
    model : array of shape (n_thresholds,)
        True positives less t / (1 - t) false positives, per case, if those with a probability of at
        least t are treated.
    treat_all : array of shape (n_thresholds,)
        The same if all are treated.
    """

    threshold: Floats
    model: Floats
    treat_all: Floats


def area_under_curve(y: Any, probability: Any) -> float:
    """Return the area under the ROC curve; of several classes the one-vs-rest macro average.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Class numbers, 0 to n_classes - 1.
    probability : array-like of shape (n_samples, n_classes)

    Examples
    --------
    >>> area_under_curve([0, 1, 0, 1], [[0.9, 0.1], [0.4, 0.6], [0.3, 0.7], [0.2, 0.8]])
    0.75
    """
    classes, p = checked_classes(y, probability)
    return float(_weighted_areas(classes, p, np.ones((1, classes.size)))[0])


def resampled_area(y: NDArray[np.intp], probability: Floats, resamples: Resamples) -> Resampled:
    """Return the area, and that of each resample, averaged over repetitions.

    A resample that lacks a class has none: NaN.

    Parameters
    ----------
    y : array of shape (n,)
    probability : array of shape (n_repeats, n, n_classes)
    resamples : Resamples
        Of the cases.
    """
    whole = np.ones((1, y.size))
    value = np.mean([_weighted_areas(y, p, whole)[0] for p in probability])
    size = max(1, _MOST_WEIGHTS // y.size)
    starts = range(0, resamples.picks.shape[0], size)
    draws = [
        np.mean(
            [_weighted_areas(y, p, resamples.weights(slice(i, i + size))) for p in probability],
            axis=0,
        )
        for i in starts
    ]
    return Resampled(float(value), np.concatenate(draws))


def roc_curve(positive: Any, probability: Any) -> RocCurve:
    """Return the ROC curve of probabilities that cases are positive.

    Examples
    --------
    >>> curve = roc_curve([False, True, True], [0.1, 0.4, 0.4])
    >>> curve.true_positive_rate.tolist(), curve.false_positive_rate.tolist()
    ([0.0, 1.0, 1.0], [0.0, 0.0, 1.0])
    """
    happened, p = positives(positive, True), np.asarray(probability, dtype=np.float64)
    order = np.argsort(-p, kind="stable")
    last = np.flatnonzero(np.append(np.diff(p[order]) != 0.0, True))
    hits = np.cumsum(happened[order])[last]
    false = last + 1 - hits
    rates = (np.concatenate([[0.0], each / each[-1]]) for each in (false, hits))
    return RocCurve(*rates)


def net_benefit(positive: Any, probability: Any, threshold: Any) -> NetBenefit:
    """Return the decision curve of probabilities that cases are positive.

    Examples
    --------
    >>> net_benefit([True, False], [0.9, 0.2], [0.5]).model.tolist()
    [0.5]
    """
    happened, p = positives(positive, True), np.asarray(probability, dtype=np.float64)
    t = np.asarray(threshold, dtype=np.float64)
    treated = p >= t[:, np.newaxis]
    odds = t / (1.0 - t)
    true, false = (treated & happened).mean(axis=1), (treated & ~happened).mean(axis=1)
    rate = happened.mean()
    return NetBenefit(t, true - odds * false, rate - odds * (1.0 - rate))


def _weighted_areas(y: NDArray[Any], probability: Floats, weights: Floats) -> Floats:
    """Return the area for each row of weights of cases; NaN where a class has no weight."""
    n_classes = probability.shape[1]
    if n_classes == 2:
        return _binary_areas(y == 1, probability[:, 1], weights)
    each = [_binary_areas(y == g, probability[:, g], weights) for g in range(n_classes)]
    return np.asarray(np.mean(each, axis=0))


def _binary_areas(positive: NDArray[np.bool_], score: Floats, weights: Floats) -> Floats:
    """Return the weighted share of pairs in order; a tie counts as half."""
    place = np.unique(score, return_inverse=True)[1]
    order = np.argsort(place, kind="stable")
    starts = np.flatnonzero(np.diff(place[order], prepend=-1))
    up, down = (
        np.add.reduceat((weights * sign)[:, order], starts, axis=1)
        for sign in (positive, ~positive)
    )
    below = np.cumsum(down, axis=1) - 0.5 * down
    pairs = up.sum(axis=1) * down.sum(axis=1)
    with np.errstate(invalid="ignore"):
        return np.asarray((up * below).sum(axis=1) / np.where(pairs > 0.0, pairs, np.nan))
