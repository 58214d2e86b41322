"""The paper's formulas written down once more, plainly and slowly, to judge the library by.

Nothing is shared with the library: gamma functions instead of ratios, the full table of (I0, I1)
instead of cumulative sums, fractions instead of doubles, enumeration instead of a formula.
"""

from fractions import Fraction
from functools import lru_cache
from itertools import combinations, product
from math import comb

import numpy as np
from scipy.special import betaln, gammainc, gammaln


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


@lru_cache(maxsize=4096)
def joint_table(n0, n1, alpha):
    """P(I0, I1 | alpha) and E[theta; I0, I1 | alpha], both (n0 + 1) x (n1 + 1)."""
    theta, weights = theta_rule(n0 + n1)
    B0, B1 = beta_binomial(n0, theta, alpha), beta_binomial(n1, theta, alpha)
    return (weights * B0.T) @ B1, (weights * theta * B0.T) @ B1


@lru_cache(maxsize=65536)
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


@lru_cache
def all_cor_squared(n0, n1):
    n0, n1 = int(n0), int(n1)
    return {(I0, I1): cor_squared(I0, I1, n0, n1) for I0 in range(n0 + 1) for I1 in range(n1 + 1)}


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


def log_alpha_rule(a, b, n_nodes=1501):
    """Nodes of alpha and prior masses: a dense trapezoid rule in log(alpha), with the right tail,
    where the likelihood is that of alpha = infinity, put on the last node."""
    t = np.linspace(np.log(b / 60), np.log(1e8), n_nodes)
    masses = np.exp(log_prior(np.exp(t), a, b) + t) * (t[1] - t[0])
    masses[[0, -1]] *= 0.5
    masses[-1] += gammainc(a, b / np.exp(t[-1]))
    return np.exp(t), masses


def evidence_by_class(pairs, X_new, n0, n1, event, a=0.5, b=5.0):
    """P(x*, kept features, event | y, y*) for y* = 0 and 1, one row per new case.

    ``pairs`` are the counts (I0, I1) of the kept features, ``event`` the probability of the event
    as a function of alpha.
    """
    totals = np.zeros((len(X_new), 2))
    for alpha, mass in zip(*log_alpha_rule(a, b), strict=True):
        P, P_theta = joint_table(n0, n1, alpha)
        value = np.full((len(X_new), 2), mass * event(alpha))
        for (I0, I1), x in zip(pairs, np.transpose(X_new), strict=True):
            mean = P_theta[I0, I1] / P[I0, I1]
            one = np.array([(alpha * mean + I0) / (alpha + n0), (alpha * mean + I1) / (alpha + n1)])
            value *= P[I0, I1] / (comb(n0, I0) * comb(n1, I1))
            value *= np.where(np.reshape(x, (-1, 1)) == 1, one, 1.0 - one)
        totals += value
    return totals


def event_by_enumeration(kept, n_columns, n0, n1, chance, values=None):
    """P(event | alpha) by enumerating the counts of all omitted columns.

    ``kept`` maps a kept column to its counts. ``chance`` gets the scores of all columns, in order,
    and returns the probability that the rule keeps just the kept ones. ``values`` has the score of
    each pair of counts, by default COR^2.
    """
    values = all_cor_squared(n0, n1) if values is None else values
    omitted = [j for j in range(n_columns) if j not in kept]
    terms = []
    for counts in product(values, repeat=len(omitted)):
        table = {**kept, **dict(zip(omitted, counts, strict=True))}
        probability = chance([values[table[j]] for j in range(n_columns)])
        if probability:
            terms.append((probability, counts))

    chances = np.array([probability for probability, _ in terms])
    I0, I1 = np.moveaxis(np.reshape([c for _, c in terms], (len(terms), -1, 2)), 2, 0).astype(int)

    def event(alpha):
        P, _ = joint_table(n0, n1, alpha)
        return chances @ np.prod(P[I0, I1], axis=1)

    return event
