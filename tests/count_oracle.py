"""Counts of binary features in any number of classes, by enumeration, to judge the library by.

Nothing is shared with the library. Given theta, P(counts) is a polynomial in theta: with rational
alpha it is integrated in fractions. Where alpha itself is integrated over, theta has a Gauss rule
with more nodes than are necessary, and alpha a dense grid. Scores come from the values of the
cases, in fractions. Totals, patterns of known values and groups are told apart by brute force.
"""

from fractions import Fraction
from functools import cache
from itertools import product
from math import comb, inf, prod

import numpy as np
from oracle import log_alpha_rule
from scipy.special import gammaln

INFINITE = "infinite"


@cache
def vectors(sizes, total=None):
    """All vectors of counts, or those with a total."""
    every = product(*(range(n + 1) for n in sizes))
    return tuple(ones for ones in every if total is None or sum(ones) == total)


def r_squared(ones, sizes):
    """1 less the sum of squares within classes over the total one, from the values of the cases."""
    values = [[1] * i + [0] * (n - i) for i, n in zip(ones, sizes, strict=True)]
    everyone = [x for of_class in values for x in of_class]
    total = sum_of_squares(everyone)
    return 1 - sum(map(sum_of_squares, values)) / total if total else Fraction(0)


def sum_of_squares(values):
    if not values:
        return Fraction(0)
    mean = Fraction(sum(values), len(values))
    return sum(((x - mean) ** 2 for x in values), Fraction(0))


@cache
def score(ones, sizes):
    """COR^2 with two classes, F with several, as a fraction; F may be infinite."""
    r, G = r_squared(ones, sizes), len(sizes)
    if G == 2:
        return r
    return inf if r == 1 else (r / (G - 1)) / ((1 - r) / (sum(sizes) - G))


def rise(start, step, n):
    """The product of n factors start, start + step, ...; polynomials in theta.

    A polynomial is the list of its coefficients.
    """
    found = [Fraction(1)]
    for j in range(n):
        found = times(found, [start[0] + j * step, start[1]])
    return found


def times(p, q):
    """The product of two polynomials."""
    found = [Fraction(0)] * (len(p) + len(q) - 1)
    for i, a in enumerate(p):
        for j, b in enumerate(q):
            found[i + j] += a * b
    return found


@cache
def exact_law(sizes, alpha):
    """{counts: (P, E[theta; counts])} in fractions; alpha is a Fraction or "infinite"."""
    u = Fraction(0) if alpha == INFINITE else 1 / Fraction(alpha)
    law = {}
    for ones in vectors(sizes):
        polynomial, factor = [Fraction(1)], Fraction(1)
        for i, n in zip(ones, sizes, strict=True):
            polynomial = times(polynomial, rise((Fraction(0), Fraction(1)), u, i))
            polynomial = times(polynomial, rise((Fraction(1), Fraction(-1)), u, n - i))
            factor *= Fraction(comb(n, i)) / prod(1 + j * u for j in range(n))
        integral = sum(c / (d + 1) for d, c in enumerate(polynomial))
        with_theta = sum(c / (d + 2) for d, c in enumerate(polynomial))
        law[ones] = (factor * integral, factor * with_theta)
    return law


def exact_omission(sizes, alpha, cut, total=None):
    """P(score < cut), P(score = cut), P(score <= cut), given the total or not, in fractions."""
    law = exact_law(sizes, alpha)
    among = vectors(sizes, total)
    whole = sum(law[ones][0] for ones in among)
    below = sum((law[ones][0] for ones in among if score(ones, sizes) < cut), Fraction(0))
    at_cut = sum((law[ones][0] for ones in among if score(ones, sizes) == cut), Fraction(0))
    return below / whole, at_cut / whole, (below + at_cut) / whole


THETA, THETA_WEIGHTS = np.polynomial.legendre.leggauss(48)
THETA, THETA_WEIGHTS = 0.5 * (THETA + 1.0), 0.5 * THETA_WEIGHTS


def chances(i, n, u):
    """P(i ones of n | theta) at all nodes of theta, by the paper's ratio of products."""
    chance = np.full(THETA.size, float(comb(n, i)))
    for j in range(i):
        chance *= THETA + j * u
    for j in range(n - i):
        chance *= 1.0 - THETA + j * u
    return chance / prod(1.0 + j * u for j in range(n))


@cache
def law(sizes, u):
    """{counts: (P, E[theta; counts])} in doubles, alpha = 1 / u."""
    each = [[chances(i, n, u) for i in range(n + 1)] for n in sizes]
    found = {}
    for ones in vectors(sizes):
        terms = THETA_WEIGHTS * prod(of_class[i] for of_class, i in zip(each, ones, strict=True))
        found[ones] = (terms.sum(), terms @ THETA)
    return found


