"""Features given covariates by least squares and dense linear algebra, one feature at a time.

Nothing of the library is used: no projections, no contrasts, no closed form of a prediction.
"""

import numpy as np
from scipy.special import gammaln


def rest_of(A, x):
    """What least squares on the columns of A leaves of x."""
    return x - A @ np.linalg.lstsq(A, x, rcond=None)[0]


def partial_score(x, Z, codes):
    """The absolute partial correlation with one code, or the partial F of several.

    ``Z`` has no intercept. ``codes`` are the classes but for the first as 0 and 1, or a response.
    """
    known = ~np.isnan(x)
    x, codes = x[known], codes[known]
    Z = np.column_stack([np.ones(x.size), Z[known]])
    if codes.shape[1] == 1:
        left, right = rest_of(Z, x), rest_of(Z, codes[:, 0])
        return abs(left @ right) / np.sqrt((left @ left) * (right @ right))
    both = np.hstack([Z, codes])
    without, beside = (np.sum(rest_of(A, x) ** 2) for A in (Z, both))
    df = x.size - np.linalg.matrix_rank(both)
    return ((without - beside) / codes.shape[1]) / (beside / df)


def log_marginal(x, Z, codes, u):
    """log p(x | tau^2 = u), with flat coefficients of Z (intercept included) and p(s^2) ~ 1 / s^2.

    x = Z c + codes w + noise, w ~ N(0, u s^2 I), is normal around Z c with the covariance
    s^2 (I + u codes codes'). Up to a constant of the flat prior.
    """
    known = ~np.isnan(x)
    x, Z, codes = x[known], Z[known], codes[known]
    sigma = np.eye(x.size) + u * codes @ codes.T
    inverse = np.linalg.inv(sigma)
    gram = Z.T @ inverse @ Z
    projected = inverse - inverse @ Z @ np.linalg.solve(gram, Z.T @ inverse)
    df = x.size - Z.shape[1]
    return (
        gammaln(0.5 * df)
        - 0.5 * df * np.log(np.pi * (x @ projected @ x))
        - 0.5 * np.linalg.slogdet(sigma)[1]
        - 0.5 * np.linalg.slogdet(gram)[1]
    )


def log_new(x_new, z_new, code_new, x, Z, codes, u):
    """log p(x_new | z_new, code_new, training values, tau^2 = u), as a ratio of two marginals."""
    longer = np.append(x, x_new), np.vstack([Z, z_new]), np.vstack([codes, code_new])
    return log_marginal(*longer, u) - log_marginal(x, Z, codes, u)
