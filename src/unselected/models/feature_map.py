"""Standardized features, and products of their principal components."""

from dataclasses import dataclass

import numpy as np

from unselected._typing import Floats

# Principal components whose products are features of a quadratic map.
MOST_COMPONENTS = 5
# New values are moved to within so many standard deviations.
_FARTHEST = 1e6


@dataclass(frozen=True, eq=False)
class FeatureMap:
    """A map of rows (n, k) to features (n, q) whose mean over the training cases is 0.

    Attributes
    ----------
    mean, scale : arrays of shape (k,)
        Of the training cases. A missing value counts as the mean.
    components : array of shape (k, r)
        Principal axes of the standardized columns; r = 0 for a linear map.
    center : array of shape (q,)
        What is subtracted from the features.
    """

    mean: Floats
    scale: Floats
    components: Floats
    center: Floats

    @classmethod
    def learn(cls, X: Floats, *, quadratic: bool) -> "FeatureMap":
        """Learn from the training cases (n, k); NaN is a missing value."""
        known = ~np.isnan(X)
        n = np.maximum(known.sum(axis=0), 1)
        mean = np.where(known, X, 0.0).sum(axis=0) / n
        scale = np.sqrt(np.where(known, (X - mean) ** 2, 0.0).sum(axis=0) / n)
        scale = np.where(scale > 0.0, scale, 1.0)
        k = X.shape[1]
        plain = cls(mean, scale, np.zeros((k, 0)), np.zeros(k))
        if quadratic and k:
            components = _principal_axes(plain.apply(X), MOST_COMPONENTS)
            r = components.shape[1]
            plain = cls(mean, scale, components, np.zeros(k + r * (r + 1) // 2))
        return cls(mean, scale, plain.components, plain.apply(X).mean(axis=0))

    def apply(self, X: Floats) -> Floats:
        """Return the features of rows, shape (n, q).

        The inner product of two rows is a + b^2 / 2, where a is that of the standardized rows over
        k, and b the same of their first principal components.

        >>> X = np.random.default_rng(0).normal(size=(6, 2))
        >>> phi = FeatureMap.learn(X, quadratic=True).apply(X)
        >>> Z = (X - X.mean(axis=0)) / X.std(axis=0) / np.sqrt(2)
        >>> gram = Z @ Z.T + 0.5 * (Z @ Z.T) ** 2
        >>> centred = gram - gram.mean(axis=0) - gram.mean(axis=1)[:, np.newaxis] + gram.mean()
        >>> bool(np.allclose(phi @ phi.T, centred))
        True
        """
        k, r = self.components.shape
        Z = np.nan_to_num(np.clip((X - self.mean) / self.scale, -_FARTHEST, _FARTHEST))
        Z /= np.sqrt(max(k, 1))
        parts = [Z]
        if r:
            scores = Z @ self.components
            first, second = np.triu_indices(r)
            factor = np.where(first == second, np.sqrt(0.5), 1.0)
            parts.append(scores[:, first] * scores[:, second] * factor)
        return np.asarray(np.hstack(parts) - self.center)


def _principal_axes(Z: Floats, most: int) -> Floats:
    """Return the first principal axes, shape (k, r). Their signs do not matter here."""
    return np.asarray(np.linalg.svd(Z, full_matrices=False)[2][:most].T)
