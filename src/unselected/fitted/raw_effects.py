"""Effects of real-valued features in the units of their columns.

The model is of the values, or of their normal scores. A difference d between class means of normal
scores becomes a difference of values: both ends are placed around the mean of the classes, and
transformed back. The transform is monotone, so the ends of an interval of d become the ends of an
interval of the difference of values.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr

from unselected._typing import Floats
from unselected.fitted.adjusted_gaussian import FittedAdjustedGaussian
from unselected.fitted.base import Seen
from unselected.fitted.effect_laws import quantiles
from unselected.fitted.effects import Effect
from unselected.fitted.gaussian import FittedGaussian
from unselected.fitted.standardized_effects import combination
from unselected.models.gaussian_posterior import GaussianPosterior
from unselected.statistics.normal_scores import NormalScores


@dataclass(frozen=True, eq=False)
class DifferenceLaw:
    """The posterior of a difference of class means, a mixture of t distributions; see `EffectLaw`.

    Attributes
    ----------
    weights, location, scale : arrays of shape (k, nodes)
    nu : array of shape (k,)
    """

    weights: Floats
    location: Floats
    scale: Floats
    nu: Floats

    @classmethod
    def of(cls, posterior: GaussianPosterior, direction: Floats) -> "DifferenceLaw":
        """Return the posterior of direction' mu of each kept feature."""
        found = combination(posterior, direction)
        scale = np.sqrt(found.variance * found.mean_square)
        return cls(found.weights, found.location, scale, found.nu)

    @property
    def null(self) -> Floats:
        """The probability that the difference is 0."""
        return np.asarray(np.maximum(0.0, 1.0 - self.weights.sum(axis=1)))

    @property
    def mean(self) -> Floats:
        """The mean."""
        return np.asarray(np.sum(self.weights * self.location, axis=1))

    @property
    def deviation(self) -> Floats:
        """The standard deviation; with few degrees of freedom about that of the middle part."""
        wider = (np.maximum(self.nu, 3.0) / (np.maximum(self.nu, 3.0) - 2.0))[:, np.newaxis]
        squares = np.sum(self.weights * (wider * self.scale**2 + self.location**2), axis=1)
        return np.asarray(np.sqrt(np.maximum(squares - self.mean**2, 0.0)))

    def cdf(self, x: Floats) -> Floats:
        """Return P(related, difference <= x) for x of shape (k, m)."""
        distance = x[:, :, np.newaxis] - self.location[:, np.newaxis]
        with np.errstate(divide="ignore", invalid="ignore"):
            t = np.nan_to_num(distance / self.scale[:, np.newaxis], nan=0.0)
        below = stdtr(self.nu[:, np.newaxis, np.newaxis], t)
        return np.asarray(np.einsum("kn,kmn->km", self.weights, below))


def raw_effects(
    fitted: FittedGaussian | FittedAdjustedGaussian, normal: NormalScores | None, tails: Floats
) -> tuple[Seen, dict[str, Effect]]:
    """Return differences between classes in the units of the columns.

    Parameters
    ----------
    fitted : FittedGaussian or FittedAdjustedGaussian
        Of the values or of their normal scores.
    normal : NormalScores or None
        The transform, where there is one.
    tails : array of shape (2,)
        Posterior probabilities below the ends of the intervals.

    Returns
    -------
    seen : dict
        With a transform ``center_in_...``: the value whose normal score is the mean of the class.
    effects : dict of str to Effect
        ``raw_difference``, or ``raw_difference_...`` of each of several classes; ``mean`` is the
        difference of values that belongs to the posterior mean.
    """
    classes, means = fitted.classes, fitted.means
    weights = _weights(fitted, means)
    centers = np.sum(weights * means, axis=0), np.sum(weights * fitted.laws.location, axis=0)
    effects = {}
    for name, direction, ends in _contrasts(classes, weights):
        law = DifferenceLaw.of(fitted.posterior, direction)
        naive, found = direction @ means, [law.mean, *quantiles(law, tails).T]
        back = [_back(normal, centers[0], ends, naive)]
        back += [_back(normal, centers[1], ends, difference) for difference in found]
        effects[name] = Effect(*back)
    if normal is None:
        return {}, effects
    values = normal.invert(means)
    return {f"center_in_{label}": own for label, own in zip(classes, values, strict=True)}, effects


def _weights(fitted: FittedGaussian | FittedAdjustedGaussian, means: Floats) -> Floats:
    """Return the weights of the classes in the mean around which differences lie, (G, k).

    Of two classes these are their shares of the known values: that mean is then known apart from
    the difference. Each of several classes is compared with the mean in which all count alike.
    """
    if fitted.classes.size > 2:
        return np.full(means.shape, 1.0 / fitted.classes.size)
    n = fitted.known
    return np.asarray(n / n.sum(axis=0))


def _contrasts(
    classes: NDArray[Any], weights: Floats
) -> Iterator[tuple[str, Floats, tuple[Floats, Floats]]]:
    """Yield the name of each effect, its direction, and where its two ends lie.

    The ends are in units of the difference, from the mean of the classes.
    """
    G, k = weights.shape
    if G == 2:
        yield "raw_difference", np.array([-1.0, 1.0]), (-weights[1], weights[0])
        return
    for label, direction in zip(classes, np.eye(G) - 1.0 / G, strict=True):
        yield f"raw_difference_{label}", direction, (np.zeros(k), np.ones(k))


def _back(
    normal: NormalScores | None, center: Floats, ends: tuple[Floats, Floats], difference: Floats
) -> Floats:
    """Return a difference between classes, shape (k,), in the units of the values."""
    if normal is None:
        return difference
    low, high = normal.invert(np.array([center + end * difference for end in ends]))
    return np.asarray(high - low)