@cache
def chance(ones, sizes, rates, u):
    """P(counts), given their total where ``rates`` is "given"."""
    table = law(sizes, u)
    if rates == "uniform":
        return table[ones][0]
    return table[ones][0] / sum(table[other][0] for other in vectors(sizes, sum(ones)))


@cache
def fate(sizes, total, is_omitted, rates, u, score=score):
    """P(is_omitted(score)) of a feature with this total, where totals are given."""
    which = omitted(sizes, total if rates == "given" else None, is_omitted, score)
    return sum(chance(v, sizes, rates, u) for v in which)


@cache
def omitted(sizes, total, is_omitted, score):
    """The vectors of counts with such a score, which are the same for every alpha."""
    return [v for v in vectors(sizes, total) if is_omitted(score(v, sizes))]


class Model:
    """The model at one alpha = 1 / u and one fraction of related features."""

    def __init__(self, u, rates, fraction=1.0, score=score):
        self.u, self.rates, self.fraction, self.score = u, rates, fraction, score

    def _mixed(self, function):
        return self.fraction * function(self.u) + (1.0 - self.fraction) * function(0.0)

    def _chance(self, ones, sizes, u):
        return chance(ones, sizes, self.rates, u)

    def chance(self, ones, sizes):
        """P(counts), of two groups together."""
        return self._mixed(lambda u: self._chance(ones, sizes, u))

    def fate(self, sizes, total, is_omitted):
        """P(is_omitted(score)), of two groups together."""
        return self._mixed(lambda u: fate(sizes, total, is_omitted, self.rates, u, self.score))

    def predictive(self, ones, sizes):
        """P(x* = 1 | class, counts), one for each class."""
        related = self.fraction * self._chance(ones, sizes, self.u)
        null = (1.0 - self.fraction) * self._chance(ones, sizes, 0.0)
        each = []
        for g, n in enumerate(sizes):
            own, none = (self._rate(ones, sizes, g, n, u) for u in (self.u, 0.0))
            each.append((related * own + null * none) / (related + null))
        return np.array(each)

    def _rate(self, ones, sizes, g, n, u):
        P, P_theta = law(sizes, u)[ones]
        return (P_theta / P + ones[g] * u) / (1.0 + n * u)


def grid(a, b, least_fraction=None, n_alphas=301, n_fractions=16):
    """Yield 1 / alpha, the fraction, and their prior mass."""
    alphas, masses = log_alpha_rule(a, b, n_alphas)
    fractions, weights = np.ones(1), np.ones(1)
    if least_fraction is not None:
        x, weights = np.polynomial.legendre.leggauss(n_fractions)
        fractions, weights = np.exp(0.5 * (1.0 - x) * np.log(least_fraction)), 0.5 * weights
    for alpha, mass in zip(alphas.tolist(), masses.tolist(), strict=True):
        for fraction, weight in zip(fractions.tolist(), weights.tolist(), strict=True):
            yield 1.0 / alpha, fraction, mass * weight


def condition(
    kept, event, rows, class_sizes, rates, prior=(0.5, 5.0), least_fraction=None, score=score
):
    """Return P(y, kept features, event) and P(y*, x* | these), one row per new case.

    Parameters
    ----------
    kept : list of (counts, numbers of known values)
    event : list of (numbers of known values, total, is_omitted), one for each omitted feature
    rows : array of shape (cases, kept), with NaN
    class_sizes : tuple
        The classes have pseudocounts of 1.
    """
    G, n = len(class_sizes), sum(class_sizes)
    evidence, joint = 0.0, np.zeros((len(rows), G))
    counted = {}
    for sizes, total, is_omitted in event:
        key = (sizes, total, is_omitted)
        counted[key] = counted.get(key, 0) + 1
    for u, fraction, mass in grid(*prior, least_fraction):
        model = Model(u, rates, fraction, score)
        value = mass
        for (sizes, total, is_omitted), times_ in counted.items():
            value *= model.fate(sizes, total, is_omitted) ** times_
        one = []
        for ones, sizes in kept:
            orders = prod(comb(m, i) for i, m in zip(ones, sizes, strict=True))
            value *= model.chance(ones, sizes) / orders
            one.append(model.predictive(ones, sizes))
        evidence += value
        joint += value * likelihoods(rows, np.array(one).reshape(-1, G))
    classes = np.exp(sum(gammaln(np.array(class_sizes) + 1.0)) + gammaln(G) - gammaln(n + G))
    psi = (np.array(class_sizes) + 1.0) / (n + G)
    return evidence * classes, psi * joint / evidence


def likelihoods(rows, one):
    """P(row | class) from P(x_j = 1 | class), one (k, G); NaN is left out."""
    found = np.ones((len(rows), one.shape[1]))
    for row, of_row in zip(rows, found, strict=True):
        for x, rates in zip(row, one, strict=True):
            if x == x:
                of_row *= rates if x == 1 else 1.0 - rates
    return found
