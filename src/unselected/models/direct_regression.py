"""Bayesian regression of a real response on the kept features, for many ridges at once.

y = mean + unit * (f(x) + noise), f(x) = phi(x)' w, w ~ N(0, ridge s^2 I), noise ~ N(0, s^2),
p(s^2) ~ 1 / s^2. phi are the standardized features over sqrt(k), and for a quadratic regression
also products of their first principal components. The ridge is the prior variance of f at a typical
case, in units of that of the noise. Given the ridge a new response has a Student t distribution
with n - 1 degrees of freedom. With Phi = U D V' the centred features of the training cases, all
ridges come from one decomposition:

    mean      sum_i ridge d_i (phi V)_i (U'z)_i / (1 + ridge d_i^2)
    variance  s^2 (1 + 1 / n + ridge |phi|^2 - sum_i ridge^2 d_i^2 (phi V)_i^2 / (1 + ridge d_i^2))

With a large ridge the variance of f far from the training cases is larger than that of all
responses together. There f has a second prior: a normal distribution around the mean response with
a few times its variance.

Nothing here knows of the selection. Cases left out of it tell how far such a regression is to be
trusted.
"""

from dataclasses import dataclass

import numpy as np

from unselected._typing import Floats
from unselected.models.feature_map import FeatureMap
from unselected.numerics.quadrature import log_sum

# Prior variances of f, in units of that of the noise.
RIDGES = 10.0 ** np.arange(-2.0, 10.0)
# Factors of the predictive variance, and their log prior: log-normal with deviation 1.
SCALES = np.exp(np.linspace(np.log(0.5), np.log(8.0), 13))
LOG_PRIOR_OF_SCALES = -0.5 * np.log(SCALES) ** 2 - log_sum(-0.5 * np.log(SCALES) ** 2)
# Largest prior variance of f at a case, in units of the variance of the response.
_LARGEST_SIGNAL = 4.0
# Squares below this part of the largest are rounding.
_ROUNDING = 1e-13


@dataclass(frozen=True, eq=False)
class DirectRegression:
    """The regression for all ridges, as it follows from the training cases.

    Attributes
    ----------
    features : FeatureMap
    axes : array of shape (q, m)
        V: combinations of features, with no data of single cases.
    lengths : array of shape (m,)
        d_i, decreasing.
    along : array of shape (m,)
        U'z, where z are the standardized responses.
    rest : float
        The sum of squares of z that is not along any of the axes.
    n : int
        Training cases.
    center, unit : float
        Mean and standard deviation of the training responses.
    """

    features: FeatureMap
    axes: Floats
    lengths: Floats
    along: Floats
    rest: float
    n: int
    center: float
    unit: float

    @classmethod
    def fit(
        cls, X: Floats, y: Floats, *, quadratic: bool, n: int | None = None
    ) -> "DirectRegression":
        """Fit to rows (cases, k), where NaN is a missing value, and responses (cases,).

        ``n`` is the number of cases less what was projected out of them before; by default nothing.

        >>> rng = np.random.default_rng(0)
        >>> X = rng.normal(size=(50, 3))
        >>> y = X[:, 0] + 0.1 * rng.normal(size=50)
        >>> location, squares = DirectRegression.fit(X, y, quadratic=False).laws(np.eye(3))
        >>> location[4, 0].round(1).tolist()  # a ridge of 100
        [1.0, -0.0, -0.0]
        """
        features = FeatureMap.learn(X, quadratic=quadratic)
        phi = features.apply(X)
        center, unit = float(y.mean()), float(y.std()) or 1.0
        z = (y - center) / unit
        left, lengths, axes = _decomposed(phi)
        along = left.T @ z
        across = z - left @ along
        rest = float(across @ across)
        return cls(features, axes, lengths, along, rest, n or y.size, center, unit)

    @property
    def kind(self) -> str:
        """Its name in a model file."""
        return "quadratic" if self.features.components.shape[1] else "linear"

    @property
    def scales(self) -> Floats:
        """Factors of the squared scales, one of which is right: cases left out tell which."""
        return SCALES

    @property
    def log_prior(self) -> Floats:
        """The log prior probability of each ridge and factor, shape (ridges, factors)."""
        return np.tile(LOG_PRIOR_OF_SCALES - np.log(RIDGES.size), (RIDGES.size, 1))

    @property
    def df(self) -> float:
        """Degrees of freedom of the predictive distributions, which have a variance."""
        return max(self.n - 1.0, 2.5)

    @property
    def noise(self) -> Floats:
        """The variance of the noise for each ridge, in units of that of the response."""
        shrunk = 1.0 + RIDGES[:, np.newaxis] * self.lengths**2
        return np.asarray(((self.along**2 / shrunk).sum(axis=1) + self.rest) / (self.n - 1.0))

    def without_cases(self) -> "DirectRegression":
        """Return the same: its axes are combinations of all cases."""
        return self

    def laws(self, X: Floats) -> tuple[Floats, Floats]:
        """Return locations and squared scales of the response, each (ridges, 1, rows)."""
        phi, ridge = self.features.apply(X), RIDGES[:, np.newaxis]
        seen = phi @ self.axes
        unseen = phi - seen @ self.axes.T  # along which nothing varied
        inside = seen * self.lengths
        shrunk = 1.0 + ridge * self.lengths**2
        noise = self.noise[:, np.newaxis]
        mean = (ridge * self.along / shrunk) @ inside.T
        before = noise * ridge * np.einsum("rq,rq->r", phi, phi)
        # Not as a difference from ``before``, of which a large ridge would leave rounding.
        after = noise * ((ridge / shrunk) @ (seen**2).T)
        after += noise * ridge * np.einsum("rq,rq->r", unseen, unseen)
        after = np.maximum(after, 1e-9 * noise)
        # The second prior has a precision of its own where the first one is wider than it.
        more = np.maximum(1.0 / _LARGEST_SIGNAL - 1.0 / np.maximum(before, 1e-300), 0.0)
        share = 1.0 / (1.0 + more * after)
        squares = noise * (1.0 + 1.0 / self.n) + share * after
        location = self.center + self.unit * share * mean
        return location[:, np.newaxis], self.unit**2 * squares[:, np.newaxis]


def _decomposed(phi: Floats) -> tuple[Floats, Floats, Floats]:
    """Return U, d and V of phi = U d V', without the axes along which nothing varies."""
    if not phi.size:
        return np.zeros((len(phi), 0)), np.zeros(0), np.zeros((phi.shape[1], 0))
    wide = phi.shape[1] > len(phi)
    squares, vectors = np.linalg.eigh(phi @ phi.T if wide else phi.T @ phi)
    some = squares > _ROUNDING * max(float(squares[-1]), 1e-300)
    lengths, vectors = np.sqrt(squares[some])[::-1], vectors[:, some][:, ::-1]
    other = (phi.T if wide else phi) @ vectors / lengths
    return (vectors, lengths, other) if wide else (other, lengths, vectors)
