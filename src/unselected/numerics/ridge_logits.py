"""Multinomial logistic regressions with normal priors, for several prior variances at once.

The log posterior of the coefficients W and intercepts b is concave. Its Hessian is bounded: the
matrix of each case, diag(p) - p p', is at most 1/2. In orthogonal columns with squared lengths s_j
the bound is diagonal, s_j / 2 + 1 / v, so that a step costs two products of matrices. Steps are
accelerated (Nesterov), and start afresh where they go against the gradient.
"""

from typing import NamedTuple

import numpy as np

from unselected._typing import Floats

# The largest eigenvalue of diag(p) - p p', whatever the probabilities p.
_CURVATURE = 0.5
# Steps are ended where log odds at a typical case move by less than this, or after so many.
_STILL, _MOST_STEPS = 1e-6, 300


class RidgeLogits(NamedTuple):
    """Modes of the posterior, for V prior variances.

    Attributes
    ----------
    coefficients : array of shape (V, r, G)
    intercepts : array of shape (V, G)
    """

    coefficients: Floats
    intercepts: Floats


def ridge_logits(Z: Floats, Y: Floats, log_prior: Floats, variances: Floats) -> RidgeLogits:
    """Return the modes of log P(class g) = log_prior_g + b_g + z' w_g + constant.

    Parameters
    ----------
    Z : array of shape (n, r)
        Orthogonal columns with mean 0; the squared length of a row is about 1.
    Y : array of shape (n, G)
        1 at the class of each case, 0 elsewhere.
    log_prior : array of shape (n, G)
    variances : array of shape (V,)
        Of the normal prior of each coefficient; intercepts have a flat one.

    Examples
    --------
    >>> Z, Y = np.array([[-1.0], [-1.0], [1.0], [1.0]]), np.eye(2)[[0, 1, 1, 1]]
    >>> modes = ridge_logits(Z, Y, np.zeros((4, 2)), np.array([1.0, 1e9]))
    >>> logits = modes.intercepts[:, 1] - modes.intercepts[:, 0]
    >>> slopes = modes.coefficients[:, 0, 1] - modes.coefficients[:, 0, 0]
    >>> bool(logits[0] - slopes[0] > 0.1), bool(slopes[0] < slopes[1])
    (True, True)
    """
    (n, r), G, V = Z.shape, Y.shape[1], variances.size
    v = variances[:, np.newaxis]
    weights, intercepts = np.zeros((r, V, G)), np.zeros((V, G))
    ahead, ahead_intercepts = weights, intercepts
    bound = _CURVATURE * np.einsum("ij,ij->j", Z, Z)[:, np.newaxis, np.newaxis] + 1.0 / v
    momentum = np.ones(V)
    for _ in range(_MOST_STEPS):
        rest = _residuals(Z, Y, log_prior, ahead, ahead_intercepts)
        slope = (Z.T @ rest.reshape(n, V * G)).reshape(r, V, G) - ahead / v
        slope_intercepts = rest.sum(axis=0)
        new = ahead + slope / bound
        new_intercepts = ahead_intercepts + slope_intercepts / (_CURVATURE * n)
        moved, moved_intercepts = new - weights, new_intercepts - intercepts
        gained = np.einsum("jvg,jvg->v", slope, moved)
        afresh = gained + np.einsum("vg,vg->v", slope_intercepts, moved_intercepts) < 0.0
        now = np.where(afresh, 1.0, momentum)
        momentum = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * now**2))
        further = np.where(afresh, 0.0, (now - 1.0) / momentum)[:, np.newaxis]
        weights, intercepts = new, new_intercepts
        ahead, ahead_intercepts = new + further * moved, new_intercepts + further * moved_intercepts
        if max(float(np.abs(each).max(initial=0.0)) for each in (moved, moved_intercepts)) < _STILL:
            break
    return RidgeLogits(weights.transpose(1, 0, 2), intercepts)


def _residuals(
    Z: Floats, Y: Floats, log_prior: Floats, weights: Floats, intercepts: Floats
) -> Floats:
    """Return observed classes less their probabilities, shape (n, V, G)."""
    r, V, G = weights.shape
    logits = (Z @ weights.reshape(r, V * G)).reshape(-1, V, G) + intercepts
    logits += log_prior[:, np.newaxis]
    logits -= logits.max(axis=2, keepdims=True)
    proba = np.exp(logits)
    proba /= proba.sum(axis=2, keepdims=True)
    return np.asarray(Y[:, np.newaxis] - proba)
