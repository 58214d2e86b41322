"""What covariates say of columns, by least squares over the known values."""

import numpy as np

from unselected._typing import Floats

# Directions with less than this part of the variation count as none.
_NOTHING = 1e-10


def covariate_slopes(Z: Floats, X: Floats) -> Floats:
    """Return the coefficients (m, k) of columns X (n, k) on covariates Z (n, m); NaN is missing.

    >>> Z = np.column_stack([np.ones(4), [0.0, 1.0, 2.0, 3.0]])
    >>> X = np.array([[1.0, 5.0], [3.0, np.nan], [5.0, 9.0], [7.0, 11.0]])
    >>> covariate_slopes(Z, X).round(9).tolist()
    [[1.0, 5.0], [2.0, 2.0]]
    """
    known = ~np.isnan(X)
    holes = np.flatnonzero(~known.all(axis=0))
    slopes = np.linalg.pinv(Z, rcond=np.sqrt(_NOTHING)) @ np.where(known, X, 0.0)
    if holes.size:
        weights, values = known[:, holes].astype(np.float64), np.where(known, X, 0.0)[:, holes]
        pairs = (Z[:, :, np.newaxis] * Z[:, np.newaxis, :]).reshape(len(Z), -1)
        gram = (weights.T @ pairs).reshape(-1, Z.shape[1], Z.shape[1])
        inverse = np.linalg.pinv(gram, rcond=_NOTHING, hermitian=True)
        slopes[:, holes] = np.einsum("kij,jk->ik", inverse, Z.T @ values)
    return np.asarray(slopes, dtype=np.float64)
