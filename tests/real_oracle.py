"""The models for real-valued features by dense linear algebra, one feature at a time.

Nothing of the library is used: no contrasts, no closed form of a predictive density.
"""

import numpy as np
from scipy import stats
from scipy.special import gammaln


def codes_of(y, real):
    """The code of each response: its class as a unit vector, or itself in units of its spread."""
    y = np.asarray(y)
    return (y / y.std())[:, None] if real else np.eye(y.max() + 1)[y]


def log_marginal(x, codes, u, d=0.0, variance=1.0):
    """log p(x | tau^2 = u) with a flat mean, and s^2 ~ 1/s^2 or inverse-chi^2(d, variance)."""
    known = ~np.isnan(x)
    x, codes = x[known], codes[known]
    n = x.size
    sigma = np.eye(n) + u * codes @ codes.T
    inverse = np.linalg.inv(sigma)
    weight = inverse.sum()
    centred = x - inverse.sum(axis=0) @ x / weight
    rest = centred @ inverse @ centred
    log_det = np.linalg.slogdet(sigma)[1]
    half = 0.5 * (n - 1 + d)
    result = gammaln(half) - 0.5 * (n - 1) * np.log(np.pi) - 0.5 * log_det - 0.5 * np.log(weight)
    if d == 0.0:
        return result - half * np.log(rest)
    return (
        result
        + 0.5 * d * np.log(d * variance)
        - gammaln(0.5 * d)
        - half * np.log(rest + d * variance)
    )


def log_new(x_new, x, code_new, codes, u, **variance):
    """log p(x_new | code_new, training values, tau^2 = u), as a ratio of two marginals."""
    joint = log_marginal(np.append(x, x_new), np.vstack([codes, code_new]), u, **variance)
    return joint - log_marginal(x, codes, u, **variance)


def half_normal(tau):
    """The default prior of tau, variance 1/10."""
    return stats.halfnorm(scale=np.sqrt(0.1)).pdf(tau)


def simulated_scores(sizes, tau, n_draws, rng):
    """R^2 of features drawn from the model, many of them."""
    n, G = sum(sizes), len(sizes)
    between = np.zeros((G, n_draws))
    within = np.zeros(n_draws)
    for row, size in zip(between, sizes, strict=True):
        row[:] = tau * rng.normal(size=n_draws) + rng.normal(size=n_draws) / np.sqrt(size)
        if size > 1:
            within += rng.chisquare(size - 1, size=n_draws)
    weights = np.array(sizes)[:, None]
    spread = (weights * (between - (weights * between).sum(axis=0) / n) ** 2).sum(axis=0)
    return spread / (spread + within)
