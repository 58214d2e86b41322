"""The paper's formulas written down once more, plainly and slowly, to judge the library by.

Nothing is shared with the library: gamma functions instead of ratios, the full table of (I0, I1)
instead of cumulative sums, fractions instead of doubles, enumeration instead of the event's formula.
"""

from fractions import Fraction
from itertools import combinations
from math import comb

import numpy as np
from scipy.special import betaln, gammaln


def log_binomial(n, i):
    return gammaln(n + 1.0) - gammaln(i + 1.0) - gammaln(n - i + 1.0)


def beta_binomial(n, theta, alpha):
    """P(I | theta, alpha), nodes x (n + 1)."""
    i, a = np.arange(n + 1), (alpha * theta)[:, None]
    b = alpha - a
    return np.exp(log_binomial(n, i) + betaln(a + i, b + n - i) - betaln(a, b))


def theta_rule(n):
    nodes, weights = np.polynomial.legendre.leggauss((n + 3) // 2)
    return 0.5 * (nodes + 1.0), 0.5 * weights


def joint_table(n0, n1, alpha):
    """P(I0, I1 | alpha) and E[theta; I0, I1 | alpha], both (n0 + 1) x (n1 + 1)."""
    theta, weights = theta_rule(n0 + n1)
    B0, B1 = beta_binomial(n0, theta, alpha), beta_binomial(n1, theta, alpha)
    return (weights * B0.T) @ B1, (weights * theta * B0.T) @ B1


def cor_squared(I0, I1, n0, n1):
    """COR^2 from the data themselves, by equation (1), as a fraction."""
    x = [1] * I0 + [0] * (n0 - I0) + [1] * I1 + [0] * (n1 - I1)
    y = [0] * n0 + [1] * n1
    n = n0 + n1
    x_bar, y_bar = Fraction(sum(x), n), Fraction(sum(y), n)
    xx = sum((v - x_bar) ** 2 for v in x)
    yy = sum((v - y_bar) ** 2 for v in y)
    if xx == 0 or yy == 0:
        return Fraction(0)
    return sum((v - x_bar) * (w - y_bar) for v, w in zip(x, y, strict=True)) ** 2 / (xx * yy)


def all_cor_squared(n0, n1):
    return {
        (I0, I1): cor_squared(I0, I1, n0, n1) for I0 in range(n0 + 1) for I1 in range(n1 + 1)
    }


def omission_probability(n0, n1, alpha, omitted):
    """P(omitted(COR^2) | alpha) as a sum over the table."""
    table, _ = joint_table(n0, n1, alpha)
    return sum(table[pair] for pair, value in all_cor_squared(n0, n1).items() if omitted(value))


def outcomes(scores, k, ties):
    """All sets that the top-k rule can keep given the scores of all columns, with probabilities."""
    order = sorted(range(len(scores)), key=lambda j: (-scores[j], j))
    if ties == "first":
        return {frozenset(order[:k]): 1.0}
    cut = scores[order[k - 1]]
    above = [j for j in order if scores[j] > cut]
    at_cut = [j for j in order if scores[j] == cut]
    places = k - len(above)
    return {
        frozenset([*above, *chosen]): 1.0 / comb(len(at_cut), places)
        for chosen in combinations(at_cut, places)
    }


def log_prior(alpha, a, b):
    """Log density of the inverse-gamma prior."""
    return a * np.log(b) - gammaln(a) - (a + 1) * np.log(alpha) - b / alpha


def evidence_by_class(I0, I1, x_new, n0, n1, event, a=0.5, b=5.0):
    """P(y*, x*, kept features, event | y) for y* = 0 and 1, by a dense trapezoid rule in log(alpha).

    ``event`` maps alpha to the probability of the event; the right tail, where the likelihood is that
    of alpha = infinity, is added in closed form.
    """
    t = np.linspace(np.log(b / 60), np.log(1e7), 3001)
    step = t[1] - t[0]
    totals = np.zeros((t.size, 2))
    for row, alpha in zip(totals, np.exp(t), strict=True):
        P, P_theta = joint_table(n0, n1, alpha)
        value = np.array([event(alpha)] * 2)
        for i0, i1, x in zip(I0, I1, x_new, strict=True):
            mean = P_theta[i0, i1] / P[i0, i1]
            orders = comb(n0, i0) * comb(n1, i1)
            one = np.array([(alpha * mean + i0) / (alpha + n0), (alpha * mean + i1) / (alpha + n1)])
            value *= P[i0, i1] / orders * (one if x else 1.0 - one)
        row[:] = value
    weights = np.exp(log_prior(np.exp(t), a, b) + t) * step
    weights[[0, -1]] *= 0.5
    from scipy.special import gammainc

    return weights @ totals + gammainc(a, b / np.exp(t[-1])) * totals[-1]
